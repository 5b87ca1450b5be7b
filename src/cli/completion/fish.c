/* The completion script for fish: some helper functions, then one `complete` line for each option
 * of each command. */
#include <string.h>

#include "cli/completion/completion.h"
#include "cli/print.h"

static const char begin[] = "# fish completion for perfile, made by `perfile completion fish`.\n"
                            "function __perfile_first\n"
                            "    test (count (commandline -opc)) -eq 1\n"
                            "end\n"
                            "# True if the command on the line is the argument.\n"
                            "function __perfile_is\n"
                            "    set -l words (commandline -opc)\n"
                            "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
                            "end\n"
                            "# True if none of the arguments is on the line yet.\n"
                            "function __perfile_lacks\n"
                            "    for word in (commandline -opc)\n"
                            "        contains -- $word $argv; and return 1\n"
                            "    end\n"
                            "    return 0\n"
                            "end\n"
                            "# Prints each argument behind the list that has been typed so far.\n"
                            "function __perfile_list\n"
                            "    set -l lead (string replace -r '^--[a-z-]+=' '' -- (commandline "
                            "-ct) | string replace -r '[^,]*$' '')\n"
                            "    printf '%s\\n' \"$lead\"$argv\n"
                            "end\n"
                            "complete -c perfile -f\n";

/* Prints a text in single quotes. */
static void print_quoted(const char *text)
{
    char one[] = " ";
    cli_print("'");
    for (; *text; text++) {
        one[0] = *text;
        cli_print_help(false, strchr("'\\", *text) ? "\\" : "");
        cli_print_help(false, one);
    }
    cli_print("'");
}

/* Prints the line of one option. */
static void print_option(const cli_command *c, const cli_option *o)
{
    char text[96];
    cli_print("complete -c perfile -n '__perfile_is %s' -l %s", c->name, o->name);
    if (o->letter)
        cli_print(" -s %c", o->letter);
    if (o->value && o->value[0] != '[') {
        if (o->word) {
            cli_print(o->list ? " -x -a '(__perfile_list " : " -x -a '");
            cli_print_word_list(o->word, " ");
            cli_print(o->list ? ")'" : "'");
        } else {
            cli_print(o->path ? " -r -F" : " -x");
        }
    }
    cli_print(" -d ");
    print_quoted(cli_short_help(o, text, sizeof text));
    cli_print("\n");
}

/* Prints the options of one command, and what completes its operands. */
static void print_command(const cli_command *c)
{
    cli_rows rows = cli_rows_of(c->spec);
    for (const cli_option *o; (o = cli_next_documented(&rows));)
        print_option(c, o);
    cli_print("complete -c perfile -n '__perfile_is %s", c->name);
    if (!c->spec->subject) {
        cli_print("' -F\n");
        return;
    }
    cli_print("; and __perfile_lacks ");
    cli_print_word_list(c->spec->subject, " ");
    cli_print("' -a '");
    cli_print_word_list(c->spec->subject, " ");
    cli_print("'\ncomplete -c perfile -n '__perfile_is %s; and not __perfile_lacks ", c->name);
    cli_print_word_list(c->spec->subject, " ");
    cli_print("' -F\n");
}

void cli_completion_fish(void)
{
    const cli_command *c;
    cli_print_help(false, begin);
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        cli_print("complete -c perfile -n __perfile_first -a %s -d ", c->name);
        print_quoted(c->summary);
        cli_print("\ncomplete -c perfile -n '__perfile_is help; and test (count (commandline "
                  "-opc)) -eq 2' "
                  "-a %s\n",
                  c->name);
    }
    cli_print("complete -c perfile -n __perfile_first -a '");
    cli_print_word_list(cli_other_word, " ");
    cli_print("'\ncomplete -c perfile -n '__perfile_is completion' -a '");
    cli_print_word_list(cli_shell_name, " ");
    cli_print("'\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        print_command(c);
}
