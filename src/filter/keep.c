/* Decides which records are kept although they are not selected, and notes in the selecting pass
 * what that needs: the processes with selected records.
 *
 * Records are handled by their class (`role` of their row in format/): side-band of a process is
 * kept if the process is needed, side-band of the system up to the end of the time range, facts
 * always. */
#include "base/cursor.h"
#include "base/error.h"
#include "core/layout.h"
#include "filter/filter.h"
#include "perfile/records.h"
#include "schema/rows.h"
#include "core/command.h"

#include <stdlib.h>
#include <string.h>

/* PERFILE_FILTER_COMPACT_SIDEBAND: of the side-band before the time range, only the last record of
 * each kind and key is kept.
 *
 * Only the state at the start of the range matters: the last name of a thread, the last mapping of
 * an address range. A key combines type, process, and thread or addresses. Processes that forked
 * others keep everything, because a child inherits the state of its parent at the time of the fork.
 */

/* The last record of a key. */
typedef struct last_record {
    uint64_t time, sequence;
} last_record;

/* Mixes two hashes. Keys are hashes, and a collision of two keys would drop a record, hence the
 * random seed. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* Computes the key of a record, and its process. Returns false if records of its type do not
 * replace each other. MMAP and MMAP2 share keys. */
static bool key_of(const pf_filter *x, const perfile_record *r, uint64_t *key, uint32_t *pid)
{
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    uint32_t first = pf_cur_u32(&c), second = pf_cur_u32(&c);
    uint64_t third = 0;
    switch (r->type) {
    case PERFILE_RECORD_MMAP:
    case PERFILE_RECORD_MMAP2: {
        uint64_t addr = pf_cur_u64(&c);
        third = mix(addr, pf_cur_u64(&c)); /* its length */
        second = r->misc & PERFILE_MISC_CPUMODE_MASK;
        break;
    }
    case PERFILE_RECORD_COMM:
    case PERFILE_RECORD_NAMESPACES:
        break; /* second is the thread */
    default:
        return false;
    }
    uint64_t process = (uint64_t)first << 32 | second;
    uint64_t type = r->type == PERFILE_RECORD_MMAP ? PERFILE_RECORD_MMAP2 : r->type;
    *key = mix(mix(mix(x->sideband.last_of_key.seed, type), process), third);
    *pid = first;
    return !c.bad;
}

/* Returns the time of a record if it is before the first time range (0 if it has no time), else
 * PERFILE_NO_TIME. */
static uint64_t time_before_range(const pf_filter *x, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    time = time == PERFILE_NO_TIME ? 0 : time;
    return x->terms.times.n && !x->terms.invert && time < x->terms.times.at[0].first
               ? time
               : PERFILE_NO_TIME;
}

/* Notes a record if it is before the range and the latest of its key so far. */
static perfile_status note_state(pf_filter *x, const perfile_record *r, perfile_error *err)
{
    uint64_t key, time = time_before_range(x, r);
    uint32_t pid;
    if (!x->sideband.last_of_key.seed)
        x->sideband.last_of_key.seed = pf_index_seed(&x->sideband.last_of_key);
    if (time == PERFILE_NO_TIME || !key_of(x, r, &key, &pid))
        return PERFILE_OK;
    const last_record mine = {time, r->sequence};
    uint32_t at = pf_index_get(&x->sideband.last_of_key, key);
    if (at == PF_INDEX_NONE) {
        at = (uint32_t)(x->sideband.last_records.len / sizeof mine);
        if (!pf_buffer_append(&x->sideband.last_records, &mine, sizeof mine) ||
            !pf_index_put(&x->sideband.last_of_key, key, at))
            return pf_fail_nomem(err, "filter");
        return PERFILE_OK;
    }
    last_record *known = (last_record *)(void *)x->sideband.last_records.ptr + at;
    if (mine.time >= known->time) /* equal times: the later record of the stream counts */
        *known = mine;
    return PERFILE_OK;
}

/* Returns true if compacting keeps the record; also for records that it does not concern. */
static bool is_last_state(const pf_filter *x, const perfile_record *r)
{
    uint64_t key;
    uint32_t pid;
    if (time_before_range(x, r) == PERFILE_NO_TIME || !key_of(x, r, &key, &pid) ||
        pf_pids_have(&x->sideband.forked_parents, pid))
        return true;
    uint32_t at = pf_index_get(&x->sideband.last_of_key, key);
    const last_record *known = (const last_record *)(const void *)x->sideband.last_records.ptr;
    return at == PF_INDEX_NONE || known[at].sequence == r->sequence;
}

