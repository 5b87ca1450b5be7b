/* The extents of a file: every section where the header says it is, and the gaps between them.
 *
 * All sections go into one list (add_sections()), which is sorted by offset.  One pass over it then
 * marks overlaps and appends gaps and the tail (find_gaps()), and the list is sorted again. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "perf/stream.h"

typedef struct pf_extent_list {
    perfile_extent *at; /* room for all that will be added: see pf_perf_extents() */
    uint32_t n;
    uint64_t file_size;
} pf_extent_list;

/* Appends an extent; empty ones are left out. */

static void add(pf_extent_list *list, uint32_t role, uint32_t number, uint64_t offset,
                uint64_t length)
{
    if (length == 0)
        return;
    list->at[list->n++] = (perfile_extent){.offset = offset,
                                           .length = length,
                                           .role = role,
                                           .number = number,
                                           .outside = !pf_within(offset, length, list->file_size)};
}

/* Order for qsort(): by offset, shorter ones first. */
static int by_offset(const void *a, const void *b)
{
    const perfile_extent *x = a;
    const perfile_extent *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->length < y->length ? -1 : x->length > y->length;
}

/* Adds the sections of a file, or header and records of a pipe.  A file whose writer was killed has
 * records up to its end, and no features. */
static void add_sections(pf_extent_list *list, const pf_perf_stream *p, const pf_perf_header *h)
{
    const perfile_container *c = &p->base.container;
    uint32_t n = 0;
    add(list, PERFILE_EXTENT_HEADER, 0, 0, h->used < list->file_size ? h->used : list->file_size);
    if (h->form == PERFILE_FORM_PIPE) {
        if (list->file_size > h->used)
            add(list, PERFILE_EXTENT_RECORDS, 0, h->used, list->file_size - h->used);
        return;
    }
    add(list, PERFILE_EXTENT_ATTRS, 0, h->attrs.offset, h->attrs.size);
    for (uint32_t i = 0; i < p->n_ids; i++)
        add(list, PERFILE_EXTENT_IDS, i, p->ids[i].offset, p->ids[i].size);
    add(list, PERFILE_EXTENT_EVENT_TYPES, 0, h->event_types.offset, h->event_types.size);
    uint64_t size = h->data.size;
    if (c->unterminated && list->file_size > h->data.offset)
        size = list->file_size - h->data.offset;
    add(list, PERFILE_EXTENT_RECORDS, 0, h->data.offset, size);
    if (c->unterminated)
        return;
    for (uint32_t i = 0; i < perfile_session_n_features(p->base.session); i++) {
        const perfile_feature *f = perfile_session_feature_at(p->base.session, i);
        if (f->origin != PERFILE_ORIGIN_CONTAINER)
            continue;
        n++;
        if (f->damage != PERFILE_DAMAGE_TRUNCATED_FEATURE_TABLE)
            add(list, PERFILE_EXTENT_FEATURE, f->number, f->offset, f->size);
    }
    uint64_t table;
    if (!pf_add_u64(h->data.offset, h->data.size, &table))
        add(list, PERFILE_EXTENT_FEATURE_TABLE, 0, table, (uint64_t)n * 16);
}

/* Marks overlaps of the extents, which are sorted by offset, and appends gaps and the tail. */
static void find_gaps(pf_extent_list *list)
{
    /* `end`: end of everything so far; `last`: the extent that reaches there. */
    uint64_t end = 0;
    uint32_t last = 0;
    uint32_t n = list->n;
    for (uint32_t i = 0; i < n; i++) {
        perfile_extent *e = &list->at[i];
        uint64_t behind;
        if (pf_add_u64(e->offset, e->length, &behind))
            behind = UINT64_MAX;
        if (e->offset < end)
            e->overlaps = list->at[last].overlaps = true;
        else if (e->offset > end && e->offset <= list->file_size)
            add(list, PERFILE_EXTENT_GAP, 0, end, e->offset - end);
        if (behind > end) {
            end = behind;
            last = i;
        }
    }
    if (end < list->file_size)
        add(list, PERFILE_EXTENT_TAIL, 0, end, list->file_size - end);
}

perfile_status pf_perf_extents(pf_perf_stream *p, const pf_perf_header *h, uint64_t file_size,
                               perfile_error *err)
{
    /* The 5 are header, attrs, event types, records and table.  Each extent may have a gap in
     * front, and there is one tail. */
    size_t most = 2 * ((size_t)p->n_ids + perfile_session_n_features(p->base.session) + 5) + 1;
    pf_extent_list list = {.file_size = file_size == PF_SIZE_UNKNOWN ? 0 : file_size};
    list.at = pf_alloc(most, sizeof *list.at);
    if (!list.at)
        return pf_fail_nomem(err, "extents");
    if (file_size == PF_SIZE_UNKNOWN)
        list.file_size = h->used;
    add_sections(&list, p, h);
    qsort(list.at, list.n, sizeof *list.at, by_offset);
    find_gaps(&list);
    qsort(list.at, list.n, sizeof *list.at, by_offset);
    pf_free(p->extents);
    p->extents = list.at;
    p->base.container.extents = list.at;
    p->base.container.n_extents = list.n;
    return PERFILE_OK;
}
