/* --help: the text before the options, the table of options in two columns, and the notes.
 *
 * All explanations of a command begin at the same column, and are wrapped at WIDTH columns.  Labels
 * longer than WIDEST_LABEL run into the second column, so that a single long option does not move
 * all explanations to the right.  The texts before and after the table are printed as they are:
 * their lines have to fit WIDTH, too (tests/cli/help.sh). */
#include "cli/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/print.h"

enum {
    WIDTH = 80,       /* columns of a line */
    WIDEST_LABEL = 21 /* the longest label for which the first column makes room */
};

/* A line that is filled word by word.  `indent` is the indent of continuation lines. */
typedef struct line {
    char text[4 * WIDTH];
    size_t used, indent;
} line;

/* Prints the line and starts the next one with the indent. */
static void print_line(line *l)
{
    cli_print_help(false, l->text);
    cli_print_help(false, "\n");
    l->used = (size_t)snprintf(l->text, sizeof l->text, "%*s", (int)l->indent, "");
}

/* Adds a text, with line breaks as necessary. */
static void add_words(line *l, const char *text)
{
    bool first = true;
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        if (!first && cli_columns(l->text, l->used) + 1 + cli_columns(text, n) > WIDTH) {
            print_line(l);
            first = true;
            /* A word that is too wide for the column begins further left. */
            const size_t columns = cli_columns(text, n);
            if (l->used + columns > WIDTH)
                l->used = columns < WIDTH ? WIDTH - columns : 0;
        }
        l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%.*s",
                                    first ? "" : " ", (int)n, text);
        first = false;
    }
}

/* Returns the column of the explanations of a command. */
static size_t help_column(const cli_spec *spec)
{
    char label[64];
    size_t most = 0;
    cli_rows rows = cli_rows_of(spec);
    for (const cli_option *o; (o = cli_next_documented(&rows));) {
        size_t n = strlen(cli_option_label(o, label, sizeof label));
        most = n > most && n <= WIDEST_LABEL ? n : most;
    }
    return 2 + most + 2;
}

/* Prints the label and the help of an option.  `indent` is the column of the help. */
static void print_option(const cli_option *o, size_t indent)
{
    char label[64];
    line l = {.indent = indent};
    size_t n = strlen(cli_option_label(o, label, sizeof label));
    size_t gap = 2 + n + 2 < indent ? indent - 2 - n : 2;
    l.used = (size_t)snprintf(l.text, sizeof l.text, "  %s%*s", label, (int)gap, "");
    add_words(&l, o->help);
    print_line(&l);
}

void cli_version(void)
{
    cli_print("perfile %s\n", perfile_version());
}

void cli_help(const cli_spec *spec)
{
    cli_rows rows = cli_rows_of(spec);
    const size_t indent = help_column(spec);
    cli_print_help(false, spec->about);
    cli_print_help(false, "\n");
    for (const cli_option *o, *before = NULL; (o = cli_next_row(&rows)); before = o) {
        if (o->heading) {
            cli_print_help(false, before ? "\n" : "");
            cli_print_help(false, o->heading);
            cli_print_help(false, o->heading[0] ? "\n" : "");
        } else if (o->help) {
            print_option(o, indent);
        }
    }
    cli_print_help(false, "\n");
    cli_print_help(false, spec->notes);
}

/* The OPTIONS section of a manual page as roff, made from the option table. man/update.sh inserts
 * it into the pages.
 *
 * The texts of the table have no markup.  Option names ("--by") and words that the option accepts
 * are recognized and printed bold, the placeholder of the value ("KEY") italic. */

enum { ROFF_WIDTH = 110 }; /* columns of a line of roff source, not counting markup */

/* A line of roff that is filled word by word. */
typedef struct roff_line {
    char text[4 * ROFF_WIDTH];
    size_t used; /* bytes in `text` */
    size_t wide; /* columns, not counting markup */
} roff_line;

/* Prints the line unless it is empty. */
static void end_roff_line(roff_line *l)
{
    if (!l->used)
        return;
    cli_print_help(false, l->text);
    cli_print_help(false, "\n");
    l->used = l->wide = 0;
}

/* Adds roff source.  Text that does not fit into the buffer is dropped. */
static void add_raw(roff_line *l, const char *text)
{
    int n = snprintf(l->text + l->used, sizeof l->text - l->used, "%s", text);
    l->used += n > 0 && l->used + (size_t)n < sizeof l->text ? (size_t)n : 0;
}

/* Adds plain text.  Backslashes and dashes are escaped (an unescaped dash is a hyphen), and so is a
 * dot or apostrophe at the start of a line, where it would start a request. */
