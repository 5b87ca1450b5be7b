/* The key of a record, by which it belongs to a part.
 *
 * For samples the key is usually a field of fixed place, read for a whole run at once
 * (of_samples()); all other records are decoded one by one (key_of()).  By time, a record without a
 * time gets the key of the record before it: x->key carries that over from run to run. */
#include <inttypes.h>
#include <stdio.h>

#include "perfile/event.h"
#include "split/split.h"

/* Returns the number of the window of time; 0 before the first sample, and if there is none. */
uint64_t pf_split_window_of(const pf_split *x, uint64_t time)
{
    uint64_t first = x->scan->first_time;
    return time < first || first == PERFILE_NO_TIME ? 0 : (time - first) / x->options.amount;
}

/* AUXTRACE records have processor and thread of their AUX data in fields of their own; -1: any. */
static uint64_t key_of_aux(const pf_split *x, const perfile_record *r)
{
    perfile_auxtrace v;
    if (perfile_auxtrace_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return PF_SPLIT_NO_KEY;
    uint32_t number = x->options.by == PERFILE_SPLIT_CPU ? v.cpu : v.tid;
    return number == UINT32_MAX ? PF_SPLIT_NO_KEY : number;
}

/* Returns the key of one record; PF_SPLIT_NO_KEY if it has none. */
static uint64_t key_of(const pf_split *x, const perfile_record *r)
{
    uint32_t pid, tid, cpu;
    uint64_t time;
    uint32_t by = x->options.by;
    bool aux = r->type == PERFILE_RECORD_AUXTRACE;
    switch (by) {
    case PERFILE_SPLIT_EVERY:
        time = perfile_record_time(r);
        return time == PERFILE_NO_TIME ? x->key : pf_split_window_of(x, time);
    case PERFILE_SPLIT_PID:
    case PERFILE_SPLIT_TID:
        if (aux && by == PERFILE_SPLIT_TID)
            return key_of_aux(x, r);
        if (!perfile_record_task(r, &pid, &tid))
            return PF_SPLIT_NO_KEY;
        return by == PERFILE_SPLIT_PID ? pid : tid;
    case PERFILE_SPLIT_CPU:
        if (aux)
            return key_of_aux(x, r);
        return perfile_record_cpu(r, &cpu) ? cpu : PF_SPLIT_NO_KEY;
    case PERFILE_SPLIT_EVENT: {
        const perfile_event *e = pf_filter_event(r);
        return e ? e->index : PF_SPLIT_NO_KEY;
    }
    case PERFILE_SPLIT_COMM: {
        const char *name = pf_filter_comm(x->scan, r);
        return name ? (uint64_t)(uintptr_t)name : PF_SPLIT_NO_KEY;
    }
    default:
        return r->sequence;
    }
}

/* Sets the keys of samples where the key is a field of fixed place; returns the bits of those
 * samples. */
static uint64_t of_samples(const pf_split *x, const perfile_record *first, size_t n, uint64_t *keys)
{
    static const struct {
        uint32_t field;
        unsigned shift;
        uint64_t mask;
    } fields[] = {[PERFILE_SPLIT_EVERY] = {PERFILE_SAMPLE_TIME, 0, UINT64_MAX},
                  [PERFILE_SPLIT_PID] = {PERFILE_SAMPLE_TID, 0, UINT32_MAX},
                  [PERFILE_SPLIT_TID] = {PERFILE_SAMPLE_TID, 32, UINT32_MAX},
                  [PERFILE_SPLIT_CPU] = {PERFILE_SAMPLE_CPU, 0, UINT32_MAX}};
    uint64_t values[PERFILE_RUN_RECORDS], known = 0;
    uint32_t at[PERFILE_RUN_RECORDS], by = x->options.by;
    if (by >= sizeof fields / sizeof fields[0] || !fields[by].field)
        return 0;
    size_t found = perfile_sample_fields(first, n, fields[by].field, values, at);
    for (size_t i = 0; i < found; i++) {
        keys[at[i]] = values[i] >> fields[by].shift & fields[by].mask;
        known |= UINT64_C(1) << at[i];
    }
    if (by != PERFILE_SPLIT_EVERY)
        return known;
    /* By time: `keys` has times so far.  Most are in the window of the one before: one subtraction
     * and comparison instead of a division.  A time before `begin` wraps around and fails the
     * comparison. */
    uint64_t window = x->key == PF_SPLIT_NO_KEY ? 0 : x->key;
    uint64_t begin = x->scan->first_time + window * x->options.amount;
    for (size_t i = 0; i < found; i++) {
        uint64_t time = keys[at[i]];
        if (time - begin >= x->options.amount) {
            window = pf_split_window_of(x, time);
            begin = x->scan->first_time + window * x->options.amount;
        }
        keys[at[i]] = time < x->scan->first_time ? 0 : window;
    }
    return known;
}

void pf_split_keys(pf_split *x, const perfile_record *first, size_t n, uint64_t *keys)
{
    uint64_t known = of_samples(x, first, n, keys);
    for (size_t i = 0; i < n; i++) {
        if (!(known >> i & 1))
            keys[i] = key_of(x, &first[i]);
        x->key = keys[i];
    }
}

const char *pf_split_key_text(const pf_split *x, uint64_t key, char buffer[24])
{
    if (key == PF_SPLIT_NO_KEY)
        return "none";
    if (x->options.by == PERFILE_SPLIT_COMM)
        return (const char *)(uintptr_t)key;
    if (x->options.by == PERFILE_SPLIT_EVENT)
        return perfile_session_event(x->session, (uint32_t)key)->name;
    snprintf(buffer, 24, "%" PRIu64, key);
    return buffer;
}
