/* Options as all commands read them, and what they have in common. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/spec.h"

enum {
    CLI_OPTION_HELP = 1000,
    CLI_OPTION_RESYNC,
    CLI_OPTION_FROM,
    CLI_OPTION_TO,
    CLI_OPTION_ON_DAMAGE,
    CLI_OPTION_JSON,
    CLI_OPTION_REPORT,
    CLI_OPTION_GROWTH,
    CLI_OPTION_OWN /* those of the command */
};

/* Rows of tables: -i FILE, which is another FILE for cli_next_option() … */
extern const cli_option cli_input_options[];
/* … what every command has besides … */
extern const cli_option cli_common_options[];
/* … and those whose work several threads can share. */
extern const cli_option cli_jobs_options[];

/* Words of --on-damage: stop, resync, salvage, fail, and of commands that write bytes as they are
 * also copy. */
cli_word cli_damage_word, cli_damage_copy_word;

/* -j N: CLI_CONTINUE, or CLI_USAGE. */
int cli_jobs_option(const char *command, const char *word, uint32_t *jobs);

/* How many threads: what -j requested, or without it (0) the default. */
uint32_t cli_jobs(uint32_t requested);

/* The next option of the table in `spec`: its code, or -1 behind the last.  What is wrong is requested
 * here, with the words that may have been meant, and '?' returned.  -h is --help.  Behind the last
 * option argv[optind] and on are the operands, and those that -i gave. */
int cli_next_option(const char *command, int argc, char **argv, const cli_spec *spec);

/* Inputs: what stands behind the options. */
typedef struct cli_inputs {
    char **at;
    size_t n;
} cli_inputs;

/* Takes argv[optind] and on; perf.data when there is none, standard input is a terminal, and
 * perf.data is there.  CLI_CONTINUE, CLI_USAGE, or CLI_FAILED when standard output or standard
 * error is one of them. */
int cli_read_inputs(const char *command, int argc, char **argv, cli_inputs *in);
/* The same for commands with one input. */
int cli_read_input(const char *command, int argc, char **argv, const char **in);

/* Refuses `out` when it is standard output and that is a terminal, to which nothing binary goes
 * (`what`: "a capture"): CLI_CONTINUE, or CLI_USAGE. */
int cli_reject_terminal(const char *command, const char *out, const char *what);

/* *which: the position of `word` among the words that `option` ("--sort") takes.  CLI_CONTINUE, or
 * CLI_USAGE, requested with the words that there are and the one that may have been meant. */
int cli_choose(const char *command, const char *option, const char *word, cli_word *words,
               size_t *which);

/* "; did you mean a or b?", or nothing: for the end of a sentence. */
const char *cli_suggestion(const char *word, const char *const *words, size_t n, char *out, size_t size);

/* What to do about damage, as --on-damage says. */
typedef struct cli_on_damage {
    bool given;      /* the option was given */
    bool fail, copy; /* fail: nothing is written or reported; copy: bytes as they are */
    uint32_t policy; /* PERFILE_ON_DAMAGE_STOP, RESYNC or SALVAGE */
} cli_on_damage;

enum { /* cli_read_damage(): words beside stop, resync, salvage and fail */
       CLI_DAMAGE_COPY = 1 << 0
};
int cli_read_damage(const char *command, const char *word, unsigned also, cli_on_damage *damage);

#endif
