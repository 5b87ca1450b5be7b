/* The report of `recover`: lines on standard error, or with --json an object on standard output.
 *
 * Gaps are reported while the capture is read, as the items of the first array of the object; text
 * shows the first MAX_SHOWN_GAPS.  Notes may come in between, so that JSON keeps them for an array
 * behind the gaps. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/captures.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/note.h"
#include "cli/text.h"
#include "cli/recover/recover.h"

enum { MAX_SHOWN_GAPS = 20 };

/* Returns the type of the record at one side of a gap as a key, see cli/text.h. */
static uint64_t type_key(const perfile_gap_side *side)
{
    return (uint64_t)side->family << 32 | side->type;
}

/* Prints the record in front of a gap or behind it; null if there is none. */
static void json_side(const char *key, const perfile_gap_side *side)
{
    if (!side->there) {
        cli_json_null(key);
        return;
    }
    cli_json_object(key);
    const char *name = perfile_type_name(side->family, side->type);
    if (name)
        cli_json_string("type", name);
    else
        cli_json_null("type");
    cli_json_number("type_number", cli_type_number(type_key(side)));
    cli_json_decimal("offset", side->offset);
    cli_json_number("size", side->size);
    if (side->time == PERFILE_NO_TIME)
        cli_json_null("time");
    else
        cli_json_decimal("time", side->time);
    cli_json_object_end();
}

/* Prints a gap as an item of the array. */
static void json_gap(const perfile_gap *gap, const char *part)
{
    cli_json_object(NULL);
    if (part)
        cli_json_string("part", part);
    if (gap->offset == PERFILE_NO_OFFSET)
        cli_json_null("offset");
    else
        cli_json_decimal("offset", gap->offset);
    cli_json_number("bytes", gap->bytes);
    cli_json_bool("inner", gap->inner);
    cli_json_string("why", perfile_damage_name(gap->damage));
    cli_json_string("text", perfile_damage_text(gap->damage));
    if (gap->rule)
        cli_json_string("rule", gap->rule);
    json_side("before", &gap->before);
    json_side("after", &gap->after);
    cli_json_object_end();
}

/* Writes between which records a gap is, for the end of a message; "" if there are none. */
static void describe_neighbours(const perfile_gap *gap, char *out, size_t size)
{
    char one[32], two[32];
    const char *before = cli_type_name(type_key(&gap->before), one, sizeof one);
    const char *after = cli_type_name(type_key(&gap->after), two, sizeof two);
    if (gap->before.there && gap->after.there)
        snprintf(out, size, "; between %s at %" PRIu64 " and %s at %" PRIu64, before,
                 gap->before.offset, after, gap->after.offset);
    else if (gap->before.there)
        snprintf(out, size, "; behind %s at %" PRIu64, before, gap->before.offset);
    else if (gap->after.there)
        snprintf(out, size, "; before %s at %" PRIu64, after, gap->after.offset);
    else
        out[0] = '\0';
}

/* Reports a gap: where, why, by which rule, how many bytes, and between which records. */
static void report_gap(const cli_rescue *x, const perfile_gap *gap, const char *part)
{
    char where[64] = "", bytes[64] = "", rule[32] = "", sides[128];
    describe_neighbours(gap, sides, sizeof sides);
    if (gap->offset != PERFILE_NO_OFFSET)
        snprintf(where, sizeof where, "offset %" PRIu64 ": ", gap->offset);
    if (gap->bytes)
        snprintf(bytes, sizeof bytes, ", %" PRIu64 "%s byte%s lost", gap->bytes,
                 gap->inner ? " decompressed" : "", gap->bytes == 1 ? "" : "s");
    if (gap->rule)
        snprintf(rule, sizeof rule, " (%s)", gap->rule);
    cli_message("%s: %s%s%s%s%s%s%s", x->name, part ? part : "", part ? ": " : "", where,
                perfile_damage_text(gap->damage), rule, bytes, sides);
}

void cli_rescue_gap(cli_rescue *x, const perfile_gap *gap, const char *part)
{
    cli_notes_end();
    x->n_gaps++;
    if (x->json)
        json_gap(gap, part);
    else if (x->n_gaps <= MAX_SHOWN_GAPS)
        report_gap(x, gap, part);
}

void cli_rescue_note(cli_rescue *x, const perfile_recover_note *note)
{
    size_t n = strlen(note->text) + 1;
    void *more = realloc(x->notes, (x->n_notes + 1) * sizeof *x->notes);
    if (more)
        x->notes = more;
    char *text = more ? malloc(n) : NULL;
    if (!text)
        return; /* without memory the note is left out */
    memcpy(text, note->text, n);
    x->notes[x->n_notes].feature = note->feature;
    x->notes[x->n_notes].damage = note->damage;
    x->notes[x->n_notes].text = text;
    x->n_notes++;
    if (!x->json)
        cli_note_of(x->name, note->feature, note->damage, text);
}

void cli_rescue_begin(cli_rescue *x)
{
    if (!x->json)
        return;
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    cli_json_bool("dry_run", x->dry_run);
    cli_json_array("gaps");
}

/* Prints the array of notes that were kept. */
static void json_notes(const cli_rescue *x)
{
    cli_json_array("notes");
    for (size_t i = 0; i < x->n_notes; i++) {
        cli_json_object(NULL);
        cli_json_string("text", x->notes[i].text);
        if (x->notes[i].feature != UINT32_MAX)
            cli_json_number("feature", x->notes[i].feature);
        if (x->notes[i].damage)
            cli_json_string("why", perfile_damage_name(x->notes[i].damage));
        cli_json_object_end();
    }
    cli_json_array_end();
}

