/* An input of a merge: totals and damage before its first record, then its records one by one.
 *
 * Sort keys come next to the records of a run (`keys` of the stream), so the merge compares keys
 * without reading records. */
#include "base/error.h"
#include "perfile/sort.h"
#include "merge/merge.h"
#include "schema/family.h"

/* True for a fragment, an envelope, or a record that came out of one. */
static bool is_fragment_or_inner(const perfile_record *r)
{
    return r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER);
}

/* Makes the n records at in->next the current run. */
static void set_run(pf_merge_input *in, size_t n)
{
    const perfile_stream *s = in->stream;
    in->end = in->next + n;
    in->next_key = s->keys + (in->next - s->run);
}

/* True for records that never go out: rounds, which are made again, and envelopes. Fragments of a
 * record go out only if records of the input do not change; else the joined record goes out
 * instead. */
static bool never_goes_out(const pf_merge_input *in, const perfile_record *r)
{
    return r->type == PERFILE_RECORD_FINISHED_ROUND ||
           (r->flags & PERFILE_REC_ENVELOPE && !(pf_is_joined_fragment(r) && in->plain));
}

bool pf_merge_skip_to_next(pf_merge *x, pf_merge_input *in)
{
    /* Records of facts are dropped here: they are in the sessions of the inputs and so in the
     * output. */
    for (; in->next < in->end; in->next++, in->next_key++) {
        const bool state =
            pf_marks_of(in->next) & PF_ROW_STATE && pf_role_of(in->next) != PF_ROLE_DATA;
        if (state || pf_marks_of(in->next) & PF_ROW_SECTION)
            x->result.facts++; /* it is in the session, or the writer makes it again */
        else if (!never_goes_out(in, in->next))
            break;
    }
    if (in->next == in->end)
        return false;
    /* Reading *next_key is all that ordering costs; records are not touched. */
    in->key = pf_merge_key(in, *in->next_key);
    /* A row of fragments ends at the first record that is neither fragment nor inner record. */
    in->in_fragments = in->in_fragments && is_fragment_or_inner(in->next);
    return true;
}

/* Keeps a damage record to be handed out first; a sorting stage reports all damage in front of the
 * records. Beyond MOST of them only the summary counts. PERFILE_MERGE_FAIL_ON_DAMAGE: fails. */
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
    /* The record outlives its run: it must not point to bytes of it. */
    mine.body.ptr = NULL;
    mine.header = NULL;
    mine.part = in->at;
    if (x->pending_damage.len / sizeof mine >= MOST)
        return PERFILE_OK; /* the summary counts it */
    return pf_buffer_append(&x->pending_damage, &mine, sizeof mine) ? PERFILE_OK
                                                                    : pf_fail_nomem(err, "merge");
}

perfile_status pf_merge_next_run(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    perfile_status st;
    size_t n;
    while ((st = perfile_stream_next_run(in->stream, &in->next, &n, err)) == PERFILE_OK) {
        if (in->next->family != PERFILE_FAMILY_DAMAGE) {
            set_run(in, n);
            if (pf_merge_skip_to_next(x, in))
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
    return pf_merge_skip_to_next(x, in) ? PERFILE_OK : pf_merge_next_run(x, in, err);
}

/* Adds the summary of an input to that of the merge. */
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

/* True if records of the stream can have times. Families other than perf always have them; perf's
 * need an event with PERF_SAMPLE_TIME. */
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

/* A stream without totals is read to its end and held: events and clocks of the output depend on
 * all of it. The inputs share PERFILE_SORT_MAX_MEMORY. */
perfile_status pf_merge_require_totals(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    const uint64_t memory = PERFILE_SORT_MAX_MEMORY / x->n_inputs;
    const perfile_sort_options how = {
        .size = sizeof how,
        .flags = PERFILE_SORT_WHOLE,
        .max_memory = memory > PERFILE_SORT_LEAST_MEMORY ? memory : PERFILE_SORT_LEAST_MEMORY};
    if (in->stream->totals)
        return PERFILE_OK;
    return perfile_sort(in->caller_stream, &how, &in->stream, err);
}

void pf_merge_return_stream(pf_merge_input *in)
{
    if (in->stream != in->caller_stream) {
        in->stream->below = NULL;
        perfile_stream_close(in->stream);
    }
    in->stream = in->caller_stream;
}

/* Asks all stages below for damage records, since the summary of the merge has to count them. */
perfile_status pf_merge_begin_input(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    perfile_stream_summary sum;
    for (perfile_stream *s = in->stream; s; s = s->below)
        s->options.deliver |= PERFILE_DELIVER_DAMAGE;
    in->plain = true; /* until offsets are known: no fragment may be skipped yet */
    perfile_status st = pf_merge_next_run(x, in, err);
    if (st != PERFILE_OK)
        return st;
    const pf_totals *totals = in->stream->totals;
    perfile_stream_get_summary(in->stream, &sum, sizeof sum);
    add_summary(&x->base.summary, &sum);
    in->session = perfile_stream_session(in->stream);
    in->n_events = perfile_session_n_events(in->session);
    in->first_sample = totals->first_sample;
    in->last_sample = totals->last_sample;
    in->n_samples = totals->timed_samples;
    in->first_bytes = totals->first_bytes;
    in->bytes = totals->bytes;
    in->kernel = totals->kernel_address;
    in->clock_reason = totals->timed && has_times(in->stream) ? PERFILE_MERGE_CLOCK_FIRST
                                                              : PERFILE_MERGE_CLOCK_NONE;
    in->ids.seed = pf_index_seed(in);
    return PERFILE_OK;
}
