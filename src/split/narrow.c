/* Ranges of a capture in an archive whose samples, by the zone, are all at home in one part.
 *
 * The passes in front of the writing one count such a range without reading it.  The payload must
 * be sound all the same: what is damaged is read, and reported. */
#include "core/zone.h"

#include "split/split.h"

/* The only member of a set; false: it has others, or is not known. */
static bool only_member(const pf_zone_set *set, uint64_t *key)
{
    if (!set->known || set->n != 1)
        return false;
    *key = set->at[0];
    return true;
}

/* The key of all samples of a zone, by key or window of time. */
static bool key_of_zone(const pf_split *x, const pf_zone *z, uint64_t *key)
{
    switch (x->options.by) {
    case PERFILE_SPLIT_EVERY:
        *key = pf_split_window_of(x, z->data_first);
        return z->has_data_times && *key == pf_split_window_of(x, z->data_last);
    case PERFILE_SPLIT_PID:
        return only_member(&z->pids, key);
    case PERFILE_SPLIT_TID:
        return only_member(&z->tids, key);
    case PERFILE_SPLIT_CPU:
        return only_member(&z->cpus, key);
    case PERFILE_SPLIT_EVENT:
        *key = z->events.n ? z->events.at[0].key : 0;
        return z->events.known && z->events.n == 1 &&
               z->events.at[0].records == z->records - z->apart;
    default:
        return false;
    }
}

bool pf_split_zone_part(const pf_split *x, const pf_zone *z, uint64_t sequence, uint32_t *part,
                        uint64_t *key)
{
    if (!pf_zone_only_samples(z))
        return false;
    if (x->stored) { /* keys are sequences */
        *key = sequence + (z->records - 1);
        *part = pf_split_part_of_key(x, sequence);
        return *part == pf_split_part_of_key(x, *key);
    }
    if (!key_of_zone(x, z, key))
        return false;
    *part = pf_split_part_of_key(x, *key);
    return *part < x->n;
}

/* pf_narrow.needs of the first pass, which needs times, or names of threads. */
static unsigned needs_first(void *user, const pf_zone *z, uint64_t sequence)
{
    const pf_split *x = user;
    (void)sequence;
    const bool by_comm = x->options.by == PERFILE_SPLIT_COMM;
    const bool known = by_comm || (x->options.by == PERFILE_SPLIT_EVERY && z->has_data_times);
    return known && pf_zone_only_samples(z) ? PF_NEED_COUNTED : PF_NEED_ALL;
}

/* The same of the pass that finds the parts. */
static unsigned needs_find(void *user, const pf_zone *z, uint64_t sequence)
{
    pf_split *x = user;
    const pf_zone_count *samples = pf_zone_only_samples(z);
    x->range_counted = false;
    if (!samples || !z->types.has_bytes || !z->has_data_times)
        return PF_NEED_ALL;
    if (x->options.by == PERFILE_SPLIT_RECORDS) {
        const uint64_t records = x->n ? pf_split_homes(x)[x->at].records : x->options.amount;
        x->range_key = sequence;
        return samples->records <= x->options.amount - records ? PF_NEED_COUNTED : PF_NEED_ALL;
    }
    return key_of_zone(x, z, &x->range_key) ? PF_NEED_COUNTED : PF_NEED_ALL;
}

/* pf_narrow.passed of both. */
static void pass(void *user, const pf_zone *z, uint64_t sequence, uint64_t records)
{
    pf_split *x = user;
    (void)sequence;
    if (!x->finds) {
        if (x->options.by == PERFILE_SPLIT_EVERY && z->data_first < x->scan->first_time)
            x->scan->first_time = z->data_first;
        return;
    }
    x->records += records;
    x->key = x->range_key;
    if (!x->range_counted && x->passed == PERFILE_OK)
        x->passed = pf_split_find_zone(x, z, x->range_key, &x->passed_error);
    x->range_counted = true;
}

void pf_split_narrow(pf_split *x, perfile_stream *s, bool finds)
{
    x->finds = finds;
    x->narrow = (pf_narrow){.needs = finds ? needs_find : needs_first, .passed = pass, .user = x};
    pf_stream_narrow(s, &x->narrow);
}

perfile_status pf_split_narrow_status(const pf_split *x, perfile_error *err)
{
    if (x->passed != PERFILE_OK && err)
        *err = x->passed_error;
    return x->passed;
}