static void json_time(const char *key, uint64_t time)
{
    if (time == PERFILE_NO_TIME)
        cli_json_null(key);
    else
        cli_json_decimal(key, time);
}

/* Prints the rest of the object, behind the gaps.  `whole` says that nothing was lost. */
static void json_end(const cli_rescue *x, const perfile_error *failed)
{
    const perfile_recover_summary *s = &x->sum;
    cli_json_array_end();
    json_notes(x);
    if (x->out && !failed && !x->dry_run)
        cli_json_string("out", x->out);
    else
        cli_json_null("out");
    cli_json_object("kept");
    cli_json_number("records", s->records);
    cli_json_number("bytes", s->bytes);
    cli_json_number("samples", s->samples);
    cli_json_number("events", s->events);
    cli_json_number("features", s->features);
    json_time("first_time", s->first_time);
    json_time("last_time", s->last_time);
    cli_json_object_end();
    cli_json_object("lost");
    cli_json_number("gaps", s->gaps);
    cli_json_number("bytes", s->lost);
    cli_json_number("missing", s->missing);
    cli_json_number("features", s->features_lost);
    cli_json_object_end();
    cli_json_bool("finished", !s->unterminated);
    cli_json_bool("decompressed", s->decompressed);
    cli_json_bool("whole", !s->damaged && !failed);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

/* True if there could be samples: each is of an event, which not every format has. */
static bool has_samples(const cli_rescue *x)
{
    return x->sum.events || x->sum.samples;
}

/* Reports how many records were kept, or would be. */
static void report_kept(const cli_rescue *x)
{
    const perfile_recover_summary *s = &x->sum;
    char bytes[32], samples[64] = "";
    cli_format_bytes(s->bytes, bytes, sizeof bytes);
    if (has_samples(x))
        snprintf(samples, sizeof samples, "%" PRIu64 " sample%s of them, ", s->samples,
                 s->samples == 1 ? "" : "s");
    cli_message("%s: %s %" PRIu64 " record%s, %s%s", x->name, x->dry_run ? "would keep" : "kept",
                s->records, s->records == 1 ? "" : "s", samples, bytes);
}

/* Reports what was lost, a line for each kind of loss. */
static void report_lost(const cli_rescue *x)
{
    const perfile_recover_summary *s = &x->sum;
    char bytes[32];
    if (!s->damaged) {
        cli_message("%s: nothing was lost", x->name);
        return;
    }
    if (s->unterminated)
        cli_message(
            "%s: the recording was killed before host, command line and build ids were written",
            x->name);
    cli_format_bytes(s->lost, bytes, sizeof bytes);
    if (s->lost)
        cli_message("%s: lost %s", x->name, bytes);
    cli_format_bytes(s->missing, bytes, sizeof bytes);
    if (s->missing)
        cli_message("%s: another %s of records were missing at the end of the input", x->name,
                    bytes);
    if (s->features_lost)
        cli_message("%s: lost %" PRIu64 " feature section%s", x->name, s->features_lost,
                    s->features_lost == 1 ? "" : "s");
}

/* Suggests the next command: recover after a dry run, perf report if there are samples, else dump.
 * There is no suggestion for a path that cannot be written into a shell command. */
static void report_next_step(const cli_rescue *x)
{
    if (x->dry_run && !x->sum.damaged) {
        cli_message("%s: nothing was written, and nothing needs recovering", x->name);
        return;
    }
    char file[CLI_SHELL_WORD];
    const char *path = x->dry_run ? x->path : x->out;
    /* The path is an argument of -i for perf report, an operand for the others. */
    bool report = !x->dry_run && x->sum.samples;
    bool known = strcmp(path, "-") != 0 && (report       ? cli_shell_word(path, file, sizeof file)
                                            : x->dry_run ? cli_shell_input(path, file, sizeof file)
                                                         : cli_shell_file(path, file, sizeof file));
    const char *what = x->dry_run                          ? "nothing was written"
                       : !has_samples(x) || x->sum.samples ? NULL
                                                           : "there is no sample among them";
    const char *next = x->dry_run ? "perfile recover -o OUT "
                       : report   ? "perf report -i "
                                  : "perfile dump ";
    if (what || known)
        cli_message("%s: %s%s%s%s%s", x->name, what ? what : "", what && known ? "; " : "",
                    known ? "next: " : "", known ? next : "", known ? file : "");
}

void cli_rescue_end(cli_rescue *x, const perfile_error *failed)
{
    cli_notes_end();
    if (x->json)
        json_end(x, failed);
    if (x->n_gaps > MAX_SHOWN_GAPS && !x->json)
        /* Gaps beyond the first ones were counted, but not reported. */
        cli_message("%s: and %" PRIu64 " more gaps; --json lists all", x->name,
                    x->n_gaps - MAX_SHOWN_GAPS);
    if (failed) {
        cli_report_error(x->name, failed);
        cli_message("%s: nothing was written", x->name);
        return;
    }
    report_kept(x);
    report_lost(x);
    report_next_step(x);
}

void cli_rescue_clear(cli_rescue *x)
{
    for (size_t i = 0; i < x->n_notes; i++)
        free(x->notes[i].text);
    free(x->notes);
}
