/* Internals of emitters: what the forms of `dump` (text, jsonl, cbor, tsv) and of `export` share.
 *
 * A form is a table of functions, pf_emit_ops.  They append to the buffer `out` of the emitter;
 * emitter.c writes it to the sink in chunks of 64 KiB.  No form calls the sink itself, so that an
 * emitter without a sink can fill a buffer in another thread.  Memory errors do not
 * need to be checked at each append: they set `no_memory`, and the next write fails. */
#ifndef PF_EMIT_EMITTER_H
#define PF_EMIT_EMITTER_H

#include "base/buffer.h"
#include "base/byte_order.h"
#include "perfile/base.h"
#include "perfile/emit.h"
#include "perfile/field.h"
#include "perfile/tracepoint.h"

#include <string.h>

/* A form.  The functions get the emitter that pf_emitter_new() allocated with `size` bytes: a
 * struct of the form that begins with a perfile_emitter. */
typedef struct pf_emit_ops {
    const char *name; /* for --format */
    const char *doc;  /* one line for --help */
    size_t size;      /* of the form's emitter struct */
    /* May be NULL.  Reads the options, before begin(); releases what that and later calls hold. */
    perfile_status (*open)(perfile_emitter *e, perfile_error *err);
    void (*close)(perfile_emitter *e);
    /* Header, events and features; a record or damage; the end.  Damaged input is no error of
     * theirs. */
    perfile_status (*begin)(perfile_emitter *e, perfile_error *err);
    perfile_status (*put)(perfile_emitter *e, const perfile_record *r, perfile_error *err);
    perfile_status (*finish)(perfile_emitter *e, perfile_error *err);
    /* For viewers, see export/export.h; NULL in the forms of `dump`. */
    const struct pf_export_ops *exports;
    /* All output for an input that could not be opened; instead of begin().  NULL: there is none.
     */
    perfile_status (*failure)(perfile_emitter *e, uint32_t damage, uint64_t offset,
                              perfile_error *err);
} pf_emit_ops;

struct pf_exporter;
struct pf_profiled;

/* What the forms for viewers have in addition (src/export/export.h). */
typedef struct pf_export_ops {
    perfile_status (*put_run)(perfile_emitter *e, const perfile_record *first, size_t n,
                              perfile_error *err);
    /* A capture ends, and another begins, unless base.stream is NULL: then stream, session and
     * model of the emitter are those of it.  NULL: the form shows one only. */
    perfile_status (*next)(perfile_emitter *e, perfile_error *err);
    void (*summary)(const perfile_emitter *e, perfile_export_summary *out);
    /* Gets each sample and its label; false if there is no memory or the limit of the profile is
     * exceeded.  NULL: they are added up. */
    bool (*take)(struct pf_exporter *x, const struct pf_profiled *sample, uint32_t label);
    /* Gets each other record of perf's own family, with what it says of time, task and processor
     * (`period` and `stack` mean nothing), as it comes; its event is that of its id, if it has one.
     * False likewise.  NULL: they are not of interest. */
    bool (*note)(struct pf_exporter *x, const struct pf_profiled *about);
    uint8_t per[8]; /* the keys that are taken if none are asked for */
    bool all_keys;  /* all keys are taken, whatever is asked for */
    bool per_event; /* PERFILE_PER_EVENT is always among them */
    bool per_host;  /* labels say the host, too */
    bool lines;     /* it can show lines of the source */
    bool trees;     /* it shows a tree: of captures before beside that of others, or reversed */
    bool by_time;   /* samples are shown at their time, not added up */
    bool by_name;   /* of a frame its name is written, and no address */
    bool joins;     /* frames without a name are one for each object by default */
    bool binary;    /* the output is not for terminals */
    bool directory; /* it is several files */
    bool folder;    /* it is files in a folder, or one file */
    /* Samples have the frame of their address (pf_profiled.frame), and a stack only if they have a
     * call chain. */
    bool own_frames;
} pf_export_ops;

/* What samples of an event say of the time of a processor. */
enum {
    PF_EVENT_HAPPENS = 0, /* nothing: each says that something happened (tracepoints, faults …) */
    PF_EVENT_COUNTS, /* it had much of what its hardware counts: instructions, cache misses … */
    PF_EVENT_CLOCK   /* a thread that is on it has them at a steady rate: clocks, cycles */
};

