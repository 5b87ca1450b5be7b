/* What a stream is inside: a driver fills runs of records, perfile_stream_next() hands them out. */
#ifndef PF_CORE_STREAM_H
#define PF_CORE_STREAM_H

#include "core/session.h"
#include "io/source.h"
#include "perfile/stream.h"
#include "schema/rows.h"

/* Samples that come next, of `size` bytes each, one behind the other: of `n` the first is a record,
 * the others are none yet.  n 0: what comes next is seen when a run is made. */
typedef struct pf_peeked {
    const perfile_record *first;
    size_t n, size;
} pf_peeked;

/* Samples that come next, whole and one behind the other, as they lie in memory. */
typedef struct pf_sample_span {
    perfile_bytes bytes;
    uint64_t n;
    uint64_t offset; /* of the first */
    uint32_t part;
    bool lasting; /* the bytes stay until the stream is closed, not only to the next call */
} pf_sample_span;

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PF_SPAN_WORTH = 1 };
#else
enum { PF_SPAN_WORTH = 64 }; /* samples: fewer are a run, which is as fast */
#endif

/* Records one behind the other in a part. */
typedef struct pf_stretch {
    uint64_t offset, bytes;
    uint64_t sequence, records; /* of the first; how many */
    uint32_t part;
} pf_stretch;

/* What a stream that has read all of its input knows of the records that it will hand out. */
typedef struct pf_totals {
    uint64_t timed;          /* records with a time that is not 0 */
    uint64_t timed_samples;  /* of them */
    uint64_t first_sample;   /* least and greatest time of those; without any UINT64_MAX … */
    uint64_t last_sample;    /* … and 0 */
    uint64_t first_bytes;    /* a hash of the first record of data */
    uint64_t kernel_address; /* where the kernel was mapped first; 0: nobody says */
    uint64_t bytes;          /* of all records that were read, as in a file of them */
} pf_totals;

/* One who looks at samples and rounds in other threads, before the stream comes to them.  He stays
 * where he is until the stream is closed. */
typedef struct pf_looker {
    /* A block of the file begins.  Its `notes` are note_bytes, zero before their first use; nobody
     * else has them up to when they are taken. */
    void (*begin)(void *user, void *notes);
    /* Records that stand one behind the other, behind those of the call before: how many, from the
     * first on, nobody has to look at again.  Fewer than n: no more of this block are shown.  Their
     * sequence counts from 0 in each block, their part is 0. */
    size_t (*run)(void *user, void *notes, const perfile_record *r, size_t n);
    size_t note_bytes;
    void *user;
} pf_looker;

/* Records that come next and that were looked at. */
typedef struct pf_looked {
    perfile_passed passed;
    uint64_t sequence; /* of the first */
    void *notes;
} pf_looked;

typedef struct pf_stream_ops {
    /* Makes a run: s->run[0 .. s->n_run) of a driver, what s->at and s->end are set to of a stage
     * that passes on the records of the stream below.  At least one record, or PERFILE_END.  The
     * records live until the next call.  A record that the session learns from stands first in its
     * run, and is learned when the run is made.  A record of family DAMAGE is alone in its run. */
    perfile_status (*fill)(perfile_stream *s, perfile_error *err);
    /* May be NULL: of a stage that hands on the records of the stream below as they stand there. */
    perfile_status (*extra)(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err);
    /* Releases all that is the stream's own, `s` and its session too. */
    void (*close)(perfile_stream *s);
    /* The other four may be NULL, and are called where no record of the last run is left.  What
     * they give is valid until the next call.
     * Samples in this machine's order that the next run would begin with, PERFILE_RUN_RECORDS at
     * most. */
    pf_peeked (*peek)(perfile_stream *s);
    /* Where the next record stands; `bytes` is how much the part has from there on (UINT64_MAX:
     * nobody knows), `records` is 0.  False: something else comes next, damage for instance. */
    bool (*place)(perfile_stream *s, pf_stretch *here);
    /* Samples to be copied without a look at any of them: `most` at most, and no more bytes than a
     * second-level cache holds.  n 0: there are none. */
    pf_sample_span (*span)(perfile_stream *s, uint64_t most);
    /* Passes over so many records and bytes, which one of the others has shown to come next, or
     * which were there when the capture was read before.  They count as read. */
    void (*skip)(perfile_stream *s, uint64_t records, uint64_t bytes);
    /* May be NULL: of a stage that reads all before its first record, and then has all facts in its
     * session and `keys` for its runs.  What is known of its records, once the first was asked for.
     */
    void (*totals)(const perfile_stream *s, pf_totals *out);
    /* May be NULL, too: see perfile_stream_pass(). */
    void (*pass)(perfile_stream *s, perfile_passed *passed);
    /* May be NULL: what the looker, always the same, has seen of the records that come next; skip()
     * passes over them.  False: nothing, then they are to be read.  While the session changes
     * nobody looks. */
    bool (*looked)(perfile_stream *s, const pf_looker *looker, pf_looked *out);
    /* May be NULL: see perfile_stream_seek().  On failure the stream stays where it was. */
    perfile_status (*seek)(perfile_stream *s, uint32_t part, uint64_t offset, perfile_error *err);
} pf_stream_ops;

