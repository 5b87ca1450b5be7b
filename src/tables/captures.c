/* Rows of captures, events, cpus and damages: a capture's description of itself.
 *
 * They are made at its end, because a pipe has some facts late.  Records are counted as they
 * come. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "core/stream.h"
#include "perfile/abi.h"
#include "perfile/container.h"
#include "perfile/damage.h"
#include "perfile/field.h"
#include "perfile/perfile.h"
#include "perfile/records.h"
#include "tables/tables.h"
#include "core/command.h"
#include "io/command.h"
#include "schema/command.h"
#include "base/command.h"

enum { MOST_CPUS = 8192 }; /* the kernel's maximum */

typedef struct pf_captures_maker {
    uint64_t samples, lost_records, lost_samples;
} pf_captures_maker;

static bool begin(pf_tables *x)
{
    x->captures = pf_alloc(1, sizeof *x->captures);
    return x->captures;
}

static void close_maker(pf_tables *x)
{
    pf_free(x->captures);
    x->captures = NULL;
}

static bool sample(pf_tables *x, const pf_profiled *s)
{
    (void)s;
    x->captures->samples++;
    return true;
}

static bool note(pf_tables *x, const pf_profiled *about)
{
    union {
        perfile_lost records;
        perfile_lost_samples samples;
    } v;
    const perfile_record *r = about->record;
    if (r->type == PERFILE_RECORD_LOST &&
        perfile_lost_decode(r, &v.records, sizeof v.records, NULL) == PERFILE_OK)
        pf_sum_add(&x->captures->lost_records, v.records.lost);
    else if (r->type == PERFILE_RECORD_LOST_SAMPLES &&
             perfile_lost_samples_decode(r, &v.samples, sizeof v.samples, NULL) == PERFILE_OK)
        pf_sum_add(&x->captures->lost_samples, v.samples.lost);
    return true;
}

/* Captures. */

/* Writes the name of the file without its folder, even for a directory with a trailing slash. */
static void put_file(pf_table_column *c, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    size_t from = n;
    while (from && path[from - 1] != '/')
        from--;
    pf_column_bytes(c, (perfile_bytes){(const uint8_t *)path + from, n - from});
}

static void put_container(pf_tables *x)
{
    const perfile_container *c = perfile_stream_container(x->stream);
    uint64_t bytes = 0;
    bool known = true;
    char form[64];
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_parts; i++) {
        known &= c->parts[i].size != UINT64_MAX;
        pf_sum_add(&bytes, c->parts[i].size);
    }
    if (known && c->n_parts)
        pf_put_number(PF_COLUMN(x, captures, bytes), bytes);
    const char *word = c->directory ? "directory" : c->form == PERFILE_FORM_PIPE ? "pipe" : "file";
    const bool other = c->format && strcmp(c->format, "perf.data") != 0;
    snprintf(form, sizeof form, "%s%s%s", word, other ? ", " : "", other ? c->format : "");
    pf_column_text(PF_COLUMN(x, captures, form), form);
}

static void put_facts(pf_tables *x)
{
    static const struct {
        unsigned fact;
        size_t column;
    } facts[] = {{PERFILE_FACT_HOSTNAME, PF_AT(captures, host)},
                 {PERFILE_FACT_OSRELEASE, PF_AT(captures, kernel)},
                 {PERFILE_FACT_ARCH, PF_AT(captures, arch)},
                 {PERFILE_FACT_CPUDESC, PF_AT(captures, cpu_model)},
                 {PERFILE_FACT_CPUID, PF_AT(captures, cpuid)},
                 {PERFILE_FACT_TOOL, PF_AT(captures, perf_version)},
                 {PERFILE_FACT_CMDLINE, PF_AT(captures, command)}};
    pf_table_column *columns = x->at[PF_TABLE_captures].batch->columns;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        pf_column_text(&columns[facts[i].column], perfile_session_fact(x->session, facts[i].fact));
    const uint32_t cpus = pf_session_n_cpus(x->session);
    if (cpus)
        pf_column_number(PF_COLUMN(x, captures, cpus), cpus);
    perfile_total_mem memory;
    const perfile_feature *f = perfile_session_feature(x->session, PERFILE_FEATURE_TOTAL_MEM);
    if (f && perfile_total_mem_decode(f, &memory, sizeof memory, NULL) == PERFILE_OK &&
        memory.total_mem <= INT64_MAX / 1024)
        pf_column_number(PF_COLUMN(x, captures, memory_bytes), memory.total_mem * 1024);
}

