# A capture is the same one through a pipe, a FIFO, standard input, sparse and from a directory.
set -e
captures=$PERFILE_SOURCE/samples/captures
for name in cpu-clock pipe zstd tracepoints; do
    "$PERFILE" stats --by type,pid,comm "$captures/$name.data" >direct
    "$PERFILE" stats --by type,pid,comm - <"$captures/$name.data" >other && cmp direct other
    cat "$captures/$name.data" | "$PERFILE" stats --by type,pid,comm - >other && cmp direct other
    rm -f fifo && mkfifo fifo && (cat "$captures/$name.data" >fifo &)
    "$PERFILE" stats --by type,pid,comm fifo >other && cmp direct other
    mkdir -p "$name" && cp "$captures/$name.data" "$name/data"
    "$PERFILE" stats --by type,pid,comm "$name" >other && cmp direct other
done
cp "$captures/cpu-clock.data" sparse && truncate -s 20G sparse
timeout 60 "$PERFILE" stats sparse
"$PERFILE" info --header "$captures/threads.data" | head -n 2 | sed "s|$captures/||"
"$PERFILE" stats "$captures/threads.data"
