/* Debug information of one file (pf_dwarf in state.h).
 *
 * The program that reads it may die at any question, because of this file or of another one that it
 * has open.  So the descriptor stays here, and the next question opens the file again.  After two
 * failures in a row the file is given up. */
#include "symbol/state.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum {
    SHF_COMPRESSED_FLAG = 0x800,
    MOST_INFLATED = 32, /* highest inflation ratio of a section; compilers have 3 to 5 */
    /* CPU time limits for a file and for each question; both are several times the common cost. */
    BYTES_IN_A_SECOND = 8 << 20,
    QUESTION_NS = 20000
};

struct pf_dwarf {
    pf_helper *helper;
    int fd;          /* -1: given up */
    uint64_t bytes;  /* of debug sections; charged to the budget */
    unsigned start;  /* pf_helper.starts when it was opened; 0: not open */
    uint32_t number; /* of the file in that process */
};

bool pf_can_read_dwarf(void)
{
#ifdef PF_HAVE_LIBDW
    return pf_helper_is_there();
#else
    return false;
#endif
}

/* Sums up the inflated sizes of the debug sections.  Returns false if they refer to other files or
 * claim implausible sizes. */
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
            pf_cur_span(&c, elf->is64 ? 8 : 4); /* type and padding */
            size = pf_elf_word(elf, &c);
            pf_piece_free(&p, elf->budget);
            if (size / MOST_INFLATED > s->size)
                return false;
        }
        if (size > UINT64_MAX / 2 - *bytes)
            return false;
        *bytes += size;
    }
    return true;
}

/* Sends a question about the file.  Returns false if there is no answer. */
static bool ask(pf_dwarf *d, pf_question *q, pf_answer *a)
{
    const uint64_t second = 1000000000;
    q->bytes = d->bytes;
    pf_helper_allow(d->helper, QUESTION_NS);
    q->allowed = second + d->bytes * (second / BYTES_IN_A_SECOND);
    return pf_helper_ask(d->helper, q, q->what == PF_ASK_OPEN ? d->fd : -1, a);
}

/* Closes the file for good. */
static void give_up(pf_dwarf *d)
{
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
}

/* Opens the file in the current process if it is not open there.  Returns false if the process died
 * or the file has no debug information. */
static bool open_there(pf_dwarf *d)
{
    pf_question q = {.what = PF_ASK_OPEN};
    pf_answer a;
    if (d->start && d->start == d->helper->starts && d->helper->socket >= 0)
        return true;
    if (!ask(d, &q, &a))
        return false;
    if (a.n == PF_NO_DEBUG_INFO) {
        give_up(d);
        return false;
    }
    d->start = d->helper->starts;
    d->number = a.n;
    return true;
}

perfile_status pf_dwarf_open_file(perfile_symbols *s, const pf_elf_opened *f, pf_dwarf **dwarf)
{
    uint64_t bytes;
    *dwarf = NULL;
    if (!measure(&f->elf, &bytes) || f->file.fd < 0)
        return PERFILE_OK;
    if (!pf_budget_charge(&s->budget, bytes))
        return pf_symbol_no_memory(&s->budget);
    pf_dwarf *d = pf_budget_alloc(&s->budget, 1, sizeof *d);
    if (!d) {
        pf_budget_refund(&s->budget, bytes);
        return pf_symbol_no_memory(&s->budget);
    }
    *d = (pf_dwarf){
        .helper = &s->helper, .bytes = bytes, .fd = fcntl(f->file.fd, F_DUPFD_CLOEXEC, 0)};
    pf_helper_allow(&s->helper, bytes * (1000000000 / BYTES_IN_A_SECOND));
    *dwarf = d;
    return PERFILE_OK;
}

/* Opens the debug information of an object; *dwarf is NULL if there is none.  PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM. */
static perfile_status pf_dwarf_open(perfile_symbols *s, const pf_symbol_object *o, pf_dwarf **dwarf)
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
        st = pf_dwarf_open_file(s, &files->mapped, dwarf);
    else if (files->debug.is_open)
        st = pf_dwarf_open_file(s, &files->debug, dwarf);
    pf_elf_files_close(files);
    return st;
}

void pf_dwarf_close(pf_dwarf *d)
{
    if (!d)
        return;
    give_up(d);
    pf_budget_refund(d->helper->budget, d->bytes);
    pf_budget_free(d->helper->budget, d, 1, sizeof *d);
}

/* Takes the next text of an answer and advances *at.  Returns false if it is not terminated. */
static bool take_text(const uint8_t **at, const uint8_t *end, const char **text)
{
    const uint8_t *nul = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
    if (!nul)
        return false;
    *text = nul == *at ? NULL : (const char *)*at;
    *at = nul + 1;
    return true;
}

bool pf_dwarf_take(const uint8_t *at, const pf_answer *a, pf_dwarf_place places[PF_PLACES_MOST])
{
    const uint8_t *end = at + a->size;
    if (a->n > PF_PLACES_MOST)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        pf_place p;
        if ((size_t)(end - at) < sizeof p)
            return false;
        memcpy(&p, at, sizeof p);
        at += sizeof p;
        places[i].line = p.line;
        if (!take_text(&at, end, &places[i].function) || !take_text(&at, end, &places[i].file))
            return false;
    }
    return at == end;
}

