/* Prints the lines of `perfile stats` for samples that a profile counted (code.c), as a table and
 * as JSON: keys and counts, the counts of a capture before, and call trees. */
#include "cli/stats/stats.h"

#include <inttypes.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"
#include "report/command.h"

size_t cli_lines_shown(const cli_lines *c)
{
    return c->set->top && c->set->top < c->n ? (size_t)c->set->top : c->n;
}

double cli_lines_share(uint64_t part, uint64_t all)
{
    return all ? 100 * (double)part / (double)all : 0;
}

const char *cli_line_text(const perfile_profile_row *row, uint8_t per)
{
    switch (per) {
    case PERFILE_PER_COMM:
        return row->comm;
    case PERFILE_PER_EVENT:
        return row->event;
    case PERFILE_PER_DSO:
        return row->dso;
    case PERFILE_PER_SYMBOL:
        return row->symbol;
    case PERFILE_PER_PARENT:
        return row->parent;
    case PERFILE_PER_SOURCE:
        return row->source;
    default:
        return NULL;
    }
}

uint32_t cli_line_number(const perfile_profile_row *row, uint8_t per)
{
    switch (per) {
    case PERFILE_PER_PID:
        return row->pid;
    case PERFILE_PER_TID:
        return row->tid;
    case PERFILE_PER_CPU:
        return row->cpu;
    default:
        return UINT32_MAX;
    }
}

/* Returns the letter for the kind of code in "[k] name", as perf prints functions. */
static char letter(uint16_t cpumode)
{
    static const char letters[] = "-k.Hgu";
    return cpumode < sizeof letters - 1 ? letters[cpumode] : '-';
}

/* Adds a key as a cell; functions are printed as "[k] name". */
static void put_key(cli_table *t, const cli_lines *c, const perfile_profile_row *row, uint8_t per)
{
    const char *text = cli_line_text(row, per);
    const uint32_t number = cli_line_number(row, per);
    const bool is_number =
        per == PERFILE_PER_PID || per == PERFILE_PER_TID || per == PERFILE_PER_CPU;
    if (per == PERFILE_PER_SYMBOL && text)
        cli_cell(t, "[%c] %s", letter(row->cpumode), text);
    else if (per == PERFILE_PER_SYMBOL && c->set->function)
        cli_cell(t, "%s", c->set->around == PERFILE_PROFILE_CALLERS ? "(no caller)" : "(itself)");
    else if (is_number && number == UINT32_MAX && per != PERFILE_PER_CPU)
        cli_cell(t, "-1");
    else if (is_number && number != UINT32_MAX)
        cli_cell(t, "%" PRIu32, number);
    else
        cli_cell_string(t, text);
}

/* The totals of which shares are computed, for the inputs and for the capture before. */
static uint64_t all_now(const cli_lines *c)
{
    return c->periods ? c->sum.period : c->sum.samples;
}

static uint64_t all_before(const cli_lines *c)
{
    return c->periods ? c->sum.before_period : c->sum.before_samples;
}

/* True if totals are a column: they may be larger than the samples taken in a function, or count
 * something else. */
static bool has_totals(const cli_lines *c)
{
    return c->sum.has_chains || c->set->function;
}

/* The numbers printed for a row, a sum of rows, or a node of a tree.  A number that has no meaning
 * there is NOTHING. */
typedef struct figures {
    uint64_t self, total; /* samples or periods, like the shares */
    uint64_t samples, period;
    uint64_t before;
} figures;

#define NOTHING UINT64_MAX

static figures figures_of(const cli_lines *c, const cli_line *line)
{
    const perfile_profile_row *row = &line->row;
    return (figures){.self = c->periods ? row->period : row->samples,
                     .total = c->periods ? row->total_period : row->total_samples,
                     .samples = row->samples,
                     .period = row->period,
                     .before = line->before};
}

/* Adds a share as a cell, which is empty for NOTHING. */
static void put_share(cli_table *t, uint64_t part, uint64_t all)
{
    if (part == NOTHING)
        cli_cell(t, "%s", "");
    else
        cli_cell(t, "%.2f%%", cli_lines_share(part, all));
}

static void put_number(cli_table *t, uint64_t n)
{
    if (n == NOTHING)
        cli_cell(t, "%s", "");
    else
        cli_cell(t, "%" PRIu64, n);
}

