/* The report of `convert`: each note is a line on standard error, or with --json an item of one
 * JSON object on standard output, which is begun before the conversion and ended after it. */
#include "cli/convert/convert.h"

#include <inttypes.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/note.h"
#include "perfile/damage.h"

void cli_conversion_begin(cli_conversion *x)
{
    if (!x->json)
        return;
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    cli_json_array("notes");
}

/* Prints a note.  Its number is that of a feature or of a record type, depending on the kind. */
static void json_note(const perfile_note *n)
{
    bool feature = n->kind == PERFILE_NOTE_FEATURE_LEFT_OUT ||
                   n->kind == PERFILE_NOTE_FEATURE_KEPT || n->kind == PERFILE_NOTE_FEATURE_BROKEN ||
                   n->kind == PERFILE_NOTE_FEATURE_NO_PLACE;
    char text[CLI_MEMBERS_TEXT];
    cli_json_object(NULL);
    cli_json_string("kind", perfile_note_name(n->kind));
    cli_json_bool("loss", perfile_note_is_loss(n->kind));
    if (n->number != UINT32_MAX)
        cli_json_number(feature ? "feature" : "type_number", n->number);
    if (n->damage)
        cli_json_string("why", perfile_damage_name(n->damage));
    cli_json_number("count", n->count);
    cli_json_number("bytes", n->bytes);
    if (n->offset == PERFILE_NO_OFFSET)
        cli_json_null("offset");
    else
        cli_json_decimal("offset", n->offset);
    cli_json_string("text", cli_with_options(n->where, n->text, text));
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

/* Prints the rest of the object, behind the notes. */
static void json_end(const cli_conversion *x, const perfile_error *failed)
{
    const perfile_convert_summary *s = &x->sum;
    const perfile_copy_summary *c = &s->copied;
    cli_json_array_end();
    if (failed)
        cli_json_null("out");
    else
        cli_json_string("out", x->out);
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
    /* OUT has the bytes of IN. */
    cli_json_bool("same", (s->same || x->copied_chunks) && !failed);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

/* True if --on-damage copy could convert what failed now: damage behind a readable header. */
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
