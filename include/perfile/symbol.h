/* Symbols: finds the function at an address, in mapped files, the kernel and generated code.
 *
 * A perfile_model tells what was mapped at an address; this tells which function is there.
 *
 *     const perfile_mapping *m = perfile_model_mapping(model, pid, addr, time);
 *     perfile_symbol symbol;
 *     st = perfile_symbols_find(symbols, m, addr, time, &symbol, &err);
 *
 * Symbols are taken from these sources, in this order: the KSYMBOL record itself; the symbols that
 * simpleperf stored in the capture; for anonymous memory the perf-PID.map of the process; for the
 * kernel a kallsyms file; otherwise ELF files.  An ELF file is used if its build id matches the
 * mapping.  If the capture has no build id for the mapping, the file at its path is used unless
 * device or inode differ, and the answer is not `verified`.  While the process runs, the path is
 * also looked up in the root directory of the process (containers); build id or inode must match
 * there.  No answer is taken from another build.  An address without a name still has its module
 * and offset, and the reason.
 *
 * Symbols of a mapping are searched once, for the first address in it: build ids and other facts
 * from the end of a capture should be known by then.  Files are read with pread() and treated as
 * hostile input.  The memory for their symbols is bounded by perfile_limits.symbol_bytes; the
 * functions of a file that does not fit are unknown (PERFILE_SYMBOL_TOO_LARGE).
 *
 * Another program, perfile-symbolizer, demangles names and reads debug information.  It is started
 * when it is first needed and ends with perfile_symbols_close().  It has limits of memory and CPU
 * time (format/limits.md) and opens no files.  What it does not answer is unknown. */
#ifndef PERFILE_SYMBOL_H
#define PERFILE_SYMBOL_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Symbols of the files that a capture mentions, loaded on demand. */
typedef struct perfile_symbols perfile_symbols;

enum { /* perfile_symbols_options.flags */
       /* Return names as stored, not demangled. */
       PERFILE_SYMBOLS_MANGLED = 1 << 0,
       /* Use only data in the capture and files that the options name.  Not used are files of this
        * machine at the paths of mappings (without `symfs`), default directories, and symbols of
        * this machine's kernel. */
       PERFILE_SYMBOLS_GIVEN_ONLY = 1 << 1
};

enum {                               /* perfile_unnamed.kind */
       PERFILE_UNNAMED_FILE = 0,     /* a file, or an object that the kernel maps into processes */
       PERFILE_UNNAMED_KERNEL = 1,   /* the kernel or one of its modules, of host or guest */
       PERFILE_UNNAMED_GENERATED = 2 /* anonymous memory with code that a process generated */
};

/* Addresses without a name in one mapped object. */
typedef struct perfile_unnamed {
    const char *file;   /* its name, as perfile_mapping_dso(); valid during the call */
    uint64_t addresses; /* perfile_symbols_find() answers without a name; for a profile and viewer
                         * formats: nodes of the call tree */
    uint8_t kind;       /* PERFILE_UNNAMED_FILE … */
    uint8_t reason;     /* PERFILE_SYMBOL_NO_FILE …, below */
    uint8_t reserved0[6];
    uint64_t reserved[2];
} perfile_unnamed;