/* Adds the numbers of a comparison.  If one side is 0, there is no ratio. */
static void put_comparison(cli_table *t, const cli_lines *c, const figures *f)
{
    const double delta =
        cli_lines_share(f->self, all_now(c)) - cli_lines_share(f->before, all_before(c));
    put_share(t, f->before, all_before(c));
    put_share(t, f->self, all_now(c));
    cli_cell(t, "%s%.2f%%", delta >= 0 ? "+" : "", delta);
    if (f->before && f->self)
        cli_cell(t, "%.3f", (double)f->self / (double)f->before);
    else
        cli_cell_string(t, NULL);
    put_number(t, f->samples);
}

/* Adds the numbers of a line. */
static void put_figures(cli_table *t, const cli_lines *c, const figures *f)
{
    if (c->set->before) {
        put_comparison(t, c, f);
        return;
    }
    put_share(t, f->self, all_now(c));
    if (has_totals(c))
        put_share(t, f->total, all_now(c));
    put_number(t, f->samples);
    if (!c->sum.mixed)
        put_number(t, f->period);
}

/* Adds a row for all rows from `first` on, with `word` as its key.  Totals of several rows can be
 * summed only if each sample counts for one of them. */
static void put_sum(cli_table *t, const cli_lines *c, size_t first, const char *word)
{
    figures sum = {0};
    for (size_t i = first; i < c->n; i++) {
        const figures f = figures_of(c, &c->at[i]);
        sum.self += f.self;
        sum.total += f.total;
        sum.samples += f.samples;
        sum.period += f.period;
        sum.before += f.before;
    }
    if (!c->set->function)
        sum.total = NOTHING;
    put_figures(t, c, &sum);
    cli_cell(t, "%s", word);
    for (unsigned k = 1; k < c->set->keys.n; k++)
        cli_cell(t, "%s", "");
}

enum { DEEPEST = 1024 }; /* most levels of a tree */

/* Returns the key that has trees in its column: functions, or else the last key. */
static unsigned tree_column(const cli_keys *keys)
{
    unsigned column = keys->n - 1;
    for (unsigned k = 0; k < keys->n; k++)
        if (cli_key_per(keys, k) == PERFILE_PER_SYMBOL)
            column = k;
    return column;
}

/* Adds a node of a tree.  `begins`: the node starts a branch.  An only child does not: it continues
 * its parent with the same `indent`, as in perf. */
static void put_node(cli_table *t, const cli_lines *c, const pf_profile_node *node, unsigned indent,
                     bool begins)
{
    const uint64_t self = c->periods ? node->period : node->samples;
    const uint64_t total = c->periods ? node->total_period : node->total_samples;
    const bool of_self = c->tree == TREE_CALLERS && c->sorted_by != BY_TOTAL && !c->set->function;
    const figures f = {.self = of_self || c->tree == TREE_CALLEES ? self : NOTHING,
                       .total = of_self && has_totals(c) ? NOTHING : total,
                       .samples = node->samples,
                       .period = node->period};
    const unsigned column = tree_column(&c->set->keys);
    char spaces[2 * DEEPEST + 1];
    memset(spaces, ' ', sizeof spaces - 1);
    spaces[sizeof spaces - 1] = '\0';
    put_figures(t, c, &f);
    for (unsigned k = 0; k < c->set->keys.n; k++) {
        if (k == column)
            cli_cell(t, "%s%s[%c] %s", spaces + sizeof spaces - 1 - 2 * indent,
                     begins ? "- " : "  ", letter(node->cpumode), node->symbol);
        else
            cli_cell(t, "%s", "");
    }
}

/* Adds the tree of a line, which begins with node *at. */
static void put_tree(cli_table *t, const cli_lines *c, const cli_line *line, size_t *at)
{
    uint16_t indents[DEEPEST + 1]; /* indents of the current node and its parents */
    pf_profile_node node;
    bool begins = true;
    for (; pf_profile_get_node(c->profile, *at, &node, sizeof node) && node.row == line->number &&
           node.depth <= DEEPEST;
         (*at)++) {
        const unsigned indent = node.depth == 1 ? 1
                                : begins        ? indents[node.depth - 1] + 1U
                                                : indents[node.depth - 1];
        put_node(t, c, &node, indent, begins);
        indents[node.depth] = (uint16_t)indent;
        begins = node.below != 1;
    }
}

