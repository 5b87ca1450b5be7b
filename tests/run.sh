#!/bin/bash
# run.sh FOLDER PROGRAM [ARGUMENT ...]: runs one test in FOLDER, emptied before.
#
# PROGRAM is an executable, or a script X.sh, which bash runs.  Beside a script, X.out and X.err are
# what it has to print on standard output and standard error, X.rc its exit status; without X.rc the
# status has to be 0.  77 means skipped.  A sanitizer's report is a failure, whatever the exit status.
# What a test says it could not try, in lines that begin with "not tried: ", and why it was skipped stays
# in FOLDER.log/not-tried, for not_tried.sh.
set -u
: "${PERFILE_EMULATOR=}"

folder=$1
program=$2
shift 2

: "${PERFILE_CORPUS:=$PERFILE_SOURCE/../shared/corpus}"
export PERFILE_CORPUS
# Without the corpus there are few captures: more of them are looked at.
[ -d "$PERFILE_CORPUS" ] || export PERFILE_EVERY=$(((${PERFILE_EVERY:-1} + 3) / 4))
export PYTHONPATH=$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1
export LC_ALL=C.UTF-8 TZ=UTC
unset CDPATH

logs=$folder.log
rm -rf "$folder" "$logs"
mkdir -p "$folder" "$logs"
cd "$folder" || exit 1

reports=log_path=$logs/sanitizer:exitcode=99
# What surrounds each global variable and what was not freed take a process longer than all the rest of looking at a small
# capture.  Scripts, which start thousands of them, leave both to the C programs, which go the same ways; scripts of few
# processes look for leaks.
less=
case $program in
*/corpus/*.sh | */interop/*.sh | */cli/outputs.sh | */cli/habits.sh | */cli/hostile_names.sh | */cli/completion.sh | \
    */cli/jobs.sh) less=:report_globals=0:detect_leaks=0 ;;
*.sh) less=:report_globals=0 ;;
esac
export ASAN_OPTIONS=$reports$less${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=$reports:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
export LSAN_OPTIONS=$reports${LSAN_OPTIONS:+:$LSAN_OPTIONS}
export TSAN_OPTIONS=$reports${TSAN_OPTIONS:+:$TSAN_OPTIONS}

name=${program%.sh}
wanted_rc=0
if [ "$name" = "$program" ]; then
    # shellcheck disable=SC2086 # a command and its options, or nothing
    $PERFILE_EMULATOR "$program" "$@" </dev/null 2>&1 | tee "$logs/out"
    rc=${PIPESTATUS[0]}
else
    bash "$program" "$@" </dev/null >"$logs/out" 2>"$logs/err"
    rc=$?
    [ -f "$name.rc" ] && read -r wanted_rc <"$name.rc"
fi

if [ "$rc" = 77 ] && [ "$wanted_rc" != 77 ]; then
    printf 'skipped: %s\n' "$(cat "$logs"/out "$logs"/err 2>/dev/null | tail -n 1)" >"$logs/not-tried"
fi
# Those of cmocka's skip(), too.
sed -nE 's/^\[ +SKIPPED +\] ([a-z_]+)$/skipped: \1/p; /^not tried: /p' "$logs/out" | sort -u >>"$logs/not-tried"

failed=0
for report in "$logs"/sanitizer*; do
    [ -f "$report" ] || continue
    cat "$report"
    failed=1
done

if [ "$name" != "$program" ]; then
    if [ "$rc" = 77 ] && [ "$wanted_rc" != 77 ]; then
        cat "$logs/out" "$logs/err"
        [ "$failed" = 0 ] && exit 77
    fi
    for stream in out err; do
        if [ -f "$name.$stream" ]; then
            diff -u "$name.$stream" "$logs/$stream" || failed=1
        else
            cat "$logs/$stream"
        fi
    done
elif [ "$rc" = 77 ] && [ "$failed" = 0 ]; then
    exit 77
fi
if [ "$rc" != "$wanted_rc" ]; then
    echo "exit status $rc, expected $wanted_rc"
    failed=1
fi
exit "$failed"
