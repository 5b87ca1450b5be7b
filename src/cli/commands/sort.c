/* `perfile sort`: one capture with all records in order of time.
 *
 * The input is opened as a stream with perfile_sort() on it, and perfile_copy() writes that stream.
 * Waiting records stay in the file, or in temporary files beyond --max-memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands/convert.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/copy.h"
#include "perfile/sort.h"

/* The command line. */
typedef struct settings {
    cli_writing w;
    cli_file *in;
    uint64_t max_memory; /* 0 for the default */
} settings;

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    if (option == CLI_OPTION_TO && strcmp(optarg, "dir") == 0)
        return cli_usage(
            "sort",
            "--to takes perf.data, pipe, perfmon or archive, not 'dir': the result is one file");
    if (option == 'm')
        return cli_writing_memory("sort", optarg, &set->max_memory);
    return cli_writing_option("sort", &cli_sort_spec, option, &set->w);
}

static void on_note(void *user, const perfile_note *note)
{
    const settings *set = user;
    cli_note(set->in->name, note);
}

/* Reports the result in one line. */
static void report_done(const settings *set, const perfile_sort_summary *s)
{
    char bytes[32], temporary[64] = "";
    cli_notes_end();
    if (s->temporary) {
        cli_format_bytes(s->temporary, bytes, sizeof bytes);
        snprintf(temporary, sizeof temporary, ", with %s of temporary files", bytes);
    }
    cli_message("%s: sorted %" PRIu64 " record%s, %" PRIu64 " sample%s of them; %" PRIu64
                " record%s out of time order%s",
                set->in->name, s->records, s->records == 1 ? "" : "s", s->samples,
                s->samples == 1 ? "" : "s", s->out_of_order,
                s->out_of_order == 1 ? " was" : "s were", temporary);
}

