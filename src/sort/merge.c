/* The second pass: hands out what has the least time. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/temporary.h"
#include "stage/round.h"
#include "sort/sort.h"
#include "schema/frame.h"

enum { FETCH_AHEAD = 16 /* records */ };

/* Of an input that was in order each source has what was read before all that is in the next. */
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

/* What the source has first now. */
static void look_at_head(pf_sort_source *s)
{
    if (s->window) {
        const pf_sort_entry *e = &s->window->e[s->window->at];
        const pf_sort_block *any = &s->window->blocks->list[s->window->next - 1];
        s->key = e->key;
        s->part = any->part;
        s->offset = e->at - (uintptr_t)any->start + any->offset;
    } else if (s->strands) {
        const pf_sort_strand *top = pf_sort_strands_top(s->strands);
        const pf_sort_block *b = pf_sort_strand_block(s->strands, top);
        s->key = s->strands->heap[0].key;
        s->part = b->part;
        s->offset = b->offset + (uint64_t)(top->at - b->start);
    } else {
        s->key = s->reader->item->key;
        s->part = s->reader->item->part;
        s->offset = s->reader->item->offset;
    }
}

/* Lets a source read on; puts it on the heap if there is more in it. */
static perfile_status read_on(pf_sort *x, pf_sort_source *s, perfile_error *err)
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
        look_at_head(s);
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
        perfile_status st = read_on(x, s, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

/* A run of one record may be anything; others have what needs no look but at its header. */
static inline bool plain_type(uint32_t type)
{
    return type - 1 < PF_PERF_LAST_KERNEL_TYPE;
}

static bool plain(const perfile_record *r)
{
    return (plain_type(r->type) || r->family != PERFILE_FAMILY_PERF) && r->extra.len == 0 &&
           !(r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_PAYLOAD_CUT));
}

/* Makes slot `i` ready for records of windows, which differ only in what from_window() writes. */
static void clean(pf_sort *x, uint32_t i)
{
    const bool in_window = x->blocks.beside && !x->by_strands;
    x->base.run[i] =
        (perfile_record){.flags = (uint8_t)((in_window ? 0 : PERFILE_REC_STABLE) |
                                            (x->blocks.swap ? PERFILE_REC_SWAPPED : 0)),
                         .envelope = PERFILE_NO_SEQUENCE,
                         .session = x->base.session};
    x->clean |= UINT64_C(1) << i;
}

/* The slot is used for something else. */
static perfile_record *slot_of(pf_sort *x, uint32_t i)
{
    x->clean &= ~(UINT64_C(1) << i);
    return &x->base.run[i];
}

/* `end`: of what is known to be there.  Somebody may have changed the size of the record in the
 * meantime: then it is no record of the capture, and is refused as one that is not what its bytes
 * say. */
static inline void from_mapping(perfile_record *r, const uint8_t *at, const uint8_t *end, bool swap)
{
    pf_sort_frame(r, at, swap);
    const size_t room = (size_t)(end - r->body.ptr);
    r->body.len = r->body.len < room ? r->body.len : room;
}

/* `offset`: what makes a place in the mapping one in the file.  `end`: of what the window has taken
 * in. */
static inline void from_window(perfile_record *r, const pf_sort_window *w, const pf_sort_entry *e,
                               uint64_t offset, const uint8_t *end, bool swap, uint32_t part)
{
    from_mapping(r, (const uint8_t *)(uintptr_t)(e->at + w->shift), end, swap);
    r->offset = e->at + offset;
    r->part = part;
}

