# No command changes what it reads: each command of commands.def, with each option that names an
# output or an input, is told to write onto, into, above and through links to each kind of input,
# and every input is compared afterwards.  A command that takes -o and is not known to this test
# fails it.
set -u
. "$PERFILE_SOURCE/tests/chosen.bash"
captures=$PERFILE_SOURCE/samples/captures
failed=0
runs=0
refused=0
successes=0

say() {
    echo "$*"
    failed=1
}

# What a command needs to run at all besides -o and its inputs.
words_of() {
    case $1 in
    convert | merge | recover | sort | dump | info | script | stats | validate) ;;
    filter) echo "--every 2" ;;
    split) echo "--records 20" ;;
    list) echo "events" ;;
    export) echo "--to folded" ;;
    damage) echo "--do record-unknown" ;;
    *) return 1 ;;
    esac
}

# --- The inputs: a file, a directory, what is in it, and a second file.
mkdir -p keep/in/D keep/in/D/sub
cp "$captures/cpu-clock.data" keep/in/x0
cp "$captures/dwarf.data" keep/in/y0
mkdir keep/in/B keep/in/C # buffers of two CPUs, and two of one
cp "$captures/perfmon-all.cpuperf" keep/in/B/a.0.0.cpuperf
cp "$captures/perfmon-sampling.cpuperf" keep/in/B/a.0.1.cpuperf
cp "$captures/perfmon-all.cpuperf" keep/in/C/a.0.0.cpuperf
cp "$captures/perfmon-sampling.cpuperf" keep/in/C/b.0.0.cpuperf
cp "$captures/cpu-clock.data" keep/in/D/data
tail -c +265 "$captures/killed.data" | head -c 824 >keep/in/D/data.0
echo beside >keep/in/D/sub/beside
chmod -R u+w keep
cp -a keep/in in
ln -s in linked-in
ln -s in/x0 soft0
ln -s "$PWD/soft0" softer0
ln -s in/D soft-D
ln -s in/D/data.0 soft-part0
ln -s in/B soft-B

# unchanged WHAT: whether all inputs are as they were, and nothing is left behind.
unchanged() {
    local left
    if ! diff -r keep/in in >changes; then
        say "$*: $(head -3 changes | paste -sd' ')"
        rm -rf in
        cp -a keep/in in
    fi
    left=$(echo ./**/*.perfile*)
    if [ -n "$left" ]; then
        say "$*: left behind: $left"
        find . -depth -name '*.perfile*' -exec rm -rf {} +
    fi
    rm -rf hard0 hard-part0 dangling* elsewhere
    mkdir elsewhere
    ln in/x0 hard0
    ln in/D/data.0 hard-part0
    ln -s in/D/new0 dangling0
}
shopt -s nullglob globstar
unchanged "the beginning"

# try STATUSES WHAT COMMAND ...: runs it, with the shell's redirections in $to; the status is one of
# STATUSES ("any": not one of a signal or a sanitizer).
to=
try() {
    local statuses=$1 what=$2 rc
    shift 2
    runs=$((runs + 1))
    eval '"$@"' "$to" 2>err
    rc=$?
    case " $statuses " in
    *" $rc "*) ;;
    *" any "*) [ "$rc" -le 3 ] || say "$what: status $rc: $(head -1 err)" ;;
    *) say "$what: status $rc, not $statuses: $(head -1 err)" ;;
    esac
    [ "$rc" = 1 ] && refused=$((refused + 1))
}

# Names for a file that is, or lies in, or holds, or is linked to an input; the first word says
# what must happen: "no" that it is refused, "any" that inputs stay.  The number at the end is where
# split puts its own.
onto_file="no:in/x no:./in/../in/x no:$PWD/in/x no:soft no:softer no:hard no:linked-in/x"
onto_directory="no:in/D/data. no:in/D/new no:in/D/sub/new no:soft-D/new no:soft-D/data. no:hard-part
    no:soft-part no:linked-in/D/new no:in/D/sub/../new no:in/D/./new any:dangling"
only_whole="in/D in/D/ soft-D soft-D/ in in/ . ./ .. linked-in"

