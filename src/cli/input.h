/* Reading a capture: open it with the options of the command line, read its records one by one or
 * in batches, and close it with a report of damage.
 *
 * A command calls cli_open(), loops over one of the cli_next… functions until it returns false,
 * prints, and calls cli_close(), which returns the exit status.  The loop functions also update the
 * progress line and note where damage is. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "cli/options.h"
#include "perfile/archive.h"
#include "perfile/filter.h"
#include "perfile/model.h"
#include "perfile/session.h"
#include "perfile/symbol.h"
#include "archive/command.h"
#include "core/command.h"

#include <getopt.h>

/* How to read a capture: the options that all reading commands have, and the needs of the command
 * itself. */
typedef struct cli_reading {
    cli_on_damage damage;
    bool raw;                              /* do not decompress records */
    bool as_stored;                        /* as in perfile_open_options */
    const char *from;                      /* --from, or NULL */
    const perfile_limits *limits;          /* NULL for the defaults */
    const struct cli_selection *selection; /* options that select records, or NULL */
    bool with_sideband; /* yield the selected records and the side-band that `filter` writes */
    bool marked;        /* yield all records; those that are not selected are marked
                         * (PERFILE_FILTER_MARK) */
    bool model;         /* fill cli_input.model */
    bool names_only;    /* with `model`: only names are needed, no mappings */
    bool sorted;        /* with `model`: yield records in order of time; the input is mapped */
    bool translate;     /* with `model`: convert records of other families to perf records */
    /* NULL if the command does not read the input as an archive, too.  Otherwise, if the input can
     * be read only once, cli_open() stores the archive here; if one is already stored, it reads
     * that again.  The caller closes the archive, after the input. */
    perfile_archive **archive;
    void (*waiting)(void *user); /* as in perfile_open_options; may be NULL */
    void *waiting_user;
} cli_reading;

/* The option table with --on-damage and --resync. */
extern const cli_option cli_reading_options[];

/* The limits that --allow-growth sets: nothing exceeds them. */
extern const perfile_limits cli_unlimited;

/* Handles the options above, those of cli_common_options, and unknown ones.  Returns CLI_CONTINUE,
 * or an exit status; --help ends the command, too. */
int cli_reading_option(const char *command, const cli_spec *spec, int option, cli_reading *how);

/* Functions that open sources and streams.  They differ in how the input is read. */

/* Opens a source that is read through a window, from start to end.  For commands that only read. */
perfile_status cli_source_sequential(const cli_file *file, const perfile_limits *limits,
                                     perfile_source **source, perfile_error *err);

/* Opens a source that is mapped.  For sorting, which would otherwise have to copy waiting
 * records. */
perfile_status cli_source_mapped(const cli_file *file, const perfile_limits *limits,
                                 perfile_source **source, perfile_error *err);

/* Opens `file` as a mapped stream, for sorting, which returns to earlier records. */
perfile_status cli_stream_mapped(const cli_file *file, const perfile_open_options *options,
                                 perfile_stream **stream, perfile_error *err);
/* Opens `file` as a stream through a window. */
perfile_status cli_stream_sequential(const cli_file *file, const perfile_open_options *options,
                                     perfile_stream **stream, perfile_error *err);

enum { CLI_N_DAMAGES = 64 }; /* room for every kind of damage (perfile/damage.h) */

typedef struct cli_input {
    const char *name; /* for messages */
    cli_file *file;
    bool fail;                  /* --on-damage fail was given: damage is an error */
    perfile_stream *stream;     /* NULL if opening failed */
    const perfile_model *model; /* names and mappings of the whole capture, or NULL */
    uint32_t passes;            /* passes over the capture before this one, for the model or the
                                 * selection */
    bool selects;          /* there is a selection, which may name things that the capture does not
                            * have */
    perfile_status status; /* result of the last step; negative for an error */
    perfile_error error;   /* the error, if `status` is negative */
    perfile_error limit;   /* why the model gets no more records, see cli_feed(); status 0: it still
                            * gets them */
    uint32_t countdown;    /* records until the progress line is updated */
    uint64_t done;         /* bytes of the parts before `part` */
    uint64_t total;        /* bytes of all parts; 0 if unknown */
    uint32_t part;         /* the part of a directory that is being read */
    struct {
        uint64_t first; /* offset of the first damage in the stream, within part `part` */
        uint64_t lost;  /* bytes lost */
        uint64_t found; /* damages that the command found itself, in addition to those that the
                         * stream counts */
        uint32_t part;
        bool seen; /* `first` and `part` are valid */
    } damage[CLI_N_DAMAGES];
} cli_input;

