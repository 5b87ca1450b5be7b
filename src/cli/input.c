/* Inputs: opening the source and stream that a command reads, the progress line, and the report at
 * the end.
 *
 * Without a selection and a model, the stream is the capture itself.  Otherwise it comes from
 * perfile_open_filtered(), which reads the capture once or several times before the stream begins
 * (in->passes); the progress line shows all these passes as one. */
#include "cli/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/model.h"
#include "perfile/sort.h"
#include "archive/command.h"
#include "core/command.h"

enum {
    RECORDS_PER_TICK = 1 << 10, /* records between two updates of the progress line */
    MAPPED_BYTES = 16 << 20     /* a file of up to this size stays mapped while it is sorted */
};

/* The limit on the window of a pipe stays, because that memory is allocated at once. */
const perfile_limits cli_unlimited = {
    .size = sizeof cli_unlimited,
    .inflate_bytes = UINT64_MAX,
    .zstd_window = 31,
    .split_bytes = UINT64_MAX,
    .session_bytes = UINT64_MAX,
    .spool_bytes = UINT64_MAX,
    .held_bytes = UINT64_MAX,
    .model_bytes = UINT64_MAX,
    .inflate_ratio = UINT64_MAX,
    .growth_ratio = UINT64_MAX,
    .profile_bytes = UINT64_MAX,
    .symbol_bytes = UINT64_MAX,
};

/* True if --allow-growth lifts the limit of that name.  Must agree with cli_unlimited. */
static bool is_lifted(const char *limit)
{
    static const char *const names[] = {"inflate_bytes", "zstd_window",   "split_bytes",
                                        "session_bytes", "spool_bytes",   "held_bytes",
                                        "model_bytes",   "inflate_ratio", "growth_ratio",
                                        "profile_bytes", "symbol_bytes"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], limit) == 0)
            return true;
    return false;
}

const cli_option cli_reading_options[] = {
    {"on-damage", .value = "WHAT", .code = CLI_OPTION_ON_DAMAGE, .word = cli_damage_word,
     .help = "what happens at damage; stop: report what is before it (default); salvage or resync: "
             "continue after it "
             "with records that can be trusted (also --resync); fail: report nothing but the "
             "damage",
     .more = "With fail the exit status is 1."},
    {"resync", .code = CLI_OPTION_RESYNC},
    {0},
};

int cli_reading_option(const char *command, const cli_spec *spec, int option, cli_reading *how)
{
    switch (option) {
    case CLI_OPTION_RESYNC:
        return cli_read_damage(command, "resync", false, &how->damage);
    case CLI_OPTION_ON_DAMAGE:
        return cli_read_damage(command, optarg, false, &how->damage);
    default:
        return cli_common_option(spec, option, &how->from, &how->limits);
    }
}

size_t cli_leading_samples(const perfile_record *first, size_t n)
{
    size_t i = 0;
    n = n < PERFILE_RUN_RECORDS ? n : PERFILE_RUN_RECORDS;
    while (i < n && first[i].type == PERFILE_RECORD_SAMPLE &&
           first[i].family == PERFILE_FAMILY_PERF)
        i++;
    return i;
}

/* Feeds one sample from each sequence of samples of the same thread. */
static bool feed_samples(cli_input *in, perfile_model *model, const perfile_record *first, size_t n)
{
    uint64_t tasks[PERFILE_RUN_RECORDS];
    uint32_t at[PERFILE_RUN_RECORDS];
    /* An entry of `tasks` is the pid and tid of a sample.  Samples without them are skipped. */
    size_t found = perfile_sample_fields(first, n, PERFILE_SAMPLE_TID, tasks, at);
    for (size_t i = 0; i < found; i++)
        if ((i == 0 || tasks[i] != tasks[i - 1]) && !cli_feed(in, model, &first[at[i]]))
            return false;
    return true;
}

bool cli_feed_run(cli_input *in, perfile_model *model, const perfile_record *first, size_t n)
{
    for (size_t i = 0, samples; i < n; i += samples ? samples : 1) {
        samples = cli_leading_samples(first + i, n - i);
        if (samples ? !feed_samples(in, model, first + i, samples)
                    : !cli_feed(in, model, &first[i]))
            return false;
    }
    return true;
}

