/* `perfile split`: several captures, each of which can be read alone. perfile_split_capture() does
 * the work.  It also makes the names of the files, and removes the files when it fails. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/split.h"
#include "filter/command.h"

/* A part that was written.  `name` and `key` are copies of those in `part`. */
typedef struct written_part {
    perfile_split_part part;
    char *name, *key;
} written_part;

typedef struct report {
    const char *name; /* name of the input, for messages */
    const char *out;  /* the pattern */
    bool json;
    written_part *parts; /* stored for --json */
    size_t n_parts, cap_parts;
    bool no_memory; /* some part could not be stored: no JSON report */
    perfile_split_summary sum;
    uint64_t most;            /* --size; 0 for no limit */
    uint64_t larger, largest; /* parts above `most`; bytes of the largest part */
} report;

/* The report of `split`: a line on standard error, or with --json an object with all parts on
 * standard output. */

static void on_note(void *run, const perfile_note *note)
{
    const report *x = run;
    /* Not worth a message: the content of compressed records is split instead of them. */
    if (note->kind == PERFILE_NOTE_DECOMPRESSED)
        return;
    cli_note(x->name, note);
}

static void on_done(void *run, const perfile_split_part *part, perfile_sink *sink)
{
    (void)sink;
    report *x = run;
    if (x->most && part->bytes > x->most) {
        x->larger++;
        x->largest = part->bytes > x->largest ? part->bytes : x->largest;
    }
    if (!x->json || x->n_parts == PERFILE_SPLIT_MOST_PARTS)
        return;
    if (x->n_parts == x->cap_parts) { /* grow by doubling */
        size_t cap = x->cap_parts ? 2 * x->cap_parts : 64;
        written_part *more = realloc(x->parts, cap * sizeof *more);
        if (!more) {
            x->no_memory = true;
            return;
        }
        x->parts = more;
        x->cap_parts = cap;
    }
    written_part *one = &x->parts[x->n_parts++];
    one->part = *part;
    one->name = strdup(part->name);
    one->key = part->key ? strdup(part->key) : NULL;
    x->no_memory |= !one->name || (part->key && !one->key);
}

static void release(report *x)
{
    for (size_t i = 0; i < x->n_parts; i++) {
        free(x->parts[i].name);
        free(x->parts[i].key);
    }
    free(x->parts);
}

/* The data that each part needs can exceed --size. */
static void report_larger(const report *x)
{
    char parts[32], bytes[32];
    if (!x->larger)
        return;
    cli_format_bytes(x->largest, bytes, sizeof bytes);
    cli_message("%s: %s part%s larger than --size, the largest %s: each repeats what it needs "
                "(header, features, side-band)",
                x->name, cli_format_grouped(x->larger, parts), x->larger == 1 ? " is" : "s are",
                bytes);
}

static void report_split(const report *x)
{
    char records[32], parts[32];
    cli_message("%s: split %s record%s into %s part%s", x->name,
                cli_format_grouped(x->sum.records, records), x->sum.records == 1 ? "" : "s",
                cli_format_grouped(x->sum.parts, parts), x->sum.parts == 1 ? "" : "s");
    report_larger(x);
}

/* Prints a part as an item of the array.  `records` and `samples` are its own; `written` includes
 * repeated side-band. */
static void json_part(const written_part *one)
{
    cli_json_object(NULL);
    cli_json_string("name", one->name);
    if (one->key)
        cli_json_string("key", one->key);
    cli_json_number("records", one->part.records);
    cli_json_number("samples", one->part.samples);
    cli_json_known("first_time", one->part.first_time);
    cli_json_known("last_time", one->part.last_time);
    cli_json_number("written", one->part.written);
    cli_json_number("bytes", one->part.bytes);
    cli_json_object_end();
}

