/* Command lines: how a command and its options are described, the parser, operands, and option
 * values that several commands share. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfile/base.h"

/* Each option is described once, in one row of a table.  The option parser (options.c), --help, the
 * OPTIONS section of the manual page and the shell completion scripts (help.c) all use this
 * table. */

/* Returns word `i` of those that an option accepts, or NULL after the last one.  The strings stay
 * valid. */
typedef const char *cli_word(size_t i);

/* Defines a cli_word function for these strings. */
#define CLI_WORDS(name, ...)                                                                       \
    static const char *name(size_t i)                                                              \
    {                                                                                              \
        static const char *const words[] = {__VA_ARGS__};                                          \
        return i < sizeof words / sizeof words[0] ? words[i] : NULL;                               \
    }

/* A row of an option table.  It is one of:
 * - an option, which has a `name`.  An alias for an old spelling is a row with the same code and
 *   without `help`: it is accepted, but not shown anywhere;
 * - a reference to another table (`rows`), whose rows are inserted here; that table has no
 *   references;
 * - a `heading`, or an empty line if it is "";
 * - the end of the table: all zeros. */
typedef struct cli_option {
    const char *name;  /* the long option, without the dashes */
    const char *value; /* placeholder for the value, "FILE"; "[=LEVEL]" for an optional value; NULL
                        * if there is none */
    const char *help;  /* one sentence without its full stop; NULL for a hidden alias */
    const char *more;  /* more sentences for the manual page, or NULL */
    cli_word *word;    /* the accepted values; NULL if any value is accepted */
    int code;          /* returned by cli_next_option(); 0: `letter` is returned */
    char letter;       /* the short option, or 0; also the code if `code` is 0 */
    bool list;         /* the value is a comma-separated list of words */
    bool path;         /* the value is a file name */
    const struct cli_option *rows;
    const char *heading;
} cli_option;

typedef struct cli_spec {
    const char *about; /* the first part of --help: what the command does, "Usage: …" */
    const cli_option *options;
    const char *notes; /* the last part of --help: examples, exit statuses */
    cli_word *subject; /* words for the first operand if it is not a file (`list`), or NULL */
} cli_spec;

/* An iterator over the options and headings of a command.  It follows references to other
 * tables. */
typedef struct cli_rows {
    const cli_option *next; /* the next row */
    const cli_option *back; /* where to continue after a referenced table, or NULL */
} cli_rows;

cli_rows cli_rows_of(const cli_spec *spec);

/* Returns the next option or heading, including hidden aliases; NULL after the last one. */
const cli_option *cli_next_row(cli_rows *rows);

/* Returns the next option that is shown to users, skipping headings and hidden aliases; NULL after
 * the last one. */
const cli_option *cli_next_documented(cli_rows *rows);

/* Writes "-o, --output OUT" into `out`, truncated to `size`, and returns `out`. */
const char *cli_option_label(const cli_option *o, char *out, size_t size);

void cli_help(const cli_spec *spec);

void cli_version(void);

/* Prints the OPTIONS section of the manual page as roff. */
void cli_manual(const cli_spec *spec);

/* Codes of options that several commands have.  They are above all characters, because options with
 * a letter use it as their code. */
enum {
    CLI_OPTION_HELP = 1000,
    CLI_OPTION_VERSION,
    CLI_OPTION_RESYNC,
    CLI_OPTION_FROM,
    CLI_OPTION_TO,
    CLI_OPTION_ON_DAMAGE,
    CLI_OPTION_JSON,
    CLI_OPTION_REPORT,
    CLI_OPTION_COMPRESS,
    CLI_OPTION_DECOMPRESS,
    CLI_OPTION_GROWTH,  /* --allow-growth */
    CLI_OPTION_CAPTURE, /* --source; like the next one, handled by cli_next_option() */
    CLI_OPTION_NO_INDEX,
    CLI_OPTION_OWN /* first code for options of a single command */
};

/* Tables that the tables of commands refer to (cli_option.rows): */
extern const cli_option cli_input_options[];  /* -i FILE; handled by cli_next_option() itself */
extern const cli_option cli_common_options[]; /* --from, --allow-growth, --help */
extern const cli_option cli_jobs_options[];   /* -j N */

/* Words of --on-damage: stop, resync, salvage, fail.  The second list also has `copy`, for commands
 * that can write damaged bytes unchanged. */
cli_word cli_damage_word, cli_damage_copy_word;

