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
    OPTION_SPEC,
    OPTION_MATRIX,
    OPTION_COMPRESS,
    OPTION_COMPRESSED2
};

CLI_WORDS(form_word, "perf.data", "pipe", "dir", "v1", "simpleperf", "archive")
CLI_WORDS(order_word, "little", "big")

typedef struct settings {
    pf_generate_options how;
    const char *out, *expect, *matrix, *spec;
    const char *single; /* an option that goes with -o only; NULL: none */
    const char *form;   /* an option that a dump does not need; NULL: none */
    bool replace, archive;
} settings;

static const char *spec_name(const settings *set)
{
    return strcmp(set->spec, "-") == 0 ? "standard input" : set->spec;
}

/* Returns how to open an output; the description must not be overwritten. */
static cli_output output_of(const settings *set, const char *const *out)
{
    return (cli_output){.out = *out,
                        .replace = set->replace,
                        .inputs = set->spec ? &set->spec : NULL,
                        .n_inputs = set->spec ? 1 : 0};
}

/* Says what was made, and what was not. */
static void report(const settings *set, const pf_generate_summary *sum)
{
    for (uint32_t i = 0; i < sum->n_left_out; i++)
        cli_message("%s: no %s with these options", cli_output_name(set->out), sum->left_out[i]);
    if (strcmp(set->out, "-") != 0)
        cli_print("%s: %" PRIu64 " records, %" PRIu64 " features, %" PRIu64 " events\n",
                  cli_output_name(set->out), sum->records, sum->features, sum->events);
}

/* Reports an error of the description, or of the output. */
static int fail(const settings *set, const perfile_error *err)
{
    const bool of_spec = err->where && strcmp(err->where, "spec") == 0;
    cli_report_error(of_spec ? spec_name(set) : cli_output_name(set->out), err);
    return CLI_FAILED;
}

/* Opens the outputs, and makes the capture. */
static int generate(const settings *set)
{
    perfile_error err = {0};
    perfile_sink *sink, *expect = NULL;
    pf_generate_summary sum = {0};
    cli_output capture = output_of(set, &set->out);
    const cli_output dump = output_of(set, &set->expect);
    const uint32_t form = set->how.form   ? set->how.form
                          : set->how.spec ? pf_spec_form(set->how.spec)
                                          : PERFILE_FORM_FILE;
    capture.directory = form == PF_GENERATE_DIRECTORY;
    capture.archive = set->archive;
    if (capture.directory && !set->archive && strcmp(set->out, "-") == 0)
        return cli_usage("generate", "a directory cannot be written to standard output");
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
    if (st != PERFILE_OK)
        return fail(set, &err);
    report(set, &sum);
    return CLI_DONE;
}

/* Descriptions. */

static void on_not_in_dump(void *user, const perfile_note *note)
{
    cli_note(user, note);
}

/* Makes the capture of a dump. */
static int generate_dumped(const settings *set, perfile_source *dump)
{
    perfile_error err = {0};
    perfile_sink *sink;
    const cli_output capture = output_of(set, &set->out);
    if (set->expect)
        return cli_usage("generate",
                         "--expect does not go with a dump: the dump is what to expect");
    if (set->form)
        return cli_usage("generate",
                         "%s does not go with a dump; `perfile convert` changes what "
                         "is made",
                         set->form);
    const int status = cli_output_open(&capture, &sink);
    if (status != CLI_DONE)
        return status;
    cli_writing_begin(set->out);
    const perfile_status st =
        pf_generate_dumped(dump, on_not_in_dump, (void *)(uintptr_t)spec_name(set), sink, &err);
    cli_notes_end();
    cli_writing_end(sink);
    if (st == PERFILE_OK)
        return CLI_DONE;
    cli_report_error(spec_name(set), &err);
    return CLI_FAILED;
}

