/* The outer structure of a perf.data capture: header, attrs, records, feature table.
 *
 * It is read from any bytes.  Every place in a pf_outer is inside the bytes, whatever the header
 * says: a section that ends after the last byte is cut, one that begins after it is empty.  Numbers
 * are read and written byte by byte, so that the byte order of this machine is of no importance. */
#ifndef PF_MUTATE_OUTER_H
#define PF_MUTATE_OUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PF_OUTER_NONE = 0, /* not a capture that is understood */
    PF_OUTER_FILE = 1,
    PF_OUTER_PIPE = 2
};

enum {
    PF_OUTER_PIPE_HEADER = 16, /* magic and size */
    PF_OUTER_OLD_HEADER = 72,  /* a file without the feature bitmap */
    PF_OUTER_FILE_HEADER = 104,
    PF_OUTER_RECORD_HEADER = 8, /* u32 type, u16 misc, u16 size */
    PF_OUTER_SECTION = 16,      /* u64 offset, u64 size */
    PF_OUTER_FEATURES = 256,    /* bits of the feature bitmap */
    /* Places in the header of a file. */
    PF_OUTER_AT_SIZE = 8,
    PF_OUTER_AT_ATTR_SIZE = 16,
    PF_OUTER_AT_ATTRS = 24,
    PF_OUTER_AT_DATA = 40,
    PF_OUTER_AT_TYPES = 56,
    PF_OUTER_AT_FEATURES = 72
};

/* Bytes that a mutation changes: `size` of them are used, there is room for `room`. */
typedef struct pf_buffer {
    uint8_t *bytes;
    size_t size;
    size_t room;
} pf_buffer;

/* A part of the bytes. */
typedef struct pf_range {
    size_t at;
    size_t len;
} pf_range;

typedef struct pf_outer {
    const uint8_t *bytes;
    size_t size;
    uint8_t form;      /* PF_OUTER_… */
    bool big;          /* the highest byte of a number is first */
    bool unterminated; /* the data size is 0: records go on to the end of the file */
    bool narrow;       /* the feature bitmap was written in words of 32 bits */
    size_t header;     /* bytes of the header: 16, 72 or 104 */
    size_t attr_size;  /* of an entry of `attrs`, its section of ids included; 0: no attrs */
    pf_range attrs;    /* whole entries */
    pf_range records;
    size_t table;        /* where the feature table is */
    unsigned n_features; /* entries of the table that are inside the file */
} pf_outer;

/* A record: `size` bytes with its header, `whole` with the bytes that follow it without being part
 * of its size (AUXTRACE, HEADER_TRACING_DATA). */
typedef struct pf_piece {
    size_t at;
    size_t size;
    size_t whole;
    uint32_t type;
    uint16_t misc;
} pf_piece;

/* Numbers of 1 to 8 bytes. */
static inline uint64_t pf_number_get(const uint8_t *p, size_t width, bool big)
{
    uint64_t v = 0;
    for (size_t i = 0; i < width; i++)
        v |= (uint64_t)p[i] << 8 * (big ? width - 1 - i : i);
    return v;
}

static inline void pf_number_put(uint8_t *p, size_t width, bool big, uint64_t v)
{
    for (size_t i = 0; i < width; i++)
        p[i] = (uint8_t)(v >> 8 * (big ? width - 1 - i : i));
}

/* Reads the outer structure; returns false, with form NONE, if there is none. */
bool pf_outer_read(pf_outer *o, const uint8_t *bytes, size_t size);

/* Returns true if the bitmap has this feature. */
bool pf_outer_has_feature(const pf_outer *o, unsigned number);
/* Sets or clears a bit of the bitmap. */
void pf_outer_set_feature(const pf_outer *o, uint8_t *bytes, unsigned number, bool there);

/* Reads the record at *at and moves *at to the next one.  Returns false at the end of the records,
 * and at a record whose size is impossible: *at stays there. */
bool pf_piece_next(const pf_outer *o, size_t *at, pf_piece *p);
/* Counts the records. */
size_t pf_piece_count(const pf_outer *o);
/* Finds a record by position; returns false after the last. */
bool pf_piece_at(const pf_outer *o, size_t position, pf_piece *p);

/* Inserts `n` zero bytes at `at`, and moves the offsets of all that is after it.  With `in_records`
 * the records become longer by them.  `o` is the outer structure before the change and is of no use
 * after it.  Returns false, and changes nothing, if there is no room. */
bool pf_gap_open(pf_buffer *b, const pf_outer *o, size_t at, size_t n, bool in_records);
/* Removes `n` bytes at `at`, likewise. */
void pf_gap_close(pf_buffer *b, const pf_outer *o, size_t at, size_t n, bool in_records);

#endif
