# Whether a script tried enough, and what it could not try.  Sourced by scripts that look at the captures of
# $PERFILE_CORPUS beside those of samples/captures; enough.py is the same for Python.

# enough WHAT COUNT LEAST OWN: COUNT of WHAT were tried.  LEAST of them have to be where the corpus is,
# and OWN where it is not; one in $PERFILE_EVERY of that when only so many captures are looked at.
# What is missing to LEAST without the corpus is counted as not tried (see run.sh).
enough() {
    local least=$4
    [ -d "$PERFILE_CORPUS" ] && least=$3
    least=$((least / ${PERFILE_EVERY:-1}))
    if [ "$2" -lt "$least" ]; then
        echo "too few $1: $2, at least $least"
        return 1
    fi
    [ -d "$PERFILE_CORPUS" ] || [ "$2" -ge "$3" ] || echo "not tried: $1: $2 of at least $3, there is no corpus"
}

# The captures of the corpus: lines of its MANIFEST.tsv, one in $PERFILE_EVERY, without parts of directories.
corpus_lines() {
    awk -F '\t' -v every="${PERFILE_EVERY:-1}" 'NR > 1 && $1 !~ /\.data\/./ && ++n % every == 0' \
        "$PERFILE_CORPUS/MANIFEST.tsv"
}