/* An event that samples are of; those of one name are one, by the first capture that has it. */
typedef struct pf_export_event {
    const char *name;  /* of the profile's texts */
    unsigned says;     /* PF_EVENT_… */
    uint64_t interval; /* ns on a processor from sample to sample; 0: not known */
    uint64_t period;   /* what is counted from sample to sample; 0: it differs */
    uint64_t kinds;    /* what is counted, if it has a name for each kind of processor; 0: one */
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
    const perfile_export_options *exporting; /* likewise; complete */
    uint32_t max_stack;                      /* perfile_emit_options.max_stack */
    const char *stop_at;                     /* likewise, valid in open() only */
    unsigned n_threads;                      /* that may make the output, 1 at least */
    bool no_memory;                          /* `out` could not grow: its content is incomplete */
    bool decoded;                            /* something could be decoded: for the outcome */
    bool walk_only;                  /* tests: never use the fast path of emit/sample.inc … */
    uint64_t n_fast_path;            /* … and how many bodies and trailers used it */
    struct pf_emit_threads *threads; /* NULL: only the caller's thread */
    pf_buffer out;
    uint64_t n_records;
    uint64_t n_errors; /* damage that was emitted */
};

/* Makes an emitter of this form; the caller sets the members for the stream, then calls ops->open.
 */
perfile_status pf_emitter_new(const pf_emit_ops *ops, perfile_sink *sink, perfile_emitter **out,
                              perfile_error *err);

/* Writes `out` to the sink and empties it.  PERFILE_E_NOMEM if an append failed before. */
perfile_status pf_emitter_write_out(perfile_emitter *e, perfile_error *err);

/* Reserves `n` bytes at the end of `out` and returns where to write them; NULL if there is no
 * memory.  To be followed by pf_emit_filled() with the end of what was written. */
static inline uint8_t *pf_emit_room(perfile_emitter *e, size_t n)
{
    if (!pf_buffer_reserve(&e->out, n)) {
        e->no_memory = true;
        return NULL;
    }
    return e->out.ptr + e->out.len;
}

enum {
    PF_VALUE_ROOM = 24 /* bytes that a number needs at most in any form, with quotes and comma */
};

/* Bytes that writing a key needs: keys are copied in units of 16 bytes, so that more is written
 * than the key has. */
#define PF_KEY_ROOM(name) (sizeof(name) + 32)

/* The room that pf_emit_room() gave was filled up to `end`. */
static inline void pf_emit_filled(perfile_emitter *e, const uint8_t *end)
{
    e->out.len = (size_t)(end - e->out.ptr);
}

static inline void pf_emit_bytes(perfile_emitter *e, const void *bytes, size_t n)
{
    if (!pf_buffer_append(&e->out, bytes, n))
        e->no_memory = true;
}

/* The tracepoints of the session, of this emitter's own; NULL if there is no memory, which sets
 * no_memory. */
perfile_tracepoints *pf_emit_tracepoints(perfile_emitter *e);

/* CRC-32 of the bytes behind a record (AUX data, tracing data), in memory or read from the stream.
 * PERFILE_E_TRUNCATED if the input ends inside them. */
perfile_status pf_emit_extra_crc(perfile_emitter *e, const perfile_record *r, uint32_t *crc,
                                 perfile_error *err);

/* The file name of part `part` of a directory; NULL for the main file, `data`, and for single
 * files.  Borrowed from the container. */
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

/* Several threads make the text of an emitter.  Records are collected in jobs; any thread turns a
 * job into text, and the caller's thread writes the texts to the sink in order. */

enum { PF_EMIT_JOB_TEXT = 384 << 10 }; /* bytes of text of a job: they fit the level 2 cache */

/* Gives the emitter `threads` threads (2 to PF_MOST_THREADS), the caller's included, and jobs that
 * make about `job_text` bytes of text, of at most half as many bytes of records.  All members of
 * `e` must be set.  On failure `e` must still be closed. */
perfile_status pf_emit_threads_start(perfile_emitter *e, perfile_stream *stream, unsigned threads,
                                     size_t job_text, perfile_error *err);

/* Numbers and bytes as characters, written to a position that has room.
 *
 * All functions return where they stopped.  Those that leave out leading zeros write whole 64-bit
 * words: up to 8 (decimal) or 16 (hexadecimal) bytes, whatever the length of the number; bytes
 * after the returned position are undefined.  The decimal ones compute all digits of a number in
 * parallel, in the lanes of a 64-bit word: printing numbers is most of what `dump` does. */