/* Prints the report as a JSON object; `out` is null if nothing was written. */
static void json_object(const report *x, const perfile_error *failed)
{
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    cli_json_string("out", failed ? NULL : x->out);
    cli_json_number("records", x->sum.records);
    cli_json_number("samples", x->sum.samples);
    cli_json_number("written", x->sum.written);
    cli_json_number("bytes", x->sum.bytes);
    cli_json_number("damages", x->sum.damages);
    cli_json_number("lost", x->sum.lost);
    cli_json_array("parts");
    /* After a failure there are no parts, although some were written. */
    for (size_t i = 0; i < x->n_parts && !failed; i++)
        json_part(&x->parts[i]);
    cli_json_array_end();
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

static void report_end(const report *x, const perfile_error *failed)
{
    cli_notes_end();
    if (x->json && x->no_memory)
        cli_message("out of memory: no report");
    else if (x->json)
        json_object(x, failed);
    else if (!failed)
        report_split(x);
    if (failed)
        cli_report_error(x->name, failed);
    if (failed && failed->status == PERFILE_E_LIMIT && strcmp(failed->where, "growth_ratio") == 0)
        cli_message("%s: --no-sideband and --compact-sideband repeat less", x->name);
}

enum {
    OPTION_EVERY = CLI_OPTION_OWN,
    OPTION_SIZE,
    OPTION_RECORDS,
    OPTION_BY,
    OPTION_NO_SIDEBAND,
    OPTION_COMPACT
};

/* The command line. */
typedef struct settings {
    cli_writing w;
    perfile_split_options how;
    perfile_split_capture_options writing;
} settings;

/* Reads a time above 0, such as "1.5s", as ns.  Digits below 1 ns are ignored. */
static bool read_time(const char *word, uint64_t *ns)
{
    static const struct {
        const char *word;
        uint64_t ns;
    } units[] = {{"ns", 1},          {"us", 1000},         {"ms", 1000000}, {"s", 1000000000},
                 {"m", 60000000000}, {"h", 3600000000000}, {"", 1000000000}};
    char *end;
    errno = 0;
    unsigned long long whole = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || errno)
        return false;
    const char *part = *end == '.' ? end + 1 : end;
    size_t digits = strspn(part, part == end ? "" : "0123456789");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(part + digits, units[i].word) != 0)
            continue;
        /* `scale` is the value of the previous digit; in "1.5s" the 5 counts a tenth of it. */
        uint64_t unit = units[i].ns, scale = unit, sum = 0;
        if (whole > UINT64_MAX / unit)
            return false;
        for (size_t k = 0; k < digits && scale; k++, scale /= 10)
            sum += scale * (uint64_t)(part[k] - '0') / 10;
        *ns = whole * unit + sum;
        return *ns >= sum && *ns > 0; /* the sum did not wrap around */
    }
    return false;
}

/* Returns value `i` of --by, in the order from PERFILE_SPLIT_TID on, or NULL after the last one. */
static const char *key_word(size_t i)
{
    static const char *const words[] = {[PERFILE_SPLIT_TID] = "tid",
                                        [PERFILE_SPLIT_PID] = "pid",
                                        [PERFILE_SPLIT_CPU] = "cpu",
                                        [PERFILE_SPLIT_EVENT] = "event",
                                        [PERFILE_SPLIT_COMM] = "comm"};
    return i <= PERFILE_SPLIT_COMM - PERFILE_SPLIT_TID ? words[PERFILE_SPLIT_TID + i] : NULL;
}

static int read_key(const char *word, uint32_t *by)
{
    size_t which;
    int status = cli_choose("split", "--by", word, key_word, &which);
    *by = PERFILE_SPLIT_TID + (uint32_t)which;
    return status;
}

