/* Whose a record is, and the layout that decides how it is decoded. */
#ifndef PF_CORE_WHOSE_H
#define PF_CORE_WHOSE_H

#include "core/state.h"
#include "schema/trailer.h"

typedef struct pf_whose {
    const perfile_event *event;
    const perfile_layout *layout;
    uint32_t damage;
} pf_whose;

static inline pf_whose pf_whose_event(const pf_event *event)
{
    return (pf_whose){&event->shown, &event->layout, 0};
}

/* For records of a session of several events. */
pf_whose pf_whose_by_id(const perfile_record *r, const perfile_session *s);

static inline pf_whose pf_whose_of(const perfile_record *r)
{
    const perfile_session *s = r->session;
    if (!s || r->family != PERFILE_FAMILY_PERF || !pf_record_known(r->type))
        return (pf_whose){NULL, NULL, 0};
    if (s->n_events == 1)
        return pf_whose_event(s->events[0]);
    if (s->n_events == 0) {
        bool needs = r->type == PERFILE_RECORD_SAMPLE || r->type == PERFILE_RECORD_READ;
        return (pf_whose){NULL, NULL, needs ? PERFILE_DAMAGE_NO_ATTR : 0};
    }
    return pf_whose_by_id(r, s);
}

/* A layout equal to that of the record's event: where all are, nobody asks whose the record is. */
static inline const perfile_layout *pf_layout_of(const perfile_record *r, uint32_t *damage)
{
    const perfile_session *s = r->session;
    *damage = 0;
    if (s && s->shared && r->family == PERFILE_FAMILY_PERF && pf_record_known(r->type))
        return s->shared;
    pf_whose whose = pf_whose_of(r);
    *damage = whose.damage;
    return whose.layout;
}

#endif