/* Prints the table.  Returns false when out of memory. */
static bool print_table(const cli_lines *c)
{
    const char *names[5 + CLI_MAX_KEYS];
    const cli_keys *keys = &c->set->keys;
    char more[48];
    unsigned n = 0;
    if (c->set->before)
        names[n++] = ">BEFORE";
    names[n++] = c->set->before ? ">NOW" : ">SELF";
    if (c->set->before)
        names[n++] = ">DELTA";
    if (c->set->before)
        names[n++] = ">RATIO";
    else if (has_totals(c))
        names[n++] = ">TOTAL";
    names[n++] = ">SAMPLES";
    if (!c->sum.mixed && !c->set->before)
        names[n++] = ">PERIOD";
    for (unsigned k = 0; k < keys->n; k++)
        names[n++] = cli_key_heading(keys, k);
    cli_table *t = cli_table_new(names, n);
    if (!t)
        return false;
    const size_t shown = cli_lines_shown(c);
    size_t node = 0;
    for (size_t i = 0; i < shown; i++) {
        const figures f = figures_of(c, &c->at[i]);
        put_figures(t, c, &f);
        for (unsigned k = 0; k < keys->n; k++)
            put_key(t, c, &c->at[i].row, cli_key_per(keys, k));
        put_tree(t, c, &c->at[i], &node);
    }
    if (shown < c->n) {
        snprintf(more, sizeof more, "(%zu more)", c->n - shown);
        put_sum(t, c, shown, more);
    }
    put_sum(t, c, 0, "total");
    return cli_table_end(t, true);
}

bool cli_lines_print(cli_lines *c, const cli_input *in)
{
    if (c->set->heading)
        cli_print("%s:\n", in->name);
    if (c->set->function && !c->n)
        cli_message("%s: no sample has the function '%s' in its call chain", in->name,
                    c->set->function);
    const bool ok = print_table(c);
    if (c->sum.names_most)
        cli_print("names longer than %" PRIu32 " bytes are shortened\n", c->sum.names_most);
    if (cli_losses_print(&c->losses, perfile_stream_session(in->stream),
                         in->selects ? CLI_SAMPLES_UNKNOWN : c->sum.samples, "lost: "))
        cli_print("\n");
    if (c->symbols.options.unnamed) /* names are wanted */
        cli_unnamed_print(&c->symbols, in->name, c->sum.stacks - c->sum.unmapped - c->sum.named);
    if (c->sum.too_costly)
        cli_message("%s: %" PRIu64 " name%s or file%s of debug information took too much time "
                    "or memory",
                    in->name, c->sum.too_costly, c->sum.too_costly == 1 ? "" : "s",
                    c->sum.too_costly == 1 ? "" : "s");
    if (c->set->heading)
        cli_print("\n");
    return ok;
}

/* Prints the function of a row or a node as members of a JSON object. */
static void function_json(const char *name, const char *symbol, bool named, uint64_t start,
                          uint16_t cpumode)
{
    static const char *const modes[] = {NULL,         "kernel",       "user",
                                        "hypervisor", "guest_kernel", "guest_user"};
    cli_json_string(name, symbol);
    cli_json_bool("named", named);
    if (symbol)
        cli_json_decimal("start", start);
    else
        cli_json_null("start");
    if (cpumode < sizeof modes / sizeof modes[0] && modes[cpumode])
        cli_json_string("cpumode", modes[cpumode]);
    else
        cli_json_null("cpumode");
}

/* Prints a key of a row as a member of a JSON object. */
static void key_json(const perfile_profile_row *row, const char *name, uint8_t per)
{
    const char *text = cli_line_text(row, per);
    const uint32_t number = cli_line_number(row, per);
    const bool is_task = per == PERFILE_PER_PID || per == PERFILE_PER_TID;
    if (per == PERFILE_PER_SYMBOL)
        function_json(name, text, row->named, row->start, row->cpumode);
    else if (text)
        cli_json_string(name, text);
    else if (number != UINT32_MAX || is_task)
        cli_json_number(name, number);
    else
        cli_json_null(name);
}

/* Prints a sum of periods; null if it has no meaning. */
static void period_json(const char *name, uint64_t period, bool mixed)
{
    if (mixed)
        cli_json_null(name);
    else
        cli_json_decimal(name, period);
}

/* Prints samples and period, and with `total` also their totals. */
static void figures_json(const perfile_profile_row *row, bool mixed, bool total)
{
    cli_json_number("samples", row->samples);
    period_json("period", row->period, mixed);
    if (!total)
        return;
    cli_json_number("total_samples", row->total_samples);
    period_json("total_period", row->total_period, mixed);
}

/* Prints the numbers of a line in the capture before, and the difference of the shares. */
static void comparison_json(const cli_lines *c, const cli_line *line)
{
    perfile_profile_row before;
    const figures f = figures_of(c, line);
    const double share = cli_lines_share(f.self, all_now(c)),
                 share_before = cli_lines_share(f.before, all_before(c));
    (void)pf_profile_get_before(c->profile, (size_t)line->number, &before, sizeof before);
    cli_json_object("before");
    figures_json(&before, line->row.mixed, true);
    cli_json_object_end();
    cli_json_real("percent_before", share_before);
    cli_json_real("percent", share);
    cli_json_real("delta", share - share_before);
    if (f.before && f.self)
        cli_json_real("ratio", (double)f.self / (double)f.before);
    else
        cli_json_null("ratio");
}

