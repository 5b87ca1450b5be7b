/* Reading attrs, their ids and event types from the sections that the header of a file names.
 *
 * All entries of the attr section have one size, h->attr_size: an attr, which may be shorter, and
 * in the last 16 bytes offset and size of its ids.  Damaged ids leave the event in place: events
 * are counted by position, and other sections refer to that. */
#include "perf/file.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "schema/attr_places.h"

enum {
    ATTR_ENTRY_MIN = 80, /* the first attr (64 bytes) and its id section */
    ID_SECTION = 16,     /* offset and size of ids */
    EVENT_TYPE = 72      /* an event type: u64 id and a name of 64 bytes */
};

/* Adds the event of the attr entry at `offset` to the session.  `overlaps`: its ids overlap those
 * of an earlier attr and are not read. */
static perfile_status add_attr(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                               uint64_t offset, bool overlaps, perfile_error *err)
{
    perfile_bytes entry;
    perfile_status st = pf_perf_bytes(s, offset, h->attr_size, &entry, err);
    if (st != PERFILE_OK)
        return st;
    if (entry.len == 0)
        return pf_fail(err, PERFILE_E_IO, "attrs", "the attr at %llu could not be read",
                       (unsigned long long)offset);
    const uint8_t *where = entry.ptr + entry.len - ID_SECTION;
    perfile_section ids = {pf_load_u64(where, h->swap), pf_load_u64(where + 8, h->swap)};
    pf_attr_fact fact = {.attr = {entry.ptr, entry.len - ID_SECTION},
                         .offset = offset,
                         .origin = PERFILE_ORIGIN_CONTAINER,
                         .stable = s->lasting};
    if (overlaps || (ids.size && !pf_within(ids.offset, ids.size, s->size))) {
        /* The event is kept without ids: its records may still be attributable. */
        fact.ids_damage = PERFILE_DAMAGE_BAD_IDS;
        return pf_session_add_attr(p->base.session, &fact, err);
    }
    uint8_t *copy = NULL;
    if (!s->lasting) {
        /* Reading the ids invalidates the bytes of the entry. */
        copy = pf_alloc(entry.len, 1);
        if (!copy)
            return pf_fail_nomem(err, "attrs");
        memcpy(copy, entry.ptr, entry.len);
        fact.attr.ptr = copy;
    }
    st = pf_perf_bytes(s, ids.offset, ids.size & ~UINT64_C(7), &fact.ids, err);
    if (st == PERFILE_OK)
        st = pf_session_add_attr(p->base.session, &fact, err);
    pf_free(copy);
    return st;
}

static bool any_byte(perfile_bytes b)
{
    for (size_t i = 0; i < b.len; i++)
        if (b.ptr[i])
            return true;
    return false;
}

/* Counts damage of the event, and gives notices on an attr whose size is not that of its entry or
 * that has nonzero bytes behind the members this library knows. */
static void report_attr(pf_perf_stream *p, const perfile_event *e, uint64_t entry_size)
{
    uint64_t size = e->attr->size ? e->attr->size : PF_ATTR_LEAST;
    if (e->damage)
        pf_stream_damage(&p->base, e->damage, e->offset, 0);
    else if (size + ID_SECTION != entry_size)
        pf_stream_notice(&p->base, e->offset, "attr.size", "attr %u has %u bytes, its entry %llu",
                         e->index, e->attr->size, (unsigned long long)(entry_size - ID_SECTION));
    if (e->ids_damage)
        pf_stream_damage(&p->base, e->ids_damage, e->offset, 0);
    if (any_byte(e->attr->extra))
        pf_stream_notice(&p->base, e->offset, "attr.extra",
                         "attr %u has members that are newer than this library: the layout of its "
                         "records may differ",
                         e->index);
}

