/* Reads options with getopt_long(), but with our own messages: those of getopt print arguments
 * unescaped and do not suggest similar names.
 *
 * The option table of a command is converted to the tables of getopt_long() for each call. -i FILE,
 * --source and --no-index are handled here for all commands.  The values of -i are collected and
 * appended to the operands, so that commands see one list of inputs.  The state is static, like
 * that of getopt: there is one command line per process, or one after the other
 * (fuzz/fuzz_command.c resets optind). */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "perfile/stream.h"
#include "perfile/text.h"
#include "base/command.h"

enum {
    MAX_OPTIONS = 64,         /* rows in the table of a command */
    MAX_LETTERS = 32,         /* size of the short options in the form of getopt() */
    MAX_INPUT_OPTIONS = 1024, /* -i options in one command line */
    MAX_WORDS = 128,          /* words that an option accepts */
    SUGGESTION_BYTES = 160
};

const cli_option cli_input_options[] = {
    {"input", .value = "FILE", .letter = 'i', .path = true,
     .help = "an input, as with perf; without any input: perf.data, on a terminal",
     .more = "It may be given several times where several FILEs are allowed."},
    {0},
};
const cli_option cli_common_options[] = {
    {"from", .value = "FORMAT", .code = CLI_OPTION_FROM,
     .help = "format of the input, instead of detecting it"},
    {"allow-growth", .code = CLI_OPTION_GROWTH,
     .help = "lift the limits on what an input may cost (format/limits.md)",
     .more = "There are limits on memory, time and output. Where one of them is exceeded without "
             "this option, the command stops, or reports what is missing in its answer; the "
             "message names the limit."},
    {"source", .value = "N", .code = CLI_OPTION_CAPTURE,
     .help = "which capture of an archive that holds several, from 1 on",
     .more = "Without it, merge and the commands that only read take each capture as an input, if "
             "there are no more than 128."},
    {"no-index", .code = CLI_OPTION_NO_INDEX,
     .help = "of an archive: find its chunks one by one, without its index",
     .more = "The result is the same unless the archive is damaged."},
    {"help", .code = CLI_OPTION_HELP, .help = "explain the command, with examples"},
    {"version", .code = CLI_OPTION_VERSION, .help = "print the version of perfile"},
    {0},
};

CLI_WORDS(jobs_word, "auto")

const cli_option cli_jobs_options[] = {
    {"jobs", .value = "N", .letter = 'j', .word = jobs_word,
     .help = "number of threads; auto or 0: one per CPU; default: auto, but at most 4. The "
             "output does not depend on it",
     .more = "The maximum is 256."},
    {0},
};

static const char *const damage_words[] = {"stop", "resync", "salvage", "fail", "copy"};
enum { N_DAMAGE_WORDS = sizeof damage_words / sizeof damage_words[0] };

const char *cli_damage_copy_word(size_t i)
{
    return i < N_DAMAGE_WORDS ? damage_words[i] : NULL;
}

const char *cli_damage_word(size_t i)
{
    return i < N_DAMAGE_WORDS - 1 ? damage_words[i] : NULL;
}

/* The options about inputs on the current command line: -i, --source, --no-index. */
static struct {
    char *at[MAX_INPUT_OPTIONS];
    int n;
    uint32_t capture, flags;
} input_options;

static cli_inputs inputs; /* of that command line; valid until the next one, like argv */

