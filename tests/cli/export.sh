# Samples as folded stacks and flame graphs: every key, weight and mark, several inputs, what is refused.
. "$PERFILE_SOURCE/tests/cli/run.inc"
ln -sfn "$PERFILE_SOURCE/samples/captures" captures
run export --no-symbols --to folded captures/callgraph.data
run export --no-symbols --unknown address --to folded captures/callgraph.data
run export --no-symbols --unknown function --to folded captures/callgraph.data
run export --no-symbols --to folded --per event,cpu,tid --weight period captures/fields.data
run export --no-symbols --to folded --per none --mark kernel,jit captures/clock.data
run export --no-symbols --to folded --comm child --per pid,comm captures/cpu-clock.data
run export --no-symbols --to folded captures/cpu-clock.data captures/big-endian.data captures/zstd.data -o added
awk '{ n += $NF } END { print n, "samples" }' added
run export --no-symbols --to folded --json -o damaged captures/truncated-record.data
run export --no-symbols --to folded captures/killed.data
echo '$ … | perfile export --no-symbols --to folded -'
"$PERFILE" export --no-symbols --to folded - <captures/pipe.data 2>&1 | tail -n 2
run export --no-symbols --to folded captures/empty.data
run export --no-symbols --to folded captures/garbage.data
run export --no-symbols --to folded captures/perfmon-sampling.cpuperf

# One file, with nothing from elsewhere in it.
run export --no-symbols --to flamegraph --title 'two </script> & "three"' -o flame.html captures/callgraph.data
grep -c '<script' flame.html
grep -oE '(src|href|import|url)[=( ].{20}|https?:' flame.html
grep -o '"title":.*"unit":"[a-z]*"' flame.html
run export --no-symbols --to flamegraph -o flame.html captures/callgraph.data

# The same stacks from the leaf on.
run export --no-symbols --to folded --per event,comm --reverse captures/fields.data
for direction in '' --reverse; do
    "$PERFILE" export --no-symbols --unknown address --to folded $direction captures/callgraph.data 2>/dev/null >"stacks$direction"
done
awk '{ n = split($0, f, "[; ]"); line = f[n - 1]; for (i = n - 2; i > 0; i--) line = line ";" f[i]; print line, f[n] }' stacks--reverse |
    sort | cmp - <(sort stacks) && echo "all stacks are there"
run export --no-symbols --to speedscope --reverse -o no captures/callgraph.data
run export --no-symbols --to folded --lines -o no captures/callgraph.data
run export --no-symbols --to flamegraph --reverse -f -o flame.html captures/callgraph.data captures/clock.data
sed -n 's/.*"title":/title /p; /^"keys"/p; /^"about"/p' flame.html

# Two captures, one compared with the other.
for half in 0%..50% 50%..100%; do
    "$PERFILE" filter --time $half -o "${half%%%*}.data" captures/cpu-clock.data 2>/dev/null
done
run export --no-symbols --to folded --per comm --json --compare 0.data -o changes 50.data
cat changes
run export --no-symbols --to folded --compare 0.data 0.data 50.data | tail -n 2
run export --no-symbols --to pprof --compare 0.data -o no 50.data
run export --no-symbols --to folded --compare nowhere.data 50.data
run export --no-symbols --to folded --compare 0.data -f -o 0.data 50.data

# The AUX area: a directory, also where there is none of it.
run export --to aux -o aux captures/callgraph.data
ls aux
run export --to aux captures/callgraph.data
run export --to aux -o aux captures/callgraph.data
run export --to aux -f --json -o aux captures/callgraph.data
run export --to aux -o twice captures/callgraph.data captures/clock.data

run export --to flamegraph -o picture.svg captures/callgraph.data
run export captures/callgraph.data
run export --to foldd captures/callgraph.data
run export --no-symbols --to folded --per comm,comm captures/callgraph.data
run export --no-symbols --to folded --per none,comm captures/callgraph.data
run export --no-symbols --to folded --mark inlined captures/callgraph.data
run export --no-symbols --to folded --json captures/callgraph.data
run export --no-symbols --to folded nowhere.data
run export --to folded --kallsyms nowhere captures/callgraph.data
run export --no-symbols --to folded -o captures/callgraph.data -f captures/callgraph.data