/* Where symbols are searched.  Set `size`; zeros are the defaults.  Texts are copied. */
typedef struct perfile_symbols_options {
    size_t size;
    uint32_t flags;        /* PERFILE_SYMBOLS_… */
    uint32_t n_debug_dirs; /* items of debug_dirs */
    /* Root directory of mapped files: neither `..` nor links lead out of it, and inodes are not
     * compared.  NULL: this machine's root. */
    const char *symfs;
    /* Directories of debug files, each searched for .build-id/xx/yyyy.debug (debug packages),
     * .build-id/xx/yyyy/elf, debug, vdso and kallsyms (perf's cache), PATH.debug, and the file in
     * the debuglink of a mapped file; nothing outside of the directory is opened.  They are
     * searched before ~/.debug and /usr/lib/debug. */
    const char *const *debug_dirs;
    /* Copy of the recorded kernel's /proc/kallsyms.  NULL: kcore_dir/kallsyms if the capture is a
     * directory, else the one in perf's cache, else this machine's if it runs the recorded kernel.
     */
    const char *kallsyms;
    /* Directory of perf-PID.map files.  NULL: tmp below `symfs`; /tmp of the process while it runs,
     * with the pid that it has there (containers); /tmp.  The last two are not searched if the
     * capture names another host, and in them links, files of other users and files that others can
     * write are not read. */
    const char *perf_map_dir;
    const perfile_limits *limits; /* NULL: defaults; copied */
    /* Called during queries, with a sentence for people, for each map that was found but not read
     * because others could have written it.  NULL: no notices. */
    void (*notice)(void *user, const perfile_error *what);
    void *notice_user;
    /* Called once by perfile_symbols_close() for each mapped file, kernel or memory that has
     * addresses without a name.  NULL: no calls. */
    void (*unnamed)(void *user, const perfile_unnamed *what);
    void *unnamed_user;
    uint64_t reserved[2];
} perfile_symbols_options;

enum {                                /* perfile_symbol.origin: the source of the name */
       PERFILE_SYMBOL_NOTHING = 0,    /* unknown; see `reason` */
       PERFILE_SYMBOL_SYMTAB = 1,     /* .symtab of the mapped file */
       PERFILE_SYMBOL_DYNSYM = 2,     /* .dynsym of the mapped file */
       PERFILE_SYMBOL_PLT = 3,        /* entry of a procedure linkage table, "NAME@plt" */
       PERFILE_SYMBOL_DEBUG_FILE = 4, /* a separate debug file */
       PERFILE_SYMBOL_PERF_MAP = 5,   /* perf-PID.map */
       PERFILE_SYMBOL_KALLSYMS = 6,   /* kallsyms */
       PERFILE_SYMBOL_KSYMBOL = 7,    /* a KSYMBOL record */
       PERFILE_SYMBOL_CAPTURE = 8     /* feature FILE or FILE2 of simpleperf */
};

enum {                                    /* perfile_symbol.reason: reason for a missing name */
       PERFILE_SYMBOL_FOUND = 0,          /* there is one */
       PERFILE_SYMBOL_NO_MAPPING = 1,     /* the mapping is not known */
       PERFILE_SYMBOL_NO_FILE = 2,        /* no file with symbols was found */
       PERFILE_SYMBOL_OTHER_BUILD = 3,    /* only files with another build id or inode */
       PERFILE_SYMBOL_NO_SYMBOLS = 4,     /* the file has no symbols and no debug file was found */
       PERFILE_SYMBOL_NO_SYMBOL_HERE = 5, /* no symbol covers the address */
       PERFILE_SYMBOL_DAMAGED = 6,        /* the file is not what its kind should be */
       PERFILE_SYMBOL_TOO_LARGE = 7,      /* perfile_limits.symbol_bytes */
       PERFILE_SYMBOL_DISTRUSTED = 8      /* perf-PID.map that others could have written */
};

/* The answer for an address.  Texts live as long as the perfile_symbols. */
typedef struct perfile_symbol {
    const char *name;    /* the function, demangled unless asked otherwise; NULL: unknown */
    const char *mangled; /* its name as stored; NULL: unknown */
    const char *module;  /* mapped file without folders, or [kernel.kallsyms] and the like; never
                          * NULL, [unknown] without a mapping */
    const char *file;    /* path of the file with the symbol, as it was opened; NULL: none */
    uint64_t offset; /* of the address in the module: addr - mapping.addr + mapping.pgoff; for the
                      * kernel and for code with its own symbols addr - mapping.addr; without a
                      * mapping the address itself */
    uint64_t start;  /* address at which the function begins, as the process saw it */
    uint64_t size;   /* bytes of the function */
    uint8_t origin;  /* PERFILE_SYMBOL_SYMTAB … */
    uint8_t reason;  /* PERFILE_SYMBOL_FOUND … */
    bool verified;   /* the file has the build id of the mapping, or the capture has the symbol */
    uint8_t reserved0[5];
    uint64_t reserved[2];
} perfile_symbol;

