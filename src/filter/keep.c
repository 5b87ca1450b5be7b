/* What is kept beside what is selected: state of processes and of the system. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "core/layout.h"
#include "filter/filter.h"
#include "schema/family.h"

enum { MOST_BITS = 16 << 20 }; /* bytes of them */

/* The first word of the body is the process of all records of class TASK; of other families the
 * field of that kind. */
static uint32_t task_of(const perfile_record *r)
{
    uint32_t process, tid;
    if (r->family != PERFILE_FAMILY_PERF)
        return perfile_record_task(r, &process, &tid) ? process : PERFILE_NO_PID;
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    uint32_t pid = pf_cur_u32(&c);
    return c.bad ? PERFILE_NO_PID : pid;
}

static bool in_time(const pf_filter *x, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    return time == PERFILE_NO_TIME || time <= x->window_end;
}

/* Mappings of the kernel belong to no process. */
bool pf_filter_is_of_kernel(const perfile_record *r)
{
    enum { KERNEL = 1, GUEST_KERNEL = 4 };
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    return task_of(r) == PERFILE_NO_PID ||
           ((r->type == PERFILE_RECORD_MMAP || r->type == PERFILE_RECORD_MMAP2) &&
            (mode == KERNEL || mode == GUEST_KERNEL));
}