/* Reads the value of -j.  Returns CLI_CONTINUE or CLI_USAGE. */
int cli_jobs_option(const char *command, const char *word, uint32_t *jobs);

/* Returns the number of threads to use: `requested` (from -j), or the default if it is 0. */
uint32_t cli_jobs(uint32_t requested);

/* Returns the code of the next option in argv, with its value in `optarg`, or -1 after the last
 * option.  `spec` has the option table.  A wrong option is reported here, with similar names, and
 * '?' is returned. -h is the same as --help.  Files given with -i are collected; after the last
 * option, argv[optind] and on are the operands, followed by these files. */
int cli_next_option(const char *command, int argc, char **argv, const cli_spec *spec);

bool cli_file_exists(const char *path);

/* An input: a file, or a capture in an archive. */
typedef struct cli_file {
    const char *path;     /* as given by the user */
    const char *name;     /* for messages: "standard input", "FILE, capture N (NAME)" */
    uint32_t flags;       /* of perfile_source_options */
    uint32_t capture;     /* its number in the archive, counted from 1; 0 if none was given */
    uint32_t n_captures;  /* how many captures of this archive are inputs, one after the other; 0:
                           * only FILE is */
    bool lacks_selection; /* this capture lacks something that the options select by name */
    char *own_name;       /* `name` if it is allocated, else NULL */
} cli_file;

/* Returns `path` as an input, with the options that apply to all inputs (--source, --no-index). */
cli_file cli_file_of(const char *path);

/* The inputs of a command line.  They stay valid until the next command line is read. */
typedef struct cli_inputs {
    cli_file *at;
    size_t n;
    const char *const *paths; /* the files that were given; several captures of an archive are one
                               * file here */
    size_t n_paths;
} cli_inputs;

enum {
    CLI_MOST_CAPTURES = 128 /* most captures of an archive that become inputs without --source */
};

/* Reads the operands from argv[optind] on as inputs.  Without operands, the input is standard input
 * if it is a pipe or a file, or perf.data if standard input is a terminal.  With `each`, an archive
 * of several captures is replaced by its captures, unless --source was given or there are more than
 * CLI_MOST_CAPTURES.  Returns CLI_CONTINUE; CLI_USAGE if there is no input; CLI_FAILED when out of
 * memory, or if standard output or standard error is one of the inputs. */
int cli_read_inputs(const char *command, int argc, char **argv, bool each, cli_inputs *in);
/* Like cli_read_inputs(), for commands with exactly one input. */
int cli_read_input(const char *command, int argc, char **argv, cli_file **in);

/* Refuses to write binary data to a terminal: returns CLI_USAGE if `out` is "-" and standard output
 * is a terminal, else CLI_CONTINUE.  `what` names the data in the message: "a capture". */
int cli_reject_terminal(const char *command, const char *out, const char *what);

/* Sets *which to the index of `word` in `words`, the values of `option` ("--sort").  Returns
 * CLI_CONTINUE, or CLI_USAGE after a message with all words and the most similar one. */
int cli_choose(const char *command, const char *option, const char *word, cli_word *words,
               size_t *which);

/* Writes "; did you mean a or b?" into `out`, to be appended to a message, or "" if none of the `n`
 * words is similar to `word`.  Returns `out`. */
const char *cli_suggestion(const char *word, const char *const *words, size_t n, char *out,
                           size_t size);

/* The value of --on-damage. */
typedef struct cli_on_damage {
    bool given;      /* the option was given */
    bool fail;       /* damage is an error: nothing is written or reported */
    bool copy;       /* damaged bytes are copied unchanged */
    uint32_t policy; /* PERFILE_ON_DAMAGE_STOP, RESYNC or SALVAGE */
} cli_on_damage;

/* Reads the value of --on-damage; `copy` is accepted if `may_copy` is set.  Returns CLI_CONTINUE or
 * CLI_USAGE. */
int cli_read_damage(const char *command, const char *word, bool may_copy, cli_on_damage *damage);

/* Reads the value of --`option`, a number that is at least 1.  Returns CLI_CONTINUE or
 * CLI_USAGE. */
int cli_read_number(const char *command, const char *option, const char *word, uint64_t *to);

/* Handles options that all commands have, and unknown ones.  Returns CLI_CONTINUE or an exit
 * status; --help ends the command, too. */
int cli_common_option(const cli_spec *spec, int option, const char **from,
                      const perfile_limits **limits);

#endif
