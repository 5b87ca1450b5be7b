/* Writes records in other formats: text for people, JSON lines, CBOR, tab-separated values, and the
 * formats that profile viewers read.
 *
 * Open an emitter, put records into it, and finish it:
 *
 *     st = perfile_emitter_open("jsonl", stream, sink, NULL, &e, &err);
 *     if (st == PERFILE_OK)
 *         st = perfile_emitter_begin(e, &err);
 *     while (st == PERFILE_OK && (st = perfile_stream_next(stream, &r, &err)) == PERFILE_OK)
 *         st = perfile_emitter_put(e, r, &err);
 *     if (st == PERFILE_END)
 *         st = perfile_emitter_finish(e, &err);
 *
 * "jsonl" and "cbor" write the complete objects of format/dump.cddl.  To get the records exactly as
 * the file stores them, open the stream with perfile_open_options.as_stored.  To see damage at its
 * position in the output, of any format, open the stream with PERFILE_DELIVER_DAMAGE. */
#ifndef PERFILE_EMIT_H
#define PERFILE_EMIT_H

#include "model.h"
#include "profile.h"
#include "sink.h"
#include "symbol.h"
#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes records in one format. */
typedef struct perfile_emitter perfile_emitter;

enum {                            /* perfile_emit_options.flags */
       PERFILE_EMIT_HEX = 1 << 0, /* "text": every field next to its bytes and their offset */
       /* Records only: no header, events or features. "jsonl" and "cbor" output is then not
        * complete as format/dump.cddl defines it. */
       PERFILE_EMIT_RECORDS = 1 << 1,
       /* "jsonl" and "cbor": each record also has the name of its event.  With a model it also has
        * the name of its thread and, for a sample, the object mapped at its address. */
       PERFILE_EMIT_RESOLVE = 1 << 2,
       /* "script": these match options of `perf script`. */
       PERFILE_SCRIPT_NANOSECONDS = 1 << 3, /* --ns: times with nine digits */
       PERFILE_SCRIPT_DELTATIME = 1 << 4,   /* times relative to the previous line */
       PERFILE_SCRIPT_RELTIME = 1 << 5,     /* times since the first line */
       PERFILE_SCRIPT_NO_CHAINS = 1 << 6,   /* -G: call chains are not shown */
       PERFILE_SCRIPT_NO_INLINE = 1 << 7,   /* inlined functions get no lines */
       PERFILE_SCRIPT_TASKS = 1 << 8,       /* lines for COMM, FORK, EXIT */
       PERFILE_SCRIPT_MMAPS = 1 << 9,       /* … MMAP, MMAP2 */
       PERFILE_SCRIPT_SWITCHES = 1 << 10,   /* … SWITCH, SWITCH_CPU_WIDE */
       PERFILE_SCRIPT_NAMESPACES = 1 << 11, /* … NAMESPACES */
       PERFILE_SCRIPT_LOST = 1 << 12,       /* … LOST */
       PERFILE_SCRIPT_ROUNDS = 1 << 13,     /* … FINISHED_ROUND */
       PERFILE_SCRIPT_BPF = 1 << 14,        /* … KSYMBOL, BPF_EVENT */
       PERFILE_SCRIPT_CGROUPS = 1 << 15,    /* … CGROUP */
       PERFILE_SCRIPT_TEXT_POKES = 1 << 16, /* … TEXT_POKE */
       /* --header: before the records, the offsets of the capture's sections and the contents of
        * its features.  The two lines before these, which say when the file was written, must come
        * from the caller, who knows that time. */
       PERFILE_SCRIPT_HEADER = 1 << 17,
       PERFILE_SCRIPT_SHOW_INFO = 1 << 18 /* -I: all features in full; pipes: also without HEADER */
};

