/* Header, sections and features of a file in the other byte order, each at its place. */
#include <string.h>

#include "base/buffer.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/byte_order.h"
#include "core/swap.h"
#include "io/out.h"
#include "perf/driver.h"
#include "perf/header.h"

enum { ID_SECTION = 16, EVENT_TYPE = 72, FIRST_WORDS = 72, BITMAP = 32 };

typedef struct pf_facts {
    const pf_turning *of;
    pf_perf_header header;
    pf_buffer turned;
    pf_buffer attr;
} pf_facts;

static void turn_words(uint8_t *bytes, size_t n)
{
    for (size_t at = 0; n - at >= 8; at += 8)
        pf_store_u64(bytes + at, pf_load_u64(bytes + at, true), false);
}

/* The magic of version 2 is a number, that of version 1 is text. */
static void turn_magic(const pf_perf_header *h, uint8_t *bytes)
{
    if (h->version != 1)
        turn_words(bytes, 8);
}

void pf_perf_byteswap_head(perfile_bytes bytes, uint8_t *out)
{
    pf_perf_header h;
    uint8_t magic[8];
    (void)pf_perf_header_begin(bytes, &h);
    pf_store_u64(magic, h.magic, PF_NATIVE_BIG); /* as stored */
    turn_magic(&h, magic);
    memcpy(out, magic, sizeof magic);
    pf_store_u64(out + 8, h.size, !h.swap);
}

/* The part of [offset, offset + size) that is in the file, in t->turned. */
static perfile_status load(pf_facts *t, uint64_t offset, uint64_t size, perfile_error *err)
{
    uint64_t whole = t->of->bytes->size;
    pf_buffer_clear(&t->turned);
    if (offset >= whole)
        return PERFILE_OK;
    if (size > whole - offset)
        size = whole - offset;
    while (t->turned.len < size) {
        perfile_bytes run;
        perfile_status st = pf_source_run(t->of->bytes, offset + t->turned.len, 1, &run, err);
        if (st != PERFILE_OK || run.len == 0)
            return st;
        if (run.len > size - t->turned.len)
            run.len = (size_t)(size - t->turned.len);
        if (!pf_buffer_append(&t->turned, run.ptr, run.len))
            return pf_fail_nomem(err, "convert");
    }
    return PERFILE_OK;
}

static perfile_status put(const pf_facts *t, uint64_t offset, perfile_error *err)
{
    if (t->turned.len == 0)
        return PERFILE_OK;
    return pf_sink_patch(t->of->sink, offset, (perfile_bytes){t->turned.ptr, t->turned.len}, err);
}

static perfile_status turn_header(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    size_t used = c->header_size == PF_PERF_OLD_HEADER ? PF_PERF_OLD_HEADER : PF_PERF_FILE_HEADER;
    perfile_status st = load(t, 0, used, err);
    if (st != PERFILE_OK || t->turned.len < FIRST_WORDS)
        return st;
    turn_magic(&t->header, t->turned.ptr);
    turn_words(t->turned.ptr + 8, FIRST_WORDS - 8);
    /* An array of words of 4 bytes in files of some: as it was understood. */
    for (size_t i = 0; i < BITMAP / 8 && t->turned.len == PF_PERF_FILE_HEADER; i++)
        pf_store_u64(t->turned.ptr + FIRST_WORDS + 8 * i, c->features[i], !t->header.swap);
    return put(t, 0, err);
}

static perfile_status turn_section(pf_facts *t, perfile_section s, perfile_error *err)
{
    perfile_status st = load(t, s.offset, s.size, err);
    if (st != PERFILE_OK)
        return st;
    turn_words(t->turned.ptr, t->turned.len);
    return put(t, s.offset, err);
}

