/* The merge as a stage: yields the records of all inputs in order of time.
 *
 * fill() decides what comes next: damage, a FINISHED_ROUND that is due, the refill of an input that
 * has used up its run, or a run of records. fill_fast() makes a run as long as plain samples
 * follow, and add_next_record() handles all other records. An input is refilled only when a run
 * begins, because records of the run may borrow bytes of the input's previous run. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/checked.h"
#include "base/error.h"
#include "core/layout.h"
#include "schema/rows.h"
#include "sort/merge.h"
#include "core/command.h"

#include <string.h>

/* The heap entry of an input. Records of equal times are in the order of their inputs. An input in
 * the middle of fragments comes before all others: nothing may be between the fragments of a
 * record. */
static inline pf_head head_of(const pf_merge_input *in)
{
    return (pf_head){
        .key = in->in_fragments ? 0 : in->key, .part = !in->in_fragments, .source = in->at};
}

/* Moves `in`, the first input of the heap, to its next record. Returns false if its run is used up:
 * then it has left the heap and is x->exhausted, and the caller refills it. */
static inline bool advance(pf_merge *x, pf_merge_input *in)
{
    in->next++;
    in->next_key++;
    if (in->next < in->end && pf_merge_is_plain_sample(in->next)) {
        in->key = pf_merge_key(in, *in->next_key);
        in->in_fragments = false;
        pf_heap_replace(&x->heap, head_of(in));
        return true;
    }
    if (pf_merge_skip_to_next(x, in)) {
        pf_heap_replace(&x->heap, head_of(in));
        return true;
    }
    x->exhausted = in;
    pf_heap_pop(&x->heap);
    return false;
}

void pf_merge_push(pf_merge *x, const pf_merge_input *in)
{
    pf_heap_push(&x->heap, head_of(in));
}

/* The fast path: samples in which only words at fixed offsets change. write_with_new_id() handles
 * the most frequent case (at most the id changes), write_sample() the others. Both refuse what they
 * do not handle before anything is counted or advanced; then record.c writes the record, with the
 * same result. */

/* A record of at least so many bytes is not copied if its bytes do not change. */
enum { LARGE = 1024 };

/* Sets *new_id to the number of an event id in the output, using the id cache. Returns false if the
 * id is 0 or belongs to no event: pf_merge_new_id() decides about those. */
static inline bool find_cached_id(pf_merge_input *in, uint64_t id, uint64_t *new_id)
{
    pf_merge_cached_id *slot = &in->id_cache[id % PF_MERGE_ID_CACHE];
    if (slot->new_id && slot->id == id) {
        *new_id = slot->new_id;
        return true;
    }
    if (!id || !pf_merge_find_id(in, id, new_id))
        return false;
    *slot = (pf_merge_cached_id){id, *new_id};
    return true;
}

/* Sets *id to the IDENTIFIER that the sample gets in the output, 0 if it gets none. Returns false
 * if record.c has to decide. */
static bool id_to_add(const pf_merge *x, pf_merge_input *in, const perfile_record *r, uint64_t *id)
{
    const perfile_layout *from = &in->plans[0].relayout.from;
    const int slot = from->sample_slot[PF_SLOT_ID];
    *id = 0;
    if (!x->adds_ids || from->sample_slot[PF_SLOT_IDENTIFIER] >= 0)
        return true;
    if (slot >= 0)
        return find_cached_id(
            in, pf_load_u64(r->body.ptr + 8 * (size_t)slot, r->flags & PERFILE_REC_SWAPPED), id);
    *id = in->events[0].first_id;
    return in->n_events == 1;
}

/* Writes the new value of a field with value `v` to `at`. Returns false if record.c has to do it:
 * pids, unknown ids, times near the ends of the clock. */
static inline bool patch_word(pf_merge_input *in, const pf_merge_patch *p, uint64_t v, uint8_t *at,
                              bool swap)
{
    uint64_t out;
    if (p->rule == PF_MERGE_TIME) {
        /* record.c checks times that could wrap around, and names them in its error. */
        const uint64_t far = UINT64_C(1) << 62;
        out = v + in->offset;
        if (v == 0 || v >= far || out == 0 || out >= far)
            return false;
    } else if (p->rule == PF_MERGE_TASK ||
               (!find_cached_id(in, v, &out) &&
                (p->rule != PF_MERGE_STREAM || !pf_merge_find_stream(in, v, &out)))) {
        return false;
    }
    if (out != v)
        pf_store_u64(at, out, swap);
    return true;
}

