/* The keys of the objects of a dump, by the struct that they fill.
 *
 * The tables of format/ say which members a struct has (pf_row_shape), and emit/lines.inc shows
 * them as keys of an object: a struct that is FLAT gives its members to the object around it, bit
 * fields are keys of their own, counts and padding are left out.  Here is the way back: for each
 * key where its value goes.  The keys of a struct are made when it comes for the first time. */
#ifndef PF_UNDUMP_KEYS_H
#define PF_UNDUMP_KEYS_H

#include "perfile/field.h"
#include "schema/rows.h"

/* pf_undump_key.how: what the value is, and where it goes. */
enum {
    PF_FILL_NUMBER,  /* an integer of the member's type */
    PF_FILL_TEXT,    /* perfile_bytes; also of a byte string */
    PF_FILL_BYTES,   /* perfile_bytes */
    PF_FILL_WORDS,   /* perfile_words, of an array of integers */
    PF_FILL_STRINGS, /* perfile_strings, of an array of texts */
    PF_FILL_FLAGS,   /* uint64_t, bits of an array of names */
    PF_FILL_PART,    /* some bits of a uint64_t */
    PF_FILL_STRUCT,  /* the struct in the member */
    PF_FILL_LIST,    /* perfile_list, of an array of objects */
    PF_FILL_KNOWN,   /* nothing: it follows from other members */
    PF_FILL_CRC      /* nothing: a checksum stands for bytes that the dump does not have */
};

enum { PF_KEYS_MOST = 128 }; /* keys of an object */

typedef struct pf_undump_key {
    const char *name;
    const pf_member *member;
    const perfile_bits *bits; /* of PART */
    uint16_t at;              /* of the member in the struct */
    uint8_t how;              /* PF_FILL_… */
    uint8_t guard;            /* the condition that it belongs to, counted from 1; 0: none */
    bool required;            /* it is there if its condition holds */
} pf_undump_key;

/* A condition of the table: a key that is there says that it holds. */
typedef struct pf_undump_guard {
    uint64_t bit;      /* of the uint64_t at `at`; 0: `at` is a bool */
    uint16_t at;       /* in the struct */
    uint8_t around;    /* the condition around it, counted from 1; 0: none */
    uint8_t otherwise; /* it holds if this one, counted from 1, does not; 0: else */
} pf_undump_guard;

/* A struct that is not in the tables: what a dump shows as one object, two structs next to each
 * other. */
typedef struct pf_undump_keys {
    pf_undump_key *keys;
    pf_undump_guard *guards;
    uint32_t n_keys, n_guards;
    uint32_t size; /* of the struct */
} pf_undump_keys;

/* Makes the keys of a struct, and behind them those of `also` (may be NULL), whose struct lies
 * `also_at` bytes behind the beginning of the first.  NULL: no memory.  The caller calls
 * pf_undump_keys_free(). */
pf_undump_keys *pf_undump_keys_new(const pf_row_shape *shape, const pf_row_shape *also,
                                   uint32_t also_at);
void pf_undump_keys_free(pf_undump_keys *k);

#endif
