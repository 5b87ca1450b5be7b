/* Features of the output: looks up the rule of each feature in format/merging.def and applies it.
 * Has helpers for reading features of inputs and for adding and reporting features of the output,
 * and the rules SAME and GROUPS. The other rules are in values.c, lists.c and tracing.c. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/facts.h"
#include "perfile/encode.h"
#include "perfile/field.h"
#include "sort/merge.h"
#include "schema/command.h"
#include "core/command.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Bytes of the text of a note, and of the names of inputs in it. */
enum { TEXT = 512, NAMES = 256 };

/* The MERGE_FEATURE rules; format/merging.def explains them. */
enum {
    RULE_SAME = 0,
    RULE_TOPOLOGY,
    RULE_UNWIND,
    RULE_UNWIND_FILE,
    RULE_NODES,
    RULE_HOSTS,
    RULE_MOST,
    RULE_FLAG,
    RULE_SPAN,
    RULE_CLOCK,
    RULE_EVENTS,
    RULE_GROUPS,
    RULE_LIST,
    RULE_PMUS,
    RULE_TRACING,
    RULE_WRITER
};

/* The rule of each feature.  A feature without a row in merging.def does not compile. */
enum {
#define MERGE_FEATURE(feature, rule) RULE_OF_##feature = RULE_##rule,
#include "perfile/format/merging.def"
};
/* The same as a table by number. */
static const uint8_t rules[PERFILE_N_FEATURES] = {
#define FEATURE(id, number, name, source, contract, doc) [number] = RULE_OF_##name,
#include "perfile/format/features.def"
};

const perfile_feature *pf_fact_of(const pf_merge *x, uint32_t k, uint32_t number)
{
    const pf_merge_input *in = &x->inputs[k];
    const perfile_feature *f = perfile_session_feature(in->session, number);
    /* A truncated feature has fewer bytes than its size says. */
    if (!f || f->damage || f->payload.len < f->size)
        return NULL;
    return f;
}

uint32_t pf_fact_first_input(const pf_merge *x, uint32_t number)
{
    uint32_t k = 0;
    while (k < x->n_inputs && !pf_fact_of(x, k, number))
        k++;
    return k;
}

const perfile_feature *pf_fact_first(const pf_merge *x, uint32_t number)
{
    uint32_t k = pf_fact_first_input(x, number);
    return k < x->n_inputs ? pf_fact_of(x, k, number) : NULL;
}

bool pf_fact_differs(const pf_merge *x, uint32_t k, uint32_t number, const perfile_feature *first)
{
    const perfile_feature *f = pf_fact_of(x, k, number);
    return f && !pf_same_bytes(f->payload, first->payload);
}

bool pf_fact_all_same(const pf_merge *x, uint32_t number)
{
    const perfile_feature *first = pf_fact_first(x, number);
    for (uint32_t k = 0; first && k < x->n_inputs; k++)
        if (pf_fact_differs(x, k, number, first))
            return false;
    return true;
}

void pf_fact_report(const pf_merge *x, uint32_t kind, uint32_t number, uint32_t input,
                    uint64_t count, const char *format, ...)
{
    char text[TEXT];
    const char *name = pf_feature_name(number);
    int n = name ? snprintf(text, sizeof text, "feature %s: ", name)
                 : snprintf(text, sizeof text, "feature %" PRIu32 ": ", number);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    pf_merge_report(x, &(perfile_merge_note){kind, number, input, 0, count, text});
}

void pf_fact_unreadable(const pf_merge *x, uint32_t number, uint32_t k)
{
    pf_fact_report(x, PERFILE_MERGE_NOTE_DROPPED, number, k, 0, "that of %s is damaged: left out",
                   x->inputs[k].name);
}

void pf_fact_left_out(const pf_merge *x, uint32_t number, uint32_t k, uint64_t count,
                      const char *why)
{
    if (count)
        pf_fact_report(x, PERFILE_MERGE_NOTE_DROPPED, number, k, count,
                       "%" PRIu64 " %s of %s %s: left out", count, count == 1 ? "entry" : "entries",
                       x->inputs[k].name, why);
}

