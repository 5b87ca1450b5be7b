# Records that get another size between the passes of `sort`: they are refused, nothing is read
# outside of the file.  What waits is looked at in the mapping when it is longer than the window.
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
failed=0
python3 "$PERFILE_SOURCE/tests/cli/random_times.py" 8 random.data
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
    grep -q '^[12]$' rc && grep -qE 'do not agree with its bytes|was changed while' err || {
        echo "$byte: $(cat rc err)"
        failed=1
    }
done
exit $failed
