# `perfile export` to pprof and speedscope: the same stacks, labels and weights as in folded lines, which export.sh
# compares with perf and with `perfile stats`.  pprof is read by protoc with profile.proto as written for this test,
# speedscope by its own viewer (export_viewers.sh) and here as JSON.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
command -v protoc >/dev/null || echo "not tried: pprof: there is no protoc"
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop:$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1
exec python3 "$PERFILE_SOURCE/tests/interop/export_forms.py"
