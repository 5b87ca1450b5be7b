# Damage is told once for each kind, with offset and bytes; what is there is counted all the same.
cd "$PERFILE_SOURCE/samples/captures"
for file in *.data; do
    "$PERFILE" stats "$file" 2>&1 >/dev/null
    rc=$?
    "$PERFILE" stats --json "$file" 2>/dev/null | grep -o '"total":{[^}]*}' | sed "s|^|$file: exit status $rc, |"
done
echo "--resync"
for file in bad-size garbage trailing-text truncated-pipe; do
    "$PERFILE" stats --resync "$file.data" 2>&1 >/dev/null
    "$PERFILE" stats --resync --json "$file.data" 2>/dev/null | grep -o '"total":{[^}]*}'
done
# Bytes that were inserted among the records: the features are read where they are now.
{ head -c 1600 cpu-clock.data; printf 'inserted'; tail -c +1601 cpu-clock.data; } >"$OLDPWD/inserted"
cd "$OLDPWD"
"$PERFILE" info inserted 2>&1 | grep -E '^(host|command|records|state)|inserted:'
"$PERFILE" validate inserted | grep V-006
exit 0
