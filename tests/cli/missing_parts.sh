# A directory of perf record --threads that lost its files data.N is not whole; nor is one that lost some.
cp -r "$PERFILE_SOURCE/samples/captures/threads.data" all
cp -r all some
cp -r all none
rm some/data.0 none/data.0 none/data.1
for directory in all some none; do
    for command in "info" "stats" "list threads"; do
        "$PERFILE" $command $directory >out 2>err
        echo "$command $directory: exit status $?"
    done
    "$PERFILE" info $directory 2>/dev/null | grep -E '^(form|state|missing|next)'
    "$PERFILE" validate $directory 2>&1 | grep -c V-018
    "$PERFILE" validate $directory 2>&1 | grep next
    "$PERFILE" stats $directory 2>&1 >/dev/null
done
# Which ones: a range, too; and recover is offered for damage that it can do something about.
cp -r all far
cp far/data.1 far/data.3
cp far/data.1 far/data.12
"$PERFILE" info far 2>/dev/null | grep -E '^(state|missing|next)'
truncate -s -5 far/data.12
"$PERFILE" info far 2>/dev/null | grep -E '^(state|missing|next)'
# One that never had any: `data` says so.
"$PERFILE" convert --to dir -o single "$PERFILE_SOURCE/samples/captures/cpu-clock.data" && "$PERFILE" info single | grep -E '^(form|state)'
