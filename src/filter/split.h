/* Internals of perfile_split_capture(): finds the parts, the part that each record belongs to, and
 * the other records that a part needs. lib/split.c and lib/split_write.c open the capture, run the
 * passes and write.
 *
 * Each record has one *home*, its target part: the part of its key (process, thread, CPU, event,
 * name), the part of its time window, or in stored order the part that began last.  Nothing is
 * stored per record: every pass computes homes again, from keys and the sorted array of homes.  A
 * pf_filter for each part, which selects the records of the part, decides which side-band and facts
 * the part needs besides (split_part.c). */
#ifndef PF_FILTER_SPLIT_H
#define PF_FILTER_SPLIT_H

#include "core/stream.h"
#include "perfile/split.h"
#include "filter/filter.h"

#define PF_SPLIT_NO_KEY UINT64_MAX /* the key of a record that has none */

/* A part; everything that is known about it before it is written. */
typedef struct pf_split_home {
    /* By PID, TID, CPU, EVENT: that number.  By COMM: the address of the name, which is unique per
     * name.  By time: the number of the window.  By size and number: the sequence of the first
     * record. */
    uint64_t key;
    uint64_t records, samples;      /* data records at home here, and the samples among them */
    uint64_t first_time, last_time; /* times of data records; PERFILE_NO_TIME: none has a time */
    uint64_t first_sample, last_sample; /* times of samples, likewise */
    uint64_t data_bytes; /* bytes of data records and their payloads; by size also of AUX data */
} pf_split_home;

/* Parts by size: an estimate of how large a part becomes (split_size.c). */
typedef struct pf_split_size {
    uint64_t always;        /* bytes of facts and side-band that every part has */
    uint64_t all_side_band; /* bytes of the side-band of all processes */
    pf_index index_of;      /* process -> index in `bytes_of` */
    pf_buffer bytes_of;     /* array of uint64_t: bytes of side-band of a process */
    bool full;              /* too many processes: each part is assumed to need all of them */

    /* The part that is being extended. */
    pf_pids needed;    /* processes of which it needs the side-band */
    bool everyone;     /* it needs the side-band of all processes */
    uint64_t bytes;    /* its bytes, without `always` */
    pf_buffer waiting; /* scratch of pf_ancestors_add_needed() */
} pf_split_size;

typedef struct pf_split {
    perfile_split_options options;
    bool state, compact;  /* parts get side-band of others; only the last record of each kind */
    bool in_order;        /* a part begins where the previous one ends: by time, size, number */
    bool stored;          /* … and this in stored order: by size, number */
    pf_filter *scan;      /* filled by the first pass: names of threads, time of the first sample */
    uint64_t first_other; /* least time of data other than samples, for captures without samples */
    pf_ancestors ancestors; /* parents of processes */
    pf_buffer homes;        /* array of pf_split_home, as found, later sorted by key */
    uint32_t n;             /* number of parts */
    pf_index places;        /* key -> index in `homes`; for parts by a key */
    pf_split_size size;
    uint64_t records, samples; /* records and samples of the capture */

    const perfile_session *session; /* session of the pass that found the parts; borrowed */

    /* Ranges that are skipped in the current pass: */
    pf_narrow narrow;
    uint64_t range_key; /* key of all samples of the range */
    bool finds;         /* the pass finds the parts */
    bool range_counted;
    perfile_status passed; /* status of counting a skipped range … */
    perfile_error passed_error;

    /* State of the current pass. */
    uint64_t key;                                           /* key of the previous record */
    uint32_t at;                                            /* index of the part of that record */
    void (*progress)(void *user, const perfile_record *at); /* may be NULL */
    void *progress_user;
} pf_split;

static inline pf_split_home *pf_split_homes(const pf_split *x)
{
    return (pf_split_home *)(void *)x->homes.ptr;
}

/* Returns true if `r` is neither damage nor an envelope, which is followed by its content as
 * records. */
static inline bool pf_split_is_plain(const perfile_record *r)
{
    return r->family != PERFILE_FAMILY_DAMAGE && !(r->flags & PERFILE_REC_ENVELOPE);
}

/* split.c: `x` must be all zeros, and must be freed even on failure. */
perfile_status pf_split_init(pf_split *x, const perfile_split_options *options, perfile_error *err);
void pf_split_free(pf_split *x);
/* Call it before each pass. */
void pf_split_begin_pass(pf_split *x);
/* Returns true if a pass is needed before the one that finds the parts: for the time of the first
 * sample, names of threads, or sizes of side-band. */
