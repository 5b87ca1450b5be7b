# What info says of captures of several forms.
cd "$PERFILE_SOURCE/samples/captures"
for file in cpu-clock clock pipe zstd big-endian killed; do
    "$PERFILE" info $file.data 2>/dev/null >"$OLDPWD/out"
    echo "exit status $?"
    sed 's/^captured .*Z, when/captured     (a date), when/' "$OLDPWD/out"
    echo
done
"$PERFILE" info --header pipe.data | sed 's/^captured .*Z, when/captured     (a date), when/'
"$PERFILE" info <pipe-zstd.data - | grep -c '^captured .*, when'
cat pipe-zstd.data | "$PERFILE" info - | grep -c '^captured'
# How it was sampled, and what was lost.
for file in dwarf mixed stat group threads; do
    "$PERFILE" info $file.data | grep -E '^(events|lost| )'
done
cd "$OLDPWD"
cp "$PERFILE_SOURCE/samples/captures/cpu-clock.data" old.data
touch -d '2001-02-03T04:05:06.7Z' old.data
"$PERFILE" info old.data | grep ^captured
"$PERFILE" info --json old.data | grep -o '"captured":{[^}]*}'
"$PERFILE" info --json "$PERFILE_SOURCE/samples/captures/clock.data" | grep -o '"captured":{[^}]*}'
# Of many events those that have samples, or the first few where nothing was counted.
args=()
for i in 1 2 3 4 5 6 7 8 9 10; do
    cp "$PERFILE_SOURCE/samples/captures/tracepoints.data" "$i.data"
    args+=("$i.data")
done
"$PERFILE" merge -o many.data --offset 2=0 "${args[@]}" 2>/dev/null
"$PERFILE" filter -f -o few.data --event sched:sched_process_exec many.data 2>/dev/null
"$PERFILE" info many.data | grep -c ', period 1$'
"$PERFILE" info few.data | sed -n '/^events/,/^clock/p' | tail -n 3
"$PERFILE" info --header few.data | sed -n '/^events/,/^clock/p' | tail -n 3
