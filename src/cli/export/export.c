/* `perfile export`: samples of captures, resolved and added up, in the forms of viewers.
 *
 * The library's emitters do the work (perfile/emit.h).  All inputs go into one emitter; each is
 * read with a model of its whole length, so that an address is resolved as it was mapped at the
 * time of its sample. */
#include "cli/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/captures.h"
#include "cli/command.h"
#include "cli/damage.h"
#include "cli/export/settings.h"
#include "cli/output.h"
#include "cli/signals.h"

/* What is written: the emitter exists once an input could be opened. */
typedef struct output {
    perfile_sink *sink;
    perfile_emitter *emitter;
    perfile_error error; /* of writing, or of adding up */
    perfile_status status;
} output;

/* Opens the emitter for the first input, or announces another one. */
static perfile_status begin_input(output *o, const cli_export_settings *set, const cli_input *in)
{
    const perfile_emit_options options = {
        .size = sizeof options, .model = in->model, .exporting = &set->exporting};
    if (o->emitter)
        return perfile_emitter_continue(o->emitter, in->stream, in->model, &o->error);
    perfile_status st =
        perfile_emitter_open(set->format, in->stream, o->sink, &options, &o->emitter, &o->error);
    return st == PERFILE_OK ? perfile_emitter_begin(o->emitter, &o->error) : st;
}

/* Puts all records of an input into the emitter. */
static perfile_status put_records(output *o, cli_input *in, cli_export_run *x)
{
    const perfile_record *first;
    size_t n;
    cli_losses losses = {0};
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && cli_next_run(in, &first, &n)) {
        for (size_t i = 0; i < n; i++)
            if (cli_losses_relevant(first[i].type))
                cli_losses_feed(&losses, &first[i]);
        x->foreign |= first->family != PERFILE_FAMILY_PERF;
        st = perfile_emitter_put_run(o->emitter, first, n, &o->error);
    }
    x->losses.lost_samples += losses.lost_samples;
    x->lost_records += cli_losses_others(&losses, perfile_stream_session(in->stream));
    return st == PERFILE_OK ? perfile_emitter_continue(o->emitter, NULL, NULL, &o->error) : st;
}

/* Exports one input; its exit status. */
static int export_of(const char *path, const cli_export_settings *set, output *o, cli_export_run *x)
{
    cli_input in;
    if (cli_open(&in, path, &set->how) == CLI_DONE) {
        o->status = begin_input(o, set, &in);
        if (o->status == PERFILE_OK)
            o->status = put_records(o, &in, x);
        x->damages += cli_damage_count(&in);
    }
    return cli_close(&in);
}

/* Ends the output; false if it is not complete. */
static bool end_output(output *o, const cli_export_settings *set)
{
    if (o->status == PERFILE_OK)
        o->status = perfile_emitter_finish(o->emitter, &o->error);
    if (o->status == PERFILE_OK)
        o->status = perfile_sink_finish(o->sink, &o->error);
    if (o->status == PERFILE_OK || o->error.sys == EPIPE)
        return o->status == PERFILE_OK;
    /* Without an emitter it was not the output that failed, but a file of the options. */
    const char *name = strcmp(set->output, "-") == 0 ? "standard output" : set->output;
    bool of_output = o->emitter && o->error.status == PERFILE_E_IO;
    cli_report_error(of_output ? name : set->format, &o->error);
    return false;
}

/* Opens the output, which must be none of the files that are read. */
static int open_output(const cli_inputs *in, const cli_export_settings *set, perfile_sink **sink)
{
    const char *kallsyms = set->symbols.options.kallsyms;
    const char **read = malloc((in->n + 2) * sizeof *read);
    if (!read) {
        cli_message("out of memory");
        return CLI_FAILED;
    }
    for (size_t i = 0; i < in->n; i++)
        read[i] = in->at[i];
    size_t n = in->n;
    if (kallsyms)
        read[n++] = kallsyms;
    if (set->before)
        read[n++] = set->before;
    const cli_output where = {.out = set->output,
                              .replace = set->force,
                              .inputs = read,
                              .n_inputs = n,
                              .directory = set->directory};
    int status = cli_output_open(&where, sink);
    free(read);
    return status;
}

/* Exports all inputs to one output. */
static int export_all(const cli_inputs *in, cli_export_settings *set)
{
    cli_export_run x = {.format = set->format,
                        .out = set->output,
                        .json = set->json,
                        .symbols = set->exporting.symbols ? &set->symbols : NULL,
                        .compares = set->before,
                        .aux = set->directory,
                        .weighs = set->exporting.flags & PERFILE_EXPORT_PERIODS};
    output o = {0};
    int status = CLI_DONE;
    if (open_output(in, set, &o.sink) != CLI_DONE)
        return CLI_FAILED;
    if (set->before)
        status = export_of(set->before, set, &o, &x);
    for (size_t i = 0;
         i < in->n && o.status == PERFILE_OK && status != CLI_FAILED && status != CLI_USAGE;
         i++, x.n_inputs++)
        status = cli_worse(status, export_of(in->at[i], set, &o, &x));
    bool written = (status == CLI_DONE || status == CLI_DAMAGED) && end_output(&o, set);
    if (o.emitter)
        perfile_emitter_get_summary(o.emitter, &x.sum, sizeof x.sum);
    if (!written && status != CLI_USAGE && o.error.sys != EPIPE)
        status = o.status == PERFILE_E_USAGE ? CLI_USAGE : CLI_FAILED;
    cli_export_report(&x, written);
    perfile_emitter_close(o.emitter);
    cli_signals_temporary(NULL);
    perfile_sink_close(o.sink);
    return status;
}

int cli_export(int argc, char **argv)
{
    cli_export_settings set = {.output = "-"};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("export", argc, argv, &cli_export_spec)) != -1;)
        status = cli_export_option(c, &set);
    cli_inputs in;
    if (status == CLI_CONTINUE)
        status = cli_read_inputs("export", argc, argv, &in);
    if (status == CLI_CONTINUE)
        status = cli_each_capture(&in);
    if (status == CLI_CONTINUE)
        status = cli_export_complete(&set);
    if (status == CLI_CONTINUE)
        status = export_all(&in, &set);
    cli_selection_free(&set.select);
    cli_symbols_free(&set.symbols);
    return status;
}
