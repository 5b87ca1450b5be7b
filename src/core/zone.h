/* The zone of a range of records: a summary of the range, with which a reader can decide to skip it
 * without reading it.  Archives have one for each chunk (archive/meta.h).
 *
 * A zone errs on one side only: if it says that something does not occur, it does not occur.  It
 * omits facts that are unknown, and a reader must then read the records.
 *
 * There are two kinds of records (pf_zone_is_apart()).  *Side-band* records are about processes,
 * the system, the recording, and losses.  Every reader needs them, so they are never skipped.  All
 * others are *data*, and the questions below are about data.
 *
 * Sets of threads, processes and CPUs have the values that data records carry in their sample or
 * trailer fields, and in fields of their own.  A set is known only if every data record has such a
 * value.  The reason is how filters treat a record without the field (src/filter/test.c): it fails
 * a term, but passes the negated term (`!(cpu == 1)` in expressions).  With this rule a set answers
 * both: if no member is in the wanted range, no data record passes the term; if all members are,
 * none passes the negation.  AUX data of a whole CPU (tid all ones) or of a thread on any CPU (cpu
 * all ones), and counts without a CPU, have no value.
 *
 * Records that contain others (COMPRESSED, fragments of simpleperf) hide them.  For a range with
 * such a record only the counts `records` and `apart` are known. */
#ifndef PF_CORE_ZONE_H
#define PF_CORE_ZONE_H

#include "core/stream.h"
#include "perfile/record.h"

#include <stdbool.h>
#include <stdint.h>

/* The parts of zones: counts by type or event, and sets of threads, processes or CPUs. */

enum {
    PF_ZONE_MOST_MEMBERS = 65536, /* members of a set; a set with more is unknown */
    PF_ZONE_MOST_COUNTS = 4096    /* types or events; if there are more, none is known */
};

/* With a type as key (perfile_record.type): the records and their bytes, as perfile_record_size()
 * counts them.  With an event as key (perfile_event.index): its samples; `bytes` is 0. */
typedef struct pf_zone_count {
    uint64_t key, records, bytes;
} pf_zone_count;

typedef struct pf_zone_counts {
    pf_zone_count *at; /* ascending by key */
    uint32_t n, cap;
    bool known;
    bool has_bytes; /* `bytes` is known, too */
    uint32_t last;  /* index of the last count that changed */
} pf_zone_counts;

typedef struct pf_zone_set {
    uint32_t *at; /* members; ascending after pf_zone_set_seal() */
    uint32_t n, cap;
    bool known;
    bool has_zero;               /* 0 is a member; a 0 in `slots` means "free" */
    uint32_t *slots;             /* while values are added: a hash table of the members */
    uint32_t n_slots, cap_slots; /* number in use (a power of two, or 0), and number allocated */
    uint64_t seed;               /* seed of the hash function: see pf_session_seed() */
} pf_zone_set;

/* Empties a set or counts and sets whether it is known.  The memory is reused. */
void pf_zone_set_clear(pf_zone_set *s, bool known);
void pf_zone_counts_clear(pf_zone_counts *c, bool known);

void pf_zone_set_free(pf_zone_set *s);
void pf_zone_counts_free(pf_zone_counts *c);

/* Adds a value if the set is known.  With too many members the set becomes unknown.  Returns false
 * when out of memory. */
bool pf_zone_set_add(pf_zone_set *s, uint32_t v);

/* Sorts the members.  Nothing can be added after that. */
void pf_zone_set_seal(pf_zone_set *s);

/* Adds to the count of `key`, in the same way. */
bool pf_zone_counts_add(pf_zone_counts *c, uint64_t key, uint64_t records, uint64_t bytes);

/* Returns the count of `key`, or NULL. */
const pf_zone_count *pf_zone_counts_find(const pf_zone_counts *c, uint64_t key);

