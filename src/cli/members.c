/* Which options set the members that messages of the library are about.
 *
 * The library says "terms.pid" (perfile_error.where, perfile_note.where) and "pid takes numbers";
 * the command prints "--pid takes numbers". */
#include "cli/members.h"

#include <stdio.h>
#include <string.h>

#include "cli/json.h"

static const struct {
    const char *member;
    const char *options;
} members[] = {
    {"merge.inputs", "--offset IN=TIME, --align start"},
    {"perfmon.layout", "convert --layout"},
    {"perfmon.processors", "%d in the name of -o; split --by cpu; convert --to perf.data"},
    {"perfmon.rates", "convert --rate EVENT=N"},
    {"recover.assume", "--attrs-from, --event"},
    {"source.capture", "--source"},
};

/* Terms of a filter have the names of their options. */
static const char terms[] = "terms.";

const char *cli_with_options(const char *where, const char *message, char out[CLI_MEMBERS_TEXT])
{
    if (where && strncmp(where, terms, sizeof terms - 1) == 0) {
        const char *name = where + sizeof terms - 1;
        const bool first = strncmp(message, name, strlen(name)) == 0;
        if (first)
            snprintf(out, CLI_MEMBERS_TEXT, "--%s", message);
        else
            snprintf(out, CLI_MEMBERS_TEXT, "%s (--%s)", message, name);
        return out;
    }
    for (size_t i = 0; where && i < sizeof members / sizeof members[0]; i++) {
        if (strcmp(where, members[i].member) != 0)
            continue;
        snprintf(out, CLI_MEMBERS_TEXT, "%s (%s)", message, members[i].options);
        return out;
    }
    return message;
}

void cli_json_error(const perfile_error *failed)
{
    char text[CLI_MEMBERS_TEXT];
    if (failed)
        cli_json_string("error", cli_with_options(failed->where, failed->message, text));
}
