/* CBOR (RFC 8949) as archives (format/archive.cddl) and dumps (format/dump.cddl) use it.
 *
 * Reading is pulling items, one after the other.  The reader keeps count of the items that are
 * still to come in each array and map around its position.  So nothing recurses, and skipping an
 * item with everything in it needs no more than this count.  It refuses nesting above
 * PF_CBOR_DEPTH, tags, and arrays and maps of more items than bytes are left; indefinite lengths,
 * too, unless the reader was made by pf_cbor_begin_any().
 *
 * A failed read returns zeros and sets `why`; every later read fails, too.  Callers check once, at
 * the end, with pf_cbor_finish(). Loops check `why`, or they would go on to a count that came from
 * the input. */
#ifndef PF_BASE_CBOR_H
#define PF_BASE_CBOR_H

#include "base/buffer.h"
#include "perfile/base.h"

enum { PF_CBOR_DEPTH = 16 /* arrays, maps and strings in pieces in one another */ };

/* The number of items in an array or map of indefinite length, and of bytes in such a string. */
#define PF_CBOR_OPEN UINT64_MAX

typedef enum pf_cbor_kind {
    PF_CBOR_BAD = 0, /* nothing could be read: see pf_cbor.why */
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
                          * and TEXT: bytes; or PF_CBOR_OPEN */
    perfile_bytes bytes; /* of BYTES and TEXT, borrowed from the input; nothing if OPEN: then the
                          * pieces come next, each a string of the same kind */
} pf_cbor_item;

/* A reader.  Initialise with pf_cbor_begin(). */
typedef struct pf_cbor {
    const uint8_t *pos, *end;
    const char *why;                  /* what is wrong, a static string; NULL: nothing so far */
    bool cut;                         /* `why` is that the input ends too early */
    bool indefinite;                  /* indefinite lengths are allowed */
    unsigned depth;                   /* arrays and maps around the position */
    uint64_t left[PF_CBOR_DEPTH + 1]; /* items still to come in each; [0]: the outermost item; of
                                       * indefinite length: what comes next (base/cbor.c) */
} pf_cbor;

/* A reader of one item, which fills `bytes`; they are borrowed. */
pf_cbor pf_cbor_begin(perfile_bytes bytes);

/* The same, with indefinite lengths allowed, and `bytes` may go on behind the item. */
pf_cbor pf_cbor_begin_any(perfile_bytes bytes);

/* The next item.  The items in an array, the keys and values in a map come next, one by one. */
pf_cbor_item pf_cbor_next(pf_cbor *c);

/* True if the array, map or string in pieces that was entered last, so that c->depth was `depth`
 * then, has another item.  At its end, and after a failure, false: its end is passed over. */
bool pf_cbor_more(pf_cbor *c, unsigned depth);

/* Passes over the next item and everything in it. */
void pf_cbor_skip(pf_cbor *c);

/* The next item, which must be of that kind, or the reader fails. */
uint64_t pf_cbor_uint(pf_cbor *c);
uint32_t pf_cbor_u32(pf_cbor *c);
uint64_t pf_cbor_array(pf_cbor *c); /* items; never more than bytes are left */
uint64_t pf_cbor_map(pf_cbor *c);   /* pairs; never more than half of the bytes left */
perfile_bytes pf_cbor_bytes(pf_cbor *c);
/* Text, or bytes: names that are no UTF-8 are stored as byte strings. */
perfile_bytes pf_cbor_text(pf_cbor *c);

/* Sets `why` unless it is set. */
void pf_cbor_fail(pf_cbor *c, const char *why);

/* PERFILE_OK if one item was read to its end, and nothing follows it; else PERFILE_E_CORRUPT with
 * `where`. */
perfile_status pf_cbor_finish(pf_cbor *c, const char *where, perfile_error *err);

/* Append one item, or the head of an array or map whose items follow.  Numbers are as short as
 * possible.  False: no memory. */
bool pf_cbor_put_uint(pf_buffer *b, uint64_t v);
bool pf_cbor_put_array(pf_buffer *b, size_t items);
bool pf_cbor_put_map(pf_buffer *b, size_t pairs);
bool pf_cbor_put_bytes(pf_buffer *b, perfile_bytes bytes);
/* Text, up to its NUL; a byte string if it is no UTF-8. */
bool pf_cbor_put_text(pf_buffer *b, const char *text);

#endif
