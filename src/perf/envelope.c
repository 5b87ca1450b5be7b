/* Envelopes: records that contain other records.
 *
 * COMPRESSED and COMPRESSED2 records contain consecutive pieces of one zstd stream per part.  The
 * decompressed bytes are appended to p->inner.bytes.  An inner record may cross the border of two
 * envelopes: while it is incomplete, it stays there until the next envelope comes (p->inner.waits).
 * SPLIT records of simpleperf contain the fragments of one record above 64 KiB, which is collected
 * in p->split.bytes.
 *
 * The walk delivers the envelope first, then the records inside it.  Inner records have the file
 * offset of their envelope and an offset of their own in the decompressed stream. */
#include "base/checked.h"
#include "base/error.h"
#include "perf/take.h"
#include "schema/rows.h"

void pf_perf_begin_envelopes(pf_perf_stream *p)
{
    pf_buffer_clear(&p->inner.bytes);
    pf_buffer_clear(&p->split.bytes);
    if (p->inner.inflate)
        pf_inflate_reset(p->inner.inflate);
    p->inner.pos = 0;
    p->inner.at = 0;
    p->inner.broken = false;
    p->inner.waits = false;
    p->inner.ends = false;
    p->inner.frame_lost = false;
    p->inner.trusted = 0;
    p->split.ready = false;
    p->split.open = false;
}

void pf_perf_end_envelopes(pf_perf_stream *p)
{
    size_t left = p->inner.bytes.len - p->inner.at;
    if (left && !p->inner.broken)
        pf_perf_add_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_TRUNCATED_COMPRESSED,
                                                 .flags = PERFILE_REC_INNER,
                                                 .offset = p->pos,
                                                 .stream_offset = p->inner.pos + p->inner.at,
                                                 .lost = left});
    if (p->split.open)
        pf_perf_add_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_BAD_SPLIT,
                                                 .offset = p->split.offset,
                                                 .lost = p->split.bytes.len});
    pf_buffer_clear(&p->inner.bytes);
    p->inner.at = 0;
    p->split.open = false;
}

/* Returns the zstd bytes of a compressed record.  COMPRESSED has nothing else; COMPRESSED2 states
 * their number and pads to 8.  Sets *padded if the stated number cannot be right: then zeros may
 * follow the zstd bytes. */
static perfile_bytes zstd_bytes(const perfile_record *r, bool swap, bool *padded)
{
    *padded = false;
    if (r->type == PERFILE_RECORD_COMPRESSED || r->body.len < 8)
        return r->type == PERFILE_RECORD_COMPRESSED ? r->body : (perfile_bytes){NULL, 0};
    uint64_t size = pf_load_u64(r->body.ptr, swap);
    perfile_bytes b = {r->body.ptr + 8, r->body.len - 8};
    /* The first writers of COMPRESSED2 sometimes left data_size unset. */
    *padded = size > b.len || ((size + 7) & ~UINT64_C(7)) != b.len;
    if (!*padded)
        b.len = (size_t)size;
    return b;
}

/* Handles an envelope `r` that zstd rejects.  `before` is the length of p->inner.bytes without the
 * output of this envelope.  That output is dropped, except with salvage, which examines each
 * record.  With PERFILE_ON_DAMAGE_STOP, the part ends; otherwise the next envelope may begin a new
 * zstd frame. */
static void reject_envelope(pf_perf_stream *p, const perfile_record *r, size_t before)
{
    /* The inner records before the break are still examined and delivered.  Only the record that
     * the break cuts is dropped (p->inner.ends). */
    if (p->salvage.on) {
        pf_perf_add_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_DECOMPRESS,
                                                 .offset = r->offset,
                                                 .lost = perfile_record_size(r)});
        p->inner.ends = true;
        p->inner.frame_lost = true;
        return;
    }
    p->inner.bytes.len = before;
    if (p->base.options.on_damage != PERFILE_ON_DAMAGE_STOP) {
        /* The next frame may begin in any later record; a record cut by the break is lost. */
        size_t left = p->inner.bytes.len - p->inner.at;
        pf_perf_add_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_DECOMPRESS,
                                                 .offset = r->offset,
                                                 .lost = perfile_record_size(r) + left});
        pf_buffer_clear(&p->inner.bytes);
        p->inner.at = 0;
        return;
    }
    p->inner.broken = true;
    pf_perf_defer(p, PERFILE_DAMAGE_DECOMPRESS, r->offset, perfile_record_size(r));
}

