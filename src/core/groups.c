/* Groups of events (feature GROUP_DESC): which event is the leader of which.  The feature may come
 * before the events in a pipe, so groups are kept and assigned when the session is settled. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/state.h"

typedef struct pf_group {
    uint32_t leader;
    uint32_t end; /* the first event behind the group */
} pf_group;

/* perf writes groups in the order of their leaders, and they do not overlap.  Entries that break
 * this are ignored. */
perfile_status pf_groups_collect(perfile_session *s, const perfile_feature *f, perfile_error *err)
{
    perfile_group_desc v;
    if (f->number != PERFILE_FEATURE_GROUP_DESC ||
        perfile_group_desc_decode(f, &v, sizeof v, NULL) != PERFILE_OK)
        return PERFILE_OK;

    perfile_group_desc_entry e;
    uint32_t behind = 0, cap = 0;
    while (perfile_group_desc_entry_next(&v.groups, &e, sizeof e) == PERFILE_OK) {
        if (e.leader_idx < behind || e.nr_members > UINT32_MAX - e.leader_idx)
            continue;
        pf_group *more = pf_array_more(s->groups, s->n_groups, &cap, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "session.groups");
        behind = e.leader_idx + e.nr_members;
        s->groups = more;
        s->groups[s->n_groups++] = (pf_group){e.leader_idx, behind};
    }
    s->regroup = s->n_groups != 0;
    return PERFILE_OK;
}

void pf_groups_assign(perfile_session *s, uint32_t from)
{
    if (from == 0)
        s->group_at = 0;
    for (uint32_t i = from; i < s->n_events; i++) {
        while (s->group_at < s->n_groups && s->groups[s->group_at].end <= i)
            s->group_at++;
        if (s->group_at == s->n_groups)
            return;
        const pf_group *g = &s->groups[s->group_at];
        if (g->leader <= i)
            s->events[i]->shown.group_leader = g->leader;
    }
}
