/* Demangling with libiberty, which has C++ and Rust in one library; perf uses it, too, so that
 * names are the same.
 *
 * Mangled names come from files, and a short one can stand for a text of any length: each
 * substitution may hold the ones before it twice.  The functions with a callback print without
 * collecting, so that the callback leaves them by longjmp() as soon as the text is too long. */
#include "symbol/demangle.h"

#ifdef PF_HAVE_DEMANGLER
#include <demangle.h>
#include <setjmp.h>
#include <string.h>

enum { LONGEST = 2048 }; /* of mangled names, bytes: bounds the stack, 200 bytes for each */

typedef struct text {
    char *out;
    size_t len;
    jmp_buf too_long;
} text;

static void collect(const char *part, size_t n, void *user)
{
    text *t = user;
    if (n >= PF_DEMANGLED_SIZE - t->len)
        longjmp(t->too_long, 1);
    if (n) /* `part` may be NULL then */
        memcpy(t->out + t->len, part, n);
    t->len += n;
}

/* False if `name` is not of that language.  Leaves by longjmp() if the text is too long. */
static bool try_rust(const char *name, text *t)
{
    t->len = 0;
    return rust_demangle_callback(name, DMGL_NO_OPTS, collect, t) && t->len;
}

static bool try_cxx(const char *name, text *t)
{
    t->len = 0;
    return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, collect, t) && t->len;
}

bool pf_can_demangle(void)
{
    return true;
}

bool pf_demangle(const char *name, char *out)
{
    /* The prefixes of C++ and old Rust, of new Rust, and of gcc's constructors of files. */
    if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R' && name[1] != 'G') ||
        strnlen(name, LONGEST) == LONGEST)
        return false;
    text t;
    t.out = out;
    if (setjmp(t.too_long))
        return false;
    if (!try_rust(name, &t) && !try_cxx(name, &t))
        return false;
    out[t.len] = 0;
    return true;
}

#else

bool pf_can_demangle(void)
{
    return false;
}

bool pf_demangle(const char *name, char *out)
{
    (void)name, (void)out;
    return false;
}

#endif