/* Reads the id section of each of the `n` attrs into p->ids; it stays empty if outside the file. */
static perfile_status find_ids(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                               uint32_t n, perfile_error *err)
{
    p->ids = pf_alloc(n, sizeof *p->ids);
    if (!p->ids)
        return pf_fail_nomem(err, "ids");
    for (; p->n_ids < n; p->n_ids++) {
        uint64_t at = h->attrs.offset + (p->n_ids + (uint64_t)1) * h->attr_size - ID_SECTION;
        perfile_bytes where;
        perfile_status st = pf_perf_bytes(s, at, ID_SECTION, &where, err);
        if (st != PERFILE_OK)
            return st;
        if (where.len == 0)
            continue;
        perfile_section ids = {pf_load_u64(where.ptr, h->swap),
                               pf_load_u64(where.ptr + 8, h->swap)};
        if (pf_within(ids.offset, ids.size, s->size))
            p->ids[p->n_ids] = ids;
    }
    return PERFILE_OK;
}

/* Allocates *overlaps, one flag for each attr: its ids overlap those of an earlier attr.  The
 * caller frees it, also on failure. */
static perfile_status find_overlapping_ids(const pf_perf_stream *p, bool **overlaps,
                                           perfile_error *err)
{
    pf_claim *claims = pf_alloc(p->n_ids, sizeof *claims);
    *overlaps = pf_alloc(p->n_ids, sizeof **overlaps);
    uint32_t n = 0;
    if (!claims || !*overlaps) {
        pf_free(claims);
        return pf_fail_nomem(err, "ids");
    }
    for (uint32_t i = 0; i < p->n_ids; i++)
        if (p->ids[i].size)
            claims[n++] = (pf_claim){p->ids[i], i};
    pf_perf_settle_claims(claims, n, *overlaps);
    pf_free(claims);
    return PERFILE_OK;
}

/* Adds all events to the session and reports what is wrong with them. */
static perfile_status add_each_attr(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                                    const bool *overlaps, perfile_error *err)
{
    for (uint32_t i = 0; i < p->n_ids; i++) {
        uint64_t offset = h->attrs.offset + (uint64_t)i * h->attr_size;
        perfile_status st = add_attr(p, s, h, offset, overlaps[i], err);
        if (st != PERFILE_OK)
            return st;
        const perfile_event *e = perfile_session_event(p->base.session, i);
        if (e)
            report_attr(p, e, h->attr_size);
    }
    return PERFILE_OK;
}

/* The id sections are compared before any ids are read, so that no bytes are read for two attrs. */
perfile_status pf_perf_file_attrs(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                                  perfile_error *err)
{
    if (h->attr_size < ATTR_ENTRY_MIN || h->attr_size % 8 ||
        !pf_within(h->attrs.offset, h->attrs.size, s->size))
        return pf_perf_container_damage(p, PERFILE_DAMAGE_BAD_ATTRS, PERFILE_EXTENT_ATTRS,
                                        h->attrs.offset, err);
    uint64_t n = h->attrs.size / h->attr_size;
    if (n > UINT32_MAX)
        return pf_fail(err, PERFILE_E_LIMIT, "attrs", "%llu attrs are too many",
                       (unsigned long long)n);
    bool *overlaps = NULL;
    perfile_status st = find_ids(p, s, h, (uint32_t)n, err);
    if (st == PERFILE_OK)
        st = find_overlapping_ids(p, &overlaps, err);
    if (st == PERFILE_OK)
        st = add_each_attr(p, s, h, overlaps, err);
    pf_free(overlaps);
    return st;
}

/* The section is only a help for names, so one outside the file is ignored. */
perfile_status pf_perf_file_event_types(pf_perf_stream *p, perfile_source *s,
                                        const pf_perf_header *h, perfile_error *err)
{
    if (!pf_within(h->event_types.offset, h->event_types.size, s->size))
        return PERFILE_OK;
    uint64_t n = h->event_types.size / EVENT_TYPE;
    for (uint64_t i = 0; i < n; i++) {
        perfile_bytes entry;
        perfile_status st =
            pf_perf_bytes(s, h->event_types.offset + i * EVENT_TYPE, EVENT_TYPE, &entry, err);
        if (st != PERFILE_OK || entry.len == 0)
            return st;
        perfile_bytes name = {entry.ptr + 8, entry.len - 8};
        const uint8_t *nul = memchr(name.ptr, 0, name.len);
        if (nul)
            name.len = (size_t)(nul - name.ptr);
        st = pf_session_add_event_type(p->base.session, pf_load_u64(entry.ptr, h->swap), name,
                                       s->lasting, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}
