/* Copies the debug sections of an ELF file, for libdw.
 *
 * libdw assumes that texts end with a NUL and numbers end within their section, and reads on if
 * they do not.  In the copy each section is followed by zeros, where it stops.  Sections that refer
 * to other files (supplementary and split debug information) are not copied. */
#include "symbolizer/symbolizer.h"

#ifdef PF_HAVE_LIBDW
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {".debug_info",    ".debug_types",    ".debug_abbrev",
                                    ".debug_aranges", ".debug_addr",     ".debug_line",
                                    ".debug_str",     ".debug_line_str", ".debug_str_offsets",
                                    ".debug_ranges",  ".debug_rnglists"};

enum {
    N_NAMES = sizeof names / sizeof names[0],
    HEADER = 64,  /* of a 64-bit file; libdw does not need the word size of the target */
    SECTION = 64, /* size of an entry of the section table */
    NAMES = 256,  /* room for section names */
    ZEROS = 32,   /* after each section: longer than any number */
    PROGBITS = 1,
    STRTAB = 3
};

typedef struct image {
    uint8_t *bytes;
    size_t size;
    bool is_big;
    Elf_Data *sections[N_NAMES]; /* NULL: none */
} image;

static void put(const image *m, size_t at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        m->bytes[at + (m->is_big ? width - 1 - i : i)] = (uint8_t)(value >> (8 * i));
}

/* Returns the contents of a section, inflated; NULL if there are none. */
static Elf_Data *content(Elf_Scn *section, const GElf_Shdr *header)
{
    if (header->sh_type == SHT_NOBITS ||
        ((header->sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0))
        return NULL;
    Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_buf && data->d_size ? data : NULL;
}

/* Finds the sections.  Returns false if they have more than `most` bytes. */
static bool find_sections(Elf *elf, uint64_t most, image *m)
{
    size_t shstrndx, total = 0;
    if (elf_getshdrstrndx(elf, &shstrndx) != 0)
        return false;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(s, &header) ? elf_strptr(elf, shstrndx, header.sh_name) : NULL;
        for (unsigned i = 0; name && i < N_NAMES; i++)
            if (strcmp(name, names[i]) == 0 && !m->sections[i] &&
                (m->sections[i] = content(s, &header))) {
                if (m->sections[i]->d_size > most - total)
                    return false;
                total += m->sections[i]->d_size;
            }
    }
    m->size = total;
    return m->sections[0] != NULL;
}

static void put_section(const image *m, size_t at, size_t name, unsigned type, size_t offset,
                        size_t size)
{
    put(m, at, name, 4);
    put(m, at + 4, type, 4);
    put(m, at + 24, offset, 8);
    put(m, at + 32, size, 8);
    put(m, at + 48, 1, 8); /* alignment */
}

/* Writes the header, the section table (the empty section first, the names last), the names and the
 * sections. */
static void fill(image *m, const GElf_Ehdr *from)
{
    const size_t texts = HEADER + (N_NAMES + 2) * SECTION;
    size_t at = texts + NAMES, name = 1;
    unsigned n = 1;
    memcpy(m->bytes, from->e_ident, EI_NIDENT);
    m->bytes[EI_CLASS] = ELFCLASS64;
    put(m, 16, from->e_type, 2);
    put(m, 18, from->e_machine, 2);
    put(m, 20, EV_CURRENT, 4);
    put(m, 40, HEADER, 8); /* offset of the section table */
    put(m, 52, HEADER, 2);
    put(m, 58, SECTION, 2);
    for (unsigned i = 0; i < N_NAMES; i++) {
        const size_t len = strlen(names[i]) + 1;
        memcpy(m->bytes + texts + name, names[i], len);
        if (m->sections[i]) {
            const size_t size = m->sections[i]->d_size;
            memcpy(m->bytes + at, m->sections[i]->d_buf, size);
            put_section(m, HEADER + n++ * (size_t)SECTION, name, PROGBITS, at, size);
            at += size + ZEROS;
        }
        name += len;
    }
    put_section(m, HEADER + n * (size_t)SECTION, 0, STRTAB, texts, NAMES);
    put(m, 60, n + 1, 2);
    put(m, 62, n, 2);
}

uint8_t *pf_image_make(int fd, uint64_t bytes, size_t *size)
{
    GElf_Ehdr header;
    image m = {0};
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
        find_sections(elf, bytes, &m)) {
        m.is_big = header.e_ident[EI_DATA] == ELFDATA2MSB;
        m.size += HEADER + (N_NAMES + 2) * SECTION + NAMES + N_NAMES * ZEROS;
        m.bytes = calloc(1, m.size);
        if (m.bytes)
            fill(&m, &header);
    }
    elf_end(elf);
    *size = m.size;
    return m.bytes;
}

#else

typedef int pf_no_image; /* ISO C forbids an empty file */

#endif
