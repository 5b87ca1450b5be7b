#include "cli/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "perfile/field.h"

static const char help[] =
    "perfile filter writes a new capture with the records that are wanted, and what is needed to\n"
    "understand them: names, mappings and ancestors of the processes that are left.\n"
    "\n"
    "Usage: perfile filter [OPTION ...] -o OUT IN\n"
    "\n"
    "  --time A..B        seconds (12.5..13), with a unit (500ms..), after the first sample\n"
    "                     (+1s..+2s), shares (10%..20%), UTC (2026-05-01T10:00..)\n"
    "  --pid, --tid LIST  processes, threads: 7,100-199\n"
    "  --cpu LIST         processors: 0-3,7\n"
    "  --comm NAME        name of the thread at that time; * and ? stand for any\n"
    "  --event NAME       event, or its position from 0\n"
    "  --type TYPE        record types: SAMPLE,MMAP2\n"
    "  --ip A..B          addresses: 0x400000..0x4fffff\n"
    "  --dso NAME         what is mapped at the address: a path, or the last part of it\n"
    "  --cgroup NAME      path of the cgroup\n"
    "  --where EXPR       a condition on fields, see format/expressions.md\n"
    "  --invert           keep what does not fit\n"
    "  --every N          of what fits, one sample in N\n"
    "  --head N           of what fits, the first N samples\n"
    "  --no-state         nothing but what fits\n"
    "  --compact-state    of names and mappings from before the time only the last ones\n"
    "  --drop-field LIST  cut fields out of samples: callchain,stack_user,regs_user,raw ...\n"
    "\n"
    "  -o, --output OUT   the new capture; - is standard output, in the form of a pipe\n"
    "  -f, --force        replace OUT if it exists\n"
    "  --to FORM          perf.data, pipe or dir; else that of IN\n"
    "  --on-damage WHAT   stop: filter what is in front of damage (default); resync: go on where\n"
    "                     records begin again; salvage: with those that can be trusted;\n"
    "                     fail: write nothing\n"
    "  --json             what was kept as a JSON object\n"
    "  --from FORMAT      take the input for this format instead of looking\n"
    "  --help             this text\n"
    "\n"
    "What is given twice holds when one of both does; different options must all hold.\n"
    "Ends of ranges belong to them, and either may be left out.\n"
    "\n"
    "Examples:\n"
    "  perfile filter --time 10%..20% -o part.data perf.data\n"
    "  perfile filter --comm 'gcc*' --cpu 0-3 -o gcc.data perf.data\n"
    "  perfile filter --where 'period > 1e6 && cpumode == USER' -o big.data perf.data\n"
    "  perfile filter --every 100 --to pipe -o - perf.data | perfile stats -\n"
    "\n"
    "Exit status: 0 filtered; 3 filtered, but IN was damaged; 1 nothing was written.\n";

/* Options of terms are CLI_OPTION_TERM and the kind. */
enum {
    OPTION_INVERT = CLI_OPTION_OWN,
    OPTION_EVERY,
    OPTION_HEAD,
    OPTION_NO_STATE,
    OPTION_COMPACT,
    OPTION_DROP,
    OPTION_TO,
    OPTION_DAMAGE,
    OPTION_JSON,
    OPTION_TERM
};

typedef struct settings {
    const char *out;
    bool replace, json, told_form, directory;
    perfile_filter_term *terms;
    perfile_filter_options how;
    perfile_filter_writing writing;
} settings;

static int read_number(const char *option, const char *word, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end || errno || n == 0)
        return cli_usage("filter", "--%s takes a number from 1: '%s'", option, word);
    *to = n;
    return CLI_CONTINUE;
}

static int read_form(const char *word, settings *set)
{
    set->told_form = true;
    set->directory = strcmp(word, "dir") == 0;
    set->writing.form = strcmp(word, "pipe") == 0 ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    if (set->directory || set->writing.form == PERFILE_FORM_PIPE || strcmp(word, "perf.data") == 0)
        return CLI_CONTINUE;
    return cli_usage("filter", "--to takes perf.data, pipe or dir: '%s'", word);
}

