/* The zone of a range of records: what is among them, so that a reader can pass over the range
 * without reading it.  Archives have one for each chunk (archive/meta.h).
 *
 * A zone errs to one side only: what it says is not there is not there.  What it does not know it
 * leaves out, and a reader must then read the records.
 *
 * Records are of two kinds (pf_zone_is_apart()).  Those *apart* are side-band, losses, and what is
 * about the recording.  Readers need them whatever they are looking for, so that they are never
 * passed over.  The others are the *data*, for which the questions below are asked.
 *
 * Sets of threads, processes and processors have the values of the data: of the sample or trailer,
 * and of the record's own fields.  A set is known only if every data record has such a value.  The
 * reason is what a filter does (src/filter/test.c): a record without the field fails a term, but
 * passes the term's negation (--invert, `!(cpu == 1)` in expressions).  With this rule both can be
 * answered: if no member is in the wanted range, no data record passes the term, and if all members
 * are in it, none passes the negation.  AUX data of a whole processor (tid all ones) or of a thread
 * on any (cpu all ones), and counts of no processor, have no value.
 *
 * Records that hold others (COMPRESSED, fragments of simpleperf) hide what they hold: of a range
 * with one of them only the counts `records` and `apart` are known. */
#ifndef PF_CORE_ZONE_H
#define PF_CORE_ZONE_H

#include "core/stream.h"
#include "perfile/record.h"

#include <stdbool.h>
#include <stdint.h>

/* What zones are made of: counts by type or event, and sets of threads, processes or processors. */

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

/* All zeros is a zone of which nothing is known; before records are added it needs
 * pf_zone_clear().  Release with pf_zone_free(). */
typedef struct pf_zone {
    uint64_t records;
    bool has_times;       /* `first` and `last` are known */
    uint64_t first, last; /* least and greatest time that is neither 0 nor missing */
    pf_zone_counts types;
    pf_zone_counts events; /* samples whose event is not known count in `types` only */
    pf_zone_set tids, pids, cpus;
    bool has_lost, has_untimed, has_apart; /* the next three are known */
    uint64_t lost;                         /* of LOST and LOST_SAMPLES */
    uint64_t untimed;                      /* records without time, or with time 0 */
    uint64_t apart;                        /* records that are apart */
    /* `data_first` and `data_last` are known: least and greatest time of the data.  Unlike above, 0
     * counts as a time, as it does for filters.  Not known if a data record has no time, and if
     * there is no data. */
    bool has_data_times;
    uint64_t data_first, data_last;
    /* While records are added: */
    bool open;                     /* records can be added: not sealed yet */
    bool data_untimed;             /* a data record has no time */
    bool hides;                    /* a record holds others */
    struct pf_zone_recent *recent; /* what samples had lately */
} pf_zone;

/* True if readers need the record whatever they are looking for: its role (format/records.def) is
 * TASK, KERNEL, RECORDING, LOSS or FACT.  False for data, AUX data, unknown types, records that
 * hold others, and records of other families. */
bool pf_zone_is_apart(const perfile_record *r);

/* Makes `z` ready for the records of the next chunk; memory is kept. */
void pf_zone_clear(pf_zone *z);
void pf_zone_free(pf_zone *z);

/* Adds 1 or more records, as one call of perfile_stream_next_run() gave them; to be called before
 * the next call on the stream.  False: no memory; the zone must be cleared then. */
bool pf_zone_add(pf_zone *z, const perfile_record *first, size_t n);

/* Sorts the sets and sets the members `has_…`: the zone can be asked then, and nothing can be added
 * to it. */
void pf_zone_seal(pf_zone *z);

/* Questions about a sealed zone; pf_zone_set_has() and pf_zone_set_meets() ask its sets.  All are
 * true if the answer is not known. */
/* There may be a record of this type, apart or not. */
bool pf_zone_has_type(const pf_zone *z, uint32_t type);
/* A data record may be of the event with this index.  Only samples are counted by event: chunks
 * with other data, or with samples of no known event, may have any. */
bool pf_zone_has_event(const pf_zone *z, uint32_t index);
/* The time of a data record may lie in first .. last. */
bool pf_zone_meets_times(const pf_zone *z, uint64_t first, uint64_t last);

/* Empties `z`; nothing in it is known then.  Memory is kept. */
void pf_zone_forget(pf_zone *z);

/* Adding samples to a zone: the fast path of pf_zone_add(). */

