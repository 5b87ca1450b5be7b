/* Images: the bytes of one part of a capture, decoded on demand, as a source.
 *
 * An image decodes the chunk that has the requested bytes, and keeps it until bytes of another one
 * are requested.  If a span must reach into the next chunk, this one is appended to the rest of the
 * current one.  So a record that is in two chunks is contiguous.
 *
 * Records are read from front to back, so each chunk of them is decoded once in each pass.  Facts
 * are read at the offsets that the capture names (view()).  The ids of an attr may be in another
 * chunk than the attr, so the previous chunk is kept as well if it is small, like the chunks of our
 * writer.  Hostile offsets can alternate between chunks, at the cost of decoding 128 MiB for 8
 * bytes each time.  So the bytes decoded for facts are limited by the size of the part.
 *
 * Lost bytes are zeros: no reader takes them for a record, and everything after them keeps its
 * offset.  The number of zeros is limited by what an archive of this size can have held. */
#include "archive/table.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/source_kind.h"
#include "archive/meta.h"
#include "io/command.h"

enum {
    VIEWS = 16,               /* how often the whole part may be decoded for facts … */
    VIEWS_LEAST = 64 << 20,   /* … and bytes that may always be decoded for facts */
    PREVIOUS_MOST = 16 << 20, /* bytes of the previous chunk that may be kept */
    ZEROS = 1 << 20           /* zeros that are made at once for a missing range */
};

/* Decoded bytes of the part from `at` on. */
typedef struct decoded {
    pf_buffer bytes;
    uint64_t at;
    uint32_t next; /* index of the chunk after `bytes` */
} decoded;

typedef struct image {
    perfile_source base;
    pf_archive *archive;
    uint16_t part;
    pf_source_lost *lost;    /* NULL: lost bytes are an error */
    const pf_chunk **chunks; /* of this part, by raw_off, without empty ones */
    bool *counted;           /* for each chunk: it was added to `lost` already */
    uint32_t n_chunks;
    decoded now;      /* bytes requested last */
    decoded previous; /* bytes requested before those, unless they precede `now` directly */
    uint64_t decoded; /* bytes of all chunks, counted each time one is decoded */
    uint64_t viewed;  /* the part of `decoded` that view() caused */
    pf_image_narrow narrow;
} image;

static uint64_t end_of(const pf_chunk *c)
{
    return c->raw_off + c->raw_len;
}

