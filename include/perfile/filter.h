/* A smaller capture: the records that are selected, and the side-band needed to understand them.
 *
 * A selection is a list of terms.  Terms of one kind are alternatives; a record is *selected* when
 * every kind that was given has a term that holds.
 *
 *     perfile_filter_term terms[] = {{.kind = PERFILE_FILTER_BY_TIME, .text = "10%..20%"},
 *                                    {.kind = PERFILE_FILTER_BY_PID, .text = "7,8"}};
 *     perfile_filter_options options = {.size = sizeof options, .terms = terms, .n_terms = 2};
 *
 * What happens to a record depends on the role of its type (format/records.def):
 *
 * - Data (SAMPLE, READ, SWITCH …, and unknown types): kept when selected.
 * - Side-band of processes (MMAP, MMAP2, COMM, FORK, EXIT …): kept for processes that have selected
 *   data and for their ancestors, up to the end of the selected time.  Records without a time, and
 *   those of time 0, count as older than the selected time.
 * - Side-band of the system and of the recording (mappings of the kernel, KSYMBOL, CGROUP,
 *   ID_INDEX, FINISHED_ROUND …): kept; that of the kernel up to the end of the selected time.  Of
 *   FINISHED_ROUNDs those that still close something: one is dropped if records in front of it
 *   were, and none was kept, since the last one that was kept.
 * - Facts without which the rest cannot be read (HEADER_ATTR, HEADER_FEATURE …): kept.
 * - Losses (LOST, LOST_SAMPLES, THROTTLE, UNTHROTTLE): selected by time and processor only.
 * - AUXTRACE: selected by processor and thread, where it belongs to one.
 *
 * With TYPE or WHERE terms side-band is selected like data, in addition to what is needed.  With
 * PERFILE_FILTER_NO_SIDEBAND everything but facts is treated like data.
 *
 * Which processes have selected data is known only after a pass over the complete capture:
 *
 *     st = perfile_filter_new(&options, &filter, &err);
 *     for (int i = 0; st == PERFILE_OK && perfile_filter_wants_pass(filter, NULL); i++) {
 *         st = perfile_open_path("perf.data", NULL, &passes[i], &err);
 *         if (st == PERFILE_OK)
 *             st = perfile_filter_learn(filter, passes[i], &err);
 *     }
 *     if (st == PERFILE_OK)
 *         st = perfile_open_path("perf.data", NULL, &s, &err);
 *     if (st == PERFILE_OK)
 *         st = perfile_filter(s, filter, &s, &err);
 *
 * To open it again means to make the same stream once more: if there are stages below this one, the
 * same chain with the same options on the same capture (perfile_sort() on it, perfile_merge() of
 * the same inputs …), whose own filters have done their passes.
 *
 * A stream that cannot be made twice (a pipe, a ring) is filtered without passes; then the
 * side-band of all processes is kept.  perfile_filter_capture() does all of this. */
#ifndef PERFILE_FILTER_H
#define PERFILE_FILTER_H

#include "copy.h"
#include "model.h"
#include "sink.h"
#include "symbol.h"

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
       /* Name, with * and ? for any, or position from 0.  Names separated by commas are
        * alternatives, here and below; the text as one name, commas included, is another.  Each
        * name has to fit an event. */
       PERFILE_FILTER_BY_EVENT = 6,
       PERFILE_FILTER_BY_COMM = 7, /* name of the thread at that time, with * and ? */
       PERFILE_FILTER_BY_DSO = 8,  /* what was mapped at the address of the sample: its path, or the
                                    * last part of it, with * and ? */
       PERFILE_FILTER_BY_CGROUP = 9, /* path of the cgroup of the sample, with * and ? */
       PERFILE_FILTER_BY_WHERE = 10, /* format/expressions.md; comm, dso and cgroup are known */
       PERFILE_FILTER_N_BY
};

/* One term of a selection. */
typedef struct perfile_filter_term {
    uint32_t kind; /* PERFILE_FILTER_BY_… */
    uint32_t reserved;
    const char *text; /* as the option of that kind takes it; borrowed */
} perfile_filter_term;

enum {                                      /* perfile_filter_options.flags */
       PERFILE_FILTER_INVERT = 1 << 0,      /* select what the terms do not select */
       PERFILE_FILTER_NO_SIDEBAND = 1 << 1, /* keep facts and selected records only */
       /* Features that precede the records must describe what is kept (SAMPLE_TIME, BUILD_ID): this
        * needs a pass first.  For writers that write features before records. */
       PERFILE_FILTER_FACTS_FIRST = 1 << 2,
       /* Of names, namespaces and mappings older than the selected time keep the last of each
        * thread and address only; processes whose children are needed keep all of theirs. */
       PERFILE_FILTER_COMPACT_SIDEBAND = 1 << 3,
       /* Yield selected records and nothing else, for callers that examine records and write no
        * capture.  Facts and compressed records are selected like all others; the session has the
        * facts of the complete capture. */
       PERFILE_FILTER_ONLY = 1 << 4,
       /* Likewise, but yield all records: those that are not selected have PERFILE_REC_UNSELECTED.
        * For callers to whom a record that is selected means nothing without the others: when a
        * thread came to its processor is said by a record of the thread before it. */
       PERFILE_FILTER_MARK = 1 << 5
};