/* Reads a description, and makes the capture. */
static int generate_described(settings *set, perfile_source *from)
{
    perfile_error err = {0};
    pf_spec *spec;
    unsigned kind;
    perfile_status st = pf_spec_kind(from, &kind, &err);
    if (st == PERFILE_OK && kind == PF_SPEC_CBOR)
        return generate_dumped(set, from);
    if (st == PERFILE_OK && kind == PF_SPEC_JSON)
        return cli_usage("generate",
                         "'%s' is JSON; a dump is read as CBOR, of `perfile dump --format "
                         "cbor`",
                         spec_name(set));
    if (st == PERFILE_OK)
        st = pf_spec_read(from, &spec, &err);
    if (st != PERFILE_OK) {
        cli_report_error(spec_name(set), &err);
        return CLI_FAILED;
    }
    set->how.spec = spec;
    const int status = generate(set);
    pf_spec_free(spec);
    return status;
}

static int run(settings *set)
{
    perfile_error err = {0};
    perfile_source *from;
    if (!set->spec)
        return generate(set);
    if (perfile_source_path(set->spec, NULL, &from, &err) != PERFILE_OK) {
        cli_report_error(spec_name(set), &err);
        return CLI_FAILED;
    }
    const int status = generate_described(set, from);
    perfile_source_close(from);
    return status;
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
    const perfile_status st =
        pf_generate_matrix(set->how.seed ? set->how.seed : 1, folder, on_missed,
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
    {"spec", .value = "FILE", .code = OPTION_SPEC, .path = true,
     .help = "make the capture that FILE describes; - is standard input",
     .more = "FILE is a text, explained below, or a dump in CBOR, from which the capture is made "
             "as by `perfile convert --from cbor`. Other options win over what a text says."},
    {"matrix", .value = "DIR", .code = OPTION_MATRIX, .path = true,
     .help = "make a new folder of small captures instead, each with its dump",
     .more =
         "There is one for each record type, feature, field of samples, read_format and size of "
         "attrs, as file and pipe, in both byte orders: record-MMAP2.file.little.data; a file of "
         "version 1; and those with what no kernel writes: odd-empty-groups.file.little.data. "
         "Directories are packed into archives: feature-DIR_FORMAT.dir.little.perfile. Conditions "
         "and values of the tables that none of them has are named on standard error."},
    {"force", .letter = 'f', .help = "replace OUT and FILE if they exist"},
    {"seed", .value = "N", .code = OPTION_SEED, .help = "which values the fields have; default: 1",
     .more = "The same options give the same bytes on every machine."},
    {"to", .value = "FORM", .code = OPTION_FORM, .word = form_word,
     .help = "the form; perf.data (default), pipe, dir, v1, simpleperf or archive",
     .more = "A directory has three files of records. v1 is a perf.data file of version 1, as perf "
             "up to 3.6 wrote it: with event types, and attrs of 80 bytes. simpleperf is a file "
             "with the records and features of Android's simpleperf, too. An archive holds a "
             "perf.data file, or the form that the description says."},
    {"byte-order", .value = "ORDER", .code = OPTION_ORDER, .word = order_word,
     .help = "byte order of every field; little (default) or big"},
    {"attr-size", .value = "N", .code = OPTION_ATTR_SIZE,
     .help =
         "bytes of each attr, 64 to 144 as in kernels from 2.6.31 on, up to 4096 as in newer ones; "
         "default: 144, of v1: 80",
     .more = "Fields of samples that need a longer attr are empty."},
    {"events", .value = "N", .code = OPTION_EVENTS, .help = "number of events, 1 to 64; default: 3",
     .more = "A single event may have no id in its samples; several always have one."},
    {"records", .value = "N", .code = OPTION_RECORDS,
     .help = "number of records of each type, 1 to 100000; default: 3"},
    {"compress", .value = "[=LEVEL]", .code = OPTION_COMPRESS,
     .help = "compress records of the kernel into COMPRESSED records, 1 (default) to 22",
     .more = "The bytes then depend on the version of zstd, too."},
    {"compressed2", .value = "[=LEVEL]", .code = OPTION_COMPRESSED2,
     .help = "compress them into COMPRESSED2 records"},
    {"help", .code = CLI_OPTION_HELP, .help = "explain the command, with examples"},
    {"version", .code = CLI_OPTION_VERSION, .help = "print the version of perfile"},
    {0},
};

const cli_spec cli_generate_spec = {
    .about = "perfile generate makes a capture from nothing: all types of records of perf, all\n"
             "features, with values from a seed, to test programs that read captures.\n"
             "\n"
             "Usage: perfile generate [OPTION ...] -o OUT\n"
             "       perfile generate --spec FILE [OPTION ...] -o OUT\n"
             "       perfile generate [--seed N] --matrix DIR\n",
    .options = options,
    .notes = "The fields of samples and counter values differ from event to event, and with\n"
             "the seed.  Payloads of tracepoints have the fields of their description in\n"
             "feature TRACING_DATA.  AUX data are random bytes.\n"
             "\n"
             "A description for --spec has a statement on each line; # begins a comment:\n"
             "\n"
             "  seed 7                     # seed, to, byte-order, attr-size, compress,\n"
             "  to pipe                    # compressed2, events, records: as options\n"
             "  event type=software sample_type=IP,TID,TIME flags=sample_id_all,precise_ip:2\n"
             "  record COMM pid=7 comm=\"two words\" sample_id.time=1000\n"
             "  record SAMPLE 3 pid=7      # three of them\n"
             "  feature HOSTNAME string=demo\n"
             "\n"
             "With events, records or features described, the capture has these, in this\n"
             "order, and no others; `record none` and `feature none` leave all of them out.\n"
             "Members have the names that dumps and perf.data(5) have; those of structs and\n"
             "lists are paths, such as values.time_running, branch_stack.lbr[0].from. A\n"
             "record can also have attr=N, its event counted from 0, and misc=N; an event\n"
             "ids=N,N. Values are numbers, names of values and bits, texts, hexadecimal\n"
             "bytes, and lists of these with commas. Bits are joined by commas or |, and\n"
             "names are in either case. In quotes, \\\" \\\\ \\n \\t \\xHH are escapes. What is\n"
             "not said comes from the seed.\n"
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

/* Reads the level of an option, which may have none. */
static int read_level(const char *option, uint32_t *to)
{
    *to = 1;
    return optarg ? read_bounded(option, 1, 22, to) : CLI_CONTINUE;
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    /* An archive packs the form that a description says, or a file. */
    static const uint32_t forms[] = {PERFILE_FORM_FILE,      PERFILE_FORM_PIPE,
                                     PF_GENERATE_DIRECTORY,  PF_GENERATE_VERSION_1,
                                     PF_GENERATE_SIMPLEPERF, 0};
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
    case OPTION_SPEC:
        set->single = "--spec";
        set->spec = optarg;
        return CLI_CONTINUE;
    case OPTION_SEED:
        set->form = "--seed";
        return cli_read_number("generate", "seed", optarg, &set->how.seed);
    case OPTION_FORM:
        set->single = set->form = "--to";
        status = cli_choose("generate", "--to", optarg, form_word, &which);
        if (status == CLI_CONTINUE)
            set->how.form = forms[which];
        set->archive = status == CLI_CONTINUE && !forms[which];
        return status;
    case OPTION_ORDER:
        set->single = set->form = "--byte-order";
        status = cli_choose("generate", "--byte-order", optarg, order_word, &which);
        if (status == CLI_CONTINUE)
            set->how.byte_order = which ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE;
        return status;
    case OPTION_COMPRESS:
        set->single = set->form = "--compress";
        return read_level("--compress", &set->how.compress);
    case OPTION_COMPRESSED2:
        set->single = set->form = "--compressed2";
        return read_level("--compressed2", &set->how.compress2);
    case OPTION_EVENTS:
        set->single = set->form = "--events";
        return read_bounded("--events", 1, PF_GENERATE_MOST_EVENTS, &set->how.n_events);
    case OPTION_RECORDS:
        set->single = set->form = "--records";
        return read_bounded("--records", 1, PF_GENERATE_MOST_ROUNDS, &set->how.rounds);
    case OPTION_ATTR_SIZE:
        set->single = set->form = "--attr-size";
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
    if (set->how.compress && set->how.compress2)
        return cli_usage("generate", "give --compress or --compressed2, not both");
    if (set->expect && strcmp(set->expect, set->out) == 0)
        return cli_usage("generate", "--expect and -o name the same file");
    return cli_reject_terminal("generate", set->out, "a capture");
}

int cli_generate(int argc, char **argv)
{
    settings set = {0};
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
