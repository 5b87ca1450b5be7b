/* Findings for people: the first finding of each kind, and the number of others.  With --all, every
 * finding as soon as it is found.
 *
 * A kind is a rule with a severity.  The library reports the first finding of each kind (`most` is
 * 1).  These findings are stored, sorted by severity, and printed at the end of the file, or before
 * the reasons of --for. */
#include "cli/validate/validate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"

enum { MAX_KINDS = 2 * PERFILE_RULE_LIMIT, LINE_BYTES = 1200 };

/* The first finding of a kind, as the line to print. */
typedef struct kind {
    unsigned rule, severity;
    uint64_t offset;
    uint32_t part;
    char *line;
} kind;

static kind kinds[MAX_KINDS];
static unsigned n_kinds;
static bool out_of_memory;
static bool incomplete; /* of the text of all files */

/* Writes "PATH:OFFSET: SEVERITY RULE: MESSAGE (record N, event E)". */
static void compose_line(const cli_validation *v, const perfile_finding *f, char *line, size_t size)
{
    char path[512], where[64] = "", about[256] = "", of[128] = "";
    const perfile_session *s = v->in->stream ? perfile_stream_session(v->in->stream) : NULL;
    const perfile_event *e = s ? perfile_session_event(s, f->event) : NULL;
    cli_finding_path(v, f->part, path, sizeof path);
    if (f->offset != PERFILE_NO_OFFSET)
        snprintf(where, sizeof where, ":%" PRIu64, f->offset);
    if (e)
        snprintf(of, sizeof of, "event %s", e->name);
    if (f->sequence != PERFILE_NO_SEQUENCE)
        snprintf(about, sizeof about, " (record %" PRIu64 "%s%s)", f->sequence, e ? ", " : "", of);
    else if (e)
        snprintf(about, sizeof about, " (%s)", of);
    snprintf(line, size, "%s%s: %s %s: %s%s", path, where, perfile_severity_name(f->severity),
             perfile_rule_of(f->rule)->id, f->message, about);
}

static void print_line(const char *line)
{
    cli_print("%s", line);
    cli_print("\n");
}

static void text_file(const cli_validation *v)
{
    (void)v;
    n_kinds = 0;
    out_of_memory = false;
}

/* Prints the finding immediately with --all, else stores it. */
static void text_finding(const cli_validation *v, const perfile_finding *f)
{
    char line[LINE_BYTES];
    compose_line(v, f, line, sizeof line);
    if (v->all) {
        print_line(line);
        return;
    }
    if (n_kinds == MAX_KINDS) /* cannot happen: a rule has at most two severities */
        return;
    kind *k = &kinds[n_kinds];
    *k = (kind){f->rule, f->severity, f->offset, f->part, strdup(line)};
    if (k->line)
        n_kinds++;
    else
        out_of_memory = true;
}

static bool is_of_archive(const kind *k)
{
    const perfile_rule *rule = perfile_rule_of(k->rule);
    return rule && rule->where == PERFILE_RULE_SCOPE_ARCHIVE;
}

/* Compares for qsort(): findings about the archive first, then the most severe, then in file
 * order. */
static int by_severity(const void *a, const void *b)
{
    const kind *x = a;
    const kind *y = b;
    if (is_of_archive(x) != is_of_archive(y))
        return is_of_archive(x) ? -1 : 1;
    if (x->severity != y->severity)
        return x->severity > y->severity ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->rule > y->rule) - (x->rule < y->rule);
}

/* Prints and frees the stored findings. */
static void print_kinds(const cli_validation *v)
{
    qsort(kinds, n_kinds, sizeof kinds[0], by_severity);
    for (unsigned i = 0; i < n_kinds; i++) {
        perfile_check_summary t = cli_rule_summary(v, kinds[i].rule, kinds[i].severity);
        print_line(kinds[i].line);
        free(kinds[i].line);
        if (t.count > 1 && t.last_offset != PERFILE_NO_OFFSET)
            cli_print("  and %" PRIu64 " more, last at %" PRIu64 "\n", t.count - 1, t.last_offset);
        else if (t.count > 1)
            cli_print("  and %" PRIu64 " more\n", t.count - 1);
    }
    n_kinds = 0;
}

static void text_reason(const cli_validation *v, unsigned verdict, const char *sentence)
{
    (void)verdict;
    print_kinds(v); /* findings come before their effects on a version of perf */
    cli_print("%s", v->name);
    cli_print(": perf %s: ", v->version);
    print_line(sentence);
}