/* Returns true if the id of the sample belongs to an event of the input. Called if no sample of the
 * input changes: then the sample can be passed on without a copy. */
static bool has_known_id(const pf_merge *x, pf_merge_input *in, const perfile_record *r)
{
    uint64_t id;
    int slot = pf_layout_sample_id(&in->plans[0].relayout.from);
    return slot < 0 ? !x->adds_ids
                    : find_cached_id(in,
                                     pf_load_u64(r->body.ptr + 8 * (size_t)slot,
                                                 r->flags & PERFILE_REC_SWAPPED),
                                     &id);
}

/* Writes `r` to `to` in the layout of the output. Returns its size, or 0 if record.c has to do it.
 * The common change of layout, an IDENTIFIER added at the start of the body, is done here. */
static inline size_t write_in_new_layout(const pf_relayout *plan, const perfile_record *r,
                                         uint64_t id, uint8_t *to)
{
    size_t n = PF_PERF_RECORD_HEADER + r->body.len;
    if (plan->front.same) {
        pf_copy_small(to, r->header, n);
        return n;
    }
    if (plan->front.adds_first && plan->same_rest && n + sizeof id <= UINT16_MAX) {
        const bool swap = r->flags & PERFILE_REC_SWAPPED;
        memcpy(to, r->header, PF_PERF_RECORD_HEADER);
        pf_store_u16(to + PF_PERF_SIZE_AT, (uint16_t)(n + sizeof id), swap);
        pf_store_u64(to + PF_PERF_RECORD_HEADER, id, swap);
        pf_copy_small(to + PF_PERF_RECORD_HEADER + sizeof id, r->body.ptr, r->body.len);
        return n + sizeof id;
    }
    return pf_relayout_record(plan, r, id, to, &n, NULL) == PERFILE_OK ? n : 0;
}

/* Writes `r` to `to`, or borrows its bytes if they are large and do not change. Returns false if
 * record.c has to do it. Not inlined, so that the loop keeps its variables in registers. */
static __attribute__((noinline)) bool write_sample(pf_merge *x, pf_merge_input *in,
                                                   const perfile_record *r, uint8_t *to,
                                                   perfile_record *out)
{
    const pf_merge_plan *p = in->plans;
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    if (!in->fixed_fields_only || !pf_merge_is_plain_sample(r) ||
        r->body.len < 8 * (size_t)p->relayout.front.old)
        return false;
    out->misc = r->misc;
    out->flags = r->flags;
    out->offset = r->offset;
    out->part = in->at;
    uint64_t id;
    size_t n = PF_PERF_RECORD_HEADER + r->body.len;
    if (in->plain) {
        if (!has_known_id(x, in, r))
            return false;
        if (n >= LARGE) {
            out->header = r->header;
            out->body = r->body;
            return true;
        }
        /* A copy, because the writer is faster with one long range of bytes than with many short
         * ones. */
        pf_copy_small(to, r->header, n);
    } else if (!id_to_add(x, in, r, &id) ||
               (n = write_in_new_layout(&p->relayout, r, id, to)) == 0) {
        return false;
    }
    /* Read values from the input if offsets are equal: a load right after the copy would wait for
     * its stores. */
    const bool adds = !p->relayout.front.same;
    const unsigned n_patches = in->plain ? 0 : p->n_sample;
    const uint8_t *words = (adds ? to : r->header) + PF_PERF_RECORD_HEADER;
    for (unsigned i = adds; i < n_patches; i++) {
        const size_t at = 8 * (size_t)p->sample[i].slot;
        if (!patch_word(in, &p->sample[i], pf_load_u64(words + at, swap),
                        to + PF_PERF_RECORD_HEADER + at, swap))
            return false;
    }
    out->header = to;
    out->body = (perfile_bytes){to + PF_PERF_RECORD_HEADER, n - PF_PERF_RECORD_HEADER};
    out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    return true;
}