enum {                                    /* perfile_export_options.flags */
       PERFILE_EXPORT_PERIODS = 1 << 0,   /* weights are sums of periods, not numbers of samples */
       PERFILE_EXPORT_NO_LABELS = 1 << 1, /* `per` is empty on purpose: no keys */
       PERFILE_EXPORT_MARK_KERNEL = 1 << 2, /* names of frames of the kernel end with _[k] */
       PERFILE_EXPORT_MARK_JIT = 1 << 3,    /* names of frames of generated code end with _[j] */
       PERFILE_EXPORT_NO_UNWIND = 1 << 4,   /* copies of user stacks are not unwound */
       PERFILE_EXPORT_INLINE = 1 << 5, /* functions that the compiler inlined get their own frames,
                                        * see perfile_symbols_source() */
       PERFILE_EXPORT_MARK_INLINE = 1 << 6, /* names of such frames end with _[i] */
       /* The other captures are compared with the first one. "folded" writes the weight in the
        * first capture before the weight in the others; "flamegraph" shows what grew and shrank.
        * With other formats perfile_emitter_open() returns PERFILE_E_USAGE. */
       PERFILE_EXPORT_COMPARE = 1 << 7,
       /* The calls in branch stacks (`perf record --call-graph lbr`) replace the user part of call
        * chains. */
       PERFILE_EXPORT_BRANCH_CHAINS = 1 << 8,
       /* How a frame without a known function is named.  MODULE: by its object, [libc.so.6] or
        * [unknown], so that all such frames of one object are merged.  ADDRESS: by its offset in
        * the object, [libc.so.6+0x1234]. "folded", "flamegraph", "speedscope" and "pprof" use
        * MODULE by default, the others ADDRESS.  Do not set both. */
       PERFILE_EXPORT_UNKNOWN_MODULE = 1 << 9,
       PERFILE_EXPORT_UNKNOWN_ADDRESS = 1 << 10,
       /* Merges stacks from the leaf: a line or box starts with the function that runs, then come
        * its callers, then the keys of `per`.  Only "folded" and "flamegraph"; PERFILE_E_USAGE for
        * other formats. */
       PERFILE_EXPORT_REVERSE = 1 << 11,
       /* Weights are numbers of samples, not periods.  This is the default of all formats but
        * "speedscope".  There, samples of clock events, and of cycles sampled at a frequency, have
        * weights in ns by default; a thread has an empty stack while switch records say that it was
        * on no CPU. */
       PERFILE_EXPORT_SAMPLES = 1 << 12,
       /* "firefox": the viewer may ask a symbol server for functions without names.  That server
        * then learns the names and build ids of files. */
       PERFILE_EXPORT_SYMBOL_SERVER = 1 << 13,
       /* Frames have a source file and line, see perfile_symbols_source().  Only "speedscope",
        * "firefox" and "pprof"; PERFILE_E_USAGE for other formats. */
       PERFILE_EXPORT_LINES = 1 << 14,
       /* Shows the stacks at which threads left their CPU, weighted by the ns until they came back.
        * These stacks come from samples of context-switches, or of sched:sched_switch if every
        * switch was sampled (period 1).  The return of a thread is taken from the same samples or
        * from SWITCH records.  Records must come in order of time (perfile_sort()).  Records with
        * PERFILE_REC_UNSELECTED are not shown; they only tell when threads came back.  Only
        * "folded", "flamegraph", "speedscope" and "pprof"; PERFILE_E_USAGE for other formats. */
       PERFILE_EXPORT_OFF_CPU = 1 << 15,
       /* "parquet": also write branch stacks and registers of samples. */
       PERFILE_EXPORT_WIDE = 1 << 16,
       /* "parquet": the file of a capture is TABLE/CAPTURE_ID.parquet, not
        * TABLE/host=HOST/date=YYYY-MM-DD/CAPTURE_ID.parquet. */
       PERFILE_EXPORT_ONE_FOLDER = 1 << 17
};

/* Options of the viewer formats ("folded" …; perfile_format_at()).  Set `size`; zeros are the
 * defaults. */
typedef struct perfile_export_options {
    size_t size;
    uint32_t flags; /* PERFILE_EXPORT_… */
    /* PERFILE_PER_COMM … PERFILE_PER_CPU, in the order in which they precede the frames; ended by
     * 0.  Empty: the default of the format, which is PERFILE_PER_COMM for most. */
    uint8_t per[8];
    const char *title; /* title of a picture, UTF-8; NULL: the names of the captures.  Copied. */
    /* How function names are looked up.  Copies of user stacks are unwound, too.  Borrowed until
     * the emitter is closed.  NULL: frames are offsets in files, and where the capture has a copy
     * of the user stack instead of a user call chain, the call chain ends in the kernel. */
    const perfile_symbols_options *symbols;
    /* "parquet": names of tables (format/tables.def), separated by commas; NULL: all.  Borrowed
     * until the emitter is closed, like `labels`. */
    const char *tables;
    /* "parquet": KEY=VALUE labels for the captures in the table `captures`, ended by NULL; NULL:
     * none. */
    const char *const *labels;
    uint64_t reserved[1];
} perfile_export_options;

