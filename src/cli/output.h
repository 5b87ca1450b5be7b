/* A capture that a command writes. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/options.h"
#include "perfile/sink.h"
#include "perfile/source.h"

/* Options that commands which write a capture have in common. */
typedef struct cli_writing {
    const char *out;
    const char *from;
    const perfile_limits *limits; /* NULL: the defaults */
    bool replace;
    bool json;
    bool has_form; /* --to: `format`, `directory`, `form` */
    bool directory;
    const char *format; /* of perfile_output; NULL: not told */
    uint32_t form;      /* PERFILE_FORM_…; 0: not told */
    bool may_copy;      /* --on-damage takes copy, too: set by the command */
    bool has_on_damage; /* --on-damage: */
    uint32_t on_damage; /* PERFILE_ON_DAMAGE_STOP … */
    bool fail, copy;
} cli_writing;

/* Rows of their tables: -o of those who write one capture, -f, … */
extern const cli_option cli_output_options[], cli_force_options[];
/* … and old names, and what is not told of every command. */
extern const cli_option cli_writing_options[];

/* Words of --to; of commands whose output is no directory; of --report. */
cli_word cli_output_word, cli_single_output_word, cli_report_word;

/* Handles -o, -f, those of CLI_OPTION_HELP to CLI_OPTION_REPORT, and unknown ones: CLI_CONTINUE, or
 * what to exit with. */
int cli_writing_option(const char *command, const cli_spec *spec, int option, cli_writing *w);

/* Whether there is an OUT, and it goes with the report: CLI_CONTINUE, or CLI_USAGE. */
int cli_writing_check(const char *command, const cli_writing *w);

/* The same, and takes the one IN. */
int cli_writing_input(const char *command, int argc, char **argv, const cli_writing *w,
                      const char **in);

/* --max-memory SIZE, "64M": a number of bytes, KiB, MiB or GiB, as perfile_sort() wants it. */
int cli_writing_memory(const char *command, const char *word, uint64_t *to);

/* For callbacks of the library. */
void cli_writing_progress(void *user, uint64_t done, uint64_t total);

bool cli_is_directory(const char *path);

/* Whether what goes to standard output and standard error changes none of these inputs; else says
 * so, sees to it that nothing is written there any more, and returns CLI_FAILED.  cli_read_inputs()
 * asks for the operands of every command, cli_open() and cli_output_open() for what they are given.
 */
int cli_protect_inputs_verbose(const char *const *inputs, size_t n);

/* The same without saying so. */
perfile_status cli_protect_inputs(const char *const *inputs, size_t n, perfile_error *err);

/* Says what lies in `in`, if that is a directory, and is not copied: kcore_dir and the like. */
void cli_report_not_copied(const char *in);

/* Around the work: whose input is read, for signals and the line of progress; what is left to be
 * closed.  `sink` may be NULL. */
void cli_writing_begin(const char *name);
void cli_writing_end(perfile_sink *sink);

/* Opens `path` to be read from front to back and w->out to be written, or says why not and returns
 * CLI_FAILED. */
int cli_writing_open(const cli_writing *w, const char *path, bool directory,
                     perfile_source **source, perfile_sink **sink);

/* What a command writes, and everything that it reads for that. */
typedef struct cli_output {
    const char *out; /* "-": standard output */
    bool replace;
    bool directory;
    const char *const *inputs; /* paths and "-", reference captures among them */
    size_t n_inputs;
    uint32_t threads; /* that may write; 0: the caller's alone */
} cli_output;

/* Opens it, or says why not and returns CLI_FAILED.  No command opens an output in another way (but
 * for split, whose names the library makes): that inputs stay as they are is seen to here and in
 * the sink. */
int cli_output_open(const cli_output *o, perfile_sink **sink);

#endif
