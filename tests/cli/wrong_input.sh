# What a new user gives it: for each a clear sentence with the name, exit status 1.
exec 2>&1
captures=$PERFILE_SOURCE/samples/captures
: >empty
echo "This is a text." >text
printf 'PERFILE2' >short
head -c 4096 /dev/zero >zeros
truncate -s 20G sparse
mkdir folder
mkfifo fifo
ln -s nowhere link
ln -s loop loop
try() {
    for command in info "list events" stats "list mappings --json" dump "dump --format cbor -o out"; do
        timeout 60 "$PERFILE" $command "$@" >out 2>err
        rc=$?
        [ "$rc" = 1 ] || echo "exit status $rc: $command $*"
        [ ! -s out ] || echo "output: $command $*"
        [ "$command" = info ] || [ "${command%out}" != "$command" ] || cmp err first
        [ "$command" != info ] || cp err first
        rm -f out
    done
    cat first
}
try missing
try empty
try text
try short
try zeros
try sparse
try folder
try link
try loop
try /dev/zero
try /dev/null
try "$PERFILE_SOURCE/src" 2>&1 | sed "s|$PERFILE_SOURCE|SOURCE|g"
(cat text >fifo &) && "$PERFILE" info fifo
echo "exit status $?"
"$PERFILE" stats - <text
echo "exit status $?"
"$PERFILE" stats - <&-
echo "exit status $?"
"$PERFILE" stats --from tarball "$captures/cpu-clock.data" 2>&1 | sed "s|$PERFILE_SOURCE|SOURCE|g"
# A pipe that is no capture is refused by its first bytes, not copied to its end first.
for command in "export --to folded" "export --to aux -o out" "split --records 5 -o part-%d" "stats --by comm" "dump --format jsonl --resolve" \
    "list threads" "sort -o out" "filter --every 2 -o out" "merge -o out" "convert --to perf.data -o out"; do
    for byte in '\0' a; do
        head -c 3000000 /dev/zero | tr '\0' "$byte" | {
            "$PERFILE" $command - >said 2>&1 && echo "not refused: $command"
            grep -q 'perf.data file' said || echo "$command: $(head -1 said)"
            [ "$(wc -c)" -gt 1000000 ] || echo "read to its end: $command"
        }
    done
done
exit 0
