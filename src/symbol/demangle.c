/* Demangling of C++ and Rust names (see demangle.h). */
#include "symbol/helper.h"

#include <string.h>

bool pf_can_demangle(void)
{
#ifdef PF_HAVE_DEMANGLER
    return pf_helper_is_there();
#else
    return false;
#endif
}

bool pf_is_mangled(const char *name, size_t len)
{
    /* The prefixes of C++ and old Rust, of new Rust, and of gcc's constructors of files. */
    return len > 2 && len < PF_MANGLED_SIZE && name[0] == '_' &&
           (name[1] == 'Z' || name[1] == 'R' || name[1] == 'G');
}

/* The texts of an answer, one for each name that was asked about; false if it is not one. */
static bool take(const pf_helper *h, const pf_answer *a, const char **texts, size_t n)
{
    const uint8_t *at = h->answer, *end = at + a->size;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        if (!nul || nul - at >= PF_DEMANGLED_SIZE)
            return false;
        texts[i] = nul == at ? NULL : (const char *)at;
        at = nul + 1;
    }
    return a->n == n && at == end;
}

void pf_demangle(pf_helper *h, const perfile_bytes *names, size_t n, const char **shown)
{
    const char *texts[PF_DEMANGLE_MOST] = {0};
    pf_question q = {.what = PF_ASK_DEMANGLE, .allowed = UINT64_MAX};
    pf_answer a;
    size_t asked = 0;
    if (h)
        for (size_t i = 0; i < n; i++)
            if (pf_is_mangled((const char *)names[i].ptr, names[i].len) &&
                pf_helper_say(h, &q, names[i]))
                q.n++;
    if (q.n) {
        pf_helper_allow(h, (uint64_t)q.size * PF_DEMANGLE_NS);
        if (pf_helper_ask(h, &q, -1, &a) && take(h, &a, texts, q.n)) {
            h->too_costly += a.refused;
        } else {
            h->too_costly += h->is_missing ? 0 : q.n;
            memset(texts, 0, sizeof texts);
        }
    }
    for (size_t i = 0; i < n; i++)
        shown[i] = h && pf_is_mangled((const char *)names[i].ptr, names[i].len) && asked < q.n
                       ? texts[asked++]
                       : NULL;
}

const char *pf_demangle_one(pf_helper *h, const char *name)
{
    const char *shown;
    pf_demangle(h, &(perfile_bytes){(const uint8_t *)name, strlen(name)}, 1, &shown);
    return shown;
}
