/* `perfile filter`: a smaller capture with the selected records and the side-band that they need.
 * select.c has the options that select records; perfile_filter_capture() does the work. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/field.h"
#include "perfile/filter.h"
#include "schema/command.h"

typedef struct report {
    const char *name; /* name of the input, for messages */
    const char *out;
    bool json; /* the report is a JSON object on standard output */
    perfile_filter_summary filtered;
    perfile_copy_summary copied;
} report;

/* The report of `filter`: a line on standard error, or with --json an object on standard output. */

static void on_note(void *run, const perfile_note *note)
{
    const report *x = run;
    /* Not worth a message: the content of compressed records is filtered instead of them. */
    if (note->kind == PERFILE_NOTE_DECOMPRESSED)
        return;
    cli_note(x->name, note);
}

/* Prints how many records and processes were kept, and which AUX traces were dropped. */
static void report_kept(const report *x)
{
    const perfile_filter_summary *f = &x->filtered;
    char kept[32], total[32], processes[32], of[32], aux[32], bytes[32];
    cli_message("%s: kept %s of %s record%s, %s of %s process%s", x->name,
                cli_format_grouped(f->kept, kept), cli_format_grouped(f->records, total),
                f->records == 1 ? "" : "s", cli_format_grouped(f->kept_processes, processes),
                cli_format_grouped(f->processes, of), f->processes == 1 ? "" : "es");
    if (f->aux_dropped)
        cli_message("%s: dropped %s AUX area%s with %s bytes", x->name,
                    cli_format_grouped(f->aux_dropped, aux), f->aux_dropped == 1 ? "" : "s",
                    cli_format_grouped(f->aux_bytes, bytes));
}