/* Returns the index of the first chunk that ends after `offset`. */
static uint32_t find_chunk(const image *m, uint64_t offset)
{
    uint32_t low = 0, high = m->n_chunks;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (end_of(m->chunks[middle]) > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static perfile_status fail_missing(const image *m, uint64_t offset, uint64_t bytes,
                                   perfile_error *err)
{
    perfile_status st =
        pf_fail(err, PERFILE_E_CORRUPT, "archive.missing",
                "%llu bytes of '%s', at its offset %llu, are in no chunk of the archive",
                (unsigned long long)bytes, m->base.name, (unsigned long long)offset);
    pf_error_at(err, offset);
    return st;
}

/* Returns true if a chunk has only samples, so that losing it does not change how others are
 * read. */
static bool is_samples(image *m, const pf_chunk *c)
{
    pf_buffer meta = {0};
    pf_zone zone = {0};
    const bool is =
        c->kind == PF_CHUNK_RECORDS && c->meta_len &&
        pf_archive_zone(m->archive, c, &meta, NULL) == PERFILE_OK &&
        pf_zone_decode((perfile_bytes){meta.ptr, meta.len}, &zone, NULL) == PERFILE_OK &&
        pf_zone_plain_samples(&zone);
    pf_zone_free(&zone);
    pf_buffer_free(&meta);
    return is;
}

/* Counts lost bytes of chunk `c`, or of an unknown one (NULL). */
static void add_lost(image *m, const pf_chunk *c, uint64_t offset, uint64_t bytes)
{
    pf_source_lost *l = m->lost;
    m->narrow.facts_lost = m->narrow.facts_lost || !c || !is_samples(m, c);
    if (l->places++ == 0) {
        l->offset = offset;
        l->part = m->part;
    }
    l->bytes += bytes;
}

static perfile_status append_zeros(image *m, size_t n, perfile_error *err)
{
    if (!pf_buffer_reserve(&m->now.bytes, n + 1))
        return pf_fail_nomem(err, "archive");
    memset(m->now.bytes.ptr + m->now.bytes.len, 0, n);
    m->now.bytes.len += n;
    return PERFILE_OK;
}

/* Appends the bytes of chunk `i`. */
static perfile_status decode(image *m, uint32_t i, perfile_error *err)
{
    const pf_chunk *c = m->chunks[i];
    m->decoded += c->raw_len;
    return pf_archive_payload(m->archive, c, &m->now.bytes, err);
}

/* Appends what follows the decoded bytes, which end at `end`: a chunk, or zeros where one is
 * missing. */
static perfile_status decode_next(image *m, uint64_t end, perfile_error *err)
{
    const pf_chunk *c = m->now.next < m->n_chunks ? m->chunks[m->now.next] : NULL;
    const uint64_t hole = (c ? c->raw_off : m->base.size) - end;
    if (hole && !m->lost)
        return fail_missing(m, end, hole, err);
    if (hole)
        return append_zeros(m, hole < ZEROS ? (size_t)hole : ZEROS, err);
    perfile_status st = decode(m, m->now.next, err);
    if (m->lost && (st == PERFILE_E_CORRUPT || st == PERFILE_E_UNSUPPORTED)) {
        if (!m->counted[m->now.next])
            add_lost(m, c, c->raw_off, c->raw_len);
        m->counted[m->now.next] = true;
        st = append_zeros(m, c->raw_len, err);
    }
    m->now.next += st == PERFILE_OK;
    return st;
}

static bool holds(const decoded *d, uint64_t offset)
{
    return offset >= d->at && offset - d->at < d->bytes.len;
}

/* Swaps `now` and `previous`, if the bytes of `now` are worth keeping.  Those directly before
 * `offset` are not: the reader goes from front to back. */
static void turn_to_previous(image *m, uint64_t offset)
{
    const bool goes_on = offset == m->now.at + m->now.bytes.len;
    if (m->narrow.on || goes_on || m->now.bytes.cap > PREVIOUS_MOST)
        return;
    const decoded previous = m->previous;
    m->previous = m->now;
    m->now = previous;
}

/* Drops the bytes before `offset`.  If it is in another chunk, all bytes are dropped or become
 * `previous`. */
static void move_to(image *m, uint64_t offset)
{
    if (!holds(&m->now, offset))
        turn_to_previous(m, offset);
    if (holds(&m->now, offset)) {
        pf_buffer_consume_front(&m->now.bytes, (size_t)(offset - m->now.at));
        m->now.at = offset;
        return;
    }
    m->now.next = find_chunk(m, offset);
    pf_buffer_clear(&m->now.bytes);
    m->now.at = m->now.next < m->n_chunks && m->chunks[m->now.next]->raw_off < offset
                    ? m->chunks[m->now.next]->raw_off
                    : offset; /* in no chunk, or after the last one */
}

static perfile_status run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                          perfile_error *err)
{
    image *m = (image *)s;
    *run = (perfile_bytes){NULL, 0};
    if (offset >= s->size)
        return PERFILE_OK;
    if (need > s->size - offset)
        need = (size_t)(s->size - offset);
    if (need > s->limits.window_bytes)
        return pf_fail(err, PERFILE_E_LIMIT, "window_bytes", "%zu bytes at once", need);
    const uint64_t end = offset + (need ? need : 1);
    if (pf_image_shows(&m->narrow, find_chunk(m, offset), offset, run))
        return PERFILE_OK;
    if (offset < m->now.at || end > m->now.at + m->now.bytes.len)
        move_to(m, offset);
    while (end > m->now.at + m->now.bytes.len) {
        perfile_status st = decode_next(m, m->now.at + m->now.bytes.len, err);
        if (st != PERFILE_OK)
            return st;
    }
    *run = (perfile_bytes){m->now.bytes.ptr + (offset - m->now.at),
                           m->now.bytes.len - (size_t)(offset - m->now.at)};
    return PERFILE_OK;
}

/* Reads facts, and limits how many bytes are decoded for them. */
static perfile_status view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *bytes,
                           perfile_error *err)
{
    image *m = (image *)s;
    const uint64_t before = m->decoded;
    perfile_status st = run(s, offset, need, bytes, err);
    m->viewed += m->decoded - before;
    if (st == PERFILE_OK && m->viewed / VIEWS > s->size + VIEWS_LEAST / VIEWS) {
        st = pf_fail(
            err, PERFILE_E_LIMIT, "archive.facts",
            "attrs, ids or features alternate between so many chunks that %llu bytes had to "
            "be decoded for them, in a file of %llu bytes",
            (unsigned long long)m->viewed, (unsigned long long)s->size);
        pf_error_at(err, offset);
    }
    return st;
}

