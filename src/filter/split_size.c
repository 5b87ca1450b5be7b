/* Parts by size: an upper bound for the bytes of each part.
 *
 * A part consists of its data, of everything that is in every part (header, attrs, features,
 * side-band of the kernel), and of the side-band of the processes that have data in it and of their
 * ancestors.  The first pass adds up side-band by process.  The pass that finds the parts then
 * extends one part at a time.  When the part first needs a process, all side-band of that process
 * is added, even side-band later than the end of the part, because the end is not known yet.  So a
 * part may become smaller than requested, but not larger. */
#include <string.h>

#include "base/error.h"
#include "perfile/event.h"
#include "filter/split.h"
#include "schema/rows.h"
#include "core/command.h"

enum {
    MOST_PROCESSES = 1 << 18, /* counted one by one; if there are more, all count for each part */
    LEAST_SHARE = 8 /* a part has at least an eighth of the size in data, whatever it repeats */
};

/* Returns the process of a task record (COMM, MMAP, FORK …), which is its first field. */
static uint32_t process_of(const perfile_record *r)
{
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    uint32_t pid = pf_cur_u32(&c);
    return c.bad ? PERFILE_NO_PID : pid;
}

/* Adds bytes of side-band to a process.  Returns false when out of memory. */
static bool add_process_bytes(pf_split_size *z, uint32_t pid, uint64_t bytes)
{
    z->all_side_band += bytes;
    if (!z->index_of.seed)
        z->index_of.seed = pf_index_seed(z);
    uint32_t at = pf_index_get(&z->index_of, pid);
    if (at != PF_INDEX_NONE) {
        ((uint64_t *)(void *)z->bytes_of.ptr)[at] += bytes;
        return true;
    }
    at = (uint32_t)(z->bytes_of.len / sizeof bytes);
    /* Once full, no more processes are stored; only all_side_band is used. */
    z->full |= at == MOST_PROCESSES;
    return z->full || (pf_buffer_append(&z->bytes_of, &bytes, sizeof bytes) &&
                       pf_index_put(&z->index_of, pid, at));
}

perfile_status pf_split_add_side_band(pf_split *x, const perfile_record *first, size_t n,
                                      perfile_error *err)
{
    pf_split_size *z = &x->size;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        const perfile_record *r = &first[i];
        if (r->type == PERFILE_RECORD_SAMPLE)
            continue;
        uint64_t bytes = perfile_record_size(r) + r->extra.len;
        unsigned class = pf_role_of(r);
        if (class == PF_ROLE_TASK && x->state) {
            ok =
                !pf_filter_is_kernel_mapping(r) ? add_process_bytes(z, process_of(r), bytes) : true;
            z->always += pf_filter_is_kernel_mapping(r) ? bytes : 0;
        } else if (class == PF_ROLE_FACT ||
                   (x->state && class != PF_ROLE_DATA && class != PF_ROLE_AUX)) {
            z->always += bytes;
        }
        if (r->type == PERFILE_RECORD_FORK)
            ok = ok && pf_ancestors_note(&x->ancestors, r);
    }
    return ok ? PERFILE_OK : pf_fail_nomem(err, "split");
}

/* The lower bound, for a file or a pipe: header, attrs with ids, and features except BUILD_ID, of
 * which each part gets only its own entries. */
uint64_t pf_split_least_fact_bytes(const perfile_stream *s)
{
    enum { HEADER = 16, EVENT = 64 }; /* of a pipe; of the oldest attr */
    const perfile_session *session = perfile_stream_session(s);
    uint64_t bytes = HEADER;
    for (uint32_t i = 0; i < pf_session_n_events(session); i++)
        bytes += EVENT + 8 * (uint64_t)perfile_session_event(session, i)->ids.n;
    for (uint32_t i = 0; i < pf_session_n_features(session); i++)
        if (perfile_session_feature_at(session, i)->number != PERFILE_FEATURE_BUILD_ID)
            bytes += perfile_session_feature_at(session, i)->payload.len;
    return bytes;
}

