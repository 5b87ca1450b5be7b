/* `perfile dump`: every record with every field, as text, JSON Lines, CBOR or tab-separated values.
 *
 * The library's emitters make the output (perfile/emit.h).  This file selects the records and opens
 * the output. jsonl and cbor follow a published schema (format/dump.cddl): they print bytes as
 * stored, and their exit status is that of the emitter. text and tsv are for people and correct
 * known oddities of recorders. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "perfile/emit.h"
#include "perfile/field.h"
#include "emit/command.h"
#include "io/command.h"
#include "lib/command.h"

/* `dump --at OFFSET` shows the record that contains a byte.  If the byte is in no record, this code
 * reports where it is: the container has a list of extents with the header, attrs, ids, features,
 * gaps and data of the file. */

enum { TEXT_BYTES = 128 };

/* Describes a byte of the attr section: which event has it in its attr. */
static void describe_attr(const cli_input *in, uint64_t at, char *out, size_t size)
{
    const perfile_session *s = perfile_stream_session(in->stream);
    const perfile_container *c = perfile_stream_container(in->stream);
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (e->origin != PERFILE_ORIGIN_CONTAINER || at < e->offset ||
            at - e->offset >= c->attr_size)
            continue;
        snprintf(out, size, "the attr of event %" PRIu32 " (%s), byte %" PRIu64 " of it", i,
                 e->name, at - e->offset);
        return;
    }
    snprintf(out, size, "the attrs");
}

/* Describes the extent `e`, which contains byte `at`: "the header", "feature 3 HOSTNAME" … */
static void describe(const cli_input *in, const perfile_extent *e, uint64_t at, char *out,
                     size_t size)
{
    const char *name;
    switch (e->role) {
    case PERFILE_EXTENT_HEADER:
        snprintf(out, size, "the header");
        break;
    case PERFILE_EXTENT_IDS:
        snprintf(out, size, "the ids of event %" PRIu32, e->number);
        break;
    case PERFILE_EXTENT_ATTRS:
        describe_attr(in, at, out, size);
        break;
    case PERFILE_EXTENT_EVENT_TYPES:
        snprintf(out, size, "the names of event types");
        break;
    case PERFILE_EXTENT_FEATURE_TABLE:
        snprintf(out, size, "the feature table");
        break;
    case PERFILE_EXTENT_FEATURE:
        name = perfile_feature_name(e->number);
        snprintf(out, size, "feature %" PRIu32 "%s%s", e->number, name ? " " : "",
                 name ? name : "");
        break;
    case PERFILE_EXTENT_GAP:
        snprintf(out, size, "a gap between the sections of the file");
        break;
    case PERFILE_EXTENT_TAIL:
        snprintf(out, size, "the bytes after all sections of the file");
        break;
    default: /* an extent of records */
        snprintf(out, size, "the data, but in no record");
    }
}

static void explain_offset(const cli_input *in, uint64_t at)
{
    const perfile_container *c = perfile_stream_container(in->stream);
    const perfile_extent *found = NULL;
    char what[TEXT_BYTES];
    uint64_t size = 0;
    for (uint32_t i = 0; i < c->n_parts; i++)
        size = c->parts[i].size > size ? c->parts[i].size : size;
    if (size != UINT64_MAX && at >= size) {
        cli_message("%s: offset %" PRIu64 " is past the end: the %s has %" PRIu64 " bytes",
                    in->name, at, c->n_parts > 1 ? "largest file" : "file", size);
        return;
    }
    /* Extents may be nested.  They are sorted by offset, so the last match is the innermost. */
    for (uint32_t i = 0; i < c->n_extents; i++)
        if (at >= c->extents[i].offset && at - c->extents[i].offset < c->extents[i].length)
            found = &c->extents[i];
    if (!found) {
        cli_message("%s: offset %" PRIu64 ": there is no record", in->name, at);
        return;
    }
    describe(in, found, at, what, sizeof what);
    cli_message("%s: offset %" PRIu64 " is in %s (offset %" PRIu64 ", %" PRIu64
                " bytes); --at shows records",
                in->name, at, what, found->offset, found->length);
}

enum {
    OPTION_FORMAT = CLI_OPTION_OWN,
    OPTION_FIELDS,
    OPTION_RESOLVE,
    OPTION_HEADER,
    OPTION_HEX,
    OPTION_SKIP,
    OPTION_LIMIT,
    OPTION_AT,
    OPTION_RAW
};

