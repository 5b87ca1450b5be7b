/* Debug information by libdw (see dwarf.h).
 *
 * The file is hostile, and libdw reads it as it is, so it gets no more than it needs: sections are
 * read, not mapped, and their sizes, inflated, are charged to the budget before it sees them. Files
 * that lead to other files (split and supplementary debug information) are not used, because libdw
 * would open whatever path they name.  Its functions that call themselves for each level of nesting
 * are not called; trees of entries are walked here, with bounds. */
#include "symbol/dwarf.h"

#ifdef PF_HAVE_LIBDW

#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/libdw.h"

enum {
    SHF_COMPRESSED_FLAG = 0x800,
    MOST_RANGES = 1 << 22,  /* of one file */
    MOST_ENTRIES = 1 << 22, /* that are looked at for one question */
    MOST_REFERENCES = 8     /* from an entry to the one that has its name */
};

/* Addresses of a compilation unit, or of a function in one. */
typedef struct span {
    uint64_t start, end;
    uint64_t at; /* offset of its entry */
} span;

typedef struct spans {
    span *list;
    size_t n, cap;
} spans;

/* A unit whose functions were listed. */
typedef struct unit {
    uint64_t at; /* offset of its entry */
    spans functions;
    struct unit *next;
} unit;

struct pf_dwarf {
    const pf_libdw *dw;
    pf_budget *budget;
    int fd;
    uint64_t charged;
    Elf *elf;
    Dwarf *dwarf;
    spans units;
    unit *known; /* the one that was asked for last in front */
};

bool pf_can_read_dwarf(void)
{
    return pf_libdw_load() != NULL;
}

/* Adds addresses; false if there is no room, which leaves them unknown. */
static bool add_span(pf_dwarf *d, spans *s, span one)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        span *more = s->n < MOST_RANGES
                         ? pf_budget_realloc(d->budget, s->list, s->cap, cap, sizeof *more)
                         : NULL;
        if (!more)
            return false;
        s->list = more;
        s->cap = cap;
    }
    s->list[s->n++] = one;
    return true;
}

static int compare(const void *a, const void *b)
{
    const span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static const span *find_span(const spans *s, uint64_t at)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->list[middle].start <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at < s->list[low - 1].end ? &s->list[low - 1] : NULL;
}

/* Adds the addresses of an entry. */
static void add_ranges(pf_dwarf *d, spans *s, Dwarf_Die *die)
{
    const pf_libdw *dw = d->dw;
    Dwarf_Addr base = 0, start, end;
    const uint64_t at = dw->dwarf_dieoffset(die);
    for (ptrdiff_t next = 0; (next = dw->dwarf_ranges(die, next, &base, &start, &end)) > 0;)
        if (end > start && !add_span(d, s, (span){start, end, at}))
            return;
}

/* True if the unit says that its information is in another file. */
static bool is_split(const pf_libdw *dw, Dwarf_Die *cu)
{
    return dw->dwarf_hasattr(cu, DW_AT_dwo_name) || dw->dwarf_hasattr(cu, DW_AT_GNU_dwo_name);
}

static void list_units(pf_dwarf *d)
{
    const pf_libdw *dw = d->dw;
    Dwarf_Off at = 0, next;
    size_t header;
    Dwarf_Half version;
    for (; dw->dwarf_next_unit(d->dwarf, at, &next, &header, &version, NULL, NULL, NULL, NULL,
                               NULL) == 0 &&
           next > at;
         at = next) {
        Dwarf_Die die;
        if (dw->dwarf_offdie(d->dwarf, at + header, &die) &&
            dw->dwarf_tag(&die) == DW_TAG_compile_unit && !is_split(dw, &die))
            add_ranges(d, &d->units, &die);
    }
    qsort(d->units.list, d->units.n, sizeof *d->units.list, compare);
}

/* Bytes that libdw may keep of the debug sections; false if they lead elsewhere. */
static bool measure(const pf_elf *elf, uint64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < elf->n_sections; i++) {
        const pf_elf_section *s = &elf->sections[i];
        const char *name = pf_elf_section_name(elf, s);
        uint64_t size = s->size;
        pf_piece p;
        if (strncmp(name, ".zdebug", 7) == 0 || strcmp(name, ".gnu_debugaltlink") == 0 ||
            strcmp(name, ".debug_sup") == 0)
            return false;
        if (strncmp(name, ".debug_", 7) != 0 || s->type == PF_SHT_NOBITS)
            continue;
        if (s->flags & SHF_COMPRESSED_FLAG) {
            const uint64_t header = elf->is64 ? 24 : 12;
            if (pf_symfile_read(elf->file, s->offset, header, elf->budget, &p) != PERFILE_OK)
                return false;
            pf_cursor c = pf_cur(pf_piece_bytes(&p), elf->swap);
            pf_cur_span(&c, elf->is64 ? 8 : 4); /* type, and what fills the word */
            size = pf_elf_word(elf, &c);
            pf_piece_free(&p, elf->budget);
            size = size > UINT64_MAX / 2 ? UINT64_MAX / 2 : size + s->size;
        }
        if (size > UINT64_MAX / 2 - *bytes)
            return false;
        *bytes += size;
    }
    return true;
}

