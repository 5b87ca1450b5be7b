# What becomes of several events in a form for time: samples of one of them, markers of the others.
. "$PERFILE_SOURCE/tests/cli/run.inc"
command -v python3 >/dev/null || exit 77
cat >shown.py <<'END'
import collections
import json
import sys
p = json.load(open(sys.argv[1]))
print("start", p["meta"]["startTime"], "interval", p["meta"]["interval"], "symbolicated", p["meta"]["symbolicated"], "called", p["meta"]["product"])
for t in p["threads"]:
    m = t["markers"]["data"]
    causes = collections.Counter(d["type"] for d in m if "cause" in d)
    others = collections.Counter(d["type"] for d in m if "cause" not in d)
    print(t["name"], t["tid"], t["samples"]["length"], "samples;", *(f"{n} {k}" for k, n in sorted(causes.items())), "with a stack;",
          *(f"{n} {k}" for k, n in sorted(others.items())))
END
# firefox CAPTURE OPTION ...
firefox() {
    local name=$1
    shift
    echo "$name $*"
    "$PERFILE" export --no-symbols --to firefox -f -o shown.json "$@" "$PERFILE_SOURCE/samples/captures/$name.data" 2>&1
    python3 shown.py shown.json
}
firefox mixed
firefox mixed --per pid,tid,event
firefox mixed --per none
firefox pipe-tracepoints
firefox tracepoints --symbol-server
firefox callgraph --title work --symbol-server
firefox callgraph
firefox clock