/* Validation of UTF-8. */

/* True if `text` is valid UTF-8: shortest forms, no surrogates, nothing above U+10FFFF. */
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

/* Returns the 8 decimal digits of v < 10^8 as bytes, the first digit in the lowest byte.
 *
 * Each step splits every lane x into x / d (lower half) and x % d (upper half) of a lane half as
 * wide, for d = 10^4, 100, 10.  The division by d is a multiplication and a shift that are exact
 * for the values a lane can have.  With q = x / d the result is q + ((x - d * q) << n), which
 * equals (x
 * << n) - q * ((d << n) - 1). */
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

/* v < 10^8, exactly 8 digits. */
PF_INLINE uint8_t *pf_put_dec_8(uint8_t *at, uint32_t v)
{
    pf_put_word(at, pf_dec_values(v) + PF_DIGIT_ZEROS);
    return at + 8;
}

/* v < 10^8, without leading zeros: they are the lowest bytes and are shifted out.  The bit at 56
 * keeps the last digit of 0. */
PF_INLINE uint8_t *pf_put_dec_up_to_8(uint8_t *at, uint32_t v)
{
    uint64_t x = pf_dec_values(v);
    unsigned zeros = (unsigned)__builtin_ctzll(x | UINT64_C(1) << 56) / 8;
    pf_put_word(at, (x + PF_DIGIT_ZEROS) >> 8 * zeros);
    return at + 8 - zeros;
}

/* v < 10^4, without leading zeros: the same in a 32-bit word, with one step less. */
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

/* v >= 10^8, out of line. */
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

/* Exactly `n` digits, with leading zeros; higher digits are lost. */
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

/* The 8 hexadecimal digits of `v` as characters, the first in the lowest byte: spreads the nibbles
 * to one per byte, then adds '0', and 'a' - '0' - 10 to those above 9. */
PF_INLINE uint64_t pf_hex_digits(uint32_t v)
{
    uint64_t x = pf_swap_u32(v);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 & UINT64_C(0x000f000f000f000f)) | (x & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + PF_DIGIT_ZEROS + letters * ('a' - '0' - 10);
}

/* Lower case, without leading zeros: the number is shifted to the left before. */
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

/* Exactly `n` digits, with leading zeros. */
PF_INLINE uint8_t *pf_put_hex_fixed(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = n; i-- > 0; v >>= 4)
        at[i] = (uint8_t) "0123456789abcdef"[v & 15];
    return at + n;
}

/* The digit of 0 to 15.  Arithmetic instead of a table, so that loops over it become vector code.
 */
PF_INLINE uint8_t pf_hex_digit(uint8_t v)
{
    return (uint8_t)(v + '0' + (v > 9 ? 'a' - '0' - 10 : 0));
}

/* Two digits per byte: blocks of 16 bytes as vectors, the rest by table.  `at` needs 2 * bytes.len.
 */
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

/* How a field is written by the machine-readable forms (jsonl, cbor, tsv), derived from its row in
 * the format tables: the output contract of `dump` (format/dump.cddl).  Used at run time through
 * pf_plan_of(), cached per field in a pf_key, and at compile time by sample.inc, where all
 * arguments are constants. */

