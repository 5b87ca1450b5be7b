# Fields of tracepoints: in dump, --fields, --where and --by; names that no tracepoint has.
. "$PERFILE_SOURCE/tests/cli/run.inc"
ln -sfn "$PERFILE_SOURCE/samples/captures" captures

for f in captures/tracepoints.data captures/pipe-tracepoints.data; do
    run dump --type sample --limit 2 "$f"
    run dump --resolve --json --where 'has(prev_pid)' --limit 1 "$f"
    run dump --fields event,prev_comm,prev_pid,prev_prio/50,next_comm --where 'prev_pid > 0' --limit 4 "$f"
    run stats --by prev_comm,sched_switch.next_comm --type sample --sort key "$f"
    run stats --where 'next_comm ~ "swapper*" && sched_switch.prev_prio == 120' "$f"
    run stats --by event --where 'filename ~ "*work"' "$f"
done
run dump --hex --type sample --where 'has(next_prio)' --limit 1 captures/tracepoints.data
run stats --by prev_cmm captures/tracepoints.data
run stats --where 'prev_cmm == "x"' captures/tracepoints.data
run stats --where 'prev_comm == 7' captures/tracepoints.data
run stats --where 'sched_wakup.pid == 7' captures/tracepoints.data
run dump --fields prev_pid,next_pod captures/tracepoints.data
run dump --fields prev_pid/0 captures/tracepoints.data
run stats --by prev_pid captures/cpu-clock.data
run stats --where 'prev_comm == next_comm' captures/tracepoints.data
run stats --where 'prev_pid != next_pid && prev_prio <= next_prio' captures/tracepoints.data
run stats --where 'prev_pid == next_comm' captures/tracepoints.data
run stats --where 'prev_comm < next_comm' captures/tracepoints.data
# Arrays: the six arguments of a system call.
calls=$PERFILE_CORPUS/recorded/x86_64-6.1/raw-sys.data
if [ -e "$calls" ]; then
    "$PERFILE" stats --type sample --by tid --where 'event ~ "*:sys_enter"' "$calls" >wanted
    "$PERFILE" stats --type sample --by tid --where 'count(args) == 6' "$calls" | diff wanted - >&2 || exit 1
    "$PERFILE" stats --type sample --by tid --where 'any(args, . == 0)' "$calls" >wanted
    "$PERFILE" stats --type sample --by tid --where 'has(args) && !all(args, . != 0)' "$calls" | diff wanted - >&2 || exit 1
    grep -q total wanted || exit 1
    if "$PERFILE" stats --where 'args == 6' "$calls" 2>err.txt >&2; then exit 1; fi
    grep -q 'args is a list: use any(), all() or count()' err.txt || exit 1
fi
# In exports: the arguments of trace events, the data of markers.
"$PERFILE" export --no-symbols --to chrome -o chrome.json captures/tracepoints.data 2>/dev/null
grep -o '"tracepoint":{[^}]*}' chrome.json
"$PERFILE" export --no-symbols --to firefox -o firefox.json captures/tracepoints.data 2>/dev/null
grep -o '{"type":"sched:sched_switch"[^{}]*' firefox.json
"$PERFILE" export --help | grep -qw perfetto || exit 0 # not part of every build
"$PERFILE" export --no-symbols --to perfetto -o perfetto captures/tracepoints.data 2>/dev/null
grep -o '"tracepoint":{[^}]*}' chrome.json | cut -d : -f 2- | sort >chrome
grep -a -o '{"[a-z_]*":[^}]*}' perfetto | sort | diff chrome - >&2
