# Archives of several captures: made at once, by appending, of other archives; and an append that does not end well.
set -u
captures=$PERFILE_SOURCE/samples/captures
. "$PERFILE_SOURCE/tests/cli/run.inc"
# restored ARCHIVE NUMBER NAME: whether capture NUMBER of ARCHIVE is that file.
restored() {
    "$PERFILE" convert -f --source "$2" -o back "$1" 2>/dev/null
    cmp back "$captures/$3.data" && echo "$1: capture $2 is $3"
}

echo "several"
run convert --to archive -o all.perfile "$captures/callgraph.data" "$captures/pipe.data" 2>&1 | grep -v '^[$]\|stream\|ends'
restored all.perfile 1 callgraph
restored all.perfile 2 pipe
cp "$captures/callgraph.data" a.data
cp "$captures/group.data" b.data
run convert -o two.data a.data b.data

echo "appended"
cp all.perfile before
run convert --to archive --append -o all.perfile b.data
cmp -n "$(wc -c <before)" before all.perfile && echo "nothing before it has changed"
restored all.perfile 3 group
run convert --to archive --append -o new.perfile b.data
restored new.perfile 1 group
run convert --to archive --append -o a.data b.data
run convert --to archive --append -o all.perfile all.perfile
run convert --to archive --append -o - b.data
run convert --append -o all.perfile b.data
head -c "$(wc -c <before)" all.perfile | cmp - before && echo "as it was"

echo "archives of archives"
run convert --to archive -o joined.perfile new.perfile all.perfile
restored joined.perfile 1 group
restored joined.perfile 2 callgraph
restored joined.perfile 4 group
"$PERFILE" info --chunks --source 1 joined.perfile | awk 'NR > 3 { print $NF }' | sort -u | grep / | cut -d/ -f1 | uniq -c
run convert --to archive --source 2 -o one.perfile all.perfile
restored one.perfile 1 pipe
run convert --to archive --source 2 --level 19 -o packed.perfile all.perfile 2>&1 | grep -v stream
restored packed.perfile 1 pipe
run convert --to archive --json -o json.perfile one.perfile
head -c 300 one.perfile >cut.perfile
run convert --to archive -o no.perfile cut.perfile
run convert --to archive --append -o cut.perfile b.data
# The command that is suggested works, also if there are several captures.
head -c "$(($(wc -c <joined.perfile) - 40))" joined.perfile >cut.perfile
next=$("$PERFILE" convert --to archive --append -o cut.perfile b.data 2>&1 | sed -n 's/.*next: perfile //p')
# shellcheck disable=SC2086
run ${next/OUT/repaired.perfile} | sed "s/offset [0-9]*/offset N/"
restored repaired.perfile 2 callgraph
run convert --to archive --append -o repaired.perfile b.data
restored repaired.perfile 5 group
ls no.perfile 2>&1 | sed "s/.*no.perfile'*/no.perfile/"

echo "each capture is an input"
touch -d 2020-02-02T02:02:02Z b.data
run convert -f --to archive --append -o joined.perfile b.data
"$PERFILE" info joined.perfile | sed -E 's/[0-9.]+ kB of/SIZE of/; /^CAPTURE|^ *[1-4] /s/[0-9]{4}-[0-9-]*T[0-9:]*Z/TIME/'
run info --json --source 5 joined.perfile | grep -o '"name":"b.data"\|"captured":{[^}]*}'
"$PERFILE" info --source 2 joined.perfile | grep -E '^(file|form)'
"$PERFILE" list events joined.perfile | grep ':$'
"$PERFILE" stats --json joined.perfile | grep -o '"file":"[^"]*"'
"$PERFILE" dump --format jsonl joined.perfile 2>/dev/null | cksum | cut -d' ' -f1
for i in 1 2 3 4; do "$PERFILE" dump --format jsonl --source "$i" joined.perfile 2>/dev/null; done | cksum | cut -d' ' -f1
run validate --only V-7 joined.perfile
run stats --comm helper --type sample joined.perfile
run stats --event sched:sched_switch joined.perfile
"$PERFILE" convert --to archive -o some.perfile a.data "$captures/tracepoints.data" "$captures/killed.data"
run stats --event sched:sched_switch some.perfile
run info --source 3 some.perfile | grep ^next
run recover -n --source 3 some.perfile
run merge -f --offset 2=0 --offset 3=0 -o merged.data all.perfile
run filter --pid 1 -o no.data all.perfile

echo "many captures"
: >empty
many=()
for i in {1..128}; do many+=(empty); done
"$PERFILE" convert --to archive -o many.perfile "${many[@]}" 2>/dev/null
"$PERFILE" stats many.perfile 2>&1 | grep -c 'capture [0-9]* (empty):'
"$PERFILE" convert --to archive --append -o many.perfile empty 2>/dev/null
for i in "info" "list events" "dump" "stats" "validate" "merge -o no.data"; do
    # shellcheck disable=SC2086
    run $i many.perfile
done
run info --source 129 many.perfile 2>&1 | grep -v '^created'

echo "interrupted, killed, locked"
mkfifo slow
cp one.perfile kept.perfile
writer() {
    cat "/proc/$1/task/$1/children" | cut -d' ' -f1
}
# The writer waits for its second input; what it has of the first is in the file by then, or in its buffers.
interrupt() {
    timeout 60 "$PERFILE" convert --to archive --append -o one.perfile a.data - <slow 2>/dev/null &
    local pid=$!
    exec 7>slow
    sleep 0.3
    [ "$1" != LOCK ] || run convert --to archive --append -o one.perfile b.data
    local signal=${1/LOCK/TERM} packer
    packer=$(writer "$pid")
    kill -"$signal" "$packer"
    sleep 0.1
    kill -"$signal" "$packer" 2>/dev/null # the first one means: to the end of the pipe
    wait "$pid" 2>/dev/null
    exec 7>&-
}
for signal in HUP TERM LOCK; do
    interrupt $signal
    cmp one.perfile kept.perfile && echo "$signal: as it was"
done
interrupt KILL
restored one.perfile 1 pipe
run recover --to archive -f -o whole.perfile one.perfile >/dev/null
run convert --to archive --append -o whole.perfile b.data
"$PERFILE" validate --only V-7 --source 1 whole.perfile
# The chunks are the same for any number of threads, also where a file of a directory begins.
for jobs in 1 4; do
    "$PERFILE" convert --to archive --chunk-records 3 -j "$jobs" -f -o "jobs$jobs.perfile" "$captures/threads.data" 2>/dev/null
    "$PERFILE" info --chunks "jobs$jobs.perfile" | awk '$2 ~ /^[a-z]+$/ && $1 + 0 { print $2, $3, $6, $7 }' >"jobs$jobs"
done
cmp jobs1 jobs4 && echo "the same $(wc -l <jobs1) chunks"
exit 0
