# What an input keeps from others its outputs keep from them, too, while they are written and
# afterwards, for each command that writes; and links inside a directory are not followed.  Outputs
# where nothing may be written, and in a FIFO.
set -u
. "$PERFILE_SOURCE/tests/chosen.bash"
. "$PERFILE_SOURCE/tests/cli/expect.inc"
umask 022
cp "$captures/cpu-clock.data" file
mkdir D
cp file D/data
tail -c +265 "$captures/killed.data" | head -c 824 >D/data.0
mkfifo pipe
tried=0

words_of() {
    case $1 in
    filter) echo "--every 2" ;;
    split) echo "--records 1000000" ;;
    export) echo "--to folded" ;;
    damage) echo "--do record-unknown" ;;
    esac
}

# mode MODES FILE WHAT: whether the file has one of these.
mode() {
    local have
    have=$(stat -c %a "$2") || { say "$3: no $2"; return; }
    tried=$((tried + 1))
    case " $1 " in *" $have "*) ;; *) say "$3: mode $have, not $1" ;; esac
}

# run MASK COMMAND ARGUMENT ...: what it says is of no interest.
run() {
    (umask "$1" && shift && "$PERFILE" "$@" >said 2>err)
    case $? in
    0 | 3) ;;
    *) say "$*: $(head -1 err)" ;;
    esac
}

writers=
for command in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$PERFILE_SOURCE/src/cli/commands.def"); do
    [ "$command" != generate ] || continue # it has no input
    help=$("$PERFILE" "$command" --help)
    grep -q -- '^ *-o\b' <<<"$help" && writers+=" $command"
done

for command in $writers; do
    words=$(words_of "$command")
    out=made name=made
    [ "$command" = split ] && out=made%d name=made0
    whole=
    [ "$command" != export ] && grep -q -- '^ *--to ' <<<"$("$PERFILE" "$command" --help)" && whole="--to perf.data"
    # umask, mode of the input, mode of the output
    for three in 022:600:600 022:640:640 022:644:644 077:644:600 000:604:604 002:664:664 022:400:400; do
        chosen || continue
        IFS=: read -r mask given wanted <<<"$three"
        chmod "$given" file
        run "$mask" "$command" $words -f -o "$out" file
        mode "$wanted" "$name" "$command, umask $mask, input $given"
        rm -f "$name"
    done
    chmod 600 file
    run 022 "$command" $words -f -o "$out" - <file
    mode 600 "$name" "$command, standard input 600"
    # What is replaced keeps its mode, but for that what the input denies.
    for three in 600:644:600 644:644:644 666:644:644 666:600:600 640:604:600; do
        chosen || continue
        IFS=: read -r old given wanted <<<"$three"
        rm -f "$name"
        touch "$name"
        chmod "$old" "$name"
        chmod "$given" file
        run 022 "$command" $words -f -o "$out" file
        mode "$wanted" "$name" "$command, $old replaced, input $given"
    done
    rm -f "$name"
    # A pipe says nothing.
    cat file | run 027 "$command" $words -f -o "$out" -
    mode 640 "$name" "$command, a pipe"
    rm -f "$name"
    # It takes no directory, and reads everything before it writes.
    [ "$command" != damage ] || continue
    # A directory: of all its files, and of who may enter it.
    chmod 644 file D/data
    chmod 640 D/data.0
    run 022 "$command" $words $whole -f -o "$out" D
    mode 640 "$name" "$command, a directory with a file of 640"
    chmod 644 D/data.0
    chmod 700 D
    run 022 "$command" $words $whole -f -o "$out" D
    mode 600 "$name" "$command, a directory that others may not enter"
    rm -f "$name"
    chmod 755 D

    # While it is written: of a stream that waits.
    umask 022
    "$PERFILE" "$command" $words -f -o "$out" - <pipe >said 2>err &
    pid=$!
    exec 3>pipe
    head -c 2000 "$captures/pipe.data" >&3
    # For a moment an empty file that others may read has that name: its mode is that of new files (io/out_file.c).
    for ((i = 0; i < 100; i++)); do
        temporary=$(echo made*.perfile*)
        found=$(stat -c '%A %s' "$temporary" 2>/dev/null) || found=nothing
        case $found in
        nothing | "-rw-r--r-- 0") sleep 0.05 ;;
        *) break ;;
        esac
    done
    case $found in
    "-rw------- "* | "drwx------ "*) tried=$((tried + 1)) ;;
    *) say "$command: a temporary file is $found" ;;
    esac
    exec 3>&-
    wait "$pid"
    rm -f "$name"
