# dump --at: the record that a byte is part of, and what the byte is when it is part of none.
cd "$PERFILE_SOURCE/samples/captures"
# at WHERE FILE: the first two lines of what is shown, what is said, and the exit status.
at() {
    "$PERFILE" dump --limit 1 --at "$@" >"$OLDPWD/shown" 2>"$OLDPWD/said"
    local status=$?
    head -n 2 "$OLDPWD/shown"
    cat "$OLDPWD/said"
    echo "--at $*: exit status $status"
}
at 424 cpu-clock.data
at 427 cpu-clock.data
for where in 0 110 140 4800 9347 9348 9352 0xffffffffffffffff; do
    at $where cpu-clock.data
done
at 8 pipe.data
at 16 pipe.data
at 16 threads.data
at 9999999 threads.data
at 0x100000 - <pipe.data
at 20 --format jsonl cpu-clock.data
# The list of features of a stream ends with the number behind the last that this perf has.
"$PERFILE" dump --type header_feature pipe.data | tail -n 4
