# Conversions that change nothing: without options every capture comes out byte for byte, as a file,
# through a pipe, and as a directory; and in the other byte order and back.  Damaged ones are refused
# with a sentence that says where, and come out byte for byte with --force.
set -u
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
. "$PERFILE_SOURCE/tests/enough.bash"
failed=0 same=0 refused=0 turned=0 packed=0

say() {
    echo "$*"
    failed=$((failed + 1))
}

# The capture at $1 without options: as a file or directory, and from standard input.
unchanged() {
    local rc force=
    rm -rf out
    "$PERFILE" convert -o out "$1" 2>said
    rc=$?
    if [ "$rc" != 0 ]; then
        grep -qE ': (offset [0-9]+|.* lacks|.*directory)' said || say "$1: refused without a place: $(cat said)"
        [ -e out ] && say "$1: refused, but written"
        refused=$((refused + 1))
        force=--force
        "$PERFILE" convert --force -o out "$1" 2>said
        rc=$?
        [ "$rc" = 1 ] && return 1 # no capture at all
        [ "$rc" = 3 ] || say "$1: forced, status $rc"
    elif [ -s said ]; then
        say "$1: $(head -1 said)"
    fi
    diff -rq "$1" out >/dev/null || say "$1: not the same"
    [ -d "$1" ] && return 0
    cat "$1" | "$PERFILE" convert $force -f -o out - 2>said
    cmp -s "$1" out || say "$1: from standard input: not the same: $(head -1 said)"
    cat "$1" | "$PERFILE" convert $force -o - - 2>said | cmp -s - "$1" ||
        say "$1: from standard input to standard output: not the same: $(head -1 said)"
    same=$((same + 1))
}

# In the other byte order and back, with --decompress where there is something to decompress.
there_and_back() {
    local order=little other=big wanted=$1 options=$2 rc
    [ "$("$PERFILE" info --header --json "$1" 2>/dev/null | grep -c '"endian":"big"')" = 1 ] &&
        order=big other=little
    rm -rf there back plain
    if "$PERFILE" stats --json "$1" 2>/dev/null | grep -qE '"type_number":8[13]\b'; then
        packed=$((packed + 1))
        "$PERFILE" convert $options --decompress -o plain "$1" 2>said || [ $? = 3 ] ||
            say "$1: not decompressed: $(cat said)"
        wanted=plain
    else
        turned=$((turned + 1))
    fi
    "$PERFILE" convert $options --byte-order "$other" -o there "$1" 2>said
    rc=$?
    [ "$rc" = 0 ] || [ "$rc$options" = 3--force ] || { say "$1: $other: status $rc: $(cat said)"; return; }
    [ -n "$options" ] || "$PERFILE" info --header --json there 2>/dev/null | grep -q "\"endian\":\"$other\"" ||
        say "$1: is not $other-endian"
    "$PERFILE" convert $options --byte-order "$order" -o back there 2>said
    rc=$?
    [ "$rc" = 0 ] || [ "$rc$options" = 3--force ] || { say "$1: back: status $rc: $(cat said)"; return; }
    diff -rq "$wanted" back >/dev/null || say "$1: not the same after $other and $order"
}

while read -r capture; do
    before=$refused
    unchanged "$capture" || continue
    options=
    [ "$refused" = "$before" ] || options=--force
    case $capture in
    # Damage that only a look at the fields finds.
    */corrupt-feature.data) options=--force ;;
    # What is lost of a zstd stream is not there to be turned.
    */corrupt-zstd.data) continue ;;
    # Perfmon buffers are of one byte order.
    *.cpuperf) continue ;;
    esac
    there_and_back "$capture" "$options"
done < <(find "$PERFILE_CORPUS" "$PERFILE_SOURCE/samples/captures" \
    \( -name '*.data' -type d -print -prune \) -o -type f ! -name '*.jsonl' ! -name '*.tsv' ! -name '*.md' \
    ! -name '*.zst' ! -name '*.py' ! -name '*.sh' ! -name '*.c' ! -name '.git*' -print 2>/dev/null |
    sort | awk "NR % ${PERFILE_EVERY:-1} == 0")

# The comparison can fail.
cp "$PERFILE_SOURCE/samples/captures/group.data" one.data
"$PERFILE" convert -o other.data one.data && printf x | dd of=other.data bs=1 seek=2000 conv=notrunc 2>/dev/null
cmp -s one.data other.data && say "a byte that differs is not seen"

echo "$same unchanged, $refused refused before; $turned there and back, $packed compressed ones"
enough "captures unchanged" "$same" 120 25 || failed=1
enough "captures there and back" "$turned" 120 25 || failed=1
enough "refused captures" "$refused" 4 5 || failed=1
enough "compressed captures" "$packed" 4 2 || failed=1
[ "$failed" = 0 ]
