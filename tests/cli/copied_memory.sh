# What convert and filter have copied of a mapped capture leaves memory: of 64 MB no more than 16 are resident.
case $PERFILE_CFLAGS in
*sanitize*) exit 0 ;;
esac
python3 "$PERFILE_SOURCE/tests/cli/random_times.py" 64 large.data
python3 - "$PERFILE" <<'END'
import os, sys
for words in (["convert"], ["filter"], ["filter", "--pid", "0..1000000"]):
    run = os.fork()
    if run == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        os.execv(sys.argv[1], [sys.argv[1], *words, "-f", "-o", "copy.data", "large.data"])
    _, status, used = os.wait4(run, 0)
    if status or used.ru_maxrss > 16 << 10:
        print(*words, "ended with", status, "and had", used.ru_maxrss, "KB in memory")
END
cmp copy.data large.data
