#include "cli/split/split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/text.h"

static const char help[] =
    "perfile split writes several captures out of one, each of which stands alone: what is needed\n"
    "to understand it (names, mappings, ancestors of its processes) is in every part.\n"
    "\n"
    "Usage: perfile split [OPTION ...] HOW -o PATTERN IN\n"
    "\n"
    "How, one of these:\n"
    "  --every TIME      parts of so long: 1s, 250ms, 10us, 5ns, 2m, 1h; seconds without a unit\n"
    "  --size SIZE       parts of so many bytes at most: 100M, 64K, 1G\n"
    "  --records N       parts of so many samples and other records of data\n"
    "  --by KEY          a part for each tid, pid, cpu, event or comm (name of the thread)\n"
    "\n"
    "  -o, --output PATTERN  names of the parts, with %d for the number, from 0: part-%04d.data;\n"
    "                    with --by also %s for the key: cpu-%s.data\n"
    "  -f, --force       replace files that exist\n"
    "  --no-state        repeat nothing but facts: each record is in one part\n"
    "  --compact-state   of names and mappings from before a part only the last ones\n"
    "  --to FORM         perf.data or pipe; else that of IN\n"
    "  --on-damage WHAT  stop: split what is in front of damage (default); resync: go on where\n"
    "                    records begin again; salvage: with those that can be trusted;\n"
    "                    fail: write nothing\n"
    "  --json            what was written as a JSON object\n" CLI_INPUT_HELP(" ") CLI_COMMON_HELP(
        " ") "\n"
             "The parts appear when all of them are complete, or none does.\n"
             "\n"
             "Examples:\n"
             "  perfile split --every 10ms -o 'part-%04d.data' samples/captures/callgraph.data\n"
             "  perfile split --by pid -o 'process-%s.data' samples/captures/threads.data\n"
             "  perfile split --size 100M -o 'piece-%d.data' samples/captures/tracepoints.data\n"
             "  perfile split --records 10 --json -o 'ten-%d.data' "
             "samples/captures/cpu-clock.data\n"
             "\n"
             "Exit status: 0 split; 3 split, but IN was damaged; 1 nothing was written.\n";

enum {
    OPTION_EVERY = CLI_OPTION_OWN,
    OPTION_SIZE,
    OPTION_RECORDS,
    OPTION_BY,
    OPTION_NO_STATE,
    OPTION_COMPACT
};

typedef struct settings {
    cli_writing w;
    perfile_split_options how;
    perfile_split_writing writing;
} settings;

/* "1.5s": decimals of a unit, down to ns. */
static bool read_time(const char *word, uint64_t *ns)
{
    static const struct {
        const char *word;
        uint64_t ns;
    } units[] = {{"ns", 1},          {"us", 1000},         {"ms", 1000000}, {"s", 1000000000},
                 {"m", 60000000000}, {"h", 3600000000000}, {"", 1000000000}};
    char *end;
    errno = 0;
    unsigned long long whole = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || errno)
        return false;
    const char *part = *end == '.' ? end + 1 : end;
    size_t digits = strspn(part, part == end ? "" : "0123456789");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(part + digits, units[i].word) != 0)
            continue;
        uint64_t unit = units[i].ns, scale = unit, sum = 0;
        if (whole > UINT64_MAX / unit)
            return false;
        for (size_t k = 0; k < digits && scale; k++, scale /= 10)
            sum += scale * (uint64_t)(part[k] - '0') / 10;
        *ns = whole * unit + sum;
        return *ns >= sum && *ns > 0;
    }
    return false;
}

