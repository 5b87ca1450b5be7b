/* Features of the output: format/merging.def says how each becomes one of those of the inputs. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "perfile/encode.h"
#include "perfile/field.h"
#include "stage/merge_facts.h"

enum { TEXT = 512, NAMES = 256 };

/* Rules of that table. */
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

/* A row for each feature, or this is no program. */
enum {
#define MERGE_FEATURE(feature, rule) RULE_OF_##feature = RULE_##rule,
#include "perfile/format/merging.def"
};
static const uint8_t rules[PERFILE_N_FEATURES] = {
#define FEATURE(id, number, name, source, contract, doc) [number] = RULE_OF_##name,
#include "perfile/format/features.def"
};

const perfile_feature *pf_fact_of(const pf_merge *x, uint32_t k, uint32_t number)
{
    const pf_merge_input *in = &x->inputs[k];
    const perfile_feature *f = perfile_session_feature(in->session, number);
    if (!f || f->damage || f->payload.len < f->size)
        return NULL;
    return f;
}

static uint32_t first_input(const pf_merge *x, uint32_t number)
{
    uint32_t k = 0;
    while (k < x->n_inputs && !pf_fact_of(x, k, number))
        k++;
    return k;
}

const perfile_feature *pf_fact_first(const pf_merge *x, uint32_t number)
{
    uint32_t k = first_input(x, number);
    return k < x->n_inputs ? pf_fact_of(x, k, number) : NULL;
}

static bool differs(const pf_merge *x, uint32_t k, uint32_t number, const perfile_feature *first)
{
    const perfile_feature *f = pf_fact_of(x, k, number);
    return f && !pf_same_bytes(f->payload, first->payload);
}

bool pf_fact_is_same(const pf_merge *x, uint32_t number)
{
    const perfile_feature *first = pf_fact_first(x, number);
    for (uint32_t k = 0; first && k < x->n_inputs; k++)
        if (differs(x, k, number, first))
            return false;
    return true;
}

void pf_fact_tell(const pf_merge *x, uint32_t kind, uint32_t number, uint32_t input, uint64_t count,
                  const char *format, ...)
{
    char text[TEXT];
    const char *name = perfile_feature_name(number);
    int n = name ? snprintf(text, sizeof text, "feature %s: ", name)
                 : snprintf(text, sizeof text, "feature %" PRIu32 ": ", number);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    pf_merge_tell(x, &(perfile_merge_note){kind, number, input, 0, count, text});
}

void pf_fact_unreadable(const pf_merge *x, uint32_t number, uint32_t k)
{
    pf_fact_tell(x, PERFILE_MERGE_DROPPED, number, k, 0, "%s has it damaged: left out",
                 x->inputs[k].name);
}

