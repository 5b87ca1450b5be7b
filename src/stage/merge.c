/* The stage: the inputs by time. */
#include "stage/merge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/state.h"
#include "perfile/sort.h"
#include "stage/filter.h"
#include "stage/round.h"

enum { BYTES = 1 << 20 };

static pf_merge *merge_of(perfile_stream *s)
{
    return (pf_merge *)(void *)s;
}

void pf_merge_tell(const pf_merge *x, const perfile_merge_note *note)
{
    if (x->options.note)
        x->options.note(x->options.user, note);
}

perfile_status pf_merge_conflict(const pf_merge *x, uint32_t number, uint32_t input,
                                 perfile_error *err, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!(x->options.flags & PERFILE_MERGE_DROP_CONFLICTING))
        return pf_fail(err, PERFILE_E_USAGE, "merge", "%s", text);
    const perfile_merge_note note = {PERFILE_MERGE_CONFLICT, number, input, 0, 1, text};
    pf_merge_tell(x, &note);
    return PERFILE_OK;
}

/* Became a fact of the session, or is made anew. */
static bool is_taken(uint32_t type)
{
    switch (type) {
    case PERFILE_RECORD_HEADER_ATTR:
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
    case PERFILE_RECORD_HEADER_TRACING_DATA:
    case PERFILE_RECORD_HEADER_BUILD_ID:
    case PERFILE_RECORD_HEADER_FEATURE:
        return true;
    default:
        return false;
    }
}

/* The inputs, by time. */

static bool before(const pf_merge_input *a, const pf_merge_input *b)
{
    return a->key != b->key ? a->key < b->key : a->at < b->at;
}

static void sift(pf_merge *x, uint32_t at)
{
    const uint32_t one = x->heap[at];
    for (uint32_t child; (child = 2 * at + 1) < x->n_heap; at = child) {
        if (child + 1 < x->n_heap &&
            before(&x->inputs[x->heap[child + 1]], &x->inputs[x->heap[child]]))
            child++;
        if (!before(&x->inputs[x->heap[child]], &x->inputs[one]))
            break;
        x->heap[at] = x->heap[child];
    }
    x->heap[at] = one;
}

static void push(pf_merge *x, uint32_t input)
{
    uint32_t at = x->n_heap++;
    for (; at && before(&x->inputs[input], &x->inputs[x->heap[(at - 1) / 2]]); at = (at - 1) / 2)
        x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = input;
}

static void look_at_head(pf_merge_input *in)
{
    uint64_t key = pf_sort_key(&in->clock, in->next);
    in->key = key && key != PERFILE_NO_TIME ? key + in->offset : key;
}

static bool is_piece(const perfile_record *r)
{
    return r->flags & PERFILE_REC_ENVELOPE && (r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT ||
                                               r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT_END);
}

/* Pieces of a record that has to change: the whole goes on. */
static bool is_passed_over(const pf_merge_input *in, const perfile_record *r)
{
    return r->type == PERFILE_RECORD_FINISHED_ROUND ||
           (r->flags & PERFILE_REC_ENVELOPE && !(is_piece(r) && in->plain));
}

/* To the next record of the run that counts; false when there is none. */
static bool settle(pf_merge *x, pf_merge_input *in)
{
    for (; in->next < in->end; in->next++) {
        if (is_taken(in->next->type))
            x->result.facts++;
        else if (!is_passed_over(in, in->next))
            break;
    }
    if (in->next == in->end)
        return false;
    look_at_head(in);
    return true;
}

