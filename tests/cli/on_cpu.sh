# How long threads were on a processor, off it and waiting for one, and the stacks at which they left, of captures in which all is known.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
cat > make.py <<'END2'
import struct
import sched_made as made
MS = 10**6
def switch(ms, cpu, prev, state, next_, tid=None, cookie=None):
    name = lambda t: b"swapper" if not t else b"task-%d" % t
    payload = struct.pack("<HBBi16siiq16sii", made.SWITCH, 0, 0, prev, name(prev), prev, 120, state, name(next_), next_, 100)
    chain = [0xffffffff81000000 + 16 * prev, 0xffffffff82000000] + ([2**64 - 640, cookie] if cookie else [])
    return made.sample(1, ms * MS, cpu, prev if tid is None else tid, chain, payload)
def wake(ms, cpu, by, tid):
    payload = struct.pack("<HBBi16siiii", made.WAKEUP, 0, 0, by, b"task-%d" % tid, tid, 120, 1, cpu)
    return made.sample(2, ms * MS, cpu, by, [0xffffffff81000000], payload)
made.write("plain.data", [
    switch(1, 0, 0, 0, 7),       # 7 on 0
    switch(4, 0, 7, 1, 8),       # 7 sleeps after 3 ms, 8 on
    wake(6, 1, 9, 7),            # 7 may run again
    switch(7, 0, 8, 0, 7),       # 8 is preempted by 7 after 3 ms; 7 waited 1 ms, was away 3 ms
    switch(12, 0, 7, 0x100, 8),  # 7 is preempted (R+) after 5 ms; 8 waited 5 ms
    switch(13, 0, 8, 16, 7, -1), # 8 ends after 1 ms, and the kernel says no thread any more; 7 waited 1 ms
    switch(15, 0, 7, 2, 0),      # 7 sleeps after 2 ms
    wake(16, 1, 9, 5),           # 5 was never seen
    switch(18, 0, 0, 0, 5),      # idle was on for 3 ms; 5 waited 2 ms
    switch(19, 0, 5, 1, 7)])     # 7 was away for 4 ms
made.write("lost.data", [
    switch(1, 0, 0, 0, 7),
    switch(5, 0, 8, 1, 9),       # what 7 did after 1 ms is not known, nor when 8 came
    switch(6, 0, 9, 1, 7),
    switch(8, 0, 7, 1, 0),
    switch(2, 1, 0, 0, 6), switch(3, 1, 6, 1, 0)])  # a CPU whose buffer was read later
made.write("deferred.data", [
    switch(1, 0, 7, 1, 0, cookie=5),
    switch(4, 0, 0, 0, 7),
    made.deferred(5 * MS, 0, 7, 5, [0x401000, 0x402000]),  # the thread is in user code again
    switch(6, 0, 7, 1, 0, cookie=6),                       # and comes back, but its user part does not
    switch(8, 0, 0, 0, 7)], flags=made.SAMPLE_ID_ALL)
made.write("no_payload.data", [  # as simpleperf records it: who comes is said by SWITCH records
    made.sample(1, 2 * MS, 0, 7, [0xffffffff81000070], b""), made.switched(2 * MS, 0, 7, 1),
    made.switched(6 * MS, 0, 7, 0)], flags=made.SAMPLE_ID_ALL)
made.write("sampled.data", [switch(1, 0, 0, 0, 7), switch(4, 0, 7, 1, 0)], period=2)
END2
PYTHONPATH=$PERFILE_SOURCE/tests/interop PYTHONDONTWRITEBYTECODE=1 python3 make.py
run() {
    echo "\$ perfile $*"
    "$PERFILE" "$@" 2>&1 || echo "status $?"
}
run stats --on-cpu plain.data
run stats --on-cpu --by tid,cpu --sort waiting plain.data
run stats --on-cpu --by cpu plain.data
run stats --on-cpu --by comm --top 1 --json plain.data
run stats --on-cpu --tid 7 plain.data
run stats --on-cpu --time 0.005..0.0125 --by tid plain.data
run stats --on-cpu --by tid --sort key lost.data
run stats --on-cpu sampled.data
# A recording that ends before its features.
head -c $(($(stat -c %s plain.data) * 2 / 5)) plain.data > cut.data
run stats --on-cpu cut.data
for per in tid none; do
    run export --to folded --weight offcpu --per $per --no-symbols --unknown address plain.data
done
run export --to folded --weight offcpu --no-symbols --where 'prev_state & 0xff' --per tid plain.data
run export --to folded --weight offcpu --no-symbols --tid 8 plain.data
run export --to folded --weight offcpu --no-symbols sampled.data
run export --to folded --weight offcpu --no-symbols --unknown address deferred.data
run export --to folded --weight offcpu --no-symbols --unknown address no_payload.data
"$PERFILE" convert --to archive -o plain.perfile plain.data 2>/dev/null
"$PERFILE" convert --to pipe -o - plain.data 2>/dev/null > plain.pipe
"$PERFILE" convert --byte-order big -o swapped.data plain.data 2>/dev/null
for f in plain.perfile plain.pipe swapped.data; do
    "$PERFILE" stats --on-cpu --tid 7 $f > one
    "$PERFILE" stats --on-cpu --tid 7 plain.data | cmp - one
    "$PERFILE" export --to folded --weight offcpu --no-symbols --per tid $f > one 2>/dev/null
    "$PERFILE" export --to folded --weight offcpu --no-symbols --per tid plain.data 2>/dev/null | cmp - one
done
for form in chrome firefox perfetto aux; do
    "$PERFILE" export --help | grep -qw $form || continue
    "$PERFILE" export --to $form --weight offcpu -o out plain.data 2>/dev/null && echo "$form: exported"
    [ ! -e out ]
done
run stats --on-cpu --by event plain.data
run stats --on-cpu --by sym plain.data
run stats --on-cpu --tree plain.data
run stats --on-cpu --sort period plain.data
run stats --sort off plain.data
run stats --by sym --sort waiting plain.data
