/* perf-PID.map: what a just-in-time compiler says it put into the memory of its process.
 *
 * The file says neither whose process nor when.  In the default directory, to which everybody may
 * write, it counts only if it is no link, belongs to root or to the user who runs this, cannot be
 * written by others, and if the capture is not of another host. */
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "symbol/state.h"
#include "symbol/text.h"

/* As the kernel, or simpleperf, names memory that no file stands for. */
bool pf_is_anonymous(const char *name)
{
    static const char *const prefixes[] = {
        "//anon", "[anon", "/dev/zero", "/memfd:", "/anon_hugepage", "[heap]", "[stack", "/SYSV"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return !name[0];
}

static bool may_use_default(const perfile_symbols *s)
{
    struct utsname here;
    const char *host = perfile_session_fact(s->session, PERFILE_FACT_HOSTNAME);
    if (s->flags & PERFILE_SYMBOLS_GIVEN_ONLY)
        return false;
    return !host || (uname(&here) == 0 && strcmp(here.nodename, host) == 0);
}

static perfile_status read_map(perfile_symbols *s, pf_symbol_object *o, const pf_symfile *f)
{
    pf_piece p;
    perfile_status st = pf_symfile_read_all(f, &s->budget, &p);
    if (st != PERFILE_OK)
        return st;
    st = pf_perf_map_add(&o->own, pf_piece_bytes(&p));
    pf_piece_free(&p, &s->budget);
    return st == PERFILE_OK ? pf_symbol_object_complete(o, PF_RULES_PERF_MAP) : st;
}

static perfile_status load_map(perfile_symbols *s, pf_symbol_object *o)
{
    char path[PF_PATH_SIZE];
    pf_symfile f;
    const char *dir = s->perf_map_dir;
    bool distrusted = false;
    perfile_status st = PERFILE_OK;
    if ((!dir && !may_use_default(s)) ||
        !pf_path(path, "%s/perf-%" PRIu32 ".map", dir ? dir : "/tmp", o->key.pid) ||
        !(dir ? pf_symfile_open(&f, path) : pf_symfile_open_own(&f, path, &distrusted))) {
        o->reason = distrusted ? PERFILE_SYMBOL_DISTRUSTED : o->reason;
        return st;
    }
    st = read_map(s, o, &f);
    o->file = st == PERFILE_OK ? pf_symbols_keep(s, path) : NULL;
    o->reason = PERFILE_SYMBOL_NO_SYMBOLS;
    if (st == PERFILE_OK && !o->file)
        st = pf_symbol_no_memory(&s->budget);
    pf_symfile_close(&f);
    return st;
}

perfile_status pf_load_perf_map(perfile_symbols *s, pf_symbol_object *o)
{
    uint32_t at = pf_index_get(&s->map_index, o->key.pid);
    o->how = PF_BY_ADDRESS;
    if (at == PF_INDEX_NONE) {
        /* The object itself becomes the one that has the file, at the end of the list. */
        perfile_status st = load_map(s, o);
        if (st == PERFILE_OK && !pf_index_put(&s->map_index, o->key.pid, (uint32_t)s->n_objects))
            st = pf_symbol_no_memory(&s->budget);
        return st;
    }
    if (at < s->n_objects) {
        const pf_symbol_object *owner = s->objects[at];
        o->table = owner->table;
        o->file = owner->file;
        o->reason = owner->reason;
    }
    return PERFILE_OK;
}
