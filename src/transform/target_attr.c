/* Converts attrs and features to the version, in the session and in records.
 *
 * An attr is copied, cut to the size of the version, and walked.  Unknown bits are cleared.
 * Members that the version does not know, and those that belong to fields in options.drop, become
 * 0. known_bits() also decides the layout of records (pf_target_layout()), so attr and records
 * always agree.  Features newer than the version are left out.  EVENT_DESC contains attrs and is
 * rewritten like them. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/layout.h"
#include "core/facts.h"
#include "perfile/field.h"
#include "schema/types.h"
#include "transform/target.h"
#include "schema/rows.h"
#include "core/command.h"

/* The state of rewriting an attr, for the visitors. */
typedef struct attr_rewriting {
    pf_target *t;
    uint8_t *out;    /* the new attr */
    size_t size;     /* of the new attr */
    uint64_t offset; /* in the input, for the counters of losses */
    bool swapped, count;
} attr_rewriting;

static bool any_byte(perfile_bytes b)
{
    for (size_t i = 0; i < b.len; i++)
        if (b.ptr[i])
            return true;
    return false;
}

/* Returns the bits of the field PF_WORD_… that are cleared because the caller drops fields. */
static uint64_t dropped_bits(const pf_target *t, unsigned word)
{
    return word == PF_WORD_SAMPLE_TYPE ? t->options.drop
           : word == PF_WORD_FLAGS     ? pf_target_drops_flags(t)
                                       : 0;
}

/* Returns the value of the field PF_WORD_… for the version: `v` without the bits that it does not
 * know or the caller drops.  If unknown, WEIGHT_STRUCT becomes WEIGHT, and IDENTIFIER becomes ID,
 * so that samples still have an id, after ADDR. */
static uint64_t known_bits(const pf_target *t, unsigned word, uint64_t v)
{
    const pf_release *release = t->release;
    const uint32_t n[PF_N_WORDS] = {release->sample_bits, release->read_bits, release->branch_bits,
                                    release->flag_bits};
    uint64_t known = v & pf_low_bits(n[word]);
    if (word == PF_WORD_SAMPLE_TYPE && (v & ~known) & PERFILE_SAMPLE_WEIGHT_STRUCT)
        known |= PERFILE_SAMPLE_WEIGHT & pf_low_bits(release->sample_bits);
    if (word == PF_WORD_SAMPLE_TYPE && (v & ~known) & PERFILE_SAMPLE_IDENTIFIER)
        known |= PERFILE_SAMPLE_ID;
    if (word == PF_WORD_SAMPLE_TYPE)
        known &= t->common;
    return known & ~dropped_bits(t, word);
}

/* The same for the sample_type of an event with this read_format.  perf expects the id of each
 * counter in samples even if FORMAT_ID is not set, so READ must be removed then. */
static uint64_t known_sample_type(const pf_target *t, uint64_t v, uint64_t read_format)
{
    const uint64_t known = known_bits(t, PF_WORD_SAMPLE_TYPE, v);
    const bool nameless = t->release != &pf_release_any && !(read_format & PERFILE_FORMAT_ID);
    return nameless ? known & ~(uint64_t)PERFILE_SAMPLE_READ : known;
}

/* Sets t->common, for versions that reject files with events of different sample_type.  Events that
 * come later, in a pipe, are cut to the bits that the events known now have in common. */
static void find_common(pf_target *t, const perfile_session *below)
{
    uint64_t common = UINT64_MAX;
    uint32_t n = pf_session_n_events(below);
    t->common = UINT64_MAX;
    if (!pf_release_needs_one_sample_type(t->release))
        return;
    for (uint32_t i = 0; i < n; i++) {
        const perfile_attr *attr = perfile_session_event(below, i)->attr;
        common &= known_sample_type(t, attr->sample_type, attr->read_format);
    }
    t->common = common;
}

/* Counts bits that are cleared in the attr, except those that the caller drops or that are replaced
 * by an older form. */
static void count_bits(attr_rewriting *w, unsigned word, uint64_t lost)
{
    lost &= ~dropped_bits(w->t, word);
    if (word == PF_WORD_SAMPLE_TYPE)
        lost &= ~(uint64_t)(PERFILE_SAMPLE_WEIGHT_STRUCT | PERFILE_SAMPLE_IDENTIFIER);
    for (uint32_t bit = 0; lost; bit++, lost >>= 1) {
        pf_loss *loss = &w->t->attr_bits[word][bit];
        if (lost & 1 && loss->count++ == 0)
            loss->first = w->offset;
    }
}

