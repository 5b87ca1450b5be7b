/* Internals of perfile_merge(), shared by the files of this folder.
 *
 * A merge (pf_merge) is a stream with a session of its own.  It stands on n inputs
 * (pf_merge_input), each a sorted stream.  begin.c plans it before the first record goes out: which
 * machine and boot each input is from (hosts.c), how far its times are moved (clocks.c), which
 * events and ids the output has (events.c), and which features (features.c).  After that merge.c
 * repeatedly takes the input whose next record is earliest, and record.c or sample.c writes
 * that record with the ids, times and layout of the output.
 *
 * Two ways for a record, which give the same bytes:
 *   sample.c       samples as records, of which only fields at fixed offsets change
 *   record.c       any record, field by field */
#ifndef PF_MERGE_MERGE_H
#define PF_MERGE_MERGE_H

#include "base/buffer.h"
#include "core/stream.h"
#include "model/index.h"
#include "perfile/merge.h"
#include "stage/pids.h"
#include "stage/relayout.h"
#include "stage/round.h"

#define PF_MERGE_NO_INPUT UINT32_MAX

enum { PF_MERGE_ID_CACHE = 16 }; /* slots; direct-mapped; the kernel numbers ids consecutively */

/* What happens to a field, by the kind of the field.  The rows of format/merging.def assign these
 * and explain each; the values are the MERGE_KIND rules of that table. */
enum {
    PF_MERGE_KEEP = 0,
    PF_MERGE_ID,
    PF_MERGE_STREAM,
    PF_MERGE_EVENT,
    PF_MERGE_TASK,
    PF_MERGE_TIME,
    PF_MERGE_BASE,
    PF_MERGE_CGROUP
};

/* A 64-bit word at a fixed offset of a sample or trailer in the output layout, which changes. */
typedef struct pf_merge_patch {
    int8_t slot;  /* as in perfile_layout: from the front in samples, from the end in trailers */
    uint8_t rule; /* PF_MERGE_... */
} pf_merge_patch;

/* How records of one layout of an input are rewritten. */
typedef struct pf_merge_plan {
    pf_relayout relayout;
    bool add_trailer; /* the input has no sample_id trailers, the output has */
    bool walk_sample; /* fields after those at fixed offsets change too (READ ids, cgroups) */
    uint8_t n_sample, n_trailer;
    pf_merge_patch sample[8], trailer[8];
} pf_merge_plan;

/* A slot of the id cache: an id of the input and its number in the output; new_id 0: empty. */
typedef struct pf_merge_cached_id {
    uint64_t id, new_id;
} pf_merge_cached_id;

/* An event of an input. */
typedef struct pf_merge_event {
    uint32_t out;      /* index of the event in the output */
    uint32_t plan;     /* index in pf_merge_input.plans */
    uint64_t first_id; /* in the output: for records of this event that carry no id */
} pf_merge_event;

typedef struct pf_merge_input {
    perfile_stream *stream; /* has totals: of perfile_sort(), possibly put on caller_stream here */
    perfile_stream *caller_stream;  /* as the caller passed it */
    const perfile_session *session; /* complete before the first record goes out */
    const char *name;               /* end of the path, for messages */
    uint32_t at;                    /* index among the inputs */
    bool has_offset;                /* the caller gave given_offset */
    int64_t given_offset;           /* ns */

    /* The current run of records. */
    const perfile_record *next, *end;
    const uint64_t *next_key; /* sort key of *next, in the clock of the input */
    uint64_t key;             /* sort key of *next, in the clock of the output */
    bool in_fragments; /* the last record out was a fragment: the others must follow directly */
    uint64_t last_fragment; /* its sequence in the output */
    bool ended;

    /* What is known about the whole input after planning. */
    uint64_t first_sample, last_sample, n_samples, first_bytes, bytes; /* as in pf_totals */
    uint64_t kernel;             /* address of the kernel mapping, 0: unknown */
    uint32_t host;               /* equal: same boot of the same machine */
    uint32_t machine;            /* equal: same machine; counted from 0 */
    uint32_t maybe_same_boot;    /* an input of the same machine whose boot is neither proved nor
                                  * disproved to be the same; PF_MERGE_NO_INPUT: none */
    uint32_t first_of_recording; /* index of the first input of the same recording */
    bool is_part;                /* other inputs hold other parts of the same recording */
    uint32_t clock_reason;       /* PERFILE_MERGE_CLOCK_... */
    uint64_t offset;             /* added to times, modulo 2^64 */
    uint64_t key_offset;         /* the same, added to sort keys: in ticks where these are ticks */
    uint32_t first_part;         /* of the input, among pf_merge.parts */

    /* Events and ids. */
    pf_merge_event *events;
    uint32_t n_events;
    pf_merge_plan *plans; /* one for each distinct layout */
    uint32_t n_plans;
    pf_index ids;           /* id of the input -> index in new_ids */
    pf_buffer new_ids;      /* perfile_merge_id_pair; those of events come first */
    size_t n_event_ids;     /* how many of new_ids belong to events */
    bool renumbers;         /* some id changes */
    bool rewrites_fields;   /* some field of a record body changes */
    bool plain;             /* samples pass on byte for byte */
    bool fixed_fields_only; /* in samples only words at fixed offsets change */
    int id_slot;            /* slot of the id if at most the id changes in samples, else -1 */
    size_t min_body;        /* bytes of all fields at fixed offsets of a sample */
    pf_merge_cached_id id_cache[PF_MERGE_ID_CACHE]; /* direct-mapped by id, lately used */

    bool has_threads;           /* a THREAD_MAP of perf stat came */
    bool drops_aux, drops_stat; /* conflict found; PERFILE_MERGE_DROP_CONFLICTING was set */
    pf_pids moved_pids;         /* processes and threads that got another number */
    perfile_merge_input_summary result;
} pf_merge_input;

