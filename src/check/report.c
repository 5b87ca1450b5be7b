/* How a finding is counted and told. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check/ahead.h"

enum { MESSAGE = 512 };

const char *pf_check_type_name(uint32_t type, char buf[24])
{
    const char *name = perfile_record_type_name(type); /* of perf's own family */
    if (name)
        return name;
    snprintf(buf, 24, "type %u", type);
    return buf;
}

/* Whether the finding is to be told; counts it. */
static bool count(pf_check *c, unsigned rule, unsigned level, perfile_finding *f)
{
    if (c->block) {
        c->block->unclean = true;
        return false;
    }
    const perfile_rule *row = perfile_rule_of(rule);
    bool milder = level == PF_LESSER && row->lesser;
    f->severity = milder ? row->lesser : row->severity;
    f->flags = c->flags;
    c->flags = 0;
    c->met[rule][milder]++;
    if (c->off[rule] || f->severity < c->options.severity)
        return false;
    f->rule = rule;
    pf_check_tally *t = &c->tally[rule][milder];
    if (t->count++ == 0) {
        t->first = f->offset;
        t->first_part = f->part;
    }
    t->last = f->offset;
    t->last_part = f->part;
    return c->options.finding && (c->options.most == 0 || t->count <= c->options.most);
}

static __attribute__((format(printf, 3, 0))) void tell(pf_check *c, perfile_finding *f,
                                                       const char *format, va_list args)
{
    char message[MESSAGE];
    vsnprintf(message, sizeof message, format, args);
    f->message = message;
    c->options.finding(c->options.user, f);
}

static perfile_finding about(const char *field, uint64_t offset)
{
    return (perfile_finding){.event = UINT32_MAX,
                             .type = UINT32_MAX,
                             .feature = UINT32_MAX,
                             .offset = offset,
                             .stream_offset = PERFILE_NO_OFFSET,
                             .sequence = PERFILE_NO_SEQUENCE,
                             .field = field};
}

void pf_find(pf_check *c, unsigned rule, unsigned level, const perfile_record *r, const char *field,
             const char *format, ...)
{
    perfile_finding f = about(field, r->offset);
    f.part = r->part;
    if (!count(c, rule, level, &f))
        return;
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
    tell(c, &f, format, args);
    va_end(args);
}

void pf_find_event(pf_check *c, unsigned rule, unsigned level, const perfile_event *e,
                   const char *field, const char *format, ...)
{
    perfile_finding f = about(field, e->offset);
    f.event = e->index;
    if (!count(c, rule, level, &f))
        return;
    va_list args;
    va_start(args, format);
    tell(c, &f, format, args);
    va_end(args);
}

void pf_find_feature(pf_check *c, unsigned rule, unsigned level, const perfile_feature *feature,
                     const char *field, const char *format, ...)
{
    perfile_finding f = about(field, feature->offset);
    f.feature = feature->number;
    if (!count(c, rule, level, &f))
        return;
    va_list args;
    va_start(args, format);
    tell(c, &f, format, args);
    va_end(args);
}

void pf_find_place(pf_check *c, unsigned rule, unsigned level, uint64_t offset, const char *field,
                   const char *format, ...)
{
    perfile_finding f = about(field, offset);
    if (!count(c, rule, level, &f))
        return;
    va_list args;
    va_start(args, format);
    tell(c, &f, format, args);
    va_end(args);
}
