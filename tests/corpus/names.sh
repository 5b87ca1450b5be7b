# A name that `stats --by` prints, given back to the option of that key or to --where, selects exactly what was printed: over all
# captures, and one with names that have wildcards, commas, brackets and backslashes, of events that have the same name.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
all=("$PERFILE_SOURCE"/samples/captures/*.data)
if [ -d "$PERFILE_CORPUS" ]; then
    n=0
    while IFS= read -r -d '' capture; do
        n=$((n + 1))
        [ $((n % ${PERFILE_EVERY:-1})) != 0 ] || all+=("$capture")
    done < <(find "$PERFILE_CORPUS" -name '*.data' -type f -size -3M -print0 | sort -z)
else
    echo "not tried: captures of others: there is no corpus"
fi
python3 "$PERFILE_SOURCE/tests/corpus/named.py" odd.data
python3 "$PERFILE_SOURCE/tests/corpus/names.py" "$PERFILE" odd.data "${all[@]}"

# A backslash takes away what a character means.
"$PERFILE" stats --comm 'a\*\,c' --json odd.data | grep -q '"total":{"records":15,'
"$PERFILE" stats --comm 'a\*b\,c,b' --json odd.data | grep -q '"total":{"records":30,'
"$PERFILE" stats --comm 'a*' --json odd.data | grep -q '"total":{"records":75,'
# "c" is the name of a thread, and the last component of a file: an option of files has that one.
"$PERFILE" stats --dso c --type sample --json odd.data | grep -q '"total":{"records":[1-9]'
# [ is no set, unlike in patterns of --where.
"$PERFILE" stats --comm '[xb]' --json odd.data 2>/dev/null | grep -q '"total":{"records":0,'
"$PERFILE" stats --where 'comm ~ "[xb]"' --type sample --json odd.data | grep -q '"total":{"records":3,'
# Records of no process.
"$PERFILE" stats --by pid odd.data | grep -q ' -1$'
"$PERFILE" dump --format tsv --fields type,pid,tid odd.data | grep -q 'SAMPLE.-1.-1$'
# A sample of a thread that has ended (its process and the thread -1) is not of the process's first thread, "a*b,c".
"$PERFILE" stats --comm 'a\*b\,c' --type sample --json odd.data | grep -q '"total":{"records":3,'
"$PERFILE" dump --format tsv --fields type,pid,tid,comm odd.data | grep -q 'SAMPLE.100.-1.$'
