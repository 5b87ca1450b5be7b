# Copied user stacks (perf record --call-graph dwarf) of programs that are compiled here, without frame pointers: `export`
# makes the call chains of them that `perf script` prints, sample by sample (unwind.py says what differs).  Inlined
# functions and source lines are those of perf and addr2line.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3 gcc strip objcopy readelf addr2line
export HOME=$PWD
failed=0

fail() {
    echo "FAILED $*"
    failed=1
}

cat >work.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
volatile unsigned long sink;
int library_calls(int (*f)(int), int n);
static inline __attribute__((always_inline)) void spin(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}
static inline __attribute__((always_inline)) void spin_twice(int n)
{
    spin(n);
    sink++;
    spin(n);
}
__attribute__((noinline)) static int compare(const void *a, const void *b)
{
    spin_twice(10);
    return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static void sort(int n)
{
    int v[64 + n];
    for (int i = 0; i < 64; i++)
        v[i] = (i * 7919) % 257;
    qsort(v, 64, sizeof v[0], compare);
    sink += v[n & 63];
}
__attribute__((noinline)) int recurse(int n)
{
    char pad[64];
    memset(pad, n, sizeof pad);
    if (n == 0) {
        sort(3);
        return pad[3];
    }
    int r = recurse(n - 1);
    sink += pad[r & 63];
    return r + 1;
}
static volatile int handled;
__attribute__((noinline)) static void handler(int s)
{
    handled++;
    spin(400000 + s); /* often seen, also on a busy machine: the timer counts the program's own time */
}
int main(void)
{
    struct itimerval t = {{0, 2000}, {0, 2000}};
    signal(SIGPROF, handler);
    setitimer(ITIMER_PROF, &t, 0);
    for (int i = 0; i < ROUNDS || (handled < 40 && i < 50 * ROUNDS); i++) {
        library_calls(recurse, i % 30);
        if (i % 50 == 0)
            recurse(200);
    }
    return 0;
}
END
cat >library.c <<'END'
__attribute__((noinline)) static int inner(int (*f)(int), int n) { return f(n) + 1; }
int library_calls(int (*f)(int), int n) { return inner(f, n) + 1; }
END
cat >objects.cc <<'END'
#include <algorithm>
#include <vector>
namespace outer {
volatile unsigned long sink;
template <typename T> struct Box {
    std::vector<T> values;
    __attribute__((noinline)) void fill(int n) { for (int i = 0; i < 500; i++) { values.push_back(T((i * 7919) % 257)); for (int k = 0; k < 60; k++) sink = sink + k; } if (n) fill(n - 1); }
    __attribute__((noinline)) void order() { std::sort(values.begin(), values.end(), [](T a, T b) { sink = sink + 1; return a < b; }); }
};
}
int main() { for (int i = 0; i < 1500; i++) { outer::Box<int> b; b.fill(i % 9); b.order(); } return 0; }
END

flags="-O2 -g -fomit-frame-pointer -DROUNDS=120000"
gcc $flags -shared -fPIC -o liblibrary.so library.c
gcc $flags -fPIE -pie -o pie work.c -L. -llibrary -Wl,-rpath,"$PWD"
gcc $flags -fno-pie -no-pie -o fixed work.c library.c

record() { # record OUT COMMAND…: at a rate that is no multiple of the timer's
    perf record -q -N -F 1613 -e cpu-clock --call-graph dwarf,8192 -o "$@" >record.log 2>&1
}

# same_as_perf CAPTURE NAME…: the chains are those of perf; each name is in some of them.
same_as_perf() {
    local capture=$1 name
    shift
    perf script -F ip,sym --no-inline -i "$capture" >perf.stacks 2>/dev/null
    "$PERFILE" export --to folded --per none "$capture" >our.stacks 2>report || fail "$capture: $(cat report)"
    python3 "$PERFILE_SOURCE/tests/interop/unwind.py" perf.stacks our.stacks || fail "$capture: other chains than perf's"
    for name; do
        grep -q "$name" our.stacks || fail "$capture: nothing is called $name"
    done
}

record pie.data ./pie
if ! perf script -F ip,sym -i pie.data 2>/dev/null | grep -q recurse; then
    echo "perf cannot record cpu-clock with stacks here"
    exit 77
fi
record fixed.data ./fixed
same_as_perf pie.data '^_start;.*;main;library_calls;inner;recurse;recurse;.*;sort.*qsort.*;compare' '__restore_rt;handler'
grep -q 'with the copied part of the stack' report || fail "deep recursion: no chain is said to be short"
same_as_perf fixed.data ';main;library_calls.*;recurse;'

# Nothing is unwound if that is said, and the report counts what is.
"$PERFILE" export --to folded --no-unwind pie.data 2>/dev/null | grep -q ';main;' && fail "--no-unwind"
"$PERFILE" export --to folded --json -o json.out pie.data >report.json
python3 - report.json <<'END' || fail "--json"
import json, sys
r = json.load(open(sys.argv[1]))
ends = [r[k] for k in ("unwound", "unwound_short", "unwound_no_file", "unwound_no_rules", "not_unwound")]
sys.exit(not (r["unwound"] > r["samples"] // 2 and r["unwound_short"] > 0 and sum(ends) <= r["samples"]))
END

if command -v g++ >/dev/null; then
    g++ -O2 -g -fomit-frame-pointer -o objects objects.cc
    record objects.data ./objects
    if "$PERFILE" export --to folded objects.data 2>/dev/null | grep -q 'outer::Box'; then
        same_as_perf objects.data 'main;outer::Box<int>::fill'
    else
        echo "built without a demangler: chains of C++ not compared"
    fi
fi

# Inlined functions: those of perf, in programs whose functions have the same names in symbols and debug information.
if "$PERFILE" export --to folded --per none --inline --mark inline pie.data 2>/dev/null | grep -q '_\[i\]'; then
    "$PERFILE" export --to folded --per none --inline pie.data 2>/dev/null |
        grep -o ';compare;spin[a-z_]*\(;spin[a-z_]*\)*' | cut -c2- | sort -u >our.inlined
    perf script --inline -F ip,sym -i pie.data 2>/dev/null |
        awk '$2 ~ /^spin/ && /inlined/ {inlined = $2 ";" inlined; next} $2 == "compare" && inlined {print $2 ";" inlined}
             {inlined = ""}' | sed 's/;$//' | sort -u >perf.inlined
    diff perf.inlined our.inlined || fail "inlined functions are not perf's"
    [ "$(wc -l <our.inlined)" -ge 1 ] || fail "no inlined functions"
    # Each address, as addr2line says.  Its lines of other statements at one address are as good.
    resolve=$PERFILE_BUILD/samples/resolve
    if [ -x "$resolve" ]; then
        "$resolve" --source pie.data >places
        awk '/^[^ ]/ {split($2, m, "+"); at = m[1] == "pie" ? m[2] : ""; next} at != "" {print at $0}' places | sort -u >our.places
        [ -s our.places ] || fail "no places in the source"
        for at in $(cut -d' ' -f1 our.places | sort -u); do
            addr2line -e pie -i -f "0x$at" | paste -d' ' - - | sed "s/ (discriminator [0-9]*)//; s/^/$at /"
        done | sort -u >their.places
        diff their.places our.places >places.diff || fail "places in the source: $(head -5 places.diff)"
    fi
else
    echo "libdw is not there: inlined functions not compared"
fi

# Stripped, with the debug file elsewhere; then without it: call frame information is left.
id=$(readelf -n pie | awk '/Build ID/ {print $3}')
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug pie "debug/.build-id/${id:0:2}/${id:2}.debug"
cp pie pie.full
strip -s pie
"$PERFILE" export --to folded --per none --debug-dir debug --inline pie.data 2>/dev/null | grep -q 'main;.*;recurse;.*compare;spin' ||
    "$PERFILE" export --to folded --per none --debug-dir debug pie.data 2>/dev/null | grep -q 'main;.*;recurse;.*compare' ||
    fail "stripped, with a debug file"
"$PERFILE" export --to folded --per none pie.data 2>/dev/null | grep -q '\[pie\];library_calls;' ||
    fail "stripped"
# Another build is not used.
gcc $flags -DOTHER -O1 -fPIE -pie -o pie work.c -L. -llibrary
"$PERFILE" export --to folded --per none pie.data >our.stacks 2>report
grep -q ';main;' our.stacks && fail "another build was used"
grep -q 'in code whose file was not found' report || fail "another build: $(cat report)"
exit $failed
