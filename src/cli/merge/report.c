/* The report of `merge`: lines on standard error, or with --json an object on standard output (on
 * standard error if the merged capture goes to standard output).
 *
 * Notes come while the inputs are planned and copied, but are printed behind the summary: they are
 * kept, up to MAX_NOTES.  The object is begun before the merge, its inputs are printed as soon as
 * they are planned, everything else at the end. */
#include "cli/merge/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/note.h"
#include "cli/text.h"
#include "perfile/damage.h"
#include "perfile/text.h"

enum { MAX_NOTES = 1000, MAX_MESSAGE = 4 * CLI_MEMBERS_TEXT };

void cli_merge_begin(cli_merge_run *x)
{
    if (!x->json)
        return;
    if (strcmp(x->out, "-") == 0) {
        /* stderr is not buffered: a FILE of our own is. */
        int fd = dup(STDERR_FILENO);
        x->report = fd >= 0 ? fdopen(fd, "w") : NULL;
        cli_json_to(x->report ? x->report : stderr);
    }
    cli_json_object(NULL);
}

/* Escapes a text that may contain names from captures; returns its length. */
static size_t printable(const char *text, char *out, size_t size)
{
    return perfile_printable((perfile_bytes){(const uint8_t *)text, strlen(text)}, out, size);
}

/* Keeps a copy of `note` with an escaped copy of `text`; counts it if that is not possible. */
static void add_note(cli_merge_run *x, const cli_merge_message *note, const char *text)
{
    size_t n = printable(text, NULL, 0) + 1;
    cli_merge_message *more = NULL;
    if (x->n_notes < MAX_NOTES)
        more = realloc(x->notes, (x->n_notes + 1) * sizeof *more);
    if (more)
        x->notes = more;
    char *copy = more ? malloc(n) : NULL;
    if (!copy) {
        x->more_notes++;
        return;
    }
    printable(text, copy, n);
    x->notes[x->n_notes] = *note;
    x->notes[x->n_notes++].text = copy;
}

void cli_merge_note(void *run, const perfile_merge_note *note)
{
    cli_merge_message one = {note->kind, note->number, note->input, note->count, NULL};
    add_note(run, &one, note->text);
}

/* Kinds of perfile_note are numbered behind those of perfile_merge_note. */
void cli_merge_copy_note(void *run, uint32_t input, const perfile_note *note)
{
    cli_merge_message one = {PERFILE_N_MERGE_NOTES + note->kind, note->number, input, note->count,
                             NULL};
    add_note(run, &one, note->text);
}

/* Returns the name of a note's kind, which is one of two enumerations. */
static const char *kind_name(const cli_merge_message *note)
{
    return note->kind < PERFILE_N_MERGE_NOTES
               ? perfile_merge_note_name(note->kind)
               : perfile_note_name(note->kind - PERFILE_N_MERGE_NOTES);
}

/* Prints an input: its records, host, boot, and how its clock was aligned. */
static void json_input(const cli_merge_run *x, size_t i, const perfile_merge_input_summary *in)
{
    char
        offset[24]; /* a string, since it may pass 2^53; it has a sign, unlike cli_json_decimal() */
    snprintf(offset, sizeof offset, "%" PRId64, in->offset);
    cli_json_object(NULL);
    cli_json_string("name", x->in[i].name);
    cli_json_number("records", in->records);
    cli_json_number("samples", in->samples);
    cli_json_number("host", in->host);
    cli_json_number("boot", in->boot);
    cli_json_string("clock", perfile_merge_clock_name(in->clock));
    cli_json_string("offset_ns", offset);
    cli_json_number("part_of", in->part_of);
    cli_json_number("damages", x->summaries[i].damages);
    cli_json_number("lost", x->summaries[i].lost);
    cli_json_object_end();
}

/* Prints which id of which input has which id in the output. */
static void json_ids(const perfile_stream *stream, size_t n)
{
    perfile_merge_id_pair id;
    cli_json_array("ids");
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; perfile_merge_get_id(stream, i, k, &id, sizeof id); k++) {
            cli_json_object(NULL);
            cli_json_number("input", i);
            cli_json_decimal("id", id.id);
            cli_json_decimal("new_id", id.new_id);
            if (id.event == UINT32_MAX) /* of no event */
                cli_json_null("event");
            else
                cli_json_number("event", id.event);
            cli_json_object_end();
        }
    }
    cli_json_array_end();
}

