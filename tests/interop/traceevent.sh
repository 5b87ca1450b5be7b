# Payloads of tracepoints against libtraceevent, the library of the kernel's developers: every field of every sample by position
# (name, place, number, text, bytes, items of dynamic arrays), and the text of the print fmt.  Over our captures, those of
# $PERFILE_CORPUS, of which some are big-endian, and tracepoints of this machine.  traceevent.c does it and has the reasons of
# the differences that stay.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
. "$PERFILE_SOURCE/tests/enough.bash"
needs "$PERFILE_CC" pkg-config
if ! pkg-config --exists libtraceevent; then
    echo "libtraceevent-dev is not installed"
    exit 77
fi
# shellcheck disable=SC2046,SC2086 # flags are words
"$PERFILE_CC" $PERFILE_CFLAGS -std=c11 -Wall -Wextra -Werror -I"$PERFILE_BUILD/include" -I"$PERFILE_SOURCE/include" -I"$PERFILE_SOURCE/src" \
    "$PERFILE_SOURCE/tests/interop/traceevent.c" -o traceevent "$PERFILE_BUILD/libperfile.a" \
    $(PKG_CONFIG_PATH=$PERFILE_BUILD pkg-config --static --libs-only-l perfile | sed 's/-lperfile //') \
    $(pkg-config --cflags --libs libtraceevent) || exit 1

# All of the corpus, also under sanitizers: few of its captures have tracepoints.
captures=("$PERFILE_SOURCE"/samples/captures/*.data)
if [ -d "$PERFILE_CORPUS" ]; then
    while read -r name; do
        captures+=("$PERFILE_CORPUS/${name%/}")
    done < <(PERFILE_EVERY=1 corpus_lines | cut -f 1)
fi

# record: tracepoints of this machine; those of each group alone where the kernel does not have all groups.
record() {
    local group groups=() there=()
    for group in sched irq kmem block net skb workqueue filemap exceptions timer signal task writeback ipi raw_syscalls; do
        groups+=(-e "$group:*")
    done
    if ! perf record -q -o probe.data "${groups[@]}" -- true >/dev/null 2>&1; then
        for group in "${groups[@]}"; do
            [ "$group" = -e ] || ! perf record -q -o probe.data -e "$group" -- true >/dev/null 2>&1 || there+=(-e "$group")
        done
        [ "${#there[@]}" != 0 ] || return 1
        groups=("${there[@]}")
    fi
    perf record -q -m 1M -o made.data "${groups[@]}" -- \
        sh -c 'ls -l /etc /proc; echo x >written; sync written; cat written; sleep 0.05' >/dev/null 2>&1
}
if command -v perf >/dev/null && record; then
    captures+=(made.data)
else
    echo "not tried: tracepoints of this machine: perf cannot record them here"
fi

./traceevent "${captures[@]}" >said
status=$?
cat said
read -r n_captures _ values _ items _ texts _ _ big_endian _ <<<"$(tail -n 1 said | tr -d ,)"
enough "captures with tracepoints" "$n_captures" 18 2 || status=1
enough "values" "$values" 22000 1000 || status=1
enough "items of arrays" "$items" 5000 0 || status=1
enough "equal texts" "$texts" 2900 150 || status=1
enough "values of big-endian captures" "$big_endian" 7000 0 || status=1
exit "$status"
