/* The positions of fields that are at the same position in all samples or trailers of an event.
 * They are computed once per event.  Only the 64-bit words at the beginning of a sample, and all
 * words of a trailer, qualify. */
#ifndef PF_CORE_LAYOUT_H
#define PF_CORE_LAYOUT_H

#include "base/byte_order.h"
#include "core/state.h"
#include "perfile/event.h"
#include "schema/rows.h"

#include <stdint.h>

/* Markers in callchains.  Entries at or above PF_CONTEXT_LEAST are not addresses: they give the
 * kind of code that the following addresses belong to.  PERF_CONTEXT_… of
 * uapi/linux/perf_event.h. */

#define PF_CONTEXT_HYPERVISOR ((uint64_t)-32)
#define PF_CONTEXT_KERNEL     ((uint64_t)-128)
#define PF_CONTEXT_USER       ((uint64_t)-512)
/* A cookie follows.  It takes the place of user addresses that come in a CALLCHAIN_DEFERRED
 * record. */
#define PF_CONTEXT_DEFERRED     ((uint64_t)-640)
#define PF_CONTEXT_GUEST        ((uint64_t)-2048)
#define PF_CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define PF_CONTEXT_GUEST_USER   ((uint64_t)-2560)
#define PF_CONTEXT_LEAST        ((uint64_t)-4095)

/* Indices into sample_slot and trailer_slot: bit numbers of sample_type. */
enum {
    PF_SLOT_IP = __builtin_ctz(PERFILE_SAMPLE_IP),
    PF_SLOT_TID = __builtin_ctz(PERFILE_SAMPLE_TID),
    PF_SLOT_TIME = __builtin_ctz(PERFILE_SAMPLE_TIME),
    PF_SLOT_ADDR = __builtin_ctz(PERFILE_SAMPLE_ADDR),
    PF_SLOT_ID = __builtin_ctz(PERFILE_SAMPLE_ID),
    PF_SLOT_CPU = __builtin_ctz(PERFILE_SAMPLE_CPU),
    PF_SLOT_PERIOD = __builtin_ctz(PERFILE_SAMPLE_PERIOD),
    PF_SLOT_STREAM_ID = __builtin_ctz(PERFILE_SAMPLE_STREAM_ID),
    PF_SLOT_IDENTIFIER = __builtin_ctz(PERFILE_SAMPLE_IDENTIFIER)
};

/* Fills *layout from an attr. */
void pf_layout_make(perfile_layout *layout, const perfile_attr *attr);

/* Returns true if records of both layouts are decoded in the same way. */
bool pf_layout_equal(const perfile_layout *a, const perfile_layout *b);

/* The position of the id: in a sample the index of the word in the body, in a trailer the index
 * counted from the end; -1 if there is none.  IDENTIFIER wins over ID, because its position does
 * not depend on other fields. */
static inline int pf_layout_sample_id(const perfile_layout *l)
{
    return l->sample_slot[PF_SLOT_IDENTIFIER] >= 0 ? l->sample_slot[PF_SLOT_IDENTIFIER]
                                                   : l->sample_slot[PF_SLOT_ID];
}

static inline int pf_layout_trailer_id(const perfile_layout *l)
{
    return l->trailer_slot[PF_SLOT_IDENTIFIER] >= 0 ? l->trailer_slot[PF_SLOT_IDENTIFIER]
                                                    : l->trailer_slot[PF_SLOT_ID];
}

/* Attribution: finds the event that a record belongs to, and the layout that decodes the record.
 *
 * If there is one event, every kernel record belongs to it.  If there are several, an id in the
 * record decides; its position is taken from the first event, because perf requires the same
 * position for all.  If all events have equal layouts (session->shared), a record can be decoded
 * without knowing its event: pf_layout_of() is that fast path. */

typedef struct pf_attribution {
    const perfile_event *event;   /* NULL if the record belongs to no event */
    const perfile_layout *layout; /* NULL if the record has none; may be set without `event` */
    uint32_t damage; /* PERFILE_DAMAGE_…: why the record cannot be decoded; 0 if it can */
} pf_attribution;

static inline pf_attribution pf_attribution_event(const pf_event *event)
{
    return (pf_attribution){&event->shown, &event->layout, 0};
}

/* Returns true for records that have a trailer if their event has sample_id_all: all records of the
 * kernel, including types that are newer than the tables.  Version 1 of the dump schema has no
 * trailers for the latter. */