/* write_sample() for inputs in which at most the id of a sample changes. */
static inline bool write_with_new_id(pf_merge_input *in, const perfile_record *r, uint8_t *to,
                                     perfile_record *out)
{
    const size_t at = 8 * (size_t)in->id_slot, len = r->body.len;
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    uint64_t new_id;
    if (in->id_slot < 0 || !pf_merge_is_plain_sample(r) || len < in->min_body ||
        len >= LARGE - PF_PERF_RECORD_HEADER)
        return false;
    const uint64_t id = pf_load_u64(r->body.ptr + at, swap);
    if (!find_cached_id(in, id, &new_id))
        return false;
    pf_copy_small(to, r->header, PF_PERF_RECORD_HEADER + len);
    if (new_id != id)
        pf_store_u64(to + PF_PERF_RECORD_HEADER + at, new_id, swap);
    out->header = to;
    out->body = (perfile_bytes){to + PF_PERF_RECORD_HEADER, len};
    out->misc = r->misc;
    out->flags = r->flags & (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    out->offset = r->offset;
    out->part = in->at;
    return true;
}

/* Returns slot `i` of the run, in which the members that are equal in all plain samples are set.
 * x->ready_slots remembers which slots are ready. */
static inline perfile_record *sample_slot_at(pf_merge *x, uint32_t i)
{
    perfile_record *slot = &x->base.run[i];
    if (!(x->ready_slots >> i & 1)) {
        *slot = (perfile_record){.type = PERFILE_RECORD_SAMPLE,
                                 .envelope = PERFILE_NO_SEQUENCE,
                                 .session = x->base.session};
        x->ready_slots |= UINT64_C(1) << i;
    }
    return slot;
}

/* Adds plain samples to the run while it can. Counters are local variables and stored at the end.
 * base.framed describes the whole run if the run was empty before. */
static void fill_fast(pf_merge *x)
{
    const uint32_t begun = x->base.n_run;
    const uint8_t *const limit = x->bytes.ptr + x->bytes.cap;
    uint8_t *to = x->bytes.ptr + x->bytes.len;
    const uint8_t *end = to;
    uint32_t n = begun;
    uint64_t bytes = 0, keys = 0, sequence = x->sequence;
    size_t shortest = UINT16_MAX, longest = 0;
    bool adjacent = true;
    while (!x->exhausted && x->heap.n && n < PERFILE_RUN_RECORDS &&
           !pf_merge_round_is_due(x, bytes, keys != 0)) {
        pf_merge_input *in = &x->inputs[x->heap.at[0].source];
        perfile_record *out = sample_slot_at(x, n);
        /* The buffer is full; it must not move while records of the run point into it. */
        if ((size_t)(limit - to) < perfile_record_size(in->next) + PF_RELAYOUT_MAX_GROWTH)
            break;
        if (!write_with_new_id(in, in->next, to, out) && !write_sample(x, in, in->next, to, out))
            break;
        const size_t size = perfile_record_size(out);
        to += out->header == to ? size : 0;
        out->sequence = sequence++;
        bytes += size;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
        /* The writer can write the run with one call if its records are adjacent. */
        adjacent &= out->header == end;
        end = out->header + size;
        keys |= in->key;
        in->result.records++;
        in->result.samples++;
        n++;
        advance(x, in);
    }
    x->bytes.len = (size_t)(to - x->bytes.ptr);
    x->sequence = sequence;
    x->base.n_run = n;
    x->result.records += n - begun;
    x->result.samples += n - begun;
    x->since_round += bytes;
    x->timed_since_round |= keys != 0;
    if (!begun)
        x->base.framed = (pf_batch){.n = n,
                                    .samples_only = true,
                                    .contiguous = adjacent,
                                    .shortest = (uint16_t)shortest,
                                    .longest = (uint16_t)longest};
}

static pf_merge *merge_of(perfile_stream *s)
{
    return (pf_merge *)(void *)s;
}

/* Returns true for records that must be alone in their run: they change the session, their extra
 * bytes are read through the input, or they belong to an envelope. */
static bool is_alone_in_run(const perfile_record *r)
{
    return (r->extra.len && !r->extra.ptr) || pf_session_collects(r) ||
           r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER);
}

/* Returns true for records that another input may have, too: those about the whole capture
 * (PF_ROW_FIRST), and side-band of a part of a recording. Fragments are excluded: two may have
 * equal bytes although the records made of them differ. */
static bool may_repeat(const pf_merge_input *in, const perfile_record *r)
{
    unsigned class = pf_role_of(r);
    return pf_marks_of(r) & PF_ROW_FIRST ||
           (in->is_part && class != PF_ROLE_DATA && !pf_is_joined_fragment(r));
}