/* Damage in front of all records, which is where sorting tells it. */
static perfile_status keep_damage(pf_merge *x, const pf_merge_input *in, const perfile_record *r,
                                  perfile_error *err)
{
    enum { MOST = 1 << 16 };
    if (x->options.flags & PERFILE_MERGE_FAIL_ON_DAMAGE) {
        perfile_error what;
        perfile_status st = pf_fail_damage(&what, r->damage, "merge", r->offset);
        st = pf_fail(err, st, "merge", "%s: %s", in->name, what.message);
        pf_error_at(err, r->offset);
        return st;
    }
    perfile_record mine = *r;
    mine.body.ptr = NULL;
    mine.header = NULL;
    mine.part = in->at;
    if (x->damages.len / sizeof mine >= MOST)
        return PERFILE_OK; /* the summary has it */
    return pf_buffer_append(&x->damages, &mine, sizeof mine) ? PERFILE_OK
                                                             : pf_fail_nomem(err, "merge");
}

/* Reads the input up to its next record; without one it has ended. */
static perfile_status read_on(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    perfile_status st;
    size_t n;
    while ((st = perfile_stream_next_run(in->stream, &in->next, &n, err)) == PERFILE_OK) {
        in->end = in->next + n;
        if (in->next->family == PERFILE_FAMILY_PERF) {
            if (settle(x, in))
                return PERFILE_OK;
            continue;
        }
        st = keep_damage(x, in, in->next, err);
        if (st != PERFILE_OK)
            return st;
    }
    in->next = in->end = NULL;
    in->ended = st == PERFILE_END;
    return in->ended ? PERFILE_OK : st;
}

/* What is handed on. */

static bool stands_alone(const perfile_record *r)
{
    return (r->extra.len && !r->extra.ptr) || pf_session_wants(r->type) ||
           r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER);
}

static bool is_of_aux(uint32_t type)
{
    return type == PERFILE_RECORD_AUXTRACE_INFO || type == PERFILE_RECORD_AUXTRACE ||
           type == PERFILE_RECORD_AUXTRACE_ERROR || type == PERFILE_RECORD_AUX ||
           type == PERFILE_RECORD_AUX_OUTPUT_HW_ID;
}

static bool is_of_stat(uint32_t type)
{
    return type == PERFILE_RECORD_THREAD_MAP || type == PERFILE_RECORD_CPU_MAP ||
           type == PERFILE_RECORD_STAT_CONFIG || type == PERFILE_RECORD_STAT ||
           type == PERFILE_RECORD_STAT_ROUND;
}

static bool same_recording(const pf_merge *x, uint32_t a, uint32_t b)
{
    return x->inputs[a].is_part && x->inputs[b].is_part &&
           x->inputs[a].first_of_recording == x->inputs[b].first_of_recording;
}

/* AUX traces name buffers by number, and one list of them says how they are read. */
static perfile_status meet_aux(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                               perfile_error *err)
{
    if (r->type != PERFILE_RECORD_AUXTRACE_INFO && r->type != PERFILE_RECORD_AUXTRACE)
        return PERFILE_OK;
    if (x->aux_of == PF_MERGE_NO_INPUT)
        x->aux_of = in->at;
    if (x->aux_of == in->at || in->drops_aux || same_recording(x, x->aux_of, in->at))
        return PERFILE_OK;
    in->drops_aux = true;
    return pf_merge_conflict(x, r->type, in->at, err,
                             "%s and %s both have AUX traces, which perf.data cannot keep apart",
                             x->inputs[x->aux_of].name, in->name);
}

/* STAT records name threads by their place in the THREAD_MAP. */
static perfile_status meet_threads(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                   perfile_error *err)
{
    if (r->type != PERFILE_RECORD_THREAD_MAP || x->threads_of == in->at || in->has_threads ||
        !perfile_session_feature(in->session, PERFILE_FEATURE_STAT))
        return PERFILE_OK;
    in->has_threads = true;
    if (x->threads_of == PF_MERGE_NO_INPUT) {
        x->threads_of = in->at;
        return pf_buffer_append(&x->threads, r->body.ptr, r->body.len)
                   ? PERFILE_OK
                   : pf_fail_nomem(err, "merge");
    }
    bool same = x->threads.len == r->body.len &&
                (r->body.len == 0 || memcmp(x->threads.ptr, r->body.ptr, r->body.len) == 0);
    if (same)
        return PERFILE_OK;
    in->drops_stat = true;
    return pf_merge_conflict(x, r->type, in->at, err,
                             "%s and %s are of perf stat and have different THREAD_MAPs, by which "
                             "STAT records name threads",
                             x->inputs[x->threads_of].name, in->name);
}

