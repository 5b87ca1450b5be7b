/* Reads the sections of a perf.data file: range of the records, feature table, features, attrs, ids
 * and event types.
 *
 * Layout: header, ids, attrs, event types, records, feature table, features.  The header gives the
 * offsets of all but the feature table, which is directly after the records.  Every offset and size
 * is checked against the file.  Sections outside the file are recorded as damage, and the rest is
 * read.  If the writer was killed, the header has data size 0: then the records go on to the end of
 * the file, and there are no features (is_unterminated()). */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "perf/stream.h"
#include "schema/types.h"
#include "schema/rows.h"
#include "core/command.h"

#include <stdlib.h>

enum {
    MOVED_BYTES = 4 << 20 /* how far from its stated offset a feature table is searched for */
};

perfile_status pf_perf_bytes(perfile_source *s, uint64_t offset, uint64_t size,
                             perfile_bytes *bytes, perfile_error *err)
{
    *bytes = (perfile_bytes){NULL, 0};
    if (size > SIZE_MAX || !pf_within(offset, size, s->size))
        return PERFILE_OK;
    perfile_bytes run;
    perfile_status st = pf_source_view(s, offset, (size_t)size, &run, err);
    if (st == PERFILE_OK && run.len >= size)
        *bytes = (perfile_bytes){run.ptr, (size_t)size};
    return st;
}

perfile_status pf_perf_container_damage(pf_perf_stream *p, unsigned damage, uint32_t role,
                                        uint64_t offset, perfile_error *err)
{
    perfile_container *c = &p->base.container;
    perfile_container_damage *more = pf_realloc(p->damages, (size_t)c->n_damages + 1, sizeof *more);
    if (!more)
        return pf_fail_nomem(err, "container");
    more[c->n_damages] =
        (perfile_container_damage){.damage = damage, .role = role, .offset = offset};
    p->damages = more;
    c->damages = more;
    c->n_damages++;
    pf_stream_damage(&p->base, damage, offset, 0);
    return PERFILE_OK;
}