/* Questions about a sealed set.  The answer is true if the set is unknown. */
/* Is `v` a member? */
bool pf_zone_set_has(const pf_zone_set *s, uint32_t v);
/* Is a member in the range low .. high? */
bool pf_zone_set_meets(const pf_zone_set *s, uint32_t low, uint32_t high);

/* A zone that is all zeros knows nothing.  It needs pf_zone_clear() before records are added, and
 * pf_zone_free() at the end. */
typedef struct pf_zone {
    uint64_t records;
    bool has_times;       /* `first` and `last` are known */
    uint64_t first, last; /* smallest and largest time, except 0 and missing times */
    pf_zone_counts types;
    pf_zone_counts events; /* samples of unknown events are counted in `types` only */
    pf_zone_set tids, pids, cpus;
    bool has_lost, has_untimed, has_apart; /* the next three members are known */
    uint64_t lost;                         /* sum of the counts in LOST and LOST_SAMPLES */
    uint64_t untimed;                      /* records without time, or with time 0 */
    uint64_t apart;                        /* side-band records */
    /* `data_first` and `data_last` are known: the smallest and largest time of the data.  Unlike
     * above, 0 counts as a time, as it does for filters.  They are unknown if a data record has no
     * time, or if there is no data. */
    bool has_data_times;
    uint64_t data_first, data_last;
    /* Only while records are added: */
    bool open;                     /* records can be added: the zone is not sealed */
    bool data_untimed;             /* a data record has no time */
    bool hides;                    /* a record contains other records */
    struct pf_zone_recent *recent; /* values that recent samples had */
} pf_zone;

/* Returns true for side-band, which every reader needs: records with the role TASK, KERNEL,
 * RECORDING, LOSS or FACT (format/records.def).  Returns false for data, AUX data, unknown types,
 * records that contain others, and records of other families. */
bool pf_zone_is_apart(const perfile_record *r);

/* Prepares `z` for the records of the next chunk.  The memory is reused. */
void pf_zone_clear(pf_zone *z);
void pf_zone_free(pf_zone *z);

/* Adds one or more records, as perfile_stream_next_run() returned them.  Must be called before the
 * next call on the stream.  Returns false when out of memory; the zone must be cleared then. */
bool pf_zone_add(pf_zone *z, const perfile_record *first, size_t n);

/* Sorts the sets and sets the members `has_…`.  After that the zone answers questions, and nothing
 * can be added to it. */
void pf_zone_seal(pf_zone *z);

/* Questions about a sealed zone; pf_zone_set_has() and pf_zone_set_meets() query its sets.  The
 * answer is true if it is unknown. */
/* Can there be a record of this type, side-band or data? */
bool pf_zone_has_type(const pf_zone *z, uint32_t type);
/* Can a data record belong to the event with this index?  Only samples are counted by event: chunks
 * with other data, or with samples of unknown events, may have any event. */
bool pf_zone_has_event(const pf_zone *z, uint32_t index);
/* Can a data record have a time in first .. last? */
bool pf_zone_meets_times(const pf_zone *z, uint64_t first, uint64_t last);

/* Empties `z` and makes everything in it unknown.  The memory is reused. */
void pf_zone_forget(pf_zone *z);

/* Adding samples to a zone: the fast path of pf_zone_add(). */

/* Values that recent samples had.  A new sample mostly repeats them; they are known to be in the
 * sets and need no further work. */
typedef struct pf_zone_recent pf_zone_recent;

/* Clears it. */
void pf_zone_recent_clear(pf_zone_recent *recent);

/* Adds to z->events the samples that have not yet been counted there.  z->recent must not be
 * NULL. */
void pf_zone_recent_count(pf_zone *z);

static inline bool pf_zone_is_sample(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF && r->session;
}

/* Adds the samples at the beginning of `first`, which are at least one; *done receives their
 * number.  Returns false when out of memory. */
bool pf_zone_add_samples(pf_zone *z, const perfile_record *first, size_t n, size_t *done);

