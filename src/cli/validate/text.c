/* Findings for people: the first finding of each kind, and how many more there are; with --all
 * every finding as soon as it is found.
 *
 * A kind is a rule with a severity.  The library passes on the first finding of each (`most` is 1);
 * they are kept, sorted by severity, and printed at the end of the file, or in front of the reasons
 * of
 * --for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/captures.h"
#include "cli/command.h"
#include "cli/damage.h"
#include "cli/print.h"
#include "cli/text.h"
#include "cli/validate/validate.h"

enum { MAX_KINDS = 2 * PERFILE_RULE_LIMIT, LINE_BYTES = 1200 };

/* The first finding of a kind, as the line that is printed. */
typedef struct kind {
    unsigned rule, severity;
    uint64_t offset;
    uint32_t part;
    char *line;
} kind;

static kind kinds[MAX_KINDS];
static unsigned n_kinds;
static bool out_of_memory;

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

static void file(const cli_validation *v)
{
    (void)v;
    n_kinds = 0;
    out_of_memory = false;
}

/* With --all prints the finding at once, else keeps it. */
static void finding(const cli_validation *v, const perfile_finding *f)
{
    char line[LINE_BYTES];
    compose_line(v, f, line, sizeof line);
    if (v->all) {
        print_line(line);
        return;
    }
    if (n_kinds == MAX_KINDS) /* cannot happen: a rule has two severities at most */
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

/* Compares for qsort(): those of the archive, then the most severe first, then in file order. */
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

/* Prints and frees the kept findings. */
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

static void reason(const cli_validation *v, unsigned verdict, const char *sentence)
{
    (void)verdict;
    print_kinds(v); /* the findings come before what they mean for a version of perf */
    cli_print("%s", v->name);
    cli_print(": perf %s: ", v->version);
    print_line(sentence);
}

/* Prints the findings, the verdict for --for, the counts, and what the user can do next. */
static void file_end(const cli_validation *v)
{
    static const char *const words[] = {NULL, "note", "warning", "error"};
    print_kinds(v);
    if (out_of_memory)
        cli_message("%s: out of memory: some findings are not shown", v->name);
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
    if (v->repairable && cli_shell_file(v->in->path, path, sizeof path))
        cli_print("%s: next: perfile recover --to archive -o OUT %s\n", v->name, path);
    else if (v->in->stream && cli_recoverable(v->in) &&
             cli_shell_input(v->in->path, path, sizeof path))
        cli_print("%s: next: perfile recover -o OUT %s\n", v->name, path);
}

static void nothing(void)
{
}

const cli_findings_form cli_findings_text = {"text",  1,      nothing,  file,
                                             finding, reason, file_end, nothing};