/* Opens the symbols of a session.  Reads only the kallsyms file of the options or of the capture.
 * No other thread may use the stream of `session` during this call.  `session` must outlive
 * `symbols`, which asks it for build ids, host and simpleperf's symbols whenever it has learned
 * something.  PERFILE_E_USAGE.  PERFILE_E_IO, PERFILE_E_LIMIT: from options.kallsyms.
 * PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_symbols_open(const perfile_session *session, const perfile_symbols_options *options,
                     perfile_symbols **symbols, perfile_error *err);

/* Finds the function at `addr` in the object that `mapping` describes, at `time` (ns of the session
 * clock, PERFILE_NO_TIME: any).  With `mapping` NULL the answer is [unknown].  An unknown function
 * is an answer, not a failure: `symbol` is filled, and its `reason` tells why.  After the first
 * query for a file, and for a name to be demangled, queries allocate nothing.  PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_symbols_find(perfile_symbols *symbols,
                                                                 const perfile_mapping *mapping,
                                                                 uint64_t addr, uint64_t time,
                                                                 perfile_symbol *symbol,
                                                                 perfile_error *err);

/* A location in the source of a program.  Texts live as long as the perfile_symbols. */
typedef struct perfile_source_place {
    const char *function; /* demangled unless asked otherwise; NULL: unknown */
    const char *file;     /* as passed to the compiler, often a full path; NULL: unknown */
    uint32_t line;        /* from 1; 0: unknown */
    bool is_inlined;      /* the function is inlined into the next one of the list */
    uint8_t reserved0[3];
    uint64_t reserved[2];
} perfile_source_place;

/* Finds the source locations of `addr`, from the debug information of the file mapped there or of
 * its debug file: *n locations, innermost first.  All but the last are functions that the compiler
 * inlined, each into the next, at the next one's file and line.  *n is 0 if there is no debug
 * information for the address, and in builds without libdw.  For a caller, pass
 * its return address minus 1.  Each address is looked up once; debug information that exceeds
 * perfile_limits.symbol_bytes counts as none.  *sources lives as long as `symbols`.
 * PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_symbols_source(
    perfile_symbols *symbols, const perfile_mapping *mapping, uint64_t addr, uint64_t time,
    const perfile_source_place **sources, size_t *n, perfile_error *err);

/* Writes "name", or "[module+0x1234]" if unknown, to `out` of `size` bytes (not 0), NUL-terminated
 * and truncated if it does not fit.  The text is not escaped: names come from files.  Returns the
 * length of the whole text in bytes. */
PERFILE_API size_t perfile_symbol_text(const perfile_symbol *symbol, char *out, size_t size);

#ifndef PERFILE_DECLARATIONS
/* Returns a reason (PERFILE_SYMBOL_NO_FILE …) in words, "no file with symbols"; NULL for other
 * numbers.  Static. */
static inline const char *perfile_symbol_reason_text(unsigned reason)
{
    return perfile_name(PERFILE_NAME_SYMBOL_REASON, reason);
}

/* Returns an origin in words, "symtab"; NULL for other numbers.  Static. */
static inline const char *perfile_symbol_origin_text(unsigned origin)
{
    return perfile_name(PERFILE_NAME_SYMBOL_ORIGIN, origin);
}
#endif

/* Releases `symbols` and every text of its answers.  NULL is fine. */
PERFILE_API void perfile_symbols_close(perfile_symbols *symbols);

#ifdef __cplusplus
}
#endif

#endif
