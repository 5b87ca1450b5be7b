# What `convert --target V` writes with exit status 0 passes `validate --for V`: over all captures, versions, forms.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
all=("$PERFILE_SOURCE"/samples/captures/*.data)
if [ -d "$PERFILE_CORPUS" ]; then
    while IFS= read -r -d '' capture; do
        all+=("$capture")
    done < <(find "$PERFILE_CORPUS" -name '*.data' -type f -size -400k -print0 | sort -z)
else
    echo "not tried: captures of others: there is no corpus"
fi
"$PERFILE" convert --target x -o none none 2>message || true
versions=$(grep -o 'perf-[0-9.]*[0-9]' message | sort -u | paste -sd, -)
export PERFILE_CASES=$((${PERFILE_CASES:-1} > 1 ? 40 : 1))
python3 "$PERFILE_SOURCE/tests/corpus/targets.py" "$PERFILE" out "$versions" "${all[@]}"

# What the law found first: a damaged feature, tracing data of a pipe.
cd "$PERFILE_SOURCE/samples/captures"
for input in corrupt-feature pipe-tracepoints; do
    status=0
    "$PERFILE" convert -f --target perf-6.1 -o "$OLDPWD/$input.data" $input.data 2>"$OLDPWD/$input.err" || status=$?
    [ $status = 3 ]
    grep -q 'V-6' "$OLDPWD/$input.err"
done
# In an archive each capture is checked that was added, and no other; --source is about the input.
status() {
    local status=0
    "$PERFILE" convert --target perf-6.1 "$@" 2>/dev/null || status=$?
    echo "$status"
}
several=$OLDPWD/several.perfile
[ "$(status --to archive -o "$several" corrupt-feature.data)" = 3 ]
[ "$(status --to archive --append -o "$several" cpu-clock.data)" = 0 ]
[ "$(status --to archive --append -o "$several" group.data corrupt-feature.data)" = 3 ]
[ "$(status --source 2 --to perf.data -o "$OLDPWD/second.data" "$several")" = 0 ]
