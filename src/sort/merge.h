/* Internals of perfile_merge().
 *
 * A merge (pf_merge) is a stream with a session of its own, on top of n sorted streams, its inputs
 * (pf_merge_input). merge_begin.c plans it before the first record is yielded: from which machine
 * and boot each input is and by how much its times are moved (hosts.c), which events and ids the
 * output has (events.c), and which features (features.c).  Then merge.c repeatedly takes the
 * earliest record of all inputs and writes it with the ids, times and layout of the output.
 *
 * There are two ways to write a record, which give the same bytes:
 *   merge.c        samples in which only fields at fixed offsets change
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
#include "sort/command.h"
#include "core/command.h"

#define PF_MERGE_NO_INPUT UINT32_MAX

enum { PF_MERGE_ID_CACHE = 16 }; /* number of slots */

/* What happens to a field. format/merging.def assigns one of these to each kind of field
 * (MERGE_KIND) and explains them. */
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

/* A 64-bit word at a fixed offset of a sample or trailer in the output layout that gets a new
 * value. */
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

/* A slot of the id cache: an id of the input, and its number in the output (0: the slot is empty).
 */
typedef struct pf_merge_cached_id {
    uint64_t id, new_id;
} pf_merge_cached_id;

/* An event of an input. */
typedef struct pf_merge_event {
    uint32_t out;      /* index of the event in the output */
    uint32_t plan;     /* index in pf_merge_input.plans */
    uint64_t first_id; /* first id in the output; for records of this event that carry no id */
} pf_merge_event;

typedef struct pf_merge_input {
    perfile_stream *stream;         /* has totals: caller_stream, or perfile_sort() on it */
    perfile_stream *caller_stream;  /* as passed by the caller */
    const perfile_session *session; /* complete before the first record of the output */
    const char *name;               /* last part of the path, for messages */
    uint32_t at;                    /* index among the inputs */
    bool has_offset;                /* the caller gave given_offset */
    int64_t given_offset;           /* ns */

    /* The current run of records. */
    const perfile_record *next, *end;
    const uint64_t *next_key; /* sort key of *next, in the clock of the input */
    uint64_t key;             /* sort key of *next, in the clock of the output */
    bool in_fragments; /* the last record written was a fragment: the others must follow directly */
    uint64_t last_fragment; /* sequence of that fragment in the output */
    bool ended;

    /* About the whole input; known after planning. */
    uint64_t first_sample, last_sample, n_samples, first_bytes, bytes; /* as in pf_totals */
    uint64_t kernel; /* address of the kernel mapping; 0: unknown */
    uint32_t host; /* number of the boot: equal for inputs from the same boot of the same machine */
    uint32_t machine;         /* number of the machine, from 0 */
    uint32_t maybe_same_boot; /* an input of the same machine that may or may not be from the same
                                 boot; PF_MERGE_NO_INPUT: none */
    uint32_t first_of_recording; /* index of the first input of the same recording */
    bool is_part;                /* other inputs hold other parts of the same recording */
    uint32_t clock_reason;       /* PERFILE_MERGE_CLOCK_... */
    uint64_t offset;             /* added to times, modulo 2^64 */
    uint64_t key_offset; /* added to sort keys: the same offset, in ticks if keys are ticks */
    uint32_t first_part; /* index of the input's first part in pf_merge.parts */

    /* Events and ids. */
    pf_merge_event *events;
    uint32_t n_events;
    pf_merge_plan *plans; /* one for each distinct layout */
    uint32_t n_plans;
    pf_index ids;           /* id of the input -> index in new_ids */
    pf_buffer new_ids;      /* array of pf_merge_id_pair; ids of events come first */
    size_t n_event_ids;     /* how many of new_ids belong to events */
    bool renumbers;         /* some id changes */
    bool rewrites_fields;   /* some field of a record body changes */
    bool plain;             /* samples are passed on byte for byte */
    bool fixed_fields_only; /* in samples only words at fixed offsets change */
    int id_slot;            /* slot of the id if at most the id changes in samples, else -1 */
    size_t min_body;        /* bytes of all fields at fixed offsets of a sample */
    pf_merge_cached_id id_cache[PF_MERGE_ID_CACHE]; /* recently used ids, direct-mapped */

    bool has_threads;           /* a THREAD_MAP of perf stat was read */
    bool drops_aux, drops_stat; /* after a conflict: records to drop */
    pf_pids moved_pids;         /* processes and threads that got new numbers */
    pf_merge_input_summary result;
} pf_merge_input;