/* Clears unknown bits of one field of the new attr. */
static void mask_word(attr_rewriting *w, unsigned word, unsigned kind, const perfile_value *v)
{
    /* read_format comes after sample_type, so it is not rewritten yet. */
    const uint64_t read_format = pf_load_u64(w->out + PF_ATTR_READ_FORMAT_AT, w->swapped);
    uint64_t known = word == PF_WORD_SAMPLE_TYPE ? known_sample_type(w->t, v->number, read_format)
                                                 : known_bits(w->t, word, v->number);
    if (known == v->number)
        return;
    if (w->count)
        count_bits(w, word, v->number & ~known);
    pf_store_u64(w->out + v->offset, pf_bit_fields_from_little(known, kind, w->swapped),
                 w->swapped);
}

/* Counts a member of the attr that is lost; the key is its offset in units of 32 bits. */
static void count_member(attr_rewriting *w, uint64_t offset)
{
    if (w->count)
        pf_target_count_loss(w->t, PERFILE_TARGET_LOSS_ATTR_MEMBER, (uint32_t)(offset / 4),
                             w->offset);
}

/* Visitor for the part of the attr that is kept. */
static void on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    attr_rewriting *w = user;
    /* Members that belong to a dropped field become 0, which is not a loss. */
    if (w->t->options.drop && pf_target_drops_member(w->t, f->name)) {
        memset(w->out + v->offset, 0, (size_t)v->width);
        return;
    }
    switch (f->kind) {
    case PERFILE_KIND_SAMPLE_TYPE:
        mask_word(w, PF_WORD_SAMPLE_TYPE, f->kind, v);
        break;
    case PERFILE_KIND_READ_FORMAT:
        mask_word(w, PF_WORD_READ_FORMAT, f->kind, v);
        break;
    case PERFILE_KIND_BRANCH_TYPE:
        mask_word(w, PF_WORD_BRANCH_TYPE, f->kind, v);
        break;
    case PERFILE_KIND_ATTR_FLAGS:
        mask_word(w, PF_WORD_FLAGS, f->kind, v);
        break;
    default:
        if (f->type != PERFILE_STORED_BLOB && v->number &&
            !pf_release_knows_member(w->t->release, f->name)) {
            count_member(w, v->offset);
            memset(w->out + v->offset, 0, (size_t)v->width);
        }
    }
}

/* Visitor for the stored attr: counts members beyond the new size that are not 0. */
static void on_cut(void *user, const perfile_field *f, const perfile_value *v)
{
    attr_rewriting *w = user;
    bool some = f->type == PERFILE_STORED_BLOB ? any_byte(v->u.bytes) : v->number != 0;
    if (some && v->offset + v->width > w->size)
        count_member(w, v->offset);
}

/* Visitors: ignore structures. */
static void on_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void on_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

size_t pf_target_attr(pf_target *t, perfile_bytes stored, uint64_t offset, bool exact, bool count,
                      uint8_t *out)
{
    static const perfile_visitor kept = {sizeof kept, on_value, on_begin, on_end};
    static const perfile_visitor cut = {sizeof cut, on_cut, on_begin, on_end};
    const size_t known = t->release->attr_size;
    const bool swapped = pf_session_swapped(t->base.session);
    attr_rewriting w = {t,      out,     exact || stored.len > known ? known : stored.len,
                        offset, swapped, count};
    size_t n = stored.len < w.size ? stored.len : w.size;
    memcpy(out, stored.ptr, n);
    memset(out + n, 0, w.size - n);
    /* attr.size is also corrected if it is larger than the attr. */
    if (w.size != stored.len || pf_load_u32(out + PF_ATTR_SIZE_AT, swapped) > w.size)
        pf_store_u32(out + PF_ATTR_SIZE_AT, (uint32_t)w.size, swapped);
    /* A walk that fails has visited everything that can be read, which is enough here. */
    (void)!perfile_attr_walk((perfile_bytes){out, w.size}, swapped, 0, &kept, &w, NULL);
    if (any_byte((perfile_bytes){stored.ptr + n, stored.len - n}) &&
        perfile_attr_walk(stored, swapped, 0, &cut, &w, NULL) != PERFILE_OK)
        count_member(&w, w.size);
    return w.size;
}

