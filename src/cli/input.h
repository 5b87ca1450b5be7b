/* A capture that a command reads: opened with the options of the command line, read record by
 * record or run by run, and closed with a report of damage.
 *
 * A command calls cli_open(), loops over one of the cli_next… functions until it returns false,
 * prints, and calls cli_close(), which gives the exit status.  The loop functions also drive the
 * progress line and note where damage is. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "cli/options.h"
#include "perfile/archive.h"
#include "perfile/filter.h"
#include "perfile/model.h"
#include "perfile/session.h"
#include "perfile/symbol.h"

#include <getopt.h>

/* How to read: the options that all reading commands have, and what the command itself needs. */
typedef struct cli_reading {
    cli_on_damage damage;
    bool raw;                              /* compressed records are not decompressed */
    bool as_stored;                        /* see perfile_open_options */
    const char *from;                      /* --from, or NULL */
    const perfile_limits *limits;          /* NULL: the defaults */
    const struct cli_selection *selection; /* options that select records, or NULL */
    bool with_sideband; /* besides the selected records, the side-band that `filter` keeps */
    bool marked;        /* all records, of which those that are not selected say so */
    bool model;         /* cli_input.model is needed */
    bool names_only;    /* with `model`: it is asked for no mappings */
    bool sorted;        /* with `model`: in order of time, from a mapping */
    bool translate;     /* with `model`: records of other families become perf's own */
    /* Where the archive goes if the input is one that can be read once only: the caller looks at it
     * as an archive, too, and closes it behind the input.  What is there is read once more.  NULL:
     * it does not matter. */
    perfile_archive **archive;
    void (*waiting)(void *user); /* see perfile_open_options; may be NULL */
    void *waiting_user;
} cli_reading;

/* A table of options: --on-damage and --resync. */
extern const cli_option cli_reading_options[];

/* The limits of --allow-growth, which nothing exceeds. */
extern const perfile_limits cli_unlimited;

/* Handles the options above, those of cli_common_options, and unknown ones.  Returns CLI_CONTINUE,
 * or the exit status: --help ends the command, too. */
int cli_reading_option(const char *command, const cli_spec *spec, int option, cli_reading *how);

/* Opening of sources.  The functions differ in how bytes are read: */

/* - through a window, from front to back, for commands that only read; */
perfile_status cli_source_sequential(const cli_file *file, const perfile_limits *limits,
                                     perfile_source **source, perfile_error *err);

/* - mapped, for sorting: records wait in the mapping instead of being copied. */
perfile_status cli_source_mapped(const cli_file *file, const perfile_limits *limits,
                                 perfile_source **source, perfile_error *err);

/* Opens `file` as a stream, mapped: for sorting, which comes back to its records. */
perfile_status cli_stream_mapped(const cli_file *file, const perfile_open_options *options,
                                 perfile_stream **stream, perfile_error *err);
/* Opens `file` as a stream through a window. */
perfile_status cli_stream_sequential(const cli_file *file, const perfile_open_options *options,
                                     perfile_stream **stream, perfile_error *err);

enum { CLI_N_DAMAGES = 64 }; /* room for every kind of damage (perfile/damage.h) */

typedef struct cli_input {
    const char *name; /* for messages */
    cli_file *file;
    bool fail;                  /* --on-damage fail: damage is an error */
    perfile_stream *stream;     /* NULL when opening has failed */
    const perfile_model *model; /* names and mappings of the whole capture, or NULL */
    uint32_t passes;       /* earlier passes over the capture, for the model or the selection */
    bool selects;          /* there is a selection, which may not fit the capture */
    perfile_status status; /* of the last step; below 0 is an error */
    perfile_error error;   /* of that error */
    perfile_error limit;   /* why the model is fed no more, see cli_feed(); status 0: it is fed */
    uint32_t countdown;    /* records until the progress line is updated */
    uint64_t done;         /* bytes of the parts in front of `part` */
    uint64_t total;        /* bytes of all parts, 0: not known */
    uint32_t part;         /* the part of a directory that is being read */
    struct {
        uint64_t first; /* offset of the first one in the stream, in the part `part` */
        uint64_t lost;  /* bytes */
        uint64_t found; /* how many the command found itself, in addition to those that the stream
                         * counts */
        uint32_t part;
        bool seen; /* `first` and `part` are set */
    } damage[CLI_N_DAMAGES];
} cli_input;

