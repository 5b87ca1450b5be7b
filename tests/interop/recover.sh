# Recordings made here, killed and cut: recover finds as many samples as there are, and perf reads
# the result to its end with that count.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD
perf record -q -e cpu-clock -o try.data -- true >/dev/null 2>&1 || { echo "perf cannot record here"; exit 77; }
failed=0

say() {
    echo "$*"
    failed=$((failed + 1))
}

walk() {
    python3 - "$1" <<'END'
import struct, sys
b = open(sys.argv[1], "rb").read()
at, samples = struct.unpack("<Q", b[40:48])[0], 0
size = struct.unpack("<Q", b[48:56])[0]
end = min(len(b), at + size) if size else len(b)
while at + 8 <= end:
    t, m, s = struct.unpack("<IHH", b[at:at + 8])
    if s < 8 or at + s > end:
        break
    samples += t == 9
    at += s
print(samples)
END
}

# judge FILE WHAT
judge() {
    local wanted got rc
    wanted=$(walk "$1")
    "$PERFILE" recover -f -o saved.data "$1" 2>said
    rc=$?
    [ "$rc" = 3 ] || { say "$2: status $rc: $(cat said)"; return; }
    perf report --stats -i saved.data >stats 2>errors </dev/null || say "$2: perf: $(head -2 errors)"
    got=$(awk '$1 == "SAMPLE" {print $3; exit}' stats)
    [ "${got:-0}" = "$wanted" ] || say "$2: perf finds ${got:-0} samples of $wanted"
    echo "$2: $wanted samples"
}

for options in "-F 5000" "-F 5000 -g" "-F 2000 -e cpu-clock,page-faults"; do
    # shellcheck disable=SC2086
    perf record -q -e cpu-clock $options -m 4 -o killed.data -- \
        sh -c 'i=0; while [ $i -lt 20000000 ]; do i=$((i + 1)); done' >/dev/null 2>&1 &
    recorder=$!
    sleep 1.5
    workload=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$recorder" '$4 == parent { print $1 }')
    kill -9 "$recorder"
    wait "$recorder" 2>/dev/null
    for pid in $workload; do kill -9 "$pid" 2>/dev/null; done
    "$PERFILE" info killed.data 2>/dev/null | grep -q 'perfile recover' || say "info does not name the next step"
    judge killed.data "killed, $options"
done

perf record -q -F 5000 -e cpu-clock -g -o whole.data -- \
    sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' >/dev/null 2>&1
size=$(stat -c %s whole.data)
for part in 3 5 7 9; do
    head -c $((size * part / 11)) whole.data >cut.data
    judge cut.data "cut at $part of 11"
done
[ "$failed" = 0 ]
