# An event names its clock only where it uses one: 0 alone is not CLOCK_REALTIME.
cd "$PERFILE_SOURCE/samples/captures"
for capture in cpu-clock clock; do
    echo "$capture"
    "$PERFILE" dump $capture.data | grep ' clockid '
    "$PERFILE" dump --hex $capture.data | grep -o ' clockid .*'
    "$PERFILE" list events -v $capture.data | grep 'clockid:'
    "$PERFILE" list features -v $capture.data | grep -o 'clockid [-0-9].*' | cut -d, -f1
done
