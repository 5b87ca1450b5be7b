/* Records into other forms: text for people, JSON lines, CBOR, tab-separated values; and the forms
 * that viewers of profiles read.
 *
 * An emitter is a thing that records are put into:
 *
 *     st = perfile_emitter_open("jsonl", stream, sink, NULL, &e, &err);
 *     if (st == PERFILE_OK)
 *         st = perfile_emitter_begin(e, &err);
 *     while (st == PERFILE_OK && (st = perfile_stream_next(stream, &r, &err)) == PERFILE_OK)
 *         st = perfile_emitter_put(e, r, &err);
 *     if (st == PERFILE_END)
 *         st = perfile_emitter_finish(e, &err);
 *
 * "jsonl" and "cbor" have the objects of format/dump.cddl, complete; they are true to the file when
 * the stream was opened with perfile_open_options.as_stored.  All forms show damage where it is
 * when it was opened with PERFILE_DELIVER_DAMAGE. */
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

/* Shows records in one of the forms. */
typedef struct perfile_emitter perfile_emitter;

enum {                            /* perfile_emit_options.flags */
       PERFILE_EMIT_HEX = 1 << 0, /* "text": every field next to its bytes and their offset */
       /* Records only, nothing of the header, events and features; not of "jsonl" and "cbor" as the
        * contract has them. */
       PERFILE_EMIT_RECORDS = 1 << 1,
       /* "jsonl" and "cbor": each record with the name of its event, and with a model with that of
        * its thread and, if it is a sample, of what is mapped at its address. */
       PERFILE_EMIT_RESOLVE = 1 << 2,
       /* "script": as the options of `perf script`. */
       PERFILE_SCRIPT_NANOSECONDS = 1 << 3, /* --ns: times with nine digits */
       PERFILE_SCRIPT_DELTATIME = 1 << 4,   /* times since the line before */
       PERFILE_SCRIPT_RELTIME = 1 << 5,     /* times since the first line */
       PERFILE_SCRIPT_NO_CHAINS = 1 << 6,   /* -G: call chains are not shown */
       PERFILE_SCRIPT_NO_INLINE = 1 << 7,   /* functions that are inlined have no lines */
       PERFILE_SCRIPT_TASKS = 1 << 8,       /* lines for COMM, FORK, EXIT */
       PERFILE_SCRIPT_MMAPS = 1 << 9,       /* … MMAP, MMAP2 */
       PERFILE_SCRIPT_SWITCHES = 1 << 10,   /* … SWITCH, SWITCH_CPU_WIDE */
       PERFILE_SCRIPT_NAMESPACES = 1 << 11, /* … NAMESPACES */
       PERFILE_SCRIPT_LOST = 1 << 12,       /* … LOST */
       PERFILE_SCRIPT_ROUNDS = 1 << 13,     /* … FINISHED_ROUND */
       PERFILE_SCRIPT_BPF = 1 << 14,        /* … KSYMBOL, BPF_EVENT */
       PERFILE_SCRIPT_CGROUPS = 1 << 15,    /* … CGROUP */
       PERFILE_SCRIPT_TEXT_POKES = 1 << 16, /* … TEXT_POKE */
       /* --header: in front of a capture, where its parts are and what its features say.  The two
        * lines before them, which say when the file was written, are for the caller, who knows it.
        */
       PERFILE_SCRIPT_HEADER = 1 << 17,
       PERFILE_SCRIPT_SHOW_INFO = 1 << 18 /* -I: of features all; of a pipe also without HEADER */
};

