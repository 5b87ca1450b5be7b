/* Findings: how they are counted and reported.
 *
 * All findings of all rules come through the four pf_report functions here.  Each fills a
 * perfile_finding with the subject (record, event, feature or file offset). count_finding() decides
 * whether the caller wants it.  The message is formatted only then, so that a capture with millions
 * of findings costs no time for texts that nobody reads. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "check/check.h"
#include "base/error.h"
#include "check/command.h"
#include "schema/command.h"

enum { MESSAGE = 512 };

const char *pf_check_type_name(uint32_t type, char buf[24])
{
    const char *name = pf_record_type_name(type); /* of the family of perf */
    if (name)
        return name;
    snprintf(buf, 24, "type %u", type);
    return buf;
}

/* Counts a finding and sets its rule, severity and flags.  Returns true if it must be passed to the
 * callback: the rule is selected, the severity is wanted, and fewer than options.most findings of
 * the rule were reported. */
static bool count_finding(pf_check *c, unsigned rule, unsigned level, perfile_finding *f)
{
    const perfile_rule *row = pf_rule_of(rule);
    bool lesser = level == PF_LESSER && row->lesser;
    f->severity = lesser ? row->lesser : row->severity;
    f->flags = c->found.flags;
    c->found.flags = 0;
    c->found.n[rule][lesser]++; /* also for rules that are off: version.c needs them */
    if (c->found.off[rule] || f->severity < c->options.severity)
        return false;
    f->rule = rule;
    pf_check_tally *t = &c->found.tally[rule][lesser];
    if (t->count++ == 0) {
        t->first = f->offset;
        t->first_part = f->part;
    }
    t->last = f->offset;
    t->last_part = f->part;
    return c->options.finding && (c->options.most == 0 || t->count <= c->options.most);
}

/* Formats the message, cut to MESSAGE bytes, and calls the callback. */
static __attribute__((format(printf, 3, 0))) void deliver(pf_check *c, perfile_finding *f,
                                                          const char *format, va_list args)
{
    char message[MESSAGE];
    vsnprintf(message, sizeof message, format, args);
    f->message = message;
    c->options.finding(c->options.user, f);
}

/* Returns a finding without a subject, at a file offset. */
static perfile_finding new_finding(const char *field, uint64_t offset)
{
    return (perfile_finding){.event = UINT32_MAX,
                             .type = UINT32_MAX,
                             .feature = UINT32_MAX,
                             .offset = offset,
                             .stream_offset = PERFILE_NO_OFFSET,
                             .sequence = PERFILE_NO_SEQUENCE,
                             .field = field};
}

void pf_report(pf_check *c, unsigned rule, unsigned level, const perfile_record *r,
               const char *field, const char *format, ...)
{
    perfile_finding f = new_finding(field, r->offset);
    f.part = r->part;
    if (!count_finding(c, rule, level, &f))
        return;
    /* Of the records of tools, only STAT belongs to an event. */
    const perfile_event *e = perfile_record_event(r);
    f.event = e && (r->type < PERFILE_RECORD_USER || r->type == PERFILE_RECORD_STAT) ? e->index
                                                                                     : UINT32_MAX;
    f.type = r->family != PERFILE_FAMILY_DAMAGE ? r->type : UINT32_MAX;
    f.family = r->family;
    f.sequence = r->sequence;
    if (r->flags & PERFILE_REC_INNER)
        f.stream_offset = r->stream_offset;
    va_list args;
    va_start(args, format);
    deliver(c, &f, format, args);
    va_end(args);
}

void pf_report_event(pf_check *c, unsigned rule, unsigned level, const perfile_event *e,
                     const char *field, const char *format, ...)
{
    perfile_finding f = new_finding(field, e->offset);
    f.event = e->index;
    if (!count_finding(c, rule, level, &f))
        return;
    va_list args;
    va_start(args, format);
    deliver(c, &f, format, args);
    va_end(args);
}

void pf_report_feature(pf_check *c, unsigned rule, unsigned level, const perfile_feature *feature,
                       const char *field, const char *format, ...)
{
    perfile_finding f = new_finding(field, feature->offset);
    f.feature = feature->number;
    if (!count_finding(c, rule, level, &f))
        return;
    va_list args;
    va_start(args, format);
    deliver(c, &f, format, args);
    va_end(args);
}

void pf_report_offset(pf_check *c, unsigned rule, unsigned level, uint64_t offset,
                      const char *field, const char *format, ...)
{
    perfile_finding f = new_finding(field, offset);
    if (!count_finding(c, rule, level, &f))
        return;
    va_list args;
    va_start(args, format);
    deliver(c, &f, format, args);
    va_end(args);
}

/* The rules as data: the tables made from format/rules.def, the public functions that list rules,
 * and the selection of rules by id. */

/* The words of the columns `severity`, `lesser` and `where`. */
enum {
    SEVERITY_none = PERFILE_SEVERITY_NONE,
    SEVERITY_note = PERFILE_SEVERITY_NOTE,
    SEVERITY_warning = PERFILE_SEVERITY_WARNING,
    SEVERITY_error = PERFILE_SEVERITY_ERROR,
    WHERE_container = PERFILE_RULE_SCOPE_CONTAINER,
    WHERE_attr = PERFILE_RULE_SCOPE_ATTR,
    WHERE_record = PERFILE_RULE_SCOPE_RECORD,
    WHERE_sample = PERFILE_RULE_SCOPE_SAMPLE,
    WHERE_feature = PERFILE_RULE_SCOPE_FEATURE,
    WHERE_stream = PERFILE_RULE_SCOPE_STREAM,
    WHERE_archive = PERFILE_RULE_SCOPE_ARCHIVE
};

