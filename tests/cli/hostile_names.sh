# Names that drive a terminal, in captures, files, directories and arguments: nothing of them comes out as it is.
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
exec python3 "$PERFILE_SOURCE/tests/cli/hostile_names.py" "$PERFILE" "$PERFILE_SOURCE" "$PERFILE_CORPUS/../hostile"