/* Moves *in to the magic of the first zstd frame in it.  Returns false if there is none. */
static bool find_frame(perfile_bytes *in)
{
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    for (; in->len >= sizeof magic; in->ptr++, in->len--)
        if (memcmp(in->ptr, magic, sizeof magic) == 0)
            return true;
    return false;
}

/* Checks limits.inflate_ratio over all envelopes so far: a few bytes of zstd can expand to any
 * number of bytes.  The first limits.inflate_bytes of output are always allowed. */
static perfile_status check_ratio(pf_perf_stream *p, perfile_bytes in, perfile_error *err)
{
    const perfile_limits *l = &p->base.limits;
    uint64_t most;
    p->inner.compressed += in.len;
    if (l->inflate_ratio == UINT64_MAX ||
        __builtin_mul_overflow(p->inner.compressed, l->inflate_ratio, &most) ||
        pf_add_u64(most, l->inflate_bytes, &most) || p->base.summary.inner_bytes <= most)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_LIMIT, "inflate_ratio",
                   "%llu bytes of compressed records hold more than %llu bytes",
                   (unsigned long long)p->inner.compressed, (unsigned long long)most);
}

/* Decompresses `in` to the end of p->inner.bytes; limits.inflate_bytes bounds the size of
 * p->inner.bytes. */
static perfile_status feed(pf_perf_stream *p, perfile_bytes in, bool padded, perfile_error *why)
{
    uint64_t limit = p->base.limits.inflate_bytes;
    return padded ? pf_inflate_feed_padded(p->inner.inflate, in, &p->inner.bytes, limit, why)
                  : pf_inflate_feed(p->inner.inflate, in, &p->inner.bytes, limit, why);
}

/* Decompresses the envelope `r` to the end of p->inner.bytes, after dropping the bytes already
 * delivered. */
static perfile_status inflate(pf_perf_stream *p, const perfile_record *r, perfile_error *err)
{
    if (!p->inner.inflate)
        p->inner.inflate = pf_inflate_new((unsigned)p->base.limits.zstd_window);
    if (!p->inner.inflate)
        return pf_fail_nomem(err, "zstd");
    pf_buffer_consume_front(&p->inner.bytes, p->inner.at);
    p->inner.pos += p->inner.at;
    p->inner.at = 0;
    p->inner.waits = false;
    p->inner.ends = false;
    p->inner.trusted = 0;

    size_t before = p->inner.bytes.len;
    bool padded;
    perfile_bytes in = zstd_bytes(r, p->swap, &padded);
    if (p->inner.frame_lost && !find_frame(&in)) {
        reject_envelope(p, r, before);
        return PERFILE_OK;
    }
    p->inner.frame_lost = false;
    perfile_error why;
    perfile_status st = check_ratio(p, in, err);
    if (st != PERFILE_OK)
        return st;
    st = feed(p, in, padded, &why);
    if (st == PERFILE_OK)
        return PERFILE_OK;
    /* Salvage: the end of a frame may be lost, so a new frame may begin inside these bytes. */
    size_t all = in.len;
    if (p->salvage.on && st != PERFILE_E_NOMEM && find_frame(&in)) {
        st = feed(p, in, padded, &why);
        if (st == PERFILE_OK) {
            if (in.len < all)
                pf_perf_add_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_DECOMPRESS,
                                                         .offset = r->offset,
                                                         .lost = all - in.len});
            return PERFILE_OK;
        }
    }
    if (err)
        *err = why;
    if (st == PERFILE_E_NOMEM)
        return st;
    pf_stream_notice(&p->base, r->offset, "compressed.data", "%s", why.message);
    reject_envelope(p, r, before);
    return PERFILE_OK;
}

