/* pf_archive_repair(): writes a new archive with all intact chunks of a damaged one.  Also
 * finds the bytes of parts that are missing, or in two chunks.
 *
 * Chunks are copied without decoding, so intact ones stay identical.  First it is decided which
 * chunks are copied.  So losses can be reported without writing, and nothing is written if no chunk
 * is left. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "archive/table.h"
#include "archive/pack.h"
#include "base/alloc.h"
#include "base/error.h"
#include "perfile/check.h"
#include "archive/command.h"

enum { TEXT = 256 };

typedef struct repair {
    perfile_archive *a;
    void (*lost)(void *user, const perfile_archive_finding *finding);
    void *user;
    perfile_archive_repaired sum;
    bool *leave_out;    /* for each chunk of the table */
    bool *without_meta; /* for each chunk: copy it without its metadata */
    pf_buffer meta;
} repair;

static bool is_of_part(const pf_chunk *c)
{
    return c->kind == PF_CHUNK_RECORDS || c->kind == PF_CHUNK_BYTES;
}

static __attribute__((format(printf, 3, 4))) void tell(repair *x, const perfile_archive_finding *f,
                                                       const char *format, ...)
{
    char text[TEXT];
    perfile_archive_finding told = *f;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    told.severity = PERFILE_SEVERITY_ERROR;
    told.message = text;
    x->sum.damaged = true;
    if (x->lost)
        x->lost(x->user, &told);
}

/* Makes a finding about a chunk; `i` is its position, or UINT32_MAX if it is not in the table. */
static perfile_archive_finding about(const repair *x, const pf_chunk *c, uint32_t i, unsigned rule)
{
    perfile_archive_finding f = {.rule = rule, .offset = c->offset, .chunk = i};
    if (is_of_part(c)) {
        f.capture = pf_archive_capture_of(x->a, c->source);
        f.part = c->part;
        f.part_offset = c->raw_off;
        f.part_bytes = c->raw_len;
    }
    return f;
}

static void leave_out(repair *x, uint32_t i, unsigned rule, const char *why)
{
    perfile_archive_finding f = about(x, &x->a->table.chunks[i], i, rule);
    x->leave_out[i] = true;
    x->sum.chunks_lost++;
    tell(x, &f, "the chunk is left out: %s", why);
}

/* Decides about one chunk.  Fails only if reading fails, or when out of memory. */
static perfile_status judge(repair *x, uint32_t i, perfile_error *err)
{
    pf_archive *t = &x->a->table;
    const pf_chunk *c = &t->chunks[i];
    const bool known = pf_chunk_kind_name(c->kind) != NULL;
    perfile_bytes stored;
    if (!known && !(c->flags & PF_CHUNK_FLAG_COPY_OK)) {
        leave_out(x, i, PERFILE_RULE_V_711,
                  "its kind is not known, and it does not say that it may be copied");
        return PERFILE_OK;
    }
    perfile_status st = pf_archive_stored(t, c, &stored, err);
    if (st == PERFILE_E_CORRUPT) {
        leave_out(x, i, PERFILE_RULE_V_704, "the checksum of its payload is wrong");
        return PERFILE_OK;
    }
    if (st != PERFILE_OK)
        return st;
    pf_buffer_clear(&x->meta);
    st = pf_archive_meta(t, c, &x->meta, err);
    if (st != PERFILE_E_CORRUPT)
        return st;
    perfile_archive_finding f = about(x, c, i, PERFILE_RULE_V_703);
    x->without_meta[i] = true;
    x->sum.metas_lost++;
    tell(x, &f, "the chunk is copied without its metadata: their checksum is wrong");
    return PERFILE_OK;
}

static void on_twice(void *user, const pf_cover_range *r)
{
    repair *x = user;
    char why[TEXT];
    snprintf(why, sizeof why, "%llu of its bytes are in the chunk at %llu, too",
             (unsigned long long)r->bytes, (unsigned long long)x->a->table.chunks[r->other].offset);
    leave_out(x, r->chunk, PERFILE_RULE_V_708, why);
}

static void on_hole(void *user, const pf_cover_range *r)
{
    repair *x = user;
    perfile_archive_finding f = {.rule = PERFILE_RULE_V_708,
                                 .is_lost = true,
                                 .offset = PERFILE_NO_OFFSET,
                                 .chunk = UINT32_MAX,
                                 .capture = pf_archive_capture_of(x->a, r->source),
                                 .part = r->part,
                                 .part_offset = r->offset,
                                 .part_bytes = r->bytes};
    x->sum.lost_bytes += r->bytes;
    tell(x, &f, "%llu bytes at %llu of part %u are lost", (unsigned long long)r->bytes,
         (unsigned long long)r->offset, r->part);
}

