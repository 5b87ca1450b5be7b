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
#include "perfile/model.h"

/* How to read: the options that all reading commands have, and what the command itself needs. */
typedef struct cli_reading {
    cli_on_damage damage;
    bool raw;                              /* compressed records are not decompressed */
    bool as_stored;                        /* see perfile_open_options */
    const char *from;                      /* --from, or NULL */
    const perfile_limits *limits;          /* NULL: the defaults */
    const struct cli_selection *selection; /* options that select records, or NULL */
    bool with_sideband; /* besides the selected records, the side-band that `filter` keeps */
    bool model;         /* cli_input.model is needed */
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

/* Handles --source and --no-index, which hold for all inputs of the command. */
int cli_archive_option(const char *command, int option);

/* The number that was given with --source; 0: none. */
uint32_t cli_archive_capture(void);

/* Opening of sources.  The functions differ in how bytes are read: */

/* - through a window, from front to back, for commands that only read; */
perfile_status cli_source_sequential(const char *path, const perfile_limits *limits,
                                     perfile_source **source, perfile_error *err);

/* - mapped, for sorting: records wait in the mapping instead of being copied. */
perfile_status cli_source_mapped(const char *path, const perfile_limits *limits,
                                 perfile_source **source, perfile_error *err);

/* Opens `path` as a stream, mapped: for sorting, which comes back to its records. */
perfile_status cli_stream_mapped(const char *path, const perfile_open_options *options,
                                 perfile_stream **stream, perfile_error *err);
/* Opens `path` as a stream through a window. */
perfile_status cli_stream_sequential(const char *path, const perfile_open_options *options,
                                     perfile_stream **stream, perfile_error *err);

enum { CLI_N_DAMAGES = 64 }; /* room for every kind of damage (perfile/damage.h) */

typedef struct cli_input {
    const char *name;           /* for messages */
    const char *path;           /* as given by the user */
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

/* Returns what messages call the input `path`: "standard input" for "-". */
const char *cli_input_name(const char *path);

/* Opens `path`: CLI_DONE, or CLI_FAILED or CLI_USAGE.  An error is in in->error; cli_close()
 * reports it and must be called in any case. */
int cli_open(cli_input *in, const char *path, const cli_reading *how);

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

#endif
