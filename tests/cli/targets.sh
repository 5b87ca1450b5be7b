# What convert makes for a version of perf is read by that version, as `validate --for` says: every version of
# format/versions.def, captures with one event and several, with and without chains, tracepoints, side-band.
. "$PERFILE_SOURCE/tests/chosen.bash"
cd "$PERFILE_SOURCE/samples/captures"
here=$OLDPWD
versions=$(sed -n 's/^PERF([A-Z0-9_]*, *"\([0-9.]*\)".*/\1/p' "$PERFILE_SOURCE/format/versions.def")
tried=0
for version in $versions; do
    for name in cpu-clock callgraph cgroup dwarf fields group mixed namespaces overwrite stat switch threads tracepoints \
        zstd big-endian; do
        chosen || continue
        "$PERFILE" convert -f --to perf.data --target "perf-$version" -o "$here/out.data" "$name.data" 2>"$here/losses" ||
            echo "$name for perf $version: exit status $?: $(tail -n 1 "$here/losses")"
        "$PERFILE" validate --severity error --for "$version" "$here/out.data" >"$here/said" ||
            echo "$name for perf $version: $(sed 's/^[^:]*: //' "$here/said" | head -n 1)"
        tried=$((tried + 1))
    done
    chosen || continue
    # No sample gets lost by it.
    "$PERFILE" convert -f --target "perf-$version" -o "$here/out.data" mixed.data 2>/dev/null
    "$PERFILE" stats "$here/out.data" | awk -v v="$version" '$NF == "SAMPLE" { n = $1 } END { if (n != 37) print v ": " n " samples of 37" }'
done
[ "$tried" -ge $((100 / PERFILE_CASES)) ] && echo "all of them"
