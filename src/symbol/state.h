/* The internals of perfile_symbols.  Each mapped file or memory is a pf_symbol_object, loaded at
 * the first query for an address in it. */
#ifndef PF_SYMBOL_STATE_H
#define PF_SYMBOL_STATE_H

#include "model/index.h"
#include "perfile/symbol.h"
#include "symbol/elf.h"
#include "symbol/helper.h"

enum { PF_PATH_SIZE = 4096 }; /* longest path that is tried, including its NUL */

/* How an address in a mapping becomes an address in the symbol table. */
enum {
    PF_BY_SEGMENT, /* file offset, translated by the program headers */
    PF_BY_LENGTH,  /* the mapping covers the only executable segment, of which only the address is
                      known */
    PF_BY_ADDRESS, /* add pf_symbol_object.shift */
    PF_BY_OFFSET,  /* file offset plus `shift` */
    PF_BY_DISTANCE /* distance from the start of the mapping plus `shift` */
};

/* The properties of a mapping that identify its object. */
typedef struct pf_symbol_key {
    const char *name;     /* of the mapping */
    uint64_t ino;         /* 0: unknown */
    uint32_t maj, min;    /* of the device */
    uint32_t pid;         /* owner of its perf-PID.map; 0 for files, which are shared */
    uint8_t build_id[20]; /* as recorded for the mapping */
    uint8_t build_id_size;
    bool is_kernel, is_guest;
    bool is_anonymous; /* memory without a file: perf-PID.map may name addresses in it */
    uint32_t process;  /* a process that mapped it; not compared */
} pf_symbol_key;

/* Identifies a file that an object has loaded. */
typedef struct pf_file_key {
    uint64_t words[9];
    bool is_known; /* two objects with equal keys have the same file */
} pf_file_key;

/* A mapped file or memory.  Its address does not change, and it lives as long as the
 * perfile_symbols. */
typedef struct pf_symbol_object {
    pf_symbol_key key;
    struct pf_symbol_object *next; /* the next one with the same hash */
    const char *dso;               /* as perfile_mapping_dso() returns it */
    const char *module;            /* perfile_symbol.module */
    const char *file;              /* perfile_symbol.file; NULL: no symbols */
    pf_symtab own;                 /* its symbols, unless it shares a table */
    pf_symtab *table;              /* the table with its symbols; NULL: none */
    /* PF_BY_SEGMENT: the loaded segments, by offset.  PF_BY_LENGTH: one segment. */
    pf_elf_segment *segments;
    size_t n_segments, segments_cap;
    uint64_t shift;            /* modulo 2^64 */
    const char *kernel_module; /* for a kernel module: the module that its kallsyms symbols must
                                  have; "" for the kernel itself; otherwise NULL */
    uint8_t how;               /* PF_BY_… */
    uint8_t reason;   /* PERFILE_SYMBOL_NO_FILE …: why there are no symbols; 0: there are some */
    uint64_t unnamed; /* addresses that were not given a name */
    bool verified;    /* perfile_symbol.verified */
    bool dwarf_tried; /* `dwarf` is final */
    struct pf_dwarf *dwarf; /* its debug information; NULL: none */
    /* The object that loaded the same file under another name, or NULL.  Its table, segments and
     * debug information are used instead. */
    struct pf_symbol_object *same;
    pf_file_key path_key;  /* the file at its path, identified before it is opened */
    pf_file_key files_key; /* the files that were opened */
    pf_index places;       /* address in the file to index in perfile_symbols.places */
} pf_symbol_object;

/* A result of perfile_symbols_source(). */
typedef struct pf_places {
    perfile_source_place *list; /* NULL: empty */
    size_t n;
} pf_places;

/* Symbols of a file that simpleperf stored in the capture. */
typedef struct pf_captured {
    const char *path;
    uint64_t type; /* PF_DSO_… */
    uint64_t min_vaddr, file_offset, memory_offset;
    pf_symtab table;
} pf_captured;

