/* `perfile merge`: one capture with the records of several, in order of time.
 *
 * This file reads the command line and opens the files; perfile_merge_captures() sorts, aligns and
 * writes. --offset names inputs, which are only known after all options have been read.  So its
 * values are stored and resolved afterwards. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/commands/convert.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/damage.h"
#include "perfile/merge_captures.h"
#include "perfile/text.h"
#include "sort/command.h"

/* A note that is stored until the report is printed. */
typedef struct merge_note {
    uint32_t kind;   /* of perfile_merge_note; from PERFILE_N_MERGE_NOTES on, of perfile_note */
    uint32_t number; /* number of a feature or record type; UINT32_MAX if there is none */
    uint32_t input;  /* index of the input; UINT32_MAX if it is not about a single input */
    uint64_t count;
    char *message; /* escaped for terminals; allocated */
} merge_note;

typedef struct report {
    perfile_merge_source *in;
    perfile_stream_summary *summaries; /* one per input */
    size_t n;                          /* number of inputs */
    const char *out;
    bool json;         /* the report is a JSON object */
    bool maps;         /* --report json: print the new ids and pids of all inputs */
    FILE *report;      /* a buffered stream to standard error if OUT is standard output; or NULL */
    merge_note *notes; /* printed after the summary */
    size_t n_notes;
    size_t more_notes; /* notes that were not stored: there were too many, or memory ran out */
    uint32_t clocks; /* bit PERFILE_MERGE_CLOCK_… is set if an input other than the first has it */
    bool merged;     /* on_inputs() was called */
    perfile_merge_summary result;
    perfile_copy_summary copied;
} report;

/* The report of `merge`: lines on standard error, or with --json an object on standard output (on
 * standard error if the merged capture goes to standard output).
 *
 * Notes arrive while the inputs are planned and copied, but are printed after the summary.  So they
 * are stored, up to MAX_NOTES.  The object begins before the merge; its inputs are printed as soon
 * as they are planned, everything else at the end. */

enum { MAX_NOTES = 1000, MAX_MESSAGE = 4 * CLI_MEMBERS_TEXT };

static void report_begin(report *x)
{
    if (!x->json)
        return;
    if (strcmp(x->out, "-") == 0) {
        /* stderr is not buffered, so use a FILE of our own. */
        int fd = dup(STDERR_FILENO);
        x->report = fd >= 0 ? fdopen(fd, "w") : NULL;
        cli_json_to(x->report ? x->report : stderr);
    }
    cli_json_object(NULL);
}

/* Escapes a text that may contain names from captures.  Returns its length. */
static size_t printable(const char *text, char *out, size_t size)
{
    return perfile_printable((perfile_bytes){(const uint8_t *)text, strlen(text)}, out, size);
}

/* Stores a copy of `note` with an escaped copy of `text`.  If that is not possible, the note is
 * only counted. */
static void add_note(report *x, const merge_note *note, const char *text)
{
    size_t n = printable(text, NULL, 0) + 1;
    merge_note *more = NULL;
    if (x->n_notes < MAX_NOTES)
        more = realloc(x->notes, (x->n_notes + 1) * sizeof *more);
    if (more)
        x->notes = more;
    char *copy = more ? malloc(n) : NULL;
    if (!copy) {
        x->more_notes++;
        return;
    }
    printable(text, copy, n);
    x->notes[x->n_notes] = *note;
    x->notes[x->n_notes++].message = copy;
}

static void on_merge_note(void *run, const perfile_merge_note *note)
{
    merge_note one = {note->kind, note->number, note->input, note->count, NULL};
    add_note(run, &one, note->message);
}

/* Kinds of perfile_note are numbered after the kinds of perfile_merge_note. */
static void on_note(void *run, uint32_t input, const perfile_note *note)
{
    merge_note one = {PERFILE_N_MERGE_NOTES + note->kind, note->number, input, note->count, NULL};
    add_note(run, &one, note->message);
}

/* Returns the name of the kind of a note, which comes from one of two enumerations. */
static const char *kind_name(const merge_note *note)
{
    return note->kind < PERFILE_N_MERGE_NOTES
               ? pf_merge_note_name(note->kind)
               : perfile_note_name(note->kind - PERFILE_N_MERGE_NOTES);
}

