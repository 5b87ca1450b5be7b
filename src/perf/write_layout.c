/* The sections around the records of a file: header, ids, attrs and event types in front, feature
 * table and features behind.
 *
 * Offsets and sizes in the header are known only at the end, so 104 zero bytes are written first
 * and patched last: an unfinished file has no magic and is not taken for a capture.  A progressive
 * file can be read at any time.  Its header is written three times: at the beginning with a data
 * size of 0, which readers take for "to the end of the file"; with the real size before the
 * features are written; and with the features at the end.  At no time does it claim anything that
 * is not in the file. */
#include "base/error.h"
#include "base/byte_order.h"
#include "io/out.h"
#include "perf/write.h"
#include "schema/attr_places.h"

enum { ID_SECTION = 16, TABLE_ENTRY = 16 };

/* Writes 64-bit words in the byte order of the capture. */
static perfile_status put_words(pf_perf_writer *w, const uint64_t *words, size_t n,
                                perfile_error *err)
{
    uint64_t stored[4];
    perfile_status st = PERFILE_OK;
    while (n && st == PERFILE_OK) {
        size_t some = n < 4 ? n : 4;
        for (size_t i = 0; i < some; i++)
            stored[i] = pf_write_u64(w, words[i]);
        st = perfile_sink_write(w->base.sink, (perfile_bytes){(const uint8_t *)stored, 8 * some},
                                err);
        words += some;
        n -= some;
    }
    return st;
}

static perfile_status put_zeros(pf_perf_writer *w, size_t n, perfile_error *err)
{
    static const uint8_t zeros[64];
    perfile_status st = PERFILE_OK;
    for (; n && st == PERFILE_OK; n -= n < sizeof zeros ? n : sizeof zeros)
        st = perfile_sink_write(w->base.sink,
                                (perfile_bytes){zeros, n < sizeof zeros ? n : sizeof zeros}, err);
    return st;
}

perfile_status pf_write_attr(pf_perf_writer *w, const pf_written_event *e, size_t size,
                             pf_buffer *to, perfile_error *err)
{
    if (!pf_buffer_reserve(to, size))
        return pf_fail_nomem(err, "writer.attr");
    uint8_t *attr = to->ptr + to->len;
    size_t n = e->attr_len < size ? e->attr_len : size; /* check_attr(): cut bytes are zero */
    memcpy(attr, w->facts.ptr + e->attr, n);
    memset(attr + n, 0, size - n);
    /* A size of 0 stands for 64, the first attr, and is kept. */
    uint32_t own = pf_load_u32(attr + PF_ATTR_SIZE_AT, w->base.swap);
    if (own != size && (own != 0 || size != 64))
        pf_store_u32(attr + PF_ATTR_SIZE_AT, (uint32_t)size, w->base.swap);
    to->len += size;
    return PERFILE_OK;
}

/* Writes an entry of the attr section: attr, offset and size of its ids.  perf looks for the id
 * section behind attr.size bytes, so all attrs of a file must state the size that the entries
 * have. */
