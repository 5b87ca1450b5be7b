/* The table of commands, made from commands.def, and finding a command by its name, including the
 * names of perf commands; notes and messages. */
#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/print.h"
#include "perfile/damage.h"
#include "perfile/field.h"

static const cli_command commands[] = {
#define COMMAND(name, summary) {#name, cli_##name, summary, &cli_##name##_spec},
#include "cli/commands.def"
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

const cli_command *cli_command_at(size_t i)
{
    return i < N_COMMANDS ? &commands[i] : NULL;
}

/* Commands of perf, with the perfile command that does the same.  The text continues a sentence
 * that begins with the perf command; NULL if there is no counterpart. */
static const struct {
    const char *perf;
    const char *ours;
} perf_commands[] = {
    {"annotate", "is `perfile stats --by srcline`, for lines of source instead of instructions"},
    {"archive", "has no counterpart: `perfile list build-ids` lists the files that it collects, "
                "`perfile convert --to archive` packs the capture itself"},
    {"bench", NULL},
    {"buildid-cache", NULL},
    {"buildid-list", "is `perfile list build-ids`"},
    {"c2c", NULL},
    {"config", NULL},
    {"daemon", NULL},
    {"data", "is `perfile convert`, and with --to-json `perfile dump --format jsonl`"},
    {"diff", "is `perfile stats --compare BEFORE AFTER`"},
    {"evlist", "is `perfile list events`"},
    {"ftrace", NULL},
    {"inject", "has no counterpart: filter, sort and convert rewrite captures, but add nothing"},
    {"iostat", NULL},
    {"kallsyms", NULL},
    {"kmem", NULL},
    {"kvm", NULL},
    {"kwork", NULL},
    {"lock", NULL},
    {"mem", "is `perfile dump --fields comm,addr,weight,data_src`, a line for each access"},
    {"probe", NULL},
    {"record", "has no counterpart: perfile reads recordings, and makes none"},
    {"report", "is `perfile stats --by sym`, with call chains `perfile stats --tree` and `perfile "
               "export --to flamegraph`"},
    {"sched", "is `perfile stats --on-cpu` (latency, timehist -s), and over time `perfile export "
              "--to perfetto`"},
    {"test", NULL},
    {"timechart", "is `perfile export --to perfetto`"},
    {"top", NULL},
    {"trace", NULL},
};

/* Reports an unknown command, with the one that is probably meant. */
static void unknown_command(const char *name, const char *const *names)
{
    char suggestion[128];
    cli_suggestion(name, names, N_COMMANDS, suggestion, sizeof suggestion);
    for (size_t i = 0; i < sizeof perf_commands / sizeof perf_commands[0]; i++) {
        const char *ours = perf_commands[i].ours;
        if (strcmp(name, perf_commands[i].perf) != 0)
            continue;
        cli_print_error("perfile: unknown command '%s'; perf %s %s\n", name, name,
                        ours ? ours : "has no counterpart");
        return;
    }
    cli_print_error("perfile: unknown command '%s'%s\n", name, suggestion);
}

const cli_command *cli_find_command(const char *name)
{
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(names[i], name) == 0)
            return &commands[i];
    }
    unknown_command(name, names);
    cli_print_error("Try 'perfile --help'.\n");
    return NULL;
}

/* A truncated capture may have lost all features for the same reason.  The note on the first one is
 * printed; the names of the following ones with the same damage are collected and printed as one
 * line. */

enum { NAMES = 80 /* size of the buffer for these names */ };

static struct {
    const char *input;
    uint32_t damage;  /* damage of the feature that was printed last; 0 if there is none */
    uint32_t more;    /* number of later features with the same damage */
    uint32_t unnamed; /* how many of these have no room in `names` */
    char names[NAMES];
} held;

/* Adds a feature to those that are held back. */
static void hold(uint32_t feature)
{
    const size_t at = strlen(held.names);
    const char *name = perfile_feature_name(feature);
    const int n =
        name ? snprintf(held.names + at, NAMES - at, "%s%s", at ? ", " : "", name)
             : snprintf(held.names + at, NAMES - at, "%s%" PRIu32, at ? ", " : "", feature);
    held.more++;
    if (held.unnamed || n < 0 || (size_t)n >= NAMES - at) {
        held.names[at] = '\0';
        held.unnamed++;
    }
}

void cli_notes_end(void)
{
    if (held.more) {
        if (held.unnamed)
            cli_message("%s: the same of %s and %" PRIu32 " more", held.input, held.names,
                        held.unnamed);
        else
            cli_message("%s: the same of %s", held.input, held.names);
    }
    memset(&held, 0, sizeof held);
}