# attempts COMMAND VARIANT KIND INPUTS ... -- OUT ...: each OUT, then a look at the inputs.
attempts() {
    local command=$1 variant=$2 kind=$3 one name statuses tried=
    local -a inputs=()
    shift 3
    while [ "$1" != -- ]; do
        inputs+=("$1")
        shift
    done
    shift
    for one; do
        statuses=any
        name=${one#*:}
        [ "${one%%:*}" = no ] && statuses="1 2"
        if [ "$command" = split ]; then
            [ "${one%%:*}" = whole ] && continue
            name=$name%d
        elif [ "$name" != "${name%/}" ] || [ "${one%%:*}" = whole ]; then
            :
        else
            name=${name}0
        fi
        [ "$command $variant" = "split --to dir" ] && statuses="2"
        chosen || continue
        # shellcheck disable=SC2086
        try "$statuses" "$command $variant -o $name, $kind" \
            "$PERFILE" "$command" $words $variant -f -o "$name" "${inputs[@]}"
        tried+=" $name"
    done
    [ -z "$tried" ] || unchanged "$command $variant, $kind, one of$tried"
}

# works COMMAND VARIANT INPUTS ...: whether that writes a file elsewhere: else nothing is tried.
works() {
    local command=$1 variant=$2 rc
    shift 2
    runs=$((runs + 1))
    # shellcheck disable=SC2086
    eval '"$PERFILE" "$command" $words $variant -f -o "$elsewhere" "$@"' "$to" >/dev/null 2>err
    rc=$?
    [ "$rc" = 0 ] || [ "$rc" = 3 ] || return 1
    successes=$((successes + 1))
}

# writer COMMAND VARIANT: everything above, for one way to write.
writer() {
    local command=$1 variant=$2 before=$successes wholes=() one
    for one in $only_whole; do
        wholes+=("whole:$one")
    done
    if works "$command" "$variant" in/x0; then
        # shellcheck disable=SC2086
        attempts "$command" "$variant" "a file" in/x0 -- $onto_file no:in/x0/ "${wholes[@]}"
        # shellcheck disable=SC2086
        attempts "$command" "$variant" "a file by a link" soft0 -- $onto_file
    fi
    if works "$command" "$variant" in/D; then
        # shellcheck disable=SC2086
        attempts "$command" "$variant" "a directory" in/D -- $onto_directory "${wholes[@]}"
        # shellcheck disable=SC2086
        attempts "$command" "$variant" "a directory by a link" soft-D/ -- $onto_directory "${wholes[@]}"
    fi
    rm -r in/D/sub
    mv keep/in/D/sub keep-sub
    works "$command" "$variant" in/D/data &&
        attempts "$command" "$variant" "a part" in/D/data -- "${wholes[@]}"
    to='<in/D/data'
    works "$command" "$variant" - &&
        attempts "$command" "$variant" "a part on standard input" - -- "${wholes[@]}"
    mv keep-sub keep/in/D/sub
    cp -a keep/in/D/sub in/D/sub
    to='<in/x0'
    if works "$command" "$variant" -; then
        # shellcheck disable=SC2086
        attempts "$command" "$variant" "standard input" - -- $onto_file "${wholes[@]}"
        # shellcheck disable=SC2086
        attempts "$command" "$variant" "/dev/stdin" /dev/stdin -- $onto_file
    fi
    to=
    if works "$command" "$variant" in/y0 in/x0; then
        # shellcheck disable=SC2086
        attempts "$command" "$variant" "the second of two" in/y0 in/x0 -- $onto_file
        # shellcheck disable=SC2086
        attempts "$command" "$variant" "a directory after a file" in/y0 in/D -- $onto_directory
    fi
    # Three commands write no directories.
    [ "$successes" -gt "$before" ] || [ -n "$variant" ] ||
        say "$command: works with none of the inputs"
}

# Standard output and standard error can be an input, too.
redirected() {
    local command=$1 words=$words one
    case $command in
    info | list | stats | validate | dump) ;;
    split | recover)
        words+=" -o $elsewhere"
        words+=$(sed -n 's/^ *\(--json\|--report json\)\b.*/ \1/p' <<<"$2" | head -1)
        ;;
    *) words+=" -o -" ;;
    esac
    for one in '>>in/x0' '>>soft0' '>>hard0' '2>>in/x0' '1<>in/x0'; do
        to="$one"
        # shellcheck disable=SC2086
        to_try 1 "$command $words in/x0 $one" $words in/x0
        # shellcheck disable=SC2086
        [ "$one" = '2>>in/x0' ] || to_try 1 "$command $words - $one <in/x0" $words - '<in/x0'
    done
    to='>>in/D/data.0'
    # shellcheck disable=SC2086
    to_try 1 "$command $words in/D $to" $words in/D
    to='>>in/x0'
    # shellcheck disable=SC2086
    works_several "$command" && to_try 1 "$command $words in/y0 in/x0 $to" $words in/y0 in/x0
    to=
    unchanged "$command with standard output or error onto an input"
}