static void put_clock(pf_tables *x)
{
    enum { NS_PER_US = 1000 };
    const perfile_clock clock = x->clock;
    uint64_t wall;
    char number[16];
    if (clock.known) {
        const char *name = perfile_vocabulary_word(pf_vocabulary_find("clockid"),
                                                   (uint64_t)(int64_t)clock.clockid);
        snprintf(number, sizeof number, "%" PRId32, clock.clockid);
        pf_column_text(PF_COLUMN(x, captures, clock), name ? name : number);
    }
    if (clock.has_wall)
        pf_column_number(PF_COLUMN(x, captures, wall_offset_ns), clock.wall_ns - clock.clock_ns);
    if (pf_tables_captured_at(x, &wall))
        pf_column_number(PF_COLUMN(x, captures, captured_at), wall / NS_PER_US);
    if (x->first_time <= x->last_time) {
        pf_put_time(PF_COLUMN(x, captures, first_time), x->first_time);
        pf_put_time(PF_COLUMN(x, captures, last_time), x->last_time);
    }
}

static void put_counts(pf_tables *x)
{
    perfile_stream_summary sum;
    pf_stream_get_summary(x->stream, &sum, sizeof sum);
    pf_put_number(PF_COLUMN(x, captures, records), x->records);
    pf_put_number(PF_COLUMN(x, captures, samples), x->captures->samples);
    pf_put_number(PF_COLUMN(x, captures, lost_records), x->captures->lost_records);
    pf_put_number(PF_COLUMN(x, captures, lost_samples), x->captures->lost_samples);
    pf_put_number(PF_COLUMN(x, captures, damages), sum.damages);
    pf_put_number(PF_COLUMN(x, captures, damaged_bytes), sum.lost);
}

static void put_labels(pf_tables *x)
{
    size_t n = 0;
    for (; x->labels && x->labels[n]; n++) {
        const char *label = x->labels[n], *equals = strchr(label, '=');
        const size_t length = equals ? (size_t)(equals - label) : strlen(label);
        pf_column_bytes(PF_MEMBER(x, captures, labels, key),
                        (perfile_bytes){(const uint8_t *)label, length});
        pf_column_text(PF_MEMBER(x, captures, labels, value), equals ? equals + 1 : "");
    }
    pf_column_list_end(PF_COLUMN(x, captures, labels), n);
}

static bool put_capture(pf_tables *x)
{
    pf_put_capture(x, PF_COLUMN(x, captures, capture_id));
    put_file(PF_COLUMN(x, captures, file), pf_source_name(pf_stream_source(x->stream)));
    put_container(x);
    put_facts(x);
    put_clock(x);
    put_counts(x);
    put_labels(x);
    pf_column_text(PF_COLUMN(x, captures, perfile_version), pf_version());
    pf_column_number(PF_COLUMN(x, captures, schema_version), PF_TABLES_VERSION);
    return pf_table_row(x, &x->at[PF_TABLE_captures]);
}

/* Events. */

static const char *call_graph_of(const perfile_event *event)
{
    const uint64_t copied = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    const uint64_t type = event->attr->sample_type;
    if (pf_branches_are_calls(event))
        return "lbr";
    if ((type & copied) == copied)
        return "dwarf";
    return type & PERFILE_SAMPLE_CALLCHAIN ? "fp" : NULL;
}

