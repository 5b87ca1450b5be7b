/* The inside of perfile_merge(): what its files share. */
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

enum { PF_MERGE_KNOWN = 16 };

/* What is done to a field of a kind: format/merging.def. */
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

/* Words of fixed place that change, of a sample or a trailer in its new layout. */
typedef struct pf_merge_patch {
    int8_t slot; /* as in perfile_layout */
    uint8_t rule;
} pf_merge_patch;

/* Records of one layout. */
typedef struct pf_merge_plan {
    pf_relayout relayout;
    bool add_trailer; /* the input has none, the output has */
    bool walk_sample; /* fields behind those of fixed place change, too */
    uint8_t n_sample, n_trailer;
    pf_merge_patch sample[8], trailer[8];
} pf_merge_plan;

/* An id and its number in the output; 0: none. */
typedef struct pf_merge_known {
    uint64_t id, new_id;
} pf_merge_known;

/* An event of an input. */
typedef struct pf_merge_event {
    uint32_t out;      /* its position in the output */
    uint32_t plan;     /* position in the input's plans */
    uint64_t first_id; /* in the output: for records that say none */
} pf_merge_event;

typedef struct pf_merge_input {
    perfile_stream *stream;         /* has totals: of perfile_sort(), which may stand on … */
    perfile_stream *given;          /* … what the caller gave */
    const perfile_session *session; /* all facts are known before the first record goes out */
    const char *name;
    uint32_t at; /* position among the inputs */
    bool has_offset;
    int64_t told; /* with has_offset */

    /* Its run. */
    const perfile_record *next, *end;
    const uint64_t *next_key; /* in its own clock */
    uint64_t key;             /* of *next, in the clock of the output */
    bool in_pieces;           /* the last that went out was one: nothing comes between */
    uint64_t last_piece;      /* sequence in the output */
    bool ended;

    /* Instead of a run: samples as bytes.  span.n 0: none are at hand. */
    pf_sample_span span;       /* those that are left */
    const uint8_t *span_begin; /* where it began */
    uint64_t span_taken;       /* samples that were taken of it */
    size_t span_time;          /* where in a sample its time is, … */
    size_t span_least;         /* … and how many bytes it has at least */
    bool records_only;         /* its samples are to be read as records */

    /* Facts. */
    uint64_t first_sample, last_sample, n_samples, first_bytes, bytes;
    uint64_t kernel;             /* where the kernel is mapped, 0: not known */
    uint32_t host;               /* boot of a machine */
    uint32_t machine;            /* from 0: inputs of one machine have the same */
    uint32_t unproven;           /* position of an input of the same machine, whose boot may be the
                                  * same, PF_MERGE_NO_INPUT: none */
    uint32_t first_of_recording; /* position of the first input of it */
    bool is_part;                /* of a recording that another input has another part of */
    uint32_t why;                /* PERFILE_CLOCK_… */
    uint64_t offset;             /* added to times, modulo 2^64 */

    /* Events and ids. */
    pf_merge_event *events;
    uint32_t n_events;
    pf_merge_plan *plans;
    uint32_t n_plans;
    pf_index ids;                         /* id of the input -> position in new_ids */
    pf_buffer new_ids;                    /* perfile_merge_id_pair, those of events first */
    size_t n_known;                       /* of them: of events */
    bool renumbers;                       /* some id changes */
    bool walks;                           /* some field of a body changes */
    bool plain;                           /* its samples go on as they are */
    bool quick;                           /* in its samples only words of fixed place change */
    int id_slot;                          /* … the id there at most, else -1 */
    size_t least;                         /* bytes of their bodies */
    pf_merge_known known[PF_MERGE_KNOWN]; /* those that were asked for lately */

    bool has_threads;           /* a THREAD_MAP came */
    bool drops_aux, drops_stat; /* PERFILE_MERGE_DROP_CONFLICTING */
    pf_pids moved;              /* processes and threads that got another number */
    perfile_merge_input_summary result;
} pf_merge_input;

/* The head of an input among those of the others: by key, then by order. */
typedef struct pf_merge_head {
    uint64_t key;
    int32_t order; /* the input's position; less where nothing may come before it */
    uint32_t input;
} pf_merge_head;

typedef struct pf_merge {
    perfile_stream base;
    perfile_merge_options options;
    pf_merge_input *inputs;
    uint32_t n_inputs;
    pf_merge_head *heap;
    uint32_t n_heap;
    uint32_t n_hosts;               /* boots */
    uint32_t clock_of;              /* the input whose clock the output has */
    bool sample_id_all;             /* of the output */
    bool adds_ids;                  /* events get IDENTIFIER */
    uint8_t rules[PERFILE_N_KINDS]; /* of kinds */

    pf_index owners;                /* id -> position of the first input that has it */
    uint64_t next_id;               /* that nobody has */
    pf_buffer bytes;                /* of the run that is handed out */
    const perfile_record *extra_of; /* of the stream of … */
    uint32_t extra_input;
    struct pf_repeated *repeated;
    uint64_t sequence;
    uint64_t usual;       /* slots of the run that are ready for usual samples, by bit */
    uint64_t since_round; /* bytes of records … */
    pf_sample_span given; /* samples that were merged as bytes, and not taken yet: of … */
    pf_buffer merged;     /* … this */
    pf_buffer damages;    /* perfile_record: to be told first */
    pf_merge_input *dry;  /* its run is handed out */
    uint64_t foreign_counters;
    bool timed;          /* … of which one had a time */
    bool rounds;         /* the records are of a family that has them */
    bool told;           /* what is told at the end */
    pf_buffer threads;   /* body of the first THREAD_MAP of a recording of perf stat … */
    uint32_t threads_of; /* … and its input */
    uint32_t aux_of;     /* the input that has AUX traces */
    perfile_merge_summary result;
} pf_merge;