/* Counts of what an export read and wrote. */
typedef struct perfile_export_summary {
    uint64_t samples;        /* samples that were read and are in the output */
    uint64_t period;         /* sum of their periods, up to UINT64_MAX */
    uint64_t without_period; /* samples without a known period */
    uint64_t without_stack;  /* samples without a known address */
    uint64_t unreadable;     /* samples with an unreadable call chain */
    uint64_t joined;         /* call chains whose user part came later (CALLCHAIN_DEFERRED) */
    uint64_t not_joined;     /* call chains that never got their user part */
    uint64_t stacks;     /* distinct stacks that are shown; each prefix of a stack counts, too */
    uint64_t unmapped;   /* stacks that end at an address without a known mapping */
    uint64_t named;      /* stacks that end in a known function */
    uint64_t frames;     /* distinct functions, files and code addresses in these stacks */
    uint64_t events;     /* distinct event names of the samples */
    uint64_t pruned;     /* frames that are too small to be shown in a picture */
    uint64_t bytes;      /* bytes of memory, limited by perfile_limits.profile_bytes */
    uint64_t first_time; /* first sample, ns of the session clock; none: PERFILE_NO_TIME */
    uint64_t last_time;  /* last sample; none: 0 */
    bool events_apart;   /* the output distinguishes events */
    /* With PERFILE_EXPORT_COMPARE: samples and periods of the first capture, which `samples` and
     * `period` do not include.  All other members cover all captures. */
    uint64_t before_samples;
    uint64_t unwound; /* copies of user stacks that were unwound to the outermost frame.  The others
                       * yield only their innermost frames; the next four count them by reason, up
                       * to UINT32_MAX each */
    uint32_t unwound_short;    /* the copy ended, or 127 frames were reached */
    uint32_t unwound_no_file;  /* the file of the code was not found */
    uint32_t unwound_no_rules; /* the file has no unwind rules for the code */
    uint32_t not_unwound; /* registers or stack are damaged or not supported; only 64-bit programs
                           * on x86-64 and aarch64 are */
    /* Only format "aux": */
    uint64_t aux_files;   /* number of ring buffers */
    uint64_t aux_bytes;   /* bytes of their data */
    uint64_t aux_missing; /* lost ranges in ring buffers */
    uint64_t too_costly;  /* requests that the symbolizer did not answer */
    /* Only "folded" and "chrome", which repeat a name for each call: longer names were shortened in
     * the middle to this many bytes, because the full names would have taken more than 16 times the
     * size of the records plus 1 MiB.  0: no name was shortened. */
    uint64_t names_most;
    /* With PERFILE_EXPORT_INLINE: inlined functions that got no frame, because there would have
     * been more than 4 for each frame of a call chain, plus 8192. */
    uint64_t not_inlined;
    /* Only formats that show time: tracepoint samples that lack their payload, because the stored
     * data already takes half of perfile_limits.profile_bytes. */
    uint64_t payloads_left_out;
} perfile_export_summary;

/* How records are shown.  Set `size`; zeros are the defaults. */
typedef struct perfile_emit_options {
    size_t size;
    uint32_t flags; /* PERFILE_EMIT_… */
    /* Number of threads that make the output, including the caller's; at most 256.  0 or 1: only
     * the caller's.  The output does not depend on it.  With several threads, do not feed the model
     * between perfile_emitter_begin() and perfile_emitter_finish().  All calls still come from one
     * thread, except for perfile_symbols_options.notice, which may come from any of them but only
     * one at a time.  For viewer formats each thread has its own tables, so each may take as much
     * memory as one thread alone. */
    uint32_t threads;
    /* "tsv": the columns, separated by commas: names that conditions use (expr.h). "script": fields
     * as `perf script` takes them with -F; several such texts are separated by spaces.  Copied. */
    const char *fields;
    /* A model that was fed with everything the records refer to; it must outlive the emitter.
     * NULL: names of threads and mapped objects are unknown. */
    const perfile_model *model;
    /* Options of the viewer formats. "script" uses `symbols` and `flags`; "tsv" uses `symbols`, for
     * columns of functions.  NULL: the defaults.  Copied. */
    const perfile_export_options *exporting;
    uint32_t max_stack; /* "script": maximum frames of a call chain; 0: 127 */
    uint32_t reserved0;
    /* "script": names of functions, separated by commas; call chains omit the callers of these
     * functions.  NULL: call chains are complete.  Copied. */
    const char *stop_at;
} perfile_emit_options;

