/* The second pass: merges ranges and readers through one heap, and makes runs of records in order
 * of time.  The merge also
 *
 *  - makes a FINISHED_ROUND every PF_ROUND_BYTES and at the end, so that readers that sort need
 *    little memory; its position depends only on the bytes of the records, not on run boundaries;
 *  - yields each record that is not is_plain() alone in its run: it may change the session, or have
 *    a payload;
 *  - yields the record joined from fragments after the last of them. */
#include "base/alloc.h"
#include "base/error.h"
#include "schema/rows.h"
#include "sort/sort.h"

#define NONE UINT32_MAX /* value of to_refill */

/* The reader of a source. */
static pf_sort_reader *reader_of(const pf_sort *x, uint32_t source)
{
    return &x->readers[source - x->ranges.n];
}

/* Returns the heap entry of a reader that has an item.  With in_order all records of a reader were
 * read before all records of the next one, whatever their parts: then only the number of the reader
 * counts. */
static pf_head head_of_reader(const pf_sort *x, uint32_t source)
{
    const pf_sort_item *item = reader_of(x, source)->item;
    return x->in_order ? (pf_head){item->key, 0, 0, source}
                       : (pf_head){item->key, item->offset, item->part, source};
}

/* Fills a reader that is not on the heap, and adds it to the heap if it has a next record. */
static perfile_status fill_reader(pf_sort *x, uint32_t source, perfile_error *err)
{
    pf_sort_reader *r = reader_of(x, source);
    perfile_status st = pf_sort_reader_fill(r, (size_t)x->reader_window, err);
    if (st == PERFILE_OK && r->item)
        pf_heap_push(&x->heap, head_of_reader(x, source));
    return st;
}

perfile_status pf_sort_merge_begin(pf_sort *x, perfile_error *err)
{
    const uint32_t n = x->ranges.n + x->n_readers;
    perfile_status st = PERFILE_OK;
    x->to_refill = NONE;
    x->heap.at = pf_alloc(n, sizeof *x->heap.at);
    if (!x->heap.at)
        return pf_fail_nomem(err, "sort");
    for (uint32_t i = 0; i < x->ranges.n; i++) {
        pf_head head;
        if (pf_sort_range_begin(&x->ranges, i, &head))
            pf_heap_push(&x->heap, head);
        pf_sort_touched(x, PF_SORT_PAGES);
    }
    for (uint32_t i = x->ranges.n; i < n && st == PERFILE_OK; i++)
        st = fill_reader(x, i, err);
    return st;
}

/* Returns true for types of kernel records, which may share a run.  Others are alone in theirs. */
static inline bool is_plain_type(uint32_t type)
{
    return type - 1 < PF_PERF_LAST_KERNEL_TYPE;
}

/* The same for any record.  Records with a payload and fragments are alone in their run, too. */
static bool is_plain(const perfile_record *r)
{
    return (is_plain_type(r->type) || r->family != PERFILE_FAMILY_PERF) && r->extra.len == 0 &&
           !(r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_PAYLOAD_CUT));
}

/* Returns slot `i` of the run for a record that is not from the mapping.  The slot must be prepared
 * again afterwards. */
static perfile_record *unprepared_slot(pf_sort *x, uint32_t i)
{
    x->prepared &= ~(UINT64_C(1) << i);
    return &x->base.run[i];
}

/* Prepares slot `i` of the run for records of the mapping: sets the members that are equal in all
 * of them, so that from_mapping() only writes the others. */
static void prepare_slot(pf_sort *x, uint32_t i)
{
    x->base.run[i] = (perfile_record){
        .flags = (uint8_t)(PERFILE_REC_STABLE | (x->ranges.swap ? PERFILE_REC_SWAPPED : 0)),
        .envelope = PERFILE_NO_SEQUENCE,
        .session = x->base.session};
    x->prepared |= UINT64_C(1) << i;
}

/* Fills `r` from the record at `at`.  `end` limits the bytes that are certain to exist: if the file
 * was changed in the meantime, the size in the header may lead beyond it.  Then the body is cut
 * there.  Decoders and writers refuse such a record, because its size differs from the one in its
 * header. */
static inline void from_mapping(perfile_record *r, const uint8_t *at, const uint8_t *end, bool swap)
{
    pf_sort_frame(r, at, swap);
    const size_t room = (size_t)(end - r->body.ptr);
    r->body.len = r->body.len < room ? r->body.len : room;
}

