/* Rewrites one record for the version: depending on its type it is dropped, forwarded as stored, or
 * rewritten.
 *
 * Samples and READ records of events with a changed layout, and trailers of other kernel records,
 * go through the event's plan (target_plan.c, transform/relayout.h).  Some records are rewritten
 * twice: an MMAP2 first loses its build id, then its trailer gets the new layout.  Each step writes
 * another copy to t->bytes, for which pf_target_room_for() reserves space.  A record that must
 * change but cannot be read is dropped and counted, because its old bytes would be misread in the
 * new layout. */
#include "base/error.h"
#include "core/layout.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "transform/target.h"

static bool is_swapped(const perfile_record *r)
{
    return r->flags & PERFILE_REC_SWAPPED;
}

/* The parts are a copy with converted weight, the record in its new layout, and a HEADER_BUILD_ID
 * before it; or a list of CPUs, which may have any size. */
size_t pf_target_room_for(const perfile_record *r)
{
    size_t n = perfile_record_size(r);
    if (r->type == PERFILE_RECORD_CPU_MAP || r->type == PERFILE_RECORD_EVENT_UPDATE)
        return UINT16_MAX;
    return n > UINT16_MAX ? 0 : 3 * n + 2 * (size_t)PF_TARGET_ATTR;
}

/* Drops the record and counts the loss. */
static unsigned drop(pf_target *t, const perfile_record *r, unsigned kind, uint32_t key)
{
    pf_target_count_loss(t, kind, key, r->offset);
    t->sum.dropped++;
    return PF_DROP;
}

/* Returns true for records with fields other than a trailer that depend on sample_type or
 * read_format. */
static bool has_event_fields(uint32_t type)
{
    return type == PERFILE_RECORD_SAMPLE || type == PERFILE_RECORD_READ;
}

/* Returns the plan for the event of `r`; NULL if the event is unknown. */
static const pf_target_plan *plan_of(const pf_target *t, const perfile_record *r)
{
    const perfile_session *s = t->base.below->session;
    /* If all events have one layout, or change trailers in the same way, any plan will do. */
    if (s->shared || (t->one_trailer && !has_event_fields(r->type)))
        return &t->plans[0];
    pf_attribution owner = pf_attribution_of(r);
    if (owner.damage || !owner.event || owner.event->index >= t->n_plans)
        return NULL;
    return &t->plans[owner.event->index];
}

/* Visitor: sets *user to the offset of the field with the three weights (WEIGHT_STRUCT). */
static void find_weight(void *user, const perfile_field *f, const perfile_value *v)
{
    uint64_t *place = user;
    if (strcmp(f->name, "word") == 0 && f->type == PERFILE_STORED_U64)
        *place = v->offset;
}

/* Visitors that ignore structures. */
static void on_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void on_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* Converts WEIGHT_STRUCT in `copy`, a copy of `r`, to WEIGHT: both have 64 bits, and the low 32
 * bits are the first weight.  The second and third become 0, and are counted as lost if they were
 * not 0. */
static void convert_weight(pf_target *t, const perfile_record *r, uint8_t *copy)
{
    static const perfile_visitor visitor = {sizeof visitor, find_weight, on_begin, on_end};
    uint64_t at = 0;
    if (perfile_record_walk(r, 0, &visitor, &at, NULL) != PERFILE_OK || at == 0)
        return;
    uint64_t word = pf_load_u64(copy + at, is_swapped(r));
    if (word >> 32)
        pf_target_count_loss(t, PERFILE_TARGET_LOSS_WEIGHT, 0, r->offset);
    pf_store_u64(copy + at, word & UINT32_MAX, is_swapped(r));
}

/* Counts the fields that this sample or READ record has lost. */
static void count_fields(pf_target *t, const pf_target_plan *plan, const perfile_record *r)
{
    if (r->type == PERFILE_RECORD_READ)
        pf_target_count_lost_bits(t, PERFILE_TARGET_LOSS_READ_FIELD, plan->lost_by_read, r->offset);
    if (r->type != PERFILE_RECORD_SAMPLE)
        return;
    pf_target_count_lost_bits(t, PERFILE_TARGET_LOSS_SAMPLE_FIELD, plan->lost_sample, r->offset);
    pf_target_count_lost_bits(t, PERFILE_TARGET_LOSS_READ_FIELD, plan->lost_read, r->offset);
    pf_target_count_lost_bits(t, PERFILE_TARGET_LOSS_BRANCH_FIELD, plan->lost_branch, r->offset);
}