void pf_target_layout(pf_target *t, const perfile_event *e, perfile_layout *layout)
{
    perfile_attr attr = *e->attr;
    attr.sample_type = known_sample_type(t, attr.sample_type, attr.read_format);
    attr.read_format = known_bits(t, PF_WORD_READ_FORMAT, attr.read_format);
    attr.branch_sample_type = known_bits(t, PF_WORD_BRANCH_TYPE, attr.branch_sample_type);
    pf_layout_make(layout, &attr);
}

/* Writes the payload of EVENT_DESC to `out`, with attrs converted to the version.  Returns its
 * size, which is never larger than before; or 0 if the payload cannot be read and must stay
 * unchanged. */
static size_t rewrite_event_desc(pf_target *t, perfile_bytes payload, uint8_t *out)
{
    uint8_t attr[PF_TARGET_ATTR];
    pf_cursor c = pf_cur(payload, pf_session_swapped(t->base.session));
    uint32_t n = pf_cur_u32(&c);
    uint32_t size = pf_cur_u32(&c);
    uint32_t known = t->release->attr_size;
    if (c.bad || size < PF_ATTR_LEAST)
        return 0;
    /* The header of the payload: number of events, and the size of each attr. */
    uint8_t *to = out + 8;
    memcpy(out, payload.ptr, 8);
    pf_store_u32(out + 4, size < known ? size : known, c.swap);
    for (uint32_t i = 0; i < n && !c.bad; i++) {
        perfile_bytes stored = pf_cur_span(&c, size);
        if (c.bad)
            break;
        size_t len = pf_target_attr(t, stored, 0, false, false, attr);
        memcpy(to, attr, len);
        to += len;
        /* Number of ids, name and ids are copied unchanged. */
        const uint8_t *start = c.pos;
        uint32_t n_ids = pf_cur_u32(&c);
        pf_cur_string(&c);
        pf_cur_list(&c, n_ids, 8);
        if (c.bad)
            break;
        memcpy(to, start, (size_t)(c.pos - start));
        to += c.pos - start;
    }
    if (c.bad)
        return 0;
    memcpy(to, c.pos, pf_cur_left(&c));
    return (size_t)(to - out) + pf_cur_left(&c);
}

/* Returns true if the feature is not true for the records of this stage: it describes dropped
 * fields, or compression, which is undone. */
static bool no_longer_holds(const pf_target *t, const perfile_feature *f)
{
    if (pf_target_drops_feature(t, f->number))
        return true;
    perfile_compression v;
    return f->number == PERFILE_FEATURE_COMPRESSED &&
           perfile_compression_decode(f, &v, sizeof v, NULL) == PERFILE_OK && v.type != 0;
}

/* Adds a feature to the session of the stage, converted to the version, or counts it as lost. */
static perfile_status add_feature(pf_target *t, const perfile_feature *f, perfile_error *err)
{
    perfile_feature copy = *f;
    if (f->number > t->release->feature) {
        pf_target_count_loss(t, PERFILE_TARGET_LOSS_FEATURE, f->number, f->offset);
        return PERFILE_OK;
    }
    if (no_longer_holds(t, f))
        return PERFILE_OK;
    /* EVENT_DESC is the only feature with attrs. */
    if (f->number != PERFILE_FEATURE_EVENT_DESC || f->damage || !f->payload.len)
        return pf_session_add_feature(t->base.session, &copy, true, err);
    pf_buffer_clear(&t->bytes);
    if (!pf_buffer_reserve(&t->bytes, f->payload.len))
        return pf_fail_nomem(err, "target");
    size_t n = rewrite_event_desc(t, f->payload, t->bytes.ptr);
    if (n == 0)
        return pf_session_add_feature(t->base.session, &copy, true, err);
    copy.payload = (perfile_bytes){t->bytes.ptr, n};
    copy.size = n;
    return pf_session_add_feature(t->base.session, &copy, false, err);
}

/* Adds an event to the session of the stage, with its attr converted to the version. */
static perfile_status add_event(pf_target *t, const perfile_event *e, perfile_error *err)
{
    uint8_t attr[PF_TARGET_ATTR];
    pf_attr_fact fact = {
        .attr = {attr, pf_target_attr(t, e->stored, e->offset, false, true, attr)},
        .ids = {e->ids.ptr, 8 * e->ids.n},
        .offset = e->offset,
        .origin = e->origin,
        .ids_damage = e->ids_damage,
    };
    return pf_session_add_attr(t->base.session, &fact, err);
}