static void tell_gaps(repair *x)
{
    const pf_archive *t = &x->a->table;
    for (uint32_t i = 0; i < t->n_gaps; i++) {
        pf_chunk c = {.offset = t->gaps[i].offset};
        const bool is_cut = pf_archive_cut_chunk(t, &t->gaps[i], &c);
        perfile_archive_finding f = about(x, &c, UINT32_MAX, PERFILE_RULE_V_702);
        f.is_lost = f.part_bytes > 0;
        x->sum.lost_bytes += f.part_bytes;
        x->sum.gaps++;
        x->sum.gap_bytes += t->gaps[i].bytes;
        tell(x, &f, "%llu bytes of the archive belong to no chunk%s",
             (unsigned long long)t->gaps[i].bytes, is_cut ? ": the rest of it is missing" : "");
    }
}

/* Decides which chunks are copied, and reports losses. */
static perfile_status choose(repair *x, perfile_error *err)
{
    const pf_archive *t = &x->a->table;
    perfile_status st = PERFILE_OK;
    x->leave_out = pf_alloc(t->n_chunks, sizeof *x->leave_out);
    x->without_meta = pf_alloc(t->n_chunks, sizeof *x->without_meta);
    if (!x->leave_out || !x->without_meta)
        return pf_fail_nomem(err, "archive");
    x->sum.damaged = t->head_damaged || !t->finished;
    tell_gaps(x);
    for (uint32_t i = 0; i < t->n_chunks && st == PERFILE_OK; i++)
        st = judge(x, i, err);
    if (st == PERFILE_OK)
        st = pf_cover_twice(x->a, x->leave_out, on_twice, x, err);
    if (st == PERFILE_OK)
        st = pf_cover_holes(x->a, x->leave_out, on_hole, x, err);
    for (uint32_t i = 0; i < t->n_chunks; i++)
        x->sum.chunks += !x->leave_out[i];
    if (st == PERFILE_OK && !x->sum.chunks)
        return pf_fail(err, PERFILE_E_CORRUPT, "archive", "no chunk of it is intact");
    return st;
}

static perfile_status copy_chunk(repair *x, pf_pack *pack, uint32_t i, perfile_error *err)
{
    pf_archive *t = &x->a->table;
    const pf_chunk *c = &t->chunks[i];
    pf_buffer_clear(&x->meta);
    perfile_status st = x->without_meta[i] ? PERFILE_OK : pf_archive_meta(t, c, &x->meta, err);
    const perfile_bytes meta = {x->meta.ptr, x->meta.len};
    return st == PERFILE_OK ? pf_pack_copy(pack, t, c, c->source, meta, err) : st;
}

/* Returns the features that readers of the new archive need, even if the old header is damaged. */
static uint64_t needs_of(const pf_archive *t)
{
    uint64_t needs = t->head.needs;
    for (uint32_t i = 0; i < t->n_chunks; i++) {
        needs |= t->chunks[i].codec == PF_CODEC_COLUMNS ? PF_ARCHIVE_NEEDS_COLUMNS : 0;
        needs |= t->chunks[i].source != t->chunks[0].source ? PF_ARCHIVE_NEEDS_SOURCES : 0;
    }
    return needs;
}

static perfile_status copy(repair *x, perfile_sink *sink, perfile_error *err)
{
    const pf_archive *t = &x->a->table;
    const pf_pack_options how = {.id = t->head.id, .needs = needs_of(t)};
    pf_pack *pack;
    perfile_status st = pf_pack_new(sink, &how, &pack, err);
    if (st != PERFILE_OK)
        return st;
    for (uint32_t i = 0; i < t->n_chunks && st == PERFILE_OK; i++)
        if (!x->leave_out[i])
            st = copy_chunk(x, pack, i, err);
    if (st == PERFILE_OK)
        st = pf_pack_finish(pack, err);
    x->sum.bytes = pf_pack_offset(pack);
    pf_pack_close(pack);
    return st == PERFILE_OK ? perfile_sink_finish(sink, err) : st;
}

perfile_status pf_archive_repair(perfile_archive *a, perfile_sink *sink,
                                 void (*lost)(void *user, const perfile_archive_finding *f),
                                 void *user, perfile_archive_repaired *result, size_t size,
                                 perfile_error *err)
{
    repair x = {.a = a, .lost = lost, .user = user};
    perfile_status st = PERFILE_OK;
    if (a->table.head.may)
        st = pf_fail(err, PERFILE_E_UNSUPPORTED, "archive.may",
                     "it has features that an editor must know, and this library does not: 0x%llx",
                     (unsigned long long)a->table.head.may);
    if (st == PERFILE_OK)
        st = choose(&x, err);
    if (st == PERFILE_OK && sink)
        st = pf_sink_add_inputs(sink, &a->source->inputs, err);
    if (st == PERFILE_OK && sink)
        st = copy(&x, sink, err);
    memcpy(result, &x.sum, size < sizeof x.sum ? size : sizeof x.sum);
    pf_free(x.leave_out);
    pf_free(x.without_meta);
    pf_buffer_free(&x.meta);
    return st;
}

/* Coverage of parts: chunks are sorted by capture, part and raw_off, then adjacent ones are
 * compared. */

typedef struct sorted {
    const pf_chunk **at; /* RECORDS and BYTES chunks that are not empty */
    uint32_t n;
} sorted;

static uint64_t end_of(const pf_chunk *c)
{
    return c->raw_off + c->raw_len;
}