bool pf_split_needs_first_pass(const pf_split *x);
/* Makes that pass.  The stream must stay open as long as `x` is used. */
perfile_status pf_split_first_pass(pf_split *x, perfile_stream *s, perfile_error *err);
/* Makes the pass that finds the parts.  The stream must stay open as long as `x` is used. */
perfile_status pf_split_find(pf_split *x, perfile_stream *s, perfile_error *err);
/* Sets parts[0 .. n) to the indices of the homes of the records of a run.  Must be called for all
 * runs of the capture, in order. */
void pf_split_assign_parts(pf_split *x, const perfile_record *first, size_t n, uint32_t *parts);

/* Adds the samples of a zone, which all have the key `key`, to their part, which may be new. */
perfile_status pf_split_find_zone(pf_split *x, const pf_zone *z, uint64_t key, perfile_error *err);

/* split_part.c: ranges of an archive in which all samples are at home in one part.
 * pf_split_narrow() requests that the first pass, or with `finds` the pass that finds the parts,
 * skips such ranges. pf_split_narrow_status() returns the first error that occurred while ranges
 * were skipped. */
void pf_split_narrow(pf_split *x, perfile_stream *s, bool finds);
perfile_status pf_split_narrow_status(const pf_split *x, perfile_error *err);
/* Call it once the parts are known.  Returns true if all samples of the range are at home in one
 * part, and sets *part to it and *key to the key that the next record without a key inherits. */
bool pf_split_zone_part(const pf_split *x, const pf_zone *z, uint64_t sequence, uint32_t *part,
                        uint64_t *key);

/* split_part.c: returns the window of a time. */
uint64_t pf_split_window_of(const pf_split *x, uint64_t time);
/* split.c: returns the part of a key, UINT32_MAX if there is none.  Call it once the parts are
 * known. */
uint32_t pf_split_part_of_key(const pf_split *x, uint64_t key);

/* split_part.c: sets keys[0 .. n) to the keys of the records of a run, PF_SPLIT_NO_KEY for records
 * without one. */
void pf_split_keys(pf_split *x, const perfile_record *first, size_t n, uint64_t *keys);
/* Returns the key as text, "none" for PF_SPLIT_NO_KEY.  The text is valid as long as the session
 * and `buffer` are. */
const char *pf_split_key_text(const pf_split *x, uint64_t key, char buffer[24]);

/* The names of parts; no two are equal.  All zeros: no names yet. */
typedef struct pf_split_names {
    pf_texts used;    /* all names so far */
    pf_index places;  /* address of a name that was requested again -> index in `counts` */
    pf_buffer counts; /* array of uint32_t: the last number that was appended to it */
} pf_split_names;

/* split_part.c: returns PERFILE_E_USAGE if `pattern` is not a pattern for a split by `by`. */
perfile_status pf_split_pattern(const char *pattern, uint32_t by, perfile_error *err);
/* Sets *name to the name of part `number` with this key.  If the name was used before, "-2" … is
 * appended.  *name is valid as long as `names`. */
perfile_status pf_split_name(pf_split_names *names, const char *pattern, uint32_t number,
                             const char *key, const char **name, perfile_error *err);
void pf_split_names_free(pf_split_names *names);

/* split_size.c: adds up side-band by process.  Call it for each run of the first pass. */
perfile_status pf_split_add_side_band(pf_split *x, const perfile_record *first, size_t n,
                                      perfile_error *err);
/* Adds an upper bound for the facts that are in every part.  Call it at the end of the first pass.
 */
void pf_split_add_facts(pf_split *x, const perfile_stream *s);
/* Returns the least number of bytes of facts in every part. */
uint64_t pf_split_least_fact_bytes(const perfile_stream *s);
/* Adds record `r`, of role `class` and process `pid` (PERFILE_NO_PID: none), to the part that is
 * being extended, which has `data_bytes` so far.  Sets *cut if the part would exceed its size: then
 * a new part was begun with the record. */
perfile_status pf_split_extend_part(pf_split *x, const perfile_record *r, unsigned class,
                                    uint32_t pid, uint64_t data_bytes, bool *cut,
                                    perfile_error *err);

/* split_part.c: makes the filter of part `n`.  The caller closes it. */
perfile_status pf_split_part(const pf_split *x, uint32_t n, pf_filter **part, perfile_error *err);
/* Notes a run in the filter of a part, in the pass before writing.  `home` has the bits of the
 * records that are at home in the part. */
perfile_status pf_split_note_run(pf_filter *part, const pf_run *run, uint64_t home,
                                 perfile_error *err);
/* Returns true if a run must be noted in all parts, false if only in those that have records in it.
 */
bool pf_split_concerns_all(const pf_split *x, const perfile_record *first, size_t n);
/* Returns true if the part needs `r`, a record that is at home elsewhere. */
bool pf_split_part_needs(const pf_split *x, pf_filter *part, const perfile_record *r);

#endif
