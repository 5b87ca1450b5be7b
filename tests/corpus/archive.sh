# Whatever is packed comes out byte for byte, and commands say of the archive what they say of the capture:
# see archive.py.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
python3 "$PERFILE_SOURCE/tests/corpus/archive.py"