static perfile_status meet(pf_merge *x, pf_merge_input *in, const perfile_record *r, bool *drop,
                           perfile_error *err)
{
    perfile_status st = meet_aux(x, in, r, err);
    if (st == PERFILE_OK)
        st = meet_threads(x, in, r, err);
    *drop = (in->drops_aux && is_of_aux(r->type)) || (in->drops_stat && is_of_stat(r->type));
    x->result.conflicting += *drop;
    /* The counter of another machine has nothing to do with this clock. */
    if (r->type == PERFILE_RECORD_TIME_CONV && in->host != x->inputs[x->clock_of].host) {
        x->foreign_counters++;
        *drop = true;
    }
    return st;
}

static bool may_repeat(const pf_merge_input *in, uint32_t type)
{
    unsigned class = pf_filter_class(type);
    return pf_sort_is_fact(type) || (in->is_part && class != PF_KEEP_DATA && class != PF_KEEP_AUX);
}

static void count(pf_merge *x, pf_merge_input *in, const perfile_record *r)
{
    bool sample = r->type == PERFILE_RECORD_SAMPLE && !(r->flags & PERFILE_REC_INNER);
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
    perfile_record *out = &x->base.run[x->base.n_run];
    bool drop;
    perfile_status st = meet(x, in, r, &drop, err);
    if (st != PERFILE_OK || drop)
        return st;
    size_t before_bytes = x->bytes.len;
    st = pf_merge_record(x, in, r, out, &drop, err);
    if (st != PERFILE_OK || drop)
        return st;
    if (may_repeat(in, r->type)) {
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
    in->last_piece = is_piece(r) ? out->sequence : in->last_piece;
    if (r->extra.len && !r->extra.ptr) {
        x->extra_of = r;
        x->extra_input = in->at;
    }
    x->base.n_run++;
    count(x, in, out);
    return PERFILE_OK;
}

static perfile_status learn(pf_merge *x, perfile_error *err)
{
    const perfile_record *r = &x->base.run[0];
    if (x->base.n_run != 1 || !pf_session_wants(r->type))
        return PERFILE_OK;
    uint64_t before_it = x->base.session->generation;
    perfile_status st = pf_session_learn(x->base.session, r, err);
    if (st == PERFILE_OK && x->base.session->generation != before_it)
        st = pf_session_settle(x->base.session, err);
    return st;
}

static perfile_status give_records(pf_merge *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && x->n_heap && x->base.n_run < PERFILE_RUN_RECORDS) {
        pf_merge_input *in = &x->inputs[x->heap[0]];
        const bool alone = stands_alone(in->next);
        const size_t room = pf_merge_room(in->next);
        if (x->base.n_run && (alone || x->bytes.cap - x->bytes.len < room))
            break;
        if (!pf_buffer_reserve(&x->bytes, room))
            return pf_fail_nomem(err, "merge");
        st = take(x, in, err);
        in->next++;
        if (settle(x, in)) {
            sift(x, 0);
        } else {
            x->dry = in;
            x->heap[0] = x->heap[--x->n_heap];
            if (x->n_heap)
                sift(x, 0);
        }
        if (x->dry || (alone && x->base.n_run))
            break;
    }
    return st == PERFILE_OK ? learn(x, err) : st;
}

static void tell_count(pf_merge *x, uint32_t kind, uint64_t n, const char *text)
{
    const perfile_merge_note note = {kind, UINT32_MAX, UINT32_MAX, 0, n, text};
    if (n)
        pf_merge_tell(x, &note);
}