/* Fills `r` from the current item of a reader, and notes its payload. */
static void from_reader(pf_sort *x, const pf_sort_item *item, perfile_record *r)
{
    *r = (perfile_record){.envelope = PERFILE_NO_SEQUENCE, .session = x->base.session};
    pf_sort_extra extra = pf_sort_item_record(item, r);
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    r->flags &= (uint8_t)~PERFILE_REC_INNER; /* its envelope is left out */
    const pf_frame f = pf_frame_of(r->family, r->header, swap);
    r->type = f.type;
    r->misc = f.misc;
    if (r->extra.len && !r->extra.ptr) {
        x->extra = extra;
        x->extra_read = 0;
    } else if (r->extra.len) {
        x->payload = *r;
    }
}

/* Adds `n` records to the run and to the summary; `timed`: one of them has a key other than 0. */
static void count_records(pf_sort *x, uint32_t n, uint32_t samples, uint64_t bytes, bool timed)
{
    x->base.n_run += n;
    x->result.records += n;
    x->result.samples += samples;
    x->round_bytes += bytes;
    x->done += bytes;
    x->timed |= timed;
}

/* A run ends where a round is due. */
static bool run_is_full(const pf_sort *x)
{
    return x->base.n_run == PERFILE_RUN_RECORDS ||
           (x->base.n_run && x->round_bytes >= x->round_most);
}

/* Extends the stream's batch by records that were just added to the run.  Nothing is noted if the
 * run has other records, too. */
static void note_framed(perfile_stream *s, pf_batch seen)
{
    pf_batch *f = &s->framed;
    if (s->n_run && f->n != s->n_run)
        return; /* records of a reader are in the run */
    if (s->n_run == 0)
        *f = (pf_batch){.samples_only = true, .shortest = UINT16_MAX};
    f->n += seen.n;
    f->samples_only &= seen.samples_only;
    f->shortest = seen.shortest < f->shortest ? seen.shortest : f->shortest;
    f->longest = seen.longest > f->longest ? seen.longest : f->longest;
}

/* Adds records of ranges to the run until a reader has the next one.  Returns false if the run ends
 * here.  A range that was changed ends the run; the error is reported when the next run begins. */
static bool emit_ranges(pf_sort *x)
{
    pf_heap *heap = &x->heap;
    const uint64_t begun = x->round_bytes;
    const uint32_t first = x->base.n_run;
    uint64_t bytes = begun, keys = 0;
    uint32_t n = first, samples = 0;
    size_t shortest = UINT16_MAX, longest = 0;
    bool more = true;
    do {
        pf_head head = heap->at[0];
        const pf_sort_range *one = &x->ranges.list[head.source];
        perfile_record *r = &x->base.run[n];
        more = !one->changed;
        if (!more)
            break;
        if (!(x->prepared >> n & 1))
            prepare_slot(x, n);
        from_mapping(r, one->at, one->start + one->bytes, x->ranges.swap);
        r->offset = head.offset;
        r->part = head.part;
        more = is_plain_type(r->type);
        if (!more && n)
            break;
        r->sequence = x->sequence++;
        const size_t size = perfile_record_size(r);
        samples += r->type == PERFILE_RECORD_SAMPLE;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
        bytes += size;
        keys |= head.key;
        x->keys[n++] = head.key;
        if (pf_sort_range_advance(&x->ranges, one->at + size, &head))
            pf_heap_replace(heap, head);
        else
            pf_heap_pop(heap);
    } while (more && heap->n && heap->at[0].source < x->ranges.n && n < PERFILE_RUN_RECORDS &&
             bytes < x->round_most);
    const pf_batch seen = {.n = n - first,
                           .samples_only = samples == n - first,
                           .shortest = (uint16_t)shortest,
                           .longest = (uint16_t)longest};
    if (n > first)
        note_framed(&x->base, seen);
    count_records(x, n - first, samples, bytes - begun, keys != 0);
    pf_sort_touched(x, bytes - begun);
    return more;
}

/* Adds the next record, which is from a reader, to the run.  Returns false if the run ends here. */
static bool emit_item(pf_sort *x)
{
    perfile_stream *base = &x->base;
    const pf_head top = x->heap.at[0];
    pf_sort_reader *reader = reader_of(x, top.source);
    perfile_record *r = unprepared_slot(x, base->n_run);
    from_reader(x, reader->item, r);
    if (base->n_run && !is_plain(r))
        return false; /* it must be first: the next run writes it again */
    const bool plain = is_plain(r);
    r->sequence = x->sequence++;
    x->keys[base->n_run] = top.key;
    x->done += r->extra.len;
    count_records(x, 1, r->type == PERFILE_RECORD_SAMPLE, perfile_record_size(r), top.key != 0);
    pf_sort_reader_next(reader);
    if (reader->item) {
        pf_heap_replace(&x->heap, head_of_reader(x, top.source));
        return plain;
    }
    pf_heap_pop(&x->heap);
    if (reader->needs_fill)
        x->to_refill = top.source;
    return plain && !reader->needs_fill;
}

