/* `list events`, `list ids` and `list cpus`: printed from the session, which has all events of the
 * capture after its records have been read. */
#include "cli/list/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/print.h"
#include "core/command.h"
#include "schema/command.h"

/* Prints the member `attr`, with every field of the stored attr, and `error` if the attr is
 * damaged. */
static void attr_json(const cli_listing *l, const perfile_event *e)
{
    cli_fields_json out = {0};
    perfile_error err;
    cli_json_object("attr");
    perfile_status st = perfile_attr_walk(e->stored, perfile_session_swapped(l->session),
                                          PERFILE_WALK_ALL, &cli_fields_json_visitor, &out, &err);
    cli_fields_json_end(&out);
    cli_json_object_end();
    if (st < 0)
        cli_json_string("error", perfile_damage_name(err.damage));
}

/* Iterates over the CPUs of an event, which are stored as a list, a range, or a bit mask. *step is
 * 0 at the start.  Returns false after the last one. */
static bool next_cpu(const perfile_cpu_map_data *map, uint64_t *step, uint32_t *cpu)
{
    if (map->is_list && *step < map->cpu.n) {
        *cpu = (uint32_t)perfile_word(&map->cpu, (size_t)(*step)++);
        return true;
    }
    if (map->is_range && *step <= (uint64_t)map->end_cpu - map->start_cpu &&
        map->start_cpu <= map->end_cpu) {
        *cpu = map->start_cpu + (uint32_t)(*step)++;
        return true;
    }
    /* A mask has words of `width` bytes; the lowest bit of each word is its first CPU. */
    uint64_t bits = map->has_mask ? map->mask.n * map->mask.width * UINT64_C(8) : 0;
    for (; *step < bits; ++*step) {
        uint64_t per_word = map->mask.width * UINT64_C(8);
        if (perfile_word(&map->mask, (size_t)(*step / per_word)) >> *step % per_word & 1) {
            *cpu = (uint32_t)(*step)++;
            return true;
        }
    }
    return false;
}

/* Prints the CPUs of an event as "0-3,7". */
static void put_cpus(const perfile_cpu_map_data *map)
{
    uint64_t step = 0;
    uint32_t cpu, from = 0, to = 0;
    const char *comma = "";
    bool more = next_cpu(map, &step, &cpu);
    while (more) { /* one iteration per range; `cpu` is its first number */
        from = to = cpu;
        while ((more = next_cpu(map, &step, &cpu)) && cpu == to + 1)
            to = cpu;
        cli_print("%s%" PRIu32, comma, from);
        if (to != from)
            cli_print("-%" PRIu32, to);
        comma = ",";
    }
}

/* Prints the member `cpus`, or `cpu_range` with a text.  A range of a few bytes can name 65536
 * CPUs.  So at most RANGED_MOST of them are printed one by one per capture, to prevent an output
 * that is far larger than the input. */
static void cpus_json(cli_listing *l, const perfile_cpu_map_data *map)
{
    enum { RANGED_MOST = 1 << 17 };
    uint64_t step = 0;
    uint32_t cpu;
    if (map->is_range && map->start_cpu <= map->end_cpu) {
        uint32_t n = (uint32_t)map->end_cpu - map->start_cpu + 1;
        if (n > RANGED_MOST - l->ranged) {
            char range[32];
            snprintf(range, sizeof range, "%u-%u", (unsigned)map->start_cpu,
                     (unsigned)map->end_cpu);
            cli_json_string("cpu_range", range);
            return;
        }
        l->ranged += n;
    }
    cli_json_array("cpus");
    while (next_cpu(map, &step, &cpu))
        cli_json_number(NULL, cpu);
    cli_json_array_end();
}