void cli_note_of(const char *name, uint32_t feature, uint32_t damage, const char *text)
{
    if (damage && feature != UINT32_MAX && held.damage == damage && strcmp(held.input, name) == 0) {
        hold(feature);
        return;
    }
    cli_notes_end();
    cli_message("%s: %s", name, text);
    if (feature != UINT32_MAX) {
        held.input = name;
        held.damage = damage;
    }
}

void cli_note(const char *name, const perfile_note *note)
{
    const bool feature =
        note->kind >= PERFILE_NOTE_FEATURE_LEFT_OUT && note->kind <= PERFILE_NOTE_FEATURE_NO_PLACE;
    char text[CLI_MEMBERS_TEXT];
    cli_note_of(name, feature ? note->number : UINT32_MAX, note->damage,
                cli_with_options(note->where, note->message, text));
}

/* Messages on standard error, and how exit statuses are combined. */

int cli_worse(int a, int b)
{
    static const int rank[] = {
        [CLI_DONE] = 0, [CLI_FAILED] = 3, [CLI_USAGE] = 2, [CLI_DAMAGED] = 1};
    return rank[a] >= rank[b] ? a : b;
}

int cli_status_of(perfile_status st, bool damaged)
{
    if (st != PERFILE_OK)
        return st == PERFILE_E_USAGE ? CLI_USAGE : CLI_FAILED;
    return damaged ? CLI_DAMAGED : CLI_DONE;
}

int cli_no_memory(void)
{
    cli_message("out of memory");
    return CLI_FAILED;
}

void cli_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_print_error_line("perfile", format, args);
    va_end(args);
}

int cli_usage(const char *command, const char *format, ...)
{
    char head[32];
    va_list args;
    snprintf(head, sizeof head, "perfile %s", command);
    va_start(args, format);
    cli_print_error_line(head, format, args);
    va_end(args);
    cli_print_error("Try 'perfile %s --help'.\n", command);
    return CLI_USAGE;
}

int cli_usage_error(const char *command, const perfile_error *err)
{
    /* Only messages about expressions contain line breaks on purpose.  Other messages are printed
     * as one line; a line break in a quoted argument is escaped. */
    bool lines = err->where && strcmp(err->where, "expression") == 0;
    char text[CLI_MEMBERS_TEXT];
    const char *message = cli_with_options(err->where, err->message, text);
    size_t n = lines ? strcspn(message, "\n") : strlen(message);
    cli_print_error("perfile %s: %.*s\n", command, (int)n, message);
    for (const char *line = message + n; *line; line += n) {
        line++;
        n = strcspn(line, "\n");
        cli_print_error("%.*s\n", (int)n, line);
    }
    cli_print_error("Try 'perfile %s --help'.\n", command);
    return CLI_USAGE;
}

int cli_finish_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    /* An earlier write may have failed, and its errno is lost. poll() reports POLLERR for a pipe
     * without a reader. */
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (errno == EPIPE || (poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR))
        return CLI_DONE;
    cli_message("standard output: cannot write%s%s", errno ? ": " : "",
                errno ? strerror(errno) : "");
    return CLI_FAILED;
}

/* The options that set the members that messages of the library are about.
 *
 * The library says "terms.pid" (perfile_error.where, perfile_note.where) and "pid takes numbers";
 * the command prints "--pid takes numbers". */

static const struct {
    const char *member;
    const char *options;
} members[] = {
    {"emit.fields", "--fields"},
    {"merge.inputs", "--offset IN=TIME, --align start"},
    {"perfmon.layout", "convert --layout"},
    {"perfmon.processors", "%d in the name of -o; split --by cpu; convert --to perf.data"},
    {"perfmon.rates", "convert --rate EVENT=N"},
    {"recover.assume", "--attrs-from, --event"},
    {"source.capture", "--source"},
};

/* The terms of a filter have the same names as their options. */
static const char terms[] = "terms.";

const char *cli_with_options(const char *where, const char *message, char out[CLI_MEMBERS_TEXT])
{
    if (where && strncmp(where, terms, sizeof terms - 1) == 0) {
        const char *name = where + sizeof terms - 1;
        const bool first = strncmp(message, name, strlen(name)) == 0;
        if (first)
            snprintf(out, CLI_MEMBERS_TEXT, "--%s", message);
        else
            snprintf(out, CLI_MEMBERS_TEXT, "%s (--%s)", message, name);
        return out;
    }
    for (size_t i = 0; where && i < sizeof members / sizeof members[0]; i++) {
        if (strcmp(where, members[i].member) != 0)
            continue;
        snprintf(out, CLI_MEMBERS_TEXT, "%s (%s)", message, members[i].options);
        return out;
    }
    return message;
}

void cli_json_error(const perfile_error *failed)
{
    char text[CLI_MEMBERS_TEXT];
    if (failed)
        cli_json_string("error", cli_with_options(failed->where, failed->message, text));
}
