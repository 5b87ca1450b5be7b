/* The first pass: reads the stream below to its end and computes the key of every record.
 *
 * Records that stay in the mapped file are added to ranges: a whole run at once if it consists of
 * contiguous samples (take_run()), otherwise one by one.  All other records are copied to the store
 * `loose`.  FINISHED_ROUNDs and envelopes are left out.  Fragments of a large simpleperf record
 * share one key, so that they stay together.  The pass also computes the totals that the stage
 * reports (pf_totals), because merge needs them before the first record. */
#include "base/error.h"
#include "model/index.h"
#include "stage/run.h"
#include "sort/sort.h"
#include "schema/rows.h"
#include "core/command.h"

uint64_t pf_sort_count_events_and_ids(const perfile_session *s)
{
    uint32_t n = pf_session_n_events(s);
    uint64_t known = n;
    for (uint32_t i = 0; i < n; i++)
        known += perfile_session_event(s, i)->ids.n;
    return known;
}

/* Begins another part with the next record: its times are independent of those of the part before.
 */
static void begin_part(pf_sort *x, uint32_t part)
{
    const perfile_container *c = perfile_stream_container(&x->base);
    if (x->part < c->n_parts && x->total)
        x->done += c->parts[x->part].size;
    x->part = part;
    x->released = 0;
    if (x->in_order)
        return; /* parts alternate in a sorted stream: they are one sequence */
    x->clock = (pf_time_clock){0};
    x->fragments_open = false;
}

/* Returns the key of a record that is stored in fragments; `first` is its first fragment.  If the
 * record is a sample, its key is the time in that fragment.  Otherwise, or if the fragment is too
 * short to tell, it is the greatest time so far. */
static uint64_t key_of_first_fragment(pf_time_clock *c, const perfile_record *first)
{
    const bool swap = first->flags & PERFILE_REC_SWAPPED;
    perfile_record joined = *first;
    if (first->body.len < PF_PERF_RECORD_HEADER)
        return c->max_time;
    const pf_frame f = pf_frame_at(first->body.ptr, swap);
    if (f.type != PERFILE_RECORD_SAMPLE)
        return c->max_time;
    joined.header = first->body.ptr;
    joined.body = (perfile_bytes){first->body.ptr + PF_PERF_RECORD_HEADER,
                                  first->body.len - PF_PERF_RECORD_HEADER};
    joined.type = f.type;
    joined.misc = f.misc;
    return pf_time_key(c, &joined);
}

/* Returns the key of fragment `r`: the key of its whole record, computed from the first fragment.
 * Notes where the store has the first fragment, in case the joined record shows another time. */
static uint64_t key_of_fragment(pf_sort *x, const perfile_record *r)
{
    if (!x->fragments_open) {
        x->fragments_key = key_of_first_fragment(&x->clock, r);
        x->fragments_first = x->loose.n;
        x->fragments_spills = x->loose.spills;
    }
    x->fragments_open = !pf_is_last_fragment(r);
    if (!x->fragments_open)
        x->fragments_end = r->sequence;
    return x->fragments_key;
}

/* Reading a payload invalidates its record.  If the record is not persistent, *r gets a copy. */
static perfile_status keep_record(pf_sort *x, perfile_record *r, perfile_error *err)
{
    if (r->flags & PERFILE_REC_STABLE)
        return PERFILE_OK;
    const size_t header = perfile_record_size(r) - r->body.len;
    pf_buffer_clear(&x->record);
    if (!pf_buffer_append(&x->record, r->header, header) ||
        !pf_buffer_append(&x->record, r->body.ptr, r->body.len))
        return pf_fail_nomem(err, "sort");
    r->header = x->record.ptr;
    r->body.ptr = x->record.ptr + header;
    return PERFILE_OK;
}

/* Appends the payload of `r`, the current record of the stream, to the payload file, unless it is
 * persistent in memory.  *copy is a copy of `r`; copy->extra.len is set to the bytes of payload
 * that were found. */
static perfile_status save_payload(pf_sort *x, const perfile_record *r, perfile_record *copy,
                                   perfile_error *err)
{
    perfile_bytes payload;
    if (r->extra.ptr)
        return r->flags & PERFILE_REC_STABLE ? PERFILE_OK
                                             : pf_sort_store_payload(&x->loose, r->extra, err);
    perfile_status st = keep_record(x, copy, err);
    if (st != PERFILE_OK)
        return st;
    copy->extra.len = 0;
    while ((st = perfile_stream_extra(x->base.below, r, &payload, err)) == PERFILE_OK) {
        st = pf_sort_store_payload(&x->loose, payload, err);
        if (st != PERFILE_OK)
            return st;
        copy->extra.len += payload.len;
    }
    /* A payload that ends early is stored as far as it goes. */
    if (st == PERFILE_E_TRUNCATED)
        copy->flags |= PERFILE_REC_PAYLOAD_CUT; /* the stream reports the damage next */
    return st == PERFILE_END || st == PERFILE_E_TRUNCATED ? PERFILE_OK : st;
}