perfile_status pf_fact_add(pf_merge *x, uint32_t number, perfile_bytes payload, bool stable,
                           perfile_error *err)
{
    perfile_feature f = {.number = number,
                         .origin = PERFILE_ORIGIN_CONTAINER,
                         .size = payload.len,
                         .payload = payload};
    /* The payload is in the byte order of the inputs, which is the same for all. */
    if (pf_session_swapped(x->base.session))
        f.flags = PERFILE_REC_SWAPPED;
    return pf_session_add_feature(x->base.session, &f, stable, err);
}

/* Names of inputs for a message: "a.data, b.data and 3 more". */
typedef struct names {
    char text[NAMES];
    size_t len;
    uint32_t n, more, last; /* names in `text`; names that did not fit; index of the last input */
} names;

/* Adds the name of input `k`, or counts it if there is no room. */
static void add_name(names *l, const pf_merge *x, uint32_t k)
{
    enum { MORE = 24 }; /* room for " and N more" */
    const char *name = x->inputs[k].name;
    l->last = k;
    if (l->more || l->len + strlen(name) + MORE > sizeof l->text) {
        l->more++;
        return;
    }
    l->len +=
        (size_t)snprintf(l->text + l->len, sizeof l->text - l->len, "%s%s", l->n ? ", " : "", name);
    l->n++;
}

/* Appends how many names did not fit. `plural` follows the number if no name fitted. */
static void end_names(names *l, const char *plural)
{
    if (l->more)
        snprintf(l->text + l->len, sizeof l->text - l->len, "%s%" PRIu32 "%s", l->n ? " and " : "",
                 l->more, l->n ? " more" : plural);
}

perfile_status pf_fact_join(pf_merge *x, uint32_t number, const pf_buffer *made, perfile_error *err)
{
    names have = {.len = 0};
    perfile_status st = pf_fact_add(x, number, (perfile_bytes){made->ptr, made->len}, false, err);
    if (st != PERFILE_OK)
        return st;
    for (uint32_t k = 0; k < x->n_inputs; k++)
        if (pf_fact_of(x, k, number))
            add_name(&have, x, k);
    end_names(&have, " inputs");
    if (have.n + have.more > 1)
        pf_fact_report(x, PERFILE_MERGE_NOTE_JOINED, number, PF_MERGE_NO_INPUT, 0,
                       "joined from those of %s", have.text);
    return st;
}

/* Adds the feature if all inputs that have it agree; otherwise reports the inputs in which it
 * differs from the first. */
perfile_status pf_join_same(pf_merge *x, uint32_t number, perfile_error *err)
{
    const perfile_feature *first = pf_fact_first(x, number);
    names other = {.len = 0};
    for (uint32_t k = 0; k < x->n_inputs; k++)
        if (pf_fact_differs(x, k, number, first))
            add_name(&other, x, k);
    if (other.n + other.more == 0)
        return pf_fact_add(x, number, first->payload, true, err);
    end_names(&other, " inputs");
    pf_fact_report(x, PERFILE_MERGE_NOTE_DROPPED, number,
                   other.n + other.more == 1 ? other.last : PF_MERGE_NO_INPUT, 0,
                   "in %s it differs from that of %s: left out", other.text,
                   x->inputs[pf_fact_first_input(x, number)].name);
    return PERFILE_OK;
}

/* Rule WRITER: the writer makes the feature. Rule EVENTS: the feature is made after all others. */
static perfile_status leave_to_others(pf_merge *x, uint32_t number, perfile_error *err)
{
    (void)x, (void)number, (void)err;
    return PERFILE_OK;
}

/* GROUP_DESC: groups of events, converted to the events of the output.
 *
 * The feature describes a group by the index of its leader and the number of members; the other
 * members follow the leader. A group survives if its events are consecutive in the output, too. */

