/* The stage: the inputs by time. */
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
    const pf_merge_head one = pf_merge_head_of(in);
    uint32_t at = x->n_heap++;
    for (; at && pf_merge_before(&one, &x->heap[(at - 1) / 2]); at = (at - 1) / 2)
        x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = one;
}

/* What is handed on. */

static bool stands_alone(const perfile_record *r)
{
    return (r->extra.len && !r->extra.ptr) || pf_session_learns(r) ||
           r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER);
}

/* A piece may be like another one; what they make is not. */
static bool may_repeat(const pf_merge_input *in, const perfile_record *r)
{
    unsigned class = pf_role_of(r);
    return pf_marks_of(r) & PF_ROW_FIRST ||
           (in->is_part && class != PF_ROLE_DATA && !pf_is_joined_fragment(r));
}

/* The next slot, for what is no usual sample: all of it is written. */
static perfile_record *next_slot(pf_merge *x)
{
    x->usual &= ~(UINT64_C(1) << x->base.n_run);
    return &x->base.run[x->base.n_run];
}

/* The record in the next slot of the run is one more of `in`. */
static void add(pf_merge *x, pf_merge_input *in)
{
    const perfile_record *r = &x->base.run[x->base.n_run];
    bool sample = r->type == PERFILE_RECORD_SAMPLE && !(r->flags & PERFILE_REC_INNER);
    x->base.n_run++;
    x->result.records++;
    x->result.samples += sample;
    in->result.records++;
    in->result.samples += sample;
    x->since_round += perfile_record_size(r);
    x->timed |= in->key != 0;
}

/* The head of `in` into the run, unless it is left out. */
static perfile_status take(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    const perfile_record *r = in->next;
    perfile_record *out = next_slot(x);
    bool drop;
    perfile_status st = pf_merge_check_exclusive(x, in, r, &drop, err);
    if (st != PERFILE_OK || drop)
        return st;
    size_t before_bytes = x->bytes.len;
    st = pf_merge_record(x, in, r, out, &drop, err);
    if (st != PERFILE_OK || drop)
        return st;
    if (may_repeat(in, r)) {
        bool timeless = perfile_record_time(r) == PERFILE_NO_TIME;
        st = pf_merge_is_repeated(x, in, out, in->key, timeless, &drop, err);
        x->result.repeated += drop;
        if (drop)
            x->bytes.len = before_bytes;
        if (st != PERFILE_OK || drop)
            return st;
    }
    out->sequence = x->sequence++;
    if (r->flags & PERFILE_REC_INNER && in->plain)
        out->envelope = in->last_piece;
    else
        out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_INNER;
    in->in_pieces = pf_is_joined_fragment(r);
    in->last_piece = in->in_pieces ? out->sequence : in->last_piece;
    if (r->extra.len && !r->extra.ptr) {
        x->extra_of = r;
        x->extra_input = in->at;
    }
    add(x, in);
    return PERFILE_OK;
}

static perfile_status learn(pf_merge *x, perfile_error *err)
{
    const perfile_record *r = &x->base.run[0];
    if (x->base.n_run != 1 || !pf_session_learns(r))
        return PERFILE_OK;
    uint64_t before_it = perfile_session_generation(x->base.session);
    perfile_status st = pf_session_learn(x->base.session, r, err);
    if (st == PERFILE_OK && perfile_session_generation(x->base.session) != before_it)
        st = pf_session_settle(x->base.session, err);
    return st;
}

static perfile_status give_records(pf_merge *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK) {
        pf_merge_give_usual(x);
        if (x->dry || !x->n_heap || x->base.n_run == PERFILE_RUN_RECORDS ||
            pf_merge_round_is_due(x, 0, false))
            break;
        pf_merge_input *in = &x->inputs[x->heap[0].input];
        if (in->span.n && x->base.n_run)
            break;
        if (in->span.n) {
            pf_merge_leave_span(in);
            st = pf_merge_read_on(x, in, err);
            continue;
        }
        const bool alone = stands_alone(in->next);
        const size_t room = pf_merge_room(in->next);
        if (x->base.n_run && (alone || x->bytes.cap - x->bytes.len < room))
            break;
        if (!pf_buffer_reserve(&x->bytes, room))
            return pf_fail_nomem(err, "merge");
        st = take(x, in, err);
        if (!pf_merge_go_on(x, in) || (alone && x->base.n_run))
            break;
    }
    return st == PERFILE_OK ? learn(x, err) : st;
}