enum {                                    /* perfile_export_options.flags */
       PERFILE_EXPORT_PERIODS = 1 << 0,   /* weights are sums of periods, not numbers of samples */
       PERFILE_EXPORT_NO_LABELS = 1 << 1, /* `per` is empty on purpose: nothing is counted apart */
       PERFILE_EXPORT_MARK_KERNEL = 1 << 2, /* names of frames of the kernel end with _[k] */
       PERFILE_EXPORT_MARK_JIT = 1 << 3,    /* those of code generated at run time end with _[j] */
       PERFILE_EXPORT_NO_UNWIND = 1 << 4,   /* copies of user stacks are not unwound */
       PERFILE_EXPORT_INLINE = 1 << 5, /* functions that the compiler inlined get frames of their
                                        * own, see perfile_symbols_source() */
       PERFILE_EXPORT_MARK_INLINE = 1 << 6, /* names of such frames end with _[i] */
       /* The first capture is what the others are compared with: "folded" has its weight in front
        * of that of the others, "flamegraph" shows what grew and shrank.  Other forms:
        * PERFILE_E_USAGE of perfile_emitter_open(). */
       PERFILE_EXPORT_COMPARE = 1 << 7,
       /* The calls in branch stacks (`perf record --call-graph lbr`) take the place of the user
        * part of call chains. */
       PERFILE_EXPORT_BRANCH_CHAINS = 1 << 8,
       /* Frames whose function is not known are called by their object, [libc.so.6] or [unknown],
        * and those of one object are one; or by their place in it, [libc.so.6+0x1234].  The default
        * of "folded", "flamegraph", "speedscope" and "pprof" is the object, of the others the
        * place.  Not both. */
       PERFILE_EXPORT_UNKNOWN_MODULE = 1 << 9,
       PERFILE_EXPORT_UNKNOWN_ADDRESS = 1 << 10,
       /* Stacks are merged from the leaf: their lines and boxes begin with the function that runs,
        * its callers follow, then the keys of `per`.  "folded" and "flamegraph"; other forms:
        * PERFILE_E_USAGE. */
       PERFILE_EXPORT_REVERSE = 1 << 11,
       /* Weights are numbers of samples, not periods: the default of all forms but "speedscope",
        * where samples of clocks, and of cycles so many times a second, weigh ns by default, with
        * empty stacks where switches say that a thread was on no processor. */
       PERFILE_EXPORT_SAMPLES = 1 << 12,
       /* "firefox": the viewer may ask a symbol server, which learns names and build ids of files,
        * for functions that are not named. */
       PERFILE_EXPORT_SYMBOL_SERVER = 1 << 13,
       /* Frames have a file and line of the source, see perfile_symbols_source(): "speedscope",
        * "firefox" and "pprof"; other forms: PERFILE_E_USAGE. */
       PERFILE_EXPORT_LINES = 1 << 14,
       /* Stacks are those at which threads left their processor, and weigh ns until they came back:
        * of samples of sched:sched_switch, each of them (a period of 1), or of context-switches;
        * that a thread came back is said by these or by SWITCH records.  Records have to come in
        * order of time (perfile_sort()).  Those with PERFILE_REC_UNSELECTED are not shown, but say
        * when threads came back.  "folded", "flamegraph", "speedscope" and "pprof"; other forms:
        * PERFILE_E_USAGE. */
       PERFILE_EXPORT_OFF_CPU = 1 << 15,
       /* "parquet": branch stacks and registers of samples, too. */
       PERFILE_EXPORT_WIDE = 1 << 16,
       /* "parquet": the file of a capture is TABLE/CAPTURE_ID.parquet, not
        * TABLE/host=HOST/date=YYYY-MM-DD/CAPTURE_ID.parquet. */
       PERFILE_EXPORT_ONE_FOLDER = 1 << 17
};

/* What the forms for viewers need to know ("folded" …; perfile_export_format()).  Set `size`; zeros
 * are the defaults. */