enum { /* file types of simpleperf */
       PF_DSO_KERNEL = 0,
       PF_DSO_KERNEL_MODULE = 1,
       PF_DSO_ELF_FILE = 2,
       PF_DSO_DEX_FILE = 3,
       PF_DSO_SYMBOL_MAP_FILE = 4
};

/* The symbols of the kernel and its modules; one for each perfile_symbols. */
typedef struct pf_kernel {
    bool tried; /* the members below are valid */
    pf_symtab table;
    const char *file;     /* NULL: not found */
    uint64_t text, stext; /* addresses of _text and _stext; 0: missing */
    uint8_t reason;       /* why there is no table */
    bool verified;        /* the build ids are equal */
    bool same_boot_only;  /* this machine's kernel, matched by release only */
    bool has_modules;     /* from kallsyms, not from an ELF file */
} pf_kernel;

/* A directory of debug files.  Nothing outside the folder in its first `root` bytes is opened. */
typedef struct pf_debug_dir {
    const char *path;
    size_t root;
} pf_debug_dir;

/* A symbol that will be demangled with others in one question. */
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
    pf_texts texts;    /* names of files and modules, and demangled names */
    uint32_t flags;    /* PERFILE_SYMBOLS_… */
    const char *symfs; /* "": none */
    pf_debug_dir *debug_dirs;
    uint32_t n_debug_dirs;
    size_t debug_dirs_cap;
    const char *perf_map_dir; /* from the options; NULL: default folders */
    void (*notice)(void *user, const perfile_error *what); /* NULL if there is no consumer */
    void *notice_user;
    void (*unnamed)(void *user, const perfile_unnamed *what); /* NULL if there is no consumer */
    void *unnamed_user;
    pf_kernel kernel;
    pf_symbol_object **objects;
    size_t n_objects, objects_cap;
    pf_index object_index; /* hash of a pf_symbol_key to index of the first object with it */
    pf_index file_index;   /* hash of a pf_file_key to index of the first object with it */
    pf_index map_index;    /* pid to index of the object that has loaded its perf-PID.map */
    pf_places *places;
    size_t n_places, places_cap;
    pf_captured *captured; /* in the order of the capture */
    size_t n_captured, captured_cap;
    pf_index captured_index; /* path (a pointer into texts) to index in `captured` */
    uint64_t checked_bytes;  /* total size of the debug files with a computed checksum */
    uint64_t generation;     /* of the session when simpleperf's features were last searched */
    bool captured_read;      /* simpleperf's features were found */
};

/* The loaders below return PERFILE_OK even if they find nothing; o->reason then says why.  After
 * PERFILE_E_LIMIT or PERFILE_E_NOMEM the object has no symbols, and pf_symbol_object_drop()
 * releases what was loaded. */

/* elf.c: loads the symbols of an ELF file and of its debug file. */
perfile_status pf_load_elf(perfile_symbols *s, pf_symbol_object *o);

/* Copies the loaded segments of a file.  A debug file alone (`is_mapped` false) has lost the file
 * offsets, so only its executable segment is used, and only if there is exactly one.
 * PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_keep_segments(pf_symbol_object *o, const pf_elf *elf, bool is_mapped);

/* dwarf.c: releases the debug information of an object; releases all results. */
void pf_source_drop(perfile_symbols *s, pf_symbol_object *o);
void pf_source_free(perfile_symbols *s);

/* kernel.c: reads the kallsyms file of the options, and describes errors. */
perfile_status pf_kernel_given(perfile_symbols *s, const char *path, perfile_error *err);
/* Reads the kallsyms file of a capture that is a directory, if there is one.  Fails with
 * PERFILE_E_NOMEM only. */
perfile_status pf_kernel_captured(perfile_symbols *s);
/* Loads the kernel's symbols for an object.  `pgoff` is that of the mapping: the recorded address
 * of the symbol that the mapping's name ends with (_text or _stext). */
perfile_status pf_load_kernel(perfile_symbols *s, pf_symbol_object *o, uint64_t pgoff);