/* Prints an event with every field of its attr and all its ids. */
static void event_json(cli_listing *l, const perfile_event *e)
{
    cli_json_object(NULL);
    cli_json_number("index", e->index);
    cli_json_string("name", e->name);
    cli_json_number("group_leader", e->group_leader);
    if (e->unit)
        cli_json_string("unit", e->unit);
    cli_json_real("scale", e->scale);
    attr_json(l, e);
    if (e->cpus)
        cpus_json(l, e->cpus);
    cli_json_array("ids");
    for (size_t i = 0; i < e->ids.n; i++)
        cli_json_decimal(NULL, perfile_word(&e->ids, i));
    cli_json_array_end();
    cli_json_object_end();
}

/* Prints an event with every field of its attr, for --verbose. */
static void event_text(const cli_listing *l, const perfile_event *e)
{
    cli_fields_text out = {.indent = 4};
    cli_print("%" PRIu32 "  ", e->index);
    cli_print("%s", e->name);
    cli_print("  (%zu id%s)\n", e->ids.n, e->ids.n == 1 ? "" : "s");
    if (perfile_attr_walk(e->stored, perfile_session_swapped(l->session), PERFILE_WALK_ALL,
                          &cli_fields_text_visitor, &out, NULL) < 0)
        cli_print("    (the rest of the attr cannot be read)\n");
    cli_fields_text_end(&out);
    if (e->cpus) {
        cli_print("    cpus: ");
        put_cpus(e->cpus);
        cli_print("\n");
    }
}

/* Adds the row of an event to the table. */
static void event_row(const cli_listing *l, const perfile_event *e, cli_table *t)
{
    char words[512];
    const perfile_attr *a = e->attr;
    const char *type = perfile_vocabulary_word(pf_vocabulary_find("attr_type"), a->type);
    if (!type)
        type = pf_session_pmu_name(l->session, a->type);
    cli_cell(t, "%" PRIu32, e->index);
    cli_cell_string(t, e->name);
    if (type)
        cli_cell_string(t, type);
    else
        cli_cell(t, "%" PRIu32, a->type);
    cli_cell(t, "0x%" PRIx64, a->config);
    if (a->is_freq)
        cli_cell(t, "%" PRIu64 " Hz", a->sample_freq);
    else
        cli_cell(t, "%" PRIu64, a->sample_period);
    cli_cell(t, "%zu", e->ids.n);
    cli_flag_names(pf_vocabulary_find("sample_type"), a->sample_type, words, sizeof words);
    cli_cell_string(t, words[0] ? words : "-");
}

/* Prints all events as JSON, with --verbose as text, or else as a table. */
static bool print_events(cli_listing *l)
{
    static const char *const columns[] = {">INDEX",  "NAME", "TYPE",       ">CONFIG",
                                          ">PERIOD", ">IDS", "SAMPLE_TYPE"};
    cli_table *t = NULL;
    if (!l->json && !l->verbose) {
        t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
        if (!t)
            return false;
    }
    for (uint32_t i = 0; i < perfile_session_n_events(l->session); i++) {
        const perfile_event *e = perfile_session_event(l->session, i);
        if (l->json)
            event_json(l, e);
        else if (t)
            event_row(l, e, t);
        else
            event_text(l, e);
    }
    return cli_table_end(t, t);
}

const cli_subject cli_list_events = {.name = "events", .member = "events", .print = print_events};

/* Adds a cell for the CPU or thread of a counter: "any" for -1, "-" if `p` is NULL, because the
 * counter is unknown. */
static void number_cell(cli_table *t, const pf_instance *p, uint64_t value)
{
    if (!p)
        cli_cell_string(t, NULL);
    else if (value == UINT64_MAX)
        cli_cell_string(t, "any");
    else
        cli_cell(t, "%" PRIu64, value);
}

/* Prints a CPU or thread number; null if it is unknown or any. */
static void number_json(const char *key, const pf_instance *p, uint64_t value)
{
    if (p && value != UINT64_MAX)
        cli_json_number(key, value);
    else
        cli_json_null(key);
}

