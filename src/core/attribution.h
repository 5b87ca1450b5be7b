/* Whose a record is, and the layout that decides how it is decoded. */
#ifndef PF_CORE_ATTRIBUTION_H
#define PF_CORE_ATTRIBUTION_H

#include "core/state.h"
#include "schema/trailer.h"

typedef struct pf_attribution {
    const perfile_event *event;
    const perfile_layout *layout;
    uint32_t damage;
} pf_attribution;

static inline pf_attribution pf_attribution_event(const pf_event *event)
{
    return (pf_attribution){&event->shown, &event->layout, 0};
}

/* For records of a session of several events. */
pf_attribution pf_attribution_by_id(const perfile_record *r, const perfile_session *s);

static inline pf_attribution pf_attribution_of(const perfile_record *r)
{
    const perfile_session *s = r->session;
    if (!s || r->family != PERFILE_FAMILY_PERF || !pf_record_known(r->type))
        return (pf_attribution){NULL, NULL, 0};
    if (s->n_events == 1)
        return pf_attribution_event(s->events[0]);
    if (s->n_events == 0) {
        bool needs = r->type == PERFILE_RECORD_SAMPLE || r->type == PERFILE_RECORD_READ;
        return (pf_attribution){NULL, NULL, needs ? PERFILE_DAMAGE_NO_ATTR : 0};
    }
    return pf_attribution_by_id(r, s);
}

/* A layout equal to that of the record's event: where all are, nobody asks whose the record is. */
static inline const perfile_layout *pf_layout_of(const perfile_record *r, uint32_t *damage)
{
    const perfile_session *s = r->session;
    *damage = 0;
    if (s && s->shared && r->family == PERFILE_FAMILY_PERF && pf_record_known(r->type))
        return s->shared;
    pf_attribution whose = pf_attribution_of(r);
    *damage = whose.damage;
    return whose.layout;
}

#endif
