/* Findings as one JSON document, described in format/reports.md.  Findings are printed as they
 * come; counts of rules and files stand behind them, so these are kept until the end. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/validate/validate.h"

enum { MAX_FINDINGS = 100 }; /* of each rule and severity without --all */

/* A reason of a file's verdict. */
typedef struct reason_row {
    unsigned verdict;
    char *sentence;
    struct reason_row *next;
} reason_row;

/* A file whose findings have been printed. */
typedef struct file_row {
    char *name, *failure, *version;
    unsigned verdict;
    uint64_t counts[4];
    reason_row *reasons; /* in reverse order */
    struct file_row *next;
} file_row;

static file_row *files, **last_file, *current_file;
static uint64_t rules[PERFILE_RULE_LIMIT][4]; /* findings of all files by rule and severity */
static bool out_of_memory;

/* Returns an allocated copy of a string, NULL for NULL. */
static char *copy_text(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    out_of_memory |= text && !copy;
    return copy;
}

static void begin(void)
{
    last_file = &files;
    memset(rules, 0, sizeof rules);
    out_of_memory = false;
    cli_json_object(NULL);
    cli_json_array("findings");
}

/* Begins a file: adds it to the list, to be filled at its end. */
static void file(const cli_validation *v)
{
    current_file = calloc(1, sizeof *current_file);
    out_of_memory |= !current_file;
    if (!current_file)
        return;
    current_file->name = copy_text(v->name);
    *last_file = current_file;
    last_file = &current_file->next;
}

/* Prints the members of a finding that are about a record, an event, a feature, or a field. */
static void record_members(const cli_validation *v, const perfile_finding *f)
{
    const perfile_session *s = v->in->stream ? perfile_stream_session(v->in->stream) : NULL;
    const perfile_event *e = s ? perfile_session_event(s, f->event) : NULL;
    if (f->sequence != PERFILE_NO_SEQUENCE)
        cli_json_number("record", f->sequence);
    if (f->type != UINT32_MAX) {
        const uint64_t key = (uint64_t)f->family << 32 | f->type;
        cli_json_string("type", perfile_type_name(f->family, f->type));
        cli_json_number("type_number", cli_type_number(key));
    }
    if (f->stream_offset != PERFILE_NO_OFFSET)
        cli_json_decimal("stream_offset", f->stream_offset);
    if (e) {
        cli_json_string("event", e->name);
        cli_json_number("event_index", f->event);
    }
    if (f->feature != UINT32_MAX)
        cli_json_number("feature", f->feature);
    if (f->field)
        cli_json_string("field", f->field);
}

/* Prints a finding as an item of the array. */
static void finding(const cli_validation *v, const perfile_finding *f)
{
    char path[4096];
    cli_finding_path(v, f->part, path, sizeof path);
    cli_json_object(NULL);
    cli_json_string("rule", perfile_rule_of(f->rule)->id);
    cli_json_string("severity", perfile_severity_name(f->severity));
    cli_json_string("file", path);
    if (f->offset != PERFILE_NO_OFFSET)
        cli_json_decimal("offset", f->offset);
    else
        cli_json_null("offset");
    cli_json_string("message", f->message);
    record_members(v, f);
    cli_json_object_end();
}

/* Keeps a reason of the verdict on the current file. */
static void reason(const cli_validation *v, unsigned verdict, const char *sentence)
{
    (void)v;
    reason_row *r = calloc(1, sizeof *r);
    out_of_memory |= !r;
    if (!r || !current_file) {
        free(r);
        return;
    }
    *r = (reason_row){verdict, copy_text(sentence), current_file->reasons};
    current_file->reasons = r;
}

/* Keeps the counts and the verdict of the file, which the forms' end() prints. */
static void file_end(const cli_validation *v)
{
    for (unsigned i = 0; i < PERFILE_RULE_LIMIT; i++)
        for (unsigned s = PERFILE_SEVERITY_NOTE; s <= PERFILE_SEVERITY_ERROR; s++)
            rules[i][s] += cli_rule_summary(v, i, s).count;
    if (!current_file) /* no memory: the report says that it is incomplete */
        return;
    memcpy(current_file->counts, v->counts, sizeof current_file->counts);
    current_file->failure = copy_text(v->failure);
    current_file->version = copy_text(v->version);
    current_file->verdict = v->verdict;
}

/* Prints and frees the reasons of a file. */
static void print_reasons(reason_row *r)
{
    reason_row *first = NULL;
    while (r) { /* reverses the list to the order in which the reasons came */
        reason_row *next = r->next;
        r->next = first;
        first = r;
        r = next;
    }
    cli_json_array("reasons");
    while (first) {
        reason_row *next = first->next;
        cli_json_string(NULL, first->sentence);
        free(first->sentence);
        free(first);
        first = next;
    }
    cli_json_array_end();
}

/* Prints a file with its counts, the reason of a failure, and the verdict for --for. */
static void print_file(file_row *f)
{
    static const char *const words[] = {"reads", "loses", "stops", "refuses"};
    cli_json_object(NULL);
    cli_json_string("file", f->name);
    cli_json_number("errors", f->counts[PERFILE_SEVERITY_ERROR]);
    cli_json_number("warnings", f->counts[PERFILE_SEVERITY_WARNING]);
    cli_json_number("notes", f->counts[PERFILE_SEVERITY_NOTE]);
    cli_json_string("failure", f->failure);
    if (f->version && !f->failure) {
        cli_json_object("perf");
        cli_json_string("version", f->version);
        cli_json_string("verdict", words[f->verdict]);
        print_reasons(f->reasons);
        cli_json_object_end();
    }
    cli_json_object_end();
}

/* Prints how many findings each rule has over all files, by severity. */
static void print_rules(void)
{
    cli_json_array("rules");
    for (unsigned i = 0; i < PERFILE_RULE_LIMIT; i++)
        for (unsigned s = PERFILE_SEVERITY_ERROR; s >= PERFILE_SEVERITY_NOTE; s--) {
            if (!rules[i][s])
                continue;
            cli_json_object(NULL);
            cli_json_string("rule", perfile_rule_of(i)->id);
            cli_json_string("severity", perfile_severity_name(s));
            cli_json_number("count", rules[i][s]);
            cli_json_object_end();
        }
    cli_json_array_end();
}

/* Prints everything behind the findings, and frees it. */
static void end(void)
{
    cli_json_array_end();
    print_rules();
    cli_json_array("files");
    while (files) {
        file_row *next = files->next;
        print_file(files);
        free(files->name);
        free(files->failure);
        free(files->version);
        free(files);
        files = next;
    }
    cli_json_array_end();
    cli_json_object_end();
    cli_json_line();
    if (out_of_memory)
        cli_message("out of memory: the report is not complete");
}

const cli_findings_form cli_findings_json = {"json",  MAX_FINDINGS, begin,    file,
                                             finding, reason,       file_end, end};
