/* Loading the call frame information of files (see files.h).
 *
 * .eh_frame is part of what is mapped, and the file has it.  .debug_frame is debug information: it
 * may be in a debug file, and covers what .eh_frame does not.  Compressed sections are not read. */
#include "unwind/unwind.h"

#include <string.h>

enum { SHF_COMPRESSED = 0x800 };

/* Reads one section; damage is as good as its absence. */
static perfile_status open_section(pf_cfi *cfi, const pf_elf *elf, const char *name, bool eh)
{
    const pf_elf_section *section = pf_elf_section_named(elf, name);
    if (!section || section->flags & SHF_COMPRESSED)
        return PERFILE_OK;
    *cfi = (pf_cfi){.budget = elf->budget,
                    .addr = section->addr,
                    .eh = eh,
                    .swap = elf->swap,
                    .is64 = elf->is64};
    perfile_status st = pf_elf_read_section(elf, section, &cfi->section);
    if (st == PERFILE_OK)
        st = pf_cfi_index(cfi);
    if (st != PERFILE_OK)
        pf_cfi_free(cfi);
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

static void find_plt(pf_unwind_file *f, const pf_elf *elf)
{
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const pf_elf_section *section = pf_elf_section_named(elf, names[i]);
        if (section && section->addr + section->size > section->addr) {
            f->plt[i].start = section->addr;
            f->plt[i].end = section->addr + section->size;
        }
    }
}

static perfile_status load(pf_unwind_file *f, const pf_elf_files *files, uint16_t machine)
{
    perfile_status st = PERFILE_OK;
    const pf_elf *mapped = files->mapped.is_open ? &files->mapped.elf : NULL;
    const pf_elf *debug = files->debug.is_open ? &files->debug.elf : NULL;
    if (mapped && mapped->machine == machine) {
        f->is_open = true;
        find_plt(f, mapped);
        st = open_section(&f->cfi[0], mapped, ".eh_frame", true);
        if (st == PERFILE_OK)
            st = open_section(&f->cfi[1], mapped, ".debug_frame", false);
    }
    if (st == PERFILE_OK && debug && debug->machine == machine && !f->cfi[1].n) {
        f->is_open = true;
        st = open_section(&f->cfi[1], debug, ".debug_frame", false);
    }
    return st;
}

perfile_status pf_unwind_file_open(pf_unwind_file *f, perfile_symbols *s, const pf_symbol_object *o,
                                   uint16_t machine, uint64_t seed)
{
    pf_elf_files *files;
    *f = (pf_unwind_file){.rules = {.seed = seed, .budget = &s->budget}};
    if (!pf_is_elf(o))
        return PERFILE_OK;
    perfile_status st = pf_elf_files_open(s, &o->key, ".debug_frame", &files);
    if (st == PERFILE_OK) {
        st = load(f, files, machine);
        pf_elf_files_close(files);
    }
    if (st == PERFILE_E_LIMIT)
        s->budget.refused = false;
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

void pf_unwind_file_close(pf_unwind_file *f)
{
    pf_cfi_free(&f->cfi[0]);
    pf_cfi_free(&f->cfi[1]);
    pf_index_free(&f->rules);
}
