#!/bin/bash
# Archives that were written once, by version 1 of the format, restore to the bytes that they were made of, today
# and with every later version: tests/golden.  Its README.md has for each the SHA-256 of what is restored.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs sha256sum python3
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
golden=$PERFILE_SOURCE/tests/golden
failed=0 restored=0
say() {
    echo "$*"
    failed=1
}

# The sum of a file; of a directory that of the sums of its files, sorted by name.
sum() {
    if [ -d "$1" ]; then
        (cd "$1" && LC_ALL=C sha256sum -- * | sha256sum)
    else
        sha256sum <"$1"
    fi | cut -d ' ' -f 1
}

# restore WHAT WANTED [OPTION ...] IN
restore() {
    local what=$1 wanted=$2
    shift 2
    rm -rf out
    "$PERFILE" convert -o out "$@" 2>said || [ $? = 3 ] || { say "$what: refused: $(cat said)"; return; }
    [ "$(sum out)" = "$wanted" ] || say "$what: restores to $(sum out), not to $wanted"
    restored=$((restored + 1))
}

# Lines of the table: | `NAME.perfile` | how it was made | `SHA-256` |
while IFS='|' read -r _ name _ wanted _; do
    name=$(tr -d '` ' <<<"$name") wanted=$(tr -d '` ' <<<"$wanted")
    [ -f "$golden/$name" ] || { say "there is no $name"; continue; }
    restore "$name" "$wanted" "$golden/$name"
    restore "$name without its index" "$wanted" --no-index "$golden/$name"
    restore "$name from standard input" "$wanted" - <"$golden/$name"
    "$PERFILE" stats "$golden/$name" >said 2>&1
    case $?:$name in
    0:* | 3:cut.perfile | 3:garbage.perfile | 1:bytes.perfile) ;;
    *) say "$name: stats: $(head -3 said)" ;;
    esac
done < <(grep '^| `' "$golden/README.md")
[ "$restored" -ge 39 ] || say "only $restored archives were restored"
[ "$(find "$golden" -name '*.perfile' | wc -l)" -eq "$(grep -c '^| `' "$golden/README.md")" ] ||
    say "not every archive is in the table"

# A change of the archives themselves is none that passes: their layout is as it was written, all codecs among them.
python3 - "$golden" <<'END' || say "the layout of an archive is another one"
import glob
import struct
import sys

codecs = set()
for path in glob.glob(sys.argv[1] + "/*.perfile"):
    with open(path, "rb") as f:
        data = f.read()
    assert data[:12] == b"\x89PFC\r\n\x1a\n\1\0\0\0", path
    at = 64
    while at + 64 <= len(data):
        magic, kind, codec, meta_len, payload_len = struct.unpack_from("<4sBB18xII", data, at)
        assert magic == b"PFCK", path
        if kind in (2, 3):
            codecs.add((kind, codec))
        at += (64 + (meta_len + 7) // 8 * 8 + payload_len + 63) // 64 * 64
assert codecs >= {(3, 0), (3, 1), (2, 1), (2, 2)}, codecs
END
cp "$golden/cpu-clock.perfile" other.perfile
chmod u+w other.perfile
printf x | dd of=other.perfile bs=1 seek=700 conv=notrunc 2>/dev/null
before=$failed
restore "(a changed byte)" "$(sum "$golden/../../samples/captures/cpu-clock.data")" other.perfile >changed
[ -s changed ] || say "a byte that differs is not seen"
[ -s changed ] && failed=$before
echo "$restored restored"
exit "$failed"
