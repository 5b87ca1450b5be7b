# Times on processors and off them: `perfile stats --on-cpu` against `perf sched timehist` and `perf sched latency`, and the stacks of
# `export --weight offcpu` against the text of `perf script`; of a made capture, of those of $PERFILE_CORPUS that perf 6.1 reads, and of
# recordings that are made here.
#
# Not compared, and counted:
# - threads with a gap: another thread left the processor on which they were last seen, because records were lost or are not of interest
#   to the recording.  perf counts the time as that of the thread that leaves, perfile as of none;
# - latencies where there is sched_waking: `perf sched latency` counts from the later sched_wakeup, `timehist` and perfile do not;
# - waiting of threads that were preempted with prev_state "R+", which perf takes for sleeping;
# - what perf calls thread -1: a thread that ends, which perfile knows by its payload.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop:$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1
exec python3 "$PERFILE_SOURCE/tests/interop/perf_sched.py"