static void close_image(perfile_source *s)
{
    image *m = (image *)s;
    pf_free(m->chunks);
    pf_free(m->counted);
    pf_image_narrow_free(&m->narrow);
    pf_buffer_free(&m->now.bytes);
    pf_buffer_free(&m->previous.bytes);
}

/* Reports lost bytes at `offset`: undecodable chunks and missing ranges.  RECORDS chunks have
 * complete records, so a record begins where such a chunk follows the lost bytes. */
static bool is_lost(const image *m, uint64_t offset, pf_absent *out)
{
    uint32_t i = find_chunk(m, offset), places = 0;
    uint64_t end = offset;
    for (; i < m->n_chunks && m->counted[i]; i++) {
        places += m->chunks[i]->raw_off > end ? 2 : 1;
        end = end_of(m->chunks[i]);
    }
    const uint64_t next = i < m->n_chunks ? m->chunks[i]->raw_off : m->base.size;
    places += next > end;
    end = next > end ? next : end;
    *out = (pf_absent){.lost = places,
                       .bytes = end - offset,
                       .at_record = i < m->n_chunks && m->chunks[i]->kind == PF_CHUNK_RECORDS};
    return end > offset;
}

static bool absent(perfile_source *s, uint64_t offset, uint64_t sequence, pf_absent *out)
{
    image *m = (image *)s;
    if (sequence == PERFILE_NO_SEQUENCE)
        return is_lost(m, offset, out);
    if (s->options.flags & PERFILE_SOURCE_NO_INDEX)
        return false; /* zones belong to the index */
    if (s->narrows) {
        s->narrows = false;
        pf_buffer_free(&m->previous.bytes);
        pf_image_narrow_begin(&m->narrow, m->archive, m->chunks, m->n_chunks, s->narrow);
    }
    return pf_image_absent(&m->narrow, find_chunk(m, offset), offset, sequence, out);
}

static const pf_source_ops image_ops = {
    .run = run, .view = view, .absent = absent, .close = close_image};

/* Collects the chunks of the part. */
static perfile_status collect(image *m, uint16_t number, perfile_error *err)
{
    const pf_archive_span all = pf_archive_of_part(m->archive, number, m->part);
    m->chunks = pf_alloc(all.n, sizeof *m->chunks);
    m->counted = pf_alloc(all.n, sizeof *m->counted);
    if (!m->chunks || !m->counted)
        return pf_fail_nomem(err, "archive");
    for (uint32_t i = 0; i < all.n; i++)
        if (all.at[i]->raw_len)
            m->chunks[m->n_chunks++] = all.at[i];
    for (uint32_t i = 1; i < m->n_chunks; i++)
        if (m->chunks[i]->raw_off < end_of(m->chunks[i - 1])) {
            perfile_status st = pf_fail(err, PERFILE_E_CORRUPT, "archive.raw_off",
                                        "the chunks at offsets %llu and %llu hold the same bytes",
                                        (unsigned long long)m->chunks[i - 1]->offset,
                                        (unsigned long long)m->chunks[i]->offset);
            pf_error_at(err, m->chunks[i]->offset);
            return st;
        }
    return PERFILE_OK;
}

/* Adds the missing ranges to `lost`.  A lost byte of the archive can have held a few thousand bytes
 * of the capture at most. */
