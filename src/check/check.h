/* The inside of the checking stage: what it remembers, in bounded tables, and how it tells. */
#ifndef PF_CHECK_CHECK_H
#define PF_CHECK_CHECK_H

#include "core/sample_shape.h"
#include "core/stream.h"
#include "perfile/check.h"
#include "perfile/field.h"

enum {
    PF_CHECK_TYPES = 128,    /* record types that are counted one by one */
    PF_CHECK_CPUS = 4096,    /* processors whose time is followed */
    PF_CHECK_BUFFERS = 1024, /* AUX buffers whose offset is followed */
    PF_CHECK_COOKIES = 1 << 13,
    PF_CHECK_PLACES =
        1 << 15, /* processes, and pages of their samples, that are looked up at the end */
    PF_CHECK_SEEN = 1 << 10,     /* of the pages the last, in a small table … */
    PF_CHECK_SEEN_PIDS = 1 << 8, /* … and of the processes */
    PF_CHECK_WORLD = 16 << 20,   /* bytes of records about processes and mappings that are kept */
    PF_CHECK_IDS = 1 << 18,
    PF_CHECK_INDEX = 1 << 18
};

/* At which severity of its row a finding is: the row's own, or the lesser. */
enum { PF_FULL = 0, PF_LESSER = 1 };

/* What is told of a record that is looked at often, worked out once per event. */
typedef struct pf_check_plan {
    uint64_t tracepoint;   /* the number its RAW data begin with, UINT64_MAX for others */
    bool may_lack_period;  /* a member of a group that does not sample itself */
    int8_t id_at;          /* the word of its samples that is their id, or -1 */
    pf_sample_shape shape; /* of its samples */
} pf_check_plan;

typedef struct pf_check_tally {
    uint64_t count;
    uint64_t first, last;
    uint32_t first_part, last_part;
} pf_check_tally;

/* A span of AUX data that ends here, by the processor (or thread) whose buffer it is. */
typedef struct pf_check_buffer {
    uint64_t key; /* and 1, 0: free */
    uint64_t end;
} pf_check_buffer;

typedef struct pf_check_cookie {
    uint64_t cookie;
    uint32_t tid;
    uint8_t state; /* 0: free, 1: announced, 2: delivered */
} pf_check_cookie;

/* A process, or a page of its code, of a sample: what is to be found in the world at the end. */
typedef struct pf_check_seen {
    uint64_t address; /* page, or UINT64_MAX: the process itself */
    uint64_t time, offset, sequence;
    uint32_t pid, tid, part;
} pf_check_seen;

typedef struct pf_check {
    perfile_stream base;
    /* Of the check of a block in another thread: what it knows and keeps besides, see ahead.h.
     * NULL: this is the stage. */
    struct pf_check_block *block;
    struct pf_check_ahead *ahead; /* of the stage: how such blocks are made; NULL: not yet */
    perfile_check_options options;
    bool off[PERFILE_RULE_LIMIT];
    uint8_t flags; /* of the next finding */
    bool begun, done;
    bool damaged; /* the stream met damage: what it lacks is no fault of its own */
    pf_check_tally tally[PERFILE_RULE_LIMIT][2]; /* of what is told */
    uint64_t met[PERFILE_RULE_LIMIT][2];         /* of all, for the verdicts */

    uint64_t generation; /* of the session when it was looked at */
    const perfile_session *session;
    uint32_t n_events;       /* that were looked at */
    uint32_t first_recorded; /* the first event that has records, see attr.c */
    bool pipe, has_ids, has_tracepoints, backward;
    uint32_t n_cpus;
    pf_check_plan *plans;
    uint32_t plans_cap;
    uint64_t span_first, span_last; /* of feature SAMPLE_TIME; 0, all ones without */

    uint64_t last_id; /* that was found to be known */
    uint32_t last_owner;
    bool has_last;

    uint64_t by_type[PF_CHECK_TYPES + 1];
    uint32_t last_type;

    /* Time. */
    uint64_t *cpu_time; /* [PF_CHECK_CPUS] */
    uint32_t part;
    uint64_t max_time;               /* so far, of this part */
    uint64_t round_time, floor_time; /* that of the last round, and of the one before */
    uint64_t rounds, after_round;
    uint64_t after_round_offset;
    uint64_t unsorted;
    uint64_t first_sample, last_sample;
    uint64_t timed_records;

    /* Losses. */
    uint64_t lost_records, lost_samples, throttles;
    uint64_t map_build_ids; /* MMAP2 records that have one */

    /* What versions of perf mind although no rule does: see traits.c. */
    uint64_t odd_sizes;      /* records whose size is no multiple of 8 and has to be one */
    uint64_t too_short;      /* records that are shorter than newer versions have them */
    uint64_t unswapped_ids;  /* ids in records that older versions do not swap */
    uint64_t raw_samples;    /* samples with raw data */
    uint64_t swapped_beyond; /* records that are shorter than what some versions swap of them */
    uint64_t first_id_at;    /* where the first id that a record has stands in HEADER_ATTR, from the
                                attr;   0: none among the first of their events */
    uint64_t aux_payloads;   /* AUXTRACE records with bytes behind them */
    uint64_t marker;         /* the number that ends the features in the stream; 0 without */
    uint64_t feature_most;   /* the greatest number of these features, and of their end */

    /* Features in the stream. */
    bool has_feature_records, has_marker, has_auxtrace_info;
    uint64_t last_feature_offset;
    uint64_t indexed_ids;
    bool unknown_indexed;
    bool compressed_seen; /* feature COMPRESSED was looked at */

    pf_check_buffer *buffers;
    pf_check_cookie *cookies;
    uint32_t n_cookies;
    uint64_t *index; /* of feature AUXTRACE, sorted, the highest bit set when found */
    uint32_t n_index;
    bool has_index, index_whole;

    uint64_t seen_pages[PF_CHECK_SEEN]; /* see world.h */
    uint64_t seen_pids[PF_CHECK_SEEN_PIDS];
    uint32_t last_pid;
    pf_check_seen *seen;
    uint32_t n_seen, most_seen;
    struct perfile_model *model;
    uint64_t world_bytes; /* above PF_CHECK_WORLD: the model was given up */
} pf_check;

