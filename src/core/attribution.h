/* Attribution: the event a record belongs to, and the layout with which the record is decoded.
 *
 * With one event every kernel record belongs to it.  With several, an id in the record decides;
 * where that id stands is taken from the first event (perf requires the same place for all).  If
 * all events have equal layouts (session->shared), a record can be decoded without knowing its
 * event: pf_layout_of() is that fast path. */
#ifndef PF_CORE_ATTRIBUTION_H
#define PF_CORE_ATTRIBUTION_H

#include "core/state.h"
#include "schema/trailer.h"

typedef struct pf_attribution {
    const perfile_event *event;   /* NULL: unattributed */
    const perfile_layout *layout; /* NULL: the record has none; may be set without `event` */
    uint32_t damage; /* PERFILE_DAMAGE_…: why the record cannot be decoded, 0 otherwise */
} pf_attribution;

static inline pf_attribution pf_attribution_event(const pf_event *event)
{
    return (pf_attribution){&event->shown, &event->layout, 0};
}

/* True for records that end with a trailer if their event has sample_id_all: those of the kernel,
 * also of types that are newer than the tables.  Version 1 of the dump schema knows no trailer of
 * the latter. */
static inline bool pf_record_may_trail(const perfile_record *r, const perfile_session *s)
{
    return r->family == PERFILE_FAMILY_PERF &&
           (pf_record_known(r->type) || (pf_record_of_kernel(r->type) && !s->as_stored));
}

/* pf_attribution_of() for sessions with several events. */
pf_attribution pf_attribution_by_id(const perfile_record *r, const perfile_session *s);

/* The event of any record.  Records of tools, of other families and without a session have none; a
 * SAMPLE or READ in front of the first attr is damage (NO_ATTR), because nothing says how to decode
 * it. */
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

/* The layout of the record's event, or an equal one.  If all events have equal layouts the record's
 * id is not read. *damage is as in pf_attribution. */
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

/* The period of all samples of an event that is counted with a fixed one; false if the kernel
 * adjusts it. */
static inline bool pf_event_fixed_period(const perfile_event *e, uint64_t *period)
{
    if (e->attr->is_freq)
        return false;
    *period = e->attr->sample_period;
    return true;
}

#endif