/* An entry of the heap: an input by the time of its next record, equal times by input order. */
typedef struct pf_merge_head {
    uint64_t key;
    int32_t order;  /* index of the input; -1 inside a row of fragments, to come first */
    uint32_t input; /* index */
} pf_merge_head;

typedef struct pf_merge {
    perfile_stream base;
    perfile_merge_options options;
    pf_merge_input *inputs;
    perfile_part *parts; /* of the output, if the inputs' have headers or processors; else NULL */
    uint32_t *cpus;      /* their processors */
    uint32_t n_parts;
    uint32_t n_inputs;
    pf_merge_head *heap; /* inputs that have a record at hand */
    uint32_t n_heap;
    uint32_t n_boots;
    uint32_t clock_input;           /* index of the input whose clock the output uses */
    bool sample_id_all;             /* of the output's attrs: set if any input has it */
    bool adds_ids;                  /* all events of the output get PERF_SAMPLE_IDENTIFIER */
    uint8_t rules[PERFILE_N_KINDS]; /* PF_MERGE_... for each kind of field */

    pf_index owners;                /* id -> index of the first input that has it; n_inputs: ours */
    uint64_t next_id;               /* candidate for the next new id */
    pf_buffer bytes;                /* rewritten records of the run that is being handed out */
    const perfile_record *extra_of; /* run[0] has extra bytes: the record they are read through … */
    uint32_t extra_input;           /* … and its input */
    struct pf_repeated *repeated;   /* repeats.c */
    uint64_t sequence;              /* of the next record of the output */
    uint64_t ready_slots;           /* bit i: base.run[i] holds the constant members of a sample */
    uint64_t since_round;           /* bytes of records since the last FINISHED_ROUND */
    pf_buffer pending_damage;       /* perfile_record of family DAMAGE, to be handed out first */
    pf_merge_input *exhausted;      /* its run is used up: it is refilled before anything goes on */
    uint64_t foreign_time_convs;
    bool timed_since_round;    /* one of the records since then has a time */
    bool has_rounds;           /* the family of the records has FINISHED_ROUND */
    bool reported;             /* the notes of the end went out */
    pf_buffer thread_map;      /* body of the first THREAD_MAP of perf stat … */
    uint32_t thread_map_input; /* … and its input, or PF_MERGE_NO_INPUT */
    uint32_t aux_input;        /* the input that has AUX traces, or PF_MERGE_NO_INPUT */
    perfile_merge_summary result;
} pf_merge;

/* input.c */

/* Makes sure that in->stream has totals, so that all about the input is known before its first
 * record: a stream without totals gets a perfile_sort() on it that holds everything. */
