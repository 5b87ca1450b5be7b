# `convert --target` makes a capture readable that no version of perf reads as it is: the formats of tracepoints among the records,
# counter values without ids.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
python3 "$PERFILE_SOURCE/tests/cli/convert_target.py" "$PERFILE_SOURCE/samples/captures/tracepoints.data"
for version in 4.19 6.1 7.2; do
    for capture in formats read; do
        ! "$PERFILE" validate --for "$version" "$capture.data" >before || { cat before; exit 1; }
        "$PERFILE" convert -f --target "$version" -o new.data "$capture.data" 2>notes
        "$PERFILE" validate --for "$version" --severity error new.data >after || { cat after; exit 1; }
        samples=$("$PERFILE" stats --json "$capture.data" 2>/dev/null | grep -o '"samples":[0-9]*' | head -1)
        "$PERFILE" stats --json new.data | grep -q "$samples"
    done
    grep -q "cannot read counter values without ids .* cut out of 1 sample$" notes
    ! "$PERFILE" dump --format jsonl new.data | grep -q '"read":' || exit 1
done
# The section is there instead of the record.
"$PERFILE" convert -f --target 6.1 -o new.data formats.data
"$PERFILE" stats --by type --json new.data >types
! grep -q HEADER_TRACING_DATA types
"$PERFILE" list features new.data | grep -q TRACING_DATA
