/* Tables of symbols.
 *
 * These are the rules of perf (tools/perf/util/symbol.c, 6.1) for the symbols of one file:
 * - A symbol without size ends at the next symbol; the last one at the end of the following page.
 *   Unlike in perf, it also ends at the end of its section, so that _init does not name the PLT
 *   that follows it.  In kallsyms the last symbol of the kernel or of a module ends at the end of a
 *   page, not at the next module.
 * - Of symbols that begin at the same address one stays: the one with a size; else the one that is
 *   not weak; else the global one; else the one with fewer leading underscores; else the one with
 *   the longer name; else the first, unless it is the alias SyS_… or compat_SyS_… of a system call.
 *   Names are compared as they are shown, demangled.
 * - In a perf-PID.map, which a compiler appends to, the last one stays.
 *
 * Symbols may still overlap.  perf then finds one or another, depending on the shape of its tree.
 * Here it is the one that begins last, which is the innermost of nested ones.  pf_symtab_index()
 * makes segments with one answer each, so that a query is one binary search, however deep symbols
 * are nested. */
#include "base/cursor.h"
#include "base/error.h"
#include "perfile/symbol.h"
#include "symbol/elf.h"
#include "symbol/helper.h"
#include "symbol/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAGE UINT64_C(4096)

static perfile_status append(pf_symtab *t, perfile_bytes text, uint32_t *at)
{
    size_t start = t->names_len ? t->names_len : 1; /* offset 0 is the empty text */
    if (text.len >= UINT32_MAX - start)
        return PERFILE_E_LIMIT;
    size_t need = start + text.len + 1;
    if (need > t->names_cap) {
        size_t cap = need + need / 2;
        char *more = pf_budget_realloc(t->budget, t->names, t->names_cap, cap, 1);
        if (!more)
            return pf_symbol_no_memory(t->budget);
        t->names = more;
        t->names_cap = cap;
        t->names[0] = 0;
    }
    if (text.len)
        memcpy(t->names + start, text.ptr, text.len);
    t->names[start + text.len] = 0;
    t->names_len = need;
    *at = (uint32_t)start;
    return PERFILE_OK;
}

/* Marks the end of a name that was cut. */
static void cut_name(char *name)
{
    memcpy(name + PF_SYMBOL_NAME - 3, "...", sizeof "...");
}

perfile_status pf_symtab_text(pf_symtab *t, perfile_bytes text, uint32_t *at)
{
    const bool cut = text.len > PF_SYMBOL_NAME;
    if (cut)
        text.len = PF_SYMBOL_NAME;
    perfile_status st = append(t, text, at);
    if (cut && st == PERFILE_OK)
        cut_name(t->names + *at);
    return st;
}

perfile_status pf_symtab_texts(pf_symtab *t, perfile_bytes texts, uint32_t *at)
{
    perfile_status st = append(t, texts, at);
    if (st != PERFILE_OK)
        return st;
    char *name = t->names + *at, *const end = name + texts.len;
    while (end - name > PF_SYMBOL_NAME) {
        char *nul = memchr(name, 0, PF_SYMBOL_NAME + 1);
        if (!nul) {
            nul = name + PF_SYMBOL_NAME;
            cut_name(name);
        }
        name = nul + 1;
    }
    return PERFILE_OK;
}

perfile_status pf_symtab_add(pf_symtab *t, pf_sym sym)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap + t->cap / 2 : 64;
        if (cap >= PF_NO_SYM)
            return PERFILE_E_LIMIT;
        pf_sym *more = pf_budget_realloc(t->budget, t->syms, t->cap, cap, sizeof *more);
        if (!more)
            return pf_symbol_no_memory(t->budget);
        t->syms = more;
        t->cap = cap;
    }
    sym.order = t->n_added++;
    t->syms[t->n++] = sym;
    return PERFILE_OK;
}

