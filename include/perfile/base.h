/* Types that every other header uses: bytes, status, error, limits.
 *
 * Conventions of the whole library:
 *
 * - Functions that can fail return perfile_status and take a perfile_error last, which may be
 *   NULL.  Results go through pointers and are untouched on failure, but for decoders of records.h,
 *   which leave there what they could read.
 * - Every struct of options begins with its `size` (set it to sizeof), so that programs built
 *   against an older header go on working with a newer library.
 * - Structs inside other structs or in arrays (perfile_filter_term, perfile_merge_input …) have no
 *   `size`.  They have words called `reserved`, which new members replace, so that no later member
 *   moves.  A program zeroes a struct as a whole (`= {0}`), reserved words included, before it
 *   fills it.  In a struct with `size`, a reserved word that is not zero or an unknown flag is
 *   PERFILE_E_USAGE, because a request of a later version must not be ignored silently.  Data that
 *   grows with every kernel is never inside such a struct: it is reached through a pointer
 *   (perfile_event.attr) and passed with its size.
 * - Integers in structs are native; bytes in perfile_bytes and perfile_words are as stored.
 * - One object is used by one thread at a time; different objects need no locks.  The library
 *   prints nothing and never calls exit(); it starts threads only where a program asks for them
 *   (members called `threads`), and waits for them before it returns.  It keeps no state outside of
 *   objects but perfile_set_allocator().  A perfile_symbols that demangles names or reads debug
 *   information has a child process, which ends with it.
 * - Callbacks are called by the thread that called the library, unless their comment says something
 *   else.  They return normally (no longjmp(), no C++ exception), and call no function on the
 *   object that calls them.
 * - The library changes no handler of a signal.  Writing to a closed pipe raises SIGPIPE; a program
 *   that ignores it gets PERFILE_E_IO with EPIPE.
 * - Names that begin with perfile_ or PERFILE_ are those of the library, and in programs that link
 *   it statically those with pf_ and PF_, too.
 * - A call that takes an object over, or closes it, does so only on success: after a failure the
 *   caller still owns it.
 * - Objects are made by functions whose names end in _open, such as perfile_filter_open(); a source
 *   or sink by one named after what it is on (perfile_source_path(), perfile_sink_memory() …); a
 *   stage on a stream by one named after what it does (perfile_sort(), perfile_filter() …).  Names
 *   in _next yield the next item, and PERFILE_END after the last.  Names in _close release the
 *   object, and accept NULL.
 */
#ifndef PERFILE_BASE_H
#define PERFILE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef PERFILE_DECLARATIONS
#include <string.h>
#endif

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PERFILE_DECLARATIONS: defined by programs that read these headers to make a binding for another
 * language (samples/comm_counts.py).  Then there is nothing in them but declarations of standard C:
 * types, enumerators, and the functions that the shared library exports.  Inline functions and
 * macros are left out; an inline function only calls one that is exported, with a number for what
 * is asked: perfile_stream_get_summary() calls perfile_summary(), perfile_mmap2_decode() calls
 * perfile_decode() … */
#if defined(__GNUC__) && !defined(PERFILE_DECLARATIONS)
#define PERFILE_API __attribute__((visibility("default")))
#else
#define PERFILE_API
#endif

/* A result that must be checked. */
#if defined(__GNUC__) && !defined(PERFILE_DECLARATIONS)
#define PERFILE_MUST_USE __attribute__((warn_unused_result))
#else
#define PERFILE_MUST_USE
#endif

/* Borrowed bytes.  The function or struct that yields them documents who owns them and how long
 * they are valid.  `ptr` may be NULL if `len` is 0. */
typedef struct perfile_bytes {
    const uint8_t *ptr; /* the first byte */
    size_t len;         /* how many there are */
} perfile_bytes;

/* How integers are stored: `byte_order` of options and of what was read. */
enum {
    PERFILE_BYTE_ORDER_DEFAULT = 0, /* the default of these options */
    PERFILE_BYTE_ORDER_LITTLE = 1,  /* the lowest byte first */
    PERFILE_BYTE_ORDER_BIG = 2      /* the highest byte first */
};

/* Outcomes are zero and positive, failures negative.
 * TRUNCATED: more input would have helped.   CORRUPT: it would not.
 * UNSUPPORTED: valid, but not by us.         LIMIT: perhaps valid, refused by a limit.
 * USAGE: the caller's mistake.               IO: the system said no, perfile_error.sys is errno. */
