# stats by every key.
cd "$PERFILE_SOURCE/samples/captures"
for by in type event cpu pid tid comm time=1ms type,comm; do
    "$PERFILE" stats --by $by cpu-clock.data || exit
    echo
done
"$PERFILE" stats --by cpu --by type --type sample,32768 --sort bytes fields.data
"$PERFILE" stats --by time=500us --sort key cpu-clock.data
"$PERFILE" stats --raw zstd.data
"$PERFILE" stats --json --by event,cpu group.data