static bool read_number(const char *word, uint64_t *n)
{
    char *end;
    errno = 0;
    *n = strtoull(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && !*end && !errno && *n > 0;
}

static int read_key(const char *word, uint32_t *by)
{
    static const char *const words[] = {[PERFILE_SPLIT_TID] = "tid",
                                        [PERFILE_SPLIT_PID] = "pid",
                                        [PERFILE_SPLIT_CPU] = "cpu",
                                        [PERFILE_SPLIT_EVENT] = "event",
                                        [PERFILE_SPLIT_COMM] = "comm"};
    size_t which;
    int status = cli_choose("split", "--by", word, words + PERFILE_SPLIT_TID,
                            PERFILE_SPLIT_COMM - PERFILE_SPLIT_TID + 1, &which);
    *by = PERFILE_SPLIT_TID + (uint32_t)which;
    return status;
}

/* One of the four ways. */
static int read_way(int option, settings *set)
{
    uint64_t *n = &set->how.amount;
    if (set->how.by)
        return cli_usage("split", "one of --every, --size, --records and --by");
    switch (option) {
    case OPTION_EVERY:
        set->how.by = PERFILE_SPLIT_EVERY;
        if (!read_time(optarg, n))
            return cli_usage("split", "--every takes a time such as 1s, 250ms or 5ns: '%s'",
                             optarg);
        return CLI_CONTINUE;
    case OPTION_SIZE:
        set->how.by = PERFILE_SPLIT_SIZE;
        if (!cli_read_size(optarg, n) || *n == 0)
            return cli_usage("split", "--size takes a size such as 100M: '%s'", optarg);
        return CLI_CONTINUE;
    case OPTION_RECORDS:
        set->how.by = PERFILE_SPLIT_RECORDS;
        if (!read_number(optarg, n))
            return cli_usage("split", "--records takes a number from 1: '%s'", optarg);
        return CLI_CONTINUE;
    default:
        return read_key(optarg, &set->how.by);
    }
}

static int read_option(int option, settings *set)
{
    switch (option) {
    case OPTION_EVERY:
    case OPTION_SIZE:
    case OPTION_RECORDS:
    case OPTION_BY:
        return read_way(option, set);
    case OPTION_NO_STATE:
        set->how.flags |= PERFILE_SPLIT_NO_STATE;
        return CLI_CONTINUE;
    case OPTION_COMPACT:
        set->how.flags |= PERFILE_SPLIT_COMPACT_STATE;
        return CLI_CONTINUE;
    default:
        return cli_writing_option("split", help, option, &set->w);
    }
}

/* What is wrong with the options is told before anything is opened. */
static int look_at(settings *set)
{
    perfile_error err;
    if (!set->how.by)
        return cli_usage("split", "missing way: give --every, --size, --records or --by");
    if (set->w.directory)
        return cli_usage("split", "--to takes perf.data or pipe: 'dir'");
    set->how.pattern = set->w.out;
    if (perfile_split_check(&set->how, &err) != PERFILE_OK)
        return cli_usage_error("split", &err);
    return CLI_CONTINUE;
}

/* The folder is there and has to go when the process ends, or is none any more: in between, and
 * while the files get their names, it does not end. */
static void on_temporary(void *user, const char *path)
{
    (void)user;
    if (!path)
        cli_signals_hold(true);
    cli_signals_temporary(path);
    if (path)
        cli_signals_hold(false);
}

static int split(settings *set, const char *path)
{
    perfile_error err = {0};
    perfile_source *source;
    cli_split_run x = {.name = cli_input_name(path), .out = set->w.out, .json = set->w.json};
    if (cli_source(path, set->w.limits, &source, &err) != PERFILE_OK) {
        cli_say_error(x.name, &err);
        return CLI_FAILED;
    }
    if (cli_output_apart(&path, 1) != CLI_DONE) {
        perfile_source_close(source);
        return CLI_FAILED;
    }
    cli_say_beside(path);
    if (set->w.replace)
        set->how.flags |= PERFILE_SPLIT_REPLACE;
    set->writing.form = set->w.form;
    set->writing.format = set->w.format;
    set->writing.from = set->w.from;
    set->writing.limits = set->w.limits;
    set->writing.on_damage = set->w.fail ? PERFILE_FILTER_FAIL : set->w.on_damage;
    set->writing.note = cli_split_note;
    set->writing.done = cli_split_done;
    set->writing.temporary = on_temporary;
    set->writing.progress = cli_writing_progress;
    set->writing.user = &x;
    cli_writing_begin(x.name);
    cli_signals_hold(true);
    perfile_status st =
        perfile_split_capture(source, &set->how, &set->writing, &x.sum, sizeof x.sum, &err);
    cli_signals_file(NULL);
    cli_signals_temporary(NULL);
    cli_signals_hold(false);
    cli_split_say(&x, st == PERFILE_OK ? NULL : &err);
    if (st == PERFILE_E_IO && err.sys == EEXIST && !set->w.replace)
        cli_say("%s: -f replaces files that exist", set->w.out);
    cli_split_free(&x);
    return cli_status_of(st, x.sum.damages);
}

int cli_split(int argc, char **argv)
{
    static const struct option options[] = {
        CLI_WRITING_OPTIONS,
        {"force", no_argument, NULL, 'f'},
        {"every", required_argument, NULL, OPTION_EVERY},
        {"size", required_argument, NULL, OPTION_SIZE},
        {"records", required_argument, NULL, OPTION_RECORDS},
        {"by", required_argument, NULL, OPTION_BY},
        {"no-state", no_argument, NULL, OPTION_NO_STATE},
        {"compact-state", no_argument, NULL, OPTION_COMPACT},
        {"to", required_argument, NULL, CLI_OPTION_TO},
        {0},
    };
    settings set = {.how = {.size = sizeof set.how}, .writing = {.size = sizeof set.writing}};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("split", argc, argv, "o:f", options)) != -1;)
        status = read_option(c, &set);
    const char *in;
    if (status == CLI_CONTINUE)
        status = cli_writing_input("split", argc, argv, &set.w, &in);
    if (status == CLI_CONTINUE)
        status = look_at(&set);
    return status == CLI_CONTINUE ? split(&set, in) : status;
}