static void tell_all(pf_merge *x)
{
    const perfile_merged *sum = &x->result;
    if (x->told)
        return;
    x->told = true;
    tell_count(x, PERFILE_MERGE_RECORDS, sum->of_nobody,
               "records of events that no attr lists were left out: nobody knows how to read them");
    tell_count(x, PERFILE_MERGE_RECORDS, sum->unreadable,
               "records were left out that do not hold what their event says");
    tell_count(x, PERFILE_MERGE_RECORDS, x->foreign_counters,
               "TIME_CONV records were left out: they are of the counter of another machine");
    tell_count(x, PERFILE_MERGE_CHANGED, sum->trailers,
               "records that said no time got that of the record in front of them");
}

static perfile_status finish(pf_merge *x)
{
    if (x->timed) {
        x->base.run[x->base.n_run++] = pf_round_record(x->base.session, x->sequence++);
        x->timed = false;
        x->result.rounds++;
        return PERFILE_OK;
    }
    tell_all(x);
    return PERFILE_END;
}

static void give_damage(pf_merge *x)
{
    x->base.run[0] = *(const perfile_record *)(const void *)x->damages.ptr;
    x->base.run[0].session = x->base.session;
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
        if (x->timed && x->since_round >= PF_ROUND_BYTES) {
            x->since_round = 0;
            return finish(x);
        }
        if (x->dry) {
            pf_merge_input *in = x->dry;
            x->dry = NULL;
            st = read_on(x, in, err);
            if (st == PERFILE_OK && !in->ended)
                push(x, in->at);
            continue;
        }
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

static void release(pf_merge *x)
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
    release(x);
}

static const pf_stream_ops merge_ops = {fill, extra, close_stage};

/* Beginning. */

static void add_summary(perfile_summary *to, const perfile_summary *s)
{
    if (to->damages == 0)
        to->first_offset = s->first_offset;
    to->records += s->records;
    to->bytes += s->bytes;
    to->inner_records += s->inner_records;
    to->inner_bytes += s->inner_bytes;
    to->damages += s->damages;
    to->lost += s->lost;
    for (size_t i = 0; i < sizeof s->by_damage / sizeof s->by_damage[0]; i++)
        to->by_damage[i] += s->by_damage[i];
    to->unknown_types += s->unknown_types;
    to->unknown_features += s->unknown_features;
    to->missing += s->missing;
}

static bool has_times(const perfile_session *s)
{
    uint32_t n = perfile_session_n_events(s);
    for (uint32_t i = 0; i < n; i++)
        if (perfile_session_event(s, i)->layout->sample_type & PERFILE_SAMPLE_TIME)
            return true;
    return false;
}

/* Reads the input up to its first record, by which all of it was read. */
static perfile_status begin_input(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    perfile_sorted sorted;
    perfile_summary sum;
    for (perfile_stream *s = in->stream; s; s = s->below)
        s->options.deliver |= PERFILE_DELIVER_DAMAGE;
    in->plain = true; /* no piece is passed over before all is known */
    perfile_status st = read_on(x, in, err);
    if (st != PERFILE_OK)
        return st;
    perfile_sort_result(in->stream, &sorted, sizeof sorted);
    perfile_stream_summary(in->stream, &sum, sizeof sum);
    add_summary(&x->base.summary, &sum);
    in->session = perfile_stream_session(in->stream);
    in->n_events = perfile_session_n_events(in->session);
    in->first_sample = sorted.first_sample;
    in->last_sample = sorted.last_sample;
    in->n_samples = sorted.timed_samples;
    in->kernel = sorted.kernel_address;
    in->why = sorted.timed && has_times(in->session) ? PERFILE_CLOCK_FIRST : PERFILE_CLOCK_NONE;
    in->ids.seed = pf_index_seed(in);
    return PERFILE_OK;
}

