/* The inside of perfile_split_capture(): to which part a record belongs, and what a part needs. */
#ifndef PF_SPLIT_SPLIT_H
#define PF_SPLIT_SPLIT_H

#include "core/stream.h"
#include "perfile/split.h"
#include "filter/filter.h"

#define PF_SPLIT_NONE UINT64_MAX /* a record without the key */

typedef struct pf_split_home {
    /* Process, thread, processor, event; the address of the name; the number of the window; of
     * parts in stored order the sequence of the first record. */
    uint64_t key;
    uint64_t records, samples;          /* of data */
    uint64_t first_time, last_time;     /* of it */
    uint64_t first_sample, last_sample; /* the same of samples */
    uint64_t data_bytes;
} pf_split_home;

/* How large a part becomes (split_size.c). */
typedef struct pf_split_size {
    uint64_t always;    /* bytes that are in every part */
    uint64_t all_state; /* of processes */
    pf_index of;        /* pid -> place in `state` */
    pf_buffer state;    /* uint64_t: bytes of its state */
    bool full;          /* there were too many processes: each part is taken to need all */

    /* The part that grows. */
    pf_pids needed;
    bool everyone;
    uint64_t bytes;
    pf_buffer waiting;
} pf_split_size;

typedef struct pf_split {
    perfile_split_options options;
    bool state, compact;
    bool in_order;        /* a part begins where the one before ends: by time, size, number */
    bool stored;          /* of these: in stored order */
    pf_filter *world;     /* names of threads, the first sample */
    uint64_t first_other; /* time of data that is no sample */
    pf_ancestors births;
    pf_buffer homes; /* pf_split_home, sorted by key once they are found */
    uint32_t n;
    pf_index places; /* key -> position in `homes` */
    pf_split_size size;
    uint64_t records, samples; /* of the capture */

    const perfile_session *session; /* of the pass that found them */

    /* Of the pass that runs. */
    uint64_t key;                                           /* of the record before */
    uint32_t at;                                            /* its part */
    void (*progress)(void *user, const perfile_record *at); /* may be NULL */
    void *progress_user;
} pf_split;

static inline pf_split_home *pf_split_homes(const pf_split *x)
{
    return (pf_split_home *)(void *)x->homes.ptr;
}

/* Neither damage nor compressed. */
static inline bool pf_split_plain(const perfile_record *r)
{
    return r->family != PERFILE_FAMILY_DAMAGE && !(r->flags & PERFILE_REC_ENVELOPE);
}

/* split.c.  `x` is all zero. */
perfile_status pf_split_init(pf_split *x, const perfile_split_options *options, perfile_error *err);
void pf_split_free(pf_split *x);
/* Before anything is read. */
void pf_split_begin_pass(pf_split *x);
/* Whether a pass is needed before parts are found; and that pass.  Its stream has to stay open. */
bool pf_split_must_look(const pf_split *x);
perfile_status pf_split_look(pf_split *x, perfile_stream *s, perfile_error *err);
/* The pass that finds the parts. */
perfile_status pf_split_find(pf_split *x, perfile_stream *s, perfile_error *err);
/* The parts to which the records of a run belong; runs come in order. */
void pf_split_where(pf_split *x, const perfile_record *first, size_t n, uint32_t *parts);

/* split_key.c: the keys of the records of a run, PF_SPLIT_NONE where there is none. */
void pf_split_keys(pf_split *x, const perfile_record *first, size_t n, uint64_t *keys);
/* What it is called; valid as long as the session and `buffer`. */
const char *pf_split_word(const pf_split *x, uint64_t key, char buffer[24]);

/* Names that were given out.  All zeros are none. */
typedef struct pf_split_names {
    pf_texts used;
    pf_index places; /* of a name that was wanted again -> where in `counts` */
    pf_buffer counts;
} pf_split_names;

/* split_name.c: PERFILE_E_USAGE when it is no pattern for such a split. */
perfile_status pf_split_pattern(const char *pattern, uint32_t by, perfile_error *err);
/* The next name of it, which is none of the others; it lives as long as they. */
perfile_status pf_split_name(pf_split_names *names, const char *pattern, uint32_t number,
                             const char *key, const char **name, perfile_error *err);
void pf_split_names_free(pf_split_names *names);

/* split_size.c: what a run says of state, in the pass that looks; what is in every part, at its
 * end; whether the next part begins with `r`, of process `pid`, and that it does. */
perfile_status pf_split_weigh(pf_split *x, const perfile_record *first, size_t n,
                              perfile_error *err);
void pf_split_weighed(pf_split *x, const perfile_stream *s);
/* How many bytes of facts every part has, at least. */
uint64_t pf_split_facts(const perfile_stream *s);
perfile_status pf_split_grow(pf_split *x, const perfile_record *r, unsigned class, uint32_t pid,
                             uint64_t data_bytes, bool *cut, perfile_error *err);

/* split_part.c: the filter of part `n`, made new. */
perfile_status pf_split_part(const pf_split *x, uint32_t n, pf_filter **part, perfile_error *err);
/* What the pass that chooses learns of a run, `home` of which belong to the part. */
perfile_status pf_split_note(pf_filter *part, const pf_run *run, uint64_t home, perfile_error *err);
/* Whether all parts want to see the run in that pass, or only those that have records in it. */
bool pf_split_concerns_all(const pf_split *x, const perfile_record *first, size_t n);
/* Whether the part needs a record that does not belong to it. */
bool pf_split_needs(const pf_split *x, pf_filter *part, const perfile_record *r);

#endif
