/* The second pass: merges windows, readers and strands, and makes runs of records in order of time.
 *
 * All sources stand on one binary heap by their next record.  emit_top() moves records of the top
 * source into the run for as long as they come before all other sources.  Besides, the merge
 *
 *  - makes a FINISHED_ROUND every PF_ROUND_BYTES and at the end, so that readers that sort need
 *    little memory; its place depends on the bytes of the records alone, not on how runs are cut;
 *  - yields each record that is not is_plain() alone in its run: it may teach the session, or have
 *    a payload;
 *  - yields the record that was joined from fragments behind the last of them (joined.c). */
#include "base/alloc.h"
#include "base/error.h"
#include "schema/frame.h"
#include "sort/sort.h"
#include "stage/round.h"

enum { FETCH_AHEAD = 16 /* records of a window whose bytes are prefetched */ };

/* The order of the heap.  Where keys are equal, the place in the input decides, so that the result
 * does not depend on which records were stored where.  With in_order each source holds records that
 * were read before all those of the next source, in whatever parts: then the number of the source
 * decides. */
static bool before(const pf_sort *x, const pf_sort_source *a, const pf_sort_source *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (x->in_order)
        return a->order < b->order;
    if (a->part != b->part)
        return a->part < b->part;
    return a->offset != b->offset ? a->offset < b->offset : a->order < b->order;
}

/* Puts heap[at] in its place among those below it. */
static void sift(pf_sort *x, uint32_t at)
{
    pf_sort_source *one = x->heap[at];
    for (uint32_t child; (child = 2 * at + 1) < x->n_heap; at = child) {
        if (child + 1 < x->n_heap && before(x, x->heap[child + 1], x->heap[child]))
            child++;
        if (!before(x, x->heap[child], one))
            break;
        x->heap[at] = x->heap[child];
    }
    x->heap[at] = one;
}

static void push(pf_sort *x, pf_sort_source *s)
{
    uint32_t at = x->n_heap++;
    for (; at && before(x, s, x->heap[(at - 1) / 2]); at = (at - 1) / 2)
        x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = s;
}

static void pop(pf_sort *x)
{
    x->heap[0] = x->heap[--x->n_heap];
    if (x->n_heap)
        sift(x, 0);
}

/* Sets key and place of a source to those of its next record, which must exist. */
static void update_key(pf_sort_source *s)
{
    if (s->window) {
        const pf_sort_entry *e = &s->window->e[s->window->at];
        /* Any block of the part shows the distance between addresses and offsets. */
        const pf_sort_block *any = &s->window->blocks->list[s->window->next - 1];
        s->key = e->key;
        s->part = any->part;
        s->offset = e->at - (uintptr_t)any->start + any->offset;
    } else if (s->strands) {
        const pf_sort_strand *top = pf_sort_strands_top(s->strands);
        s->key = s->strands->heap[0].key;
        s->part = pf_sort_strand_block(s->strands, top)->part;
        s->offset = pf_sort_strand_offset(top, top->at);
    } else {
        s->key = s->reader->item->key;
        s->part = s->reader->item->part;
        s->offset = s->reader->item->offset;
    }
}

/* Fills a source that is not on the heap, and puts it there if it has a next record. */
static perfile_status fill_source(pf_sort *x, pf_sort_source *s, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (s->window)
        st = pf_sort_window_fill(s->window, x->base.below, err);
    else if (s->reader)
        st = pf_sort_reader_fill(s->reader, (size_t)x->reader_window, err);
    if (st != PERFILE_OK)
        return st;
    bool more = s->window   ? s->window->at < s->window->ready
                : s->reader ? s->reader->item != NULL
                            : s->strands->n_heap != 0;
    if (more) {
        update_key(s);
        push(x, s);
    }
    return PERFILE_OK;
}

