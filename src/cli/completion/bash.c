/* The completion script for bash: a function with a `case` over the commands.
 *
 * For the command on the line the script sets `options`, and for the word in front of the cursor
 * (`before`) what may follow: `kind` is option, words, list (comma-separated words), path, free (no
 * completion), or operand, which is then resolved to one of the others.  compgen does the rest. */
#include "cli/completion/completion.h"
#include "cli/print.h"

static const char begin[] =
    "# bash completion for perfile, made by `perfile completion bash`.\n"
    "_perfile()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local options= words= kind=operand subjects= word\n"
    "    COMPREPLY=()\n"
    "    # bash takes --name=value for three words.\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $before == = ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n";

static const char end[] =
    "    local lead=\n"
    "    [[ $kind == list && $cur == *,* ]] && lead=${cur%,*},\n"
    "    case $kind in\n"
    "    option) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\") ;;\n"
    "    words) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
    "    list) mapfile -t COMPREPLY < <(compgen -P \"$lead\" -W \"$words\" -- "
    "\"${cur#\"$lead\"}\") ;;\n"
    "    path)\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "        ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _perfile perfile\n";

/* Resolves the kind `operand`: the first operand of `list` is one of its subjects, all others are
 * files. */
static const char operand[] = "    if [[ $kind == operand ]]; then\n"
                              "        kind=path\n"
                              "        for word in \"${COMP_WORDS[@]:2:COMP_CWORD - 2}\"; do\n"
                              "            [[ \" $subjects \" == *\" $word \"* ]] && subjects=\n"
                              "        done\n"
                              "        if [[ $cur == -* ]]; then\n"
                              "            kind=option\n"
                              "        elif [[ -n $subjects ]]; then\n"
                              "            kind=words words=$subjects\n"
                              "        fi\n"
                              "    fi\n";

/* Prints the short and long name of an option. */
static void print_names(const cli_option *o, const char *between)
{
    if (o->letter)
        cli_print("-%c%s", o->letter, between);
    cli_print("--%s", o->name);
}

/* Prints the branch of `case $before` for an option that takes a value. */
static void print_value(const cli_option *o)
{
    if (!o->value || o->value[0] == '[')
        return;
    cli_print("        ");
    print_names(o, " | ");
    if (o->word) {
        cli_print(") kind=%s words='", o->list ? "list" : "words");
        cli_print_word_list(o->word, " ");
        cli_print("' ;;\n");
    } else {
        cli_print(") kind=%s ;;\n", o->path ? "path" : "free");
    }
}

/* Prints the branch of one command. */
static void print_command(const cli_command *c)
{
    cli_rows rows = cli_rows_of(c->spec);
    cli_print("    %s)\n        options='", c->name);
    for (const cli_option *o; (o = cli_next_documented(&rows));) {
        print_names(o, " ");
        cli_print(" ");
    }
    cli_print("'\n");
    if (c->spec->subject) {
        cli_print("        subjects='");
        cli_print_word_list(c->spec->subject, " ");
        cli_print("'\n");
    }
    cli_print("        case $before in\n");
    rows = cli_rows_of(c->spec);
    for (const cli_option *o; (o = cli_next_documented(&rows));)
        print_value(o);
    cli_print("        esac\n        ;;\n");
}

static const char *command_word(size_t i)
{
    const cli_command *c = cli_command_at(i);
    return c ? c->name : NULL;
}

void cli_completion_bash(void)
{
    const cli_command *c;
    cli_print_help(false, begin);
    cli_print("    local commands='");
    cli_print_word_list(command_word, " ");
    cli_print("'\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        print_command(c);
    cli_print("    help) kind=words words=$commands ;;\n    completion) kind=words words='");
    cli_print_word_list(cli_shell_name, " ");
    cli_print("' ;;\n    esac\n");
    cli_print("    if ((COMP_CWORD == 1)); then\n        kind=words words=\"$commands ");
    cli_print_word_list(cli_other_word, " ");
    cli_print("\"\n    fi\n");
    cli_print_help(false, operand);
    cli_print_help(false, end);
}
