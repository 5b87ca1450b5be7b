/* The stream inside the library: a struct that drivers and stages embed as the first member of
 * their own, and the functions (ops) that they implement.
 *
 * Only fill() and close() are required. */
#ifndef PF_CORE_STREAM_H
#define PF_CORE_STREAM_H

#include "core/session.h"
#include "io/source.h"
#include "perfile/stream.h"
#include "schema/rows.h"
#include "core/command.h"

struct pf_stored; /* core/zone.h */

/* Statistics of all records that a stream will yield.  Only a stream that has read its whole input
 * knows them. */
typedef struct pf_totals {
    uint64_t timed;          /* records with a time that is not 0 */
    uint64_t timed_samples;  /* samples among these */
    uint64_t first_sample;   /* smallest time of these; UINT64_MAX if there are none */
    uint64_t last_sample;    /* largest time of these; 0 if there are none */
    uint64_t first_bytes;    /* a hash of the first data record */
    uint64_t kernel_address; /* address of the first kernel mapping; 0 if unknown */
    uint64_t bytes;          /* size of all records that were read, as in a file */
} pf_totals;

typedef struct pf_stream_ops {
    /* Makes a run of at least one record, or returns PERFILE_END.  A driver fills s->run[0 ..
     * s->n_run); a stage that forwards records of the stream below sets s->at and s->end.  The
     * records are valid until the next call.  A record with facts for the session is the first of
     * its run, and the facts have been collected when fill() returns.  A record of family DAMAGE
     * is alone in its run. */
    perfile_status (*fill)(perfile_stream *s, perfile_error *err);
    /* See perfile_stream_extra().  NULL for a stage that forwards records of the stream below
     * unchanged. */
    perfile_status (*extra)(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err);
    /* Frees the stream: `s`, its session, and everything else that it owns. */
    void (*close)(perfile_stream *s);
    /* The operations from here on may be NULL.  They are called only when no record of the last
     * run is left, and their results are valid until the next call. */
    /* See pf_stream_pass(). */
    void (*pass)(perfile_stream *s, pf_passed *passed);
    /* See pf_stream_narrow().  A stage receives only requests with takes_all. */
    void (*narrow)(perfile_stream *s, const pf_narrow *how);
    /* See perfile_stream_seek().  On failure the position of the stream does not change. */
    perfile_status (*seek)(perfile_stream *s, uint32_t part, uint64_t offset, perfile_error *err);
} pf_stream_ops;

/* The unit in which rooms exchange data: records of one run, or a range of records as an archive
 * stores it. */
typedef struct pf_batch {
    const perfile_record *at;
    size_t n;
    /* Properties found when the run was made; false and 0 if nothing is known. */
    bool samples_only;
    bool contiguous;                /* in memory */
    uint16_t shortest, longest;     /* bytes of the shortest and longest record */
    const struct pf_stored *stored; /* if not NULL, this range replaces the records */
} pf_batch;

struct perfile_stream {
    const pf_stream_ops *ops;
    const perfile_record *at; /* the next record of the run */
    const perfile_record *end;
    perfile_status final;  /* once it is not OK, every further call returns it */
    perfile_error error;   /* of `final` */
    perfile_stream *below; /* a stage reads and owns it; the lowest has container and summary */
    perfile_session *session;
    /* See pf_stream_release().  NULL if nothing is released. */
    void (*release)(perfile_stream *s, uint32_t part, uint64_t offset, uint64_t len);
    /* PERFILE_SORTED_BY_…, for all parts as one sequence.  A stage inherits it from the stream
     * below unless it sets another value when it is made. */
    uint32_t sorted_by;
    /* For a stage that reads its whole input before its first record: its session is then complete,
     * and `keys` has the sort key of each record of a run.  Valid once the first record has been
     * requested.  NULL for other streams. */
    const pf_totals *totals;
    const uint64_t *keys;
    bool begun; /* a run was requested: see pf_stream_unread() */
    perfile_container container;
    perfile_stream_summary summary;
    perfile_open_options options; /* limits point to `limits` */
    perfile_limits limits;
    const char *name;
    pf_inputs inputs;                 /* of the lowest stream: the sources that it reads */
    perfile_source *source;           /* of the lowest stream: its only source, or NULL */
    struct pf_describing *describing; /* set by pf_stream_describe(), or NULL */
    pf_source_origin *origin;   /* of the lowest stream; NULL if the capture is not in an archive */
    void (*closed)(void *user); /* called when the stream is closed; may be NULL */
    void *closed_user;
    pf_source_lost told; /* the part of the lost bytes that the summary already counts */
    pf_usual_fn
        *sampled_by; /* the decoder that wrote `sample`; NULL if `sample` must be cleared first */
    perfile_sample sample; /* result of perfile_stream_sample() */
    pf_batch framed;       /* properties of `run`, without `at`; n is 0 if nothing is known */
    uint32_t n_run;
    /* Few enough to stay in the first-level cache, and enough that the cost of making a run does
     * not matter. */
    perfile_record run[PERFILE_RUN_RECORDS];
};

/* Returns the sources that `s` reads, for progress reports and waiting. */
const pf_inputs *pf_stream_inputs(const perfile_stream *s);

/* Returns the source of the capture of `s`; callers may read it in between if it is seekable.  NULL
 * if it is not a single source. */
perfile_source *pf_stream_source(const perfile_stream *s);

/* Makes `s` (all zeros) a stage on `below`, which it then owns. */
void pf_stream_on(perfile_stream *s, const pf_stream_ops *ops, perfile_stream *below);

/* Returns first[0 .. n) as a batch, with its properties if it is a whole run of `s` or of a
 * stream below. */
pf_batch pf_stream_batch(const perfile_stream *s, const perfile_record *first, size_t n);
/* Returns true if all records are known to be samples, one after another in memory. */
static inline bool pf_batch_is_plain(const pf_batch *b)
{
    return b->samples_only && b->contiguous;
}

/* Says that the bytes [offset, offset + len) of a part will not be read again soon: see
 * pf_source_release(). */
void pf_stream_release(perfile_stream *s, uint32_t part, uint64_t offset, uint64_t len);

/* Counts damage in the summary.  `lost` is the number of input bytes skipped because of it. */
void pf_stream_damage(perfile_stream *s, unsigned damage, uint64_t offset, uint64_t lost);
void pf_summary_add_damage(perfile_stream_summary *sum, unsigned damage, uint64_t offset,
                           uint64_t lost);
/* Adds the damage of another summary, that of the input of `s`. */
void pf_stream_count_damage(perfile_stream *s, const perfile_stream_summary *of);

/* Calls options.notice, if set, with `where` and a formatted message. */
void pf_stream_notice(perfile_stream *s, uint64_t offset, const char *where, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

/* Returns the size of all parts together; 0 if one is unknown. */
uint64_t pf_container_bytes(const perfile_container *c);

/* Fails with PERFILE_E_USAGE and `where` if records have been read from the stream already: a stage
 * on it would miss them, and a writer would write only the rest. */
perfile_status pf_stream_unread(const perfile_stream *s, const char *where, perfile_error *err);

#endif