perfile_status pf_target_add_facts(pf_target *t, perfile_error *err)
{
    const perfile_session *below = t->base.below->session;
    perfile_session *copy = t->base.session;
    perfile_status st = PERFILE_OK;
    find_common(t, below);
    for (uint32_t i = 0; st == PERFILE_OK && i < pf_session_n_events(below); i++)
        st = add_event(t, perfile_session_event(below, i), err);
    for (uint32_t i = 0; st == PERFILE_OK && i < pf_session_n_event_types(below); i++) {
        const pf_event_type *type = pf_session_event_type(below, i);
        st = pf_session_add_event_type(copy, type->event_id, type->name, true, err);
    }
    for (uint32_t i = 0; st == PERFILE_OK && i < pf_session_n_features(below); i++)
        st = add_feature(t, perfile_session_feature_at(below, i), err);
    return st == PERFILE_OK ? pf_session_resolve(copy, err) : st;
}

/* Stores the size `n` in the header of the record at `out`.  Returns it, or 0 if it is too
 * large. */
static size_t set_record_size(uint8_t *out, size_t n, bool swapped)
{
    if (n > UINT16_MAX)
        return 0;
    pf_store_u16(out + 6, (uint16_t)n, swapped);
    return n;
}

/* Copies the record unchanged.  Returns its size. */
static size_t copy_record(const perfile_record *r, uint8_t *out)
{
    memcpy(out, r->header, PF_PERF_RECORD_HEADER);
    if (r->body.len)
        memcpy(out + PF_PERF_RECORD_HEADER, r->body.ptr, r->body.len);
    return PF_PERF_RECORD_HEADER + r->body.len;
}

size_t pf_target_attr_record(pf_target *t, const perfile_record *r, uint8_t *out)
{
    perfile_header_attr v;
    const bool swapped = r->flags & PERFILE_REC_SWAPPED;
    if (perfile_header_attr_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return copy_record(r, out);
    memcpy(out, r->header, PF_PERF_RECORD_HEADER);
    size_t size = v.attr.size ? v.attr.size : PF_ATTR_LEAST; /* 0: the first version of the attr */
    size_t n =
        pf_target_attr(t, (perfile_bytes){r->body.ptr, size}, r->offset + PF_PERF_RECORD_HEADER,
                       t->release->own_attr, true, out + PF_PERF_RECORD_HEADER);
    memcpy(out + PF_PERF_RECORD_HEADER + n, r->body.ptr + size, r->body.len - size);
    n = set_record_size(out, PF_PERF_RECORD_HEADER + n + r->body.len - size, swapped);
    if (n == 0)
        pf_target_count_loss(t, PERFILE_TARGET_LOSS_TOO_LONG, r->type, r->offset);
    return n;
}

/* Returns the feature number that marks the end of features in a pipe for the version, or 0 if it
 * has no such record.  Returns UINT32_MAX if there is no version: the record stays unchanged. */
static uint32_t end_of_features(const pf_target *t)
{
    const char *version = t->release->name;
    return t->release == &pf_release_any
               ? UINT32_MAX
               : pf_end_of_features((perfile_bytes){(const uint8_t *)version, strlen(version)});
}

size_t pf_target_feature_record(pf_target *t, const perfile_record *r, uint8_t *out)
{
    enum { NUMBER = 8 }; /* bytes of the feature number, before the payload */
    perfile_feature f;
    const bool swapped = r->flags & PERFILE_REC_SWAPPED;
    const uint32_t last = t->release->feature, end = end_of_features(t);
    if (perfile_record_feature(r, &f, NULL) != PERFILE_OK)
        return copy_record(r, out);
    const bool ends = pf_feature_ends_list(&f);
    if (f.number > last && !ends) {
        pf_target_count_loss(t, PERFILE_TARGET_LOSS_FEATURE, f.number, r->offset);
        return 0;
    }
    if (no_longer_holds(t, &f) || (ends && !end))
        return 0;
    if (f.number == PERFILE_FEATURE_EVENT_DESC) {
        size_t n = rewrite_event_desc(t, f.payload, out + PF_PERF_RECORD_HEADER + NUMBER);
        memcpy(out, r->header, PF_PERF_RECORD_HEADER);
        memcpy(out + PF_PERF_RECORD_HEADER, r->body.ptr, NUMBER);
        if (n)
            return set_record_size(out, PF_PERF_RECORD_HEADER + NUMBER + n, swapped);
    }
    copy_record(r, out);
    if (ends && t->release != &pf_release_any)
        pf_store_u64(out + PF_PERF_RECORD_HEADER, end, swapped);
    return PF_PERF_RECORD_HEADER + r->body.len;
}