static inline bool pf_record_may_trail(const perfile_record *r, const perfile_session *s)
{
    return r->family == PERFILE_FAMILY_PERF &&
           (pf_record_known(r->type) || (pf_record_of_kernel(r->type) && !s->as_stored));
}

/* pf_attribution_of() for sessions with several events. */
pf_attribution pf_attribution_by_id(const perfile_record *r, const perfile_session *s);

/* Returns the event of any record.  Records of tools, of other families and without a session have
 * none.  A SAMPLE or READ before the first attr is damage (NO_ATTR), because nothing says how to
 * decode it. */
static inline pf_attribution pf_attribution_of(const perfile_record *r)
{
    const perfile_session *s = r->session;
    if (!s || !pf_record_may_trail(r, s))
        return (pf_attribution){NULL, NULL, 0};
    if (s->n_events == 1)
        return pf_attribution_event(s->events[0]);
    if (s->n_events == 0) {
        bool needs = r->type == PERFILE_RECORD_SAMPLE || r->type == PERFILE_RECORD_READ;
        return (pf_attribution){NULL, NULL, needs ? PERFILE_DAMAGE_NO_ATTR : 0};
    }
    return pf_attribution_by_id(r, s);
}

/* Returns the layout of the record's event, or an equal one.  If all events have equal layouts, the
 * id of the record is not read.  *damage is as in pf_attribution. */
static inline const perfile_layout *pf_layout_of(const perfile_record *r, uint32_t *damage)
{
    const perfile_session *s = r->session;
    *damage = 0;
    if (s && s->shared && pf_record_may_trail(r, s) && pf_record_known(r->type))
        return s->shared;
    pf_attribution a = pf_attribution_of(r);
    *damage = a.damage;
    return a.layout;
}

/* Sets *period to the period of all samples of an event with a fixed period.  Returns false if the
 * kernel adjusts the period. */
static inline bool pf_event_fixed_period(const perfile_event *e, uint64_t *period)
{
    if (e->attr->is_freq)
        return false;
    *period = e->attr->sample_period;
    return true;
}

/* Shapes: a fast test whether the fields of a sample fill it exactly, without decoding it.  It
 * works for sample types that consist of 64-bit words, a callchain and raw data; most do. */

/* The bits of sample_type that stand for one word each, at the beginning of the sample. */
#define PF_SHAPE_WORDS                                                                             \
    ((uint64_t)PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID |                \
     PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_ID | PERFILE_SAMPLE_STREAM_ID |    \
     PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD)

typedef struct pf_sample_shape {
    bool known;      /* sample_type has no other bits; if false, the next members are unused */
    bool chain, raw; /* sample_type has CALLCHAIN; RAW */
    size_t least;    /* bytes of the body without callchain entries and raw data */
    size_t chain_at; /* offset of the callchain length in the body */
} pf_sample_shape;

static inline pf_sample_shape pf_sample_shape_of(uint64_t sample_type)
{
    uint64_t more = PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_RAW;
    pf_sample_shape s = {.known = sample_type && !(sample_type & ~(PF_SHAPE_WORDS | more)),
                         .chain = sample_type & PERFILE_SAMPLE_CALLCHAIN,
                         .raw = sample_type & PERFILE_SAMPLE_RAW,
                         .chain_at =
                             8 * (size_t)__builtin_popcountll(sample_type & PF_SHAPE_WORDS)};
    s.least = s.chain_at + (s.chain ? 8 : 0) + (s.raw ? 4 : 0);
    return s;
}

/* Returns true if the fields fill the `len` bytes at `body`, apart from up to 7 bytes of padding.
 * The shape must be known.  *raw is set to the raw data if the sample type has any. */
static inline __attribute__((always_inline)) bool pf_sample_shape_fits(const pf_sample_shape *s,
                                                                       const uint8_t *body,
                                                                       size_t len, bool swap,
                                                                       perfile_bytes *raw)
{
    if (len < s->least)
        return false;
    size_t spare = len - s->least;
    size_t at = s->chain_at;
    if (s->chain) {
        uint64_t n = pf_load_u64(body + at, swap);
        if (n > spare / 8)
            return false;
        spare -= 8 * (size_t)n;
        at += 8 + 8 * (size_t)n;
    }
    if (s->raw) {
        uint32_t n = pf_load_u32(body + at, swap);
        if (n > spare)
            return false;
        spare -= n;
        *raw = (perfile_bytes){body + at + 4, n};
    }
    return spare < 8;
}

#endif
