/* An input: its records one by one, and what it says before the first. */
#include "base/error.h"
#include "perfile/sort.h"
#include "merge/merge.h"
#include "schema/family.h"

static bool is_of_pieces(const perfile_record *r)
{
    return r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER);
}

static void look_at_run(pf_merge_input *in, size_t n)
{
    const perfile_stream *s = in->stream;
    in->end = in->next + n;
    in->next_key = s->keys + (in->next - s->run);
}

/* Pieces of a record that has to change: the whole goes on. */
static bool is_passed_over(const pf_merge_input *in, const perfile_record *r)
{
    return r->type == PERFILE_RECORD_FINISHED_ROUND ||
           (r->flags & PERFILE_REC_ENVELOPE && !(pf_is_joined_fragment(r) && in->plain));
}

/* To the next record of the run that counts; false when there is none. */
bool pf_merge_settle(pf_merge *x, pf_merge_input *in)
{
    for (; in->next < in->end; in->next++, in->next_key++) {
        if (pf_marks_of(in->next) & (PF_ROW_SECTION | PF_ROW_STATE))
            x->result.facts++; /* the session or the records have it, or it is made anew */
        else if (!is_passed_over(in, in->next))
            break;
    }
    if (in->next == in->end)
        return false;
    in->key = pf_merge_key(in, *in->next_key);
    in->in_pieces = in->in_pieces && is_of_pieces(in->next);
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
perfile_status pf_merge_read_on(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    perfile_status st;
    size_t n;
    while ((st = perfile_stream_next_run(in->stream, &in->next, &n, err)) == PERFILE_OK) {
        if (in->next->family != PERFILE_FAMILY_DAMAGE) {
            look_at_run(in, n);
            if (pf_merge_settle(x, in))
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

perfile_status pf_merge_begin_run(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    return pf_merge_settle(x, in) ? PERFILE_OK : pf_merge_read_on(x, in, err);
}

static void add_summary(perfile_stream_summary *to, const perfile_stream_summary *s)
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

/* Times of other families are what their records say. */
static bool has_times(const perfile_stream *stream)
{
    const perfile_session *s = perfile_stream_session(stream);
    uint32_t n = perfile_session_n_events(s);
    if (perfile_stream_container(stream)->family != PERFILE_FAMILY_PERF)
        return true;
    for (uint32_t i = 0; i < n; i++)
        if (perfile_session_event(s, i)->layout->sample_type & PERFILE_SAMPLE_TIME)
            return true;
    return false;
}

/* What does not know its totals is read to its end, and held: only then is it known what the events
 * and clocks of the output are. */
perfile_status pf_merge_read_whole(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    const uint64_t memory = PERFILE_SORT_MAX_MEMORY / x->n_inputs;
    const perfile_sort_options how = {
        .size = sizeof how,
        .flags = PERFILE_SORT_WHOLE,
        .max_memory = memory > PERFILE_SORT_LEAST_MEMORY ? memory : PERFILE_SORT_LEAST_MEMORY};
    if (in->stream->ops->totals)
        return PERFILE_OK;
    return perfile_sort(in->given, &how, &in->stream, err);
}

void pf_merge_give_back(pf_merge_input *in)
{
    if (in->stream != in->given) {
        in->stream->below = NULL;
        perfile_stream_close(in->stream);
    }
    in->stream = in->given;
}

/* Reads the input up to its first record, by which all of it was read. */
perfile_status pf_merge_begin_input(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    pf_totals totals;
    perfile_stream_summary sum;
    for (perfile_stream *s = in->stream; s; s = s->below)
        s->options.deliver |= PERFILE_DELIVER_DAMAGE;
    in->plain = true; /* no piece is passed over before all is known */
    perfile_status st = pf_merge_read_on(x, in, err);
    if (st != PERFILE_OK)
        return st;
    in->stream->ops->totals(in->stream, &totals);
    perfile_stream_get_summary(in->stream, &sum, sizeof sum);
    add_summary(&x->base.summary, &sum);
    in->session = perfile_stream_session(in->stream);
    in->n_events = perfile_session_n_events(in->session);
    in->first_sample = totals.first_sample;
    in->last_sample = totals.last_sample;
    in->n_samples = totals.timed_samples;
    in->first_bytes = totals.first_bytes;
    in->bytes = totals.bytes;
    in->kernel = totals.kernel_address;
    in->why = totals.timed && has_times(in->stream) ? PERFILE_MERGE_CLOCK_FIRST
                                                    : PERFILE_MERGE_CLOCK_NONE;
    in->ids.seed = pf_index_seed(in);
    return PERFILE_OK;
}
