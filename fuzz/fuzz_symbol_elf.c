/* Any bytes as an ELF file.  Its symbols are in order, the answer for an address is a symbol that
 * covers it, and no other covering symbol begins later. */
#include <stdlib.h>
#include <string.h>

#include "ensure.h"
#include "perfile/symbol.h"
#include "symbol/elf.h"

/* Adds the symbols that elf.c adds; damage ends one table, not the others. */
static perfile_status fill(const pf_elf *elf, pf_symtab *t)
{
    static const uint32_t types[] = {PF_SHT_SYMTAB, PF_SHT_DYNSYM};
    perfile_status st = PERFILE_OK;
    for (unsigned i = 0; i < 2 && (st == PERFILE_OK || st == PERFILE_E_CORRUPT); i++) {
        const pf_elf_section *s = pf_elf_section_of_type(elf, types[i]);
        if (s)
            st = pf_elf_add_symbols(elf, s, PERFILE_SYMBOL_SYMTAB, t);
        pf_symtab_settle(t, PF_RULES_ELF);
    }
    if (st == PERFILE_OK || st == PERFILE_E_CORRUPT)
        st = pf_elf_add_plt(elf, t);
    pf_symtab_settle(t, PF_RULES_ELF);
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

static void check_answer(const pf_symtab *t, uint64_t addr)
{
    const pf_sym *found = pf_symtab_find(t, addr), *wanted = NULL;
    for (size_t i = 0; i < t->n; i++)
        if (t->syms[i].start <= addr && addr < t->syms[i].end)
            wanted = &t->syms[i];
    ENSURE(found == wanted);
    if (found)
        ENSURE(strlen(pf_symtab_name(t, found)) < t->names_len);
}

static void check_table(const pf_symtab *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const pf_sym *s = &t->syms[i];
        ENSURE(i == 0 || t->syms[i - 1].start < s->start);
        ENSURE(s->end >= s->start && !s->open_end && s->name < t->names_len);
        if (i >= 64)
            continue;
        check_answer(t, s->start - 1);
        check_answer(t, s->start);
        check_answer(t, s->end - 1);
        check_answer(t, s->end);
    }
    check_answer(t, 0);
    check_answer(t, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pf_budget budget = {.limit = 1 << 20};
    pf_symtab t = {.budget = &budget};
    pf_elf elf;
    char link[256];
    uint32_t crc;
    uint8_t *block = malloc(size ? size : 1);
    ENSURE(block);
    if (size)
        memcpy(block, data, size);
    pf_symfile f = pf_symfile_memory((perfile_bytes){block, size});
    if (pf_elf_open(&elf, &f, &budget) == PERFILE_OK) {
        ENSURE(elf.build_id_size <= sizeof elf.build_id);
        if (pf_elf_debuglink(&elf, link, sizeof link, &crc) == PERFILE_OK)
            ENSURE(link[0] && strlen(link) < sizeof link && !strchr(link, '/'));
        if (fill(&elf, &t) == PERFILE_OK && pf_symtab_index(&t) == PERFILE_OK)
            check_table(&t);
        pf_elf_close(&elf);
    }
    pf_symtab_free(&t);
    ENSURE(budget.used == 0);
    free(block);
    return 0;
}
