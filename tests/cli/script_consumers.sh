# The rules by which published scripts read `perf script`: those of stackcollapse-perf.pl, and fields that flame graph and
# heat map scripts ask for.  They are written out here; what they make of the text is compared with `perfile export`.
. "$PERFILE_SOURCE/tests/cli/run.inc"
ln -sfn "$PERFILE_SOURCE/samples/captures" captures

# stackcollapse.py: stacks of frames, by process name, without addresses; unknown functions by their file.
cat >stackcollapse.py <<'END'
import collections, re, sys
HEAD = re.compile(r"^(\S.+?)\s+(\d+)/*(\d+)*\s+")
EVENT = re.compile(r":\s*(\d+)*\s+(\S+):\s*$")
FRAME = re.compile(r"^\s*(\w+)\s*(.+) \((.*)\)")
stacks, stack, name = collections.Counter(), [], None
for line in sys.stdin:
    line = line.rstrip("\n")
    if not line:
        if name:
            stacks[";".join([name] + stack[::-1])] += 1
        stack, name = [], None
        continue
    m = FRAME.match(line)
    if line[0] == "\t" and m:
        address, function, module = m.groups()
        if address == "0":  # the end of a chain, which `export` leaves out
            continue
        function = re.sub(r"\+0x[\da-f]+$", "", function)
        if function == "[unknown]":
            function = "[" + (module.split("/")[-1] if module != "[unknown]" else "unknown") + "]"
        stack.append(function.replace("[[", "[").replace("]]", "]"))
        continue
    m = HEAD.match(line)
    if not m or not EVENT.search(line):
        sys.exit("no line of perf script: " + line)
    name = m[1]
for stack in sorted(stacks):
    print(stack, stacks[stack])
END
for capture in callgraph zstd; do
    "$PERFILE" script --no-symbols captures/$capture.data | python3 stackcollapse.py | sort >of-script
    "$PERFILE" export --no-symbols --to folded captures/$capture.data 2>/dev/null | sort >of-export
    cmp of-script of-export && echo "$capture: $(wc -l <of-script) stacks"
done

# A line for each sample, of -F comm,pid,tid,cpu,time,event and the like.
"$PERFILE" script -F comm,pid,tid,cpu,time,event captures/fields.data |
    grep -vE '^ *.{1,16} +[0-9]+/[0-9]+ +\[[0-9]{3}\] +[0-9]+\.[0-9]{6}: [a-z:-]+: $' ||
    echo "no line is different"
"$PERFILE" script -F comm,tid,time captures/cpu-clock.data | awk 'NF != 3 { bad++ } END { print NR, "lines", bad + 0, "bad" }'
"$PERFILE" script -F time,cpu captures/fields.data | awk '{ gsub(":", ""); print $2 < last; last = $2 }' | sort | uniq -c