typedef struct perfile_export_options {
    size_t size;
    uint32_t flags; /* PERFILE_EXPORT_… */
    /* PERFILE_PER_COMM … PERFILE_PER_CPU, in the order in which they stand in front of the frames;
     * ended by 0.  Empty: those of the form, PERFILE_PER_COMM of most. */
    uint8_t per[8];
    const char *title; /* of a picture, UTF-8; NULL: the names of the captures.  Copied. */
    /* Frames get the names of their functions, looked up so, and copies of user stacks are unwound.
     * Borrowed until the emitter is closed.  NULL: frames are places in files, call chains end in
     * the kernel where the capture has a copy of the user stack instead. */
    const perfile_symbols_options *symbols;
    /* "parquet": names of tables (format/tables.def) with commas between them; NULL: all.  Borrowed
     * until the emitter is closed, as the next member. */
    const char *tables;
    /* "parquet": KEY=VALUE, what is said of the captures in the table `captures`, ended by NULL;
     * NULL: nothing. */
    const char *const *labels;
    uint64_t reserved[1];
} perfile_export_options;

/* What an export made of the records that were put into it. */
typedef struct perfile_export_summary {
    uint64_t samples;        /* that were read, and are in the output */
    uint64_t period;         /* sum of their periods, up to UINT64_MAX */
    uint64_t without_period; /* of them, those for which no period is known */
    uint64_t without_stack;  /* of them, those of which no address is known */
    uint64_t unreadable;     /* of them, those whose call chain could not be read */
    uint64_t joined;         /* call chains whose user part came later (CALLCHAIN_DEFERRED) */
    uint64_t not_joined;     /* those whose user part did not come */
    uint64_t stacks;         /* distinct ones of what is shown, with every beginning of one */
    uint64_t unmapped;       /* of them, those that end where nothing is known to be mapped */
    uint64_t named;          /* of them, those that end in a known function */
    uint64_t frames;     /* distinct functions, files and places in code that these consist of */
    uint64_t events;     /* different names of events that the samples are of */
    uint64_t pruned;     /* frames that are too small to be shown in a picture */
    uint64_t bytes;      /* of memory, out of perfile_limits.profile_bytes */
    uint64_t first_time; /* of the samples, ns of the session clock; PERFILE_NO_TIME … */
    uint64_t last_time;  /* … and 0: none has one */
    bool events_apart;   /* the output tells them apart */
    /* With PERFILE_EXPORT_COMPARE: the samples of the first capture, which are not in `samples` and
     * `period`; all else is of both. */
    uint64_t before_samples;
    uint64_t unwound; /* copies of user stacks that were unwound to the outermost frame; of the
                       * others, up to UINT32_MAX each, the innermost frames are there … */
    uint32_t unwound_short;    /* … up to the end of the copy, or 127 of them */
    uint32_t unwound_no_file;  /* … up to code whose file was not found */
    uint32_t unwound_no_rules; /* … up to code of which its file does not say who called it */
    uint32_t not_unwound; /* … up to registers or a stack that make no sense, or none at all: those
                           * of 32-bit programs and of machines but x86-64 and aarch64 */
    /* Of the form "aux": */
    uint64_t aux_files;   /* ring buffers */
    uint64_t aux_bytes;   /* of their data */
    uint64_t aux_missing; /* places where a ring buffer lacks data */
    uint64_t too_costly;  /* perfile_symbols_too_costly() */
    /* Of "folded" and "chrome", which write a name wherever it is called: bytes to which longer
     * names were shortened, in the middle, because all would have been more than 16 times the
     * records, and 1 MiB; 0: all names are whole. */
    uint64_t names_most;
    /* With PERFILE_EXPORT_INLINE: inlined functions that have no frame, because they would have
     * been more than 4 for each frame of a call chain, and 8192. */
    uint64_t not_inlined;
    /* Of forms that show time: samples of tracepoints that are without their payload, because all
     * that is kept takes half of perfile_limits.profile_bytes. */
    uint64_t payloads_left_out;
} perfile_export_summary;

