/* Converts a file to the other byte order in place: header, sections and features.
 *
 * Byte-swapping changes no length, so all bytes stay at their offsets. lib/convert_bytes.c copies
 * the file and swaps its records on the way; then these functions overwrite the rest.  Bytes are
 * read from the input, swapped in facts.swapped, and patched into the sink.  Bytes that cannot be
 * decoded are swapped as far as possible and reported through pf_byteswap_copy.kept. */
#include <string.h>

#include "base/buffer.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/byte_order.h"
#include "core/swap.h"
#include "io/out.h"
#include "perf/stream.h"
#include "core/command.h"

enum {
    ID_SECTION = 16,  /* offset and size of the ids, at the end of an attr entry */
    EVENT_TYPE = 72,  /* u64 id and a name of 64 bytes */
    FIRST_WORDS = 72, /* header without the feature bitmap: 64-bit words */
    BITMAP = 32       /* bytes of the feature bitmap */
};

typedef struct pf_facts {
    const pf_byteswap_copy *of;
    pf_perf_header header; /* of the input */
    pf_buffer swapped;     /* the current section */
    pf_buffer attr;        /* the current attr */
} pf_facts;

/* Swaps the 64-bit words of bytes[0 .. n).  Up to 7 bytes at the end stay as they are. */

static void swap_words(uint8_t *bytes, size_t n)
{
    for (size_t at = 0; n - at >= 8; at += 8)
        pf_store_u64(bytes + at, pf_load_u64(bytes + at, true), false);
}

/* Swaps the magic.  In version 2 it is a number and is swapped; in version 1 it is text and stays.
 */
static void swap_magic(const pf_perf_header *h, uint8_t *bytes)
{
    if (h->version != 1)
        swap_words(bytes, 8);
}

/* pf_driver.byteswap_head: swaps the 16 bytes of a pipe header. */
void pf_perf_byteswap_head(perfile_bytes bytes, uint8_t *out)
{
    pf_perf_header h;
    uint8_t magic[8];
    (void)pf_perf_header_begin(bytes, &h);
    pf_store_u64(magic, h.magic, PF_NATIVE_BIG); /* as stored */
    swap_magic(&h, magic);
    memcpy(out, magic, sizeof magic);
    pf_store_u64(out + 8, h.size, !h.swap);
}

/* Reads [offset, offset + size), cut to the size of the file, into t->swapped. */
static perfile_status load(pf_facts *t, uint64_t offset, uint64_t size, perfile_error *err)
{
    uint64_t whole = t->of->bytes->size;
    pf_buffer_clear(&t->swapped);
    if (offset >= whole)
        return PERFILE_OK;
    if (size > whole - offset)
        size = whole - offset;
    while (t->swapped.len < size) {
        perfile_bytes run;
        perfile_status st = pf_source_run(t->of->bytes, offset + t->swapped.len, 1, &run, err);
        if (st != PERFILE_OK || run.len == 0)
            return st;
        if (run.len > size - t->swapped.len)
            run.len = (size_t)(size - t->swapped.len);
        if (!pf_buffer_append(&t->swapped, run.ptr, run.len))
            return pf_fail_nomem(err, "convert");
    }
    return PERFILE_OK;
}

/* Writes t->swapped over the bytes of the copy at `offset`. */
static perfile_status put(const pf_facts *t, uint64_t offset, perfile_error *err)
{
    if (t->swapped.len == 0)
        return PERFILE_OK;
    return pf_sink_patch(t->of->sink, offset, (perfile_bytes){t->swapped.ptr, t->swapped.len}, err);
}

static perfile_status swap_header(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    size_t used = c->header_size == PF_PERF_OLD_HEADER ? PF_PERF_OLD_HEADER : PF_PERF_FILE_HEADER;
    perfile_status st = load(t, 0, used, err);
    if (st != PERFILE_OK || t->swapped.len < FIRST_WORDS)
        return st;
    swap_magic(&t->header, t->swapped.ptr);
    swap_words(t->swapped.ptr + 8, FIRST_WORDS - 8);
    /* The bitmap is stored in words of 4 or 8 bytes, depending on the writer.  The copy gets words
     * of 8 bytes, with the features as the driver has read them. */
    for (size_t i = 0; i < BITMAP / 8 && t->swapped.len == PF_PERF_FILE_HEADER; i++)
        pf_store_u64(t->swapped.ptr + FIRST_WORDS + 8 * i, c->features[i], !t->header.swap);
    return put(t, 0, err);
}

static perfile_status swap_section(pf_facts *t, perfile_section s, perfile_error *err)
{
    perfile_status st = load(t, s.offset, s.size, err);
    if (st != PERFILE_OK)
        return st;
    swap_words(t->swapped.ptr, t->swapped.len);
    return put(t, s.offset, err);
}