/* The command line. */
typedef struct settings {
    cli_reading how;
    const char *format; /* NULL if not given */
    const char *fields;
    const char *output;
    bool hex, force, resolve, header;
    bool has_offset;    /* --at */
    bool samples;       /* tsv: samples are the only perf records that are shown */
    bool columns_named; /* the column names have already been printed */
    uint64_t skip, limit, at;
    uint32_t jobs;
    cli_selection select;
    cli_symbols symbols;
} settings;

/* The columns of tsv without --fields. */
static const char default_fields[] = "time,comm,pid,tid,cpu,event,period,ip,dso";

/* Output that is visible while the input is a pipe without data: everything is flushed before the
 * process waits. */
typedef struct live_output {
    perfile_emitter *emitter; /* NULL except while records are fetched: only then may it be
                               * flushed */
    perfile_sink *sink;
    perfile_status status; /* of flushing */
    perfile_error error;
} live_output;

/* The callback `waiting` of the stream, which has to wait for input. */
static void flush_live_output(void *user)
{
    live_output *l = user;
    if (!l->emitter || l->status != PERFILE_OK)
        return;
    l->status = perfile_emitter_flush(l->emitter, &l->error);
    if (l->status == PERFILE_OK)
        l->status = perfile_sink_flush(l->sink, &l->error);
}

/* Calls cli_next_items(); in it, flush_live_output() may flush the emitter. */
static bool next_items_live(cli_input *in, live_output *l, perfile_emitter *e,
                            const perfile_record **first, size_t *n)
{
    l->emitter = e;
    bool more = cli_next_items(in, first, n);
    l->emitter = NULL;
    return more;
}

/* Which records of one input are shown. */
typedef struct record_choice {
    const settings *set;
    uint64_t skip; /* records that are still to be skipped, --skip */
    uint64_t left; /* records that may still be shown, --limit */
    bool started;  /* the record at --at was found */
} record_choice;

static bool is_format(const settings *set, const char *name)
{
    return strcmp(set->format, name) == 0;
}

/* True if a published schema describes the output. */
static bool has_schema(const settings *set)
{
    return is_format(set, "jsonl") || is_format(set, "cbor");
}

/* True if the file header is not shown: users who ask for certain records do not want to scroll
 * past everything else.  In tsv the header is the line with the column names, which is printed
 * once. */
static bool without_header(const settings *set)
{
    if (is_format(set, "tsv"))
        return set->columns_named;
    return !set->header && (set->has_offset || set->skip || cli_selects(&set->select));
}

/* True if byte `at` of the file is in `r`, or in the data after it.  Records from a compressed
 * record do not count, because their offset is that of the compressed record. */
static bool covers(const perfile_record *r, uint64_t at)
{
    return !(r->flags & PERFILE_REC_INNER) && at >= r->offset &&
           at - r->offset < perfile_record_size(r) + r->extra.len;
}

/* True if `r` is to be shown; counts it.  Damage is always shown, after the record of --at. */
static bool is_wanted(record_choice *c, const perfile_record *r)
{
    c->started = c->started || covers(r, c->set->at);
    if (!c->started)
        return false;
    if (r->family == PERFILE_FAMILY_DAMAGE)
        return true;
    if (c->set->samples && r->family == PERFILE_FAMILY_PERF && r->type != PERFILE_RECORD_SAMPLE)
        return false;
    if (c->skip) {
        c->skip--;
        return false;
    }
    c->left--;
    return true;
}

/* Emits the wanted records of a batch, as batches. */
static perfile_status emit_wanted(perfile_emitter *e, record_choice *c, const perfile_record *r,
                                  size_t n, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; st == PERFILE_OK && i < n && c->left;) {
        size_t k = 0;
        while (i + k < n && c->left && is_wanted(c, &r[i + k]))
            k++;
        /* [i, i + k) is wanted, the next record is not. */
        if (k)
            st = perfile_emitter_put_run(e, &r[i], k, err);
        i += k + 1;
    }
    return st;
}

/* Emits one input.  If no record is at --at, *found is false and the output is not finished. */
static perfile_status emit(cli_input *in, perfile_emitter *e, const settings *set, live_output *l,
                           bool *found, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    record_choice c = {
        .set = set, .skip = set->skip, .left = set->limit, .started = !set->has_offset};
    perfile_status st = perfile_emitter_begin(e, err);
    while (st == PERFILE_OK && l->status == PERFILE_OK && c.left &&
           next_items_live(in, l, e, &first, &n))
        st = emit_wanted(e, &c, first, n, err);
    if (st == PERFILE_OK && l->status != PERFILE_OK) { /* flushing failed while the stream waited */
        *err = l->error;
        return l->status;
    }
    *found = c.started;
    return st == PERFILE_OK && c.started ? perfile_emitter_finish(e, err) : st;
}