/* Prints an input: its records, host, boot, and how its clock was aligned. */
static void json_input(const report *x, size_t i, const pf_merge_input_summary *in)
{
    char offset[24]; /* a string, because it may exceed 2^53; signed, unlike cli_json_decimal() */
    snprintf(offset, sizeof offset, "%" PRId64, in->offset);
    cli_json_object(NULL);
    cli_json_string("name", x->in[i].name);
    cli_json_number("records", in->records);
    cli_json_number("samples", in->samples);
    cli_json_number("host", in->host);
    cli_json_number("boot", in->boot);
    cli_json_string("clock", pf_merge_clock_name(in->clock));
    cli_json_string("offset_ns", offset);
    cli_json_number("part_of", in->part_of);
    cli_json_number("damages", x->summaries[i].damages);
    cli_json_number("lost", x->summaries[i].lost);
    cli_json_object_end();
}

/* Prints the new id in the output for each id of each input. */
static void json_ids(const perfile_stream *stream, size_t n)
{
    pf_merge_id_pair id;
    cli_json_array("ids");
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; pf_merge_get_id(stream, i, k, &id, sizeof id); k++) {
            cli_json_object(NULL);
            cli_json_number("input", i);
            cli_json_decimal("id", id.id);
            cli_json_decimal("new_id", id.new_id);
            if (id.event == UINT32_MAX) /* no event */
                cli_json_null("event");
            else
                cli_json_number("event", id.event);
            cli_json_object_end();
        }
    }
    cli_json_array_end();
}

/* Prints the new number in the output for each process number that was changed. */
static void json_pids(const perfile_stream *stream, size_t n)
{
    uint32_t pid, new_pid;
    cli_json_array("pids");
    for (size_t i = 0; i < n; i++) {
        /* UINT32_MAX starts before pid 0.  Each call returns the next number that was changed. */
        for (pid = UINT32_MAX; pf_merge_get_pid(stream, i, pid, &pid, &new_pid);) {
            cli_json_object(NULL);
            cli_json_number("input", i);
            cli_json_number("pid", pid);
            cli_json_number("new_pid", new_pid);
            cli_json_object_end();
        }
    }
    cli_json_array_end();
}

static void on_inputs(void *run, const perfile_stream *stream)
{
    report *x = run;
    x->merged = true;
    if (x->json)
        cli_json_array("inputs");
    for (size_t i = 0; i < x->n; i++) {
        pf_merge_input_summary in;
        pf_merge_get_input_summary(stream, i, &in, sizeof in);
        if (i && in.clock < 32)
            x->clocks |= UINT32_C(1) << in.clock;
        if (x->json)
            json_input(x, i, &in);
    }
    if (x->json)
        cli_json_array_end();
    if (x->json && x->maps) {
        json_ids(stream, x->n);
        json_pids(stream, x->n);
    }
}

/* Prints empty arrays for what on_inputs() would have printed. */
static void json_empty_lists(const report *x)
{
    static const char *const lists[] = {"inputs", "ids", "pids"};
    for (size_t i = 0; i < (x->maps ? 3 : 1); i++) {
        cli_json_array(lists[i]);
        cli_json_array_end();
    }
}

/* Prints the array of the stored notes. */
static void json_notes(const report *x)
{
    cli_json_array("notes");
    for (size_t i = 0; i < x->n_notes; i++) {
        const merge_note *note = &x->notes[i];
        cli_json_object(NULL);
        cli_json_string("kind", kind_name(note));
        if (note->number != UINT32_MAX)
            cli_json_number("number", note->number);
        if (note->input != UINT32_MAX)
            cli_json_number("input", note->input);
        cli_json_number("count", note->count);
        cli_json_string("text", note->message);
        cli_json_object_end();
    }
    cli_json_array_end();
}