/* Charged to limits.split_bytes for each fragment in addition to its bytes: about the memory that a
 * stage needs to hold the fragment as a record. */
enum { FRAGMENT_COST = 128 };

/* Adds a fragment of simpleperf to p->split.bytes.  For the record that marks the end of the
 * fragments, checks that together they are one record of exactly the size that it states. */
static perfile_status add_fragment(pf_perf_stream *p, const perfile_record *r, perfile_error *err)
{
    if (pf_is_last_fragment(r)) {
        pf_frame f = {0};
        if (!p->split.open) { /* an end without fragments */
            pf_buffer_clear(&p->split.bytes);
            p->split.offset = r->offset;
        }
        if (p->split.bytes.len >= PF_PERF_RECORD_HEADER)
            f = pf_frame_at(p->split.bytes.ptr, p->swap);
        if (f.size >= PF_PERF_RECORD_HEADER && f.size == p->split.bytes.len) {
            p->split.ready = true;
        } else {
            pf_perf_add_damage(p, &(pf_perf_pending){.damage = PERFILE_DAMAGE_BAD_SPLIT,
                                                     .offset = p->split.offset,
                                                     .lost = p->split.bytes.len});
        }
        p->split.open = false;
        return PERFILE_OK;
    }
    if (!p->split.open) {
        pf_buffer_clear(&p->split.bytes);
        p->split.open = true;
        p->split.offset = r->offset;
        p->split.fragments = 0;
    }
    if (p->split.bytes.len + r->body.len + ++p->split.fragments * FRAGMENT_COST >
        p->base.limits.split_bytes)
        return pf_fail(err, PERFILE_E_LIMIT, "split_bytes",
                       "the fragments of a record have more than %llu bytes",
                       (unsigned long long)p->base.limits.split_bytes);
    if (!pf_buffer_append(&p->split.bytes, r->body.ptr, r->body.len))
        return pf_fail_nomem(err, "split");
    return PERFILE_OK;
}

perfile_status pf_perf_add_envelope(pf_perf_stream *p, perfile_record *r, perfile_error *err)
{
    bool compressed = pf_marks_of(r) & PF_ROW_ENVELOPE;
    /* With as_stored, fragments stay fragments; compressed envelopes are still opened. */
    bool split = !p->base.options.as_stored && pf_is_fragment(r);
    if (!compressed && !split)
        return PERFILE_OK;
    r->flags |= PERFILE_REC_ENVELOPE;
    p->inner.envelope = r->sequence;
    p->inner.envelope_offset = r->offset;
    return compressed ? inflate(p, r, err) : add_fragment(p, r, err);
}

/* Counts the records of the current batch, `bytes` in total, as inner records. */
static void count_inner(pf_perf_stream *p, uint64_t bytes)
{
    p->base.summary.inner_records += p->base.n_run;
    p->base.summary.inner_bytes += bytes;
}

/* Sets slot 0 to the inner record at `at`, which is complete. */
static perfile_status deliver_inner(pf_perf_stream *p, const uint8_t *at, const pf_frame *f,
                                    perfile_error *err)
{
    perfile_record *r = &p->base.run[0];
    pf_perf_prepare_slots(p, true, p->slots_inner ? 1 : PERFILE_RUN_RECORDS);
    r->header = at;
    r->body = (perfile_bytes){at + PF_PERF_RECORD_HEADER, f->size - PF_PERF_RECORD_HEADER};
    r->type = f->type;
    r->misc = f->misc;
    r->offset = p->inner.envelope_offset;
    r->stream_offset = p->inner.pos + p->inner.at;
    r->envelope = p->inner.envelope;
    r->sequence = p->sequence++;
    p->slot_dirty = true;
    p->base.n_run = 1;
    p->base.summary.records++;
    if (!pf_record_row(f->type))
        p->base.summary.unknown_types++;
    count_inner(p, f->size);
    return pf_perf_feed_session(p, r, err);
}

/* Handles a record size below 8 in the decompressed bytes `rest`: searches for the next records,
 * or, with PERFILE_ON_DAMAGE_STOP, ends the part, so that the rest of the file is lost as well. */
