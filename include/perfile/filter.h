/* Less of a capture: the records that are wanted, and what is needed to understand them.
 *
 * What is wanted is said in terms.  Terms of one kind are alternatives, the kinds must all hold:
 * the record is *selected* then.
 *
 *     perfile_filter_term terms[] = {{PERFILE_FILTER_BY_TIME, "10%..20%"}, {PERFILE_FILTER_BY_PID,
 * "7,8"}};
 *
 * Records belong to one of these (format/records.def):
 *
 * - Data (SAMPLE, READ, SWITCH …; also types that are not known): kept when selected.
 * - State of processes (MMAP, MMAP2, COMM, FORK, EXIT …): kept up to the end of the time that is
 *   wanted, of processes with selected data and of their ancestors.  Records without a time, and
 *   those of time 0, count as from before.
 * - State of the whole system and of the recording (mappings of the kernel, KSYMBOL, CGROUP,
 *   ID_INDEX, FINISHED_ROUND …): kept, those of the kernel up to the end of the time.
 * - Facts without which the rest cannot be read (HEADER_ATTR, HEADER_FEATURE …): kept.
 * - Losses (LOST, LOST_SAMPLES, THROTTLE, UNTHROTTLE): kept by time and processor alone.
 * - AUXTRACE: kept by processor and thread, where it is of one.
 *
 * State is selected like data, and then kept beside what is needed, when TYPE or WHERE terms are
 * given.  With PERFILE_FILTER_NO_SIDEBAND everything but facts is treated like data.
 *
 * Which processes have selected data is known after a pass over the whole capture only:
 *
 *     st = perfile_filter_new(&options, &filter, err);
 *     while (st == PERFILE_OK && perfile_filter_wants_pass(filter, NULL))
 *         open the capture, perfile_filter_learn(filter, stream, err)
 *     open it again, perfile_filter(stream, filter, &stream, err)
 *
 * To open it again means to make the same stream once more: with other stages below this one, the
 * same chain with the same options on the same capture (perfile_sort() on it, perfile_merge() of
 * the same inputs …), and with filters below whose passes were done before.  A stream that cannot
 * be made twice, of a pipe or of a ring for instance, is filtered without passes.
 *
 * A caller who cannot read twice leaves that out; then state is kept of all processes.
 * perfile_filter_capture() does all this. */
#ifndef PERFILE_FILTER_H
#define PERFILE_FILTER_H

#include "copy.h"
#include "model.h"
#include "sink.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* perfile_filter_term.kind: what the text is, ends of ranges being part of them */
       /* "A..B": seconds, or with a unit: 5ns 5us 5ms 1.5s; "+1s..+2s" after the first sample;
        * "10%..20%" of the time from the first sample to the last; the wall clock in UTC,
        * "2026-05-01T10:00:00.5..".  Either end may be left out.  As perf has it also "A,B",
        * "10%-20%,50%-60%", and "10%/2" for the second of ten parts. */
       PERFILE_FILTER_BY_TIME = 0,
       PERFILE_FILTER_BY_PID = 1,  /* "7,8,100..199" */
       PERFILE_FILTER_BY_TID = 2,  /* the same */
       PERFILE_FILTER_BY_CPU = 3,  /* "0-3,7" */
       PERFILE_FILTER_BY_TYPE = 4, /* "SAMPLE,MMAP2,75" */
       PERFILE_FILTER_BY_IP = 5,   /* "0x400000..0x4fffff", one address, or an end left out */
       /* Name, with * and ? for any, or position from 0.  Names between commas are alternatives,
        * here and below, beside the whole as one name.  Each has to be there. */
       PERFILE_FILTER_BY_EVENT = 6,
       PERFILE_FILTER_BY_COMM = 7, /* name of the thread at that time, with * and ? */
       PERFILE_FILTER_BY_DSO = 8,  /* what was mapped at the address of the sample: its path, or the
                                    * last  part    of it, with * and ? */
       PERFILE_FILTER_BY_CGROUP = 9, /* path of the cgroup of the sample, with * and ? */
       PERFILE_FILTER_BY_WHERE = 10, /* format/expressions.md; comm, dso and cgroup are known */
       PERFILE_FILTER_N_BY
};

/* A condition in words: several of one kind hold when one does, of different kinds when all do. */
typedef struct perfile_filter_term {
    uint32_t kind; /* PERFILE_BY_… */
    uint32_t reserved;
    const char *text; /* as the option of that kind takes it; borrowed */
} perfile_filter_term;

enum {                                      /* perfile_filter_options.flags */
       PERFILE_FILTER_INVERT = 1 << 0,      /* what does not fit is selected */
       PERFILE_FILTER_NO_SIDEBAND = 1 << 1, /* keep facts and what is selected, nothing else */
       /* Facts that stand in front of the records have to be right: a pass first.  For writers that
        * write features before records. */
       PERFILE_FILTER_FACTS_FIRST = 1 << 2,
       /* Of names, namespaces and mappings from before the time that is wanted only the last of
        * each thread and place, but all of processes that forked others which are needed. */
       PERFILE_FILTER_COMPACT_SIDEBAND = 1 << 3,
       /* Hand on what is selected and nothing else: for those who look at records and write no
        * capture.  Every record is asked, also facts and compressed ones; the session has the facts
        * of the whole capture. */
       PERFILE_FILTER_ONLY = 1 << 4
};

