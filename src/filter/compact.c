/* PERFILE_FILTER_COMPACT_SIDEBAND: of side-band from before the wanted time range, keeps only the
 * last record of each kind and key.
 *
 * What matters is the state when the range begins: the last name of a thread, the last mapping of
 * an address range. A key is built from type, process and thread or addresses. Processes that
 * forked others keep everything, because a child inherits what its parent had at the time of the
 * fork. */
#include "base/cursor.h"
#include "base/error.h"
#include "filter/filter.h"

/* The last record of a key. */
typedef struct last_record {
    uint64_t time, sequence;
} last_record;

/* Mixes two hashes. Keys are hashes: two keys that collide would drop a record, hence the random
 * seed. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* Computes the key of a record, and its process. False: records of its type do not replace each
 * other. MMAP and MMAP2 have common keys. */
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
    *key = mix(mix(mix(x->last_of_key.seed, type), process), third);
    *pid = first;
    return !c.bad;
}

/* Returns the time of a record from before the first time range (0: it has no time), else
 * PERFILE_NO_TIME. */
static uint64_t time_before_range(const pf_filter *x, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    time = time == PERFILE_NO_TIME ? 0 : time;
    return x->times.n && !x->invert && time < x->times.at[0].first ? time : PERFILE_NO_TIME;
}

/* Remembers a record if it is from before the range and the latest of its key so far. */
perfile_status pf_filter_note_state(pf_filter *x, const perfile_record *r, perfile_error *err)
{
    uint64_t key, time = time_before_range(x, r);
    uint32_t pid;
    if (!x->last_of_key.seed)
        x->last_of_key.seed = pf_index_seed(&x->last_of_key);
    if (time == PERFILE_NO_TIME || !key_of(x, r, &key, &pid))
        return PERFILE_OK;
    const last_record mine = {time, r->sequence};
    uint32_t at = pf_index_get(&x->last_of_key, key);
    if (at == PF_INDEX_NONE) {
        at = (uint32_t)(x->last_records.len / sizeof mine);
        if (!pf_buffer_append(&x->last_records, &mine, sizeof mine) ||
            !pf_index_put(&x->last_of_key, key, at))
            return pf_fail_nomem(err, "filter");
        return PERFILE_OK;
    }
    last_record *known = (last_record *)(void *)x->last_records.ptr + at;
    if (mine.time >= known->time) /* equal times: the later record of the stream counts */
        *known = mine;
    return PERFILE_OK;
}

/* True also for all that compacting does not concern. */
bool pf_filter_is_last(const pf_filter *x, const perfile_record *r)
{
    uint64_t key;
    uint32_t pid;
    if (time_before_range(x, r) == PERFILE_NO_TIME || !key_of(x, r, &key, &pid) ||
        pf_pids_have(&x->forked_parents, pid))
        return true;
    uint32_t at = pf_index_get(&x->last_of_key, key);
    const last_record *known = (const last_record *)(const void *)x->last_records.ptr;
    return at == PF_INDEX_NONE || known[at].sequence == r->sequence;
}
