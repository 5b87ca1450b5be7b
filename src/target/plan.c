/* How records of each event are rewritten: worked out when the event is first met. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/layout.h"
#include "target/target.h"

/* The id that comes in is the one that the record has in its word `from`, as IDENTIFIER. */
static void take_own_id(pf_relayout_words *w, int from)
{
    for (uint8_t i = 0; i < w->n_pieces; i++)
        if (w->pieces[i].n == 0)
            w->pieces[i] = (pf_relayout_piece){.from = (uint8_t)from, .n = 1};
}

static void make(pf_target *t, const perfile_event *e, pf_target_plan *plan)
{
    perfile_layout to;
    const perfile_layout *from = e->layout;
    pf_target_layout(t, e, &to);
    *plan = (pf_target_plan){.changes = false};
    /* The new layout only lacks what the old one has: that is always possible. */
    if (pf_relayout_plan(&plan->relayout, from, &to, NULL) != PERFILE_OK)
        return;
    uint64_t lost = from->sample_type & ~to.sample_type;
    take_own_id(&plan->relayout.front, from->sample_slot[PF_SLOT_IDENTIFIER]);
    take_own_id(&plan->relayout.trailer,
                from->trailer_slots - from->trailer_slot[PF_SLOT_IDENTIFIER]);
    plan->turn_weight =
        lost & PERFILE_SAMPLE_WEIGHT_STRUCT && to.sample_type & PERFILE_SAMPLE_WEIGHT;
    plan->changes = plan->turn_weight ||
                    !pf_relayout_same(&plan->relayout, PERFILE_RECORD_SAMPLE) ||
                    !pf_relayout_same(&plan->relayout, PERFILE_RECORD_READ);
    /* Bits that the tables do not know have no field that could be found; what the caller drops is
     * no loss. */
    plan->lost_sample = lost & pf_low_bits(pf_releases[PF_N_RELEASES - 1].sample_bits) &
                        ~(uint64_t)PERFILE_SAMPLE_IDENTIFIER & ~t->options.drop;
    if (plan->turn_weight)
        plan->lost_sample &= ~(uint64_t)PERFILE_SAMPLE_WEIGHT_STRUCT;
    plan->lost_by_read = from->read_format & ~to.read_format;
    if (from->sample_type & PERFILE_SAMPLE_READ)
        plan->lost_read = plan->lost_by_read;
    if (from->sample_type & PERFILE_SAMPLE_BRANCH_STACK)
        plan->lost_branch = (from->branch_sample_type & ~to.branch_sample_type) &
                            (PERFILE_BRANCH_HW_INDEX | PERFILE_BRANCH_COUNTERS);
}

/* Kernel types that pass without a look. */
static uint64_t plain_types(const pf_target *t)
{
    uint64_t plain = 0;
    const bool waits = !pf_release_knows_type(t->release, PERFILE_RECORD_CALLCHAIN_DEFERRED);
    for (uint32_t type = 1; type < PERFILE_RECORD_USER; type++)
        if (pf_release_knows_type(t->release, type))
            plain |= UINT64_C(1) << type;
    if (!pf_release_knows_map_build_ids(t->release))
        plain &= ~(UINT64_C(1) << PERFILE_RECORD_MMAP2);
    if (t->changes)
        plain &= ~(UINT64_C(1) << PERFILE_RECORD_SAMPLE | UINT64_C(1) << PERFILE_RECORD_READ);
    if (t->cuts_trailers)
        plain = 0;
    if (pf_target_drops_record(t, PERFILE_RECORD_CALLCHAIN_DEFERRED))
        plain &= ~(UINT64_C(1) << PERFILE_RECORD_CALLCHAIN_DEFERRED);
    for (uint32_t i = 0; i < t->n_plans && waits; i++)
        if (t->plans[i].relayout.to.sample_type & PERFILE_SAMPLE_CALLCHAIN)
            plain &= ~(UINT64_C(1) << PERFILE_RECORD_SAMPLE);
    return plain;
}

/* Readers look for the ids of all events at one place. */
static perfile_status check_ids(const pf_relayout *first, const pf_relayout *other, uint32_t number,
                                perfile_error *err)
{
    const bool had = pf_layout_sample_id(&first->from) == pf_layout_sample_id(&other->from) &&
                     pf_layout_trailer_id(&first->from) == pf_layout_trailer_id(&other->from);
    const bool has = pf_layout_sample_id(&first->to) == pf_layout_sample_id(&other->to) &&
                     pf_layout_trailer_id(&first->to) == pf_layout_trailer_id(&other->to);
    if (has || !had)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "target.sample_type",
                   "events 0 and %u do not have the same fields in front of their ids: their ids "
                   "would stand at different places without those that are left out, and nobody "
                   "could tell whose a record is",
                   number);
}

perfile_status pf_target_plans(pf_target *t, perfile_error *err)
{
    const perfile_session *below = t->base.below->session;
    uint32_t n = perfile_session_n_events(below);
    while (t->n_plans < n) {
        if (t->n_plans == t->plans_cap) {
            uint32_t cap = t->plans_cap ? 2 * t->plans_cap : 8;
            pf_target_plan *more = pf_realloc(t->plans, cap, sizeof *more);
            if (!more)
                return pf_fail_nomem(err, "target");
            t->plans = more;
            t->plans_cap = cap;
        }
        pf_target_plan *plan = &t->plans[t->n_plans];
        make(t, perfile_session_event(below, t->n_plans), plan);
        const pf_relayout *first = &t->plans[0].relayout;
        t->changes |= plan->changes;
        t->cuts_trailers |= !plan->relayout.trailer.same;
        t->one_trailer =
            (t->n_plans == 0 || t->one_trailer) &&
            memcmp(&plan->relayout.trailer, &first->trailer, sizeof first->trailer) == 0;
        perfile_status st = check_ids(first, &plan->relayout, t->n_plans, err);
        if (st != PERFILE_OK)
            return st;
        t->n_plans++;
        t->plain = plain_types(t);
    }
    return PERFILE_OK;
}