/* Returns the process of side-band of class TASK. In perf's records of that class it is the first
 * field of the body. */
static uint32_t process_of(const perfile_record *r)
{
    uint32_t process, tid;
    if (r->family != PERFILE_FAMILY_PERF)
        return perfile_record_task(r, &process, &tid) ? process : PERFILE_NO_PID;
    /* Read without decoding, because this is called for every side-band record. */
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    uint32_t pid = pf_cur_u32(&c);
    return c.bad ? PERFILE_NO_PID : pid;
}

/* Returns true unless the record is later than the last time range. */
static bool in_time(const pf_filter *x, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    return time == PERFILE_NO_TIME || time <= x->pass.window_end;
}

bool pf_filter_is_kernel_mapping(const perfile_record *r)
{
    enum { KERNEL = 1, GUEST_KERNEL = 4 };
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    return process_of(r) == PERFILE_NO_PID ||
           ((r->type == PERFILE_RECORD_MMAP || r->type == PERFILE_RECORD_MMAP2) &&
            (mode == KERNEL || mode == GUEST_KERNEL));
}

/* Returns true if AUX data may have selected data, judging by its CPU and thread. Sets *whole_cpu
 * if it is from a whole CPU, not from one thread. */
static bool keep_aux(const pf_filter *x, const perfile_record *r, bool *whole_cpu)
{
    perfile_auxtrace v;
    *whole_cpu = true;
    if (perfile_auxtrace_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    *whole_cpu = v.tid == PERFILE_NO_PID;
    bool fits = true;
    if (pf_filter_has(x, PERFILE_FILTER_BY_CPU) && v.cpu != UINT32_MAX)
        fits = pf_ranges_contain(&x->terms.cpus, v.cpu);
    if (pf_filter_has(x, PERFILE_FILTER_BY_TID) && v.tid != PERFILE_NO_PID)
        fits = fits && pf_ranges_contain(&x->terms.tids, v.tid);
    return x->terms.invert || fits;
}

bool pf_filter_keep(pf_filter *x, const perfile_record *r)
{
    bool whole_cpu;
    unsigned class = pf_role_of(r);
    if (class == PF_ROLE_FACT) /* the writer makes state records again when the state changes */
        return !(pf_marks_of(r) & PF_ROW_STATE);
    if (x->terms.no_sideband)
        return false;
    /* Data that is not selected is dropped: the default case. */
    switch (class) {
    case PF_ROLE_TASK:
        return in_time(x, r) &&
               (x->result.all_sideband || pf_filter_is_kernel_mapping(r) ||
                pf_pids_have(&x->sideband.needed, process_of(r))) &&
               (!x->terms.compact || x->result.all_sideband || is_last_state(x, r));
    case PF_ROLE_KERNEL:
        return in_time(x, r);
    case PF_ROLE_RECORDING:
        return true;
    case PF_ROLE_LOSS:
        return pf_filter_test_loss(x, r);
    case PF_ROLE_AUX:
        return keep_aux(x, r, &whole_cpu);
    default:
        return false;
    }
}

/* Adds a process to `wanted`. Returns false when out of memory. */
static bool add_wanted(pf_filter *x, uint32_t pid)
{
    bool is_new;
    return pid == PERFILE_NO_PID || pf_pids_add(&x->sideband.wanted, pid, &is_new);
}

/* Adds processes to which a record other than a sample refers: the other side of a context switch.
 * Kept AUX data of a whole CPU may be from any process. */
static bool add_wanted_of_others(pf_filter *x, const perfile_record *r, bool selected)
{
    perfile_switch_cpu_wide change;
    bool whole_cpu;
    switch (r->type) {
    case PERFILE_RECORD_SWITCH_CPU_WIDE:
        return !selected ||
               perfile_switch_cpu_wide_decode(r, &change, sizeof change, NULL) != PERFILE_OK ||
               add_wanted(x, change.next_prev_pid);
    case PERFILE_RECORD_AUXTRACE:
        x->sideband.unattributed |=
            !x->terms.no_sideband && keep_aux(x, r, &whole_cpu) && whole_cpu;
        return true;
    default:
        return true;
    }
}

/* Adds the processes of a run of samples of one layout: all to `seen`, those in `of` to `wanted`.
 * Most runs are of one process, which is detected without a branch per sample. */
static bool add_even_samples(pf_filter *x, const pf_run *run, size_t slot, uint64_t of)
{
    /* The pid is the low half of the field TID. */
    const uint32_t one = (uint32_t)pf_run_word(run, 0, slot);
    uint32_t seen = PERFILE_NO_PID, wanted = PERFILE_NO_PID, others = 0;
    bool is_new, ok = true;
    for (size_t i = 1; i < run->n; i++)
        others |= (uint32_t)pf_run_word(run, i, slot) ^ one;
    if (!others) {
        ok = one == PERFILE_NO_PID || x->sideband.is_part ||
             pf_pids_add(&x->sideband.seen, one, &is_new);
        return ok && (!of || add_wanted(x, one));
    }
    for (size_t i = 0; i < run->n && ok; i++) {
        uint32_t pid = (uint32_t)pf_run_word(run, i, slot);
        if (pid != seen && pid != PERFILE_NO_PID && !x->sideband.is_part)
            ok = pf_pids_add(&x->sideband.seen, seen = pid, &is_new);
        if (pid != wanted && of >> i & 1 && pid != PERFILE_NO_PID)
            ok = ok && pf_pids_add(&x->sideband.wanted, wanted = pid, &is_new);
    }
    return ok;
}

/* The same for any run. If a selected sample has no pid, the selection is unattributed. */
static bool add_samples(pf_filter *x, const pf_run *run, uint64_t of)
{
    if (run->even && run->even->sample_slot[PF_SLOT_TID] >= 0)
        return add_even_samples(x, run, (size_t)run->even->sample_slot[PF_SLOT_TID], of);
    if (run->even) {
        x->sideband.unattributed |= of != 0;
        return true;
    }
    uint64_t values[PERFILE_RUN_RECORDS];
    uint32_t at[PERFILE_RUN_RECORDS];
    uint32_t seen = PERFILE_NO_PID, wanted = PERFILE_NO_PID;
    uint64_t known = 0;
    bool is_new, ok = true;
    size_t found = perfile_sample_fields(run->first, run->n, PERFILE_SAMPLE_TID, values, at);
    for (size_t i = 0; i < found && ok; i++) {
        uint32_t pid = (uint32_t)values[i];
        known |= UINT64_C(1) << at[i];
        if (pid != seen && pid != PERFILE_NO_PID && !x->sideband.is_part)
            ok = pf_pids_add(&x->sideband.seen, seen = pid, &is_new);
        if (pid != wanted && of >> at[i] & 1 && pid != PERFILE_NO_PID)
            ok = ok && pf_pids_add(&x->sideband.wanted, wanted = pid, &is_new);
    }
    x->sideband.unattributed |= (of & ~known) != 0;
    return ok;
}

/* Widens kept.first and kept.last by the samples in `of`. */
static void widen_kept_times(pf_filter *x, const pf_run *run, uint64_t of)
{
    uint64_t values[PERFILE_RUN_RECORDS];
    uint32_t at[PERFILE_RUN_RECORDS];
    uint64_t first = x->kept.first,
             last = x->kept.last; /* copies, so that the loop keeps them in registers */
    size_t found = 0;
    if (run->even) {
        int slot = run->even->sample_slot[PF_SLOT_TIME];
        for (size_t i = 0; slot >= 0 && i < run->n; i++) {
            uint64_t time = pf_run_word(run, i, (size_t)slot);
            bool counts = of >> i & 1;
            first = counts && time < first ? time : first;
            last = counts && time > last ? time : last;
        }
    } else {
        found = perfile_sample_fields(run->first, run->n, PERFILE_SAMPLE_TIME, values, at);
    }
    for (size_t i = 0; i < found; i++) {
        bool counts = of >> at[i] & 1;
        first = counts && values[i] < first ? values[i] : first;
        last = counts && values[i] > last ? values[i] : last;
    }
    x->kept.first = first;
    x->kept.last = last;
}

/* Samples are counted by fields at fixed offsets, other records by their class: side-band by its
 * process, data by its pid. */
perfile_status pf_filter_count(pf_filter *x, const pf_run *run, uint64_t selected,
                               perfile_error *err)
{
    const perfile_record *first = run->first;
    const uint64_t sampled = run->samples;
    uint32_t pid, tid;
    bool ok = true, is_new;
    if (sampled) {
        ok = add_samples(x, run, selected & sampled);
        if (selected & sampled && x->kept.needs_times)
            widen_kept_times(x, run, selected & sampled);
    }
    /* For a part of a split, only the processes of its own records matter. */
    uint64_t looked = x->sideband.is_part ? selected : run->all;
    for (uint64_t left = looked & ~sampled; left && ok; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        unsigned class = pf_role_of(&first[i]);
        if (class == PF_ROLE_TASK)
            pid = process_of(&first[i]);
        else if (class != PF_ROLE_DATA || !perfile_record_task(&first[i], &pid, &tid))
            continue;
        ok = pid == PERFILE_NO_PID || x->sideband.is_part ||
             pf_pids_add(&x->sideband.seen, pid, &is_new);
        if (class == PF_ROLE_DATA && selected >> i & 1)
            ok = ok && add_wanted(x, pid);
    }
    x->result.processes = x->sideband.seen.n;
    x->result.kept_processes = x->sideband.wanted.n;
    return ok ? PERFILE_OK : pf_fail_nomem(err, "filter");
}

perfile_status pf_filter_note_others(pf_filter *x, const pf_run *run, uint64_t selected,
                                     perfile_error *err)
{
    const perfile_record *first = run->first;
    bool ok = true;
    for (uint64_t left = run->all & ~run->samples; left && ok; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        ok = add_wanted_of_others(x, &first[i], selected >> i & 1) &&
             (!x->terms.compact || pf_role_of(&first[i]) != PF_ROLE_TASK ||
              note_state(x, &first[i], err) == PERFILE_OK);
    }
    x->result.kept_processes = x->sideband.wanted.n;
    return ok ? PERFILE_OK : pf_fail_nomem(err, "filter");
}

/* FORKs are collected in a pass of their own, because side-band is not in order of time. */
perfile_status pf_filter_note(pf_filter *x, const pf_run *run, uint64_t selected,
                              perfile_error *err)
{
    bool ok = pf_selected_set(&x->selection.bits, run, selected);
    for (uint64_t left = run->all & ~run->samples; left && ok; left &= left - 1) {
        const perfile_record *r = &run->first[__builtin_ctzll(left)];
        if (r->type == PERFILE_RECORD_FORK)
            ok = pf_ancestors_note(&x->sideband.ancestors, r);
    }
    return ok ? pf_filter_note_others(x, run, selected, err) : pf_fail_nomem(err, "filter");
}

/* Side-band of all processes is kept if the needed ones cannot be determined: a selected record has
 * no process, or a limit was reached. */
perfile_status pf_filter_find_ancestors(pf_filter *x, const pf_ancestors *ancestors,
                                        perfile_error *err)
{
    pf_buffer waiting = {0};
    bool ok = true;
    uint64_t at = 0;
    uint32_t pid;
    x->result.all_sideband = x->sideband.unattributed || ancestors->full || x->sideband.wanted.full;
    while (ok && pf_pids_next(&x->sideband.wanted, &at, &pid))
        ok = pf_ancestors_add_needed(ancestors, pid, x->pass.window_end, &x->sideband.needed,
                                     &waiting, NULL, NULL);
    if (ok && x->terms.compact)
        ok = pf_ancestors_parents(ancestors, x->pass.window_end, &x->sideband.needed,
                                  &x->sideband.forked_parents);
    pf_buffer_free(&waiting);
    return ok ? PERFILE_OK : pf_fail_nomem(err, "filter");
}

/* Parents of processes: an array of FORKs, sorted by child, which is searched for each process and
 * then for its parents. A pid may have several parents, as Linux reuses pids; all of them are
 * needed. */

enum { MOST_BYTES = 32 << 20 }; /* limit for FORKs: 2 million */

/* A FORK of a process. */
typedef struct fork_entry {
    uint64_t time; /* 0: the record has no time, the process existed before the recording */
    uint32_t child, parent;
} fork_entry;

/* A fork of a thread has the same pid on both sides. */
bool pf_ancestors_note(pf_ancestors *b, const perfile_record *r)
{
    perfile_fork fork;
    if (perfile_fork_decode(r, &fork, sizeof fork, NULL) != PERFILE_OK || fork.pid == fork.ppid)
        return true;
    uint64_t time = perfile_record_time(r);
    const fork_entry one = {time == PERFILE_NO_TIME ? 0 : time, fork.pid, fork.ppid};
    /* With `full`, ancestors are unknown, and the caller keeps the side-band of all processes. */
    b->full |= b->all.len >= MOST_BYTES;
    return b->full || pf_buffer_append(&b->all, &one, sizeof one);
}

/* qsort() order: by child, parent and time. */
static int by_child(const void *a, const void *b)
{
    const fork_entry *x = a, *y = b;
    if (x->child != y->child)
        return x->child < y->child ? -1 : 1;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* Of FORKs with equal child and parent the earliest is enough: it is before an `end` if any of them
 * is. */
void pf_ancestors_sort(pf_ancestors *b)
{
    fork_entry *all = (fork_entry *)(void *)b->all.ptr;
    size_t n = b->all.len / sizeof *all, kept = 0;
    if (n == 0)
        return;
    qsort(all, n, sizeof *all, by_child);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || all[i].child != all[kept - 1].child ||
            all[i].parent != all[kept - 1].parent)
            all[kept++] = all[i];
    b->all.len = kept * sizeof *all;
}

/* Returns the index of the first FORK of `child`; if there is none, of the next greater child. */
static size_t first_fork_of(const fork_entry *all, size_t n, uint32_t child)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].child < child)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `waiting` is a stack of processes for which parents are still to be added. It replaces recursion.
 */
