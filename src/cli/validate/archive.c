/* Findings about the archive that a capture is in.
 *
 * The stage that checks records knows nothing of archives: here its options are obeyed (which
 * rules, which severity, how many findings of each), and findings are counted. */
#include <string.h>
#include <strings.h>

#include "cli/archive.h"
#include "cli/validate/validate.h"

/* What passes a finding on. */
typedef struct receiver {
    cli_archive_counts *counts;
    const perfile_check_options *options;
} receiver;

/* True if `list` ("V-302,V-4") names the rule, by its id or the beginning of it. */
static bool names(const char *list, const char *id)
{
    while (*list) {
        const size_t n = strcspn(list, ",");
        if (n && strncasecmp(id, list, n) == 0)
            return true;
        list += n;
        list += *list == ',';
    }
    return false;
}

perfile_check_summary *cli_archive_count(cli_archive_counts *counts, unsigned rule,
                                         unsigned severity)
{
    const unsigned i = rule - PERFILE_RULE_V_701;
    return i < CLI_ARCHIVE_RULES && severity < 4 ? &counts->of[i][severity] : NULL;
}

static void on_finding(void *user, const perfile_archive_finding *a)
{
    const receiver *x = user;
    const perfile_check_options *o = x->options;
    const perfile_rule *rule = perfile_rule_of(a->rule);
    perfile_check_summary *t = cli_archive_count(x->counts, a->rule, a->severity);
    if (!rule || !t || a->severity < o->severity || (o->only && !names(o->only, rule->id)) ||
        (o->ignore && names(o->ignore, rule->id)))
        return;
    if (t->count++ == 0)
        t->first_offset = a->offset;
    t->last_offset = a->offset;
    if (o->most && t->count > o->most)
        return;
    const perfile_finding f = {.rule = a->rule,
                               .severity = a->severity,
                               .part = UINT32_MAX, /* of the archive, not of a file in it */
                               .event = UINT32_MAX,
                               .type = UINT32_MAX,
                               .feature = UINT32_MAX,
                               .offset = a->offset,
                               .stream_offset = PERFILE_NO_OFFSET,
                               .sequence = PERFILE_NO_SEQUENCE,
                               .message = a->text};
    o->finding(o->user, &f);
}

perfile_status cli_validate_archive(const char *path, perfile_archive *open,
                                    const perfile_limits *limits,
                                    const perfile_check_options *options,
                                    cli_archive_counts *counts, perfile_error *err)
{
    perfile_archive *a = open;
    receiver x = {counts, options};
    if (!a && cli_archive_open(path, limits, false, &a, err) != PERFILE_OK)
        return PERFILE_OK; /* no archive, or the capture cannot be opened either */
    perfile_status st = perfile_archive_verify(a, on_finding, &x, err);
    if (a != open)
        perfile_archive_close(a);
    return st;
}

bool cli_archive_can_be_repaired(const cli_archive_counts *counts)
{
    /* What is wrong inside of chunks stays so. */
    static const unsigned rules[] = {PERFILE_RULE_V_701, PERFILE_RULE_V_702, PERFILE_RULE_V_703,
                                     PERFILE_RULE_V_704, PERFILE_RULE_V_709, PERFILE_RULE_V_710};
    uint64_t n = 0;
    for (unsigned i = 0; i < sizeof rules / sizeof rules[0]; i++)
        for (unsigned s = 0; s < 4; s++)
            n += counts->of[rules[i] - PERFILE_RULE_V_701][s].count;
    return n > 0;
}
