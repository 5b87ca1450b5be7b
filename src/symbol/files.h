/* The ELF files of a mapping, opened: for symbols, for call frame information, for debug
 * information. */
#ifndef PF_SYMBOL_FILES_H
#define PF_SYMBOL_FILES_H

#include "symbol/process.h"

/* A file that may be open. */
typedef struct pf_elf_opened {
    bool is_open;
    pf_symfile file;
    pf_elf elf;
    char path[PF_PATH_SIZE];
    size_t root; /* bytes of `path` that are the folder which the file must be in */
} pf_elf_opened;

/* The file that was mapped, which says where offsets in it lie in memory, and a debug file with
 * what was stripped off. */
typedef struct pf_elf_files {
    perfile_symbols *s;
    const pf_symbol_key *key;
    const char *wanted; /* a section that the debug file must have; NULL: a symbol table */
    pf_elf_opened mapped, debug;
    bool other_build, damaged; /* some candidate was */
    char id[2 * 20 + 2];       /* "xx/yyyy…"; empty: no build id is known */
    char
        process_root[PF_PROCESS_ROOT]; /* that the mapped file was found in; empty: no other root */
} pf_elf_files;

/* Finds the files of an object.  A debug file is looked for if the mapped file lacks the section
 * `wanted` (NULL: a symbol table).  Not finding one is no error.  PERFILE_E_LIMIT, PERFILE_E_NOMEM:
 * *files is left alone. */
perfile_status pf_elf_files_open(perfile_symbols *s, const pf_symbol_key *key, const char *wanted,
                                 pf_elf_files **files);
void pf_elf_files_close(pf_elf_files *files);

/* The device and inode of the file at the path of a mapping; false if there is none. */
bool pf_elf_path_identity(const perfile_symbols *s, const pf_symbol_key *key, uint64_t *dev,
                          uint64_t *ino);

/* True if the file has the section (NULL: a symbol table). */
bool pf_elf_has(const pf_elf *elf, const char *wanted);

#endif
