/* Features that are one value, of those of the inputs. */
#include <inttypes.h>

#include "perfile/encode.h"
#include "perfile/field.h"
#include "merge/facts.h"

/* A feature that says nothing without another. */
static perfile_status join_with(pf_merge *x, uint32_t number, uint32_t other, perfile_error *err)
{
    if (!pf_fact_is_same(x, number) || pf_fact_is_same(x, other))
        return pf_join_same(x, number, err);
    pf_fact_report(x, PERFILE_MERGE_NOTE_DROPPED, number, PF_MERGE_NO_INPUT, 0,
                   "nothing without %s, which is not the same in all inputs: left out",
                   perfile_feature_name(other));
    return PERFILE_OK;
}

perfile_status pf_join_unwind(pf_merge *x, uint32_t number, perfile_error *err)
{
    return join_with(x, number, PERFILE_FEATURE_DEBUG_UNWIND_FILE, err);
}

perfile_status pf_join_unwind_file(pf_merge *x, uint32_t number, perfile_error *err)
{
    return join_with(x, number, PERFILE_FEATURE_DEBUG_UNWIND, err);
}

/* It has an item for each processor of NRCPUS, and no count of them. */
perfile_status pf_join_topology(pf_merge *x, uint32_t number, perfile_error *err)
{
    uint32_t n = perfile_session_n_cpus(x->base.session);
    if (!pf_fact_is_same(x, number))
        return pf_join_same(x, number, err);
    for (uint32_t k = 0; k < x->n_inputs; k++) {
        if (!pf_fact_of(x, k, number) || perfile_session_n_cpus(x->inputs[k].session) == n)
            continue;
        pf_fact_report(x, PERFILE_MERGE_NOTE_DROPPED, number, k, 0,
                       "%s has it of %" PRIu32 " processors, feature NRCPUS says %" PRIu32
                       " now: left out",
                       x->inputs[k].name, perfile_session_n_cpus(x->inputs[k].session), n);
        return PERFILE_OK;
    }
    return pf_join_same(x, number, err);
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

perfile_status pf_join_nodes(pf_merge *x, uint32_t number, perfile_error *err)
{
    const perfile_feature *first = pf_fact_first(x, number);
    for (uint32_t k = 0; k < x->n_inputs; k++)
        if (pf_fact_differs(x, k, number, first) && !same_nodes(first, pf_fact_of(x, k, number)))
            return pf_join_same(x, number, err);
    if (!pf_fact_is_same(x, number))
        pf_fact_report(x, PERFILE_MERGE_NOTE_JOINED, number, PF_MERGE_NO_INPUT, 0,
                       "free memory taken from %s", x->inputs[pf_fact_first_input(x, number)].name);
    return pf_fact_add(x, number, first->payload, true, err);
}

PF_FACT_MAKER(hostname)
PF_FACT_MAKER(nrcpus)
PF_FACT_MAKER(sample_time)
PF_FACT_MAKER(clock_data)

static perfile_status collect_hosts(const pf_merge *x, uint32_t number, pf_merge_entries *seen,
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
        if (!pf_merge_entries_take(seen, &(pf_merge_entry){.name = v.string}, &added) ||
            (added && text->len && !pf_buffer_append_u8(text, ',')) ||
            (added && !pf_buffer_append(text, v.string.ptr, v.string.len)))
            return pf_fail_nomem(err, "merge");
    }
    return PERFILE_OK;
}

perfile_status pf_join_hosts(pf_merge *x, uint32_t number, perfile_error *err)
{
    pf_merge_entries seen = {.by_value = false};
    pf_buffer text = {0}, made = {0};
    if (pf_fact_is_same(x, number))
        return pf_join_same(x, number, err);
    perfile_status st = collect_hosts(x, number, &seen, &text, err);
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

perfile_status pf_join_most(pf_merge *x, uint32_t number, perfile_error *err)
{
    perfile_nrcpus most = {0};
    pf_buffer made = {0};
    bool any = false;
    if (pf_fact_is_same(x, number))
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

perfile_status pf_join_flag(pf_merge *x, uint32_t number, perfile_error *err)
{
    return pf_fact_add(x, number, pf_fact_first(x, number)->payload, true, err);
}

perfile_status pf_join_span(pf_merge *x, uint32_t number, perfile_error *err)
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
    bool told = b->why == PERFILE_MERGE_CLOCK_GIVEN || b->why == PERFILE_MERGE_CLOCK_ALIGNED;
    return a->host == b->host && one.known == other.known && one.clockid == other.clockid &&
           (a == b || !told);
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

perfile_status pf_join_clock(pf_merge *x, uint32_t number, perfile_error *err)
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
        pf_fact_report(x, PERFILE_MERGE_NOTE_DROPPED, number, PF_MERGE_NO_INPUT, 0,
                       "no input that has it has the clock of the output, that of %s: left out",
                       of->name);
    else
        pf_fact_report(x, PERFILE_MERGE_NOTE_JOINED, number, from, 0,
                       "that of %s, whose clock the output has", x->inputs[from].name);
    return st;
}