/* Prints the findings, the verdict for --for, the counts, and a suggestion for the user. */
static void text_file_end(const cli_validation *v)
{
    static const char *const words[] = {NULL, "note", "warning", "error"};
    print_kinds(v);
    if (out_of_memory)
        cli_message("%s: out of memory: some findings are not shown", v->name);
    incomplete |= out_of_memory;
    if (v->version && !v->failure) {
        cli_print("%s", v->name);
        cli_print(": perf %s %s\n", v->version, cli_verdict_words(v->verdict));
    }
    if (v->failure)
        return;
    cli_print("%s", v->name);
    const char *sep = ": ";
    for (unsigned s = PERFILE_SEVERITY_ERROR; s >= PERFILE_SEVERITY_NOTE; s--) {
        cli_print("%s%" PRIu64 " %s%s", sep, v->counts[s], words[s], v->counts[s] == 1 ? "" : "s");
        sep = ", ";
    }
    cli_print("\n");
    char path[CLI_SHELL_WORD], parts[256];
    if (v->in->stream && cli_missing_parts(v->in, parts, sizeof parts))
        cli_print("%s: next: copy %s from where the directory was recorded\n", v->name, parts);
    if (v->repairable && cli_shell_file(v->in->file->path, path, sizeof path))
        cli_print("%s: next: perfile recover --to archive -o OUT %s\n", v->name, path);
    else if (v->in->stream && cli_recoverable(v->in) &&
             cli_shell_input(v->in->file, path, sizeof path))
        cli_print("%s: next: perfile recover -o OUT %s\n", v->name, path);
}

static void text_begin(void)
{
    incomplete = false;
}

static bool text_end(void)
{
    return !incomplete;
}

const cli_findings_form cli_findings_text = {"text",       1,           text_begin,    text_file,
                                             text_finding, text_reason, text_file_end, text_end};

/* Findings as one JSON document, described in format/reports.md.  Findings are printed as they
 * arrive.  The counts of rules and files come after them in the document, so they are stored until
 * the end. */

enum { MAX_FINDINGS = 100 }; /* per rule and severity, without --all */

/* A reason for the verdict on a file. */
typedef struct reason_row {
    unsigned verdict;
    char *sentence;
    struct reason_row *next;
} reason_row;

/* A file with findings that have been printed. */
typedef struct file_row {
    char *name, *failure, *version;
    unsigned verdict;
    uint64_t counts[4];
    reason_row *reasons; /* in reverse order */
    struct file_row *next;
} file_row;

static file_row *files, **last_file, *current_file;
static uint64_t rules[PERFILE_RULE_LIMIT][4]; /* findings of all files by rule and severity */

/* Returns an allocated copy of a string, NULL for NULL. */
static char *copy_text(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    out_of_memory |= text && !copy;
    return copy;
}

static void json_begin(void)
{
    last_file = &files;
    memset(rules, 0, sizeof rules);
    out_of_memory = false;
    cli_json_object(NULL);
    cli_json_array("findings");
}

/* Begins a file: adds it to the list.  Its counts are filled in at its end. */
static void json_file(const cli_validation *v)
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
static void json_finding(const cli_validation *v, const perfile_finding *f)
{
    char path[4096];
    cli_finding_path(v, f->part, path, sizeof path);
    cli_json_object(NULL);
    cli_json_string("rule", perfile_rule_of(f->rule)->id);
    cli_json_string("severity", perfile_severity_name(f->severity));
    cli_json_string("file", path);
    cli_json_known("offset", f->offset);
    cli_json_string("message", f->message);
    record_members(v, f);
    cli_json_object_end();
}

/* Stores a reason for the verdict on the current file. */
static void json_reason(const cli_validation *v, unsigned verdict, const char *sentence)
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