static perfile_status count_missing(image *m, perfile_error *err)
{
    enum { RATIO = 4096, LEAST = 64 << 20 };
    uint64_t end = 0, missing = 0;
    for (uint32_t i = 0; i <= m->n_chunks; i++) {
        const uint64_t begin = i < m->n_chunks ? m->chunks[i]->raw_off : m->base.size;
        if (begin > end) {
            add_lost(m, NULL, end, begin - end);
            missing += begin - end;
        }
        end = i < m->n_chunks ? end_of(m->chunks[i]) : end;
    }
    if (missing / RATIO > m->archive->source->size + LEAST / RATIO)
        return pf_fail(err, PERFILE_E_LIMIT, "archive.missing",
                       "%llu bytes are in no chunk, of an archive of %llu",
                       (unsigned long long)missing, (unsigned long long)m->archive->source->size);
    return PERFILE_OK;
}

perfile_status pf_archive_image(pf_archive *a, uint16_t number, uint16_t part, uint64_t size,
                                pf_source_lost *lost, const perfile_source_options *options,
                                perfile_source **source, perfile_error *err)
{
    image *m;
    perfile_status st =
        pf_source_new(sizeof *m, &image_ops, pf_source_name(a->source), options, &m, err);
    if (st != PERFILE_OK)
        return st;
    m->archive = a;
    m->part = part;
    m->lost = lost;
    m->base.seekable = true;
    st = collect(m, number, err);
    if (st == PERFILE_OK && m->n_chunks)
        m->base.size = end_of(m->chunks[m->n_chunks - 1]);
    if (m->base.size < size)
        m->base.size = size;
    if (st == PERFILE_OK && lost)
        st = count_missing(m, err);
    if (st == PERFILE_OK && !pf_inputs_join(&m->base.inputs, &a->source->inputs))
        st = pf_fail_nomem(err, "archive");
    if (st == PERFILE_OK)
        *source = &m->base;
    else
        perfile_source_close(&m->base);
    return st;
}

typedef struct copying {
    perfile_sink *sink;
    perfile_status status;
    perfile_error error;
    uint64_t written; /* of the current chunk */
} copying;

static void write_piece(void *user, perfile_bytes bytes)
{
    copying *x = user;
    if (x->status == PERFILE_OK)
        x->status = perfile_sink_write(x->sink, bytes, &x->error);
    x->written += bytes.len;
}

/* Writes chunk `i`, or zeros if it is damaged.  If bytes were written before the damage was found,
 * the copy fails; this can happen only if the checksum of the stored bytes is correct. */
static perfile_status copy_chunk(image *m, uint32_t i, copying *x, perfile_error *err)
{
    const pf_chunk *c = m->chunks[i];
    pf_buffer_clear(&m->now.bytes);
    x->written = 0;
    perfile_status st = pf_archive_pieces(m->archive, c, &m->now.bytes, write_piece, x, err);
    if (x->status != PERFILE_OK) {
        if (err)
            *err = x->error;
        return x->status;
    }
    if (x->written || st == PERFILE_OK || !m->lost ||
        (st != PERFILE_E_CORRUPT && st != PERFILE_E_UNSUPPORTED))
        return st;
    if (!m->counted[i])
        add_lost(m, c, c->raw_off, c->raw_len);
    m->counted[i] = true;
    st = append_zeros(m, c->raw_len, err);
    return st == PERFILE_OK ? perfile_sink_write(
                                  x->sink, (perfile_bytes){m->now.bytes.ptr, m->now.bytes.len}, err)
                            : st;
}

static perfile_status copy_zeros(perfile_sink *sink, uint64_t n, perfile_error *err)
{
    static const uint8_t zeros[1 << 16];
    perfile_status st = PERFILE_OK;
    for (; n && st == PERFILE_OK;) {
        const size_t some = n < sizeof zeros ? (size_t)n : sizeof zeros;
        st = perfile_sink_write(sink, (perfile_bytes){zeros, some}, err);
        n -= some;
    }
    return st;
}

perfile_status pf_archive_image_copy(perfile_source *source, perfile_sink *sink, perfile_error *err)
{
    image *m = (image *)source;
    copying x = {.sink = sink};
    uint64_t at = 0;
    if (source->ops != &image_ops)
        return pf_fail(err, PERFILE_E_USAGE, "archive", "it is not an image");
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < m->n_chunks && st == PERFILE_OK; i++) {
        st = copy_zeros(sink, m->chunks[i]->raw_off - at, err);
        if (st == PERFILE_OK)
            st = copy_chunk(m, i, &x, err);
        at = end_of(m->chunks[i]);
    }
    pf_buffer_clear(&m->now.bytes);
    m->now.at = m->now.next = 0;
    return st == PERFILE_OK ? copy_zeros(sink, source->size - at, err) : st;
}

