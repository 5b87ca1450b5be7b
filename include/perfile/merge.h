/* Merging: yields several captures as one stream, by time.
 *
 *     perfile_merge_input in[2] = {{.stream = a, .name = "a"}, {.stream = b, .name = "b"}};
 *     st = perfile_merge(in, 2, NULL, &stream, &err);
 *     st = perfile_copy(stream, writer, NULL, NULL, 0, &err);
 *
 * The inputs must be sorted by time: streams of perfile_sort(), stages on these, or other merges.
 * Events, ids and clocks of the output depend on the complete inputs, so all inputs are first read
 * to their ends.  An input that is not directly a stream of perfile_sort() is held meanwhile
 * (PERFILE_SORT_WHOLE), in temporary files and in PERFILE_SORT_MAX_MEMORY bytes for all such inputs
 * together; for other limits put perfile_sort() on it.
 *
 * The stage has its own session with the events and features of all inputs.  It yields their
 * records by time; records of equal time in the order of the inputs, then in stored order.
 *
 * - Events: those of the first input, then those of the others.  All get IDENTIFIER, so that events
 *   with any sample_type can be mixed; samples and trailers are rewritten accordingly.  Ids used by
 *   several inputs are renumbered wherever they occur (format/merging.def has the rule for each
 *   kind of field).  Inputs that are parts of one recording, as perfile_split_capture() writes them
 *   (same events, ids and host, different samples), share their events, and side-band that several
 *   of them repeat is yielded once.  Attrs are as long as those of the oldest input, unless a
 *   member after that length is set.
 * - Clocks: inputs of one boot of one machine with the same clock keep their times.  Other inputs
 *   are shifted to the clock of the first by their wall clocks (feature CLOCK_DATA).  Otherwise the
 *   caller must give an offset; it is never guessed.
 * - Facts in records (HEADER_ATTR, HEADER_FEATURE …) become facts of the session and are not
 *   yielded.  FINISHED_ROUND records of the inputs are dropped, and new ones are made. */
#ifndef PERFILE_MERGE_H
#define PERFILE_MERGE_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An input.  Set `stream` and `name`. */
typedef struct perfile_merge_input {
    perfile_stream *stream; /* sorted; all in one byte order: use perfile_byteswap() */
    const char *name;       /* for messages; borrowed */
    int64_t offset;         /* with `has_offset`: ns to be added to its times */
    bool has_offset;        /* `offset` counts */
    uint8_t reserved0[7];
    uint64_t reserved[4];
} perfile_merge_input;

enum {                                          /* perfile_merge_options.flags */
       PERFILE_MERGE_JOIN_EVENTS = 1 << 0,      /* equal attr and name: one event */
       PERFILE_MERGE_MAP_PIDS = 1 << 1,         /* processes of other hosts get other numbers */
       PERFILE_MERGE_HOST_COMM = 1 << 2,        /* COMM becomes host:name if hosts differ */
       PERFILE_MERGE_DROP_CONFLICTING = 1 << 3, /* drop conflicting data instead of refusing */
       PERFILE_MERGE_ALIGN_START = 1 << 4,      /* shift inputs to the same first sample time */
       PERFILE_MERGE_FAIL_ON_DAMAGE = 1 << 5    /* the stream fails where an input is damaged */
};

/* With MAP_PIDS the pid or tid of host h (from 0) becomes its own value plus h times this number,
 * which is more than any pid of Linux; 0, -1 and values that are not below this number stay. */
#define PERFILE_MERGE_PIDS (UINT32_C(1) << 22)

enum {                                  /* perfile_merge_note.kind */
       PERFILE_MERGE_NOTE_JOINED = 0,   /* feature: joined from several inputs */
       PERFILE_MERGE_NOTE_DROPPED = 1,  /* feature: dropped, it differs between inputs */
       PERFILE_MERGE_NOTE_CONFLICT = 2, /* dropped because of PERFILE_MERGE_DROP_CONFLICTING */
       PERFILE_MERGE_NOTE_RECORDS = 3,  /* records that were dropped */
       PERFILE_MERGE_NOTE_CHANGED = 4,  /* records that got fields they did not have */
       PERFILE_MERGE_NOTE_MIXED = 5,    /* data that perf.data cannot keep separate */
       PERFILE_N_MERGE_NOTES = 6
};

/* A difference between the inputs and the output. */
typedef struct perfile_merge_note {
    uint32_t kind;   /* PERFILE_MERGE_… */
    uint32_t number; /* of the feature or record type; UINT32_MAX: neither */
    uint32_t input;  /* position; UINT32_MAX: several */
    uint32_t reserved;
    uint64_t count;      /* records, entries */
    const char *message; /* a sentence; valid during the call */
} perfile_merge_note;

/* Set `size`; zeros are the defaults. */
typedef struct perfile_merge_options {
    size_t size;
    uint32_t flags; /* PERFILE_MERGE_… */
    uint32_t reserved0;
    /* Reports differences from the inputs: in facts during perfile_merge(), in records at the end
     * of the stream.  May be NULL. */
    void (*note)(void *user, const perfile_merge_note *note);
    void *user;
    uint64_t reserved[6];
} perfile_merge_options;

/* Reads the facts of the inputs (and so reads them to their ends, as sorting does) and puts the
 * stage on them.  *stream owns the inputs on success; on failure the caller still owns them.
 * PERFILE_E_USAGE with a sentence: the offset between two clocks is unknown; one number has two
 * meanings (a PMU, a tracepoint, THREAD_MAPs of perf stat); two inputs have AUX traces; a stream is
 * not sorted.  PERFILE_E_LIMIT: more than 1,024 boots with MAP_PIDS, or 256 with cgroups in
 * samples; or, while the stream is read, a record would become longer than 65,535 bytes. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_merge(const perfile_merge_input *inputs,
                                                          size_t n,
                                                          const perfile_merge_options *options,
                                                          perfile_stream **stream,
                                                          perfile_error *err);

/* Counts of what a merge did. */
typedef struct perfile_merge_summary {
    uint64_t records;               /* yielded, without new FINISHED_ROUND records */
    uint64_t samples;               /* SAMPLE records among them */
    uint64_t facts;                 /* records that became facts of the session */
    uint64_t repeated;              /* side-band dropped: another part of the recording has it */
    uint64_t unattributed;          /* dropped: of no known event, and events differ in layout */
    uint64_t unreadable;            /* dropped: they do not fit the layout of their event */
    uint64_t conflicting;           /* dropped because of PERFILE_MERGE_DROP_CONFLICTING */
    uint64_t trailers;              /* trailers made for records that had none */
    uint64_t rounds;                /* FINISHED_ROUND records that were made */
    uint32_t inputs, hosts, events; /* numbers of these */
    uint32_t new_ids;               /* ids that got another number */
    uint32_t boots;                 /* of all hosts; pids and kernel addresses belong to one boot */
    uint32_t boots_unproven; /* further inputs of one host that may be of another boot; an offset of
                              * 0 asserts that it is the same */
    uint64_t reserved[5];
} perfile_merge_summary;

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *out with the counts so far; zeros if `stream` is not such a
 * stage. */
static inline void perfile_merge_get_summary(const perfile_stream *stream,
                                             perfile_merge_summary *out, size_t size)
{
    perfile_summary(PERFILE_SUMMARY_MERGE, stream, out, size);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
