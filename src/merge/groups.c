/* GROUP_DESC: groups of events, for the events of the output.
 *
 * The feature describes a group by the index of its leader and the number of members, which follow
 * the leader. A group survives if its events follow each other in the output as well. */
#include "base/alloc.h"
#include "base/error.h"
#include "perfile/encode.h"
#include "merge/facts.h"

/* The group that an event of the output leads. */
typedef struct group {
    perfile_bytes name;
    uint32_t n;     /* members with the leader; 0: the event leads no group */
    uint32_t input; /* the first input that has this group */
} group;

/* Groups that are being joined. */
typedef struct group_join {
    pf_merge *x;
    group *groups;  /* by the index of the leader in the output */
    uint32_t n_out; /* events of the output */
    uint32_t
        *chain; /* for each event of an input: how many from it on are consecutive in the output */
    uint64_t *left_out; /* groups, by input */
} group_join;

PF_FACT_MAKER(group_desc)

/* Computes j->chain for an input. */
static void chain_events(group_join *j, const pf_merge_input *in)
{
    /* Backwards: the chain from event i is one longer than that from event i + 1, if that follows.
     */
    for (uint32_t i = in->n_events; i-- > 0;) {
        bool goes_on =
            i + 1 < in->n_events && in->events[i + 1].out == in->events[i].out + UINT32_C(1);
        j->chain[i] = goes_on ? j->chain[i + 1] + 1 : 1;
    }
}

/* Adds a group of input `k`, or counts it as left out. */
static void add_group(group_join *j, uint32_t k, const perfile_group_desc_entry *e)
{
    const pf_merge_input *in = &j->x->inputs[k];
    if (e->leader_idx >= in->n_events || e->nr_members == 0 ||
        e->nr_members > j->chain[e->leader_idx] || in->events[e->leader_idx].out >= j->n_out) {
        j->left_out[k]++;
        return;
    }
    group *g = &j->groups[in->events[e->leader_idx].out];
    if (g->n == 0)
        *g = (group){e->name, e->nr_members, k};
    else if (g->n != e->nr_members || !pf_same_bytes(g->name, e->name))
        j->left_out[k]++;
}

/* Adds the groups of input `k`. */
static void add_groups_of_input(group_join *j, uint32_t k)
{
    const perfile_feature *f = pf_fact_of(j->x, k, PERFILE_FEATURE_GROUP_DESC);
    perfile_group_desc v;
    perfile_group_desc_entry e;
    if (!f)
        return;
    if (perfile_group_desc_decode(f, &v, sizeof v, NULL) != PERFILE_OK) {
        pf_fact_unreadable(j->x, PERFILE_FEATURE_GROUP_DESC, k);
        return;
    }
    chain_events(j, &j->x->inputs[k]);
    while (perfile_group_desc_entry_next(&v.groups, &e, sizeof e) == PERFILE_OK)
        add_group(j, k, &e);
}

/* Lists the groups in the order of their leaders and leaves out those that would overlap, as
 * readers expect. Returns their number. */
static uint32_t list_groups(group_join *j, perfile_group_desc_entry *entries)
{
    uint32_t n = 0;
    uint64_t behind = 0;
    for (uint32_t i = 0; i < j->n_out; i++) {
        const group *g = &j->groups[i];
        if (g->n == 0)
            continue;
        if (i < behind) {
            j->left_out[g->input]++;
            continue;
        }
        behind = (uint64_t)i + g->n;
        entries[n++] =
            (perfile_group_desc_entry){.name = g->name, .leader_idx = i, .nr_members = g->n};
    }
    return n;
}

/* Joins the groups of all inputs; `entries` has room for one group per event of the output. */
static perfile_status join_groups(group_join *j, perfile_group_desc_entry *entries,
                                  perfile_error *err)
{
    pf_merge *x = j->x;
    pf_buffer made = {0};
    perfile_status st = PERFILE_OK;
    for (uint32_t k = 0; k < x->n_inputs; k++)
        add_groups_of_input(j, k);
    uint32_t n = list_groups(j, entries);
    for (uint32_t k = 0; k < x->n_inputs; k++)
        pf_fact_left_out(x, PERFILE_FEATURE_GROUP_DESC, k, j->left_out[k],
                         "with events that are not consecutive in the output, or that are in "
                         "another group");
    const perfile_group_desc v = {.groups =
                                      perfile_group_desc_entry_list(entries, n, sizeof *entries)};
    if (n && (st = make_group_desc(x, &v, &made, err)) == PERFILE_OK)
        st = pf_fact_join(x, PERFILE_FEATURE_GROUP_DESC, &made, err);
    pf_buffer_free(&made);
    return st;
}

/* Always made again: even equal features need other indexes if events of an earlier input precede.
 */
perfile_status pf_join_groups(pf_merge *x, uint32_t number, perfile_error *err)
{
    (void)number;
    group_join j = {.x = x, .n_out = perfile_session_n_events(x->base.session)};
    uint32_t most = 0;
    for (uint32_t k = 0; k < x->n_inputs; k++)
        most = x->inputs[k].n_events > most ? x->inputs[k].n_events : most;
    j.groups = pf_alloc((size_t)j.n_out + 1, sizeof *j.groups);
    j.chain = pf_alloc((size_t)most + 1, sizeof *j.chain);
    j.left_out = pf_alloc((size_t)x->n_inputs + 1, sizeof *j.left_out);
    perfile_group_desc_entry *entries = pf_alloc((size_t)j.n_out + 1, sizeof *entries);
    perfile_status st = j.groups && j.chain && j.left_out && entries ? join_groups(&j, entries, err)
                                                                     : pf_fail_nomem(err, "merge");
    pf_free(j.groups);
    pf_free(j.chain);
    pf_free(j.left_out);
    pf_free(entries);
    return st;
}