static bool same_part(const pf_chunk *a, const pf_chunk *b)
{
    return a->source == b->source && a->part == b->part;
}

/* qsort() order: by capture, part, raw_off, offset. */
static int compare(const void *a, const void *b)
{
    const pf_chunk *x = *(const pf_chunk *const *)a, *y = *(const pf_chunk *const *)b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (x->raw_off != y->raw_off)
        return x->raw_off < y->raw_off ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static perfile_status sort_chunks(const perfile_archive *a, const bool *leave_out, sorted *s,
                                  perfile_error *err)
{
    const pf_archive *t = &a->table;
    *s = (sorted){.at = pf_alloc(t->n_chunks, sizeof *s->at)};
    if (!s->at)
        return pf_fail_nomem(err, "archive");
    for (uint32_t i = 0; i < t->n_chunks; i++) {
        const pf_chunk *c = &t->chunks[i];
        if ((c->kind == PF_CHUNK_RECORDS || c->kind == PF_CHUNK_BYTES) && c->raw_len &&
            !(leave_out && leave_out[i]))
            s->at[s->n++] = c;
    }
    if (s->n)
        qsort(s->at, s->n, sizeof *s->at, compare);
    return PERFILE_OK;
}

perfile_status pf_cover_twice(const perfile_archive *a, bool *leave_out, pf_cover_fn *twice,
                              void *user, perfile_error *err)
{
    const pf_chunk *first = a->table.chunks, *kept = NULL;
    sorted s;
    perfile_status st = sort_chunks(a, leave_out, &s, err);
    for (uint32_t i = 0; i < s.n; i++) {
        const pf_chunk *c = s.at[i];
        if (!kept || !same_part(kept, c) || c->raw_off >= end_of(kept)) {
            kept = c;
            continue;
        }
        const uint64_t end = end_of(c) < end_of(kept) ? end_of(c) : end_of(kept);
        const pf_chunk *front = c < kept ? c : kept, *behind = c < kept ? kept : c;
        const pf_cover_range range = {.source = c->source,
                                      .part = c->part,
                                      .offset = c->raw_off,
                                      .bytes = end - c->raw_off,
                                      .chunk = (uint32_t)(behind - first),
                                      .other = (uint32_t)(front - first)};
        leave_out[range.chunk] = true;
        twice(user, &range);
        kept = front;
    }
    pf_free(s.at);
    return st;
}

static void tell_hole(uint16_t source, uint16_t part, uint64_t from, uint64_t to, pf_cover_fn *hole,
                      void *user)
{
    const pf_cover_range range = {.source = source,
                                  .part = part,
                                  .offset = from,
                                  .bytes = to - from,
                                  .chunk = UINT32_MAX,
                                  .other = UINT32_MAX};
    if (to > from)
        hole(user, &range);
}

/* Returns the size of a part from the metadata, or `end` if they do not have it. */
static uint64_t size_of(const pf_meta *m, uint16_t part, uint64_t end)
{
    const pf_meta_part *p = pf_meta_part_of(m, part);
    return p && p->has_size ? p->size : end;
}

/* Returns true if one of `n` chunks, which are sorted by part, is of this part. */
static bool has_part(const pf_chunk *const *at, uint32_t n, uint16_t part)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (at[middle]->part < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && at[low]->part == part;
}

/* Reports the missing ranges of one capture.  Its chunks begin at s->at[*i]; *i moves past them. */
static void holes_of(const sorted *s, uint32_t *i, uint16_t source, const pf_meta *m,
                     pf_cover_fn *hole, void *user)
{
    uint32_t k = *i;
    while (k < s->n && s->at[k]->source == source) {
        const uint16_t part = s->at[k]->part;
        uint64_t end = 0;
        for (; k < s->n && s->at[k]->source == source && s->at[k]->part == part; k++) {
            tell_hole(source, part, end, s->at[k]->raw_off, hole, user);
            end = end_of(s->at[k]) > end ? end_of(s->at[k]) : end;
        }
        tell_hole(source, part, end, size_of(m, part, end), hole, user);
    }
    for (uint32_t p = 0; p < m->n_parts; p++) {
        const uint16_t part = (uint16_t)m->parts[p].number;
        if (!has_part(&s->at[*i], k - *i, part))
            tell_hole(source, part, 0, size_of(m, part, 0), hole, user);
    }
    *i = k;
}

perfile_status pf_cover_holes(perfile_archive *a, const bool *leave_out, pf_cover_fn *hole,
                              void *user, perfile_error *err)
{
    sorted s;
    uint32_t i = 0;
    perfile_status st = sort_chunks(a, leave_out, &s, err);
    for (uint32_t k = 0; k < a->n_captures && st == PERFILE_OK; k++) {
        pf_meta m = {0};
        st = pf_archive_read_meta(a, a->numbers[k], &m, err);
        if (st == PERFILE_OK)
            holes_of(&s, &i, a->numbers[k], &m, hole, user);
        pf_meta_clear(&m);
    }
    pf_free(s.at);
    return st;
}