/* Prints the rest of the object, after the inputs, and closes a report on standard error. */
static void json_end(const report *x, const perfile_error *failed)
{
    const perfile_merge_summary *m = &x->result;
    if (!x->merged)
        json_empty_lists(x);
    json_notes(x);
    cli_json_string("out", failed ? NULL : x->out);
    cli_json_number("records", m->records);
    cli_json_number("samples", m->samples);
    cli_json_number("hosts", m->hosts);
    cli_json_number("boots", m->boots);
    cli_json_number("boots_unproven", m->boots_unproven);
    cli_json_number("events", m->events);
    cli_json_number("new_ids", m->new_ids);
    cli_json_number("facts", m->facts);
    cli_json_number("repeated", m->repeated);
    cli_json_number("of_nobody", m->unattributed);
    cli_json_number("unreadable", m->unreadable);
    cli_json_number("conflicting", m->conflicting);
    cli_json_number("trailers", m->trailers);
    cli_json_number("rounds", m->rounds);
    cli_json_number("damages", x->copied.damages);
    cli_json_number("lost", x->copied.lost);
    if (failed) {
        char text[MAX_MESSAGE], with[CLI_MEMBERS_TEXT];
        printable(cli_with_options(failed->where, failed->message, with), text, sizeof text);
        cli_json_string("error", text);
    }
    cli_json_object_end();
    cli_json_line();
    cli_json_to(NULL);
    if (x->report)
        fclose(x->report);
}

/* Writes the kinds of clocks that were used, "; clocks: same boot, wall time", or "" for one
 * capture. */
static void clock_words(const report *x, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t k = 0; k < 32; k++) { /* each kind of clock that is in use */
        if (!(x->clocks >> k & 1) || used >= size)
            continue;
        int n = snprintf(out + used, size - used, "%s%s",
                         used ? ", " : "; clocks: ", pf_merge_clock_name(k));
        used += n > 0 ? (size_t)n : 0;
    }
}

/* Writes how many hosts the inputs come from, and whether their boots differ; "" for one boot. */
static void host_words(const perfile_merge_summary *m, char *out, size_t size)
{
    int n = m->hosts > 1 ? snprintf(out, size, ", %" PRIu32 " hosts", m->hosts) : 0;
    out[n] = '\0';
    if (m->boots <= m->hosts)
        return;
    if (n == 0)
        n = snprintf(out, size, ", one host");
    snprintf(out + n, size - (size_t)n, "%s",
             m->boots_unproven ? " (not proven to be one boot)" : " (different boots)");
}

/* Prints the summary line. */
static void report_merged(const report *x)
{
    const perfile_merge_summary *m = &x->result;
    char records[32], samples[32], clocks[160], hosts[80];
    clock_words(x, clocks, sizeof clocks);
    host_words(m, hosts, sizeof hosts);
    cli_message("merged %s record%s (%s sample%s) of %zu capture%s%s%s",
                cli_format_grouped(m->records, records), m->records == 1 ? "" : "s",
                cli_format_grouped(m->samples, samples), m->samples == 1 ? "" : "s", x->n,
                x->n == 1 ? "" : "s", hosts, clocks);
}

/* Prints the notes, and the limits of a capture of several hosts or boots. */
static void report_notes(const report *x)
{
    bool mixed = false;
    for (size_t i = 0; i < x->n_notes; i++) {
        const merge_note *note = &x->notes[i];
        mixed |= note->kind == PERFILE_MERGE_NOTE_MIXED;
        if (note->input < x->n && note->kind >= PERFILE_N_MERGE_NOTES)
            cli_message("%s: %s", x->in[note->input].name, note->message);
        else
            cli_message("%s", note->message);
    }
    if (x->more_notes)
        cli_message("%zu more notes are not shown", x->more_notes);
    if (x->result.hosts > 1 && !mixed)
        cli_message(
            "kernel maps and CPU numbers of different hosts cannot be kept apart in perf.data");
    else if (x->result.boots > 1 && !mixed)
        cli_message(
            "kernel maps and processes of different boots cannot be kept apart in perf.data%s",
            x->result.boots_unproven ? "; where the boot is the same, --offset IN=0 says so" : "");
}

/* Reports the damage of an input: one line per kind, the first with offset and counts. */
static void report_damage(const char *name, const perfile_stream_summary *sum)
{
    char offset[48] = "", places[48] = "", lost[48] = "";
    unsigned kinds = 0;
    if (sum->damages == 0)
        return;
    if (sum->first_offset != PERFILE_NO_OFFSET)
        snprintf(offset, sizeof offset, "offset %" PRIu64 ": ", sum->first_offset);
    if (sum->damages > 1)
        snprintf(places, sizeof places, "%" PRIu64 " damages, the first here: ", sum->damages);
    if (sum->lost)
        snprintf(lost, sizeof lost, ", %" PRIu64 " byte%s lost", sum->lost,
                 sum->lost == 1 ? "" : "s");
    for (unsigned k = 1; k < sizeof sum->by_damage / sizeof sum->by_damage[0]; k++) {
        if (!sum->by_damage[k])
            continue;
        if (kinds++ == 0)
            cli_message("%s: %s%s%s%s", name, offset, places, perfile_damage_text(k), lost);
        else
            cli_message("%s: also: %s", name, perfile_damage_text(k));
    }
}

