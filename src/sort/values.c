/* Features that have one value, joined from those of the inputs. Each function is a rule of
 * format/merging.def; the helpers are declared in merge.h. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/facts.h"
#include "perfile/encode.h"
#include "perfile/field.h"
#include "sort/merge.h"
#include "core/command.h"
#include "sort/command.h"
#include "schema/command.h"

#include <inttypes.h>

/* Adds a feature that is useless without feature `other`: only if both are the same in all inputs
 * that have them. */
static perfile_status join_with_partner(pf_merge *x, uint32_t number, uint32_t other,
                                        perfile_error *err)
{
    if (!pf_fact_all_same(x, number) || pf_fact_all_same(x, other))
        return pf_join_same(x, number, err);
    pf_fact_report(x, PERFILE_MERGE_NOTE_DROPPED, number, PF_MERGE_NO_INPUT, 0,
                   "useless without %s, which differs between inputs: left out",
                   pf_feature_name(other));
    return PERFILE_OK;
}

/* DEBUG_UNWIND and DEBUG_UNWIND_FILE of simpleperf are of use only together. */
perfile_status pf_join_unwind(pf_merge *x, uint32_t number, perfile_error *err)
{
    return join_with_partner(x, number, PERFILE_FEATURE_DEBUG_UNWIND_FILE, err);
}

perfile_status pf_join_unwind_file(pf_merge *x, uint32_t number, perfile_error *err)
{
    return join_with_partner(x, number, PERFILE_FEATURE_DEBUG_UNWIND, err);
}

/* CPU_TOPOLOGY has an item for each CPU of NRCPUS but no count: it can be read only if NRCPUS of
 * the output has the number of CPUs that it was written with. */
perfile_status pf_join_topology(pf_merge *x, uint32_t number, perfile_error *err)
{
    uint32_t n = pf_session_n_cpus(x->base.session);
    if (!pf_fact_all_same(x, number))
        return pf_join_same(x, number, err);
    /* Readers count its items by NRCPUS of the output, which is the greatest of all inputs. */
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        if (!pf_fact_of(x, k, number) || pf_session_n_cpus(x->inputs[k].session) == n)
            continue;
        pf_fact_report(x, PERFILE_MERGE_NOTE_DROPPED, number, k, 0,
                       "%s has it for %" PRIu32 " CPUs, NRCPUS of the output has %" PRIu32
                       ": left out",
                       x->inputs[k].name, pf_session_n_cpus(x->inputs[k].session), n);
        return PERFILE_OK;
    }
    return pf_join_same(x, number, err);
}

/* Returns true if the memory nodes are the same, except for their free memory. */
static bool same_nodes_but_free_memory(const perfile_feature *a, const perfile_feature *b)
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

/* Free memory differs between recordings of one machine: the first input's is used. */
perfile_status pf_join_nodes(pf_merge *x, uint32_t number, perfile_error *err)
{
    const perfile_feature *first = pf_fact_first(x, number);
    for (uint32_t k = 0; k < x->n_inputs; k++)
        if (pf_fact_differs(x, k, number, first) &&
            !same_nodes_but_free_memory(first, pf_fact_of(x, k, number)))
            return pf_join_same(x, number, err);
    if (!pf_fact_all_same(x, number))
        pf_fact_report(x, PERFILE_MERGE_NOTE_JOINED, number, PF_MERGE_NO_INPUT, 0,
                       "free memory taken from %s", x->inputs[pf_fact_first_input(x, number)].name);
    return pf_fact_add(x, number, first->payload, true, err);
}

PF_FACT_MAKER(hostname)
PF_FACT_MAKER(nrcpus)
PF_FACT_MAKER(sample_time)
PF_FACT_MAKER(clock_data)

/* Puts the distinct host names into `text`, separated by commas. */
static perfile_status collect_host_names(const pf_merge *x, uint32_t number, pf_merge_entries *seen,
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
        if (!pf_merge_entries_add(seen, &(pf_merge_entry){.name = v.string}, &added) ||
            (added && text->len && !pf_buffer_append_u8(text, ',')) ||
            (added && !pf_buffer_append(text, v.string.ptr, v.string.len)))
            return pf_fail_nomem(err, "merge");
    }
    return PERFILE_OK;
}

/* Several hosts: their names, separated by commas. */
perfile_status pf_join_hosts(pf_merge *x, uint32_t number, perfile_error *err)
{
    pf_merge_entries seen = {.by_value = false};
    pf_buffer text = {0}, made = {0};
    if (pf_fact_all_same(x, number))
        return pf_join_same(x, number, err);
    perfile_status st = collect_host_names(x, number, &seen, &text, err);
    /* With one distinct name nothing was joined, so nothing is reported. */
    perfile_hostname v = {.string = {text.ptr, text.len}};
    if (st == PERFILE_OK && seen.items.len && (st = make_hostname(x, &v, &made, err)) == PERFILE_OK)
        st = seen.items.len > sizeof(pf_merge_entry)
                 ? pf_fact_join(x, number, &made, err)
                 : pf_fact_add(x, number, (perfile_bytes){made.ptr, made.len}, false, err);
    pf_merge_entries_free(&seen);
    pf_buffer_free(&text);
    pf_buffer_free(&made);
    return st;
}

