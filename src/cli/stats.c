#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/damage.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/print.h"
#include "cli/stats_key.h"
#include "cli/table.h"

static const char help[] =
    "perfile stats counts records and bytes.\n"
    "\n"
    "Usage: perfile stats [OPTION ...] FILE ...\n"
    "\n"
    "  --by KEY[,KEY ...]  one line for each value of the key, or combination of keys:\n"
    "                   type (default), event, cpu, pid, tid, comm, time=STEP (such as 1s,\n"
    "                   10ms, 250us)\n"
    "  --type T[,T ...] count records of these types only, such as sample,mmap2\n"
    "  --sort ORDER     count (default), bytes or key\n"
    "  --raw            do not look into compressed records\n"
    "  --json           a JSON object for each FILE, see format/reports.md\n" CLI_READING_HELP "\n"
    "Bytes are those of the records as stored, with what follows AUXTRACE and TRACING_DATA\n"
    "records; for records that come out of compressed ones, those after decompression.\n"
    "\n"
    "Examples:\n"
    "  perfile stats perf.data                       like `perf report --stats`\n"
    "  perfile stats --by comm,event --type sample perf.data\n"
    "  perfile stats --by time=1s --sort key perf.data   records per second\n"
    "  perfile stats --json perf.data | jq '.rows[0]'\n";

enum { OPTION_BY = CLI_OPTION_OWN, OPTION_TYPE, OPTION_SORT, OPTION_RAW, OPTION_JSON };

typedef struct settings {
    cli_reading how;
    cli_keys keys;
    bool json;
    bool heading;
    int (*order)(const void *a, const void *b);
} settings;

/* The keys of what is sorted: qsort() passes nothing on. */
static const cli_keys *sorted_by;

static int by_key(const void *a, const void *b)
{
    const cli_group *x = a;
    const cli_group *y = b;
    for (unsigned k = 0; k < sorted_by->n; k++) {
        int order = cli_key_order(sorted_by, k, x->key[k], y->key[k]);
        if (order)
            return order;
    }
    return 0;
}

static int by_count(const void *a, const void *b)
{
    const cli_group *x = a;
    const cli_group *y = b;
    return x->records != y->records ? (x->records < y->records ? 1 : -1) : by_key(a, b);
}

static int by_bytes(const void *a, const void *b)
{
    const cli_group *x = a;
    const cli_group *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : by_key(a, b);
}