/* One entry of the attrs section, turned in a copy behind it. */
static perfile_status turn_attr(pf_facts *t, size_t at, size_t entry, perfile_error *err)
{
    perfile_error why;
    perfile_bytes attr = {t->turned.ptr + at, entry - ID_SECTION};
    if (!pf_buffer_reserve(&t->attr, attr.len))
        return pf_fail_nomem(err, "convert");
    perfile_status st = pf_swap_attr(attr, t->header.swap, t->attr.ptr, &why);
    if (st != PERFILE_OK && (st = t->of->kept(t->of->user, NULL, NULL, &why)) != PERFILE_OK && err)
        *err = why;
    memcpy(t->turned.ptr + at, t->attr.ptr, attr.len);
    turn_words(t->turned.ptr + at + attr.len, ID_SECTION);
    return st;
}

static perfile_status turn_attrs(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    if (c->attr_size < 64 + ID_SECTION || c->attr_size > SIZE_MAX)
        return PERFILE_OK;
    size_t entry = (size_t)c->attr_size;
    perfile_status st = load(t, c->attrs.offset, c->attrs.size, err);
    for (size_t at = 0; st == PERFILE_OK && t->turned.len - at >= entry; at += entry)
        st = turn_attr(t, at, entry, err);
    return st == PERFILE_OK ? put(t, c->attrs.offset, err) : st;
}

static perfile_status turn_event_types(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    perfile_status st = load(t, c->event_types.offset, c->event_types.size, err);
    if (st != PERFILE_OK)
        return st;
    for (size_t at = 0; t->turned.len - at >= EVENT_TYPE; at += EVENT_TYPE)
        turn_words(t->turned.ptr + at, 8);
    return put(t, c->event_types.offset, err);
}

static perfile_status turn_feature(pf_facts *t, const perfile_feature *f, perfile_error *err)
{
    perfile_error why;
    if (f->damage || f->number == PERFILE_FEATURE_TRACING_DATA || f->payload.len == 0)
        return PERFILE_OK;
    pf_buffer_clear(&t->turned);
    if (!pf_buffer_reserve(&t->turned, f->payload.len))
        return pf_fail_nomem(err, "convert");
    t->turned.len = f->payload.len;
    perfile_status st = pf_swap_feature(f, t->turned.ptr, &why);
    if (st != PERFILE_OK && (st = t->of->kept(t->of->user, NULL, f, &why)) != PERFILE_OK) {
        if (err)
            *err = why;
        return st;
    }
    return put(t, f->offset, err);
}

static perfile_status turn_features(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    const perfile_session *s = perfile_stream_session(t->of->stream);
    perfile_section table = {.size = 0};
    uint32_t n = perfile_session_n_features(s);
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        if (f->origin != PERFILE_ORIGIN_CONTAINER)
            continue;
        table.size += sizeof(perfile_section);
        st = turn_feature(t, f, err);
    }
    if (st != PERFILE_OK || pf_add_u64(c->data.offset, c->data.size, &table.offset))
        return st;
    return turn_section(t, table, err);
}

static perfile_status turn_ids(pf_facts *t, const perfile_container *c, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < c->n_extents && st == PERFILE_OK; i++) {
        const perfile_extent *e = &c->extents[i];
        if (e->role == PERFILE_EXTENT_IDS)
            st = turn_section(t, (perfile_section){e->offset, e->length}, err);
    }
    return st;
}

perfile_status pf_perf_byteswap_facts(const pf_turning *of, perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(of->stream);
    pf_facts t = {.of = of};
    perfile_bytes head;
    perfile_status st = pf_source_run(of->bytes, 0, PF_PERF_PIPE_HEADER, &head, err);
    if (st != PERFILE_OK || pf_perf_header_begin(head, &t.header))
        return st;
    st = turn_features(&t, c, err);
    if (st == PERFILE_OK)
        st = turn_event_types(&t, c, err);
    if (st == PERFILE_OK)
        st = turn_ids(&t, c, err);
    if (st == PERFILE_OK)
        st = turn_attrs(&t, c, err);
    if (st == PERFILE_OK)
        st = turn_header(&t, c, err);
    pf_buffer_free(&t.turned);
    pf_buffer_free(&t.attr);
    return st;
}
