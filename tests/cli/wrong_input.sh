# What a new user gives it: for each a clear sentence with the name, exit status 1.
exec 2>&1
captures=$PERFILE_SOURCE/samples/captures
: >empty
echo "This is a text." >text
printf 'PERFILE2' >short
head -c 4096 /dev/zero >zeros
truncate -s 20G sparse
mkdir folder
mkfifo fifo
ln -s nowhere link
ln -s loop loop
try() {
    for command in info "list events" stats "list mappings --json" dump "dump --format cbor -o out"; do
        timeout 60 "$PERFILE" $command "$@" >out 2>err
        rc=$?
        [ "$rc" = 1 ] || echo "exit status $rc: $command $*"
        [ ! -s out ] || echo "output: $command $*"
        [ "$command" = info ] || [ "${command%out}" != "$command" ] || cmp err first
        [ "$command" != info ] || cp err first
        rm -f out
    done
    cat first
}
try missing
try empty
try text
try short
try zeros
try sparse
try folder
try link
try loop
try /dev/zero
try /dev/null
try "$PERFILE_SOURCE/src" 2>&1 | sed "s|$PERFILE_SOURCE|SOURCE|g"
(cat text >fifo &) && "$PERFILE" info fifo
echo "exit status $?"
"$PERFILE" stats - <text
echo "exit status $?"
"$PERFILE" stats - <&-
echo "exit status $?"
"$PERFILE" stats --from tarball "$captures/cpu-clock.data" 2>&1 | sed "s|$PERFILE_SOURCE|SOURCE|g"
exit 0
