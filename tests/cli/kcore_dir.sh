# The folder kcore_dir of `perf record --kcore` belongs to the capture: its kallsyms names functions of the kernel, and its
# files are in every output that is a directory or an archive of one.
set -u
command=convert
. "$PERFILE_SOURCE/tests/cli/expect.inc"

names() {
    "$PERFILE" stats --by sym "$@" 2>/dev/null | grep -c from_capture
}

cp -r "$captures/threads.data" in
chmod -R u+w in
[ "$(names in)" = 0 ] || say "the test is wrong: there are such names without kallsyms"
mkdir in/kcore_dir in/kcore_dir__7
printf 'ffff000000000000 T from_capture\nffffffffff000000 T end\n' >in/kcore_dir/kallsyms
head -c 3000000 /dev/zero >in/kcore_dir/kcore
echo "ext4 1 0 - Live 0xffffffffc0000000" >in/kcore_dir/modules
echo "ffffffff81000000 T of_a_guest" >in/kcore_dir__7/kallsyms

# Names, also of an archive; an option that names another file wins.
[ "$(names in)" = 1 ] || say "kallsyms of the capture names nothing"
"$PERFILE" export --to folded in 2>/dev/null | grep -q ';from_capture' || say "export does not use it"
sed s/from_capture/of_the_option/ in/kcore_dir/kallsyms >other
[ "$(names --kallsyms other in)" = 0 ] || say "--kallsyms does not win"
"$PERFILE" stats --by sym --kallsyms other in 2>/dev/null | grep -q of_the_option || say "--kallsyms is not used"

# Every file is in what is made of it.
expect 0 "" -o copy in
diff -r in copy || say "a copy lacks something"
expect 0 "" --to archive -o a.perfile in
expect 0 "" -o back a.perfile
diff -r in back || say "an archive lacks something"
"$PERFILE" validate a.perfile >/dev/null || say "the archive is not sound"
[ "$(names a.perfile)" = 1 ] || say "kallsyms of an archive names nothing"
for how in "convert --to dir --compress" "convert --to dir --byte-order big" "convert --on-damage resync" \
    "convert --target perf-5.10" "filter --every 2"; do
    for from in in a.perfile; do
        "$PERFILE" $how -f -o made $from 2>err || say "$how $from: $(cat err)"
        for folder in kcore_dir kcore_dir__7; do
            diff -r in/$folder made/$folder || say "$how $from lacks something of $folder"
        done
        [ -f made/data ] || say "$how $from: no records"
        [ "$(names made)" = 1 ] || say "$how $from: no names"
    done
done
"$PERFILE" filter --every 2 --to archive -o part.perfile in 2>/dev/null
[ "$(names part.perfile)" = 1 ] || say "an archive of a part has no names"
"$PERFILE" convert --to archive -f -o joined.perfile a.perfile part.perfile 2>err || say "$(cat err)"
"$PERFILE" convert --source 2 -o second joined.perfile 2>err || say "$(cat err)"
diff -r in/kcore_dir second/kcore_dir || say "a capture that was moved to another archive lacks something"

# One file has no place for them, and that is said.
expect 0 "in: kcore_dir and 1 more hold no records and are not copied" --to perf.data -o one.data in
touch in/kcore_dir/notes
expect 0 "in: kcore_dir/notes holds no records and is not copied" -f -o copy in
[ -e copy/kcore_dir/notes ] && say "another file was copied"
rm in/kcore_dir/notes

# Nothing else in such a folder is removed, and no output changes an input.
touch copy/kcore_dir/notes
expect 1 "holds more than a capture" -f -o copy in
rm copy/kcore_dir/notes
expect 0 "" -f -o copy in
expect 1 "never changed" -f -o in/kcore_dir/kallsyms in
expect 1 "never changed" -f -o in/kcore_dir in
ln in/kcore_dir/kcore hard
expect 1 "never changed" -f --to pipe -o hard in
rm hard
chmod 600 in/kcore_dir/kcore
expect 0 "" -f -o copy in
[ -z "$(find copy copy/kcore_dir -type f -perm /077)" ] || say "others may read what they could not before"

# A folder that is not what it should be gives no names, and stops nothing.  Links and FIFOs are not opened.
hostile() {
    [ "$(names in)" = "$2" ] || say "$1: other names than expected"
    timeout 20 "$PERFILE" convert -f -o copy in 2>err || say "$1: $(cat err)"
    timeout 20 "$PERFILE" convert --to archive -f -o a.perfile in 2>err || say "$1: $(cat err)"
}
mv in/kcore_dir aside
ln -s ../aside in/kcore_dir
hostile "a link to a folder" 0
rm in/kcore_dir
mkdir in/kcore_dir
ln -s ../../aside/kallsyms in/kcore_dir/kallsyms
hostile "a link to a file" 0
rm in/kcore_dir/kallsyms
mkfifo in/kcore_dir/kallsyms
hostile "a FIFO" 0
rm in/kcore_dir/kallsyms
mkdir in/kcore_dir/kallsyms
hostile "a folder" 0
rmdir in/kcore_dir/kallsyms
: >in/kcore_dir/kallsyms
hostile "an empty file" 0
head -c 100000 /dev/urandom >in/kcore_dir/kallsyms
hostile "random bytes" 0
truncate -s 1T in/kcore_dir/kallsyms
timeout 20 "$PERFILE" stats --by sym in >out 2>err || say "a file of 1 TiB: $(cat err)"
grep -q '^ *[0-9.]*% .*work' out || say "a file of 1 TiB: the other functions have no names"
exit $failed
