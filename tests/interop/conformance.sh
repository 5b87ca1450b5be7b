# tests/conformance/run judges readers right: a reader that prints the dump, and those that die, hang, refuse, show nothing, say something else,
# read one byte order only.  perfile reads all of the intact captures and dies of no damaged one; perf, where it is installed, is run on a few.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
export HOME=$PWD
run=$PERFILE_SOURCE/tests/conformance/run
failed=0

# conforms NAME STATUS OPTION ... COMMAND ...: runs the tool; its table is in NAME.md, a line for each capture in NAME.tsv.
conforms() {
    local name=$1 wanted=$2 rc=0
    shift 2
    "$run" --perfile "$PERFILE" --keep captures --memory 0 -j 2 --results "$name.tsv" "$@" >"$name.md" 2>"$name.err" || rc=$?
    [ "$rc" = "$wanted" ] || { echo "$name: status $rc, expected $wanted"; cat "$name.err"; failed=1; }
}

# outcomes NAME EXPECTED: how many captures had which outcome.
outcomes() {
    local have
    have=$(cut -f 2 "$1.tsv" | sort | uniq -c | awk '{ printf "%s%s %s", sep, $2, $1; sep = ", " }')
    [ "$have" = "$2" ] || { echo "$1: $have; expected: $2"; head -n 5 "$1.tsv"; failed=1; }
}

# fake NAME: a reader, whose text is standard input; it gets the capture as $1.
fake() {
    { echo '#!/bin/bash'; cat; } >"$1"
    chmod +x "$1"
}

# The captures that the fake readers get: two records, in each form and byte order.
few='record-(COMM|MMAP)[.]'
fake prints <<<'exec cat "${1%.data}.jsonl"'
fake dies <<<'kill -SEGV $$'
fake shell_dies <<<'bash -c "kill -ABRT \$\$"; exit $?'
fake panics <<<'echo "thread main panicked at main.rs:5" >&2; exit 101'
fake hangs <<<'sleep 60'
fake writes_on <<<'yes'
fake refuses <<<'echo "unknown file format" >&2; exit 4'
fake quiet <<<':'
fake one_order <<<'case $1 in *.little.data) cat "${1%.data}.jsonl" ;; *) echo "byte order?" >&2; exit 1 ;; esac'
fake changes <<<'sed s/COMM/comm/ "${1%.data}.jsonl"'
fake facts <<<'sed -n "s/.*PERF_RECORD_COMM.*\"pid\":\([0-9]*\),\"tid\":\([0-9]*\),.*sample_id.*\"time\":\"\([0-9]*\)\".*/COMM time=\3 pid=\1 tid=\2/p" "${1%.data}.jsonl"'
fake wrong_pid <<<'./facts "$1" | sed "2 s/pid=/pid=1/"'
fake wrong_time <<<'./facts "$1" | sed "2 s/time=/time=9/"'
sed -i "s,\./facts,$PWD/facts," wrong_pid wrong_time

conforms prints 0 --only "$few" --adapter jsonl ./prints
outcomes prints "reads 8"
conforms dies 1 --only "$few" ./dies
outcomes dies "dies 8"
grep -q '| 8 | SIGSEGV' dies.md || { echo "dies: no line of the signal"; failed=1; }
conforms shell_dies 1 --only "$few" ./shell_dies {}
outcomes shell_dies "dies 8"
conforms panics 1 --only "$few" ./panics
outcomes panics "dies 8"
conforms hangs 1 --only 'record-COMM[.]file[.]little' --timeout 1 ./hangs
outcomes hangs "hangs 1"
conforms writes_on 1 --only 'record-COMM[.]file[.]little' --timeout 60 ./writes_on
outcomes writes_on "hangs 1"
conforms refuses 0 --only "$few" --adapter jsonl ./refuses
outcomes refuses "refuses 8"
grep -q '| 8 | status 4: unknown file format |' refuses.md || { echo "refuses: the message is missing"; failed=1; }
conforms quiet 0 --only 'record-SAMPLE[.]' --adapter facts ./quiet
outcomes quiet "skips 4"
conforms one_order 0 --only "$few" --adapter jsonl ./one_order
outcomes one_order "reads 4, refuses 4"
grep -q '| record | COMM, MMAP | reads | refuses | reads | refuses |' one_order.md || { echo "one_order: the table is wrong"; failed=1; }
conforms changes 1 --only "$few" --adapter jsonl ./changes
outcomes changes "misreads 4, reads 4"
conforms facts 0 --only 'record-COMM[.]' --adapter facts ./facts
outcomes facts "reads 4"
for wrong in wrong_pid wrong_time; do
    conforms $wrong 1 --only 'record-COMM[.]' --adapter facts ./$wrong
    outcomes $wrong "misreads 4"
done
conforms none 1 --only 'no such capture' ./quiet
grep -q 'no captures to try' none.err || { echo "none: no message"; failed=1; }
conforms missing 2 ./nowhere

# perfile itself.
every=$((${PERFILE_CASES:-1} * 16))
conforms perfile 0 --every $every "$PERFILE" dump --format jsonl
if awk -F '\t' '$2 != "reads" && ($1 ~ /^matrix/ || $2 != "refuses")' perfile.tsv | grep .; then
    echo "perfile does not read what it made"
    failed=1
fi
[ "$(awk -F '\t' '$1 ~ /^matrix/ && $2 == "reads"' perfile.tsv | wc -l)" -ge $((400 / every)) ] || { echo "perfile: few captures"; failed=1; }

# perf has to be understood: of what its own version writes it misreads nothing in these captures.
if command -v perf >/dev/null && [[ $(perf --version) == "perf version 6.1"* ]]; then
    status=0
    "$run" --perfile "$PERFILE" --keep captures --memory 0 -j 2 --results perf.tsv --target perf-6.1 \
        --only '(field-(IP|TID|TIME|ADDR|PERIOD|REGS_USER)[.]file|record-(COMM|FORK)[.]file[.]little|version-1)' \
        perf report -D -i {} >perf.md 2>perf.err || status=$?
    [ "$status" = 0 ] || { echo "perf: status $status"; cat perf.err; failed=1; }
    if [ "$(grep -c . perf.tsv)" != 16 ] || grep -v $'\treads\t' perf.tsv; then
        echo "perf: it reads all 16 captures"
        cat perf.tsv
        failed=1
    fi
else
    echo "not tried: perf 6.1"
fi
exit "$failed"