/* NRCPUS: the greatest number of available and of online CPUs. */
perfile_status pf_join_most(pf_merge *x, uint32_t number, perfile_error *err)
{
    perfile_nrcpus most = {0};
    pf_buffer made = {0};
    bool any = false;
    if (pf_fact_all_same(x, number))
        return pf_join_same(x, number, err);
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

/* A feature without content: the output has it if one input does. */
perfile_status pf_join_flag(pf_merge *x, uint32_t number, perfile_error *err)
{
    return pf_fact_add(x, number, pf_fact_first(x, number)->payload, true, err);
}

/* SAMPLE_TIME: from the first to the last sample of all inputs, in the clock of the output. */
perfile_status pf_join_span(pf_merge *x, uint32_t number, perfile_error *err)
{
    perfile_sample_time v = {.first_sample_time = UINT64_MAX};
    pf_buffer made = {0};
    bool any = false;
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        const pf_merge_input *in = &x->inputs[k];
        if (!in->n_samples || in->first_sample > in->last_sample) /* its samples have no times */
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

/* Returns true if `b` has the clock and boot of `a`, from which the output has its clock, and `b`
 * was not moved by an offset. */
static bool has_output_clock(const pf_merge_input *a, const pf_merge_input *b)
{
    perfile_clock one, other;
    perfile_session_clock(a->session, &one);
    perfile_session_clock(b->session, &other);
    const bool moved =
        b->clock_reason == PF_MERGE_CLOCK_GIVEN || b->clock_reason == PF_MERGE_CLOCK_ALIGNED;
    return a->host == b->host && one.known == other.known && one.clockid == other.clockid &&
           (a == b || !moved);
}

/* Adds a clock feature of input `k`. The clock time in CLOCK_DATA is moved like all times. Sets
 * *added to false if the feature cannot be read. */
static perfile_status add_clock_feature(pf_merge *x, uint32_t k, const perfile_feature *f,
                                        bool *added, perfile_error *err)
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
    if (v.wall_clock_ns || v.clockid_time_ns) /* if both are 0, perf did not take the times */
        v.clockid_time_ns += in->offset;
    perfile_status st = make_clock_data(x, &v, &made, err);
    if (st == PERFILE_OK)
        st = pf_fact_add(x, f->number, (perfile_bytes){made.ptr, made.len}, false, err);
    pf_buffer_free(&made);
    return st;
}

/* CLOCKID and CLOCK_DATA: taken from clock_input, otherwise from another input with the same clock.
 */
perfile_status pf_join_clock(pf_merge *x, uint32_t number, perfile_error *err)
{
    const pf_merge_input *of = &x->inputs[x->clock_input];
    uint32_t from = PF_MERGE_NO_INPUT;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i <= x->n_inputs && st == PERFILE_OK && from == PF_MERGE_NO_INPUT; i++) {
        uint32_t k = i ? i - 1 : x->clock_input; /* clock_input first */
        const perfile_feature *f = pf_fact_of(x, k, number);
        bool added = false;
        if (f && (i == 0 || k != x->clock_input) && has_output_clock(of, &x->inputs[k]))
            st = add_clock_feature(x, k, f, &added, err);
        if (added)
            from = k;
    }
    if (st != PERFILE_OK || pf_fact_all_same(x, number))
        return st;
    if (from == PF_MERGE_NO_INPUT)
        pf_fact_report(
            x, PERFILE_MERGE_NOTE_DROPPED, number, PF_MERGE_NO_INPUT, 0,
            "no input that has it uses the clock of the output, which is that of %s: left out",
            of->name);
    else
        pf_fact_report(x, PERFILE_MERGE_NOTE_JOINED, number, from, 0,
                       "taken from %s, which has the clock of the output", x->inputs[from].name);
    return st;
}

/* Names of the events of the output: event types (a section of old files) and EVENT_DESC.
 *
 * If inputs give an event different names, the first input wins. Names that an input only derived,
 * from the attr or other features, are derived again from the features of the output. */

/* struct perf_trace_event_type has 64 bytes for the name. */
enum { LONGEST_TYPE = 63 };

/* Returns the event type of the i-th event of an input. If its event types lack it, returns the
 * name of the event, cut to the longest type. */
static perfile_bytes type_of(const perfile_session *s, uint32_t i)
{
    const perfile_event *e = perfile_session_event(s, i);
    const pf_event_type *t = pf_session_event_type(s, i);
    if (t && t->event_id == e->attr->config)
        return t->name;
    size_t len = strlen(e->name);
    return (perfile_bytes){(const uint8_t *)e->name, len < LONGEST_TYPE ? len : LONGEST_TYPE};
}

