# What README.md shows is what is printed: every `$ perfile …` in a console block is run and its output
# compared, and the program of "The library" is compiled and run.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs jq
here=$PWD
readme=$PERFILE_SOURCE/README.md

# The blocks as they stand, and as they are now.
sed -n '/^```console$/,/^```$/p' "$readme" >shown
perfile() {
    "$PERFILE" "$@"
}
cd "$PERFILE_SOURCE" || exit 1
while IFS= read -r line; do
    case $line in
    '```'*) printf '%s\n' "$line" ;;
    '$ perfile '*)
        printf '%s\n' "$line"
        eval "${line#?}" 2>&1 </dev/null
        ;;
    esac
done <"$here/shown" >"$here/printed"
cd "$here" || exit 1
# The time of a file is that of the checkout.
sed -i 's/^captured .*Z, when the file/captured     (a date), when the file/' shown printed
diff -u shown printed || exit 1
# Six jobs, each of which fits in six lines.
sed -n '/^## Six jobs$/,/^## All commands$/p' "$readme" | awk '
    /^```console$/ { inside = 1; n = 0; blocks++; next }
    /^```$/ { inside = 0; if (n > 6) { print "a job in README.md has " n " lines"; bad = 1 } next }
    inside { n++ }
    END { if (blocks != 6) { print "README.md shows " blocks " jobs, not six"; bad = 1 } exit bad }' || exit 1
commands=$(grep -c '^\$ perfile ' shown)
if [ "$commands" -lt 5 ]; then
    echo "only $commands commands were found in README.md"
    exit 1
fi

# program HEADING NAME: builds the program of that section.
program() {
    sed -n "/^## $1\$/,/^## /p" "$readme" | sed -n '/^```c$/,/^```$/p' | grep -v '^```' >"$2.c"
    # shellcheck disable=SC2086 # flags are words
    ${PERFILE_CC:-cc} ${PERFILE_CFLAGS:-} -std=c11 -Wall -Wextra -Werror -I"$PERFILE_BUILD/include" \
        "$2.c" -o "$2" -L"$PERFILE_BUILD" -lperfile \
        -Wl,-rpath,"$PERFILE_BUILD"
}

program "The library" reader || exit 1
answer=$(./reader "$PERFILE_SOURCE/samples/captures/cpu-clock.data") || exit 1
if [ "$answer" != "83 samples" ]; then
    echo "the program of README.md printed: $answer"
    exit 1
fi

program "Writing captures" writer || exit 1
./writer new.data || exit 1
"$PERFILE" validate --severity error new.data || exit 1
if [ "$(./reader new.data)" != "3 samples" ]; then
    echo "what the second program of README.md wrote does not have 3 samples"
    exit 1
fi
./writer new.data 2>errors && {
    echo "the second program of README.md replaced a file that it was not told to replace"
    exit 1
}
grep -q "cannot create 'new.data': File exists" errors || exit 1
if command -v perf >/dev/null; then
    HOME=$here perf report --stats -i new.data >report 2>errors </dev/null || {
        cat errors
        exit 1
    }
    # Three samples in all, two of the first event, one of the second.
    counts=$(awk '$1 == "SAMPLE" && $2 == "events:" { printf "%s ", $3 }' report)
    if [ "$counts" != "3 2 1 " ] || ! grep -q '^cpu-clock stats:' report ||
        ! grep -q '^page-faults stats:' report; then
        cat report
        exit 1
    fi
fi
echo "$commands commands and two programs of README.md do what it shows"
