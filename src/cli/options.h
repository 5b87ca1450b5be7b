/* Command lines: the description of a command, with the table of its options; what is made of it;
 * operands, and values that several commands have in common. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfile/base.h"

/* Each option is described once, in one row of a table.  From this table come the option parser
 * (options.c), --help, the OPTIONS section of the manual page and the completion scripts of shells
 * (help.c). */

/* Enumerates the words that an option accepts: word 0, 1 …, NULL behind the last one.  The strings
 * stay valid. */
typedef const char *cli_word(size_t i);

/* Defines such a function. */
#define CLI_WORDS(name, ...)                                                                       \
    static const char *name(size_t i)                                                              \
    {                                                                                              \
        static const char *const words[] = {__VA_ARGS__};                                          \
        return i < sizeof words / sizeof words[0] ? words[i] : NULL;                               \
    }

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

/* Codes of options that several commands have.  They begin above all characters, which are the
 * codes of options with a letter. */
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
    CLI_OPTION_CAPTURE, /* --source; cli_next_option() handles it itself, and the next one */
    CLI_OPTION_NO_INDEX,
    CLI_OPTION_OWN /* the first code for options of a single command */
};

/* Tables to be referenced by the tables of commands (cli_option.rows): */
extern const cli_option cli_input_options[];  /* -i FILE; cli_next_option() handles it itself */
extern const cli_option cli_common_options[]; /* --from, --allow-growth, --help */
extern const cli_option cli_jobs_options[];   /* -j N */

/* Words of --on-damage: stop, resync, salvage, fail.  The second function also has `copy`, for
 * commands that can write damaged bytes unchanged. */
cli_word cli_damage_word, cli_damage_copy_word;

/* Reads the value of -j: CLI_CONTINUE, or CLI_USAGE. */
int cli_jobs_option(const char *command, const char *word, uint32_t *jobs);

/* Returns the number of threads to use: `requested` by -j, or the default if that is 0. */
uint32_t cli_jobs(uint32_t requested);

/* Returns the code of the next option in argv by the table in `spec`, its value in `optarg`; -1
 * behind the last option.  A wrong option is reported here, with similar names, and gives '?'.  -h
 * is
 * --help.  Files given with -i are collected; behind the last option argv[optind] and on are the
 * operands and these files. */
int cli_next_option(const char *command, int argc, char **argv, const cli_spec *spec);

bool cli_file_exists(const char *path);

/* An input: a file, or a capture in an archive. */
typedef struct cli_file {
    const char *path;    /* as given by the user */
    const char *name;    /* for messages: "standard input", "FILE, capture N (NAME)" */
    uint32_t flags;      /* of perfile_source_options */
    uint32_t capture;    /* its number in the archive, from 1 on; 0: none was given */
    uint32_t n_captures; /* how many of the archive are inputs, one after the other; 0: just FILE */
    bool lacks_selection; /* of these: it does not have what the options select by name */
    char *own_name;       /* `name` if it is allocated */
} cli_file;

/* A file with the options that hold for all inputs (--source, --no-index). */
cli_file cli_file_of(const char *path);

/* The inputs of a command line, valid until the next one is read. */
typedef struct cli_inputs {
    cli_file *at;
    size_t n;
    const char *const *paths; /* of the files, without regard to captures */
    size_t n_paths;
} cli_inputs;

enum { CLI_MOST_CAPTURES = 128 /* of an archive that are inputs without --source */ };

/* Takes the operands from argv[optind] on as inputs.  Without any, perf.data is used if it exists
 * and standard input is a terminal.  With `each`, archives with several captures are replaced by
 * these, unless --source was given or there are more than CLI_MOST_CAPTURES.  Returns CLI_CONTINUE,
 * CLI_USAGE if there is no input, or CLI_FAILED without memory, or if standard output or standard
 * error is one of the inputs. */
int cli_read_inputs(const char *command, int argc, char **argv, bool each, cli_inputs *in);
/* The same for commands with exactly one input. */
int cli_read_input(const char *command, int argc, char **argv, cli_file **in);

/* Refuses to write binary data to a terminal: CLI_USAGE if `out` is "-" and standard output is a
 * terminal, else CLI_CONTINUE.  `what` names the data in the message: "a capture". */
int cli_reject_terminal(const char *command, const char *out, const char *what);

/* Sets *which to the index of `word` among `words`, which are those that `option` ("--sort")
 * accepts. Returns CLI_CONTINUE, or CLI_USAGE after a message with all words and the most similar
 * one. */
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

/* Reads the value of --on-damage, with `may_copy` also `copy`: CLI_CONTINUE, or CLI_USAGE. */
int cli_read_damage(const char *command, const char *word, bool may_copy, cli_on_damage *damage);

/* Reads a number from 1 on, the value of --`option`: CLI_CONTINUE, or CLI_USAGE. */
int cli_read_number(const char *command, const char *option, const char *word, uint64_t *to);

/* Handles options that all commands have, and unknown ones.  Returns CLI_CONTINUE, or the exit
 * status: --help ends the command, too. */
int cli_common_option(const cli_spec *spec, int option, const char **from,
                      const perfile_limits **limits);

#endif