static perfile_status open_file(perfile_symbols *s, const pf_elf_opened *f, pf_dwarf **out)
{
    uint64_t bytes;
    const pf_libdw *dw = pf_libdw_load();
    if (!dw || !measure(&f->elf, &bytes) || f->file.fd < 0)
        return PERFILE_OK;
    pf_dwarf *d = pf_budget_alloc(&s->budget, 1, sizeof *d);
    if (!d)
        return pf_symbol_no_memory(&s->budget);
    d->dw = dw;
    d->budget = &s->budget;
    d->fd = fcntl(f->file.fd, F_DUPFD_CLOEXEC, 0);
    perfile_status st = PERFILE_OK;
    if (pf_budget_charge(&s->budget, bytes))
        d->charged = bytes;
    else
        st = pf_symbol_no_memory(&s->budget);
    if (st == PERFILE_OK && d->fd >= 0)
        d->elf = dw->elf_begin(d->fd, ELF_C_READ, NULL);
    if (d->elf)
        d->dwarf = dw->dwarf_begin_elf(d->elf, DWARF_C_READ, NULL);
    if (d->dwarf) {
        list_units(d);
        *out = d;
    } else {
        pf_dwarf_close(d);
    }
    s->budget.refused = false;
    return st;
}

perfile_status pf_dwarf_open(perfile_symbols *s, const pf_symbol_object *o, pf_dwarf **dwarf)
{
    static const char section[] = ".debug_info";
    pf_elf_files *files;
    *dwarf = NULL;
    if (!pf_is_elf(o))
        return PERFILE_OK;
    perfile_status st = pf_elf_files_open(s, &o->key, section, &files);
    if (st != PERFILE_OK)
        return st;
    if (files->mapped.is_open && pf_elf_has(&files->mapped.elf, section))
        st = open_file(s, &files->mapped, dwarf);
    else if (files->debug.is_open)
        st = open_file(s, &files->debug, dwarf);
    pf_elf_files_close(files);
    return st;
}

void pf_dwarf_close(pf_dwarf *d)
{
    if (!d)
        return;
    d->dw->dwarf_end(d->dwarf);
    d->dw->elf_end(d->elf);
    if (d->fd >= 0)
        close(d->fd);
    for (unit *u = d->known, *next; u; u = next) {
        next = u->next;
        pf_budget_free(d->budget, u->functions.list, u->functions.cap, sizeof(span));
        pf_budget_free(d->budget, u, 1, sizeof *u);
    }
    pf_budget_free(d->budget, d->units.list, d->units.cap, sizeof(span));
    pf_budget_refund(d->budget, d->charged);
    pf_budget_free(d->budget, d, 1, sizeof *d);
}

/* True for entries that may hold functions. */
static bool may_hold_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* Lists the functions of a unit, walking the tree of its entries. */
static void list_functions(pf_dwarf *d, Dwarf_Die *top, spans *functions)
{
    const pf_libdw *dw = d->dw;
    Dwarf_Die at[PF_DWARF_DEPTH];
    int depth = 0;
    if (dw->dwarf_child(top, &at[0]) != 0)
        return;
    for (unsigned n = 0; depth >= 0 && n < MOST_ENTRIES; n++) {
        const int tag = dw->dwarf_tag(&at[depth]);
        if (tag == DW_TAG_subprogram)
            add_ranges(d, functions, &at[depth]);
        if (may_hold_functions(tag) && depth + 1 < PF_DWARF_DEPTH &&
            dw->dwarf_child(&at[depth], &at[depth + 1]) == 0) {
            depth++;
            continue;
        }
        while (depth >= 0 && dw->dwarf_siblingof(&at[depth], &at[depth]) != 0)
            depth--;
    }
    qsort(functions->list, functions->n, sizeof *functions->list, compare);
}

/* The unit whose entry is `die`; NULL: there is no room. */
static unit *unit_of(pf_dwarf *d, Dwarf_Die *die)
{
    const uint64_t at = d->dw->dwarf_dieoffset(die);
    for (unit **u = &d->known; *u; u = &(*u)->next)
        if ((*u)->at == at) {
            unit *found = *u;
            *u = found->next;
            found->next = d->known;
            return d->known = found;
        }
    unit *made = pf_budget_alloc(d->budget, 1, sizeof *made);
    if (!made)
        return NULL;
    made->at = at;
    list_functions(d, die, &made->functions);
    made->next = d->known;
    return d->known = made;
}

