/* Several captures as one, by time.
 *
 *     perfile_merge_input in[2] = {{.stream = a, .name = "a"}, {.stream = b, .name = "b"}};
 *     st = perfile_merge(in, 2, NULL, &stream, &err);
 *     st = perfile_copy(stream, writer, NULL, NULL, 0, &err);
 *
 * The inputs are sorted by time: streams of perfile_sort(), stages on these, or other merges.
 * Events, ids and clocks of the output depend on everything in an input, so all inputs are read to
 * their ends first.  An input that is not a stream of perfile_sort() itself is held meanwhile
 * (PERFILE_SORT_WHOLE), in temporary files and PERFILE_SORT_MAX_MEMORY bytes for all such inputs
 * together; for other limits put perfile_sort() on it.
 *
 * The stage has a session of its own with the events and features of all inputs.  It yields their
 * records by time; records of equal time in the order of the inputs, then in stored order.
 *
 * - Events: those of the first input, then those of the others.  All have IDENTIFIER, so that
 * events of any sample_type can stand together; samples and trailers are rewritten accordingly. Ids
 * used by several inputs are renumbered wherever they occur (format/merging.def has the rule for
 * every kind of field).  Inputs that are parts of one recording, as perfile_split_capture() writes
 * them (same events, ids and host, different samples), share their events, and side-band repeated
 * in several of them is yielded once.  Attrs are as long as those of the oldest input, unless a
 *   member behind that is set.
 * - Clocks: inputs of one boot of one machine with the same clock keep their times.  Other inputs
 *   are shifted into the clock of the first by their wall clocks (feature CLOCK_DATA).  Otherwise
 * the caller has to give an offset; it is never guessed.
 * - Facts in records (HEADER_ATTR, HEADER_FEATURE …) become facts of the session and are not
 * yielded. FINISHED_ROUND records of the inputs are dropped, and new ones are made. */
#ifndef PERFILE_MERGE_H
#define PERFILE_MERGE_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An input.  Set `stream` and `name`. */
typedef struct perfile_merge_input {
    perfile_stream *stream; /* sorted; all in one byte order: perfile_byteswap() below or on it */
    const char *name;       /* for messages; borrowed */
    int64_t offset;         /* with `has_offset`: ns to be added to its times */
    bool has_offset;        /* `offset` counts */
    uint8_t reserved0[7];
    uint64_t reserved[4];
} perfile_merge_input;

enum {                                          /* perfile_merge_options.flags */
       PERFILE_MERGE_JOIN_EVENTS = 1 << 0,      /* equal attr and name: one event */
       PERFILE_MERGE_MAP_PIDS = 1 << 1,         /* processes of other hosts get other numbers */
       PERFILE_MERGE_HOST_COMM = 1 << 2,        /* COMM records say host:name, where hosts differ */
       PERFILE_MERGE_DROP_CONFLICTING = 1 << 3, /* instead of refusing */
       PERFILE_MERGE_ALIGN_START = 1 << 4,      /* the first samples are at the same time */
       PERFILE_MERGE_FAIL_ON_DAMAGE = 1 << 5    /* the stream fails where an input is damaged */
};

/* With MAP_PIDS the number of a process or thread of host h (from 0) is its own and h times this,
 * which is more than Linux ever has; 0, -1 and numbers that are not below it stay. */
#define PERFILE_MERGE_PIDS (UINT32_C(1) << 22)

enum {                                /* perfile_merge_note.kind */
       PERFILE_MERGE_NOTE_JOINED = 0, /* feature: made of those of several inputs */
       PERFILE_MERGE_NOTE_DROPPED =
           1, /* feature: not the same in all inputs that have it, left out */
       PERFILE_MERGE_NOTE_CONFLICT = 2, /* PERFILE_MERGE_DROP_CONFLICTING left it out */
       PERFILE_MERGE_NOTE_RECORDS = 3,  /* records that were left out */
       PERFILE_MERGE_NOTE_CHANGED = 4,  /* records that got what they had not */
       PERFILE_MERGE_NOTE_MIXED = 5,    /* what perf.data cannot keep apart */
       PERFILE_N_MERGE_NOTES = 6
};

/* Something of the inputs that is not in the output as it was. */
typedef struct perfile_merge_note {
    uint32_t kind;   /* PERFILE_MERGE_… */
    uint32_t number; /* of the feature or record type; UINT32_MAX: neither */
    uint32_t input;  /* position; UINT32_MAX: several */
    uint32_t reserved;
    uint64_t count;   /* records, entries */
    const char *text; /* a sentence; valid during the call */
} perfile_merge_note;

/* "joined" …, "" for numbers that are none. */
PERFILE_API const char *perfile_merge_note_name(uint32_t kind);

/* Set `size`; zeros are the defaults. */
typedef struct perfile_merge_options {
    size_t size;
    uint32_t flags; /* PERFILE_MERGE_… */
    uint32_t reserved0;
    /* What is not as in the inputs: of facts inside perfile_merge(), of records at the end of the
     * stream.  May be NULL. */
    void (*note)(void *user, const perfile_merge_note *note);
    void *user;
    uint64_t reserved[6];
} perfile_merge_options;

