/* `perfile convert`: the same capture in another form (file, pipe, directory), byte order,
 * compression, or for an older version of perf. perfile_convert_capture() does the work. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/commands/convert.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/base.h"
#include "perfile/check.h"
#include "perfile/convert.h"
#include "perfile/damage.h"
#include "archive/command.h"
#include "io/command.h"
#include "lib/command.h"
#include "transform/command.h"

typedef struct archive_output {
    const cli_writing *w;
    const perfile_convert_options *how; /* the conversion of each input; `user` is set here */
    cli_inputs inputs;
    bool append; /* if OUT is an archive, append to it */
    bool repack; /* archives among the inputs are decoded and packed again */
} archive_output;

/* The report of `convert`: each note is a line on standard error.  With --json, it is an item of
 * one JSON object on standard output, which begins before the conversion and ends after it. */

void cli_conversion_begin(cli_conversion *x)
{
    if (!x->json)
        return;
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    cli_json_array("notes");
}

/* Prints a note.  Its number is that of a feature or a record type, depending on the kind. */
static void json_note(const perfile_note *n)
{
    bool feature = n->kind == PERFILE_NOTE_FEATURE_LEFT_OUT ||
                   n->kind == PERFILE_NOTE_FEATURE_KEPT || n->kind == PERFILE_NOTE_FEATURE_BROKEN ||
                   n->kind == PERFILE_NOTE_FEATURE_NO_PLACE;
    char text[CLI_MEMBERS_TEXT];
    cli_json_object(NULL);
    cli_json_string("kind", perfile_note_name(n->kind));
    cli_json_bool("loss", pf_note_is_loss(n->kind));
    if (n->number != UINT32_MAX)
        cli_json_number(feature ? "feature" : "type_number", n->number);
    if (n->damage)
        cli_json_string("why", perfile_damage_name(n->damage));
    cli_json_number("count", n->count);
    cli_json_number("bytes", n->bytes);
    cli_json_known("offset", n->offset);
    cli_json_string("text", cli_with_options(n->where, n->message, text));
    cli_json_object_end();
}

void cli_conversion_note(void *conversion, const perfile_note *note)
{
    const cli_conversion *x = conversion;
    if (x->json)
        json_note(note);
    else
        cli_note(x->name, note);
}

