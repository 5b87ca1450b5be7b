# Records that get another size between the passes of `sort`: they are refused, nothing is read
# outside of the file.  What waits is looked at in the mapping when it is longer than the window.
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
failed=0
python3 - <<'END'
import random, struct
n = (8 << 20) // 48
kind = 1 << 16 | 0x107  # IDENTIFIER, IP, TID, TIME, PERIOD
attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000, kind, 0, 1 << 18).ljust(136, b"\0")
dice, pack = random.Random(7), struct.Struct("<IHHQQIIQQ").pack
data = b"".join(pack(9, 2, 48, 70, i, 100, 101, dice.getrandbits(40) + 1, 1) for i in range(n))
with open("random.data", "wb") as f:
    f.write(b"PERFILE2" + struct.pack("<8Q", 104, 152, 112, 152, 264, len(data), 0, 0) + bytes(32))
    f.write(struct.pack("<Q", 70) + attr + struct.pack("<QQ", 104, 8) + data)
END
mkfifo out
for byte in '\000' '\377'; do
    cp random.data changing.data
    ("$PERFILE" sort -o - changing.data >out 2>err; echo $? >rc) &
    # The command waits for the reader, who waits until the file is another one.
    exec 3<out
    head -c 100000 <&3 >/dev/null
    tail -c +265 random.data | tr '\000-\377' "$byte" |
        dd of=changing.data bs=1M oflag=seek_bytes seek=264 conv=notrunc status=none
    cat <&3 >/dev/null
    wait
    grep -q '^[12]$' rc && grep -qE 'not what its bytes say|was changed while' err || {
        echo "$byte: $(cat rc err)"
        failed=1
    }
done
exit $failed