/* A text of an entry, or of the one that it refers to. */
static const char *text_of(const pf_libdw *dw, Dwarf_Die *die, unsigned name)
{
    static const unsigned references[] = {DW_AT_abstract_origin, DW_AT_specification};
    Dwarf_Die at = *die;
    Dwarf_Attribute attr;
    for (unsigned n = 0; n < MOST_REFERENCES; n++) {
        bool refers = false;
        if (dw->dwarf_attr(&at, name, &attr))
            return dw->dwarf_formstring(&attr);
        for (unsigned i = 0; i < 2 && !refers; i++) {
            Dwarf_Die to;
            refers = dw->dwarf_attr(&at, references[i], &attr) && dw->dwarf_formref_die(&attr, &to);
            if (refers)
                at = to;
        }
        if (!refers)
            return NULL;
    }
    return NULL;
}

static const char *function_of(const pf_libdw *dw, Dwarf_Die *die)
{
    const char *name = text_of(dw, die, DW_AT_linkage_name);
    if (!name)
        name = text_of(dw, die, DW_AT_MIPS_linkage_name);
    return name ? name : text_of(dw, die, DW_AT_name);
}

/* The entries at an address: a function, and those inlined there, outermost first; how many. */
static size_t find_entries(const pf_libdw *dw, Dwarf_Die *function, uint64_t at,
                           Dwarf_Die found[PF_DWARF_DEPTH])
{
    size_t n = 0;
    unsigned looked = 0;
    Dwarf_Die block = *function, child;
    found[n++] = *function;
    for (unsigned depth = 0; depth < PF_DWARF_DEPTH && n < PF_DWARF_DEPTH; depth++) {
        bool inside = false;
        int more = dw->dwarf_child(&block, &child);
        while (more == 0 && !inside && looked++ < MOST_ENTRIES) {
            const int tag = dw->dwarf_tag(&child);
            inside = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
                      tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
                     dw->dwarf_haspc(&child, at) == 1;
            if (!inside)
                more = dw->dwarf_siblingof(&child, &child);
        }
        if (!inside)
            break;
        if (dw->dwarf_tag(&child) == DW_TAG_inlined_subroutine)
            found[n++] = child;
        block = child;
    }
    return n;
}

/* From where an inlined function was called. */
static void find_call(const pf_libdw *dw, Dwarf_Die *cu, Dwarf_Die *inlined, pf_dwarf_place *place)
{
    Dwarf_Attribute attr;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t n;
    if (dw->dwarf_formudata(dw->dwarf_attr(inlined, DW_AT_call_line, &attr), &line) == 0)
        place->line = line <= UINT32_MAX ? (uint32_t)line : 0;
    if (dw->dwarf_formudata(dw->dwarf_attr(inlined, DW_AT_call_file, &attr), &file) == 0 &&
        dw->dwarf_getsrcfiles(cu, &files, &n) == 0 && file < n)
        place->file = dw->dwarf_filesrc(files, (size_t)file, NULL, NULL);
}

size_t pf_dwarf_find(pf_dwarf *d, uint64_t at, pf_dwarf_place places[PF_DWARF_DEPTH])
{
    const pf_libdw *dw = d->dw;
    Dwarf_Die cu, function, found[PF_DWARF_DEPTH];
    const span *of_unit = find_span(&d->units, at);
    if (!of_unit || !dw->dwarf_offdie(d->dwarf, of_unit->at, &cu))
        return 0;
    pf_dwarf_place here = {0};
    Dwarf_Line *line = dw->dwarf_getsrc_die(&cu, at);
    int number;
    if (line) {
        here.file = dw->dwarf_linesrc(line, NULL, NULL);
        here.line = dw->dwarf_lineno(line, &number) == 0 && number > 0 ? (uint32_t)number : 0;
    }
    const unit *u = unit_of(d, &cu);
    const span *s = u ? find_span(&u->functions, at) : NULL;
    size_t n = s && dw->dwarf_offdie(d->dwarf, s->at, &function)
                   ? find_entries(dw, &function, at, found)
                   : 0;
    for (size_t i = 0; i < n; i++) {
        Dwarf_Die *die = &found[n - 1 - i];
        here.function = function_of(dw, die);
        places[i] = here;
        here = (pf_dwarf_place){0};
        if (i + 1 < n)
            find_call(dw, &cu, die, &here);
    }
    if (!n && (here.file || here.line))
        places[n++] = here;
    d->budget->refused = false;
    return n;
}

#else

bool pf_can_read_dwarf(void)
{
    return false;
}

perfile_status pf_dwarf_open(perfile_symbols *s, const pf_symbol_object *o, pf_dwarf **dwarf)
{
    (void)s;
    (void)o;
    *dwarf = NULL;
    return PERFILE_OK;
}

void pf_dwarf_close(pf_dwarf *dwarf)
{
    (void)dwarf;
}

size_t pf_dwarf_find(pf_dwarf *dwarf, uint64_t at, pf_dwarf_place places[PF_DWARF_DEPTH])
{
    (void)dwarf;
    (void)at;
    (void)places;
    return 0;
}

#endif
