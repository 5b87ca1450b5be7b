/* Records that a capture can have of one recording only. */
#include "base/error.h"
#include "merge/merge.h"
#include "schema/family.h"

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

perfile_status pf_merge_check_exclusive(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                        bool *drop, perfile_error *err)
{
    perfile_status st = meet_aux(x, in, r, err);
    if (st == PERFILE_OK)
        st = meet_threads(x, in, r, err);
    unsigned marks = pf_marks_of(r);
    *drop =
        (in->drops_aux && marks & PF_ROW_AUX_TRACE) || (in->drops_stat && marks & PF_ROW_STAT_RUN);
    x->result.conflicting += *drop;
    /* The counter of another machine has nothing to do with this clock. */
    if (r->type == PERFILE_RECORD_TIME_CONV && in->host != x->inputs[x->clock_of].host) {
        x->foreign_counters++;
        *drop = true;
    }
    return st;
}
