#!/bin/bash
# Under the thread sanitizer: the ring buffer and a writer in another thread, what the library does in
# several threads, and commands with -j 4 on captures of every kind.
set -eu
set -o pipefail

# Where addresses are laid out too randomly the sanitizer only starts without that.
run() {
    if ./trial none >/dev/null 2>&1; then "$@"; else setarch "$(uname -m)" -R "$@"; fi
}

cat >trial.c <<'END'
#include <pthread.h>
/* Often enough: of two accesses at the very same time the sanitizer may see none. */
static volatile int shared;
static void *add(void *p)
{
    for (int i = 0; i < 100000; i++)
        shared++;
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    if (argc > 1)
        return 0;
    if (pthread_create(&t, 0, add, 0))
        return 1;
    add(0);
    return pthread_join(t, 0);
}
END
if ! "$PERFILE_CC" -g -O1 -fsanitize=thread -pthread -o trial trial.c 2>trial.err; then
    echo "the compiler has no thread sanitizer"
    exit 77
fi
if ! run ./trial none; then
    echo "programs with the thread sanitizer do not run here"
    exit 77
fi
# clang's takes UBSAN_OPTIONS too; the report is wanted here and not in run.sh's folder.
if run env -u UBSAN_OPTIONS TSAN_OPTIONS=exitcode=66 ./trial >trial.out 2>&1; then
    echo "self-check: a race was not found"
    exit 1
fi
grep -q 'data race' trial.out

# All rooms of the library: the emitters stand high.
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -g1 -O1 -pthread
    -fsanitize=thread -I"$PERFILE_SOURCE/src" -I"$PERFILE_SOURCE" -I"$PERFILE_SOURCE/tests"
    -I"$PERFILE_BUILD/include")
read -ra cmocka < <(pkg-config --cflags --libs cmocka)
read -ra headers < <(pkg-config --cflags libzstd libcbor; echo)
read -ra libraries < <(pkg-config --libs libzstd libcbor)
for room in "$PERFILE_SOURCE"/src/*/; do
    room=$(basename "$room")
    case $room in cli | mutate | symbolizer) continue ;; esac
    mkdir "$room"
    (cd "$room" && printf '%s\0' "$PERFILE_SOURCE/src/$room"/*.c |
        xargs -0 -n 4 -P 2 "$PERFILE_CC" "${flags[@]}" "${headers[@]}" -c)
done
for name in ring_threads threads asked; do
    "$PERFILE_CC" "${flags[@]}" "${headers[@]}" -o $name "$PERFILE_SOURCE/tests/law/$name.c" ./*/*.o \
        "${cmocka[@]}" "${libraries[@]}"
    PERFILE_EVERY=32 run ./$name
done

# Commands with threads, with -j 4: on each capture, and on the archive of it.
for room in "$PERFILE_SOURCE"/src/cli/ "$PERFILE_SOURCE"/src/cli/*/; do
    folder=command/$(basename "$room")
    [ -n "$(find "$room" -maxdepth 1 -name '*.c')" ] || continue
    mkdir -p "$folder"
    (cd "$folder" && printf '%s\0' "$room"*.c | xargs -0 -n 4 -P 2 "$PERFILE_CC" "${flags[@]}" "${headers[@]}" -c)
done
"$PERFILE_CC" "${flags[@]}" -o perfile command/*/*.o ./*/*.o "${libraries[@]}"
tried=0
# Damaged captures end with 1 or 3; 66 is a race.
threads() {
    local status=0
    TSAN_OPTIONS=exitcode=66 run ./perfile "$1" -j 4 "${@:2}" >out.txt 2>err.txt || status=$?
    case $status in
    0 | 1 | 3) tried=$((tried + 1)) ;;
    *)
        echo "-j 4 $*: exit status $status"
        head -50 err.txt
        exit 1
        ;;
    esac
}
for i in {1..800}; do cat "$PERFILE_SOURCE/samples/captures/pipe.data"; done >large.data
for capture in "$PERFILE_SOURCE"/samples/captures/*.data large.data; do
    threads convert --to archive -f -o archive "$capture"
    for input in "$capture" archive; do
        [ -e "$input" ] || continue
        threads dump --resolve --json "$input"
        threads dump --fields time,comm,dso,build_id,ip "$input"
        threads export --to folded "$input"
        threads stats --by dso,sym "$input"
        threads script --show-task-events "$input"
    done
done
echo "$tried commands"
