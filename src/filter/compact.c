/* State from before the time that is wanted, the last of each only: of equal kind and place what is
 * there when the time begins.  What a process had when another was forked off it goes on in that
 * one: of such processes everything stays. */
#include "base/cursor.h"
#include "base/error.h"
#include "filter/filter.h"

typedef struct last {
    uint64_t time, sequence;
} last;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* What a record says the state of; false: it counts in any case. */
static bool place_of(const pf_filter *x, const perfile_record *r, uint64_t *place, uint32_t *pid)
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
    *place = mix(mix(mix(x->places.seed, type), process), third);
    *pid = first;
    return !c.bad;
}

/* The time, when the record is from before; else PERFILE_NO_TIME. */
static uint64_t before(const pf_filter *x, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    time = time == PERFILE_NO_TIME ? 0 : time;
    return x->times.n && !x->invert && time < x->times.at[0].first ? time : PERFILE_NO_TIME;
}

perfile_status pf_filter_note_state(pf_filter *x, const perfile_record *r, perfile_error *err)
{
    uint64_t place, time = before(x, r);
    uint32_t pid;
    if (!x->places.seed)
        x->places.seed = pf_index_seed(&x->places);
    if (time == PERFILE_NO_TIME || !place_of(x, r, &place, &pid))
        return PERFILE_OK;
    const last mine = {time, r->sequence};
    uint32_t at = pf_index_get(&x->places, place);
    if (at == PF_INDEX_NONE) {
        at = (uint32_t)(x->lasts.len / sizeof mine);
        if (!pf_buffer_append(&x->lasts, &mine, sizeof mine) ||
            !pf_index_put(&x->places, place, at))
            return pf_fail_nomem(err, "filter");
        return PERFILE_OK;
    }
    last *known = (last *)(void *)x->lasts.ptr + at;
    if (mine.time >= known->time) /* of equal times the later one in the stream */
        *known = mine;
    return PERFILE_OK;
}

bool pf_filter_is_last(const pf_filter *x, const perfile_record *r)
{
    uint64_t place;
    uint32_t pid;
    if (before(x, r) == PERFILE_NO_TIME || !place_of(x, r, &place, &pid) ||
        pf_pids_have(&x->parents, pid))
        return true;
    uint32_t at = pf_index_get(&x->places, place);
    const last *known = (const last *)(const void *)x->lasts.ptr;
    return at == PF_INDEX_NONE || known[at].sequence == r->sequence;
}