/* Partial decoding: shows only the side-band records of a chunk, with its zone and the partial
 * decoder.
 *
 * A chunk is decoded completely if more of it is needed, if it has no usable zone, or if it cannot
 * be decoded partially.  This is always safe. */

enum { NOT_KNOWN = 0, ALL, NOTHING, APART, STORED, STORED_APART };

void pf_image_narrow_begin(pf_image_narrow *x, pf_archive *a, const pf_chunk *const *chunks,
                           uint32_t n, const pf_narrow *how)
{
    pf_free(x->needs);
    x->needs = how && !how->needs ? NULL : pf_alloc(n, sizeof *x->needs);
    x->on = x->needs != NULL;
    x->how = how;
    x->archive = a;
    x->chunks = chunks;
    x->n_chunks = n;
    x->decoded = UINT32_MAX;
}

void pf_image_narrow_free(pf_image_narrow *x)
{
    pf_free(x->needs);
    pf_buffer_free(&x->bytes);
    pf_buffer_free(&x->ranges);
    pf_buffer_free(&x->meta);
    pf_zone_free(&x->zone);
}

/* Returns true if the checksum of the stored payload is correct.  Nothing is decoded. */
static bool is_sound(pf_image_narrow *x, const pf_chunk *c)
{
    perfile_bytes stored;
    return pf_archive_stored(x->archive, c, &stored, NULL) == PERFILE_OK;
}

/* Returns true if the chunk can be copied to another archive unchanged: its zone describes all of
 * it, and it uses no feature that this library does not know. */
static bool can_be_moved(pf_image_narrow *x, const pf_chunk *c)
{
    return x->zone.types.has_bytes && pf_zone_bytes(&x->zone) == c->raw_len &&
           pf_zone_plain_samples(&x->zone) && !x->archive->head.may &&
           pf_chunk_codec_name(c->codec) && is_sound(x, c);
}

/* Asks the reader what it needs of the chunk of x->zone. */
static uint8_t ask(pf_image_narrow *x, const pf_chunk *c, uint64_t sequence)
{
    switch (x->how->needs(x->how->user, &x->zone, sequence)) {
    case PF_NEED_SKIP:
        return NOTHING;
    case PF_NEED_SIDEBAND:
        return APART;
    case PF_NEED_COUNT:
        return is_sound(x, c) ? APART : ALL;
    case PF_NEED_STORED:
        return can_be_moved(x, c) ? STORED : ALL;
    case PF_NEED_STORED_SIDEBAND:
        return can_be_moved(x, c) ? STORED_APART : ALL;
    default:
        return ALL;
    }
}

/* Decides what a reader at the first byte of a chunk needs of it. */
static uint8_t decide(pf_image_narrow *x, const pf_chunk *c, uint64_t sequence)
{
    pf_buffer_clear(&x->meta);
    if (x->facts_lost || c->kind != PF_CHUNK_RECORDS || !c->meta_len ||
        pf_archive_zone(x->archive, c, &x->meta, NULL) != PERFILE_OK ||
        pf_zone_decode((perfile_bytes){x->meta.ptr, x->meta.len}, &x->zone, NULL) != PERFILE_OK ||
        !x->zone.has_apart || (c->codec != PF_CODEC_COLUMNS && x->zone.apart))
        return ALL;
    if (!x->how)
        return pf_zone_only_samples(&x->zone) ? APART : ALL;
    return ask(x, c, sequence);
}

/* Decodes the records of chunk `i` that are needed, if any.  Returns false if they cannot be
 * decoded. */