/* Opens `file`.  Returns CLI_DONE, or CLI_FAILED or CLI_USAGE with the error in in->error.  In any
 * case call cli_close(), which reports the error. */
int cli_open(cli_input *in, cli_file *file, const cli_reading *how);

/* Helpers of the functions below.  The first two update the progress line: for a record, or for
 * samples that pf_stream_pass() skipped.  The third (in damage.c) notes a record of family
 * DAMAGE. */
void cli_input_tick(cli_input *in, const perfile_record *r);
void cli_input_passed(cli_input *in, const pf_passed *p);
void cli_input_damage(cli_input *in, const perfile_record *r);

/* With --on-damage fail, turns damage that was found into the error of the input.  Always returns
 * false, so that the loop functions below can return its result. */
bool cli_input_fail_on_damage(cli_input *in);

/* Fetches the next record, which may be of family DAMAGE.  Returns false at the end. */
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

/* Fetches the next record that is not damage.  Returns false at the end. */
static inline bool cli_next(cli_input *in, const perfile_record **r)
{
    while (cli_next_item(in, r))
        if ((*r)->family != PERFILE_FAMILY_DAMAGE)
            return true;
    return false;
}

/* Fetches the next batch: one or more records, or a single record of family DAMAGE.  Returns false
 * at the end. */
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

/* Fetches the next batch of records that are not damage, for loops that do little per record.
 * Returns false at the end. */
static inline bool cli_next_run(cli_input *in, const perfile_record **first, size_t *n)
{
    while (cli_next_items(in, first, n))
        if ((*first)->family != PERFILE_FAMILY_DAMAGE)
            return true;
    return false;
}

/* Feeds a record to a model.  Once limits.model_bytes is exceeded, that record and all later ones
 * are left out of the model, and cli_close() reports that the answer is incomplete.  Returns false
 * when out of memory. */
static inline bool cli_feed(cli_input *in, perfile_model *model, const perfile_record *r)
{
    if (in->limit.status)
        return true;
    perfile_status st = perfile_model_feed(model, r, &in->limit);
    return st == PERFILE_OK || st == PERFILE_E_LIMIT;
}

/* Returns how many of first[0 .. n) are samples before the first record of another type, at most
 * PERFILE_RUN_RECORDS. */
size_t cli_leading_samples(const perfile_record *first, size_t n);

/* Feeds a batch of records to a model.  A sample only tells the model that its thread exists, so
 * consecutive samples of one thread are fed once.  Returns false when out of memory. */
bool cli_feed_run(cli_input *in, perfile_model *model, const perfile_record *first, size_t n);

/* Reports an error of reading or writing `name`, with the offset and the limit if the error has
 * them. */
void cli_report_error(const char *name, const perfile_error *err);

/* Reports a read error, but no damage, and closes the input.  For commands that report damage in
 * their own way.  Returns CLI_DONE, or the exit status for the error. */
int cli_close_without_damage(cli_input *in);

/* Reports a read error and damage, and closes the input.  Returns CLI_DONE or CLI_DAMAGED, or
 * CLI_FAILED or CLI_USAGE after an error. */
int cli_close(cli_input *in);

/* Appends `file` to the inputs.  With `each`, an archive of several captures is replaced by its
 * captures.  Returns false when out of memory. */
bool cli_add_input(const cli_file *file, bool each, cli_inputs *to);

/* Like cli_shell_file(), for an input: a capture of an archive is preceded by --source N. */
bool cli_shell_input(const cli_file *file, char *out, size_t size);

/* Archives. */

enum {
    CLI_CAPTURE_NAME = 256 /* size of a buffer for the name of a capture in an archive, including
                            * the NUL */
};

/* Opens the archive `file`.  Returns PERFILE_END if it is not an archive.  Unless `pipes` is set,
 * it is also PERFILE_END for inputs that can be read only once: standard input, FIFOs, devices. */