typedef enum perfile_status {
    PERFILE_OK = 0,
    PERFILE_END = 1,
    PERFILE_E_NOMEM = -1,
    PERFILE_E_IO = -2,
    PERFILE_E_TRUNCATED = -3,
    PERFILE_E_CORRUPT = -4,
    PERFILE_E_UNSUPPORTED = -5,
    PERFILE_E_LIMIT = -6,
    PERFILE_E_USAGE = -7
} perfile_status;

/* Names of numbers, one function for all kinds of them.  The functions of the other headers that
 * end in _name, _text and _doc call it, and say which numbers they name.  Strings are static. */
enum { /* `of` of perfile_name() */
       PERFILE_NAME_STATUS = 0,
       PERFILE_NAME_DAMAGE = 1,
       PERFILE_NAME_DAMAGE_TEXT = 2,
       PERFILE_NAME_SEVERITY = 3,
       PERFILE_NAME_RULE_SCOPE = 4,
       PERFILE_NAME_NOTE = 5,
       PERFILE_NAME_COLUMN_TYPE = 6,
       PERFILE_NAME_FEATURE = 7,
       PERFILE_NAME_RECORD_TYPE = 8,
       PERFILE_NAME_TYPE = 9,
       PERFILE_NAME_KIND = 10,
       PERFILE_NAME_KIND_DOC = 11,
       PERFILE_NAME_SYMBOL_REASON = 12,
       PERFILE_NAME_SYMBOL_ORIGIN = 13,
       PERFILE_NAME_VERSION = 14
};

/* Returns the name of `number`; for numbers that have none NULL or "", as the typed function says.
 */
PERFILE_API const char *perfile_name(uint32_t of, uint64_t number);

/* Rows of tables, one function for all of them.  Functions of the other headers that end in _at,
 * and some more, call it, and say what a row is. */
enum { /* `of` of perfile_row() */
       PERFILE_ROW_FAMILY = 0,
       PERFILE_ROW_RECORD_TYPE = 1,
       PERFILE_ROW_FEATURE_TYPE = 2,
       PERFILE_ROW_TABLE = 3,
       PERFILE_ROW_COLUMN = 4,
       PERFILE_ROW_VERDICT = 5,
       PERFILE_ROW_OUTPUT = 6,
       PERFILE_ROW_RULE_AT = 7,
       PERFILE_ROW_RULE = 8,
       PERFILE_ROW_KIND_WORDS = 9,
       PERFILE_ROW_KIND_BASE = 10,
       PERFILE_ROW_FORMAT = 11,
       PERFILE_ROW_STRUCT = 12
};

/* Fills the first `size` bytes of *out with the row at `position` of a table, or of the part `key`
 * of a table; returns false if there is none. */
PERFILE_API bool perfile_row(uint32_t of, uint64_t key, size_t position, void *out, size_t size);

#ifndef PERFILE_DECLARATIONS
/* Returns a status in words, for example "truncated input".  The string is static. */
static inline const char *perfile_status_text(perfile_status status)
{
    return perfile_name(PERFILE_NAME_STATUS, (uint64_t)(int64_t)status);
}
#endif

enum { /* `of` of perfile_summary(): the type of the object and of the struct */
       PERFILE_SUMMARY_STREAM = 0,  /* perfile_stream *, perfile_stream_summary */
       PERFILE_SUMMARY_SORT = 1,    /* perfile_stream *, perfile_sort_summary */
       PERFILE_SUMMARY_MERGE = 2,   /* perfile_stream *, perfile_merge_summary */
       PERFILE_SUMMARY_TARGET = 3,  /* perfile_stream *, perfile_target_summary */
       PERFILE_SUMMARY_SCRUB = 4,   /* perfile_stream *, perfile_scrub_summary */
       PERFILE_SUMMARY_FILTER = 5,  /* perfile_filter_state *, perfile_filter_summary */
       PERFILE_SUMMARY_EMITTER = 6, /* perfile_emitter *, perfile_export_summary */
       PERFILE_SUMMARY_PROFILE = 7, /* perfile_profile *, perfile_profile_summary */
       PERFILE_SUMMARY_RING = 8,    /* perfile_ring *, perfile_ring_summary */
       PERFILE_SUMMARY_SINK = 9,    /* perfile_sink *, perfile_sink_summary */
       PERFILE_SUMMARY_WRITER = 10, /* perfile_writer *, perfile_writer_summary */
       PERFILE_SUMMARY_PASSES = 11  /* perfile_filter_state *, perfile_filter_passes */
};

