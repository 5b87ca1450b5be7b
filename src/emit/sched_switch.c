/* Reading sched:sched_switch (see sched_switch.h).
 *
 * Its fields have stood at the same places since 2.6.31 (kernel: include/trace/events/sched.h):
 * 8 bytes that all tracepoints have, then prev_comm[16], prev_pid, prev_prio, prev_state (a long),
 * next_comm[16], next_pid, next_prio.  The size tells machines of 32 bits from those of 64.  That
 * prev_pid is the thread of the sample is checked, so that data laid out otherwise say nothing. */
#include "emit/tracks.h"

#include <string.h>

#include "base/cursor.h"

enum { COMMON_BYTES = 8, COMM_BYTES = 16, BYTES_32 = 60, BYTES_64 = 64 };

bool pf_is_sched_switch(const perfile_event *event)
{
    static const char name[] = "sched:sched_switch";
    const size_t n = sizeof name - 1;
    return event && strncmp(event->name, name, n) == 0 &&
           (!event->name[n] || event->name[n] == ':');
}

bool pf_takes_all_switches(const perfile_event *event)
{
    return !event->attr->is_freq && event->attr->sample_period == 1;
}

static void read_switched(pf_cursor *c, pf_switched *out)
{
    const perfile_bytes comm = pf_cur_span(c, COMM_BYTES);
    if (comm.len == COMM_BYTES)
        memcpy(out->comm, comm.ptr, COMM_BYTES);
    out->tid = pf_cur_u32(c);
    out->prio = (int32_t)pf_cur_u32(c);
}

bool pf_sched_switch_read(const perfile_record *sample, uint32_t tid, pf_sched_switch *out)
{
    perfile_sample s;
    if (perfile_sample_decode(sample, &s, sizeof s, NULL) != PERFILE_OK ||
        !(s.present & PERFILE_SAMPLE_RAW) || s.raw.len < BYTES_32)
        return false;
    *out = (pf_sched_switch){0};
    pf_cursor c = pf_cur(s.raw, sample->flags & PERFILE_REC_SWAPPED);
    (void)pf_cur_span(&c, COMMON_BYTES);
    read_switched(&c, &out->prev);
    out->prev_state = s.raw.len >= BYTES_64 ? (int64_t)pf_cur_u64(&c) : (int32_t)pf_cur_u32(&c);
    read_switched(&c, &out->next);
    return !c.bad && (tid == PERFILE_NO_PID || tid == out->prev.tid);
}
