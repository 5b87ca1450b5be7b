/* The report of `export`: lines on standard error, or with --json an object on standard output. */
#include "cli/export/export.h"

#include <inttypes.h>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/text.h"

/* A message about a number, if it is not 0. */
static void note(uint64_t n, const char *one, const char *many)
{
    char text[32];
    if (n)
        cli_message("%s %s", cli_format_grouped(n, text), n == 1 ? one : many);
}

/* Call chains that end early: of copied stacks. */
static void report_unwinding(const perfile_export_summary *s)
{
    note(s->unwound_short, "call chain ends with the copied part of the stack",
         "call chains end with the copied part of the stack");
    note(s->unwound_no_file, "call chain ends in code whose file was not found",
         "call chains end in code whose file was not found");
    note(s->unwound_no_rules, "call chain ends in code without call frame information",
         "call chains end in code without call frame information");
    note(s->not_unwound, "copied stack could not be unwound", "copied stacks could not be unwound");
}

/* What is not in the output, or less exact than it looks. */
static void report_losses(const cli_export_run *x)
{
    const perfile_export_summary *s = &x->sum;
    if (x->foreign)
        cli_message("the records of another family than perf's cannot be exported");
    note(x->losses.lost_samples, "sample was lost while recording",
         "samples were lost while recording");
    note(x->lost_records, "record was lost while recording", "records were lost while recording");
    note(s->unmapped, "place in code is not in anything that is known to be mapped",
         "places in code are not in anything that is known to be mapped");
    if (x->symbols)
        cli_unnamed_print(x->symbols, NULL, s->frames - s->unmapped - s->named);
    note(s->too_costly, "name or file of debug information took too much time or memory",
         "names or files of debug information took too much time or memory");
    note(s->without_stack, "sample has no address", "samples have no address");
    note(s->unreadable, "call chain could not be read", "call chains could not be read");
    note(s->not_joined, "call chain lacks its user part, which did not come",
         "call chains lack their user part, which did not come");
    report_unwinding(s);
    note(s->not_inlined, "inlined function has no frame: there are too many of them",
         "inlined functions have no frames: there are too many of them");
    if (s->names_most)
        cli_message("names longer than %" PRIu64 " bytes are shortened: the output repeats them",
                    s->names_most);
    if (x->weighs)
        note(s->without_period, "sample has no period and weighs nothing",
             "samples have no period and weigh nothing");
    note(s->pruned, "frame is too small to be shown", "frames are too small to be shown");
    if (s->events > 1 && !s->events_apart)
        cli_message("%" PRIu64 " events are added up; --per event,comm or --event NAME tells them "
                    "apart",
                    s->events);
}

static void report_text(const cli_export_run *x)
{
    char samples[32], stacks[32], frames[32];
    const perfile_export_summary *s = &x->sum;
    if (x->aux) {
        cli_message("%s: %s bytes of %s ring buffer%s", x->format,
                    cli_format_grouped(s->aux_bytes, samples),
                    cli_format_grouped(s->aux_files, stacks), s->aux_files == 1 ? "" : "s");
        note(s->aux_missing, "part of an AUX stream is missing",
             "parts of AUX streams are missing");
        return;
    }
    if (x->compares)
        cli_message("compared with %s sample%s before",
                    cli_format_grouped(s->before_samples, samples),
                    s->before_samples == 1 ? "" : "s");
    cli_message("%s: %s sample%s, %s frame%s, %s node%s of the call tree", x->format,
                cli_format_grouped(s->samples, samples), s->samples == 1 ? "" : "s",
                cli_format_grouped(s->frames, frames), s->frames == 1 ? "" : "s",
                cli_format_grouped(s->stacks, stacks), s->stacks == 1 ? "" : "s");
    report_losses(x);
}

static void report_json(const cli_export_run *x, bool written)
{
    const perfile_export_summary *s = &x->sum;
    cli_json_object(NULL);
    cli_json_string("format", x->format);
    if (written)
        cli_json_string("out", x->out);
    else
        cli_json_null("out");
    cli_json_number("inputs", x->n_inputs);
    cli_json_number("samples", s->samples);
    if (x->compares)
        cli_json_number("before_samples", s->before_samples);
    cli_json_decimal("period", s->period);
    cli_json_number("stacks", s->stacks);
    cli_json_number("frames", s->frames);
    cli_json_number("unmapped", s->unmapped);
    cli_json_number("named", s->named);
    if (x->symbols)
        cli_unnamed_json(x->symbols);
    cli_json_number("too_costly", s->too_costly);
    cli_json_number("events", s->events);
    cli_json_number("without_period", s->without_period);
    cli_json_number("without_stack", s->without_stack);
    cli_json_number("unreadable", s->unreadable);
    cli_json_number("joined", s->joined);
    cli_json_number("not_joined", s->not_joined);
    cli_json_number("unwound", s->unwound);
    cli_json_number("unwound_short", s->unwound_short);
    cli_json_number("unwound_no_file", s->unwound_no_file);
    cli_json_number("unwound_no_rules", s->unwound_no_rules);
    cli_json_number("not_unwound", s->not_unwound);
    cli_json_number("pruned", s->pruned);
    cli_json_number("names_most", s->names_most);
    cli_json_number("not_inlined", s->not_inlined);
    if (x->aux) {
        cli_json_number("aux_files", s->aux_files);
        cli_json_number("aux_bytes", s->aux_bytes);
        cli_json_number("aux_missing", s->aux_missing);
    }
    cli_json_number("lost_samples", x->losses.lost_samples);
    cli_json_number("lost_records", x->lost_records);
    cli_json_number("damages", x->damages);
    cli_json_number("bytes", s->bytes);
    cli_json_object_end();
    cli_json_line();
}

void cli_export_report(const cli_export_run *x, bool written)
{
    if (x->json)
        report_json(x, written);
    else if (written)
        report_text(x);
}
