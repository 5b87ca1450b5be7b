/* Filtering: keeps the selected records of a capture, and the side-band needed to understand them.
 *
 * A selection is a list of terms.  Terms of one kind are alternatives.  A record is *selected*
 * when, for each kind that has terms, at least one term matches.
 *
 *     perfile_filter_term terms[] = {{.kind = PERFILE_FILTER_BY_TIME, .text = "10%..20%"},
 *                                    {.kind = PERFILE_FILTER_BY_PID, .text = "7,8"}};
 *     perfile_filter_options options = {.size = sizeof options, .terms = terms, .n_terms = 2};
 *
 * What happens to a record depends on the role of its type (format/records.def):
 *
 * - Data (SAMPLE, READ, SWITCH …, and unknown types): kept when selected.
 * - Side-band of processes (MMAP, MMAP2, COMM, FORK, EXIT …): kept for processes with selected data
 *   and for their ancestors, up to the end of the selected time.  Records without a time, or with
 *   time 0, count as older than the selected time.
 * - Side-band of the system and of the recording (mappings of the kernel, KSYMBOL, CGROUP,
 *   ID_INDEX, FINISHED_ROUND …): kept; side-band of the kernel only up to the end of the selected
 *   time.  A FINISHED_ROUND is dropped if records were dropped, and none was kept, since the last
 *   kept FINISHED_ROUND.
 * - Facts that are needed to read the rest (HEADER_ATTR, HEADER_FEATURE …): kept.
 * - Losses (LOST, LOST_SAMPLES, THROTTLE, UNTHROTTLE): selected by time and CPU only.
 * - AUXTRACE: selected by CPU and thread, if it belongs to one.
 *
 * With TYPE or WHERE terms side-band is selected like data, in addition to the side-band that is
 * needed.  With PERFILE_FILTER_NO_SIDEBAND everything but facts is treated like data.
 *
 * Only a pass over the complete capture tells which processes have selected data:
 *
 *     st = perfile_filter_open(&options, &filter, &err);
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
 * Each pass needs the same stream again.  If there are stages below this one, make the same chain
 * with the same options on the same capture (perfile_sort() on it, perfile_merge() of the same
 * inputs …); filters in that chain must have done their own passes.
 *
 * A stream that cannot be made twice (a pipe, a ring) is filtered without passes; the side-band of
 * all processes is then kept. perfile_filter_capture() does all of this. */
#ifndef PERFILE_FILTER_H
#define PERFILE_FILTER_H

#include "copy.h"
#include "model.h"
#include "sink.h"
#include "symbol.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* perfile_filter_term.kind: the meaning of the text; ranges include their ends */
       /* "A..B": seconds, or with a unit: 5ns 5us 5ms 1.5s; "+1s..+2s" after the first sample;
        * "10%..20%" of the time from the first sample to the last; the wall clock in UTC,
        * "2026-05-01T10:00:00.5..".  Either end may be omitted.  The forms of perf work, too:
        * "A,B", "10%-20%,50%-60%", and "10%/2" for the second of ten parts. */
       PERFILE_FILTER_BY_TIME = 0,
       PERFILE_FILTER_BY_PID = 1,  /* "7,8,100..199" */
       PERFILE_FILTER_BY_TID = 2,  /* the same */
       PERFILE_FILTER_BY_CPU = 3,  /* "0-3,7" */
       PERFILE_FILTER_BY_TYPE = 4, /* "SAMPLE,MMAP2,75" */
       PERFILE_FILTER_BY_IP = 5,   /* "0x400000..0x4fffff", one address, or an end omitted */
       /* Name, with * and ? as wildcards, or position from 0.  Names separated by commas are
        * alternatives, here and below; the whole text is also tried as one name that contains
        * commas.  Each name must match an event. */
       PERFILE_FILTER_BY_EVENT = 6,
       PERFILE_FILTER_BY_COMM = 7,   /* name of the thread at that time, with * and ? */
       PERFILE_FILTER_BY_DSO = 8,    /* object mapped at the address of the sample: its path, or the
                                      * last part of it, with * and ? */
       PERFILE_FILTER_BY_CGROUP = 9, /* path of the cgroup of the sample, with * and ? */
       PERFILE_FILTER_BY_WHERE = 10, /* format/expressions.md; comm, dso and cgroup are known */
       PERFILE_FILTER_N_BY
};

