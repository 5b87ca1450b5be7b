# No rule of severity error fires on a capture that nothing is wrong with: those of $PERFILE_CORPUS whose
# line in MANIFEST.tsv has no mark ERRORS, and ours that README.md does not list as damaged or killed.  Each of
# the marked ones breaks one.
set -u
. "$PERFILE_SOURCE/tests/enough.bash"
failed=0 whole=0 marked=0

# errors FILE: the ids of rules of severity error that FILE breaks, to ./found; fails when it was not read.
errors() {
    timeout 60 "$PERFILE" validate --severity error --format json "$1" >report 2>complaints
    local status=$?
    if [ "$status" != 0 ] && [ "$status" != 3 ]; then
        echo "FAILED $1: exit status $status"
        cat complaints
        return 1
    fi
    grep -o '"rule":"V-[0-9]*","severity":"error","count"' report | cut -d'"' -f4 | sort -u >found
}

expect_none() {
    errors "$1" || { failed=1; return; }
    whole=$((whole + 1))
    if [ -s found ]; then
        echo "FAILED $1: $(tr '\n' ' ' <found)"
        "$PERFILE" validate --severity error "$1" | head -5
        failed=1
    fi
}

expect_some() { # expect_some FILE MARK
    errors "$1" || { failed=1; return; }
    marked=$((marked + 1))
    [ -s found ] && return
    echo "FAILED $1 ($2): no rule says error"
    failed=1
}

# The test can fail: a changed capture breaks a rule, a whole one none.
cp "$PERFILE_SOURCE/samples/captures/bad-size.data" changed.data
errors changed.data && [ "$(cat found)" = V-201 ] || { echo "self-check: V-201 was not found"; exit 1; }

damaged=" killed.data $(sed -n '/^| damaged/,$s/^| \(`[^|]*\) |.*/\1/p' "$PERFILE_SOURCE/samples/captures/README.md" |
    tr -d '\`,\n' | sed 's/data/data /g') "
for capture in "$PERFILE_SOURCE"/samples/captures/*.data; do
    name=${capture##*/}
    case $damaged in
    *" $name "*) ;; # tests/cli/validate.sh has them
    *) expect_none "$capture" ;;
    esac
done
ours=$whole
expect_some "$PERFILE_SOURCE/samples/captures/killed.data" unterminated
if [ "$ours" -lt 18 ]; then
    echo "FAILED: only $ours whole captures of our own"
    failed=1
fi

if [ ! -f "$PERFILE_CORPUS/MANIFEST.tsv" ]; then
    echo "not tried: captures of others: there is no corpus"
    exit "$failed"
fi
while IFS=$'\t' read -r capture _ exercises _; do
    case $exercises in
    *ERRORS*) expect_some "$PERFILE_CORPUS/${capture%/}" "$exercises" ;;
    *) expect_none "$PERFILE_CORPUS/${capture%/}" ;;
    esac
done < <(corpus_lines)
echo "$whole whole captures ($ours of our own) break no rule of severity error;" \
    "all $marked marked ones do"
if [ "$whole" -le "$ours" ] || [ "$marked" = 0 ]; then
    echo "FAILED: the corpus has nothing to look at"
    failed=1
fi
exit "$failed"