perfile_status cli_archive_open(const cli_file *file, const perfile_limits *limits, bool pipes,
                                perfile_archive **archive, perfile_error *err);

/* Sets *ns to the modification time of the file `path`, or of the file `data` if it is a directory,
 * in ns since 1970.  Returns false if it is not known. */
bool cli_capture_time(const char *path, uint64_t *ns);

/* Sets the name and the modification time of the capture `file` in the options of the archive that
 * it is packed into.  They come from the file or directory, or from the archive that the capture is
 * in.  The name is copied to `name`. */
void cli_archive_name(const cli_file *file, char name[CLI_CAPTURE_NAME],
                      perfile_archive_options *options);

/* True if `path` is a regular file.  Other inputs can be read only once, or are directories. */
bool cli_is_regular(const char *path);

/* True if the archive is known to be damaged, without reading the payloads of its chunks. */
bool cli_archive_is_damaged(const pf_archive_summary *s);

/* Prints a summary of the archive as text.  The JSON form is an object (format/reports.md), which
 * also has the name of the capture `c` and how it differs from what was packed; `c` may be NULL. */
void cli_archive_print(const pf_archive_summary *s);
void cli_archive_json(const pf_archive_summary *s, const perfile_archive_capture *c);

/* Prints how a capture differs from what was packed: "expanded, scrubbed".  The JSON form is an
 * array `lossy`. */
void cli_archive_print_lossy(const perfile_archive_capture *c);
void cli_archive_json_lossy(const perfile_archive_capture *c);

/* Options that select records: --time, --pid, --where and so on.  `filter`, `stats`, `list` and
 * `dump` share them.  Each becomes a term of perfile_filter_options. */

/* All zeros selects everything. */
typedef struct cli_selection {
    perfile_filter_term *terms; /* how.n_terms terms, allocated */
    perfile_filter_options how; /* its `terms` is set by cli_selection_check() */
} cli_selection;

enum {
    CLI_OPTION_INVERT = 2000,
    CLI_OPTION_EVERY,
    CLI_OPTION_HEAD,
    CLI_OPTION_TERM, /* plus the kind of the term, PERFILE_FILTER_BY_TIME … */
    CLI_OPTION_TERM_END = CLI_OPTION_TERM + PERFILE_FILTER_N_BY
};

/* The option table of the selection. */
extern const cli_option cli_select_options[];

/* True if `option` is the code of a selection option. */
static inline bool cli_is_selection(int option)
{
    return option >= CLI_OPTION_INVERT && option < CLI_OPTION_TERM_END;
}

/* Handles a selection option with its value in `optarg`.  Returns CLI_CONTINUE or an exit
 * status. */
int cli_selection_option(const char *command, int option, cli_selection *s);

/* Adds a term, as the option for that kind does.  `text` must stay valid.  Returns CLI_CONTINUE or
 * an exit status. */
int cli_selection_add(unsigned kind, const char *text, cli_selection *s);

/* Checks all terms before any input is opened, and reports errors.  Returns CLI_CONTINUE or an exit
 * status. */
int cli_selection_check(const char *command, cli_selection *s);

/* cli_selects() returns whether any selection option was given; cli_selects_by(), whether there is
 * a term of this kind. */
bool cli_selects(const cli_selection *s);
bool cli_selects_by(const cli_selection *s, unsigned kind);

void cli_selection_free(cli_selection *s);

/* Damage that was found while reading a capture: messages for people, and the member `damage` of
 * JSON reports. */

/* Reports each kind of damage once on standard error: its first offset, how often it occurs, and
 * how many bytes were lost.  Returns CLI_DAMAGED, or CLI_DONE if there is no damage. */
int cli_report_damage(const cli_input *in);

/* Decodes every feature section, and counts those that cannot be decoded as damage. */
void cli_check_features(cli_input *in);

/* Returns the number of damages of all kinds. */
uint64_t cli_damage_count(const cli_input *in);

/* Writes which files of a directory are missing, as far as gaps in their numbers show it: "data.0,
 * data.3..data.5" or "every data.N".  Returns false if none is missing. */
bool cli_missing_parts(const cli_input *in, char *out, size_t size);