/* Adds a record to the store.  When there are too many ranges, even persistent bytes are copied, so
 * that the second pass does not fetch single records from all over the file. */
static perfile_status store_record(pf_sort *x, uint64_t key, const perfile_record *r,
                                   perfile_error *err)
{
    perfile_record copy = *r;
    perfile_status st = r->extra.len ? save_payload(x, r, &copy, err) : PERFILE_OK;
    return st == PERFILE_OK ? pf_sort_store_add(&x->loose, key, &copy, x->ranges.full, err) : st;
}

/* Returns true if `r` goes into the output.  FINISHED_ROUNDs do not (new ones are made), nor do
 * envelopes (their content is sorted), nor joined records (yield.c joins the fragments again).  The
 * time of a joined record becomes the key of its fragments. */
static bool goes_into_output(pf_sort *x, const perfile_record *r)
{
    if (r->type == PERFILE_RECORD_FINISHED_ROUND) {
        pf_sort_ranges_add_round(&x->ranges, r);
        x->result.rounds_dropped++;
        return false;
    }
    if (r->flags & PERFILE_REC_ENVELOPE && !pf_is_fragment(r)) {
        x->result.envelopes++;
        return false;
    }
    if (!(r->flags & PERFILE_REC_INNER) || r->envelope != x->fragments_end)
        return true;
    uint64_t key = pf_time_key(&x->clock, r);
    if (key != x->fragments_key)
        pf_sort_store_set_fragment_keys(&x->loose, x->fragments_first, x->fragments_spills, key);
    return false;
}

void pf_sort_note_samples(pf_totals *sum, uint64_t n, uint64_t first, uint64_t last)
{
    sum->timed += n;
    sum->timed_samples += n;
    sum->first_sample = first < sum->first_sample ? first : sum->first_sample;
    sum->last_sample = last > sum->last_sample ? last : sum->last_sample;
}

/* Notes a hash of the first data record, by which merge recognizes copies of a capture. */
static void note_first(pf_totals *sum, const perfile_record *r)
{
    if (sum->first_bytes == 0)
        sum->first_bytes = pf_index_hash(1, r->header, perfile_record_size(r));
}

void pf_sort_note(pf_totals *sum, const perfile_record *r)
{
    perfile_mmap map;
    uint64_t time = perfile_record_time(r);
    bool timed = time != 0 && time != PERFILE_NO_TIME;
    if (sum->first_bytes == 0 && pf_role_of(r) == PF_ROLE_DATA)
        note_first(sum, r);
    const bool other = r->family != PERFILE_FAMILY_PERF && pf_role_of(r) == PF_ROLE_DATA;
    if ((r->type == PERFILE_RECORD_SAMPLE || other) && timed) {
        pf_sort_note_samples(sum, 1, time, time);
        return;
    }
    sum->timed += timed;
    if (r->type == PERFILE_RECORD_MMAP && !sum->kernel_address &&
        (r->misc & PERFILE_MISC_CPUMODE_MASK) == PERFILE_MISC_CPUMODE_KERNEL &&
        perfile_mmap_decode(r, &map, sizeof map, NULL) == PERFILE_OK) {
        sum->kernel_address = map.addr;
    }
}

/* Returns true if the record would be stored in a file made of this stream, so that its bytes
 * count.  A capture stores envelopes instead of their content; a stage passes on the content
 * instead. */
static bool is_stored(const pf_sort *x, const perfile_record *r)
{
    const bool of_stages = x->base.below->below != NULL;
    if (r->flags & PERFILE_REC_INNER)
        return of_stages && r->envelope != x->fragments_end;
    return !of_stages || !(r->flags & PERFILE_REC_ENVELOPE) || pf_is_fragment(r);
}