done

# A reference counts, and of several inputs each.
chmod 644 file
cp file other
chmod 600 other
run 022 recover -f -o made --attrs-from other file
mode 600 made "recover, a reference of 600"
rm made
run 022 merge -f -o made file other
mode 600 made "merge, the second of 600"
rm made

# Directories: who may read their files may enter them.
for three in 022:600:700 022:640:750 022:644:755 077:644:700 022:444:755; do
    IFS=: read -r mask given wanted <<<"$three"
    for command in convert filter; do
        chmod "$given" file
        # shellcheck disable=SC2046
        run "$mask" "$command" $(words_of "$command") --to dir -f -o dir file
        mode "$wanted" dir "$command --to dir, umask $mask, input $given"
        [ "$mask" = 077 ] && given=600
        mode "$given" dir/data "$command --to dir, umask $mask, input $given"
        rm -rf dir
    done
done
chmod 644 file
run 022 convert --to dir -o dir file
chmod 600 dir/data
chmod 700 dir
run 022 convert --to dir -f -o dir file
mode 700 dir "a directory of 700 replaced"
mode 600 dir/data "a directory of 600 replaced"

# A link in a directory is not followed: what it points at does not land in an output.
command=info
cp file secret
mv D/data.0 part
ln -s ../secret D/data.0
for command in info "dump" "stats" "convert --force --to dir -o linked" "convert --to perf.data -o linked" \
    "recover -o linked" "filter -o linked" "sort -o linked" "validate"; do
    # shellcheck disable=SC2086
    "$PERFILE" $command D >said 2>err
    [ $? = 1 ] || say "$command: a part that is a link: status $?: $(cat err)"
    cat said err | grep -q "data.0.*is a symbolic link, which is not followed" ||
        say "$command: a part that is a link: $(cat err)"
    [ ! -e linked ] || say "$command: a part that is a link is followed"
    rm -rf linked
done
rm D/data.0
mv D/data secret
ln -s ../secret D/data
command=info
expect 1 "is a symbolic link, which is not followed" D
rm D/data
mv secret D/data
mv part D/data.0
ln -s D linked
run 022 info linked # the path itself may be one

# A signal in the middle of replacing a directory leaves the old or the new one under the name.
if strace -o trace -e trace=none true 2>/dev/null; then
    replaced() {
        rm -rf dir*
        "$PERFILE" convert --to dir -o dir file
        ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=rename,renameat2 "$@" \
            "$PERFILE" convert --to dir -f -o dir "$captures/dwarf.data" >said 2>err
        "$PERFILE" info dir >said 2>err || say "$*: what is left under the name: $(cat err)"
        tried=$((tried + 1))
    }
    replaced -e inject=renameat2:signal=SIGTERM:when=1
    replaced -e inject=rename:signal=SIGTERM:when=1
    replaced -e inject=renameat2:error=EINVAL -e inject=rename:signal=SIGTERM:when=1
    replaced -e inject=renameat2:error=ENOSYS -e inject=rename:signal=SIGTERM:when=2
    # Killed while split replaces files: each name has a file, and the rest is where one sees it.
    rm -f part*
    "$PERFILE" split --records 20 -o part%d file 2>err
    names=$(ls part*)
    strace -f -o trace -e trace=rename -e inject=rename:signal=SIGKILL:when=2 \
        "$PERFILE" split --records 20 -f -o part%d file >said 2>err || :
    for name in $names; do
        "$PERFILE" info "$name" >said 2>err || say "killed split: $name: $(cat err)"
    done
    left=$(echo part0.perfile-split-*)
    [ -f "$left/old.0" ] && [ -f "$left/data.2" ] || say "killed split: left are $(ls -d part0* "$left")"
    rm -rf "$left"
else
    echo "strace is missing: 5 signals were not tried" >&2
