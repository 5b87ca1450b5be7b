/* The public decoders and walks: they find layout, body, trailer and context of a record or feature
 * and call the function that schema/ made of its table.
 *
 * perfile_stream_sample() is the hot path.  For usual sample types it calls a specialised decoder,
 * and it does not clear the struct between samples of one type; see below. */
#include "base/error.h"
#include "core/parts.h"
#include "core/stream.h"
#include "core/attribution.h"
#include "perfile/catalogue.h"
#include "schema/any_record.h"
#include "schema/family.h"

static bool is_swapped(const perfile_record *r)
{
    return r->flags & PERFILE_REC_SWAPPED;
}

static inline bool is_as_stored(const perfile_record *r)
{
    return r->session && r->session->as_stored;
}

/* The error for a record whose layout cannot be known. */
static perfile_status unusable(const perfile_record *r, uint32_t damage, perfile_error *err)
{
    return pf_fail_damage(err, damage, pf_row_of(r)->name, r->offset);
}

/* pf_record_parts() without the event, whose lookup it saves where all events have equal layouts.
 */
static inline perfile_status split_record(const perfile_record *r, pf_parts *p, perfile_error *err)
{
    uint32_t damage;
    p->event = NULL;
    p->layout = pf_layout_of(r, &damage);
    if (damage)
        return unusable(r, damage, err);
    pf_record_split(r, p->layout, is_as_stored(r), &p->body, &p->trailer);
    return PERFILE_OK;
}

perfile_status pf_record_parts(const perfile_record *r, pf_parts *p, perfile_error *err)
{
    pf_attribution a = pf_attribution_of(r);
    p->event = a.event;
    p->layout = a.layout;
    if (a.damage)
        return unusable(r, a.damage, err);
    pf_record_split(r, p->layout, is_as_stored(r), &p->body, &p->trailer);
    return PERFILE_OK;
}

/* A branch stack of no entries comes with and without hw_idx: if reading it fails to consume the
 * record exactly and reading without does, there is none. */
static void choose_hw_idx(const perfile_record *r, perfile_bytes body, pf_context *k)
{
    perfile_sample s = {0};
    pf_cursor c = pf_cur(body, is_swapped(r));
    pf_decode_sample(k, &c, &s);
    if (s.branch_stack.nr != 0 || (!c.bad && !s.has_extra))
        return;
    perfile_sample without = {0};
    c = pf_cur(body, is_swapped(r));
    k->no_hw_idx = true;
    pf_decode_sample(k, &c, &without);
    if (c.bad || without.has_extra)
        k->no_hw_idx = false;
}

static inline pf_context context_of(const perfile_record *r, const pf_parts *p)
{
    pf_context k = pf_context_of(p->layout);
    k.misc = r->misc;
    k.as_stored = is_as_stored(r);
    if (r->type == PERFILE_RECORD_SAMPLE && k.sample_type & PERFILE_SAMPLE_BRANCH_STACK &&
        k.branch_sample_type & PERFILE_BRANCH_HW_INDEX)
        choose_hw_idx(r, p->body, &k);
    return k;
}

pf_context pf_record_context(const perfile_record *r, const pf_parts *p)
{
    return context_of(r, p);
}

/* Decodes into `out` directly if the caller's struct has our size.  Otherwise the caller was built
 * with another version of the header: decodes into `full` and copies the common part. */
static inline perfile_status decode_into(const pf_context *k, pf_cursor *c, const pf_row *row,
                                         void *full, void *out, size_t size, uint64_t offset,
                                         perfile_error *err)
{
    void *to = size == row->size ? out : full;
    memset(to, 0, row->size);
    row->decode(k, c, to);
    if (c->bad)
        return pf_fail_damage(err, c->bad, row->name, offset);
    if (to != out) {
        memset(out, 0, size);
        memcpy(out, full, size < row->size ? size : row->size);
    }
    return PERFILE_OK;
}

/* The specialised decoder for the sample `r`; NULL if there is none for its sample_type, or `r` is
 * no sample. */
