/* perf-PID.map: what a just-in-time compiler says it put into the memory of its process.
 *
 * The file does not say of which process it is, nor of which time.  It is looked for in the
 * directory of the options; without one below --symfs, in /tmp of the process itself if that runs
 * in a container of this machine, and in /tmp.  To /tmp everybody may write: there it counts only
 * if it is no link, belongs to root or to the user who runs this (in a container also to the user
 * of the process), cannot be written by others, and if the capture is not of another host. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
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

/* A search for the map of a process. */
typedef struct search {
    perfile_symbols *s;
    uint32_t pid;
    bool is_here, lives;     /* of a process of this machine; it still runs */
    pf_process process;      /* if it does */
    char path[PF_PATH_SIZE]; /* the candidate */
    pf_symfile file;
    bool refused; /* some candidate was */
} search;

/* Says why a map does not count. */
static void refuse(search *x, const char *why)
{
    perfile_error e;
    const perfile_symbols *s = x->s;
    x->refused = true;
    if (!s->notice)
        return;
    (void)pf_fail(&e, PERFILE_E_UNSUPPORTED, "symbols.perf_map", "%s is not read: %s", x->path,
                  why);
    s->notice(s->notice_user, &e);
}

/* A map in a folder to which others may write.  `owner`: a user who may have written it, too. */
static bool open_distrusted(search *x, size_t root, uint32_t owner)
{
    const char *refused;
    const bool found = pf_symfile_open_own(&x->file, x->path, root, owner, &refused);
    if (refused)
        refuse(x, refused);
    return found;
}

/* In the directory of the options. */
static bool find_given(search *x)
{
    return pf_path(x->path, "%s/perf-%" PRIu32 ".map", x->s->perf_map_dir, x->pid) &&
           pf_symfile_open(&x->file, x->path);
}

/* Below --symfs, by the number that the process has there. */
static bool find_in_symfs(search *x)
{
    struct stat st;
    const char *symfs = x->s->symfs;
    const bool is_root = x->lives && stat(symfs, &st) == 0 && st.st_dev == x->process.dev &&
                         st.st_ino == x->process.ino;
    return symfs[0] &&
           pf_path(x->path, "%s/tmp/perf-%" PRIu32 ".map", symfs,
                   is_root ? x->process.inner : x->pid) &&
           pf_symfile_open_in(&x->file, x->path, strlen(symfs));
}

/* In /tmp as the process sees it. */
static bool find_in_process(search *x, uint64_t addr)
{
    const pf_process *p = &x->process;
    return x->lives && p->is_apart && pf_process_maps(x->pid, addr) &&
           pf_path(x->path, "%s/tmp/perf-%" PRIu32 ".map", p->root, p->inner) &&
           open_distrusted(x, strlen(p->root), p->owner);
}

static bool find_in_tmp(search *x)
{
    return x->is_here && pf_path(x->path, "/tmp/perf-%" PRIu32 ".map", x->pid) &&
           open_distrusted(x, 0, 0);
}

static perfile_status load_map(perfile_symbols *s, pf_symbol_object *o, uint64_t addr)
{
    search x = {.s = s, .pid = o->key.pid, .is_here = pf_process_may_be_here(s)};
    perfile_status st = PERFILE_OK;
    x.lives = x.is_here && pf_process_find(x.pid, &x.process);
    const bool found = s->perf_map_dir
                           ? find_given(&x)
                           : find_in_symfs(&x) || find_in_process(&x, addr) || find_in_tmp(&x);
    if (!found) {
        o->reason = x.refused ? PERFILE_SYMBOL_DISTRUSTED : o->reason;
        return st;
    }
    st = read_map(s, o, &x.file);
    o->file = st == PERFILE_OK ? pf_symbols_keep(s, x.path) : NULL;
    o->reason = PERFILE_SYMBOL_NO_SYMBOLS;
    if (st == PERFILE_OK && !o->file)
        st = pf_symbol_no_memory(&s->budget);
    pf_symfile_close(&x.file);
    return st;
}

perfile_status pf_load_perf_map(perfile_symbols *s, pf_symbol_object *o, uint64_t addr)
{
    uint32_t at = pf_index_get(&s->map_index, o->key.pid);
    o->how = PF_BY_ADDRESS;
    if (at == PF_INDEX_NONE) {
        /* The object itself becomes the one that has the file, at the end of the list. */
        perfile_status st = load_map(s, o, addr);
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
