/* Internals of emitters, shared by the forms of `dump` (text, jsonl, cbor, tsv) and of `export`.
 *
 * A form is an output format, implemented as a table of functions (pf_emit_ops).  The functions
 * append to the emitter's buffer `out`; emitter.c writes it to the sink in chunks of 64 KiB.  No
 * form calls the sink itself, so an emitter without a sink can fill a buffer in another thread.
 * Appends need no error checks: running out of memory sets `no_memory`, and the next write
 * fails. */
#ifndef PF_EMIT_EMITTER_H
#define PF_EMIT_EMITTER_H

#include "base/buffer.h"
#include "base/byte_order.h"
#include "perfile/base.h"
#include "perfile/emit.h"
#include "perfile/field.h"
#include "perfile/tracepoint.h"

#include <string.h>

/* A form.  Its functions get the emitter that pf_emitter_new() allocated with `size` bytes: a
 * struct of the form that begins with a perfile_emitter. */
typedef struct pf_emit_ops {
    const char *name; /* selects the form */
    const char *doc;  /* one line for the help text */
    size_t size;      /* size of the form's emitter struct */
    /* open() reads the options and is called before begin().  close() releases everything that
     * open() and later calls allocated.  Both may be NULL. */
    perfile_status (*open)(perfile_emitter *e, perfile_error *err);
    void (*close)(perfile_emitter *e);
    /* begin() writes header, events and features; put() writes a record or damage; finish() writes
     * the end.  They do not return errors for damaged input. */
    perfile_status (*begin)(perfile_emitter *e, perfile_error *err);
    perfile_status (*put)(perfile_emitter *e, const perfile_record *r, perfile_error *err);
    perfile_status (*finish)(perfile_emitter *e, perfile_error *err);
    /* Functions for viewer formats, see export/export.h.  NULL in the forms of `dump`. */
    const struct pf_export_ops *exports;
    /* Writes the whole output for an input that could not be opened; called instead of begin().
     * NULL if the form writes nothing then. */
    perfile_status (*failure)(perfile_emitter *e, uint32_t damage, uint64_t offset,
                              perfile_error *err);
} pf_emit_ops;

struct pf_exporter;
struct pf_profiled;

/* The functions and properties of a viewer format, in addition to pf_emit_ops (see
 * src/export/export.h). */
typedef struct pf_export_ops {
    perfile_status (*put_run)(perfile_emitter *e, const perfile_record *first, size_t n,
                              perfile_error *err);
    /* Called when a capture ends.  If base.stream is not NULL, another capture begins: the
     * emitter's stream, session and model already belong to it.  NULL if the form shows only one
     * capture. */
    perfile_status (*next)(perfile_emitter *e, perfile_error *err);
    void (*summary)(const perfile_emitter *e, perfile_export_summary *out);
    /* Gets each sample and its label.  Returns false when out of memory or over the limit of the
     * profile.  NULL: samples are added up. */
    bool (*take)(struct pf_exporter *x, const struct pf_profiled *sample, uint32_t label);
    /* Gets each record of perf's own family that is not a sample, in stream order, with its time,
     * task, CPU and event (the event of its id, if it has one).  `period` and `stack` are not set.
     * Errors as in take().  NULL if the form ignores such records. */
    bool (*note)(struct pf_exporter *x, const struct pf_profiled *about);
    uint8_t per[8]; /* default keys */
    bool all_keys;  /* all keys are used, whatever the options say */
    bool per_event; /* PERFILE_PER_EVENT is always one of the keys */
    bool per_host;  /* labels include the host */
    bool lines;     /* can show source lines */
    bool trees;     /* shows a call tree, which can compare captures and can be reversed */
    bool by_time;   /* samples are shown at their time, not added up */
    bool by_name;   /* frames are written by name only, without addresses */
    bool joins;     /* by default, all unnamed frames of an object are merged */
    bool binary;    /* the output is not for terminals */
    bool directory; /* the output is several files */
    bool folder;    /* the output is files in a folder, or one file */
    /* Each sample has the frame of its address (pf_profiled.frame), and a stack only if it has a
     * callchain. */
    bool own_frames;
} pf_export_ops;

/* What the samples of an event say about CPU time. */
enum {
    PF_EVENT_HAPPENS = 0, /* nothing: each sample marks one occurrence (tracepoints, faults …) */
    PF_EVENT_COUNTS,      /* the CPU's hardware counted a lot: instructions, cache misses … */
    PF_EVENT_CLOCK        /* a running thread gets them at a steady rate: clocks, cycles */
};