/* Reports why merging failed. */
static void report_failure(const perfile_error *err)
{
    char text[MAX_MESSAGE], with[CLI_MEMBERS_TEXT];
    const char *message = cli_with_options(err->where, err->message, with);
    printable(message[0] ? message : perfile_status_text(err->status), text, sizeof text);
    cli_message("%s", text);
    if (err->status == PERFILE_E_LIMIT && err->where)
        cli_message("this is the limit '%s'", err->where);
}

static void report_end(report *x, const perfile_error *failed)
{
    if (x->json)
        json_end(x, failed);
    else if (!failed) {
        report_merged(x);
        report_notes(x);
    }
    for (size_t i = 0; i < x->n && !x->json && !failed; i++)
        report_damage(x->in[i].name, &x->summaries[i]);
    /* If the object is on standard error, it already contains the message. */
    if (failed && !(x->json && strcmp(x->out, "-") == 0))
        report_failure(failed);
    for (size_t i = 0; i < x->n_notes; i++)
        free(x->notes[i].message);
    free(x->notes);
}

enum {
    OPTION_OFFSET = CLI_OPTION_OWN,
    OPTION_ALIGN,
    OPTION_JOIN,
    OPTION_MAP,
    OPTION_COMM,
    OPTION_DROP
};

/* The command line, and data for each input. */
typedef struct settings {
    cli_writing w;
    uint32_t flags; /* PERFILE_MERGE_… */
    uint64_t max_memory;
    const char **offsets; /* values of --offset as given */
    size_t n_offsets;
    bool maps; /* --report json */
    cli_inputs inputs;
    perfile_merge_source *in; /* options of each input for the library */
    perfile_stream_summary *summaries;
} settings;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads "+1.5ms" as ns.  Only uses integers, so that the result is exact.  A fraction that is not a
 * whole number of ns is refused. */
static bool read_time(const char *word, int64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"", 1000000000}};
    const uint64_t most = INT64_MAX;
    bool negative = *word == '-';
    const char *p = word + (*word == '-' || *word == '+');
    const char *end = p + strspn(p, "0123456789.");
    uint64_t unit = 0, value = 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0] && !unit; i++)
        unit = strcmp(end, units[i].name) == 0 ? units[i].ns : 0;
    if (!is_digit(*p) || !unit)
        return false;
    for (; is_digit(*p); p++) {
        uint64_t more = (uint64_t)(*p - '0');
        if (value > (most / unit - more) / 10) /* 10 * value + more, in ns, would exceed
                                                * INT64_MAX */
            return false;
        value = 10 * value + more;
    }
    value *= unit;
    if (*p == '.') {
        if (!is_digit(*++p))
            return false;
        for (; is_digit(*p); p++) {
            uint64_t more = (uint64_t)(*p - '0');
            if (more && unit < 10)
                return false; /* a digit below 1 ns */
            unit /= 10;
            if (value > most - more * unit)
                return false;
            value += more * unit;
        }
    }
    *ns = negative ? -(int64_t)value : (int64_t)value;
    return p == end;
}

/* Sets *at to the index of an input.  The first `len` bytes of `word` are its path, or its
 * position, counted from 1.  Reports an error if there is no such input, or if a path is given
 * several times. */
static int find_input(const settings *set, const char *word, size_t len, size_t *at)
{
    size_t found = 0, position = 0, i;
    for (i = 0; i < set->inputs.n; i++) {
        if (strlen(set->inputs.at[i].path) != len ||
            strncmp(set->inputs.at[i].path, word, len) != 0)
            continue;
        *at = i;
        found++;
    }
    if (found > 1)
        return cli_usage(
            "merge", "--offset: '%.*s' is given %zu times as an input: use its position, from 1",
            (int)len, word, found);
    if (found)
        return CLI_CONTINUE;
    for (i = 0; i < len && is_digit(word[i]) && position <= set->inputs.n; i++)
        position = 10 * position + (size_t)(word[i] - '0');
    if (len == 0 || i < len || position == 0 || position > set->inputs.n)
        return cli_usage("merge",
                         "--offset: '%.*s' is neither an input nor a position from 1 to %zu",
                         (int)len, word, set->inputs.n);
    *at = position - 1;
    return CLI_CONTINUE;
}

