/* The entry point: `perfile COMMAND …`, and whatever needs no command (--help, --version,
 * completion).  The functions of commands.def do everything else.
 *
 * `perfile help --manual COMMAND` is not documented. man/update.sh uses it to print the OPTIONS
 * section of a manual page. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/base.h"

/* Prints the general help, to standard error if `error` is set: then a command is missing. */
static void help(bool error)
{
    cli_print_help(error, "perfile reads the files that `perf record` writes, intact or damaged.\n"
                          "\n"
                          "Usage: perfile COMMAND [OPTION ...] FILE ...\n"
                          "\n");
    const cli_command *c;
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        char line[160];
        snprintf(line, sizeof line, "  %-9s %s\n", c->name, c->summary);
        cli_print_help(error, line);
    }
    cli_print_help(
        error, "\n"
               "FILE is a perf.data file, a stream of `perf record -o -`, or a directory of\n"
               "`perf record --threads`; - is standard input.  -i FILE is the same as FILE.\n"
               "Without a FILE, perf.data is read if standard input is a terminal.\n"
               "\n"
               "Examples:\n"
               "  perfile info perf.data                 what is this?\n"
               "  perfile stats --by comm perf.data      who is in it?\n"
               "  perfile dump perf.data | less          everything\n"
               "  perf record -o - ls | perfile info -   while it is recorded\n"
               "\n"
               "`perfile COMMAND --help` explains a command; `perfile completion SHELL` writes\n"
               "the completion of command lines for bash, zsh or fish.\n"
               "Exit status: 0 done; 1 failed; 2 wrong usage; 3 done, but the input was damaged\n"
               "and something may be missing.\n");
}

/* Runs the command of that name.  Its arguments begin at argv[1]. */
static int run(const char *name, int argc, char **argv)
{
    if (strcmp(name, "completion") == 0)
        return cli_completion(argc, argv);
    const cli_command *c = cli_find_command(name);
    return c ? c->run(argc, argv) : CLI_USAGE;
}

/* Prints the OPTIONS section of the manual page of a command. */
static int manual(const char *name)
{
    const cli_command *c = cli_find_command(name);
    if (!c)
        return CLI_USAGE;
    cli_manual(c->spec);
    return CLI_DONE;
}

/* Runs the command line and returns the exit status. */
static int start(int argc, char **argv)
{
    if (argc < 2) {
        help(true);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        cli_version();
        return CLI_DONE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        if (argc < 3) {
            help(false);
            return CLI_DONE;
        }
        if (strcmp(argv[2], "--manual") == 0 && argc == 4)
            return manual(argv[3]);
        /* `perfile help COMMAND` is the same as `perfile COMMAND --help`. */
        static char option[] = "--help";
        char *words[] = {argv[0], option, NULL};
        return run(argv[2], 2, words);
    }
    return run(name, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    cli_signals_install();
    int status = start(argc, argv);
    cli_progress_clear();
    return cli_finish_output(status);
}