/* An event that has samples.  Events of the same name are one, described by the first capture that
 * has it. */
typedef struct pf_export_event {
    const char *name;  /* text of the profile */
    unsigned says;     /* PF_EVENT_… */
    uint64_t interval; /* ns on a CPU between samples; 0 if not known */
    uint64_t period;   /* count between samples; 0 if it varies */
    uint64_t kinds; /* id of an event that has a name for each kind of CPU; 0 if it has only one */
} pf_export_event;

struct perfile_emitter {
    const pf_emit_ops *ops;
    perfile_stream *stream;
    const perfile_session *session;
    const perfile_container *container;
    perfile_sink *sink;
    uint32_t flags;
    const perfile_model *model;              /* resolves names; may be NULL */
    perfile_tracepoints *tracepoints;        /* of the session, see pf_emit_tracepoints() */
    const char *fields;                      /* perfile_emit_options.fields, valid in open() only */
    const perfile_export_options *exporting; /* complete options; valid in open() only */
    uint32_t max_stack;                      /* perfile_emit_options.max_stack */
    const char *stop_at;             /* perfile_emit_options.stop_at, valid in open() only */
    unsigned n_threads;              /* number of threads that may produce output, at least 1 */
    bool no_memory;                  /* `out` could not grow and is incomplete */
    bool decoded;                    /* something could be decoded; decides the outcome */
    bool walk_only;                  /* for tests: never use the fast path of emit/sample.inc */
    uint64_t n_fast_path;            /* for tests: bodies and trailers that used the fast path */
    struct pf_emit_threads *threads; /* NULL if there is only the caller's thread */
    pf_buffer out;
    uint64_t n_records;
    uint64_t n_errors; /* number of damages that were emitted */
};

/* Makes an emitter of this form.  The caller then sets the members for the stream and calls
 * ops->open. */
perfile_status pf_emitter_new(const pf_emit_ops *ops, perfile_sink *sink, perfile_emitter **out,
                              perfile_error *err);

/* Writes `out` to the sink and empties it.  Returns PERFILE_E_NOMEM if an earlier append failed. */
perfile_status pf_emitter_write_out(perfile_emitter *e, perfile_error *err);

/* Reserves `n` bytes at the end of `out` and returns where to write them.  The caller then passes
 * the end of the written bytes to pf_emit_filled().  Returns NULL when out of memory. */
static inline uint8_t *pf_emit_room(perfile_emitter *e, size_t n)
{
    if (!pf_buffer_reserve(&e->out, n)) {
        e->no_memory = true;
        return NULL;
    }
    return e->out.ptr + e->out.len;
}

enum {
    PF_VALUE_ROOM = 24 /* most bytes of a number in any form, including quotes and comma */
};

/* Room for writing a key.  Keys are copied in units of 16 bytes, so more bytes are written than the
 * key has. */
#define PF_KEY_ROOM(name) (sizeof(name) + 32)

/* Ends `out` at `end`, after writing to the room that pf_emit_room() returned. */
static inline void pf_emit_filled(perfile_emitter *e, const uint8_t *end)
{
    e->out.len = (size_t)(end - e->out.ptr);
}

static inline void pf_emit_bytes(perfile_emitter *e, const void *bytes, size_t n)
{
    if (!pf_buffer_append(&e->out, bytes, n))
        e->no_memory = true;
}

/* Returns the tracepoints of the session, which this emitter owns.  Returns NULL and sets no_memory
 * when out of memory. */
perfile_tracepoints *pf_emit_tracepoints(perfile_emitter *e);

/* Computes the CRC-32 of the bytes after a record (AUX data, tracing data), which are in memory or
 * read from the stream.  Returns PERFILE_E_TRUNCATED if the input ends inside them. */
perfile_status pf_emit_extra_crc(perfile_emitter *e, const perfile_record *r, uint32_t *crc,
                                 perfile_error *err);

/* Returns the file name of part `part` of a directory; NULL for its main file, `data`, and for
 * single files.  The container owns the name. */
static inline const char *pf_emit_part_name(const perfile_emitter *e, uint32_t part)
{
    if (part == 0 || !e->container || part >= e->container->n_parts)
        return NULL;
    return e->container->parts[part].name;
}