static void add_escaped(roff_line *l, const char *text, size_t n)
{
    if (l->used == 0 && n && (text[0] == '.' || text[0] == '\''))
        add_raw(l, "\\&");
    for (size_t i = 0; i < n; i++) {
        const char one[] = {text[i], '\0'};
        if (strncmp(text + i, "…", 3) == 0) { /* three bytes, which some roff programs do not
                                               * accept */
            add_raw(l, "...");
            i += 2;
            continue;
        }
        add_raw(l, text[i] == '\\' ? "\\e" : text[i] == '-' ? "\\-" : one);
    }
}

/* Adds text in font B (bold) or I (italic), and returns to roman. */
static void add_font(roff_line *l, char font, const char *text, size_t n)
{
    const char begin[] = {'\\', 'f', font, '\0'};
    add_raw(l, begin);
    add_escaped(l, text, n);
    add_raw(l, "\\fR");
}

/* True if `text` is one of the words that the option accepts. */
static bool is_word_of(const cli_option *o, const char *text, size_t n)
{
    const char *word;
    for (size_t i = 0; o->word && (word = o->word(i)); i++)
        if (strlen(word) == n && memcmp(word, text, n) == 0)
            return true;
    return false;
}

/* True if `text` is a name in capitals from the placeholder of the option's value: "KEY" in
 * "KEY[,KEY ...]". */
static bool is_value_of(const cli_option *o, const char *text, size_t n)
{
    const char *at = o->value;
    while (at && n && isupper((unsigned char)text[0]) && *at) {
        size_t len = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (len == n && memcmp(at, text, n) == 0)
            return true;
        at += len ? len : 1;
    }
    return false;
}

/* Adds one word of a text.  Punctuation before and after it is separated, so that "--by," is
 * recognized. */
static void add_word(roff_line *l, const cli_option *o, const char *text, size_t n)
{
    size_t head = 0, tail = n;
    while (head < n && strchr("(`\"", text[head]))
        head++;
    while (tail > head && strchr(").,;:`\"", text[tail - 1]))
        tail--;
    const char *core = text + head;
    const size_t len = tail - head;
    if (l->used && l->wide + 1 + n > ROFF_WIDTH)
        end_roff_line(l);
    add_raw(l, l->used ? " " : "");
    l->wide += n + 1;
    add_escaped(l, text, head);
    if ((len > 2 && strncmp(core, "--", 2) == 0) || is_word_of(o, core, len))
        add_font(l, 'B', core, len);
    else if (is_value_of(o, core, len))
        add_font(l, 'I', core, len);
    else
        add_escaped(l, core, len);
    add_escaped(l, text + tail, n - tail);
}

static void add_roff_words(roff_line *l, const cli_option *o, const char *text)
{
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        add_word(l, o, text, n);
    }
}

/* Prints the sentence of --help as a full sentence, with capital and full stop, followed by the
 * additional sentences.  The first word keeps its case if it is a word of the option, or a name
 * that is explained ("stop: …", "little, big …"). */
static void print_roff_text(const cli_option *o)
{
    char sentence[1024];
    roff_line l = {.used = 0};
    int n = snprintf(sentence, sizeof sentence, "%s.", o->help);
    const size_t first = strcspn(sentence, " ,:;");
    if (n > 0 && (size_t)n < sizeof sentence && sentence[first] != ':' && sentence[first] != ',' &&
        !is_word_of(o, sentence, first))
        sentence[0] = (char)toupper((unsigned char)sentence[0]);
    add_roff_words(&l, o, sentence);
    end_roff_line(&l);
    if (o->more)
        add_roff_words(&l, o, o->more);
    end_roff_line(&l);
}

/* Prints one option: a tagged paragraph with its names, the value, and the text. */
static void print_roff_option(const cli_option *o)
{
    char name[48];
    roff_line l = {.used = 0};
    cli_print_help(false, ".TP\n");
    if (o->letter) {
        const char letter[] = {'-', o->letter, '\0'};
        add_font(&l, 'B', letter, 2);
        add_raw(&l, ", ");
    }
    int n = snprintf(name, sizeof name, "--%s", o->name);
    add_font(&l, 'B', name, n > 0 ? (size_t)n : 0);
    if (o->value) {
        add_raw(&l, o->value[0] == '[' ? "" : " ");
        add_font(&l, 'I', o->value, strlen(o->value));
    }
    end_roff_line(&l);
    print_roff_text(o);
}

void cli_manual(const cli_spec *spec)
{
    cli_rows rows = cli_rows_of(spec);
    for (const cli_option *o; (o = cli_next_row(&rows));) {
        if (o->heading && o->heading[0]) {
            roff_line l = {.used = 0};
            add_raw(&l, ".SS ");
            add_escaped(&l, o->heading, strcspn(o->heading, ":"));
            end_roff_line(&l);
        } else if (o->help) {
            print_roff_option(o);
        }
    }
}

/* `perfile completion SHELL`, and the common parts of the scripts. */