/* Opens `file`: CLI_DONE, or CLI_FAILED or CLI_USAGE.  An error is in in->error; cli_close()
 * reports it and must be called in any case. */
int cli_open(cli_input *in, cli_file *file, const cli_reading *how);

/* Used by the functions below: update the progress line (for a record, or for samples that were
 * passed over by perfile_stream_pass()), and note a record of family DAMAGE (in damage.c). */
void cli_input_tick(cli_input *in, const perfile_record *r);
void cli_input_passed(cli_input *in, const perfile_passed *p);
void cli_input_damage(cli_input *in, const perfile_record *r);

/* With --on-damage fail, turns damage that was found into the error of the input.  Always returns
 * false, to be the result of the loop functions below. */
bool cli_input_fail_on_damage(cli_input *in);

/* Fetches the next record, records of family DAMAGE included; false at the end. */
static inline bool cli_next_item(cli_input *in, const perfile_record **r)
{
    in->status = perfile_stream_next(in->stream, r, &in->error);
    if (in->status != PERFILE_OK)
        return cli_input_fail_on_damage(in);
    if (--in->countdown == 0)
        cli_input_tick(in, *r);
    if ((*r)->family == PERFILE_FAMILY_DAMAGE)
        cli_input_damage(in, *r);
    return !(in->fail && (*r)->family == PERFILE_FAMILY_DAMAGE) || cli_input_fail_on_damage(in);
}

/* Fetches the next record that is not damage; false at the end. */
static inline bool cli_next(cli_input *in, const perfile_record **r)
{
    while (cli_next_item(in, r))
        if ((*r)->family != PERFILE_FAMILY_DAMAGE)
            return true;
    return false;
}

/* Fetches the next run: at least one record, or a single record of family DAMAGE; false at the end.
 */
static inline bool cli_next_items(cli_input *in, const perfile_record **first, size_t *n)
{
    in->status = perfile_stream_next_run(in->stream, first, n, &in->error);
    if (in->status != PERFILE_OK)
        return cli_input_fail_on_damage(in);
    if (in->countdown <= *n)
        cli_input_tick(in, *first);
    else
        in->countdown -= (uint32_t)*n;
    if ((*first)->family != PERFILE_FAMILY_DAMAGE)
        return true;
    cli_input_damage(in, *first);
    return !in->fail || cli_input_fail_on_damage(in);
}

/* Fetches the next run of records that are not damage, for loops that do little with each record;
 * false at the end. */
static inline bool cli_next_run(cli_input *in, const perfile_record **first, size_t *n)
{
    while (cli_next_items(in, first, n))
        if ((*first)->family != PERFILE_FAMILY_DAMAGE)
            return true;
    return false;
}

/* Feeds a record to a model.  Once limits.model_bytes is exceeded, that record and all later ones
 * are left out: the answer is made of the others, and cli_close() reports that it is incomplete.
 * Returns false if there is no memory. */
static inline bool cli_feed(cli_input *in, perfile_model *model, const perfile_record *r)
{
    if (in->limit.status)
        return true;
    perfile_status st = perfile_model_feed(model, r, &in->limit);
    return st == PERFILE_OK || st == PERFILE_E_LIMIT;
}

/* Returns how many records at the beginning of first[0 .. n) are samples, at most
 * PERFILE_RUN_RECORDS. */
size_t cli_leading_samples(const perfile_record *first, size_t n);

/* Feeds a run of records to a model.  A sample only tells the model that its thread exists, so it
 * is left out if the sample before it was of the same thread. */
bool cli_feed_run(cli_input *in, perfile_model *model, const perfile_record *first, size_t n);

/* Reports an error of reading or writing `name`, with offset and limit if it has them. */
void cli_report_error(const char *name, const perfile_error *err);

/* Reports a reading error, but no damage, and closes the input: for commands that report damage in
 * their own way.  Returns CLI_DONE, or the status of the error. */
int cli_close_without_damage(cli_input *in);

/* Reports a reading error and damage, and closes the input.  Returns CLI_DONE, CLI_DAMAGED, or
 * CLI_FAILED or CLI_USAGE if there was an error. */
int cli_close(cli_input *in);

