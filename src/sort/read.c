/* The first pass: looks at the time of every record, and keeps those that do not stay in the file.
 */
#include "base/error.h"
#include "model/index.h"
#include "stage/run.h"
#include "sort/sort.h"
#include "schema/family.h"

uint64_t pf_sort_known(const perfile_session *s)
{
    uint32_t n = perfile_session_n_events(s);
    uint64_t known = n;
    for (uint32_t i = 0; i < n; i++)
        known += perfile_session_event(s, i)->ids.n;
    return known;
}

static void begin_part(pf_sort *x, uint32_t part)
{
    const perfile_container *c = perfile_stream_container(&x->base);
    if (x->part < c->n_parts && x->total)
        x->done += c->parts[x->part].size;
    x->part = part;
    x->released = 0;
    if (x->in_order)
        return; /* the parts take turns, and are one sequence */
    x->clock = (pf_time_clock){0};
    x->split_open = false;
}

/* That of the whole, unless the piece is too small to say it. */
static uint64_t key_of_first_piece(pf_time_clock *c, const perfile_record *first)
{
    const bool swap = first->flags & PERFILE_REC_SWAPPED;
    perfile_record whole = *first;
    if (first->body.len < PF_PERF_RECORD_HEADER)
        return c->top;
    const pf_frame f = pf_frame_at(first->body.ptr, swap);
    if (f.type != PERFILE_RECORD_SAMPLE)
        return c->top;
    whole.header = first->body.ptr;
    whole.body = (perfile_bytes){first->body.ptr + PF_PERF_RECORD_HEADER,
                                 first->body.len - PF_PERF_RECORD_HEADER};
    whole.type = f.type;
    whole.misc = f.misc;
    return pf_time_key(c, &whole);
}

/* The pieces of a large sample have its time, which stands in the first unless that is tiny. */
static uint64_t key_of_piece(pf_sort *x, const perfile_record *r)
{
    if (!x->split_open) {
        x->split_key = key_of_first_piece(&x->clock, r);
        x->split_first = x->loose.n;
        x->split_spills = x->loose.spills;
    }
    x->split_open = !pf_is_last_fragment(r);
    if (!x->split_open)
        x->split_end = r->sequence;
    return x->split_key;
}

/* A payload goes to a file, unless it stays where it is. */
static perfile_status take_payload(pf_sort *x, const perfile_record *r, perfile_record *mine,
                                   perfile_error *err)
{
    perfile_bytes piece;
    perfile_status st;
    *mine = *r;
    if (r->extra.ptr)
        return r->flags & PERFILE_REC_STABLE ? PERFILE_OK
                                             : pf_sort_store_payload(&x->loose, r->extra, err);
    mine->extra.len = 0;
    while ((st = perfile_stream_extra(x->base.below, r, &piece, err)) == PERFILE_OK) {
        st = pf_sort_store_payload(&x->loose, piece, err);
        if (st != PERFILE_OK)
            return st;
        mine->extra.len += piece.len;
    }
    if (st == PERFILE_E_TRUNCATED)
        mine->flags |= PERFILE_REC_PAYLOAD_CUT; /* the stream tells the damage next */
    return st == PERFILE_END || st == PERFILE_E_TRUNCATED ? PERFILE_OK : st;
}

static perfile_status keep(pf_sort *x, uint64_t key, const perfile_record *r, perfile_error *err)
{
    perfile_record mine;
    if (r->extra.len) {
        perfile_status st = take_payload(x, r, &mine, err);
        if (st != PERFILE_OK)
            return st;
        r = &mine;
    }
    return pf_sort_store_add(&x->loose, key, r, x->blocks.full, err);
}

/* The rest is as good as left out: what it is about, or what it was made of, goes on. */
static bool goes_on(pf_sort *x, const perfile_record *r)
{
    if (r->type == PERFILE_RECORD_FINISHED_ROUND) {
        const perfile_record stays = pf_sort_as_mapped(&x->blocks, r);
        pf_sort_blocks_round(&x->blocks, &stays);
        x->result.rounds_dropped++;
        return false;
    }
    if (r->flags & PERFILE_REC_ENVELOPE && !pf_is_fragment(r)) {
        x->result.envelopes++;
        return false;
    }
    if (!(r->flags & PERFILE_REC_INNER) || r->envelope != x->split_end)
        return true;
    /* A record in pieces is put together again when they are handed out. */
    uint64_t key = pf_time_key(&x->clock, r);
    if (key != x->split_key)
        pf_sort_store_time_pieces(&x->loose, x->split_first, x->split_spills, key);
    return false;
}

/* What others want to know before they see the records. */
void pf_sort_note_samples(pf_totals *sum, uint64_t n, uint64_t first, uint64_t last)
{
    sum->timed += n;
    sum->timed_samples += n;
    sum->first_sample = first < sum->first_sample ? first : sum->first_sample;
    sum->last_sample = last > sum->last_sample ? last : sum->last_sample;
}

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
        (r->misc & PERFILE_MISC_CPUMODE_MASK) == PERFILE_CPUMODE_KERNEL &&
        perfile_mmap_decode(r, &map, sizeof map, NULL) == PERFILE_OK) {
        sum->kernel_address = map.addr;
    }
}

/* Whether the record itself is in a file of what is read: of a capture compressed ones are, of
 * stages what was in them. */
