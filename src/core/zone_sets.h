/* What zones are made of: counts by type or event, and sets of threads, processes or processors. */
#ifndef PF_CORE_ZONE_SETS_H
#define PF_CORE_ZONE_SETS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PF_ZONE_MOST_MEMBERS = 65536, /* of a set; one of more is not known */
    PF_ZONE_MOST_COUNTS = 4096    /* types or events that are counted; of more none is known */
};

/* By type (perfile_record.type): records and their bytes, as perfile_record_size() counts them.  By
 * event (perfile_event.index): samples; `bytes` is 0. */
typedef struct pf_zone_count {
    uint64_t key, records, bytes;
} pf_zone_count;

typedef struct pf_zone_counts {
    pf_zone_count *at; /* ascending by key */
    uint32_t n, cap;
    bool known;
    bool has_bytes; /* `bytes` are known, too */
    uint32_t last;  /* position that was counted last */
} pf_zone_counts;

typedef struct pf_zone_set {
    uint32_t *at; /* members; ascending after pf_zone_set_seal() */
    uint32_t n, cap;
    bool known;
    bool has_zero;               /* 0 is a member; in `slots` it means "free" */
    uint32_t *slots;             /* while values are added: a hash table of the members */
    uint32_t n_slots, cap_slots; /* in use (a power of two, or 0), and allocated */
    uint64_t seed;               /* of the hash function: see pf_session_seed() */
} pf_zone_set;

/* Empties a set or counts, and says whether that is known; memory is kept. */
void pf_zone_set_clear(pf_zone_set *s, bool known);
void pf_zone_counts_clear(pf_zone_counts *c, bool known);

void pf_zone_set_free(pf_zone_set *s);
void pf_zone_counts_free(pf_zone_counts *c);

/* Adds a value, if the set is known.  False: no memory.  Too many members: not known from then on.
 */
bool pf_zone_set_add(pf_zone_set *s, uint32_t v);

/* Sorts the members.  Nothing can be added then. */
void pf_zone_set_seal(pf_zone_set *s);

/* Adds to the count of `key`, likewise. */
bool pf_zone_counts_add(pf_zone_counts *c, uint64_t key, uint64_t records, uint64_t bytes);

/* The count of `key`; NULL: there is none. */
const pf_zone_count *pf_zone_counts_find(const pf_zone_counts *c, uint64_t key);

/* Questions about a sealed set.  Both are true if it is not known. */
/* `v` is a member. */
bool pf_zone_set_has(const pf_zone_set *s, uint32_t v);
/* A member lies in low .. high. */
bool pf_zone_set_meets(const pf_zone_set *s, uint32_t low, uint32_t high);

#endif