/* Appends `file`, with `each` the captures of the archive that it may be; false: there is no
 * memory.
 */
bool cli_add_input(const cli_file *file, bool each, cli_inputs *to);

/* cli_shell_file() for an input, after --source if it is a capture of an archive. */
bool cli_shell_input(const cli_file *file, char *out, size_t size);

/* An archive that a command looks at as an archive. */

enum { CLI_CAPTURE_NAME = 256 /* bytes of the name of a capture in an archive, with its NUL */ };

/* Opens the archive `file`.  PERFILE_END: it is none.  Without `pipes` also for what can be read
 * once only: standard input, FIFOs, devices. */
perfile_status cli_archive_open(const cli_file *file, const perfile_limits *limits, bool pipes,
                                perfile_archive **archive, perfile_error *err);

/* Sets *ns to when the file `path`, or the file `data` of a directory, was last written, in ns
 * since 1970; false: it is not known. */
bool cli_capture_time(const char *path, uint64_t *ns);

/* Sets the name of the capture `file` in options of an archive that it is packed into, and when it
 * was last written: those of the file or directory, or what the archive says that it is in.  `name`
 * has room for the name. */
void cli_archive_name(const cli_file *file, char name[CLI_CAPTURE_NAME],
                      perfile_archive_options *options);

/* False if `path` can be read once only: standard input, FIFOs, devices; and for directories. */
bool cli_is_regular(const char *path);

/* True if bytes of the archive are known to be damaged, without a look at its payloads. */
bool cli_archive_is_damaged(const perfile_archive_summary *s);

/* Print what the archive is: the value of a line, and an object (format/reports.md), which also has
 * the name of the capture `c`, and how it differs from what was packed; NULL: of none. */
void cli_archive_print(const perfile_archive_summary *s);
void cli_archive_json(const perfile_archive_summary *s, const perfile_archive_capture *c);

/* Print how a capture differs from what was packed: "expanded, scrubbed"; an array `lossy`. */
void cli_archive_print_lossy(const perfile_archive_capture *c);
void cli_archive_json_lossy(const perfile_archive_capture *c);

/* Options that select records: --time, --pid, --where and so on, which `filter`, `stats`, `list`
 * and `dump` have in common.  Each becomes a term of perfile_filter_options. */

/* All zeros selects everything. */
typedef struct cli_selection {
    perfile_filter_term *terms; /* how.n_terms of them, allocated */
    perfile_filter_options how; /* its `terms` is set by cli_selection_check() */
} cli_selection;

enum {
    CLI_OPTION_INVERT = 2000,
    CLI_OPTION_EVERY,
    CLI_OPTION_HEAD,
    CLI_OPTION_TERM, /* plus the kind of the term, PERFILE_FILTER_BY_TIME … */
    CLI_OPTION_TERM_END = CLI_OPTION_TERM + PERFILE_FILTER_N_BY
};

/* The table of these options. */
extern const cli_option cli_select_options[];

/* True if `option` is the code of one of these options. */
static inline bool cli_is_selection(int option)
{
    return option >= CLI_OPTION_INVERT && option < CLI_OPTION_TERM_END;
}

/* Handles one of these options, its value in `optarg`: CLI_CONTINUE, or the exit status. */
int cli_selection_option(const char *command, int option, cli_selection *s);

/* Adds a term, as the option of its kind does.  `text` must stay valid. */
int cli_selection_add(unsigned kind, const char *text, cli_selection *s);

/* Checks all terms before anything is opened, and reports errors: CLI_CONTINUE, or the exit
 * status. */
int cli_selection_check(const char *command, cli_selection *s);

/* True if anything is selected at all; true if there are terms of this kind. */
bool cli_selects(const cli_selection *s);
bool cli_selects_by(const cli_selection *s, unsigned kind);

void cli_selection_free(cli_selection *s);

/* Damage that was found while a capture was read: messages for people, and the member `damage` of
 * JSON reports. */

/* Reports each kind of damage once on standard error: its first offset, how often it occurs, and
 * how many bytes were lost.  Returns CLI_DAMAGED, or CLI_DONE if there is none. */
int cli_report_damage(const cli_input *in);

/* Decodes every feature section; those that cannot be decoded are counted as damage, too. */
void cli_check_features(cli_input *in);

/* Returns how many damages there are, of all kinds. */
uint64_t cli_damage_count(const cli_input *in);