/* What an object did so far, one function for all kinds of objects.  The functions of the other
 * headers that end in _get_summary call it.  Fills the first `size` bytes of *out; zeros if `of` is
 * not known. */
PERFILE_API void perfile_summary(uint32_t of, const void *object, void *out, size_t size);

/* perfile_error.offset when no place is meant. */
#define PERFILE_NO_OFFSET UINT64_MAX

/* What went wrong, where, and why.  The caller provides the storage, which needs no initialization
 * and no release.  `where` is static ("record.size", the name of a limit …) and never NULL after a
 * failure. */
typedef struct perfile_error {
    perfile_status status; /* what the function returned */
    int sys;               /* errno, or 0 */
    uint64_t offset;       /* in the input, bytes; PERFILE_NO_OFFSET when no place is meant */
    uint16_t damage;       /* PERFILE_DAMAGE_… (damage.h), 0 when none applies */
    uint16_t reserved0;
    uint32_t reserved1;
    const char *where; /* which field, limit or member */
    /* NUL-terminated: the value found and the value needed.  UTF-8, except that names of files and
     * texts of the input are copied byte for byte: perfile_printable() escapes them. */
    char message[256];
    uint64_t reserved2[4];
} perfile_error;

/* Limits on what an input may cost, each with a documented default. 0 means the default, UINT64_MAX
 * no limit.  Exceeding one is PERFILE_E_LIMIT, with the name of the member in perfile_error.where.
 * format/limits.md has the sum of all limits. */
typedef struct perfile_limits {
    size_t size;
    uint64_t
        window_bytes; /* unparsed bytes of a pipe held at once (records with payloads): 64 MiB */
    uint64_t inflate_bytes; /* output of one compressed record: 256 MiB */
    uint64_t zstd_window;   /* zstd window log accepted: 27 (128 MiB) */
    uint64_t split_bytes;   /* one record put together from simpleperf's SPLIT records: 256 MiB */
    uint64_t session_bytes; /* copies of attrs, ids, names and features of a stream: 512 MiB */
    uint64_t spool_bytes;   /* temporary file for file-form bytes from a pipe: 64 GiB */
    uint64_t held_bytes;    /* records that wait for a later one (perfile_target()): 64 MiB */
    uint64_t model_bytes;   /* what a perfile_model keeps of the records it was fed: 512 MiB */
    /* Decompressed bytes of a stream, or of the chunks of an archive, for each compressed one,
     * beyond inflate_bytes: 1024. */
    uint64_t inflate_ratio;
    /* Bytes of all parts that perfile_split_capture() writes, or of ids that a conversion to
     * another format makes, for each byte of its input, beyond 16 MiB: 20. */
    uint64_t growth_ratio;
    uint64_t profile_bytes; /* distinct stacks, frames and names of an export: 512 MiB */
    uint64_t symbol_bytes;  /* what a perfile_symbols keeps of files with symbols: 1 GiB */
    uint64_t reserved[2];
} perfile_limits;

/* How the library allocates memory.  Set `size` and all three functions.  They may be called from
 * several threads at once where objects are used by several, or have threads of their own. */
typedef struct perfile_allocator {
    size_t size;
    void *user;
    void *(*allocate)(void *user, size_t bytes); /* at least 1 byte, aligned as by malloc();
                                                  * NULL: out of memory */
    void *(*resize)(void *user, void *old, size_t bytes); /* as realloc(), with `old` not NULL */
    void (*release)(void *user, void *old);               /* as free(), with `old` not NULL */
} perfile_allocator;

/* Replaces malloc(), realloc() and free() for all objects of the library in this process; with NULL
 * they are used again.  Call it while there are no objects.  Libraries that this one uses (zstd,
 * libdw …) keep their own.  PERFILE_E_USAGE: a function is missing. */
PERFILE_API perfile_status perfile_set_allocator(const perfile_allocator *allocator,
                                                 perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Returns the version of the library that runs, "0.1.0". */
static inline const char *perfile_version(void)
{
    return perfile_name(PERFILE_NAME_VERSION, 0);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
