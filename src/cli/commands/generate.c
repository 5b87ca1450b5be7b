/* `perfile generate`: a capture made from nothing, and the exact dump of it.  The work is done in
 * src/generate. */
#include <inttypes.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "generate/command.h"

enum {
    OPTION_SEED = CLI_OPTION_OWN,
    OPTION_FORM,
    OPTION_ORDER,
    OPTION_EVENTS,
    OPTION_RECORDS,
    OPTION_ATTR_SIZE,
    OPTION_EXPECT,
    OPTION_MATRIX
};

CLI_WORDS(form_word, "perf.data", "pipe")
CLI_WORDS(order_word, "little", "big")

typedef struct settings {
    pf_generate_options how;
    const char *out, *expect, *matrix;
    const char *single; /* an option that goes with -o only; NULL: none */
    bool replace;
} settings;

/* Says what was made, and what was not. */
static void report(const settings *set, const pf_generate_summary *sum)
{
    for (uint32_t i = 0; i < sum->n_left_out; i++)
        cli_message("%s: no %s with these options", cli_output_name(set->out), sum->left_out[i]);
    if (strcmp(set->out, "-") != 0)
        cli_print("%s: %" PRIu64 " records, %" PRIu64 " features, %" PRIu64 " events\n",
                  cli_output_name(set->out), sum->records, sum->features, sum->events);
}

/* Opens the outputs, and makes the capture. */
static int run(const settings *set)
{
    perfile_error err = {0};
    perfile_sink *sink, *expect = NULL;
    pf_generate_summary sum = {0};
    const cli_output capture = {.out = set->out, .replace = set->replace};
    const cli_output dump = {.out = set->expect, .replace = set->replace};
    int status = cli_output_open(&capture, &sink);
    if (status != CLI_DONE)
        return status;
    if (set->expect)
        status = cli_output_open(&dump, &expect);
    perfile_status st = PERFILE_OK;
    if (status == CLI_DONE) {
        cli_writing_begin(set->out);
        st = pf_generate(&set->how, sink, expect, &sum, &err);
    }
    perfile_sink_close(expect);
    cli_writing_end(sink);
    if (status != CLI_DONE)
        return status;
    if (st != PERFILE_OK) {
        cli_report_error(cli_output_name(set->out), &err);
        return CLI_FAILED;
    }
    report(set, &sum);
    return CLI_DONE;
}

/* A folder of captures. */

static void on_missed(void *user, const char *what)
{
    cli_message("%s: no capture has %s", (const char *)user, what);
}

static int run_matrix(const settings *set)
{
    perfile_error err = {0};
    perfile_sink *folder;
    pf_matrix_summary sum;
    const cli_output o = {.out = set->matrix, .folder = true};
    const int status = cli_output_open(&o, &folder);
    if (status != CLI_DONE)
        return status;
    cli_writing_begin(set->matrix);
    const perfile_status st = pf_generate_matrix(set->how.seed, folder, on_missed,
                                                 (void *)(uintptr_t)set->matrix, &sum, &err);
    cli_writing_end(folder);
    if (st != PERFILE_OK) {
        cli_report_error(set->matrix, &err);
        return CLI_FAILED;
    }
    cli_print("%s: %zu captures have %zu of %zu", set->matrix, sum.files, sum.covered, sum.items);
    cli_print(" rows, conditions and named values of the tables\n");
    return CLI_DONE;
}

/* The command line. */

static const cli_option options[] = {
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "the capture; - is standard output, for pipes"},
    {"expect", .value = "FILE", .code = OPTION_EXPECT, .path = true,
     .help = "write what `perfile dump --format jsonl` shows of OUT",
     .more = "It is written from the values that were meant, not by decoding OUT, so it tests a "
             "reader."},
    {"matrix", .value = "DIR", .code = OPTION_MATRIX, .path = true,
     .help = "make a new folder of small captures instead, each with its dump",
     .more =
         "There is one for each record type, feature, field of samples, read_format and size of "
         "attrs, as file and pipe, in both byte orders: record-MMAP2.file.little.data. Conditions "
         "and values of the tables that none of them has are named on standard error."},
    {"force", .letter = 'f', .help = "replace OUT and FILE if they exist"},
    {"seed", .value = "N", .code = OPTION_SEED, .help = "which values the fields have; default: 1",
     .more = "The same options give the same bytes on every machine."},
    {"to", .value = "FORM", .code = OPTION_FORM, .word = form_word,
     .help = "the form; perf.data (default) or pipe"},
    {"byte-order", .value = "ORDER", .code = OPTION_ORDER, .word = order_word,
     .help = "byte order of every field; little (default) or big"},
    {"attr-size", .value = "N", .code = OPTION_ATTR_SIZE,
     .help =
         "bytes of each attr, 64 to 144 as in kernels from 2.6.31 on, up to 4096 as in newer ones; "
         "default: 144",
     .more = "Fields of samples that need a longer attr are empty."},
    {"events", .value = "N", .code = OPTION_EVENTS, .help = "number of events, 1 to 64; default: 3",
     .more = "A single event may have no id in its samples; several always have one."},
    {"records", .value = "N", .code = OPTION_RECORDS,
     .help = "number of records of each type, 1 to 100000; default: 3"},
    {"help", .code = CLI_OPTION_HELP, .help = "explain the command, with examples"},
    {"version", .code = CLI_OPTION_VERSION, .help = "print the version of perfile"},
    {0},
};