/* The group that an event of the output leads. */
typedef struct group {
    perfile_bytes name;
    uint32_t n;     /* members with the leader; 0: the event leads no group */
    uint32_t input; /* the first input that has this group */
} group;

/* Groups that are being joined. */
typedef struct group_join {
    pf_merge *x;
    group *groups;      /* by the index of the leader in the output */
    uint32_t n_out;     /* events of the output */
    uint32_t *chain;    /* for each event of an input: how many events from it on are consecutive in
                           the output */
    uint64_t *left_out; /* number of groups left out, by input */
} group_join;

PF_FACT_MAKER(group_desc)

/* Computes j->chain for an input. */
static void chain_events(group_join *j, const pf_merge_input *in)
{
    /* Backwards: the chain from event i is one longer than the chain from event i + 1, if that
     * follows it. */
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

/* Lists the groups in the order of their leaders, as readers expect, and leaves out groups that
 * would overlap. Returns their number. */
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

/* Joins the groups of all inputs. `entries` has room for one group per event of the output. */
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

/* Always made again: even equal features need other indexes if events of an earlier input come
 * first. */
static perfile_status pf_join_groups(pf_merge *x, uint32_t number, perfile_error *err)
{
    (void)number;
    group_join j = {.x = x, .n_out = pf_session_n_events(x->base.session)};
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

/* Applies the rule of a feature if an input has the feature. */
static perfile_status join_feature(pf_merge *x, uint32_t number, perfile_error *err)
{
    /* The functions of the rules. PMUS is LIST with a strict form. */
    static perfile_status (*const joins[])(pf_merge *, uint32_t, perfile_error *) = {
        [RULE_SAME] = pf_join_same,       [RULE_TOPOLOGY] = pf_join_topology,
        [RULE_UNWIND] = pf_join_unwind,   [RULE_UNWIND_FILE] = pf_join_unwind_file,
        [RULE_NODES] = pf_join_nodes,     [RULE_HOSTS] = pf_join_hosts,
        [RULE_MOST] = pf_join_most,       [RULE_FLAG] = pf_join_flag,
        [RULE_SPAN] = pf_join_span,       [RULE_CLOCK] = pf_join_clock,
        [RULE_EVENTS] = leave_to_others,  [RULE_GROUPS] = pf_join_groups,
        [RULE_LIST] = pf_join_list,       [RULE_PMUS] = pf_join_list,
        [RULE_TRACING] = pf_join_tracing, [RULE_WRITER] = leave_to_others,
    };
    bool any = false;
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        /* A damaged feature is reported, even if no other input has it. */
        bool has = perfile_session_feature(x->inputs[k].session, number) != NULL;
        bool is_there = pf_fact_of(x, k, number) != NULL;
        if (has && !is_there && rules[number] != RULE_WRITER && rules[number] != RULE_EVENTS)
            pf_fact_unreadable(x, number, k);
        /* Build ids may be in records, too. */
        any |= is_there ||
               (number == PERFILE_FEATURE_BUILD_ID && pf_session_n_build_ids(x->inputs[k].session));
    }
    /* Bytes that are copied unread must be readable: a damaged feature in the output would be
     * blamed on the merge. */
    bool copied = rules[number] == RULE_SAME || rules[number] == RULE_TOPOLOGY;
    if (any && copied && !pf_feature_readable(pf_fact_first(x, number), PERFILE_WALK_ALL)) {
        pf_fact_unreadable(x, number, pf_fact_first_input(x, number));
        return PERFILE_OK;
    }
    return any ? joins[rules[number]](x, number, err) : PERFILE_OK;
}

/* EVENT_DESC comes last: names of events are derived from other features (PMU_MAPPINGS,
 * TRACING_DATA). */
perfile_status pf_merge_features(pf_merge *x, perfile_error *err)
{
    perfile_status st = pf_join_event_types(x, err);
    for (uint32_t number = 0; number < PERFILE_N_FEATURES && st == PERFILE_OK; number++)
        st = join_feature(x, number, err);
    return st == PERFILE_OK ? pf_join_event_desc(x, err) : st;
}