typedef struct pf_merge {
    perfile_stream base;
    perfile_merge_options options;
    pf_merge_input *inputs;
    perfile_part *parts; /* parts of the output; NULL unless those of inputs have headers */
    uint32_t *cpus;      /* the CPUs of these parts */
    uint32_t n_parts;
    uint32_t n_inputs;
    pf_heap heap; /* inputs that have a next record */
    uint32_t n_boots;
    uint32_t clock_input;           /* the output uses the clock of this input */
    bool sample_id_all;             /* attr.sample_id_all in the output: set if any input has it */
    bool adds_ids;                  /* all events of the output get PERF_SAMPLE_IDENTIFIER */
    uint8_t rules[PERFILE_N_KINDS]; /* PF_MERGE_... for each kind of field */

    pf_index owners;  /* id -> index of the first input that has it; n_inputs: a new id made here */
    uint64_t next_id; /* candidate for the next new id */
    pf_buffer bytes;  /* rewritten records of the current run */
    const perfile_record *extra_of; /* record of the input that has the extra bytes of run[0] … */
    uint32_t extra_input;           /* … and its input */
    struct pf_repeated *repeated;   /* repeats.c */
    uint64_t sequence;              /* of the next record of the output */
    uint64_t ready_slots;      /* bit i: the constant members of a sample are set in base.run[i] */
    uint64_t since_round;      /* bytes of records since the last FINISHED_ROUND */
    pf_buffer pending_damage;  /* array of perfile_record of family DAMAGE, to be yielded first */
    pf_merge_input *exhausted; /* an input that has used up its run; it is refilled before anything
                                  else happens */
    uint64_t foreign_time_convs;
    bool timed_since_round;    /* a record since the last FINISHED_ROUND has a time */
    bool has_rounds;           /* the family of the records has FINISHED_ROUND */
    bool reported;             /* the notes due at the end were reported */
    pf_buffer thread_map;      /* body of the first THREAD_MAP of perf stat … */
    uint32_t thread_map_input; /* … and its input, or PF_MERGE_NO_INPUT */
    uint32_t aux_input;        /* the input that has AUX traces, or PF_MERGE_NO_INPUT */
    perfile_merge_summary result;
} pf_merge;

/* merge_begin.c: inputs */

/* Makes sure that in->stream has totals, so that everything about the input is known before its
 * first record.  A stream without totals gets a perfile_sort() on top, which holds all its records.
 */
