/* The zone of a range of records: what is among them, so that a reader can pass over the range
 * without reading it.  Archives have one for each chunk (archive/zone.h).
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

#include "core/zone_sets.h"
#include "perfile/record.h"

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
    struct pf_zone_recent *recent; /* what samples had lately: zone_samples.h */
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

#endif
