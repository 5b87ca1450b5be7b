/* Converts perfmon buffers to records of perf.data.  The capture is read twice: the survey finds
 * the facts that are needed before the first record (events, address spaces, times), then the
 * records are made.
 *
 * Each TIME with an event, TICK, COUNT, VALUE and PC becomes a SAMPLE.  A LAST_BRANCH is added to a
 * sample of the same interrupt, or becomes a sample.  Process numbers represent address spaces. */
#ifndef PF_PERFMON_TRANSLATE_H
#define PF_PERFMON_TRANSLATE_H

#include "base/arena.h"
#include "core/session.h"
#include "perfile/convert.h"
#include "perfmon/events.h"

/* An event of the capture, which becomes an event of perf. */
typedef struct pf_perfmon_event {
    uint16_t id;
    bool has_pc, has_branches, has_value;
    bool has_rate;
    uint64_t rate;
} pf_perfmon_event;

/* Facts about a buffer. */
typedef struct pf_perfmon_buffer {
    uint32_t cpu;
    uint16_t first_event; /* event of the first record that has one; 0: none has */
    bool full;
    bool has_time;
    int64_t first_time, last_time; /* ticks, in the order of the records */
} pf_perfmon_buffer;

enum { PF_PERFMON_IDS = 1 << 16, PF_PERFMON_MOST_EVENTS = UINT16_MAX };

/* Counts of things that are not in the output. */
typedef struct pf_perfmon_losses {
    uint64_t reserved_flags; /* records with reserved flags */
    uint64_t info;           /* branches with unknown bits */
    uint64_t empty_times;    /* TIME records without any sample */
    uint64_t kinds;          /* samples made from TICK, and from TIME with an event */
    uint64_t tail;           /* bytes after the records */
    uint64_t aspaces;        /* LAST_BRANCH records with another address space than their sample */
    uint64_t negative;       /* TIME records with a time below 0 */
    uint64_t untimed;        /* records before the first TIME */
    uint64_t timeless;       /* buffers without any TIME */
} pf_perfmon_losses;

typedef struct pf_perfmon_survey {
    uint16_t arch;
    uint32_t shift;
    uint64_t mult;
    unsigned layout;
    unsigned evidence; /* bits 1 << PF_PERFMON_LAYOUT_… */
    bool stat;         /* the output has the form of `perf stat record`: only counts */
    bool mispredicts;  /* some branch has the bit: the hardware sets it */
    bool any_branches; /* some event has LAST_BRANCH records */
    bool goes_back;    /* some time is below the previous one */
    pf_perfmon_buffer *buffers;
    uint32_t n_buffers;
    uint16_t *position; /* of each id: its index in `events` plus 1; 0: not an event */
    pf_perfmon_event *events;
    uint32_t n_events, events_cap;
    pf_perfmon_event none; /* event 0, until it is added after the others */
    bool has_none;
    pf_arena arena;                     /* counts the memory of `aspaces` */
    pf_ids aspaces;                     /* keys of address spaces, and their numbers */
    pf_buffer keys;                     /* uint64_t: the keys in the order of their numbers */
    uint64_t first_sample, last_sample; /* ns; first > last: there are none */
    pf_perfmon_losses losses;
} pf_perfmon_survey;

/* Tells the caller what the output does not have, "12 bytes behind …", and counts it as one loss.
 * Does nothing if `count` is 0. */
void pf_perfmon_say_loss(const pf_translation *t, uint64_t count, const char *noun,
                         const char *rest);

/* Fails because the capture has other records or events than the survey found. */
perfile_status pf_perfmon_fail_changed(perfile_error *err);

/* Reads the capture to its end.  `t` comes from pf_driver.translate. */
perfile_status pf_perfmon_survey_run(pf_perfmon_survey *v, const pf_translation *t,
                                     perfile_error *err);
void pf_perfmon_survey_free(pf_perfmon_survey *v);

/* Returns the index in v->events of an event id, UINT32_MAX if it has none. */
static inline uint32_t pf_perfmon_event_at(const pf_perfmon_survey *v, uint16_t id)
{
    return (uint32_t)v->position[id] - 1;
}

/* Returns the key of an address space.  On x86-64, these are the address bits of the register. */
static inline uint64_t pf_perfmon_aspace_key(const pf_perfmon_survey *v, uint64_t aspace)
{
    return v->arch == PF_PERFMON_X86_64 ? aspace & ~(UINT64_C(0xfff) | UINT64_C(1) << 63) : aspace;
}

/* Returns the sample_type of an event. */
uint64_t pf_perfmon_sample_type(const pf_perfmon_event *e);

/* Returns the id of an event on a CPU, as used in the records of perf. */
static inline uint64_t pf_perfmon_id(const pf_perfmon_survey *v, uint32_t event, uint32_t buffer)
{
    return 1 + (uint64_t)event * v->n_buffers + buffer;
}

/* Makes the records that come before all others: the clock, ids, CPUs, names of address spaces.
 * For a capture that only counts: settings, threads and CPUs. */
perfile_status pf_perfmon_front(const pf_perfmon_survey *v, pf_buffer *out, perfile_error *err);

/* Adds events and features to a session. */
perfile_status pf_perfmon_session(const pf_perfmon_survey *v, perfile_session *s,
                                  perfile_error *err);

/* Returns true if the records of the second pass are in order of time. */
static inline bool pf_perfmon_is_sorted(const pf_perfmon_survey *v)
{
    return v->n_buffers == 1 && !v->goes_back;
}

/* The second pass: makes records in the order of the buffers, and a FINISHED_ROUND if they are
 * sorted.  It owns the survey.  At its end it reports the losses that only it can count. */
typedef struct pf_perfmon_making pf_perfmon_making;
perfile_status pf_perfmon_making_new(pf_perfmon_survey *v, const pf_translation *t,
                                     pf_perfmon_making **making, perfile_error *err);
void pf_perfmon_making_free(void *making);
/* See perfile_stream_callbacks.next. */
perfile_status pf_perfmon_making_next(void *making, perfile_bytes *span, perfile_error *err);

/* The second pass if survey.stat is set: makes a STAT for each event and buffer, then STAT_ROUND.
 */
typedef struct pf_perfmon_counting pf_perfmon_counting;
perfile_status pf_perfmon_counting_new(pf_perfmon_survey *v, const pf_translation *t,
                                       pf_perfmon_counting **counting, perfile_error *err);
void pf_perfmon_counting_free(void *counting);
perfile_status pf_perfmon_counting_next(void *counting, perfile_bytes *span, perfile_error *err);

#endif