/* Prints one id, as JSON or as a row.  `p` is the counter with this id, or NULL. */
static void print_id(const cli_listing *l, const perfile_event *e, uint64_t id,
                     const pf_instance *p, cli_table *t)
{
    if (l->json) {
        cli_json_object(NULL);
        cli_json_decimal("id", id);
        cli_json_number("event_index", e->index);
        cli_json_string("event", e->name);
        number_json("cpu", p, p ? p->cpu : 0);
        number_json("tid", p, p ? p->tid : 0);
        cli_json_object_end();
    } else {
        cli_cell(t, "%" PRIu64, id);
        number_cell(t, p, p ? p->cpu : 0);
        number_cell(t, p, p ? p->tid : 0);
        cli_cell(t, "%" PRIu32, e->index);
        cli_cell_string(t, e->name);
    }
}

/* Prints the ids of all events.  Returns false when out of memory. */
static bool print_ids(cli_listing *l)
{
    static const char *const columns[] = {">ID", ">CPU", ">TID", ">INDEX", "EVENT"};
    cli_table *t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
    if (!t)
        return false;
    for (uint32_t i = 0; i < perfile_session_n_events(l->session); i++) {
        const perfile_event *e = perfile_session_event(l->session, i);
        for (size_t k = 0; k < e->ids.n; k++) {
            pf_instance x;
            uint64_t id = perfile_word(&e->ids, k);
            bool known = pf_session_instance(l->session, id, &x, sizeof x);
            print_id(l, e, id, known ? &x : NULL, t);
        }
    }
    return cli_table_end(t, !l->json);
}

const cli_subject cli_list_ids = {.name = "ids", .member = "ids", .print = print_ids};

/* `list cpus`: CPUs from the features NRCPUS, CPU_TOPOLOGY and NUMA_TOPOLOGY, with the number of
 * records of each. */

/* The facts about a CPU; -1 for unknown. */
typedef struct cpu {
    int64_t core, socket, die, node;
    uint64_t records;
    bool known; /* a feature or record names this CPU */
} cpu;

/* A damaged record may name any CPU; larger numbers are ignored. */
enum { MAX_CPUS = 1 << 16 };

typedef struct cpus {
    cpu *at;    /* MAX_CPUS entries */
    uint32_t n; /* highest number + 1 */
} cpus;

/* Returns the CPUs of a listing.  They are allocated at the first call; NULL when out of memory. */
static cpus *collected_cpus(cli_listing *l)
{
    cpus *c = l->collected;
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (c)
        c->at = calloc(MAX_CPUS, sizeof *c->at);
    if (!c || !c->at) {
        free(c);
        return NULL;
    }
    for (uint32_t i = 0; i < MAX_CPUS; i++)
        c->at[i] = (cpu){-1, -1, -1, -1, 0, false};
    l->collected = c;
    return c;
}

/* Returns the entry of a CPU and marks it as known.  If the number is too large, returns an entry
 * that is never read. */
static cpu *get_cpu(cpus *c, uint64_t number)
{
    static cpu ignored;
    if (number >= MAX_CPUS)
        return &ignored;
    if (number >= c->n)
        c->n = (uint32_t)number + 1;
    c->at[number].known = true;
    return &c->at[number];
}

static bool feed_cpus(cli_listing *l, const perfile_record *r)
{
    uint32_t number;
    cpus *c = collected_cpus(l);
    if (c && perfile_record_cpu(r, &number) && number < MAX_CPUS)
        get_cpu(c, number)->records++;
    return c;
}

/* Gets core, socket and die from CPU_TOPOLOGY.  Its entry i is CPU i. */
static void read_topology(cpus *c, const perfile_session *s)
{
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_CPU_TOPOLOGY);
    perfile_cpu_topology topology;
    perfile_topology_cpu x;
    if (!f || perfile_cpu_topology_decode(f, &topology, sizeof topology, NULL) != PERFILE_OK)
        return;
    for (uint64_t i = 0; perfile_topology_cpu_next(&topology.cpu, &x, sizeof x) == PERFILE_OK;
         i++) {
        get_cpu(c, i)->core = x.core_id;
        get_cpu(c, i)->socket = x.socket_id;
        if (topology.has_dies && i < topology.die_id.n)
            get_cpu(c, i)->die = (int32_t)perfile_word(&topology.die_id, (size_t)i);
    }
}