static perfile_status begin_session(pf_merge *x, perfile_error *err)
{
    const perfile_stream *first = x->inputs[0].stream;
    for (uint32_t i = 1; i < x->n_inputs; i++)
        if (perfile_session_swapped(x->inputs[i].session) !=
            perfile_session_swapped(x->inputs[0].session))
            return pf_fail(err, PERFILE_E_USAGE, "merge", "%s and %s are in different byte orders",
                           x->inputs[0].name, x->inputs[i].name);
    x->base.limits = first->limits;
    x->base.options = first->options;
    x->base.options.limits = &x->base.limits;
    x->base.name = x->inputs[0].name;
    x->base.by_time = true;
    x->base.container.form = PERFILE_FORM_FILE;
    x->base.container.version = 2;
    x->base.container.big_endian = perfile_session_big_endian(x->inputs[0].session);
    return pf_session_new(perfile_session_swapped(x->inputs[0].session), &x->base.options,
                          &x->base.session, err);
}

static perfile_status begin(pf_merge *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < x->n_inputs && st == PERFILE_OK; i++)
        st = begin_input(x, &x->inputs[i], err);
    if (st == PERFILE_OK)
        st = begin_session(x, err);
    if (st == PERFILE_OK)
        st = pf_merge_hosts(x, err);
    if (st == PERFILE_OK)
        st = pf_merge_clocks(x, err);
    if (st == PERFILE_OK)
        st = pf_merge_events(x, err);
    if (st == PERFILE_OK)
        st = pf_merge_features(x, err);
    if (st == PERFILE_OK)
        st = pf_session_settle(x->base.session, err);
    for (uint32_t i = 0; i < x->n_inputs && st == PERFILE_OK; i++) {
        pf_merge_input *in = &x->inputs[i];
        in->clock = (pf_sort_clock){0};
        if (!in->ended && !settle(x, in))
            x->dry = NULL, st = read_on(x, in, err);
        if (st == PERFILE_OK && !in->ended)
            push(x, i);
    }
    if (st == PERFILE_OK && !pf_buffer_reserve(&x->bytes, BYTES))
        st = pf_fail_nomem(err, "merge");
    x->result.hosts = x->n_hosts;
    return st;
}

static void set_rules(pf_merge *x)
{
#define MERGE_KIND(kind, rule) x->rules[PERFILE_KIND_##kind] = PF_MERGE_##rule;
#include "perfile/format/merging.def"
}

static perfile_status take_inputs(pf_merge *x, const perfile_merge_input *inputs, size_t n,
                                  perfile_error *err)
{
    x->inputs = pf_alloc(n, sizeof *x->inputs);
    x->heap = pf_alloc(n, sizeof *x->heap);
    if (!x->inputs || !x->heap)
        return pf_fail_nomem(err, "merge");
    for (size_t i = 0; i < n; i++) {
        if (!inputs[i].stream->by_time)
            return pf_fail(err, PERFILE_E_USAGE, "merge", "%s is not sorted: see perfile_sort()",
                           inputs[i].name);
        x->inputs[i] = (pf_merge_input){.stream = inputs[i].stream,
                                        .name = inputs[i].name,
                                        .at = (uint32_t)i,
                                        .has_offset = inputs[i].has_offset,
                                        .told = inputs[i].offset,
                                        .last_piece = PERFILE_NO_SEQUENCE};
    }
    x->n_inputs = (uint32_t)n;
    x->result.inputs = (uint32_t)n;
    return PERFILE_OK;
}

perfile_status perfile_merge(const perfile_merge_input *inputs, size_t n,
                             const perfile_merge_options *options, perfile_stream **stream,
                             perfile_error *err)
{
    if (n == 0 || n >= PF_MERGE_NO_INPUT)
        return pf_fail(err, PERFILE_E_USAGE, "merge", "there is nothing to be merged");
    pf_merge *x = pf_alloc(1, sizeof *x);
    if (!x)
        return pf_fail_nomem(err, "merge");
    if (options)
        memcpy(&x->options, options,
               options->size < sizeof *options ? options->size : sizeof *options);
    x->base.ops = &merge_ops;
    x->base.at = x->base.end = x->base.run;
    x->aux_of = x->threads_of = PF_MERGE_NO_INPUT;
    x->owners.seed = pf_index_seed(x);
    set_rules(x);
    perfile_status st = take_inputs(x, inputs, n, err);
    if (st == PERFILE_OK)
        st = begin(x, err);
    if (st != PERFILE_OK) {
        release(x);
        return st;
    }
    *stream = &x->base;
    return PERFILE_OK;
}