static void from_reader(pf_sort *x, const pf_sort_source *s, perfile_record *r)
{
    *r = (perfile_record){.envelope = PERFILE_NO_SEQUENCE, .session = x->base.session};
    pf_sort_extra extra = pf_sort_item_record(s->reader->item, r);
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    r->flags &= (uint8_t)~PERFILE_REC_INNER; /* what it was in is not there */
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

static void account(pf_sort *x, uint32_t n, uint32_t samples, uint64_t bytes, bool timed)
{
    x->base.n_run += n;
    x->result.records += n;
    x->result.samples += samples;
    x->round_bytes += bytes;
    x->done += bytes;
    x->timed |= timed;
}

/* Moves `s`, the top of the heap, to its next record; false when it has to read on first. */
static bool advance(pf_sort *x, pf_sort_source *s)
{
    bool more, dry;
    if (s->window) {
        more = s->window->at < s->window->ready;
        dry = s->window->next < s->window->end;
    } else if (s->strands) {
        more = s->strands->n_heap != 0;
        dry = false;
    } else {
        pf_sort_reader_next(s->reader);
        more = s->reader->item != NULL;
        dry = s->reader->dry;
    }
    if (more) {
        look_at_head(s);
        sift(x, 0);
        return true;
    }
    pop(x);
    x->dry = dry ? s : NULL;
    return !dry;
}

/* Where rounds stand depends on nothing but the records. */
static bool run_is_full(const pf_sort *x)
{
    return x->base.n_run == PERFILE_RUN_RECORDS ||
           (x->base.n_run && x->round_bytes >= PF_ROUND_BYTES);
}

/* The `seen` records of a window are the next of the run. */
static void note_framed(perfile_stream *s, pf_framed seen)
{
    pf_framed *f = &s->framed;
    if (s->n_run && f->n != s->n_run)
        return; /* somebody else's are among them */
    if (s->n_run == 0)
        *f = (pf_framed){.shortest = UINT16_MAX};
    f->n += seen.n;
    f->other |= seen.other;
    f->shortest = seen.shortest < f->shortest ? seen.shortest : f->shortest;
    f->longest = seen.longest > f->longest ? seen.longest : f->longest;
}

/* So that it is near when its turn comes. */
static inline void fetch(const pf_sort_window *w, const pf_sort_entry *e)
{
    const uint8_t *ahead = (const uint8_t *)(uintptr_t)(e->at + w->shift);
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + 64);
}

uint64_t pf_sort_least_of_others(const pf_sort *x)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 1; i < 3 && i < x->n_heap; i++)
        least = x->heap[i]->key < least ? x->heap[i]->key : least;
    return least;
}

/* What a window has before any other source. */
static bool take_window(pf_sort *x, pf_sort_source *s)
{
    pf_sort_window *w = s->window;
    const pf_sort_block *any = &w->blocks->list[w->next - 1];
    const uint64_t shift = any->offset - (uintptr_t)any->start;
    const uint8_t *end = (const uint8_t *)((uintptr_t)any->start + any->bytes + w->shift);
    const uint64_t bound = pf_sort_least_of_others(x), begun = x->round_bytes;
    const uint32_t first = x->base.n_run, part = s->part;
    const bool swap = x->blocks.swap;
    const pf_sort_entry *e = w->e + w->at, *ready = w->e + w->ready;
    const pf_sort_entry *far = w->n > FETCH_AHEAD ? w->e + w->n - FETCH_AHEAD : w->e;
    uint64_t bytes = begun, keys = 0, sequence = x->sequence;
    uint32_t n = first, samples = 0;
    size_t shortest = UINT16_MAX, longest = 0;
    bool more = true;
    do {
        if (e < far)
            fetch(w, e + FETCH_AHEAD);
        if (!(x->clean >> n & 1))
            clean(x, n);
        perfile_record *r = &x->base.run[n];
        from_window(r, w, e, shift, end, swap, part);
        more = plain_type(r->type);
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
             bytes < PF_ROUND_BYTES);
    const bool took = n > first;
    const pf_framed seen = {n - first, samples != n - first, (uint16_t)shortest, (uint16_t)longest,
                            false};
    note_framed(&x->base, seen);
    w->at = (size_t)(e - w->e);
    x->sequence = sequence;
    account(x, n - first, samples, bytes - begun, keys != 0);
    return took && advance(x, s) && more;
}

void pf_sort_strands_took(pf_sort *x)
{
    (void)advance(x, x->heap[0]);
}

/* What strands have before any other source. */
static bool take_strands(pf_sort *x, pf_sort_source *s)
{
    pf_sort_strands *all = s->strands;
    const uint64_t bound = pf_sort_least_of_others(x), begun = x->round_bytes;
    const uint32_t first = x->base.n_run;
    uint64_t bytes = begun, keys = 0;
    uint32_t n = first, samples = 0;
    size_t shortest = UINT16_MAX, longest = 0;
    bool more = true;
    do {
        const pf_sort_strand *one = pf_sort_strands_top(all);
        const pf_sort_block *b = pf_sort_strand_block(all, one);
        const uint64_t key = all->heap[0].key;
        perfile_record *r = &x->base.run[n];
        if (one->what == PF_STRAND_CHANGED)
            break;
        if (!(x->clean >> n & 1))
            clean(x, n);
        from_mapping(r, one->at, one->end, x->blocks.swap);
        r->offset = b->offset + (uint64_t)(one->at - b->start);
        r->part = b->part;
        more = plain_type(r->type);
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
        pf_sort_strands_go_on(all, one->at + size, x->base.below);
    } while (more && all->n_heap && all->heap[0].key < bound && n < PERFILE_RUN_RECORDS &&
             bytes < PF_ROUND_BYTES);
    const bool took = n > first;
    const pf_framed seen = {n - first, samples != n - first, (uint16_t)shortest, (uint16_t)longest,
                            false};
    note_framed(&x->base, seen);
    account(x, n - first, samples, bytes - begun, keys != 0);
    return advance(x, s) && took && more;
}

