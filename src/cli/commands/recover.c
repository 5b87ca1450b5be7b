/* `perfile recover`: a new capture with the records of a damaged one that can be trusted.
 *
 * perfile_recover_capture() does the work.  If the events of the capture are lost, the user can
 * give them: as a reference capture of the same command (--attrs-from), or in words (--event). */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/check.h"
#include "perfile/recover.h"
#include "archive/command.h"
#include "io/command.h"

typedef struct rescue_report {
    const char *name; /* name of the input, for messages */
    const cli_file *file;
    const char *out;
    bool json, dry_run;
    uint64_t n_gaps; /* number of gaps so far */
    struct {
        uint32_t feature; /* number of the feature; UINT32_MAX if it is not about a feature */
        uint32_t damage;  /* kind of damage; 0 if there is none */
        char *message;    /* allocated */
    } * notes;            /* printed at the end with --json */
    size_t n_notes;
    perfile_recover_summary sum;
} rescue_report;

/* `recover --to archive` for an archive: a new archive with its intact chunks.
 *
 * The capture in the archive is not read: intact chunks are copied byte for byte, and the extent of
 * the loss is known exactly. */

enum { MAX_SHOWN = 20 };

typedef struct repair {
    const char *name;
    const cli_output *o;
    bool json, dry_run;
    uint64_t n; /* number of findings */
    perfile_archive_repaired sum;
} repair;

static void json_finding(const perfile_archive_finding *f)
{
    cli_json_object(NULL);
    cli_json_string("rule", perfile_rule_of(f->rule)->id);
    cli_json_known("offset", f->offset);
    cli_json_string("text", f->message);
    if (f->part_bytes) {
        cli_json_number("capture", f->capture);
        cli_json_number("part", f->part);
        cli_json_decimal("part_offset", f->part_offset);
        cli_json_number("part_bytes", f->part_bytes);
    }
    cli_json_bool("lost", f->is_lost);
    cli_json_object_end();
}

static void on_lost(void *user, const perfile_archive_finding *f)
{
    repair *x = user;
    x->n++;
    if (x->json)
        json_finding(f);
    else if (x->n <= MAX_SHOWN && f->offset != PERFILE_NO_OFFSET)
        cli_message("%s: offset %" PRIu64 ": %s", x->name, f->offset, f->message);
    else if (x->n <= MAX_SHOWN)
        cli_message("%s: %s", x->name, f->message);
}

static void json_repair_begin(const repair *x)
{
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    cli_json_bool("dry_run", x->dry_run);
    cli_json_array("findings");
}

