/* The table of commands, made of commands.def, and the search for a command by its name, which
 * knows the commands of perf, too. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"

static const cli_command commands[] = {
#define COMMAND(name, summary) {#name, cli_##name, summary, &cli_##name##_spec},
#include "cli/commands.def"
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

const cli_command *cli_command_at(size_t i)
{
    return i < N_COMMANDS ? &commands[i] : NULL;
}

/* Commands of perf, and what does the same here; NULL: nothing.  A sentence that begins
 * with the command of perf. */
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
    {"diff", "is `perfile export --to flamegraph --compare BEFORE AFTER`"},
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
    {"report", "is `perfile stats --by sym`, with call chains `perfile export --to flamegraph`"},
    {"sched", "is `perfile export --to perfetto`, threads and processors over time"},
    {"script", "is `perfile dump`, with chosen columns `perfile dump --fields`"},
    {"test", NULL},
    {"timechart", "is `perfile export --to perfetto`"},
    {"top", NULL},
    {"trace", NULL},
};

/* Reports an unknown command, with the one that may be meant. */
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
