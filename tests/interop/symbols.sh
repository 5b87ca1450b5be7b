# Functions of programs that are compiled here and recorded, by sample_resolve: they are called what
# perf calls them, whatever kind of file they are in, and nothing is named from another build.
#
# Addresses in the kernel are compared with perf's where perf names them.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3 gcc strip objcopy readelf
resolve=$PERFILE_BUILD/samples/resolve
if ! [ -x "$resolve" ]; then
    echo "the samples were not built (PERFILE_BUILD_SAMPLES)"
    exit 77
fi
export HOME=$PWD
failed=0

fail() {
    echo "FAILED $*"
    failed=1
}

record() { # record OUT COMMAND…: with the files of the build ids that were hit listed
    perf record -q -N -F 1500 -e cpu-clock -o "$@" >record.log 2>&1
}

cat >spin.h <<'END'
/* About a tenth of a second. */
#define SPIN                                                                                       \
    volatile unsigned long n = 0;                                                                  \
    for (unsigned long i = 0; i < 40000000; i++)                                                   \
        n += i;                                                                                    \
    return (int)n
END
cat >main.c <<'END'
#include "spin.h"
__attribute__((noinline)) static int local_spin(void) { SPIN; }
__attribute__((noinline)) int global_spin(void) { SPIN; }
#ifdef WITH_LIBRARY
int library_spin(void);
#else
static int library_spin(void) { return 0; }
#endif
#ifdef WITH_DLOPEN
#include <dlfcn.h>
static int late(void)
{
    void *l = dlopen(WITH_DLOPEN, RTLD_NOW);
    int (*f)(void) = l ? (int (*)(void))dlsym(l, "late_spin") : 0;
    return f ? f() : 99;
}
#else
static int late(void) { return 0; }
#endif
#ifdef WITH_FORK
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int child_spin(void) { SPIN; }
static int forks(char **argv)
{
    int status = 0;
    if (fork() == 0) {
        int n = child_spin();
        if (argv[1])
            execl(argv[1], argv[1], (char *)0);
        _exit(n & 1);
    }
    return wait(&status);
}
#else
static int forks(char **argv) { return argv != 0; }
#endif
int main(int argc, char **argv)
{
    return (argc + local_spin() + global_spin() + library_spin() + late() + forks(argv)) == 7;
}
END
printf '#include "spin.h"\nint library_spin(void) { SPIN; }\n' >library.c
printf '#include "spin.h"\nstatic int inner_spin(void) { SPIN; }\nint late_spin(void) { return inner_spin() + 1; }\n' >late.c
cat >names.cc <<'END'
#include <string>
#include "spin.h"
namespace outer {
template <typename T> struct Box {
    __attribute__((noinline)) int spin(const std::string &, T) { SPIN; }
};
}
int main() { return outer::Box<std::string>().spin("", "") == 7; }
END

gcc -O1 -fpie -pie -o pie main.c
gcc -O1 -fno-pie -no-pie -o fixed main.c
gcc -O1 -shared -fPIC -o liblibrary.so library.c
gcc -O1 -fno-inline -shared -fPIC -o liblate.so late.c
gcc -O1 -DWITH_LIBRARY -DWITH_DLOPEN="\"$PWD/liblate.so\"" -o shared main.c -L. -llibrary -Wl,-rpath,"$PWD" -ldl
gcc -O1 -DWITH_FORK -o forking main.c
gcc -O1 -Wl,--build-id=none -o unnamed main.c

# same_as_perf CAPTURE NAME…: each sample has the function that perf says; the names are among them.
same_as_perf() {
    local capture=$1 name
    shift
    perf script -F ip,sym -i "$capture" 2>/dev/null | awk '{ip = $1; $1 = ""; print ip $0}' | sort >perf.names
    "$resolve" "$capture" | awk '{ip = $1; $1 = $2 = ""; sub(/^ +/, ""); print ip " " $0}' | sort >our.names
    # Where perf says [unknown] more may be known here.  In a PLT it may find _init, which has no size.
    grep -v -e '\[unknown\]' -e ' _init$' perf.names >perf.known
    join -v 1 <(awk '{ip = $1; $1 = ""; gsub(/ /, "_"); print ip "=" $0}' perf.known | sort -u) \
        <(awk '{ip = $1; $1 = ""; gsub(/ /, "_"); print ip "=" $0}' our.names | sort -u) >missing
    [ -s missing ] && fail "$capture: perf has other names: $(head -3 missing; grep -F "$(head -1 missing | cut -d= -f1)" our.names)"
    [ "$(wc -l <perf.names)" = "$(wc -l <our.names)" ] || fail "$capture: another number of samples"
    for name; do
        grep -q " $name\$" our.names || fail "$capture: nothing is called $name"
        grep -q " $name\$" perf.names || fail "$capture: perf calls nothing $name"
    done
}

# named CAPTURE NAME [OPTION…]: how many samples have the name.
named() {
    local capture=$1 name=$2
    shift 2
    "$resolve" --origin "$@" "$capture" | grep -c "$name"
}

record pie.data ./pie
if ! perf script -F ip,sym -i pie.data 2>/dev/null | grep -q local_spin; then
    echo "perf cannot record cpu-clock here"
    exit 77
fi
record fixed.data ./fixed
record shared.data ./shared
record forking.data ./forking ./fixed
same_as_perf pie.data local_spin global_spin
same_as_perf fixed.data local_spin global_spin
same_as_perf shared.data local_spin library_spin inner_spin
same_as_perf forking.data child_spin local_spin global_spin

