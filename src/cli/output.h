/* A capture that a command writes: the options for it, and opening of the output.
 *
 * Two things hold for every command and are enforced here and in the sink: an input is never
 * changed, whatever the output is called and wherever standard output and standard error go; and an
 * output file appears when it is complete, or not at all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/options.h"
#include "perfile/archive.h"
#include "perfile/damage.h"
#include "perfile/sink.h"
#include "perfile/source.h"

#include <stdbool.h>
#include <stdint.h>

/* The options that commands which write a capture have in common. */
typedef struct cli_writing {
    const char *out;              /* -o, NULL: not given */
    const char *from;             /* --from, or NULL */
    const perfile_limits *limits; /* NULL: the defaults */
    const char *kallsyms;         /* as in cli_output */
    bool replace;                 /* -f: OUT may exist */
    bool json;                    /* --json: the report is a JSON object */
    bool has_form;                /* --to was given, which sets the next three: */
    bool directory;
    const char *format;   /* of perfile_output; NULL: that of the input */
    bool archive;         /* what is written is packed */
    uint32_t form;        /* PERFILE_FORM_…; 0: that of the input */
    bool keeps_directory; /* a directory stays one unless --to says otherwise; set by the command */
    perfile_archive_options packing; /* with --to archive */
    int32_t compress_level;          /* --compress: 1 …; --decompress: PERFILE_COMPRESS_NONE; 0 */
    bool may_copy;                   /* the command accepts --on-damage copy; set by the command */
    cli_on_damage damage;
} cli_writing;

/* Tables of options: -o, for commands that write one capture; -f; and the hidden aliases --resync
 * and
 * --report. */
extern const cli_option cli_output_options[], cli_force_options[];
/* --compress and --decompress of commands that compress as their input was. */
extern const cli_option cli_compress_options[];
extern const cli_option cli_writing_options[];

/* Words of --to for all outputs; of --to for commands whose output is never a directory; of
 * --report. */
cli_word cli_output_word, cli_single_output_word, cli_report_word;

/* The value of -o as it is used: "-" also where standard output was given as a path. */
const char *cli_output_path(const char *word);

/* What messages call it. */
const char *cli_output_name(const char *out);

/* What the library does at damage, PERFILE_ON_DAMAGE_…. */
static inline uint32_t cli_policy(const cli_writing *w)
{
    return w->damage.fail ? PERFILE_ON_DAMAGE_FAIL : w->damage.policy;
}

/* Handles -o, -f, the options with codes CLI_OPTION_HELP to CLI_OPTION_GROWTH, and unknown ones.
 * Returns CLI_CONTINUE, or the exit status: --help ends the command, too. */
int cli_writing_option(const char *command, const cli_spec *spec, int option, cli_writing *w);

/* Checks that there is an OUT, that it is not a terminal, and that it does not go where the report
 * goes: CLI_CONTINUE, or CLI_USAGE. */
int cli_writing_check(const char *command, const cli_writing *w);

/* The same, and takes the only input into *in. */
int cli_writing_input(const char *command, int argc, char **argv, const cli_writing *w,
                      cli_file **in);

/* Reads the value of --max-memory, such as "64M", and checks it against the minimum that
 * perfile_sort() needs: CLI_CONTINUE, or CLI_USAGE. */
int cli_writing_memory(const char *command, const char *word, uint64_t *to);

/* The progress callback of library functions: updates the progress line. */
void cli_writing_progress(void *user, uint64_t done, uint64_t total);

bool cli_is_directory(const char *path);

/* Checks that standard output and standard error do not go to one of the inputs.  If one does,
 * reports it, redirects that descriptor to /dev/null, so that nothing can be written any more, and
 * returns CLI_FAILED; else CLI_DONE.  cli_read_inputs() calls this for the operands of every
 * command, cli_open() and cli_output_open() for the files that they are given. */
int cli_protect_inputs_verbose(const char *const *inputs, size_t n);

/* The same without a message: the error is in *err. */
perfile_status cli_protect_inputs(const char *const *inputs, size_t n, perfile_error *err);

