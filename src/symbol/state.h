/* The interior of perfile_symbols: one pf_symbol_object for each thing that is mapped, loaded at
 * the first query for an address in it. */
#ifndef PF_SYMBOL_STATE_H
#define PF_SYMBOL_STATE_H

#include "model/index.h"
#include "perfile/symbol.h"
#include "symbol/elf.h"
#include "symbol/helper.h"

enum { PF_PATH_SIZE = 4096 }; /* longest path that is tried, with its NUL */

/* How an address becomes one of the table. */
enum {
    PF_BY_SEGMENT, /* offset in the file, then by the program headers */
    PF_BY_LENGTH,  /* the mapping is the only executable segment: of that only the address is known
                    */
    PF_BY_ADDRESS, /* plus pf_symbol_object.shift */
    PF_BY_OFFSET,  /* offset in the file, plus `shift` */
    PF_BY_DISTANCE /* distance from the start of the mapping, plus `shift` */
};

/* What a mapping says about the file, the key of objects. */
typedef struct pf_symbol_key {
    const char *name;     /* of the mapping */
    uint64_t ino;         /* 0: not known */
    uint32_t maj, min;    /* of the device */
    uint32_t pid;         /* whose perf-PID.map counts; 0 for what all processes share */
    uint8_t build_id[20]; /* as the mapping has it */
    uint8_t build_id_size;
    bool is_kernel, is_guest;
    bool is_anonymous; /* memory of a process: its perf-PID.map may name addresses in it */
    uint32_t process;  /* one that has mapped it; not compared */
} pf_symbol_key;

/* Identifies a file that an object has loaded. */
typedef struct pf_file_key {
    uint64_t words[9];
    bool is_known; /* two objects with this key have the same file */
} pf_file_key;

/* A mapped thing.  Does not move, and lives as long as the perfile_symbols. */
typedef struct pf_symbol_object {
    pf_symbol_key key;
    struct pf_symbol_object *next; /* with the same hash */
    const char *dso;               /* as perfile_mapping_dso() calls it */
    const char *module;            /* perfile_symbol.module */
    const char *file;              /* perfile_symbol.file; NULL: no symbols */
    pf_symtab own;                 /* its symbols, unless it shares a table */
    pf_symtab *table;              /* where its symbols are; NULL: there are none */
    /* Of PF_BY_SEGMENT: those that are loaded, by offset; of PF_BY_LENGTH: one. */
    pf_elf_segment *segments;
    size_t n_segments, segments_cap;
    uint64_t shift;            /* modulo 2^64 */
    const char *kernel_module; /* of a kernel module: symbols in kallsyms must be of it; "": of the
                                * kernel itself; NULL: else */
    uint8_t how;               /* PF_BY_… */
    uint8_t reason;         /* why there are no symbols, PERFILE_SYMBOL_NO_FILE …; 0: there are */
    uint64_t unnamed;       /* answers without a name */
    bool verified;          /* perfile_symbol.verified */
    bool dwarf_tried;       /* `dwarf` is what there is */
    struct pf_dwarf *dwarf; /* its debug information; NULL: none */
    /* The object that has loaded the same file under another name; NULL: none.  Its table, segments
     * and debug information are used. */
    struct pf_symbol_object *same;
    pf_file_key path_key;  /* of the file at its path, as far as it is known before it is opened */
    pf_file_key files_key; /* of the files that were opened */
    pf_index places;       /* address in the file to the position in perfile_symbols.places */
} pf_symbol_object;

/* An answer of perfile_symbols_source(). */
typedef struct pf_places {
    perfile_source_place *list; /* NULL: there are none */
    size_t n;
} pf_places;

/* Symbols of a file that simpleperf stored in the capture. */
typedef struct pf_captured {
    const char *path;
    uint64_t type; /* PF_DSO_… */
    uint64_t min_vaddr, file_offset, memory_offset;
    pf_symtab table;
} pf_captured;

enum { /* kinds of file of simpleperf */
       PF_DSO_KERNEL = 0,
       PF_DSO_KERNEL_MODULE = 1,
       PF_DSO_ELF_FILE = 2,
       PF_DSO_DEX_FILE = 3,
       PF_DSO_SYMBOL_MAP_FILE = 4
};

/* The symbols of the kernel and its modules, one for a perfile_symbols. */
typedef struct pf_kernel {
    bool tried; /* nothing below is known before */
    pf_symtab table;
    const char *file;     /* NULL: none was found */
    uint64_t text, stext; /* addresses of _text and _stext, 0: not there */
    uint8_t reason;       /* why there is no table */
    bool verified;        /* by build id */
    bool same_boot_only;  /* of this machine's kernel, known by its release only */
    bool has_modules;     /* kallsyms; not an ELF file */
} pf_kernel;

