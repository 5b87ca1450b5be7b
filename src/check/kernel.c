/* Rules for single types of kernel records: mappings, times of tasks, AUX, deferred call chains.
 * Losses are summed up here, and times.c reports them at the end. */
#include <inttypes.h>

#include "check/check.h"

enum { BUILD_ID_BYTES = 20, SECOND = 1000000000 };

/* Returns true for a mapping of the kernel, which may have length 0. */
static bool is_kernel_mapping(const perfile_record *r, uint32_t pid)
{
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    return pid == PERFILE_NO_PID || mode == PERFILE_MISC_CPUMODE_KERNEL ||
           mode == PERFILE_MISC_CPUMODE_GUEST_KERNEL;
}

/* Checks that a mapping has a length and does not wrap around at 2^64 (V-402). */
static void check_range(pf_check *c, const perfile_record *r, uint32_t pid, uint64_t addr,
                        uint64_t len)
{
    uint64_t end;
    /* addr + len may be 2^64: the mapping then ends with the last byte of the address space. */
    if (len && __builtin_add_overflow(addr, len - 1, &end))
        pf_report(c, PERFILE_RULE_V_402, PF_FULL, r, "len",
                  "0x%" PRIx64 " bytes at 0x%" PRIx64 " wrap around", len, addr);
    else if (len == 0 && !is_kernel_mapping(r, pid))
        pf_report(c, PERFILE_RULE_V_402, PF_FULL, r, "len", "a mapping of 0 bytes at 0x%" PRIx64,
                  addr);
}

/* Checks an MMAP2: its range, and that a build id has 1 to 20 bytes (V-401). */
static void check_mmap2(pf_check *c, const perfile_record *r, const perfile_mmap2 *v)
{
    c->counts.map_build_ids += v->has_build_id;
    check_range(c, r, v->pid, v->addr, v->len);
    if (!v->has_build_id)
        return;
    if (v->build_id_size == 0)
        pf_report(c, PERFILE_RULE_V_401, PF_LESSER, r, "mmap2.build_id_size",
                  "a build id of 0 bytes");
    else if (v->build_id_size > BUILD_ID_BYTES)
        pf_report(c, PERFILE_RULE_V_401, PF_FULL, r, "mmap2.build_id_size",
                  "a build id of %u bytes, there is room for %d", v->build_id_size, BUILD_ID_BYTES);
}

/* FORK and EXIT have a time of their own in addition to the time of the trailer.  Checks that they
 * differ by at most a second (V-214).  A time of 0 is no time. */
static void check_task_time(pf_check *c, const perfile_record *r, uint64_t own)
{
    uint64_t time = perfile_record_time(r);
    if (own == 0 || time == 0 || time == PERFILE_NO_TIME)
        return;
    uint64_t apart = own > time ? own - time : time - own;
    if (apart > SECOND)
        pf_report(c, PERFILE_RULE_V_214, PF_FULL, r, "time",
                  "its times %" PRIu64 " and %" PRIu64 " are %" PRIu64 " ns apart", own, time,
                  apart);
}

/* See check.h; `v` is the struct of r->type. */
void pf_check_kernel(pf_check *c, const perfile_record *r, const void *v, size_t left)
{
    (void)left;
    switch (r->type) {
    case PERFILE_RECORD_MMAP: {
        const perfile_mmap *m = v;
        check_range(c, r, m->pid, m->addr, m->len);
        break;
    }
    case PERFILE_RECORD_MMAP2:
        check_mmap2(c, r, v);
        break;
    case PERFILE_RECORD_FORK:
        check_task_time(c, r, ((const perfile_fork *)v)->time);
        break;
    case PERFILE_RECORD_EXIT:
        check_task_time(c, r, ((const perfile_exit *)v)->time);
        break;
    case PERFILE_RECORD_LOST:
        c->counts.lost_records += ((const perfile_lost *)v)->lost;
        break;
    case PERFILE_RECORD_LOST_SAMPLES:
        c->counts.lost_samples += ((const perfile_lost_samples *)v)->lost;
        break;
    case PERFILE_RECORD_THROTTLE:
        c->counts.throttles++;
        break;
    case PERFILE_RECORD_AUX:
        pf_check_aux(c, r, v);
        break;
    case PERFILE_RECORD_CALLCHAIN_DEFERRED: {
        uint32_t pid, tid;
        if (perfile_record_task(r, &pid, &tid))
            pf_check_cookie_delivered(c, r, tid, ((const perfile_callchain_deferred *)v)->cookie);
        break;
    }
    default:
        break;
    }
}
