/* The keys of a dump's objects, for each struct that they fill.
 *
 * The tables of format/ define the members of a struct (pf_row_shape), and emit/lines.inc writes
 * them as keys of an object: the members of a FLAT struct become keys of the enclosing object, bit
 * fields have their own keys, counts and padding are omitted.  This is the inverse: for each key
 * the destination of its value.  The keys of a struct are made at its first use. */
#ifndef PF_UNDUMP_KEYS_H
#define PF_UNDUMP_KEYS_H

#include "perfile/field.h"
#include "schema/rows.h"

/* pf_undump_key.how: the kind of a value and its destination. */
enum {
    PF_FILL_NUMBER,  /* an integer of the member's type */
    PF_FILL_TEXT,    /* perfile_bytes; also accepts a byte string */
    PF_FILL_BYTES,   /* perfile_bytes */
    PF_FILL_WORDS,   /* perfile_words, from an array of integers */
    PF_FILL_STRINGS, /* perfile_strings, from an array of texts */
    PF_FILL_FLAGS,   /* uint64_t, from an array of names of bits */
    PF_FILL_PART,    /* bits of a uint64_t */
    PF_FILL_STRUCT,  /* a struct in the member */
    PF_FILL_LIST,    /* perfile_list, from an array of objects */
    PF_FILL_KNOWN,   /* not stored: it follows from other members */
    PF_FILL_CRC      /* not stored: a checksum replaces bytes that the dump does not have */
};

enum { PF_KEYS_MOST = 128 }; /* maximum number of keys of an object */

typedef struct pf_undump_key {
    const char *name;
    const pf_member *member;
    const perfile_bits *bits; /* for PF_FILL_PART */
    uint16_t at;              /* offset of the member in the struct */
    uint8_t how;              /* PF_FILL_… */
    uint8_t guard;            /* its condition, counted from 1; 0: none */
    bool required;            /* must be present if its condition holds */
} pf_undump_key;

/* A condition of the table.  It holds if one of its keys is present. */
typedef struct pf_undump_guard {
    uint64_t bit;      /* a bit of the uint64_t at `at`; 0: `at` is a bool */
    uint16_t at;       /* offset in the struct */
    uint8_t around;    /* the enclosing condition, counted from 1; 0: none */
    uint8_t otherwise; /* holds if this one, counted from 1, does not; 0: no alternative */
} pf_undump_guard;

/* The keys of a struct.  The struct may also be two adjacent structs that a dump shows as one
 * object, and that the tables do not have. */
typedef struct pf_undump_keys {
    pf_undump_key *keys;
    pf_undump_guard *guards;
    uint32_t n_keys, n_guards;
    uint32_t size; /* size of the struct */
} pf_undump_keys;

/* Makes the keys of a struct, followed by those of `also` (may be NULL), a struct at offset
 * `also_at` from the beginning of the first.  Returns NULL when out of memory.  The caller calls
 * pf_undump_keys_free(). */
pf_undump_keys *pf_undump_keys_new(const pf_row_shape *shape, const pf_row_shape *also,
                                   uint32_t also_at);
void pf_undump_keys_free(pf_undump_keys *k);

#endif