/* qsort() order: by address, then in the order of addition. */
static int compare(const void *a, const void *b)
{
    const pf_sym *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Returns true if the symbols are already sorted, as most of a kernel's are: sorting those would
 * take as long as adding them. */
static bool is_in_order(const pf_symtab *t)
{
    for (size_t i = 1; i < t->n; i++)
        if (compare(&t->syms[i - 1], &t->syms[i]) > 0)
            return false;
    return true;
}

static uint64_t page_behind(uint64_t addr)
{
    uint64_t end = (addr & ~(PAGE - 1)) + (addr & (PAGE - 1) ? 2 : 1) * PAGE;
    return end > addr ? end : UINT64_MAX;
}

static void find_ends(pf_symtab *t, int rules)
{
    for (size_t i = 0; i < t->n; i++) {
        pf_sym *s = &t->syms[i];
        const pf_sym *next = i + 1 < t->n ? s + 1 : NULL;
        if (!s->open_end)
            continue;
        uint64_t end = next && (rules != PF_RULES_KALLSYMS || !s->module == !next->module)
                           ? next->start
                           : page_behind(s->start);
        s->end = end < s->end ? end : s->end;
        s->open_end = false;
    }
}

/* Properties of a shown name that decide between symbols. */
typedef struct name_rank {
    bool known;
    size_t underscores, len;
    bool is_alias; /* SyS_… or compat_SyS_… of a system call */
} name_rank;

static void rank_name(const pf_symtab *t, const pf_sym *s, name_rank *rank)
{
    if (rank->known)
        return;
    const char *stored = pf_symtab_name(t, s), *shown = pf_demangle_one(t->helper, stored);
    const char *name = shown ? shown : stored;
    *rank = (name_rank){true, strspn(name, "_"), strlen(name),
                        strncmp(name, "SyS", 3) == 0 || strncmp(name, "compat_SyS", 10) == 0};
}

/* Returns true if two mangled names differ only in one digit after a C or D.  These are the
 * complete-object and base-object variants of a constructor or destructor, which are often one
 * function and are shown alike. */
static bool is_same_constructor(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return i > 2 && a[0] == '_' && a[1] == 'Z' && (a[i - 1] == 'C' || a[i - 1] == 'D') &&
           a[i] >= '1' && a[i] <= '3' && b[i] >= '1' && b[i] <= '3' &&
           strcmp(a + i + 1, b + i + 1) == 0;
}

/* Returns true if `a`, which was added first, wins against `b`.  A rank is computed only when
 * needed and once for each name, however many symbols begin at one address. */
static bool first_wins(const pf_symtab *t, const pf_sym *a, name_rank *rank_a, const pf_sym *b,
                       name_rank *rank_b)
{
    bool sized_a = a->end != a->start, sized_b = b->end != b->start;
    if (sized_a != sized_b)
        return sized_a;
    if ((a->binding == PF_BIND_WEAK) != (b->binding == PF_BIND_WEAK))
        return b->binding == PF_BIND_WEAK;
    if ((a->binding == PF_BIND_GLOBAL) != (b->binding == PF_BIND_GLOBAL))
        return a->binding == PF_BIND_GLOBAL;
    if (a->name == b->name || is_same_constructor(pf_symtab_name(t, a), pf_symtab_name(t, b)))
        return true;
    rank_name(t, a, rank_a);
    rank_name(t, b, rank_b);
    if (rank_a->underscores != rank_b->underscores)
        return rank_a->underscores < rank_b->underscores;
    return rank_a->len != rank_b->len ? rank_a->len > rank_b->len : !rank_a->is_alias;
}

void pf_symtab_settle(pf_symtab *t, int rules)
{
    if (!t->n)
        return;
    if (!is_in_order(t))
        qsort(t->syms, t->n, sizeof *t->syms, compare);
    find_ends(t, rules);
    size_t kept = 0;
    name_rank best = {0};
    for (size_t i = 1; i < t->n; i++) {
        name_rank rank = {0};
        if (t->syms[i].start != t->syms[kept].start)
            kept++;
        else if (rules != PF_RULES_PERF_MAP &&
                 first_wins(t, &t->syms[kept], &best, &t->syms[i], &rank))
            continue;
        t->syms[kept] = t->syms[i];
        best = rank;
    }
    t->n = kept + 1;
}

/* Addresses from `start` on belong to `sym`.  There is room: two segments for each symbol. */
static void put_segment(pf_symtab *t, uint64_t start, uint32_t sym)
{
    if (t->n_segments && t->segments[t->n_segments - 1].start == start)
        t->n_segments--;
    t->segments[t->n_segments++] = (pf_segment){start, sym};
}

/* Closes the symbols of the stack `open` that end at or before `addr`, and returns how many are
 * left.  The stack is in order of start; a symbol that ends before the one on top of it is not
 * visible again. */
static size_t close_until(pf_symtab *t, const uint32_t *open, size_t n, uint64_t addr)
{
    while (n && t->syms[open[n - 1]].end <= addr) {
        uint64_t end = t->syms[open[--n]].end;
        while (n && t->syms[open[n - 1]].end <= end)
            n--;
        put_segment(t, end, n ? open[n - 1] : PF_NO_SYM);
    }
    return n;
}

perfile_status pf_symtab_index(pf_symtab *t)
{
    size_t n = t->n, n_open = 0;
    if (!n)
        return PERFILE_OK;
    uint32_t *open = pf_budget_alloc(t->budget, n, sizeof *open);
    t->segments = pf_budget_realloc(t->budget, NULL, 0, n * 2, sizeof *t->segments);
    if (!open || !t->segments) {
        pf_budget_free(t->budget, open, n, sizeof *open);
        pf_budget_free(t->budget, t->segments, n * 2, sizeof *t->segments);
        t->segments = NULL;
        return pf_symbol_no_memory(t->budget);
    }
    t->segments_cap = n * 2;
    for (size_t i = 0; i < n; i++) {
        n_open = close_until(t, open, n_open, t->syms[i].start);
        put_segment(t, t->syms[i].start, (uint32_t)i);
        open[n_open++] = (uint32_t)i;
    }
    close_until(t, open, n_open, UINT64_MAX);
    pf_budget_free(t->budget, open, n, sizeof *open);
    return PERFILE_OK;
}

const pf_sym *pf_symtab_find(const pf_symtab *t, uint64_t addr)
{
    size_t low = 0, high = t->n_segments; /* segments before `low` begin at or below addr */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->segments[middle].start <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || t->segments[low - 1].sym == PF_NO_SYM)
        return NULL;
    return &t->syms[t->segments[low - 1].sym];
}