/* Set `size`; zeros select everything. */
typedef struct perfile_filter_options {
    size_t size;
    uint32_t flags;                   /* PERFILE_FILTER_… */
    uint32_t n_terms;                 /* items of `terms` */
    const perfile_filter_term *terms; /* copied */
    /* Thinning of selected samples (with TYPE terms: of selected records). */
    uint64_t every; /* keep the first of so many; 0: all */
    uint64_t head;  /* keep so many at most; 0: no limit */
    /* Where functions are looked up that WHERE terms ask for (`sym`, `caller` …); borrowed as long
     * as the filter is open.  NULL: none is known. */
    const perfile_symbols_options *symbols;
    uint64_t reserved[7];
} perfile_filter_options;

/* A selection, and what passes over the capture have found for it: perfile_filter_new(). */
typedef struct perfile_filter_state perfile_filter_state;

/* Reads the terms.
 * PERFILE_E_USAGE: one of them is wrong, err->message says how. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_new(
    const perfile_filter_options *options, perfile_filter_state **filter, perfile_error *err);

/* Whether another pass over the capture should be made before the stage is read.  `*needed` (may be
 * NULL) becomes true when the selection cannot be decided without it. */
PERFILE_API bool perfile_filter_wants_pass(const perfile_filter_state *filter, bool *needed);

/* Makes such a pass: reads `s`, from which nothing was read yet, to its end.  `s` stays the
 * caller's and must stay open until the filter is closed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_learn(perfile_filter_state *filter,
                                                                 perfile_stream *s,
                                                                 perfile_error *err);

/* Puts the stage on `below`, from which nothing was read yet.  *stream owns `below` from success
 * on, but not the filter, which must outlive it. Reading the stage, as perfile_filter_learn(),
 * fails with PERFILE_E_USAGE for terms that the capture cannot answer (no such event, no wall
 * clock). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter(perfile_stream *below,
                                                           perfile_filter_state *filter,
                                                           perfile_stream **stream,
                                                           perfile_error *err);

/* What a filter kept. */
typedef struct perfile_filter_summary {
    uint64_t records;        /* in the capture; compressed records count as their content */
    uint64_t kept;           /* records kept */
    uint64_t selected;       /* records kept because of the terms, not as side-band */
    uint64_t samples;        /* SAMPLE records in the capture */
    uint64_t kept_samples;   /* SAMPLE records kept */
    uint64_t processes;      /* processes that have records */
    uint64_t kept_processes; /* processes that have selected records */
    uint64_t aux_dropped;    /* AUXTRACE records dropped … */
    uint64_t aux_bytes;      /* … and their payloads, in bytes */
    bool all_sideband;       /* side-band of all processes was kept: no pass, or no pids */
    uint64_t reserved[7];
} perfile_filter_summary;

/* Fills the first `size` bytes of *out.  Final once the stage was read to its end. */
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
    const char *format;     /* as in perfile_writer_options; NULL: that of the input */
    int32_t compress_level; /* as in perfile_writer_options, but 0 is PERFILE_COMPRESS_AS_READ */
    uint32_t reserved0;
    uint64_t reserved[5];
} perfile_filter_capture_options;

/* Reads the capture on `source` as often as needed, writes what is kept to `sink`, and finishes the
 * sink.  A pipe that has to be read twice is spooled to a temporary file.  The source is closed in
 * any case; the sink stays the caller's.  *filtered and *copied (their first bytes; may be NULL)
 * are filled also on failure, with what was done until then. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_capture(
    perfile_source *source, perfile_sink *sink, const perfile_filter_options *options,
    const perfile_filter_capture_options *writing, perfile_filter_summary *filtered,
    size_t filtered_size, perfile_copy_summary *copied, size_t copied_size, perfile_error *err);

/* How a capture is read through a filter.  Set `size`; zeros are the defaults. */
typedef struct perfile_filter_open_options {
    size_t size;
    const perfile_open_options *how; /* as for perfile_open() */
    bool model;                      /* fill *model */
    /* The records of a capture of another family become perf's own, as perfile_convert_capture()
     * makes them with default options, if its format can be converted: *stream has samples then.
     * What they do not carry over is told by `note`; damage is in the summary of *stream, which has
     * no records of it. */
    bool translate;
    bool names_only; /* with `model`: it is asked for names of threads, not for mappings */
    uint32_t passes; /* filled: passes that were made before the stream can be read */
    /* Filled (may be NULL): its status is PERFILE_E_LIMIT when the model reached
     * perfile_limits.model_bytes and knows nothing of later records, else PERFILE_OK.  With NULL
     * reaching that limit is an error. */
    perfile_error *limit;
    /* During the passes: bytes of the input done, of `total` (0: unknown); each byte counts once.
     */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /* Called at the end of the stream if nothing was selected: notes of the kinds NOT_RECORDED and
     * EMPTY, as of perfile_filter_capture().  May be NULL. */
    void (*note)(void *user, const perfile_note *note);
    uint64_t reserved[5];
} perfile_filter_open_options;

/* Opens the capture on `source`, makes the passes that the filter needs, and puts the filter on it.
 * *stream owns everything from success on; on failure the source is closed, too.  A pipe that has
 * to be read more than once is spooled to a temporary file.  `options` may be NULL: everything is
 * selected.  With reading->model the complete capture is read once more in front, and *model (which
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