/* How records are shown.  Set `size`; zeros are the defaults. */
typedef struct perfile_emit_options {
    size_t size;
    uint32_t flags; /* PERFILE_EMIT_… */
    /* How many threads make the output, the caller's included; at most 256.  0 or 1: only the
     * caller's.  The output does not depend on it.  From perfile_emitter_begin() to
     * perfile_emitter_finish() the model must not be fed then; all calls still come from one
     * thread, but for those of perfile_symbols_options.notice, which come from one at a time.  With
     * forms for viewers the threads resolve samples with tables of their own: memory may be as much
     * for each. */
    uint32_t threads;
    /* "tsv": the columns, separated by commas; see perfile_emit_fields_check().  "script": fields
     * as for -F of `perf script`, several such texts with spaces between them.  Copied. */
    const char *fields;
    /* Fed with all that the records refer to; it must outlive the emitter.  NULL: names of threads
     * and of what is mapped are not known. */
    const perfile_model *model;
    /* Of forms for viewers; of "script" symbols and flags; of "tsv" `symbols`, for columns of
     * functions; NULL: the defaults.  Copied. */
    const perfile_export_options *exporting;
    uint32_t max_stack; /* "script": frames of a call chain at most; 0: 127 */
    uint32_t reserved0;
    /* "script": names of functions, with commas between them; what called one of them is not shown
     * in call chains.  NULL: all is shown.  Copied. */
    const char *stop_at;
} perfile_emit_options;

/* What came of it, as exit status of a command. */
enum {
    PERFILE_EMIT_COMPLETE = 0,
    PERFILE_EMIT_NOTHING = 1, /* damage, and nothing that could be decoded */
    PERFILE_EMIT_DAMAGED = 3  /* damage, and all that could be decoded */
};

/* The form at `position` ("text" …), NULL behind the last; and what it is, in words. */
PERFILE_API const char *perfile_emit_format(size_t position);
PERFILE_API const char *perfile_emit_format_doc(size_t position);

/* The same of the forms for viewers ("folded" …), which add up what samples say, or show them over
 * time.  They are opened like the others, and need a model to resolve addresses. */
PERFILE_API const char *perfile_export_format(size_t position);
PERFILE_API const char *perfile_export_format_doc(size_t position);

/* Whether the output of that form is not for terminals; false behind the last. */
PERFILE_API bool perfile_export_format_is_binary(size_t position);

/* Whether that form writes several files, so that its sink is a directory
 * (perfile_sink_directory()); false behind the last. */
PERFILE_API bool perfile_export_format_is_directory(size_t position);

/* Whether that form writes tables as files into a folder (perfile_sink_folder()), or one table into
 * any other sink; false behind the last. */
PERFILE_API bool perfile_export_format_is_folder(size_t position);

/* Whether `fields` are columns of "tsv": names as conditions have them (perfile/expr.h), such as
 * `time`, `event`, `data_src.op` or `mmap2.filename`, and `comm`, `dso`, `sym`, `symoff`,
 * `srcline`, `caller`, `stack`, `addr_sym` and `addr_dso`; but no groups of fields, which have no
 * value of their own.  `addr/64` is a number rounded down to a multiple of 64.  *model: one is
 * needed for them.  A name that is none of these may be a field of a tracepoint: the emitter looks
 * for it when it gets the first sample, and fails with PERFILE_E_USAGE if no tracepoint of the
 * capture has it.  PERFILE_E_USAGE: err->message names the first that cannot be a column, and
 * similar names; PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emit_fields_check(const char *fields,
                                                                      bool *model,
                                                                      perfile_error *err);

/* Values of names as text: the columns of "tsv", one by one, for those who count or compare them.
 */
typedef struct perfile_columns perfile_columns;

/* `fields` as perfile_emit_options.fields; borrows `model` and `symbols`, by which functions are
 * looked up (both may be NULL).  It is for records
 * of one session, which must be there as long as it is asked.  Errors as of
 * perfile_emit_fields_check(). */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_columns_open(const perfile_model *model, const perfile_symbols_options *symbols,
                     const char *fields, perfile_columns **out, perfile_error *err);