/* merge_input.c: sees to it that all of an input is known before its first record. */
perfile_status pf_merge_read_whole(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* The caller's stream is his again. */
void pf_merge_give_back(pf_merge_input *in);
/* Reads an input up to its first record, by which all of it was read. */
perfile_status pf_merge_begin_input(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* Goes back over the first run, once offsets are known. */
perfile_status pf_merge_begin_run(pf_merge *x, pf_merge_input *in, perfile_error *err);
/* To the next record of the run that counts; false when there is none. */
bool pf_merge_settle(pf_merge *x, pf_merge_input *in);
/* Reads on to the next run that has one; without one the input has ended. */
perfile_status pf_merge_read_on(pf_merge *x, pf_merge_input *in, perfile_error *err);

/* merge.c: an input that has a record. */
void pf_merge_push(pf_merge *x, const pf_merge_input *in);
void pf_merge_release(pf_merge *x);
extern const pf_stream_ops pf_merge_ops;

/* merge_meet.c: what is true of one input only; *drop: it was told that this is left out. */
perfile_status pf_merge_check_exclusive(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                        bool *drop, perfile_error *err);

/* merge_result.c: options.note. */
void pf_merge_report(const pf_merge *x, const perfile_merge_note *note);
/* A fact that nobody can join: fails with the sentence, or with PERFILE_MERGE_DROP_CONFLICTING
 * tells it as a note of kind CONFLICT and returns PERFILE_OK. */
perfile_status pf_merge_conflict(const pf_merge *x, uint32_t number, uint32_t input,
                                 perfile_error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* merge_hosts.c: who was recorded where, and which inputs are of one recording. */
perfile_status pf_merge_hosts(pf_merge *x, perfile_error *err);
/* merge_clocks.c: offsets, or PERFILE_E_USAGE with a sentence that says what to pass. */
perfile_status pf_merge_clocks(pf_merge *x, perfile_error *err);
/* merge_events.c: events of the output with their ids, plans for the records of each input. */
perfile_status pf_merge_events(pf_merge *x, perfile_error *err);
/* The number that an id of the input has in the output; one that no event has gets its own. */
perfile_status pf_merge_new_id(pf_merge *x, pf_merge_input *in, uint64_t id, uint64_t *out,
                               perfile_error *err);
/* The same of ids of events; false: this one is of none. */
bool pf_merge_find_id(const pf_merge_input *in, uint64_t id, uint64_t *out);
/* The same of all ids that have a number already. */
bool pf_merge_find_stream(const pf_merge_input *in, uint64_t id, uint64_t *out);
/* merge_features.c: features and event types of the output, into its session.  Events are there. */
perfile_status pf_merge_features(pf_merge *x, perfile_error *err);
/* merge_record.c: `r` as a record of the output, in x->bytes unless it stays as it is. */
perfile_status pf_merge_record(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                               perfile_record *out, bool *drop, perfile_error *err);
size_t pf_merge_room(const perfile_record *r);
/* merge_span.c: usual samples as bytes; see pf_stream_ops. */
pf_sample_span pf_merge_span(perfile_stream *s, uint64_t most);
void pf_merge_skip(perfile_stream *s, uint64_t records, uint64_t bytes);
/* Merges samples of spans; false when something else is next. */
bool pf_merge_make_span(pf_merge *x);
/* merge_few.c: those of a few inputs, up to one that needs more of a look, or to `most` bytes and
 * one sample more; returns how many bytes. */
size_t pf_merge_few(pf_merge *x, uint8_t *to, size_t most);
/* Makes a run of what was merged and not taken. */
void pf_merge_give_span(pf_merge *x);
/* What is left of the span of an input is to be read as records. */
void pf_merge_leave_span(pf_merge_input *in);
/* merge_sample.c: usual samples into the run, up to the first record that needs more. */
void pf_merge_give_usual(pf_merge *x);
/* merge_repeats.c: whether `r`, state of a part, was handed on for another part already. */
perfile_status pf_merge_is_repeated(pf_merge *x, const pf_merge_input *in, const perfile_record *r,
                                    uint64_t key, bool timeless, bool *repeated,
                                    perfile_error *err);
void pf_merge_forget_repeats(pf_merge *x);

/* Where the next round stands depends on nothing but the records: behind the one with which there
 * are so many bytes since the last.  `bytes` and `timed`: of records that were not counted yet. */
static inline bool pf_merge_round_is_due(const pf_merge *x, uint64_t bytes, bool timed)
{
    return x->rounds && (x->timed || timed) && x->since_round + bytes >= PF_ROUND_BYTES;
}

/* In the clock of the output. */
static inline uint64_t pf_merge_key(const pf_merge_input *in, uint64_t key)
{
    return key && key != PERFILE_NO_TIME ? key + in->offset : key;
}

/* A sample that stands alone: always handed on. */
static inline bool pf_merge_is_usual(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_SAMPLE &&
           !(r->flags & (PERFILE_REC_INNER | PERFILE_REC_ENVELOPE));
}

/* A number of a process or thread in the output. */
static inline bool pf_merge_moves(const pf_merge_input *in, uint32_t pid)
{
    return in->host && pid && pid < PERFILE_MERGE_PIDS;
}

#endif