static bool put_event(pf_tables *x, const perfile_event *event)
{
    const perfile_attr *attr = event->attr;
    const char *type = perfile_vocabulary_word(pf_vocabulary_find("attr_type"), attr->type);
    if (!type)
        type = pf_session_pmu_name(x->session, attr->type);
    pf_put_capture(x, PF_COLUMN(x, events, capture_id));
    pf_column_number(PF_COLUMN(x, events, event_index), event->index);
    pf_column_text(PF_COLUMN(x, events, event), event->name);
    pf_column_text(PF_COLUMN(x, events, type), type);
    pf_column_number(PF_COLUMN(x, events, type_number), attr->type);
    pf_column_number(PF_COLUMN(x, events, config), attr->config);
    if (attr->is_freq)
        pf_put_number(PF_COLUMN(x, events, sample_freq), attr->sample_freq);
    else
        pf_put_number(PF_COLUMN(x, events, sample_period), attr->sample_period);
    pf_column_number(PF_COLUMN(x, events, precise), attr->flags >> PERFILE_ATTR_BIT_PRECISE_IP & 3);
    pf_column_text(PF_COLUMN(x, events, call_graph), call_graph_of(event));
    pf_column_text(PF_COLUMN(x, events, unit), event->unit);
    if (event->unit || event->scale < 1 || event->scale > 1)
        pf_column_double(PF_COLUMN(x, events, scale), event->scale);
    pf_column_number(PF_COLUMN(x, events, group_leader), event->group_leader);
    /* Fields of several bits have their own columns. */
    pf_put_bits(PF_COLUMN(x, events, flags), "attr_flags", attr->flags);
    pf_column_bool(PF_COLUMN(x, events, is_tracepoint), attr->type == PERFILE_TYPE_TRACEPOINT);
    return pf_table_row(x, &x->at[PF_TABLE_events]);
}

static bool put_events(pf_tables *x)
{
    const uint32_t n = pf_session_n_events(x->session);
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++)
        ok = put_event(x, perfile_session_event(x->session, i));
    return ok;
}

/* CPUs. */

/* Removes the next range from a list like "0-3,7".  Returns false after the last one, or if the
 * text is not a list. */
static bool next_range(perfile_bytes *list, uint32_t *from, uint32_t *to)
{
    uint32_t ends[2] = {0, 0};
    size_t at = 0;
    unsigned n = 0;
    for (; n < 2; n++) {
        const size_t first = at;
        for (; at < list->len && list->ptr[at] >= '0' && list->ptr[at] <= '9'; at++)
            ends[n] = ends[n] < MOST_CPUS ? 10 * ends[n] + list->ptr[at] - '0' : MOST_CPUS;
        if (at == first)
            return false;
        if (at >= list->len || list->ptr[at] != '-')
            break;
        at++;
    }
    *from = ends[0];
    *to = n ? ends[1] : ends[0];
    at += at < list->len;
    *list = (perfile_bytes){list->ptr + at, list->len - at};
    return true;
}

/* Facts about CPUs.  UINT32_MAX: unknown. */
typedef struct cpu_facts {
    uint32_t n;
    uint32_t node[MOST_CPUS];
    perfile_nrcpus count;
    perfile_cpu_topology topology;
    bool has_count;
} cpu_facts;

/* Fills in the node of each CPU. */
static void find_nodes(const pf_tables *x, cpu_facts *all)
{
    perfile_numa_topology numa;
    perfile_numa_node node;
    const perfile_feature *f = perfile_session_feature(x->session, PERFILE_FEATURE_NUMA_TOPOLOGY);
    memset(all->node, 0xff, sizeof all->node);
    if (!f || perfile_numa_topology_decode(f, &numa, sizeof numa, NULL) != PERFILE_OK)
        return;
    uint32_t left = 4 * MOST_CPUS; /* ranges may overlap in a damaged capture */
    while (perfile_numa_node_next(&numa.nodes, &node, sizeof node) == PERFILE_OK) {
        uint32_t from, to;
        while (left && next_range(&node.cpus, &from, &to)) {
            left--;
            for (; from <= to && from < all->n && left; from++, left--)
                all->node[from] = node.node;
        }
    }
}

/* Determines the number of CPUs and their topology. */
static void find_cpus(const pf_tables *x, cpu_facts *all)
{
    const perfile_feature *f = perfile_session_feature(x->session, PERFILE_FEATURE_NRCPUS);
    all->has_count =
        f && perfile_nrcpus_decode(f, &all->count, sizeof all->count, NULL) == PERFILE_OK;
    f = perfile_session_feature(x->session, PERFILE_FEATURE_CPU_TOPOLOGY);
    if (!f ||
        perfile_cpu_topology_decode(f, &all->topology, sizeof all->topology, NULL) != PERFILE_OK)
        all->topology = (perfile_cpu_topology){0};
    uint64_t n = all->has_count ? all->count.nr_cpus_avail : 0;
    if (all->topology.has_cpu && all->topology.cpu.n < n)
        n = all->topology.cpu.n;
    all->n = n < MOST_CPUS ? (uint32_t)n : MOST_CPUS;
    find_nodes(x, all);
}