/* Makes *out from `r` in the new layout of its event. */
static unsigned relayout_for_event(pf_target *t, const pf_target_plan *plan,
                                   const perfile_record *r, perfile_record *out)
{
    perfile_record copy = *r;
    size_t n;
    /* The weight is converted in a copy, because relayout only moves and removes bytes. */
    if (plan->convert_weight && r->type == PERFILE_RECORD_SAMPLE) {
        uint8_t *bytes = pf_target_free_bytes(t);
        memcpy(bytes, r->header, PF_PERF_RECORD_HEADER);
        memcpy(bytes + PF_PERF_RECORD_HEADER, r->body.ptr, r->body.len);
        convert_weight(t, r, bytes);
        pf_target_append(t, &copy, PF_PERF_RECORD_HEADER + r->body.len);
    }
    if (pf_relayout_record(&plan->relayout, &copy, 0, pf_target_free_bytes(t), &n, NULL) !=
        PERFILE_OK)
        return drop(t, r, PERFILE_TARGET_LOSS_UNREADABLE, r->type);
    pf_target_append(t, out, n);
    count_fields(t, plan, r);
    return PF_CHANGED;
}

/* Rewrites a record that changes only if the layout of its event does. */
static unsigned rewrite_of_event(pf_target *t, const perfile_record *r, perfile_record *out)
{
    const bool changes = has_event_fields(r->type) ? t->changes : t->cuts_trailers;
    if (!changes || r->type >= PERFILE_RECORD_USER)
        return PF_AS_STORED;
    const pf_target_plan *plan = plan_of(t, r);
    if (!plan)
        return drop(t, r, PERFILE_TARGET_LOSS_UNREADABLE, r->type);
    bool same = pf_relayout_is_unchanged(&plan->relayout, r->type) &&
                !(plan->convert_weight && r->type == PERFILE_RECORD_SAMPLE);
    return same ? (unsigned)PF_AS_STORED : relayout_for_event(t, plan, r, out);
}

/* Gives `out` the trailer of the new layout.  It was made from `r` and still has the old
 * trailer. */
static unsigned with_new_trailer(pf_target *t, const perfile_record *r, perfile_record *out)
{
    if (!t->cuts_trailers)
        return PF_CHANGED;
    const pf_target_plan *plan = plan_of(t, r);
    const perfile_record made = *out;
    return plan ? relayout_for_event(t, plan, &made, out)
                : drop(t, r, PERFILE_TARGET_LOSS_UNREADABLE, r->type);
}

/* Rewrites MMAP2 for a version that knows the type, without build id if the version does not know
 * these. */