void pf_fact_left_out(const pf_merge *x, uint32_t number, uint32_t k, uint64_t count,
                      const char *why)
{
    if (count)
        pf_fact_tell(x, PERFILE_MERGE_DROPPED, number, k, count,
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
    if (perfile_session_swapped(x->base.session))
        f.flags = PERFILE_REC_SWAPPED;
    return pf_session_add_feature(x->base.session, &f, stable, err);
}

/* Names of inputs, "a.data, b.data and 3 more". */
typedef struct names {
    char text[NAMES];
    size_t len;
    uint32_t n, more, last;
} names;

static void add_name(names *l, const pf_merge *x, uint32_t k)
{
    enum { MORE = 24 }; /* what stays free for the end */
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
        pf_fact_tell(x, PERFILE_MERGE_JOINED, number, PF_MERGE_NO_INPUT, 0, "made of those of %s",
                     have.text);
    return st;
}

static perfile_status join_same(pf_merge *x, uint32_t number, perfile_error *err)
{
    const perfile_feature *first = pf_fact_first(x, number);
    names other = {.len = 0};
    for (uint32_t k = 0; k < x->n_inputs; k++)
        if (differs(x, k, number, first))
            add_name(&other, x, k);
    if (other.n + other.more == 0)
        return pf_fact_add(x, number, first->payload, true, err);
    end_names(&other, " inputs");
    pf_fact_tell(x, PERFILE_MERGE_DROPPED, number,
                 other.n + other.more == 1 ? other.last : PF_MERGE_NO_INPUT, 0,
                 "in %s it is not that of %s: left out", other.text,
                 x->inputs[first_input(x, number)].name);
    return PERFILE_OK;
}

/* A feature that says nothing without another. */
static perfile_status join_with(pf_merge *x, uint32_t number, uint32_t other, perfile_error *err)
{
    if (!pf_fact_is_same(x, number) || pf_fact_is_same(x, other))
        return join_same(x, number, err);
    pf_fact_tell(x, PERFILE_MERGE_DROPPED, number, PF_MERGE_NO_INPUT, 0,
                 "nothing without %s, which is not the same in all inputs: left out",
                 perfile_feature_name(other));
    return PERFILE_OK;
}

static perfile_status join_unwind(pf_merge *x, uint32_t number, perfile_error *err)
{
    return join_with(x, number, PERFILE_FEATURE_DEBUG_UNWIND_FILE, err);
}

static perfile_status join_unwind_file(pf_merge *x, uint32_t number, perfile_error *err)
{
    return join_with(x, number, PERFILE_FEATURE_DEBUG_UNWIND, err);
}

/* It has an item for each processor of NRCPUS, and no count of them. */
static perfile_status join_topology(pf_merge *x, uint32_t number, perfile_error *err)
{
    uint32_t n = perfile_session_n_cpus(x->base.session);
    if (!pf_fact_is_same(x, number))
        return join_same(x, number, err);
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        if (!pf_fact_of(x, k, number) || perfile_session_n_cpus(x->inputs[k].session) == n)
            continue;
        pf_fact_tell(x, PERFILE_MERGE_DROPPED, number, k, 0,
                     "%s has it of %" PRIu32 " processors, feature NRCPUS says %" PRIu32
                     " now: left out",
                     x->inputs[k].name, perfile_session_n_cpus(x->inputs[k].session), n);
        return PERFILE_OK;
    }
    return join_same(x, number, err);
}

/* Whether memory nodes are the same but for what was free. */
static bool same_nodes(const perfile_feature *a, const perfile_feature *b)
{
    perfile_numa_topology one, other;
    perfile_numa_node n, m;
    if (perfile_numa_topology_decode(a, &one, sizeof one, NULL) != PERFILE_OK ||
        perfile_numa_topology_decode(b, &other, sizeof other, NULL) != PERFILE_OK ||
        one.nr != other.nr)
        return false;
    while (perfile_numa_node_next(&one.nodes, &n, sizeof n) == PERFILE_OK &&
           perfile_numa_node_next(&other.nodes, &m, sizeof m) == PERFILE_OK)
        if (n.node != m.node || n.mem_total != m.mem_total || !pf_same_bytes(n.cpus, m.cpus))
            return false;
    return true;
}

static perfile_status join_nodes(pf_merge *x, uint32_t number, perfile_error *err)
{
    const perfile_feature *first = pf_fact_first(x, number);
    for (uint32_t k = 0; k < x->n_inputs; k++)
        if (differs(x, k, number, first) && !same_nodes(first, pf_fact_of(x, k, number)))
            return join_same(x, number, err);
    if (!pf_fact_is_same(x, number))
        pf_fact_tell(x, PERFILE_MERGE_JOINED, number, PF_MERGE_NO_INPUT, 0,
                     "what was free of the memory is that of %s",
                     x->inputs[first_input(x, number)].name);
    return pf_fact_add(x, number, first->payload, true, err);
}

PF_FACT_MAKER(hostname)
PF_FACT_MAKER(nrcpus)
PF_FACT_MAKER(sample_time)
PF_FACT_MAKER(clock_data)

static perfile_status collect_hosts(const pf_merge *x, uint32_t number, pf_entries *seen,
                                    pf_buffer *text, perfile_error *err)
{
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        const perfile_feature *f = pf_fact_of(x, k, number);
        perfile_hostname v;
        bool added;
        if (!f)
            continue;
        if (perfile_hostname_decode(f, &v, sizeof v, NULL) != PERFILE_OK) {
            pf_fact_unreadable(x, number, k);
            continue;
        }
        if (!pf_entries_take(seen, &(pf_entry){.name = v.string}, &added) ||
            (added && text->len && !pf_buffer_append_u8(text, ',')) ||
            (added && !pf_buffer_append(text, v.string.ptr, v.string.len)))
            return pf_fail_nomem(err, "merge");
    }
    return PERFILE_OK;
}