/* Sends one question.  Returns true if it was answered; *n is then the number of places. */
static bool find_once(pf_dwarf *d, uint64_t at, bool demangle,
                      pf_dwarf_place places[PF_PLACES_MOST], size_t *n)
{
    pf_question q = {.what = PF_ASK_PLACES, .n = d->number, .address = at, .demangle = demangle};
    pf_answer a;
    if (!ask(d, &q, &a) || !pf_dwarf_take(d->helper->answer, &a, places))
        return false;
    d->helper->too_costly += a.refused;
    *n = a.n;
    return true;
}

size_t pf_dwarf_find(pf_dwarf *d, uint64_t at, bool demangle, pf_dwarf_place places[PF_PLACES_MOST])
{
    enum { TRIES = 2 }; /* on the second try no other file is open in the program */
    size_t n = 0;
    if (d->fd < 0)
        return 0;
    for (int i = 0; i < TRIES; i++)
        if (open_there(d) ? find_once(d, at, demangle, places, &n) : d->fd < 0)
            return n;
    d->helper->too_costly += !d->helper->is_missing;
    give_up(d);
    return 0;
}

/* Source locations.  Each address of a file is looked up once, and the result is stored. */

void pf_source_drop(perfile_symbols *s, pf_symbol_object *o)
{
    (void)s;
    pf_dwarf_close(o->dwarf);
    pf_index_free(&o->places);
}

void pf_source_free(perfile_symbols *s)
{
    for (size_t i = 0; i < s->n_places; i++)
        pf_budget_free(&s->budget, s->places[i].list, s->places[i].n, sizeof *s->places[i].list);
    pf_budget_free(&s->budget, s->places, s->places_cap, sizeof *s->places);
}

/* Copies the places to `list`; the texts live as long as `s`.  Returns false when out of memory or
 * budget. */
static bool keep_places(perfile_symbols *s, const pf_dwarf_place *places, size_t n,
                        perfile_source_place *list)
{
    for (size_t i = 0; i < n; i++) {
        list[i] = (perfile_source_place){.line = places[i].line, .is_inlined = i + 1 < n};
        if ((places[i].function && !(list[i].function = pf_symbols_keep(s, places[i].function))) ||
            (places[i].file && !(list[i].file = pf_symbols_keep(s, places[i].file))))
            return false;
    }
    return true;
}

/* Makes room for one more result. */
static bool reserve(perfile_symbols *s)
{
    if (s->n_places < s->places_cap)
        return true;
    size_t cap = s->places_cap ? s->places_cap * 2 : 64;
    pf_places *more = pf_budget_realloc(&s->budget, s->places, s->places_cap, cap, sizeof *more);
    if (!more || cap >= PF_INDEX_NONE)
        return false;
    s->places = more;
    s->places_cap = cap;
    return true;
}

/* Looks up an address of a file, and stores the result.  Returns false when out of memory or
 * budget. */
static bool look_up(perfile_symbols *s, pf_symbol_object *o, uint64_t at, uint32_t *number)
{
    pf_dwarf_place places[PF_PLACES_MOST];
    const size_t n =
        o->dwarf ? pf_dwarf_find(o->dwarf, at, !(s->flags & PERFILE_SYMBOLS_MANGLED), places) : 0;
    perfile_source_place *list = NULL;
    if (!reserve(s) || (n && !(list = pf_budget_alloc(&s->budget, n, sizeof *list))))
        return false;
    if (!keep_places(s, places, n, list) || !pf_index_put(&o->places, at, (uint32_t)s->n_places)) {
        pf_budget_free(&s->budget, list, n, sizeof *list);
        return false;
    }
    s->places[s->n_places] = (pf_places){list, n};
    *number = (uint32_t)s->n_places++;
    return true;
}

/* Finds the number of the result for an address.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
static perfile_status find(perfile_symbols *s, const perfile_mapping *m, uint64_t addr,
                           uint32_t *number)
{
    pf_symbol_object *o = NULL;
    uint64_t at;
    perfile_status st = pf_symbol_object_of(s, m, &o);
    if (st != PERFILE_OK || !pf_is_elf(o) || !pf_symbol_address(o, m, addr, &at))
        return st;
    o = pf_symbol_object_loaded(o);
    if (!o->dwarf_tried) {
        o->places = (pf_index){.seed = s->object_index.seed, .budget = &s->budget};
        st = pf_dwarf_open(s, o, &o->dwarf);
        if (st == PERFILE_E_NOMEM)
            return st;
        o->dwarf_tried = true;
    }
    *number = pf_index_get(&o->places, at);
    return *number != PF_INDEX_NONE || look_up(s, o, at, number) ? PERFILE_OK
                                                                 : pf_symbol_no_memory(&s->budget);
}

perfile_status perfile_symbols_source(perfile_symbols *s, const perfile_mapping *mapping,
                                      uint64_t addr, uint64_t time,
                                      const perfile_source_place **sources, size_t *n,
                                      perfile_error *err)
{
    (void)time; /* the mapping was chosen for that time */
    uint32_t number = PF_INDEX_NONE;
    perfile_status st = PERFILE_OK;
    if (mapping && mapping->kind != PERFILE_MAPPING_SYMBOL)
        st = find(s, mapping, addr, &number);
    if (st == PERFILE_E_NOMEM)
        return pf_fail_nomem(err, "symbols");
    const bool known = st == PERFILE_OK && number != PF_INDEX_NONE;
    *sources = known ? s->places[number].list : NULL;
    *n = known ? s->places[number].n : 0;
    return PERFILE_OK;
}
