/* Writing a capture: the options for it, opening the output, signals and the progress line.
 *
 * Two rules hold for every command and are enforced here and in the sink.  An input is never
 * changed, wherever the output, standard output and standard error go.  And an output file appears
 * when it is complete, or not at all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/options.h"
#include "perfile/archive.h"
#include "perfile/damage.h"
#include "perfile/sink.h"
#include "perfile/source.h"

#include <stdbool.h>
#include <stdint.h>

/* The options that all commands that write a capture share. */
typedef struct cli_writing {
    const char *out;              /* -o, or NULL */
    const char *from;             /* --from, or NULL */
    const perfile_limits *limits; /* NULL for the defaults */
    const char *kallsyms;         /* as in cli_output */
    bool replace;                 /* -f: OUT may exist */
    bool json;                    /* --json: the report is a JSON object */
    bool has_form;                /* --to was given; it sets the next four members */
    bool directory;
    const char *format;   /* as in perfile_output; NULL: as in the input */
    bool archive;         /* pack the output into an archive */
    uint32_t form;        /* PERFILE_FORM_…; 0: as in the input */
    bool keeps_directory; /* without --to, the output for a directory is a directory; set by the
                           * command */
    perfile_archive_options packing; /* with --to archive */
    int32_t compress_level;          /* level of --compress, from 1; PERFILE_COMPRESS_NONE with
                                      * --decompress; 0 without both */
    bool may_copy;                   /* --on-damage copy is allowed; set by the command */
    cli_on_damage damage;
} cli_writing;

/* Option tables: -o, for commands that write one capture; -f. */
extern const cli_option cli_output_options[], cli_force_options[];
/* --compress and --decompress, for commands whose output is compressed if the input is. */
extern const cli_option cli_compress_options[];
extern const cli_option cli_writing_options[];

/* Words of --to for all outputs, of --to for commands whose output is never a directory, and of
 * --report. */
cli_word cli_output_word, cli_single_output_word, cli_report_word;

/* Returns the value of -o to use: "-" also for a path that means standard output (/dev/stdout
 * …). */
const char *cli_output_path(const char *word);

/* Returns the name of an output for messages. */
const char *cli_output_name(const char *out);

/* Returns what the library does about damage, PERFILE_ON_DAMAGE_…. */
static inline uint32_t cli_policy(const cli_writing *w)
{
    return w->damage.fail ? PERFILE_ON_DAMAGE_FAIL : w->damage.policy;
}

/* Handles -o, -f, the options with codes CLI_OPTION_HELP to CLI_OPTION_GROWTH, and unknown ones.
 * Returns CLI_CONTINUE or an exit status; --help ends the command, too. */
int cli_writing_option(const char *command, const cli_spec *spec, int option, cli_writing *w);

/* Checks that -o was given, that the output is not a terminal, and that the capture and the report
 * do not both go to standard output.  Returns CLI_CONTINUE or CLI_USAGE. */
int cli_writing_check(const char *command, const cli_writing *w);

/* Like cli_writing_check(), after reading the only input into *in. */
int cli_writing_input(const char *command, int argc, char **argv, const cli_writing *w,
                      cli_file **in);

/* Reads the value of --max-memory, such as "64M", and checks that it is not less than
 * perfile_sort() needs.  Returns CLI_CONTINUE or CLI_USAGE. */
int cli_writing_memory(const char *command, const char *word, uint64_t *to);

/* A progress callback for library functions: updates the progress line. */
void cli_writing_progress(void *user, uint64_t done, uint64_t total);

bool cli_is_directory(const char *path);

/* Checks that standard output and standard error are not one of the inputs.  If one is, reports it,
 * redirects that descriptor to /dev/null, so that nothing more can be written to the input, and
 * returns CLI_FAILED; else returns CLI_DONE. cli_read_inputs() calls this for the operands of every
 * command, cli_open() and cli_output_open() for the files that they get. */
int cli_protect_inputs_verbose(const char *const *inputs, size_t n);

/* Like cli_protect_inputs_verbose(), with the error in *err instead of a message. */
perfile_status cli_protect_inputs(const char *const *inputs, size_t n, perfile_error *err);