/* Whether a finding would be told or counted. */
static inline bool pf_check_on(const pf_check *c, unsigned rule)
{
    return !c->off[rule];
}

/* Tells that `rule` does not hold: of a record, of an event, of a feature, of a place in the file.
 * `level`: PF_FULL or PF_LESSER. */
void pf_find(pf_check *c, unsigned rule, unsigned level, const perfile_record *r, const char *field,
             const char *format, ...) __attribute__((format(printf, 6, 7)));
void pf_find_event(pf_check *c, unsigned rule, unsigned level, const perfile_event *e,
                   const char *field, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void pf_find_feature(pf_check *c, unsigned rule, unsigned level, const perfile_feature *f,
                     const char *field, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void pf_find_place(pf_check *c, unsigned rule, unsigned level, uint64_t offset, const char *field,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));

/* "MMAP2", or "type 99" in `buf`. */
const char *pf_check_type_name(uint32_t type, char buf[24]);

/* container.c */
void pf_check_container(pf_check *c);
/* attr.c: events that are new; what can be said at the end only. */
perfile_status pf_check_attrs(pf_check *c, perfile_error *err);
void pf_check_attrs_end(pf_check *c);
/* sample.c */
void pf_check_sample(pf_check *c, const perfile_record *r);
/* Whether the sample can be read and its raw data are those of its event: then it breaks no rule
 * whose severity is error.  Else it is to be looked at. */
bool pf_check_raw_fits(const pf_check *c, const perfile_record *r);
/* A record has this id, which is one of `e`: notes where it stands, see traits.c. */
void pf_check_note_id(pf_check *c, const perfile_event *e, uint64_t id);
/* record.c: every record but samples, and what is common to all. */
void pf_check_record(pf_check *c, const perfile_record *r);
/* One of another family than perf's own: what its row says. */
void pf_check_other(pf_check *c, const perfile_record *r);
void pf_check_undecodable(pf_check *c, const perfile_record *r, unsigned damage);
void pf_check_header(pf_check *c, const perfile_record *r);
/* damage.c */
void pf_check_damage(pf_check *c, const perfile_record *r);
/* kernel.c, user.c: what records of certain types say; `v` is the decoded struct. */
void pf_check_kernel(pf_check *c, const perfile_record *r, const void *v, size_t left);
void pf_check_user(pf_check *c, const perfile_record *r, const void *v, size_t left);
void pf_check_user_end(pf_check *c);
/* times.c */
void pf_check_round(pf_check *c);
void pf_check_times_end(pf_check *c);
/* feature.c: all features, at the end. */
void pf_check_features(pf_check *c);
/* auxtrace.c */
perfile_status pf_check_index_begin(pf_check *c, perfile_error *err);
void pf_check_auxtrace(pf_check *c, const perfile_record *r);
void pf_check_aux(pf_check *c, const perfile_record *r, const perfile_aux *v);
void pf_check_index_end(pf_check *c);
/* ahead.c: samples and rounds that come next and that other threads have looked at are passed over;
 * before what the threads go by changes, and when it has; at the end. */
void pf_check_pass(perfile_stream *s, perfile_passed *passed);
void pf_check_ahead_settle(pf_check *c);
void pf_check_ahead_refresh(pf_check *c);
void pf_check_ahead_end(pf_check *c);
/* world.c */
perfile_status pf_check_learn(pf_check *c, const perfile_record *r, perfile_error *err);
void pf_check_announce(pf_check *c, uint32_t tid, uint64_t cookie);
void pf_check_deliver(pf_check *c, const perfile_record *r, uint32_t tid, uint64_t cookie);
void pf_check_world_end(pf_check *c);

#endif
