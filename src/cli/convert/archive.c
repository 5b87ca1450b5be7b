/* `perfile convert --to archive`: each input becomes a capture of one archive, which is new, or
 * with --append was there before.
 *
 * An input that is an archive itself is copied chunk by chunk, unless its captures are to be packed
 * in another way. */
#include "cli/convert/archive.h"

#include "cli/archive.h"
#include "cli/command.h"
#include "cli/convert/convert.h"
#include "cli/input.h"
#include "cli/signals.h"
#include "cli/text.h"

typedef struct packing {
    const cli_archive_output *o;
    perfile_archive_writer *writer;
    cli_conversion report; /* of the present input */
} packing;

static int fail(const char *name, const perfile_error *err)
{
    cli_report_error(name, err);
    return CLI_FAILED;
}

/* Names the command that repairs the archive `path`, however many captures it holds, if the error
 * is that it is damaged. */
static void suggest_repair(const char *path, const perfile_error *err)
{
    char file[CLI_SHELL_WORD];
    if (err->status == PERFILE_E_CORRUPT && cli_shell_file(path, file, sizeof file))
        cli_message("%s: next: perfile recover --to archive -o OUT %s", path, file);
}

/* Copies the chunks of an input that is an archive, and reports: the exit status. */
static int copy_chunks(packing *p, const char *path, perfile_archive *from)
{
    perfile_error err;
    cli_conversion_begin(&p->report);
    const perfile_status st =
        perfile_archive_writer_copy(p->writer, from, cli_archive_capture(), &err);
    p->report.copied_chunks = st == PERFILE_OK;
    cli_conversion_end(&p->report, st == PERFILE_OK ? NULL : &err);
    if (st != PERFILE_OK)
        suggest_repair(path, &err);
    perfile_archive_close(from);
    return cli_status_of(st, false);
}

/* Opens an input and the sink for its capture. */
static perfile_status open_capture(packing *p, const char *path, perfile_source **source,
                                   perfile_sink **sink, perfile_error *err)
{
    const cli_writing *w = p->o->w;
    perfile_archive_options how = w->packing;
    char name[CLI_CAPTURE_NAME];
    perfile_status st = cli_source_sequential(path, w->limits, source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_archive_source(source, err);
    how.size = sizeof how;
    cli_archive_name(path, name, &how);
    how.flags |=
        w->keeps_directory && perfile_source_is_directory(*source) ? PERFILE_ARCHIVE_DIRECTORY : 0;
    if (st == PERFILE_OK)
        st = perfile_archive_writer_capture(p->writer, &how, sink, err);
    if (st != PERFILE_OK)
        perfile_source_close(*source);
    return st;
}

/* Packs an input, and reports: the exit status. */
static int pack(packing *p, const char *path)
{
    perfile_error err;
    perfile_source *source;
    perfile_sink *sink;
    perfile_convert_options how = *p->o->how;
    perfile_status st = open_capture(p, path, &source, &sink, &err);
    if (st != PERFILE_OK)
        return fail(p->report.name, &err);
    how.user = &p->report;
    cli_report_not_copied(path, p->o->w->keeps_directory);
    cli_conversion_begin(&p->report);
    st = perfile_convert_capture(source, sink, &how, &p->report.sum, sizeof p->report.sum, &err);
    cli_conversion_end(&p->report, st == PERFILE_OK ? NULL : &err);
    perfile_sink_close(sink);
    return cli_status_of(st, p->report.sum.damaged);
}

/* Adds an input to the archive: the exit status. */
static int add(packing *p, const char *path)
{
    const cli_writing *w = p->o->w;
    perfile_archive *from;
    perfile_error err;
    p->report = (cli_conversion){.name = cli_input_name(path),
                                 .out = w->out,
                                 .json = w->json,
                                 .scrubs = p->o->how->flags & PERFILE_CONVERT_SCRUB};
    cli_writing_begin(p->report.name);
    const perfile_status st =
        p->o->repack ? PERFILE_END : cli_archive_open(path, w->limits, false, &from, &err);
    const int status = st == PERFILE_OK    ? copy_chunks(p, path, from)
                       : st == PERFILE_END ? pack(p, path)
                                           : fail(p->report.name, &err);
    cli_writing_end(NULL);
    return status;
}

/* Opens the archive OUT, which is continued by what is written to `below`. */
static int open_writer(packing *p, bool appends, perfile_sink *below)
{
    const cli_writing *w = p->o->w;
    perfile_archive_options how = w->packing;
    perfile_archive *after = NULL;
    perfile_error err;
    perfile_status st = PERFILE_OK;
    how.size = sizeof how;
    if (appends)
        st = cli_archive_open(w->out, w->limits, false, &after, &err);
    if (st == PERFILE_END) {
        cli_message("%s: it is no archive: nothing can be appended to it", w->out);
        return CLI_FAILED;
    }
    if (st == PERFILE_OK)
        st = perfile_archive_writer_new(below, after, &how, &p->writer, &err);
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
    const cli_archive_output *o = p->o;
    const cli_output output = {.out = o->w->out,
                               .replace = o->w->replace,
                               .append = o->append && cli_file_exists(o->w->out),
                               .inputs = (const char *const *)o->inputs.at,
                               .n_inputs = o->inputs.n};
    perfile_sink *below;
    if (cli_output_open(&output, &below) != CLI_DONE)
        return CLI_FAILED;
    const int status = open_writer(p, output.append, below);
    if (status != CLI_DONE)
        perfile_sink_close(below);
    return status;
}

int cli_convert_to_archive(const cli_archive_output *o)
{
    packing p = {.o = o};
    perfile_error err;
    int status = open_output(&p);
    if (status != CLI_DONE)
        return status;
    for (size_t i = 0; i < o->inputs.n && status != CLI_FAILED; i++)
        status = cli_worse(status, add(&p, o->inputs.at[i]));
    if (status != CLI_FAILED && perfile_archive_writer_finish(p.writer, &err) != PERFILE_OK)
        status = fail(o->w->out, &err);
    cli_signals_temporary(NULL);
    cli_signals_appended(NULL, 0);
    perfile_archive_writer_close(p.writer);
    return status;
}