static unsigned rewrite_mmap2(pf_target *t, const perfile_record *r, perfile_record *out)
{
    perfile_mmap2 v;
    if (!pf_target_has_map_build_id(t, r))
        return rewrite_of_event(t, r, out);
    if (perfile_mmap2_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return drop(t, r, PERFILE_TARGET_LOSS_UNREADABLE, r->type);
    uint8_t *bytes = pf_target_free_bytes(t);
    memcpy(bytes, r->header, PF_PERF_RECORD_HEADER);
    memcpy(bytes + PF_PERF_RECORD_HEADER, r->body.ptr, r->body.len);
    pf_target_convert_map(bytes, is_swapped(r));
    out->misc = pf_load_u16(bytes + 4, is_swapped(r));
    pf_target_append(t, out, PF_PERF_RECORD_HEADER + r->body.len);
    t->sum.mappings++;
    return with_new_trailer(t, r, out);
}

/* Rewrites MMAP2 for a version that knows only MMAP: without inode and protection. */
static unsigned rewrite_as_mmap(pf_target *t, const perfile_record *r, perfile_record *out)
{
    perfile_mmap2 v;
    if (perfile_mmap2_decode(r, &v, sizeof v, NULL) != PERFILE_OK || !v.filename.ptr)
        return drop(t, r, PERFILE_TARGET_LOSS_UNREADABLE, r->type);
    size_t n = pf_target_mmap2_to_mmap(r, v.filename.ptr, pf_target_free_bytes(t));
    out->type = PERFILE_RECORD_MMAP;
    out->misc &= (uint16_t) ~(unsigned)PERFILE_MISC_MMAP_BUILD_ID;
    pf_target_append(t, out, n);
    pf_target_count_loss(t, PERFILE_TARGET_LOSS_MAPPING, 0, r->offset);
    t->sum.mappings += pf_target_has_map_build_id(t, r);
    return with_new_trailer(t, r, out);
}

/* Rewrites HEADER_ATTR and HEADER_FEATURE with target_attr.c; if nothing changed, the stored bytes
 * stay. */
static unsigned rewrite_header(pf_target *t, const perfile_record *r, perfile_record *out)
{
    size_t n = r->type == PERFILE_RECORD_HEADER_ATTR
                   ? pf_target_attr_record(t, r, pf_target_free_bytes(t))
                   : pf_target_feature_record(t, r, pf_target_free_bytes(t));
    if (n == 0) {
        t->sum.dropped++;
        return PF_DROP;
    }
    const uint8_t *bytes = pf_target_free_bytes(t);
    if (n == PF_PERF_RECORD_HEADER + r->body.len &&
        memcmp(bytes, r->header, PF_PERF_RECORD_HEADER) == 0 &&
        memcmp(bytes + PF_PERF_RECORD_HEADER, r->body.ptr, r->body.len) == 0)
        return PF_AS_STORED;
    pf_target_append(t, out, n);
    return PF_CHANGED;
}

/* Returns the size that the version requires: a multiple of 8, and for HEADER_EVENT_TYPE the full
 * array of the name. */
static size_t padded_size(const pf_target *t, const perfile_record *r)
{
    enum { EVENT_TYPE = 80, UNIT = 8 };
    size_t n = PF_PERF_RECORD_HEADER + r->body.len;
    if (r->type == PERFILE_RECORD_HEADER_EVENT_TYPE && n < EVENT_TYPE && t->wants_full_names)
        return EVENT_TYPE;
    return t->wants_even_sizes ? (n + UNIT - 1) / UNIT * UNIT : n;
}

/* Pads a record with zeros to that size.  Only for types that end with a string or a counted list:
 * readers ignore zeros after it. */
static unsigned pad_record(pf_target *t, const perfile_record *r, perfile_record *out)
{
    size_t n = PF_PERF_RECORD_HEADER + r->body.len, padded = padded_size(t, r);
    if (n == padded)
        return PF_AS_STORED;
    if (padded > UINT16_MAX)
        return drop(t, r, PERFILE_TARGET_LOSS_TOO_LONG, r->type);
    uint8_t *bytes = pf_target_free_bytes(t);
    memcpy(bytes, r->header, PF_PERF_RECORD_HEADER);
    memcpy(bytes + PF_PERF_RECORD_HEADER, r->body.ptr, r->body.len);
    memset(bytes + n, 0, padded - n);
    pf_store_u16(bytes + PF_PERF_SIZE_AT, (uint16_t)padded, is_swapped(r));
    pf_target_append(t, out, padded);
    return PF_CHANGED;
}

/* Rewrites CPU_MAP and EVENT_UPDATE: a range of CPUs becomes a list if the version does not know
 * ranges. */
static unsigned rewrite_cpus(pf_target *t, const perfile_record *r, perfile_record *out)
{
    if (!pf_target_has_cpu_range(t, r))
        return pad_record(t, r, out);
    size_t n = pf_target_range_to_list(r, pf_target_free_bytes(t));
    if (n == 0)
        return drop(t, r, PERFILE_TARGET_LOSS_TOO_LONG, r->type);
    pf_target_append(t, out, n);
    return PF_CHANGED;
}

/* Handles the types that need more than a new layout. */
static unsigned rewrite_by_type(pf_target *t, const perfile_record *r, perfile_record *out)
{
    switch (r->type) {
    case PERFILE_RECORD_MMAP2:
        return pf_release_knows_type(t->release, r->type) ? rewrite_mmap2(t, r, out)
                                                          : rewrite_as_mmap(t, r, out);
    case PERFILE_RECORD_HEADER_ATTR:
    case PERFILE_RECORD_HEADER_FEATURE:
        return rewrite_header(t, r, out);
    case PERFILE_RECORD_HEADER_BUILD_ID:
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
    case PERFILE_RECORD_AUXTRACE_ERROR:
        return pad_record(t, r, out);
    case PERFILE_RECORD_CPU_MAP:
    case PERFILE_RECORD_EVENT_UPDATE:
        return rewrite_cpus(t, r, out);
    default:
        return rewrite_of_event(t, r, out);
    }
}

unsigned pf_target_record(pf_target *t, const perfile_record *r, perfile_record *out)
{
    *out = *r;
    out->session = t->base.session;
    if (r->family != PERFILE_FAMILY_PERF)
        return PF_AS_STORED;
    if (pf_target_drops_record(t, r->type)) {
        t->sum.dropped++;
        return PF_DROP;
    }
    /* MMAP2 is not dropped if it is unknown: it becomes MMAP. */
    if (!pf_release_knows_type(t->release, r->type) && r->type != PERFILE_RECORD_MMAP2)
        return drop(t, r, PERFILE_TARGET_LOSS_RECORDS, r->type);
    if (r->body.len > UINT16_MAX - PF_PERF_RECORD_HEADER)
        return drop(t, r, PERFILE_TARGET_LOSS_TOO_LONG, r->type);
    unsigned what = rewrite_by_type(t, r, out);
    t->sum.changed += what == PF_CHANGED;
    return what;
}

uint32_t pf_target_find_cookie(pf_target *t, const perfile_record *original,
                               const perfile_record *out, uint64_t *cookie)
{
    if (out->type != PERFILE_RECORD_SAMPLE || out->family != PERFILE_FAMILY_PERF || t->n_plans == 0)
        return 0;
    const pf_target_plan *plan = plan_of(t, original);
    const perfile_layout *to = plan ? &plan->relayout.to : NULL;
    if (!to || !(to->sample_type & PERFILE_SAMPLE_CALLCHAIN))
        return 0;
    /* The chain is after the fields of fixed position, and after READ values if there are any. */
    pf_cursor c = pf_cur(out->body, is_swapped(out));
    pf_cur_span(&c, 8 * (uint64_t)plan->relayout.front.new);
    if (to->sample_type & PERFILE_SAMPLE_READ) {
        perfile_read_values values = {0};
        const pf_context k = pf_context_of(to);
        pf_decode_read_values(&k, &c, &values);
    }
    size_t at = (size_t)(c.pos - out->body.ptr);
    /* `nr` entries; a deferred chain ends with the marker and the cookie. */
    uint64_t nr = pf_cur_u64(&c);
    if (c.bad || nr < 2 || nr > pf_cur_left(&c) / 8)
        return 0;
    pf_cur_span(&c, 8 * (nr - 2));
    if (pf_cur_u64(&c) != PF_CONTEXT_DEFERRED)
        return 0;
    *cookie = pf_cur_u64(&c);
    return (uint32_t)(PF_PERF_RECORD_HEADER + at);
}

/* Writes the user part of a chain and returns its end.  It begins with the marker PF_CONTEXT_USER,
 * which is added if the CALLCHAIN_DEFERRED record lacks it. */
static uint8_t *put_chain(uint8_t *to, perfile_bytes chain, bool swapped)
{
    if (pf_load_u64(chain.ptr, swapped) != PF_CONTEXT_USER) {
        pf_store_u64(to, PF_CONTEXT_USER, swapped);
        to += 8;
    }
    memcpy(to, chain.ptr, chain.len);
    return to + chain.len;
}

size_t pf_target_complete_chain(const pf_held *e, perfile_bytes sample, const perfile_bytes *chain,
                                uint8_t *out)
{
    const bool swapped = is_swapped(&e->record);
    /* `kept` is the number of bytes before the marker; the later fields follow marker and
     * cookie. */
    const uint64_t nr = pf_load_u64(sample.ptr + e->chain_at, swapped);
    const size_t kept = e->chain_at + 8 + 8 * (size_t)(nr - 2);
    /* Marker and cookie are removed, one marker may be added: 8 bytes less, plus the chain. */
    if (chain && sample.len - 8 + chain->len > UINT16_MAX)
        return 0;
    uint8_t *to = out + kept;
    memcpy(out, sample.ptr, kept);
    if (chain && chain->len)
        to = put_chain(to, *chain, swapped);
    pf_store_u64(out + e->chain_at, ((size_t)(to - out) - e->chain_at - 8) / 8, swapped);
    size_t rest = sample.len - kept - 16;
    memcpy(to, sample.ptr + kept + 16, rest);
    size_t n = (size_t)(to - out) + rest;
    pf_store_u16(out + PF_PERF_SIZE_AT, (uint16_t)n, swapped);
    return n;
}
