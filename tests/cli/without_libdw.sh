# libdw is loaded when a source line is asked for.  Where it is missing (here: another file of its
# name comes first), only that fails, with a sentence; a command that was built without it says the
# same.
here=$PWD
mkdir -p empty
echo "no library" >empty/libdw.so.1
export LD_LIBRARY_PATH=$here/empty
cd "$PERFILE_SOURCE/samples/captures" || exit 1
without() {
    echo "\$ perfile $*"
    "$PERFILE" "$@" >"$here/out"
    echo "exit status $?, $(wc -c <"$here/out") bytes of output"
}
without stats --by srcline callgraph.data 2>&1
without export --to folded --inline -o "$here/folded" callgraph.data 2>&1 | sed "s|$here/||"
[ ! -e "$here/folded" ] || echo "something was written"
"$PERFILE" stats --by sym callgraph.data >"$here/out" || echo "exit status $?: stats --by sym"
[ -s "$here/out" ] || echo "stats --by sym says nothing"