/* Returns the next slot of the run for a record other than a plain sample. The caller writes all
 * members. */
static perfile_record *next_slot(pf_merge *x)
{
    x->ready_slots &= ~(UINT64_C(1) << x->base.n_run);
    return &x->base.run[x->base.n_run];
}

/* Counts the record in the next slot of the run, which is from `in`. */
static void count_record(pf_merge *x, pf_merge_input *in)
{
    const perfile_record *r = &x->base.run[x->base.n_run];
    bool sample = r->type == PERFILE_RECORD_SAMPLE && !(r->flags & PERFILE_REC_INNER);
    x->base.n_run++;
    x->result.records++;
    x->result.samples += sample;
    in->result.records++;
    in->result.samples += sample;
    x->since_round += perfile_record_size(r);
    x->timed_since_round |= in->key != 0;
}

/* Rewrites the next record of `in` into the run, unless it is left out. Does not advance `in`. */
static perfile_status add_next_record(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    const perfile_record *r = in->next;
    perfile_record *out = next_slot(x);
    bool drop;
    perfile_status st = pf_merge_check_exclusive(x, in, r, &drop, err);
    if (st != PERFILE_OK || drop)
        return st;
    size_t before_bytes = x->bytes.len;
    st = pf_merge_rewrite_record(x, in, r, out, &drop, err);
    if (st != PERFILE_OK || drop)
        return st;
    if (may_repeat(in, r)) {
        bool timeless = perfile_record_time(r) == PERFILE_NO_TIME;
        st = pf_merge_is_repeated(x, in, out, in->key, timeless, &drop, err);
        x->result.repeated += drop;
        if (drop)
            /* The rewritten bytes of a repeated record are dropped. */
            x->bytes.len = before_bytes;
        if (st != PERFILE_OK || drop)
            return st;
    }
    out->sequence = x->sequence++;
    /* A record joined from fragments is accompanied by them only if the input does not change.
     * Otherwise it is written alone and is no longer an inner record. */
    if (r->flags & PERFILE_REC_INNER && in->plain)
        out->envelope = in->last_fragment;
    else
        out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_INNER;
    in->in_fragments = pf_is_joined_fragment(r);
    in->last_fragment = in->in_fragments ? out->sequence : in->last_fragment;
    if (r->extra.len && !r->extra.ptr) {
        x->extra_of = r;
        x->extra_input = in->at;
    }
    count_record(x, in);
    return PERFILE_OK;
}

/* Passes a record that changes the session, which is alone in its run, to the session of the
 * output. */
static perfile_status update_session(pf_merge *x, perfile_error *err)
{
    const perfile_record *r = &x->base.run[0];
    if (x->base.n_run != 1 || !pf_session_collects(r))
        return PERFILE_OK;
    /* The session is resolved again only if the record changed something. */
    uint64_t before_it = pf_session_generation(x->base.session);
    perfile_status st = pf_session_collect(x->base.session, r, err);
    if (st == PERFILE_OK && pf_session_generation(x->base.session) != before_it)
        st = pf_session_resolve(x->base.session, err);
    return st;
}

/* Fills the run with records from the heap, until an input has used up its run or the next record
 * must wait for another run. */
static perfile_status fill_run(pf_merge *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK) {
        fill_fast(x);
        if (x->exhausted || !x->heap.n || x->base.n_run == PERFILE_RUN_RECORDS ||
            pf_merge_round_is_due(x, 0, false))
            break;
        pf_merge_input *in = &x->inputs[x->heap.at[0].source];
        const bool alone = is_alone_in_run(in->next);
        /* The buffer must not move while records of the run point into it: it grows only for an
         * empty run. */
        const size_t room = pf_merge_record_room(in->next);
        if (x->base.n_run && (alone || x->bytes.cap - x->bytes.len < room))
            break;
        if (!pf_buffer_reserve(&x->bytes, room))
            return pf_fail_nomem(err, "merge");
        st = add_next_record(x, in, err);
        if (!advance(x, in) || (alone && x->base.n_run))
            break;
    }
    return st == PERFILE_OK ? update_session(x, err) : st;
}

/* Reports a note with a count, if the count is not 0. */
static void report_count(pf_merge *x, uint32_t kind, uint64_t n, const char *text)
{
    const perfile_merge_note note = {kind, UINT32_MAX, UINT32_MAX, 0, n, text};
    if (n)
        pf_merge_report(x, &note);
}

