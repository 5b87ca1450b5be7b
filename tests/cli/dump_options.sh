# Which records dump shows, and where it puts them.
cp "$PERFILE_SOURCE/samples/captures/cpu-clock.data" a.data
cp "$PERFILE_SOURCE/samples/captures/zstd.data" z.data
index() { grep '"kind":"record"' | grep -o '"index":[0-9]*' | tr '\n' ' '; echo; }
"$PERFILE" dump --format jsonl --limit 3 a.data | index
"$PERFILE" dump --format jsonl --skip 2 --limit 2 a.data | index
"$PERFILE" dump --format jsonl --type comm,7 a.data | index
"$PERFILE" dump --format jsonl --type comm --skip 1 --limit 2 a.data | index
"$PERFILE" dump --format jsonl --at 1936 --limit 1 a.data | grep -o '"offset":"1936"'
"$PERFILE" dump --format jsonl --at 1940 --limit 1 a.data | grep -o '"offset":"1936"'
"$PERFILE" dump --format jsonl --at 0x790 --limit 1 a.data | grep -o '"offset":"1936"'
"$PERFILE" dump --type comm --limit 1 a.data
"$PERFILE" dump --hex --at 1936 --limit 1 a.data
echo "raw: $("$PERFILE" dump --format jsonl --raw z.data | grep -c compressed_in) of $("$PERFILE" dump --format jsonl z.data | grep -c compressed_in)"
"$PERFILE" dump -o out.txt a.data && "$PERFILE" dump a.data | cmp - out.txt
"$PERFILE" dump -o out.txt --format jsonl a.data 2>&1; echo "exit status $?"
"$PERFILE" dump a.data | cmp - out.txt
"$PERFILE" dump -f -o out.txt --format jsonl a.data; echo "exit status $?"
"$PERFILE" dump --format jsonl a.data | cmp - out.txt
"$PERFILE" dump -o new.txt missing 2>&1; echo "exit status $?"
"$PERFILE" dump -o no/such/folder a.data 2>&1; echo "exit status $?"
echo text >not; "$PERFILE" dump --format jsonl not 2>&1; echo "exit status $?"
ls