/* The upper bound of the same, with event types and the records of a pipe. */
void pf_split_add_facts(pf_split *x, const perfile_stream *s)
{
    /* HEADER: of a file.  EVENT: more than the attr, id section and EVENT_DESC entry of an event
     * need.  FEATURE: more than a feature's section and record header.  EVENT_TYPE: a
     * HEADER_EVENT_TYPE record. */
    enum { HEADER = 104, EVENT = 400, FEATURE = 64, EVENT_TYPE = 80 };
    const perfile_session *session = perfile_stream_session(s);
    /* In a pipe, ids, names and payloads are in records, which pf_split_add_side_band() has
     * counted. */
    bool file = perfile_stream_container(s)->form == PERFILE_FORM_FILE;
    uint64_t bytes = HEADER;
    for (uint32_t i = 0; i < pf_session_n_events(session); i++) {
        const perfile_event *e = perfile_session_event(session, i);
        bytes += EVENT + (file ? 8 * (uint64_t)e->ids.n + strlen(e->name) : 0);
    }
    for (uint32_t i = 0; i < pf_session_n_features(session); i++) {
        const perfile_feature *f = perfile_session_feature_at(session, i);
        /* In a pipe, each entry of BUILD_ID has a header of its own. */
        bytes += FEATURE + (file ? f->payload.len + f->payload.len / 4 : 0);
    }
    bytes += (uint64_t)EVENT_TYPE * pf_session_n_event_types(session);
    x->size.always += bytes;
    pf_ancestors_sort(&x->ancestors);
}

/* Callback of pf_ancestors_add_needed(): adds the side-band of a process that the part now needs.
 */
static void add_side_band(void *user, uint32_t pid)
{
    pf_split_size *z = user;
    uint32_t at = pf_index_get(&z->index_of, pid);
    if (at != PF_INDEX_NONE)
        z->bytes += ((const uint64_t *)(const void *)z->bytes_of.ptr)[at];
}

/* Makes the part need a process and its ancestors.  If the process is not known, or there were too
 * many processes or forks to find ancestors, the part needs all processes.  Returns false when out
 * of memory. */
static bool need_process(pf_split *x, uint32_t pid)
{
    pf_split_size *z = &x->size;
    if (z->everyone || (pid != PERFILE_NO_PID && pf_pids_have(&z->needed, pid)))
        return true;
    if (pid == PERFILE_NO_PID || z->full || x->ancestors.full) {
        z->everyone = true; /* side-band added before counts twice: still an upper bound */
        z->bytes += z->all_side_band;
        return true;
    }
    return pf_ancestors_add_needed(&x->ancestors, pid, PERFILE_NO_TIME, &z->needed, &z->waiting,
                                   add_side_band, z);
}

/* Adds a record to the part that is being extended: its bytes, unless they are counted in `always`
 * or with its process, and the processes that it needs. */
static bool add_record(pf_split *x, const perfile_record *r, unsigned class, uint32_t pid)
{
    enum { INDEX_ENTRY = 16 };
    pf_split_size *z = &x->size;
    perfile_switch_cpu_wide change;
    uint64_t bytes = perfile_record_size(r) + r->extra.len;
    bool ok = true;
    if (class == PF_ROLE_AUX)
        bytes += INDEX_ENTRY; /* of feature AUXTRACE */
    else if (class == PF_ROLE_FACT)
        bytes = 0;
    else if (class != PF_ROLE_DATA && x->state)
        bytes = class == PF_ROLE_TASK && !z->everyone && !pf_filter_is_kernel_mapping(r) &&
                        !pf_pids_have(&z->needed, process_of(r))
                    ? bytes
                    : 0;
    z->bytes += bytes;
    if (!x->state || (class != PF_ROLE_DATA && class != PF_ROLE_AUX))
        return true;
    if (r->type == PERFILE_RECORD_SWITCH_CPU_WIDE &&
        perfile_switch_cpu_wide_decode(r, &change, sizeof change, NULL) == PERFILE_OK &&
        change.next_prev_pid != PERFILE_NO_PID)
        ok = need_process(x, change.next_prev_pid);
    if (pid == PERFILE_NO_PID && r->type != PERFILE_RECORD_SAMPLE && class == PF_ROLE_DATA)
        return ok; /* data without a process needs none; a sample without one may be from any */
    return ok && need_process(x, pid);
}

/* Begins a new part. */
static void begin_next_part(pf_split *x)
{
    pf_split_size *z = &x->size;
    pf_pids_free(&z->needed);
    z->needed = (pf_pids){0};
    z->everyone = false;
    z->bytes = 0;
}

perfile_status pf_split_extend_part(pf_split *x, const perfile_record *r, unsigned class,
                                    uint32_t pid, uint64_t data_bytes, bool *cut,
                                    perfile_error *err)
{
    uint32_t tid;
    uint64_t least = x->options.amount / LEAST_SHARE;
    if (class == PF_ROLE_DATA && r->type != PERFILE_RECORD_SAMPLE &&
        !perfile_record_task(r, &pid, &tid))
        pid = PERFILE_NO_PID;
    bool ok = add_record(x, r, class, pid);
    /* A part without data is never cut, so each part has at least one data record. */
    *cut = data_bytes && data_bytes >= least && x->size.bytes + x->size.always > x->options.amount;
    if (ok && *cut) {
        begin_next_part(x);
        ok = add_record(x, r, class, pid);
    }
    return ok ? PERFILE_OK : pf_fail_nomem(err, "split");
}
