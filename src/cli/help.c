/* --help: the text in front of the options, the table of options in two columns, and the notes.
 *
 * Options and explanations are aligned at one column for the whole command; explanations are filled
 * to WIDTH columns.  Labels longer than WIDEST_LABEL run into the second column, so that a single
 * long option does not push all explanations to the right. */
#include <stdio.h>
#include <string.h>

#include "cli/print.h"
#include "cli/spec.h"

enum {
    WIDTH = 96,       /* columns of a line */
    WIDEST_LABEL = 21 /* the longest label that the second column makes room for */
};

/* A line that is filled word by word.  `indent` is where the lines that continue it begin. */
typedef struct line {
    char text[2 * WIDTH];
    size_t used, indent;
} line;

/* Prints the line and begins the next one with the indent. */
static void print_line(line *l)
{
    cli_print_help(false, l->text);
    cli_print_help(false, "\n");
    l->used = (size_t)snprintf(l->text, sizeof l->text, "%*s", (int)l->indent, "");
}

/* Returns the number of columns of `n` bytes: UTF-8 continuation bytes take none. */
static size_t display_width(const char *text, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += ((unsigned char)text[i] & 0xc0) != 0x80;
    return all;
}

/* Adds a text, with line breaks where it does not fit. */
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

/* Returns the column at which explanations begin, for all options of the command. */
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

/* Prints the label and the help of one option; `indent` is the column of the help. */
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
