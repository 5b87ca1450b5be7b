/* Reads debug information with libdw.
 *
 * libdw gets a copy of the debug sections (image.c).  Its recursive functions, which call
 * themselves for each level of nesting, are not used; trees of entries are walked here, with
 * limits.  Its cost cannot be limited, and it may end the process when out of memory: this is why
 * the symbolizer is a separate process. */
#include "symbolizer/symbolizer.h"

#ifdef PF_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_RANGES = 1 << 22, /* of one file */
    MOST_REFERENCES = 8    /* in a chain from an entry to the one with its name */
};

/* An address range of a compilation unit, or of a function in one. */
typedef struct span {
    uint64_t start, end;
    uint64_t at; /* offset of its entry */
} span;

typedef struct spans {
    span *list;
    size_t n, cap;
} spans;

/* A compilation unit with the list of its functions. */
typedef struct unit {
    uint64_t at; /* offset of its entry */
    spans functions;
    struct unit *next;
} unit;

struct pf_dwarf_file {
    uint8_t *image;
    Elf *elf;
    Dwarf *dwarf;
    spans units;
    unit *known; /* most recently used first */
};

/* Adds a range.  Returns false if there is no room; its addresses are then unknown. */
static bool add_span(spans *s, span one)
{
    if (s->n == s->cap) {
        const size_t cap = s->cap ? s->cap * 2 : 64;
        span *more = s->n < MOST_RANGES ? realloc(s->list, cap * sizeof *more) : NULL;
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

static void sort(spans *s)
{
    if (s->n) /* qsort() takes no NULL */
        qsort(s->list, s->n, sizeof *s->list, compare);
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

/* Adds the address ranges of an entry. */
static void add_ranges(spans *s, Dwarf_Die *die)
{
    Dwarf_Addr base = 0, start, end;
    const uint64_t at = dwarf_dieoffset(die);
    for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &start, &end)) > 0;)
        if (end > start && !add_span(s, (span){start, end, at}))
            return;
}

/* Returns true if the information of the unit is in another file. */
static bool is_split(Dwarf_Die *cu)
{
    return dwarf_hasattr(cu, DW_AT_dwo_name) || dwarf_hasattr(cu, DW_AT_GNU_dwo_name);
}

static void list_units(pf_dwarf_file *d)
{
    Dwarf_Off at = 0, next;
    size_t header;
    Dwarf_Half version;
    for (; dwarf_next_unit(d->dwarf, at, &next, &header, &version, NULL, NULL, NULL, NULL, NULL) ==
               0 &&
           next > at;
         at = next) {
        Dwarf_Die die;
        if (dwarf_offdie(d->dwarf, at + header, &die) && dwarf_tag(&die) == DW_TAG_compile_unit &&
            !is_split(&die))
            add_ranges(&d->units, &die);
    }
    sort(&d->units);
}

pf_dwarf_file *pf_dwarf_file_open(int fd, uint64_t bytes)
{
    size_t size = 0;
    pf_dwarf_file *d = calloc(1, sizeof *d);
    elf_version(EV_CURRENT);
    if (d && (d->image = pf_image_make(fd, bytes, &size)) &&
        (d->elf = elf_memory((char *)d->image, size)))
        d->dwarf = dwarf_begin_elf(d->elf, DWARF_C_READ, NULL);
    close(fd);
    if (d && d->dwarf) {
        list_units(d);
        return d;
    }
    pf_dwarf_file_close(d);
    return NULL;
}

void pf_dwarf_file_close(pf_dwarf_file *d)
{
    if (!d)
        return;
    dwarf_end(d->dwarf);
    elf_end(d->elf);
    for (unit *u = d->known, *next; u; u = next) {
        next = u->next;
        free(u->functions.list);
        free(u);
    }
    free(d->units.list);
    free(d->image);
    free(d);
}

/* Returns true for entries that may contain functions. */
static bool may_hold_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* Lists the functions of a unit by walking the tree of its entries. */
static void list_functions(Dwarf_Die *top, spans *functions)
{
    Dwarf_Die at[PF_PLACES_MOST];
    int depth = 0;
    if (dwarf_child(top, &at[0]) != 0)
        return;
    while (depth >= 0) {
        const int tag = dwarf_tag(&at[depth]);
        if (tag == DW_TAG_subprogram)
            add_ranges(functions, &at[depth]);
        if (may_hold_functions(tag) && depth + 1 < PF_PLACES_MOST &&
            dwarf_child(&at[depth], &at[depth + 1]) == 0) {
            depth++;
            continue;
        }
        while (depth >= 0 && dwarf_siblingof(&at[depth], &at[depth]) != 0)
            depth--;
    }
    sort(functions);
}

