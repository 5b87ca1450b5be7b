# Names that drive a terminal, in captures, files, directories and arguments: nothing of them comes out as it is.
command -v python3 >/dev/null || { echo "python3 was not found"; exit 77; }
exec python3 "$PERFILE_SOURCE/tests/cli/hostile_names.py" "$PERFILE" "$PERFILE_SOURCE" "$PERFILE_CORPUS/../hostile"