perfile_status pf_sort_merge_begin(pf_sort *x, perfile_error *err)
{
    uint32_t n = x->n_windows + x->n_readers + x->by_strands;
    x->sources = pf_alloc(n, sizeof *x->sources);
    x->heap = pf_alloc(n, sizeof(pf_sort_source *));
    if (!x->sources || !x->heap)
        return pf_fail_nomem(err, "sort");
    for (uint32_t i = 0; i < n; i++) {
        pf_sort_source *s = &x->sources[i];
        s->order = i;
        if (i < x->n_windows)
            s->window = &x->windows[i];
        else if (i < x->n_windows + x->n_readers)
            s->reader = &x->readers[i - x->n_windows];
        else
            s->strands = &x->strands;
        perfile_status st = fill_source(x, s, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

/* True for the types of kernel records, which may stand together in a run.  Others are alone. */
static inline bool is_plain_type(uint32_t type)
{
    return type - 1 < PF_PERF_LAST_KERNEL_TYPE;
}

/* The same for any record: one with a payload, and a fragment, are alone, too. */
static bool is_plain(const perfile_record *r)
{
    return (is_plain_type(r->type) || r->family != PERFILE_FAMILY_PERF) && r->extra.len == 0 &&
           !(r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_PAYLOAD_CUT));
}

/* Prepares slot `i` of the run for records of the mapping: sets the members that are the same for
 * all of them, so that from_mapping() needs to write only the others. */
static void prepare_slot(pf_sort *x, uint32_t i)
{
    x->base.run[i] = (perfile_record){
        .flags = (uint8_t)(PERFILE_REC_STABLE | (x->blocks.swap ? PERFILE_REC_SWAPPED : 0)),
        .envelope = PERFILE_NO_SEQUENCE,
        .session = x->base.session};
    x->prepared |= UINT64_C(1) << i;
}

/* Fills `r` from the record at `at`.  `end` is the end of bytes that are known to exist: if the
 * file was changed meanwhile, the size in the header may lead beyond it.  Then the body is cut
 * there, and decoders and writers refuse the record, because its size is not that of its header. */
static inline void from_mapping(perfile_record *r, const uint8_t *at, const uint8_t *end, bool swap)
{
    pf_sort_frame(r, at, swap);
    const size_t room = (size_t)(end - r->body.ptr);
    r->body.len = r->body.len < room ? r->body.len : room;
}

/* Fills `r` from entry `e` of the window.  `offset` converts an address in the mapping to an offset
 * in the file; `end` is the end of the block that was loaded last. */
static inline void from_window(perfile_record *r, const pf_sort_entry *e, uint64_t offset,
                               const uint8_t *end, bool swap, uint32_t part)
{
    from_mapping(r, (const uint8_t *)(uintptr_t)e->at, end, swap);
    r->offset = e->at + offset;
    r->part = part;
}

/* Fills `r` from the current item of a reader, and notes its payload. */
static void from_reader(pf_sort *x, const pf_sort_source *s, perfile_record *r)
{
    *r = (perfile_record){.envelope = PERFILE_NO_SEQUENCE, .session = x->base.session};
    pf_sort_extra extra = pf_sort_item_record(s->reader->item, r);
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    r->flags &= (uint8_t)~PERFILE_REC_INNER; /* the envelope that it came out of is left out */
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

/* Restores the heap after the top source `s` has yielded its next record.  False if `s` must be
 * filled first: then it is off the heap, in x->to_refill. */
static bool advance(pf_sort *x, pf_sort_source *s)
{
    bool more, needs_fill;
    if (s->window) {
        more = s->window->at < s->window->ready;
        needs_fill = s->window->next < s->window->end;
    } else if (s->strands) {
        more = s->strands->n_heap != 0;
        needs_fill = false;
    } else {
        pf_sort_reader_next(s->reader);
        more = s->reader->item != NULL;
        needs_fill = s->reader->needs_fill;
    }
    if (more) {
        update_key(s);
        sift(x, 0);
        return true;
    }
    pop(x);
    x->to_refill = needs_fill ? s : NULL;
    return !needs_fill;
}

/* A run ends where a round is due, so that the round can stand there. */
static bool run_is_full(const pf_sort *x)
{
    return x->base.n_run == PERFILE_RUN_RECORDS ||
           (x->base.n_run && x->round_bytes >= x->round_most);
}

/* Notes in the stream what was seen of records that were just added to the run.  Nothing is known
 * of the run if it has records that came without. */
static void note_framed(perfile_stream *s, pf_framed seen)
{
    pf_framed *f = &s->framed;
    if (s->n_run && f->n != s->n_run)
        return; /* records of a reader are among them */
    if (s->n_run == 0)
        *f = (pf_framed){.shortest = UINT16_MAX};
    f->n += seen.n;
    f->other |= seen.other;
    f->shortest = seen.shortest < f->shortest ? seen.shortest : f->shortest;
    f->longest = seen.longest > f->longest ? seen.longest : f->longest;
}

/* Prefetches the first two cache lines of a record that will be yielded soon: the order of time
 * jumps in the mapping. */
static inline void prefetch_record(const pf_sort_entry *e)
{
    const uint8_t *ahead = (const uint8_t *)(uintptr_t)e->at;
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + 64);
}

static uint64_t least_of_others(const pf_sort *x)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 1; i < 3 && i < x->n_heap; i++)
        least = x->heap[i]->key < least ? x->heap[i]->key : least;
    return least;
}