/* Prints the tree of a line, which begins with node *at. */
static void tree_json(const cli_lines *c, const cli_line *line, size_t *at)
{
    pf_profile_node node;
    cli_json_array("tree");
    for (; pf_profile_get_node(c->profile, *at, &node, sizeof node) && node.row == line->number;
         (*at)++) {
        cli_json_object(NULL);
        cli_json_number("depth", node.depth);
        function_json("sym", node.symbol, node.named, node.start, node.cpumode);
        cli_json_number("samples", node.samples);
        period_json("period", node.period, c->sum.mixed);
        cli_json_number("total_samples", node.total_samples);
        period_json("total_period", node.total_period, c->sum.mixed);
        cli_json_bool("cut", node.cut);
        cli_json_object_end();
    }
    cli_json_array_end();
}

/* Prints statistics on the code locations of the samples. */
static void code_json(cli_lines *c)
{
    cli_json_object("code");
    cli_json_bool("chains", c->sum.has_chains);
    cli_json_number("stacks", c->sum.stacks);
    cli_json_number("frames", c->sum.frames);
    cli_json_number("unmapped", c->sum.unmapped);
    cli_json_number("named", c->sum.named);
    cli_unnamed_json(&c->symbols);
    cli_json_number("too_costly", c->sum.too_costly);
    cli_json_number("without_period", c->sum.without_period);
    cli_json_number("without_stack", c->sum.without_stack);
    cli_json_number("unreadable", c->sum.unreadable);
    cli_json_number("joined", c->sum.joined);
    cli_json_number("not_joined", c->sum.not_joined);
    cli_json_number("unwound", c->sum.unwound);
    cli_json_number("unwound_short", c->sum.unwound_short);
    cli_json_number("unwound_no_file", c->sum.unwound_no_file);
    cli_json_number("unwound_no_rules", c->sum.unwound_no_rules);
    cli_json_number("not_unwound", c->sum.not_unwound);
    cli_json_number("names_most", c->sum.names_most);
    cli_json_object_end();
}

/* Prints all lines as an array. */
static void rows_json(const cli_lines *c)
{
    const cli_keys *keys = &c->set->keys;
    size_t node = 0;
    cli_json_array("rows");
    for (size_t i = 0; i < cli_lines_shown(c); i++) {
        const cli_line *line = &c->at[i];
        cli_json_object(NULL);
        for (unsigned k = 0; k < keys->n; k++)
            key_json(&line->row, cli_key_name(keys, k), cli_key_per(keys, k));
        figures_json(&line->row, line->row.mixed, true);
        if (c->set->before)
            comparison_json(c, line);
        if (c->tree)
            tree_json(c, line, &node);
        cli_json_object_end();
    }
    cli_json_array_end();
}

void cli_lines_json(cli_lines *c, const cli_input *in)
{
    const cli_keys *keys = &c->set->keys;
    cli_json_object(NULL);
    cli_json_string("file", in->name);
    if (c->set->before)
        cli_json_string("compared_with", c->set->before);
    cli_json_array("by");
    for (unsigned k = 0; k < keys->n; k++)
        cli_json_string(NULL, cli_key_name(keys, k));
    cli_json_array_end();
    if (c->set->function)
        cli_json_string(c->set->around == PERFILE_PROFILE_CALLERS ? "callers_of" : "callees_of",
                        c->set->function);
    if (c->tree)
        cli_json_string("trees_of", c->tree == TREE_CALLERS ? "callers" : "callees");
    rows_json(c);
    cli_json_number("rows_in_all", c->n);
    cli_json_object("total");
    const perfile_profile_row all = {.samples = c->sum.samples, .period = c->sum.period};
    figures_json(&all, c->sum.mixed, false);
    if (c->set->before) {
        const perfile_profile_row before = {.samples = c->sum.before_samples,
                                            .period = c->sum.before_period};
        cli_json_object("before");
        figures_json(&before, c->sum.mixed, false);
        cli_json_object_end();
    }
    cli_json_object_end();
    code_json(c);
    cli_json_object("losses");
    cli_losses_json(&c->losses, perfile_stream_session(in->stream));
    cli_json_object_end();
    cli_json_damage(in);
    cli_json_object_end();
    cli_json_line();
}
