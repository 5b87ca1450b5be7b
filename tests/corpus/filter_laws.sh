# With everything kept the records are those of the input, byte for byte; filtering twice is filtering
# by both; damage is handled as asked; what is interrupted leaves nothing behind.
set -u
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
. "$PERFILE_SOURCE/tests/enough.bash"
failed=0 same=0 twice=0 damaged=0
own=$PERFILE_SOURCE/samples/captures

. "$PERFILE_SOURCE/tests/needs.bash"
needs python3

say() {
    echo "$*"
    failed=$((failed + 1))
}

number() { # capture offset order: a number of 8 bytes
    od -An -tu8 -j "$2" -N 8 --endian="$3" "$1" | tr -d ' '
}

# The records of a file.
data_of() {
    local order=little
    local attr
    attr=$(number "$1" 16 little) # the size of one
    [ ${#attr} -lt 6 ] || order=big
    tail -c +$(($(number "$1" 40 $order) + 1)) "$1" | head -c "$(number "$1" 48 $order)"
}

everything() {
    rm -f out
    "$PERFILE" filter -o out "$1" 2>said || { say "$1: $(cat said)"; return; }
    grep -qE ': kept ([0-9,]+) of \1 record' said || say "$1: not all is kept: $(cat said)"
    if [ "$(number "$1" 8 little)" = 16 ] || [ "$(number "$1" 8 big)" = 16 ]; then
        cmp -s "$1" out || say "$1: the stream is another"
    else
        data_of "$1" >before
        data_of out >after
        cmp -s before after || say "$1: the records are others"
    fi
    same=$((same + 1))
}

# by CAPTURE FIRST -- SECOND: both ways
both() {
    local capture=$1 first=() second=()
    shift
    while [ "$1" != -- ]; do first+=("$1"); shift; done
    shift
    second=("$@")
    rm -f one two all
    "$PERFILE" filter -o one "${first[@]}" "$capture" 2>said &&
        "$PERFILE" filter -o two "${second[@]}" one 2>said || { say "$capture ${first[*]}: $(cat said)"; return; }
    "$PERFILE" filter -o all "${first[@]}" "${second[@]}" "$capture" 2>said || say "$(cat said)"
    cmp -s two all || say "$capture: ${first[*]} and ${second[*]}: twice is not both"
    twice=$((twice + 1))
}

while read -r capture; do
    "$PERFILE" stats --json "$capture" >counts 2>/dev/null || continue
    grep -qE '"type_number":(8[13]|3277[23])\b' counts && continue
    # What says that records are compressed is left out: those that are written are not.
    "$PERFILE" dump --format jsonl "$capture" 2>/dev/null | grep -q '"name":"COMPRESSED"' || everything "$capture"
    pid=$("$PERFILE" stats --by pid --json "$capture" 2>/dev/null | grep -oE '"pid":[0-9]+' | head -1)
    range=$("$PERFILE" dump --format jsonl "$capture" 2>/dev/null | grep -m 40 RECORD_SAMPLE |
        grep -oE '"time":"[0-9]+"' | sed -n '5p;20p' | grep -oE '[0-9]+' | sort -n | paste -sd' ')
    [ -n "$pid" ] && [ "$(echo "$range" | wc -w)" = 2 ] || continue
    range=${range% *}ns..${range#* }ns
    both "$capture" --pid "${pid#*:}" -- --time "$range"
    both "$capture" --time "$range" -- --pid "${pid#*:}"
    both "$capture" --cpu 0 -- --time "$range"
    both "$capture" --time "$range" -- --event 0
    both "$capture" --where 'period > 0' -- --pid "${pid#*:}" --type SAMPLE
done < <(find "$PERFILE_CORPUS" "$own" -name '*.data' -type f -size -3000k 2>/dev/null |
    sort | awk "NR % ${PERFILE_EVERY:-1} == 0")

for capture in killed truncated-record truncated-pipe corrupt-zstd bad-size; do
    rm -f out
    "$PERFILE" filter -o out "$own/$capture.data" 2>said
    [ $? = 3 ] && [ -s out ] || say "$capture: damage is not told: $(cat said)"
    "$PERFILE" validate --severity error out >said 2>&1 || say "$capture: $(head -2 said)"
    rm -f out
    "$PERFILE" filter --on-damage fail -o out "$own/$capture.data" 2>said
    [ $? = 1 ] && [ ! -e out ] || say "$capture: written all the same"
    grep -q "$capture.data: " said || say "$capture: $(cat said)"
    damaged=$((damaged + 1))
done

# Interrupted, and no room.
mkdir empty
python3 - "$PERFILE" "$own/pipe.data" <<'EOF' || say "not interrupted"
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "filter", "-o", "empty/out", "-"], stdin=subprocess.PIPE,
                     stderr=subprocess.DEVNULL)
with open(sys.argv[2], "rb") as f:
    p.stdin.write(f.read())
p.stdin.flush()
for _ in range(500):
    if os.listdir("empty"):  # the temporary file
        break
    time.sleep(0.01)
else:
    sys.exit("nothing was begun")
for _ in range(2):  # the first one means: to the end of the pipe
    p.send_signal(signal.SIGINT)
    time.sleep(0.1)
sys.exit(p.wait() != -signal.SIGINT)
EOF
[ -z "$(ls -A empty)" ] || say "interrupted: $(ls -A empty) stays"
(trap '' XFSZ; ulimit -f 4; "$PERFILE" filter -o empty/out "$own/dwarf.data" 2>said) &&
    say "no room, and no failure"
grep -qi 'large' said || say "no room: $(cat said)"
[ -z "$(ls -A empty)" ] || say "no room: $(ls -A empty) stays"

# The comparison can fail.
"$PERFILE" filter -f -o one --head 1 "$own/group.data" 2>said
"$PERFILE" filter -f -o two --head 2 "$own/group.data" 2>said
data_of one >before
data_of two >after
cmp -s before after && say "records that differ are not seen"

echo "$same with everything, $twice twice, $damaged damaged"
enough "captures with everything kept" "$same" 160 15 || failed=1
enough "captures filtered twice" "$twice" 400 24 || failed=1
[ "$failed" = 0 ]