/* All forms; lib/open.c lists them. */
extern const pf_emit_ops pf_emit_text, pf_emit_jsonl, pf_emit_cbor, pf_emit_tsv;
extern const pf_emit_ops pf_emit_folded, pf_emit_flamegraph, pf_emit_pprof, pf_emit_speedscope,
    pf_emit_aux, pf_emit_firefox, pf_emit_perfetto, pf_emit_chrome, pf_emit_parquet;

/* Output by several threads.  Records are collected in jobs; any thread turns a job into text, and
 * the caller's thread writes the texts to the sink in order. */

enum { PF_EMIT_JOB_TEXT = 384 << 10 }; /* bytes of text per job; they fit the level 2 cache */

/* Gives the emitter `threads` threads (2 to PF_MOST_THREADS, including the caller's).  A job makes
 * about `job_text` bytes of text and has at most half as many bytes of records.  All members of `e`
 * must be set.  If this fails, `e` must still be closed. */
perfile_status pf_emit_threads_start(perfile_emitter *e, perfile_stream *stream, unsigned threads,
                                     size_t job_text, perfile_error *err);

/* Writing numbers and bytes as characters, to a position with enough room.
 *
 * All functions return the position after the last character.  Those that leave out leading zeros
 * write whole 64-bit words: up to 8 (decimal) or 16 (hexadecimal) bytes, whatever the length of the
 * number.  Bytes after the returned position are undefined.  The decimal functions compute all
 * digits of a number in parallel, in the lanes of a 64-bit word, because `dump` spends most of its
 * time printing numbers. */

/* Returns true if `text` is valid UTF-8: shortest forms, no surrogates, nothing above U+10FFFF. */
bool pf_utf8_valid(perfile_bytes text);

enum {
    PF_DEC_MAX = 20, /* digits of UINT64_MAX */
    PF_HEX_MAX = 18  /* digits of UINT64_MAX, with 0x */
};

/* The digit pairs "00" "01" … "99", and "00" "01" … "ff". */
extern const char pf_dec_pairs[200];
extern const char pf_hex_pairs[512];

/* Stores a 64-bit word with its lowest byte first, on every machine. */
PF_INLINE void pf_put_word(uint8_t *at, uint64_t word)
{
    word = PF_NATIVE_BIG ? pf_swap_u64(word) : word;
    memcpy(at, &word, sizeof word);
}

/* Returns the 8 decimal digits of v < 10^8 as bytes, with the first digit in the lowest byte.
 *
 * Each step splits every lane x into x / d (lower half) and x % d (upper half) of a lane half as
 * wide, for d = 10^4, 100, 10.  The division by d is a multiplication and a shift that are exact
 * for all values that a lane can have.  With q = x / d, the result is q + ((x - d * q) << n), which
 * equals (x << n) - q * ((d << n) - 1). */
PF_INLINE uint64_t pf_dec_values(uint32_t v)
{
    uint64_t x = v, q = v / 10000;
    x = (x << 32) - q * ((UINT64_C(10000) << 32) - 1);
    q = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f); /* by 100 */
    x = (x << 16) - q * ((100 << 16) - 1);
    q = x * 103 >> 10 & UINT64_C(0x000f000f000f000f); /* by 10 */
    return (x << 8) - q * ((10 << 8) - 1);
}

#define PF_DIGIT_ZEROS UINT64_C(0x3030303030303030)

/* Writes v < 10^8 with exactly 8 digits. */
PF_INLINE uint8_t *pf_put_dec_8(uint8_t *at, uint32_t v)
{
    pf_put_word(at, pf_dec_values(v) + PF_DIGIT_ZEROS);
    return at + 8;
}

/* Writes v < 10^8 without leading zeros.  These are the lowest bytes and are shifted out.  Bit 56
 * ensures that the number 0 still has a digit. */
PF_INLINE uint8_t *pf_put_dec_up_to_8(uint8_t *at, uint32_t v)
{
    uint64_t x = pf_dec_values(v);
    unsigned zeros = (unsigned)__builtin_ctzll(x | UINT64_C(1) << 56) / 8;
    pf_put_word(at, (x + PF_DIGIT_ZEROS) >> 8 * zeros);
    return at + 8 - zeros;
}