/* Reports why emitting failed and returns the exit status.  A closed pipe is not reported. */
static int emit_failed(const char *name, const perfile_error *err)
{
    if (err->sys == EPIPE)
        return CLI_DONE;
    cli_report_error(name, err);
    return cli_status_of(err->status, false); /* no record has one of --fields: wrong usage */
}

/* Dumps an input that is open, and closes it.  Sets *complete to false if something is missing in
 * the output. */
static int dump_open(cli_input *in, const settings *set, live_output *l, bool *complete)
{
    const perfile_export_options exporting = {.size = sizeof exporting,
                                              .symbols = set->select.how.symbols};
    perfile_emit_options options = {.size = sizeof options,
                                    .exporting = &exporting,
                                    .fields = set->fields,
                                    .model = in->model,
                                    .threads = cli_jobs(set->jobs)};
    options.flags |= set->hex ? PERFILE_EMIT_HEX : 0;
    options.flags |= set->resolve ? PERFILE_EMIT_RESOLVE : 0;
    options.flags |= without_header(set) ? PERFILE_EMIT_RECORDS : 0;
    perfile_emitter *e = NULL;
    perfile_error err = {0};
    bool found = true;
    perfile_status st = perfile_emitter_open(set->format, in->stream, l->sink, &options, &e, &err);
    if (st == PERFILE_OK)
        st = emit(in, e, set, l, &found, &err);
    /* The counts of the emitter and the stream are needed after both are closed. */
    int outcome = st == PERFILE_OK ? pf_emitter_outcome(e) : 0;
    uint64_t errors = st == PERFILE_OK ? pf_emitter_errors(e) : 0;
    perfile_emitter_close(e);

    perfile_stream_summary sum = {0};
    perfile_stream_get_summary(in->stream, &sum, sizeof sum);
    bool failed = in->status < 0;
    if (st >= 0 && !failed && !found) {
        explain_offset(in, set->at);
        failed = true;
    }
    int status = cli_close(in);
    *complete = *complete && st >= 0 && !failed;
    if (st < 0)
        return emit_failed(in->name, &err);
    /* cli_close() has reported the damage of the stream.  The other errors are records that could
     * be framed, but not decoded. */
    if (errors > sum.damages)
        cli_message("%s: %" PRIu64 " records or sections could not be decoded", in->name,
                    errors - sum.damages);
    if (failed)
        return CLI_FAILED;
    /* The schema of jsonl and cbor also defines the exit status: it depends on what was emitted. */
    if (has_schema(set) && !without_header(set))
        return outcome;
    return cli_worse(status, outcome ? CLI_DAMAGED : CLI_DONE);
}

/* Dumps one input.  If it cannot be opened because of damage, jsonl and cbor have an object for
 * that. */
static int dump_of(cli_file *file, const settings *set, perfile_sink *sink, bool *complete)
{
    cli_input in;
    live_output l = {.sink = sink};
    cli_reading how = set->how;
    how.waiting = flush_live_output;
    how.waiting_user = &l; /* `l` outlives the input, which is closed in this function */
    if (cli_open(&in, file, &how) == CLI_DONE)
        return dump_open(&in, set, &l, complete);
    perfile_error open_error = in.error; /* cli_close() may change it */
    int status = cli_close(&in);
    perfile_error err = {0};
    if (!has_schema(set) || !open_error.damage) {
        *complete = false;
    } else if (pf_emit_failure(set->format, sink, open_error.damage, open_error.offset, &err) < 0) {
        *complete = false;
        return emit_failed(in.name, &err);
    }
    return status;
}

/* Dumps all inputs to one output.  An output file is discarded if anything is missing in it. */
static int dump_all(const cli_inputs *in, settings *set)
{
    const cli_output o = {.out = set->output,
                          .replace = set->force,
                          .inputs = in->paths,
                          .n_inputs = in->n_paths,
                          .kallsyms = set->symbols.options.kallsyms};
    perfile_sink *sink;
    perfile_error err = {0};
    if (cli_output_open(&o, &sink) != CLI_DONE)
        return CLI_FAILED;
    bool file = pf_sink_temporary(sink) != NULL; /* not a pipe or standard output */
    int status = CLI_DONE;
    bool complete = true;
    for (size_t i = 0; i < in->n; i++) {
        set->columns_named = i > 0; /* one line of names for all inputs */
        status = cli_worse(status, dump_of(&in->at[i], set, sink, &complete));
    }
    if (file && !complete)
        cli_message("%s: not written, because the dump is incomplete", set->output);
    else if (perfile_sink_finish(sink, &err) < 0 && status != CLI_FAILED)
        status = emit_failed(cli_output_name(set->output), &err);
    cli_signals_temporary(NULL);
    perfile_sink_close(sink);
    return status;
}

