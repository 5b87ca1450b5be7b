# Events that describe themselves (EventHeader) as a reader of its own has them, eventheader.py: of the capture of LinuxTracepoints in
# $PERFILE_CORPUS, which has each encoding and format, in lists and structs.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
exec python3 "$PERFILE_SOURCE/tests/interop/eventheader.py"