static void json_repair_end(const repair *x, const perfile_error *failed)
{
    const perfile_archive_repaired *s = &x->sum;
    cli_json_array_end();
    cli_json_string("out", failed || x->dry_run ? NULL : x->o->out);
    cli_json_object("kept");
    cli_json_number("chunks", s->chunks);
    cli_json_number("bytes", s->bytes);
    cli_json_object_end();
    cli_json_object("lost");
    cli_json_number("chunks", s->chunks_lost);
    cli_json_number("metadata", s->metas_lost);
    cli_json_number("gaps", s->gaps);
    cli_json_number("gap_bytes", s->gap_bytes);
    cli_json_number("bytes", s->lost_bytes);
    cli_json_object_end();
    cli_json_bool("whole", !s->damaged && !failed);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

static void report_repair(const repair *x, const perfile_error *failed)
{
    const perfile_archive_repaired *s = &x->sum;
    char bytes[32];
    if (x->n > MAX_SHOWN)
        cli_message("%s: and %" PRIu64 " more; --json lists all", x->name, x->n - MAX_SHOWN);
    if (failed) {
        cli_report_error(x->name, failed);
        cli_message("%s: nothing was written", x->name);
        return;
    }
    cli_message("%s: %s %" PRIu32 " chunk%s", x->name, x->dry_run ? "would keep" : "kept",
                s->chunks, s->chunks == 1 ? "" : "s");
    cli_format_bytes(s->lost_bytes, bytes, sizeof bytes);
    if (!s->damaged)
        cli_message("%s: nothing was lost", x->name);
    else if (s->lost_bytes)
        cli_message("%s: lost %s of what was packed", x->name, bytes);
    else
        cli_message("%s: no byte of what was packed is known to be lost", x->name);
}

static int repair_archive(repair *x, perfile_archive *a)
{
    perfile_error err = {0};
    perfile_sink *sink = NULL;
    int status = x->dry_run ? cli_protect_inputs_verbose(x->o->inputs, x->o->n_inputs)
                            : cli_output_open(x->o, &sink);
    if (status != CLI_DONE)
        return CLI_FAILED;
    cli_writing_begin(x->name);
    if (x->json)
        json_repair_begin(x);
    perfile_status st = pf_archive_repair(a, sink, on_lost, x, &x->sum, sizeof x->sum, &err);
    if (x->json)
        json_repair_end(x, st == PERFILE_OK ? NULL : &err);
    if (!x->json || st != PERFILE_OK)
        report_repair(x, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    return cli_status_of(st, x->sum.damaged);
}

static bool recover_archive(const cli_file *file, const cli_writing *w, bool dry_run, int *status)
{
    perfile_error err = {0};
    perfile_archive *a;
    /* The sink gets the bytes of an archive, so they must not be packed again. */
    const cli_output o = {
        .out = w->out, .replace = w->replace, .inputs = &file->path, .n_inputs = 1};
    repair x = {.name = file->name, .o = &o, .json = w->json, .dry_run = dry_run};
    perfile_status st = cli_archive_open(file, w->limits, false, &a, &err);
    if (st == PERFILE_END)
        return false;
    if (st != PERFILE_OK) {
        cli_report_error(x.name, &err);
        *status = CLI_FAILED;
        return true;
    }
    *status = repair_archive(&x, a);
    perfile_archive_close(a);
    return true;
}

/* The report of `recover`: lines on standard error, or with --json an object on standard output.
 *
 * Gaps are reported while the capture is read, as the items of the first array of the object; text
 * shows the first MAX_SHOWN_GAPS.  Notes may arrive in between, so for JSON they are stored and
 * printed as an array after the gaps. */

enum { MAX_SHOWN_GAPS = 20 };

/* Returns the type of the record before or after a gap as a key, see cli_type_key(). */
static uint64_t type_key(const perfile_gap_side *side)
{
    return (uint64_t)side->family << 32 | side->type;
}

/* Prints the record before or after a gap; null if there is none. */
static void json_side(const char *key, const perfile_gap_side *side)
{
    if (!side->there) {
        cli_json_null(key);
        return;
    }
    cli_json_object(key);
    const char *name = perfile_type_name(side->family, side->type);
    if (name)
        cli_json_string("type", name);
    else
        cli_json_null("type");
    cli_json_number("type_number", cli_type_number(type_key(side)));
    cli_json_decimal("offset", side->offset);
    cli_json_number("size", side->size);
    cli_json_known("time", side->time);
    cli_json_object_end();
}

/* Prints a gap as an item of the array. */
static void json_gap(const perfile_gap *gap, const char *part)
{
    cli_json_object(NULL);
    if (part)
        cli_json_string("part", part);
    cli_json_known("offset", gap->offset);
    cli_json_number("bytes", gap->bytes);
    cli_json_bool("inner", gap->inner);
    cli_json_string("why", perfile_damage_name(gap->damage));
    cli_json_string("text", perfile_damage_text(gap->damage));
    if (gap->rule)
        cli_json_string("rule", gap->rule);
    json_side("before", &gap->before);
    json_side("after", &gap->after);
    cli_json_object_end();
}

/* Writes which records are before and after a gap, for the end of a message; "" if there are
 * none. */
static void describe_neighbours(const perfile_gap *gap, char *out, size_t size)
{
    char one[32], two[32];
    const char *before = cli_type_name(type_key(&gap->before), one, sizeof one);
    const char *after = cli_type_name(type_key(&gap->after), two, sizeof two);
    if (gap->before.there && gap->after.there)
        snprintf(out, size, "; between %s at %" PRIu64 " and %s at %" PRIu64, before,
                 gap->before.offset, after, gap->after.offset);
    else if (gap->before.there)
        snprintf(out, size, "; after %s at %" PRIu64, before, gap->before.offset);
    else if (gap->after.there)
        snprintf(out, size, "; before %s at %" PRIu64, after, gap->after.offset);
    else
        out[0] = '\0';
}

/* Reports a gap: where and why, by which rule, how many bytes, and between which records. */
static void report_gap(const rescue_report *x, const perfile_gap *gap, const char *part)
{
    char where[64] = "", bytes[64] = "", rule[32] = "", sides[128];
    describe_neighbours(gap, sides, sizeof sides);
    if (gap->offset != PERFILE_NO_OFFSET)
        snprintf(where, sizeof where, "offset %" PRIu64 ": ", gap->offset);
    if (gap->bytes)
        snprintf(bytes, sizeof bytes, ", %" PRIu64 "%s byte%s lost", gap->bytes,
                 gap->inner ? " decompressed" : "", gap->bytes == 1 ? "" : "s");
    if (gap->rule)
        snprintf(rule, sizeof rule, " (%s)", gap->rule);
    cli_message("%s: %s%s%s%s%s%s%s", x->name, part ? part : "", part ? ": " : "", where,
                perfile_damage_text(gap->damage), rule, bytes, sides);
}

static void report_gap_of(rescue_report *x, const perfile_gap *gap, const char *part)
{
    cli_notes_end();
    x->n_gaps++;
    if (x->json)
        json_gap(gap, part);
    else if (x->n_gaps <= MAX_SHOWN_GAPS)
        report_gap(x, gap, part);
}

static void keep_note(rescue_report *x, const perfile_recover_note *note)
{
    size_t n = strlen(note->message) + 1;
    if (!x->json) {
        cli_note_of(x->name, note->feature, note->damage, note->message);
        return;
    }
    void *more = realloc(x->notes, (x->n_notes + 1) * sizeof *x->notes);
    if (more)
        x->notes = more;
    char *text = more ? malloc(n) : NULL;
    if (!text)
        return; /* out of memory: the note is lost */
    memcpy(text, note->message, n);
    x->notes[x->n_notes].feature = note->feature;
    x->notes[x->n_notes].damage = note->damage;
    x->notes[x->n_notes].message = text;
    x->n_notes++;
}

static void report_begin(rescue_report *x)
{
    if (!x->json)
        return;
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    cli_json_bool("dry_run", x->dry_run);
    cli_json_array("gaps");
}

/* Prints the array of the stored notes. */
static void json_notes(const rescue_report *x)
{
    cli_json_array("notes");
    for (size_t i = 0; i < x->n_notes; i++) {
        cli_json_object(NULL);
        cli_json_string("text", x->notes[i].message);
        if (x->notes[i].feature != UINT32_MAX)
            cli_json_number("feature", x->notes[i].feature);
        if (x->notes[i].damage)
            cli_json_string("why", perfile_damage_name(x->notes[i].damage));
        cli_json_object_end();
    }
    cli_json_array_end();
}

/* Prints the rest of the object, after the gaps.  `whole` means that nothing was lost. */
static void json_end(const rescue_report *x, const perfile_error *failed)
{
    const perfile_recover_summary *s = &x->sum;
    cli_json_array_end();
    json_notes(x);
    cli_json_string("out", x->out && !failed && !x->dry_run ? x->out : NULL);
    cli_json_object("kept");
    cli_json_number("records", s->records);
    cli_json_number("bytes", s->bytes);
    cli_json_number("samples", s->samples);
    cli_json_number("events", s->events);
    cli_json_number("features", s->features);
    cli_json_known("first_time", s->first_time);
    cli_json_known("last_time", s->last_time);
    cli_json_object_end();
    cli_json_object("lost");
    cli_json_number("gaps", s->gaps);
    cli_json_number("bytes", s->lost);
    cli_json_number("missing", s->missing);
    cli_json_number("features", s->features_lost);
    cli_json_object_end();
    cli_json_bool("finished", !s->unterminated);
    cli_json_bool("decompressed", s->decompressed);
    cli_json_bool("whole", !s->damaged && !failed);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

/* True if the capture can have samples.  They need events, which not every format has. */
static bool has_samples(const rescue_report *x)
{
    return x->sum.events || x->sum.samples;
}

/* Reports how many records were recovered, or would be in a dry run. */
static void report_kept(const rescue_report *x)
{
    const perfile_recover_summary *s = &x->sum;
    char bytes[32], samples[64] = "";
    cli_format_bytes(s->bytes, bytes, sizeof bytes);
    if (has_samples(x))
        snprintf(samples, sizeof samples, "%" PRIu64 " sample%s of them, ", s->samples,
                 s->samples == 1 ? "" : "s");
    cli_message("%s: %s %" PRIu64 " record%s, %s%s", x->name, x->dry_run ? "would keep" : "kept",
                s->records, s->records == 1 ? "" : "s", samples, bytes);
}

/* Reports the losses, one line per kind. */
static void report_lost(const rescue_report *x)
{
    const perfile_recover_summary *s = &x->sum;
    char bytes[32];
    if (!s->damaged) {
        cli_message("%s: nothing was lost", x->name);
        return;
    }
    if (s->unterminated)
        cli_message(
            "%s: the recording was killed before host, command line and build ids were written",
            x->name);
    cli_format_bytes(s->lost, bytes, sizeof bytes);
    if (s->lost)
        cli_message("%s: lost %s", x->name, bytes);
    cli_format_bytes(s->missing, bytes, sizeof bytes);
    if (s->missing)
        cli_message("%s: another %s of records were missing at the end of the input", x->name,
                    bytes);
    if (s->features_lost)
        cli_message("%s: lost %" PRIu64 " feature section%s", x->name, s->features_lost,
                    s->features_lost == 1 ? "" : "s");
}

/* Suggests the next command: recover after a dry run, perf report if there are samples, else dump.
 * There is no suggestion for a path that cannot be written in a shell command. */
static void report_next_step(const rescue_report *x)
{
    if (x->dry_run && !x->sum.damaged) {
        cli_message("%s: nothing was written, and nothing needs recovering", x->name);
        return;
    }
    char file[CLI_SHELL_WORD];
    const char *path = x->dry_run ? x->file->path : x->out;
    /* The path is the argument of -i for perf report, and an operand for the others. */
    bool report = !x->dry_run && x->sum.samples;
    bool known =
        strcmp(path, "-") != 0 && (report       ? cli_shell_word(path, file, sizeof file)
                                   : x->dry_run ? cli_shell_input(x->file, file, sizeof file)
                                                : cli_shell_file(path, file, sizeof file));
    const char *what = x->dry_run                          ? "nothing was written"
                       : !has_samples(x) || x->sum.samples ? NULL
                                                           : "there is no sample among them";
    const char *next = x->dry_run ? "perfile recover -o OUT "
                       : report   ? "perf report -i "
                                  : "perfile dump ";
    if (what || known)
        cli_message("%s: %s%s%s%s%s", x->name, what ? what : "", what && known ? "; " : "",
                    known ? "next: " : "", known ? next : "", known ? file : "");
}

static void report_end(rescue_report *x, const perfile_error *failed)
{
    cli_notes_end();
    if (x->json)
        json_end(x, failed);
    if (x->n_gaps > MAX_SHOWN_GAPS && !x->json)
        /* More gaps were counted than reported. */
        cli_message("%s: and %" PRIu64 " more gaps; --json lists all", x->name,
                    x->n_gaps - MAX_SHOWN_GAPS);
    if (failed) {
        cli_report_error(x->name, failed);
        cli_message("%s: nothing was written", x->name);
        return;
    }
    report_kept(x);
    report_lost(x);
    report_next_step(x);
}

static void report_clear(rescue_report *x)
{
    for (size_t i = 0; i < x->n_notes; i++)
        free(x->notes[i].message);
    free(x->notes);
}

enum { OPTION_ATTRS_FROM = CLI_OPTION_OWN, OPTION_EVENT, OPTION_BIG };
enum { MAX_EVENTS = 64 };

/* The command line. */
typedef struct settings {
    cli_writing w;
    const char *attrs_from; /* path of the reference capture, or NULL */
    const char *folder;     /* the directory of which each file is recovered separately, or NULL */
    bool dry_run;
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_… of the capture that --event describes */
    const char *events[MAX_EVENTS];
    uint32_t n_events;
} settings;

/* The events to use instead of those of the input. */
typedef struct given_events {
    perfile_stream *reference;            /* owns them */
    perfile_event_text texts[MAX_EVENTS]; /* parsed values of --event */
    perfile_assumed_event *events;        /* borrow from `reference` or `texts` */
    perfile_assume assume;                /* the argument for the library */
} given_events;

static void on_gap(void *user, const perfile_gap *gap, const char *part)
{
    report_gap_of(user, gap, part);
}

static void on_note(void *user, const perfile_recover_note *note)
{
    keep_note(user, note);
}

/* Reads the events of --attrs-from.  Returns CLI_DONE, or CLI_FAILED after a message. */
static int events_of_reference(const settings *set, given_events *g)
{
    perfile_error err;
    const perfile_record *r;
    perfile_status st = perfile_open_path(set->attrs_from, NULL, &g->reference, &err);
    const perfile_session *s = st == PERFILE_OK ? perfile_stream_session(g->reference) : NULL;
    /* The events of a pipe are in its first records: read up to the first kernel record. */
    while (st == PERFILE_OK && perfile_session_n_events(s) == 0)
        st = perfile_stream_next(g->reference, &r, &err);
    /* More HEADER_ATTR records may follow the first one. */
    while (st == PERFILE_OK && (st = perfile_stream_next(g->reference, &r, &err)) == PERFILE_OK)
        if (r->type < PERFILE_RECORD_USER)
            break;
    if (st < 0) {
        cli_report_error(set->attrs_from, &err);
        return CLI_FAILED;
    }
    uint32_t n = perfile_session_n_events(s);
    g->events = calloc(n ? n : 1, sizeof *g->events);
    if (!g->events || n == 0) {
        cli_message("%s: %s", set->attrs_from, n ? "out of memory" : "the capture has no events");
        return CLI_FAILED;
    }
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(s, i);
        g->events[i] =
            (perfile_assumed_event){.attr = e->stored, .ids = {e->ids.ptr, 8 * e->ids.n}};
    }
    g->assume.n_events = n;
    g->assume.byte_order = perfile_session_byte_order(s);
    return CLI_DONE;
}

/* Parses the events of --event.  Returns CLI_DONE, or CLI_USAGE after a message. */
static int events_of_texts(const settings *set, given_events *g)
{
    perfile_error err;
    g->events = calloc(set->n_events, sizeof *g->events);
    for (uint32_t i = 0; i < set->n_events; i++) {
        perfile_event_text *t = &g->texts[i];
        if (!g->events ||
            perfile_event_parse(set->events[i], set->byte_order, t, &err) != PERFILE_OK)
            return cli_usage("recover", "--event: %s", g->events ? err.message : "out of memory");
        g->events[i] =
            (perfile_assumed_event){.attr = {t->attr, t->attr_size},
                                    .ids = {(const uint8_t *)t->ids, 8 * (size_t)t->n_ids}};
    }
    g->assume.n_events = set->n_events;
    g->assume.byte_order = set->byte_order;
    return CLI_DONE;
}

/* Fills `g` from the options.  Without them g->assume.n_events is 0. */
static int read_given_events(const settings *set, given_events *g)
{
    int status = set->attrs_from ? events_of_reference(set, g)
                 : set->n_events ? events_of_texts(set, g)
                                 : CLI_DONE;
    g->assume.size = sizeof g->assume;
    g->assume.events = g->events;
    return status;
}

/* Opens the input and output, recovers, reports, and returns the exit status. */
static int rescue(const settings *set, const cli_file *file, const given_events *g)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink = NULL;
    rescue_report x = {.name = file->name,
                       .file = file,
                       .out = set->w.out,
                       .json = set->w.json,
                       .dry_run = set->dry_run};
    perfile_recover_options how = {.size = sizeof how,
                                   .from = set->w.from,
                                   .limits = set->w.limits,
                                   .assume = g->assume.n_events ? &g->assume : NULL,
                                   .gap = on_gap,
                                   .note = on_note,
                                   .progress = cli_writing_progress,
                                   .user = &x};
    if (cli_source_sequential(file, set->w.limits, &source, &err) != PERFILE_OK) {
        cli_report_error(x.name, &err);
        return CLI_FAILED;
    }
    /* The reference capture and the folder are inputs, too: nothing in them is overwritten. */
    const char *inputs[3] = {file->path};
    size_t n_inputs = 1;
    if (set->attrs_from)
        inputs[n_inputs++] = set->attrs_from;
    if (set->folder)
        inputs[n_inputs++] = set->folder;
    const cli_output o = {.out = set->w.out,
                          .replace = set->w.replace,
                          .inputs = inputs,
                          .n_inputs = n_inputs,
                          .named = n_inputs == 1 ? file : NULL,
                          .archive = set->w.archive,
                          .packing = set->w.packing};
    /* A dry run has no sink, but its messages must not go into an input either. */
    int status = set->dry_run ? cli_protect_inputs_verbose(o.inputs, o.n_inputs)
                              : cli_output_open(&o, &sink);
    if (status != CLI_DONE) {
        perfile_source_close(source);
        return CLI_FAILED;
    }
    if (!set->dry_run)
        cli_report_not_copied(file->path, false);
    cli_writing_begin(x.name);
    report_begin(&x);
    perfile_status st = perfile_recover_capture(source, sink, &how, &x.sum, sizeof x.sum, &err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    report_end(&x, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    report_clear(&x);
    return cli_status_of(st, x.sum.damaged);
}

/* A file of a directory that is recovered separately. */
typedef struct own_file {
    char *path;
    uint32_t cpu;
} own_file;

/* Opens the file to find its CPU.  Returns false if it is not a file of one CPU, or cannot be
 * read. */
static bool cpu_of_file(const settings *set, const char *path, uint32_t *cpu)
{
    const perfile_open_options reading = {
        .size = sizeof reading, .from = set->w.from, .limits = set->w.limits};
    perfile_stream *s;
    if (perfile_open_path(path, &reading, &s, NULL) != PERFILE_OK)
        return false;
    const perfile_container *c = perfile_stream_container(s);
    const bool has = c->n_parts == 1 && c->parts[0].has_cpu;
    *cpu = has ? c->parts[0].cpu : 0;
    perfile_stream_close(s);
    return has;
}

static int compare_cpus(const void *a, const void *b)
{
    const own_file *one = a, *other = b;
    return (one->cpu > other->cpu) - (one->cpu < other->cpu);
}

/* Adds a file to the list, unless it is not a file of one CPU or cannot be read.  Returns the exit
 * status: CLI_DAMAGED if the file was left out. */
static int add_own_file(const settings *set, const char *path, own_file **files, size_t *n)
{
    uint32_t cpu;
    if (!cpu_of_file(set, path, &cpu)) {
        cli_message("%s: left out: it is not a readable file of one CPU", path);
        return CLI_DAMAGED;
    }
    own_file *more = realloc(*files, (*n + 1) * sizeof *more);
    char *copy = more ? strdup(path) : NULL;
    *files = more ? more : *files;
    if (!copy)
        return cli_no_memory();
    more[(*n)++] = (own_file){copy, cpu};
    return CLI_DONE;
}

/* Lists the files of a directory that contain records, sorted by CPU. */
static int list_own_files(const settings *set, const char *in, own_file **files, size_t *n)
{
    int status = CLI_DONE;
    DIR *dir = opendir(in);
    if (!dir) {
        cli_message("%s: cannot open the directory: %s", in, strerror(errno));
        return CLI_FAILED;
    }
    for (const struct dirent *e; status != CLI_FAILED && (e = readdir(dir));) {
        char path[PATH_MAX];
        if (!pf_is_record_file(e->d_name))
            continue;
        const int len = snprintf(path, sizeof path, "%s/%s", in, e->d_name);
        if (len > 0 && (size_t)len < sizeof path)
            status = cli_worse(status, add_own_file(set, path, files, n));
    }
    closedir(dir);
    if (*n == 0 && status != CLI_FAILED) {
        cli_message("%s: the directory has no record files: data.0, data.1 …", in);
        return CLI_FAILED;
    }
    if (*n)
        qsort(*files, *n, sizeof **files, compare_cpus);
    return status;
}

/* Refuses two files of the same CPU, because their outputs would have the same name. */
static int check_cpus(const own_file *files, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (files[i].cpu == files[i - 1].cpu) {
            cli_message("'%s' and '%s' are both of CPU %" PRIu32 ": recover them one by one",
                        files[i - 1].path, files[i].path, files[i].cpu);
            return CLI_FAILED;
        }
    return CLI_DONE;
}

/* Recovers each file of a directory separately, to OUT with %d replaced by the number of its CPU.
 * Returns the exit status. */
static int rescue_each(const settings *set, const char *in, const given_events *g)
{
    own_file *files = NULL;
    size_t n = 0;
    const char *const mark = strstr(set->w.out, "%d");
    const size_t front = (size_t)(mark - set->w.out), size = strlen(set->w.out) + 16;
    char *out = malloc(size);
    int status = out ? list_own_files(set, in, &files, &n) : cli_no_memory();
    if (status != CLI_FAILED)
        status = cli_worse(status, check_cpus(files, n));
    for (size_t i = 0; i < n && status != CLI_FAILED; i++) {
        settings one = *set;
        one.w.out = out;
        one.folder = in;
        snprintf(out, size, "%.*s%" PRIu32 "%s", (int)front, set->w.out, files[i].cpu, mark + 2);
        const cli_file file = cli_file_of(files[i].path);
        status = cli_worse(status, rescue(&one, &file, g));
    }
    for (size_t i = 0; i < n; i++)
        free(files[i].path);
    free(files);
    free(out);
    return status;
}

/* Words of --to. */
CLI_WORDS(form_word, "perf.data", "archive")

CLI_WORDS(salvage_word, "salvage")

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    size_t which = 0;
    int status;
    switch (option) {
    case CLI_OPTION_TO:
        status = cli_choose("recover", "--to", optarg, form_word, &which);
        set->w.archive = which == 1;
        return status;
    case 'n':
        set->dry_run = true;
        return CLI_CONTINUE;
    case OPTION_ATTRS_FROM:
        set->attrs_from = optarg;
        return CLI_CONTINUE;
    case OPTION_EVENT:
        if (set->n_events == MAX_EVENTS)
            return cli_usage("recover", "--event is given more than %d times", MAX_EVENTS);
        set->events[set->n_events++] = optarg;
        return CLI_CONTINUE;
    case OPTION_BIG:
        set->byte_order = PERFILE_BYTE_ORDER_BIG;
        return CLI_CONTINUE;
    case CLI_OPTION_ON_DAMAGE:
        return cli_choose("recover", "--on-damage", optarg, salvage_word, &(size_t){0});
    default:
        return cli_writing_option("recover", &cli_recover_spec, option, &set->w);
    }
}

static const cli_option options[] = {
    {"output", .value = "OUT", .letter = 'o', .path = true, .help = "the new capture",
     .more =
         "The file appears when it is complete, or not at all. Perfmon buffers in a directory are "
         "recovered one by one: give a name with %d, which becomes the number of the CPU."},
    {.rows = cli_force_options},
    {"to", .value = "FORM", .code = CLI_OPTION_TO, .word = form_word,
     .help = "the form of the output; perf.data (default), or archive: pack what was recovered; if "
             "FILE is an archive, "
             "repair it",
     .more =
         "perf.data is a file, or a stream if FILE is one. A repaired archive has all chunks of "
         "FILE whose checksums are right, as they were, and a new index; the capture in it is "
         "not changed."},
    {"dry-run", .letter = 'n', .help = "write nothing, only report what could be recovered"},
    {"attrs-from", .value = "REF", .code = OPTION_ATTRS_FROM, .path = true,
     .help = "use the events of REF, a capture of the same command",
     .more = "Their ids are taken from the ID_INDEX record of FILE if it has one."},
    {"event", .value = "EVENT", .code = OPTION_EVENT,
     .help =
         "an event in words, such as cycles:sample_type=IP|TID|TIME|PERIOD; once for each event",
     .more = "EVENT is NAME:MEMBER=VALUE,... in the order of the events, where NAME is that of a "
             "hardware or software event, or nothing, and MEMBER one of type, config, "
             "sample_type, read_format, branch_sample_type, sample_regs_user, sample_stack_user, "
             "sample_regs_intr, and id (any number of times). VALUE is a number, or names of "
             "bits with | between them."},
    {"big-endian", .code = OPTION_BIG,
     .help = "the capture of --event is in big-endian byte order"},
    {"on-damage", .value = "WHAT", .code = CLI_OPTION_ON_DAMAGE, .word = salvage_word,
     .help = "what is kept after damage; salvage (default) is the only choice: records that can be "
             "trusted"},
    {"json", .code = CLI_OPTION_JSON, .help = "a JSON object with every gap, see format/reports.md",
     .more = "It has the records before and after each gap."},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.rows = cli_writing_options},
    {0},
};

const cli_spec cli_recover_spec = {
    .about = "perfile recover writes a new capture with every record of a killed, cut or\n"
             "damaged one that can be trusted.  perf and other tools can read it.  FILE is\n"
             "never changed.\n"
             "\n"
             "Usage: perfile recover [OPTION ...] -o OUT FILE\n",
    .options = options,
    .notes = "Examples:\n"
             "  perfile recover -o saved.data perf.data            after perf was killed\n"
             "  perfile recover --dry-run perf.data                what could be recovered?\n"
             "  perfile recover --attrs-from good.data -o saved.data broken.data\n"
             "  perfile recover -n --json perf.data | jq .gaps\n"
             "  perfile recover --to archive -o good.perfile damaged.perfile\n"
             "  perfile recover -o 'good.0.%d.cpuperf' buffers/    each perfmon buffer alone\n"
             "\n"
             "Exit status: 0 nothing was lost; 3 something was; 1 nothing could be recovered.\n",
};

int cli_recover(int argc, char **argv)
{
    settings set = {0};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("recover", argc, argv, &cli_recover_spec)) != -1;)
        status = read_option(c, &set);
    if (status != CLI_CONTINUE)
        return status;
    cli_file *in;
    status = cli_read_input("recover", argc, argv, &in);
    if (status != CLI_CONTINUE)
        return status;
    if (!set.w.out && !set.dry_run)
        return cli_usage("recover", "missing output: give -o OUT, or --dry-run");
    if (!set.dry_run &&
        (status = cli_reject_terminal("recover", set.w.out, "a capture")) != CLI_CONTINUE)
        return status;
    if (set.attrs_from && set.n_events)
        return cli_usage("recover", "give --attrs-from or --event, not both");
    if (set.w.archive && !set.attrs_from && !set.n_events &&
        recover_archive(in, &set.w, set.dry_run, &status))
        return status;
    given_events *g = calloc(1, sizeof *g); /* too large for the stack: 64 attrs */
    if (!g)
        return cli_no_memory();
    status = read_given_events(&set, g);
    if (status == CLI_DONE)
        status = set.w.out && strstr(set.w.out, "%d") && cli_is_directory(in->path)
                     ? rescue_each(&set, in->path, g)
                     : rescue(&set, in, g);
    perfile_stream_close(g->reference);
    free(g->events);
    free(g);
    return status;
}
