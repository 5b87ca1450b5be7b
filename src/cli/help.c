/* --help: the table of options in two columns. */
#include <stdio.h>
#include <string.h>

#include "cli/print.h"
#include "cli/spec.h"

enum {
    WIDTH = 96,       /* of a line */
    WIDEST_LABEL = 21 /* a longer one does not move the help_column of the others */
};

/* A line that is filled word by word. */
typedef struct line {
    char text[2 * WIDTH];
    size_t used, indent;
} line;

static void print_line(line *l)
{
    cli_print_help(false, l->text);
    cli_print_help(false, "\n");
    l->used = (size_t)snprintf(l->text, sizeof l->text, "%*s", (int)l->indent, "");
}

/* Bytes that begin a character, as far as they count for the width. */
static size_t display_width(const char *text, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += ((unsigned char)text[i] & 0xc0) != 0x80;
    return all;
}

static void add_words(line *l, const char *text)
{
    bool first = true;
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        if (!first && display_width(l->text, l->used) + 1 + display_width(text, n) > WIDTH) {
            print_line(l);
            first = true;
        }
        l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%.*s",
                                    first ? "" : " ", (int)n, text);
        first = false;
    }
}

/* Where the explanations begin. */
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
