# `perfile damage`: each damage is reported by the rule that it names; what is refused.
. "$PERFILE_SOURCE/tests/cli/run.inc"
python3 "$PERFILE_SOURCE/tests/cli/damage_command.py" "$PERFILE" "$PERFILE_SOURCE" || exit
rm -f many
cp "$PERFILE_SOURCE/samples/captures/group.data" "$PERFILE_SOURCE/samples/captures/pipe.data" .

run damage --do record-size-0 -o bad group.data
run damage --do record-size-0 -o bad group.data
run damage --do record-size-0,period-0 --seed 18446744073709551615 -f -o bad group.data
run damage --do period-0,misc-unknown -o none group.data
run damage --do misc-unknown,record-size-0 --seed 3 -f -o two group.data
run damage --do zstd-broken -o none group.data
run damage --do table-cut -o none pipe.data
run damage --do data-empty,record-size-0 -o none group.data
run damage --do time-back --json -o none pipe.data
run damage --do zstd-broken --json -o none2 group.data
"$PERFILE" damage --do record-size-0 -o - - <group.data >a 2>err
"$PERFILE" damage --do record-size-0 -o - group.data 2>err >b
cmp a b && cmp a bad && cat err
rm a b err
run damage --do record-size-0 -f -o group.data group.data
run damage --all . group.data
run damage --all bad group.data
run damage --all - group.data
run damage --all new -o out group.data
run damage --do record-size0 -o out group.data
run damage --do "" -o out group.data
run damage --do period-0 group.data
run damage --seed -1 --do period-0 -o out group.data
run damage --seed 18446744073709551616 --do period-0 -o out group.data
run damage -o out group.data
run damage --do period-0 --json -o - group.data
printf 'no capture at all, only a text' >text
run damage --do period-0 -o out text
printf 'PERFILE2\150' >header
run damage --all none header | tail -n 3
rm header
run damage --do period-0 -o out nowhere
mkdir dir
run damage --do period-0 -o out dir
"$PERFILE" damage --list | head -n 3
ls
