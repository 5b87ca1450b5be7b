# `perfile export --to folded` against `perfile stats` (samples and periods of each thread name and each event) and
# against `perf script -F comm,pid,tid,event,ip,sym,dso` (whole stacks of each thread name, and so the innermost frames);
# of our captures and those of $PERFILE_CORPUS that perf reads to their end.
#
# Not compared with perf 6.1, because it says something else than what is stored:
# - samples whose user stack perf unwinds from registers and stack: only the kernel part is in the capture;
# - samples without any address in their call chain, of which perf prints no frame;
# - captures where kernel addresses have no mapping, or modules none: it takes those of this machine;
# - big-endian pipes, in which it takes process for thread.
# They are counted.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop:$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1
exec python3 "$PERFILE_SOURCE/tests/interop/export.py"