/* Writes v < 10^4 without leading zeros: the same in a 32-bit word, with one step less. */
PF_INLINE uint8_t *pf_put_dec_up_to_4(uint8_t *at, uint32_t v)
{
    uint32_t q = v * 5243 >> 19; /* by 100 */
    uint32_t x = (v << 16) - q * ((100 << 16) - 1);
    q = x * 103 >> 10 & 0x000f000f; /* by 10 */
    x = (x << 8) - q * ((10 << 8) - 1);
    unsigned zeros = (unsigned)__builtin_ctz(x | 1U << 24) / 8;
    x = (x + 0x30303030) >> 8 * zeros;
    x = PF_NATIVE_BIG ? pf_swap_u32(x) : x;
    memcpy(at, &x, sizeof x);
    return at + 4 - zeros;
}

/* Writes v >= 10^8.  Not inlined. */
uint8_t *pf_put_dec_long(uint8_t *at, uint64_t v);

PF_INLINE uint8_t *pf_put_dec(uint8_t *at, uint64_t v)
{
    if (v < 10) {
        *at = (uint8_t)('0' + v);
        return at + 1;
    }
    if (v < 10000)
        return pf_put_dec_up_to_4(at, (uint32_t)v);
    return v < 100000000 ? pf_put_dec_up_to_8(at, (uint32_t)v) : pf_put_dec_long(at, v);
}

/* Writes exactly `n` digits, with leading zeros.  Higher digits are lost. */
PF_INLINE uint8_t *pf_put_dec_fixed(uint8_t *at, uint64_t v, unsigned n)
{
    uint8_t *p = at + n;
    for (; p - at >= 2; v /= 100) {
        p -= 2;
        memcpy(p, pf_dec_pairs + 2 * (v % 100), 2);
    }
    if (p != at)
        *at = (uint8_t)('0' + v % 10);
    return at + n;
}

/* Returns the 8 hexadecimal digits of `v` as characters, with the first in the lowest byte.
 * Spreads the nibbles to one per byte, then adds '0', and 'a' - '0' - 10 to those above 9. */
PF_INLINE uint64_t pf_hex_digits(uint32_t v)
{
    uint64_t x = pf_swap_u32(v);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 & UINT64_C(0x000f000f000f000f)) | (x & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + PF_DIGIT_ZEROS + letters * ('a' - '0' - 10);
}

/* Writes lower case digits without leading zeros: these are first shifted out to the left. */
PF_INLINE uint8_t *pf_put_hex(uint8_t *at, uint64_t v)
{
    unsigned zeros = (unsigned)__builtin_clzll(v | 1) / 4;
    v <<= 4 * zeros;
    pf_put_word(at, pf_hex_digits((uint32_t)(v >> 32)));
    pf_put_word(at + 8, pf_hex_digits((uint32_t)v));
    return at + 16 - zeros;
}

PF_INLINE uint8_t *pf_put_0x(uint8_t *at, uint64_t v)
{
    at[0] = '0';
    at[1] = 'x';
    return pf_put_hex(at + 2, v);
}

/* Writes exactly `n` digits, with leading zeros. */
PF_INLINE uint8_t *pf_put_hex_fixed(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = n; i-- > 0; v >>= 4)
        at[i] = (uint8_t) "0123456789abcdef"[v & 15];
    return at + n;
}

/* Returns the digit of 0 to 15.  Uses arithmetic instead of a table so that loops over it can be
 * vectorized. */
PF_INLINE uint8_t pf_hex_digit(uint8_t v)
{
    return (uint8_t)(v + '0' + (v > 9 ? 'a' - '0' - 10 : 0));
}

/* Writes two digits per byte: blocks of 16 bytes with vector code, the rest with a table.  `at`
 * needs room for 2 * bytes.len. */
PF_INLINE uint8_t *pf_put_bytes(uint8_t *restrict at, perfile_bytes bytes)
{
    const uint8_t *restrict from = bytes.ptr;
    size_t i = 0;
    for (size_t blocks = bytes.len & ~(size_t)15; i < blocks; i++) {
        at[2 * i] = pf_hex_digit(from[i] >> 4);
        at[2 * i + 1] = pf_hex_digit(from[i] & 15);
    }
    for (; i < bytes.len; i++)
        memcpy(at + 2 * i, pf_hex_pairs + 2 * from[i], 2);
    return at + 2 * bytes.len;
}

/* How the machine-readable forms (jsonl, cbor, tsv) write a field, derived from its row in the
 * format tables.  This implements the output contract of `dump` (format/dump.cddl).  At run time it
 * comes from pf_plan_of() and is cached per field in a pf_key; sample.inc uses it at compile time,
 * where all arguments are constants. */