CLI_WORDS(shell_name, "bash", "zsh", "fish")

CLI_WORDS(other_word, "help", "version", "completion", "--help", "--version")

static void print_words(cli_word *word, const char *between)
{
    const char *w;
    for (size_t i = 0; (w = word(i)); i++)
        cli_print("%s%s", i ? between : "", w);
}

static const char *short_help(const cli_option *o, char *out, size_t size)
{
    /* The clause ends before an explanation: "; ", a second sentence, or "(".  It does not end at a
     * colon, because the text before it is often only the topic ("tsv: the columns"). */
    size_t n = 0;
    for (; o->help[n] && n < size - 1; n++)
        if (o->help[n] == ';' || strncmp(o->help + n, ". ", 2) == 0 ||
            strncmp(o->help + n, " (", 2) == 0)
            break;
    snprintf(out, size, "%.*s", (int)n, o->help);
    return out;
}

/* The completion script for bash: a function with a `case` over the commands.
 *
 * For the command on the line, the script sets `options`.  For the word before the cursor
 * (`before`), it sets `kind` to what may follow: option, words, list (comma-separated words), path,
 * free (no completion), or operand, which is then resolved to one of the others. compgen does the
 * rest. */

static const char bash_begin[] =
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

static const char bash_end[] =
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
static const char bash_operand[] =
    "    if [[ $kind == operand ]]; then\n"
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
static void bash_value(const cli_option *o)
{
    if (!o->value || o->value[0] == '[')
        return;
    cli_print("        ");
    print_names(o, " | ");
    if (o->word) {
        cli_print(") kind=%s words='", o->list ? "list" : "words");
        print_words(o->word, " ");
        cli_print("' ;;\n");
    } else {
        cli_print(") kind=%s ;;\n", o->path ? "path" : "free");
    }
}

/* Prints the branch of one command. */
static void bash_command(const cli_command *c)
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
        print_words(c->spec->subject, " ");
        cli_print("'\n");
    }
    cli_print("        case $before in\n");
    rows = cli_rows_of(c->spec);
    for (const cli_option *o; (o = cli_next_documented(&rows));)
        bash_value(o);
    cli_print("        esac\n        ;;\n");
}

static const char *command_word(size_t i)
{
    const cli_command *c = cli_command_at(i);
    return c ? c->name : NULL;
}

