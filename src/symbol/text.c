/* Parsers of kallsyms and perf-PID.map. */
#include "symbol/table.h"

#include <string.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "perfile/symbol.h"
#include "base/error.h"
#include "symbol/state.h"

/* The next line without its end; false behind the last.  One with a NUL in it counts as empty: no
 * name has one. */
static bool next_line(pf_cursor *c, pf_cursor *line)
{
    size_t left = pf_cur_left(c);
    if (!left)
        return false;
    const uint8_t *end = memchr(c->pos, '\n', left);
    *line = pf_cur(pf_cur_span(c, end ? (uint64_t)(end - c->pos) : left), false);
    if (end)
        pf_cur_u8(c);
    if (pf_cur_left(line) && line->end[-1] == '\r')
        line->end--;
    if (pf_cur_left(line) && memchr(line->pos, 0, pf_cur_left(line)))
        line->pos = line->end;
    return true;
}

static void skip_blanks(pf_cursor *c)
{
    while (pf_cur_left(c) && (*c->pos == ' ' || *c->pos == '\t'))
        c->pos++;
}

static int digit(uint8_t b)
{
    if (b >= '0' && b <= '9')
        return b - '0';
    b |= 0x20;
    return b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
}

/* A hexadecimal number, with 0x in front or without, and the blanks behind it. */
static bool hex_number(pf_cursor *c, uint64_t *number)
{
    if (pf_cur_left(c) > 2 && c->pos[0] == '0' && (c->pos[1] | 0x20) == 'x')
        c->pos += 2;
    const uint8_t *start = c->pos;
    uint64_t v = 0;
    for (; pf_cur_left(c) && digit(*c->pos) >= 0; c->pos++) {
        if (v >> 60)
            return false;
        v = v << 4 | (uint64_t)digit(*c->pos);
    }
    bool ok = c->pos != start && pf_cur_left(c) && (*c->pos == ' ' || *c->pos == '\t');
    skip_blanks(c);
    *number = v;
    return ok;
}

/* Bytes up to the next blank, and the blanks behind them. */
static perfile_bytes word(pf_cursor *c)
{
    size_t n = 0;
    while (n < pf_cur_left(c) && c->pos[n] != ' ' && c->pos[n] != '\t')
        n++;
    perfile_bytes text = pf_cur_span(c, n);
    skip_blanks(c);
    return text;
}

/* Text, weak, data and bss: t, w, d, b; capital letters are global. */
static bool type_counts(uint8_t type)
{
    type &= 0xdf;
    return type == 'T' || type == 'W' || type == 'D' || type == 'B';
}

/* Modules come in one piece each: their names are stored once for each piece. */
typedef struct module {
    perfile_bytes text;
    uint32_t at; /* in the names of the table; 0: not stored */
} module;

static perfile_status set_module(pf_symtab *t, module *last, perfile_bytes text, pf_sym *sym)
{
    perfile_status st = PERFILE_OK;
    if (!last->at || last->text.len != text.len ||
        memcmp(last->text.ptr, text.ptr, text.len) != 0) {
        st = pf_symtab_text(t, text, &last->at);
        last->text = text;
    }
    sym->module = last->at;
    return st;
}

static perfile_status add_kernel_symbol(pf_symtab *t, pf_cursor *line, module *last)
{
    uint64_t addr;
    if (!hex_number(line, &addr))
        return PERFILE_OK;
    perfile_bytes type = word(line), name = word(line), in = word(line);
    /* Marks of code and data on ARM begin with a dollar. */
    if (type.len != 1 || !type_counts(type.ptr[0]) || !name.len || name.ptr[0] == '$')
        return PERFILE_OK;
    pf_sym sym = {
        .start = addr, .end = UINT64_MAX, .open_end = true, .origin = PERFILE_SYMBOL_KALLSYMS};
    sym.binding = (type.ptr[0] | 0x20) == 'w' ? PF_BIND_WEAK
                  : type.ptr[0] & 0x20        ? PF_BIND_LOCAL
                                              : PF_BIND_GLOBAL;
    perfile_status st = pf_symtab_text(t, name, &sym.name);
    if (st == PERFILE_OK && in.len > 2 && in.ptr[0] == '[' && in.ptr[in.len - 1] == ']')
        st = set_module(t, last, (perfile_bytes){in.ptr + 1, in.len - 2}, &sym);
    return st == PERFILE_OK ? pf_symtab_add(t, sym) : st;
}

perfile_status pf_kallsyms_add(pf_symtab *t, perfile_bytes text)
{
    pf_cursor c = pf_cur(text, false), line;
    module last = {{NULL, 0}, 0};
    perfile_status st = PERFILE_OK;
    size_t before = t->n;
    bool known = false;
    while (st == PERFILE_OK && next_line(&c, &line)) {
        st = add_kernel_symbol(t, &line, &last);
        known = known || (t->n > before && t->syms[t->n - 1].start);
    }
    if (!known)
        t->n = before;
    return st;
}

perfile_status pf_perf_map_add(pf_symtab *t, perfile_bytes text)
{
    pf_cursor c = pf_cur(text, false), line;
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && next_line(&c, &line)) {
        pf_sym sym = {.origin = PERFILE_SYMBOL_PERF_MAP, .binding = PF_BIND_GLOBAL};
        uint64_t size;
        if (!hex_number(&line, &sym.start) || !hex_number(&line, &size) || !size ||
            pf_add_u64(sym.start, size, &sym.end) || !pf_cur_left(&line))
            continue;
        st = pf_symtab_text(t, (perfile_bytes){line.pos, pf_cur_left(&line)}, &sym.name);
        if (st == PERFILE_OK)
            st = pf_symtab_add(t, sym);
    }
    return st;
}

/* perf-PID.map: what a just-in-time compiler says it put into the memory of its process.
 *
 * The file does not say of which process it is, nor of which time.  It is looked for in the
 * directory of the options; without one below --symfs, in /tmp of the process itself if that runs
 * in a container of this machine, and in /tmp.  To /tmp everybody may write: there it counts only
 * if it is no link, belongs to root or to the user who runs this (in a container also to the user
 * of the process), cannot be written by others, and if the capture is not of another host. */

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