/* Prints which process number of which input has which number in the output. */
static void json_pids(const perfile_stream *stream, size_t n)
{
    uint32_t pid, new_pid;
    cli_json_array("pids");
    for (size_t i = 0; i < n; i++) {
        /* Begins in front of pid 0; each call returns the next number that changed. */
        for (pid = UINT32_MAX; perfile_merge_get_pid(stream, i, pid, &pid, &new_pid);) {
            cli_json_object(NULL);
            cli_json_number("input", i);
            cli_json_number("pid", pid);
            cli_json_number("new_pid", new_pid);
            cli_json_object_end();
        }
    }
    cli_json_array_end();
}

void cli_merge_report_inputs(void *run, const perfile_stream *stream)
{
    cli_merge_run *x = run;
    x->merged = true;
    if (x->json)
        cli_json_array("inputs");
    for (size_t i = 0; i < x->n; i++) {
        perfile_merge_input_summary in;
        perfile_merge_get_input_summary(stream, i, &in, sizeof in);
        if (i && in.clock < 32)
            x->clocks |= UINT32_C(1) << in.clock;
        if (x->json)
            json_input(x, i, &in);
    }
    if (x->json)
        cli_json_array_end();
    if (x->json && x->maps) {
        json_ids(stream, x->n);
        json_pids(stream, x->n);
    }
}

/* Prints empty arrays for what cli_merge_report_inputs() would have printed. */
static void json_empty_lists(const cli_merge_run *x)
{
    static const char *const lists[] = {"inputs", "ids", "pids"};
    for (size_t i = 0; i < (x->maps ? 3 : 1); i++) {
        cli_json_array(lists[i]);
        cli_json_array_end();
    }
}

/* Prints the array of notes that were kept. */
static void json_notes(const cli_merge_run *x)
{
    cli_json_array("notes");
    for (size_t i = 0; i < x->n_notes; i++) {
        const cli_merge_message *note = &x->notes[i];
        cli_json_object(NULL);
        cli_json_string("kind", kind_name(note));
        if (note->number != UINT32_MAX)
            cli_json_number("number", note->number);
        if (note->input != UINT32_MAX)
            cli_json_number("input", note->input);
        cli_json_number("count", note->count);
        cli_json_string("text", note->text);
        cli_json_object_end();
    }
    cli_json_array_end();
}

/* Prints the rest of the object, behind the inputs, and closes a report on standard error. */
static void json_end(const cli_merge_run *x, const perfile_error *failed)
{
    const perfile_merge_summary *m = &x->result;
    if (!x->merged)
        json_empty_lists(x);
    json_notes(x);
    if (failed)
        cli_json_null("out");
    else
        cli_json_string("out", x->out);
    cli_json_number("records", m->records);
    cli_json_number("samples", m->samples);
    cli_json_number("hosts", m->hosts);
    cli_json_number("boots", m->boots);
    cli_json_number("boots_unproven", m->boots_unproven);
    cli_json_number("events", m->events);
    cli_json_number("new_ids", m->new_ids);
    cli_json_number("facts", m->facts);
    cli_json_number("repeated", m->repeated);
    cli_json_number("of_nobody", m->unattributed);
    cli_json_number("unreadable", m->unreadable);
    cli_json_number("conflicting", m->conflicting);
    cli_json_number("trailers", m->trailers);
    cli_json_number("rounds", m->rounds);
    cli_json_number("damages", x->copied.damages);
    cli_json_number("lost", x->copied.lost);
    if (failed) {
        char text[MAX_MESSAGE], with[CLI_MEMBERS_TEXT];
        printable(cli_with_options(failed->where, failed->message, with), text, sizeof text);
        cli_json_string("error", text);
    }
    cli_json_object_end();
    cli_json_line();
    cli_json_to(NULL);
    if (x->report)
        fclose(x->report);
}

/* Writes the kinds of clocks that were used, "; clocks: same boot, wall time"; "" for one capture.
 */
static void clock_words(const cli_merge_run *x, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t k = 0; k < 32; k++) { /* each kind of clock that is in use */
        if (!(x->clocks >> k & 1) || used >= size)
            continue;
        int n = snprintf(out + used, size - used, "%s%s",
                         used ? ", " : "; clocks: ", perfile_merge_clock_name(k));
        used += n > 0 ? (size_t)n : 0;
    }
}

