/* Internals of perfile_split_capture(): which parts there are, which part each record belongs to,
 * and what else a part needs.  lib/split.c and lib/split_write.c open the capture, do the passes
 * and write.
 *
 * A record has one *home*: the part of its key (process, thread, processor, event, name), the part
 * of its window of time, or in stored order the part that began last.  Nothing is kept per record:
 * every pass computes homes again, from keys and the sorted array of homes.  What a part
 * needs besides, side-band and facts, is decided by a pf_filter whose selection is the part
 * (split_part.c). */
#ifndef PF_FILTER_SPLIT_H
#define PF_FILTER_SPLIT_H

#include "core/stream.h"
#include "perfile/split.h"
#include "filter/filter.h"

#define PF_SPLIT_NO_KEY UINT64_MAX /* the key of a record that has none */

/* A part, as far as it is known before it is written. */
typedef struct pf_split_home {
    /* By PID, TID, CPU, EVENT: that number.  By COMM: the address of the name, which is unique per
     * name.  By time: the number of the window.  By size and number: the sequence of the first
     * record. */
    uint64_t key;
    uint64_t records, samples;      /* data records that are at home here, and samples of them */
    uint64_t first_time, last_time; /* of data records, PERFILE_NO_TIME: none has a time */
    uint64_t first_sample, last_sample; /* of samples, the same */
    uint64_t data_bytes; /* of data records and their payloads; by size also of AUX data */
} pf_split_home;

/* Parts by size: an estimate of how large a part becomes (split_size.c). */
typedef struct pf_split_size {
    uint64_t always;        /* bytes of facts and side-band that are in every part */
    uint64_t all_side_band; /* bytes of the side-band of all processes */
    pf_index index_of;      /* pid -> index in `bytes_of` */
    pf_buffer bytes_of;     /* uint64_t: bytes of the side-band of a process */
    bool full; /* there were too many processes: each part is taken to need all of them */

    /* The part that is being extended. */
    pf_pids needed;    /* processes whose side-band it needs */
    bool everyone;     /* it needs that of all processes */
    uint64_t bytes;    /* without `always` */
    pf_buffer waiting; /* scratch of pf_ancestors_add_needed() */
} pf_split_size;

typedef struct pf_split {
    perfile_split_options options;
    bool state, compact;    /* parts get side-band of others; only the last of equal kind */
    bool in_order;          /* a part begins where the one before ends: by time, size, number */
    bool stored;            /* … and that in stored order: by size, number */
    pf_filter *scan;        /* fed by the first pass: names of threads, time of the first sample */
    uint64_t first_other;   /* least time of data that is no sample, for captures without samples */
    pf_ancestors ancestors; /* which process forked which */
    pf_buffer homes;        /* pf_split_home: as they are found, then sorted by key */
    uint32_t n;             /* parts */
    pf_index places;        /* key -> index in `homes`, of parts by a key */
    pf_split_size size;
    uint64_t records, samples; /* of the capture */

    const perfile_session *session; /* of the pass that found the parts; borrowed */

    /* Ranges that are passed over in the pass that runs: */
    pf_narrow narrow;
    uint64_t range_key; /* of all samples of the range */
    bool finds;         /* the pass finds the parts */
    bool range_counted;
    perfile_status passed; /* the error of counting one, which is … */
    perfile_error passed_error;

    /* Of the current pass. */
    uint64_t key;                                           /* of the record before */
    uint32_t at;                                            /* index of its part */
    void (*progress)(void *user, const perfile_record *at); /* may be NULL */
    void *progress_user;
} pf_split;

static inline pf_split_home *pf_split_homes(const pf_split *x)
{
    return (pf_split_home *)(void *)x->homes.ptr;
}

/* True if `r` is neither damage nor an envelope (whose content follows as records). */
static inline bool pf_split_is_plain(const perfile_record *r)
{
    return r->family != PERFILE_FAMILY_DAMAGE && !(r->flags & PERFILE_REC_ENVELOPE);
}

/* split.c: `x` is all zeros, and must be freed on failure, too. */
perfile_status pf_split_init(pf_split *x, const perfile_split_options *options, perfile_error *err);
void pf_split_free(pf_split *x);
/* To be called before each pass. */
void pf_split_begin_pass(pf_split *x);
/* True if a pass is needed before the one that finds the parts: for the time of the first sample,
 * names of threads, or sizes of side-band. */