/* Reads the value of the option `name`, a decimal or hexadecimal number. */
static int number_option(const char *name, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(optarg, &end, 0);
    if (optarg[0] >= '0' && optarg[0] <= '9' && !*end && !errno)
        return CLI_CONTINUE;
    return cli_usage("dump", "%s takes a number, not '%s'", name, optarg);
}

static int format_option(const char *word, settings *set)
{
    size_t which;
    int status = cli_choose("dump", "--format", word, perfile_emit_format, &which);
    if (status == CLI_CONTINUE)
        set->format = perfile_emit_format(which);
    return status;
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    if (cli_is_symbols(option))
        return cli_symbols_option("dump", option, &set->symbols);
    if (cli_is_selection(option))
        return cli_selection_option("dump", option, &set->select);
    switch (option) {
    case OPTION_FORMAT:
        return format_option(optarg, set);
    case CLI_OPTION_JSON:
        return format_option("jsonl", set);
    case OPTION_HEX:
        set->hex = true;
        return CLI_CONTINUE;
    case OPTION_FIELDS:
        set->fields = optarg;
        return CLI_CONTINUE;
    case OPTION_RESOLVE:
        set->resolve = true;
        return CLI_CONTINUE;
    case OPTION_HEADER:
        set->header = true;
        return CLI_CONTINUE;
    case OPTION_SKIP:
        return number_option("--skip", &set->skip);
    case OPTION_LIMIT:
        return number_option("--limit", &set->limit);
    case OPTION_AT:
        set->has_offset = true;
        return number_option("--at", &set->at);
    case OPTION_RAW:
        set->how.raw = true;
        return CLI_CONTINUE;
    case 'o':
        set->output = cli_output_path(optarg);
        return CLI_CONTINUE;
    case 'f':
        set->force = true;
        return CLI_CONTINUE;
    case 'j':
        return cli_jobs_option("dump", optarg, &set->jobs);
    default:
        return cli_reading_option("dump", &cli_dump_spec, option, &set->how);
    }
}

/* Checks which options can be combined, and sets members that depend on them. */
static int complete_settings(settings *set)
{
    perfile_error err;
    if (!set->format)
        set->format = set->fields ? "tsv" : "text";
    if (set->hex && !is_format(set, "text"))
        return cli_usage("dump", "--hex needs --format text, not %s", set->format);
    if (set->resolve && !has_schema(set))
        return cli_usage("dump", "--resolve needs --format jsonl or cbor, not %s", set->format);
    if (set->fields && !is_format(set, "tsv"))
        return cli_usage("dump", "--fields needs --format tsv, not %s", set->format);
    int status = cli_selection_check("dump", &set->select);
    if (status == CLI_CONTINUE && is_format(set, "cbor"))
        status = cli_reject_terminal("dump", set->output, "CBOR");
    if (status != CLI_CONTINUE)
        return status;
    set->how.as_stored = has_schema(set);
    set->how.selection = &set->select;
    set->select.how.symbols = cli_symbols_chosen(&set->symbols, set->how.limits);
    set->how.model = set->resolve;
    if (!is_format(set, "tsv"))
        return CLI_CONTINUE;
    if (!set->fields)
        set->fields = default_fields;
    /* Rows of other records would be mostly empty, so they are only shown if --type asks for
     * them. */
    set->samples = !cli_selects_by(&set->select, PERFILE_FILTER_BY_TYPE);
    if (pf_emit_fields_check(set->fields, &set->how.model, &err) != PERFILE_OK)
        return cli_usage("dump", "--fields: %s", err.message);
    return CLI_CONTINUE;
}

