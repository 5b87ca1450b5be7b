# Bytes that were overwritten look like headers of unknown types, with sizes that swallow real records: --on-damage resync and salvage
# lose what was overwritten and no more, in every form of output, and perf opens what is written.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
python3 - "$PERFILE_SOURCE/samples/captures/dwarf.data" "$PERFILE_SOURCE/samples/captures/cpu-clock.data" <<'END'
import struct, sys
for number, path in enumerate(sys.argv[1:]):
    data = bytearray(open(path, "rb").read())
    at, size = struct.unpack_from("<QQ", data, 40)
    end, records = at + size, []
    while at < end:
        records.append((at, struct.unpack_from("<IHH", data, at)[2]))
        at += records[-1][1]
    # In the middle: a header of an unknown type whose record ends where a record ends, far behind.
    first = records[len(records) // 3][0]
    last = max(a + n for a, n in records if a + n - first <= 60000)
    struct.pack_into("<IHH", data, first, 0xa61e4253, 0xffff, last - first)
    open("swallowed%d.data" % number, "wb").write(data)
    print(len(records))
END
failed=0
for n in 0 1; do
    capture=$([ $n = 0 ] && echo dwarf || echo cpu-clock)
    whole=$("$PERFILE" stats --json --type sample "$PERFILE_SOURCE/samples/captures/$capture.data" | grep -o '"total":{"records":[0-9]*' | grep -o '[0-9]*$')
    for policy in resync salvage; do
        for way in "stats --json --type sample" "stats --json --by comm --type sample"; do
            # shellcheck disable=SC2086
            got=$("$PERFILE" $way --on-damage $policy swallowed$n.data 2>/dev/null | grep -o '"total":{"records":[0-9]*' | grep -o '[0-9]*$')
            [ "$got" -ge $((whole - 1)) ] || { echo "$way, $policy, $capture: $got of $whole samples"; failed=1; }
        done
        for format in jsonl text tsv; do
            got=$("$PERFILE" dump --format $format --type sample --on-damage $policy swallowed$n.data 2>/dev/null | grep -c SAMPLE) || got=0
            [ $format != tsv ] || got=$("$PERFILE" dump --format tsv --fields type --on-damage $policy swallowed$n.data 2>/dev/null | grep -c SAMPLE) || got=0
            [ "$got" -ge $((whole - 1)) ] || { echo "dump $format, $policy, $capture: $got of $whole samples"; failed=1; }
        done
        "$PERFILE" convert -f --on-damage $policy --to pipe -o out.data swallowed$n.data 2>/dev/null || [ $? = 3 ]
        "$PERFILE" stats out.data | grep -q 'type [0-9]' && { echo "convert, $policy, $capture: a record of an unknown type"; failed=1; }
        if command -v perf >/dev/null; then
            perf report -i out.data --stdio >report 2>&1 || { echo "perf does not open what convert wrote, $policy, $capture"; failed=1; }
        fi
    done
done

# A type that no kernel has, in a record of the right size: perf would not open a capture with it.
python3 - "$PERFILE_SOURCE/samples/captures/cpu-clock.data" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = struct.unpack_from("<Q", data, 40)[0]
for _ in range(40):
    at += struct.unpack_from("<H", data, at + 6)[0]
struct.pack_into("<I", data, at, 3868327945)
open("type.data", "wb").write(data)
END
"$PERFILE" recover -o whole.data type.data 2>err && exit 1
[ $? = 3 ]
grep -q 'lost 40 bytes' err
"$PERFILE" stats whole.data | grep -q 'type [0-9]' && exit 1
[ "$("$PERFILE" stats --on-damage salvage type.data 2>/dev/null | grep -c 'type [0-9]')" = 0 ]
exit $failed