static bool is_stored(const pf_sort *x, const perfile_record *r)
{
    const bool of_stages = x->base.below->below != NULL;
    if (r->flags & PERFILE_REC_INNER)
        return of_stages && r->envelope != x->split_end;
    return !of_stages || !(r->flags & PERFILE_REC_ENVELOPE) || pf_is_fragment(r);
}

static perfile_status take(pf_sort *x, const perfile_record *r, perfile_error *err)
{
    const pf_family *family = pf_family_of(r->family);
    if (!family)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "sort.record",
                       "records of family %u cannot be sorted", r->family);
    x->rounds = family->rounds;
    if (!x->looked && r->type < PERFILE_RECORD_USER) {
        x->looked = true;
        x->known = pf_sort_known(x->base.session);
    }
    if (is_stored(x, r))
        x->totals.bytes += perfile_record_size(r) + r->extra.len;
    if (!goes_on(x, r))
        return PERFILE_OK;
    pf_time_clock before = x->clock;
    bool piece = r->flags & PERFILE_REC_ENVELOPE;
    uint64_t key = piece ? key_of_piece(x, r) : pf_time_key(&x->clock, r);
    pf_sort_note(&x->totals, r);
    if (x->in_order && key < x->previous)
        key = x->previous; /* what says no time stays where it is */
    x->result.out_of_order += key && key < x->previous;
    x->previous = key ? key : x->previous;
    x->bytes += perfile_record_size(r) + r->extra.len;
    /* What is read through a window was looked at there, and stays in the mapping. */
    const perfile_record stays = pf_sort_as_mapped(&x->blocks, r);
    /* What existed before is at the front of the file; where it comes late, it must not make all
     * that is in front of it wait. */
    bool late = key == 0 && before.top;
    if (pf_sort_walkable(&stays) && !late && !x->in_order &&
        pf_sort_blocks_add(&x->blocks, &stays, key, &before))
        return PERFILE_OK;
    return keep(x, key, &stays, err);
}

/* Whether the records lie one behind the other, each as the first. */
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

/* All of a run when it is what most are: samples that stay in the file, one behind the other, each
 * with a time.  False: nothing was done. */
static bool take_run(pf_sort *x, const pf_run *run)
{
    const perfile_record *first = run->first, *last = &first[run->n - 1];
    int slot = run->even ? run->even->sample_slot[PF_SLOT_TIME] : -1;
    const perfile_record begin = pf_sort_as_mapped(&x->blocks, first);
    if (slot < 0 || !x->looked || x->in_order || !pf_sort_walkable(&begin) || !is_contiguous(run))
        return false;
    uint64_t min = UINT64_MAX, max = 0, previous = x->previous, stepped_back = 0;
    const bool follows = pf_run_word(run, 0, (size_t)slot) >= previous;
    for (size_t i = 0; i < run->n; i++) {
        uint64_t key = pf_run_word(run, i, (size_t)slot);
        stepped_back += key < previous;
        previous = key;
        min = key < min ? key : min;
        max = key > max ? key : max;
    }
    uint64_t bytes = run->stride ? run->n * run->stride
                                 : (uint64_t)(last->body.ptr + last->body.len - first->header);
    const bool ascending = stepped_back == (follows ? 0 : 1);
    const pf_sort_piece whole = {&begin, run->n, bytes, min, max, ascending};
    if (min == 0 || max == PERFILE_NO_TIME ||
        !pf_sort_blocks_add_piece(&x->blocks, &whole, &x->clock))
        return false;
    x->clock.near = x->previous = previous;
    x->clock.top = max > x->clock.top ? max : x->clock.top;
    x->result.out_of_order += stepped_back;
    note_first(&x->totals, first);
    pf_sort_note_samples(&x->totals, run->n, min, max);
    x->bytes += bytes;
    x->totals.bytes += bytes;
    return true;
}

static void look_around(pf_sort *x, const perfile_record *r)
{
    if (r->part != x->part)
        begin_part(x, r->part);
    if (r->offset < x->released + x->step)
        return;
    uint64_t behind = pf_sort_pages(r->offset);
    if (r->flags & PERFILE_REC_STABLE && !x->stays_mapped)
        pf_stream_release(x->base.below, r->part, x->released, behind - x->released);
    x->released = behind;
    pf_sort_progress(x, x->done + r->offset);
}

/* What is taken without being made records is not handed out. */
static perfile_status next_run(pf_sort *x, const perfile_record **first, size_t *n,
                               perfile_error *err)
{
    perfile_stream *below = x->base.below;
    pf_peeked peeked;
    pf_run run;
    while (x->looked && pf_run_peek(below, &peeked, &run)) {
        look_around(x, run.first);
        if (!take_run(x, &run))
            break;
        below->ops->skip(below, peeked.n, peeked.n * peeked.size);
    }
    return perfile_stream_next_run(below, first, n, err);
}

perfile_status pf_sort_read(pf_sort *x, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    while ((st = next_run(x, &first, &n, err)) == PERFILE_OK) {
        if (first->family == PERFILE_FAMILY_DAMAGE) {
            x->base.at = first;
            x->base.end = first + n;
            return PERFILE_OK;
        }
        look_around(x, first);
        const pf_run run = pf_run_look(x->base.below, first, n);
        if (take_run(x, &run))
            continue;
        for (size_t i = 0; st == PERFILE_OK && i < n; i++)
            st = take(x, &first[i], err);
        if (st != PERFILE_OK)
            return st;
    }
    return st;
}