bool pf_ancestors_add_needed(const pf_ancestors *b, uint32_t child, uint64_t end, pf_pids *needed,
                             pf_buffer *waiting, void (*on_added)(void *user, uint32_t pid),
                             void *user)
{
    const fork_entry *all = (const fork_entry *)(const void *)b->all.ptr;
    size_t n = b->all.len / sizeof *all;
    bool is_new;
    pf_buffer_clear(waiting);
    if (!pf_pids_add(needed, child, &is_new))
        return false;
    if (is_new && !pf_buffer_append(waiting, &child, sizeof child))
        return false;
    while (waiting->len) {
        memcpy(&child, waiting->ptr + waiting->len - sizeof child, sizeof child);
        waiting->len -= sizeof child;
        if (on_added)
            on_added(user, child);
        for (size_t i = first_fork_of(all, n, child); i < n && all[i].child == child; i++) {
            if (all[i].time > end)
                continue;
            if (!pf_pids_add(needed, all[i].parent, &is_new))
                return false;
            if (is_new && !pf_buffer_append(waiting, &all[i].parent, sizeof child))
                return false;
        }
    }
    return true;
}

bool pf_ancestors_parents(const pf_ancestors *b, uint64_t end, const pf_pids *needed,
                          pf_pids *parents)
{
    const fork_entry *all = (const fork_entry *)(const void *)b->all.ptr;
    size_t n = b->all.len / sizeof *all;
    bool ok = true, is_new;
    for (size_t i = 0; i < n && ok; i++)
        if (all[i].time <= end && pf_pids_have(needed, all[i].child))
            ok = pf_pids_add(parents, all[i].parent, &is_new);
    return ok;
}