/* Reads one value of --offset, IN=TIME.  The last '=' is the separator, because paths may contain
 * others. */
static int read_offset(settings *set, const char *word)
{
    const char *time = strrchr(word, '=');
    int64_t ns;
    size_t at = 0;
    if (!time)
        return cli_usage("merge", "--offset takes IN=TIME such as b.data=+1.5ms, not '%s'", word);
    int status = find_input(set, word, (size_t)(time - word), &at);
    if (status != CLI_CONTINUE)
        return status;
    if (!read_time(time + 1, &ns))
        return cli_usage(
            "merge",
            "--offset: '%s' is not a time such as +1.5ms (units ns, us, ms, s; a whole "
            "number of ns)",
            time + 1);
    if (set->in[at].has_offset)
        return cli_usage("merge", "--offset is given twice for '%s'", set->inputs.at[at].path);
    set->in[at].has_offset = true;
    set->in[at].offset = ns;
    return CLI_CONTINUE;
}

/* Stores a value of --offset for read_offset(). */
static int keep_offset(settings *set, const char *word)
{
    const char **more = realloc(set->offsets, (set->n_offsets + 1) * sizeof *more);
    if (!more)
        return cli_no_memory();
    set->offsets = more;
    set->offsets[set->n_offsets++] = word;
    return CLI_CONTINUE;
}

static int add_flag(settings *set, uint32_t flag)
{
    set->flags |= flag;
    return CLI_CONTINUE;
}

CLI_WORDS(align_word, "start")

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    switch (option) {
    case 'm':
        return cli_writing_memory("merge", optarg, &set->max_memory);
    case OPTION_OFFSET:
        return keep_offset(set, optarg);
    case OPTION_ALIGN:
        add_flag(set, PERFILE_MERGE_ALIGN_START);
        return cli_choose("merge", "--align", optarg, align_word, &(size_t){0});
    case OPTION_JOIN:
        return add_flag(set, PERFILE_MERGE_JOIN_EVENTS);
    case OPTION_MAP:
        return add_flag(set, PERFILE_MERGE_MAP_PIDS);
    case OPTION_COMM:
        return add_flag(set, PERFILE_MERGE_HOST_COMM);
    case OPTION_DROP:
        return add_flag(set, PERFILE_MERGE_DROP_CONFLICTING);
    case CLI_OPTION_REPORT:
        set->maps = true;
        return cli_writing_option("merge", &cli_merge_spec, option, &set->w);
    default:
        return cli_writing_option("merge", &cli_merge_spec, option, &set->w);
    }
}

/* Raises the limit on open files if there are many inputs.  Each needs its file, and temporary
 * files while it is sorted. */
static void raise_file_limit(size_t n)
{
    struct rlimit files;
    rlim_t wanted = 64 + 8 * (rlim_t)n; /* files of the process, and temporary files of each
                                         * input */
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted)
        return;
    files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &files); /* if it fails, opening a file reports the error */
}

/* Fills set->in for all inputs, and checks the options that depend on them. */
static int check_inputs(settings *set)
{
    size_t pipes = 0;
    for (size_t i = 0; i < set->inputs.n; i++) {
        bool is_stdin = strcmp(set->inputs.at[i].path, "-") == 0;
        set->in[i].name = set->inputs.at[i].name;
        set->in[i].from = set->w.from;
        set->in[i].summary = &set->summaries[i];
        set->in[i].summary_size = sizeof set->summaries[i];
        pipes += is_stdin;
    }
    if (pipes > 1)
        return cli_usage("merge", "standard input can be given only once");
    if (set->w.has_form && set->w.directory)
        return cli_usage("merge", "--to takes perf.data, pipe, perfmon or archive");
    if (set->w.has_form && set->w.form == PERFILE_FORM_FILE && strcmp(set->w.out, "-") == 0)
        return cli_usage("merge", "standard output needs --to pipe");
    for (size_t i = 0; i < set->n_offsets; i++) {
        int status = read_offset(set, set->offsets[i]);
        if (status != CLI_CONTINUE)
            return status;
    }
    return CLI_CONTINUE;
}