/* Makes a FINISHED_ROUND the only record of the run. */
static void make_round(pf_sort *x)
{
    *unprepared_slot(x, 0) = pf_round_record(x->base.session, x->sequence++);
    x->base.n_run = 1;
    x->result.rounds++;
    x->round_bytes = 0;
    x->timed = false;
}

/* Fragments of a large simpleperf record: their bodies are joined as they pass, as a reader of the
 * output will do, and the joined record is yielded after the last of them. */

static perfile_status join_fragment(pf_sort *x, perfile_error *err)
{
    const perfile_record *r = &x->base.run[0];
    x->in_fragments = x->base.n_run == 1 && r->flags & PERFILE_REC_ENVELOPE;
    if (!x->in_fragments)
        return PERFILE_OK;
    if (x->joined.len + r->body.len > x->base.limits.split_bytes)
        return pf_fail(err, PERFILE_E_LIMIT, "split_bytes",
                       "a record in fragments has more than %llu bytes, the limit",
                       (unsigned long long)x->base.limits.split_bytes);
    x->joined_ready = pf_is_last_fragment(r);
    if (!x->joined_ready && !pf_buffer_append(&x->joined, r->body.ptr, r->body.len))
        return pf_fail_nomem(err, "sort");
    return PERFILE_OK;
}

/* After the last fragment: makes the joined record the run.  If the bytes are not one record of
 * exactly this size, the run stays empty. */
static void make_joined(pf_sort *x)
{
    perfile_record last = x->base.run[0];
    x->joined_ready = x->in_fragments = false;
    x->joined_yielded = true;
    bool swap = last.flags & PERFILE_REC_SWAPPED;
    size_t len = x->joined.len;
    const uint8_t *at = x->joined.ptr;
    if (len < PF_PERF_RECORD_HEADER)
        return;
    perfile_record *r = unprepared_slot(x, 0);
    *r = (perfile_record){.flags = (uint8_t)(PERFILE_REC_INNER | (swap ? PERFILE_REC_SWAPPED : 0)),
                          .offset = last.offset,
                          .envelope = last.sequence,
                          .part = last.part,
                          .session = x->base.session};
    pf_sort_frame(r, at, swap);
    if (perfile_record_size(r) != len)
        return;
    r->sequence = x->sequence++;
    x->base.n_run = 1;
}

perfile_status pf_sort_merge(pf_sort *x, perfile_error *err)
{
    perfile_stream *base = &x->base;
    perfile_status st = PERFILE_OK;
    base->n_run = 0;
    /* Records of the last run are no longer used: release the payload, drop the joined record. */
    if (x->payload.extra.len) {
        pf_stream_release(base->below, x->payload.part, x->payload.offset,
                          perfile_record_size(&x->payload) + x->payload.extra.len);
        x->payload.extra.len = 0;
    }
    if (x->joined_yielded)
        pf_buffer_clear(&x->joined);
    x->joined_yielded = false;
    if (x->joined_ready)
        make_joined(x);
    if (base->n_run)
        return PERFILE_OK;
    bool over = x->heap.n == 0 && x->to_refill == NONE;
    const bool rounds = x->timed && x->rounds;
    if (!rounds && x->round_bytes >= x->round_most)
        x->round_bytes = 0; /* no round: it would tell nothing about records without a time */
    if (rounds && !x->in_fragments && (over || x->round_bytes >= x->round_most)) {
        make_round(x);
        return PERFILE_OK;
    }
    if (x->to_refill != NONE) {
        st = fill_reader(x, x->to_refill, err);
        x->to_refill = NONE;
    }
    if (st == PERFILE_OK && x->heap.n == 0)
        return rounds && !x->in_fragments ? pf_sort_merge(x, err) /* makes the last round */
                                          : PERFILE_END;
    while (st == PERFILE_OK && x->heap.n && !run_is_full(x)) {
        const uint32_t source = x->heap.at[0].source;
        if (base->n_run == 0 && source < x->ranges.n && x->ranges.list[source].changed)
            return pf_sort_fail_changed(&x->ranges.list[source], err);
        if (!(source < x->ranges.n ? emit_ranges(x) : emit_item(x)))
            break;
    }
    return st == PERFILE_OK ? join_fragment(x, err) : st;
}
