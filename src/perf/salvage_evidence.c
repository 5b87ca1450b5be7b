/* Evidence that records between two gaps belong to the capture: see salvage_evidence.h. */
#include "perf/salvage_evidence.h"

#include "perfile/records.h"
#include "schema/family.h"

enum { KERNEL_PIDS = 2 }; /* init and kthreadd: the same on every system, so no evidence */

static bool has_process(const pf_after_break *b, uint32_t pid)
{
    for (unsigned i = 0; i < b->n_pids; i++)
        if (b->pids[i] == pid)
            return true;
    return false;
}

void pf_after_break_note(pf_after_break *b, const perfile_record *r, uint64_t time)
{
    uint32_t pid, tid;
    pf_record_fit_note_time(&b->times, time);
    if (b->n_pids == sizeof b->pids / sizeof b->pids[0] || !perfile_record_task(r, &pid, &tid))
        return;
    /* Pids 0 to 2 exist on every system, and all bits set means "no process": no evidence. */
    if (pid > KERNEL_PIDS && pid != UINT32_MAX && !has_process(b, pid))
        b->pids[b->n_pids++] = pid;
}

/* True if `time` is near the range that the feature SAMPLE_TIME declares (first and last time of
 * all samples). */
static bool is_near_declared_range(const pf_record_fit *fit, uint64_t time)
{
    perfile_sample_time t;
    const perfile_feature *f = perfile_session_feature(fit->session, PERFILE_FEATURE_SAMPLE_TIME);
    if (!f || perfile_sample_time_decode(f, &t, sizeof t, NULL) != PERFILE_OK ||
        t.first_sample_time == 0 || t.first_sample_time > t.last_sample_time)
        return false;
    pf_record_fit declared = {
        .timed = true, .oldest = t.first_sample_time, .newest = t.last_sample_time};
    return pf_record_fit_near(&declared, time);
}

bool pf_record_belongs(const pf_record_fit *fit, const perfile_record *r, uint64_t time,
                       const pf_after_break *b)
{
    uint32_t pid, tid;
    if (pf_marks_of(r) & PF_ROW_ENVELOPE)
        return perfile_session_feature(fit->session, PERFILE_FEATURE_COMPRESSED) != NULL;
    if (time == PERFILE_NO_TIME || time == 0)
        return b->n_pids && perfile_record_task(r, &pid, &tid) && has_process(b, pid);
    return pf_record_fit_near(fit, time) || pf_record_fit_near(&b->times, time) ||
           is_near_declared_range(fit, time);
}