perfile_status pf_merge_require_totals(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* Takes off what pf_merge_require_totals() put on the caller's stream, which the caller owns
 * again. */
void pf_merge_return_stream(pf_merge_input *in);
/* Reads an input up to its first record and collects its totals. */
perfile_status pf_merge_begin_input(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* Examines the first run once more, now that offsets are known and records may be skipped. */
perfile_status pf_merge_begin_run(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* Moves in->next to the next record of the run that goes into the output, and sets in->key.  False
 * when the run has none left. */
bool pf_merge_skip_to_next(pf_merge *x, pf_merge_input *in);
/* Fetches runs until one has a record for the output; sets in->ended if there is none. */
perfile_status pf_merge_next_run(pf_merge *x, pf_merge_input *in, perfile_error *err);

/* merge.c */

/* Adds an input that has a record to the heap. */
void pf_merge_push(pf_merge *x, const pf_merge_input *in);
/* Frees the merge, but not the streams of its inputs. */
void pf_merge_release(pf_merge *x);
extern const pf_stream_ops pf_merge_ops;

/* exclusive.c: rejects records that only one recording may supply (AUX traces, THREAD_MAP of perf
 * stat), or with PERFILE_MERGE_DROP_CONFLICTING reports a conflict once and sets *drop. */
perfile_status pf_merge_check_exclusive(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                        bool *drop, perfile_error *err);

/* result.c */

/* Passes a note to the caller's options.note. */
void pf_merge_report(const pf_merge *x, const perfile_merge_note *note);
/* A fact of input `input` (feature or record type `number`) that cannot be joined with those of
 * other inputs.  Returns PERFILE_E_USAGE with the text, or with PERFILE_MERGE_DROP_CONFLICTING
 * reports the text as a note of kind CONFLICT and returns PERFILE_OK. */
perfile_status pf_merge_conflict(const pf_merge *x, uint32_t number, uint32_t input,
                                 perfile_error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* hosts.c: sets machine, boot, first_of_recording and is_part of each input. */
perfile_status pf_merge_hosts(pf_merge *x, perfile_error *err);
/* clocks.c: sets clock_input and the offset of each input.  PERFILE_E_USAGE if clocks cannot be
 * related; the message says which option to pass. */
perfile_status pf_merge_clocks(pf_merge *x, perfile_error *err);

/* events.c */

/* Makes the events of the output with their ids, and a plan for each layout of each input. */
perfile_status pf_merge_events(pf_merge *x, perfile_error *err);
/* Gives the number that an id of the input has in the output.  An id of no event gets a number of
 * its own when it is first seen. */
perfile_status pf_merge_new_id(pf_merge *x, pf_merge_input *in, uint64_t id, uint64_t *out,
                               perfile_error *err);
/* The same for ids of events only; false (and *out = id): the id belongs to no event. */
bool pf_merge_find_id(const pf_merge_input *in, uint64_t id, uint64_t *out);
/* The same for every id that already has a number. */
bool pf_merge_find_stream(const pf_merge_input *in, uint64_t id, uint64_t *out);

/* features.c: adds features and event types to the session of the output.  Needs its events. */
perfile_status pf_merge_features(pf_merge *x, perfile_error *err);

/* record.c */

/* Makes *out the record of the output for `r`.  Its bytes are appended to x->bytes, which has room
 * for pf_merge_record_room(r) more, unless the record is unchanged: then they stay those of `r`.
 * *drop: the record cannot be read in the output and is left out (counted in x->result). */
perfile_status pf_merge_rewrite_record(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                       perfile_record *out, bool *drop, perfile_error *err);
size_t pf_merge_record_room(const perfile_record *r);

/* sample.c: appends samples to the run up to the first record that needs record.c. */
void pf_merge_fill_fast(pf_merge *x);

/* repeats.c: sets *repeated if `r`, side-band of one part of a recording with sort key `key`, went
 * out for another part already.  `timeless`: the record has no time. */
perfile_status pf_merge_is_repeated(pf_merge *x, const pf_merge_input *in, const perfile_record *r,
                                    uint64_t key, bool timeless, bool *repeated,
                                    perfile_error *err);
void pf_merge_forget_repeats(pf_merge *x);

/* True if a FINISHED_ROUND goes in front of the next record.  `bytes`, `timed`: records that are
 * not yet counted in since_round and timed_since_round.  The position of rounds depends on nothing
 * but the bytes of the records, so that all three ways of writing them give the same output. */
static inline bool pf_merge_round_is_due(const pf_merge *x, uint64_t bytes, bool timed)
{
    return x->has_rounds && (x->timed_since_round || timed) &&
           x->since_round + bytes >= PF_ROUND_BYTES;
}

/* Converts a sort key to the clock of the output.  0 and PERFILE_NO_TIME mean "no time" and
 * stay. */
static inline uint64_t pf_merge_key(const pf_merge_input *in, uint64_t key)
{
    return key && key != PERFILE_NO_TIME ? key + in->key_offset : key;
}

/* True for a sample that is not part of an envelope: it never repeats and is never skipped. */
static inline bool pf_merge_is_plain_sample(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_SAMPLE &&
           !(r->flags & (PERFILE_REC_INNER | PERFILE_REC_ENVELOPE));
}

/* True if PERFILE_MERGE_MAP_PIDS gives this process or thread another number: not on the first
 * boot, and not for 0, -1 and other numbers that Linux does not assign. */
static inline bool pf_merge_pid_moves(const pf_merge_input *in, uint32_t pid)
{
    return in->host && pid && pid < PERFILE_MERGE_PIDS;
}

#endif