/* What samples had lately.  A new one mostly has the same, which is then known to be in the sets
 * and needs no further work. */
typedef struct pf_zone_recent pf_zone_recent;

/* Forgets all of it. */
void pf_zone_recent_clear(pf_zone_recent *recent);

/* Adds the samples that have not been counted by event yet to z->events; z->recent is not NULL. */
void pf_zone_recent_count(pf_zone *z);

static inline bool pf_zone_is_sample(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF && r->session;
}

/* Adds the samples that `first` begins with, at least one; *done is how many.  False: no memory. */
bool pf_zone_add_samples(pf_zone *z, const perfile_record *first, size_t n, size_t *done);

static inline void pf_zone_widen(uint64_t *first, uint64_t *last, uint64_t time)
{
    *first = time < *first ? time : *first;
    *last = time > *last ? time : *last;
}

/* Narrowing: a reader that needs some records only says so before it reads, and a source that knows
 * what its records are (an archive) does not make the others.
 *
 * The reader is asked once for each range of records, in their order, what it needs of it.  The
 * records that it does not need are passed over by the driver as if they had been read: offsets,
 * sequences and the summary of the stream are those of the whole.  It is the reader's part to count
 * them. */

enum { /* what is needed of a range */
       PF_NEED_ALL = 0,
       PF_NEED_SIDEBAND = 1, /* no data: only what pf_zone_is_apart() */
       /* What is apart only, as with SIDEBAND: the reader counts the data by the zone.  It may do
        * so only if they can be read, so that a range whose stored bytes have a wrong checksum is
        * shown whole. */
       PF_NEED_COUNT = 2,
       PF_NEED_SKIP = 3, /* no record: nothing of the range is read */
       /* No record: stored() gets the range as it is stored.  One with a wrong checksum is shown.
        */
       PF_NEED_STORED = 4,
       /* The same, and then the records that are apart are shown as well. */
       PF_NEED_STORED_SIDEBAND = 5
};

/* A range of records as an archive has it: samples and FINISHED_ROUND records. */
typedef struct pf_stored {
    struct pf_archive *archive;
    const struct pf_chunk *chunk; /* of it */
    const pf_zone *zone;          /* sealed */
    uint64_t records, samples, bytes;
    uint64_t offset; /* of the first in … */
    uint32_t part;   /* … this part of the capture */
    const perfile_session *session;
} pf_stored;

struct pf_narrow { /* pf_narrow: see io/source.h */
    /* What is needed of a range, PF_NEED_….  The zone is sealed, and valid during the call only;
     * `sequence` is that of the first record of the range.  NULL: all is needed of all ranges. */
    unsigned (*needs)(void *user, const pf_zone *zone, uint64_t sequence);
    /* Called for each stretch of data that the stream passes over, `records` from `sequence` on, of
     * the range that needs() was asked about last; not with PF_NEED_STORED.  May be NULL. */
    void (*passed)(void *user, const pf_zone *zone, uint64_t sequence, uint64_t records);
    /* The stream comes to a range that is PF_NEED_STORED or _STORED_SIDEBAND; records before it
     * have been handed out.  *range is valid during the call.  Errors are the reader's to keep. */
    void (*stored)(void *user, const pf_stored *range);
    void *user;
    /* The reader needs all records, and takes those of a range as they are stored where it can:
     * needs() returns PF_NEED_STORED or PF_NEED_ALL and has no side effects.  A stage that passes
     * records on unchanged may therefore ask it too, and may still hand out the records. */
    bool takes_all;
};

/* Narrows what `s` will read; *how must live until it is closed, or narrowed in another way.  To be
 * called before the first run.  Nothing happens where the source does not know its records, and of
 * a stage only what takes_all is asked for. */
void pf_stream_narrow(perfile_stream *s, const pf_narrow *how);

/* Bytes of the records of a zone that knows those of each type. */
uint64_t pf_zone_bytes(const pf_zone *z);

/* The number of samples, if the zone can be that of a range that is given as it is stored: nothing
 * but samples and FINISHED_ROUND records.  0: it cannot. */
uint64_t pf_zone_plain_samples(const pf_zone *z);

/* Frees what perfile_stream_describe() has made; NULL is fine. */
struct pf_describing;
void pf_stream_describing_free(struct pf_describing *x);

/* The samples of a zone all of whose data are samples; NULL: it is another, or not known. */
const pf_zone_count *pf_zone_only_samples(const pf_zone *z);

#endif
