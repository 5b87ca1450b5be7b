# What README.md shows is what is printed: every `$ perfile …` in a console block is run and its output
# compared, and the program of "The library" is compiled and run.
set -u
command -v jq >/dev/null || {
    echo "jq is not installed"
    exit 77
}
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
diff -u shown printed || exit 1
commands=$(grep -c '^\$ perfile ' shown)
if [ "$commands" -lt 5 ]; then
    echo "only $commands commands were found in README.md"
    exit 1
fi

sed -n '/^## The library$/,/^## /p' "$readme" | sed -n '/^```c$/,/^```$/p' | grep -v '^```' >program.c
# shellcheck disable=SC2086 # flags are words
${PERFILE_CC:-cc} ${PERFILE_CFLAGS:-} -std=c11 -Wall -Wextra -Werror -I"$PERFILE_BUILD/include" \
    program.c -o program -L"$PERFILE_BUILD" -lperfile \
    -Wl,-rpath,"$PERFILE_BUILD" || exit 1
answer=$(./program "$PERFILE_SOURCE/samples/captures/cpu-clock.data") || exit 1
if [ "$answer" != "83 samples" ]; then
    echo "the program of README.md printed: $answer"
    exit 1
fi
echo "$commands commands and a program of README.md do what it shows"
