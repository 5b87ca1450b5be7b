/* `list cpus`: processors from the features NRCPUS, CPU_TOPOLOGY and NUMA_TOPOLOGY, and how many
 * records each has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/json.h"
#include "cli/list/list.h"
#include "cli/table.h"

/* What is known about a processor; -1 is not known. */
typedef struct cpu {
    int64_t core, socket, die, node;
    uint64_t records;
    bool known; /* any feature or record names this processor */
} cpu;

/* A damaged record may name any processor: larger numbers are ignored. */
enum { MAX_CPUS = 1 << 16 };

typedef struct cpus {
    cpu *at;    /* MAX_CPUS of them */
    uint32_t n; /* the highest number + 1 */
} cpus;

/* Returns the processors of a listing, which are allocated at the first call; NULL if there is no
 * memory. */
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

/* Returns the entry of a processor, which is then known.  For too large a number it is an entry
 * that nobody reads. */
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

/* Takes core, socket and die from CPU_TOPOLOGY: its entry i is processor i. */
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

/* Sets the node of the processors in a list such as "0-3,7"; stops at what is no such list. */
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

/* Takes the nodes from NUMA_TOPOLOGY. */
static void read_nodes(cpus *c, const perfile_session *s)
{
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_NUMA_TOPOLOGY);
    perfile_numa_topology numa;
    perfile_numa_node x;
    if (!f || perfile_numa_topology_decode(f, &numa, sizeof numa, NULL) != PERFILE_OK)
        return;
    /* Bounds the time for hostile input: many nodes, each with many ranges over all processors. */
    for (int n = 0; n < 4096 && perfile_numa_node_next(&numa.nodes, &x, sizeof x) == PERFILE_OK;
         n++)
        set_node(c, x.cpus, x.node);
}

/* Adds a cell; "-" if the value is not known. */
static void number_cell(cli_table *t, int64_t value)
{
    if (value < 0)
        cli_cell_string(t, NULL);
    else
        cli_cell(t, "%" PRId64, value);
}

static void number_json(const char *key, int64_t value)
{
    if (value < 0)
        cli_json_null(key);
    else
        cli_json_number(key, (uint64_t)value);
}

/* Merges what features and records say, and prints each processor that any of them names. */
static bool print_cpus(cli_listing *l)
{
    static const char *const columns[] = {">CPU", ">CORE", ">SOCKET", ">DIE", ">NODE", ">RECORDS"};
    cpus *c = collected_cpus(l);
    cli_table *t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
    if (!c || !t) {
        cli_table_free(t);
        return false;
    }
    /* The processors of NRCPUS exist even if no record is from them. */
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
            number_json("core", x->core);
            number_json("socket", x->socket);
            number_json("die", x->die);
            number_json("node", x->node);
            cli_json_number("records", x->records);
            cli_json_object_end();
            continue;
        }
        cli_cell(t, "%" PRIu32, i);
        number_cell(t, x->core);
        number_cell(t, x->socket);
        number_cell(t, x->die);
        number_cell(t, x->node);
        cli_cell(t, "%" PRIu64, x->records);
    }
    bool ok = l->json || cli_table_print(t);
    cli_table_free(t);
    return ok;
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