/* Swaps the attr entry at t->swapped[at] into t->attr and copies it back.  An attr that cannot be
 * decoded is reported to the `kept` callback, which decides whether to go on. */
static perfile_status swap_attr(pf_facts *t, size_t at, size_t entry, perfile_error *err)
{
    perfile_error why;
    perfile_bytes attr = {t->swapped.ptr + at, entry - ID_SECTION};
    if (!pf_buffer_reserve(&t->attr, attr.len))
        return pf_fail_nomem(err, "convert");
    perfile_status st = pf_swap_attr(attr, t->header.swap, t->attr.ptr, &why);
    if (st != PERFILE_OK && (st = t->of->kept(t->of->user, NULL, NULL, &why)) != PERFILE_OK && err)
        *err = why;
    memcpy(t->swapped.ptr + at, t->attr.ptr, attr.len);
    swap_words(t->swapped.ptr + at + attr.len, ID_SECTION);
    return st;
}

/* Swaps the attr section.  Entries too small for an attr are not swapped. */
static perfile_status swap_attrs(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    if (c->attr_size < 64 + ID_SECTION || c->attr_size > SIZE_MAX)
        return PERFILE_OK;
    size_t entry = (size_t)c->attr_size;
    perfile_status st = load(t, c->attrs.offset, c->attrs.size, err);
    for (size_t at = 0; st == PERFILE_OK && t->swapped.len - at >= entry; at += entry)
        st = swap_attr(t, at, entry, err);
    return st == PERFILE_OK ? put(t, c->attrs.offset, err) : st;
}

/* Swaps the ids of the event types; their names are text. */
static perfile_status swap_event_types(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    perfile_status st = load(t, c->event_types.offset, c->event_types.size, err);
    if (st != PERFILE_OK)
        return st;
    for (size_t at = 0; t->swapped.len - at >= EVENT_TYPE; at += EVENT_TYPE)
        swap_words(t->swapped.ptr + at, 8);
    return put(t, c->event_types.offset, err);
}

/* Swaps the section of one feature.  Tracing data is not swapped: it states its own byte order. */
static perfile_status swap_feature(pf_facts *t, const perfile_feature *f, perfile_error *err)
{
    perfile_error why;
    if (f->damage || f->number == PERFILE_FEATURE_TRACING_DATA || f->payload.len == 0)
        return PERFILE_OK;
    pf_buffer_clear(&t->swapped);
    if (!pf_buffer_reserve(&t->swapped, f->payload.len))
        return pf_fail_nomem(err, "convert");
    t->swapped.len = f->payload.len;
    perfile_status st = pf_swap_feature(f, t->swapped.ptr, &why);
    if (st != PERFILE_OK && (st = t->of->kept(t->of->user, NULL, f, &why)) != PERFILE_OK) {
        if (err)
            *err = why;
        return st;
    }
    return put(t, f->offset, err);
}

/* Swaps all feature sections and the feature table after the data. */
static perfile_status swap_features(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    const perfile_session *s = perfile_stream_session(t->of->stream);
    perfile_section table = {.size = 0};
    uint32_t n = pf_session_n_features(s);
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        if (f->origin != PERFILE_ORIGIN_CONTAINER)
            continue;
        table.size += sizeof(perfile_section);
        st = swap_feature(t, f, err);
    }
    if (st != PERFILE_OK || pf_add_u64(c->data.offset, c->data.size, &table.offset))
        return st;
    return swap_section(t, table, err);
}

static perfile_status swap_ids(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < c->n_extents && st == PERFILE_OK; i++) {
        const perfile_extent *e = &c->extents[i];
        if (e->role == PERFILE_EXTENT_IDS)
            st = swap_section(t, (perfile_section){e->offset, e->length}, err);
    }
    return st;
}

/* pf_driver.byteswap_facts. */
perfile_status pf_perf_byteswap_facts(const pf_byteswap_copy *of, perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(of->stream);
    pf_facts t = {.of = of};
    perfile_bytes head;
    perfile_status st = pf_source_run(of->bytes, 0, PF_PERF_PIPE_HEADER, &head, err);
    if (st != PERFILE_OK || pf_perf_header_begin(head, &t.header))
        return st;
    st = swap_features(&t, c, err);
    if (st == PERFILE_OK)
        st = swap_event_types(&t, c, err);
    if (st == PERFILE_OK)
        st = swap_ids(&t, c, err);
    if (st == PERFILE_OK)
        st = swap_attrs(&t, c, err);
    if (st == PERFILE_OK)
        st = swap_header(&t, c, err);
    pf_buffer_free(&t.swapped);
    pf_buffer_free(&t.attr);
    return st;
}