/* Reads the facts of the inputs (which reads them to their ends, as sorting does) and puts the
 * stage on them.  *stream owns them from success on; on failure they stay the caller's.
 * PERFILE_E_USAGE with a sentence: the offset between two clocks is unknown; one number has two
 * meanings (a PMU, a tracepoint, THREAD_MAPs of perf stat); two inputs have AUX traces; a stream is
 * not sorted.
 * PERFILE_E_LIMIT: more than 1,024 boots with MAP_PIDS, or 256 with cgroups in samples; when the
 * stream is read: a record would become longer than 65,535 bytes. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_merge(const perfile_merge_input *inputs,
                                                          size_t n,
                                                          const perfile_merge_options *options,
                                                          perfile_stream **stream,
                                                          perfile_error *err);

/* What a merge did. */
typedef struct perfile_merge_summary {
    uint64_t records;               /* yielded, without the FINISHED_ROUND that were made */
    uint64_t samples;               /* SAMPLE records among them */
    uint64_t facts;                 /* records that became facts of the session */
    uint64_t repeated;              /* side-band left out: another part of the recording has it */
    uint64_t unattributed;          /* left out: of no known event, and events differ in layout */
    uint64_t unreadable;            /* left out: they do not fit the layout of their event */
    uint64_t conflicting;           /* left out for PERFILE_MERGE_DROP_CONFLICTING */
    uint64_t trailers;              /* made for records that had none */
    uint64_t rounds;                /* made: FINISHED_ROUND */
    uint32_t inputs, hosts, events; /* how many there are */
    uint32_t new_ids;               /* ids that got another number */
    uint32_t boots; /* of all hosts; processes and the kernel's addresses are of one boot */
    uint32_t boots_unproven; /* further inputs of one host whose boot may be another: an offset of 0
                              * asserts that it is the same */
    uint64_t reserved[5];
} perfile_merge_summary;

/* Fills the first `size` bytes of *out with what the stage has done so far; zeros when `stream` is
 * no such stage. */
PERFILE_API void perfile_merge_get_summary(const perfile_stream *stream, perfile_merge_summary *out,
                                           size_t size);

enum { /* perfile_merge_input_summary.clock: how its offset was found */
       PERFILE_MERGE_CLOCK_FIRST = 0,     /* the first input defines the clock */
       PERFILE_MERGE_CLOCK_GIVEN = 1,     /* the caller gave an offset */
       PERFILE_MERGE_CLOCK_ALIGNED = 2,   /* PERFILE_MERGE_ALIGN_START */
       PERFILE_MERGE_CLOCK_RECORDING = 3, /* part or copy of the recording of an earlier input */
       PERFILE_MERGE_CLOCK_BOOT = 4,      /* same clock, same boot of the same machine */
       PERFILE_MERGE_CLOCK_WALL = 5,      /* by feature CLOCK_DATA of both */
       PERFILE_MERGE_CLOCK_GLOBAL = 6,    /* both use CLOCK_REALTIME, or both CLOCK_TAI */
       PERFILE_MERGE_CLOCK_NONE = 7       /* it has no times */
};

/* What became of an input. */
typedef struct perfile_merge_input_summary {
    uint64_t records; /* yielded */
    uint64_t samples; /* SAMPLE records among them */
    int64_t offset;   /* ns that were added to its times */
    uint32_t clock;   /* PERFILE_MERGE_CLOCK_… */
    uint32_t host;    /* from 0: inputs of one machine have the same */
    uint32_t part_of; /* position of the first input of the same recording; its own: none before */
    uint32_t boot;    /* from 0: inputs of one boot of one machine have the same */
    uint64_t reserved[4];
} perfile_merge_input_summary;

/* "same boot" …, "" for numbers that are none. */
PERFILE_API const char *perfile_merge_clock_name(uint32_t clock);

/* Of input `position`; zeros when there is none. */
PERFILE_API void perfile_merge_get_input_summary(const perfile_stream *stream, size_t position,
                                                 perfile_merge_input_summary *out, size_t size);

/* An id of an input and its number in the output, which may be the same. */
typedef struct perfile_merge_id_pair {
    uint64_t id;     /* in the input */
    uint64_t new_id; /* in the output */
    uint32_t event;  /* in the output */
    uint32_t reserved;
} perfile_merge_id_pair;

/* The `k`-th id of an event of input `position`; false when there is none. */
PERFILE_API bool perfile_merge_get_id(const perfile_stream *stream, size_t position, size_t k,
                                      perfile_merge_id_pair *out, size_t size);

/* The least process or thread above `after` (UINT32_MAX: the very first) that input `position` had
 * and that got another number; false when there is no further one. */
PERFILE_API bool perfile_merge_get_pid(const perfile_stream *stream, size_t position,
                                       uint32_t after, uint32_t *pid, uint32_t *new_pid);

#ifdef __cplusplus
}
#endif

#endif
