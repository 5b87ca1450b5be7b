/* The description of a command: its help text and the table of its options.
 *
 * Each option is described once, in one row of a table.  From this table come the option parser
 * (options.c), --help (help.c), the OPTIONS section of the manual page (manual.c) and the
 * completion scripts of shells (completion/). */
#ifndef CLI_SPEC_H
#define CLI_SPEC_H

#include <stdbool.h>
#include <stddef.h>

/* Enumerates the words that an option accepts: word 0, 1 …, NULL behind the last one.  The strings
 * stay valid. */
typedef const char *cli_word(size_t i);

/* A row of a table of options.  It is one of:
 * - an option, which has a `name`.  An alias for an old spelling is a row with the same code and
 *   without `help`: it is accepted, but not shown anywhere;
 * - a reference to another table (`rows`), whose rows take its place; that table has no references;
 * - a `heading`, or an empty line if that is "";
 * - the end of the table: all zeros. */
typedef struct cli_option {
    const char *name;  /* the long option without its dashes */
    const char *value; /* placeholder for the value, "FILE"; "[=LEVEL]": an optional value; NULL:
                        * the option takes no value */
    const char *help;  /* one sentence without its full stop; NULL: a hidden alias */
    const char *more;  /* further sentences for the manual page only, or NULL */
    cli_word *word;    /* the words that the value may be; NULL: anything */
    int code;          /* what cli_next_option() returns; 0: `letter` */
    char letter;       /* the short option, 0: none.  It is also the code, if `code` is 0 */
    bool list;         /* the value is a comma-separated list of words */
    bool path;         /* the value is a file name */
    const struct cli_option *rows;
    const char *heading;
} cli_option;

typedef struct cli_spec {
    const char *about; /* the first part of --help: what the command does, "Usage: …" */
    const cli_option *options;
    const char *notes; /* the last part of --help: examples, exit statuses */
    cli_word *subject; /* words for the first operand if that is not a file (`list`), or NULL */
} cli_spec;

/* An iterator over the options and headings of a command.  References to other tables are
 * followed. */
typedef struct cli_rows {
    const cli_option *next; /* the row to be returned next */
    const cli_option *back; /* where to go on behind the referenced table; NULL: in no such table */
} cli_rows;

cli_rows cli_rows_of(const cli_spec *spec);

/* Returns the next option or heading, hidden aliases included; NULL behind the last one. */
const cli_option *cli_next_row(cli_rows *rows);

/* Returns the next option that is shown to users: neither a heading nor a hidden alias. */
const cli_option *cli_next_documented(cli_rows *rows);

/* Writes "-o, --output OUT" into `out`, cut to `size`, and returns `out`. */
const char *cli_option_label(const cli_option *o, char *out, size_t size);

/* Prints the text of --help. */
void cli_help(const cli_spec *spec);

/* Prints the version, for --version. */
void cli_version(void);

/* Prints the OPTIONS section of the manual page as roff. */
void cli_manual(const cli_spec *spec);

#endif