static perfile_status put_attr(pf_perf_writer *w, const pf_written_event *e, uint64_t ids_at,
                               perfile_error *err)
{
    uint64_t ids[2] = {ids_at, e->ids_len};
    pf_buffer_clear(&w->own);
    perfile_status st = pf_write_attr(w, e, (size_t)(w->entry_size - ID_SECTION), &w->own, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(w->base.sink, (perfile_bytes){w->own.ptr, w->own.len}, err);
    return st == PERFILE_OK ? put_words(w, ids, 2, err) : st;
}

/* Writes ids, attrs and event types, and sets their sections and w->data_start. */
static perfile_status put_events(pf_perf_writer *w, perfile_error *err)
{
    uint64_t at = PF_PERF_FILE_HEADER;
    perfile_status st = PERFILE_OK;
    w->entry_size = 64 + ID_SECTION;
    for (uint32_t i = 0; i < w->n_events && st == PERFILE_OK; i++) {
        const pf_written_event *e = pf_write_event_at(w, i);
        if (w->entry_size < e->attr_len + ID_SECTION)
            w->entry_size = e->attr_len + ID_SECTION;
        if (e->ids_len)
            st = perfile_sink_write(w->base.sink, pf_write_fact(w, e->ids, e->ids_len), err);
    }
    /* perf compares the entry size with the sizes it knows: it must not be 0, and must be a
     * multiple of 8. */
    w->entry_size = (w->entry_size + 7) & ~UINT64_C(7);
    if (w->attr_size)
        w->entry_size = w->attr_size + ID_SECTION;
    for (uint32_t i = 0; i < w->n_events && st == PERFILE_OK; i++) {
        const pf_written_event *e = pf_write_event_at(w, i);
        st = put_attr(w, e, e->ids_len ? at : 0, err);
        at += e->ids_len;
    }
    w->attrs = (perfile_section){at, w->n_events * w->entry_size};
    w->types = (perfile_section){at + w->attrs.size, w->event_types.len};
    w->data_start = w->types.offset + w->types.size;
    if (st == PERFILE_OK && w->types.size)
        st = perfile_sink_write(w->base.sink,
                                (perfile_bytes){w->event_types.ptr, w->event_types.len}, err);
    return st;
}

/* Patches the header for `size` bytes of records and the features of `bitmap`. */
static perfile_status put_header(pf_perf_writer *w, uint64_t size, const uint64_t bitmap[4],
                                 perfile_error *err)
{
    uint64_t header[PF_PERF_FILE_HEADER / 8] = {
        [1] = PF_PERF_FILE_HEADER,
        [2] = w->entry_size,
        [3] = w->attrs.offset,
        [4] = w->attrs.size,
        [5] = w->data_start,
        [6] = size,
        [7] = w->types.size ? w->types.offset : 0,
        [8] = w->types.size,
        [9] = bitmap[0],
        [10] = bitmap[1],
        [11] = bitmap[2],
        [12] = bitmap[3],
    };
    for (size_t i = 0; i < sizeof header / 8; i++)
        header[i] = pf_write_u64(w, header[i]);
    memcpy(header, w->base.swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    return pf_sink_patch(w->base.sink, 0, (perfile_bytes){(const uint8_t *)header, sizeof header},
                         err);
}

static const uint64_t no_features[4];

/* Writes zeros for the header, and ids, attrs and event types.  A progressive file gets its first
 * header: everything but the size of the records. */
perfile_status pf_write_file_front(pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = put_zeros(w, PF_PERF_FILE_HEADER, err);
    if (st == PERFILE_OK)
        st = put_events(w, err);
    return st == PERFILE_OK && w->progressive ? put_header(w, 0, no_features, err) : st;
}

/* Makes the feature AUXTRACE, an index of the AUXTRACE records that were written, and replaces one
 * that the caller has set, because its offsets are those of another file. */
static perfile_status make_aux_index(pf_perf_writer *w, perfile_error *err)
{
    w->features[PERFILE_FEATURE_AUXTRACE].there = false;
    if (!w->aux_index.len)
        return PERFILE_OK;
    uint64_t n = pf_write_u64(w, w->aux_index.len / TABLE_ENTRY);
    pf_written_feature f = {.there = true, .len = sizeof n + w->aux_index.len};
    size_t behind;
    perfile_status st =
        pf_write_keep(w, (perfile_bytes){(const uint8_t *)&n, sizeof n}, &f.at, err);
    if (st == PERFILE_OK)
        st = pf_write_keep(w, (perfile_bytes){w->aux_index.ptr, w->aux_index.len}, &behind, err);
    if (st == PERFILE_OK)
        w->features[PERFILE_FEATURE_AUXTRACE] = f;
    return st;
}

static void count_features(const pf_perf_writer *w, uint64_t bitmap[4], uint64_t *n)
{
    memset(bitmap, 0, 4 * sizeof bitmap[0]);
    *n = 0;
    for (uint32_t i = 0; i < PERFILE_N_FEATURES; i++) {
        bitmap[i / 64] |= (uint64_t)w->features[i].there << i % 64;
        *n += w->features[i].there;
    }
}

/* Adds an empty HOSTNAME to big-endian files that need it.  Readers infer from this feature how
 * wide the words of the bitmap are (pf_perf_bitmap_narrow()), and perf ignores all features of such
 * a file without it, even those without which records cannot be read. */
static perfile_status make_hostname(pf_perf_writer *w, perfile_error *err)
{
    uint64_t bitmap[4], narrow[4], n;
    bool big = w->base.swap != (bool)PF_NATIVE_BIG;
    bool needed = w->target || w->features[PERFILE_FEATURE_COMPRESSED].there ||
                  w->features[PERFILE_FEATURE_DIR_FORMAT].there ||
                  w->features[PERFILE_FEATURE_AUXTRACE].there;
    count_features(w, bitmap, &n);
    if (!big || w->features[PERFILE_FEATURE_HOSTNAME].there ||
        (!needed && !pf_perf_bitmap_narrow(bitmap, narrow)))
        return PERFILE_OK;
    return perfile_writer_text(&w->base, PERFILE_FEATURE_HOSTNAME, "", err);
}

/* Writes feature table and features, and fills `bitmap`. */
static perfile_status put_features(pf_perf_writer *w, uint64_t bitmap[4], perfile_error *err)
{
    uint64_t n;
    count_features(w, bitmap, &n);
    uint64_t at = w->data_start + w->parts[0].bytes + n * TABLE_ENTRY;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < PERFILE_N_FEATURES && st == PERFILE_OK; i++) {
        uint64_t entry[2] = {at, w->features[i].len};
        if (!w->features[i].there)
            continue;
        st = put_words(w, entry, 2, err);
        at += entry[1];
    }
    for (uint32_t i = 0; i < PERFILE_N_FEATURES && st == PERFILE_OK; i++)
        if (w->features[i].there)
            st = perfile_sink_write(w->base.sink,
                                    pf_write_fact(w, w->features[i].at, w->features[i].len), err);
    return st;
}

/* Sets the feature DIR_FORMAT of a directory: 0 if `data` has all records, 1 with files data.N. */
static perfile_status make_dir_format(pf_perf_writer *w, perfile_error *err)
{
    uint64_t version = pf_write_u64(w, w->n_parts > 1);
    pf_written_feature f = {.there = w->base.directory, .len = sizeof version};
    if (!w->base.directory)
        return PERFILE_OK;
    perfile_status st =
        pf_write_keep(w, (perfile_bytes){(const uint8_t *)&version, sizeof version}, &f.at, err);
    if (st == PERFILE_OK)
        w->features[PERFILE_FEATURE_DIR_FORMAT] = f;
    return st;
}

perfile_status pf_write_file_back(pf_perf_writer *w, perfile_error *err)
{
    uint64_t bitmap[4];
    uint64_t size = w->parts[0].bytes;
    perfile_status st = make_aux_index(w, err);
    if (st == PERFILE_OK)
        st = make_dir_format(w, err);
    if (st == PERFILE_OK)
        st = pf_write_compressed_feature(w, err);
    if (st == PERFILE_OK)
        st = pf_write_event_desc(w, err);
    if (st == PERFILE_OK)
        st = make_hostname(w, err);
    /* A progressive file gets the real data size before the feature table is written: if the
     * program is killed in between, the table must not be taken for records. */
    if (st == PERFILE_OK && w->progressive)
        st = perfile_sink_flush(w->base.sink, err);
    if (st == PERFILE_OK && w->progressive && size)
        st = put_header(w, size, no_features, err);
    if (st == PERFILE_OK)
        st = put_features(w, bitmap, err);
    if (st == PERFILE_OK && w->progressive)
        st = perfile_sink_flush(w->base.sink, err);
    return st == PERFILE_OK ? put_header(w, size, bitmap, err) : st;
}