const char *cli_suggestion(const char *word, const char *const *words, size_t n, char *out,
                           size_t size)
{
    char similar[SUGGESTION_BYTES];
    /* Every short word would be similar to numbers and punctuation. */
    bool has_letters =
        strpbrk(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;
    out[0] = '\0';
    if (has_letters && pf_suggest(word, words, n, similar, sizeof similar))
        snprintf(out, size, "; did you mean %s?", similar);
    return out;
}

/* Iteration over the rows of an option table. */

cli_rows cli_rows_of(const cli_spec *spec)
{
    return (cli_rows){.next = spec->options};
}

const cli_option *cli_next_row(cli_rows *rows)
{
    for (;;) {
        const cli_option *o = rows->next;
        if (o->rows) { /* a reference: enter that table */
            rows->back = o + 1;
            rows->next = o->rows;
        } else if (o->name || o->heading) {
            rows->next++;
            return o;
        } else if (rows->back) { /* end of a referenced table: return to the outer one */
            rows->next = rows->back;
            rows->back = NULL;
        } else {
            return NULL;
        }
    }
}

const cli_option *cli_next_documented(cli_rows *rows)
{
    const cli_option *o = cli_next_row(rows);
    while (o && (o->heading || !o->help))
        o = cli_next_row(rows);
    return o;
}

const char *cli_option_label(const cli_option *o, char *out, size_t size)
{
    char letter[8] = "";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const char *between = !o->value || o->value[0] == '[' ? "" : " ";
    snprintf(out, size, "%s--%s%s%s", letter, o->name, between, o->value ? o->value : "");
    return out;
}

/* True if `o` is an alias for the previous option in the table: it has the same code. */
static bool is_alias(const struct option *options, const struct option *o)
{
    return o > options && o->val == o[-1].val;
}

/* Reports an option that does not exist.  `word` is "--name" or "--name=value". */
static int unknown_option(const char *command, const char *word, const struct option *options)
{
    char names[MAX_OPTIONS][40], suggestion[SUGGESTION_BYTES + 24];
    const char *candidates[MAX_OPTIONS];
    size_t n = 0, len = strcspn(word, "=");
    char wanted[40];
    for (const struct option *o = options; o->name && n < MAX_OPTIONS; o++) {
        if (is_alias(options, o))
            continue;
        snprintf(names[n], sizeof names[n], "--%s", o->name);
        candidates[n] = names[n];
        n++;
    }
    snprintf(wanted, sizeof wanted, "%.*s", (int)len, word);
    return cli_usage(command, "unknown option '%.*s'%s", (int)len, word,
                     cli_suggestion(wanted, candidates, n, suggestion, sizeof suggestion));
}

/* Reports an abbreviation of several options: "--co" of --comm and --compact-sideband.  Returns
 * false, without a message, if it abbreviates fewer than two. */
static bool report_ambiguous(const char *command, const char *word, const struct option *options)
{
    char list[SUGGESTION_BYTES] = "";
    size_t len = strcspn(word, "=") - 2, used = 0, n = 0;
    for (const struct option *o = options; o->name; o++) {
        if (is_alias(options, o) || strncmp(o->name, word + 2, len) != 0)
            continue;
        int add = snprintf(list + used, sizeof list - used, "%s--%s", n++ ? ", " : "", o->name);
        used += add > 0 && used + (size_t)add < sizeof list ? (size_t)add : 0;
    }
    if (n > 1)
        cli_usage(command, "'%.*s' is ambiguous: it may be %s", (int)len + 2, word, list);
    return n > 1;
}

/* Reports why getopt_long() rejected its current word.  `c` is its result: ':' for a missing value,
 * else '?'.  In that case `optopt` is 0 for an unknown or ambiguous long option, the code of a long
 * option that takes no value, or the unknown letter. */
static int report_wrong_option(const char *command, char **argv, const char *letters,
                               const struct option *options, int c)
{
    const char *word = argv[optind - 1];
    bool is_long = strncmp(word, "--", 2) == 0;
    if (c == ':') { /* `word` is the last one of the command line */
        if (is_long)
            return cli_usage(command, "%s needs a value", word);
        return cli_usage(command, "-%c needs a value", optopt);
    }
    if (optopt == 0) {
        if (report_ambiguous(command, word, options))
            return CLI_USAGE;
        return unknown_option(command, word, options);
    }
    if (optopt < 128 && !strchr(letters, optopt)) {
        /* "-json" with one dash: getopt reads it as the letters j, s, o, n. */
        const char *after_dash = argv[optind] && argv[optind][0] == '-' ? argv[optind] + 1 : "";
        for (const struct option *o = options; o->name; o++)
            if (strcmp(after_dash, o->name) == 0)
                return cli_usage(command, "unknown option '-%c'; did you mean --%s?", optopt,
                                 o->name);
        return cli_usage(command, "unknown option '-%c'", optopt);
    }
    /* A byte above ASCII, which getopt converts to an int with or without sign. */
    if (optopt < 0 || (optopt >= 128 && optopt < 256))
        return cli_usage(command, "unknown option '-%c'", optopt);
    return cli_usage(command, "%.*s takes no value", (int)strcspn(word, "="), word);
}

/* Appends the values of -i to the operands. argv has room for them: getopt has moved all options
 * before optind, and each -i is one or two words there, so the operands can move down by one word
 * per -i. */
static void append_input_options(int argc, char **argv)
{
    int n = input_options.n;
    input_options.n = 0;
    /* [options][operands] becomes [options, fewer][operands][values of -i]. */
    memmove(argv + optind - n, argv + optind, (size_t)(argc - optind) * sizeof *argv);
    optind -= n;
    for (int i = 0; i < n; i++)
        argv[argc - n + i] = input_options.at[i];
}

/* The options of a command in the form that getopt_long() wants. */
typedef struct tables {
    struct option options[MAX_OPTIONS + 1];
    char letters[MAX_LETTERS];
} tables;

/* Converts the rows of `spec`.  Options and letters that do not fit are dropped; the existing
 * tables all fit. */
static void fill_tables(tables *t, const cli_spec *spec)
{
    size_t n = 0, used = 2;
    cli_rows rows = cli_rows_of(spec);
    memcpy(t->letters, ":h", 3); /* the first ':' makes a missing value ':' instead of '?' */
    for (const cli_option *o; (o = cli_next_row(&rows)) && n < MAX_OPTIONS;) {
        if (o->heading)
            continue;
        int value = !o->value            ? no_argument
                    : o->value[0] == '[' ? optional_argument
                                         : required_argument;
        t->options[n++] = (struct option){o->name, value, NULL, o->code ? o->code : o->letter};
        if (o->letter && used + 3 < sizeof t->letters)
            used += (size_t)snprintf(t->letters + used, sizeof t->letters - used, "%c%s", o->letter,
                                     o->value ? ":" : "");
    }
    t->options[n] = (struct option){0};
}

/* Handles an option about inputs.  Returns false if it is another option, or its value is wrong. */
static bool take_input_option(int c)
{
    char *end;
    unsigned long n;
    switch (c) {
    case 'i':
        if (input_options.n == MAX_INPUT_OPTIONS)
            return false;
        input_options.at[input_options.n++] = optarg;
        return true;
    case CLI_OPTION_NO_INDEX:
        input_options.flags = PERFILE_SOURCE_NO_INDEX;
        return true;
    case CLI_OPTION_CAPTURE:
        n = strtoul(optarg, &end, 10);
        input_options.capture = (uint32_t)n;
        return !*end && end != optarg && n >= 1 && n <= UINT16_MAX;
    default:
        return false;
    }
}

int cli_next_option(const char *command, int argc, char **argv, const cli_spec *spec)
{
    tables t;
    int c;
    fill_tables(&t, spec);
    if (optind <= 1) /* start of a command line */
        memset(&input_options, 0, sizeof input_options);
    opterr = 0;
    do
        c = getopt_long(argc, argv, t.letters, t.options, NULL);
    while (take_input_option(c));
    switch (c) {
    case 'h':
        return CLI_OPTION_HELP;
    case -1:
        append_input_options(argc, argv);
        return -1;
    case 'i':
        cli_usage(command, "more than %d -i: give the files without it", MAX_INPUT_OPTIONS);
        return '?';
    case CLI_OPTION_CAPTURE:
        cli_usage(command, "--source takes a number from 1 on, not '%s'", optarg);
        return '?';
    case '?':
    case ':':
        report_wrong_option(command, argv, t.letters, t.options, c);
        return '?';
    default:
        return c;
    }
}

cli_file cli_file_of(const char *path)
{
    return (cli_file){.path = path,
                      .name = strcmp(path, "-") == 0 ? "standard input" : path,
                      .flags = input_options.flags,
                      .capture = input_options.capture};
}

/* If "-" is an input and standard input is a terminal, explains why nothing happens. */
static void note_terminal_input(void)
{
    for (size_t i = 0; i < inputs.n_paths; i++)
        if (strcmp(inputs.paths[i], "-") == 0 && isatty(STDIN_FILENO)) {
            cli_message("standard input is a terminal: waiting for a capture, as from `perf record "
                        "-o - COMMAND | perfile ... -`");
            return;
        }
}

int cli_reject_terminal(const char *command, const char *out, const char *what)
{
    if (strcmp(out, "-") != 0 || !isatty(STDOUT_FILENO))
        return CLI_CONTINUE;
    return cli_usage(
        command,
        "standard output is a terminal, and %s is binary: give -o FILE, or redirect the output "
        "(use `| cat` to write to the terminal all the same)",
        what);
}

bool cli_file_exists(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0;
}

/* True if standard input is the input when none is given: it is a pipe or a file, as with perf.  On
 * a terminal the input is perf.data. */
static bool standard_input_is_meant(void)
{
    struct stat sb;
    return fstat(STDIN_FILENO, &sb) == 0 &&
           (S_ISFIFO(sb.st_mode) || S_ISSOCK(sb.st_mode) || S_ISREG(sb.st_mode));
}

/* Uses standard input or perf.data as the only input. */
static int default_input(const char *command)
{
    static const char *const paths[] = {"-", "perf.data"};
    const bool standard = standard_input_is_meant();
    if (!standard && !isatty(STDIN_FILENO))
        return cli_usage(command, "missing input: give a FILE, or - for standard input");
    if (!standard && !cli_file_exists(paths[1]))
        return cli_usage(command, "missing input: give a FILE (there is no %s here)", paths[1]);
    if (standard)
        cli_signals_pipe(paths[0]);
    inputs.paths = &paths[!standard];
    inputs.n_paths = 1;
    return CLI_CONTINUE;
}

/* Frees the inputs of an earlier command line. */
static void release_inputs(void)
{
    for (size_t i = 0; i < inputs.n; i++)
        free(inputs.at[i].own_name);
    free(inputs.at);
    inputs = (cli_inputs){0};
}

int cli_read_inputs(const char *command, int argc, char **argv, bool each, cli_inputs *in)
{
    release_inputs();
    inputs.paths = (const char *const *)(argv + optind);
    inputs.n_paths = (size_t)(argc - optind);
    if (cli_protect_inputs_verbose(inputs.paths, inputs.n_paths) != CLI_DONE)
        return CLI_FAILED;
    note_terminal_input();
    for (size_t i = 0; i < inputs.n_paths; i++)
        cli_signals_pipe(inputs.paths[i]);
    int status = inputs.n_paths ? CLI_CONTINUE : default_input(command);
    for (size_t i = 0; i < inputs.n_paths && status == CLI_CONTINUE; i++) {
        const cli_file file = cli_file_of(inputs.paths[i]);
        if (!cli_add_input(&file, each && !file.capture, &inputs)) {
            cli_message("out of memory");
            status = CLI_FAILED;
        }
    }
    *in = inputs;
    return status;
}

int cli_read_input(const char *command, int argc, char **argv, cli_file **in)
{
    cli_inputs all;
    int status = cli_read_inputs(command, argc, argv, false, &all);
    if (status == CLI_CONTINUE && all.n > 1)
        status = cli_usage(command, "too many inputs: this command takes one, '%s' is the second",
                           all.paths[1]);
    if (status == CLI_CONTINUE)
        *in = all.at;
    return status;
}

int cli_choose(const char *command, const char *option, const char *word, cli_word *word_at,
               size_t *which)
{
    const char *words[MAX_WORDS];
    char list[256] = "", suggestion[SUGGESTION_BYTES + 24];
    size_t used = 0, n = 0;
    /* The words are needed twice: for comparison, and as a list in the message. */
    while (n < MAX_WORDS && (words[n] = word_at(n)))
        n++;
    for (*which = 0; *which < n; ++*which)
        if (strcmp(word, words[*which]) == 0)
            return CLI_CONTINUE;
    for (size_t i = 0; i < n && used < sizeof list; i++) {
        const char *between = i == 0 ? "" : i + 1 == n ? " or " : ", ";
        int add = snprintf(list + used, sizeof list - used, "%s%s", between, words[i]);
        used += add > 0 ? (size_t)add : 0;
    }
    return cli_usage(command, "%s takes %s, not '%s'%s", option, list, word,
                     cli_suggestion(word, words, n, suggestion, sizeof suggestion));
}

/* Without -j, one thread per CPU is used, but at most DEFAULT_MAX_JOBS. */
enum { MAX_JOBS = 256, DEFAULT_MAX_JOBS = 4 };

/* Returns the number of online CPUs, at most `most`. */
static uint32_t processors(long most)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online < most ? (uint32_t)online : (uint32_t)most;
}

