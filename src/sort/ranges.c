/* Ranges of the mapped file: the first pass finds them, the second reads them in place.
 *
 * Another program may write to the file at any time, so the mapped bytes may change.  Sizes and
 * times are checked whenever they are read: nothing is read beyond the range, and a time that steps
 * back within the range sets `changed`.  Then yield.c ends the sort with an error. */
#include "base/alloc.h"
#include "base/error.h"
#include "sort/sort.h"
#include "core/command.h"

perfile_status pf_sort_ranges_open(pf_sort_ranges *b, uint32_t most, const perfile_session *session,
                                   perfile_error *err)
{
    *b = (pf_sort_ranges){.list = pf_alloc(most, sizeof *b->list),
                          .most = most,
                          .swap = pf_session_swapped(session),
                          .session = session};
    return b->list ? PERFILE_OK : pf_fail_nomem(err, "sort");
}

void pf_sort_ranges_close(pf_sort_ranges *b)
{
    pf_free(b->list);
}

/* Returns the last range if `r` directly follows it, else NULL. */
static pf_sort_range *range_before(const pf_sort_ranges *b, const perfile_record *r)
{
    pf_sort_range *last = b->n ? &b->list[b->n - 1] : NULL;
    return last && last->part == r->part && last->start + last->bytes == r->header ? last : NULL;
}

bool pf_sort_ranges_add(pf_sort_ranges *b, const perfile_record *r, uint64_t bytes, uint64_t first,
                        uint64_t last, const pf_time_clock *before)
{
    pf_sort_range *one = range_before(b, r);
    if (b->full)
        return false;
    if (!one || first < one->key) {
        b->full = b->n == b->most;
        if (b->full)
            return false;
        one = &b->list[b->n++];
        *one = (pf_sort_range){
            .start = r->header, .offset = r->offset, .clock = *before, .part = r->part};
    }
    one->bytes += bytes;
    one->key = last;
    return true;
}

void pf_sort_ranges_add_round(pf_sort_ranges *b, const perfile_record *r)
{
    pf_sort_range *last = range_before(b, r);
    if (last && pf_sort_walkable(r))
        last->bytes += perfile_record_size(r);
}

perfile_status pf_sort_fail_changed(const pf_sort_range *range, perfile_error *err)
{
    perfile_status st =
        pf_fail(err, PERFILE_E_IO, "sort", "the file was changed while it was sorted: try again");
    pf_error_at(err, range->offset);
    return st;
}

void pf_sort_range_record(const pf_sort_ranges *b, const pf_sort_range *one, perfile_record *r)
{
    *r = (perfile_record){.flags =
                              (uint8_t)(PERFILE_REC_STABLE | (b->swap ? PERFILE_REC_SWAPPED : 0)),
                          .offset = one->offset + (uint64_t)(one->at - one->start),
                          .part = one->part,
                          .envelope = PERFILE_NO_SEQUENCE,
                          .session = b->session};
    pf_sort_frame(r, one->at, b->swap);
}

/* Returns the key of the next record if it is not a sample with a usable time; advances the clock.
 */
static uint64_t other_key(const pf_sort_ranges *b, pf_sort_range *one)
{
    perfile_record r;
    pf_sort_range_record(b, one, &r);
    return pf_time_key(&one->clock, &r);
}

/* Reads the record at one->at, skipping FINISHED_ROUNDs: sets key and clock of the range, and
 * *head.  If the range was changed, the key is 0, which brings it to the top of the heap, where the
 * error is reported.  Returns false at the end of the range. */
static inline bool read_head(const pf_sort_ranges *b, pf_sort_range *one, pf_head *head)
{
    const uint8_t *const end = one->start + one->bytes;
    pf_frame f;
    do {
        const size_t left = (size_t)(end - one->at);
        if (left == 0)
            return false;
        f = left < PF_PERF_RECORD_HEADER ? (pf_frame){0} : pf_frame_at(one->at, b->swap);
        one->changed = f.size < PF_PERF_RECORD_HEADER || f.size > left;
        if (one->changed) {
            head->key = 0;
            return true;
        }
        if (f.type != PERFILE_RECORD_FINISHED_ROUND)
            break;
        one->at += f.size;
    } while (true);
    uint64_t time = 0;
    if (f.type == PERFILE_RECORD_SAMPLE && f.size - PF_PERF_RECORD_HEADER >= b->place.need)
        time = pf_load_u64(one->at + PF_PERF_RECORD_HEADER + b->place.at, b->swap);
    if (time != 0 && time != PERFILE_NO_TIME) {
        one->clock.last_time = time;
        one->clock.max_time = time > one->clock.max_time ? time : one->clock.max_time;
    } else {
        time = other_key(b, one);
    }
    one->changed = time < one->key;
    one->key = time;
    head->key = one->changed ? 0 : time;
    head->offset = one->offset + (uint64_t)(one->at - one->start);
    return true;
}

bool pf_sort_range_begin(pf_sort_ranges *b, uint32_t i, pf_head *head)
{
    pf_sort_range *one = &b->list[i];
    one->at = one->start;
    one->key = 0;
    *head = (pf_head){0, one->offset, one->part, i};
    return read_head(b, one, head);
}

bool pf_sort_range_advance(pf_sort_ranges *b, const uint8_t *at, pf_head *head)
{
    pf_sort_range *one = &b->list[head->source];
    one->at = at;
    return read_head(b, one, head);
}
