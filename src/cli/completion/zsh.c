/* The completion script for zsh: a function in the style of files called _perfile, which passes the
 * options of each command to _arguments. */
#include <string.h>

#include "cli/completion/completion.h"
#include "cli/print.h"

/* Prints a text within '…[TEXT]:NAME:ACTION': its special characters are escaped for _arguments,
 * and a quote for the shell. */
static void print_text(const char *text)
{
    char one[] = " ";
    for (; *text; text++) {
        one[0] = *text;
        if (*text == '\'')
            cli_print_help(false, "'\\''");
        else if (strchr("[]:\\", *text))
            cli_print_help(false, "\\");
        if (*text != '\'')
            cli_print_help(false, one);
    }
}

/* Prints ":NAME:ACTION", what completes the value of an option. */
static void print_action(const cli_option *o)
{
    cli_print(":");
    print_text(o->value + (o->value[0] == '[' ? 2 : 0));
    cli_print(":");
    if (o->word) {
        cli_print(o->list ? "_sequence compadd - " : "(");
        cli_print_word_list(o->word, " ");
        cli_print(o->list ? "" : ")");
    } else if (o->path) {
        cli_print("_files");
    } else {
        cli_print(" ");
    }
}

/* Prints one spelling of an option: "-o" or "--output".  The '*' in front allows it to be
 * repeated. */
static void print_form(const cli_option *o, const char *strokes, const char *name)
{
    char text[96];
    bool is_long = strokes[1] == '-';
    cli_print("        '*%s%s", strokes, name);
    if (o->value)
        cli_print(!is_long ? "+" : o->value[0] == '[' ? "=-" : "=");
    cli_print("[");
    print_text(cli_short_help(o, text, sizeof text));
    cli_print("]");
    if (o->value) {
        cli_print(o->value[0] == '[' ? ":" : "");
        print_action(o);
    }
    cli_print("' \\\n");
}

/* Prints the branch of one command. */
static void print_command(const cli_command *c)
{
    cli_rows rows = cli_rows_of(c->spec);
    cli_print("    %s)\n      _arguments -s -S : \\\n", c->name);
    for (const cli_option *o; (o = cli_next_documented(&rows));) {
        const char letter[] = {o->letter, '\0'};
        if (o->letter)
            print_form(o, "-", letter);
        print_form(o, "--", o->name);
    }
    if (c->spec->subject) {
        cli_print("        '1:WHAT:(");
        cli_print_word_list(c->spec->subject, " ");
        cli_print(")' \\\n");
    }
    cli_print("        '*:FILE:_files'\n      ;;\n");
}

void cli_completion_zsh(void)
{
    const cli_command *c;
    cli_print_help(false, "#compdef perfile\n"
                          "# zsh completion for perfile, made by `perfile completion zsh`.\n"
                          "_perfile() {\n"
                          "  local -a commands others\n"
                          "  commands=(\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        cli_print("    '%s:", c->name);
        print_text(c->summary);
        cli_print("'\n");
    }
    cli_print("  )\n  others=(");
    cli_print_word_list(cli_other_word, " ");
    cli_print_help(false, ")\n"
                          "  if (( CURRENT == 2 )); then\n"
                          "    _describe command commands\n"
                          "    compadd -- $others\n"
                          "    return\n"
                          "  fi\n"
                          "  local command=$words[2]\n"
                          "  shift words\n"
                          "  (( CURRENT-- ))\n"
                          "  case $command in\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        print_command(c);
    cli_print_help(false, "    help)\n"
                          "      (( CURRENT == 2 )) && _describe command commands\n"
                          "      ;;\n"
                          "    completion)\n"
                          "      (( CURRENT == 2 )) && compadd -- ");
    cli_print_word_list(cli_shell_name, " ");
    cli_print_help(false, "\n"
                          "      ;;\n"
                          "  esac\n"
                          "}\n"
                          "if [[ $funcstack[1] == _perfile ]]; then\n"
                          "  _perfile \"$@\"\n"
                          "else\n"
                          "  compdef _perfile perfile\n"
                          "fi\n");
}
