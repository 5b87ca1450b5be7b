#!/bin/bash
# The shared library exports what the public headers declare, no more and no less; in the static
# library everything with external linkage carries a prefix.
set -eu
set -o pipefail
. "$PERFILE_SOURCE/tests/build/lib/public-api.bash"

# Names of the implementation (sanitizers, coverage) begin with two underscores.
exported() {
    nm -D --defined-only "$1" | awk 'NF == 3 && $2 != "A" && $3 !~ /^(__|_init$|_fini$|mangle_path$)/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}

# The reader of headers, on a header with one of each kind.
mkdir -p include/perfile
cat >include/perfile/kinds.h <<'END'
#if defined(__GNUC__)
#define PERFILE_API __attribute__((visibility("default")))
#else
#define PERFILE_API
#endif
typedef int (*perfile_kind_call)(int);
PERFILE_API int perfile_kind_function(int (*call)(int), char **p);
PERFILE_API __attribute__((format(printf, 2, 3))) const char *
perfile_kind_pointer(int a, const char *text, ...)
    __attribute__((warn_unused_result));
PERFILE_API extern const char *const perfile_kind_data[3];
static inline int perfile_kind_inline(void) { return 0; }
#if 0
PERFILE_API int perfile_kind_absent(void);
#endif
END
printf 'perfile_kind_data\nperfile_kind_function\nperfile_kind_pointer\n' >wanted
declared_api include >found
diff -u wanted found

# The comparison, on a library with one name too many.
cat >stray.c <<'END'
int perfile_kind_function(void);
int perfile_kind_function(void) { return 0; }
int pf_stray(void);
int pf_stray(void) { return 0; }
END
"$PERFILE_CC" -shared -fPIC -o stray.so stray.c
exported stray.so >found
printf 'perfile_kind_function\npf_stray\n' | diff -u - found

declared_api "$PERFILE_BUILD/include" >declared
exported "$PERFILE_BUILD/libperfile.so" >exported
[ -s declared ] || { echo "found no declaration"; exit 1; }
diff -u declared exported || {
    echo "- is declared and not exported, + is exported and not declared"
    exit 1
}

# Each is a promise: what a type number, a name, a row or a summary can answer needs no function of its own.
n=$(wc -l <exported)
[ "$n" -le 150 ] || { echo "$n exported functions; the interface has 150 at most"; exit 1; }

nm -g --defined-only "$PERFILE_BUILD/libperfile.a" |
    awk 'NF == 3 && $3 !~ /^(perfile_|pf_|__)/ { print "without prefix: " $3; bad = 1 } END { exit bad }'

# Programs ask for the library by a name that changes with every version that may break them: before 1.0, a minor one.
version=$(sed -nE 's/^#define PERFILE_VERSION_(MAJOR|MINOR) +([0-9]+)$/\2/p' "$PERFILE_SOURCE/include/perfile/version.h" | paste -sd.)
soname=$(readelf -d "$PERFILE_BUILD/libperfile.so" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')
case $version in
0.*) wanted=libperfile.so.$version ;;
*) wanted=libperfile.so.${version%%.*} ;;
esac
[ "$soname" = "$wanted" ] || { echo "soname $soname, not $wanted"; exit 1; }
