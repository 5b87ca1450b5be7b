/* Resynchronisation: finding the next records behind bytes that are no records.
 *
 * Every byte is a candidate: damage may shift records to any alignment.  Nearly all candidates fail
 * the cheap test of the header; the others must begin a chain of records that are examined closely.
 * A budget bounds that examination, so that no input makes the search slower than linear. */
#include "perf/salvage.h"

#include "perf/record_fit.h"
#include "core/sample_shape.h"
#include "core/attribution.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "schema/family.h"

enum {
    CHAIN = 4,  /* plausible records in a row; fewer are accepted only at the end of the bytes */
    CREDIT = 32 /* budget gained per byte skipped; a close examination costs 16 or more */
};

/* True if nothing is odd about `r`.  Charges fit->budget in proportion to the work; false when the
 * budget is used up. */
static bool fits_closely(pf_record_fit *fit, const perfile_record *r)
{
    if (fit->budget <= 0)
        return false;
    fit->budget -= 16 + (r->body.len < 4096 ? (int64_t)r->body.len : 4096) / 16;
    return pf_record_fit_closely(fit, r) == 0;
}

bool pf_perf_is_chain(pf_record_fit *fit, perfile_bytes bytes, size_t upto, unsigned least)
{
    const uint8_t *at = bytes.ptr;
    const uint8_t *end = at + bytes.len;
    unsigned n = 0;
    for (; (n < CHAIN || (size_t)(at - bytes.ptr) < upto) && at < end; n++) {
        size_t left = (size_t)(end - at);
        if (!pf_perf_header_plausible(at, left, fit->swap))
            return false;
        perfile_record r;
        pf_frame f = pf_frame_at(at, fit->swap);
        uint64_t extra = pf_frame_extra(at, &f, fit->swap);
        if (extra > left - f.size)
            return false;
        pf_record_fit_fill(fit, at, &f, &r);
        if (fit->session && !fits_closely(fit, &r))
            return false;
        at += f.size + extra;
    }
    return n >= least;
}

/* True if the first `end` bytes of `record`, taken as a record of their own, fit: then a damaged
 * size has joined two records.  The rest must be more than a header, which alone proves nothing. */
static bool ends_at(const pf_record_fit *fit, perfile_bytes record, size_t end)
{
    perfile_record r;
    pf_frame f = pf_frame_at(record.ptr, fit->swap);
    if (end < PF_PERF_RECORD_HEADER || record.len - end <= PF_PERF_RECORD_HEADER)
        return false;
    f.size = (uint32_t)end;
    pf_record_fit_fill(fit, record.ptr, &f, &r);
    return pf_record_fit_record(&r) == 0 && pf_record_fit_closely(fit, &r) == 0;
}

bool pf_perf_may_be_newer(uint32_t type, size_t size)
{
    enum { NEWER = 256, SIMPLEPERF = 32768 };
    return size % 8 == 0 && (type < NEWER || type - SIMPLEPERF < NEWER);
}

bool pf_perf_swallows(pf_record_fit *fit, perfile_bytes record)
{
    fit->budget = (int64_t)record.len * 64 + 4096;
    for (size_t from = 1; from < record.len && fit->budget > 0; from++) {
        unsigned n = 0;
        size_t at = from;
        for (; n < CHAIN; n++) {
            perfile_record r;
            if (!pf_perf_header_plausible(record.ptr + at, record.len - at, fit->swap))
                break;
            pf_frame f = pf_frame_at(record.ptr + at, fit->swap);
            pf_record_fit_fill(fit, record.ptr + at, &f, &r);
            if (!fits_closely(fit, &r))
                break;
            at += f.size;
        }
        if (n == CHAIN || (n && at == record.len && ends_at(fit, record, from)))
            return true;
    }
    return false;
}

size_t pf_perf_resync(pf_record_fit *fit, perfile_bytes bytes, size_t from)
{
    /* A hostile file could begin a long plausible record at every byte; the budget bounds that. */
    fit->budget = (int64_t)1 << 20;
    for (size_t at = from; at < bytes.len; at++) {
        fit->budget += CREDIT;
        if (pf_perf_header_plausible(bytes.ptr + at, bytes.len - at, fit->swap) &&
            pf_perf_is_chain(fit, (perfile_bytes){bytes.ptr + at, bytes.len - at}, 0, 1))
            return at;
    }
    return bytes.len;
}

/* How well a record fits its capture: see record_fit.h for the idea.
 *
 * The tests, from cheap to expensive: the header (type, size), the shape of samples, a walk over
 * all fields (schema/walk.inc), values and times. */

enum {
    STRING_SLACK = 8, /* most bytes that a string has behind it: its NUL and padding to 8 */
    MOST_BEHIND =
        128, /* most bytes behind the last field: the trailer, and fields of newer kernels */
    MISC_UNUSED = 0x0ff8 /* misc bits 3 to 11, which no kernel sets */
};
#define NEAR_NS    UINT64_C(1000000000)
#define SPANS      16 /* multiples of the range of times seen that still count as near */
#define FORWARD_NS UINT64_C(86400000000000) /* a recording may be idle for a day */
#define MAX_CPUS   8192                     /* Linux: the greatest CONFIG_NR_CPUS */
#define MAX_PID    (1U << 22)               /* Linux: PID_MAX_LIMIT */

/* True if the fields of a sample of layout `l` fill it, with less than 8 bytes of padding. */
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