/* Prints the report as a JSON object; `out` is null if nothing was written. */
static void json_object(const report *x, const perfile_error *failed)
{
    const perfile_filter_summary *f = &x->filtered;
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    cli_json_string("out", failed ? NULL : x->out);
    cli_json_number("records", f->records);
    cli_json_number("kept", f->kept);
    cli_json_number("selected", f->selected);
    cli_json_number("samples", f->samples);
    cli_json_number("kept_samples", f->kept_samples);
    cli_json_number("processes", f->processes);
    cli_json_number("kept_processes", f->kept_processes);
    cli_json_number("aux_dropped", f->aux_dropped);
    cli_json_number("aux_bytes", f->aux_bytes);
    cli_json_bool("all_state", f->all_sideband);
    cli_json_number("damages", x->copied.damages);
    cli_json_number("lost", x->copied.lost);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

static void report_end(const report *x, const perfile_error *failed)
{
    cli_notes_end();
    if (x->json)
        json_object(x, failed);
    else if (!failed)
        report_kept(x);
    if (failed)
        cli_report_error(x->name, failed);
}

enum { OPTION_NO_SIDEBAND = CLI_OPTION_OWN, OPTION_COMPACT, OPTION_DROP };

/* The command line. */
typedef struct settings {
    cli_writing w;
    cli_selection select;
    cli_symbols symbols;
    perfile_filter_capture_options writing;
} settings;

/* Fields that attribute a sample to its event.  They cannot be dropped. */
static const uint64_t id_fields =
    PERFILE_SAMPLE_ID | PERFILE_SAMPLE_STREAM_ID | PERFILE_SAMPLE_IDENTIFIER;

/* Returns field `i` of those that can be dropped, or NULL after the last one: names of sample_type
 * in lower case, without ids. */
static const char *field_word(size_t i)
{
    enum { MOST = 64, BYTES = 32 };
    static char names[MOST][BYTES];
    const perfile_vocabulary *known = pf_vocabulary_find("sample_type");
    for (uint32_t at = 0; at < known->n && at < MOST; at++) {
        if (UINT64_C(1) << known->bits[at].shift & id_fields || i-- > 0)
            continue;
        snprintf(names[at], BYTES, "%s", known->bits[at].name);
        for (char *c = names[at]; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        return names[at];
    }
    return NULL;
}

/* Reads the value of --drop-field, "callchain,raw": names of bits of sample_type in any case. */
static int read_fields(const char *list, settings *set)
{
    const perfile_vocabulary *known = pf_vocabulary_find("sample_type");
    for (const char *p = list, *end;; p = end + 1) { /* one name up to each comma */
        uint64_t bit = 0;
        end = p + strcspn(p, ",");
        for (uint32_t i = 0; i < known->n && !bit; i++) {
            const char *name = known->bits[i].name;
            if (strlen(name) == (size_t)(end - p) && strncasecmp(name, p, strlen(name)) == 0)
                bit = UINT64_C(1) << known->bits[i].shift;
        }
        if (!bit)
            return cli_usage("filter", "--drop-field: samples have no field '%.*s'", (int)(end - p),
                             p);
        if (bit & id_fields)
            return cli_usage("filter", "--drop-field: ids attribute samples to their events and "
                                       "cannot be dropped");
        /* The weight is stored in one of two forms, with a bit for each. */
        if (bit & PERFILE_SAMPLE_WEIGHT)
            bit |= PERFILE_SAMPLE_WEIGHT_STRUCT;
        set->writing.drop |= bit;
        if (!*end)
            return CLI_CONTINUE;
    }
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    switch (option) {
    case OPTION_NO_SIDEBAND:
        set->select.how.flags |= PERFILE_FILTER_NO_SIDEBAND;
        return CLI_CONTINUE;
    case OPTION_COMPACT:
        set->select.how.flags |= PERFILE_FILTER_COMPACT_SIDEBAND;
        return CLI_CONTINUE;
    case OPTION_DROP:
        return read_fields(optarg, set);
    default:
        if (cli_is_symbols(option))
            return cli_symbols_option("filter", option, &set->symbols);
        if (cli_is_selection(option))
            return cli_selection_option("filter", option, &set->select);
        return cli_writing_option("filter", &cli_filter_spec, option, &set->w);
    }
}

/* Opens the input and output, filters, and returns the exit status. */
static int filter(settings *set, cli_file *file)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink = NULL;
    report x = {.name = file->name, .out = set->w.out, .json = set->w.json};
    bool to_stdout = strcmp(set->w.out, "-") == 0;
    bool directory =
        set->w.has_form ? set->w.directory : cli_is_directory(file->path) && !to_stdout;
    set->w.keeps_directory = !to_stdout;
    /* Without --to, standard output gets a pipe, because a file needs seeking. */
    set->writing.form = to_stdout && !set->w.has_form ? PERFILE_FORM_PIPE : set->w.form;
    set->writing.format = set->w.format;
    set->writing.from = set->w.from;
    set->writing.compress_level = set->w.compress_level;
    set->writing.limits = set->w.limits;
    set->writing.on_damage = cli_policy(&set->w);
    set->select.how.symbols = cli_symbols_chosen(&set->symbols, set->writing.limits);
    int status = cli_selection_check("filter", &set->select);
    if (status != CLI_CONTINUE)
        return status;
    set->w.kallsyms = set->symbols.options.kallsyms;
    if (cli_writing_open(&set->w, file, directory, &source, &sink) != CLI_DONE)
        return CLI_FAILED;
    set->writing.note = on_note;
    set->writing.progress = cli_writing_progress;
    set->writing.user = &x;
    cli_writing_begin(x.name);
    perfile_status st =
        perfile_filter_capture(source, sink, &set->select.how, &set->writing, &x.filtered,
                               sizeof x.filtered, &x.copied, sizeof x.copied, &err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    report_end(&x, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    return cli_status_of(st, x.copied.damages);
}

static const cli_option options[] = {
    {.rows = cli_symbols_options},
    {.rows = cli_select_options},
    {"no-sideband", .code = OPTION_NO_SIDEBAND,
     .help = "without side-band: only the records that match",
     .more = "Records without which these cannot be read (attrs, features) are kept."},
    {"no-state", .code = OPTION_NO_SIDEBAND},
    {"compact-sideband", .code = OPTION_COMPACT,
     .help = "of the side-band before the selected time, only the latest names and mappings",
     .more = "Of names, namespaces and mappings the last one for each thread and address is kept; "
             "of processes that forked others that are kept, all are. It has no effect on pipes."},
    {"compact-state", .code = OPTION_COMPACT},
    {"drop-field", .value = "LIST", .code = OPTION_DROP, .word = field_word, .list = true,
     .help = "remove fields from samples, such as callchain,stack_user,regs_user,raw",
     .more = "They are removed from the attrs of the events, too. Other names are those of "
             "sample_type; ids cannot be dropped. tid, time and cpu are also removed from the "
             "trailers of all other records. What describes only such a field is dropped with it: "
             "the features BRANCH_STACK and SAMPLE_TIME, deferred call chains, members of the "
             "attr such as sample_regs_user."},
    {.heading = ""},
    {.rows = cli_output_options},
    {.rows = cli_force_options},
    {"to", .value = "FORM", .code = CLI_OPTION_TO, .word = cli_output_word,
     .help =
         "the form of the output; perf.data, pipe, dir, perfmon or archive; default: that of IN"},
    {.rows = cli_compress_options},
    {"on-damage", .value = "WHAT", .code = CLI_OPTION_ON_DAMAGE, .word = cli_damage_word,
     .help = "what happens at damage; stop: filter what is before the damage (default); salvage or "
             "resync: continue after "
             "it with "
             "records that can be trusted; fail: write nothing",
     .more = "Damage is reported."},
    {"json", .code = CLI_OPTION_JSON, .help = "report what was kept as a JSON object"},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.rows = cli_writing_options},
    {0},
};

const cli_spec cli_filter_spec = {
    .about = "perfile filter writes a new capture with the selected records, and with the\n"
             "side-band that they need: names, mappings and ancestors of their processes.\n"
             "\n"
             "Usage: perfile filter [OPTION ...] -o OUT IN\n",
    .options = options,
    .notes = "If an option is given twice, either may match; different options must all match.\n"
             "Both ends of a range belong to it, and either may be left out.\n"
             "\n"
             "Examples:\n"
             "  perfile filter --time 10%..20% -o part.data samples/captures/callgraph.data\n"
             "  perfile filter --comm 'work*' --cpu 0-3 -o work samples/captures/fields.data\n"
             "  perfile filter --where 'period > 1e5 && cpumode == USER' -o big perf.data\n"
             "  perfile filter --every 100 --to pipe -o - perf.data | perfile stats -\n"
             "\n"
             "Exit status: 0 filtered; 3 filtered, but IN was damaged; 1 nothing was written.\n",
};

int cli_filter(int argc, char **argv)
{
    settings set = {.writing = {.size = sizeof set.writing}};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("filter", argc, argv, &cli_filter_spec)) != -1;)
        status = read_option(c, &set);
    cli_file *in;
    if (status == CLI_CONTINUE)
        status = cli_writing_input("filter", argc, argv, &set.w, &in);
    if (status == CLI_CONTINUE)
        status = filter(&set, in);
    cli_selection_free(&set.select);
    cli_symbols_free(&set.symbols);
    return status;
}
