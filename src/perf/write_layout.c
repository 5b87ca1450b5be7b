/* Writes the sections around the records of a file: header, ids, attrs and event types before them,
 * feature table and features after them.
 *
 * Offsets and sizes in the header are known only at the end.  So 104 zero bytes are written first
 * and patched last: an unfinished file has no magic and is not taken for a capture.  A progressive
 * file can be read at any time.  Its header is written three times: at the beginning, with a data
 * size of 0, which for readers means "to the end of the file"; before the features are written,
 * with the real data size; and at the end, with the features.  It never claims anything that is not
 * in the file. */
#include "base/byte_order.h"
#include "base/error.h"
#include "io/out.h"
#include "perf/write.h"
#include "schema/types.h"
#include "perfile/sink.h"
#include "schema/command.h"

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
    /* A size of 0 means 64, the size of the first attr, and is not changed. */
    uint32_t own = pf_load_u32(attr + PF_ATTR_SIZE_AT, w->base.swap);
    if (own != size && (own != 0 || size != 64))
        pf_store_u32(attr + PF_ATTR_SIZE_AT, (uint32_t)size, w->base.swap);
    to->len += size;
    return PERFILE_OK;
}

/* Writes an entry of the attr section: attr, offset and size of its ids. perf expects the id
 * section after attr.size bytes, so all attrs of a file must have the size that the entries have
 * room for. */
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
    /* perf compares the entry size with known sizes: it must not be 0, and must be a multiple of 8.
     */
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
    memcpy(header,
           w->version_1                          ? "PERFFILE" /* in either byte order */
           : w->base.swap != (bool)PF_NATIVE_BIG ? "2ELIFREP"
                                                 : "PERFILE2",
           8);
    return pf_sink_patch(w->base.sink, 0, (perfile_bytes){(const uint8_t *)header, sizeof header},
                         err);
}

static const uint64_t no_features[4];

/* Writes zeros for the header, then ids, attrs and event types.  A progressive file gets its first
 * header: everything but the size of the records. */
perfile_status pf_write_file_front(pf_perf_writer *w, perfile_error *err)
{
    perfile_status st = put_zeros(w, PF_PERF_FILE_HEADER, err);
    if (st == PERFILE_OK)
        st = put_events(w, err);
    return st == PERFILE_OK && w->progressive ? put_header(w, 0, no_features, err) : st;
}

/* Makes the feature AUXTRACE, an index of the AUXTRACE records that were written.  It replaces one
 * that the caller has set, which has the offsets of another file. */
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

/* Adds an empty HOSTNAME to big-endian files that need it.  Readers infer the width of the words of
 * the bitmap from this feature (pf_perf_bitmap_narrow()).  Without it, perf ignores all features of
 * such a file, even those that are needed to read records. */
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

/* Sets the feature DIR_FORMAT of a directory: 0 if `data` has all records, 1 if there are files
 * data.N. */
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

/* Writes the facts of a capture as records of a pipe: events as HEADER_ATTR, features as
 * HEADER_FEATURE, TRACING_DATA and BUILD_ID as record types of their own.
 *
 * A record of a pipe has less than 64 KiB, and some features cannot be in a pipe.  Both errors are
 * reported when the feature is set (pf_write_pipe_check_feature()), not when it is written. */

enum {
    FEATURE_FIXED = 16, /* header and number of HEADER_FEATURE */
    FEATURE_MOST = PF_RECORD_MOST - FEATURE_FIXED,
    TRACING_FIXED = 16 /* HEADER_TRACING_DATA; the data follows it */
};

static const uint8_t zeros[8];

/* Stores a record header at `at`. */
static void put_record_header(const pf_perf_writer *w, uint8_t *at, uint32_t type, uint16_t misc,
                              size_t size)
{
    pf_store_u32(at, type, w->base.swap);
    pf_store_u16(at + 4, misc, w->base.swap);
    pf_store_u16(at + 6, (uint16_t)size, w->base.swap);
}

