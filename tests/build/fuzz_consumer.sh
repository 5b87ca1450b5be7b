#!/bin/bash
# libperfile-fuzz as it is installed is enough to fuzz a reader: the sample builds against it, found by CMake and by
# pkg-config, and as C++; it runs on the seeds that are installed; with clang it is a libFuzzer program; what AFL++ loads
# has the functions that it looks for.
set -eu
prefix=$PWD/prefix
read -ra flags <<<"$PERFILE_CFLAGS"
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror)

"$PERFILE_CMAKE" --install "$PERFILE_BUILD" --prefix "$prefix" >install.log
library=$(dirname "$(find "$prefix" -name libperfile-fuzz.a)")
seeds=$prefix/share/perfile/fuzz/seeds
sample=$(find "$prefix" -name fuzz_a_reader.c)
[ -s "$prefix/share/perfile/fuzz/perfile.dict" ]
[ "$(find "$seeds" -type f | wc -l)" -gt 20 ]

# CMake, with each library.
mkdir program
cp "$sample" program/
cat >program/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(program LANGUAGES C)
find_package(perfile REQUIRED)
add_executable(program fuzz_a_reader.c)
target_link_libraries(program PRIVATE perfile::fuzz perfile::${library})
END
for kind in perfile perfile_static; do
    "$PERFILE_CMAKE" -S program -B "cmake-$kind" -Dlibrary="$kind" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$PERFILE_CC" -DCMAKE_C_FLAGS="$PERFILE_CFLAGS" >"cmake-$kind.log"
    "$PERFILE_CMAKE" --build "cmake-$kind" >>"cmake-$kind.log"
    LD_LIBRARY_PATH=$library "cmake-$kind/program" "$seeds/cpu-clock.data" >ran
    grep -qx '2000 mutated captures' ran
done

# pkg-config.
export PKG_CONFIG_PATH=$library/pkgconfig
read -ra by_pkg_config <<<"$(pkg-config --cflags --libs perfile)"
"$PERFILE_CC" -std=c11 "${warnings[@]}" "${flags[@]}" -o by-hand "$sample" -L"$library" -lperfile-fuzz "${by_pkg_config[@]}"
LD_LIBRARY_PATH=$library ./by-hand "$seeds/pipe.data" "$seeds/big-endian.data" >ran
grep -qx '4000 mutated captures' ran

# The header: as C99, and as C++, each with the functions of both fuzzers.
printf '#define PERFILE_FUZZ_LIBFUZZER\n#define PERFILE_FUZZ_AFL\n#include <perfile-fuzz.h>\n' >both.c
"$PERFILE_CC" -std=c99 "${warnings[@]}" -I"$prefix/include" -fsyntax-only both.c
if command -v g++ >/dev/null; then
    g++ -std=c++17 "${warnings[@]}" -I"$prefix/include" -fsyntax-only -x c++ both.c
else
    echo "g++ was not found: the header was not tried as C++"
fi

# AFL++ loads a shared library.
printf '#define PERFILE_FUZZ_AFL\n#include <perfile-fuzz.h>\n' >afl.c
cat >host.c <<'END'
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* Does what AFL++ does with a mutator: a mutation, then the repair of its result, 100 times. */
int main(int argc, char **argv)
{
    static uint8_t in[1 << 16];
    void *library = dlopen("./afl.so", RTLD_NOW), *state;
    void *(*init)(void *, unsigned);
    size_t (*fuzz)(void *, uint8_t *, size_t, uint8_t **, uint8_t *, size_t, size_t);
    size_t (*post)(void *, uint8_t *, size_t, uint8_t **);
    void (*deinit)(void *);
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!library || !f)
        return 2;
    *(void **)&init = dlsym(library, "afl_custom_init");
    *(void **)&fuzz = dlsym(library, "afl_custom_fuzz");
    *(void **)&post = dlsym(library, "afl_custom_post_process");
    *(void **)&deinit = dlsym(library, "afl_custom_deinit");
    if (!init || !fuzz || !post || !deinit)
        return 3;
    size_t size = fread(in, 1, sizeof in, f), n = 0;
    fclose(f);
    state = init(NULL, 7);
    for (int i = 0; i < 100; i++) {
        uint8_t *mutated, *out;
        size_t k = fuzz(state, in, size, &mutated, in, size, sizeof in);
        k = post(state, mutated, k, &out);
        n += k > 0 && memcmp(out, in, k < size ? k : size) != 0;
    }
    deinit(state);
    printf("%zu\n", n);
    return n < 80;
}
END
"$PERFILE_CC" -std=c11 "${flags[@]}" -shared -fPIC -o afl.so afl.c -L"$library" -lperfile-fuzz "${by_pkg_config[@]}" -I"$prefix/include"
"$PERFILE_CC" -std=c11 "${flags[@]}" -o host host.c -ldl
LD_LIBRARY_PATH=$library ./host "$seeds/cpu-clock.data" >n

# libFuzzer.
printf 'int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n);\nint LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n)\n{\n    return p == 0 && n;\n}\n' >trial.c
if ! command -v clang >/dev/null || ! clang -fsanitize=fuzzer -o trial trial.c 2>/dev/null; then
    echo "not tried: libFuzzer, which is not here"
    exit 0
fi
clang -g -fsanitize=fuzzer,address -DWITH_LIBFUZZER "$sample" -o with-libfuzzer -L"$library" -lperfile-fuzz "${by_pkg_config[@]}"
LD_LIBRARY_PATH=$library ./with-libfuzzer -runs=20000 -seed=1 -dict="$prefix/share/perfile/fuzz/perfile.dict" "$seeds" >log 2>&1 ||
    { tail log; exit 1; }
grep -q 'Custom' log # the names of its mutations are in the lines of libFuzzer

# A comparison less, and it finds the crash.
sed '/if (at > size || left > size - at)/,+1d' "$sample" >wrong.c
! cmp -s wrong.c "$sample"
clang -g -fsanitize=fuzzer,address -DWITH_LIBFUZZER wrong.c -o wrong -L"$library" -lperfile-fuzz "${by_pkg_config[@]}"
if env -u ASAN_OPTIONS -u UBSAN_OPTIONS -u LSAN_OPTIONS LD_LIBRARY_PATH="$library" ./wrong -runs=200000 -seed=1 "$seeds" >log 2>&1; then
    echo "a reader without a comparison was not found to be wrong"
    exit 1
fi
grep -q 'AddressSanitizer' log