typedef enum pf_plan {
    PF_PLAN_SKIP,   /* padding, and counts that follow from the length of a list */
    PF_PLAN_NUMBER, /* up to 32 bits: a JSON number is exact */
    PF_PLAN_SIGNED,
    PF_PLAN_DEC,        /* 64 bits: in JSON a decimal string, because readers use doubles */
    PF_PLAN_HEX,        /* 64 bits: in JSON a string with 0x */
    PF_PLAN_SIGNED_DEC, /* DEC of a number that may be negative */
    PF_PLAN_TEXT,
    PF_PLAN_BYTES,
    PF_PLAN_CRC,     /* bytes that are shown as their CRC-32, under that name */
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

/* The plan of a field; slow enough that callers cache it. */
pf_plan pf_plan_of(const perfile_field *field);

/* perfile_kind_base() as constants, for pf_plan_for(): PF_BASE_ADDR … */
enum {
#define KIND(id, number, name, base, words, doc) PF_BASE_##id = PERFILE_BASE_##base,
#include "perfile/format/kinds.def"
};

/* The plan of a number.  `type`: PERFILE_STORED_…, `base`: PERFILE_BASE_… */
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

/* The plan of an array of numbers of type `element`. */
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

/* The plan of a row; the compiler reduces it to a constant where the arguments are. */
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

/* Cache entry: the plan and the name of a field, the latter as the form writes it ("name": in
 * jsonl). */
typedef struct pf_key {
    const void *row; /* of the tables, which are constant: its address identifies it; NULL: free */
    uint8_t plan;    /* pf_plan */
    uint8_t len;     /* of text */
    uint8_t text[38];
} pf_key;

/* Makes PREFIX_number() … PREFIX_crc(), which append a number to the output, out of the
 * PREFIX_put_…() of a form. */
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

/* Writes compact JSON into the buffer of an emitter.
 *
 * Every value ends with a comma, and the end of an object, array or line replaces the last comma
 * with its bracket.  So the writer keeps no state, and `out` can be cut back to any position
 * between two values when a record turns out to be damaged. pf_json_put_…() write to a position
 * that has room and return where they stopped; pf_json_…() reserve the room themselves. */

/* Copies a literal in units of 16 bytes, because a constant size that is a power of two needs no
 * call of memcpy(): `at` needs room for 15 bytes more than the text has (PF_KEY_ROOM). */
#define PF_JSON_LITERAL(at, text)                                                                  \
    {                                                                                              \
        static const char padded[(sizeof(text) + 15) / 16 * 16] = text;                            \
        memcpy(at, padded, sizeof padded);                                                         \
        at += sizeof(text) - 1;                                                                    \
    }
#define PF_JSON_KEY(at, name)  PF_JSON_LITERAL(at, "\"" name "\":")
#define PF_JSON_WORD(at, text) PF_JSON_LITERAL(at, "\"" text "\",")

/* A number with its quotes and comma needs at most PF_VALUE_ROOM bytes. */

/* `bracket`: { or [. */
PF_INLINE uint8_t *pf_json_put_open(uint8_t *at, char bracket)
{
    *at = (uint8_t)bracket;
    return at + 1;
}

/* Ends an object or array.  `after`: the comma of the value, or a newline. */
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

/* 0 - (uint64_t)v also negates INT64_MIN. */
PF_INLINE uint8_t *pf_json_put_signed(uint8_t *at, int64_t v)
{
    if (v >= 0)
        return pf_json_put_number(at, (uint64_t)v);
    *at = '-';
    return pf_json_put_number(at + 1, 0 - (uint64_t)v);
}

/* The end of a string value. */
PF_INLINE uint8_t *pf_json_put_quote(uint8_t *at)
{
    memcpy(at, "\",", 2);
    return at + 2;
}

/* 64-bit numbers are strings: "123", "0xff". */
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

/* Always 8 digits: "000000ab". */
PF_INLINE uint8_t *pf_json_put_crc(uint8_t *at, uint32_t crc)
{
    *at = '"';
    return pf_json_put_quote(pf_put_hex_fixed(at + 1, crc, 8));
}

/* Bytes as a string of hexadecimal digits, "00ff".  Needs 2 * bytes.len + PF_VALUE_ROOM. */
PF_INLINE uint8_t *pf_json_put_bytes(uint8_t *at, perfile_bytes bytes)
{
    *at = '"';
    return pf_json_put_quote(pf_put_bytes(at + 1, bytes));
}

/* A string; if `text` is no valid UTF-8, the object {"hex":"…"} instead. */
void pf_json_text(perfile_emitter *e, perfile_bytes text);

static inline void pf_json_object(perfile_emitter *e)
{
    uint8_t *at = pf_emit_room(e, 1);
    if (at)
        pf_emit_filled(e, pf_json_put_object(at));
}

/* `after` is what follows the bracket: a comma, or the newline of a line. */
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

/* The key of the next value; `name` must be plain ASCII without quotes and backslashes. */
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

/* The key from a cache entry.  Copies all of key->text: a constant size. */
static inline void pf_json_key(perfile_emitter *e, const pf_key *key)
{
    uint8_t *at = pf_emit_room(e, sizeof key->text);
    if (!at)
        return;
    memcpy(at, key->text, sizeof key->text);
    pf_emit_filled(e, at + key->len);
}

/* Makes key->text of a name, cut to fit `size`; returns its length. */
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

/* A string value; `word` as in pf_json_name(). */
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
