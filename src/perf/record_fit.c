#include "perf/record_fit.h"

#include "core/sample_shape.h"
#include "core/attribution.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "schema/family.h"

enum {
    STRING_ROOM = 8,     /* its NUL and padding */
    MISC_UNUSED = 0x0ff8 /* of kernel records */
};
#define SLACK_NS   UINT64_C(100000000) /* buffers of processors are written one after the other */
#define FORWARD_NS UINT64_C(86400000000000) /* a recording may be idle for a day */
#define MOST_PID   (1U << 22)               /* Linux: PID_MAX_LIMIT */

/* Whether the fields of a sample fill it. */
static bool sample_fits(const perfile_record *r, const perfile_layout *l)
{
    perfile_bytes raw;
    pf_sample_shape shape = pf_sample_shape_of(l->sample_type);
    if (shape.known)
        return pf_sample_shape_fits(&shape, r->body.ptr, r->body.len,
                                    r->flags & PERFILE_REC_SWAPPED, &raw);
    perfile_sample s;
    if (perfile_sample_decode(r, &s, sizeof s, NULL) != PERFILE_OK)
        return false;
    if (s.present & PERFILE_SAMPLE_STACK_USER && s.stack_user.dyn_size > s.stack_user.size)
        return false; /* perf refuses the whole file */
    return !s.has_extra || s.extra.len < 8;
}

static uint32_t vet_sample(const perfile_record *r)
{
    uint32_t damage;
    const perfile_layout *l = pf_layout_of(r, &damage);
    if (!l)
        return PF_ODD_ID;
    return sample_fits(r, l) ? 0 : PF_ODD_BODY;
}

typedef struct looks {
    uint32_t odd;
    bool kernel;
} looks;

static bool printable(perfile_bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    return true;
}

static void look_at(void *user, const perfile_field *f, const perfile_value *v)
{
    looks *l = user;
    switch (f->kind) {
    case PERFILE_KIND_PID:
    case PERFILE_KIND_TID:
        if (f->type == PERFILE_STORED_U32 && v->number > MOST_PID && v->number < UINT32_MAX - 1)
            l->odd |= PF_ODD_VALUE;
        break;
    case PERFILE_KIND_PATH:
    case PERFILE_KIND_COMM:
        if (f->type != PERFILE_STORED_TEXT)
            break;
        if (!printable(v->u.bytes))
            l->odd |= PF_ODD_VALUE;
        if (l->kernel && v->width && v->u.bytes.len == v->width)
            l->odd |= PF_ODD_BODY; /* no NUL */
        if (l->kernel && v->width > v->u.bytes.len + STRING_ROOM)
            l->odd |= PF_ODD_SLACK;
        break;
    default:
        break;
    }
}

static void enter(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void leave(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static uint32_t walk(const perfile_record *r)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = look_at, .begin = enter, .end = leave};
    perfile_error err;
    looks l = {.kernel = r->type < PERFILE_RECORD_USER};
    /* Their content changes with their version: what is not known of it is not judged. */
    bool versions =
        r->type == PERFILE_RECORD_SCHEDSTAT_CPU || r->type == PERFILE_RECORD_SCHEDSTAT_DOMAIN;
    uint32_t how = versions ? PERFILE_WALK_CONTRACT : PERFILE_WALK_ALL;
    if (perfile_record_walk(r, how, &visitor, &l, &err) != PERFILE_OK)
        l.odd |= err.damage == PERFILE_DAMAGE_UNKNOWN_ID || err.damage == PERFILE_DAMAGE_NO_ATTR
                     ? PF_ODD_ID
                     : PF_ODD_BODY;
    return l.odd;
}

/* What the header alone says.  The rows of tools' records have had shorter forms. */
static uint32_t vet_frame(const perfile_record *r)
{
    const pf_row *row = pf_row_of(r);
    if (!row)
        return r->type ? PF_ODD_TYPE : PF_ODD_TYPE | PF_ODD_SIZE;
    if (r->type < PERFILE_RECORD_USER && (r->body.len < row->fixed || r->body.len % 8))
        return PF_ODD_SIZE;
    return 0;
}

bool pf_record_fit_sample(const perfile_record *r)
{
    return vet_frame(r) == 0 && vet_sample(r) == 0 && pf_attribution_of(r).event;
}

uint32_t pf_record_fit_record(const perfile_record *r)
{
    uint32_t odd = vet_frame(r);
    if (!odd)
        odd = r->type == PERFILE_RECORD_SAMPLE ? vet_sample(r) : walk(r);
    return odd & (PF_ODD_HARD | PF_ODD_SLACK);
}

bool pf_record_fit_time(const pf_record_fit *v, uint64_t time, uint64_t after)
{
    uint64_t slack = SLACK_NS + (v->back < FORWARD_NS ? 2 * v->back : 0);
    if (v->timed && (time + slack < v->newest || time - v->newest + slack > FORWARD_NS))
        return false;
    return after == PERFILE_NO_TIME || time <= after || time - after <= slack;
}

static uint32_t vet_misc(const perfile_record *r)
{
    bool kernel = r->type < PERFILE_RECORD_USER;
    bool has_mode = kernel || r->type == PERFILE_RECORD_HEADER_BUILD_ID;
    bool odd = has_mode ? r->misc & MISC_UNUSED ||
                              (r->misc & PERFILE_MISC_CPUMODE_MASK) >= PERFILE_CPUMODE_KNOWN
                        : r->misc != 0;
    return odd ? PF_ODD_MISC : 0;
}

uint32_t pf_record_fit_closely(const pf_record_fit *v, const perfile_record *r)
{
    uint32_t odd = vet_frame(r) | vet_misc(r);
    if (odd)
        return odd;
    if (r->type == PERFILE_RECORD_SAMPLE)
        odd |= vet_sample(r) | (pf_attribution_of(r).event ? 0U : (uint32_t)PF_ODD_ID);
    odd |= walk(r) & ~(uint32_t)PF_ODD_SLACK;
    uint64_t time = perfile_record_time(r);
    if (time != PERFILE_NO_TIME && time != 0 && !pf_record_fit_time(v, time, PERFILE_NO_TIME))
        odd |= PF_ODD_TIME;
    return odd;
}