/* table.c: returns true if a mapping of this name is memory without a file, which perf-PID.map may
 * describe. */
bool pf_is_anonymous(const char *name);
/* Loads perf-PID.map.  `addr` is the address of the mapping. */
perfile_status pf_load_perf_map(perfile_symbols *s, pf_symbol_object *o, uint64_t addr);

/* captured.c: reads simpleperf's features once they have arrived; finds the symbols of an object in
 * them. */
perfile_status pf_captured_read(perfile_symbols *s);
bool pf_load_captured(perfile_symbols *s, pf_symbol_object *o);

/* symbols.c: finds the object of a mapping, and makes it if it is new. */
perfile_status pf_symbol_object_of(perfile_symbols *s, const perfile_mapping *m,
                                   pf_symbol_object **object);

/* Translates an address to one of the symbol table, for ELF files the address as linked.  Returns
 * false if the file loads nothing there. */
bool pf_symbol_address(const pf_symbol_object *o, const perfile_mapping *m, uint64_t addr,
                       uint64_t *at);

/* Returns true for ELF files of user code and for [vdso]. */
bool pf_is_elf(const pf_symbol_object *o);

/* Returns true if the mapping is in the kernel address space of host or guest. */
bool pf_is_kernel(const perfile_mapping *m);

/* Makes the complete table searchable and assigns it to the object. */
perfile_status pf_symbol_object_complete(pf_symbol_object *o, int rules);

/* Returns the object that has loaded the file of `o`: another one, or `o` itself. */
static inline pf_symbol_object *pf_symbol_object_loaded(pf_symbol_object *o)
{
    return o->same ? o->same : o;
}

/* Copies a text, which lives as long as `s`.  Returns NULL when out of memory or budget; see
 * pf_symbol_no_memory(). */
const char *pf_symbols_keep(perfile_symbols *s, const char *text);