typedef enum pf_plan {
    PF_PLAN_SKIP,   /* padding, and counts that follow from the length of a list */
    PF_PLAN_NUMBER, /* up to 32 bits: a JSON number is exact */
    PF_PLAN_SIGNED,
    PF_PLAN_DEC,        /* 64 bits: a decimal string in JSON, because readers use doubles */
    PF_PLAN_HEX,        /* 64 bits: a string with 0x in JSON */
    PF_PLAN_SIGNED_DEC, /* like DEC, for a number that may be negative */
    PF_PLAN_TEXT,
    PF_PLAN_BYTES,
    PF_PLAN_CRC,     /* bytes that are shown as their CRC-32, with the key "crc32" */
    PF_PLAN_NUMBERS, /* arrays of the numbers above */
    PF_PLAN_SIGNEDS,
    PF_PLAN_DECS,
    PF_PLAN_HEXES,
    PF_PLAN_STRINGS,
    PF_PLAN_FLAGS,  /* an array of the names of set bits; wider bit fields become members */
    PF_PLAN_PARTS,  /* each bit field becomes a member of the enclosing object */
    PF_PLAN_OBJECT, /* a struct */
    PF_PLAN_FLAT,   /* a struct whose fields become members of the enclosing object */
    PF_PLAN_ARRAY,  /* a list of structs … */
    PF_PLAN_ITEM    /* … and one of them, an object without a key */
} pf_plan;

/* Returns the plan of a field.  Callers cache it, because this is slow. */
pf_plan pf_plan_of(const perfile_field *field);

/* pf_kind_base() as constants PF_BASE_ADDR …, for pf_plan_for(). */
enum {
#define KIND(id, number, name, base, words, doc) PF_BASE_##id = PERFILE_BASE_##base,
#include "perfile/format/kinds.def"
};

/* Returns the plan of a number.  `type` is PERFILE_STORED_…, `base` is PERFILE_BASE_…. */
static inline pf_plan pf_number_plan(unsigned type, unsigned base)
{
    if (type == PERFILE_STORED_S32)
        return PF_PLAN_SIGNED;
    if (type == PERFILE_STORED_S64)
        return PF_PLAN_SIGNED_DEC;
    if (type != PERFILE_STORED_U64)
        return PF_PLAN_NUMBER;
    return base == PERFILE_BASE_HEX || base == PERFILE_BASE_SCALE ? PF_PLAN_HEX : PF_PLAN_DEC;
}

/* Returns the plan of an array of numbers of type `element`. */
static inline pf_plan pf_words_plan(unsigned element, unsigned base)
{
    switch (pf_number_plan(element, base)) {
    case PF_PLAN_SIGNED:
        return PF_PLAN_SIGNEDS;
    case PF_PLAN_HEX:
        return PF_PLAN_HEXES;
    case PF_PLAN_DEC:
        return PF_PLAN_DECS;
    default:
        return PF_PLAN_NUMBERS;
    }
}

/* Returns the plan of a row.  With constant arguments the compiler reduces it to a constant. */
static inline pf_plan pf_plan_for(unsigned type, unsigned element, unsigned kind, unsigned base,
                                  unsigned flags)
{
    if (kind == PERFILE_KIND_COUNT || kind == PERFILE_KIND_ZSTD || flags & PERFILE_FIELD_PAD)
        return PF_PLAN_SKIP;
    switch (type) {
    case PERFILE_STORED_TEXT:
        return PF_PLAN_TEXT;
    case PERFILE_STORED_BLOB:
        return kind == PERFILE_KIND_BULK ? PF_PLAN_CRC : PF_PLAN_BYTES;
    case PERFILE_STORED_WORDS:
        return pf_words_plan(element, base);
    case PERFILE_STORED_STRINGS:
        return PF_PLAN_STRINGS;
    case PERFILE_STORED_STRUCT:
        return flags & PERFILE_FIELD_FLAT ? PF_PLAN_FLAT : PF_PLAN_OBJECT;
    case PERFILE_STORED_LIST:
        return PF_PLAN_ARRAY;
    case PERFILE_STORED_ITEM:
        return PF_PLAN_ITEM;
    default:
        break;
    }
    if (kind == PERFILE_KIND_ATTR_FLAGS)
        return PF_PLAN_FLAGS;
    if (kind == PERFILE_KIND_BRANCH_FLAGS)
        return PF_PLAN_PARTS;
    return pf_number_plan(type, base);
}

