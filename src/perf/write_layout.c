/* What stands around the records of a capture: header, ids and attrs before them, feature table and
 * features behind them. */
#include "base/error.h"
#include "base/order.h"
#include "io/out.h"
#include "perf/write.h"

enum { ID_SECTION = 16, TABLE_ENTRY = 16, ATTR_SIZE_AT = 4 };

static uint64_t word(const perfile_writer *w, uint64_t v)
{
    return w->swap ? pf_swap_u64(v) : v;
}

static perfile_status put_words(perfile_writer *w, const uint64_t *words, size_t n,
                                perfile_error *err)
{
    uint64_t stored[4];
    perfile_status st = PERFILE_OK;
    while (n && st == PERFILE_OK) {
        size_t some = n < 4 ? n : 4;
        for (size_t i = 0; i < some; i++)
            stored[i] = word(w, words[i]);
        st = perfile_sink_write(w->sink, (perfile_bytes){(const uint8_t *)stored, 8 * some}, err);
        words += some;
        n -= some;
    }
    return st;
}

static perfile_status put_zeros(perfile_writer *w, size_t n, perfile_error *err)
{
    static const uint8_t zeros[64];
    perfile_status st = PERFILE_OK;
    for (; n && st == PERFILE_OK; n -= n < sizeof zeros ? n : sizeof zeros)
        st = perfile_sink_write(w->sink,
                                (perfile_bytes){zeros, n < sizeof zeros ? n : sizeof zeros}, err);
    return st;
}

static const pf_written_event *event_at(const perfile_writer *w, uint32_t i)
{
    return (const pf_written_event *)(const void *)w->events.ptr + i;
}

/* perf looks for the ids of an attr behind as many bytes as the attr says it has: all attrs of a
 * file have one size, and say so. */
static perfile_status put_attr(perfile_writer *w, const pf_written_event *e, uint64_t ids_at,
                               perfile_error *err)
{
    uint64_t size = w->entry_size - ID_SECTION;
    uint64_t ids[2] = {ids_at, e->ids_len};
    const uint8_t *attr = w->facts.ptr + e->attr;
    uint32_t own = pf_load_u32(attr + ATTR_SIZE_AT, w->swap);
    perfile_status st = PERFILE_OK;
    if (own == size || (own == 0 && size == 64)) {
        st = perfile_sink_write(w->sink, (perfile_bytes){attr, (size_t)size}, err);
    } else {
        uint32_t said = w->swap ? pf_swap_u32((uint32_t)size) : (uint32_t)size;
        const size_t behind = ATTR_SIZE_AT + sizeof said;
        st = perfile_sink_write(w->sink, (perfile_bytes){attr, ATTR_SIZE_AT}, err);
        if (st == PERFILE_OK)
            st = perfile_sink_write(w->sink, (perfile_bytes){(const uint8_t *)&said, sizeof said},
                                    err);
        if (st == PERFILE_OK)
            st = perfile_sink_write(w->sink, (perfile_bytes){attr + behind, e->attr_len - behind},
                                    err);
        if (st == PERFILE_OK)
            st = put_zeros(w, (size_t)size - e->attr_len, err);
    }
    return st == PERFILE_OK ? put_words(w, ids, 2, err) : st;
}

static perfile_status put_events(perfile_writer *w, perfile_error *err)
{
    uint64_t at = PF_PERF_FILE_HEADER;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < w->n_events && st == PERFILE_OK; i++) {
        const pf_written_event *e = event_at(w, i);
        if (w->entry_size < e->attr_len + ID_SECTION)
            w->entry_size = e->attr_len + ID_SECTION;
        if (e->ids_len)
            st = perfile_sink_write(w->sink, (perfile_bytes){w->facts.ptr + e->ids, e->ids_len},
                                    err);
    }
    /* perf compares it with what it knows: never 0, and a multiple of 8. */
    w->entry_size = w->n_events ? (w->entry_size + 7) & ~UINT64_C(7) : 64 + ID_SECTION;
    for (uint32_t i = 0; i < w->n_events && st == PERFILE_OK; i++) {
        const pf_written_event *e = event_at(w, i);
        st = put_attr(w, e, e->ids_len ? at : 0, err);
        at += e->ids_len;
    }
    w->attrs = (perfile_section){at, w->n_events * w->entry_size};
    w->types = (perfile_section){at + w->attrs.size, w->event_types.len};
    w->data_start = w->types.offset + w->types.size;
    if (st == PERFILE_OK && w->types.size)
        st = perfile_sink_write(w->sink, (perfile_bytes){w->event_types.ptr, w->event_types.len},
                                err);
    return st;
}