# Code that no file has: [vdso].
cat >clock.c <<'END'
#include <time.h>
int main(void)
{
    struct timespec t;
    long sum = 0;
    for (int i = 0; i < 3000000; i++) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        sum += t.tv_nsec;
    }
    return sum == 3;
}
END
gcc -O1 -o clock clock.c
record clock.data ./clock
same_as_perf clock.data

if command -v g++ >/dev/null; then
    g++ -O1 -o names names.cc
    record names.data ./names
    if [ "$("$resolve" names.data | grep -c 'outer::Box')" -gt 0 ]; then
        same_as_perf names.data
    else
        echo "built without a demangler: names of C++ not compared"
        [ "$(named names.data _ZN5outer3Box)" -gt 5 ] || fail "C++: no mangled name either"
    fi
fi

# Stripped.  A debug file by build id, then by debuglink; without either the dynamic symbols only.
id=$(readelf -n pie | awk '/Build ID/ {print $3}')
objcopy --only-keep-debug pie pie.full
strip -s pie
record stripped.data ./pie
[ "$(named stripped.data local_spin)" = 0 ] || fail "stripped: a name from nowhere"
[ "$(named stripped.data 'pie+[0-9a-f]* ? (')" -gt 5 ] || fail "stripped: module and offset are missing"
mkdir -p "debug/.build-id/${id:0:2}"
cp pie.full "debug/.build-id/${id:0:2}/${id:2}.debug"
[ "$(named stripped.data 'local_spin (debug file)' --debug debug)" -gt 5 ] || fail "stripped: debug file by build id"
# The debug file alone, when the program is gone.
mv pie pie.gone
[ "$(named stripped.data 'local_spin (debug file)' --debug debug)" -gt 5 ] || fail "a debug file alone"
mv pie.gone pie
objcopy --add-gnu-debuglink=pie.full pie
record link.data ./pie
same_as_perf link.data local_spin global_spin
[ "$(named link.data 'local_spin (debug file)')" -gt 5 ] || fail "debug file by debuglink"
# A debug file of another build is none.
objcopy --only-keep-debug fixed "debug/.build-id/${id:0:2}/${id:2}.debug"
mv pie.full elsewhere
[ "$(named link.data local_spin --debug debug)" = 0 ] || fail "a debug file of another build was used"

# Another build at the same path, with and without build id.  (The kernel has functions of such names, too:
# _raw_spin_unlock_irqrestore.)
ours='\(local\|global\|changed\)_spin'
sed 's/local_spin/changed_spin/' main.c >changed.c
gcc -O1 -fno-pie -no-pie -o fixed changed.c
[ "$(named fixed.data "$ours")" = 0 ] || fail "another build was used"
[ "$(named fixed.data '? (the file is of another build)')" -gt 5 ] || fail "the reason is missing"
record unnamed.data ./unnamed
same_as_perf unnamed.data local_spin global_spin
[ "$(named unnamed.data 'local_spin (symtab, not verified)')" -gt 5 ] || fail "without build id: not marked"
# The old file keeps its inode, so that the new one has another.
mv unnamed unnamed.old
gcc -O1 -Wl,--build-id=none -o unnamed changed.c
[ "$(named unnamed.data "$ours")" = 0 ] || fail "another inode was used"
mkdir -p "symfs$PWD"
cp unnamed.old "symfs$PWD/unnamed"
[ "$(named unnamed.data 'local_spin (symtab, not verified)' --symfs symfs)" -gt 5 ] || fail "--symfs"

# Generated code, with a file that says what it is.
cat >jit.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
extern const char code[], code_end[];
#if defined(__x86_64__)
__asm__("code: mov $100000000, %eax\n1: dec %eax\njnz 1b\nret\ncode_end: nop\n");
#elif defined(__aarch64__)
__asm__("code: mov x0, #0x5f50000\n1: subs x0, x0, #1\nb.ne 1b\nret\ncode_end: nop\n");
#endif
int main(void)
{
    char *p = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char path[64];
    memcpy(p + 256, code, code_end - code);
    __builtin___clear_cache(p, p + 4096);
    snprintf(path, sizeof path, "maps/perf-%d.map", (int)getpid());
    FILE *f = fopen(path, "w");
    fprintf(f, "%lx %x LazyCompile:*spin at file.js:1\n", (unsigned long)(p + 256), (int)(code_end - code));
    fclose(f);
    ((void (*)(void))(p + 256))();
    return 0;
}
END
mkdir maps
if gcc -O1 -o jit jit.c 2>jit.log && record jit.data ./jit; then
    [ "$(named jit.data 'LazyCompile:\*spin at file.js:1 (perf map, not verified)' --maps maps)" -gt 5 ] ||
        fail "perf-PID.map"
    [ "$(named jit.data LazyCompile)" = 0 ] || fail "perf-PID.map: from a directory that was not given"
fi

# Many addresses of files that are there, of all kinds.
files=("$PWD/shared" "$PWD/liblate.so" "$(readlink -f "$(command -v perf)")" "$PERFILE_BUILD/samples/resolve")
while read -r file; do
    files+=("$file")
done < <(ldd "$(command -v perf)" | awk '$3 ~ "^/" {print $3}' | xargs -r readlink -f | sort -u | head -20)
python3 "$PERFILE_SOURCE/tests/interop/symbols_sweep.py" "$resolve" "${files[@]}" || fail "names at many addresses"
exit $failed