static int read_damage(const char *word, settings *set)
{
    static const struct {
        const char *word;
        uint32_t damage;
    } words[] = {{"stop", PERFILE_FILTER_STOP},
                 {"resync", PERFILE_FILTER_RESYNC},
                 {"salvage", PERFILE_FILTER_SALVAGE},
                 {"fail", PERFILE_FILTER_FAIL}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i].word) == 0) {
            set->writing.on_damage = words[i].damage;
            return CLI_CONTINUE;
        }
    return cli_usage("filter", "--on-damage takes stop, resync, salvage or fail: '%s'", word);
}

/* "callchain,raw": names of bits of sample_type in small letters. */
static int read_fields(const char *list, settings *set)
{
    const uint64_t ids = PERFILE_SAMPLE_ID | PERFILE_SAMPLE_STREAM_ID | PERFILE_SAMPLE_IDENTIFIER;
    const perfile_vocabulary *known = perfile_vocabulary_find("sample_type");
    for (const char *p = list, *end;; p = end + 1) {
        uint64_t bit = 0;
        end = p + strcspn(p, ",");
        for (uint32_t i = 0; i < known->n && !bit; i++) {
            const char *name = known->bits[i].name;
            if (strlen(name) == (size_t)(end - p) && strncasecmp(name, p, strlen(name)) == 0)
                bit = UINT64_C(1) << known->bits[i].shift;
        }
        if (!bit)
            return cli_usage("filter", "--drop-field: samples have no field '%.*s'", (int)(end - p),
                             p);
        if (bit & ids)
            return cli_usage("filter",
                             "--drop-field: ids say whose a sample is, they cannot be dropped");
        /* The weight comes in two forms. */
        if (bit & PERFILE_SAMPLE_WEIGHT)
            bit |= PERFILE_SAMPLE_WEIGHT_STRUCT;
        set->writing.drop |= bit;
        if (!*end)
            return CLI_CONTINUE;
    }
}

static int add_term(unsigned kind, const char *text, settings *set)
{
    size_t n = set->how.n_terms;
    perfile_filter_term *more = realloc(set->terms, (n + 1) * sizeof *more);
    if (!more) {
        cli_say("out of memory");
        return CLI_FAILED;
    }
    more[n] = (perfile_filter_term){.kind = kind, .text = text};
    set->terms = more;
    set->how.n_terms++;
    return CLI_CONTINUE;
}

static int read_option(int option, settings *set)
{
    switch (option) {
    case 'o':
        set->out = optarg;
        return CLI_CONTINUE;
    case 'f':
        set->replace = true;
        return CLI_CONTINUE;
    case OPTION_INVERT:
        set->how.flags |= PERFILE_FILTER_INVERT;
        return CLI_CONTINUE;
    case OPTION_NO_STATE:
        set->how.flags |= PERFILE_FILTER_NO_STATE;
        return CLI_CONTINUE;
    case OPTION_EVERY:
        return read_number("every", optarg, &set->how.every);
    case OPTION_HEAD:
        return read_number("head", optarg, &set->how.head);
    case OPTION_COMPACT:
        set->how.flags |= PERFILE_FILTER_COMPACT_STATE;
        return CLI_CONTINUE;
    case OPTION_DROP:
        return read_fields(optarg, set);
    case OPTION_TO:
        return read_form(optarg, set);
    case OPTION_DAMAGE:
        return read_damage(optarg, set);
    case OPTION_JSON:
        set->json = true;
        return CLI_CONTINUE;
    case CLI_OPTION_FROM:
        set->writing.from = optarg;
        return CLI_CONTINUE;
    case CLI_OPTION_HELP:
        fputs(help, stdout);
        return CLI_DONE;
    default:
        if (option >= OPTION_TERM && option < OPTION_TERM + PERFILE_N_BY)
            return add_term((unsigned)(option - OPTION_TERM), optarg, set);
        /* getopt has said what is wrong */
        fputs("Try 'perfile filter --help'.\n", stderr);
        return CLI_USAGE;
    }
}

static void on_progress(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    cli_progress_step(done, total);
}

static bool is_directory(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}

