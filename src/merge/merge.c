/* The stage: hands out the records of all inputs in order of time.
 *
 * fill() decides what comes next: damage, a round that is due, the refill of an input whose run is
 * used up, or a run of records. A run is
 * made by pf_merge_fill_fast() as long as plain samples come, and by add_next_record() for
 * everything else. An input is refilled only at the beginning of a run, because records of the run
 * may borrow the bytes of its old run. */
#include "merge/heap.h"

#include "base/alloc.h"
#include "base/error.h"
#include "stage/time_key.h"
#include "schema/family.h"

static pf_merge *merge_of(perfile_stream *s)
{
    return (pf_merge *)(void *)s;
}

void pf_merge_push(pf_merge *x, const pf_merge_input *in)
{
    /* Sifts up from the end. */
    const pf_merge_head one = pf_merge_head_of(in);
    uint32_t at = x->n_heap++;
    for (; at && pf_merge_before(&one, &x->heap[(at - 1) / 2]); at = (at - 1) / 2)
        x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = one;
}

/* True for records that must be the only one in a run: the session changes at them, their extra
 * bytes are read through the input, or they belong to an envelope. */
static bool is_alone_in_run(const perfile_record *r)
{
    return (r->extra.len && !r->extra.ptr) || pf_session_collects(r) ||
           r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER);
}

/* True for records that another input may hold too: those about the capture as a whole
 * (PF_ROW_FIRST), and side-band of a part of a recording. Not fragments: two may have equal bytes
 * although the records they make differ. */
static bool may_repeat(const pf_merge_input *in, const perfile_record *r)
{
    unsigned class = pf_role_of(r);
    return pf_marks_of(r) & PF_ROW_FIRST ||
           (in->is_part && class != PF_ROLE_DATA && !pf_is_joined_fragment(r));
}

/* The next slot of the run, for anything but a plain sample: the caller writes all members. */
static perfile_record *next_slot(pf_merge *x)
{
    x->ready_slots &= ~(UINT64_C(1) << x->base.n_run);
    return &x->base.run[x->base.n_run];
}

/* Counts the record in the next slot of the run, which came from `in`. */
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
            /* The rewritten bytes of a repeated record are given up. */
            x->bytes.len = before_bytes;
        if (st != PERFILE_OK || drop)
            return st;
    }
    out->sequence = x->sequence++;
    /* A record that was joined from fragments goes out with them only if the input does not
     * change; else it goes out alone and is no inner record any more. */
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

/* Feeds a record that changes the session (it stands alone in its run) to the session of the
 * output. */
static perfile_status update_session(pf_merge *x, perfile_error *err)
{
    const perfile_record *r = &x->base.run[0];
    if (x->base.n_run != 1 || !pf_session_collects(r))
        return PERFILE_OK;
    /* The session is settled only if the record changed something. */
    uint64_t before_it = perfile_session_generation(x->base.session);
    perfile_status st = pf_session_collect(x->base.session, r, err);
    if (st == PERFILE_OK && perfile_session_generation(x->base.session) != before_it)
        st = pf_session_resolve(x->base.session, err);
    return st;
}

/* Fills the run with records from the heap, until an input is used up or something has to wait. */
static perfile_status fill_run(pf_merge *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK) {
        pf_merge_fill_fast(x);
        if (x->exhausted || !x->n_heap || x->base.n_run == PERFILE_RUN_RECORDS ||
            pf_merge_round_is_due(x, 0, false))
            break;
        pf_merge_input *in = &x->inputs[x->heap[0].input];
        const bool alone = is_alone_in_run(in->next);
        /* The buffer must not move while records of the run point into it: it grows only for an
         * empty run. */
        const size_t room = pf_merge_record_room(in->next);
        if (x->base.n_run && (alone || x->bytes.cap - x->bytes.len < room))
            break;
        if (!pf_buffer_reserve(&x->bytes, room))
            return pf_fail_nomem(err, "merge");
        st = add_next_record(x, in, err);
        if (!pf_merge_advance(x, in) || (alone && x->base.n_run))
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

/* Reports what is known at the end only. Once, also if the caller goes on calling after the end. */
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
    report_count(
        x, PERFILE_MERGE_NOTE_CHANGED, sum->trailers,
        "records without a time got a trailer with the time of the record in front of them");
}

/* Hands out a FINISHED_ROUND if records with a time came since the last one; else this is the end.
 */
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

/* Hands out one of the damage records that input.c kept, as a run of its own. */
static void hand_out_damage(pf_merge *x)
{
    perfile_record *r = next_slot(x);
    *r = *(const perfile_record *)(const void *)x->pending_damage.ptr;
    r->session = x->base.session;
    pf_buffer_consume_front(&x->pending_damage, sizeof(perfile_record));
    x->base.n_run = 1;
}

/* Makes the next run; see the top of the file. */
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
        st = x->n_heap ? fill_run(x, err) : hand_out_round(x);
    }
    return st;
}

/* Reads extra bytes (AUX trace data) of run[0] through the stream of its input, which still stands
 * at that record. */
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
    pf_free(x->heap);
    pf_index_free(&x->owners);
    pf_buffer_free(&x->bytes);
    pf_buffer_free(&x->pending_damage);
    pf_buffer_free(&x->thread_map);
    pf_merge_forget_repeats(x);
    if (x->base.session)
        pf_session_free(x->base.session);
    pf_free(x);
}

/* Closes the streams of the inputs, too. */
static void close_stage(perfile_stream *s)
{
    pf_merge *x = merge_of(s);
    for (uint32_t i = 0; i < x->n_inputs; i++)
        perfile_stream_close(x->inputs[i].stream);
    pf_merge_release(x);
}

const pf_stream_ops pf_merge_ops = {.fill = fill, .extra = extra, .close = close_stage};