static inline pf_usual_fn *usual_of(const perfile_record *r)
{
    const perfile_session *s = r->session;
    if (r->type != PERFILE_RECORD_SAMPLE || r->family != PERFILE_FAMILY_PERF || !s)
        return NULL;
    if (s->shared)
        return s->usual;
    const perfile_layout *layout = is_swapped(r) ? NULL : pf_attribution_of(r).layout;
    return layout ? pf_usual_sample(layout->sample_type) : NULL;
}

/* Decodes `r`, a record of the type that `row` describes.  `full` is room for its struct. */
static perfile_status decode_by_row(const perfile_record *r, const pf_row *row, void *full,
                                    void *out, size_t size, perfile_error *err)
{
    pf_parts p;
    perfile_status st = split_record(r, &p, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = context_of(r, &p);
    pf_cursor c = pf_cur(p.body, is_swapped(r));
    return decode_into(&k, &c, row, full, out, size, r->offset, err);
}

/* The general path of perfile_NAME_decode(). */
static perfile_status decode_record(const perfile_record *r, const pf_row *row, void *full,
                                    void *out, size_t size, perfile_error *err)
{
    if (r->type != row->number || r->family != PERFILE_FAMILY_PERF)
        return pf_fail(err, PERFILE_E_USAGE, "record.type", "record of type %u, not %u", r->type,
                       row->number);
    return decode_by_row(r, row, full, out, size, err);
}

perfile_status perfile_record_decode(const perfile_record *r, void *out, size_t size,
                                     perfile_error *err)
{
    const pf_row *row = pf_row_of(r);
    pf_any_record full;
    if (!row)
        return pf_fail(err, PERFILE_E_USAGE, "record.type", "no table has records of type %u",
                       r->type);
    if (r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF)
        return perfile_sample_decode(r, out, size, err);
    return decode_by_row(r, row, &full, out, size, err);
}

/* See core/parts.h. */
bool pf_record_own(const perfile_record *r, unsigned need, pf_own *own)
{
    const pf_row *row = pf_row_of(r);
    pf_any_record any;
    pf_parts p;
    *own = (pf_own){0};
    if (!row || (row->has & need) != need || pf_record_parts(r, &p, NULL) != PERFILE_OK)
        return false;
    pf_context k = context_of(r, &p);
    pf_cursor c = pf_cur(p.body, is_swapped(r));
    memset(&any, 0, row->size);
    row->decode(&k, &c, &any);
    if (!c.bad)
        row->own(&any, own);
    return !c.bad;
}

#define PF_RECORD_DECODER(id)                                                                      \
    perfile_status perfile_##id##_decode(const perfile_record *record, perfile_##id *out,          \
                                         size_t size, perfile_error *err)                          \
    {                                                                                              \
        perfile_##id full;                                                                         \
        return decode_record(record, &pf_record_table[PF_AT_##id], &full, out, size, err);         \
    }
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_RECORD_DECODER(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PF_RECORD_DECODER(id)
#include "perfile/format/simpleperf.def"

static __attribute__((noinline)) perfile_status
decode_sample(const perfile_record *r, perfile_sample *out, size_t size, perfile_error *err)
{
    perfile_sample full;
    return decode_record(r, &pf_record_table[PF_AT_sample], &full, out, size, err);
}

/* The size is read from the table so that the compiler does not know it.  The inline code that it
 * would emit for a known size takes twice as long as all the decoding; the library's memset() does
 * not. */
static inline void clear(perfile_sample *out)
{
    memset(out, 0, pf_record_table[PF_AT_sample].size);
}

perfile_status perfile_sample_decode(const perfile_record *record, perfile_sample *out, size_t size,
                                     perfile_error *err)
{
    pf_usual_fn *usual = size == sizeof *out ? usual_of(record) : NULL;
    if (!usual)
        return decode_sample(record, out, size, err);
    clear(out);
    return usual(record->body, out) ? PERFILE_OK : decode_sample(record, out, size, err);
}

static __attribute__((noinline)) perfile_status
stream_sample(perfile_stream *s, const perfile_record *r, perfile_error *err)
{
    pf_usual_fn *usual = usual_of(r);
    s->sampled_by = NULL;
    if (usual)
        clear(&s->sample);
    if (!usual || !usual(r->body, &s->sample))
        return decode_sample(r, &s->sample, sizeof s->sample, err);
    s->sampled_by = usual;
    return PERFILE_OK;
}

/* If the last sample was decoded by the same specialised decoder, the struct is not cleared: that
 * decoder writes the same members again, and all others are still zero. */
perfile_status perfile_stream_sample(perfile_stream *s, const perfile_record *r,
                                     const perfile_sample **sample, perfile_error *err)
{
    pf_usual_fn *usual = s->session->usual;
    *sample = &s->sample;
    if (usual && usual == s->sampled_by && r->type == PERFILE_RECORD_SAMPLE &&
        r->family == PERFILE_FAMILY_PERF && usual(r->body, &s->sample))
        return PERFILE_OK;
    return stream_sample(s, r, err);
}

/* Features have no layout; CPU_TOPOLOGY needs the number of processors. */
static pf_context feature_context(const perfile_feature *f)
{
    pf_context k = {.as_stored = pf_session_as_stored(f->session),
                    .nr_cpus_avail = f->session ? perfile_session_n_cpus(f->session) : 0};
    return k;
}

static perfile_status feature_usable(const perfile_feature *f, perfile_error *err)
{
    if (!f->damage)
        return PERFILE_OK;
    const char *name = perfile_feature_name(f->number);
    return pf_fail_damage(err, f->damage, name ? name : "feature", f->offset);
}

static perfile_status decode_feature(const perfile_feature *f, uint32_t number, void *full,
                                     void *out, size_t size, perfile_error *err)
{
    if (f->number != number)
        return pf_fail(err, PERFILE_E_USAGE, "feature.number", "feature %u, not %u", f->number,
                       number);
    perfile_status st = feature_usable(f, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = feature_context(f);
    pf_cursor c = pf_cur(f->payload, f->flags & PERFILE_REC_SWAPPED);
    return decode_into(&k, &c, pf_feature_row(number), full, out, size, f->offset, err);
}

#define FEATURE(id, number, name, source, contract, doc)                                           \
    perfile_status perfile_##id##_decode(const perfile_feature *feature, perfile_##id *out,        \
                                         size_t size, perfile_error *err)                          \
    {                                                                                              \
        perfile_##id full;                                                                         \
        return decode_feature(feature, number, &full, out, size, err);                             \
    }
#include "perfile/format/features.def"

/* Room for the decoded struct of any feature. */
typedef union any_feature {
#define FEATURE(id, number, name, source, contract, doc) perfile_##id as_##id;
#include "perfile/format/features.def"
} any_feature;

perfile_status perfile_feature_decode(const perfile_feature *feature, void *out, size_t size,
                                      perfile_error *err)
{
    any_feature full;
    if (!pf_feature_row(feature->number))
        return pf_fail(err, PERFILE_E_USAGE, "feature.number", "no table has feature %u",
                       feature->number);
    return decode_feature(feature, feature->number, &full, out, size, err);
}

perfile_status perfile_sample_id_decode(const perfile_record *record, perfile_sample_id *out,
                                        size_t size, perfile_error *err)
{
    static const pf_row row = {
        .name = "sample_id", .size = sizeof(perfile_sample_id), PF_ROW_FUNCTIONS(sample_id)};
    pf_parts p;
    perfile_sample_id full;
    perfile_status st = split_record(record, &p, err);
    if (st != PERFILE_OK)
        return st;
    if (!p.trailer.len)
        return PERFILE_END;
    pf_context k = context_of(record, &p);
    pf_cursor c = pf_cur(p.trailer, is_swapped(record));
    return decode_into(&k, &c, &row, &full, out, size, record->offset, err);
}

/* The space around an attr bounds its size. */
static pf_context attr_context(perfile_bytes bytes)
{
    pf_context k = {.attr_size = bytes.len > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes.len};
    return k;
}

perfile_status perfile_attr_decode(perfile_bytes bytes, bool swapped, perfile_attr *out,
                                   size_t size, perfile_error *err)
{
    static const pf_row row = {
        .name = "attr", .size = sizeof(perfile_attr), PF_ROW_FUNCTIONS(attr)};
    perfile_attr full;
    pf_context k = attr_context(bytes);
    pf_cursor c = pf_cur(bytes, swapped);
    return decode_into(&k, &c, &row, &full, out, size, 0, err);
}

/* A visitor of an older header has fewer functions; none is missing so far, so its size must be
 * ours. */
static perfile_status check_visitor(const perfile_visitor *v, uint32_t flags, perfile_error *err)
{
    const uint32_t unknown = flags & ~(uint32_t)(PERFILE_WALK_CONTRACT | PERFILE_WALK_PADDING);
    if (v->size >= sizeof *v && !unknown)
        return PERFILE_OK;
    if (unknown)
        return pf_fail(err, PERFILE_E_USAGE, "walk.flags", "unknown flags: 0x%x", unknown);
    return pf_fail(err, PERFILE_E_USAGE, "visitor", "size is %zu, not set by sizeof", v->size);
}

perfile_status perfile_record_walk(const perfile_record *r, uint32_t flags,
                                   const perfile_visitor *visitor, void *user, perfile_error *err)
{
    pf_parts p;
    const pf_row *row = pf_row_of(r);
    perfile_status st = check_visitor(visitor, flags, err);
    if (st == PERFILE_OK)
        st = split_record(r, &p, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = context_of(r, &p);
    pf_cursor c = pf_cur(p.body, is_swapped(r));
    pf_walker w = {visitor, user, c.pos, perfile_family_header(r->family), flags};
    bool known = row && (row->contract || !(flags & PERFILE_WALK_CONTRACT));
    (known ? row->walk : pf_walk_unknown)(&k, &c, &w);
    if (c.bad)
        return pf_fail_damage(err, c.bad, row ? row->name : "record", r->offset);
    if (flags & PERFILE_WALK_PADDING && pf_cur_left(&c))
        pf_walk_padding(&k, &c, &w);
    return PERFILE_OK;
}

perfile_status perfile_record_walk_trailer(const perfile_record *r, uint32_t flags,
                                           const perfile_visitor *visitor, void *user,
                                           perfile_error *err)
{
    pf_parts p;
    perfile_status st = check_visitor(visitor, flags, err);
    if (st == PERFILE_OK)
        st = split_record(r, &p, err);
    if (st != PERFILE_OK)
        return st;
    if (!p.trailer.len)
        return PERFILE_END;
    pf_context k = context_of(r, &p);
    uint64_t shift = 8 + (uint64_t)(p.trailer.ptr - r->body.ptr);
    pf_walker w = {visitor, user, p.trailer.ptr, shift, flags};
    pf_cursor c = pf_cur(p.trailer, is_swapped(r));
    pf_walk_sample_id(&k, &c, &w);
    return c.bad ? pf_fail_damage(err, c.bad, "sample_id", r->offset) : PERFILE_OK;
}

perfile_status perfile_feature_walk(const perfile_feature *feature, uint32_t flags,
                                    const perfile_visitor *visitor, void *user, perfile_error *err)
{
    perfile_status st = check_visitor(visitor, flags, err);
    if (st == PERFILE_OK)
        st = feature_usable(feature, err);
    if (st != PERFILE_OK)
        return st;
    const pf_row *row = pf_feature_row(feature->number);
    pf_context k = feature_context(feature);
    pf_cursor c = pf_cur(feature->payload, feature->flags & PERFILE_REC_SWAPPED);
    pf_walker w = {visitor, user, c.pos, 0, flags};
    bool known = row && (row->contract || !(flags & PERFILE_WALK_CONTRACT));
    (known ? row->walk : pf_walk_unknown)(&k, &c, &w);
    if (c.bad)
        return pf_fail_damage(err, c.bad, row ? row->name : "feature", feature->offset);
    if (flags & PERFILE_WALK_PADDING && pf_cur_left(&c))
        pf_walk_padding(&k, &c, &w);
    return PERFILE_OK;
}

perfile_status perfile_attr_walk(perfile_bytes stored, bool swapped, uint32_t flags,
                                 const perfile_visitor *visitor, void *user, perfile_error *err)
{
    perfile_status st = check_visitor(visitor, flags, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = attr_context(stored);
    pf_cursor c = pf_cur(stored, swapped);
    pf_walker w = {visitor, user, c.pos, 0, flags};
    pf_walk_attr(&k, &c, &w);
    return c.bad ? pf_fail_damage(err, c.bad, "attr", 0) : PERFILE_OK;
}