static inline void pf_zone_widen(uint64_t *first, uint64_t *last, uint64_t time)
{
    *first = time < *first ? time : *first;
    *last = time > *last ? time : *last;
}

/* Requests: a reader that needs only some records says so before it reads.  A source that has zones
 * (an archive) then does not make the others.
 *
 * The source asks once for each range of records, in order, how much of it the reader needs.  It
 * skips the other records as if they had been read: offsets, sequences and the summary of the
 * stream do not change.  The reader has to count the skipped records itself. */

enum { /* how much of a range is needed */
       PF_NEED_ALL = 0,
       PF_NEED_SIDEBAND = 1, /* no data: only records for which pf_zone_is_apart() is true */
       /* Only side-band, as above; the reader counts the data by the zone.  It may do so only if
        * the data is readable, so all records of a range with a wrong checksum are yielded. */
       PF_NEED_COUNT = 2,
       PF_NEED_SKIP = 3, /* no record: nothing of the range is read */
       /* No record: stored() gets the range as it is stored.  A range with a wrong checksum is
        * yielded as records. */
       PF_NEED_STORED = 4,
       /* The same, and then the side-band is yielded as well. */
       PF_NEED_STORED_SIDEBAND = 5
};

/* A range of records as an archive stores it: samples and FINISHED_ROUND records. */
typedef struct pf_stored {
    struct pf_archive *archive;
    const struct pf_chunk *chunk; /* the chunk of that archive */
    const pf_zone *zone;          /* sealed */
    uint64_t records, samples, bytes;
    uint64_t offset; /* offset of the first record in the part */
    uint32_t part;   /* part of the capture */
    const perfile_session *session;
} pf_stored;

struct pf_narrow { /* pf_narrow: see io/source.h */
    /* Returns how much of a range is needed, PF_NEED_….  The zone is sealed, and valid only during
     * the call; `sequence` is the number of the first record of the range.  NULL: all of every
     * range is needed. */
    unsigned (*needs)(void *user, const pf_zone *zone, uint64_t sequence);
    /* Called for each group of data records that the stream skips: `records` of them from
     * `sequence` on, in the range of the last needs().  Not called with PF_NEED_STORED.  May be
     * NULL. */
    void (*passed)(void *user, const pf_zone *zone, uint64_t sequence, uint64_t records);
    /* Called when the stream reaches a range that is PF_NEED_STORED or _STORED_SIDEBAND, after the
     * records before it have been yielded.  *range is valid during the call.  The reader has to
     * remember errors. */
    void (*stored)(void *user, const pf_stored *range);
    void *user;
    /* The reader needs all records, but accepts ranges as they are stored: needs() returns
     * PF_NEED_STORED or PF_NEED_ALL and has no side effects.  A stage that forwards records
     * unchanged may therefore call needs() too, and may still yield the records. */
    bool takes_all;
};

/* Sets the request of the reader of `s`.  *how must live until `s` is closed or gets another
 * request.  Must be called before the first run is read.  Does nothing if the source has no zones.
 * A stage accepts only requests with takes_all. */
void pf_stream_narrow(perfile_stream *s, const pf_narrow *how);

/* Returns the bytes of all records of a zone with known counts by type. */
uint64_t pf_zone_bytes(const pf_zone *z);

/* Returns the number of samples if a range with this zone can be given as it is stored, because it
 * has only samples and FINISHED_ROUND records; otherwise 0. */
uint64_t pf_zone_plain_samples(const pf_zone *z);

/* Frees what pf_stream_describe() allocated.  NULL is allowed. */
struct pf_describing;
void pf_stream_describing_free(struct pf_describing *x);

/* Returns the count of samples if all data of the zone are samples; NULL if they are not, or if it
 * is unknown. */
const pf_zone_count *pf_zone_only_samples(const pf_zone *z);

#endif