/* Reports the files of directory `in` that are not copied: those without records.  With
 * `companions`, the output is a directory that gets the companion files, too, so these are not
 * reported (pf_is_companion_file()). */
void cli_report_not_copied(const char *in, bool companions);

/* Called before and after the work of a command that writes.  The first sets the name of the input
 * for the progress line and the signal handlers; the second clears it and closes `sink`.  If `sink`
 * is NULL, the output is still in use. */
void cli_writing_begin(const char *name);
void cli_writing_end(perfile_sink *sink);

/* Opens `file` as a source and w->out as a sink.  Returns CLI_DONE, or reports an error, leaves
 * nothing open and returns CLI_FAILED. */
int cli_writing_open(const cli_writing *w, cli_file *file, bool directory, perfile_source **source,
                     perfile_sink **sink);

/* Like cli_writing_open(), for an input of several files. */
int cli_writing_open_several(const cli_writing *w, const cli_inputs *in, bool directory,
                             perfile_source **source, perfile_sink **sink);

/* An output, and all files that the command reads, which it must not overwrite. */
typedef struct cli_output {
    const char *out; /* "-" is standard output */
    bool replace;
    bool append; /* append to OUT, which exists */
    bool directory;
    bool folder;               /* write files into a folder, which may exist */
    const char *const *inputs; /* paths and "-", including the reference captures of --attrs-from */
    size_t n_inputs;
    const char *kallsyms;            /* --kallsyms, which is also read; NULL if not given */
    const cli_file *named;           /* the input that is packed if there is one; NULL: the packed
                                      * capture gets no name */
    bool archive;                    /* pack the output into an archive … */
    perfile_archive_options packing; /* … with these options; `size` is set when it is opened */
} cli_output;

/* Opens an output.  Returns CLI_DONE, or CLI_FAILED after a message.  All commands open their
 * outputs with this function, because it protects the inputs. (The exception is split, because the
 * library makes its file names.) */
int cli_output_open(const cli_output *o, perfile_sink **sink);

/* Signals: what happens when the command is interrupted, or when a mapped input is truncated while
 * it is read. */

/* Installs the handlers.  SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT and SIGXCPU remove the
 * temporary output and end the process; SIGBUS reports the truncated input; SIGXFSZ is ignored. */
void cli_signals_install(void);

/* Called for each input.  If it is a pipe, the first SIGINT, SIGTERM or SIGHUP does not end the
 * command: it reads what is still in the pipe and finishes.  The second signal ends it. */
void cli_signals_pipe(const char *path);

/* True if an input of the command is a pipe. */
bool cli_signals_has_pipe(void);

/* Sets the name of the mapped input for the message of SIGBUS; NULL if there is none. */
void cli_signals_file(const char *name);

/* Sets the path of the unfinished output that the handlers remove; NULL if there is none.  `path`
 * must stay valid until the next call. */
void cli_signals_temporary(const char *path);

/* A callback for perfile_split_capture_options.temporary: the library has created its temporary
 * folder `path`, or has removed it (NULL).  The caller has delayed signals; they stay delayed until
 * the folder is registered for removal, and are delayed again while the files get their final
 * names.  Otherwise an interrupt could leave the folder, or some of the parts. */
void cli_signals_on_temporary(void *user, const char *path);

/* Sets the path of a file that is appended to, and the size to which the handlers truncate it; NULL
 * if there is none.  `path` must stay valid until the next call. */
void cli_signals_appended(const char *path, uint64_t size);

/* true: delays the signals that end the process, until the call with false. */
void cli_signals_hold(bool hold);

/* The progress line: shows on a terminal how far a long operation is. */

/* Turns the line off: a sink writes to the terminal without print.c. */
void cli_progress_off(void);

/* Starts the clock.  `name` is the input; it is shown in the line and must stay valid. */
void cli_progress_start(const char *name);

/* Called when `done` of `total` bytes (0 if unknown) have been read.  Prints the line if standard
 * error is a terminal, the operation has taken a second, and the last update is 200 ms old. */
void cli_progress_step(uint64_t done, uint64_t total);

/* Erases the line if it is shown.  Not needed before printing: print.c erases the line itself. */
void cli_progress_clear(void);

#endif
