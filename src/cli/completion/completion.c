/* `perfile completion SHELL`, and what the scripts of all shells have in common. */
#include "cli/completion/completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/print.h"

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {
    {"bash", cli_completion_bash},
    {"zsh", cli_completion_zsh},
    {"fish", cli_completion_fish},
};

const char *cli_shell_name(size_t i)
{
    return i < sizeof shells / sizeof shells[0] ? shells[i].name : NULL;
}

const char *cli_other_word(size_t i)
{
    static const char *const words[] = {"help", "version", "completion", "--help", "--version"};
    return i < sizeof words / sizeof words[0] ? words[i] : NULL;
}

void cli_print_word_list(cli_word *word, const char *between)
{
    const char *w;
    for (size_t i = 0; (w = word(i)); i++)
        cli_print("%s%s", i ? between : "", w);
}

const char *cli_short_help(const cli_option *o, char *out, size_t size)
{
    /* The clause ends before an explanation: "; ", a second sentence, or "(".  What is before a
     * colon is often only what the option is about ("tsv: the columns"). */
    size_t n = 0;
    for (; o->help[n] && n < size - 1; n++)
        if (o->help[n] == ';' || strncmp(o->help + n, ". ", 2) == 0 ||
            strncmp(o->help + n, " (", 2) == 0)
            break;
    snprintf(out, size, "%.*s", (int)n, o->help);
    return out;
}

/* Unlike the commands of commands.def it has no option table: its only operand is the shell. */
int cli_completion(int argc, char **argv)
{
    static const char help[] =
        "perfile completion writes a script that completes command lines of perfile in a shell.\n"
        "\n"
        "Usage: perfile completion bash|zsh|fish\n"
        "\n"
        "`cmake --install` installs it.  Without that:\n"
        "\n"
        "  eval \"$(perfile completion bash)\"            in ~/.bashrc\n"
        "  source <(perfile completion zsh)             in ~/.zshrc, behind compinit\n"
        "  perfile completion fish | source             in ~/.config/fish/config.fish\n";
    size_t which;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        cli_print_help(false, help);
        return CLI_DONE;
    }
    if (argc != 2)
        return cli_usage("completion", "give the name of one shell: bash, zsh or fish");
    int status = cli_choose("completion", "completion", argv[1], cli_shell_name, &which);
    if (status != CLI_CONTINUE)
        return status;
    shells[which].print();
    return CLI_DONE;
}