void pf_ancestors_free(pf_ancestors *b)
{
    pf_buffer_free(&b->all);
}

/* The features SAMPLE_TIME and BUILD_ID are made again to describe the kept samples. Features that
 * were records in the stream are not changed: they are passed on as records. */

/* Returns true if the feature is in the header of the file, not in a record. */
static bool in_container(const perfile_session *s, uint32_t number)
{
    const perfile_feature *f = perfile_session_feature(s, number);
    return f && f->origin == PERFILE_ORIGIN_CONTAINER;
}

bool pf_filter_changes_facts(const perfile_session *s)
{
    return in_container(s, PERFILE_FEATURE_SAMPLE_TIME) ||
           in_container(s, PERFILE_FEATURE_BUILD_ID);
}

/* The feature has two u64, first and last time; both are 0 if no sample is kept. It does not change
 * if all samples are kept. */
perfile_status pf_filter_update_sample_time(pf_filter *x, pf_session_view *view, perfile_error *err)
{
    const perfile_filter_summary *sum = &x->result;
    if (sum->kept_samples == sum->samples)
        return PERFILE_OK;
    bool any = x->kept.first <= x->kept.last;
    bool swapped = pf_session_swapped(pf_session_view_shown(view));
    pf_store_u64(x->kept.sample_time, any ? x->kept.first : 0, swapped);
    pf_store_u64(x->kept.sample_time + 8, any ? x->kept.last : 0, swapped);
    return pf_session_view_replace(view, PERFILE_FEATURE_SAMPLE_TIME,
                                   (perfile_bytes){x->kept.sample_time, sizeof x->kept.sample_time},
                                   err);
}