/* Reports files of a directory `in` that are not copied: those without records, except, with
 * `companions`, those that an output with a directory has (perfile_is_companion_file()). */
void cli_report_not_copied(const char *in, bool companions);

/* To be called around the work of a command that writes: sets the name of the input for the
 * progress line and for signal handlers; clears it and closes `sink`.  NULL: the output goes on. */
void cli_writing_begin(const char *name);
void cli_writing_end(perfile_sink *sink);

/* Opens `file` as a source and w->out as a sink.  Reports errors and returns CLI_FAILED, with
 * nothing left open, or CLI_DONE. */
int cli_writing_open(const cli_writing *w, cli_file *file, bool directory, perfile_source **source,
                     perfile_sink **sink);

/* The same for an input of several files. */
int cli_writing_open_several(const cli_writing *w, const cli_inputs *in, bool directory,
                             perfile_source **source, perfile_sink **sink);

/* What a command writes, and all files that it reads for that. */
typedef struct cli_output {
    const char *out; /* "-" is standard output */
    bool replace;
    bool append; /* behind the bytes of OUT, which exists */
    bool directory;
    bool folder;               /* files in a folder, which may exist */
    const char *const *inputs; /* paths and "-", reference captures (--attrs-from) included */
    size_t n_inputs;
    const char *kallsyms;            /* --kallsyms, which is read, too; NULL: not given */
    const cli_file *named;           /* what is packed, if it is one input; NULL: it has no name */
    bool archive;                    /* pack what is written … */
    perfile_archive_options packing; /* … with these options; `size` is set when it is opened */
} cli_output;

/* Opens an output: CLI_DONE, or CLI_FAILED after a message.  All commands open their outputs with
 * this function (except split, whose file names are made by the library), because it protects the
 * inputs. */
int cli_output_open(const cli_output *o, perfile_sink **sink);

/* Signals: what happens when the command is interrupted, or when a mapped input is truncated while
 * it is read. */

/* Installs the handlers: SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT and SIGXCPU remove the temporary
 * output and end the process; SIGBUS reports the truncated input; SIGXFSZ is ignored. */
void cli_signals_install(void);

/* To be called for each input: if it is a pipe, the first SIGINT, SIGTERM or SIGHUP only means that
 * what the pipe still has is read, and the command finishes; the second ends it. */
void cli_signals_pipe(const char *path);

/* True if an input of the command is a pipe. */
bool cli_signals_has_pipe(void);

/* Sets the name of the input that is mapped, for the message of SIGBUS; NULL: none. */
void cli_signals_file(const char *name);

/* Sets the path of the unfinished output that the handlers remove; NULL: none.  `path` must stay
 * valid until the next call. */
void cli_signals_temporary(const char *path);

/* perfile_split_capture_options.temporary: the library has made its temporary folder (`path`), or
 * removed it (NULL).  Signals, which the caller holds, are delayed until the folder is registered
 * for removal, and again while the files get their final names: otherwise an interrupt could leave
 * the folder, or some of the parts, behind. */
void cli_signals_on_temporary(void *user, const char *path);

/* Sets the path of a file to which is appended, and the size to which the handlers cut it; NULL:
 * none.  Else as cli_signals_temporary(). */
void cli_signals_appended(const char *path, uint64_t size);

/* With true, delays signals that end the process until the call with false. */
void cli_signals_hold(bool hold);

/* The progress line: on a terminal, how far a long operation has come. */

/* From now on there is no line: a sink writes to the terminal, past print.c. */
void cli_progress_off(void);

/* Starts the clock.  `name` of the input is shown in the line and must stay valid. */
void cli_progress_start(const char *name);

/* `done` of `total` bytes (0: not known) have been read.  Prints the line if standard error is a
 * terminal, the operation has taken a second, and the last update is 200 ms old. */
void cli_progress_step(uint64_t done, uint64_t total);

/* Erases the line if it is shown.  Not needed before something is printed: print.c sees to that. */
void cli_progress_clear(void);

#endif
