# What validate says of captures, whole and damaged; its forms, choices and exit statuses.
folder=$PWD
cd "$PERFILE_SOURCE/samples/captures"
run() {
    echo "\$ perfile $*"
    "$PERFILE" "$@" 2>&1
    echo "exit status $?"
}
run validate cpu-clock.data
run validate pipe.data zstd.data threads.data
for file in bad-attr-size bad-size corrupt-feature corrupt-feature-offset corrupt-zstd empty garbage killed \
    text trailing-text truncated-attr-ids truncated-features truncated-header truncated-pipe \
    truncated-record unknown-type; do
    run validate $file.data
done
run validate --severity error truncated-features.data
run validate --strict --ignore V-6 trailing-text.data
run validate --only V-013,V-2 trailing-text.data
run validate --only v-606 --all bad-size.data
run validate --resync bad-size.data
run validate no-such-file.data
run validate --explain V-302
run validate --explain V-999
run validate --only V-999 cpu-clock.data
run validate --for perf-2.0 cpu-clock.data
run validate --format xml cpu-clock.data
run validate
for version in 3.16 6.1 perf-7.3; do
    run validate --for $version fields.data
    run validate --for $version --severity error unknown-type.data
done
run validate --for 6.1 text.data
for form in text json sarif; do
    "$PERFILE" validate --for 6.1 --format $form unknown-type.data cpu-clock.data >"$folder/$form"
    echo "--for 6.1 --format $form: exit status $?"
done
echo "from a pipe"
cat pipe.data | "$PERFILE" validate -
echo "exit status $?"
cat truncated-pipe.data | "$PERFILE" validate --severity error -
echo "exit status $?"
cat cpu-clock.data | "$PERFILE" validate -
echo "rules"
"$PERFILE" validate --rules | wc -l
grep -c '^RULE(V_' "$PERFILE_SOURCE/format/rules.def"
"$PERFILE" validate --rules | head -2
"$PERFILE" validate --rules | while read -r id severity where sentence; do
    "$PERFILE" validate --explain "$id" | grep -qxF "$id: $sentence." || echo "$id has no page"
    printf '.TP\n.B %s\n%s: %s\n' "$id" "$severity" "$sentence"
done >"$folder/rules"
sed -n '/^\.SH RULES/,/^\.SH/{/^\.SH/d;p}' "$PERFILE_SOURCE/src/cli/man/perfile-validate.1" |
    diff "$folder/rules" - && echo "the manual has all of them"
exit 0