/* Set `size`; zeros select everything. */
typedef struct perfile_filter_options {
    size_t size;
    uint32_t flags;                   /* PERFILE_FILTER_… */
    uint32_t n_terms;                 /* items of `terms` */
    const perfile_filter_term *terms; /* copied */
    /* Of the samples that are selected (with TYPE terms: of the records), only the first of every
     * so many, and no more than `head`.  0: all. */
    uint64_t every;
    uint64_t head; /* 0: all */
    uint64_t reserved[8];
} perfile_filter_options;

/* A selection, and what is learned for it: perfile_filter_new(). */
typedef struct perfile_filter_state perfile_filter_state;

/* Reads the terms.
 * PERFILE_E_USAGE: one of them is wrong, err->message says how. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_new(
    const perfile_filter_options *options, perfile_filter_state **filter, perfile_error *err);

/* Whether a pass over the capture is wanted before records are handed on; `needed`: what is
 * selected cannot be found out without it. */
PERFILE_API bool perfile_filter_wants_pass(const perfile_filter_state *filter, bool *needed);

/* Such a pass: reads `s`, of which nothing was read yet, to its end.  It stays the caller's and
 * must stay open until the filter is closed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_learn(perfile_filter_state *filter,
                                                                 perfile_stream *s,
                                                                 perfile_error *err);

/* Puts the stage on `below`, of which nothing was read yet.  *stream owns it from success on, not
 * the filter, which must live longer.
 * When it is read: PERFILE_E_USAGE for terms that the capture has no answer to (no such event, no
 * wall clock), as perfile_filter_learn(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter(perfile_stream *below,
                                                           perfile_filter_state *filter,
                                                           perfile_stream **stream,
                                                           perfile_error *err);

/* What a filter did. */
typedef struct perfile_filter_summary {
    uint64_t records;        /* of the capture, compressed ones not counted but what is in them */
    uint64_t kept;           /* of them */
    uint64_t selected;       /* of those: by the terms, not as state */
    uint64_t samples;        /* of them */
    uint64_t kept_samples;   /* of the records that are kept */
    uint64_t processes;      /* that have records */
    uint64_t kept_processes; /* that have selected records */
    uint64_t aux_dropped;    /* AUXTRACE records that were dropped, … */
    uint64_t aux_bytes;      /* … and bytes behind them */
    bool all_state;          /* it is kept of all processes, for want of a pass or of pids */
    uint64_t reserved[7];
} perfile_filter_summary;

/* What was kept, once the stage was read to its end: the first `size` bytes of *out. */
PERFILE_API void perfile_filter_get_summary(const perfile_filter_state *filter,
                                            perfile_filter_summary *out, size_t size);

/* NULL is fine. */
PERFILE_API void perfile_filter_close(perfile_filter_state *filter);

/* Set `size`; zeros are the defaults. */
typedef struct perfile_filter_capture_options {
    size_t size;
    uint32_t form;      /* PERFILE_FORM_FILE or PIPE; 0: that of the input */
    uint32_t on_damage; /* PERFILE_ON_DAMAGE_STOP (the default), RESYNC, SALVAGE or FAIL */
    uint64_t drop;      /* bits of sample_type whose fields are dropped: see perfile_target() */
    const char *from;   /* as in perfile_open_options */
    const perfile_limits *limits;                       /* NULL: the defaults */
    void (*note)(void *user, const perfile_note *note); /* as in perfile_copy_options */
    /* Now and then: bytes of the input behind us, of `total` (0: not known).  May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    const char *format; /* as in perfile_writer_options; NULL: that of the input */
    uint64_t reserved[6];
} perfile_filter_capture_options;

/* Reads the capture on `source` as often as needed, writes what is kept to `sink`, and finishes the
 * sink.  A pipe that has to be read twice goes to a temporary file.  The source is closed in any
 * case; the sink stays the caller's.  *filtered and *copied (the first bytes of them; may be NULL)
 * are filled as far as it went. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_capture(
    perfile_source *source, perfile_sink *sink, const perfile_filter_options *options,
    const perfile_filter_capture_options *writing, perfile_filter_summary *filtered,
    size_t filtered_size, perfile_copy_summary *copied, size_t copied_size, perfile_error *err);

/* How a capture is read through a filter.  Set `size`; zeros are the defaults. */
typedef struct perfile_filter_open_options {
    size_t size;
    const perfile_open_options *how; /* as for perfile_open() */
    bool model;                      /* fill *model */
    uint32_t passes;                 /* filled: that were done before the stream can be read */
    /* Filled (may be NULL): PERFILE_E_LIMIT when the model reached perfile_limits.model_bytes and
     * knows nothing of what came later; else its status is PERFILE_OK.  Without it that fails. */
    perfile_error *limit;
    /* While they are done: bytes of the input, of `total` (0: not known), a byte counting once. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /* When the stream was read to its end and nothing is selected: notes of the kinds UNSAID and
     * EMPTY, as of perfile_filter_capture(); may be NULL. */
    void (*note)(void *user, const perfile_note *note);
    uint64_t reserved[5];
} perfile_filter_open_options;

/* Opens the capture on `source`, does what passes the filter wants, and puts it on the stream:
 * *stream, which owns everything from success on.  On failure the source is closed, too.  A pipe
 * that has to be read more than once goes to a temporary file.  `options` may be NULL: everything
 * is selected.  With reading->model the whole capture is read once more before, and *model (which
 * lives as long as the stream) knows all names and mappings from the first record on; else `model`
 * may be NULL.
 * Errors of perfile_open(), perfile_filter_new() and perfile_filter(). */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_filter_open(perfile_source *source, const perfile_filter_options *options,
                    perfile_filter_open_options *reading, perfile_stream **stream,
                    const perfile_model **model, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
