# Every list, of one capture or another.
cd "$PERFILE_SOURCE/samples/captures"
for what in events ids processes threads mappings build-ids cpus; do
    "$PERFILE" list $what cpu-clock.data || exit
    echo
done
"$PERFILE" list features pipe.data || exit
"$PERFILE" list events -v group.data || exit
"$PERFILE" list events --json mixed.data
"$PERFILE" list ids --json cpu-clock.data