const cli_spec cli_generate_spec = {
    .about = "perfile generate makes a capture from nothing: all types of records of perf, all\n"
             "features, with values from a seed, to test programs that read captures.\n"
             "\n"
             "Usage: perfile generate [OPTION ...] -o OUT\n"
             "       perfile generate [--seed N] --matrix DIR\n",
    .options = options,
    .notes = "The fields of samples and counter values differ from event to event, and with\n"
             "the seed.  Not in the capture: compressed records, AUX traces and formats of\n"
             "tracepoints, which have formats of their own; records of simpleperf.\n"
             "\n"
             "Examples:\n"
             "  perfile generate -f --expect expect.jsonl -o perf.data\n"
             "  perfile dump --format jsonl perf.data | cmp - expect.jsonl\n"
             "  perfile generate --seed 7 --to pipe --byte-order big -f -o perf.data\n"
             "  perfile generate --matrix captures\n"
             "  for i in $(seq 100); do perfile generate --seed $i -o $i.data; done\n"
             "  perfile generate -o - --to pipe | perfile convert --compress -o z.data -\n"
             "\n"
             "Exit status: 0 written; 1 not written; 2 wrong usage.\n",
};

/* Reads the number of an option from `least` to `most`. */
static int read_bounded(const char *option, uint32_t least, uint32_t most, uint32_t *to)
{
    uint64_t n;
    int status = cli_read_number("generate", option + strlen("--"), optarg, &n);
    if (status != CLI_CONTINUE)
        return status;
    if (n < least || n > most)
        return cli_usage("generate", "%s takes a number from %u to %u", option, least, most);
    *to = (uint32_t)n;
    return CLI_CONTINUE;
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    size_t which;
    int status;
    switch (option) {
    case 'o':
        set->out = cli_output_path(optarg);
        return CLI_CONTINUE;
    case 'f':
        set->replace = true;
        set->single = "-f";
        return CLI_CONTINUE;
    case OPTION_MATRIX:
        set->matrix = cli_output_path(optarg);
        return CLI_CONTINUE;
    case OPTION_EXPECT:
        set->single = "--expect";
        set->expect = cli_output_path(optarg);
        return CLI_CONTINUE;
    case OPTION_SEED:
        return cli_read_number("generate", "seed", optarg, &set->how.seed);
    case OPTION_FORM:
        set->single = "--to";
        status = cli_choose("generate", "--to", optarg, form_word, &which);
        if (status == CLI_CONTINUE)
            set->how.form = which ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
        return status;
    case OPTION_ORDER:
        set->single = "--byte-order";
        status = cli_choose("generate", "--byte-order", optarg, order_word, &which);
        if (status == CLI_CONTINUE)
            set->how.byte_order = which ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE;
        return status;
    case OPTION_EVENTS:
        set->single = "--events";
        return read_bounded("--events", 1, PF_GENERATE_MOST_EVENTS, &set->how.n_events);
    case OPTION_RECORDS:
        set->single = "--records";
        return read_bounded("--records", 1, PF_GENERATE_MOST_ROUNDS, &set->how.rounds);
    case OPTION_ATTR_SIZE:
        set->single = "--attr-size";
        return read_bounded("--attr-size", 64, 4096, &set->how.attr_size);
    default: /* help, version, and unknown options */
        return cli_common_option(&cli_generate_spec, option, NULL, NULL);
    }
}

static int check(const settings *set, int argc)
{
    if (optind < argc)
        return cli_usage("generate", "it reads no capture, so it takes no operand");
    if (set->matrix && (set->out || set->single))
        return cli_usage("generate", "--matrix does not go with %s", set->out ? "-o" : set->single);
    if (set->matrix && cli_file_exists(set->matrix))
        return cli_usage("generate", "'%s' exists: --matrix makes a new folder", set->matrix);
    if (set->matrix)
        return strcmp(set->matrix, "-") != 0
                   ? CLI_CONTINUE
                   : cli_usage("generate", "--matrix needs the name of a folder");
    if (!set->out)
        return cli_usage("generate", "missing output: give -o OUT or --matrix DIR");
    if (set->expect && strcmp(set->expect, set->out) == 0)
        return cli_usage("generate", "--expect and -o name the same file");
    return cli_reject_terminal("generate", set->out, "a capture");
}

int cli_generate(int argc, char **argv)
{
    settings set = {.how = {.seed = 1,
                            .form = PERFILE_FORM_FILE,
                            .byte_order = PERFILE_BYTE_ORDER_LITTLE,
                            .n_events = 3,
                            .rounds = 3}};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("generate", argc, argv, &cli_generate_spec)) != -1;)
        status = read_option(c, &set);
    if (status == CLI_CONTINUE)
        status = check(&set, argc);
    if (status != CLI_CONTINUE)
        return status;
    return set.matrix ? run_matrix(&set) : run(&set);
}