/* Reports the counts at the end; once, even if the caller continues after the end. */
static void report_end(pf_merge *x)
{
    const perfile_merge_summary *sum = &x->result;
    if (x->reported)
        return;
    x->reported = true;
    report_count(x, PERFILE_MERGE_NOTE_RECORDS, sum->unattributed,
                 "records were left out: no event of the output gives their layout");
    report_count(x, PERFILE_MERGE_NOTE_RECORDS, sum->unreadable,
                 "records were left out that do not hold what their event says");
    report_count(
        x, PERFILE_MERGE_NOTE_RECORDS, x->foreign_time_convs,
        "TIME_CONV records were left out: they convert the hardware counter of another boot");
    report_count(x, PERFILE_MERGE_NOTE_CHANGED, sum->trailers,
                 "records without a time got a trailer with the time of the record before them");
}

/* Makes a FINISHED_ROUND the run if a record since the last one had a time; otherwise this is the
 * end. */
static perfile_status hand_out_round(pf_merge *x)
{
    if (x->timed_since_round && x->has_rounds) {
        *next_slot(x) = pf_round_record(x->base.session, x->sequence++);
        x->base.n_run++;
        x->timed_since_round = false;
        x->result.rounds++;
        return PERFILE_OK;
    }
    report_end(x);
    return PERFILE_END;
}

/* Makes one of the damage records that merge_begin.c saved the run. */
static void hand_out_damage(pf_merge *x)
{
    perfile_record *r = next_slot(x);
    *r = *(const perfile_record *)(const void *)x->pending_damage.ptr;
    r->session = x->base.session;
    pf_buffer_consume_front(&x->pending_damage, sizeof(perfile_record));
    x->base.n_run = 1;
}

/* pf_stream_ops.fill: makes the next run; see the top of the file. */
static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_merge *x = merge_of(s);
    perfile_status st = PERFILE_OK;
    x->extra_of = NULL;
    pf_buffer_clear(&x->bytes);
    while (st == PERFILE_OK && s->n_run == 0) {
        if (x->pending_damage.len) {
            hand_out_damage(x);
            return PERFILE_OK;
        }
        if (pf_merge_round_is_due(x, 0, false)) {
            x->since_round = 0;
            return hand_out_round(x);
        }
        if (x->exhausted) {
            pf_merge_input *in = x->exhausted;
            x->exhausted = NULL;
            st = pf_merge_next_run(x, in, err);
            if (st == PERFILE_OK && !in->ended)
                pf_merge_push(x, in);
            continue;
        }
        st = x->heap.n ? fill_run(x, err) : hand_out_round(x);
    }
    return st;
}

/* pf_stream_ops.extra: reads extra bytes (AUX trace data) of run[0] through the stream of its
 * input, which is still at that record. */
static perfile_status extra(perfile_stream *s, const perfile_record *r, perfile_bytes *piece,
                            perfile_error *err)
{
    const pf_merge *x = merge_of(s);
    if (r != &s->run[0] || !x->extra_of)
        return pf_fail(err, PERFILE_E_USAGE, "record.extra", "the stream is not at this record");
    return perfile_stream_extra(x->inputs[x->extra_input].stream, x->extra_of, piece, err);
}

void pf_merge_release(pf_merge *x)
{
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        pf_merge_input *in = &x->inputs[i];
        pf_free(in->events);
        pf_free(in->plans);
        pf_index_free(&in->ids);
        pf_buffer_free(&in->new_ids);
        pf_pids_free(&in->moved_pids);
    }
    pf_free(x->inputs);
    pf_free(x->parts);
    pf_free(x->cpus);
    pf_free(x->heap.at);
    pf_index_free(&x->owners);
    pf_buffer_free(&x->bytes);
    pf_buffer_free(&x->pending_damage);
    pf_buffer_free(&x->thread_map);
    pf_merge_forget_repeats(x);
    if (x->base.session)
        pf_session_free(x->base.session);
    pf_free(x);
}

/* pf_stream_ops.close: also closes the streams of the inputs. */
static void close_stage(perfile_stream *s)
{
    pf_merge *x = merge_of(s);
    for (uint32_t i = 0; i < x->n_inputs; i++)
        perfile_stream_close(x->inputs[i].stream);
    pf_merge_release(x);
}

const pf_stream_ops pf_merge_ops = {.fill = fill, .extra = extra, .close = close_stage};