/* Writes how many hosts the inputs are from, and whether their boots differ; "" for one boot. */
static void host_words(const perfile_merge_summary *m, char *out, size_t size)
{
    int n = m->hosts > 1 ? snprintf(out, size, ", %" PRIu32 " hosts", m->hosts) : 0;
    out[n] = '\0';
    if (m->boots <= m->hosts)
        return;
    if (n == 0)
        n = snprintf(out, size, ", one host");
    snprintf(out + n, size - (size_t)n, "%s",
             m->boots_unproven ? " (not proven to be one boot)" : " (different boots)");
}

/* Prints the summary line. */
static void report_merged(const cli_merge_run *x)
{
    const perfile_merge_summary *m = &x->result;
    char records[32], samples[32], clocks[160], hosts[80];
    clock_words(x, clocks, sizeof clocks);
    host_words(m, hosts, sizeof hosts);
    cli_message("merged %s record%s (%s sample%s) of %zu capture%s%s%s",
                cli_format_grouped(m->records, records), m->records == 1 ? "" : "s",
                cli_format_grouped(m->samples, samples), m->samples == 1 ? "" : "s", x->n,
                x->n == 1 ? "" : "s", hosts, clocks);
}

/* Prints the notes, and what a capture of several hosts or boots cannot express. */
static void report_notes(const cli_merge_run *x)
{
    bool mixed = false;
    for (size_t i = 0; i < x->n_notes; i++) {
        const cli_merge_message *note = &x->notes[i];
        mixed |= note->kind == PERFILE_MERGE_NOTE_MIXED;
        if (note->input < x->n && note->kind >= PERFILE_N_MERGE_NOTES)
            cli_message("%s: %s", x->in[note->input].name, note->text);
        else
            cli_message("%s", note->text);
    }
    if (x->more_notes)
        cli_message("%zu more notes are not shown", x->more_notes);
    if (x->result.hosts > 1 && !mixed)
        cli_message(
            "kernel maps and CPU numbers of different hosts cannot be kept apart in perf.data");
    else if (x->result.boots > 1 && !mixed)
        cli_message(
            "kernel maps and processes of different boots cannot be kept apart in perf.data%s",
            x->result.boots_unproven ? "; where the boot is the same, --offset IN=0 says so" : "");
}

/* Reports the damage of an input: a line for each kind, the first with offset and counts. */
static void report_damage(const char *name, const perfile_stream_summary *sum)
{
    char offset[48] = "", places[48] = "", lost[48] = "";
    unsigned kinds = 0;
    if (sum->damages == 0)
        return;
    if (sum->first_offset != PERFILE_NO_OFFSET)
        snprintf(offset, sizeof offset, "offset %" PRIu64 ": ", sum->first_offset);
    if (sum->damages > 1)
        snprintf(places, sizeof places, "%" PRIu64 " damages, the first here: ", sum->damages);
    if (sum->lost)
        snprintf(lost, sizeof lost, ", %" PRIu64 " byte%s lost", sum->lost,
                 sum->lost == 1 ? "" : "s");
    for (unsigned k = 1; k < sizeof sum->by_damage / sizeof sum->by_damage[0]; k++) {
        if (!sum->by_damage[k])
            continue;
        if (kinds++ == 0)
            cli_message("%s: %s%s%s%s", name, offset, places, perfile_damage_text(k), lost);
        else
            cli_message("%s: also: %s", name, perfile_damage_text(k));
    }
}

/* Reports why merging failed. */
static void report_failure(const perfile_error *err)
{
    char text[MAX_MESSAGE], with[CLI_MEMBERS_TEXT];
    const char *message = cli_with_options(err->where, err->message, with);
    printable(message[0] ? message : perfile_status_text(err->status), text, sizeof text);
    cli_message("%s", text);
    if (err->status == PERFILE_E_LIMIT && err->where)
        cli_message("this is the limit '%s'", err->where);
}

void cli_merge_end(cli_merge_run *x, const perfile_error *failed)
{
    if (x->json)
        json_end(x, failed);
    else if (!failed) {
        report_merged(x);
        report_notes(x);
    }
    for (size_t i = 0; i < x->n && !x->json && !failed; i++)
        report_damage(x->in[i].name, &x->summaries[i]);
    /* With the object on standard error the message is in it already. */
    if (failed && !(x->json && strcmp(x->out, "-") == 0))
        report_failure(failed);
    for (size_t i = 0; i < x->n_notes; i++)
        free(x->notes[i].text);
    free(x->notes);
}
