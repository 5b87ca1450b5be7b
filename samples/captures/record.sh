#!/bin/bash
# record.sh FOLDER: records the captures of this folder anew, into FOLDER.  Needs root, perf and cc;
# README.md says what each is.  Nothing of the machine's own but its kernel and processors gets in:
# host name, environment and working folder are made up here.
set -eu
if [ -z "${CLEAN:-}" ]; then
    here=$(cd "$(dirname "$0")" && pwd)
    to=$(mkdir -p "$1" && cd "$1" && pwd)
    rm -rf /tmp/demo
    mkdir /tmp/demo
    cc -O1 -g0 -fno-omit-frame-pointer -Wl,--build-id -pthread -o /tmp/demo/work "$here/work.c"
    cp "$here/record.sh" /tmp/demo/
    cd /tmp/demo
    env -i CLEAN=1 HOME=/tmp/demo PATH=/usr/bin:/bin unshare --uts --mount --cgroup bash record.sh
    rm -rf work record.sh .debug
    chmod -R u=rwX,go=rX .
    cp -r . "$to/"
    rm -rf /tmp/demo
    exit
fi

hostname demo
record() { # record NAME OPTION ...: NAME.data from `perf record OPTION ... -- ./work`
    local name=$1
    shift
    perf record -q -N -o "$name.data" "$@"
}

record cpu-clock -e cpu-clock -- ./work 20
record callgraph -e cpu-clock -c 500000 -g -- ./work 20
record dwarf -e cpu-clock -c 2000000 --call-graph dwarf,512 -- ./work 20
record fields -e page-faults -c 8 -d -W -T --phys-data --data-page-size --code-page-size \
    --sample-cpu --sample-identifier --user-regs=ax,sp,ip --intr-regs=sp,ip -- ./work 4
record mixed -e 'cpu-clock/call-graph=fp,period=1000000/,page-faults/call-graph=no,period=4/' -- ./work 8
record group -e '{cpu-clock,page-faults}:S' -c 1000000 -- ./work 20
record switch -e cpu-clock -c 1000000 --switch-events -- ./work 8
record namespaces -e cpu-clock -c 1000000 --namespaces -- unshare --uts --ipc ./work 8
record tracepoints -e sched:sched_process_exec -e sched:sched_process_fork -e sched:sched_switch -- ./work 4
record clock -k CLOCK_MONOTONIC -e cpu-clock -c 1000000 -- ./work 4
record zstd -z -m 1 -e cpu-clock -c 250000 -g -- ./work 20
record overwrite --overwrite -m 2 -e cpu-clock -- ./work 20
record threads --threads -e cpu-clock -- sh -c 'taskset -c 0 ./work 8 & taskset -c 1 ./work 8; wait'
mkdir /sys/fs/cgroup/unified/demo
record cgroup --all-cgroups -e cpu-clock -c 1000000 -- \
    sh -c 'echo $$ >/sys/fs/cgroup/unified/demo/cgroup.procs; ./work 8'
rmdir /sys/fs/cgroup/unified/demo
perf record -q -N -o - -e cpu-clock -c 500000 -- ./work 20 | cat >pipe.data
perf record -q -N -o - -e sched:sched_switch -e cpu-clock -- ./work 4 | cat >pipe-tracepoints.data
perf record -q -N -o - -z -e cpu-clock -g -- ./work 20 | cat >pipe-zstd.data
perf stat record -o stat.data -I 10 -e cpu-clock,page-faults -- ./work 40 2>/dev/null

# A recorder that was killed: data.size in the header is still 0, and there are no features.
perf record -q -N -o killed.data -e cpu-clock -m 2 -- ./work 400 &
recorder=$!
until [ "$(stat -c %s killed.data 2>/dev/null || echo 0)" -gt 6000 ]; do sleep 0.01; done
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
sleep 1 # the workload outlives it