/* Reads one of the four methods of splitting.  Only one of them may be given. */
static int read_method(int option, settings *set)
{
    uint64_t *n = &set->how.amount;
    if (set->how.by)
        return cli_usage("split", "give only one of --every, --size, --records and --by");
    switch (option) {
    case OPTION_EVERY:
        set->how.by = PERFILE_SPLIT_EVERY;
        if (!read_time(optarg, n))
            return cli_usage("split", "--every takes a time such as 1s, 250ms or 5ns, not '%s'",
                             optarg);
        return CLI_CONTINUE;
    case OPTION_SIZE:
        set->how.by = PERFILE_SPLIT_SIZE;
        if (!cli_read_size(optarg, n) || *n == 0)
            return cli_usage("split", "--size takes a size such as 100M, not '%s'", optarg);
        return CLI_CONTINUE;
    case OPTION_RECORDS:
        set->how.by = PERFILE_SPLIT_RECORDS;
        return cli_read_number("split", "records", optarg, n);
    default:
        return read_key(optarg, &set->how.by);
    }
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    switch (option) {
    case OPTION_EVERY:
    case OPTION_SIZE:
    case OPTION_RECORDS:
    case OPTION_BY:
        return read_method(option, set);
    case OPTION_NO_SIDEBAND:
        set->how.flags |= PERFILE_SPLIT_NO_SIDEBAND;
        return CLI_CONTINUE;
    case OPTION_COMPACT:
        set->how.flags |= PERFILE_SPLIT_COMPACT_SIDEBAND;
        return CLI_CONTINUE;
    default:
        return cli_writing_option("split", &cli_split_spec, option, &set->w);
    }
}

/* Checks the options before anything is opened. */
static int check_settings(settings *set)
{
    perfile_error err;
    if (!set->how.by)
        return cli_usage("split", "missing method: give --every, --size, --records or --by");
    if (set->w.directory)
        return cli_usage("split", "--to takes perf.data, pipe or archive, not 'dir'");
    set->how.pattern = set->w.out;
    if (pf_split_check(&set->how, &err) != PERFILE_OK)
        return cli_usage_error("split", &err);
    return CLI_CONTINUE;
}

/* Opens the input, splits, reports, and returns the exit status. */
static int split(settings *set, const cli_file *file)
{
    perfile_error err = {0};
    perfile_source *source;
    report x = {.name = file->name,
                .out = set->w.out,
                .json = set->w.json,
                .most = set->how.by == PERFILE_SPLIT_SIZE ? set->how.amount : 0};
    if (cli_source_sequential(file, set->w.limits, &source, &err) != PERFILE_OK) {
        cli_report_error(x.name, &err);
        return CLI_FAILED;
    }
    if (cli_protect_inputs_verbose(&file->path, 1) != CLI_DONE) {
        perfile_source_close(source);
        return CLI_FAILED;
    }
    cli_report_not_copied(file->path, false);
    if (set->w.replace)
        set->how.flags |= PERFILE_SPLIT_REPLACE;
    set->writing.form = set->w.form;
    set->writing.format = set->w.format;
    set->w.packing.size = sizeof set->w.packing;
    set->writing.archive = set->w.archive ? &set->w.packing : NULL;
    set->writing.from = set->w.from;
    set->writing.compress_level = set->w.compress_level;
    set->writing.limits = set->w.limits;
    set->writing.on_damage = cli_policy(&set->w);
    set->writing.note = on_note;
    set->writing.done = on_done;
    set->writing.temporary = cli_signals_on_temporary;
    set->writing.progress = cli_writing_progress;
    set->writing.user = &x;
    cli_writing_begin(x.name);
    cli_signals_hold(true); /* until cli_signals_on_temporary() registers the folder */
    perfile_status st =
        perfile_split_capture(source, &set->how, &set->writing, &x.sum, sizeof x.sum, &err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    cli_signals_file(NULL);
    cli_signals_temporary(NULL);
    cli_signals_hold(false);
    report_end(&x, st == PERFILE_OK ? NULL : &err);
    if (st == PERFILE_E_IO && err.sys == EEXIST && !set->w.replace)
        cli_message("%s: give -f to replace files that exist", set->w.out);
    release(&x);
    return cli_status_of(st, x.sum.damages);
}

static const cli_option options[] = {
    {.heading = "Method, one of these:"},
    {"every", .value = "TIME", .code = OPTION_EVERY,
     .help = "parts of this duration: 1s, 250ms, 10us, 5ns, 2m, 1h; seconds without a unit",
     .more = "They begin at the first sample. Times without data have no part, and the numbers of "
             "the parts have no gaps. A record without a time goes where the record before it "
             "went; side-band from a time without data goes to the part before."},
    {"size", .value = "SIZE", .code = OPTION_SIZE,
     .help = "parts of at most this number of bytes: 100M, 64K, 1G",
     .more = "It is the size of the files; records are taken in stored order. The size of repeated "
             "side-band is estimated from above, so that parts are usually somewhat smaller; where "
             "it leaves less than an eighth of SIZE for data, a part gets that much data all the "
             "same, and at least one record."},
    {"records", .value = "N", .code = OPTION_RECORDS,
     .help = "parts of this number of samples and other records of data",
     .more = "Records are taken in stored order. Other records of data are context switches and "
             "counts."},
    {"by", .value = "KEY", .code = OPTION_BY, .word = key_word,
     .help = "a part for each tid, pid, cpu, event or comm (name of the thread)",
     .more = "The parts are ordered by the key. Data without the key makes a last part, called "
             "none. Side-band of processes without a part is in the first one."},
    {.heading = "Other options:"},
    {"output", .value = "PATTERN", .letter = 'o', .path = true,
     .help = "names of the parts, with %d for the number, from 0: part-%04d.data; with --by also "
             "%s for the key: cpu-%s.data",
     .more = "%4d and %04d are the number with four digits, %% is a percent sign. In the key, "
             "characters other than letters, digits, dot, underscore and dash become "
             "underscores; of equal names the second gets -2 after the key."},
    {"force", .letter = 'f', .help = "replace files that exist",
     .more = "Other files from an earlier split stay."},
    {"no-sideband", .code = OPTION_NO_SIDEBAND,
     .help = "do not repeat side-band: each record is in one part",
     .more = "Records without which a part cannot be read (attrs, features) are repeated."},
    {"no-state", .code = OPTION_NO_SIDEBAND},
    {"compact-sideband", .code = OPTION_COMPACT,
     .help = "of the side-band before a part, only the latest names and mappings",
     .more = "The last one for each thread and address is kept."},
    {"compact-state", .code = OPTION_COMPACT},
    {"to", .value = "FORM", .code = CLI_OPTION_TO, .word = cli_single_output_word,
     .help = "the form of the output; perf.data, pipe or archive; default: that of IN"},
    {.rows = cli_compress_options},
    {"on-damage", .value = "WHAT", .code = CLI_OPTION_ON_DAMAGE, .word = cli_damage_word,
     .help = "what happens at damage; stop: split what is before the damage (default); salvage or "
             "resync: continue after "
             "it with "
             "records that can be trusted; fail: write nothing",
     .more = "Damage is reported."},
    {"json", .code = CLI_OPTION_JSON, .help = "report what was written as a JSON object",
     .more = "It has the name, records, times and bytes of each part."},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.rows = cli_writing_options},
    {0},
};

