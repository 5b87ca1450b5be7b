/* Findings as SARIF 2.1.0 (OASIS): one run with all rules, all results, and one invocation. */
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "cli/validate/validate.h"

enum { MAX_FINDINGS = 100 };

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

/* Lines joined to one text, which is cut where there is no room. */
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

/* Prints everything in front of the results: the tool with all rules. */
static void begin(void)
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

static void file(const cli_validation *v)
{
    (void)v;
}

/* Prints a path as a relative URI reference: all except unreserved characters and '/' as %XX. */
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

/* Prints what SARIF has no member for. */
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

/* Prints a result.  Offsets above INT64_MAX (also PERFILE_NO_OFFSET) are left out: SARIF numbers
 * are signed. */
static void finding(const cli_validation *v, const perfile_finding *f)
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

static void reason(const cli_validation *v, unsigned verdict, const char *sentence)
{
    (void)v, (void)verdict, (void)sentence;
}

static void file_end(const cli_validation *v)
{
    failed |= v->failure != NULL;
}

/* Prints everything behind the results. */
static void end(void)
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
}

const cli_findings_form cli_findings_sarif = {"sarif", MAX_FINDINGS, begin,    file,
                                              finding, reason,       file_end, end};