/* What was seen of all records of a run when it was made. */
typedef struct pf_framed {
    uint32_t n;                 /* of the run; 0: nothing is known */
    uint32_t other;             /* not 0: not all are samples */
    uint16_t shortest, longest; /* bytes of a record */
    bool adjacent;              /* they lie one behind the other */
} pf_framed;

struct perfile_stream {
    const pf_stream_ops *ops;
    const perfile_record *at; /* the next record of the run */
    const perfile_record *end;
    perfile_status final;  /* not OK: what every further call returns */
    perfile_error error;   /* of `final` */
    perfile_stream *below; /* of a stage: owned; it answers for container and summary */
    perfile_session *session;
    /* See pf_stream_release(); NULL: nothing to be done. */
    void (*release)(perfile_stream *s, uint32_t part, uint64_t offset, uint64_t len);
    /* See pf_stream_beside(); NULL: there is none. */
    perfile_source *(*source_of)(perfile_stream *s, uint32_t part);
    /* PERFILE_SORTED_BY_…, of all parts as one sequence.  A stage has that of the stream below
     * unless it says something else when it is made. */
    uint32_t sorted_by;
    const uint64_t *keys; /* with `totals`: by what the records of the run are sorted, by slot */
    bool begun;           /* a run was asked for */
    perfile_container container;
    perfile_stream_summary summary;
    perfile_open_options options; /* limits point to `limits` */
    perfile_limits limits;
    const char *name;
    pf_inputs inputs;        /* of a stream without one below: what is read for it */
    pf_usual_fn *sampled_by; /* what wrote `sample`; NULL: it needs clearing */
    perfile_sample sample;   /* perfile_stream_sample() */
    pf_framed framed;
    uint32_t n_run;
    /* Few enough to stay in the first cache, enough that a run costs little beside them. */
    perfile_record run[PERFILE_RUN_RECORDS];
};

/* What is read for `s`. */
const pf_inputs *pf_stream_inputs(const perfile_stream *s);

/* Makes `s`, all zero, a stage on `below`, which it owns from here on. */
void pf_stream_on(perfile_stream *s, const pf_stream_ops *ops, perfile_stream *below);

/* What is known of first[0 .. n), as far as they are all of a run that `s` or a stream below made.
 */
pf_framed pf_stream_framed(const perfile_stream *s, const perfile_record *first, size_t n);

/* Tells that the stable bytes [offset, offset + len) of a part will not be wanted soon: see
 * pf_source_release(). */
void pf_stream_release(perfile_stream *s, uint32_t part, uint64_t offset, uint64_t len);

/* The source of a capture of one file that is read through a window with a mapping beside it: what
 * is at an offset of the file is at that offset of the mapping until the source is closed.  NULL:
 * the capture is no such file, or `s` is a stage, whose records need not be those of the file. */
perfile_source *pf_stream_beside(perfile_stream *s);

/* Counts damage; `lost` bytes of the input are passed over because of it. */
void pf_stream_damage(perfile_stream *s, unsigned damage, uint64_t offset, uint64_t lost);

/* options.notice, with `where` and a formatted message. */
void pf_stream_notice(perfile_stream *s, uint64_t offset, const char *where, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

/* Bytes of all parts; 0: one is not known. */
uint64_t pf_container_bytes(const perfile_container *c);

#endif