static perfile_status put_magic(perfile_writer *w, uint64_t size, perfile_error *err)
{
    const char *magic = w->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2";
    perfile_status st =
        perfile_sink_write(w->sink, (perfile_bytes){(const uint8_t *)magic, 8}, err);
    return st == PERFILE_OK ? put_words(w, &size, 1, err) : st;
}

/* The header of a file is zero until everything else is written: nobody takes a part of one for the
 * whole. */
perfile_status pf_write_front(perfile_writer *w, perfile_error *err)
{
    if (w->form == PERFILE_FORM_PIPE) {
        w->data_start = PF_PERF_PIPE_HEADER;
        return put_magic(w, PF_PERF_PIPE_HEADER, err);
    }
    perfile_status st = put_zeros(w, PF_PERF_FILE_HEADER, err);
    return st == PERFILE_OK ? put_events(w, err) : st;
}

/* The index of AUX traces, made from where they went. */
static perfile_status make_aux_index(perfile_writer *w, perfile_error *err)
{
    w->features[PERFILE_FEATURE_AUXTRACE].there = false;
    if (!w->aux_index.len)
        return PERFILE_OK;
    pf_buffer b = {0};
    uint64_t n = word(w, w->aux_index.len / TABLE_ENTRY);
    perfile_status st = PERFILE_OK;
    if (!pf_buffer_append(&b, &n, sizeof n) ||
        !pf_buffer_append(&b, w->aux_index.ptr, w->aux_index.len))
        st = pf_fail_nomem(err, "writer.aux_index");
    if (st == PERFILE_OK)
        st =
            perfile_writer_feature(w, PERFILE_FEATURE_AUXTRACE, (perfile_bytes){b.ptr, b.len}, err);
    pf_buffer_free(&b);
    return st;
}

static perfile_status put_features(perfile_writer *w, uint64_t bitmap[4], perfile_error *err)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < PERFILE_N_FEATURES; i++) {
        bitmap[i / 64] |= (uint64_t)w->features[i].there << i % 64;
        n += w->features[i].there;
    }
    uint64_t at = w->data_start + w->data_bytes + n * TABLE_ENTRY;
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
            st = perfile_sink_write(
                w->sink, (perfile_bytes){w->facts.ptr + w->features[i].at, w->features[i].len},
                err);
    return st;
}

perfile_status pf_write_back(perfile_writer *w, perfile_error *err)
{
    uint64_t bitmap[4] = {0};
    perfile_status st = make_aux_index(w, err);
    if (st == PERFILE_OK)
        st = put_features(w, bitmap, err);
    if (st != PERFILE_OK)
        return st;
    uint64_t header[PF_PERF_FILE_HEADER / 8] = {
        [1] = PF_PERF_FILE_HEADER,
        [2] = w->entry_size,
        [3] = w->attrs.offset,
        [4] = w->attrs.size,
        [5] = w->data_start,
        [6] = w->data_bytes,
        [7] = w->types.size ? w->types.offset : 0,
        [8] = w->types.size,
        [9] = bitmap[0],
        [10] = bitmap[1],
        [11] = bitmap[2],
        [12] = bitmap[3],
    };
    for (size_t i = 0; i < sizeof header / 8; i++)
        header[i] = word(w, header[i]);
    memcpy(header, w->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    return pf_sink_patch(w->sink, 0, (perfile_bytes){(const uint8_t *)header, sizeof header}, err);
}