perfile_status pf_merge_require_totals(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* Removes what pf_merge_require_totals() put on the caller's stream.  The caller owns its stream
 * again. */
void pf_merge_return_stream(pf_merge_input *in);
/* Reads an input up to its first record and collects its totals. */
perfile_status pf_merge_begin_input(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* Examines the first run again, now that offsets are known and records may be skipped. */
perfile_status pf_merge_begin_run(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* Moves in->next to the next record of the run that belongs in the output, and sets in->key.
 * Returns false if the run has no more. */
bool pf_merge_skip_to_next(pf_merge *x, pf_merge_input *in);
/* Fetches runs until one has a record for the output; sets in->ended if there is none. */
perfile_status pf_merge_next_run(pf_merge *x, pf_merge_input *in, perfile_error *err);

/* merge.c */

/* Adds an input that has a record to the heap. */
void pf_merge_push(pf_merge *x, const pf_merge_input *in);
/* Frees the merge, but not the streams of its inputs. */
void pf_merge_release(pf_merge *x);
extern const pf_stream_ops pf_merge_ops;

/* repeats.c: checks records that only one recording may supply (AUX traces, THREAD_MAP of perf
 * stat).  Fails on a conflict; with PERFILE_MERGE_DROP_CONFLICTING reports it once and sets *drop
 * instead. */
perfile_status pf_merge_check_exclusive(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                        bool *drop, perfile_error *err);

/* merge_begin.c: results */

/* Passes a note to the caller's options.note. */
void pf_merge_report(const pf_merge *x, const perfile_merge_note *note);
/* Handles a fact of input `input` (feature or record type `number`) that cannot be joined with
 * those of other inputs.  Returns PERFILE_E_USAGE with the formatted text.  With
 * PERFILE_MERGE_DROP_CONFLICTING it reports the text as a note of kind CONFLICT instead and returns
 * PERFILE_OK. */
perfile_status pf_merge_conflict(const pf_merge *x, uint32_t number, uint32_t input,
                                 perfile_error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* hosts.c: sets machine, boot, first_of_recording and is_part of each input. */
perfile_status pf_merge_hosts(pf_merge *x, perfile_error *err);
/* hosts.c: sets clock_input and the offset of each input.  PERFILE_E_USAGE if clocks cannot be
 * related; the message names the option that helps. */
perfile_status pf_merge_clocks(pf_merge *x, perfile_error *err);

/* events.c */

/* Makes the events of the output with their ids, and a plan for each layout of each input. */
perfile_status pf_merge_events(pf_merge *x, perfile_error *err);
/* Sets *out to the number of the input's `id` in the output.  An id that belongs to no event gets
 * its number when it is first seen. */
perfile_status pf_merge_new_id(pf_merge *x, pf_merge_input *in, uint64_t id, uint64_t *out,
                               perfile_error *err);
/* The same for ids of events only.  Returns false and sets *out to `id` if it belongs to no event.
 */
bool pf_merge_find_id(const pf_merge_input *in, uint64_t id, uint64_t *out);
/* The same for every id that has a number already. */
bool pf_merge_find_stream(const pf_merge_input *in, uint64_t id, uint64_t *out);

/* features.c: adds features and event types to the session of the output.  Needs its events. */
perfile_status pf_merge_features(pf_merge *x, perfile_error *err);

/* record.c */

/* Sets *out to the output record for `r`.  Its bytes are appended to x->bytes, which must have room
 * for pf_merge_record_room(r) more bytes.  An unchanged record keeps the bytes of `r` instead.
 * Sets *drop if the record could not be read in the output: it is left out and counted in
 * x->result. */
perfile_status pf_merge_rewrite_record(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                       perfile_record *out, bool *drop, perfile_error *err);
size_t pf_merge_record_room(const perfile_record *r);

/* repeats.c: sets *repeated if `r`, side-band of one part of a recording, was already written for
 * another part.  `key` is its sort key; `timeless`: the record has no time. */
perfile_status pf_merge_is_repeated(pf_merge *x, const pf_merge_input *in, const perfile_record *r,
                                    uint64_t key, bool timeless, bool *repeated,
                                    perfile_error *err);
void pf_merge_forget_repeats(pf_merge *x);

/* Returns true if a FINISHED_ROUND is due before the next record.  `bytes` and `timed` are about
 * records that are not yet counted in since_round and timed_since_round.  The position of rounds
 * depends only on the bytes of the records, so that both ways of writing records give the same
 * output. */
static inline bool pf_merge_round_is_due(const pf_merge *x, uint64_t bytes, bool timed)
{
    return x->has_rounds && (x->timed_since_round || timed) &&
           x->since_round + bytes >= PF_ROUND_BYTES;
}

/* Converts a sort key to the clock of the output.  0 and PERFILE_NO_TIME mean "no time" and do not
 * change. */
static inline uint64_t pf_merge_key(const pf_merge_input *in, uint64_t key)
{
    return key && key != PERFILE_NO_TIME ? key + in->key_offset : key;
}

/* Returns true for a sample that is not in an envelope: it never repeats and is never skipped. */
static inline bool pf_merge_is_plain_sample(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_SAMPLE &&
           !(r->flags & (PERFILE_REC_INNER | PERFILE_REC_ENVELOPE));
}

/* Returns true if PERFILE_MERGE_MAP_PIDS gives this process or thread another number.  It does not
 * for the first boot, or for 0, -1 and other numbers that Linux does not assign. */
static inline bool pf_merge_pid_moves(const pf_merge_input *in, uint32_t pid)
{
    return in->host && pid && pid < PERFILE_MERGE_PIDS;
}

/* The attr of an event in the output of a merge. */

/* What the attrs of all inputs have in common in the output. */
typedef struct pf_merge_attrs {
    const pf_merge *x;
    /* size to which attrs are cut (see cut_trailing_zeros()); SIZE_MAX: not cut */
    size_t size;
    bool swapped;
    bool use_clockid; /* attr.use_clockid and attr.clockid of the output's clock */
    int32_t clockid;
} pf_merge_attrs;

/* Call it after pf_merge_clocks().  It does not need x->adds_ids and x->sample_id_all; only
 * pf_merge_attr() reads them. */
void pf_merge_attrs_begin(pf_merge_attrs *m, const pf_merge *x);

/* Clears `out`, then appends the attr that event `e` of `in` has in the output. */
perfile_status pf_merge_attr(const pf_merge_attrs *m, const pf_merge_input *in,
                             const perfile_event *e, pf_buffer *out, perfile_error *err);

/* Features of a merged capture: helpers that features.c shares with values.c, lists.c and
 * tracing.c, and the set of entries (repeats.c) with which they store each thing once. */

/* An entry of a set.  Its key is number and name, and also value if the set is `by_value`.  The
 * bytes are borrowed and must outlive the set. */
typedef struct pf_merge_entry {
    uint64_t number;
    perfile_bytes name, value;
    uint32_t input; /* index of the first input that has it */
    uint32_t link;  /* free for the caller */
    uint32_t next;  /* next entry with the same hash: position + 1, 0 at the end */
    bool refused;   /* free for the caller */
} pf_merge_entry;

/* A set of entries in the order in which they were added.  All zeros is empty. */
typedef struct pf_merge_entries {
    pf_index heads;  /* hash -> position of the first entry of its chain */
    pf_buffer items; /* pf_merge_entry */
    bool by_value;
} pf_merge_entries;

/* Returns the entry with the key of *want, or NULL.  The pointer is valid until the next entry is
 * added; so is that of pf_merge_entries_add(). */
pf_merge_entry *pf_merge_entries_find(const pf_merge_entries *e, const pf_merge_entry *want);
/* Returns the entry with the key of *want; adds a copy of *want if there is none.  Returns NULL
 * when out of memory. */
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
/* pf_fact_first() returns the feature of the first input that has it, or NULL.
 * pf_fact_first_input() returns the index of that input, or n_inputs. pf_fact_differs() returns
 * true if input `k` has the feature with other bytes than `first`. */
const perfile_feature *pf_fact_first(const pf_merge *x, uint32_t number);
uint32_t pf_fact_first_input(const pf_merge *x, uint32_t number);
bool pf_fact_differs(const pf_merge *x, uint32_t k, uint32_t number, const perfile_feature *first);
/* Returns true if the feature has the same bytes in all inputs that have it. */
bool pf_fact_all_same(const pf_merge *x, uint32_t number);

/* Adds a feature to the output.  `stable`: the bytes belong to an input and outlive the session of
 * the output; otherwise they are copied. */
perfile_status pf_fact_add(pf_merge *x, uint32_t number, perfile_bytes payload, bool stable,
                           perfile_error *err);
/* Adds a feature that was made from several inputs, and reports a note of kind JOINED. */
perfile_status pf_fact_join(pf_merge *x, uint32_t number, const pf_buffer *made,
                            perfile_error *err);

/* Reports a note with the text "feature NAME: " followed by the formatted text. */
void pf_fact_report(const pf_merge *x, uint32_t kind, uint32_t number, uint32_t input,
                    uint64_t count, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Reports that the feature of input `k` is damaged and left out. */
void pf_fact_unreadable(const pf_merge *x, uint32_t number, uint32_t k);
/* Reports that `count` entries of input `k` were left out, unless `count` is 0.  `why` follows "of
 * INPUT" in the text. */
void pf_fact_left_out(const pf_merge *x, uint32_t number, uint32_t k, uint64_t count,
                      const char *why);

/* Options for encoding a feature in the byte order of the output. */
static inline perfile_encode_options pf_fact_encode_options(const pf_merge *x)
{
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .byte_order = pf_session_byte_order(x->base.session)};
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

/* The rules of format/merging.def, one function each.  Each adds feature `number` to the output if
 * possible, and reports entries or features that it leaves out or changes.
 *
 * features.c: the feature is added if all inputs that have it agree. */
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
/* values.c: event types, and EVENT_DESC.  EVENT_DESC is added if an input has it, or if names of
 * events would be lost without it.  It comes after all other features, because names are derived
 * from them. */
perfile_status pf_join_event_types(pf_merge *x, perfile_error *err);
perfile_status pf_join_event_desc(pf_merge *x, perfile_error *err);

#endif