uint32_t cli_jobs(uint32_t requested)
{
    return requested ? requested : processors(DEFAULT_MAX_JOBS);
}

int cli_jobs_option(const char *command, const char *word, uint32_t *jobs)
{
    char *end;
    unsigned long n = strtoul(word, &end, 10);
    bool is_auto = strcmp(word, "auto") == 0;
    if (strcmp(word, "son") == 0) /* "-json" */
        return cli_usage(command, "-json is read as -j with the value 'son'; did you mean --json?");
    if (!is_auto && (word[0] < '0' || word[0] > '9' || *end || n > MAX_JOBS))
        return cli_usage(command, "--jobs takes a number up to %d, or auto, not '%s'", MAX_JOBS,
                         word);
    *jobs = is_auto || n == 0 ? processors(MAX_JOBS) : (uint32_t)n;
    return CLI_CONTINUE;
}

int cli_read_damage(const char *command, const char *word, bool may_copy, cli_on_damage *damage)
{
    static const cli_on_damage what[] = {
        /* In the order of damage_words. resync is an older word for salvage: after damage,
         * something is a record only if there is evidence for it. */
        {.given = true, .policy = PERFILE_ON_DAMAGE_STOP},
        {.given = true, .policy = PERFILE_ON_DAMAGE_SALVAGE},
        {.given = true, .policy = PERFILE_ON_DAMAGE_SALVAGE},
        {.given = true, .policy = PERFILE_ON_DAMAGE_STOP, .fail = true},
        {.given = true, .policy = PERFILE_ON_DAMAGE_RESYNC, .copy = true},
    };
    size_t which;
    int status = cli_choose(command, "--on-damage", word,
                            may_copy ? cli_damage_copy_word : cli_damage_word, &which);
    if (status == CLI_CONTINUE)
        *damage = what[which];
    return status;
}

int cli_read_number(const char *command, const char *option, const char *word, uint64_t *to)
{
    char *end;
    errno = 0;
    *to = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end || errno || *to == 0)
        return cli_usage(command, "--%s takes a number from 1 on, not '%s'", option, word);
    return CLI_CONTINUE;
}

int cli_common_option(const cli_spec *spec, int option, const char **from,
                      const perfile_limits **limits)
{
    switch (option) {
    case CLI_OPTION_HELP:
        cli_help(spec);
        return CLI_DONE;
    case CLI_OPTION_VERSION:
        cli_version();
        return CLI_DONE;
    case CLI_OPTION_FROM:
        *from = optarg;
        return CLI_CONTINUE;
    case CLI_OPTION_GROWTH:
        *limits = &cli_unlimited;
        return CLI_CONTINUE;
    default: /* cli_next_option() has reported it */
        return CLI_USAGE;
    }
}
