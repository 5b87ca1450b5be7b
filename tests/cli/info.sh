# What info says of captures of several forms.
cd "$PERFILE_SOURCE/samples/captures"
for file in cpu-clock clock pipe zstd big-endian killed; do
    "$PERFILE" info $file.data 2>/dev/null
    echo "exit status $?"
    echo
done
"$PERFILE" info --header pipe.data