/* Removes the file name from a message of a source, because the caller prints it first: "cannot
 * open 'x': …" and "'x' is …".  Returns `message`, a part of it, or a copy in `buf`. */
static const char *without_name(const char *message, const char *name, char *buf, size_t size)
{
    char quoted[sizeof((perfile_error *)0)->message];
    int n = snprintf(quoted, sizeof quoted, "'%s'", name);
    const char *at = n > 0 && (size_t)n < sizeof quoted ? strstr(message, quoted) : NULL;
    if (!at)
        return message;
    if (at == message && at[n] == ' ')
        return message + n + 1;
    if (at == message || at[-1] != ' ')
        return message;
    snprintf(buf, size, "%.*s%s", (int)(at - 1 - message), message, at + n);
    return buf;
}

void cli_report_error(const char *name, const perfile_error *err)
{
    char buf[sizeof err->message], text[CLI_MEMBERS_TEXT];
    /* Messages of the library call standard input and output '-'. */
    bool standard = strcmp(name, "standard input") == 0 || strcmp(name, "standard output") == 0;
    const char *path = standard ? "-" : name;
    const char *message = without_name(err->message, path, buf, sizeof buf);
    message = cli_with_options(err->where, message, text);
    if (!message[0])
        message = perfile_status_text(err->status);
    if (err->offset != PERFILE_NO_OFFSET)
        cli_message("%s: offset %" PRIu64 ": %s", name, err->offset, message);
    else
        cli_message("%s: %s", name, message);
    if (err->status == PERFILE_E_LIMIT && err->where)
        cli_message("%s: this is the limit '%s'%s", name, err->where,
                    is_lifted(err->where) ? "; --allow-growth lifts it" : "");
}

/* Returns the exit status for in->error.  An unknown format (--from) is wrong usage, and so is a
 * selection that names something which the capture does not have, such as an event. */
static int failure(const cli_input *in)
{
    bool wrong = in->selects && in->status == PERFILE_E_USAGE;
    return wrong || strcmp(in->error.where, "options.from") == 0 ? CLI_USAGE : CLI_FAILED;
}

/* Notes that a capture lacks something that the options select by name, such as an event.  Returns
 * true if all captures of its archive lack it, or if the input is not one of several captures: then
 * the options are wrong. */
static bool all_lack_selection(cli_file *f)
{
    bool all = f->lacks_selection = true;
    for (uint32_t i = 0; i < f->n_captures; i++)
        all = all && (f - (f->capture - 1))[i].lacks_selection;
    return all;
}

/* Returns the exit status of an input that ended with in->error.  If only some captures of an
 * archive lack the selected events, that is not wrong usage. */
static int final_failure(const cli_input *in)
{
    const int status = failure(in);
    return status != CLI_USAGE || all_lack_selection(in->file) ? status : CLI_DONE;
}

/* Shows the progress of the passes before a filtered stream. */
static void on_pass(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    cli_progress_step(done, total);
}

/* Prints notes of the filter, such as that nothing is selected. */
static void on_note(void *user, const perfile_note *note)
{
    const cli_input *in = user;
    char text[CLI_MEMBERS_TEXT];
    cli_message("%s: %s", in->name, cli_with_options(note->where, note->message, text));
}

static perfile_status open_source(const cli_file *file, uint32_t flags,
                                  const perfile_limits *limits, perfile_source **source,
                                  perfile_error *err)
{
    const perfile_source_options how = {.size = sizeof how,
                                        .flags = flags | file->flags,
                                        .limits = limits,
                                        .capture = file->capture};
    return perfile_source_path(file->path, &how, source, err);
}

perfile_status cli_source_mapped(const cli_file *file, const perfile_limits *limits,
                                 perfile_source **source, perfile_error *err)
{
    return open_source(file, 0, limits, source, err);
}

perfile_status cli_source_sequential(const cli_file *file, const perfile_limits *limits,
                                     perfile_source **source, perfile_error *err)
{
    return open_source(file, PERFILE_SOURCE_SEQUENTIAL, limits, source, err);
}

