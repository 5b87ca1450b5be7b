# Archives as archives: what info, validate and recover say of a sound one and of damaged ones.  Times and random
# numbers are not printed.
set -u
captures=$PERFILE_SOURCE/samples/captures
. "$PERFILE_SOURCE/tests/cli/run.inc"
# Offset of the first chunk of a kind, by --json.
offset() {
    "$PERFILE" info --chunks --json "$2" 2>/dev/null |
        grep -o "\"offset\":\"[0-9]*\",\"kind\":\"$1\"" | head -n 1 | tr -dc 0-9
}
flip() {
    printf '\377' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Fixed sizes depend on zstd: they are left out.
echo "sound"
cp "$captures/callgraph.data" in.data
run convert --to archive -o x.perfile in.data | grep -v '^perfile: in.data: '
"$PERFILE" info x.perfile | sed -nE 's/[0-9.]+ kB of/SIZE of/; s/\([0-9.]+ to 1\)/(RATIO)/; /^(file|archive|form|samples|state)/p'
"$PERFILE" info --chunks x.perfile | awk 'NR > 3 && $1 != "total" { print $2, $3, $5, $7, $NF }'
"$PERFILE" info --columns x.perfile | awk 'NR > 4 { print $1 }' | grep -E '^(SAMPLE|trailer)\.' | sort
"$PERFILE" info --columns --json x.perfile | grep -c '"type":"SAMPLE","type_number":9,"trailer":false,"field":"callchain"'
"$PERFILE" info --chunks --json x.perfile | grep -o '"captures":\[{"creator":"perfile'
"$PERFILE" info --json x.perfile | grep -o '"finished":true,"from_index":true,"head_damaged":false,"gaps":0'
run validate x.perfile
run info --chunks in.data
run recover --to archive -o same.perfile x.perfile
cmp x.perfile same.perfile && echo "nothing was changed"
run convert -o back.data x.perfile
cmp in.data back.data && echo "unpacked"

echo "a second of it"
first=$("$PERFILE" info --json x.perfile | grep -o '"time":{"first":"[0-9]*' | tr -dc 0-9)
"$PERFILE" filter --time "$((first / 1000000000)).0," -o second.data x.perfile 2>/dev/null
"$PERFILE" info second.data | grep -E '^(events|lost)'

echo "a damaged payload"
cp x.perfile payload.perfile
at=$(offset records x.perfile)
flip payload.perfile $((at + 600))
run validate --only V-7 payload.perfile
run validate --only V-7 --format json payload.perfile | grep -o '"rule":"V-704","severity":"error","file":"payload.perfile"'
run validate --only V-7 --format sarif payload.perfile | grep -o '"ruleId":"V-704"'
run validate --ignore V-704 --only V-7 payload.perfile
run recover --to archive -n payload.perfile
run recover --to archive -o repaired.perfile payload.perfile
run validate --only V-7 repaired.perfile
run recover --to archive --json -f -o repaired.perfile payload.perfile | grep -o '"whole":false'
run recover --to archive -o repaired.perfile payload.perfile

echo "records after a lost chunk"
"$PERFILE" convert --to archive --chunk-records 16 -o chunks.perfile in.data 2>/dev/null
"$PERFILE" info --chunks --json chunks.perfile | grep -o '"offset":"[0-9]*","kind":"records"' | sed -n 3p | tr -dc 0-9 >third
flip chunks.perfile $(($(cat third) + 300))
"$PERFILE" dump --format text in.data 2>/dev/null | tail -n 1
"$PERFILE" dump --format text chunks.perfile 2>&1 | tail -n 1
run validate --only V-2,V-7 chunks.perfile | sed -E 's/:[0-9]+: error/:AT: error/; s/at offset [0-9]+/at offset AT/'

echo "a damaged header of a chunk"
cp x.perfile header.perfile
flip header.perfile $((at + 9))
run validate --only V-7 header.perfile | sed -E 's/: [0-9]+ bytes belong/: N bytes belong/'
run recover --to archive -o whole.perfile header.perfile
cmp x.perfile whole.perfile && echo "as it was"

echo "cut"
head -c $((at + 200)) x.perfile >cut.perfile
run validate --only V-7 cut.perfile
"$PERFILE" info cut.perfile 2>/dev/null | grep -o 'not finished, DAMAGED in 1 place: .*'
run info --chunks cut.perfile | grep -E '^[0-9]+: |exit'
run recover --to archive -o short.perfile cut.perfile
run validate --only V-7 short.perfile

echo "metadata"
cp x.perfile meta.perfile
flip meta.perfile $((at + 70))
run validate meta.perfile
run recover --to archive -o without.perfile meta.perfile
run validate without.perfile
run convert -o whole.data without.perfile
cmp in.data whole.data && echo "unpacked"

echo "standard input"
cat x.perfile | run validate -
cat payload.perfile | run validate --only V-7 -
cat payload.perfile | run validate --only V-7 --format json - | grep -o '"rule":"V-704","severity":"error","file":"standard input"'
cat cut.perfile | run validate --only V-7 -
cat in.data | run validate -
head -c 100 x.perfile | run validate -
for file in x cut; do
    "$PERFILE" info $file.perfile >of-file 2>/dev/null
    cat $file.perfile | "$PERFILE" info - >of-pipe 2>/dev/null
    # A file has a time, and what to do next.
    diff of-file of-pipe | sed 's/^\([<>] [a-z]*\).*/\1/'
done
cat x.perfile | "$PERFILE" info --json - | grep -o '"finished":true,"from_index":true'

echo "wrong usage"
run recover --to pipe -o y x.perfile
run recover --to archive -o in.data x.perfile
head -c 64 x.perfile >head.perfile
run recover --to archive -o y head.perfile
exit 0
