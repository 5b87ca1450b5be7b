/* Reading the header of perf.data.
 *
 * Two things are not stated in the header and are inferred: the byte order of version 1, whose
 * magic is text and the same in both orders, and the width of the words of the feature bitmap,
 * which perf writes as an array of `unsigned long`. */
#include "perf/header.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "schema/rows.h"
#include "base/checked.h"
#include "base/alloc.h"
#include "base/error.h"
#include "perf/stream.h"

enum { FEATURE_HOSTNAME = 3 };

static const uint8_t magic_1[8] = {'P', 'E', 'R', 'F', 'F', 'I', 'L', 'E'};
static const uint8_t magic_2[8] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};
static const uint8_t magic_2_big[8] = {'2', 'E', 'L', 'I', 'F', 'R', 'E', 'P'};

static bool known(uint64_t size)
{
    return size == PF_PERF_PIPE_HEADER || size == PF_PERF_OLD_HEADER || size == PF_PERF_FILE_HEADER;
}

bool pf_perf_header_size_known(const pf_perf_header *h)
{
    return known(h->size);
}

/* Version 1: the byte order is the one in which the header size is a known size.  If both or none
 * are, the one in which the number is smaller. */
static bool version_1_swapped(const uint8_t *size)
{
    uint64_t native = pf_load_u64(size, false);
    uint64_t swapped = pf_load_u64(size, true);
    if (known(native) != known(swapped))
        return known(swapped);
    return swapped < native;
}

unsigned pf_perf_header_begin(perfile_bytes bytes, pf_perf_header *h)
{
    memset(h, 0, sizeof *h);
    if (bytes.len < sizeof magic_1)
        return PERFILE_DAMAGE_BAD_MAGIC;
    bool is_1 = memcmp(bytes.ptr, magic_1, sizeof magic_1) == 0;
    bool is_big = memcmp(bytes.ptr, magic_2_big, sizeof magic_2_big) == 0;
    if (!is_1 && !is_big && memcmp(bytes.ptr, magic_2, sizeof magic_2) != 0)
        return PERFILE_DAMAGE_BAD_MAGIC;
    if (bytes.len < PF_PERF_PIPE_HEADER)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;

    h->version = is_1 ? 1 : 2;
    h->swap = is_1 ? version_1_swapped(bytes.ptr + 8) : is_big != (bool)PF_NATIVE_BIG;
    h->magic = pf_load_u64(bytes.ptr, PF_NATIVE_BIG);
    h->size = pf_load_u64(bytes.ptr + 8, h->swap);
    h->form = h->size == PF_PERF_PIPE_HEADER ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE;
    h->used = h->size == PF_PERF_PIPE_HEADER  ? PF_PERF_PIPE_HEADER
              : h->size == PF_PERF_OLD_HEADER ? PF_PERF_OLD_HEADER
                                              : PF_PERF_FILE_HEADER;
    return 0;
}

static bool has_hostname(const uint64_t features[4])
{
    return features[0] >> FEATURE_HOSTNAME & 1;
}

static unsigned n_unknown(const uint64_t features[4])
{
    unsigned n = 0;
    for (uint32_t i = 0; i < PERFILE_N_FEATURES; i++)
        n += (features[i / 64] >> i % 64 & 1) && !pf_feature_row(i);
    return n;
}

/* In little-endian files the bits of the bitmap lie the same for both widths of `unsigned long`; in
 * big-endian files the halves of each 64-bit word are exchanged.  HOSTNAME, which perf always
 * writes, distinguishes them; without it, the reading with fewer unknown features. */
bool pf_perf_bitmap_narrow(const uint64_t wide[4], uint64_t narrow[4])
{
    for (unsigned i = 0; i < 4; i++)
        narrow[i] = wide[i] << 32 | wide[i] >> 32;
    if (has_hostname(wide))
        return false;
    return has_hostname(narrow) || n_unknown(narrow) < n_unknown(wide);
}

static perfile_section section(pf_cursor *c)
{
    perfile_section s;
    s.offset = pf_cur_u64(c);
    s.size = pf_cur_u64(c);
    return s;
}

unsigned pf_perf_header_sections(perfile_bytes bytes, pf_perf_header *h)
{
    if (bytes.len < h->used)
        return PERFILE_DAMAGE_TRUNCATED_HEADER;
    pf_cursor c = pf_cur(bytes, h->swap);
    pf_cur_span(&c, PF_PERF_PIPE_HEADER);
    h->attr_size = pf_cur_u64(&c);
    h->attrs = section(&c);
    h->data = section(&c);
    h->event_types = section(&c);
    if (h->used == PF_PERF_FILE_HEADER) {
        uint64_t narrow[4];
        bool big = h->swap != (bool)PF_NATIVE_BIG;
        for (unsigned i = 0; i < 4; i++)
            h->features[i] = pf_cur_u64(&c);
        if (big && pf_perf_bitmap_narrow(h->features, narrow))
            memcpy(h->features, narrow, sizeof narrow);
    }
    return 0;
}

/* The feature table as it looks in damaged bytes: see header.h. */

unsigned pf_table_count(const uint64_t features[4])
{
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += (unsigned)__builtin_popcountll(features[i]);
    return n;
}

bool pf_table_plausible(const pf_table_bytes *in, uint64_t at, uint64_t n, uint64_t pad,
                        uint64_t moved, uint64_t *end)
{
    if (n == 0 || n > PF_TABLE_MOST || at < in->at ||
        !pf_within(at - in->at, n * PF_TABLE_ENTRY, in->bytes.len))
        return false;
    const uint8_t *entry = in->bytes.ptr + (at - in->at);
    uint64_t behind = at + n * PF_TABLE_ENTRY;
    uint64_t first = UINT64_MAX, last = 0, sum = 0;
    for (uint64_t i = 0; i < n; i++, entry += PF_TABLE_ENTRY) {
        uint64_t offset = pf_load_u64(entry, in->swap);
        uint64_t size = pf_load_u64(entry + 8, in->swap);
        if (i && !offset && !size)
            continue; /* perf reserved an entry for a feature that it then could not write */
        offset += moved;
        if (offset < behind || !pf_within(offset, size, in->size))
            return false;
        first = offset < first ? offset : first;
        last = offset + size > last ? offset + size : last;
        sum += size;
    }
    *end = last;
    return first - behind <= pad && last - first >= sum && last - first - sum <= pad;
}

bool pf_table_find_moved(const pf_table_bytes *in, const pf_perf_header *h, uint64_t *table)
{
    const uint64_t pad = PF_TABLE_MOST * PF_TABLE_ENTRY;
    const uint64_t n = pf_table_count(h->features);
    uint64_t stood, end;
    if (n == 0 || h->data.size == 0 || pf_add_u64(h->data.offset, h->data.size, &stood))
        return false;
    for (uint64_t i = 0; pf_within(i, n * PF_TABLE_ENTRY, in->bytes.len); i++) {
        /* Between table and first section lie the entries of features that perf could not write. */
        const uint64_t front = pf_load_u64(in->bytes.ptr + i, in->swap) - stood;
        const uint64_t at = in->at + i;
        if (front > pad || front % PF_TABLE_ENTRY || at == stood ||
            !pf_table_plausible(in, at, n, pad, at - stood, &end))
            continue;
        *table = at;
        return true;
    }
    return false;
}

/* The extents of a file: every section where the header says it is, and the gaps between them.
 *
 * All sections go into one list (add_sections()), which is sorted by offset.  One pass over it then
 * marks overlaps and appends gaps and the tail (find_gaps()), and the list is sorted again. */

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