/* A wrong term is told before anything is opened. */
static int look_at_terms(const settings *set)
{
    perfile_error err;
    perfile_filter_state *filter;
    perfile_status st = perfile_filter_new(&set->how, &filter, &err);
    if (st == PERFILE_E_USAGE || st == PERFILE_E_LIMIT)
        return cli_usage("filter", "%s", err.message);
    if (st != PERFILE_OK) {
        cli_say("%s", err.message);
        return CLI_FAILED;
    }
    perfile_filter_close(filter);
    return CLI_DONE;
}

static int filter(settings *set, const char *path)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink = NULL;
    cli_filter_run x = {.name = strcmp(path, "-") == 0 ? "standard input" : path,
                        .out = set->out,
                        .json = set->json};
    bool to_stdout = strcmp(set->out, "-") == 0;
    bool directory = set->told_form ? set->directory : is_directory(path) && !to_stdout;
    if (to_stdout && !set->told_form)
        set->writing.form = PERFILE_FORM_PIPE;
    int status = look_at_terms(set);
    if (status != CLI_DONE)
        return status;
    if (perfile_source_path(path, NULL, &source, &err) != PERFILE_OK) {
        cli_say_error(x.name, &err);
        return CLI_FAILED;
    }
    if (cli_output_open(set->out, path, "IN", set->replace, directory, &sink) != CLI_DONE) {
        perfile_source_close(source);
        return CLI_FAILED;
    }
    set->writing.note = cli_filter_note;
    set->writing.progress = on_progress;
    set->writing.user = &x;
    cli_signals_file(x.name);
    cli_progress_start(x.name);
    perfile_status st = perfile_filter_capture(source, sink, &set->how, &set->writing, &x.filtered,
                                               sizeof x.filtered, &x.copied, sizeof x.copied, &err);
    cli_filter_say(&x, st == PERFILE_OK ? NULL : &err);
    cli_signals_file(NULL);
    cli_signals_temporary(NULL);
    perfile_sink_close(sink);
    if (st != PERFILE_OK)
        return st == PERFILE_E_USAGE ? CLI_USAGE : CLI_FAILED;
    return x.copied.damages ? CLI_DAMAGED : CLI_DONE;
}

#define TERM(name, kind)                                                                           \
    {                                                                                              \
        name, required_argument, NULL, OPTION_TERM + PERFILE_BY_##kind                             \
    }

int cli_filter(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, CLI_OPTION_HELP},
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        TERM("time", TIME),
        TERM("pid", PID),
        TERM("tid", TID),
        TERM("cpu", CPU),
        TERM("type", TYPE),
        TERM("ip", IP),
        TERM("event", EVENT),
        TERM("comm", COMM),
        TERM("dso", DSO),
        TERM("cgroup", CGROUP),
        TERM("where", WHERE),
        {"invert", no_argument, NULL, OPTION_INVERT},
        {"every", required_argument, NULL, OPTION_EVERY},
        {"head", required_argument, NULL, OPTION_HEAD},
        {"no-state", no_argument, NULL, OPTION_NO_STATE},
        {"compact-state", no_argument, NULL, OPTION_COMPACT},
        {"drop-field", required_argument, NULL, OPTION_DROP},
        {"to", required_argument, NULL, OPTION_TO},
        {"on-damage", required_argument, NULL, OPTION_DAMAGE},
        {"json", no_argument, NULL, OPTION_JSON},
        {"from", required_argument, NULL, CLI_OPTION_FROM},
        {0},
    };
    settings set = {.how = {.size = sizeof set.how}, .writing = {.size = sizeof set.writing}};
    int status = CLI_CONTINUE;
    for (int c;
         status == CLI_CONTINUE && (c = getopt_long(argc, argv, "o:f", options, NULL)) != -1;)
        status = read_option(c, &set);
    set.how.terms = set.terms;
    if (status != CLI_CONTINUE)
        ;
    else if (optind + 1 != argc)
        status = cli_usage("filter", optind == argc ? "which capture?" : "one capture at a time");
    else if (!set.out)
        status = cli_usage("filter", "where to? -o OUT");
    else if (set.json && strcmp(set.out, "-") == 0)
        status =
            cli_usage("filter", "the report and the capture cannot both go to standard output");
    else
        status = filter(&set, argv[optind]);
    free(set.terms);
    return status;
}