static perfile_status join_hosts(pf_merge *x, uint32_t number, perfile_error *err)
{
    pf_entries seen = {.by_value = false};
    pf_buffer text = {0}, made = {0};
    if (pf_fact_is_same(x, number))
        return join_same(x, number, err);
    perfile_status st = collect_hosts(x, number, &seen, &text, err);
    perfile_hostname v = {.string = {text.ptr, text.len}};
    if (st == PERFILE_OK && seen.items.len && (st = make_hostname(x, &v, &made, err)) == PERFILE_OK)
        st = seen.items.len > sizeof(pf_entry)
                 ? pf_fact_join(x, number, &made, err)
                 : pf_fact_add(x, number, (perfile_bytes){made.ptr, made.len}, false, err);
    pf_entries_free(&seen);
    pf_buffer_free(&text);
    pf_buffer_free(&made);
    return st;
}

static perfile_status join_most(pf_merge *x, uint32_t number, perfile_error *err)
{
    perfile_nrcpus most = {0};
    pf_buffer made = {0};
    bool any = false;
    if (pf_fact_is_same(x, number))
        return join_same(x, number, err);
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        const perfile_feature *f = pf_fact_of(x, k, number);
        perfile_nrcpus v;
        if (!f)
            continue;
        if (perfile_nrcpus_decode(f, &v, sizeof v, NULL) != PERFILE_OK) {
            pf_fact_unreadable(x, number, k);
            continue;
        }
        any = true;
        most.nr_cpus_avail =
            v.nr_cpus_avail > most.nr_cpus_avail ? v.nr_cpus_avail : most.nr_cpus_avail;
        most.nr_cpus_online =
            v.nr_cpus_online > most.nr_cpus_online ? v.nr_cpus_online : most.nr_cpus_online;
    }
    perfile_status st = any ? make_nrcpus(x, &most, &made, err) : PERFILE_OK;
    if (st == PERFILE_OK && any)
        st = pf_fact_join(x, number, &made, err);
    pf_buffer_free(&made);
    return st;
}

static perfile_status join_flag(pf_merge *x, uint32_t number, perfile_error *err)
{
    return pf_fact_add(x, number, pf_fact_first(x, number)->payload, true, err);
}

static perfile_status join_span(pf_merge *x, uint32_t number, perfile_error *err)
{
    perfile_sample_time v = {.first_sample_time = UINT64_MAX};
    pf_buffer made = {0};
    bool any = false;
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        const pf_merge_input *in = &x->inputs[k];
        if (!in->n_samples || in->first_sample > in->last_sample) /* of samples without a time */
            continue;
        uint64_t first = in->first_sample + in->offset, last = in->last_sample + in->offset;
        v.first_sample_time = first < v.first_sample_time ? first : v.first_sample_time;
        v.last_sample_time = last > v.last_sample_time ? last : v.last_sample_time;
        any = true;
    }
    if (!any)
        v.first_sample_time = 0;
    perfile_status st = make_sample_time(x, &v, &made, err);
    if (st == PERFILE_OK)
        st = pf_fact_add(x, number, (perfile_bytes){made.ptr, made.len}, false, err);
    pf_buffer_free(&made);
    return st;
}

/* Whether times of both are of one clock, but for their offsets. */
static bool same_clock(const pf_merge_input *a, const pf_merge_input *b)
{
    perfile_clock one, other;
    perfile_session_clock(a->session, &one);
    perfile_session_clock(b->session, &other);
    return a->host == b->host && one.known == other.known && one.clockid == other.clockid;
}

