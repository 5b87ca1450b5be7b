/* The report of `split`: a line on standard error, or with --json an object with all parts on
 * standard output. */
#include "cli/split/split.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/note.h"
#include "cli/text.h"

void cli_split_note(void *run, const perfile_note *note)
{
    const cli_split_run *x = run;
    /* Not worth a message: the content of compressed records is split and stands in their place. */
    if (note->kind == PERFILE_NOTE_DECOMPRESSED)
        return;
    cli_note(x->name, note);
}

void cli_split_done(void *run, const perfile_split_part *part, perfile_sink *sink)
{
    (void)sink;
    cli_split_run *x = run;
    if (x->most && part->bytes > x->most) {
        x->larger++;
        x->largest = part->bytes > x->largest ? part->bytes : x->largest;
    }
    if (!x->json || x->n_parts == PERFILE_SPLIT_MOST_PARTS)
        return;
    if (x->n_parts == x->cap_parts) { /* grow by doubling */
        size_t cap = x->cap_parts ? 2 * x->cap_parts : 64;
        cli_split_part *more = realloc(x->parts, cap * sizeof *more);
        if (!more) {
            x->no_memory = true;
            return;
        }
        x->parts = more;
        x->cap_parts = cap;
    }
    cli_split_part *one = &x->parts[x->n_parts++];
    one->part = *part;
    one->name = strdup(part->name);
    one->key = part->key ? strdup(part->key) : NULL;
    x->no_memory |= !one->name || (part->key && !one->key);
}

void cli_split_free(cli_split_run *x)
{
    for (size_t i = 0; i < x->n_parts; i++) {
        free(x->parts[i].name);
        free(x->parts[i].key);
    }
    free(x->parts);
}

/* What each part has to have can be more than --size. */
static void report_larger(const cli_split_run *x)
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

static void report_split(const cli_split_run *x)
{
    char records[32], parts[32];
    cli_message("%s: split %s record%s into %s part%s", x->name,
                cli_format_grouped(x->sum.records, records), x->sum.records == 1 ? "" : "s",
                cli_format_grouped(x->sum.parts, parts), x->sum.parts == 1 ? "" : "s");
    report_larger(x);
}

static void json_time(const char *key, uint64_t time)
{
    if (time == PERFILE_NO_TIME)
        cli_json_null(key);
    else
        cli_json_decimal(key, time);
}

/* Prints a part as an item of the array.  `records` and `samples` are its own, `written` includes
 * repeated side-band. */
static void json_part(const cli_split_part *one)
{
    cli_json_object(NULL);
    cli_json_string("name", one->name);
    if (one->key)
        cli_json_string("key", one->key);
    cli_json_number("records", one->part.records);
    cli_json_number("samples", one->part.samples);
    json_time("first_time", one->part.first_time);
    json_time("last_time", one->part.last_time);
    cli_json_number("written", one->part.written);
    cli_json_number("bytes", one->part.bytes);
    cli_json_object_end();
}

/* Prints the report as a JSON object; `out` is null if nothing was written. */
static void json_object(const cli_split_run *x, const perfile_error *failed)
{
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    if (failed)
        cli_json_null("out");
    else
        cli_json_string("out", x->out);
    cli_json_number("records", x->sum.records);
    cli_json_number("samples", x->sum.samples);
    cli_json_number("written", x->sum.written);
    cli_json_number("bytes", x->sum.bytes);
    cli_json_number("damages", x->sum.damages);
    cli_json_number("lost", x->sum.lost);
    cli_json_array("parts");
    /* After a failure no part exists, though some were written. */
    for (size_t i = 0; i < x->n_parts && !failed; i++)
        json_part(&x->parts[i]);
    cli_json_array_end();
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

void cli_split_report(const cli_split_run *x, const perfile_error *failed)
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