/* Formats a path into PF_PATH_SIZE bytes.  Returns false if it does not fit. */
bool pf_path(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a build id as "xx/yyyy…", the form used in directories.  Returns false if there is
 * none. */
bool pf_build_id_path(const uint8_t *id, uint8_t size, char *out, size_t out_size);

/* Returns true if two build ids are the same.  Some writers pad shorter ids (of hashes other than
 * SHA-1) with zeros. */
bool pf_same_build_id(const uint8_t *a, uint8_t na, const uint8_t *b, uint8_t nb);

/* Files of a process that still runs on this machine.  If it is in a container, it may have another
 * root directory and another pid. */

enum { PF_PROCESS_ROOT = 32 }; /* size of "/proc/PID/root" */

typedef struct pf_process {
    char root[PF_PROCESS_ROOT]; /* its root directory, for pf_symfile_open_in() */
    uint64_t dev, ino;          /* of its root directory */
    uint32_t inner;             /* its pid in its own pid namespace */
    uint32_t owner;             /* the user that it runs as */
    bool is_apart; /* its root directory, mounts or pid differ from those that this program sees */
} pf_process;

/* Returns true if files of running processes may be used: the options allow it, and the capture
 * does not name another host. */
bool pf_process_may_be_here(const perfile_symbols *s);

/* Examines process `pid`.  Returns false if it does not run or may not be examined. */
bool pf_process_find(uint32_t pid, pf_process *p);

/* Returns true if the process has something mapped at `addr`.  This detects most pids that were
 * reused since the recording, because another process has other addresses. */
bool pf_process_maps(uint32_t pid, uint64_t addr);

/* The opened ELF files of a mapping, used for symbols, call frame information and debug
 * information. */

/* A file that may be open. */
typedef struct pf_elf_opened {
    bool is_open;
    pf_symfile file;
    pf_elf elf;
    char path[PF_PATH_SIZE];
    size_t root; /* bytes of `path` that name the folder which the file must be in */
} pf_elf_opened;

/* The mapped file, which relates file offsets to addresses, and a debug file with the sections that
 * were stripped from it. */
typedef struct pf_elf_files {
    perfile_symbols *s;
    const pf_symbol_key *key;
    const char *wanted; /* section that the debug file must have; NULL: a symbol table */
    pf_elf_opened mapped, debug;
    bool other_build, damaged;          /* at least one candidate was */
    char id[2 * 20 + 2];                /* "xx/yyyy…"; empty: build id unknown */
    char process_root[PF_PROCESS_ROOT]; /* where the mapped file was found; empty: none */
} pf_elf_files;

/* Finds the files of an object.  A debug file is searched if the mapped file lacks the section
 * `wanted` (NULL: a symbol table).  It is not an error if none is found.  PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM: *files is unchanged. */
perfile_status pf_elf_files_open(perfile_symbols *s, const pf_symbol_key *key, const char *wanted,
                                 pf_elf_files **files);
void pf_elf_files_close(pf_elf_files *files);

/* Finds device and inode of the file at the path of a mapping.  Returns false if there is none. */
bool pf_elf_path_identity(const perfile_symbols *s, const pf_symbol_key *key, uint64_t *dev,
                          uint64_t *ino);

/* Returns true if the file has this section (NULL: a symbol table). */
bool pf_elf_has(const pf_elf *elf, const char *wanted);

/* Debug information of one file, read by perfile-symbolizer: the functions at an address, and their
 * source lines. */

typedef struct pf_dwarf pf_dwarf;

/* A source location.  Its texts are valid until the next question. */
typedef struct pf_dwarf_place {
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
} pf_dwarf_place;

/* Returns true if this build can read debug information. */
bool pf_can_read_dwarf(void);

/* Opens the debug information of a file; *dwarf is NULL if it has none.  PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM. */
perfile_status pf_dwarf_open_file(perfile_symbols *s, const pf_elf_opened *f, pf_dwarf **dwarf);
void pf_dwarf_close(pf_dwarf *dwarf);

/* Finds the source locations of an address of the file, innermost first.  Returns how many.
 * `demangle`: function names are demangled, otherwise as stored. */
size_t pf_dwarf_find(pf_dwarf *dwarf, uint64_t at, bool demangle,
                     pf_dwarf_place places[PF_PLACES_MOST]);

/* Parses the locations of an answer, which begins at `at`.  Returns false if it is malformed. */
bool pf_dwarf_take(const uint8_t *at, const pf_answer *a, pf_dwarf_place places[PF_PLACES_MOST]);

/* Internal functions of perfile_symbols, in addition to perfile/symbol.h. */

/* Announces that perfile_symbols_find() will be called for `addr` of `mapping`.  All announced
 * names are demangled in one question.  Calls beyond PF_DEMANGLE_MOST (symbol/protocol.h) are
 * ignored. */
void pf_symbols_expect(perfile_symbols *symbols, const perfile_mapping *mapping, uint64_t addr);

/* Adds `n` to perfile_unnamed.addresses of the mapping's object, for an unnamed answer that counts
 * several times. */
void pf_symbols_add_unnamed(perfile_symbols *symbols, const perfile_mapping *mapping, uint64_t n);

/* Returns the index of the symbol that perfile_symbols_find() would return, without its name.
 * `object` is the mapping's object (pf_symbol_object_of()); the mapping must not be a KSYMBOL.
 * UINT32_MAX: none.  Any number of threads may call this at once, even while one of them looks up
 * objects. */
uint32_t pf_symbol_number(const pf_symbol_object *object, const perfile_mapping *mapping,
                          uint64_t addr);

/* Opening a file below a folder without leaving it. */

/* Opens `path` as a process with the root directory `root` would: `..` and absolute links do not
 * leave it.  `flags` are those of open().  Returns a descriptor, or -1. */
int pf_open_inside(const char *root, const char *path, int flags);

/* Does the same without openat2(), for kernels before 5.6. */
int pf_open_inside_by_hand(const char *root, const char *path, int flags);

#endif