perfile_status pf_write_pipe_event(pf_perf_writer *w, const pf_written_event *e, perfile_error *err)
{
    /* Readers expect the ids at a multiple of 8. */
    size_t attr = w->attr_size ? w->attr_size : (e->attr_len + 7) & ~(size_t)7;
    size_t size = PF_PERF_RECORD_HEADER + attr + e->ids_len;
    pf_buffer_clear(&w->own);
    if (!pf_buffer_reserve(&w->own, size))
        return pf_fail_nomem(err, "writer.own");
    put_record_header(w, w->own.ptr, PERFILE_RECORD_HEADER_ATTR, 0, size);
    w->own.len = PF_PERF_RECORD_HEADER;
    perfile_status st = pf_write_attr(w, e, attr, &w->own, err);
    if (st == PERFILE_OK && e->ids_len)
        (void)pf_buffer_append(&w->own, w->facts.ptr + e->ids, e->ids_len);
    return st == PERFILE_OK ? pf_write_bytes(w, (perfile_bytes){w->own.ptr, w->own.len}, err) : st;
}

/* Writes a HEADER_TRACING_DATA record and the data after it, padded to 8. */
static perfile_status put_tracing(pf_perf_writer *w, perfile_bytes payload, perfile_error *err)
{
    size_t padded = (payload.len + 7) & ~(size_t)7;
    uint8_t record[TRACING_FIXED] = {0};
    put_record_header(w, record, PERFILE_RECORD_HEADER_TRACING_DATA, 0, sizeof record);
    pf_store_u32(record + PF_PERF_RECORD_HEADER, (uint32_t)padded, w->base.swap);
    perfile_status st = pf_write_bytes(w, (perfile_bytes){record, sizeof record}, err);
    if (st == PERFILE_OK)
        st = pf_write_bytes(w, payload, err);
    return st == PERFILE_OK ? pf_write_bytes(w, (perfile_bytes){zeros, padded - payload.len}, err)
                            : st;
}

/* Cuts the next entry off the content of the feature BUILD_ID.  An entry looks like a record except
 * for its type, and need not be padded.  Returns PERFILE_END after the last entry. */
static perfile_status next_build_id(const pf_perf_writer *w, perfile_bytes *rest,
                                    perfile_bytes *entry, perfile_error *err)
{
    enum { LEAST = 36, MOST = PF_RECORD_MOST - 7 };
    if (rest->len == 0)
        return PERFILE_END;
    size_t size = rest->len < PF_PERF_RECORD_HEADER ? 0 : pf_load_u16(rest->ptr + 6, w->base.swap);
    if (size < LEAST || size > MOST || size > rest->len)
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                       "BUILD_ID: an entry of %zu bytes, with %zu left; a record of a pipe has %d "
                       "to %d",
                       size, rest->len, LEAST, MOST);
    *entry = (perfile_bytes){rest->ptr, size};
    rest->ptr += size;
    rest->len -= size;
    return PERFILE_OK;
}