bool pf_split_needs_first_pass(const pf_split *x);
/* That pass.  The stream must stay open as long as `x` is used. */
perfile_status pf_split_first_pass(pf_split *x, perfile_stream *s, perfile_error *err);
/* The pass that finds the parts.  The stream must stay open as long as `x` is used. */
perfile_status pf_split_find(pf_split *x, perfile_stream *s, perfile_error *err);
/* Sets parts[0 .. n) to the indices of the homes of the records of a run.  All runs of the capture
 * must come, in order. */
void pf_split_assign_parts(pf_split *x, const perfile_record *first, size_t n, uint32_t *parts);

/* Adds so many samples of the key, with times and bytes of this zone, to their part, which may be
 * new. */
perfile_status pf_split_find_zone(pf_split *x, const pf_zone *z, uint64_t key, perfile_error *err);

/* split_part.c: ranges of a capture in an archive whose samples are all at home in one part.
 * pf_split_narrow() narrows the first pass, and that which finds the parts; errors of ranges that
 * were passed over are reported by pf_split_narrow_status(). */
void pf_split_narrow(pf_split *x, perfile_stream *s, bool finds);
perfile_status pf_split_narrow_status(const pf_split *x, perfile_error *err);
/* Once the parts are known: true if all samples of the range are at home in part *part; *key is
 * what the next record without a key inherits. */
bool pf_split_zone_part(const pf_split *x, const pf_zone *z, uint64_t sequence, uint32_t *part,
                        uint64_t *key);

/* split_part.c: the window of a time. */
uint64_t pf_split_window_of(const pf_split *x, uint64_t time);
/* split.c: the part of a key, once the parts are known; UINT32_MAX: none. */
uint32_t pf_split_part_of_key(const pf_split *x, uint64_t key);

/* split_part.c: sets keys[0 .. n) to the keys of the records of a run, PF_SPLIT_NO_KEY for records
 * without. */
void pf_split_keys(pf_split *x, const perfile_record *first, size_t n, uint64_t *keys);
/* Returns the key as text, "none" for PF_SPLIT_NO_KEY; valid as long as the session and `buffer`.
 */
const char *pf_split_key_text(const pf_split *x, uint64_t key, char buffer[24]);

/* Names of parts, so that no two are equal.  All zeros: none yet. */
typedef struct pf_split_names {
    pf_texts used;    /* all names so far */
    pf_index places;  /* address of a name that was wanted again -> index in `counts` */
    pf_buffer counts; /* uint32_t: the last number that was appended to it */
} pf_split_names;

/* split_part.c: PERFILE_E_USAGE when `pattern` is no pattern for a split by `by`. */
perfile_status pf_split_pattern(const char *pattern, uint32_t by, perfile_error *err);
/* Sets *name to the name of part `number` with this key; "-2" … is appended if it was used before.
 * It lives as long as `names`. */
perfile_status pf_split_name(pf_split_names *names, const char *pattern, uint32_t number,
                             const char *key, const char **name, perfile_error *err);
void pf_split_names_free(pf_split_names *names);

/* split_size.c: adds up side-band by process, for each run of the first pass. */
perfile_status pf_split_add_side_band(pf_split *x, const perfile_record *first, size_t n,
                                      perfile_error *err);
/* Adds the facts that are in every part, estimated from above; at the end of that pass. */
void pf_split_add_facts(pf_split *x, const perfile_stream *s);
/* Returns how many bytes of facts every part has at least. */
uint64_t pf_split_least_fact_bytes(const perfile_stream *s);
/* Adds record `r`, of role `class` and process `pid` (PERFILE_NO_PID: none), to the part that is
 * being extended, which has `data_bytes` so far.  *cut: it would exceed the size, and a new part
 * was begun with the record. */
perfile_status pf_split_extend_part(pf_split *x, const perfile_record *r, unsigned class,
                                    uint32_t pid, uint64_t data_bytes, bool *cut,
                                    perfile_error *err);

/* split_part.c: makes the filter of part `n`; the caller closes it. */
perfile_status pf_split_part(const pf_split *x, uint32_t n, pf_filter **part, perfile_error *err);
/* Notes a run in the filter of a part, in the pass before writing; `home` are the bits of the
 * records that are at home in the part. */
perfile_status pf_split_note_run(pf_filter *part, const pf_run *run, uint64_t home,
                                 perfile_error *err);
/* True if a run must be noted in all parts, false if only in those that have records in it. */
bool pf_split_concerns_all(const pf_split *x, const perfile_record *first, size_t n);
/* True if the part needs `r`, a record that is at home elsewhere. */
bool pf_split_part_needs(const pf_split *x, pf_filter *part, const perfile_record *r);

#endif
