/* Sorts or merges captures that have a file for each CPU.  The result is split by CPU, or
 * converted. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands/convert.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "perfile/merge.h"
#include "perfile/sort.h"
#include "perfile/split.h"
#include "filter/command.h"
#include "lib/command.h"

static perfile_status open_sorted(const cli_per_cpu *x, const char *path, perfile_stream **s,
                                  perfile_error *err)
{
    const cli_file file = cli_file_of(path);
    const perfile_open_options reading = {.size = sizeof reading,
                                          .on_damage = x->w->damage.fail ? PERFILE_ON_DAMAGE_STOP
                                                                         : x->w->damage.policy,
                                          .from = x->w->from,
                                          .limits = x->w->limits};
    const perfile_sort_options sorting = {.size = sizeof sorting, .max_memory = x->max_memory};
    perfile_stream *stored;
    perfile_status st = cli_stream_sequential(&file, &reading, &stored, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_sort(stored, &sorting, s, err);
    if (st != PERFILE_OK)
        perfile_stream_close(stored);
    return st;
}

/* The callback for pf_split_stream(): opens the stream that is split, once for each pass. */
static perfile_status open_all(void *user, perfile_stream **stream, perfile_error *err)
{
    const cli_per_cpu *x = user;
    const perfile_merge_options how = {.size = sizeof how, .flags = x->merge_flags};
    perfile_merge_input *inputs = calloc(x->n, sizeof *inputs);
    perfile_status st = inputs ? PERFILE_OK : PERFILE_E_NOMEM;
    size_t n = 0;
    for (; n < x->n && st == PERFILE_OK; n++) {
        inputs[n] = (perfile_merge_input){
            .name = x->in[n].name, .offset = x->in[n].offset, .has_offset = x->in[n].has_offset};
        st = open_sorted(x, x->in[n].name, &inputs[n].stream, err);
        if (st != PERFILE_OK)
            break;
    }
    if (st == PERFILE_OK && x->n == 1) {
        *stream = inputs[0].stream;
        n = 0;
    } else if (st == PERFILE_OK) {
        st = perfile_merge(inputs, n, &how, stream, err);
        if (st == PERFILE_OK)
            n = 0;
    }
    while (n--)
        perfile_stream_close(inputs[n].stream);
    free(inputs);
    return st;
}

cli_per_cpu_way cli_per_cpu_way_of(const cli_writing *w, const cli_file *file)
{
    const perfile_open_options reading = {
        .size = sizeof reading, .from = w->from, .limits = w->limits};
    perfile_stream *s = NULL;
    const bool named = strchr(w->out, '%') && !w->has_form;
    if (strcmp(file->path, "-") == 0 || !(named || (w->has_form && w->format)))
        return CLI_PER_CPU_NONE;
    if (cli_stream_sequential(file, &reading, &s, NULL) != PERFILE_OK)
        return CLI_PER_CPU_NONE;
    const perfile_container *c = perfile_stream_container(s);
    cli_per_cpu_way way = CLI_PER_CPU_NONE;
    if (c->n_parts && c->parts[0].has_cpu)
        way = named                               ? CLI_PER_CPU_FILES
              : strcmp(c->format, w->format) != 0 ? CLI_PER_CPU_CONVERTED
                                                  : CLI_PER_CPU_NONE;
    perfile_stream_close(s);
    return way;
}

/* Writes all files as one capture of another format, with the records in order of time. */
static int write_converted(const cli_per_cpu *x)
{
    perfile_error err = {0};
    perfile_source *source;
    perfile_sink *sink;
    cli_file first = cli_file_of(x->in[0].name);
    cli_conversion report = {.name = first.name, .out = x->w->out, .json = x->w->json};
    const perfile_convert_options how = {.size = sizeof how,
                                         .form = x->w->form,
                                         .format = x->w->format,
                                         .from = x->w->from,
                                         .limits = x->w->limits,
                                         .on_damage = cli_policy(x->w) ? cli_policy(x->w)
                                                                       : PERFILE_ON_DAMAGE_STOP,
                                         .note = cli_conversion_note,
                                         .progress = cli_writing_progress,
                                         .user = &report};
    const char **paths = calloc(x->n, sizeof *paths);
    if (!paths)
        return cli_no_memory();
    for (size_t i = 0; i < x->n; i++)
        paths[i] = x->in[i].name;
    const cli_inputs in = {.at = &first, .n = 1, .paths = paths, .n_paths = x->n};
    const int status = cli_writing_open_several(x->w, &in, false, &source, &sink);
    free(paths);
    if (status != CLI_DONE)
        return status;
    cli_writing_begin(report.name);
    cli_conversion_begin(&report);
    const perfile_status st =
        perfile_convert_capture(source, sink, &how, &report.sum, sizeof report.sum, &err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    cli_conversion_end(&report, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    return cli_status_of(st, report.sum.damaged);
}

/* Sorts, merges, and writes a file for each CPU. */
static int write_files(cli_per_cpu *x)
{
    perfile_error err = {0};
    perfile_split_summary sum = {0};
    const perfile_split_options how = {.size = sizeof how,
                                       .by = PERFILE_SPLIT_CPU,
                                       .flags = x->w->replace ? PERFILE_SPLIT_REPLACE : 0,
                                       .pattern = x->w->out};
    const perfile_split_capture_options writing = {.size = sizeof writing,
                                                   .on_damage = cli_policy(x->w),
                                                   .limits = x->w->limits,
                                                   .temporary = cli_signals_on_temporary,
                                                   .progress = cli_writing_progress,
                                                   .user = x};
    if (pf_split_check(&how, &err) != PERFILE_OK)
        return cli_usage_error(x->command, &err);
    cli_writing_begin(x->in[0].name);
    cli_signals_hold(true); /* until cli_signals_on_temporary() registers the folder */
    perfile_status st = pf_split_stream(open_all, x, &how, &writing, &sum, sizeof sum, &err);
    cli_signals_file(NULL);
    cli_signals_temporary(NULL);
    cli_signals_hold(false);
    if (st != PERFILE_OK)
        cli_report_error(x->in[0].name, &err);
    if (st == PERFILE_E_IO && err.sys == EEXIST && !x->w->replace)
        cli_message("%s: give -f to replace files that exist", x->w->out);
    if (st == PERFILE_OK)
        cli_message("%s: wrote %" PRIu64 " records, and a file for each of %" PRIu64 " CPUs",
                    x->in[0].name, sum.written, sum.parts);
    return cli_status_of(st, sum.damages);
}

int cli_write_per_cpu(cli_per_cpu *x, cli_per_cpu_way way)
{
    bool changes = x->merge_flags != 0;
    for (size_t i = 0; i < x->n; i++)
        changes |= x->in[i].has_offset;
    if (way == CLI_PER_CPU_CONVERTED && changes)
        return cli_usage(x->command,
                         "'%s' is converted, by the clock that its CPUs share: options of "
                         "merging do not apply",
                         x->in[0].name);
    return way == CLI_PER_CPU_CONVERTED ? write_converted(x) : write_files(x);
}