/* What was done. */

static const pf_merge *stage_of(const perfile_stream *s)
{
    while (s && s->ops != &merge_ops)
        s = s->below;
    return (const pf_merge *)(const void *)s;
}

void perfile_merge_result(const perfile_stream *stream, perfile_merged *out, size_t size)
{
    const perfile_merged none = {0};
    const pf_merge *x = stage_of(stream);
    memcpy(out, x ? &x->result : &none, size < sizeof none ? size : sizeof none);
}

void perfile_merge_input_result(const perfile_stream *stream, size_t position,
                                perfile_merged_input *out, size_t size)
{
    perfile_merged_input one = {0};
    const pf_merge *x = stage_of(stream);
    if (x && position < x->n_inputs) {
        const pf_merge_input *in = &x->inputs[position];
        one = in->result;
        one.offset = (int64_t)in->offset;
        one.clock = in->why;
        one.host = in->host;
        one.part_of = in->first_of_recording;
    }
    memcpy(out, &one, size < sizeof one ? size : sizeof one);
}

bool perfile_merge_id(const perfile_stream *stream, size_t position, size_t k,
                      perfile_merged_id *out, size_t size)
{
    const pf_merge *x = stage_of(stream);
    if (!x || position >= x->n_inputs ||
        k >= x->inputs[position].new_ids.len / sizeof(perfile_merged_id))
        return false;
    const uint8_t *all = x->inputs[position].new_ids.ptr;
    memcpy(out, all + k * sizeof(perfile_merged_id),
           size < sizeof(perfile_merged_id) ? size : sizeof(perfile_merged_id));
    return true;
}

bool perfile_merge_pid(const perfile_stream *stream, size_t position, uint32_t after, uint32_t *pid,
                       uint32_t *new_pid)
{
    const pf_merge *x = stage_of(stream);
    if (!x || position >= x->n_inputs || !x->inputs[position].moved.bits)
        return false;
    const pf_merge_input *in = &x->inputs[position];
    for (uint32_t i = after + 1; i < PERFILE_MERGE_PIDS; i++) {
        if (i % 64 == 0 && in->moved.bits[i / 64] == 0) {
            i += 63;
            continue;
        }
        if (!pf_pids_have(&in->moved, i))
            continue;
        *pid = i;
        *new_pid = i + in->host * PERFILE_MERGE_PIDS;
        return true;
    }
    return false;
}

const char *perfile_merge_note_name(uint32_t kind)
{
    static const char *const names[PERFILE_MERGE_N_NOTES] = {
        [PERFILE_MERGE_JOINED] = "joined",     [PERFILE_MERGE_DROPPED] = "dropped",
        [PERFILE_MERGE_CONFLICT] = "conflict", [PERFILE_MERGE_RECORDS] = "records",
        [PERFILE_MERGE_CHANGED] = "changed",   [PERFILE_MERGE_MIXED] = "mixed"};
    return kind < PERFILE_MERGE_N_NOTES ? names[kind] : "";
}

const char *perfile_merge_clock_name(uint32_t clock)
{
    static const char *const names[] = {
        [PERFILE_CLOCK_FIRST] = "its own",           [PERFILE_CLOCK_TOLD] = "offset",
        [PERFILE_CLOCK_ALIGNED] = "aligned",         [PERFILE_CLOCK_RECORDING] = "same recording",
        [PERFILE_CLOCK_BOOT] = "same boot",          [PERFILE_CLOCK_WALL] = "wall clock",
        [PERFILE_CLOCK_GLOBAL] = "the same for all", [PERFILE_CLOCK_NONE] = "no times"};
    return clock < sizeof names / sizeof names[0] ? names[clock] : "";
}
