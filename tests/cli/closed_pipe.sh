# A reader that has seen enough ends the command quietly, also where SIGPIPE is ignored.
big=big.data
"$PERFILE" dump --format jsonl "$PERFILE_SOURCE/samples/captures/dwarf.data" >/dev/null || exit 1
head -c 264 "$PERFILE_SOURCE/samples/captures/killed.data" >$big
for i in $(seq 200); do tail -c +265 "$PERFILE_SOURCE/samples/captures/killed.data"; done >>$big
for command in dump "dump --format jsonl" "dump --format cbor" "list mappings" "list threads --json" "list features" "stats --by time=1ns" info; do
    "$PERFILE" $command $big 2>err | head -c 10 >/dev/null
    status=("${PIPESTATUS[@]}")
    case ${status[0]} in
    0 | 3 | 141) ;;
    *) echo "exit status ${status[0]}: $command" ;;
    esac
    grep -v 'the recording was not finished\|events differ\|a record runs past\|lost' err

    (trap '' PIPE; "$PERFILE" $command $big 2>err; echo $? >rc) | head -c 10 >/dev/null
    sleep 0.1
    case $(cat rc) in
    0 | 3) ;;
    *) echo "exit status $(cat rc) without SIGPIPE: $command" ;;
    esac
    grep -v 'the recording was not finished\|events differ\|a record runs past\|lost' err
done
# A full disk is told.
if [ -e /dev/full ]; then
    for command in "dump" "list events" "stats" "info --json"; do
        "$PERFILE" $command "$PERFILE_SOURCE/samples/captures/cpu-clock.data" >/dev/full
        echo "$? $command"
    done 2>&1
fi
exit 0