/* Writes which files of a directory are missing, as far as gaps in their numbers show it: "data.0,
 * data.3..data.5" or "every data.N".  Returns false if none is. */
bool cli_missing_parts(const cli_input *in, char *out, size_t size);

/* True if there is damage other than missing files: then `perfile recover` can do something. */
bool cli_recoverable(const cli_input *in);

/* Prints the member `damage` of a report: {"count":…,"lost":…,"missing":…,"kinds":[…]}. */
void cli_json_damage(const cli_input *in);

/* What was lost between the kernel and the capture, as the records of the capture report it. */

/* Sums over the records of a capture. */
typedef struct cli_losses {
    uint64_t lost_records; /* of LOST records: samples and others that found no room in a buffer */
    uint64_t lost_samples; /* of LOST_SAMPLES records */
    uint64_t gaps;         /* LOST records */
    uint64_t filtered;     /* of LOST_SAMPLES that a BPF filter dropped on purpose */
    uint64_t throttles;
    uint64_t unthrottles;
    uint64_t aux_truncated;
    uint64_t auxtrace_errors;
    uint64_t map_timeouts; /* mappings flagged as incomplete (PERFILE_MISC_PROC_MAP_TIMEOUT) */
} cli_losses;

/* Adds what the records of a run say. */
void cli_losses_feed(cli_losses *x, const perfile_record *first, size_t n);

/* Returns how many records LOST reports in addition to the samples of LOST_SAMPLES.  Where events
 * have a counter of lost samples (bit LOST of read_format), perf writes it as LOST_SAMPLES, and the
 * same samples are counted by LOST, too. */
uint64_t cli_losses_others(const cli_losses *x, const perfile_session *s);

/* Prints `before` and a list such as "1208 samples (86.7%), in 10 gaps, 1 throttling" to standard
 * output.  Prints nothing and returns false if nothing was lost.  `samples` is the number of
 * samples in the capture, for the percentage; CLI_SAMPLES_UNKNOWN: only some of them were counted,
 * and there is no percentage. */
#define CLI_SAMPLES_UNKNOWN UINT64_MAX
bool cli_losses_print(const cli_losses *x, const perfile_session *s, uint64_t samples,
                      const char *before);

/* Prints the members of the object `losses` of a report. */
void cli_losses_json(const cli_losses *x, const perfile_session *s);

/* Options that say where names of functions come from, and the report of those not found. */

enum { CLI_DEBUG_DIRS = 16 };

/* Places in code of one mapped thing that have no name. */
typedef struct cli_unnamed {
    char *file;
    uint64_t stacks;
    uint8_t kind;   /* PERFILE_UNNAMED_FILE … */
    uint8_t reason; /* PERFILE_SYMBOL_NO_FILE … */
} cli_unnamed;

typedef struct cli_symbols {
    perfile_symbols_options options;
    const char *debug_dirs[CLI_DEBUG_DIRS];
    bool off;             /* --no-symbols */
    cli_unnamed *unnamed; /* of all captures that were read with the options */
    size_t n_unnamed, unnamed_cap;
} cli_symbols;

/* A table of options, with codes of their own. */
extern const cli_option cli_symbols_options[];

/* True for the code of one of them. */
bool cli_is_symbols(int option);

/* Handles one: CLI_CONTINUE, or the exit status. */
int cli_symbols_option(const char *command, int option, cli_symbols *symbols);

/* CLI_CONTINUE if this perfile can read lines and inlined functions out of debug information, which
 * `what` needs; else the exit status, after a message. */
int cli_symbols_need_source(const char *what);

/* The options for the library; NULL: no names are wanted.  `symbols` must not move while what is
 * opened with them is open. */
const perfile_symbols_options *cli_symbols_chosen(cli_symbols *symbols,
                                                  const perfile_limits *limits);

/* Says that `stacks` of a capture (NULL: of all) have no name, and why, for the files with most of
 * them.  What is opened with the options has to be finished. */
void cli_unnamed_print(cli_symbols *symbols, const char *capture, uint64_t stacks);

/* The same as an array "unnamed" of the JSON object that is open, all of them. */
void cli_unnamed_json(cli_symbols *symbols);

/* Forgets what had no name. */
void cli_symbols_free(cli_symbols *symbols);

#endif
