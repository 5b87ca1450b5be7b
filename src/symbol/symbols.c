/* Opening and closing of perfile_symbols: options, directories, texts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/options.h"
#include "symbol/helper.h"
#include "symbol/state.h"

uint32_t perfile_symbols_built_in(void)
{
    return (pf_can_demangle() ? PERFILE_SYMBOLS_DEMANGLE : 0U) |
           (pf_can_read_dwarf() ? PERFILE_SYMBOLS_SOURCE : 0U);
}

bool pf_path(char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, PF_PATH_SIZE, format, args);
    va_end(args);
    return n > 0 && n < PF_PATH_SIZE;
}

bool pf_build_id_path(const uint8_t *id, uint8_t size, char *out, size_t out_size)
{
    static const char digits[] = "0123456789abcdef";
    if (size < 2 || out_size < (size_t)size * 2 + 2)
        return false;
    for (unsigned i = 0; i < size; i++) {
        *out++ = digits[id[i] >> 4];
        *out++ = digits[id[i] & 15];
        if (i == 0)
            *out++ = '/';
    }
    *out = 0;
    return true;
}

bool pf_same_build_id(const uint8_t *a, uint8_t na, const uint8_t *b, uint8_t nb)
{
    uint8_t n = na < nb ? na : nb;
    for (uint8_t i = n; i < na; i++)
        if (a[i])
            return false;
    for (uint8_t i = n; i < nb; i++)
        if (b[i])
            return false;
    return n && memcmp(a, b, n) == 0;
}

const char *pf_symbols_keep(perfile_symbols *s, const char *text)
{
    return pf_texts_keep(&s->texts, (perfile_bytes){(const uint8_t *)text, strlen(text)});
}

static perfile_status add_debug_dir(perfile_symbols *s, const char *path, size_t root)
{
    const char *kept = pf_symbols_keep(s, path);
    if (!kept)
        return pf_symbol_no_memory(&s->budget);
    s->debug_dirs[s->n_debug_dirs++] = (pf_debug_dir){kept, root};
    return PERFILE_OK;
}

/* The directories of the options, then the default ones. */
static perfile_status set_debug_dirs(perfile_symbols *s, const perfile_symbols_options *o)
{
    enum { DEFAULTS = 2 };
    char path[PF_PATH_SIZE];
    const char *home = getenv("HOME");
    perfile_status st = PERFILE_OK;
    s->debug_dirs_cap = (size_t)o->n_debug_dirs + DEFAULTS;
    s->debug_dirs = pf_budget_alloc(&s->budget, s->debug_dirs_cap, sizeof *s->debug_dirs);
    if (!s->debug_dirs)
        return pf_symbol_no_memory(&s->budget);
    for (uint32_t i = 0; st == PERFILE_OK && i < o->n_debug_dirs; i++)
        st = add_debug_dir(s, o->debug_dirs[i], strlen(o->debug_dirs[i]));
    if (st != PERFILE_OK || (s->flags & PERFILE_SYMBOLS_GIVEN_ONLY))
        return st;
    if (home && home[0] && pf_path(path, "%s/.debug", home))
        st = add_debug_dir(s, path, strlen(path));
    if (st == PERFILE_OK && pf_path(path, "%s/usr/lib/debug", s->symfs))
        st = add_debug_dir(s, path, s->symfs[0] ? strlen(s->symfs) : strlen(path));
    return st;
}

