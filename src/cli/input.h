/* A capture that a command reads: opened, walked, and reported on at the end. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "cli/options.h"
#include "perfile/model.h"

/* Options that every reading command has. */
typedef struct cli_reading {
    cli_on_damage damage;
    uint32_t jobs;  /* threads that read; 0: the default */
    bool reads_all_bytes; /* most bytes are looked at: for threads mapped, where that is cheaper */
    bool raw;       /* do not look into compressed records */
    bool as_stored; /* see perfile_open_options */
    const char *from;
    const perfile_limits *limits;          /* NULL: the defaults */
    const struct cli_selection *selection; /* which records; NULL: all */
    bool with_sideband;             /* beside those that are selected, what `filter` keeps for them */
    bool model;                  /* cli_input.model is wanted */
    void (*waiting)(void *user); /* see perfile_open_options; may be NULL */
    void *waiting_user;
} cli_reading;

/* Rows of their tables. */
extern const cli_option cli_reading_options[];

/* What --allow-growth asks for: limits that nothing exceeds. */
extern const perfile_limits cli_unlimited;

/* Handles the options above and unknown ones: CLI_CONTINUE, or what to exit with. */
int cli_reading_option(const char *command, const cli_spec *spec, int option, cli_reading *how);

/* Opens `path` to be read from front to back, with the limits that the user wants. */
perfile_status cli_source_sequential(const char *path, const perfile_limits *limits, perfile_source **source,
                          perfile_error *err);

/* Opens `path` for who writes its records again: mapped where that is faster. */
perfile_status cli_source_copied(const char *path, const perfile_limits *limits,
                                 perfile_source **source, perfile_error *err);

/* Opens `path` to be mapped: for who sorts, so that records wait in the mapping. */
perfile_status cli_source_mapped(const char *path, const perfile_limits *limits,
                                 perfile_source **source, perfile_error *err);

/* The same as a stream. */
perfile_status cli_stream_mapped(const char *path, const perfile_open_options *options,
                                 perfile_stream **stream, perfile_error *err);

enum { CLI_N_DAMAGES = 64 };

typedef struct cli_input {
    const char *name; /* for messages */
    const char *path; /* as given */
    bool fail;        /* damage is an error */
    perfile_stream *stream;
    const perfile_model *model; /* all names and mappings, when asked for */
    uint32_t passes;            /* that the capture was read before, for a model or a selection */
    bool selects;               /* with a selection, which may not fit the capture */
    perfile_status status;      /* of the last step */
    perfile_error error;
    perfile_error limit; /* of a model that is not fed any more, see cli_feed(); status 0: none */
    uint32_t countdown;  /* records to the next look at the clock */
    uint64_t done;       /* bytes of the parts before the one being read */
    uint64_t total;      /* bytes of all parts, 0 when not known */
    uint32_t part;
    struct {
        uint64_t first; /* offset in part `part` */
        uint64_t lost;
        uint64_t
            found; /* times that the command itself came upon it, beside what the stream counts */
        uint32_t part;
        bool seen;
    } damage[CLI_N_DAMAGES];
} cli_input;

/* What messages call the input `path`. */
const char *cli_input_name(const char *path);

/* Opens `path`, or says why not and returns CLI_FAILED. */
int cli_open(cli_input *in, const char *path, const cli_reading *how);

void cli_input_tick(cli_input *in, const perfile_record *r);
void cli_input_passed(cli_input *in, const perfile_passed *p);
void cli_input_damage(cli_input *in, const perfile_record *r); /* in damage.c */

/* With --on-damage fail: makes damage that was met the error of the input.  False, for the loops
 * below, which are over. */
bool cli_input_fail_on_damage(cli_input *in);

/* The next record, those of family DAMAGE included; false at the end. */
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

/* The next record, false at the end. */
static inline bool cli_next(cli_input *in, const perfile_record **r)
{
    while (cli_next_item(in, r))
        if ((*r)->family != PERFILE_FAMILY_DAMAGE)
            return true;
    return false;
}

/* The next records, at least one, or one of family DAMAGE, which is alone; false at the end. */
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

/* The next records, at least one, for loops that do little with each; false at the end. */
static inline bool cli_next_run(cli_input *in, const perfile_record **first, size_t *n)
{
    while (cli_next_items(in, first, n))
        if ((*first)->family != PERFILE_FAMILY_DAMAGE)
            return true;
    return false;
}

/* Feeds a model.  What exceeds limits.model_bytes, and all that comes behind it, is left out: the
 * answer is made of the rest, and cli_close() says so.  False when there is no memory. */
static inline bool cli_feed(cli_input *in, perfile_model *model, const perfile_record *r)
{
    if (in->limit.status)
        return true;
    perfile_status st = perfile_model_feed(model, r, &in->limit);
    return st == PERFILE_OK || st == PERFILE_E_LIMIT;
}

/* How many of first[0 .. n), from the first on, are samples: PERFILE_RUN_RECORDS at most. */
size_t cli_leading_samples(const perfile_record *first, size_t n);

/* The same of records that follow each other, for loops that do little with each: a sample says no
 * more than that its thread exists, and is left out where the one before it said so. */
bool cli_feed_run(cli_input *in, perfile_model *model, const perfile_record *first, size_t n);

/* Says what went wrong with `err`, which is of reading `name`. */
void cli_report_error(const char *name, const perfile_error *err);

/* Says what went wrong with reading, closes; CLI_DONE, or what failed.  For commands that tell of
 * damage in their own way. */
int cli_close_without_damage(cli_input *in);

/* Says what was damaged, closes; CLI_DONE, CLI_DAMAGED, or CLI_FAILED when reading failed. */
int cli_close(cli_input *in);

#endif