fi
# A folder where nothing may be made: said once, what is there stays, nothing is left.  root may do
# everything, so it becomes somebody else.
as=
[ "$(id -u)" = 0 ] && as="setpriv --reuid=65534 --regid=65534 --clear-groups"
mkdir locked
chmod 644 file
if $as "$PERFILE" info file >said 2>err && $as test ! -w file -o -z "$as"; then
    for command in $writers; do
        rm -rf locked
        mkdir locked
        cp file locked/old
        cp file locked/old0
        chmod 666 locked/old*
        chmod 555 locked
        number=
        [ "$command" = split ] && number=%d
        ways=("-o locked/new$number" "-f -o locked/new$number" "-f -o locked/old$number")
        grep -q -- '^ *--to .*dir' <<<"$("$PERFILE" "$command" --help)" && ways+=("--to dir -o locked/new$number")
        for way in "${ways[@]}"; do
            # shellcheck disable=SC2046,SC2086
            $as "$PERFILE" "$command" $(words_of "$command") $way file >said 2>err
            rc=$?
            [ $rc = 1 ] && grep -q "locked/.*Permission denied" err || say "$command $way: status $rc: $(cat err)"
            [ "$(ls -A locked | paste -sd' ')" = "old old0" ] || say "$command $way: left $(ls -A locked)"
            cmp -s locked/old file && cmp -s locked/old0 file || say "$command $way: changed what was there"
            tried=$((tried + 1))
        done
        chmod 755 locked
    done
    # A directory that is replaced as a whole need not be one that may be written to.
    mkdir open
    [ -z "$as" ] || chown 65534:65534 open
    $as "$PERFILE" convert --to dir -o open/dir file
    chmod 555 open/dir
    $as "$PERFILE" filter --every 2 --to dir -f -o open/dir file 2>err || say "replacing a directory of 555: $(cat err)"
    mode 555 open/dir "a directory of 555 replaced"
    [ "$(ls -A open)" = dir ] || say "replacing a directory of 555 leaves $(ls -A open)"
    chmod 755 open/dir
else
    echo "not tried: outputs in a folder without permission: root cannot become somebody who reads here"
fi

# A FIFO takes what can be written from the beginning to the end; else it is refused.  It is never replaced.
mkdir fifos
cd fifos || exit 1
mkfifo ff ff0
for command in $writers; do
    words=$(words_of "$command")
    fifo=ff out=ff
    [ "$command" = split ] && fifo=ff0 out=ff%d
    ways=("" "-f")
    grep -q -- '^ *--to .*pipe' <<<"$("$PERFILE" "$command" --help)" && [ "$command" != split ] && ways+=("--to pipe")
    for way in "${ways[@]}"; do
        exec 4<>$fifo 5<$fifo
        cat <&5 >got 4>&- &
        reader=$!
        # shellcheck disable=SC2086
        timeout 60 "$PERFILE" "$command" $words $way -o $out ../file >said 2>err 4>&- 5<&-
        rc=$?
        exec 4>&- 5<&-
        wait $reader
        [ -p $fifo ] || say "$command $way: the FIFO was replaced"
        case $rc/$command in # parts of a split have names of their own: one of them is in the way
        0/* | 3/*)
            if [ "$command" = dump ] || [ "$command" = script ] || [ "$command" = export ]; then
                [ -s got ] || say "$command $way: nothing came out of the FIFO"
            else
                "$PERFILE" validate --severity error got >said 2>&1 || say "$command $way: out of the FIFO came: $(head -3 said)"
            fi
            ;;
        1/split | 2/*)
            [ "$way" != "--to pipe" ] || say "$command $way: status $rc: $(cat err)"
            [ ! -s got ] && grep -q "$fifo" err || say "$command $way: status $rc, wrote $(wc -c <got) bytes: $(cat err)"
            ;;
        *) say "$command $way: status $rc: $(cat err)" ;;
        esac
        [ "$(ls -A | paste -sd' ')" = "err ff ff0 got said" ] || say "$command $way: left $(ls -A)"
        tried=$((tried + 1))
    done
done
[ "$tried" -ge $((100 / PERFILE_CASES)) ] || say "only $tried tried"
exit "$failed"
