# What versions of perf make of our captures, by `validate --for`.  What perf 6.1, 6.12 and 7.2 really do with them
# was seen (tests/releases/verdicts.sh sees it again); of the others the rows of format/versions.def are the source.
captures="bad-attr-size bad-size big-endian callgraph cgroup clock corrupt-feature-offset corrupt-feature corrupt-zstd
    cpu-clock dwarf empty fields garbage group killed mixed namespaces overwrite pipe-tracepoints pipe-zstd pipe stat
    switch text threads tracepoints trailing-text truncated-attr-ids truncated-features truncated-header
    truncated-pipe truncated-record unknown-type zstd"
here=$PWD
versions=$(sed -n 's/^PERF([A-Z0-9_]*, *"\([0-9.]*\)".*/\1/p' "$PERFILE_SOURCE/format/versions.def")
cd "$PERFILE_SOURCE/samples/captures"
for version in $versions; do
    "$PERFILE" validate --severity error --for "$version" $(printf '%s.data ' $captures) >"$here/all"
    [ $? = 3 ] || echo "perf $version: exit status of all together is not 3"
    sed -n "s/^\([^:]*\): perf $version \(opens\|refuses\)/\1: \2/p" "$here/all" >"$here/verdicts"
    echo "perf $version: reads $(grep -c 'reads all' "$here/verdicts"), loses $(grep -c loses "$here/verdicts")," \
        "stops $(grep -c 'its end' "$here/verdicts"), refuses $(grep -c 'refuses' "$here/verdicts")"
    case $version in
    6.1 | 6.12 | 7.2) grep -v 'reads all' "$here/verdicts" ;;
    esac
done
cd "$here"
# The exit status is that of the verdict.
for version in 3.8 5.4 6.1 7.2; do
    for name in cpu-clock stat pipe-zstd clock; do
        "$PERFILE" validate --severity error --for "$version" "$PERFILE_SOURCE/samples/captures/$name.data" >one
        status=$?
        grep -q 'reads all of it$' one && wanted=0 || wanted=3
        [ "$status" = "$wanted" ] || echo "$name for perf $version: exit status $status"
    done
done
