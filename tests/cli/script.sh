# `perfile script`: lines as perf prints them, fields, lines of other records, selections, several inputs, what is refused.
. "$PERFILE_SOURCE/tests/cli/run.inc"
ln -sfn "$PERFILE_SOURCE/samples/captures" captures
script() {
    run script --no-symbols "$@"
}
# The first lines of long texts.
some() {
    script "$@" | head -n 8
}

some captures/cpu-clock.data
some captures/callgraph.data
some captures/mixed.data
some captures/tracepoints.data
some captures/big-endian.data
some captures/group.data
some captures/clock.data -F tod,comm,ip
script captures/switch.data -G
echo '$ … | perfile script --no-symbols -'
"$PERFILE" script --no-symbols - <captures/pipe.data 2>&1 | tail -n 3
some captures/zstd.data
some captures/threads.data
some captures/overwrite.data

# Fields, for all types of events and for one.
some -F comm,pid,tid,cpu,time,event,ip,sym captures/mixed.data
some -F ip,sym,dso,symoff captures/callgraph.data
some -F -comm,-time,+misc,+flags captures/cpu-clock.data
some -F +pid -F sw:-period captures/fields.data
some -F +addr,+dsoff captures/fields.data
some -F +uregs captures/dwarf.data
some -F trace:comm,event -F sw:tid captures/mixed.data
some -F sw: captures/mixed.data
some --ns captures/cpu-clock.data
some --reltime captures/cpu-clock.data
some --deltatime captures/cpu-clock.data
some --max-stack 2 captures/callgraph.data
some -G captures/callgraph.data

# Call chains up to a function, with names that are given.
printf 'ffffffff81000000 T _text\nffffffff815e3500 T stop_here\nffffffff815e3600 T other\n' >kallsyms
run script --kallsyms kallsyms --stop-bt nothing,stop_here captures/callgraph.data | head -n 5

# Lines of other records.
script --show-task-events --show-mmap-events captures/cpu-clock.data | grep RECORD
script --show-switch-events captures/switch.data | grep RECORD
script --show-namespace-events captures/namespaces.data | grep -A 2 RECORD
script --show-cgroup-events captures/cgroup.data | grep RECORD
script --show-lost-events --show-bpf-events --show-round-events captures/cgroup.data | grep RECORD | head -n 4
script --show-task-events --deltatime -F time,tid captures/switch.data

# The header, without when the file was written.
header() {
    script "$@" | sed 's/^\(# captured on    : \).*/\1…/'
}
header --header-only captures/cpu-clock.data
header --header-only -I captures/clock.data | grep -v '^# event'
header --header -F comm,time captures/switch.data | sed -n '1,3p; /missing/,$p' | head -n 8
header --header -F comm,time captures/pipe.data | grep -n 'captured\|====\|CPU_TOPO\|hostname\|work' | head -n 6
header --header-only captures/big-endian.data captures/group.data | grep 'captured\|version\|group\|missing'
header --header-only captures/truncated-features.data
echo '$ … | perfile script --no-symbols --header-only -'
cat captures/cpu-clock.data | "$PERFILE" script --no-symbols --header-only - | head -n 3
script -I -F comm captures/cpu-clock.data | sed -n 2p
script -I -F comm captures/pipe.data | grep -c '^# CPU [0-9]'

# Which records, and several captures.
script --comm child -F comm,tid captures/cpu-clock.data | sort | uniq -c
script --time 10%..30% -F time captures/cpu-clock.data | wc -l
script --where 'period >= 8' -F comm,period captures/fields.data
script -F comm captures/switch.data captures/clock.data -o both
sort both | uniq -c
script -F comm captures/clock.data -o both
script -F comm -f -o both captures/clock.data
sort both | uniq -c
for jobs in 1 2 3; do
    "$PERFILE" script -j $jobs captures/callgraph.data captures/mixed.data | md5sum >jobs.$jobs
done
cmp jobs.1 jobs.2 && cmp jobs.1 jobs.3

# Damage, captures without samples or of another family, what is refused.
script -F comm captures/truncated-record.data | sort | uniq -c
script captures/empty.data
script captures/garbage.data
script captures/stat.data
some captures/perfmon-sampling.cpuperf
script -F comm captures/truncated-record.data -o damaged
ls damaged
for fields in foo hw:foo foo:comm comm,+ip comm,data_src symoff,ip srcline addr hw:comm,trace trace:comm tod ''; do
    script -F "$fields" captures/cpu-clock.data | head -n 2
done
script --reltime --deltatime captures/cpu-clock.data
script --max-stack none captures/cpu-clock.data
script -F comm,ip,sym -F sw: captures/pipe.data
script nowhere.data
script captures/cpu-clock.data -o captures/cpu-clock.data -f
"$PERFILE" script captures/callgraph.data | head -n 1 >/dev/null