/* As it is in the clock of the output. */
static perfile_status add_clock(pf_merge *x, uint32_t k, const perfile_feature *f, bool *added,
                                perfile_error *err)
{
    const pf_merge_input *in = &x->inputs[k];
    perfile_clock_data v;
    pf_buffer made = {0};
    *added = true;
    if (f->number != PERFILE_FEATURE_CLOCK_DATA || in->offset == 0)
        return pf_fact_add(x, f->number, f->payload, true, err);
    if (perfile_clock_data_decode(f, &v, sizeof v, NULL) != PERFILE_OK) {
        *added = false;
        pf_fact_unreadable(x, f->number, k);
        return PERFILE_OK;
    }
    if (v.wall_clock_ns || v.clockid_time_ns) /* zeros: nobody looked */
        v.clockid_time_ns += in->offset;
    perfile_status st = make_clock_data(x, &v, &made, err);
    if (st == PERFILE_OK)
        st = pf_fact_add(x, f->number, (perfile_bytes){made.ptr, made.len}, false, err);
    pf_buffer_free(&made);
    return st;
}

static perfile_status join_clock(pf_merge *x, uint32_t number, perfile_error *err)
{
    const pf_merge_input *of = &x->inputs[x->clock_of];
    uint32_t from = PF_MERGE_NO_INPUT;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i <= x->n_inputs && st == PERFILE_OK && from == PF_MERGE_NO_INPUT; i++) {
        uint32_t k = i ? i - 1 : x->clock_of; /* that one first */
        const perfile_feature *f = pf_fact_of(x, k, number);
        bool added = false;
        if (f && (i == 0 || k != x->clock_of) && same_clock(of, &x->inputs[k]))
            st = add_clock(x, k, f, &added, err);
        if (added)
            from = k;
    }
    if (st != PERFILE_OK || pf_fact_is_same(x, number))
        return st;
    if (from == PF_MERGE_NO_INPUT)
        pf_fact_tell(x, PERFILE_MERGE_DROPPED, number, PF_MERGE_NO_INPUT, 0,
                     "no input that has it has the clock of the output, that of %s: left out",
                     of->name);
    else
        pf_fact_tell(x, PERFILE_MERGE_JOINED, number, from, 0,
                     "that of %s, whose clock the output has", x->inputs[from].name);
    return st;
}

/* The writer makes it, or it is made when the others are there. */
static perfile_status pass_over(pf_merge *x, uint32_t number, perfile_error *err)
{
    (void)x, (void)number, (void)err;
    return PERFILE_OK;
}

static perfile_status join(pf_merge *x, uint32_t number, perfile_error *err)
{
    static perfile_status (*const joins[])(pf_merge *, uint32_t, perfile_error *) = {
        [RULE_SAME] = join_same,          [RULE_TOPOLOGY] = join_topology,
        [RULE_UNWIND] = join_unwind,      [RULE_UNWIND_FILE] = join_unwind_file,
        [RULE_NODES] = join_nodes,        [RULE_HOSTS] = join_hosts,
        [RULE_MOST] = join_most,          [RULE_FLAG] = join_flag,
        [RULE_SPAN] = join_span,          [RULE_CLOCK] = join_clock,
        [RULE_EVENTS] = pass_over,        [RULE_GROUPS] = pf_join_groups,
        [RULE_LIST] = pf_join_list,       [RULE_PMUS] = pf_join_list,
        [RULE_TRACING] = pf_join_tracing, [RULE_WRITER] = pass_over,
    };
    bool any = false;
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        bool has = perfile_session_feature(x->inputs[k].session, number) != NULL;
        bool is_there = pf_fact_of(x, k, number) != NULL;
        if (has && !is_there && rules[number] != RULE_WRITER && rules[number] != RULE_EVENTS)
            pf_fact_unreadable(x, number, k);
        /* Records say build ids, too. */
        any |= is_there || (number == PERFILE_FEATURE_BUILD_ID &&
                            perfile_session_n_build_ids(x->inputs[k].session));
    }
    return any ? joins[rules[number]](x, number, err) : PERFILE_OK;
}

perfile_status pf_merge_features(pf_merge *x, perfile_error *err)
{
    perfile_status st = pf_join_event_types(x, err);
    for (uint32_t number = 0; number < PERFILE_N_FEATURES && st == PERFILE_OK; number++)
        st = join(x, number, err);
    return st == PERFILE_OK ? pf_join_event_desc(x, err) : st;
}