static bool put_cpu(pf_tables *x, cpu_facts *all, uint32_t cpu)
{
    perfile_topology_cpu place = {.core_id = -1};
    const bool placed =
        all->topology.has_cpu &&
        perfile_topology_cpu_next(&all->topology.cpu, &place, sizeof place) == PERFILE_OK;
    const bool offline = placed && place.core_id < 0;
    pf_put_capture(x, PF_COLUMN(x, cpus, capture_id));
    pf_column_number(PF_COLUMN(x, cpus, cpu), cpu);
    if (placed && !offline) {
        pf_column_number(PF_COLUMN(x, cpus, core), (uint64_t)place.core_id);
        pf_column_number(PF_COLUMN(x, cpus, socket), (uint64_t)(int64_t)place.socket_id);
        if (all->topology.has_dies && cpu < all->topology.die_id.n)
            pf_column_number(PF_COLUMN(x, cpus, die), perfile_word(&all->topology.die_id, cpu));
    }
    if (all->node[cpu] != UINT32_MAX)
        pf_column_number(PF_COLUMN(x, cpus, node), all->node[cpu]);
    if (offline)
        pf_column_bool(PF_COLUMN(x, cpus, online), false);
    else if (placed || all->count.nr_cpus_online == all->count.nr_cpus_avail)
        pf_column_bool(PF_COLUMN(x, cpus, online), true);
    return pf_table_row(x, &x->at[PF_TABLE_cpus]);
}

static bool put_cpus(pf_tables *x)
{
    cpu_facts *all = pf_alloc(1, sizeof *all);
    bool ok = all;
    if (!all)
        return false;
    find_cpus(x, all);
    for (uint32_t i = 0; i < all->n && ok; i++)
        ok = put_cpu(x, all, i);
    pf_free(all);
    return ok;
}

/* Damages. */

static bool put_damage(pf_tables *x, uint32_t part, uint64_t offset, uint64_t bytes,
                       uint32_t damage)
{
    pf_put_capture(x, PF_COLUMN(x, damages, capture_id));
    pf_column_text(PF_COLUMN(x, damages, part), pf_emit_part_name(&x->x.base, part));
    pf_put_number(PF_COLUMN(x, damages, offset), offset);
    pf_put_number(PF_COLUMN(x, damages, bytes), bytes);
    pf_column_text(PF_COLUMN(x, damages, damage), pf_damage_name(damage));
    return pf_table_row(x, &x->at[PF_TABLE_damages]);
}

static bool damage(pf_tables *x, const perfile_record *r)
{
    return !pf_table_wanted(x, PF_TABLE_damages) ||
           put_damage(x, r->part, r->offset, r->body.len, r->damage);
}

/* Writes damage in the header or in data that it points to; the number of bytes is unknown. */
static bool put_found(pf_tables *x, uint64_t offset, uint32_t damage)
{
    return !damage || put_damage(x, 0, offset, UINT64_MAX, damage);
}

/* Writes the damage of the header, its tables, events and features. */
static bool put_damages(pf_tables *x)
{
    const perfile_container *c = perfile_stream_container(x->stream);
    bool ok = true;
    for (uint32_t i = 0; c && i < c->n_damages && ok; i++)
        ok = put_found(x, c->damages[i].offset, c->damages[i].damage);
    for (uint32_t i = 0; i < pf_session_n_events(x->session) && ok; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        ok = put_found(x, e->offset, e->damage) && put_found(x, e->offset, e->ids_damage);
    }
    for (uint32_t i = 0; i < pf_session_n_features(x->session) && ok; i++) {
        const perfile_feature *f = perfile_session_feature_at(x->session, i);
        ok = put_found(x, f->offset, f->damage);
    }
    return ok;
}

static bool end(pf_tables *x)
{
    return (!pf_table_wanted(x, PF_TABLE_captures) || put_capture(x)) &&
           (!pf_table_wanted(x, PF_TABLE_events) || put_events(x)) &&
           (!pf_table_wanted(x, PF_TABLE_cpus) || put_cpus(x)) &&
           (!pf_table_wanted(x, PF_TABLE_damages) || put_damages(x));
}

const pf_table_maker pf_make_captures = {.begin = begin,
                                         .sample = sample,
                                         .note = note,
                                         .damage = damage,
                                         .end = end,
                                         .close = close_maker};