static perfile_status handle_bad_inner_size(pf_perf_stream *p, perfile_bytes rest,
                                            perfile_error *err)
{
    pf_perf_pending d = {.damage = PERFILE_DAMAGE_BAD_SIZE,
                         .flags = PERFILE_REC_INNER,
                         .offset = p->inner.envelope_offset,
                         .stream_offset = p->inner.pos + p->inner.at,
                         .bytes = rest};
    if (p->base.options.on_damage != PERFILE_ON_DAMAGE_STOP) {
        d.lost = pf_perf_resync(&p->inner.fit, rest, 1);
        p->inner.at += (size_t)d.lost;
        pf_perf_add_damage(p, &d);
        return PERFILE_OK;
    }
    perfile_status st = pf_perf_count_rest(p, &d.lost, err);
    if (st != PERFILE_OK)
        return st;
    if (d.lost)
        d.bytes.ptr = NULL;
    d.lost += rest.len;
    p->inner.broken = true;
    p->inner.at = p->inner.bytes.len;
    p->part_over = true;
    pf_perf_add_damage(p, &d);
    return PERFILE_OK;
}

/* Salvage of inner records: shortens *rest to the bytes that can be trusted.  If it begins with a
 * gap, records and skips the gap and returns false. */
static bool limit_to_trusted(pf_perf_stream *p, perfile_bytes *rest)
{
    if (p->inner.at >= p->inner.trusted) {
        pf_salvage_result a = pf_perf_look_ahead(&p->inner.fit, *rest, false, false);
        if (a.broken && pf_perf_check_intact(p))
            return true;
        p->inner.trusted = p->inner.at + a.trusted;
        if (a.trusted == 0 && a.broken) {
            pf_perf_add_damage(p, &(pf_perf_pending){.damage = a.damage,
                                                     .flags = PERFILE_REC_INNER,
                                                     .offset = p->inner.envelope_offset,
                                                     .stream_offset = p->inner.pos + p->inner.at,
                                                     .lost = a.resume,
                                                     .bytes = *rest});
            p->inner.at += a.resume;
            return false;
        }
        if (a.trusted == 0)
            return true; /* an incomplete record, which pf_perf_fill_inner() handles */
    }
    rest->len = p->inner.trusted - p->inner.at;
    return true;
}

/* Delivers a record collected from fragments first, then records of p->inner.bytes by the fast
 * path, then the one record that stopped the fast path. */
perfile_status pf_perf_fill_inner(pf_perf_stream *p, perfile_error *err)
{
    if (p->split.ready) {
        pf_frame f = pf_frame_at(p->split.bytes.ptr, p->swap);
        p->split.ready = false;
        perfile_status st = deliver_inner(p, p->split.bytes.ptr, &f, err);
        p->base.run[0].stream_offset = 0;
        return st;
    }
    perfile_bytes rest = {p->inner.bytes.ptr + p->inner.at, p->inner.bytes.len - p->inner.at};
    if (p->salvage.on && !limit_to_trusted(p, &rest))
        return PERFILE_OK;
    if (!p->slots_inner || p->slot_dirty)
        pf_perf_prepare_slots(p, true, p->slots_inner ? 1 : PERFILE_RUN_RECORDS);
    size_t taken = pf_perf_frame_run(p, rest, p->inner.pos + p->inner.at, true);
    if (taken) {
        p->inner.at += taken;
        count_inner(p, taken);
        return PERFILE_OK;
    }
    pf_frame f = {.size = PF_PERF_RECORD_HEADER};
    if (rest.len >= PF_PERF_RECORD_HEADER)
        f = pf_frame_at(rest.ptr, p->swap);
    if (f.size < PF_PERF_RECORD_HEADER)
        return handle_bad_inner_size(p, rest, err);
    if (f.size > rest.len) {
        /* Waits for the next envelope, unless that cannot complete the record. */
        if (p->inner.ends)
            p->inner.at = p->inner.bytes.len;
        p->inner.ends = false;
        p->inner.waits = true;
        return PERFILE_OK;
    }
    perfile_status st = deliver_inner(p, rest.ptr, &f, err);
    p->inner.at += f.size;
    return st;
}