/* Reports the result as a JSON object.  `failed` is the error, or NULL. */
static void json_done(const settings *set, const perfile_sort_summary *s,
                      const perfile_copy_summary *c, const perfile_error *failed)
{
    cli_json_object(NULL);
    cli_json_string("file", set->in->name);
    cli_json_string("out", failed ? NULL : set->w.out);
    cli_json_number("records", s->records);
    cli_json_number("samples", s->samples);
    cli_json_number("out_of_order", s->out_of_order);
    cli_json_number("rounds_dropped", s->rounds_dropped);
    cli_json_number("rounds", s->rounds);
    cli_json_number("envelopes", s->envelopes);
    cli_json_number("temporary", s->temporary);
    cli_json_number("damages", c->damages);
    cli_json_number("lost", c->lost);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

/* Writes the sorted stream in the byte order and format of the input.  Without --to, the output is
 * a pipe if the input is one or if OUT is standard output; otherwise it is a file. */
static perfile_status copy(settings *set, perfile_stream *s, perfile_sink *sink,
                           perfile_copy_summary *copied, perfile_error *err)
{
    const perfile_session *session = perfile_stream_session(s);
    bool pipe =
        perfile_stream_container(s)->form == PERFILE_FORM_PIPE || strcmp(set->w.out, "-") == 0;
    const char *format = perfile_stream_container(s)->format;
    perfile_writer_options how = {
        .size = sizeof how,
        .as_stored = true,
        .format = set->w.has_form ? set->w.format : format,
        .form = set->w.has_form ? set->w.form
                : pipe          ? PERFILE_FORM_PIPE
                                : PERFILE_FORM_FILE,
        .compress_level = set->w.compress_level ? set->w.compress_level : PERFILE_COMPRESS_AS_READ,
        .byte_order = perfile_session_byte_order(session)};
    perfile_copy_options copying = {.size = sizeof copying,
                                    .flags = set->w.damage.fail ? 0 : PERFILE_COPY_FORCE,
                                    .note = on_note,
                                    .user = set};
    perfile_writer *writer;
    perfile_status st = perfile_writer_open(sink, &how, &writer, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_copy(s, writer, &copying, copied, sizeof *copied, err);
    perfile_writer_close(writer);
    return st;
}

/* Opens, sorts and writes.  On failure, *sorted and *copied count the records up to the error. */
static perfile_status run(settings *set, perfile_sink *sink, perfile_sort_summary *sorted,
                          perfile_copy_summary *copied, perfile_error *err)
{
    perfile_open_options reading = {.size = sizeof reading,
                                    .on_damage = set->w.damage.policy,
                                    .from = set->w.from,
                                    .limits = set->w.limits};
    perfile_sort_options sorting = {
        .size = sizeof sorting, .max_memory = set->max_memory, .progress = cli_writing_progress};
    perfile_stream *s = NULL;
    perfile_status st = cli_stream_mapped(set->in, &reading, &s, err);
    if (st == PERFILE_OK)
        st = perfile_sort(s, &sorting, &s, err);
    if (st == PERFILE_OK)
        st = copy(set, s, sink, copied, err);
    perfile_sort_get_summary(s, sorted, sizeof *sorted); /* zeros if there is no sorted stream */
    perfile_stream_close(s);
    return st;
}

/* Opens the output, runs, and reports; returns the exit status. */
static int sort(settings *set)
{
    perfile_error err = {0};
    perfile_sink *sink = NULL;
    perfile_sort_summary sorted = {0};
    perfile_copy_summary copied = {0};
    const cli_output o = {.out = set->w.out,
                          .replace = set->w.replace,
                          .inputs = &set->in->path,
                          .n_inputs = 1,
                          .named = set->in,
                          .archive = set->w.archive,
                          .packing = set->w.packing};
    if (cli_output_open(&o, &sink) != CLI_DONE)
        return CLI_FAILED;
    cli_report_not_copied(set->in->path, false);
    cli_writing_begin(set->in->name);
    perfile_status st = run(set, sink, &sorted, &copied, &err);
    cli_writing_end(sink);
    if (set->w.json)
        json_done(set, &sorted, &copied, st == PERFILE_OK ? NULL : &err);
    if (st != PERFILE_OK)
        cli_report_error(set->in->name, &err);
    else if (!set->w.json)
        report_done(set, &sorted);
    return cli_status_of(st, copied.damages);
}

static const cli_option options[] = {
    {.rows = cli_output_options},
    {.rows = cli_force_options},
    {"to", .value = "FORM", .code = CLI_OPTION_TO, .word = cli_single_output_word,
     .help = "the form of the output; perf.data, pipe, perfmon or archive; default: pipe if IN is "
             "one, else as IN"},
    {.rows = cli_compress_options},
    {"max-memory", .value = "SIZE", .letter = 'm',
     .help = "memory for sorting, default 256M; temporary files are used beyond that",
     .more = "It is a number of bytes, or of KiB, MiB or GiB with K, M or G after it, at least "
             "2M; pages of the input are included. Header, events and features of the capture, and "
             "the buffers for reading and writing, a few MB, are not counted."},
    {"on-damage", .value = "WHAT", .code = CLI_OPTION_ON_DAMAGE, .word = cli_damage_word,
     .help = "what happens at damage; stop: sort what is before the damage (default); salvage or "
             "resync: continue after it "
             "with "
             "records that can be trusted; fail: write nothing",
     .more = "Damage is reported."},
    {"json", .code = CLI_OPTION_JSON, .help = "report what was done as a JSON object",
     .more = "It has the number of records and samples, of records that were out of time order, of "
             "rounds that were left out and written, and of bytes in temporary files."},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {.rows = cli_writing_options},
    {0},
};

const cli_spec cli_sort_spec = {
    .about = "perfile sort writes a new capture with the records in time order.  Records with\n"
             "equal times keep the order of the input.\n"
             "\n"
             "Usage: perfile sort [OPTION ...] -o OUT IN\n",
    .options = options,
    .notes = "Examples:\n"
             "  perfile sort -o sorted.data samples/captures/threads.data\n"
             "  perfile sort -m 64M -f -o sorted.data samples/captures/tracepoints.data\n"
             "  perfile sort --to pipe -o - samples/captures/zstd.data | perfile stats -\n"
             "  perf record -o - make | perfile sort --to perf.data -o sorted.data -\n"
             "  perfile sort -o one.data perf.data.dir     one file from a directory\n"
             "  perfile sort -o 'sorted.%d' buffers/       a perfmon buffer for each CPU\n"
             "\n"
             "Exit status: 0 sorted; 3 sorted, but IN was damaged; 1 nothing was written.\n",
};

int cli_sort(int argc, char **argv)
{
    settings set = {0};
    int status = CLI_CONTINUE;
    for (int c;
         status == CLI_CONTINUE && (c = cli_next_option("sort", argc, argv, &cli_sort_spec)) != -1;)
        status = read_option(c, &set);
    if (status != CLI_CONTINUE)
        return status;
    status = cli_writing_input("sort", argc, argv, &set.w, &set.in);
    if (status != CLI_CONTINUE)
        return status;
    const cli_per_cpu_way way = cli_per_cpu_way_of(&set.w, set.in);
    if (way == CLI_PER_CPU_NONE)
        return sort(&set);
    const perfile_merge_source in = {.name = set.in->path};
    cli_per_cpu x = {
        .command = "sort", .in = &in, .n = 1, .w = &set.w, .max_memory = set.max_memory};
    return cli_write_per_cpu(&x, way);
}
