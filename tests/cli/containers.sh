# Code of a process in a container: its files and its perf-PID.map are those of its own root directory, under the number
# that it has there, while it runs.  Nothing is opened out of that root, and no map that others can have written.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3 unshare
failed=0
say() {
    echo "$*"
    failed=1
}
unshare -rmpf --mount-proc true 2>err || { echo "no namespaces: $(cat err)"; exit 77; }
capture() {
    PYTHONDONTWRITEBYTECODE=1 python3 "$PERFILE_SOURCE/tests/cli/containers.py" "$@"
}
names() {
    "$PERFILE" stats --by sym "$@" capture.data 2>err
}
# has NAME OPTION ...: NAME is among the functions; hasnt: it is not.
has() {
    names "${@:2}" | grep -qF "$1" || say "$case: $1 is missing: $(names "${@:2}") $(cat err)"
}
hasnt() {
    names "${@:2}" | grep -qF "$1" && say "$case: there is $1"
}

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PERFILE_SOURCE/tests/hostile" python3 -c '
import cost_symbols as c
c.elf("program", [c.code(), (b".strtab", 3, 0, b"\0in_the_container\0", 0, 0), (b".symtab", 2, 0, c.symbol(1, c.TEXT, 16), 2, 24)])'
echo >secret
# The process: its own root directory, which has programs and nothing else of this machine, and the number 1.
mkdir root
unshare -rmpf --mount-proc sh -c '
    mount -t tmpfs none root && mkdir root/tmp root/mnt root/usr && cp program root/mnt/in && mount --bind /usr root/usr &&
        for name in bin lib lib64; do ln -s usr/$name root/$name; done
    exec chroot root /usr/bin/sleep 60' 2>err &
child=$!
trap 'kill -9 $pid; kill $child; rm -f "/tmp/perf-$pid.map"' EXIT
for ((i = 0; i < 200; i++)); do
    pid=$(cat "/proc/$child/task/$child/children" | tr -d ' ')
    [ -n "$pid" ] && grep -q sleep "/proc/$pid/comm" && break
    sleep 0.05
done
tmp=/proc/$pid/root/tmp
addr=$(capture "$pid" /mnt/in)

case="no map"
hasnt compiled
has in_the_container
case="a map"
echo "$addr 100 compiled" >$tmp/perf-1.map
has compiled
has in_the_container
case="symfs is the root of the process"
has compiled --symfs "/proc/$pid/root"
has in_the_container --symfs "/proc/$pid/root"
case="nothing but what is given"
hasnt compiled --perf-map-dir .
case="the number outside is not that inside"
mv $tmp/perf-1.map "$tmp/perf-$pid.map"
hasnt compiled
mv "$tmp/perf-$pid.map" $tmp/perf-1.map

# Refused, with the reason.
case="a map that everybody may write"
chmod 666 $tmp/perf-1.map
hasnt compiled
grep -q "root/tmp/perf-1.map is not read: every user may write it" err || say "$case: $(cat err)"
"$PERFILE" export --to folded capture.data 2>&1 | grep -q "perf-1.map is not read" || say "$case: export says nothing"
case="a link"
mv $tmp/perf-1.map $tmp/other
chmod 600 $tmp/other
ln -s other $tmp/perf-1.map
hasnt compiled
grep -q "perf-1.map is not read: it is a symbolic link" err || say "$case: $(cat err)"
case="a link that leads out"
cp $tmp/other outside.map
ln -sf "$PWD/outside.map" $tmp/perf-1.map
hasnt compiled
hasnt compiled --symfs "/proc/$pid/root"
case="a FIFO"
rm $tmp/perf-1.map
mkfifo -m 600 $tmp/perf-1.map
[ -z "$(timeout 10 "$PERFILE" stats --by sym capture.data 2>err | grep compiled)" ] || say "$case: it was read"
grep -q "perf-1.map is not read: it is not a regular file" err || say "$case: $(cat err)"
rm $tmp/perf-1.map
mv $tmp/other $tmp/perf-1.map

# Another process or file than was recorded.
case="another process"
capture "$pid" /mnt/in "$(stat -L -c %i "/proc/$pid/root/mnt/in")" 7000 >/dev/null
sed s/^[0-9a-f]*/7000/ $tmp/perf-1.map >moved
cp moved $tmp/perf-1.map
hasnt compiled
has in_the_container
case="another inode"
capture "$pid" /mnt/in 4242 >/dev/null
hasnt in_the_container
case="inode unknown"
capture "$pid" /mnt/in 0 >/dev/null
hasnt in_the_container
case="a link in the container that leads out of it"
rm "/proc/$pid/root/mnt/in"
ln -s "$PWD/program" "/proc/$pid/root/mnt/in"
capture "$pid" /mnt/in "$(stat -c %i program)" >/dev/null
hasnt in_the_container

# --symfs of a process that is gone, or of another machine: by the number that was recorded.
case="symfs"
mkdir -p files/tmp
addr=$(capture "$pid" /mnt/in 0)
echo "$addr 100 below_symfs" >"files/tmp/perf-$pid.map"
chmod 666 "files/tmp/perf-$pid.map"
has below_symfs --symfs files
hasnt below_symfs
rm "files/tmp/perf-$pid.map"
ln -s "$PWD/outside.map" "files/tmp/perf-$pid.map"
hasnt compiled --symfs files

# /tmp itself, where a map of this number is not that of the container.
case="/tmp"
rm -f $tmp/perf-1.map
(umask 077; echo "$addr 100 in_tmp" >"/tmp/perf-$pid.map")
has in_tmp
chmod 666 "/tmp/perf-$pid.map"
hasnt in_tmp
grep -q "/tmp/perf-$pid.map is not read: every user may write it" err || say "$case: $(cat err)"
exit $failed