/* Cache entry: the plan of a field, and its name as the form writes it (with quotes and colon in
 * jsonl). */
typedef struct pf_key {
    const void *row; /* row of the constant tables, identified by its address; NULL: free */
    uint8_t plan;    /* pf_plan */
    uint8_t len;     /* length of text */
    uint8_t text[38];
} pf_key;

/* Defines PREFIX_number() … PREFIX_crc(), which append a number to the output, using the
 * PREFIX_put_…() functions of a form. */
#define PF_VALUE(prefix, name, number)                                                             \
    static inline void prefix##_##name(perfile_emitter *e, number v)                               \
    {                                                                                              \
        uint8_t *at = pf_emit_room(e, PF_VALUE_ROOM);                                              \
        if (at)                                                                                    \
            pf_emit_filled(e, prefix##_put_##name(at, v));                                         \
    }
#define PF_VALUES(prefix)                                                                          \
    PF_VALUE(prefix, number, uint64_t)                                                             \
    PF_VALUE(prefix, signed, int64_t)                                                              \
    PF_VALUE(prefix, dec, uint64_t)                                                                \
    PF_VALUE(prefix, signed_dec, int64_t)                                                          \
    PF_VALUE(prefix, hex, uint64_t)                                                                \
    PF_VALUE(prefix, crc, uint32_t)

/* Writing compact JSON into the buffer of an emitter.
 *
 * Every value ends with a comma, and the end of an object, array or line overwrites the last comma
 * with its bracket.  So the writer needs no state, and `out` can be cut back to any position
 * between two values when a record turns out to be damaged.  pf_json_put_…() write to a position
 * with enough room and return the position after the last character; pf_json_…() reserve the room
 * themselves. */

/* Copies a literal in units of 16 bytes, because compilers copy a constant power of two without
 * calling memcpy().  `at` needs room for 15 bytes more than the text has (PF_KEY_ROOM). */
#define PF_JSON_LITERAL(at, text)                                                                  \
    {                                                                                              \
        static const char padded[(sizeof(text) + 15) / 16 * 16] = text;                            \
        memcpy(at, padded, sizeof padded);                                                         \
        at += sizeof(text) - 1;                                                                    \
    }
#define PF_JSON_KEY(at, name)  PF_JSON_LITERAL(at, "\"" name "\":")
#define PF_JSON_WORD(at, text) PF_JSON_LITERAL(at, "\"" text "\",")

/* Begins an object or array.  `bracket` is { or [. */
PF_INLINE uint8_t *pf_json_put_open(uint8_t *at, char bracket)
{
    *at = (uint8_t)bracket;
    return at + 1;
}

/* Ends an object or array.  `after` is the comma after the value, or a newline. */
PF_INLINE uint8_t *pf_json_put_shut(uint8_t *at, char bracket, char after)
{
    if (at[-1] == ',')
        at--;
    at[0] = (uint8_t)bracket;
    at[1] = (uint8_t)after;
    return at + 2;
}

PF_INLINE uint8_t *pf_json_put_object(uint8_t *at)
{
    return pf_json_put_open(at, '{');
}

PF_INLINE uint8_t *pf_json_put_object_end(uint8_t *at)
{
    return pf_json_put_shut(at, '}', ',');
}

PF_INLINE uint8_t *pf_json_put_array(uint8_t *at)
{
    return pf_json_put_open(at, '[');
}

PF_INLINE uint8_t *pf_json_put_array_end(uint8_t *at)
{
    return pf_json_put_shut(at, ']', ',');
}

PF_INLINE uint8_t *pf_json_put_number(uint8_t *at, uint64_t v)
{
    at = pf_put_dec(at, v);
    *at = ',';
    return at + 1;
}

/* Writes a signed number.  0 - (uint64_t)v also negates INT64_MIN. */
PF_INLINE uint8_t *pf_json_put_signed(uint8_t *at, int64_t v)
{
    if (v >= 0)
        return pf_json_put_number(at, (uint64_t)v);
    *at = '-';
    return pf_json_put_number(at + 1, 0 - (uint64_t)v);
}

/* Ends a string value. */
PF_INLINE uint8_t *pf_json_put_quote(uint8_t *at)
{
    memcpy(at, "\",", 2);
    return at + 2;
}

/* Writes a 64-bit number as a string: "123", or "0xff" in pf_json_put_hex(). */
PF_INLINE uint8_t *pf_json_put_dec(uint8_t *at, uint64_t v)
{
    *at = '"';
    return pf_json_put_quote(pf_put_dec(at + 1, v));
}

PF_INLINE uint8_t *pf_json_put_signed_dec(uint8_t *at, int64_t v)
{
    if (v >= 0)
        return pf_json_put_dec(at, (uint64_t)v);
    memcpy(at, "\"-", 2);
    return pf_json_put_quote(pf_put_dec(at + 2, 0 - (uint64_t)v));
}

PF_INLINE uint8_t *pf_json_put_hex(uint8_t *at, uint64_t v)
{
    *at = '"';
    return pf_json_put_quote(pf_put_0x(at + 1, v));
}

/* Writes 8 digits, always: "000000ab". */
PF_INLINE uint8_t *pf_json_put_crc(uint8_t *at, uint32_t crc)
{
    *at = '"';
    return pf_json_put_quote(pf_put_hex_fixed(at + 1, crc, 8));
}

/* Writes bytes as a string of hexadecimal digits, "00ff".  `at` needs room for 2 * bytes.len +
 * PF_VALUE_ROOM. */
PF_INLINE uint8_t *pf_json_put_bytes(uint8_t *at, perfile_bytes bytes)
{
    *at = '"';
    return pf_json_put_quote(pf_put_bytes(at + 1, bytes));
}

/* Writes a string; if `text` is not valid UTF-8, writes the object {"hex":"…"} instead. */
void pf_json_text(perfile_emitter *e, perfile_bytes text);

static inline void pf_json_object(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, 1);
    if (at)
        pf_emit_filled(e, pf_json_put_object(at));
}

