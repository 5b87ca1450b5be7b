/* Internals of perfile_merge(), shared by the files of this folder.
 *
 * A merge (pf_merge) is a stream with a session of its own.  It stands on n inputs
 * (pf_merge_input), each a sorted stream.  merge_begin.c plans it before the first record goes out:
 * which machine and boot each input is from and how far its times are moved (hosts.c), which events
 * and ids the output has (events.c), and which features (features.c).  After that merge.c
 * repeatedly takes the input whose next record is earliest, and record.c or the fast path for
 * samples writes that record with the ids, times and layout of the output.
 *
 * Two ways for a record, which give the same bytes:
 *   merge.c        samples as records, of which only fields at fixed offsets change
 *   record.c       any record, field by field */
#ifndef PF_MERGE_MERGE_H
#define PF_MERGE_MERGE_H

#include "base/buffer.h"
#include "base/error.h"
#include "core/stream.h"
#include "model/index.h"
#include "perfile/encode.h"
#include "perfile/merge.h"
#include "sort/sort.h"
#include "stage/pids.h"
#include "transform/relayout.h"

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

typedef struct pf_merge {
    perfile_stream base;
    perfile_merge_options options;
    pf_merge_input *inputs;
    perfile_part *parts; /* of the output, if the inputs' have headers or processors; else NULL */
    uint32_t *cpus;      /* their processors */
    uint32_t n_parts;
    uint32_t n_inputs;
    pf_heap heap; /* inputs that have a record at hand */
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

/* merge_begin.c: inputs */

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

/* repeats.c: rejects records that only one recording may supply (AUX traces, THREAD_MAP of perf
 * stat), or with PERFILE_MERGE_DROP_CONFLICTING reports a conflict once and sets *drop. */
perfile_status pf_merge_check_exclusive(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                        bool *drop, perfile_error *err);

/* merge_begin.c: results */

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
/* hosts.c: sets clock_input and the offset of each input.  PERFILE_E_USAGE if clocks cannot be
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

/* The attr of an event in the output of a merge. */

/* What the attrs of all inputs have in common in the output. */
typedef struct pf_merge_attrs {
    const pf_merge *x;
    /* length of the longest attr of the input with the oldest perf; SIZE_MAX: do not cut */
    size_t size;
    bool swapped;
    bool use_clockid; /* attr.use_clockid and attr.clockid of the output's clock */
    int32_t clockid;
} pf_merge_attrs;

/* Call after pf_merge_clocks(). x->adds_ids and x->sample_id_all are read by pf_merge_attr() only.
 */
void pf_merge_attrs_begin(pf_merge_attrs *m, const pf_merge *x);

/* Puts the attr that event `e` of `in` has in the output into `out`, which is cleared first. */
perfile_status pf_merge_attr(const pf_merge_attrs *m, const pf_merge_input *in,
                             const perfile_event *e, pf_buffer *out, perfile_error *err);

/* Features of a merged capture: what features.c shares with the files that join one kind of
 * feature each (values.c, lists.c, tracing.c), and the set of entries that they
 * use to keep each thing once (repeats.c). */

/* An entry of a set.  number and name are its key, and value too if the set is `by_value`.  The
 * bytes are borrowed and must outlive the set. */
typedef struct pf_merge_entry {
    uint64_t number;
    perfile_bytes name, value;
    uint32_t input; /* index of the first input that has it */
    uint32_t link;  /* free for the caller */
    uint32_t next;  /* chain of entries with the same hash: position + 1, 0 at the end */
    bool refused;   /* free for the caller */
} pf_merge_entry;

/* A set of entries in the order in which they were added.  All zeros is empty. */
typedef struct pf_merge_entries {
    pf_index heads;  /* hash -> position of the first entry of its chain */
    pf_buffer items; /* pf_merge_entry */
    bool by_value;
} pf_merge_entries;

/* Returns the entry with the key of *want, or NULL. The pointer is valid until the next entry is
 * added; the same holds for pf_merge_entries_add(). */
pf_merge_entry *pf_merge_entries_find(const pf_merge_entries *e, const pf_merge_entry *want);
/* Returns the entry with the key of *want; adds a copy of *want if there is none. NULL: out of
 * memory. */
pf_merge_entry *pf_merge_entries_add(pf_merge_entries *e, const pf_merge_entry *want, bool *added);
/* Conversion between entries and their positions in the order of adding. */
pf_merge_entry *pf_merge_entries_at(const pf_merge_entries *e, uint32_t position);
uint32_t pf_merge_entries_position(const pf_merge_entries *e, const pf_merge_entry *one);
void pf_merge_entries_free(pf_merge_entries *e);

static inline bool pf_same_bytes(perfile_bytes a, perfile_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Arguments for "%.*s": up to 64 bytes of text from an input. */
#define PF_TEXT_ARGS(b) (int)((b).len < 64 ? (b).len : 64), (b).len ? (const char *)(b).ptr : ""

/* Returns a feature of input `k`, or NULL if it is missing, damaged or truncated. */
const perfile_feature *pf_fact_of(const pf_merge *x, uint32_t k, uint32_t number);
/* pf_fact_of() of the first input that has the feature, NULL if none has; the index of that input,
 * n_inputs if none has; true if input `k` has the feature with other bytes than `first`. */
const perfile_feature *pf_fact_first(const pf_merge *x, uint32_t number);
uint32_t pf_fact_first_input(const pf_merge *x, uint32_t number);
bool pf_fact_differs(const pf_merge *x, uint32_t k, uint32_t number, const perfile_feature *first);
/* True if all inputs that have the feature have the same bytes. */
bool pf_fact_all_same(const pf_merge *x, uint32_t number);

/* Adds a feature to the output. `stable`: the bytes are those of an input, which outlive the
 * session of the output; else they are copied. */
perfile_status pf_fact_add(pf_merge *x, uint32_t number, perfile_bytes payload, bool stable,
                           perfile_error *err);
/* Adds a feature that was made from several inputs, and reports a note of kind JOINED. */
perfile_status pf_fact_join(pf_merge *x, uint32_t number, const pf_buffer *made,
                            perfile_error *err);

/* Reports a note whose text is "feature NAME: " and the formatted text. */
void pf_fact_report(const pf_merge *x, uint32_t kind, uint32_t number, uint32_t input,
                    uint64_t count, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Reports that the feature of input `k` is damaged and left out. */
void pf_fact_unreadable(const pf_merge *x, uint32_t number, uint32_t k);
/* Reports that `count` entries of input `k` were left out, if any; `why` follows "of INPUT".
 */
void pf_fact_left_out(const pf_merge *x, uint32_t number, uint32_t k, uint64_t count,
                      const char *why);

/* Options for encoding a feature in the byte order of the output. */
static inline perfile_encode_options pf_fact_encode_options(const pf_merge *x)
{
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .byte_order = perfile_session_byte_order(x->base.session)};
}

/* Defines make_ID(), which appends the encoded payload of feature ID to `out`. */
#define PF_FACT_MAKER(id)                                                                          \
    static perfile_status make_##id(const pf_merge *x, const perfile_##id *v, pf_buffer *out,      \
                                    perfile_error *err)                                            \
    {                                                                                              \
        const perfile_encode_options how = pf_fact_encode_options(x);                              \
        size_t len;                                                                                \
        perfile_status st = perfile_##id##_encode(v, sizeof *v, &how, NULL, 0, &len, err);         \
        if (st != PERFILE_OK)                                                                      \
            return st;                                                                             \
        if (!pf_buffer_reserve(out, len))                                                          \
            return pf_fail_nomem(err, "merge");                                                    \
        st = perfile_##id##_encode(v, sizeof *v, &how, out->ptr + out->len, len, &len, err);       \
        out->len += st == PERFILE_OK ? len : 0;                                                    \
        return st;                                                                                 \
    }

/* The rules of format/merging.def, one function each. Each adds feature `number` to the output if
 * it can, and reports what is left out or changed.
 *
 * features.c: kept when it is the same in all inputs. */
perfile_status pf_join_same(pf_merge *x, uint32_t number, perfile_error *err);
/* values.c */
perfile_status pf_join_topology(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_unwind(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_unwind_file(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_nodes(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_hosts(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_most(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_flag(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_span(pf_merge *x, uint32_t number, perfile_error *err);
perfile_status pf_join_clock(pf_merge *x, uint32_t number, perfile_error *err);
/* lists.c */
perfile_status pf_join_list(pf_merge *x, uint32_t number, perfile_error *err);
/* tracing.c */
perfile_status pf_join_tracing(pf_merge *x, uint32_t number, perfile_error *err);
/* values.c: event types, and EVENT_DESC. The latter is added when an input has it or when names of
 * events would be lost without it; it needs all other features, which names are derived from. */
perfile_status pf_join_event_types(pf_merge *x, perfile_error *err);
perfile_status pf_join_event_desc(pf_merge *x, perfile_error *err);

#endif