/* Returns the unit with the entry `die`, NULL when out of memory. */
static unit *unit_of(pf_dwarf_file *d, Dwarf_Die *die)
{
    const uint64_t at = dwarf_dieoffset(die);
    for (unit **u = &d->known; *u; u = &(*u)->next)
        if ((*u)->at == at) {
            unit *found = *u;
            *u = found->next;
            found->next = d->known;
            return d->known = found;
        }
    unit *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->at = at;
    list_functions(die, &made->functions);
    made->next = d->known;
    return d->known = made;
}

/* Returns a text of an entry, or of the entry that it refers to. */
static const char *text_of(Dwarf_Die *die, unsigned name)
{
    static const unsigned references[] = {DW_AT_abstract_origin, DW_AT_specification};
    Dwarf_Die at = *die;
    Dwarf_Attribute attr;
    for (unsigned n = 0; n < MOST_REFERENCES; n++) {
        bool refers = false;
        if (dwarf_attr(&at, name, &attr))
            return dwarf_formstring(&attr);
        for (unsigned i = 0; i < 2 && !refers; i++) {
            Dwarf_Die to;
            refers = dwarf_attr(&at, references[i], &attr) && dwarf_formref_die(&attr, &to);
            if (refers)
                at = to;
        }
        if (!refers)
            return NULL;
    }
    return NULL;
}

static const char *function_of(Dwarf_Die *die)
{
    const char *name = text_of(die, DW_AT_linkage_name);
    if (!name)
        name = text_of(die, DW_AT_MIPS_linkage_name);
    return name ? name : text_of(die, DW_AT_name);
}

/* Finds the entries at an address: a function, and those inlined there, outermost first.  Returns
 * how many. */
static size_t find_entries(Dwarf_Die *function, uint64_t at, Dwarf_Die found[PF_PLACES_MOST])
{
    size_t n = 0;
    Dwarf_Die block = *function, child;
    found[n++] = *function;
    for (unsigned depth = 0; depth < PF_PLACES_MOST && n < PF_PLACES_MOST; depth++) {
        bool inside = false;
        int more = dwarf_child(&block, &child);
        while (more == 0 && !inside) {
            const int tag = dwarf_tag(&child);
            inside = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
                      tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
                     dwarf_haspc(&child, at) == 1;
            if (!inside)
                more = dwarf_siblingof(&child, &child);
        }
        if (!inside)
            break;
        if (dwarf_tag(&child) == DW_TAG_inlined_subroutine)
            found[n++] = child;
        block = child;
    }
    return n;
}

/* Finds the location that an inlined function was called from. */
static void find_call(Dwarf_Die *cu, Dwarf_Die *inlined, pf_dwarf_place *place)
{
    Dwarf_Attribute attr;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t n;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &line) == 0)
        place->line = line <= UINT32_MAX ? (uint32_t)line : 0;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &file) == 0 &&
        dwarf_getsrcfiles(cu, &files, &n) == 0 && file < n)
        place->file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
}

size_t pf_dwarf_file_find(pf_dwarf_file *d, uint64_t at, pf_dwarf_place places[PF_PLACES_MOST])
{
    Dwarf_Die cu, function, found[PF_PLACES_MOST];
    const span *of_unit = find_span(&d->units, at);
    if (!of_unit || !dwarf_offdie(d->dwarf, of_unit->at, &cu))
        return 0;
    pf_dwarf_place here = {0};
    Dwarf_Line *line = dwarf_getsrc_die(&cu, at);
    int number;
    if (line) {
        here.file = dwarf_linesrc(line, NULL, NULL);
        here.line = dwarf_lineno(line, &number) == 0 && number > 0 ? (uint32_t)number : 0;
    }
    const unit *u = unit_of(d, &cu);
    const span *s = u ? find_span(&u->functions, at) : NULL;
    size_t n =
        s && dwarf_offdie(d->dwarf, s->at, &function) ? find_entries(&function, at, found) : 0;
    for (size_t i = 0; i < n; i++) {
        Dwarf_Die *die = &found[n - 1 - i];
        here.function = function_of(die);
        places[i] = here;
        here = (pf_dwarf_place){0};
        if (i + 1 < n)
            find_call(&cu, die, &here);
    }
    if (!n && (here.file || here.line))
        places[n++] = here;
    return n;
}

#else

pf_dwarf_file *pf_dwarf_file_open(int fd, uint64_t bytes)
{
    (void)fd, (void)bytes;
    return NULL;
}

void pf_dwarf_file_close(pf_dwarf_file *d)
{
    (void)d;
}

size_t pf_dwarf_file_find(pf_dwarf_file *d, uint64_t at, pf_dwarf_place places[PF_PLACES_MOST])
{
    (void)d, (void)at, (void)places;
    return 0;
}

#endif