/* One term of a selection. */
typedef struct perfile_filter_term {
    uint32_t kind; /* PERFILE_FILTER_BY_… */
    uint32_t reserved;
    const char *text; /* see PERFILE_FILTER_BY_…; borrowed */
} perfile_filter_term;

enum {                                      /* perfile_filter_options.flags */
       PERFILE_FILTER_INVERT = 1 << 0,      /* select what the terms do not select */
       PERFILE_FILTER_NO_SIDEBAND = 1 << 1, /* keep facts and selected records only */
       /* Features that precede the records must describe the kept records (SAMPLE_TIME, BUILD_ID);
        * this needs a pass first.  For writers that write features before records. */
       PERFILE_FILTER_FACTS_FIRST = 1 << 2,
       /* Of the names, namespaces and mappings older than the selected time, keep only the last for
        * each thread and address.  Processes with children that are needed keep all of theirs. */
       PERFILE_FILTER_COMPACT_SIDEBAND = 1 << 3,
       /* Yield only selected records, for callers that examine records and write no capture.  Facts
        * and compressed records are selected like all others; the session has the facts of the
        * complete capture. */
       PERFILE_FILTER_ONLY = 1 << 4,
       /* Like ONLY, but yield all records, with PERFILE_REC_UNSELECTED in those that are not
        * selected.  For callers that need the other records to interpret the selected ones: for
        * instance, the time at which a thread came to its CPU is in a record of the thread before
        * it. */
       PERFILE_FILTER_MARK = 1 << 5
};

/* Set `size`; zeros select everything. */
typedef struct perfile_filter_options {
    size_t size;
    uint32_t flags;                   /* PERFILE_FILTER_… */
    uint32_t n_terms;                 /* items of `terms` */
    const perfile_filter_term *terms; /* copied */
    /* Thinning of selected samples (with TYPE terms: of selected records). */
    uint64_t every; /* keep the first of every so many; 0: all */
    uint64_t head;  /* keep at most so many; 0: no limit */
    /* How functions in WHERE terms (`sym`, `caller` …) are looked up; borrowed while the filter is
     * open.  NULL: all functions are unknown. */
    const perfile_symbols_options *symbols;
    uint64_t reserved[7];
} perfile_filter_options;

/* A selection, and the results of its passes over the capture: perfile_filter_open(). */
typedef struct perfile_filter_state perfile_filter_state;

/* Makes a filter from the terms.  PERFILE_E_USAGE: a term is invalid; err->message tells why. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_open(
    const perfile_filter_options *options, perfile_filter_state **filter, perfile_error *err);

/* The next pass over the capture before the stage is read. */
typedef struct perfile_filter_passes {
    bool wanted; /* it should be made */
    bool needed; /* the selection cannot be decided without it */
    uint8_t reserved0[6];
    uint64_t reserved[3];
} perfile_filter_passes;

#ifndef PERFILE_DECLARATIONS
/* Returns true if another pass over the capture should be made before the stage is read.  *needed
 * (may be NULL) is set to true if the selection cannot be decided without it. */
static inline bool perfile_filter_wants_pass(const perfile_filter_state *filter, bool *needed)
{
    perfile_filter_passes passes;
    perfile_summary(PERFILE_SUMMARY_PASSES, filter, &passes, sizeof passes);
    if (needed)
        *needed = passes.needed;
    return passes.wanted;
}
#endif

/* Makes a pass: reads `s`, from which nothing may have been read yet, to its end.  The caller still
 * owns `s`, and must keep it open until the filter is closed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_learn(perfile_filter_state *filter,
                                                                 perfile_stream *s,
                                                                 perfile_error *err);

/* Puts the stage on `below`, from which nothing may have been read yet.  *stream owns `below` on
 * success, but not the filter, which must outlive it.  Reading the stage, like
 * perfile_filter_learn(), fails with PERFILE_E_USAGE for terms that the capture cannot answer (no
 * such event, no wall clock). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter(perfile_stream *below,
                                                           perfile_filter_state *filter,
                                                           perfile_stream **stream,
                                                           perfile_error *err);

/* Counts of what a filter kept. */
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

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *out.  The counts are final after the stage was read to its end.
 */