/* Stores the counts and the verdict of the file, which end() prints. */
static void json_file_end(const cli_validation *v)
{
    for (unsigned i = 0; i < PERFILE_RULE_LIMIT; i++)
        for (unsigned s = PERFILE_SEVERITY_NOTE; s <= PERFILE_SEVERITY_ERROR; s++)
            rules[i][s] += cli_rule_summary(v, i, s).count;
    if (!current_file) /* out of memory: a message says that the report is incomplete */
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
    while (r) { /* reverse the list, to get the order of arrival */
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

/* Prints everything after the findings, and frees it. */
static bool json_end(void)
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
    return !out_of_memory;
}

const cli_findings_form cli_findings_json = {"json",       MAX_FINDINGS, json_begin,    json_file,
                                             json_finding, json_reason,  json_file_end, json_end};

/* Findings as SARIF 2.1.0 (OASIS): one run with all rules, all results, and one invocation. */

static bool failed; /* some file could not be read */

static const char *level(unsigned severity)
{
    /* error, warning and note are also the levels of SARIF. */
    return perfile_severity_name(severity);
}

/* Prints a message object of SARIF. */
static void text(const char *key, const char *words)
{
    cli_json_object(key);
    cli_json_string("text", words);
    cli_json_object_end();
}

/* Lines joined to one text, which is truncated if it does not fit. */
typedef struct lines {
    char text[4096];
    size_t len;
} lines;

static void add_line(void *user, const char *line)
{
    lines *l = user;
    int n = snprintf(l->text + l->len, sizeof l->text - l->len, "%s%s", l->len ? "\n" : "", line);
    size_t left = sizeof l->text - l->len - 1;
    l->len += n > 0 && (size_t)n < left ? (size_t)n : left;
}

/* Prints everything before the results: the tool with all rules. */
static void sarif_begin(void)
{
    const perfile_rule *r;
    failed = false;
    cli_json_object(NULL);
    cli_json_string("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    cli_json_string("version", "2.1.0");
    cli_json_array("runs");
    cli_json_object(NULL);
    cli_json_object("tool");
    cli_json_object("driver");
    cli_json_string("name", "perfile");
    cli_json_string("version", perfile_version());
    cli_json_array("rules");
    for (size_t i = 0; (r = perfile_rule_at(i)); i++) {
        cli_json_object(NULL);
        cli_json_string("id", r->id);
        text("shortDescription", r->sentence);
        text("fullDescription", r->why);
        lines effects = {.len = 0};
        cli_rule_effects(r, add_line, &effects);
        text("help", effects.text);
        cli_json_object("defaultConfiguration");
        cli_json_string("level", level(r->severity));
        cli_json_object_end();
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object_end();
    cli_json_object_end();
    cli_json_array("results");
}

static void sarif_file(const cli_validation *v)
{
    (void)v;
}

/* Prints a path as a relative URI reference.  All characters except unreserved ones and '/' become
 * %XX. */
static void put_uri(const char *path)
{
    char uri[3 * 4096 + 1];
    size_t n = 0;
    for (const char *p = path; *p && n + 3 < sizeof uri; p++) {
        unsigned char ch = (unsigned char)*p;
        bool plain = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                     (ch >= '0' && ch <= '9') || strchr("-._~/", ch);
        n += (size_t)snprintf(uri + n, sizeof uri - n, plain ? "%c" : "%%%02X", ch);
    }
    uri[n] = 0;
    cli_json_object("artifactLocation");
    cli_json_string("uri", uri);
    cli_json_object_end();
}

/* Prints the facts for which SARIF has no member. */
static void properties(const cli_validation *v, const perfile_finding *f)
{
    const perfile_session *s = v->in->stream ? perfile_stream_session(v->in->stream) : NULL;
    const perfile_event *e = s ? perfile_session_event(s, f->event) : NULL;
    cli_json_object("properties");
    if (f->sequence != PERFILE_NO_SEQUENCE)
        cli_json_number("record", f->sequence);
    if (e)
        cli_json_string("event", e->name);
    if (f->field)
        cli_json_string("field", f->field);
    cli_json_object_end();
}

/* Returns the index of a rule in the array that begin() printed. */
static size_t position_of(uint32_t rule)
{
    size_t i = 0;
    while (perfile_rule_at(i) != perfile_rule_of(rule))
        i++;
    return i;
}

/* Prints a result.  Offsets above INT64_MAX (including PERFILE_NO_OFFSET) are omitted, because
 * numbers in SARIF are signed. */
static void sarif_finding(const cli_validation *v, const perfile_finding *f)
{
    char path[4096];
    cli_finding_path(v, f->part, path, sizeof path);
    cli_json_object(NULL);
    cli_json_string("ruleId", perfile_rule_of(f->rule)->id);
    cli_json_number("ruleIndex", position_of(f->rule));
    cli_json_string("level", level(f->severity));
    text("message", f->message);
    cli_json_array("locations");
    cli_json_object(NULL);
    cli_json_object("physicalLocation");
    put_uri(path);
    if (f->offset <= INT64_MAX) {
        cli_json_object("region");
        cli_json_number("byteOffset", f->offset);
        cli_json_object_end();
    }
    cli_json_object_end();
    cli_json_object_end();
    cli_json_array_end();
    properties(v, f);
    cli_json_object_end();
}

static void sarif_reason(const cli_validation *v, unsigned verdict, const char *sentence)
{
    (void)v, (void)verdict, (void)sentence;
}

static void sarif_file_end(const cli_validation *v)
{
    failed |= v->failure != NULL;
}

/* Prints everything after the results. */
static bool sarif_end(void)
{
    cli_json_array_end();
    cli_json_array("invocations");
    cli_json_object(NULL);
    cli_json_bool("executionSuccessful", !failed);
    cli_json_object_end();
    cli_json_array_end();
    cli_json_object_end();
    cli_json_array_end();
    cli_json_object_end();
    cli_json_line();
    return true;
}

const cli_findings_form cli_findings_sarif = {"sarif",        MAX_FINDINGS,  sarif_begin,
                                              sarif_file,     sarif_finding, sarif_reason,
                                              sarif_file_end, sarif_end};
