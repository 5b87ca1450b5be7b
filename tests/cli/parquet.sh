# `perfile export --to parquet`: files in a folder, one table as a file, what is replaced, what is refused.
parquet() {
    echo "$ perfile export --to parquet $*"
    "$PERFILE" export --to parquet --no-symbols "$@" 2>&1 >stdout
    echo "exit status $?"
}
# The files of a folder, without what depends on the capture's bytes and date.
files() {
    (cd "$1" && find . -type f | sed -E 's/[0-9a-f]{32}/ID/; s/date=[0-9-]{10}/date=DATE/' | LC_ALL=C sort)
}

cp -r "$PERFILE_SOURCE/samples/captures" .
parquet -o all captures/callgraph.data
files all

# Again, by another date: the same files and no more; others stay.
echo kept >all/samples/kept
touch -d 2001-02-03 captures/callgraph.data
parquet -o all captures/callgraph.data
files all | wc -l
ls -d all/samples/host=demo/date=*/*.parquet | sed -E 's/[0-9a-f]{32}/ID/'
[ -z "$(find all -name '*2026*.parquet')" ] && cat all/samples/kept

# Another capture beside it.
parquet -o all --tables samples,stacks --label service=web captures/tracepoints.data
files all | wc -l
parquet -o flat --partition none --tables captures,samples captures/callgraph.data captures/tracepoints.data
files flat

# One table is a file, or standard output; all bytes are the same, with any number of threads.
parquet -o one.parquet --tables samples -j 1 captures/callgraph.data
parquet -o - --tables samples -j 4 captures/callgraph.data
cmp one.parquet stdout && cmp one.parquet "$(ls flat/samples/*.parquet | xargs -n 1 sh -c 'cmp -s "$0" one.parquet && echo "$0"')"
head -c 4 one.parquet && tail -c 4 one.parquet && echo
"$PERFILE" export --to parquet --no-symbols --tables samples -o - - <captures/callgraph.data 2>errors | cmp - one.parquet

# A damaged capture says so, and what could be read is there; one that cannot be read leaves nothing.
parquet -o damaged captures/garbage.data
[ -d damaged/damages ] && echo there
parquet -o nothing captures/text.data
[ ! -e nothing ] && echo nothing

# What is refused.
parquet captures/callgraph.data
parquet -o - --tables samples,stacks captures/callgraph.data
parquet -o new --tables sample captures/callgraph.data
"$PERFILE" export --to folded --tables samples captures/callgraph.data 2>&1
"$PERFILE" export --to folded --wide captures/callgraph.data 2>&1
"$PERFILE" export --to pprof --label a=b -o new captures/callgraph.data 2>&1
parquet -o new --partition day captures/callgraph.data
parquet -o new --label web captures/callgraph.data
parquet -o one.parquet/x --tables samples captures/callgraph.data
parquet -o captures/callgraph.data captures/tracepoints.data
parquet -o one.parquet --tables samples captures/callgraph.data
ls