/* Sets the node of the CPUs in a list such as "0-3,7".  Stops at a syntax error. */
static void set_node(cpus *c, perfile_bytes list, uint32_t node)
{
    for (size_t i = 0; i < list.len;) {
        uint64_t from = 0, to = 0;
        for (; i < list.len && list.ptr[i] >= '0' && list.ptr[i] <= '9' && from < MAX_CPUS; i++)
            from = from * 10 + (list.ptr[i] - '0');
        to = from;
        if (i < list.len && list.ptr[i] == '-')
            for (to = 0, i++;
                 i < list.len && list.ptr[i] >= '0' && list.ptr[i] <= '9' && to < MAX_CPUS; i++)
                to = to * 10 + (list.ptr[i] - '0');
        for (; from <= to && from < MAX_CPUS; from++)
            get_cpu(c, from)->node = node;
        if (i < list.len && list.ptr[i] != ',')
            return;
        i++;
    }
}

/* Gets the nodes from NUMA_TOPOLOGY. */
static void read_nodes(cpus *c, const perfile_session *s)
{
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_NUMA_TOPOLOGY);
    perfile_numa_topology numa;
    perfile_numa_node x;
    if (!f || perfile_numa_topology_decode(f, &numa, sizeof numa, NULL) != PERFILE_OK)
        return;
    /* The limit bounds the time for hostile input: many nodes, each with many ranges of all
     * CPUs. */
    for (int n = 0; n < 4096 && perfile_numa_node_next(&numa.nodes, &x, sizeof x) == PERFILE_OK;
         n++)
        set_node(c, x.cpus, x.node);
}

/* Adds a cell; "-" if the value is unknown. */
static void place_cell(cli_table *t, int64_t value)
{
    if (value < 0)
        cli_cell_string(t, NULL);
    else
        cli_cell(t, "%" PRId64, value);
}

static void place_json(const char *key, int64_t value)
{
    if (value < 0)
        cli_json_null(key);
    else
        cli_json_number(key, (uint64_t)value);
}

/* Combines features and records, and prints each CPU that any of them names. */
static bool print_cpus(cli_listing *l)
{
    static const char *const columns[] = {">CPU", ">CORE", ">SOCKET", ">DIE", ">NODE", ">RECORDS"};
    cpus *c = collected_cpus(l);
    cli_table *t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
    if (!c || !t) {
        cli_table_free(t);
        return false;
    }
    /* The CPUs of NRCPUS exist even if they have no records. */
    uint32_t available = perfile_session_n_cpus(l->session);
    for (uint32_t i = 0; i < available && i < MAX_CPUS; i++)
        get_cpu(c, i);
    read_topology(c, l->session);
    read_nodes(c, l->session);
    for (uint32_t i = 0; i < c->n; i++) {
        const cpu *x = &c->at[i];
        if (!x->known)
            continue;
        if (l->json) {
            cli_json_object(NULL);
            cli_json_number("cpu", i);
            place_json("core", x->core);
            place_json("socket", x->socket);
            place_json("die", x->die);
            place_json("node", x->node);
            cli_json_number("records", x->records);
            cli_json_object_end();
            continue;
        }
        cli_cell(t, "%" PRIu32, i);
        place_cell(t, x->core);
        place_cell(t, x->socket);
        place_cell(t, x->die);
        place_cell(t, x->node);
        cli_cell(t, "%" PRIu64, x->records);
    }
    return cli_table_end(t, !l->json);
}

static void release_cpus(cli_listing *l)
{
    cpus *c = l->collected;
    if (c)
        free(c->at);
    free(c);
}

const cli_subject cli_list_cpus = {.name = "cpus",
                                   .member = "cpus",
                                   .feed = feed_cpus,
                                   .print = print_cpus,
                                   .release = release_cpus};