/* The value of the column at `position` for a record: what "tsv" writes for it, but texts as they
 * are stored.  Valid until the next call.  PERFILE_END: the record does not have it; *text
 * is untouched.  PERFILE_E_USAGE: `r` is the first sample, and no tracepoint of the capture has a
 * field of that name; PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_columns_text(perfile_columns *c,
                                                                 const perfile_record *r,
                                                                 uint32_t position,
                                                                 perfile_bytes *text,
                                                                 perfile_error *err);

/* NULL is fine. */
PERFILE_API void perfile_columns_close(perfile_columns *c);

/* "script" is the text that `perf script` prints.  Records have to come in order of time
 * (perfile_sort()), with all side-band; it needs a model, and exporting->symbols for names of
 * functions. It takes several captures one after the other, as forms for viewers do.  Fields that
 * cannot be printed are PERFILE_E_USAGE, of perfile_emitter_open() or once the events of the
 * capture are known.
 *
 * Borrows stream and sink, which must outlive the emitter.  `stream` is asked for facts, and for
 * bytes behind records (perfile_stream_extra()), so put a record before the next one is fetched.
 * PERFILE_E_USAGE: no such format; PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_open(
    const char *format, perfile_stream *stream, perfile_sink *sink,
    const perfile_emit_options *options, perfile_emitter **emitter, perfile_error *err);

/* Emits the facts of the capture: header, events, features, and damage of these. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_begin(perfile_emitter *e,
                                                                  perfile_error *err);

/* Emits a record, or a record of family DAMAGE.  A record that cannot be decoded is emitted as
 * such and is no failure of this call.  PERFILE_E_NOMEM, PERFILE_E_IO (also of the input, when
 * bytes behind the record are read). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_put(perfile_emitter *e,
                                                                const perfile_record *r,
                                                                perfile_error *err);

/* The same for first[0 .. n), which perfile_stream_next_run() gave, or some of them that follow
 * each other: faster with several threads. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_put_run(perfile_emitter *e,
                                                                    const perfile_record *first,
                                                                    size_t n, perfile_error *err);

/* Of forms for viewers: the records so far were all of their capture; its stream and model are not
 * needed any more.  Those from now on come from another one, whose samples are added; `stream` and
 * `model` as in perfile_emitter_open().  With NULL no more come until the next call.
 * PERFILE_E_USAGE: the form shows one capture only; PERFILE_E_NOMEM, PERFILE_E_LIMIT
 * (profile_bytes). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_continue(perfile_emitter *e,
                                                                     perfile_stream *stream,
                                                                     const perfile_model *model,
                                                                     perfile_error *err);

/* Of forms for viewers: what became of the records so far; complete behind
 * perfile_emitter_finish().  Fills the first `size` bytes of *summary; all zeros for other forms.
 */
PERFILE_API void perfile_emitter_get_summary(const perfile_emitter *e,
                                             perfile_export_summary *summary, size_t size);

/* Hands what was emitted so far to the sink. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_flush(perfile_emitter *e,
                                                                  perfile_error *err);

/* Emits the end, and flushes.  The sink is not finished. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emitter_finish(perfile_emitter *e,
                                                                   perfile_error *err);

/* PERFILE_EMIT_COMPLETE, NOTHING or DAMAGED for what was emitted so far; and how many errors the
 * output reports. */
PERFILE_API int perfile_emitter_outcome(const perfile_emitter *e);
PERFILE_API uint64_t perfile_emitter_errors(const perfile_emitter *e);

/* Releases the emitter; what was not flushed is dropped.  NULL is fine. */
PERFILE_API void perfile_emitter_close(perfile_emitter *e);

/* Emits all there is to say of an input that perfile_open() refused: `damage` and `offset` are
 * those of its perfile_error. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_emit_failure(const char *format,
                                                                 perfile_sink *sink,
                                                                 uint32_t damage, uint64_t offset,
                                                                 perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