static void tell_count(pf_merge *x, uint32_t kind, uint64_t n, const char *text)
{
    const perfile_merge_note note = {kind, UINT32_MAX, UINT32_MAX, 0, n, text};
    if (n)
        pf_merge_report(x, &note);
}

static void tell_all(pf_merge *x)
{
    const perfile_merge_summary *sum = &x->result;
    if (x->told)
        return;
    x->told = true;
    tell_count(x, PERFILE_MERGE_NOTE_RECORDS, sum->unattributed,
               "records were left out: no event of the output says how to read them");
    tell_count(x, PERFILE_MERGE_NOTE_RECORDS, sum->unreadable,
               "records were left out that do not hold what their event says");
    tell_count(x, PERFILE_MERGE_NOTE_RECORDS, x->foreign_counters,
               "TIME_CONV records were left out: they are of the counter of another machine");
    tell_count(x, PERFILE_MERGE_NOTE_CHANGED, sum->trailers,
               "records that said no time got that of the record in front of them");
}

static perfile_status finish(pf_merge *x)
{
    if (x->timed && x->rounds) {
        *next_slot(x) = pf_round_record(x->base.session, x->sequence++);
        x->base.n_run++;
        x->timed = false;
        x->result.rounds++;
        return PERFILE_OK;
    }
    tell_all(x);
    return PERFILE_END;
}

static void give_damage(pf_merge *x)
{
    perfile_record *r = next_slot(x);
    *r = *(const perfile_record *)(const void *)x->damages.ptr;
    r->session = x->base.session;
    pf_buffer_consume_front(&x->damages, sizeof(perfile_record));
    x->base.n_run = 1;
}

static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    pf_merge *x = merge_of(s);
    perfile_status st = PERFILE_OK;
    x->extra_of = NULL;
    pf_buffer_clear(&x->bytes);
    while (st == PERFILE_OK && s->n_run == 0) {
        if (x->damages.len) {
            give_damage(x);
            return PERFILE_OK;
        }
        if (x->given.n) {
            pf_merge_give_span(x);
            return PERFILE_OK;
        }
        if (pf_merge_round_is_due(x, 0, false)) {
            x->since_round = 0;
            return finish(x);
        }
        if (x->dry) {
            pf_merge_input *in = x->dry;
            x->dry = NULL;
            st = pf_merge_read_on(x, in, err);
            if (st == PERFILE_OK && !in->ended)
                pf_merge_push(x, in);
            continue;
        }
        if (x->n_heap && x->inputs[x->heap[0].input].span.n && pf_merge_make_span(x))
            continue;
        st = x->n_heap ? give_records(x, err) : finish(x);
    }
    return st;
}

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
        pf_pids_free(&in->moved);
    }
    pf_free(x->inputs);
    pf_free(x->heap);
    pf_index_free(&x->owners);
    pf_buffer_free(&x->bytes);
    pf_buffer_free(&x->merged);
    pf_buffer_free(&x->damages);
    pf_buffer_free(&x->threads);
    pf_merge_forget_repeats(x);
    if (x->base.session)
        pf_session_free(x->base.session);
    pf_free(x);
}

static void close_stage(perfile_stream *s)
{
    pf_merge *x = merge_of(s);
    for (uint32_t i = 0; i < x->n_inputs; i++)
        perfile_stream_close(x->inputs[i].stream);
    pf_merge_release(x);
}

const pf_stream_ops pf_merge_ops = {.fill = fill,
                                    .extra = extra,
                                    .close = close_stage,
                                    .span = pf_merge_span,
                                    .skip = pf_merge_skip};
