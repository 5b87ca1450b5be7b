#!/bin/bash
# tests/run.sh itself: what has to pass passes, what has to fail fails.
set -eu
run=$PERFILE_SOURCE/tests/run.sh
mkdir scripts

# try WANTED BODY [OUT [RC]]: the exit status of run.sh for a script with that body, X.out and X.rc.
n=0
try() {
    n=$((n + 1))
    local script=scripts/$n got=0
    printf '%s\n' "$2" >"$script.sh"
    if [ $# -ge 3 ]; then printf '%s' "$3" >"$script.out"; fi
    if [ $# -ge 4 ]; then printf '%s\n' "$4" >"$script.rc"; fi
    bash "$run" "$PWD/work" "$PWD/$script.sh" >"$script.said" 2>&1 || got=$?
    if [ "$got" != "$1" ]; then
        echo "exit status $got, expected $1, for: $2"
        cat "$script.said"
        exit 1
    fi
}

try 0 'exit 0'
try 1 'exit 3'
try 77 'exit 77'
try 0 'echo a' $'a\n'
try 1 'echo b' $'a\n'
try 1 'printf a' $'a\n'
try 0 'exit 3' '' 3
try 1 'exit 0' '' 3
try 0 'touch left-over'
try 0 '[ -z "$(ls -A)" ]'
try 0 '[ -n "$PERFILE" ] && [ -d "$PERFILE_SOURCE" ] && [ -d "$PERFILE_BUILD" ] && [ -n "$PERFILE_CORPUS" ]'
# A sanitizer's report, from a program whose exit status the script does not look at.
try 1 'log=${ASAN_OPTIONS#log_path=}; echo report >"${log%%:*}.1"'
try 1 'log=${UBSAN_OPTIONS#log_path=}; echo report >"${log%%:*}.1"; exit 77'

# What was not tried is kept for not_tried.sh, which says it.
mkdir -p tests/work
said() {
    bash "$run" "$PWD/tests/work/one" "$PWD/scripts/said.sh" >/dev/null 2>&1 || true
    bash "$PERFILE_SOURCE/tests/not_tried.sh" "$PWD"
}
echo 'echo "not tried: this, for a reason"; echo more' >scripts/said.sh
[ "$(said)" = $'one: not tried: this, for a reason\n1 not tried or skipped' ] || { said; exit 1; }
echo 'echo "why"; exit 77' >scripts/said.sh
[ "$(said)" = $'one: skipped: why\n1 not tried or skipped' ] || { said; exit 1; }
echo 'exit 0' >scripts/said.sh
[ "$(said)" = '0 not tried or skipped' ] || { said; exit 1; }

# A program instead of a script.
bash "$run" "$PWD/work" /bin/true
if bash "$run" "$PWD/work" /bin/false >/dev/null; then
    echo "a failing program passes"
    exit 1
fi