static void print_bash(void)
{
    const cli_command *c;
    cli_print_help(false, bash_begin);
    cli_print("    local commands='");
    print_words(command_word, " ");
    cli_print("'\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        bash_command(c);
    cli_print("    help) kind=words words=$commands ;;\n    completion) kind=words words='");
    print_words(shell_name, " ");
    cli_print("' ;;\n    esac\n");
    cli_print("    if ((COMP_CWORD == 1)); then\n        kind=words words=\"$commands ");
    print_words(other_word, " ");
    cli_print("\"\n    fi\n");
    cli_print_help(false, bash_operand);
    cli_print_help(false, bash_end);
}

/* The completion script for zsh: a function _perfile in the style of completion files, which gives
 * the options of each command to _arguments. */

/* Prints a text within '…[TEXT]:NAME:ACTION'.  Special characters are escaped for _arguments, and
 * quotes for the shell. */
static void zsh_text(const char *text)
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

/* Prints ":NAME:ACTION", which completes the value of an option. */
static void zsh_action(const cli_option *o)
{
    cli_print(":");
    zsh_text(o->value + (o->value[0] == '[' ? 2 : 0));
    cli_print(":");
    if (o->word) {
        cli_print(o->list ? "_sequence compadd - " : "(");
        print_words(o->word, " ");
        cli_print(o->list ? "" : ")");
    } else if (o->path) {
        cli_print("_files");
    } else {
        cli_print(" ");
    }
}

/* Prints one spelling of an option: "-o" or "--output".  The leading '*' allows repetition. */
static void zsh_form(const cli_option *o, const char *strokes, const char *name)
{
    char text[96];
    bool is_long = strokes[1] == '-';
    cli_print("        '*%s%s", strokes, name);
    if (o->value)
        cli_print(!is_long ? "+" : o->value[0] == '[' ? "=-" : "=");
    cli_print("[");
    zsh_text(short_help(o, text, sizeof text));
    cli_print("]");
    if (o->value) {
        cli_print(o->value[0] == '[' ? ":" : "");
        zsh_action(o);
    }
    cli_print("' \\\n");
}

/* Prints the branch of one command. */
static void zsh_command(const cli_command *c)
{
    cli_rows rows = cli_rows_of(c->spec);
    cli_print("    %s)\n      _arguments -s -S : \\\n", c->name);
    for (const cli_option *o; (o = cli_next_documented(&rows));) {
        const char letter[] = {o->letter, '\0'};
        if (o->letter)
            zsh_form(o, "-", letter);
        zsh_form(o, "--", o->name);
    }
    if (c->spec->subject) {
        cli_print("        '1:WHAT:(");
        print_words(c->spec->subject, " ");
        cli_print(")' \\\n");
    }
    cli_print("        '*:FILE:_files'\n      ;;\n");
}

static void print_zsh(void)
{
    const cli_command *c;
    cli_print_help(false, "#compdef perfile\n"
                          "# zsh completion for perfile, made by `perfile completion zsh`.\n"
                          "_perfile() {\n"
                          "  local -a commands others\n"
                          "  commands=(\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        cli_print("    '%s:", c->name);
        zsh_text(c->summary);
        cli_print("'\n");
    }
    cli_print("  )\n  others=(");
    print_words(other_word, " ");
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
        zsh_command(c);
    cli_print_help(false, "    help)\n"
                          "      (( CURRENT == 2 )) && _describe command commands\n"
                          "      ;;\n"
                          "    completion)\n"
                          "      (( CURRENT == 2 )) && compadd -- ");
    print_words(shell_name, " ");
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

/* The completion script for fish: some helper functions, then one `complete` line for each option
 * of each command. */

static const char fish_begin[] =
    "# fish completion for perfile, made by `perfile completion fish`.\n"
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
    "# Prints each argument after the list that has been typed so far.\n"
    "function __perfile_list\n"
    "    set -l lead (string replace -r '^--[a-z0-9-]+=' '' -- (commandline "
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
static void fish_option(const cli_command *c, const cli_option *o)
{
    char text[96];
    cli_print("complete -c perfile -n '__perfile_is %s' -l %s", c->name, o->name);
    if (o->letter)
        cli_print(" -s %c", o->letter);
    if (o->value && o->value[0] != '[') {
        if (o->word) {
            cli_print(o->list ? " -x -a '(__perfile_list " : " -x -a '");
            print_words(o->word, " ");
            cli_print(o->list ? ")'" : "'");
        } else {
            cli_print(o->path ? " -r -F" : " -x");
        }
    }
    cli_print(" -d ");
    print_quoted(short_help(o, text, sizeof text));
    cli_print("\n");
}

/* Prints the options of one command, and the completion of its operands. */
static void fish_command(const cli_command *c)
{
    cli_rows rows = cli_rows_of(c->spec);
    for (const cli_option *o; (o = cli_next_documented(&rows));)
        fish_option(c, o);
    cli_print("complete -c perfile -n '__perfile_is %s", c->name);
    if (!c->spec->subject) {
        cli_print("' -F\n");
        return;
    }
    cli_print("; and __perfile_lacks ");
    print_words(c->spec->subject, " ");
    cli_print("' -a '");
    print_words(c->spec->subject, " ");
    cli_print("'\ncomplete -c perfile -n '__perfile_is %s; and not __perfile_lacks ", c->name);
    print_words(c->spec->subject, " ");
    cli_print("' -F\n");
}

static void print_fish(void)
{
    const cli_command *c;
    cli_print_help(false, fish_begin);
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        cli_print("complete -c perfile -n __perfile_first -a %s -d ", c->name);
        print_quoted(c->summary);
        cli_print("\ncomplete -c perfile -n '__perfile_is help; and test (count (commandline "
                  "-opc)) -eq 2' "
                  "-a %s\n",
                  c->name);
    }
    cli_print("complete -c perfile -n __perfile_first -a '");
    print_words(other_word, " ");
    cli_print("'\ncomplete -c perfile -n '__perfile_is completion' -a '");
    print_words(shell_name, " ");
    cli_print("'\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        fish_command(c);
}

/* Unlike the commands in commands.def, this one has no option table: its only operand is the
 * shell. */
int cli_completion(int argc, char **argv)
{
    static const char help[] =
        "perfile completion writes a script that completes command lines of perfile in a\n"
        "shell.\n"
        "\n"
        "Usage: perfile completion bash|zsh|fish\n"
        "\n"
        "`cmake --install` installs it.  Without that:\n"
        "\n"
        "  eval \"$(perfile completion bash)\"            in ~/.bashrc\n"
        "  source <(perfile completion zsh)             in ~/.zshrc, after compinit\n"
        "  perfile completion fish | source             in ~/.config/fish/config.fish\n";
    static void (*const printers[])(void) = {print_bash, print_zsh, print_fish};
    size_t which;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        cli_print_help(false, help);
        return CLI_DONE;
    }
    if (argc != 2)
        return cli_usage("completion", "give the name of one shell: bash, zsh or fish");
    int status = cli_choose("completion", "completion", argv[1], shell_name, &which);
    if (status != CLI_CONTINUE)
        return status;
    printers[which]();
    return CLI_DONE;
}
