/* The attr of an event as it stands in the output: with IDENTIFIER and sample_id_all where the
 * output needs them, with the clock of the output where times were moved to it, and as short as
 * the attrs of the oldest perf among the inputs. Fields are found by walking the attr, by their
 * kinds. */
#include "merge/attr.h"

#include "base/error.h"
#include "base/byte_order.h"
#include "core/layout.h"
#include "perfile/field.h"
#include "schema/types.h"
#include "schema/attr_places.h"

/* An attr that is being rewritten. */
typedef struct rewriting {
    const pf_merge_attrs *m;
    uint8_t *out;    /* the attr; the walk reads a copy of it */
    bool take_clock; /* times of the input were moved to another clock */
} rewriting;

/* Visitor: changes a field in place. Bit fields of an attr from a machine of the other byte order
 * are mirrored too (pf_bit_fields_from_little()). */
static void on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    const rewriting *w = user;
    const pf_merge_attrs *m = w->m;
    uint64_t n = v->number;
    switch (f->kind) {
    case PERFILE_KIND_SAMPLE_TYPE:
        n |= m->x->adds_ids ? PERFILE_SAMPLE_IDENTIFIER : 0;
        break;
    case PERFILE_KIND_ATTR_FLAGS:
        /* Every event has trailers if one has, so that the output can be read as a whole. */
        n |= (uint64_t)m->x->sample_id_all << PERFILE_ATTR_BIT_SAMPLE_ID_ALL;
        if (w->take_clock) {
            n &= ~(UINT64_C(1) << PERFILE_ATTR_BIT_USE_CLOCKID);
            n |= (uint64_t)m->use_clockid << PERFILE_ATTR_BIT_USE_CLOCKID;
        }
        break;
    case PERFILE_KIND_EVENT_CLOCKID:
        if (w->take_clock)
            pf_store_u32(w->out + v->offset, (uint32_t)m->clockid, m->swapped);
        return;
    default:
        return;
    }
    if (v->width == 8)
        pf_store_u64(w->out + v->offset, pf_bit_fields_from_little(n, f->kind, m->swapped),
                     m->swapped);
}

static void on_group(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void on_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* Returns the length of attr that every input knew: the least of the longest attr of each.
 * SIZE_MAX if that is no possible length, and nothing is cut. */
static size_t common_size(const pf_merge *x)
{
    size_t common = SIZE_MAX;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        const pf_merge_input *in = &x->inputs[i];
        size_t longest = 0;
        for (uint32_t k = 0; k < in->n_events; k++) {
            size_t len = perfile_session_event(in->session, k)->stored.len;
            longest = len > longest ? len : longest;
        }
        common = in->n_events && longest < common ? longest : common;
    }
    return common >= PF_ATTR_LEAST && common % 8 == 0 ? common : SIZE_MAX;
}

/* Cuts an attr to m->size if only zeros follow. Then the oldest perf among the inputs can read it,
 * and attrs that differ in trailing zeros only are equal and can be joined. */
static void cut_trailing_zeros(const pf_merge_attrs *m, pf_buffer *attr)
{
    size_t len = attr->len;
    while (len > m->size && attr->ptr[len - 1] == 0)
        len--;
    if (len > m->size || attr->len <= m->size)
        return;
    attr->len = m->size;
    pf_store_u32(attr->ptr + PF_ATTR_SIZE_AT, (uint32_t)m->size, m->swapped);
}

void pf_merge_attrs_begin(pf_merge_attrs *m, const pf_merge *x)
{
    perfile_clock clock;
    perfile_session_clock(x->inputs[x->clock_input].session, &clock);
    *m = (pf_merge_attrs){.x = x,
                          .size = common_size(x),
                          .swapped = perfile_session_swapped(x->base.session),
                          .use_clockid = clock.known,
                          .clockid = clock.known ? clock.clockid : 0};
}

perfile_status pf_merge_attr(const pf_merge_attrs *m, const pf_merge_input *in,
                             const perfile_event *e, pf_buffer *out, perfile_error *err)
{
    /* Length of an attr up to and including clockid (PERF_ATTR_SIZE_VER4). */
    enum { WITH_CLOCKID = 96 };
    static const perfile_visitor visitor = {sizeof visitor, on_value, on_group, on_end};
    static const uint8_t zeros[WITH_CLOCKID];
    /* Inputs that were moved to the clock of the output say so in their attrs. */
    bool take_clock = in->clock_reason == PERFILE_MERGE_CLOCK_WALL ||
                      in->clock_reason == PERFILE_MERGE_CLOCK_GIVEN ||
                      in->clock_reason == PERFILE_MERGE_CLOCK_ALIGNED;
    size_t len = e->stored.len;
    pf_buffer_clear(out);
    if (!pf_buffer_append(out, e->stored.ptr, len))
        return pf_fail_nomem(err, "merge");
    /* An old attr has no room for clockid: it is made longer, with zeros between. */
    if (take_clock && m->use_clockid && len < WITH_CLOCKID) {
        if (!pf_buffer_append(out, zeros, WITH_CLOCKID - len))
            return pf_fail_nomem(err, "merge");
        pf_store_u32(out->ptr + PF_ATTR_SIZE_AT, WITH_CLOCKID, m->swapped);
    }
    rewriting w = {m, out->ptr, take_clock};
    const perfile_bytes attr = {out->ptr, out->len};
    pf_buffer copy = {0}; /* the walk must not see its own changes */
    if (!pf_buffer_append(&copy, attr.ptr, attr.len))
        return pf_fail_nomem(err, "merge");
    /* An attr that cannot be walked to its end keeps the rest of its fields. */
    (void)perfile_attr_walk((perfile_bytes){copy.ptr, copy.len}, m->swapped, PERFILE_WALK_ALL,
                            &visitor, &w, NULL);
    pf_buffer_free(&copy);
    cut_trailing_zeros(m, out);
    return PERFILE_OK;
}
