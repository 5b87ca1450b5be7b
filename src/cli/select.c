/* The options of select.h: their table, and how they become terms of a filter.
 *
 * The texts of terms are parsed by the library.  cli_selection_check() makes a filter from them
 * once, only to find errors before any file is opened. */
#include "cli/select.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/command.h"

/* Enumerates the names of record types, by number. */
static const char *type_word(size_t i)
{
    for (uint32_t type = 1; type < PERFILE_RECORD_SIMPLEPERF_END; type++)
        if (perfile_record_type_name(type) && i-- == 0)
            return perfile_record_type_name(type);
    return NULL;
}

#define TERM(kind) CLI_OPTION_TERM + PERFILE_FILTER_BY_##kind

const cli_option cli_select_options[] = {
    {"time", .value = "A..B", .code = TERM(TIME),
     .help = "seconds (12.5..13), with a unit (500ms..), after the first sample (+1s..+2s), "
             "as dump shows it (3389479242773ns..), percent (10%..20%), UTC (2026-05-01T10:00..); "
             "also A,B and 10%-20% as with perf",
     .more = "Percentages are of the time from the first to the last sample. UTC needs the feature "
             "CLOCK_DATA (`perf record -k CLOCK_MONOTONIC`). 10%/2 is the second of ten parts. "
             "Records without a time are not selected."},
    {"pid", .value = "LIST", .code = TERM(PID), .help = "processes: numbers and ranges, 7,100-199"},
    {"tid", .value = "LIST", .code = TERM(TID), .help = "threads, in the same way"},
    {"cpu", .value = "LIST", .code = TERM(CPU), .help = "processors: 0-3,7"},
    {"comm", .value = "NAME", .code = TERM(COMM),
     .help = "name of the thread at that time; * and ? are wildcards; several names are separated "
             "by commas, also for --event, --dso and --cgroup",
     .more = "A name that the capture has is that name, whatever characters it consists of. Else a "
             "backslash takes away what *, ?, a comma or a backslash means."},
    {"event", .value = "NAME", .code = TERM(EVENT), .help = "event, or its position from 0"},
    {"type", .value = "TYPE", .code = TERM(TYPE), .word = type_word, .list = true,
     .help = "record types: SAMPLE,MMAP2", .more = "They are given by name or number."},
    {"ip", .value = "A..B", .code = TERM(IP), .help = "addresses of samples: 0x400000..0x4fffff"},
    {"dso", .value = "NAME", .code = TERM(DSO),
     .help = "file mapped at the address of the sample: a path, or its last component",
     .more = "It is the mapping at the time of the sample."},
    {"cgroup", .value = "NAME", .code = TERM(CGROUP), .help = "path of the cgroup of the sample"},
    {"where", .value = "EXPR", .code = TERM(WHERE),
     .help = "a condition on fields, see format/expressions.md",
     .more = "An example is period > 1e6 && any(callchain, . in 0x400000..0x500000). comm and dso "
             "are defined for samples."},
    {"invert", .code = CLI_OPTION_INVERT, .help = "select the records that do not match"},
    {"every", .value = "N", .code = CLI_OPTION_EVERY, .help = "one matching sample in N",
     .more = "It is the first of each N; with --type the records of these types are counted."},
    {"head", .value = "N", .code = CLI_OPTION_HEAD, .help = "the first N matching samples"},
    {0},
};

/* Reads a number from 1 on, the value of --`option`. */
static int read_number(const char *command, const char *option, const char *word, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end || errno || n == 0)
        return cli_usage(command, "--%s takes a number from 1 on, not '%s'", option, word);
    *to = n;
    return CLI_CONTINUE;
}

int cli_selection_add(unsigned kind, const char *text, cli_selection *s)
{
    size_t n = s->how.n_terms;
    perfile_filter_term *more = realloc(s->terms, (n + 1) * sizeof *more);
    if (!more) {
        cli_message("out of memory");
        return CLI_FAILED;
    }
    more[n] = (perfile_filter_term){.kind = kind, .text = text};
    s->terms = more;
    s->how.n_terms++;
    return CLI_CONTINUE;
}

int cli_selection_option(const char *command, int option, cli_selection *s)
{
    switch (option) {
    case CLI_OPTION_INVERT:
        s->how.flags |= PERFILE_FILTER_INVERT;
        return CLI_CONTINUE;
    case CLI_OPTION_EVERY:
        return read_number(command, "every", optarg, &s->how.every);
    case CLI_OPTION_HEAD:
        return read_number(command, "head", optarg, &s->how.head);
    default:
        return cli_selection_add((unsigned)(option - CLI_OPTION_TERM), optarg, s);
    }
}

int cli_selection_check(const char *command, cli_selection *s)
{
    perfile_error err;
    perfile_filter_state *filter;
    s->how.size = sizeof s->how;
    s->how.terms = s->terms;
    perfile_status st = perfile_filter_new(&s->how, &filter, &err);
    if (st == PERFILE_E_USAGE || st == PERFILE_E_LIMIT)
        return cli_usage_error(command, &err);
    if (st != PERFILE_OK) {
        cli_message("%s", err.message);
        return CLI_FAILED;
    }
    perfile_filter_close(filter);
    return CLI_CONTINUE;
}

bool cli_selects(const cli_selection *s)
{
    return s->how.n_terms || s->how.every || s->how.head || s->how.flags & PERFILE_FILTER_INVERT;
}

bool cli_selects_by(const cli_selection *s, unsigned kind)
{
    for (uint32_t i = 0; i < s->how.n_terms; i++)
        if (s->terms[i].kind == kind)
            return true;
    return false;
}

void cli_selection_free(cli_selection *s)
{
    free(s->terms);
    *s = (cli_selection){0};
}