static inline void perfile_filter_get_summary(const perfile_filter_state *filter,
                                              perfile_filter_summary *out, size_t size)
{
    perfile_summary(PERFILE_SUMMARY_FILTER, filter, out, size);
}
#endif

/* NULL is fine. */
PERFILE_API void perfile_filter_close(perfile_filter_state *filter);

/* Set `size`; zeros are the defaults. */
typedef struct perfile_filter_capture_options {
    size_t size;
    uint32_t form;      /* PERFILE_FORM_FILE or PIPE; 0: that of the input */
    uint32_t on_damage; /* PERFILE_ON_DAMAGE_STOP (the default), RESYNC, SALVAGE or FAIL */
    uint64_t drop;      /* bits of sample_type for fields to drop: see perfile_target() */
    const char *from;   /* as in perfile_open_options */
    const perfile_limits *limits;                       /* NULL: the defaults */
    void (*note)(void *user, const perfile_note *note); /* as in perfile_copy_options */
    /* Called from time to time with the bytes of the input done so far, of `total` (0: unknown).
     * May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    const char *format;     /* as in perfile_writer_options; NULL: that of the input */
    int32_t compress_level; /* as in perfile_writer_options, but 0 is PERFILE_COMPRESS_AS_READ */
    uint32_t reserved0;
    uint64_t reserved[5];
} perfile_filter_capture_options;

/* Reads the capture on `source` as often as needed, writes the kept records to `sink`, and finishes
 * the sink.  A pipe that must be read twice is spooled to a temporary file.  The source is closed
 * on success; the caller still owns the sink.  Fills the first bytes of *filtered and *copied
 * (both may be NULL), also on failure, with the counts so far. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_filter_capture(
    perfile_source *source, perfile_sink *sink, const perfile_filter_options *options,
    const perfile_filter_capture_options *writing, perfile_filter_summary *filtered,
    size_t filtered_size, perfile_copy_summary *copied, size_t copied_size, perfile_error *err);

/* Options to read a capture through a filter.  Set `size`; zeros are the defaults. */
typedef struct perfile_open_filtered_options {
    size_t size;
    const perfile_open_options *how; /* as for perfile_open() */
    bool model;                      /* fill *model */
    /* Converts the records of a capture of another family to perf records, as
     * perfile_convert_capture() does with default options, if its format can be converted; *stream
     * then has samples.  `note` reports what is not carried over.  Damage is in the summary of
     * *stream only: the stream yields no damage records. */
    bool translate;
    bool names_only; /* with `model`: it needs names of threads only, not mappings */
    uint32_t passes; /* filled: number of passes made before the stream is read */
    /* Filled (may be NULL): its status is PERFILE_E_LIMIT if the model reached
     * perfile_limits.model_bytes and knows nothing of later records, else PERFILE_OK.  With NULL,
     * reaching that limit is an error. */
    perfile_error *limit;
    /* During the passes: bytes of the input done, of `total` (0: unknown); each byte counts once.
     */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /* Called at the end of the stream if nothing was selected: notes of kinds NOT_RECORDED and
     * EMPTY, as from perfile_filter_capture().  May be NULL. */
    void (*note)(void *user, const perfile_note *note);
    uint64_t reserved[5];
} perfile_open_filtered_options;

/* Opens the capture on `source`, makes the passes that the filter needs, and puts the filter on it.
 * *stream owns everything on success.  A pipe that must be read more than once is spooled to a
 * temporary file.  `options` may be NULL: everything is selected.  With reading->model the complete
 * capture is read once more beforehand, and *model knows all names and mappings from the first
 * record on; it lives as long as the stream.  Otherwise `model` may be NULL.  Errors are those of
 * perfile_open(), perfile_filter_open() and perfile_filter(). */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_open_filtered(perfile_source *source, const perfile_filter_options *options,
                      perfile_open_filtered_options *reading, perfile_stream **stream,
                      const perfile_model **model, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
