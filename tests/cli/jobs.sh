# With -j N comes out what comes out without: standard output, standard error and exit status, of whole captures
# and of damaged ones.
. "$PERFILE_SOURCE/tests/chosen.bash"
cut=whole.data
tried=0

# Runs a command without -j, then with several.
same() {
    "$PERFILE" "$@" >one.out 2>one.err
    echo "exit status $?" >>one.err
    for jobs in 2 5; do
        "$PERFILE" "$1" -j $jobs "${@:2}" >many.out 2>many.err
        echo "exit status $?" >>many.err
        if ! cmp one.out many.out || ! diff one.err many.err; then
            echo "-j $jobs: $*"
            exit 1
        fi
    done
    tried=$((tried + 1))
}

for capture in "$PERFILE_SOURCE"/samples/captures/*.data; do
    chosen || continue
    same dump "$capture"
    same dump --format jsonl --resync "$capture"
    same dump --resolve --json --type sample,mmap2,comm "$capture"
    same dump --fields time,comm,dso,event,callchain --skip 3 --limit 20 "$capture"
done
# Two that follow each other, of which one cannot be read, and output to a file.
captures=$PERFILE_SOURCE/samples/captures
same dump --hex "$captures/garbage.data" "$captures/group.data" "$captures/truncated-record.data"
"$PERFILE" dump -j 3 -o many.txt "$captures/callgraph.data"
"$PERFILE" dump -o one.txt "$captures/callgraph.data"
cmp one.txt many.txt || exit 1
# Large enough for more than one thread to get something: a capture many times, as a pipe and as a file.
for capture in pipe pipe-tracepoints pipe-zstd; do
    for i in {1..60}; do cat "$captures/$capture.data"; done >$cut
    same dump $cut
    same dump --json --resync $cut
    for form in folded pprof speedscope firefox; do same export --to $form $cut; done
    same stats --by comm,dso,sym --no-symbols --json $cut
    same stats --by sym,parent $cut
    head -c $(($(stat -c %s $cut) - 100)) $cut >cut.data
    same dump --json cut.data
done
for word in -1 257 x ''; do "$PERFILE" dump -j "$word" $cut; echo "exit status $?"; done 2>&1
"$PERFILE" dump --jobs auto --type comm $cut >auto.out 2>auto.err; "$PERFILE" dump -j 0 --type comm $cut 2>/dev/null | cmp - auto.out
[ $tried -ge $((80 / PERFILE_CASES + 33)) ] || echo "only $tried were tried"