/* Moves records of the top source, a window, into the run as long as they come before all other
 * sources.  False if the run ends here: the next record must stand first, or the window must be
 * filled. */
static bool emit_window(pf_sort *x, pf_sort_source *s)
{
    pf_sort_window *w = s->window;
    const pf_sort_block *any = &w->blocks->list[w->next - 1];
    /* Addresses to offsets in the file, modulo 2^64. */
    const uint64_t shift = any->offset - (uintptr_t)any->start;
    const uint8_t *end = (const uint8_t *)((uintptr_t)any->start + (uintptr_t)any->bytes);
    const uint64_t bound = least_of_others(x), begun = x->round_bytes;
    const uint32_t first = x->base.n_run, part = s->part;
    const bool swap = x->blocks.swap;
    const pf_sort_entry *e = w->e + w->at, *ready = w->e + w->ready;
    /* Entries before `far` have one that can be prefetched FETCH_AHEAD behind them. */
    const pf_sort_entry *far = w->n > FETCH_AHEAD ? w->e + w->n - FETCH_AHEAD : w->e;
    uint64_t bytes = begun, keys = 0, sequence = x->sequence;
    uint32_t n = first, samples = 0;
    size_t shortest = UINT16_MAX, longest = 0;
    bool more = true;
    do {
        if (e < far)
            prefetch_record(e + FETCH_AHEAD);
        if (!(x->prepared >> n & 1))
            prepare_slot(x, n);
        perfile_record *r = &x->base.run[n];
        from_window(r, e, shift, end, swap, part);
        more = is_plain_type(r->type);
        if (!more && n)
            break;
        r->sequence = sequence++;
        const size_t size = r->body.len + PF_PERF_RECORD_HEADER;
        samples += r->type == PERFILE_RECORD_SAMPLE;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
        bytes += size;
        keys |= e->key;
        x->keys[n++] = e->key;
        e++;
    } while (more && e < ready && e->key < bound && n < PERFILE_RUN_RECORDS &&
             bytes < x->round_most);
    const bool emitted = n > first;
    const pf_framed seen = {n - first, samples != n - first, (uint16_t)shortest, (uint16_t)longest,
                            false};
    note_framed(&x->base, seen);
    w->at = (size_t)(e - w->e);
    x->sequence = sequence;
    count_records(x, n - first, samples, bytes - begun, keys != 0);
    return emitted && advance(x, s) && more;
}

/* The same for strands.  A strand that was changed ends the run; the error is reported when it is
 * the first in the next one. */
static bool emit_strands(pf_sort *x, pf_sort_source *s)
{
    pf_sort_strands *all = s->strands;
    const uint64_t bound = least_of_others(x), begun = x->round_bytes;
    const uint32_t first = x->base.n_run;
    uint64_t bytes = begun, keys = 0;
    uint32_t n = first, samples = 0;
    size_t shortest = UINT16_MAX, longest = 0;
    bool more = true;
    do {
        const pf_sort_strand *one = pf_sort_strands_top(all);
        const uint64_t key = all->heap[0].key;
        perfile_record *r = &x->base.run[n];
        if (one->kind == PF_STRAND_CHANGED)
            break;
        if (!(x->prepared >> n & 1))
            prepare_slot(x, n);
        from_mapping(r, one->at, one->end, x->blocks.swap);
        r->offset = pf_sort_strand_offset(one, one->at);
        r->part = pf_sort_strand_block(all, one)->part;
        more = is_plain_type(r->type);
        if (!more && n)
            break;
        r->sequence = x->sequence++;
        const size_t size = perfile_record_size(r);
        samples += r->type == PERFILE_RECORD_SAMPLE;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
        bytes += size;
        keys |= key;
        x->keys[n++] = key;
        pf_sort_strands_advance(all, one->at + size, x->base.below);
    } while (more && all->n_heap && all->heap[0].key < bound && n < PERFILE_RUN_RECORDS &&
             bytes < x->round_most);
    const bool emitted = n > first;
    const pf_framed seen = {n - first, samples != n - first, (uint16_t)shortest, (uint16_t)longest,
                            false};
    note_framed(&x->base, seen);
    count_records(x, n - first, samples, bytes - begun, keys != 0);
    return advance(x, s) && emitted && more;
}