/* True if there is damage other than missing files, so that `perfile recover` can help. */
bool cli_recoverable(const cli_input *in);

/* Prints the member `damage` of a report: {"count":…,"lost":…,"missing":…,"kinds":[…]}. */
void cli_json_damage(const cli_input *in);

/* Losses between the kernel and the capture, as the records of the capture report them. */

/* Sums over the records of a capture. */
typedef struct cli_losses {
    uint64_t lost_records; /* from LOST records: samples and others for which a buffer had no
                            * room */
    uint64_t lost_samples; /* from LOST_SAMPLES records */
    uint64_t gaps;         /* number of LOST records */
    uint64_t filtered;     /* from LOST_SAMPLES records: samples that a BPF filter dropped on
                            * purpose */
    uint64_t throttles;
    uint64_t unthrottles;
    uint64_t aux_truncated;
    uint64_t auxtrace_errors;
    uint64_t map_timeouts; /* mappings that are flagged as incomplete
                            * (PERFILE_MISC_PROC_MAP_TIMEOUT) */
} cli_losses;

/* Adds the losses that a batch of records reports. */
void cli_losses_feed(cli_losses *x, const perfile_record *first, size_t n);

/* Returns the number of lost records that LOST reports in addition to lost samples.  If events
 * count their lost samples (bit LOST of read_format), perf writes these counts as LOST_SAMPLES
 * records, and the LOST records include the same samples. */
uint64_t cli_losses_others(const cli_losses *x, const perfile_session *s);

/* Prints `before` and a list such as "1208 samples (86.7%), in 10 gaps, 1 throttling" to standard
 * output.  Prints nothing and returns false if nothing was lost.  The percentage is relative to
 * `samples`, the number of samples in the capture; with CLI_SAMPLES_UNKNOWN none is printed,
 * because only some samples were counted. */
#define CLI_SAMPLES_UNKNOWN UINT64_MAX
bool cli_losses_print(const cli_losses *x, const perfile_session *s, uint64_t samples,
                      const char *before);

/* Prints the members of the object `losses` of a report. */
void cli_losses_json(const cli_losses *x, const perfile_session *s);

/* Options that say where function names come from, and the report of names that were not found. */

enum { CLI_DEBUG_DIRS = 16 };

/* Addresses of one mapped file that have no function name. */
typedef struct cli_unnamed {
    char *file;
    uint64_t stacks;
    uint8_t kind;   /* PERFILE_UNNAMED_… */
    uint8_t reason; /* PERFILE_SYMBOL_NO_FILE … */
} cli_unnamed;

typedef struct cli_symbols {
    perfile_symbols_options options;
    const char *debug_dirs[CLI_DEBUG_DIRS];
    bool off;             /* --no-symbols */
    cli_unnamed *unnamed; /* from all captures that were read with these options */
    size_t n_unnamed, unnamed_cap;
} cli_symbols;

/* The option table.  Its codes differ from those of all other tables. */
extern const cli_option cli_symbols_options[];

/* True if `option` is the code of one of them. */
bool cli_is_symbols(int option);

/* Handles one of these options.  Returns CLI_CONTINUE or an exit status. */
int cli_symbols_option(const char *command, int option, cli_symbols *symbols);

/* Checks that this perfile can read source lines and inlined functions from debug information,
 * which `what` needs.  Returns CLI_CONTINUE, or prints a message and returns an exit status. */
int cli_symbols_need_source(const char *what);

/* Returns the options for the library, or NULL if no names are wanted.  `symbols` must not move as
 * long as something that was opened with them is open. */
const perfile_symbols_options *cli_symbols_chosen(cli_symbols *symbols,
                                                  const perfile_limits *limits);

/* Reports that `stacks` nodes of call trees in `capture` (NULL for all captures) have no function
 * name, and why, for the files with most of them.  Call it after everything that was opened with
 * the options is finished. */
void cli_unnamed_print(cli_symbols *symbols, const char *capture, uint64_t stacks);

/* Prints all of them as an array "unnamed" of the JSON object that is open. */
void cli_unnamed_json(cli_symbols *symbols);

/* Frees the list of unnamed addresses. */
void cli_symbols_free(cli_symbols *symbols);

#endif
