/* The report of `filter`: a line on standard error, or with --json an object on standard output. */
#include "cli/filter/filter.h"

#include "cli/command.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/note.h"
#include "cli/text.h"

void cli_filter_note(void *run, const perfile_note *note)
{
    const cli_filter_run *x = run;
    /* Not worth a message: the content of compressed records is filtered and stands in their
     * place. */
    if (note->kind == PERFILE_NOTE_DECOMPRESSED)
        return;
    cli_note(x->name, note);
}

/* Prints how many records and processes were kept, and what was dropped of AUX traces. */
static void report_kept(const cli_filter_run *x)
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
static void json_object(const cli_filter_run *x, const perfile_error *failed)
{
    const perfile_filter_summary *f = &x->filtered;
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    if (failed)
        cli_json_null("out");
    else
        cli_json_string("out", x->out);
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

void cli_filter_report(const cli_filter_run *x, const perfile_error *failed)
{
    cli_notes_end();
    if (x->json)
        json_object(x, failed);
    else if (!failed)
        report_kept(x);
    if (failed)
        cli_report_error(x->name, failed);
}