/* Opens all inputs and the output.  Returns CLI_DONE, or CLI_FAILED after a message. cli_merge()
 * closes the inputs that are open. */
static int open_files(settings *set, perfile_sink **sink)
{
    perfile_error err;
    for (size_t i = 0; i < set->inputs.n; i++) {
        perfile_source **source = &set->in[i].source;
        if (cli_source_mapped(&set->inputs.at[i], set->w.limits, source, &err) != PERFILE_OK) {
            cli_report_error(set->in[i].name, &err);
            return CLI_FAILED;
        }
        cli_report_not_copied(set->inputs.at[i].path, false);
    }
    const cli_output o = {.out = set->w.out,
                          .replace = set->w.replace,
                          .inputs = set->inputs.paths,
                          .n_inputs = set->inputs.n_paths,
                          .named = set->inputs.n == 1 ? set->inputs.at : NULL,
                          .archive = set->w.archive,
                          .packing = set->w.packing};
    return cli_output_open(&o, sink);
}

/* Opens, merges, reports, and returns the exit status. */
static int merge(settings *set)
{
    perfile_error err = {0};
    perfile_sink *sink = NULL;
    bool to_stdout = strcmp(set->w.out, "-") == 0;
    report x = {.in = set->in,
                .summaries = set->summaries,
                .n = set->inputs.n,
                .out = set->w.out,
                .json = set->w.json,
                .maps = set->maps};
    perfile_merge_options how = {
        .size = sizeof how, .flags = set->flags, .note = on_merge_note, .user = &x};
    perfile_merge_captures_options writing = {.size = sizeof writing,
                                              .merge = &how,
                                              .copied = &x.copied,
                                              .copied_size = sizeof x.copied,
                                              .limits = set->w.limits,
                                              .format = set->w.format,
                                              .compress_level = set->w.compress_level,
                                              .form = to_stdout ? PERFILE_FORM_PIPE : set->w.form,
                                              .on_damage = cli_policy(&set->w),
                                              .max_memory = set->max_memory,
                                              .note = on_note,
                                              .progress = cli_writing_progress,
                                              .merged = on_inputs,
                                              .user = &x};
    raise_file_limit(set->inputs.n);
    int status = open_files(set, &sink);
    if (status != CLI_DONE)
        return status;
    cli_signals_file("an input"); /* all inputs are mapped, so it is not known which one was
                                   * truncated */
    cli_progress_start("merge");
    report_begin(&x);
    perfile_status st = perfile_merge_captures(set->in, set->inputs.n, sink, &writing, &x.result,
                                               sizeof x.result, &err);
    report_end(&x, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    return cli_status_of(st, x.copied.damages);
}

/* Allocates the data for the inputs, and merges them. */
static int merge_paths(settings *set)
{
    set->in = calloc(set->inputs.n, sizeof *set->in);
    set->summaries = calloc(set->inputs.n, sizeof *set->summaries);
    if (!set->in || !set->summaries)
        return cli_no_memory();
    int status = check_inputs(set);
    if (status != CLI_CONTINUE)
        return status;
    const cli_per_cpu_way way = cli_per_cpu_way_of(&set->w, &set->inputs.at[0]);
    if (way == CLI_PER_CPU_NONE)
        return merge(set);
    cli_per_cpu x = {.command = "merge",
                     .in = set->in,
                     .n = set->inputs.n,
                     .w = &set->w,
                     .max_memory = set->max_memory / set->inputs.n,
                     .merge_flags = set->flags};
    return cli_write_per_cpu(&x, way);
}

static const cli_option options[] = {
    {"offset", .value = "IN=TIME", .code = OPTION_OFFSET,
     .help = "add TIME (+1.5ms, -20us, 3s) to the times of IN, which is the name of an input as "
             "given, or its position from 1; once for each",
     .more = "TIME is a number with or without sign and fraction, and a unit of ns, us, ms or s "
             "(default s). Two captures of one host, for which nothing proves that they are of the "
             "same boot, are treated as of the same boot if an offset of 0 is given."},
    {"align", .value = "start", .code = OPTION_ALIGN, .word = align_word,
     .help = "move all inputs so that their first samples have the same time",
     .more = "It is the time of the first sample of the first input."},
    {"join-events", .code = OPTION_JOIN, .help = "events with the same attr and name become one"},
    {"map-pids", .code = OPTION_MAP,
     .help = "renumber the processes of the second and further hosts",
     .more = "Process and thread numbers of the second host are raised by 4194304, those of "
             "the third by twice that, and so on."},
    {"host-comm", .code = OPTION_COMM,
     .help = "change the names of processes to HOST:NAME if there are several hosts",
     .more = "These are the names in COMM records."},
    {"drop-conflicting", .code = OPTION_DROP,
     .help = "leave out what has conflicting meanings, instead of failing"},
    {"max-memory", .value = "SIZE", .letter = 'm',
     .help = "memory for sorting, default 256M, at least 2M for each input",
     .more = "It is a number of bytes, or of KiB, MiB or GiB with K, M or G after it, for all "
             "inputs together; each has an equal share. Without this option inputs of up to 1 "
             "GiB each stay mapped until they are written: this is page cache, which the system "
             "reclaims when it needs memory. Beyond that, unnamed temporary files are used, in the "
             "folder that the environment variable TMPDIR names, or in /tmp."},
    {.heading = ""},
    {.rows = cli_output_options},
    {.rows = cli_force_options},
    {"to", .value = "FORM", .code = CLI_OPTION_TO, .word = cli_single_output_word,
     .help = "the form of the output; perf.data, pipe, perfmon or archive; default: that of the "
             "first input"},
    {.rows = cli_compress_options},
    {"on-damage", .value = "WHAT", .code = CLI_OPTION_ON_DAMAGE, .word = cli_damage_word,
     .help = "what happens at damage; stop: merge what is before the damage (default); salvage or "
             "resync: continue after "
             "it with "
             "records that can be trusted; fail: write nothing",
     .more = "Damage is reported."},
    {"json", .code = CLI_OPTION_JSON, .help = "report what was done as a JSON object",
     .more = "It goes to standard output, or to standard error when OUT is standard output."},
    {"report", .value = "json", .code = CLI_OPTION_REPORT, .word = cli_report_word,
     .help = "the same with the new numbers of all event ids and processes"},
    {"input", .value = "IN", .letter = 'i', .path = true, .help = "an input, as with perf"},
    {.rows = cli_common_options},
    {"resync", .code = CLI_OPTION_RESYNC},
    {0},
};

const cli_spec cli_merge_spec = {
    .about = "perfile merge writes one capture with the records of several, in time order.\n"
             "Each input may be a file, a stream, a directory, compressed, of any byte order,\n"
             "and of another machine.\n"
             "\n"
             "Usage: perfile merge [OPTION ...] -o OUT IN ...\n",
    .options = options,
    .notes = "Times of the same boot of a machine and the same clock stay as they are; others\n"
             "are aligned by the wall clock, which `perf record -k CLOCK_MONOTONIC` records.\n"
             "Where neither is known, --offset or --align is needed.\n"
             "\n"
             "Examples:\n"
             "  perfile merge --align start -o both.data samples/captures/{group,clock}.data\n"
             "  perfile merge --offset 2=+1.5ms -o moved samples/captures/{pipe,zstd}.data\n"
             "  perfile merge --join-events -o - perf.data perf.data | perfile stats -\n"
             "\n"
             "Exit status: 0 merged; 3 merged, but an input was damaged; 1 not merged;\n"
             "2 wrong usage, or an option is needed for what the captures do not contain.\n",
};

int cli_merge(int argc, char **argv)
{
    settings set = {0};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("merge", argc, argv, &cli_merge_spec)) != -1;)
        status = read_option(c, &set);
    /* Unlike other commands, merge does not read perf.data by default. */
    if (status == CLI_CONTINUE && optind == argc)
        status = cli_usage("merge", "missing input: give the captures to merge");
    if (status == CLI_CONTINUE && !set.w.out)
        status = cli_usage("merge", "missing output: give -o OUT");
    if (status == CLI_CONTINUE)
        status = cli_reject_terminal("merge", set.w.out, "a capture");
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("merge", argc, argv, true, &set.inputs);
    if (status == CLI_CONTINUE)
        status = merge_paths(&set);
    for (size_t i = 0; i < set.inputs.n && set.in; i++)
        perfile_source_close(set.in[i].source);
    free(set.in);
    free(set.summaries);
    free(set.offsets);
    return status;
}
