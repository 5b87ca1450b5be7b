/* --rules and --explain: the rules of format/rules.def for people. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/validate/validate.h"

int cli_list_rules(void)
{
    const perfile_rule *r;
    for (size_t i = 0; (r = perfile_rule_at(i)); i++)
        cli_print("%-6s  %-7s  %-9s  %s\n", r->id, perfile_severity_name(r->severity),
                  perfile_rule_scope_name(r->where), r->sentence);
    return CLI_DONE;
}

/* Writes one line on what versions of perf do: "perf 3.8 to 6.12, of files: does not reach its
 * end". */
static void compose_verdict(const perfile_rule_verdict *v, char *line, size_t size)
{
    static const char *const forms[] = {"", ", of files", ", of pipes"};
    bool one = strcmp(v->from, v->to) == 0;
    snprintf(line, size, "perf %s%s%s%s%s: %s%s%s", v->from, one ? "" : " to ", one ? "" : v->to,
             forms[v->form], v->lesser ? ", in milder cases" : "", cli_verdict_words(v->verdict),
             v->when ? ": " : "", v->when ? v->when : "");
}

void cli_rule_effects(const perfile_rule *r, void (*put)(void *user, const char *line), void *user)
{
    char line[512];
    perfile_rule_verdict v;
    size_t n = 0;
    for (; perfile_rule_verdict_at(r->number, n, &v, sizeof v); n++) {
        compose_verdict(&v, line, sizeof line);
        put(user, line);
    }
    if (r->effect[0])
        put(user, r->effect);
    else if (n == 0)
        put(user, "none");
}

/* Prints a line of --explain; *user is whether it is the first, which has the label. */
static void put_effect(void *user, const char *line)
{
    bool *first = user;
    cli_print("%s%s\n", *first ? "  readers   " : "            ", line);
    *first = false;
}

int cli_explain_rule(const char *id)
{
    const perfile_rule *r = perfile_rule_find(id);
    bool first = true;
    if (!r)
        return cli_usage("validate", "there is no rule '%s'; --rules lists them", id);
    cli_print("%s: %s.\n\n", r->id, r->sentence);
    cli_print("  severity  %s", perfile_severity_name(r->severity));
    if (r->lesser)
        cli_print(", in milder cases %s", perfile_severity_name(r->lesser));
    cli_print("\n  checks    %s\n  why       %s\n", perfile_rule_scope_name(r->where), r->why);
    cli_rule_effects(r, put_effect, &first);
    return CLI_DONE;
}
