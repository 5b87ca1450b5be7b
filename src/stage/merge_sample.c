/* The usual sample, of which nothing but words of fixed place changes. */
#include <string.h>

#include "base/order.h"
#include "core/layout.h"
#include "stage/merge.h"

enum { HEADER = 8, SIZE_AT = 6, LARGE = 1024 };

/* The number of an id in the output, when it was asked for lately; false: it has to be looked for.
 */
static inline bool known_id(pf_merge_input *in, uint64_t id, uint64_t *new_id)
{
    pf_merge_known *slot = &in->known[id % PF_MERGE_KNOWN];
    if (slot->new_id && slot->id == id) {
        *new_id = slot->new_id;
        return true;
    }
    if (!id || !pf_merge_find_id(in, id, new_id))
        return false;
    *slot = (pf_merge_known){id, *new_id};
    return true;
}

/* What comes in as IDENTIFIER: what ID says, or the only event. */
static bool id_to_add(const pf_merge *x, pf_merge_input *in, const perfile_record *r, uint64_t *id)
{
    const perfile_layout *from = &in->plans[0].relayout.from;
    const int slot = from->sample_slot[PF_SLOT_ID];
    *id = 0;
    if (!x->adds_ids || from->sample_slot[PF_SLOT_IDENTIFIER] >= 0)
        return true;
    if (slot >= 0)
        return known_id(
            in, pf_load_u64(r->body.ptr + 8 * (size_t)slot, r->flags & PERFILE_REC_SWAPPED), id);
    *id = in->events[0].first_id;
    return in->n_events == 1;
}

/* `v` at `at` becomes what it is in the output; false: not here. */
static inline bool patch(pf_merge_input *in, const pf_merge_patch *p, uint64_t v, uint8_t *at,
                         bool swap)
{
    uint64_t out;
    if (p->rule == PF_MERGE_TIME) {
        /* Times near the ends of the clock are for those who can say so. */
        const uint64_t far = UINT64_C(1) << 62;
        out = v + in->offset;
        if (v == 0 || v >= far || out == 0 || out >= far)
            return false;
    } else if (p->rule == PF_MERGE_TASK ||
               (!known_id(in, v, &out) &&
                (p->rule != PF_MERGE_STREAM || !pf_merge_find_stream(in, v, &out)))) {
        return false;
    }
    if (out != v)
        pf_store_u64(at, out, swap);
    return true;
}

/* Whether the sample says an id that stays what it is. */
static bool stays(const pf_merge *x, pf_merge_input *in, const perfile_record *r)
{
    uint64_t id;
    int slot = pf_layout_sample_id(&in->plans[0].relayout.from);
    return slot < 0 ? !x->adds_ids
                    : known_id(in,
                               pf_load_u64(r->body.ptr + 8 * (size_t)slot,
                                           r->flags & PERFILE_REC_SWAPPED),
                               &id);
}

static inline void copy_16(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 16);
}

/* Of few bytes: less than what a call of memcpy() costs.  Pieces may overlap. */
static inline void copy(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n < 32 || n > 128) {
        memcpy(to, from, n);
        return;
    }
    for (size_t at = 16; at < n - 32; at += 32) {
        copy_16(to + at, from + at);
        copy_16(to + at + 16, from + at + 16);
    }
    copy_16(to, from);
    copy_16(to + n - 32, from + n - 32);
    copy_16(to + n - 16, from + n - 16);
}

/* Writes `r` in its new layout; returns its bytes, 0: not here. */
static inline size_t put(const pf_relayout *plan, const perfile_record *r, uint64_t id, uint8_t *to)
{
    size_t n = HEADER + r->body.len;
    if (plan->front.same) {
        copy(to, r->header, n);
        return n;
    }
    if (plan->front.adds_first && plan->same_rest && n + sizeof id <= UINT16_MAX) {
        const bool swap = r->flags & PERFILE_REC_SWAPPED;
        memcpy(to, r->header, HEADER);
        pf_store_u16(to + SIZE_AT, (uint16_t)(n + sizeof id), swap);
        pf_store_u64(to + HEADER, id, swap);
        copy(to + HEADER + sizeof id, r->body.ptr, r->body.len);
        return n + sizeof id;
    }
    return pf_relayout_record(plan, r, id, to, &n, NULL) == PERFILE_OK ? n : 0;
}

bool pf_merge_sample(pf_merge *x, pf_merge_input *in, const perfile_record *r, perfile_record *out)
{
    const pf_merge_plan *p = in->plans;
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    if (!in->quick || !pf_merge_is_usual(r) || r->body.len < 8 * (size_t)p->relayout.front.old)
        return false;
    out->misc = r->misc;
    out->flags = r->flags;
    out->offset = r->offset;
    out->part = in->at;
    uint64_t id;
    uint8_t *to = x->bytes.ptr + x->bytes.len;
    size_t n = HEADER + r->body.len;
    if (in->plain) {
        if (!stays(x, in, r))
            return false;
        if (n >= LARGE) {
            out->header = r->header;
            out->body = r->body;
            return true;
        }
        copy(to, r->header, n); /* cheaper than to write it alone */
    } else if (!id_to_add(x, in, r, &id) || (n = put(&p->relayout, r, id, to)) == 0) {
        return false;
    }
    /* Read where nothing was just written. */
    const bool adds = !p->relayout.front.same;
    const unsigned n_patches = in->plain ? 0 : p->n_sample;
    const uint8_t *words = (adds ? to : r->header) + HEADER;
    for (unsigned i = adds; i < n_patches; i++) {
        const size_t at = 8 * (size_t)p->sample[i].slot;
        if (!patch(in, &p->sample[i], pf_load_u64(words + at, swap), to + HEADER + at, swap))
            return false;
    }
    out->header = to;
    out->body = (perfile_bytes){to + HEADER, n - HEADER};
    out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    x->bytes.len += n;
    return true;
}