/* Writes a HEADER_BUILD_ID record for each entry of the feature BUILD_ID, padded to 8. */
static perfile_status put_build_ids(pf_perf_writer *w, perfile_bytes payload, perfile_error *err)
{
    perfile_bytes entry = {NULL, 0};
    perfile_status st;
    while ((st = next_build_id(w, &payload, &entry, err)) == PERFILE_OK) {
        size_t padded = (entry.len + 7) & ~(size_t)7;
        uint8_t header[PF_PERF_RECORD_HEADER];
        put_record_header(w, header, PERFILE_RECORD_HEADER_BUILD_ID,
                          pf_load_u16(entry.ptr + 4, w->base.swap), padded);
        st = pf_write_bytes(w, (perfile_bytes){header, sizeof header}, err);
        if (st == PERFILE_OK)
            st = pf_write_bytes(
                w, (perfile_bytes){entry.ptr + sizeof header, entry.len - sizeof header}, err);
        if (st == PERFILE_OK)
            st = pf_write_bytes(w, (perfile_bytes){zeros, padded - entry.len}, err);
        if (st != PERFILE_OK)
            return st;
    }
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* Returns true if BUILD_ID has entries of the old layout, without process ids. */
static bool is_old_build_ids(const pf_perf_writer *w, perfile_bytes payload)
{
    perfile_feature f = {.number = PERFILE_FEATURE_BUILD_ID,
                         .flags = w->base.swap ? PERFILE_REC_SWAPPED : 0,
                         .size = payload.len,
                         .payload = payload};
    perfile_build_ids b;
    return perfile_build_ids_decode(&f, &b, sizeof b, NULL) == PERFILE_OK &&
           b.build_ids.old_build_id;
}

perfile_status pf_write_pipe_check_feature(const pf_perf_writer *w, uint32_t number,
                                           perfile_bytes payload, perfile_error *err)
{
    /* Readers take an empty feature with this number or a larger one for the end of the list. */
    enum { FIRST_END = 32 };
    perfile_bytes entry, rest = payload;
    perfile_status st;
    switch (number) {
    case PERFILE_FEATURE_AUXTRACE:
    case PERFILE_FEATURE_DIR_FORMAT:
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                       "feature %s states offsets in a file: a pipe has none",
                       pf_feature_name(number));
    case PERFILE_FEATURE_TRACING_DATA:
        return payload.len <= UINT32_MAX - 7
                   ? PERFILE_OK
                   : pf_fail(err, PERFILE_E_LIMIT, "writer.feature",
                             "TRACING_DATA of %zu bytes: a pipe has room for %lu", payload.len,
                             (unsigned long)UINT32_MAX - 7);
    case PERFILE_FEATURE_BUILD_ID:
        if (is_old_build_ids(w, payload))
            return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer.feature",
                           "BUILD_ID without process ids, as perf before 2.6.35 wrote it: a pipe "
                           "has no such records");
        while ((st = next_build_id(w, &rest, &entry, err)) == PERFILE_OK)
            continue;
        return st == PERFILE_END ? PERFILE_OK : st;
    default:
        break;
    }
    if (w->target && !pf_release_knows_type(w->target, PERFILE_RECORD_HEADER_FEATURE))
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                       "perf %s knows no features in a pipe, and stops at one", w->target->name);
    if (w->target && number > w->target->feature)
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                       "perf %s knows features up to %u, and stops at %u in a pipe",
                       w->target->name, w->target->feature, number);
    if (payload.len > FEATURE_MOST)
        return pf_fail(err, PERFILE_E_LIMIT, "writer.feature",
                       "feature %u of %zu bytes: a record of a pipe holds %d of it; leave it out, "
                       "or write a file",
                       number, payload.len, FEATURE_MOST);
    if (payload.len == 0 && number >= FIRST_END)
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                       "feature %u without content would end the list of features", number);
    return PERFILE_OK;
}

perfile_status pf_write_pipe_feature(pf_perf_writer *w, uint32_t number, perfile_bytes payload,
                                     perfile_error *err)
{
    if (number == PERFILE_FEATURE_TRACING_DATA)
        return put_tracing(w, payload, err);
    if (number == PERFILE_FEATURE_BUILD_ID)
        return put_build_ids(w, payload, err);
    uint8_t record[FEATURE_FIXED];
    put_record_header(w, record, PERFILE_RECORD_HEADER_FEATURE, 0, FEATURE_FIXED + payload.len);
    pf_store_u64(record + PF_PERF_RECORD_HEADER, number, w->base.swap);
    perfile_status st = pf_write_bytes(w, (perfile_bytes){record, sizeof record}, err);
    return st == PERFILE_OK ? pf_write_bytes(w, payload, err) : st;
}

/* Writes the 16-byte header of a pipe.  It bypasses the parts, because it does not count as bytes
 * of records. */
