/* Records that a capture can hold for one recording only, because other records refer to them
 * without saying which recording they mean: AUX traces and THREAD_MAPs of perf stat. */
#include "base/error.h"
#include "merge/merge.h"
#include "schema/family.h"

/* True if both inputs are parts of one recording. */
static bool same_recording(const pf_merge *x, uint32_t a, uint32_t b)
{
    return x->inputs[a].is_part && x->inputs[b].is_part &&
           x->inputs[a].first_of_recording == x->inputs[b].first_of_recording;
}

/* AUX traces refer to buffers by number, and a single AUXTRACE_INFO says how they are decoded:
 * only one recording may have them. */
static perfile_status check_aux(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                perfile_error *err)
{
    if (r->type != PERFILE_RECORD_AUXTRACE_INFO && r->type != PERFILE_RECORD_AUXTRACE)
        return PERFILE_OK;
    if (x->aux_input == PF_MERGE_NO_INPUT)
        x->aux_input = in->at;
    if (x->aux_input == in->at || in->drops_aux || same_recording(x, x->aux_input, in->at))
        return PERFILE_OK;
    in->drops_aux = true;
    return pf_merge_conflict(x, r->type, in->at, err,
                             "%s and %s both have AUX traces, which perf.data cannot keep apart",
                             x->inputs[x->aux_input].name, in->name);
}

/* STAT records name threads by their position in the THREAD_MAP: all inputs of perf stat need the
 * same map. */
static perfile_status check_thread_map(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                       perfile_error *err)
{
    if (r->type != PERFILE_RECORD_THREAD_MAP || x->thread_map_input == in->at || in->has_threads ||
        !perfile_session_feature(in->session, PERFILE_FEATURE_STAT))
        return PERFILE_OK;
    in->has_threads = true;
    if (x->thread_map_input == PF_MERGE_NO_INPUT) {
        x->thread_map_input = in->at;
        return pf_buffer_append(&x->thread_map, r->body.ptr, r->body.len)
                   ? PERFILE_OK
                   : pf_fail_nomem(err, "merge");
    }
    bool same = x->thread_map.len == r->body.len &&
                (r->body.len == 0 || memcmp(x->thread_map.ptr, r->body.ptr, r->body.len) == 0);
    if (same)
        return PERFILE_OK;
    in->drops_stat = true;
    return pf_merge_conflict(x, r->type, in->at, err,
                             "%s and %s are of perf stat and have different THREAD_MAPs, by which "
                             "STAT records name threads",
                             x->inputs[x->thread_map_input].name, in->name);
}

/* After a conflict, all records of that sort from this input are dropped. */
perfile_status pf_merge_check_exclusive(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                        bool *drop, perfile_error *err)
{
    perfile_status st = check_aux(x, in, r, err);
    if (st == PERFILE_OK)
        st = check_thread_map(x, in, r, err);
    unsigned marks = pf_marks_of(r);
    *drop =
        (in->drops_aux && marks & PF_ROW_AUX_TRACE) || (in->drops_stat && marks & PF_ROW_STAT_RUN);
    x->result.conflicting += *drop;
    /* It converts a hardware counter of another boot to a clock that the output does not have. */
    if (r->type == PERFILE_RECORD_TIME_CONV && in->host != x->inputs[x->clock_input].host) {
        x->foreign_time_convs++;
        *drop = true;
    }
    return st;
}
