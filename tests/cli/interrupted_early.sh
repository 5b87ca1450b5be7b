# SIGINT at any file that filter opens: its output is there whole, or nothing of it, under any name.
. "$PERFILE_SOURCE/tests/needs.bash"
needs strace
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} # which strace prevents
strace -f -qq -o calls -e trace=openat "$PERFILE" filter -o out "$PERFILE_SOURCE/samples/captures/cpu-clock.data" \
    2>/dev/null || { echo "strace cannot run it"; exit 77; }
n=$(wc -l <calls)
cp out whole
mkdir here
for ((i = 1; i <= n; i++)); do
    strace -f -qq -o calls -e trace=openat -e inject=openat:signal=SIGINT:when="$i" \
        "$PERFILE" filter -o here/out "$PERFILE_SOURCE/samples/captures/cpu-clock.data" >said 2>&1
    [ ! -e here/out ] || cmp -s here/out whole || { echo "call $i: half of it"; failed=1; }
    rm -f here/out
    [ -z "$(ls -A here)" ] || { echo "call $i: $(ls -A here) stays"; failed=1; rm -f here/*; }
done
[ "$n" -ge 3 ] || { echo "$n calls"; failed=1; }
exit "${failed:-0}"
