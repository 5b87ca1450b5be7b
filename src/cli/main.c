#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "perfile/base.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
#define COMMAND(name, summary) {#name, cli_##name, summary},
#include "cli/commands.def"
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void help(bool error)
{
    cli_print_help(error, "perfile reads the files that `perf record` writes, whole or damaged.\n"
                          "\n"
                          "Usage: perfile COMMAND [OPTION ...] FILE ...\n"
                          "\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char line[160];
        snprintf(line, sizeof line, "  %-9s %s\n", commands[i].name, commands[i].summary);
        cli_print_help(error, line);
    }
    cli_print_help(
        error,
        "\n"
        "FILE is a perf.data file, a stream of `perf record -o -`, or a directory of\n"
        "`perf record --threads`; - is standard input.  -i FILE is the same, and without any\n"
        "perf.data is read, where standard input is a terminal.\n"
        "\n"
        "Examples:\n"
        "  perfile info perf.data                 what is this?\n"
        "  perfile stats --by comm perf.data      who is in it?\n"
        "  perfile dump perf.data | less          everything\n"
        "  perf record -o - ls | perfile info -   while it is recorded\n"
        "\n"
        "`perfile COMMAND --help` explains a command.\n"
        "Exit status: 0 done; 1 could not; 2 wrong usage; 3 done, but the input was damaged\n"
        "and something may be missing.\n");
}

static int run(const char *name, int argc, char **argv)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        return commands[i].run(argc, argv);
    }
    const char *names[N_COMMANDS];
    char meant[128];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    cli_print_error("perfile: there is no command '%s'%s\nTry 'perfile --help'.\n", name,
                    cli_meant(name, names, N_COMMANDS, meant, sizeof meant));
    return CLI_USAGE;
}

static int start(int argc, char **argv)
{
    if (argc < 2) {
        help(true);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        cli_print("perfile %s\n", perfile_version());
        return CLI_DONE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        if (argc < 3) {
            help(false);
            return CLI_DONE;
        }
        static char option[] = "--help";
        char *words[] = {argv[0], option, NULL};
        return run(argv[2], 2, words);
    }
    return run(name, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    cli_signals_install();
    return cli_finish_output(start(argc, argv));
}
