/* Reads and writes CBOR (RFC 8949), as used by archives (format/archive.cddl) and dumps
 * (format/dump.cddl).
 *
 * The caller pulls items one after the other.  The reader counts the items still to come in each
 * array and map around its position, so nothing recurses, and skipping an item with all its
 * contents needs no other state.  The reader refuses nesting deeper than PF_CBOR_DEPTH, tags, and
 * arrays and maps that claim more items than there are bytes left.  It also refuses indefinite
 * lengths unless it was made by pf_cbor_begin_any().
 *
 * A failed read returns zeros and sets `why`; every later read fails, too.  Callers check once, at
 * the end, with pf_cbor_finish().  Only loops must check `why`, or they would run up to a count
 * that came from the input. */
#ifndef PF_BASE_CBOR_H
#define PF_BASE_CBOR_H

#include "base/buffer.h"
#include "perfile/base.h"

enum { PF_CBOR_DEPTH = 16 /* deepest nesting of arrays, maps and strings in pieces */ };

/* The "number" of items in an array or map of indefinite length, and of bytes in such a string. */
#define PF_CBOR_OPEN UINT64_MAX

typedef enum pf_cbor_kind {
    PF_CBOR_BAD = 0, /* nothing could be read; see pf_cbor.why */
    PF_CBOR_UINT,
    PF_CBOR_NEGATIVE,
    PF_CBOR_BYTES,
    PF_CBOR_TEXT,
    PF_CBOR_ARRAY,
    PF_CBOR_MAP,
    PF_CBOR_OTHER, /* a floating-point number, false, true, null or undefined */
    PF_CBOR_END    /* the end of an array, map or string of indefinite length */
} pf_cbor_kind;

typedef struct pf_cbor_item {
    pf_cbor_kind kind;
    uint64_t number;     /* UINT: the value; NEGATIVE: -1 - value; ARRAY: items; MAP: pairs; BYTES
                          * and TEXT: bytes.  PF_CBOR_OPEN if the length is indefinite */
    perfile_bytes bytes; /* contents of BYTES and TEXT, borrowed from the input.  Empty if the
                          * length is indefinite: the pieces come next, each a string of the same
                          * kind */
} pf_cbor_item;

/* A reader.  Initialize with pf_cbor_begin(). */
typedef struct pf_cbor {
    const uint8_t *pos, *end;
    const char *why;                  /* the error, a static string; NULL if there was none so
                                       * far */
    bool cut;                         /* the error is that the input ends too early */
    bool indefinite;                  /* indefinite lengths are allowed */
    unsigned depth;                   /* number of arrays and maps around the position */
    uint64_t left[PF_CBOR_DEPTH + 1]; /* items still to come at each depth; [0] is for the outermost
                                       * item.  For indefinite lengths: what must come next (see
                                       * base/cbor.c) */
} pf_cbor;

/* In a build without libcbor, fails with PERFILE_E_UNSUPPORTED; the other functions of this header
 * then do nothing.  `what`, a plural, is for the message. */
perfile_status pf_cbor_needed(const char *what, perfile_error *err);

/* Returns a reader of one item, which must fill all of `bytes`.  The bytes are borrowed. */
pf_cbor pf_cbor_begin(perfile_bytes bytes);

/* Like pf_cbor_begin(), but indefinite lengths are allowed, and `bytes` may continue after the
 * item. */
pf_cbor pf_cbor_begin_any(perfile_bytes bytes);

/* Reads the next item.  After the head of an array or map, its items, or its keys and values, come
 * next, one by one. */
pf_cbor_item pf_cbor_next(pf_cbor *c);

/* Returns true if the array, map or string in pieces that was entered last has another item.
 * `depth` is the value that c->depth had after entering it.  Returns false at its end, which is
 * skipped, and after a failure. */
bool pf_cbor_more(pf_cbor *c, unsigned depth);

/* Skips the next item and everything in it. */
void pf_cbor_skip(pf_cbor *c);

/* Each of these reads the next item, which must be of the kind named; otherwise the reader
 * fails. */
uint64_t pf_cbor_uint(pf_cbor *c);
uint32_t pf_cbor_u32(pf_cbor *c);
uint64_t pf_cbor_array(pf_cbor *c); /* number of items; at most the number of bytes left */
uint64_t pf_cbor_map(pf_cbor *c);   /* number of pairs; at most half the number of bytes left */
perfile_bytes pf_cbor_bytes(pf_cbor *c);
/* Reads a text or a byte string: names that are not UTF-8 are stored as byte strings. */
perfile_bytes pf_cbor_text(pf_cbor *c);

/* Sets `why` unless it is already set. */
void pf_cbor_fail(pf_cbor *c, const char *why);

/* Returns PERFILE_OK if exactly one item was read, up to its end, and nothing follows it.
 * Otherwise fails with PERFILE_E_CORRUPT and `where`. */
perfile_status pf_cbor_finish(pf_cbor *c, const char *where, perfile_error *err);

/* Each of these appends one item, or the head of an array or map; the caller appends its items
 * next.  Numbers use the shortest encoding.  Returns false when out of memory. */
bool pf_cbor_put_uint(pf_buffer *b, uint64_t v);
bool pf_cbor_put_array(pf_buffer *b, size_t items);
bool pf_cbor_put_map(pf_buffer *b, size_t pairs);
bool pf_cbor_put_bytes(pf_buffer *b, perfile_bytes bytes);
/* Appends text up to its NUL; as a byte string if it is not UTF-8. */
bool pf_cbor_put_text(pf_buffer *b, const char *text);

#endif