/* A format that an emitter can write. */
typedef struct perfile_format {
    const char *name; /* for perfile_emitter_open(): "text" */
    const char *doc;  /* description, in a few words */
    bool binary;      /* the output is not for terminals */
    bool directory;   /* several files: the sink is one of perfile_sink_directory() */
    bool folder;      /* tables as files into a sink of perfile_sink_directory() with
                       * PERFILE_SINK_FOLDER, or one table into any other sink */
    uint8_t reserved0[5];
    uint64_t reserved[4];
} perfile_format;

#ifndef PERFILE_DECLARATIONS
/* Gets a format by position: fills the first `size` bytes of *out; returns false after the last.
 * `viewers`: a format that adds up samples or shows them over time ("folded" …).  It needs a model
 * to resolve addresses.  Otherwise one that writes record after record ("text" …). */
static inline bool perfile_format_at(bool viewers, size_t position, perfile_format *out,
                                     size_t size)
{
    return perfile_row(PERFILE_ROW_FORMAT, viewers, position, out, size);
}

/* Returns the name of a format that writes record after record; NULL after the last. */
static inline const char *perfile_emit_format(size_t position)
{
    perfile_format format;
    return perfile_format_at(false, position, &format, sizeof format) ? format.name : NULL;
}

/* Returns the name of a format for viewers; NULL after the last. */
static inline const char *perfile_export_format(size_t position)
{
    perfile_format format;
    return perfile_format_at(true, position, &format, sizeof format) ? format.name : NULL;
}
#endif

/* Opens an emitter for `format`.  Borrows stream and sink, which must outlive the emitter.
 * `stream` is asked for facts and for the bytes after records (perfile_stream_extra()), so put each
 * record before you fetch the next one.
 *
 * "script" is the text that `perf script` prints.  Its records must come in order of time
 * (perfile_sort()), with all side-band.  It needs a model, and exporting->symbols for function
 * names.  Like the viewer formats it takes several captures, one after the other.  Fields that
 * cannot be printed cause PERFILE_E_USAGE here, or later when the events of the capture are known.
 *
 * PERFILE_E_USAGE: there is no such format.  PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_open(
    const char *format, perfile_stream *stream, perfile_sink *sink,
    const perfile_emit_options *options, perfile_emitter **emitter, perfile_error *err);

/* Emits the facts of the capture: header, events and features, and any damage in these. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_begin(perfile_emitter *e,
                                                                  perfile_error *err);

/* Emits first[0 .. n), a run from perfile_stream_next_run() or consecutive records of one; also
 * those of family DAMAGE.  A record that cannot be decoded is emitted as such; the call does not
 * fail. PERFILE_E_NOMEM, PERFILE_E_IO (also from the input, when the bytes after the record are
 * read). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_put_run(perfile_emitter *e,
                                                                    const perfile_record *first,
                                                                    size_t n, perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Emits a record.  Runs are faster with several threads. */
static inline PERFILE_MUST_USE perfile_status perfile_emitter_put(perfile_emitter *e,
                                                                  const perfile_record *r,
                                                                  perfile_error *err)
{
    return perfile_emitter_put_run(e, r, 1, err);
}
#endif

/* Ends the current capture; only for formats that take several.  Its stream and model are no longer
 * used.  The next records come from `stream`, and their samples are added; `stream` and `model` are
 * as in perfile_emitter_open().  With `stream` NULL no records may follow until the next call.
 *
 * PERFILE_E_USAGE: the format shows one capture only.  PERFILE_E_NOMEM, PERFILE_E_LIMIT
 * (profile_bytes). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_continue(perfile_emitter *e,
                                                                     perfile_stream *stream,
                                                                     const perfile_model *model,
                                                                     perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *summary with the counts of a viewer format so far; they are
 * complete after perfile_emitter_finish().  All zeros for other formats. */
static inline void perfile_emitter_get_summary(const perfile_emitter *e,
                                               perfile_export_summary *summary, size_t size)
{
    perfile_summary(PERFILE_SUMMARY_EMITTER, e, summary, size);
}
#endif

/* Hands all output so far to the sink. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_flush(perfile_emitter *e,
                                                                  perfile_error *err);

/* Emits the end and flushes.  Does not finish the sink. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_finish(perfile_emitter *e,
                                                                   perfile_error *err);

/* Releases the emitter and drops output that was not flushed.  NULL is fine. */
PERFILE_API void perfile_emitter_close(perfile_emitter *e);

#ifdef __cplusplus
}
#endif

#endif