# A file for each processor (-o with %d), onto or into what is read: a directory of buffers, one that has two of a
# processor, and buffers by themselves.
per_processor() {
    local command=$1 one
    for one in in/B/a.0.%d.cpuperf soft-B/a.0.%d.cpuperf in/C/../B/a.0.%d.cpuperf in/B/new%d soft-B/new%d; do
        try "1 2" "$command -o $one in/B" "$PERFILE" "$command" -f -o "$one" in/B
        try "1 2" "$command -o $one soft-B" "$PERFILE" "$command" -f -o "$one" soft-B/
    done
    for one in in/C/a.0.%d.cpuperf in/C/b.0.%d.cpuperf in/C/new%d; do
        try "1 2" "$command -o $one in/C" "$PERFILE" "$command" -f -o "$one" in/C
    done
    if [ "$command" = merge ]; then
        try "1 2" "merge of two onto themselves" "$PERFILE" merge -f -o in/B/a.0.%d.cpuperf in/B/a.0.0.cpuperf in/B/a.0.1.cpuperf
    fi
    unchanged "$command, a file for each CPU"
    try "0 3" "$command, a file for each CPU" "$PERFILE" "$command" -f -o elsewhere/%d in/B
    [ -f elsewhere/0 ] && [ -f elsewhere/1 ] || say "$command: no file for each CPU"
}

works_several() {
    case $1 in split | sort | filter | convert | recover) return 1 ;; esac
}

# As try, of the command in $command; a last word that begins with < is a redirection.
to_try() {
    local statuses=$1 what=$2 from= rc
    shift 2
    local -a words=("$@")
    local last=$((${#words[@]} - 1))
    case ${words[last]} in '<'*)
        from=${words[last]}
        unset 'words[last]'
        ;;
    esac
    runs=$((runs + 1))
    eval '"$PERFILE" "$command" "${words[@]}"' "$from" '>said 2>err' "$to"
    rc=$?
    [ "$rc" = "$statuses" ] || say "$what: status $rc, not $statuses: $(head -1 err)"
}

commands=$(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$PERFILE_SOURCE/src/cli/commands.def")
[ "$(wc -w <<<"$commands")" -ge 11 ] || say "commands.def is not understood"
writers=0
for command in $commands; do
    [ "$command" != schema ] && [ "$command" != generate ] || continue # they read no file
    help=$("$PERFILE" "$command" --help)
    words=$(words_of "$command") || {
        say "$command: this test knows no case for it"
        continue
    }
    elsewhere=elsewhere/out
    [ "$command" = split ] && elsewhere=elsewhere/out%d
    redirected "$command" "$help"
    grep -q -- '^ *-o\b' <<<"$help" || continue
    writers=$((writers + 1))
    writer "$command" ""
    case $command in recover | sort | merge) per_processor "$command" ;; esac
    grep -q -- '^ *--to ' <<<"$help" && writer "$command" "--to dir"
    # Another form of the same file.
    for variant in "--to pipe" "--format jsonl"; do
        # shellcheck disable=SC2086
        grep -q -- "^ *${variant% *} " <<<"$help" && works "$command" "$variant" in/x0 &&
            attempts "$command" "$variant" "a file" in/x0 -- $onto_file
    done
    # Captures that are read besides, given by an option.
    # (-i FILE gives the input itself: then there is no other.)
    # Symbols of the kernel are no capture.
    if grep -q -- ' --kallsyms ' <<<"$help"; then
        printf 'ffffffff81000000 T _text\n' >symbols-of-kernel
        for out in symbols-of-kernel ./symbols-of-kernel "$PWD/symbols-of-kernel"; do
            # shellcheck disable=SC2086
            try 1 "$command onto the file of --kallsyms" "$PERFILE" "$command" $words --kallsyms symbols-of-kernel -f -o "$out" in/x0
        done
        [ "$(cat symbols-of-kernel)" = 'ffffffff81000000 T _text' ] || say "$command: the file of --kallsyms is overwritten"
        unchanged "$command, --kallsyms"
    fi
    for option in $(sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z0-9-]*\)[ =]\(REF\|FILE\)\b.*/\2/p' <<<"$help"); do
        [ "$option" != --kallsyms ] || continue
        beside=in/y0
        works "$command" "$option in/x0" $beside || beside=
        # shellcheck disable=SC2086
        works "$command" "$option in/x0" $beside || {
            say "$command $option FILE: this test knows no case for it"
            continue
        }
        # shellcheck disable=SC2086
        attempts "$command" "$option in/x0" "a reference" $beside -- $onto_file
        # shellcheck disable=SC2086
        attempts "$command" "$option in/D" "a directory as reference" $beside -- $onto_directory
    done
done
# Nothing in the command opens a file to write but the function that looks at the inputs.
opened=$(cd "$PERFILE_SOURCE/src/cli" &&
    grep -lE 'perfile_sink_(path|directory|fd)\(|perfile_writer_open_path\(|\<fopen\(|\<creat\(|O_CREAT' ./*.c)
[ "$opened" = ./output.c ] || say "outputs are opened in $opened"
[ "$writers" -ge 7 ] || say "only $writers commands write"
[ "$runs" -ge $((900 / PERFILE_CASES)) ] && [ "$refused" -ge $((700 / PERFILE_CASES)) ] || say "only $runs runs, $refused refused"
echo "$runs runs, $refused refused"
exit "$failed"