/* Moves records of the top source into the run: of a reader one, of others as many as come before
 * all other sources.  False if the run ends here. */
static bool emit_top(pf_sort *x)
{
    perfile_stream *base = &x->base;
    pf_sort_source *s = x->heap[0];
    if (s->window)
        return emit_window(x, s);
    if (s->strands)
        return emit_strands(x, s);
    perfile_record *r = pf_sort_unprepared_slot(x, base->n_run);
    from_reader(x, s, r);
    if (base->n_run && !is_plain(r))
        return false; /* it must be first: the slot is written again in the next run */
    r->sequence = x->sequence++;
    x->keys[base->n_run] = s->key;
    x->done += r->extra.len;
    count_records(x, 1, r->type == PERFILE_RECORD_SAMPLE, perfile_record_size(r), s->key != 0);
    return advance(x, s) && is_plain(r);
}

/* Makes a FINISHED_ROUND the only record of the run. */
static void make_round(pf_sort *x)
{
    *pf_sort_unprepared_slot(x, 0) = pf_round_record(x->base.session, x->sequence++);
    x->base.n_run = 1;
    x->result.rounds++;
    x->round_bytes = 0;
    x->timed = false;
}

/* Returns the block of the strand that is next, if the file was changed there since the first pass;
 * else NULL. */
static const pf_sort_block *changed_block(const pf_sort *x)
{
    const pf_sort_strands *all = x->n_heap ? x->heap[0]->strands : NULL;
    const pf_sort_strand *top = all ? pf_sort_strands_top(all) : NULL;
    return top && top->kind == PF_STRAND_CHANGED ? pf_sort_strand_block(all, top) : NULL;
}

perfile_status pf_sort_merge(pf_sort *x, perfile_error *err)
{
    perfile_stream *base = &x->base;
    perfile_status st = PERFILE_OK;
    base->n_run = 0;
    /* Records of the last run are no longer used: release the payload, forget the joined record. */
    if (x->payload.extra.len) {
        pf_stream_release(base->below, x->payload.part, x->payload.offset,
                          perfile_record_size(&x->payload) + x->payload.extra.len);
        x->payload.extra.len = 0;
    }
    if (x->joined_yielded)
        pf_buffer_clear(&x->joined);
    x->joined_yielded = false;
    if (x->joined_ready)
        pf_sort_make_joined(x);
    if (base->n_run)
        return PERFILE_OK;
    bool over = x->n_heap == 0 && !x->to_refill;
    const bool rounds = x->timed && x->rounds;
    if (!rounds && x->round_bytes >= x->round_most)
        x->round_bytes = 0; /* no round: it would say nothing about records without a time */
    if (rounds && !x->in_fragments && (over || x->round_bytes >= x->round_most)) {
        make_round(x);
        return PERFILE_OK;
    }
    if (x->to_refill) {
        pf_sort_source *s = x->to_refill;
        x->to_refill = NULL;
        st = fill_source(x, s, err);
    }
    if (st == PERFILE_OK && x->n_heap == 0)
        return rounds && !x->in_fragments ? pf_sort_merge(x, err) /* makes the last round */
                                          : PERFILE_END;
    const pf_sort_block *block = base->n_run ? NULL : changed_block(x);
    if (st == PERFILE_OK && block)
        st = pf_sort_fail_changed(block, err);
    while (st == PERFILE_OK && x->n_heap && !run_is_full(x))
        if (!emit_top(x))
            break;
    return st == PERFILE_OK ? pf_sort_join_fragment(x, err) : st;
}

/* Fragments of a large simpleperf record: their bodies are joined as they pass, as a reader of the
 * output will do, and the record that they make is yielded behind the last of them. */

perfile_status pf_sort_join_fragment(pf_sort *x, perfile_error *err)
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

void pf_sort_make_joined(pf_sort *x)
{
    perfile_record last = x->base.run[0];
    x->joined_ready = x->in_fragments = false;
    x->joined_yielded = true;
    bool swap = last.flags & PERFILE_REC_SWAPPED;
    size_t len = x->joined.len;
    const uint8_t *at = x->joined.ptr;
    if (len < PF_PERF_RECORD_HEADER)
        return;
    perfile_record *r = pf_sort_unprepared_slot(x, 0);
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
