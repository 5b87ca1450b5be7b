# Wrong usage: a sentence, where to read on, exit status 2, nothing on standard output.
wrong() {
    "$PERFILE" "$@" >out 2>err
    echo "$? $(wc -c <out) $*"
    cat err
}
wrong 2>&1
wrong frobnicate
wrong info
wrong info --nonsense x
wrong list
wrong list x
wrong list events
wrong stats --by
wrong stats --by color=1 x
wrong stats --by type,type x
wrong stats --by time=0 x
wrong stats --by pid=3 x
wrong stats --sort up x
wrong stats --type SAMPLES x
wrong dump --limit many x
wrong dump --format xml x
wrong dump --format jsonl --hex x
wrong dump --type , x
exit 0