static perfile_status put_magic(pf_perf_writer *w, perfile_error *err)
{
    const char *magic = w->base.swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2";
    uint8_t header[PF_PERF_PIPE_HEADER];
    memcpy(header, magic, 8);
    pf_store_u64(header + 8, PF_PERF_PIPE_HEADER, w->base.swap);
    w->data_start = sizeof header;
    return perfile_sink_write(w->base.sink, (perfile_bytes){header, sizeof header}, err);
}

/* Writes a feature if it was set. */
static perfile_status put_feature(pf_perf_writer *w, uint32_t number, perfile_error *err)
{
    const pf_written_feature *f = &w->features[number];
    if (!f->there)
        return PERFILE_OK;
    return pf_write_pipe_feature(w, number, pf_write_fact(w, f->at, f->len), err);
}

static perfile_bytes text_of(const char *text)
{
    return (perfile_bytes){(const uint8_t *)text, strlen(text)};
}

/* Returns the version of the tool that recorded the capture, if the capture has it. */
static perfile_bytes recorded_by(const pf_perf_writer *w)
{
    const pf_written_feature *set = &w->features[PERFILE_FEATURE_VERSION];
    const perfile_feature f = {.number = PERFILE_FEATURE_VERSION,
                               .flags = w->base.swap ? PERFILE_REC_SWAPPED : 0,
                               .size = set->len,
                               .payload = pf_write_fact(w, set->at, set->len)};
    perfile_tool_version v;
    if (!set->there || perfile_tool_version_decode(&f, &v, sizeof v, NULL) != PERFILE_OK)
        return (perfile_bytes){NULL, 0};
    return v.string;
}

/* Returns the number of the empty feature that ends the list; each version of perf has its own.
 * Without a target, it is the number of the perf that recorded the capture.  If that version is
 * unknown or wrote no features to pipes, it is the number of 6.1 (32): versions 5.14 to 6.x wait
 * for it, newer ones accept it. 0 means that no end marker is written. */
static uint32_t number_of_end(const pf_perf_writer *w)
{
    uint32_t last = 0;
    if (w->target)
        return pf_end_of_features(text_of(w->target->name));
    for (uint32_t i = 0; i < PERFILE_N_FEATURES; i++)
        if (w->features[i].there)
            last = i;
    uint32_t end = pf_end_of_features(recorded_by(w));
    return pf_end_of_features_behind(end ? end : pf_end_of_features(text_of("6.1")), last);
}

/* Writes the end marker of the features; `perf report` of 4.17 and newer waits for it. */
static perfile_status end_features(pf_perf_writer *w, perfile_error *err)
{
    uint32_t number = number_of_end(w);
    if (!number)
        return PERFILE_OK;
    return pf_write_pipe_feature(w, number, (perfile_bytes){NULL, 0}, err);
}

/* Writes everything before the records, in the order of perf: header, events, features and their
 * end marker, tracing data, build ids. */
perfile_status pf_write_pipe_front(pf_perf_writer *w, perfile_error *err)
{
    bool any = false;
    perfile_status st = put_magic(w, err);
    for (uint32_t i = 0; i < w->n_events && st == PERFILE_OK; i++)
        st = pf_write_pipe_event(w, pf_write_event_at(w, i), err);
    if (st == PERFILE_OK)
        st = pf_write_compressed_feature(w, err);
    /* TRACING_DATA and BUILD_ID, the first two features, follow as records of their own types. */
    for (uint32_t i = PERFILE_FEATURE_BUILD_ID + 1; i < PERFILE_N_FEATURES && st == PERFILE_OK;
         i++) {
        any |= w->features[i].there;
        st = put_feature(w, i, err);
    }
    if (st == PERFILE_OK && any)
        st = end_features(w, err);
    if (st == PERFILE_OK)
        st = put_feature(w, PERFILE_FEATURE_TRACING_DATA, err);
    return st == PERFILE_OK ? put_feature(w, PERFILE_FEATURE_BUILD_ID, err) : st;
}