/* Takes what the top of the heap has before any other, into the run. */
static bool take_top(pf_sort *x)
{
    perfile_stream *base = &x->base;
    pf_sort_source *s = x->heap[0];
    if (s->window)
        return take_window(x, s);
    if (s->strands)
        return take_strands(x, s);
    perfile_record *r = slot_of(x, base->n_run);
    from_reader(x, s, r);
    if (base->n_run && !plain(r))
        return false;
    r->sequence = x->sequence++;
    x->keys[base->n_run] = s->key;
    x->done += r->extra.len;
    account(x, 1, r->type == PERFILE_RECORD_SAMPLE, perfile_record_size(r), s->key != 0);
    return advance(x, s) && plain(r);
}

static void make_round(pf_sort *x)
{
    *slot_of(x, 0) = pf_round_record(x->base.session, x->sequence++);
    x->base.n_run = 1;
    x->result.rounds++;
    x->round_bytes = 0;
    x->timed = false;
}

/* A piece of a record joins the others, as it will when the records are read again. */
static perfile_status collect(pf_sort *x, perfile_error *err)
{
    const perfile_record *r = &x->base.run[0];
    x->in_pieces = x->base.n_run == 1 && r->flags & PERFILE_REC_ENVELOPE;
    if (!x->in_pieces)
        return PERFILE_OK;
    if (x->whole.len + r->body.len > x->base.limits.split_bytes)
        return pf_fail(err, PERFILE_E_LIMIT, "split_bytes",
                       "a record in pieces has more than %llu bytes",
                       (unsigned long long)x->base.limits.split_bytes);
    x->whole_ready = pf_is_last_fragment(r);
    if (!x->whole_ready && !pf_buffer_append(&x->whole, r->body.ptr, r->body.len))
        return pf_fail_nomem(err, "sort");
    return PERFILE_OK;
}

/* The pieces came out: so does what they make, unless that is no record. */
static void make_whole(pf_sort *x)
{
    perfile_record last = x->base.run[0];
    x->whole_ready = x->in_pieces = false;
    x->whole_over = true;
    bool swap = last.flags & PERFILE_REC_SWAPPED;
    size_t len = x->whole.len;
    const uint8_t *at = x->whole.ptr;
    if (len < PF_PERF_RECORD_HEADER)
        return;
    perfile_record *r = slot_of(x, 0);
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

/* The block of strands that would be next, and is no longer what it was. */
static const pf_sort_block *changed_block(const pf_sort *x)
{
    const pf_sort_strands *all = x->n_heap ? x->heap[0]->strands : NULL;
    const pf_sort_strand *top = all ? pf_sort_strands_top(all) : NULL;
    return top && top->what == PF_STRAND_CHANGED ? pf_sort_strand_block(all, top) : NULL;
}

perfile_status pf_sort_merge(pf_sort *x, perfile_error *err)
{
    perfile_stream *base = &x->base;
    perfile_status st = PERFILE_OK;
    base->n_run = 0;
    if (x->payload.extra.len) {
        pf_stream_release(base->below, x->payload.part, x->payload.offset,
                          perfile_record_size(&x->payload) + x->payload.extra.len);
        x->payload.extra.len = 0;
    }
    if (x->whole_over)
        pf_buffer_clear(&x->whole);
    x->whole_over = false;
    if (x->whole_ready)
        make_whole(x);
    if (base->n_run)
        return PERFILE_OK;
    if (x->given.n) {
        pf_sort_hand_out(x);
        return PERFILE_OK;
    }
    bool over = x->n_heap == 0 && !x->dry;
    const bool rounds = x->timed && x->rounds;
    if (!rounds && x->round_bytes >= PF_ROUND_BYTES)
        x->round_bytes = 0; /* a round says nothing of records without a time */
    if (rounds && !x->in_pieces && (over || x->round_bytes >= PF_ROUND_BYTES)) {
        make_round(x);
        return PERFILE_OK;
    }
    if (x->dry) {
        pf_sort_source *s = x->dry;
        x->dry = NULL;
        st = read_on(x, s, err);
    }
    if (st == PERFILE_OK && x->n_heap == 0)
        return rounds && !x->in_pieces ? pf_sort_merge(x, err) : PERFILE_END;
    const pf_sort_block *block = base->n_run ? NULL : changed_block(x);
    if (st == PERFILE_OK && block)
        st = pf_sort_changed(block, err);
    while (st == PERFILE_OK && x->n_heap && !run_is_full(x))
        if (!take_top(x))
            break;
    return st == PERFILE_OK ? collect(x, err) : st;
}
