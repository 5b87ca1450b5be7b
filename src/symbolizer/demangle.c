/* Demangling with libiberty, which has C++ and Rust in one library.  perf uses it, too, so names
 * are the same.
 *
 * Mangled names come from files.  A short one can expand to a text of any length (each substitution
 * may contain earlier ones twice) and take any time before it prints a byte (packs of C++, binders
 * of Rust).  The functions with a callback do not collect or allocate anything, so they can be
 * interrupted at any point: when the text is too long, or when the time is over. */
#include <setjmp.h>
#include <string.h>

#include "symbolizer/symbolizer.h"

#ifdef PF_HAVE_DEMANGLER
#include <demangle.h>

typedef struct text {
    const char *name;
    char *out;
    size_t len;
    bool is_complete;
    jmp_buf too_long;
} text;

static void collect(const char *part, size_t n, void *user)
{
    text *t = user;
    if (n >= PF_DEMANGLED_SIZE - t->len)
        longjmp(t->too_long, 1);
    if (n) /* otherwise `part` may be NULL */
        memcpy(t->out + t->len, part, n);
    t->len += n;
}

static void try_languages(void *user)
{
    text *t = user;
    if (setjmp(t->too_long))
        return;
    t->is_complete = rust_demangle_callback(t->name, DMGL_NO_OPTS, collect, t) && t->len;
    if (t->is_complete)
        return;
    t->len = 0;
    t->is_complete = cplus_demangle_v3_callback(t->name, DMGL_NO_OPTS, collect, t) && t->len;
}

pf_demangled pf_demangle_name(const char *name, uint64_t ns, char *out)
{
    /* The length limits the stack, which needs 200 bytes for each byte of the name. */
    if (strnlen(name, PF_MANGLED_SIZE) == PF_MANGLED_SIZE)
        return PF_NOT_MANGLED;
    text t = {.name = name, .out = out};
    if (!pf_clock_within(ns, try_languages, &t))
        return PF_NOT_IN_TIME;
    if (!t.is_complete || memchr(out, 0, t.len))
        return PF_NOT_MANGLED;
    out[t.len] = 0;
    return PF_DEMANGLED;
}

#else

pf_demangled pf_demangle_name(const char *name, uint64_t ns, char *out)
{
    (void)name, (void)ns, (void)out;
    return PF_NOT_MANGLED;
}

#endif
