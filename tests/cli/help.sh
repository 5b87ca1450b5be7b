# Every command explains itself, and its manual page names every option that the help names.
set -eu

# fits FILE: no line of the file has more than 80 characters.  Further bytes of a character (UTF-8) do not count.
fits() {
    long=$(LC_ALL=C tr -d '\200-\277' <"$1" | LC_ALL=C awk 'length($0) > 80')
    [ -z "$long" ] || { echo "more than 80 columns: $long"; exit 1; }
}

ln -sfn "$PERFILE_SOURCE/samples" samples
"$PERFILE" --version
"$PERFILE" --help >main
"$PERFILE" help >again && cmp main again
fits main
"$PERFILE" completion --help >text
fits text
commands=$(sed -n '/^COMMAND(/s/^COMMAND(\([a-z]*\),.*/\1/p' "$PERFILE_SOURCE/src/cli/commands.def")
echo $commands
for command in $commands; do
    grep -q "^  $command " main || { echo "help does not name $command"; exit 1; }
    "$PERFILE" "$command" --help >text
    fits text
    "$PERFILE" "$command" --version | grep -qx "$("$PERFILE" --version)" || { echo "$command has no --version"; exit 1; }
    "$PERFILE" help "$command" >again && cmp text again
    grep -q '^Examples:' text && grep -q "^Usage: perfile $command" text
    page=$PERFILE_SOURCE/src/cli/man/perfile-$command.1
    for option in $(grep -oE '^  (-[a-z], )?--[a-z0-9-]+' text | grep -oE -e '--[a-z0-9-]+'); do
        grep -qF -- "$(sed 's/-/\\-/g' <<<"$option")" "$page" || { echo "$page: $option is missing"; exit 1; }
    done
    # The examples run, but for those that need more than captures.
    cp "$PERFILE_SOURCE/samples/captures/cpu-clock.data" perf.data
    n=0
    while IFS= read -r example; do
        n=$((n + 1))
        # What stands in front of `head` may be ended by it.
        bash -c "PATH=\$PATH:$(dirname "$PERFILE"); set -o pipefail; ${example% | head}" >/dev/null </dev/null ||
            { echo "the example fails: $example"; exit 1; }
    done < <(sed -e ':again' -e '/ \\$/{N;s/ \\\n */ /;bagain' -e '}' text |
        sed -n -e '/^Examples:/,$s/^  \(perfile .*samples\/.*\)/\1/p' -e t \
            -e '/^Examples:/,$s/^  \(perfile .*perf\.data\)\( .*\)\?$/\1/p')
    echo "$command: $n examples"
done