static perfile_status set_options(perfile_symbols *s, const perfile_symbols_options *o,
                                  perfile_error *err)
{
    if (o->n_debug_dirs && !o->debug_dirs)
        return pf_fail(err, PERFILE_E_USAGE, "symbols.debug_dirs", "%u directories, but no list",
                       (unsigned)o->n_debug_dirs);
    s->flags = o->flags;
    s->notice = o->notice;
    s->notice_user = o->notice_user;
    s->unnamed = o->unnamed;
    s->unnamed_user = o->unnamed_user;
    s->symfs = pf_symbols_keep(s, o->symfs ? o->symfs : "");
    if (s->symfs && o->perf_map_dir)
        s->perf_map_dir = pf_symbols_keep(s, o->perf_map_dir);
    perfile_status st = s->symfs && (s->perf_map_dir || !o->perf_map_dir)
                            ? set_debug_dirs(s, o)
                            : pf_symbol_no_memory(&s->budget);
    if (st == PERFILE_E_LIMIT)
        return pf_fail(err, st, "symbol_bytes", "the options do not fit");
    if (st != PERFILE_OK)
        return pf_fail_nomem(err, "symbols");
    if (o->kallsyms)
        return pf_kernel_given(s, o->kallsyms, err);
    return pf_kernel_captured(s) == PERFILE_OK ? PERFILE_OK : pf_fail_nomem(err, "symbols");
}

uint64_t perfile_symbols_too_costly(const perfile_symbols *s)
{
    return s->helper.too_costly;
}

perfile_status perfile_symbols_open(const perfile_session *session,
                                    const perfile_symbols_options *options,
                                    perfile_symbols **symbols, perfile_error *err)
{
    perfile_symbols_options o;
    perfile_limits limits;
    perfile_status st = pf_options_copy(&o, options, "symbols", err);
    if (st == PERFILE_OK)
        st = pf_limits_copy(&limits, o.limits, err);
    if (st != PERFILE_OK)
        return st;
    perfile_symbols *s = pf_alloc(1, sizeof *s);
    if (!s)
        return pf_fail_nomem(err, "symbols");
    s->session = session;
    s->budget.limit = limits.symbol_bytes;
    s->texts.seed = s->object_index.seed = s->file_index.seed = s->map_index.seed =
        s->captured_index.seed = pf_index_seed(s);
    s->texts.budget = s->object_index.budget = s->file_index.budget = s->map_index.budget =
        s->captured_index.budget = s->kernel.table.budget = &s->budget;
    pf_helper_init(&s->helper, &s->budget);
    s->kernel.table.helper = &s->helper;
    s->generation = UINT64_MAX;
    st = set_options(s, &o, err);
    if (st == PERFILE_OK)
        *symbols = s;
    else
        perfile_symbols_close(s);
    return st;
}

/* Reports an object with unnamed addresses to the callback of the options. */
static void tell_unnamed(const perfile_symbols *s, const pf_symbol_object *o)
{
    perfile_unnamed what = {.file = o->dso, .addresses = o->unnamed, .reason = o->reason};
    if (!s->unnamed || !o->unnamed)
        return;
    if (o->table)
        what.reason = PERFILE_SYMBOL_NO_SYMBOL_HERE;
    if (o->key.is_kernel)
        what.kind = PERFILE_UNNAMED_KERNEL;
    else if (o->key.is_anonymous)
        what.kind = PERFILE_UNNAMED_GENERATED;
    s->unnamed(s->unnamed_user, &what);
}

void perfile_symbols_close(perfile_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_objects; i++)
        tell_unnamed(s, s->objects[i]);
    for (size_t i = 0; i < s->n_objects; i++) {
        pf_symbol_object_drop(s, s->objects[i]);
        pf_source_drop(s, s->objects[i]);
        pf_budget_free(&s->budget, s->objects[i], 1, sizeof *s->objects[i]);
    }
    pf_source_free(s);
    for (size_t i = 0; i < s->n_captured; i++)
        pf_symtab_free(&s->captured[i].table);
    pf_budget_free(&s->budget, s->captured, s->captured_cap, sizeof *s->captured);
    pf_budget_free(&s->budget, s->objects, s->objects_cap, sizeof *s->objects);
    pf_budget_free(&s->budget, s->debug_dirs, s->debug_dirs_cap, sizeof *s->debug_dirs);
    pf_symtab_free(&s->kernel.table);
    pf_index_free(&s->object_index);
    pf_index_free(&s->file_index);
    pf_index_free(&s->map_index);
    pf_index_free(&s->captured_index);
    pf_texts_free(&s->texts);
    pf_helper_free(&s->helper);
    pf_free(s);
}
