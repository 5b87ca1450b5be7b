/* Findings: how they are counted and reported.
 *
 * All findings of all rules come through the four pf_report functions here.  Each fills a
 * perfile_finding with the subject (record, event, feature or file offset); count_finding() decides
 * whether the caller wants it.  The message is formatted only then, so that a capture with millions
 * of findings costs no time for texts that nobody reads. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check/check.h"

enum { MESSAGE = 512 };

const char *pf_check_type_name(uint32_t type, char buf[24])
{
    const char *name = perfile_record_type_name(type); /* of perf's own family */
    if (name)
        return name;
    snprintf(buf, 24, "type %u", type);
    return buf;
}

/* Counts a finding and sets its rule, severity and flags.  Returns true if it is to be passed to
 * the callback: the rule is selected, the severity is wanted, and options.most findings of the rule
 * have not been reported yet. */
static bool count_finding(pf_check *c, unsigned rule, unsigned level, perfile_finding *f)
{
    const perfile_rule *row = perfile_rule_of(rule);
    bool lesser = level == PF_LESSER && row->lesser;
    f->severity = lesser ? row->lesser : row->severity;
    f->flags = c->flags;
    c->flags = 0;
    c->n_findings[rule][lesser]++; /* also of rules that are off: version.c needs them */
    if (c->off[rule] || f->severity < c->options.severity)
        return false;
    f->rule = rule;
    pf_check_tally *t = &c->tally[rule][lesser];
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

/* A finding without a subject, at a file offset. */
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
    /* Of the tools' records only STAT belongs to an event. */
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
