/* The rules for people: all of them, and one page for each. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/validate.h"

int cli_list_rules(void)
{
    const perfile_rule *r;
    for (size_t i = 0; (r = perfile_rule_at(i)); i++)
        cli_print("%-6s  %-7s  %-9s  %s\n", r->id, perfile_severity_name(r->severity),
                  perfile_where_name(r->where), r->sentence);
    return CLI_DONE;
}

int cli_explain_rule(const char *id)
{
    const perfile_rule *r = perfile_rule_at(perfile_rule_find(id));
    if (!r)
        return cli_usage("validate", "there is no rule '%s'; --rules lists them", id);
    cli_print("%s: %s.\n\n", r->id, r->sentence);
    cli_print("  severity  %s", perfile_severity_name(r->severity));
    if (r->lesser)
        cli_print(", in milder cases %s", perfile_severity_name(r->lesser));
    cli_print("\n  looks at  %s\n  why       %s\n  perf      %s\n", perfile_where_name(r->where),
              r->why, r->minds);
    return CLI_DONE;
}