/* A directory of debug files.  Nothing outside of its first `root` bytes is opened. */
typedef struct pf_debug_dir {
    const char *path;
    size_t root;
} pf_debug_dir;

/* A symbol that waits for its name to be demangled, with others in one question. */
typedef struct pf_expected {
    pf_symtab *table;
    uint32_t sym;
} pf_expected;

struct perfile_symbols {
    const perfile_session *session; /* borrowed */
    pf_budget budget;               /* limits.symbol_bytes */
    pf_helper helper;               /* demangles, reads debug information */
    pf_expected expected[PF_DEMANGLE_MOST];
    size_t n_expected;
    pf_texts texts;    /* names of files and modules, demangled names */
    uint32_t flags;    /* PERFILE_SYMBOLS_… */
    const char *symfs; /* "" : none */
    pf_debug_dir *debug_dirs;
    uint32_t n_debug_dirs;
    size_t debug_dirs_cap;
    const char *perf_map_dir;                              /* as given; NULL: default folders */
    void (*notice)(void *user, const perfile_error *what); /* NULL: none */
    void *notice_user;
    void (*unnamed)(void *user, const perfile_unnamed *what); /* NULL: nobody */
    void *unnamed_user;
    pf_kernel kernel;
    pf_symbol_object **objects;
    size_t n_objects, objects_cap;
    pf_index object_index; /* hash of a key to the position of the first object with it */
    pf_index file_index;   /* hash of a pf_file_key to the position of the first object with it */
    pf_index map_index;    /* pid to the position of the object that has its perf-PID.map */
    pf_places *places;
    size_t n_places, places_cap;
    pf_captured *captured; /* in order of the capture */
    size_t n_captured, captured_cap;
    pf_index captured_index; /* path (a pointer into texts) to the position in `captured` */
    uint64_t checked_bytes;  /* of debug files of which a checksum was computed */
    uint64_t generation;     /* of the session when simpleperf's features were looked for */
    bool captured_read;      /* they were there */
};

/* All below return PERFILE_OK, also if nothing was found: then o->reason says why.  PERFILE_E_LIMIT
 * and PERFILE_E_NOMEM leave an object without symbols, which pf_symbol_object_drop() cleans up. */

/* symbol/elf.c: symbols of an ELF file and of its debug file. */
perfile_status pf_load_elf(perfile_symbols *s, pf_symbol_object *o);

/* Copies the segments of a file that are loaded.  Of a debug file alone (not `is_mapped`) the
 * offsets are lost: then only the executable segment is of use, if there is but one.
 * PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_keep_segments(pf_symbol_object *o, const pf_elf *elf, bool is_mapped);

/* symbol/dwarf.c: releases the debug information of an object; all answers. */
void pf_source_drop(perfile_symbols *s, pf_symbol_object *o);
void pf_source_free(perfile_symbols *s);

/* symbol/kernel.c: reads the kallsyms file of the options, with messages. */
perfile_status pf_kernel_given(perfile_symbols *s, const char *path, perfile_error *err);
/* Reads the kallsyms file of a capture that is a directory, if there is one.  PERFILE_E_NOMEM only.
 */
perfile_status pf_kernel_captured(perfile_symbols *s);
/* `pgoff`: of the mapping; with the name of the kernel's the recorded address of a symbol. */
perfile_status pf_load_kernel(perfile_symbols *s, pf_symbol_object *o, uint64_t pgoff);

/* symbol/table.c: perf-PID.map. */
bool pf_is_anonymous(const char *name);
/* `addr`: of the mapping. */
perfile_status pf_load_perf_map(perfile_symbols *s, pf_symbol_object *o, uint64_t addr);

/* symbol/captured.c: reads simpleperf's features once they are there; finds a file of them. */
perfile_status pf_captured_read(perfile_symbols *s);
bool pf_load_captured(perfile_symbols *s, pf_symbol_object *o);

/* symbol/symbols.c: the object of a mapping, made if there is none. */
perfile_status pf_symbol_object_of(perfile_symbols *s, const perfile_mapping *m,
                                   pf_symbol_object **object);

/* The address in terms of the table, for ELF files as they were linked; false: not in anything that
 * the file loads. */
bool pf_symbol_address(const pf_symbol_object *o, const perfile_mapping *m, uint64_t addr,
                       uint64_t *at);

/* True for what is an ELF file of user code, or [vdso]. */
bool pf_is_elf(const pf_symbol_object *o);

/* True for what lies in the address space of the kernel, of host or guest. */
bool pf_is_kernel(const perfile_mapping *m);

