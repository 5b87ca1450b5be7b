/* What the files of this room share: places, and groups of places. */
#ifndef PF_FAULTS_FAULTS_H
#define PF_FAULTS_FAULTS_H

#include "base/random.h"
#include "base/buffer.h"
#include "faults/command.h"
#include "perfile/check.h"

#include <stdbool.h>

/* PF_FAULT_UNKNOWN_MAGIC …: positions in format/faults.def. */
#define FAULT(id, name, rules, sentence) PF_FAULT_##id,
enum {
#include "format/faults.def"
    PF_N_FAULTS
};

/* What is done to the bytes of a place. */
enum {
    PF_CHANGE_SET,    /* the number becomes `value` */
    PF_CHANGE_FLIP,   /* a bit of the `width` bytes is flipped; the seed chooses it */
    PF_CHANGE_CUT,    /* the file ends inside the `width` bytes, not at their ends */
    PF_CHANGE_DOUBLE, /* a copy of the `width` bytes follows them */
    PF_CHANGE_SWAP,   /* the `width` bytes change places with the `value` bytes after them */
    PF_CHANGE_FILL,   /* the `width` bytes become letters */
    PF_CHANGE_APPEND  /* `value` zeros follow the end of the file */
};

enum {
    PF_PLACES_KEPT = 8,    /* places of a group that are remembered, chosen by the seed */
    PF_MOST_GROUPS = 4096, /* more groups are ignored */
    PF_GROUP_SLOTS = 16384 /* of the hash table of groups, a power of 2 */
};

typedef struct pf_place {
    uint64_t offset, width; /* the bytes in the capture */
    uint64_t value;         /* see PF_CHANGE_… */
    uint64_t index;         /* see pf_fault_change.index */
    uint32_t type;          /* of the record, or UINT32_MAX */
    uint8_t change;         /* PF_CHANGE_… */
} pf_place;

/* Places of the same damage in the same field of the same type. */
typedef struct pf_group {
    uint32_t fault;           /* PF_FAULT_… */
    const char *what, *field; /* names, which live forever */
    pf_random random;         /* its own random numbers: a group does not depend on others */
    uint64_t seen;            /* number of places found */
    pf_place at[PF_PLACES_KEPT];
} pf_group;

/* Number of findings for each rule. */
typedef struct pf_fault_counts {
    uint64_t of[PERFILE_RULE_LIMIT];
} pf_fault_counts;

struct pf_faults {
    perfile_bytes bytes;
    uint64_t seed;
    bool swap; /* numbers are not in the byte order of this machine */
    pf_group *groups;
    uint32_t n, cap;
    uint16_t slots[PF_GROUP_SLOTS]; /* number of a group + 1, or 0 */
    bool no_memory;
    pf_fault_counts before;
};

/* Reads or writes a number of 1, 2, 4 or 8 bytes in the byte order of the capture. */
uint64_t pf_fault_load(const uint8_t *at, uint64_t width, bool swap);
void pf_fault_store(uint8_t *at, uint64_t width, uint64_t value, bool swap);

/* Opens a capture in memory. */
perfile_status pf_fault_stream(perfile_bytes bytes, perfile_stream **stream, perfile_error *err);

/* Finds all places of f->bytes (places.c). */
perfile_status pf_fault_places(pf_faults *f, perfile_error *err);

#endif