/* Reads one record: adds it to a range or the store, or leaves it out. */
static perfile_status read_record(pf_sort *x, const perfile_record *r, perfile_error *err)
{
    const pf_family *family = pf_family_of(r->family);
    if (!family)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "sort.record",
                       "records of family %u cannot be sorted", r->family);
    x->rounds = family->rounds;
    /* Keys depend on the events from here on. begin_writing() checks whether their number has
     * changed by the end. */
    if (!x->key_seen && r->type < PERFILE_RECORD_USER) {
        x->key_seen = true;
        x->known_events = pf_sort_count_events_and_ids(x->base.session);
    }
    if (is_stored(x, r))
        x->totals.bytes += perfile_record_size(r) + r->extra.len;
    if (!goes_into_output(x, r))
        return PERFILE_OK;
    pf_time_clock before = x->clock;
    bool is_fragment = r->flags & PERFILE_REC_ENVELOPE;
    uint64_t key = is_fragment ? key_of_fragment(x, r) : pf_time_key(&x->clock, r);
    pf_sort_note(&x->totals, r);
    if (x->in_order && key < x->previous)
        key = x->previous; /* a record without a time keeps its position */
    x->result.out_of_order += key && key < x->previous;
    x->previous = key ? key : x->previous;
    x->bytes += perfile_record_size(r) + r->extra.len;
    if (pf_sort_walkable(r) && !x->in_order &&
        pf_sort_ranges_add(&x->ranges, r, perfile_record_size(r), key, key, &before))
        return PERFILE_OK;
    return store_record(x, key, r, err);
}

/* Returns true if the records of the run are contiguous, have equal flags and no payload. */
static bool is_contiguous(const pf_run *run)
{
    const perfile_record *first = run->first;
    const uint8_t *end = first->header;
    uint64_t odd = 0;
    for (size_t i = 0; i < run->n && !run->stride; i++) {
        const perfile_record *r = &first[i];
        odd |= (uintptr_t)r->header ^ (uintptr_t)end;
        odd |= (unsigned)(r->flags ^ first->flags) | r->extra.len;
        end = r->body.ptr + r->body.len;
    }
    return !odd;
}

/* Fast path: adds a whole run to a range if it consists of contiguous samples of one layout that
 * stay in the file, in order and each with a time.  Returns false and changes nothing if the
 * records must be read one by one. */
static bool take_run(pf_sort *x, const pf_run *run)
{
    const perfile_record *first = run->first, *last = &first[run->n - 1];
    int slot = run->even ? run->even->sample_slot[PF_SLOT_TIME] : -1;
    if (slot < 0 || !x->key_seen || x->in_order || !pf_sort_walkable(first) || !is_contiguous(run))
        return false;
    const uint64_t min = pf_run_word(run, 0, (size_t)slot);
    uint64_t max = min;
    bool ascending = true;
    for (size_t i = 1; i < run->n; i++) {
        uint64_t key = pf_run_word(run, i, (size_t)slot);
        ascending &= key >= max;
        max = key;
    }
    uint64_t bytes = run->stride ? run->n * run->stride
                                 : (uint64_t)(last->body.ptr + last->body.len - first->header);
    if (!ascending || min == 0 || max == PERFILE_NO_TIME ||
        !pf_sort_ranges_add(&x->ranges, first, bytes, min, max, &x->clock))
        return false;
    x->result.out_of_order += min < x->previous;
    x->clock.last_time = x->previous = max;
    x->clock.max_time = max > x->clock.max_time ? max : x->clock.max_time;
    note_first(&x->totals, first);
    pf_sort_note_samples(&x->totals, run->n, min, max);
    x->bytes += bytes;
    x->totals.bytes += bytes;
    return true;
}

/* Called before the run at `r` is read: begins a part if needed.  Every x->step bytes, releases the
 * pages that were read and reports progress. */
static void release_and_report(pf_sort *x, const perfile_record *r)
{
    if (r->part != x->part)
        begin_part(x, r->part);
    if (r->offset < x->released + x->step)
        return;
    uint64_t behind = pf_sort_round_to_pages(r->offset);
    if (r->flags & PERFILE_REC_STABLE && !x->stays_mapped)
        pf_stream_release(x->base.below, r->part, x->released, behind - x->released);
    x->released = behind;
    pf_sort_progress(x, x->done + r->offset);
}

perfile_status pf_sort_read(pf_sort *x, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    while ((st = perfile_stream_next_run(x->base.below, &first, &n, err)) == PERFILE_OK) {
        if (first->family == PERFILE_FAMILY_DAMAGE) {
            x->base.at = first;
            x->base.end = first + n;
            return PERFILE_OK;
        }
        release_and_report(x, first);
        const pf_run run = pf_run_examine(x->base.below, first, n);
        if (take_run(x, &run))
            continue;
        for (size_t i = 0; st == PERFILE_OK && i < n; i++)
            st = read_record(x, &first[i], err);
        if (st != PERFILE_OK)
            return st;
    }
    return st;
}