/* Ends an object or array.  `after` is the comma after the value, or the newline of a line. */
static inline void pf_json_shut(perfile_emitter *e, char bracket, char after)
{
    uint8_t *at = pf_emit_room(e, 2);
    if (at && e->out.len) /* after a failed append `out` may be empty */
        pf_emit_filled(e, pf_json_put_shut(at, bracket, after));
}

static inline void pf_json_object_end(perfile_emitter *e)
{
    pf_json_shut(e, '}', ',');
}

/* Ends the object of a line, and the line. */
static inline void pf_json_line_end(perfile_emitter *e)
{
    pf_json_shut(e, '}', '\n');
}

static inline void pf_json_array(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, 1);
    if (at)
        pf_emit_filled(e, pf_json_put_array(at));
}

static inline void pf_json_array_end(perfile_emitter *e)
{
    pf_json_shut(e, ']', ',');
}

/* Writes the key of the next value.  `name` must be plain ASCII without quotes and backslashes. */
static inline void pf_json_name(perfile_emitter *e, const char *name, size_t n)
{
    uint8_t *at = pf_emit_room(e, n + 3);
    if (!at)
        return;
    at[0] = '"';
    memcpy(at + 1, name, n);
    at[n + 1] = '"';
    at[n + 2] = ':';
    pf_emit_filled(e, at + n + 3);
}

/* Writes the key of a cache entry.  Copies all of key->text, because its size is constant. */
static inline void pf_json_key(perfile_emitter *e, const pf_key *key)
{
    uint8_t *at = pf_emit_room(e, sizeof key->text);
    if (!at)
        return;
    memcpy(at, key->text, sizeof key->text);
    pf_emit_filled(e, at + key->len);
}

/* Makes key->text from a name, cut to fit `size`.  Returns its length. */
static inline uint8_t pf_json_make_key(uint8_t *text, size_t size, const char *name)
{
    size_t n = strlen(name);
    if (n > size - 3)
        n = size - 3;
    text[0] = '"';
    memcpy(text + 1, name, n);
    text[n + 1] = '"';
    text[n + 2] = ':';
    return (uint8_t)(n + 3);
}

/* Writes a string value; `word` is restricted as in pf_json_name(). */
static inline void pf_json_word(perfile_emitter *e, const char *word, size_t n)
{
    uint8_t *at = pf_emit_room(e, n + 3);
    if (!at)
        return;
    at[0] = '"';
    memcpy(at + 1, word, n);
    at[n + 1] = '"';
    at[n + 2] = ',';
    pf_emit_filled(e, at + n + 3);
}

static inline void pf_json_null(perfile_emitter *e)
{
    pf_emit_bytes(e, "null,", 5);
}

PF_VALUES(pf_json)

#endif