/* The table is complete: makes it searchable and the one of the object. */
perfile_status pf_symbol_object_complete(pf_symbol_object *o, int rules);

/* The object that has the file of `o` loaded: another one, or `o` itself. */
static inline pf_symbol_object *pf_symbol_object_loaded(pf_symbol_object *o)
{
    return o->same ? o->same : o;
}

/* Keeps a text for as long as `s`.  NULL: budget or memory; pf_symbol_no_memory(). */
const char *pf_symbols_keep(perfile_symbols *s, const char *text);

/* printf() into a path of PF_PATH_SIZE; false if it does not fit. */
bool pf_path(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "xx/yyyy…" of a build id, as directories have it; false if there is none. */
bool pf_build_id_path(const uint8_t *id, uint8_t size, char *out, size_t out_size);

/* True if two build ids are the same.  Some writers pad the shorter ones of other hashes with
 * zeros. */
bool pf_same_build_id(const uint8_t *a, uint8_t na, const uint8_t *b, uint8_t nb);

/* The files of a process of this machine that still runs: it may have another root directory, and
 * another number for itself (a container). */

enum { PF_PROCESS_ROOT = 32 }; /* bytes of "/proc/PID/root" */

typedef struct pf_process {
    char root[PF_PROCESS_ROOT]; /* its root directory, for pf_symfile_open_in() */
    uint64_t dev, ino;          /* of that directory */
    uint32_t inner;             /* its number in its own pid namespace */
    uint32_t owner;             /* user that it runs as */
    bool is_apart; /* root directory, mounts or number differ from those that this program sees */
} pf_process;

/* True if files of processes of this machine count: the options allow it, and the capture names no
 * other host. */
bool pf_process_may_be_here(const perfile_symbols *s);

/* Examines process `pid`; false if it does not run, or may not be examined. */
bool pf_process_find(uint32_t pid, pf_process *p);

/* True if something is mapped at `addr` of the process.  A process that got the number of one that
 * ended has other addresses. */
bool pf_process_maps(uint32_t pid, uint64_t addr);

/* The ELF files of a mapping, opened: for symbols, for call frame information, for debug
 * information. */

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

/* Debug information of one file, read by perfile-symbolizer: which functions are at an address, and
 * where in the source. */

typedef struct pf_dwarf pf_dwarf;

/* A place in the source; texts are valid until the next question. */
typedef struct pf_dwarf_place {
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
} pf_dwarf_place;

/* True if this build reads debug information. */
bool pf_can_read_dwarf(void);

/* The same of a file. */
perfile_status pf_dwarf_open_file(perfile_symbols *s, const pf_elf_opened *f, pf_dwarf **dwarf);
void pf_dwarf_close(pf_dwarf *dwarf);

/* The places of an address of the file, innermost first; how many.  `demangle`: names of functions
 * are for people, else they are as stored. */
size_t pf_dwarf_find(pf_dwarf *dwarf, uint64_t at, bool demangle,
                     pf_dwarf_place places[PF_PLACES_MOST]);

/* Reads the places of an answer that begins at `at`; false if it is none. */
bool pf_dwarf_take(const uint8_t *at, const pf_answer *a, pf_dwarf_place places[PF_PLACES_MOST]);

/* What the inside of the library asks of perfile_symbols beside perfile/symbol.h. */

/* Says that perfile_symbols_find() will be called for `addr` of `mapping`: the names of all
 * addresses that are expected by then are demangled in one question.  More than
 * PF_DEMANGLE_MOST of symbol/protocol.h are forgotten. */
void pf_symbols_expect(perfile_symbols *symbols, const perfile_mapping *mapping, uint64_t addr);

/* Adds to perfile_unnamed.addresses of the object that a mapping shows: an answer without a name
 * counts for so many more. */
void pf_symbols_add_unnamed(perfile_symbols *symbols, const perfile_mapping *mapping, uint64_t n);

/* Which of the symbols of a mapping's object (pf_symbol_object_of()) perfile_symbols_find() would
 * answer with, as a number: what it is called is not looked up.  UINT32_MAX: none.  The mapping is
 * no KSYMBOL.  Any number of threads may ask at once, also while one asks for objects. */
uint32_t pf_symbol_number(const pf_symbol_object *object, const perfile_mapping *mapping,
                          uint64_t addr);

/* Opening a file below a folder without leaving it. */

/* Opens `path` as a process would whose root directory is `root`: `..` and absolute links do not
 * leave it.  `flags` are those of open().  Returns a descriptor, or -1. */
int pf_open_inside(const char *root, const char *path, int flags);

/* The same without openat2(), for kernels before 5.6. */
int pf_open_inside_by_hand(const char *root, const char *path, int flags);

#endif