/* Order for qsort(): by offset, then by number. */
static int by_offset(const void *a, const void *b)
{
    const pf_claim *x = a;
    const pf_claim *y = b;
    if (x->section.offset != y->section.offset)
        return x->section.offset < y->section.offset ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

void pf_perf_settle_claims(pf_claim *claims, uint32_t n, bool *lost)
{
    /* In order of offset, a section can only overlap the last kept one.  If they overlap, either
     * the new one is lost or it replaces the kept one. */
    const pf_claim *kept = NULL;
    if (n)
        qsort(claims, n, sizeof *claims, by_offset);
    for (uint32_t i = 0; i < n; i++) {
        const pf_claim *c = &claims[i];
        bool overlaps = kept && c->section.offset < kept->section.offset + kept->section.size;
        if (overlaps && kept->number < c->number) {
            lost[c->number] = true;
            continue;
        }
        if (overlaps)
            lost[kept->number] = true;
        kept = c;
    }
}

/* Sets *table to the offset of the feature table, which is after the data.  Returns false if that
 * overflows. */
static bool find_table(const pf_perf_header *h, uint64_t *table)
{
    return !pf_add_u64(h->data.offset, h->data.size, table);
}

/* Sets *plausible if there is a feature table for `features`: all its sections must be inside the
 * file and after the table. */
static perfile_status check_table(perfile_source *s, const pf_perf_header *h,
                                  const uint64_t features[4], bool *plausible, perfile_error *err)
{
    uint64_t size = (uint64_t)pf_table_count(features) * PF_TABLE_ENTRY;
    uint64_t table_start;
    perfile_bytes table;
    *plausible = false;
    if (!find_table(h, &table_start))
        return PERFILE_OK;
    perfile_status st = pf_perf_bytes(s, table_start, size, &table, err);
    if (st != PERFILE_OK || table.len == 0)
        return st;
    for (size_t at = 0; at < table.len; at += PF_TABLE_ENTRY) {
        uint64_t offset = pf_load_u64(table.ptr + at, h->swap);
        uint64_t length = pf_load_u64(table.ptr + at + 8, h->swap);
        if (offset < table_start + size || !pf_within(offset, length, s->size))
            return PERFILE_OK;
    }
    *plausible = true;
    return PERFILE_OK;
}

static bool section_behind(const perfile_section *s, uint64_t offset)
{
    return s->size && s->offset >= offset;
}

/* Returns true if a section of facts is after the start of the data.  In a recording that perf has
 * begun, ids, attrs and event types are before it. */
static bool sections_behind(const pf_perf_stream *p, const pf_perf_header *h)
{
    if (section_behind(&h->attrs, h->data.offset) ||
        section_behind(&h->event_types, h->data.offset))
        return true;
    for (uint32_t i = 0; i < p->n_ids; i++)
        if (section_behind(&p->ids[i], h->data.offset))
            return true;
    return false;
}

/* Sets *unterminated if the writer was killed before it wrote the final header: the data size is 0
 * although bytes follow, and there is no feature table at its offset. */
static perfile_status is_unterminated(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                                      bool *unterminated, perfile_error *err)
{
    *unterminated = false;
    if (h->data.size != 0)
        return PERFILE_OK;
    if (pf_table_count(h->features)) {
        bool plausible;
        perfile_status st = check_table(s, h, h->features, &plausible, err);
        *unterminated = !plausible;
        return st;
    }
    /* Sections after the start of the data would be taken for records. */
    *unterminated = h->data.offset < s->size && !sections_behind(p, h);
    return PERFILE_OK;
}

/* Returns true if the sections have a byte in common. */
static bool overlap(perfile_section a, perfile_section b)
{
    return a.size && b.size && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

/* Returns the attr section, or an empty one if it ends outside the file: such a section was never
 * written, so it has overwritten nothing. */
static perfile_section written_attrs(const pf_perf_stream *p, const pf_perf_header *h)
{
    bool within = pf_within(h->attrs.offset, h->attrs.size, p->parts[0].source->size);
    return within ? h->attrs : (perfile_section){0};
}

/* Returns true if `section` overlaps the attrs or ids, which were then written later, over its
 * content. */
static bool overwritten(const pf_perf_stream *p, const pf_perf_header *h, perfile_section section)
{
    if (overlap(section, written_attrs(p, h)))
        return true;
    uint32_t n = pf_session_n_events(p->base.session);
    for (uint32_t i = 0; i < n && i < p->n_ids; i++)
        if (overlap(section, p->ids[i]))
            return true;
    return false;
}

/* Reads the entry of the feature table at `at`.  Sets *there to false if the file ends before the
 * entry does. */
static perfile_status read_entry(perfile_source *s, const pf_perf_header *h, uint64_t at,
                                 perfile_section *section, bool *there, perfile_error *err)
{
    perfile_bytes entry;
    perfile_status st = pf_perf_bytes(s, at, PF_TABLE_ENTRY, &entry, err);
    *there = st == PERFILE_OK && entry.len;
    if (*there)
        *section = (perfile_section){pf_load_u64(entry.ptr, h->swap) + h->features_moved,
                                     pf_load_u64(entry.ptr + 8, h->swap)};
    return st;
}

/* Adds feature `number`, with its table entry at `entry_at`, to the session.  A damaged feature is
 * added without payload.  `overlaps`: its section overlaps the section of another feature. */
static perfile_status add_feature(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                                  uint32_t number, uint64_t entry_at, bool overlaps,
                                  perfile_error *err)
{
    perfile_feature f = {.number = number,
                         .origin = PERFILE_ORIGIN_CONTAINER,
                         .flags = h->swap ? PERFILE_REC_SWAPPED : 0,
                         .session = p->base.session};
    perfile_section section;
    bool there;
    perfile_status st = read_entry(s, h, entry_at, &section, &there, err);
    if (st != PERFILE_OK)
        return st;
    if (!there) {
        f.damage = PERFILE_DAMAGE_TRUNCATED_FEATURE_TABLE;
        f.offset = entry_at;
    } else {
        f.offset = section.offset;
        f.size = section.size;
        if (!pf_within(f.offset, f.size, s->size))
            f.damage = PERFILE_DAMAGE_OUT_OF_BOUNDS;
        else if (overlaps || (!p->base.options.as_stored && overwritten(p, h, section)))
            f.damage = PERFILE_DAMAGE_OVERLAP;
    }
    if (f.damage)
        pf_stream_damage(&p->base, f.damage, f.offset, 0);
    else
        st = pf_perf_bytes(s, f.offset, f.size, &f.payload, err);
    if (!pf_feature_row(number))
        p->base.summary.unknown_features++;
    return st == PERFILE_OK ? pf_session_add_feature(p->base.session, &f, s->lasting, err) : st;
}

/* Returns the offset of entry number `n` of the feature table; UINT64_MAX if that overflows. */
static uint64_t entry_of(const pf_perf_header *h, unsigned n)
{
    uint64_t table, at;
    return !find_table(h, &table) || pf_add_u64(table, (uint64_t)n * PF_TABLE_ENTRY, &at)
               ? UINT64_MAX
               : at;
}

/* Sets overlaps[number] for features with a section that overlaps one of a lower number. */
static perfile_status find_overlapping_features(perfile_source *s, const pf_perf_header *h,
                                                bool overlaps[PERFILE_N_FEATURES],
                                                perfile_error *err)
{
    pf_claim claims[PERFILE_N_FEATURES];
    unsigned n = 0, n_claims = 0;
    for (uint32_t number = 0; number < PERFILE_N_FEATURES; number++) {
        perfile_section section;
        bool there;
        if (!(h->features[number / 64] >> number % 64 & 1))
            continue;
        perfile_status st = read_entry(s, h, entry_of(h, n++), &section, &there, err);
        if (st != PERFILE_OK)
            return st;
        if (there && section.size && pf_within(section.offset, section.size, s->size))
            claims[n_claims++] = (pf_claim){section, number};
    }
    pf_perf_settle_claims(claims, n_claims, overlaps);
    return PERFILE_OK;
}

/* Adds all features of the bitmap in order of their numbers, which is also the order of the table.
 */
static perfile_status add_features(pf_perf_stream *p, perfile_source *s, const pf_perf_header *h,
                                   perfile_error *err)
{
    bool overlaps[PERFILE_N_FEATURES] = {false};
    unsigned n = 0;
    perfile_status st = find_overlapping_features(s, h, overlaps, err);
    for (uint32_t number = 0; number < PERFILE_N_FEATURES && st == PERFILE_OK; number++)
        if (h->features[number / 64] >> number % 64 & 1)
            st = add_feature(p, s, h, number, entry_of(h, n++), overlaps[number], err);
    return st;
}

/* Sets the range of the records in `part`, cut to the size of the file. */
static perfile_status set_range(pf_perf_stream *p, pf_perf_part *part, const pf_perf_header *h,
                                perfile_error *err)
{
    uint64_t size = part->source->size;
    uint64_t end;
    part->start = h->data.offset;
    if (h->data.offset > size) {
        part->start = part->end = size;
        return pf_perf_container_damage(p, PERFILE_DAMAGE_OUT_OF_BOUNDS, PERFILE_EXTENT_RECORDS,
                                        h->data.offset, err);
    }
    if (p->base.container.unterminated) {
        part->end = size;
        return pf_perf_container_damage(p, PERFILE_DAMAGE_UNTERMINATED, PERFILE_EXTENT_RECORDS,
                                        h->data.offset, err);
    }
    if (pf_add_u64(h->data.offset, h->data.size, &end))
        end = UINT64_MAX;
    part->end = end < size ? end : size;
    part->declared = end > size ? end : 0;
    if (end > size)
        p->base.summary.missing += end - size;
    return PERFILE_OK;
}

/* `perf inject` of 6.1 writes ids and attrs over the first records.  Sets part->skip to the end of
 * the overwritten range: from there the walk searches for the first intact record. */
static void find_overwritten(const pf_perf_stream *p, pf_perf_part *part, const pf_perf_header *h)
{
    perfile_section data = {part->start, part->end - part->start};
    if (p->base.options.as_stored || !overwritten(p, h, data))
        return;
    /* `behind` is the end of the last section that overlaps the records. */
    perfile_section attrs = written_attrs(p, h);
    uint64_t behind = overlap(data, attrs) ? attrs.offset + attrs.size : part->start;
    for (uint32_t i = 0; i < p->n_ids; i++)
        if (overlap(data, p->ids[i]) && p->ids[i].offset + p->ids[i].size > behind)
            behind = p->ids[i].offset + p->ids[i].size;
    part->skip = behind < part->end ? behind : part->end;
}

/* Replaces values of the header by the caller's values in options.assume. */
static void assume_sections(const pf_perf_stream *p, const perfile_source *s, pf_perf_header *h)
{
    const perfile_assume *a = p->base.options.assume;
    if (!a)
        return;
    if (a->data.offset) {
        h->data = a->data;
        if (h->data.size == UINT64_MAX)
            h->data.size = h->data.offset < s->size ? s->size - h->data.offset : 0;
    }
    if (a->has_features) {
        memcpy(h->features, a->features, sizeof h->features);
        h->features_moved = a->features_shift;
    }
}

/* If bytes were lost or inserted among the records, the feature table is not where the header says.
 * This searches for it.  If it is found, sets in `h` the range that the records really have, and
 * the distance by which the features have moved. */
static perfile_status find_moved_table(pf_perf_stream *p, perfile_source *s, pf_perf_header *h,
                                       perfile_error *err)
{
    const perfile_assume *a = p->base.options.assume;
    uint64_t stood, table;
    bool plausible;
    perfile_bytes run;
    if (p->base.options.as_stored || (a && (a->data.offset || a->has_features)) ||
        h->data.size == 0 || !pf_table_count(h->features) || !find_table(h, &stood))
        return PERFILE_OK;
    perfile_status st = check_table(s, h, h->features, &plausible, err);
    if (st != PERFILE_OK || plausible)
        return st;
    const uint64_t from = h->data.size < MOVED_BYTES ? h->data.offset : stood - MOVED_BYTES;
    const uint64_t most = 2 * MOVED_BYTES;
    if (from >= s->size)
        return PERFILE_OK;
    st = pf_source_run(s, from, (size_t)(s->size - from < most ? s->size - from : most), &run, err);
    if (st != PERFILE_OK)
        return st;
    if (run.len > most)
        run.len = (size_t)most;
    const pf_table_bytes in = {.bytes = run, .at = from, .size = s->size, .swap = h->swap};
    if (!pf_table_find_moved(&in, h, &table))
        return PERFILE_OK;
    h->features_moved = table - stood;
    h->data.size = table - h->data.offset;
    return pf_perf_container_damage(p, PERFILE_DAMAGE_MOVED, PERFILE_EXTENT_FEATURE_TABLE, table,
                                    err);
}

perfile_status pf_perf_file(pf_perf_stream *p, pf_perf_part *part, pf_perf_header *h,
                            perfile_error *err)
{
    const perfile_assume *a = p->base.options.assume;
    perfile_source *s = part->source;
    perfile_container *c = &p->base.container;
    perfile_bytes head;
    perfile_status st = pf_source_run(s, 0, h->used, &head, err);
    if (st != PERFILE_OK)
        return st;
    /* A longer header is probably that of a newer perf: worth a notice, but no damage. */
    bool longer = !pf_perf_header_size_known(h) && h->size > PF_PERF_FILE_HEADER;
    if (longer && !p->base.options.as_stored)
        pf_stream_notice(&p->base, 8, "header.size", "header of %llu bytes, 104 are known",
                         (unsigned long long)h->size);
    else if (!pf_perf_header_size_known(h))
        st = pf_perf_container_damage(p, PERFILE_DAMAGE_BAD_HEADER_SIZE, PERFILE_EXTENT_HEADER, 8,
                                      err);
    if (st != PERFILE_OK)
        return st;
    unsigned damage = pf_perf_header_sections(head, h);
    if (damage)
        st = pf_perf_container_damage(p, damage, PERFILE_EXTENT_HEADER, 0, err);
    if (st != PERFILE_OK || (damage && !(a && a->data.offset)))
        return st;
    assume_sections(p, s, h);
    st = find_moved_table(p, s, h, err);
    if (st != PERFILE_OK)
        return st;

    /* The container states the sections as they were used, including the caller's assumptions. */
    c->has_sections = true;
    c->attr_size = h->attr_size;
    c->attrs = h->attrs;
    c->data = h->data;
    c->event_types = h->event_types;
    memcpy(c->features, h->features, sizeof c->features);

    if (!a || !a->n_events)
        st = pf_perf_file_attrs(p, s, h, err);
    if (st == PERFILE_OK)
        st = pf_perf_file_event_types(p, s, h, err);
    if (st == PERFILE_OK)
        st = is_unterminated(p, s, h, &c->unterminated, err);
    if (st == PERFILE_OK && !c->unterminated)
        st = add_features(p, s, h, err);
    if (st == PERFILE_OK)
        st = set_range(p, part, h, err);
    if (st == PERFILE_OK)
        find_overwritten(p, part, h);
    return st;
}

/* Reads attrs, their ids and event types from the sections that the header of a file names.
 *
 * All entries of the attr section have one size, h->attr_size: an attr, which may be shorter, and
 * in the last 16 bytes offset and size of its ids.  An event with damaged ids is still added:
 * events are counted by position, and other sections refer to these positions. */

enum {
    ATTR_ENTRY_MIN = 80, /* the first attr (64 bytes) and its id section */
    ID_SECTION = 16,     /* offset and size of ids */
    EVENT_TYPE = 72      /* an event type: u64 id and a name of 64 bytes */
};

/* Adds the event of the attr entry at `offset` to the session.  `overlaps`: its ids overlap the ids
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
        /* The event is added without ids: its records may still be attributable. */
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

/* Counts damage of the event.  Gives a notice if the size of the attr is not that of its entry, or
 * if it has nonzero bytes after the members that this library knows. */
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

/* Reads the id section of each of the `n` attrs into p->ids.  It stays empty if it is outside the
 * file. */
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

/* Allocates *overlaps, one flag for each attr: true if its ids overlap the ids of an earlier attr.
 * The caller frees it, also on failure. */
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

/* Adds all events to the session and reports damage and oddities of their attrs. */
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

/* Compares the id sections before reading any ids, so that no bytes are read for two attrs. */
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
    if (st == PERFILE_OK && h->attrs.size % h->attr_size) /* the last entry is not complete */
        st = pf_perf_container_damage(p, PERFILE_DAMAGE_BAD_ATTRS, PERFILE_EXTENT_ATTRS,
                                      h->attrs.offset + n * h->attr_size, err);
    return st;
}

/* Event types only provide names, so a section outside the file is ignored. */
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
