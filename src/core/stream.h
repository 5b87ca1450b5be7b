/* The stream inside the library: a struct that drivers and stages embed first in their own, and the
 * functions (ops) that they implement.
 *
 * Only fill() and close() are required. */
#ifndef PF_CORE_STREAM_H
#define PF_CORE_STREAM_H

#include "core/session.h"
#include "io/source.h"
#include "perfile/stream.h"
#include "schema/rows.h"

struct pf_stored; /* core/zone.h */

/* Statistics of all records that a stream will hand out, known to one that has read its whole
 * input. */
typedef struct pf_totals {
    uint64_t timed;          /* records with a time that is not 0 */
    uint64_t timed_samples;  /* of them */
    uint64_t first_sample;   /* least and greatest time of those; without any UINT64_MAX … */
    uint64_t last_sample;    /* … and 0 */
    uint64_t first_bytes;    /* a hash of the first record of data */
    uint64_t kernel_address; /* address of the first mapping of the kernel; 0: not known */
    uint64_t bytes;          /* of all records that were read, as in a file of them */
} pf_totals;

typedef struct pf_stream_ops {
    /* Makes a run of at least one record, or returns PERFILE_END.  A driver fills s->run[0 ..
     * s->n_run); a stage that passes on records of the stream below sets s->at and s->end.  The
     * records are valid until the next call. A record with facts for the session is the first of
     * its run, and the facts have been collected when fill() returns.  A record of family DAMAGE is
     * alone in its run. */
    perfile_status (*fill)(perfile_stream *s, perfile_error *err);
    /* perfile_stream_extra().  NULL: a stage that passes on records of the stream below unchanged.
     */
    perfile_status (*extra)(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err);
    /* Frees the stream: `s`, its session, and everything else that it owns. */
    void (*close)(perfile_stream *s);
    /* The operations from here on may be NULL.  They are called only when no record of the last run
     * is left, and what they return is valid until the next call. */
    /* See perfile_stream_pass(). */
    void (*pass)(perfile_stream *s, perfile_passed *passed);
    /* See pf_stream_narrow(); a stage is asked only with takes_all. */
    void (*narrow)(perfile_stream *s, const pf_narrow *how);
    /* May be NULL: see perfile_stream_seek().  On failure the stream stays where it was. */
    perfile_status (*seek)(perfile_stream *s, uint32_t part, uint64_t offset, perfile_error *err);
} pf_stream_ops;

/* What passes between rooms: records of one run, or a range of records as an archive stores it. */
typedef struct pf_batch {
    const perfile_record *at;
    size_t n;
    /* What was noticed when they were framed; false and 0 where nothing is known. */
    bool samples_only;
    bool contiguous;                /* in memory */
    uint16_t shortest, longest;     /* bytes of a record */
    const struct pf_stored *stored; /* not NULL: this range instead of records */
} pf_batch;

struct perfile_stream {
    const pf_stream_ops *ops;
    const perfile_record *at; /* the next record of the run */
    const perfile_record *end;
    perfile_status final;  /* once not OK: what every further call returns */
    perfile_error error;   /* of `final` */
    perfile_stream *below; /* of a stage: owned.  The lowest stream has container and summary */
    perfile_session *session;
    /* See pf_stream_release().  NULL: nothing is released. */
    void (*release)(perfile_stream *s, uint32_t part, uint64_t offset, uint64_t len);
    /* PERFILE_SORTED_BY_…, for all parts as one sequence.  A stage inherits it from the stream
     * below unless it sets another value when it is made. */
    uint32_t sorted_by;
    /* Of a stage that reads its whole input before its first record: then its session is complete,
     * and its runs have `keys`, the sort key of each record.  Valid once the first record was asked
     * for.  NULL: of others. */
    const pf_totals *totals;
    const uint64_t *keys;
    bool begun; /* a run was requested: see pf_stream_unread() */
    perfile_container container;
    perfile_stream_summary summary;
    perfile_open_options options; /* limits point to `limits` */
    perfile_limits limits;
    const char *name;
    pf_inputs inputs; /* of the lowest stream: the sources that are read for it */
    perfile_source
        *source; /* of the lowest stream: what its capture is read from; NULL: not one source */
    struct pf_describing *describing; /* of perfile_stream_describe(), or NULL */
    pf_source_origin *origin;         /* likewise; NULL: the capture is in no archive */
    void (*closed)(void *user);       /* called when the stream is closed; may be NULL */
    void *closed_user;
    pf_source_lost told; /* of its lost bytes those that are in the summary as well */
    pf_usual_fn
        *sampled_by; /* the decoder that wrote `sample`; NULL: `sample` must be cleared first */
    perfile_sample sample; /* result of perfile_stream_sample() */
    pf_batch framed;       /* what is known of `run`, without `at`; n 0: nothing */
    uint32_t n_run;
    /* Few enough to stay in the first-level cache, enough that the cost of making a run does not
     * matter. */
    perfile_record run[PERFILE_RUN_RECORDS];
};

/* The sources that are read for `s`, for progress and waiting. */
const pf_inputs *pf_stream_inputs(const perfile_stream *s);

/* What the capture of `s` is read from, for callers that read it in between if it is seekable;
 * NULL: not one source. */
perfile_source *pf_stream_source(const perfile_stream *s);

/* Makes `s` (all zero) a stage on `below`, and the owner of it. */
void pf_stream_on(perfile_stream *s, const pf_stream_ops *ops, perfile_stream *below);

/* first[0 .. n) with what is known of it, if it is a whole run of `s` or of a stream below. */
pf_batch pf_stream_batch(const perfile_stream *s, const perfile_record *first, size_t n);
/* True if all records are known to be samples, one after the other in memory. */
static inline bool pf_batch_is_plain(const pf_batch *b)
{
    return b->samples_only && b->contiguous;
}

/* The bytes [offset, offset + len) of a part will not be read again soon: see pf_source_release().
 */
void pf_stream_release(perfile_stream *s, uint32_t part, uint64_t offset, uint64_t len);

/* Counts damage in the summary; `lost` bytes of the input are skipped because of it. */
void pf_stream_damage(perfile_stream *s, unsigned damage, uint64_t offset, uint64_t lost);
void pf_summary_add_damage(perfile_stream_summary *sum, unsigned damage, uint64_t offset,
                           uint64_t lost);
/* Counts the damage of another summary, that of what `s` is made from. */
void pf_stream_count_damage(perfile_stream *s, const perfile_stream_summary *of);

/* Calls options.notice, if it is set, with `where` and a formatted message. */
void pf_stream_notice(perfile_stream *s, uint64_t offset, const char *where, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

/* The size of all parts together; 0 if one is not known. */
uint64_t pf_container_bytes(const perfile_container *c);

/* PERFILE_E_USAGE with `where` if records were read from the stream already: a stage on it would
 * miss them, and a writer write only the rest. */
perfile_status pf_stream_unread(const perfile_stream *s, const char *where, perfile_error *err);

#endif