/* Opens a stream, which then owns the source.  On failure the source is closed. */
static perfile_status open_stream(perfile_source *source, const perfile_open_options *options,
                                  perfile_stream **stream, perfile_error *err)
{
    perfile_status st = perfile_open(source, options, stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

/* Opens an input that can be read only once.  If it is an archive, *source is the capture in it,
 * and *how->archive the archive; else *source is the input itself. */
static perfile_status open_source_of_archive(const cli_reading *how, const cli_file *file,
                                             const perfile_open_options *options,
                                             perfile_source **source, perfile_error *err)
{
    if (!*how->archive) {
        perfile_source *input;
        perfile_status st = cli_source_sequential(file, options->limits, &input, err);
        if (st != PERFILE_OK)
            return st;
        st = perfile_archive_open(input, how->archive, err);
        if (st == PERFILE_END) {
            *source = input;
            return PERFILE_OK;
        }
        if (st != PERFILE_OK) {
            perfile_source_close(input);
            return st;
        }
    }
    return pf_archive_capture_source(*how->archive, file->capture, source, err);
}

/* Opens a stream for a command that only reads. */
static perfile_status open_unfiltered(const cli_file *file, const perfile_open_options *options,
                                      const cli_reading *how, perfile_stream **stream,
                                      perfile_error *err)
{
    perfile_source *source;
    perfile_status st = how->archive && !cli_is_regular(file->path)
                            ? open_source_of_archive(how, file, options, &source, err)
                            : cli_source_sequential(file, options->limits, &source, err);
    return st == PERFILE_OK ? open_stream(source, options, stream, err) : st;
}

perfile_status cli_stream_mapped(const cli_file *file, const perfile_open_options *options,
                                 perfile_stream **stream, perfile_error *err)
{
    perfile_source *source;
    perfile_status st = open_source(file, 0, options->limits, &source, err);
    return st == PERFILE_OK ? open_stream(source, options, stream, err) : st;
}

perfile_status cli_stream_sequential(const cli_file *file, const perfile_open_options *options,
                                     perfile_stream **stream, perfile_error *err)
{
    perfile_source *source;
    perfile_status st = cli_source_sequential(file, options->limits, &source, err);
    return st == PERFILE_OK ? open_stream(source, options, stream, err) : st;
}

/* Puts a sorting stage on in->stream.  Reading a file twice is cheap compared with making text from
 * it, so a small part of it is mapped at a time. */
static perfile_status sort_stream(cli_input *in)
{
    const perfile_sort_options how = {.size = sizeof how, .max_mapped = MAPPED_BYTES};
    perfile_stream *sorted;
    const perfile_status st = perfile_sort(in->stream, &how, &sorted, &in->error);
    if (st == PERFILE_OK)
        in->stream = sorted;
    else
        perfile_stream_close(in->stream);
    return st;
}

/* Opens in->stream through a filter, after a pass that collects names and mappings if they are
 * needed. */
static perfile_status open_selected(cli_input *in, const cli_file *file, const cli_reading *how,
                                    const perfile_open_options *options)
{
    perfile_source *source;
    perfile_filter_options select = {.size = sizeof select};
    perfile_open_filtered_options reading = {.size = sizeof reading,
                                             .how = options,
                                             .model = how->model,
                                             .names_only = how->names_only,
                                             .translate = how->translate,
                                             .progress = on_pass,
                                             .note = on_note,
                                             .user = in,
                                             .limit = &in->limit};
    perfile_status st = how->sorted
                            ? cli_source_mapped(file, options->limits, &source, &in->error)
                            : cli_source_sequential(file, options->limits, &source, &in->error);
    if (st != PERFILE_OK)
        return st;
    if (how->selection)
        select = how->selection->how;
    /* Without side-band, the stream has only the selected records. */
    select.flags |= how->marked          ? PERFILE_FILTER_MARK
                    : how->with_sideband ? 0
                                         : PERFILE_FILTER_ONLY;
    cli_progress_start(in->name);
    st = perfile_open_filtered(source, &select, &reading, &in->stream, &in->model, &in->error);
    in->passes = reading.passes;
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st == PERFILE_OK && how->sorted ? sort_stream(in) : st;
}

int cli_open(cli_input *in, cli_file *file, const cli_reading *how)
{
    perfile_open_options options = {
        .size = sizeof options,
        .on_damage = how->damage.policy,
        .deliver = PERFILE_DELIVER_DAMAGE,
        .envelopes = how->raw ? PERFILE_ENVELOPES_OUTER : PERFILE_ENVELOPES_BOTH,
        .as_stored = how->as_stored,
        .from = how->from,
        .limits = how->limits,
        .waiting = how->waiting,
        .waiting_user = how->waiting_user,
    };
    *in = (cli_input){.name = file->name, .file = file, .fail = how->damage.fail};
    in->countdown = RECORDS_PER_TICK;
    cli_signals_file(in->name); /* a mapped file may be truncated from here on */
    in->selects = how->selection && cli_selects(how->selection);
    in->status = cli_protect_inputs(&file->path, 1, &in->error);
    if (in->status == PERFILE_OK && (in->selects || how->model))
        in->status = open_selected(in, file, how, &options);
    else if (in->status == PERFILE_OK)
        in->status = open_unfiltered(file, &options, how, &in->stream, &in->error);
    if (in->status != PERFILE_OK) {
        in->stream = NULL;
        return failure(in);
    }
    const perfile_container *c = perfile_stream_container(in->stream);
    for (uint32_t i = 0; i < c->n_parts; i++) {
        if (c->parts[i].size == UINT64_MAX) { /* a pipe */
            in->total = 0;
            break;
        }
        in->total += c->parts[i].size;
    }
    if (!in->passes) /* else the clock has been running since the first pass */
        cli_progress_start(in->name);
    if (in->fail) /* damage of the header is already known */
        cli_input_fail_on_damage(in);
    return in->status < 0 ? CLI_FAILED : CLI_DONE;
}

bool cli_input_fail_on_damage(cli_input *in)
{
    if (!in->fail || in->status < 0 || cli_damage_count(in) == 0)
        return false;
    in->status = PERFILE_E_CORRUPT;
    in->error = (perfile_error){
        .status = PERFILE_E_CORRUPT, .offset = PERFILE_NO_OFFSET, .where = "on-damage"};
    snprintf(in->error.message, sizeof in->error.message,
             "the capture is damaged, and --on-damage is fail");
    return false;
}

/* Updates the progress line while the record at `offset` of a part is read. */
static void tick(cli_input *in, uint32_t part, uint64_t offset)
{
    in->countdown = RECORDS_PER_TICK;
    const perfile_container *c = perfile_stream_container(in->stream);
    /* Parts are read one after the other: add those that are finished. */
    for (; in->part < part && in->part < c->n_parts; in->part++)
        in->done += in->total ? c->parts[in->part].size : 0;
    /* With k earlier passes, a byte of this pass is 1 / (k + 1) of the work. */
    uint64_t done = in->done + offset;
    cli_progress_step(in->total ? (in->passes * in->total + done) / (in->passes + 1) : done,
                      in->total);
}

void cli_input_tick(cli_input *in, const perfile_record *r)
{
    tick(in, r->part, r->offset);
}

void cli_input_passed(cli_input *in, const pf_passed *p)
{
    if (in->countdown <= p->samples)
        tick(in, p->part, p->offset);
    else
        in->countdown -= (uint32_t)p->samples;
}

int cli_close_without_damage(cli_input *in)
{
    int status = CLI_DONE;
    if (in->status < 0) {
        cli_report_error(in->name, &in->error);
        status = final_failure(in);
    }
    perfile_stream_close(in->stream);
    in->stream = NULL;
    cli_signals_file(NULL);
    return status;
}

int cli_close(cli_input *in)
{
    int status = CLI_DONE;
    if (in->status < 0)
        cli_report_error(in->name, &in->error);
    if (in->stream)
        status = cli_report_damage(in);
    if (in->limit.status) {
        cli_report_error(in->name, &in->limit);
        cli_message("%s: names and mappings from later records are missing in the answer",
                    in->name);
        status = cli_worse(status, CLI_DAMAGED);
    }
    if (in->status < 0)
        status = final_failure(in);
    in->status = PERFILE_OK; /* the error has been reported */
    cli_close_without_damage(in);
    return status;
}
