/* What a command is for those who ask: its options, each said once.  From this table come the
 * option parser (options.c), --help (help.c), the OPTIONS of the manual page (manual.c) and the
 * completions of shells (completion/). */
#ifndef CLI_SPEC_H
#define CLI_SPEC_H

#include <stdbool.h>
#include <stddef.h>

/* Words that an option takes, from 0 on; NULL behind the last.  They stay. */
typedef const char *cli_word(size_t i);

/* A row of a table of options, one of:
 * - an option: `name`;
 * - the rows of another table, which has no such row itself: `rows`;
 * - a heading, "" for a gap: `heading`;
 * - all zeros: the end. */
typedef struct cli_option {
    const char *name;  /* without strokes */
    const char *value; /* "FILE"; "[=LEVEL]": may be left out; NULL: it takes none */
    const char *help; /* one sentence without its full stop; NULL: an old name, which is not told */
    const char *more; /* what the manual page says besides, whole sentences; or NULL */
    cli_word *word;   /* what the value may be; NULL: anything */
    int code;         /* of cli_next_option(); 0: `letter` */
    char letter;      /* short form, which has itself as code; 0: none */
    bool list;        /* the value is several words with commas between them */
    bool path;        /* the value is the name of a file */
    const struct cli_option *rows;
    const char *heading;
} cli_option;

typedef struct cli_spec {
    const char *about; /* up to the options: what it does, "Usage: …" */
    const cli_option *options;
    const char *notes; /* behind the options: examples, exit statuses */
    cli_word *subject; /* of the first operand when that is no file; or NULL */
} cli_spec;

/* Options and headings of a command, those of other tables in their place. */
typedef struct cli_rows {
    const cli_option *next, *back;
} cli_rows;

cli_rows cli_rows_of(const cli_spec *spec);

/* The next one, NULL behind the last. */
const cli_option *cli_next_row(cli_rows *rows);

/* The same, for those who want options that are told and no headings. */
const cli_option *cli_next_documented(cli_rows *rows);

/* "-o, --output OUT" as far as it fits. */
const char *cli_option_label(const cli_option *o, char *out, size_t size);

/* Prints what --help prints. */
void cli_help(const cli_spec *spec);

/* Prints the OPTIONS of the manual page as roff. */
void cli_manual(const cli_spec *spec);

#endif