const pf_sym *pf_symtab_named(const pf_symtab *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(pf_symtab_name(t, &t->syms[i]), name) == 0)
            return &t->syms[i];
    return NULL;
}

void pf_symtab_free(pf_symtab *t)
{
    pf_budget *budget = t->budget;
    pf_helper *helper = t->helper;
    pf_budget_free(budget, t->syms, t->cap, sizeof *t->syms);
    pf_budget_free(budget, t->names, t->names_cap, 1);
    pf_budget_free(budget, t->segments, t->segments_cap, sizeof *t->segments);
    pf_budget_free(budget, t->shown, t->n, sizeof *t->shown);
    *t = (pf_symtab){.budget = budget, .helper = helper};
}

/* Parsers of kallsyms and perf-PID.map. */

/* Takes the next line without its end.  Returns false after the last one.  A line with a NUL in it
 * counts as empty, because no name has one. */
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

/* Reads a hexadecimal number, with or without 0x, and the blanks after it. */
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

/* Reads up to the next blank, and skips the blanks after that. */
static perfile_bytes word(pf_cursor *c)
{
    size_t n = 0;
    while (n < pf_cur_left(c) && c->pos[n] != ' ' && c->pos[n] != '\t')
        n++;
    perfile_bytes text = pf_cur_span(c, n);
    skip_blanks(c);
    return text;
}

/* Returns true for text, weak, data and bss: t, w, d, b.  Capital letters mean global. */
static bool type_counts(uint8_t type)
{
    type &= 0xdf;
    return type == 'T' || type == 'W' || type == 'D' || type == 'B';
}

/* The symbols of a module mostly follow each other: the module's name is stored once for each
 * run. */
typedef struct module {
    perfile_bytes text;
    uint32_t at; /* offset in the names of the table; 0: not stored */
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

/* perf-PID.map: functions that a just-in-time compiler has put into the memory of its process.
 *
 * The file does not identify its process or the time.  It is searched in the directory of the
 * options.  Without that option it is searched below the symfs folder, in the process's own /tmp if
 * the process runs in a container of this machine, and in /tmp.  Everybody may write to /tmp: a
 * file there counts only if it is not a link, belongs to root or to the user who runs this program
 * (in a container also to the user of the process), is not writable for others, and the capture is
 * not from another host. */

/* Names that the kernel and simpleperf use for memory without a file. */
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

/* The search for the map of a process. */
typedef struct search {
    perfile_symbols *s;
    uint32_t pid;
    bool is_here, lives;     /* the process is of this machine; it still runs */
    pf_process process;      /* valid if `lives` */
    char path[PF_PATH_SIZE]; /* path of the candidate */
    pf_symfile file;
    bool refused; /* at least one candidate was refused */
} search;

/* Reports why a map is not used. */
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

/* Opens a map in a folder that others may write to.  `owner` is another user who may own the
 * file. */
static bool open_distrusted(search *x, size_t root, uint32_t owner)
{
    const char *refused;
    const bool found = pf_symfile_open_own(&x->file, x->path, root, owner, &refused);
    if (refused)
        refuse(x, refused);
    return found;
}

/* Tries the directory of the options. */
static bool find_given(search *x)
{
    return pf_path(x->path, "%s/perf-%" PRIu32 ".map", x->s->perf_map_dir, x->pid) &&
           pf_symfile_open(&x->file, x->path);
}

/* Tries the symfs folder, with the pid that the process has there. */
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

/* Tries /tmp as the process sees it. */
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
        /* This object, which is about to be appended to the list, becomes the owner of the map. */
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