static const cli_option options[] = {
    {"format", .value = "FORM", .code = OPTION_FORMAT, .word = perfile_emit_format,
     .help = "the form of the output; text (default): for people; jsonl: a JSON object on each "
             "line; cbor: the same "
             "objects as a CBOR sequence, see format/dump.cddl; tsv: a line for each sample, a "
             "column for each field",
     .more =
         "text has offset, time, type, and every field with its name, flags and enumerations "
         "in words. tsv has a line for each sample, or with --type for each record of these "
         "types; the first line names the columns. Values are those of jsonl, without "
         "quotes; items of lists are separated by commas. A field that a record does not "
         "have is empty. Times are in ns, which options take with their unit: --time "
         "3389479242773ns... In strings a tab, newline, carriage return and backslash become \\t "
         "\\n \\r \\\\, other control characters and invalid UTF-8 \\xNN. jsonl and cbor "
         "print what is stored, as it is stored; text and tsv correct known oddities of "
         "recorders."},
    {"json", .code = CLI_OPTION_JSON, .help = "the same as --format jsonl"},
    {"fields", .value = "F[,F ...]", .code = OPTION_FIELDS,
     .help = "tsv: the columns, such as time,pid,period,ip; also event, comm, dso",
     .more =
         "They are the names of --where of filter, see format/expressions.md: fields (time, "
         "pid, period, callchain, values.value, weight, data_src.op, mmap2.filename), what every "
         "record has (type, misc, cpumode, size, offset, part, sequence), and resolved names: "
         "event, comm (of the thread at that "
         "time), dso (the file mapped at the address of the sample), sym, symoff, srcline, caller, "
         "stack (functions); fields of tracepoints, such as prev_comm. addr/64 is a number rounded "
         "down. If a record has no field "
         "of that name, it is taken from the trailer. The default is "
         "time,comm,pid,tid,cpu,event,period,ip,dso."},
    {"resolve", .code = OPTION_RESOLVE,
     .help =
         "jsonl, cbor: name the event, thread and mapped file of each record, and the fields of "
         "tracepoints",
     .more = "They are the members event, comm, dso and tracepoint, if known."},
    {"hex", .code = OPTION_HEX, .help = "text: each field next to its bytes and their offset"},
    {"skip", .value = "N", .code = OPTION_SKIP, .help = "leave out the first N records"},
    {"limit", .value = "N", .code = OPTION_LIMIT, .help = "show at most N records"},
    {"at", .value = "OFFSET", .code = OPTION_AT,
     .help = "begin with the record that contains this byte of the file, or report what else the "
             "byte is part of",
     .more = "A byte of the header, of an attr, a feature or a gap is in no record: then a message "
             "reports what it is, and the exit status is 1."},
    {"header", .code = OPTION_HEADER,
     .help = "show the header with its events and features where it would be left out",
     .more = "With --skip, --at or an option that selects records, only records are shown, unless "
             "this option is given."},
    {"raw", .code = OPTION_RAW, .help = "do not decompress compressed records"},
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "write to this file, which appears when it is complete", .more = "It must not exist."},
    {"force", .letter = 'f', .help = "replace OUT if it exists"},
    {.rows = cli_jobs_options},
    {.rows = cli_reading_options},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.heading = "Which records:"},
    {.rows = cli_symbols_options},
    {.rows = cli_select_options},
    {0},
};

const cli_spec cli_dump_spec = {
    .about = "perfile dump shows every record with every field.\n"
             "\n"
             "Usage: perfile dump [OPTION ...] FILE ...\n",
    .options = options,
    .notes = "If an option is given twice, either may match; different options must all match.\n"
             "jsonl and cbor print what is stored, as it is stored; text and tsv correct known\n"
             "oddities of recorders.  With --skip, --at or an option that selects records,\n"
             "the header is not shown.  tsv shows samples unless --type says otherwise.\n"
             "\n"
             "Examples:\n"
             "  perfile dump perf.data | less\n"
             "  perfile dump --hex --at 0x1a8 --limit 1 perf.data   what is this byte?\n"
             "  perfile dump --type comm,fork,exit perf.data\n"
             "  perfile dump --format tsv --fields time,comm,pid,cpu,event,ip,dso perf.data\n"
             "  perfile dump --format jsonl --resolve --comm 'perf*' --time +0s..+1s perf.data\n"
             "  perfile dump --format jsonl perf.data | jq -c 'select(.type == 9).body.ip'\n",
};

int cli_dump(int argc, char **argv)
{
    settings set = {.output = "-", .limit = UINT64_MAX};
    int status = CLI_CONTINUE;
    for (int c;
         status == CLI_CONTINUE && (c = cli_next_option("dump", argc, argv, &cli_dump_spec)) != -1;)
        status = read_option(c, &set);
    cli_inputs in;
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("dump", argc, argv, true, &in);
    if (status == CLI_CONTINUE)
        status = complete_settings(&set);
    if (status == CLI_CONTINUE)
        status = dump_all(&in, &set);
    cli_selection_free(&set.select);
    cli_symbols_free(&set.symbols);
    return status;
}