/* Prints the rest of the object, after the notes. */
static void json_end(const cli_conversion *x, const perfile_error *failed)
{
    const perfile_convert_summary *s = &x->sum;
    const perfile_copy_summary *c = &s->copied;
    cli_json_array_end();
    cli_json_string("out", failed ? NULL : x->out);
    cli_json_string("form", x->copied_chunks               ? "archive"
                            : s->directory                 ? "dir"
                            : s->form == PERFILE_FORM_PIPE ? "pipe"
                                                           : "perf.data");
    cli_json_string("endian", s->byte_order == PERFILE_BYTE_ORDER_BIG ? "big" : "little");
    cli_json_number("records", c->records);
    cli_json_number("samples", c->samples);
    cli_json_number("events", c->events);
    cli_json_number("features", c->features);
    cli_json_number("losses", c->losses);
    cli_json_number("damages", c->damages);
    cli_json_number("lost", c->lost);
    if (x->scrubs) {
        cli_json_number("scrubbed_records", s->scrubbed_records);
        cli_json_number("scrubbed_bytes", s->scrubbed_bytes);
    }
    /* `same`: OUT has exactly the bytes of IN. */
    cli_json_bool("same", (s->same || x->copied_chunks) && !failed);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

/* True if --on-damage copy could convert the capture: the header is readable, and the damage is
 * after it. */
static bool copy_may_help(const perfile_error *failed)
{
    return failed->damage && failed->damage != PERFILE_DAMAGE_BAD_MAGIC;
}

void cli_conversion_end(cli_conversion *x, const perfile_error *failed)
{
    cli_notes_end();
    if (x->json)
        json_end(x, failed);
    if (!failed && !x->json && x->scrubs)
        cli_message("%s: %" PRIu64 " bytes of %" PRIu64 " record%s zeroed", x->name,
                    x->sum.scrubbed_bytes, x->sum.scrubbed_records,
                    x->sum.scrubbed_records == 1 ? "" : "s");
    if (!failed)
        return;
    cli_report_error(x->name, failed);
    if (copy_may_help(failed))
        cli_message(
            "%s: --on-damage copy converts what can be read; `perfile recover` writes the records "
            "that can be trusted",
            x->name);
}

/* The check of the output of `convert --target`.
 *
 * Data that a version of perf cannot represent is dropped or rewritten while records pass.  But it
 * may refuse a capture for reasons outside of single records: the form of the file, features that
 * contradict events, earlier damage.  So the output is read again and checked by the rules of
 * `validate --for`. */

enum { MOST_MESSAGES = 8 };

typedef struct result {
    const char *path, *version;
    uint64_t errors, said;
} result;

static void on_finding(void *user, const perfile_finding *f)
{
    result *r = user;
    r->errors++;
    if (r->said++ < MOST_MESSAGES)
        cli_message("%s: %s: %s", r->path, perfile_rule_of(f->rule)->id, f->message);
}

static void on_reason(void *user, unsigned verdict, const char *sentence)
{
    result *r = user;
    if (verdict != PERFILE_VERDICT_READS && r->said++ < MOST_MESSAGES)
        cli_message("%s: perf %s %s", r->path, r->version, sentence);
}

/* Reads all records. */
static perfile_status read_to_end(perfile_stream *s, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    do
        st = perfile_stream_next_run(s, &first, &n, err);
    while (st == PERFILE_OK);
    return st;
}

/* Opens the output: a file or directory, or a capture of an archive (`capture` is 0 if it is not an
 * archive).  Options such as --source only apply to the input. */
static perfile_status open_result(const char *path, uint32_t capture, const perfile_limits *limits,
                                  perfile_stream **s, perfile_error *err)
{
    const perfile_source_options how = {.size = sizeof how, .limits = limits, .capture = capture};
    const perfile_open_options reading = {
        .size = sizeof reading, .deliver = PERFILE_DELIVER_DAMAGE, .limits = limits};
    perfile_source *source;
    perfile_status st = perfile_source_path(path, &how, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &reading, s, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

static int check_capture(result *r, uint32_t capture, const perfile_limits *limits)
{
    const perfile_check_options check = {
        .size = sizeof check, .finding = on_finding, .user = r, .severity = PERFILE_SEVERITY_ERROR};
    perfile_error err;
    perfile_stream *s = NULL;
    unsigned verdict = PERFILE_VERDICT_READS;
    perfile_status st = open_result(r->path, capture, limits, &s, &err);
    if (st == PERFILE_OK)
        st = perfile_check(s, &check, &s, &err);
    if (st == PERFILE_OK)
        st = read_to_end(s, &err);
    if (st >= 0)
        st = perfile_check_version(s, r->version, &verdict, on_reason, r, &err);
    if (st < 0)
        cli_report_error(r->path, &err);
    perfile_stream_close(s);
    return st < 0 || r->errors || verdict != PERFILE_VERDICT_READS ? CLI_DAMAGED : CLI_DONE;
}

static uint32_t captures_in(const char *path, const perfile_limits *limits)
{
    const cli_file file = cli_file_of(path);
    perfile_archive *a;
    pf_archive_summary sum = {0};
    if (cli_archive_open(&file, limits, false, &a, NULL) != PERFILE_OK)
        return 0;
    pf_archive_get_summary(a, &sum, sizeof sum);
    perfile_archive_close(a);
    return sum.captures;
}

static int check_target(const char *path, const char *version, uint32_t before,
                        const perfile_limits *limits)
{
    static const char prefix[] = "perf-";
    const bool has_prefix = strncmp(version, prefix, sizeof prefix - 1) == 0;
    result r = {.path = path, .version = version + (has_prefix ? sizeof prefix - 1 : 0)};
    struct stat about;
    int status = CLI_DONE;
    if (stat(path, &about) != 0 || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)))
        return CLI_DONE; /* a pipe or device: its reader already has the bytes */
    const uint32_t captures = captures_in(path, limits);
    if (!captures)
        return check_capture(&r, 0, limits);
    for (uint32_t i = before + 1; i <= captures; i++)
        status = cli_worse(status, check_capture(&r, i, limits));
    return status;
}

/* `perfile convert --to archive`: each input becomes a capture of one archive, which is new, or
 * already exists with --append.
 *
 * An input that is an archive is copied chunk by chunk, unless its captures have to be packed in
 * another way. */

typedef struct packing {
    const archive_output *o;
    pf_archive_writer *writer;
    cli_conversion report; /* for the current input */
} packing;

static int fail(const char *name, const perfile_error *err)
{
    cli_report_error(name, err);
    return CLI_FAILED;
}

/* If the error is that the archive `path` is damaged, suggests the command that repairs it, with
 * all its captures. */
static void suggest_repair(const char *path, const perfile_error *err)
{
    char file[CLI_SHELL_WORD];
    if (err->status == PERFILE_E_CORRUPT && cli_shell_file(path, file, sizeof file))
        cli_message("%s: next: perfile recover --to archive -o OUT %s", path, file);
}

/* Copies the chunks of an input that is an archive, and reports.  Returns the exit status. */
static int copy_chunks(packing *p, const cli_file *file, perfile_archive *from)
{
    perfile_error err;
    cli_conversion_begin(&p->report);
    const perfile_status st = pf_archive_writer_copy(p->writer, from, file->capture, &err);
    p->report.copied_chunks = st == PERFILE_OK;
    cli_conversion_end(&p->report, st == PERFILE_OK ? NULL : &err);
    if (st != PERFILE_OK)
        suggest_repair(file->path, &err);
    perfile_archive_close(from);
    return cli_status_of(st, false);
}

/* Opens an input and the sink for its capture. */
static perfile_status open_capture(packing *p, const cli_file *file, perfile_source **source,
                                   perfile_sink **sink, perfile_error *err)
{
    const cli_writing *w = p->o->w;
    perfile_archive_options how = w->packing;
    char name[CLI_CAPTURE_NAME];
    perfile_status st = cli_source_sequential(file, w->limits, source, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_archive_source(source, err);
    how.size = sizeof how;
    cli_archive_name(file, name, &how);
    how.flags |=
        w->keeps_directory && pf_source_is_directory(*source) ? PERFILE_ARCHIVE_DIRECTORY : 0;
    if (st == PERFILE_OK)
        st = pf_archive_writer_capture(p->writer, &how, sink, err);
    if (st != PERFILE_OK)
        perfile_source_close(*source);
    return st;
}

/* Packs an input, and reports.  Returns the exit status. */
static int pack(packing *p, const cli_file *file)
{
    perfile_error err;
    perfile_source *source;
    perfile_sink *sink;
    perfile_convert_options how = *p->o->how;
    perfile_status st = open_capture(p, file, &source, &sink, &err);
    if (st != PERFILE_OK)
        return fail(p->report.name, &err);
    how.user = &p->report;
    cli_report_not_copied(file->path, p->o->w->keeps_directory);
    cli_conversion_begin(&p->report);
    st = perfile_convert_capture(source, sink, &how, &p->report.sum, sizeof p->report.sum, &err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    cli_conversion_end(&p->report, st == PERFILE_OK ? NULL : &err);
    perfile_sink_close(sink);
    return cli_status_of(st, p->report.sum.damaged);
}

/* Adds an input to the archive.  Returns the exit status. */
static int add(packing *p, const cli_file *file)
{
    const cli_writing *w = p->o->w;
    perfile_archive *from;
    perfile_error err;
    p->report = (cli_conversion){.name = file->name,
                                 .out = w->out,
                                 .json = w->json,
                                 .scrubs = p->o->how->flags & PERFILE_CONVERT_SCRUB};
    cli_writing_begin(p->report.name);
    const perfile_status st =
        p->o->repack ? PERFILE_END : cli_archive_open(file, w->limits, false, &from, &err);
    const int status = st == PERFILE_OK    ? copy_chunks(p, file, from)
                       : st == PERFILE_END ? pack(p, file)
                                           : fail(p->report.name, &err);
    cli_writing_end(NULL);
    return status;
}

/* Opens a writer for the archive OUT, which writes to `below`.  `appends`: OUT exists and is
 * continued. */
static int open_writer(packing *p, bool appends, perfile_sink *below)
{
    const cli_writing *w = p->o->w;
    perfile_archive_options how = w->packing;
    perfile_archive *after = NULL;
    const cli_file out = cli_file_of(w->out);
    perfile_error err;
    perfile_status st = PERFILE_OK;
    how.size = sizeof how;
    if (appends)
        st = cli_archive_open(&out, w->limits, false, &after, &err);
    if (st == PERFILE_END) {
        cli_message("%s: it is not an archive: nothing can be appended to it", w->out);
        return CLI_FAILED;
    }
    if (st == PERFILE_OK)
        st = pf_archive_writer_new(below, after, &how, &p->writer, &err);
    perfile_archive_close(after);
    if (st == PERFILE_OK)
        return CLI_DONE;
    fail(w->out, &err);
    if (appends)
        suggest_repair(w->out, &err);
    return CLI_FAILED;
}

static int open_output(packing *p)
{
    const archive_output *o = p->o;
    const cli_output output = {.out = o->w->out,
                               .replace = o->w->replace,
                               .append = o->append && cli_file_exists(o->w->out),
                               .inputs = o->inputs.paths,
                               .n_inputs = o->inputs.n_paths};
    perfile_sink *below;
    if (cli_output_open(&output, &below) != CLI_DONE)
        return CLI_FAILED;
    const int status = open_writer(p, output.append, below);
    if (status != CLI_DONE)
        perfile_sink_close(below);
    return status;
}

static int convert_to_archive(const archive_output *o)
{
    packing p = {.o = o};
    perfile_error err;
    int status = open_output(&p);
    if (status != CLI_DONE)
        return status;
    for (size_t i = 0; i < o->inputs.n && status != CLI_FAILED; i++)
        status = cli_worse(status, add(&p, &o->inputs.at[i]));
    if (status != CLI_FAILED && pf_archive_writer_finish(p.writer, &err) != PERFILE_OK)
        status = fail(o->w->out, &err);
    cli_signals_temporary(NULL);
    cli_signals_appended(NULL, 0);
    pf_archive_writer_close(p.writer);
    return status;
}

enum {
    OPTION_ORDER = CLI_OPTION_OWN,
    OPTION_TARGET,
    OPTION_KEEP,
    OPTION_DROP,
    OPTION_FORCE,
    OPTION_LEVEL,
    OPTION_VERIFY,
    OPTION_NO_VERIFY,
    OPTION_CHUNK,
    OPTION_APPEND,
    OPTION_EXPAND,
    OPTION_SCRUB,
    OPTION_LAYOUT,
    OPTION_RATE,
    OPTION_STAT,
    OPTION_CPU
};

/* The command line. */
typedef struct settings {
    cli_writing w;
    perfile_convert_options how;
    const char *packs; /* an option that only --to archive accepts, or NULL */
    bool repack;       /* archives among the inputs are decoded */
    bool append;
    perfile_perfmon_options perfmon;
    perfile_perfmon_rate *rates;
    uint32_t *cpus;
} settings;

enum { LITTLE, BIG, NATIVE };

CLI_WORDS(order_word, "little", "big", "native")

/* Reads the value of --byte-order; native is the byte order of this machine. */
static int read_order(const char *word, settings *set)
{
    const uint16_t one = 1;
    bool little_here = *(const uint8_t *)&one == 1; /* the first byte in memory is the lowest */
    size_t which;
    int status = cli_choose("convert", "--byte-order", word, order_word, &which);
    bool little = which == LITTLE || (which == NATIVE && little_here);
    set->how.byte_order = little ? PERFILE_BYTE_ORDER_LITTLE : PERFILE_BYTE_ORDER_BIG;
    return status;
}

/* Returns the name of target `i`, "perf-6.1", or NULL after the last one. */
static const char *target_word(size_t i)
{
    enum { MOST = 64, BYTES = 24 };
    static char names[MOST][BYTES]; /* words of options must stay valid, see cli_word */
    const char *version = i < MOST ? pf_target_version_at(i) : NULL;
    if (!version)
        return NULL;
    snprintf(names[i], BYTES, "perf-%s", version);
    return names[i];
}

/* Reads the value of --target: any version that the library knows; "6.1" is accepted, too. */
static int read_target(const char *word, settings *set)
{
    size_t which;
    set->how.target = word;
    if (pf_target_attr_size(word))
        return CLI_CONTINUE;
    return cli_choose("convert", "--target", word, target_word, &which);
}

/* Reads the value of an option for archives, a number up to `most`. */
static int read_packing(const char *option, long most, long *n, settings *set)
{
    char *end = NULL;
    *n = strtol(optarg, &end, 10);
    if (end == optarg || *end || *n < 1 || *n > most)
        return cli_usage("convert", "%s takes a number from 1 to %ld, not '%s'", option, most,
                         optarg);
    set->packs = option;
    set->repack = true;
    return CLI_CONTINUE;
}

CLI_WORDS(layout_word, "a", "b")

static int read_layout(const char *word, settings *set)
{
    size_t which;
    int status = cli_choose("convert", "--layout", word, layout_word, &which);
    set->perfmon.layout = which == 0 ? PERFILE_PERFMON_LAYOUT_A : PERFILE_PERFMON_LAYOUT_B;
    return status;
}

/* Reads a decimal or hexadecimal number at *at, and moves *at after it. */
static bool number_at(const char **at, uint64_t most, uint64_t *number)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *number = strtoull(*at, &end, 0);
    *at = end;
    return errno == 0 && *number <= most;
}

/* Reads the value of --rate, EVENT=N. */
static int read_rate(const char *word, settings *set)
{
    const char *at = word;
    uint64_t event, rate;
    if (!number_at(&at, UINT16_MAX, &event) || *at++ != '=' || !number_at(&at, UINT64_MAX, &rate) ||
        *at || rate == 0)
        return cli_usage("convert", "--rate takes EVENT=N, such as 0x801=10007, not '%s'", word);
    perfile_perfmon_rate *more =
        realloc(set->rates, (set->perfmon.n_rates + 1) * sizeof *set->rates);
    if (!more)
        return cli_no_memory();
    set->rates = more;
    more[set->perfmon.n_rates++] = (perfile_perfmon_rate){.event = (uint32_t)event, .rate = rate};
    return CLI_CONTINUE;
}

/* Reads the value of --cpu, N[,N...]. */
static int read_cpus(const char *word, settings *set)
{
    const char *at = word;
    do {
        uint64_t cpu;
        uint32_t *more = realloc(set->cpus, (set->perfmon.n_cpus + 1) * sizeof *more);
        if (!more)
            return cli_no_memory();
        set->cpus = more;
        if (!number_at(&at, UINT16_MAX - 1, &cpu) || (*at && *at != ','))
            return cli_usage("convert", "--cpu takes CPUs such as 0,1,3, not '%s'", word);
        more[set->perfmon.n_cpus++] = (uint32_t)cpu;
    } while (*at++);
    return CLI_CONTINUE;
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    int status;
    long n;
    switch (option) {
    case OPTION_ORDER:
        return read_order(optarg, set);
    case OPTION_TARGET:
        return read_target(optarg, set);
    case OPTION_KEEP:
        set->how.flags &= ~(uint32_t)PERFILE_CONVERT_DROP_UNKNOWN;
        return CLI_CONTINUE;
    case OPTION_DROP:
        set->how.flags |= PERFILE_CONVERT_DROP_UNKNOWN;
        return CLI_CONTINUE;
    case OPTION_FORCE: /* --force is older than --on-damage and still implies copy; -f does not */
        set->w.replace = true;
        if (!set->w.damage.given)
            set->w.damage.copy = true;
        return CLI_CONTINUE;
    case OPTION_LEVEL:
        status = read_packing("--level", 19, &n, set);
        set->w.packing.level = (int32_t)n;
        return status;
    case OPTION_VERIFY:
        set->w.packing.flags &= ~(uint32_t)PERFILE_ARCHIVE_NO_VERIFY;
        set->packs = "--verify";
        return CLI_CONTINUE;
    case OPTION_NO_VERIFY:
        set->w.packing.flags |= PERFILE_ARCHIVE_NO_VERIFY;
        set->packs = "--no-verify";
        return CLI_CONTINUE;
    case OPTION_CHUNK:
        status = read_packing("--chunk-records", 65536, &n, set);
        set->w.packing.chunk_records = (uint32_t)n;
        return status;
    case OPTION_EXPAND:
        set->how.flags |= PERFILE_CONVERT_EXPAND;
        return CLI_CONTINUE;
    case OPTION_SCRUB:
        set->how.flags |= PERFILE_CONVERT_SCRUB;
        return CLI_CONTINUE;
    case OPTION_APPEND:
        set->append = true;
        set->packs = "--append";
        return CLI_CONTINUE;
    case OPTION_LAYOUT:
        return read_layout(optarg, set);
    case OPTION_RATE:
        return read_rate(optarg, set);
    case OPTION_STAT:
        set->perfmon.flags |= PERFILE_PERFMON_STAT;
        return CLI_CONTINUE;
    case OPTION_CPU:
        return read_cpus(optarg, set);
    case 'j':
        return cli_jobs_option("convert", optarg, &set->w.packing.threads);
    default:
        return cli_writing_option("convert", &cli_convert_spec, option, &set->w);
    }
}

/* True if the output can be a directory.  False if the target is a version of perf without
 * directories. */
static bool target_has_directories(const settings *set)
{
    return !set->how.target || pf_target_has_feature(set->how.target, PERFILE_FEATURE_DIR_FORMAT);
}

/* Returns what to do about damage.  The default is to fail, because convert promises the same
 * capture.  But bytes from a pipe cannot be read again, so then damage is copied: the data of a
 * recording that was killed must not be lost. */
static uint32_t policy(const cli_writing *w)
{
    if (w->damage.copy || (!w->damage.given && cli_signals_has_pipe()))
        return PERFILE_ON_DAMAGE_COPY;
    return w->damage.given ? cli_policy(w) : PERFILE_ON_DAMAGE_FAIL;
}

/* Completes the options for the library. */
static void complete(settings *set)
{
    /* A directory stays a directory, unless --to or the target excludes it. */
    set->w.packing.threads = cli_jobs(set->w.packing.threads);
    set->w.keeps_directory = target_has_directories(set);
    set->how.note = cli_conversion_note;
    set->how.progress = cli_writing_progress;
    set->how.form = set->w.form;
    set->how.format = set->w.format;
    set->how.from = set->w.from;
    set->how.limits = set->w.limits;
    set->how.on_damage = policy(&set->w);
    set->perfmon.rates = set->rates;
    set->perfmon.cpus = set->cpus;
    set->how.perfmon = &set->perfmon;
}

/* Converts one capture and returns the exit status. */
static int convert(settings *set, const cli_inputs *in)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink = NULL;
    cli_conversion x = {.name = in->at->name,
                        .out = set->w.out,
                        .json = set->w.json,
                        .scrubs = set->how.flags & PERFILE_CONVERT_SCRUB};
    if (cli_writing_open_several(&set->w, in, set->w.directory, &source, &sink) != CLI_DONE)
        return CLI_FAILED;
    set->how.user = &x;
    cli_writing_begin(x.name);
    cli_conversion_begin(&x);
    perfile_status st =
        perfile_convert_capture(source, sink, &set->how, &x.sum, sizeof x.sum, &err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    cli_conversion_end(&x, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    return cli_status_of(st, x.sum.damaged);
}

static const cli_option options[] = {
    {"output", .value = "OUT", .letter = 'o', .path = true,
     .help = "the new capture; - is standard output",
     .more = "Standard output is for pipes, and for captures that need no change."},
    {"force", .letter = 'f', .code = OPTION_FORCE,
     .help = "replace OUT if it exists; --force also means --on-damage copy",
     .more = "Only the long form implies that, for compatibility."},
    {"to", .value = "FORM", .code = CLI_OPTION_TO, .word = cli_output_word,
     .help =
         "the form of the output; perf.data, pipe, dir, perfmon or archive; default: that of IN",
     .more = "perf.data (or file) is a file, pipe a stream, dir a directory. The files "
             "of kcore_dir (perf record --kcore) stay with a directory, also in an archive; other "
             "files in a directory are not copied, and a message names them. An archive has "
             "every byte of IN, whatever IN is, compressed and under checksums; all commands read "
             "it, and convert without --to gives IN back."},
    {"level", .value = "N", .code = OPTION_LEVEL,
     .help = "how hard to compress an archive, 1 (fast) to 19; default: 3"},
    {"no-verify", .code = OPTION_NO_VERIFY,
     .help = "do not decode what was packed to compare it with IN"},
    {"verify", .code = OPTION_VERIFY},
    {"append", .code = OPTION_APPEND,
     .help = "add to the captures of an archive OUT, if it is there",
     .more = "What it has is not changed. If that fails or is interrupted, OUT is as it was."},
    {"chunk-records", .value = "N", .code = OPTION_CHUNK,
     .help = "records in a chunk of an archive at most; default: 65536",
     .more = "With fewer an archive is larger, and a small part of it is read faster."},
    {.rows = cli_jobs_options},
    {"byte-order", .value = "ORDER", .code = OPTION_ORDER, .word = order_word,
     .help = "byte order of every field; little, big or native; default: that of IN",
     .more = "native is that of this machine. Every field of every record, trailer, sample, "
             "feature and attr is byte-swapped. The bytes of RAW, AUX area traces and stacks, and "
             "tracepoint formats, which name their byte order themselves, stay as recorded. "
             "Compressed records are decompressed for that."},
    {"compress", .value = "[=LEVEL]", .code = CLI_OPTION_COMPRESS,
     .help = "compress records, 1 (fast, default) to 22",
     .more = "Records of the kernel are compressed, with zstd."},
    {"decompress", .code = CLI_OPTION_DECOMPRESS,
     .help = "replace compressed records by their content",
     .more = "Without this option and --compress they are copied where their content does not "
             "change."},
    {"expand", .code = OPTION_EXPAND,
     .help = "pack the content of compressed records into an archive, not these",
     .more = "The archive is smaller, and commands find what they search in it without reading all "
             "of it. Then convert gives back a capture with the same records, not the bytes of IN: "
             "the archive says so (perfile info). An IN without compressed records is packed as it "
             "is."},
    {"scrub", .code = OPTION_SCRUB,
     .help = "zero the bytes that mean nothing: of user stacks, strings and padding",
     .more = "The kernel leaves old bytes of its buffer after the valid part of each stack "
             "(--call-graph dwarf): memory of other processes, and up to half of the capture. "
             "Archives get smaller, and say that they are scrubbed. Compressed records are "
             "decompressed."},
    {"target", .value = "VERSION", .code = OPTION_TARGET, .word = target_word,
     .help = "for this version of perf, 3.8 to 7.3, such as perf-4.19, perf-5.10, perf-6.1",
     .more =
         "What that version does not know is left out or rewritten to what it knows, and each "
         "loss is reported. Compressed records are decompressed. A directory becomes one file "
         "for versions without directories (before 5.1). The result is read once more: what that "
         "version still does not read is said, and the exit status is 3 (not if OUT is a "
         "pipe)."},
    {"keep-unknown", .code = OPTION_KEEP, .help = "keep unknown records and features (default)",
     .more = "With another byte order their content stays as it was."},
    {"drop-unknown", .code = OPTION_DROP, .help = "leave unknown records and features out"},
    {"on-damage", .value = "WHAT", .code = CLI_OPTION_ON_DAMAGE, .word = cli_damage_copy_word,
     .help = "what happens at damage; fail: write nothing (default); copy: copy every byte, or "
             "where the form changes, "
             "believe all records (default where IN is a pipe); stop: convert what is before the "
             "damage; "
             "salvage or resync: continue after it with records that can be trusted",
     .more = "fail reports what is wrong and where. An intact capture is copied with any of them, "
             "except that stop, resync and salvage rewrite directories. `perfile recover` "
             "examines more closely what can be trusted."},
    {"layout", .value = "L", .code = OPTION_LAYOUT, .word = layout_word,
     .help = "perfmon buffers to perf.data: ids of events have a group of 6 bits (a) or 5 (b)",
     .more = "Without it the ids that there are decide; if they do not, it is a."},
    {"rate", .value = "EVENT=N", .code = OPTION_RATE,
     .help = "perfmon buffers to perf.data: a sample of this event (its id) stands for N of them",
     .more = "It may be given for each event. Buffers do not say it; without it periods count "
             "samples."},
    {"stat", .code = OPTION_STAT,
     .help = "perfmon buffers to perf.data: counts as `perf stat record` has them",
     .more = "For buffers of nothing but times and counts, for `perf stat report`."},
    {"cpu", .value = "N[,N ...]", .code = OPTION_CPU,
     .help = "perfmon buffers to perf.data: CPUs of the buffers, in the order of the files",
     .more = "Without it they follow from the names of the files, PREFIX.ITERATION.CPU.cpuperf, or "
             "from their order. Files of a directory are in the order of their names."},
    {"json", .code = CLI_OPTION_JSON,
     .help = "a JSON object with everything that changed, see format/reports.md",
     .more = "It goes to standard output. --report json is the same."},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.rows = cli_writing_options},
    {0},
};

const cli_spec cli_convert_spec = {
    .about = "perfile convert writes a capture in another form.  What needs no change is\n"
             "copied byte for byte.\n"
             "\n"
             "Usage: perfile convert [OPTION ...] -o OUT IN\n"
             "       perfile convert --to archive [OPTION ...] -o OUT IN ...\n"
             "       perfile convert --to perf.data [OPTION ...] -o OUT BUFFER ...\n"
             "\n"
             "With --from cbor, IN is what `perfile dump --format cbor` writes, or another\n"
             "program in that form (format/dump.cddl): OUT is the capture that has these\n"
             "events and records.  What a dump lacks is left out and reported: AUX data,\n"
             "formats of tracepoints, damaged bytes.\n"
             "\n"
             "An archive can have several captures: one of each IN.  An IN that is an archive\n"
             "itself is copied as it is, with all its captures; --level and --chunk-records\n"
             "pack it again.\n",

    .options = options,
    .notes = "Examples:\n"
             "  perf record -o - make | perfile convert --to perf.data -o perf.data -\n"
             "  perfile convert --to pipe -o - perf.data | perf inject -b > with-ids\n"
             "  perfile convert --byte-order little -o here.data s390.data\n"
             "  perfile convert --compress=9 -o small.data perf.data\n"
             "  perfile convert --to archive --append -o year.perfile today.data\n"
             "  perfile dump --format cbor perf.data | perfile convert --from cbor -o same -\n"
             "  perfile convert --to perf.data --rate 0x801=100 -o sampled.data \\\n"
             "    samples/captures/perfmon-sampling.cpuperf\n"
             "\n"
             "Exit status: 0 converted; 3 converted, but IN was damaged, or the perf of\n"
             "--target does not read all of OUT; 1 not converted.\n",
};

/* True if the options ask for a change of the bytes. */
static bool changes_captures(const settings *set)
{
    const perfile_convert_options *how = &set->how;
    return how->flags || how->byte_order || how->target || set->w.damage.given ||
           set->w.damage.copy || set->w.from;
}

/* Applies --compress and --decompress.  Without them, compressed records are copied. */
static void take_compression(settings *set)
{
    const int32_t level = set->w.compress_level;
    if (level)
        set->how.flags |= level > 0 ? PERFILE_CONVERT_COMPRESS : PERFILE_CONVERT_DECOMPRESS;
    set->how.level = level > 0 ? level : 0;
}

/* Checks which options can be combined.  Returns CLI_CONTINUE or CLI_USAGE. */
static int check(const settings *set, const cli_inputs *in)
{
    /* With another --to the driver decides: the buffers of all CPUs are one capture. */
    if (!set->w.has_form && in->n > 1)
        return cli_usage("convert",
                         "'%s' is a second input: only an archive holds several (--to archive)",
                         in->paths[1]);
    if (set->how.flags & PERFILE_CONVERT_COMPRESS && set->how.flags & PERFILE_CONVERT_EXPAND)
        return cli_usage("convert", "give --compress or --expand, not both");
    if (set->how.flags & PERFILE_CONVERT_EXPAND && !set->w.archive)
        return cli_usage("convert",
                         "--expand is for archives: give --to archive, or --decompress instead");
    if (set->packs && !set->w.archive)
        return cli_usage("convert", "%s is for archives: give --to archive", set->packs);
    if (set->append && strcmp(set->w.out, "-") == 0)
        return cli_usage("convert", "--append needs a file: OUT is standard output");
    if (set->w.directory && !target_has_directories(set))
        return cli_usage("convert", "%s cannot read directories: give --to perf.data or pipe",
                         set->how.target);
    return CLI_CONTINUE;
}

static int to_archive(settings *set, const cli_inputs *in)
{
    const archive_output o = {.w = &set->w,
                              .how = &set->how,
                              .inputs = *in,
                              .append = set->append,
                              .repack = set->repack || changes_captures(set)};
    return convert_to_archive(&o);
}

/* Executes the command line and returns the exit status. */
static int run(settings *set, const cli_inputs *in)
{
    complete(set);
    const char *out = set->w.out, *target = strcmp(out, "-") == 0 ? NULL : set->how.target;
    const uint32_t before = target && set->append ? captures_in(out, set->w.limits) : 0;
    const int status = set->w.archive ? to_archive(set, in) : convert(set, in);
    return !target || status == CLI_FAILED
               ? status
               : cli_worse(status, check_target(out, target, before, set->w.limits));
}

int cli_convert(int argc, char **argv)
{
    settings set = {.w = {.may_copy = true},
                    .how = {.size = sizeof set.how},
                    .perfmon = {.size = sizeof set.perfmon}};
    cli_inputs in = {0};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("convert", argc, argv, &cli_convert_spec)) != -1;)
        status = read_option(c, &set);
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("convert", argc, argv, false, &in);
    if (status == CLI_CONTINUE)
        status = cli_writing_check("convert", &set.w);
    take_compression(&set);
    if (status == CLI_CONTINUE)
        status = check(&set, &in);
    if (status == CLI_CONTINUE)
        status = run(&set, &in);
    free(set.rates);
    free(set.cpus);
    return status;
}