/* PF_ODD_ID or PF_ODD_BODY for a sample, 0 if it fits its event. */
static uint32_t sample_oddities(const perfile_record *r)
{
    uint32_t damage;
    const perfile_layout *l = pf_layout_of(r, &damage);
    if (!l)
        return PF_ODD_ID;
    return sample_fits(r, l) ? 0 : PF_ODD_BODY;
}

/* Result of the walk over the fields of a record. */
typedef struct walk_result {
    uint32_t odd; /* PF_ODD_… */
    bool kernel;  /* the record is the kernel's: its strings must end with NUL */
    uint64_t end; /* of the last field, counted from the header of the record */
} walk_result;

static bool printable(perfile_bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    return true;
}

/* Visitor: checks pids, processors and names.  A pid of UINT32_MAX or UINT32_MAX - 1 stands for "no
 * process".
 */
static void judge_field(void *user, const perfile_field *f, const perfile_value *v)
{
    walk_result *l = user;
    l->end = v->offset + v->width;
    switch (f->kind) {
    case PERFILE_KIND_PID:
    case PERFILE_KIND_TID:
        if (f->type == PERFILE_STORED_U32 && v->number > MAX_PID && v->number < UINT32_MAX - 1)
            l->odd |= PF_ODD_VALUE;
        break;
    case PERFILE_KIND_CPU:
        if (f->type == PERFILE_STORED_U32 && v->number >= MAX_CPUS && v->number != UINT32_MAX)
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
        if (l->kernel && v->width > v->u.bytes.len + STRING_SLACK)
            l->odd |= PF_ODD_SLACK;
        break;
    default:
        break;
    }
}

static void ignore_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* Decodes and walks the record; returns what is odd about its fields. */
static uint32_t content_oddities(const perfile_record *r)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = judge_field, .begin = ignore_begin, .end = ignore_end};
    perfile_error err;
    walk_result l = {.kernel = r->type < PERFILE_RECORD_USER};
    /* The content of SCHEDSTAT records depends on a version number inside them: only the fields
     * that the dump schema names are judged, newer ones may follow. */
    bool versions =
        r->type == PERFILE_RECORD_SCHEDSTAT_CPU || r->type == PERFILE_RECORD_SCHEDSTAT_DOMAIN;
    uint32_t how = versions ? PERFILE_WALK_CONTRACT : PERFILE_WALK_ALL;
    if (perfile_record_walk(r, how, &visitor, &l, &err) != PERFILE_OK)
        l.odd |= err.damage == PERFILE_DAMAGE_UNKNOWN_ID || err.damage == PERFILE_DAMAGE_NO_ATTR
                     ? PF_ODD_ID
                     : PF_ODD_BODY;
    else if (l.kernel && l.end && perfile_record_size(r) > l.end + MOST_BEHIND)
        l.odd |= PF_ODD_SLACK;
    return l.odd;
}

/* What is odd about type and size.  Sizes are checked for kernel records only: records of the tool
 * had shorter forms in older versions. */
static uint32_t header_oddities(const perfile_record *r)
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
    return header_oddities(r) == 0 && sample_oddities(r) == 0 && pf_attribution_of(r).event;
}

uint32_t pf_record_fit_record(const perfile_record *r)
{
    uint32_t odd = header_oddities(r);
    if (!odd)
        odd = r->type == PERFILE_RECORD_SAMPLE ? sample_oddities(r) : content_oddities(r);
    return odd & (PF_ODD_HARD | PF_ODD_SLACK);
}

bool pf_record_fit_near(const pf_record_fit *seen, uint64_t time)
{
    if (!seen->timed)
        return false;
    uint64_t span = seen->newest - seen->oldest;
    uint64_t reach = span < (UINT64_MAX - NEAR_NS) / SPANS ? NEAR_NS + SPANS * span : UINT64_MAX;
    if (time < seen->oldest)
        return seen->oldest - time <= reach;
    return time <= seen->newest || time - seen->newest <= reach;
}

bool pf_record_fit_time(const pf_record_fit *seen, uint64_t time)
{
    if (!seen->timed || pf_record_fit_near(seen, time))
        return true;
    return time > seen->newest && time - seen->newest <= FORWARD_NS;
}

/* Kernel records and HEADER_BUILD_ID have a cpumode and flags in misc; others must have 0. */
static uint32_t misc_oddities(const perfile_record *r)
{
    bool kernel = r->type < PERFILE_RECORD_USER;
    bool has_mode = kernel || r->type == PERFILE_RECORD_HEADER_BUILD_ID;
    bool odd = has_mode ? r->misc & MISC_UNUSED ||
                              (r->misc & PERFILE_MISC_CPUMODE_MASK) >= PERFILE_MISC_CPUMODE_KNOWN
                        : r->misc != 0;
    return odd ? PF_ODD_MISC : 0;
}

uint32_t pf_record_fit_closely(const pf_record_fit *fit, const perfile_record *r)
{
    uint32_t odd = header_oddities(r) | misc_oddities(r);
    if (odd)
        return odd;
    if (r->type == PERFILE_RECORD_SAMPLE)
        odd |= sample_oddities(r) | (pf_attribution_of(r).event ? 0U : (uint32_t)PF_ODD_ID);
    odd |= content_oddities(r);
    uint64_t time = perfile_record_time(r);
    if (time != PERFILE_NO_TIME && time != 0 && !pf_record_fit_time(fit, time))
        odd |= PF_ODD_TIME;
    return odd;
}
