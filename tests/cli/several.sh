# Several files: each is reported, and the worst status counts.
captures=$PERFILE_SOURCE/samples/captures
cp "$captures/cpu-clock.data" a.data
cp "$captures/bad-size.data" b.data
"$PERFILE" stats a.data b.data 2>&1; echo "exit status $?"
"$PERFILE" list events a.data missing b.data 2>&1; echo "exit status $?"
"$PERFILE" info --json a.data b.data 2>/dev/null | grep -c '^{.*}$'
"$PERFILE" dump --format jsonl a.data a.data | grep -c '"kind":"end"'