perfile_status pf_filter_note_file(pf_filter *x, const perfile_record *r, bool kept,
                                   perfile_error *err)
{
    perfile_mmap one;
    perfile_mmap2 two;
    perfile_bytes name = {NULL, 0};
    x->kept.dropped_files |= !kept;
    if (!kept)
        return PERFILE_OK;
    if (r->type == PERFILE_RECORD_MMAP &&
        perfile_mmap_decode(r, &one, sizeof one, NULL) == PERFILE_OK)
        name = one.filename;
    else if (r->type == PERFILE_RECORD_MMAP2 &&
             perfile_mmap2_decode(r, &two, sizeof two, NULL) == PERFILE_OK)
        name = two.filename;
    /* A random seed, so that no input can be crafted to have many equal hashes. */
    if (!x->kept.files.seed)
        x->kept.files.seed = pf_index_seed(&x->kept.files);
    return !name.len || pf_texts_keep(&x->kept.files, name) ? PERFILE_OK
                                                            : pf_fail_nomem(err, "filter");
}

/* Returns true if an entry of BUILD_ID is kept: it is for the kernel, for a file with a kept
 * mapping, or too short to tell. */
static bool is_mapped(const pf_filter *x, uint16_t misc, perfile_bytes entry)
{
    enum {
        KERNEL = 1, /* cpumode */
        GUEST_KERNEL = 4,
        NAME_AT = 36 /* after header (8), pid (4) and build id (24) */
    };
    unsigned mode = misc & PERFILE_MISC_CPUMODE_MASK;
    if (mode == KERNEL || mode == GUEST_KERNEL || entry.len < NAME_AT)
        return true;
    const perfile_bytes name = {entry.ptr + NAME_AT, entry.len - NAME_AT};
    return x->kept.files.size && pf_texts_find(&x->kept.files, name);
}