static void print_json(const settings *set, const cli_counts *counts, const cli_input *in)
{
    const cli_groups *g = &counts->groups;
    cli_json_object(NULL);
    cli_json_string("file", in->name);
    cli_json_array("by");
    for (unsigned k = 0; k < set->keys.n; k++)
        cli_json_string(NULL, cli_key_name(&set->keys, k));
    cli_json_array_end();
    cli_json_array("rows");
    for (size_t i = 0; i < g->n; i++) {
        cli_json_object(NULL);
        for (unsigned k = 0; k < set->keys.n; k++)
            cli_key_json(counts, k, g->at[i].key[k]);
        cli_json_number("records", g->at[i].records);
        cli_json_number("bytes", g->at[i].bytes);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object("total");
    cli_json_number("records", counts->records);
    cli_json_number("bytes", counts->bytes);
    cli_json_object_end();
    cli_json_damage(in);
    cli_json_object_end();
    cli_json_line();
}

static bool print_table(const settings *set, const cli_counts *counts)
{
    static const char *const fixed[] = {">RECORDS", ">BYTES"};
    const cli_groups *g = &counts->groups;
    const char *columns[2 + CLI_MAX_KEYS] = {fixed[0], fixed[1]};
    for (unsigned k = 0; k < set->keys.n; k++)
        columns[2 + k] = cli_key_heading(&set->keys, k);
    cli_table *t = cli_table_new(columns, 2 + set->keys.n);
    if (!t)
        return false;
    for (size_t i = 0; i < g->n; i++) {
        cli_cell(t, "%" PRIu64, g->at[i].records);
        cli_cell(t, "%" PRIu64, g->at[i].bytes);
        for (unsigned k = 0; k < set->keys.n; k++)
            cli_key_cell(counts, k, g->at[i].key[k], t);
    }
    cli_cell(t, "%" PRIu64, counts->records);
    cli_cell(t, "%" PRIu64, counts->bytes);
    for (unsigned k = 0; k < set->keys.n; k++)
        cli_cell(t, "%s", k == 0 ? "total" : "");
    bool ok = cli_table_print(t);
    cli_table_free(t);
    return ok;
}

static int stats_of(const char *path, const settings *set)
{
    cli_input in;
    cli_counts counts;
    bool ok = true;
    cli_counts_start(&counts, &set->keys);
    if (cli_open(&in, path, &set->how) == CLI_DONE) {
        ok = cli_count(&counts, &in, path, &set->how);
        if (ok && in.status >= 0) {
            cli_group *at = counts.groups.at;
            sorted_by = &set->keys;
            if (at)
                qsort(at, counts.groups.n, sizeof *at, set->order);
            if (set->heading)
                cli_print("%s:\n", in.name);
            if (set->json)
                print_json(set, &counts, &in);
            else
                ok = print_table(set, &counts);
            if (set->heading)
                cli_print("\n");
        }
    }
    if (!ok)
        cli_say("%s: out of memory", in.name);
    int status = cli_close(&in);
    cli_counts_end(&counts);
    return ok ? status : CLI_FAILED;
}

static int read_order(const char *word, settings *set)
{
    static const char *const words[] = {"count", "bytes", "key"};
    static int (*const orders[])(const void *, const void *) = {by_count, by_bytes, by_key};
    size_t which;
    int status = cli_choose("stats", "--sort", word, words, 3, &which);
    if (status == CLI_CONTINUE)
        set->order = orders[which];
    return status;
}

static int read_option(int option, settings *set)
{
    const char *wrong = NULL;
    char meant[128] = "";
    switch (option) {
    case OPTION_BY:
        wrong = cli_keys_add(&set->keys, optarg);
        cli_keys_meant(optarg, meant, sizeof meant);
        break;
    case OPTION_TYPE:
        return cli_types_add("stats", &set->keys.types, optarg);
    case OPTION_SORT:
        return read_order(optarg, set);
    case OPTION_RAW:
        set->how.raw = true;
        break;
    case OPTION_JSON:
        set->json = true;
        break;
    default:
        return cli_reading_option("stats", help, option, &set->how);
    }
    return wrong ? cli_usage("stats", "%s: '%s'%s", wrong, optarg, meant) : CLI_CONTINUE;
}

int cli_stats(int argc, char **argv)
{
    static const struct option options[] = {
        CLI_READING_OPTIONS,
        {"by", required_argument, NULL, OPTION_BY},
        {"type", required_argument, NULL, OPTION_TYPE},
        {"sort", required_argument, NULL, OPTION_SORT},
        {"raw", no_argument, NULL, OPTION_RAW},
        {"json", no_argument, NULL, OPTION_JSON},
        {0},
    };
    settings set = {.order = by_count};
    int status = CLI_CONTINUE;
    for (int c;
         status == CLI_CONTINUE && (c = cli_next_option("stats", argc, argv, "", options)) != -1;)
        status = read_option(c, &set);
    cli_inputs in;
    if (status == CLI_CONTINUE)
        status = cli_take_inputs("stats", argc, argv, &in);
    if (status == CLI_CONTINUE) {
        if (set.keys.n == 0)
            cli_keys_add(&set.keys, "type");
        set.heading = !set.json && in.n > 1;
        status = CLI_DONE;
        for (size_t i = 0; i < in.n; i++)
            status = cli_worse(status, stats_of(in.at[i], &set));
    }
    cli_types_free(&set.keys.types);
    return status;
}
