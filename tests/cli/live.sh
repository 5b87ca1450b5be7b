# A record of a live pipe is shown when it has arrived, not when a buffer is full: the rest is sent
# only after it was seen.
capture=$PERFILE_SOURCE/samples/captures/pipe.data
whole=$(stat -c %s "$capture")
"$PERFILE" dump --format jsonl "$capture" >all
for format in jsonl text; do
    "$PERFILE" dump --format $format "$capture" >wanted
    mkfifo in out
    "$PERFILE" dump --format $format - <in >out 2>err &
    exec 3>in 4<out
    sent=0
    : >seen
    for index in 3 9 40; do
        # The offset of the next record in jsonl; what shows that the record before it is there.
        upto=$(sed -n "s/.*\"index\":$((index + 1)),.*\"offset\":\"\([0-9]*\)\".*/\1/p" all)
        tail -c +$((sent + 1)) "$capture" | head -c $((upto - sent)) >&3
        sent=$upto
        case $format in
        jsonl) mark="\"index\":$index," ;;
        text) mark=$(printf '0x%08x' "$(sed -n "s/.*\"index\":$index,.*\"offset\":\"\([0-9]*\)\".*/\1/p" all)") ;;
        esac
        while IFS= read -r -t 20 -u 4 line; do
            printf '%s\n' "$line" >>seen
            case $line in *"$mark"*) echo "$format: record $index was seen"; break ;; esac
        done
    done
    tail -c +$((sent + 1)) "$capture" >&3
    exec 3>&-
    cat <&4 >>seen
    exec 4<&-
    wait
    cmp seen wanted && cat err
    rm in out
done