/* Reads the stored entries instead of the session's, so that kept entries stay byte for byte. A
 * second call does nothing. */
perfile_status pf_filter_update_build_ids(pf_filter *x, pf_session_view *view, perfile_error *err)
{
    const perfile_session *s = pf_session_view_shown(view);
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_BUILD_ID);
    /* Nothing to do: there is no such feature, no mapping was dropped, or an earlier call made the
     * payload. */
    if (!f || f->damage || !x->kept.dropped_files || f->payload.ptr == x->kept.build_ids.ptr)
        return PERFILE_OK;
    pf_buffer_clear(&x->kept.build_ids);
    pf_cursor c = pf_cur(f->payload, pf_session_swapped(s));
    while (pf_cur_left(&c)) {
        pf_cursor at = c;
        (void)pf_cur_u32(&at);
        uint16_t misc = pf_cur_u16(&at);
        uint16_t size = pf_cur_u16(&at);
        perfile_bytes entry = pf_cur_span(&c, size);
        if (at.bad || c.bad || size < PF_PERF_RECORD_HEADER)
            return PERFILE_OK; /* damaged: the feature stays unchanged */
        if (is_mapped(x, misc, entry) &&
            !pf_buffer_append(&x->kept.build_ids, entry.ptr, entry.len))
            return pf_fail_nomem(err, "filter");
    }
    return pf_session_view_replace(view, PERFILE_FEATURE_BUILD_ID,
                                   (perfile_bytes){x->kept.build_ids.ptr, x->kept.build_ids.len},
                                   err);
}