static bool decode_needed(pf_image_narrow *x, uint32_t i)
{
    const pf_chunk *c = x->chunks[i];
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&x->ranges);
    pf_buffer_clear(&x->bytes);
    x->decoded = UINT32_MAX;
    x->cursor = 0;
    x->n_records = x->zone.records;
    if (x->zone.apart && x->needs[i] != NOTHING)
        st = pf_archive_apart(x->archive, c, &x->bytes, &x->ranges, &x->n_records, NULL);
    if (st == PERFILE_OK)
        x->decoded = i;
    return st == PERFILE_OK;
}

/* Returns true if chunk `i` is shown partially or not at all.  Its side-band is decoded then, if it
 * is needed. */
static bool is_narrow(pf_image_narrow *x, uint32_t i, uint64_t offset, uint64_t sequence)
{
    if (!x->on || i >= x->n_chunks || offset < x->chunks[i]->raw_off)
        return false;
    if (x->needs[i] == NOT_KNOWN) {
        /* A reader that enters a chunk in its middle gets all of it: the request is about whole
         * chunks. */
        const bool begins = !x->how || offset == x->chunks[i]->raw_off;
        x->decoded = UINT32_MAX;
        x->needs[i] = begins ? decide(x, x->chunks[i], sequence) : ALL;
        const uint8_t need = x->needs[i];
        if (need != ALL && need != STORED && !decode_needed(x, i))
            x->needs[i] = ALL;
        if (x->needs[i] == STORED)
            x->decoded = i;
    }
    const uint8_t need = x->needs[i];
    return need != ALL && x->decoded == i;
}

/* Moves to the first range that ends after `at`.  Readers usually go forward. */
static const pf_columns_range *find_range(pf_image_narrow *x, uint64_t at)
{
    const pf_columns_range *r = (const pf_columns_range *)(const void *)x->ranges.ptr;
    const size_t n = x->ranges.len / sizeof *r;
    if (x->cursor && (uint64_t)r[x->cursor - 1].offset + r[x->cursor - 1].bytes > at)
        x->cursor = 0;
    while (x->cursor < n && (uint64_t)r[x->cursor].offset + r[x->cursor].bytes <= at)
        x->cursor++;
    return x->cursor < n ? &r[x->cursor] : NULL;
}

bool pf_image_absent(pf_image_narrow *x, uint32_t i, uint64_t offset, uint64_t sequence,
                     pf_absent *out)
{
    if (!is_narrow(x, i, offset, sequence))
        return false;
    const pf_chunk *c = x->chunks[i];
    const uint64_t at = offset - c->raw_off;
    if (x->needs[i] == STORED || x->needs[i] == STORED_APART) {
        const bool all = x->needs[i] == STORED;
        *out = (pf_absent){.bytes = all ? c->raw_len : 0,
                           .records = all ? x->zone.records : 0,
                           .zone = &x->zone,
                           .archive = x->archive,
                           .chunk = c};
        if (!all)
            x->needs[i] = APART; /* the stored chunk is offered once */
        return at == 0;
    }
    const pf_columns_range *r = find_range(x, at);
    const pf_columns_range none = {0};
    const pf_columns_range *all = (const pf_columns_range *)(const void *)x->ranges.ptr;
    const pf_columns_range *before = x->cursor ? &all[x->cursor - 1] : &none;
    const uint64_t begin = (uint64_t)before->offset + before->bytes;
    const uint64_t first = (uint64_t)before->first + before->records;
    const uint64_t end = r ? r->offset : c->raw_len;
    const uint64_t last = r ? r->first : x->n_records;
    if (at != begin || at >= end)
        return false; /* at a record that is shown, or not at the beginning of a skipped range */
    *out = (pf_absent){.bytes = end - at, .records = last - first, .zone = &x->zone};
    return true;
}

bool pf_image_shows(pf_image_narrow *x, uint32_t i, uint64_t offset, perfile_bytes *run)
{
    if (!x->on || i >= x->n_chunks || offset < x->chunks[i]->raw_off)
        return false;
    const uint64_t at = offset - x->chunks[i]->raw_off;
    const bool some = x->needs[i] == APART && x->decoded == i;
    const pf_columns_range *r = some ? find_range(x, at) : NULL;
    if (!r || r->offset > at) {
        x->needs[i] = ALL;
        return false;
    }
    const size_t within = (size_t)(at - r->offset);
    *run = (perfile_bytes){x->bytes.ptr + r->at + within, r->bytes - within};
    return true;
}