static bool keep_aux(const pf_filter *x, const perfile_record *r, bool *everyone)
{
    perfile_auxtrace v;
    *everyone = true;
    if (perfile_auxtrace_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    *everyone = v.tid == PERFILE_NO_PID;
    bool fits = true;
    if (pf_filter_has(x, PERFILE_FILTER_BY_CPU) && v.cpu != UINT32_MAX)
        fits = pf_ranges_have(&x->cpus, v.cpu);
    if (pf_filter_has(x, PERFILE_FILTER_BY_TID) && v.tid != PERFILE_NO_PID)
        fits = fits && pf_ranges_have(&x->tids, v.tid);
    return x->invert || fits;
}

bool pf_filter_keep(pf_filter *x, const perfile_record *r)
{
    bool everyone;
    unsigned class = pf_role_of(r);
    if (class == PF_ROLE_FACT)
        return true;
    if (x->no_sideband)
        return false;
    switch (class) {
    case PF_ROLE_TASK:
        return in_time(x, r) &&
               (x->result.all_sideband || pf_filter_is_of_kernel(r) ||
                pf_pids_have(&x->needed, task_of(r))) &&
               (!x->compact || x->result.all_sideband || pf_filter_is_last(x, r));
    case PF_ROLE_KERNEL:
        return in_time(x, r);
    case PF_ROLE_RECORDING:
        return true;
    case PF_ROLE_LOSS:
        return pf_filter_test_loss(x, r);
    case PF_ROLE_AUX:
        return keep_aux(x, r, &everyone);
    default:
        return false;
    }
}

/* Bit `at` and the 63 behind it are a word at byte at / 8 and what is left in the next byte. */
static bool set_word(pf_filter *x, uint64_t at, uint64_t word)
{
    enum { ROOM = 18 }; /* a word that begins at any of these bits is there to be got */
    if (at / 8 >= MOST_BITS) {
        x->bits_incomplete = true;
        return true;
    }
    if (at / 8 + ROOM > x->selected_bits.len) {
        size_t more = (size_t)(at / 8 + ROOM - x->selected_bits.len);
        if (!pf_buffer_reserve(&x->selected_bits, more))
            return false;
        memset(x->selected_bits.ptr + x->selected_bits.len, 0, more);
        x->selected_bits.len += more;
    }
    uint8_t *p = x->selected_bits.ptr + at / 8;
    unsigned shift = at % 8;
    pf_store_u64(p, pf_load_u64(p, PF_NATIVE_BIG) | word << shift, PF_NATIVE_BIG);
    if (shift)
        p[8] |= (uint8_t)(word >> (64 - shift));
    return true;
}

static uint64_t get_word(const pf_filter *x, uint64_t at)
{
    enum { ROOM = 9 };
    if (at / 8 + ROOM > x->selected_bits.len)
        return 0; /* whatever was set made room for it */
    const uint8_t *p = x->selected_bits.ptr + at / 8;
    unsigned shift = at % 8;
    uint64_t word = pf_load_u64(p, PF_NATIVE_BIG) >> shift;
    return shift ? word | (uint64_t)p[8] << (64 - shift) : word;
}

static bool set_bits(pf_filter *x, const pf_run *run, uint64_t selected)
{
    const perfile_record *first = run->first;
    bool ok = true;
    if (run->in_a_row)
        return !selected || set_word(x, first->sequence, selected);
    for (uint64_t left = selected; left && ok && !x->bits_incomplete; left &= left - 1)
        ok = set_word(x, first[__builtin_ctzll(left)].sequence, 1);
    return ok;
}

uint64_t pf_filter_known_selection(const pf_filter *x, const pf_run *run)
{
    const perfile_record *first = run->first;
    uint64_t yes = 0;
    if (run->in_a_row)
        return get_word(x, first->sequence) & run->all;
    for (size_t i = 0; i < run->n; i++)
        yes |= (get_word(x, first[i].sequence) & 1) << i;
    return yes;
}

uint64_t pf_filter_count_selected_ahead(const pf_filter *x, uint64_t sequence, uint64_t most)
{
    enum { MOST = 1 << 17 }; /* as many as fit into what is handed on at once */
    uint64_t n = 0, word = UINT64_MAX;
    most = most < MOST ? most : MOST;
    while (n < most && word == UINT64_MAX) {
        word = get_word(x, sequence + n);
        n += ~word ? (uint64_t)__builtin_ctzll(~word) : 64;
    }
    return n < most ? n : most;
}

static bool want(pf_filter *x, uint32_t pid)
{
    bool is_new;
    return pid == PERFILE_NO_PID || pf_pids_add(&x->wanted, pid, &is_new);
}

/* What names a process besides, of records that are no samples. */
static bool want_other(pf_filter *x, const perfile_record *r, bool selected)
{
    perfile_switch_cpu_wide change;
    bool everyone;
    switch (r->type) {
    case PERFILE_RECORD_SWITCH_CPU_WIDE:
        return !selected ||
               perfile_switch_cpu_wide_decode(r, &change, sizeof change, NULL) != PERFILE_OK ||
               want(x, change.next_prev_pid);
    case PERFILE_RECORD_AUXTRACE:
        x->unattributed |= !x->no_sideband && keep_aux(x, r, &everyone) && everyone;
        return true;
    default:
        return true;
    }
}

/* Adds the processes of an even run, and of those by `of` as wanted. */
static bool add_even_samples(pf_filter *x, const pf_run *run, size_t slot, uint64_t of)
{
    const uint32_t one = (uint32_t)pf_run_word(run, 0, slot);
    uint32_t seen = PERFILE_NO_PID, wanted = PERFILE_NO_PID, others = 0;
    bool is_new, ok = true;
    for (size_t i = 1; i < run->n; i++)
        others |= (uint32_t)pf_run_word(run, i, slot) ^ one;
    if (!others) {
        ok = one == PERFILE_NO_PID || x->is_part || pf_pids_add(&x->seen, one, &is_new);
        return ok && (!of || want(x, one));
    }
    for (size_t i = 0; i < run->n && ok; i++) {
        uint32_t pid = (uint32_t)pf_run_word(run, i, slot);
        if (pid != seen && pid != PERFILE_NO_PID && !x->is_part)
            ok = pf_pids_add(&x->seen, seen = pid, &is_new);
        if (pid != wanted && of >> i & 1 && pid != PERFILE_NO_PID)
            ok = ok && pf_pids_add(&x->wanted, wanted = pid, &is_new);
    }
    return ok;
}

/* Adds the processes of the samples, and of those by `of` as wanted. */
static bool add_samples(pf_filter *x, const pf_run *run, uint64_t of)
{
    if (run->even && run->even->sample_slot[PF_SLOT_TID] >= 0)
        return add_even_samples(x, run, (size_t)run->even->sample_slot[PF_SLOT_TID], of);
    if (run->even) {
        x->unattributed |= of != 0;
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
        if (pid != seen && pid != PERFILE_NO_PID && !x->is_part)
            ok = pf_pids_add(&x->seen, seen = pid, &is_new);
        if (pid != wanted && of >> at[i] & 1 && pid != PERFILE_NO_PID)
            ok = ok && pf_pids_add(&x->wanted, wanted = pid, &is_new);
    }
    x->unattributed |= (of & ~known) != 0;
    return ok;
}

static void times_of(pf_filter *x, const pf_run *run, uint64_t of)
{
    uint64_t values[PERFILE_RUN_RECORDS];
    uint32_t at[PERFILE_RUN_RECORDS];
    uint64_t first = x->kept_first, last = x->kept_last; /* in registers while it runs */
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
    x->kept_first = first;
    x->kept_last = last;
}

perfile_status pf_filter_count(pf_filter *x, const pf_run *run, uint64_t selected,
                               perfile_error *err)
{
    const perfile_record *first = run->first;
    const uint64_t sampled = run->samples;
    uint32_t pid, tid;
    bool ok = true, is_new;
    if (sampled) {
        ok = add_samples(x, run, selected & sampled);
        if (selected & sampled && x->has_sample_time)
            times_of(x, run, selected & sampled);
    }
    uint64_t looked = x->is_part ? selected : run->all;
    for (uint64_t left = looked & ~sampled; left && ok; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        unsigned class = pf_role_of(&first[i]);
        if (class == PF_ROLE_TASK)
            pid = task_of(&first[i]);
        else if (class != PF_ROLE_DATA || !perfile_record_task(&first[i], &pid, &tid))
            continue;
        ok = pid == PERFILE_NO_PID || x->is_part || pf_pids_add(&x->seen, pid, &is_new);
        if (class == PF_ROLE_DATA && selected >> i & 1)
            ok = ok && want(x, pid);
    }
    x->result.processes = x->seen.n;
    x->result.kept_processes = x->wanted.n;
    return ok ? PERFILE_OK : pf_fail_nomem(err, "filter");
}

perfile_status pf_filter_note_others(pf_filter *x, const pf_run *run, uint64_t selected,
                                     perfile_error *err)
{
    const perfile_record *first = run->first;
    bool ok = true;
    for (uint64_t left = run->all & ~run->samples; left && ok; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        ok = want_other(x, &first[i], selected >> i & 1) &&
             (!x->compact || pf_role_of(&first[i]) != PF_ROLE_TASK ||
              pf_filter_note_state(x, &first[i], err) == PERFILE_OK);
    }
    return ok ? PERFILE_OK : pf_fail_nomem(err, "filter");
}

perfile_status pf_filter_note(pf_filter *x, const pf_run *run, uint64_t selected,
                              perfile_error *err)
{
    bool ok = x->bits_incomplete || set_bits(x, run, selected);
    for (uint64_t left = run->all & ~run->samples; left && ok; left &= left - 1) {
        const perfile_record *r = &run->first[__builtin_ctzll(left)];
        if (r->type == PERFILE_RECORD_FORK)
            ok = pf_ancestors_note(&x->births, r);
    }
    return ok ? pf_filter_note_others(x, run, selected, err) : pf_fail_nomem(err, "filter");
}

perfile_status pf_filter_families(pf_filter *x, const pf_ancestors *births, perfile_error *err)
{
    pf_buffer waiting = {0};
    bool ok = true;
    uint64_t at = 0;
    uint32_t pid;
    x->result.all_state = x->unattributed || births->full || x->wanted.full;
    while (ok && pf_pids_next(&x->wanted, &at, &pid))
        ok = pf_ancestors_need(births, pid, x->window_end, &x->needed, &waiting, NULL, NULL);
    if (ok && x->compact)
        ok = pf_ancestors_parents(births, x->window_end, &x->needed, &x->forked_parents);
    pf_buffer_free(&waiting);
    return ok ? PERFILE_OK : pf_fail_nomem(err, "filter");
}