enum {
#define RULE(id, name, severity, lesser, where, sentence, why, effect) POSITION_##id,
#include "format/rules.def"
    N_RULES
};

/* Index of a rule's row plus 1, by the number of the rule; 0: no rule has the number. */
static const uint8_t positions[PERFILE_RULE_LIMIT] = {
#define RULE(id, name, severity, lesser, where, sentence, why, effect)                             \
    [PERFILE_RULE_##id] = POSITION_##id + 1,
#include "format/rules.def"
};

/* In the order of rules.def. */
static const perfile_rule rules[N_RULES] = {
#define RULE(id, name, severity, lesser, where, sentence, why, effect)                             \
    {PERFILE_RULE_##id,                                                                            \
     name,                                                                                         \
     SEVERITY_##severity,                                                                          \
     SEVERITY_##lesser,                                                                            \
     WHERE_##where,                                                                                \
     sentence,                                                                                     \
     why,                                                                                          \
     effect},
#include "format/rules.def"
};

/* The first entries are kinds of damage found when single records and features are decoded; MEETS
 * has the rest. */
const uint16_t pf_rule_of_damage[PERFILE_N_DAMAGES] = {
    [PERFILE_DAMAGE_NONE] = PERFILE_RULE_V_206,
    [PERFILE_DAMAGE_SHORT_BODY] = PERFILE_RULE_V_206,
    [PERFILE_DAMAGE_UNKNOWN_ID] = PERFILE_RULE_V_210,
    [PERFILE_DAMAGE_NO_ATTR] = PERFILE_RULE_V_502,
    [PERFILE_DAMAGE_BAD_VERSION] = PERFILE_RULE_V_601,
    [PERFILE_DAMAGE_BAD_LONG_SIZE] = PERFILE_RULE_V_601,
#define MEETS(damage, rule) [PERFILE_DAMAGE_##damage] = PERFILE_RULE_##rule,
#include "format/rules.def"
};

/* From the BREAKS rows; V-206 (no room for its fields) for all other types. */
unsigned pf_rule_of_type(uint32_t type)
{
    switch (type) {
#define BREAKS(type, rule)                                                                         \
    case PERFILE_RECORD_##type:                                                                    \
        return PERFILE_RULE_##rule;
#include "format/rules.def"
    default:
        return PERFILE_RULE_V_206;
    }
}

/* From the BREAKS_FEATURE rows; V-601 (cannot be decoded) for all other features. */
unsigned pf_rule_of_feature(uint32_t number)
{
    switch (number) {
#define BREAKS_FEATURE(number, rule)                                                               \
    case PERFILE_FEATURE_##number:                                                                 \
        return PERFILE_RULE_##rule;
#include "format/rules.def"
    default:
        return PERFILE_RULE_V_601;
    }
}

unsigned pf_misc_known(uint32_t type)
{
    static const struct {
        uint32_t type;
        unsigned bit;
    } rows[] = {
#define MISC(type, bit, word, set, clear) {PERFILE_RECORD_##type, PERFILE_MISC_##bit},
#include "format/misc.def"
    };
    unsigned known = PERFILE_MISC_CPUMODE_MASK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        known |= rows[i].type == type ? rows[i].bit : 0;
    return known;
}

const bool pf_odd_size[PF_CHECK_TYPES] = {
#define ODD(type) [PERFILE_RECORD_##type] = true,
#include "format/rules.def"
};

const perfile_rule *pf_rule_at(size_t position)
{
    return position < N_RULES ? &rules[position] : NULL;
}

const perfile_rule *pf_rule_of(uint32_t number)
{
    unsigned position = number < PERFILE_RULE_LIMIT ? positions[number] : 0;
    return position ? &rules[position - 1] : NULL;
}

/* Ids are compared ignoring case. */
const perfile_rule *pf_rule_find(const char *id)
{
    size_t i = 0;
    while (i < N_RULES && strcasecmp(rules[i].id, id) != 0)
        i++;
    return pf_rule_at(i);
}

const char *pf_severity_name(unsigned severity)
{
    static const char *const names[] = {"none", "note", "warning", "error"};
    return severity < sizeof names / sizeof names[0] ? names[severity] : "";
}

const char *pf_rule_scope_name(unsigned where)
{
    static const char *const names[] = {"container", "attr",   "record", "sample",
                                        "feature",   "stream", "archive"};
    return where < sizeof names / sizeof names[0] ? names[where] : "";
}

perfile_status pf_rules_select(const char *list, bool *chosen, const char *option,
                               perfile_error *err)
{
    memset(chosen, 0, PERFILE_RULE_LIMIT * sizeof *chosen);
    while (*list) {
        size_t n = strcspn(list, ",");
        bool any = false; /* some rule begins with this item; an empty item chooses none */
        for (size_t i = 0; n && i < N_RULES; i++)
            if (strncasecmp(rules[i].id, list, n) == 0)
                chosen[rules[i].number] = any = true;
        if (!any)
            return pf_fail(err, PERFILE_E_USAGE, option, "there is no rule '%.*s'",
                           (int)(n < 64 ? n : 64), list);
        list += n;
        list += *list == ',';
    }
    return PERFILE_OK;
}
