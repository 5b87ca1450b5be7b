# What filter says, what it keeps, and what it refuses.
own=$PERFILE_SOURCE/samples/captures
run() {
    echo "\$ filter ${*//"$own/"/}"
    "$PERFILE" filter -f -o out "$@" 2>&1 | sed "s|$own/||g"
    echo "status ${PIPESTATUS[0]}"
}
count() {
    "$PERFILE" stats --json out | grep -oE '"type":"[A-Z_0-9]+","type_number":[0-9]+,"records":[0-9]+' |
        sed 's/"type":"\([A-Z_0-9]*\)".*:/\1 /'
}
run "$own/callgraph.data"
run --time 10%..20% "$own/callgraph.data"
count
run --time 10%..20% --no-sideband "$own/callgraph.data"
count
run --time ..3390.635 --head 2 "$own/callgraph.data"
count
run --pid 11814 --type COMM --no-sideband "$own/callgraph.data"
run --comm perf-exec "$own/callgraph.data"
run --time 2026-01-01.. "$own/callgraph.data"
run --time 1970-01-01..2100-01-01 "$own/clock.data"
run --drop-field callchain --to pipe "$own/callgraph.data"
run --json --every 10 "$own/callgraph.data"
echo "what no event has in its samples"
run --cpu 0-3 --cgroup / "$own/callgraph.data"
run --cpu 0-3 --invert "$own/callgraph.data"
run --cpu 0-3 --drop-field cpu "$own/fields.data"
echo "a record of a type that nobody knows: its trailer is that of all records of the kernel"
cp "$own/unknown-type.data" kernel-type.data
printf '\050' | dd of=kernel-type.data bs=1 seek=1936 conv=notrunc status=none # type 40 instead of 200
run --drop-field time kernel-type.data
run --json --drop-field time kernel-type.data
run --drop-field period kernel-type.data
echo "a record of a type that a later kernel adds: what its trailer says counts"
python3 - "$own/fields.data" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)
end = at + size
comms = []
while at < end:
    type, misc, size = struct.unpack_from("<IHH", data, at)
    comms += [at] * (type == 3)
    at += size
struct.pack_into("<I", data, comms[1], 30)  # the second is that of an exec, and has a time
open("later-kernel.data", "wb").write(data)
END
"$PERFILE" dump --type 30 later-kernel.data
"$PERFILE" stats --by type,event,cpu,pid,tid,time=1ns --type 30 later-kernel.data
for options in "--time 3392.902426087..3392.904" "--time ..3392.902426086" "--time 3392.902426088.." "--pid 11844" "--tid 1"; do
    # shellcheck disable=SC2086
    run $options later-kernel.data
    echo "$options: $("$PERFILE" stats out | grep -c 'type 30') of that type, $("$PERFILE" stats --type 30 $options later-kernel.data 2>&1 | tail -n 1)"
done
run "$own/truncated-record.data"
run --on-damage fail "$own/truncated-record.data"
run "$own/garbage.data"

echo "standard input and output"
"$PERFILE" filter --every 2 -o - "$own/callgraph.data" 2>/dev/null | "$PERFILE" filter --dso 'libc*' -o - - 2>/dev/null |
    "$PERFILE" stats --json - | grep -oE '"total":\{"records":[0-9]+'
"$PERFILE" filter --to pipe -f -o pipe "$own/callgraph.data" 2>/dev/null
for options in "--every 2" "--time 10%..40%" "--comm work" "--head 3 --pid 11814"; do
    # A pipe that is read once keeps the state of all processes.
    "$PERFILE" filter $options --no-sideband -f -o one pipe 2>/dev/null
    "$PERFILE" filter $options --no-sideband -o - - <pipe 2>/dev/null | cmp - one && echo "$options: the same"
    cat pipe | "$PERFILE" filter $options --no-sideband -o - - 2>/dev/null | cmp - one && echo "$options: the same"
done
cat "$own/callgraph.data" | "$PERFILE" filter --time 10%..40% -f -o one - 2>/dev/null
"$PERFILE" filter --time 10%..40% -f -o two "$own/callgraph.data" 2>/dev/null
cmp one two && echo "a file from a pipe: the same"

echo "refused"
"$PERFILE" filter "$own/clock.data" 2>&1
cp "$own/clock.data" in.data
"$PERFILE" filter -f -o in.data in.data 2>&1
"$PERFILE" filter -o out in.data 2>&1
for options in "--time 5" "--time 5..x" "--time 9..5" "--time 2026-13-01.." "--time 120%.." "--pid x" "--pid 5-" "--pid 7-5" \
    "--cpu 1-2-3" "--type SAMPLES" "--ip abc" "--where period>" "--where perid==1" "--event cyclops" "--every 0" \
    "--head -1" "--drop-field id" "--drop-field foo" "--to tar" "--on-damage x" "--json -o -"; do
    # shellcheck disable=SC2086
    "$PERFILE" filter -f -o out $options in.data 2>&1
    echo "status $? $options"
done
exit 0
