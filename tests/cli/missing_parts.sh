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
    "$PERFILE" info $directory 2>/dev/null | grep -E '^(form|state)'
    "$PERFILE" validate $directory 2>&1 | grep -c V-018
done
# One that never had any: `data` says so.
"$PERFILE" convert --to dir -o single "$PERFILE_SOURCE/samples/captures/cpu-clock.data" && "$PERFILE" info single | grep -E '^(form|state)'
