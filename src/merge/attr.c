#include "merge/attr.h"

#include "base/error.h"
#include "base/byte_order.h"
#include "core/layout.h"
#include "perfile/field.h"
#include "schema/types.h"
#include "schema/attr_places.h"

/* An attr on its way. */
typedef struct rewriting {
    const pf_merge_attrs *m;
    uint8_t *out;
    bool take_clock;
} rewriting;

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
        pf_store_u64(w->out + v->offset, pf_remirror(n, f->kind, m->swapped), m->swapped);
}

static void on_group(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void on_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* So much of an attr did every input know, if it is as long as attrs are. */
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

/* Where inputs are of several versions of perf, the oldest can read the events, and events are
 * equal that only say more or less zeros. */
static void cut(const pf_merge_attrs *m, pf_buffer *attr)
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
    perfile_session_clock(x->inputs[x->clock_of].session, &clock);
    *m = (pf_merge_attrs){.x = x,
                          .size = common_size(x),
                          .swapped = perfile_session_swapped(x->base.session),
                          .use_clockid = clock.known,
                          .clockid = clock.known ? clock.clockid : 0};
}

perfile_status pf_merge_attr(const pf_merge_attrs *m, const pf_merge_input *in,
                             const perfile_event *e, pf_buffer *out, perfile_error *err)
{
    enum { WITH_CLOCKID = 96 };
    static const perfile_visitor visitor = {sizeof visitor, on_value, on_group, on_end};
    static const uint8_t zeros[WITH_CLOCKID];
    bool take_clock = in->why == PERFILE_MERGE_CLOCK_WALL || in->why == PERFILE_MERGE_CLOCK_GIVEN ||
                      in->why == PERFILE_MERGE_CLOCK_ALIGNED;
    size_t len = e->stored.len;
    pf_buffer_clear(out);
    if (!pf_buffer_append(out, e->stored.ptr, len))
        return pf_fail_nomem(err, "merge");
    if (take_clock && m->use_clockid && len < WITH_CLOCKID) {
        if (!pf_buffer_append(out, zeros, WITH_CLOCKID - len))
            return pf_fail_nomem(err, "merge");
        pf_store_u32(out->ptr + PF_ATTR_SIZE_AT, WITH_CLOCKID, m->swapped);
    }
    rewriting w = {m, out->ptr, take_clock};
    const perfile_bytes attr = {out->ptr, out->len};
    pf_buffer copy = {0}; /* what is walked must not change under it */
    if (!pf_buffer_append(&copy, attr.ptr, attr.len))
        return pf_fail_nomem(err, "merge");
    /* One that cannot be read stays as it is. */
    (void)perfile_attr_walk((perfile_bytes){copy.ptr, copy.len}, m->swapped, PERFILE_WALK_ALL,
                            &visitor, &w, NULL);
    pf_buffer_free(&copy);
    cut(m, out);
    return PERFILE_OK;
}
