/* The table of commands, made of commands.def, and the search for a command by its name. */
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

const cli_command *cli_find_command(const char *name)
{
    const char *names[N_COMMANDS];
    char suggestion[128];
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(names[i], name) == 0)
            return &commands[i];
    }
    cli_print_error("perfile: there is no command '%s'%s\nTry 'perfile --help'.\n", name,
                    cli_suggestion(name, names, N_COMMANDS, suggestion, sizeof suggestion));
    return NULL;
}
