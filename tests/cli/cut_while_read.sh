# A file that is cut while it is read through a window, or in a mapping: a sentence, exit status 1.
head -c 264 "$PERFILE_SOURCE/samples/captures/killed.data" >head
tail -c +265 "$PERFILE_SOURCE/samples/captures/killed.data" >records
for i in {1..11}; do # 2048 times
    cat records records >twice
    mv twice records
done
mkfifo out
for command in "dump big.data" "sort -o - big.data" "convert --on-damage copy -o - big.data" "filter -o - big.data"; do
    cat head records >big.data
    ("$PERFILE" $command >out 2>err; echo $? >rc) &
    # The command waits for the reader, who waits until the file is cut.
    exec 3<out
    head -c 100000 <&3 >/dev/null
    truncate -s 264 big.data
    cat <&3 >/dev/null
    wait
    cat rc err
done
ls