/* Adds an event type unless it was added already; with `always` in any case. */
static perfile_status add_type(pf_merge *x, pf_merge_entries *seen, uint64_t config,
                               perfile_bytes name, bool always, perfile_error *err)
{
    bool added;
    if (!pf_merge_entries_add(seen, &(pf_merge_entry){.number = config, .name = name}, &added))
        return pf_fail_nomem(err, "merge");
    return added || always ? pf_session_add_event_type(x->base.session, config, name, true, err)
                           : PERFILE_OK;
}

/* Adds a type for each event of the output, in the order of events: readers look for the type of an
 * event at the index of the event. */
static perfile_status add_types_of_events(pf_merge *x, pf_merge_entries *seen, perfile_error *err)
{
    uint32_t n = pf_session_n_events(x->base.session);
    perfile_status st = PERFILE_OK;
    perfile_bytes *names = pf_alloc((size_t)n + 1, sizeof *names);
    if (!names)
        return pf_fail_nomem(err, "merge");
    /* Backwards, so that the name in the first input wins. */
    for (uint32_t k = x->n_inputs; k-- > 0;) {
        const pf_merge_input *in = &x->inputs[k];
        for (uint32_t i = in->n_events; i-- > 0;)
            if (in->events[i].out < n)
                names[in->events[i].out] = type_of(in->session, i);
    }
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++)
        st = add_type(x, seen, perfile_session_event(x->base.session, i)->attr->config, names[i],
                      true, err);
    pf_free(names);
    return st;
}

/* Adds the types of an input that were not added yet. */
static perfile_status add_types(pf_merge *x, const perfile_session *s, pf_merge_entries *seen,
                                perfile_error *err)
{
    uint32_t n = pf_session_n_event_types(s);
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const pf_event_type *t = pf_session_event_type(s, i);
        st = add_type(x, seen, t->event_id, t->name, false, err);
    }
    return st;
}

/* If no input has event types, the output has none. The types of its events come before all others.
 */
perfile_status pf_join_event_types(pf_merge *x, perfile_error *err)
{
    pf_merge_entries seen = {.by_value = false};
    perfile_status st = PERFILE_OK;
    bool any = false;
    for (uint32_t k = 0; k < x->n_inputs; k++)
        any |= pf_session_n_event_types(x->inputs[k].session) != 0;
    if (any)
        st = add_types_of_events(x, &seen, err);
    for (uint32_t k = 0; k < x->n_inputs && st == PERFILE_OK; k++)
        st = add_types(x, x->inputs[k].session, &seen, err);
    pf_merge_entries_free(&seen);
    return st;
}

/* Sets names[i] to the name of event i of the output: the name in the first input that stored one.
 * Goes backwards through the inputs, so that the first one is written last. */
static void collect_names(const pf_merge *x, const char **names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        names[i] = perfile_session_event(x->base.session, i)->name;
    for (uint32_t k = x->n_inputs; k-- > 0;) {
        const pf_merge_input *in = &x->inputs[k];
        for (uint32_t i = in->n_events; i-- > 0;) {
            const perfile_event *e = perfile_session_event(in->session, i);
            if (in->events[i].out < n && e->name_origin != PERFILE_ORIGIN_DERIVED)
                names[in->events[i].out] = e->name;
        }
    }
}

/* Returns true if an input has EVENT_DESC, or if a name would be lost without it. */
static bool needs_desc(const pf_merge *x, const char *const *names, uint32_t n)
{
    for (uint32_t k = 0; k < x->n_inputs; k++)
        if (perfile_session_feature(x->inputs[k].session, PERFILE_FEATURE_EVENT_DESC))
            return true;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(perfile_session_event(x->base.session, i)->name, names[i]) != 0)
            return true;
    return false;
}

/* Makes EVENT_DESC and lets the session read it. */
static perfile_status add_desc(pf_merge *x, const char *const *names, perfile_error *err)
{
    pf_buffer made = {0};
    perfile_status st = pf_event_desc_make(x->base.session, names, (perfile_bytes){0}, &made, err);
    if (st == PERFILE_OK && made.len)
        st = pf_fact_add(x, PERFILE_FEATURE_EVENT_DESC, (perfile_bytes){made.ptr, made.len}, false,
                         err);
    pf_buffer_free(&made);
    return st == PERFILE_OK ? pf_session_resolve(x->base.session, err) : st;
}

/* The session is resolved first, so that it knows the names that it derives without EVENT_DESC. */
perfile_status pf_join_event_desc(pf_merge *x, perfile_error *err)
{
    uint32_t n = pf_session_n_events(x->base.session);
    perfile_status st = pf_session_resolve(x->base.session, err);
    if (st != PERFILE_OK || n == 0)
        return st;
    const char **names = pf_alloc(n, sizeof *names);
    if (!names)
        return pf_fail_nomem(err, "merge");
    collect_names(x, names, n);
    if (needs_desc(x, names, n))
        st = add_desc(x, names, err);
    pf_free(names);
    return st;
}