const cli_spec cli_split_spec = {
    .about = "perfile split writes several captures from one.  Each can be read alone: the\n"
             "side-band that it needs (names, mappings, ancestors of its processes) is in\n"
             "every part.\n"
             "\n"
             "Usage: perfile split [OPTION ...] METHOD -o PATTERN IN\n",
    .options = options,
    .notes = "The parts appear when all of them are complete, or not at all.\n"
             "\n"
             "Examples:\n"
             "  perfile split --every 10ms -o 'part-%04d.data' samples/captures/callgraph.data\n"
             "  perfile split --by pid -o 'process-%s.data' samples/captures/threads.data\n"
             "  perfile split --size 100M -o 'piece-%d.data' samples/captures/tracepoints.data\n"
             "  perfile split --records 10 --json -o 'ten-%d.data' perf.data\n"
             "\n"
             "Exit status: 0 split; 3 split, but IN was damaged; 1 nothing was written.\n",
};

int cli_split(int argc, char **argv)
{
    settings set = {.how = {.size = sizeof set.how}, .writing = {.size = sizeof set.writing}};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("split", argc, argv, &cli_split_spec)) != -1;)
        status = read_option(c, &set);
    cli_file *in;
    if (status == CLI_CONTINUE)
        status = cli_writing_input("split", argc, argv, &set.w, &in);
    if (status == CLI_CONTINUE)
        status = check_settings(&set);
    return status == CLI_CONTINUE ? split(&set, in) : status;
}
