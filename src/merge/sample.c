/* Fast path for samples as records: fills a run with samples of which only words at fixed offsets
 * change, without walking fields.
 *
 * write_with_new_id() handles the most frequent case (at most the id changes, one copy and one
 * store), write_sample() the others. Both refuse what they do not handle before anything is
 * counted or advanced: the record then goes through record.c, whose output would be the same. */
#include <string.h>

#include "base/copy.h"
#include "base/byte_order.h"
#include "core/layout.h"
#include "merge/heap.h"
#include "schema/family.h"

/* Bytes from which on a record is not copied if it can stay where it is. */
enum { LARGE = 1024 };

/* Gives the number of an event id in the output, through the id cache. False: the id is 0 or of no
 * event; pf_merge_new_id() decides about those. */
static inline bool find_cached_id(pf_merge_input *in, uint64_t id, uint64_t *new_id)
{
    pf_merge_cached_id *slot = &in->id_cache[id % PF_MERGE_ID_CACHE];
    if (slot->new_id && slot->id == id) {
        *new_id = slot->new_id;
        return true;
    }
    if (!id || !pf_merge_find_id(in, id, new_id))
        return false;
    *slot = (pf_merge_cached_id){id, *new_id};
    return true;
}

/* Gives the IDENTIFIER that the sample gets in the output, *id = 0 if it gets none. False:
 * record.c has to decide. */
static bool id_to_add(const pf_merge *x, pf_merge_input *in, const perfile_record *r, uint64_t *id)
{
    const perfile_layout *from = &in->plans[0].relayout.from;
    const int slot = from->sample_slot[PF_SLOT_ID];
    *id = 0;
    if (!x->adds_ids || from->sample_slot[PF_SLOT_IDENTIFIER] >= 0)
        return true;
    if (slot >= 0)
        return find_cached_id(
            in, pf_load_u64(r->body.ptr + 8 * (size_t)slot, r->flags & PERFILE_REC_SWAPPED), id);
    *id = in->events[0].first_id;
    return in->n_events == 1;
}

/* Writes the new value of the field with value `v` to `at`. False: record.c has to do it (pids,
 * unknown ids, times near the ends of the clock). */
static inline bool patch_word(pf_merge_input *in, const pf_merge_patch *p, uint64_t v, uint8_t *at,
                              bool swap)
{
    uint64_t out;
    if (p->rule == PF_MERGE_TIME) {
        /* record.c checks times that could wrap around, and names them in its error. */
        const uint64_t far = UINT64_C(1) << 62;
        out = v + in->offset;
        if (v == 0 || v >= far || out == 0 || out >= far)
            return false;
    } else if (p->rule == PF_MERGE_TASK ||
               (!find_cached_id(in, v, &out) &&
                (p->rule != PF_MERGE_STREAM || !pf_merge_find_stream(in, v, &out)))) {
        return false;
    }
    if (out != v)
        pf_store_u64(at, out, swap);
    return true;
}

/* True if the id of the sample belongs to an event of the input. Called if no sample of the input
 * changes: then the sample can be passed on without a copy. */
static bool has_known_id(const pf_merge *x, pf_merge_input *in, const perfile_record *r)
{
    uint64_t id;
    int slot = pf_layout_sample_id(&in->plans[0].relayout.from);
    return slot < 0 ? !x->adds_ids
                    : find_cached_id(in,
                                     pf_load_u64(r->body.ptr + 8 * (size_t)slot,
                                                 r->flags & PERFILE_REC_SWAPPED),
                                     &id);
}

/* Writes `r` to `to` in the layout of the output. Returns its size, 0: record.c has to do it.
 * Adding an IDENTIFIER in front of the body, the usual change of layout, is done here. */
static inline size_t write_in_new_layout(const pf_relayout *plan, const perfile_record *r,
                                         uint64_t id, uint8_t *to)
{
    size_t n = PF_PERF_RECORD_HEADER + r->body.len;
    if (plan->front.same) {
        pf_copy_small(to, r->header, n);
        return n;
    }
    if (plan->front.adds_first && plan->same_rest && n + sizeof id <= UINT16_MAX) {
        const bool swap = r->flags & PERFILE_REC_SWAPPED;
        memcpy(to, r->header, PF_PERF_RECORD_HEADER);
        pf_store_u16(to + PF_PERF_SIZE_AT, (uint16_t)(n + sizeof id), swap);
        pf_store_u64(to + PF_PERF_RECORD_HEADER, id, swap);
        pf_copy_small(to + PF_PERF_RECORD_HEADER + sizeof id, r->body.ptr, r->body.len);
        return n + sizeof id;
    }
    return pf_relayout_record(plan, r, id, to, &n, NULL) == PERFILE_OK ? n : 0;
}

/* Writes `r` to `to`, or borrows its bytes if they are large and do not change. False: record.c
 * has to do it. Not inlined, so that the loop keeps its variables in registers. */
static __attribute__((noinline)) bool write_sample(pf_merge *x, pf_merge_input *in,
                                                   const perfile_record *r, uint8_t *to,
                                                   perfile_record *out)
{
    const pf_merge_plan *p = in->plans;
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    if (!in->fixed_fields_only || !pf_merge_is_plain_sample(r) ||
        r->body.len < 8 * (size_t)p->relayout.front.old)
        return false;
    out->misc = r->misc;
    out->flags = r->flags;
    out->offset = r->offset;
    out->part = in->at;
    uint64_t id;
    size_t n = PF_PERF_RECORD_HEADER + r->body.len;
    if (in->plain) {
        if (!has_known_id(x, in, r))
            return false;
        if (n >= LARGE) {
            out->header = r->header;
            out->body = r->body;
            return true;
        }
        /* A copy: the writer is faster with one long run of bytes than with many short ones. */
        pf_copy_small(to, r->header, n);
    } else if (!id_to_add(x, in, r, &id) ||
               (n = write_in_new_layout(&p->relayout, r, id, to)) == 0) {
        return false;
    }
    /* Read values from the input if offsets are equal: a load right after the copy would wait for
     * its stores. */
    const bool adds = !p->relayout.front.same;
    const unsigned n_patches = in->plain ? 0 : p->n_sample;
    const uint8_t *words = (adds ? to : r->header) + PF_PERF_RECORD_HEADER;
    for (unsigned i = adds; i < n_patches; i++) {
        const size_t at = 8 * (size_t)p->sample[i].slot;
        if (!patch_word(in, &p->sample[i], pf_load_u64(words + at, swap),
                        to + PF_PERF_RECORD_HEADER + at, swap))
            return false;
    }
    out->header = to;
    out->body = (perfile_bytes){to + PF_PERF_RECORD_HEADER, n - PF_PERF_RECORD_HEADER};
    out->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    return true;
}

/* write_sample() for inputs in which at most the id of a sample changes. */
static inline bool write_with_new_id(pf_merge_input *in, const perfile_record *r, uint8_t *to,
                                     perfile_record *out)
{
    const size_t at = 8 * (size_t)in->id_slot, len = r->body.len;
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    uint64_t new_id;
    if (in->id_slot < 0 || !pf_merge_is_plain_sample(r) || len < in->min_body ||
        len >= LARGE - PF_PERF_RECORD_HEADER)
        return false;
    const uint64_t id = pf_load_u64(r->body.ptr + at, swap);
    if (!find_cached_id(in, id, &new_id))
        return false;
    pf_copy_small(to, r->header, PF_PERF_RECORD_HEADER + len);
    if (new_id != id)
        pf_store_u64(to + PF_PERF_RECORD_HEADER + at, new_id, swap);
    out->header = to;
    out->body = (perfile_bytes){to + PF_PERF_RECORD_HEADER, len};
    out->misc = r->misc;
    out->flags = r->flags & (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    out->offset = r->offset;
    out->part = in->at;
    return true;
}

/* Returns slot `i` with the members set that are equal in all plain samples; x->ready_slots
 * remembers for which slots that was done. */
static inline perfile_record *sample_slot_at(pf_merge *x, uint32_t i)
{
    perfile_record *slot = &x->base.run[i];
    if (!(x->ready_slots >> i & 1)) {
        *slot = (perfile_record){.type = PERFILE_RECORD_SAMPLE,
                                 .envelope = PERFILE_NO_SEQUENCE,
                                 .session = x->base.session};
        x->ready_slots |= UINT64_C(1) << i;
    }
    return slot;
}

/* Counters are kept in locals and stored at the end; base.framed gets what is known of the whole
 * run if nothing was in it before. */
void pf_merge_fill_fast(pf_merge *x)
{
    const uint32_t begun = x->base.n_run;
    const uint8_t *const limit = x->bytes.ptr + x->bytes.cap;
    uint8_t *to = x->bytes.ptr + x->bytes.len;
    const uint8_t *end = to;
    uint32_t n = begun;
    uint64_t bytes = 0, keys = 0, sequence = x->sequence;
    size_t shortest = UINT16_MAX, longest = 0;
    bool adjacent = true;
    while (!x->exhausted && x->n_heap && n < PERFILE_RUN_RECORDS &&
           !pf_merge_round_is_due(x, bytes, keys != 0)) {
        pf_merge_input *in = &x->inputs[x->heap[0].input];
        perfile_record *out = sample_slot_at(x, n);
        /* The buffer is full; it must not move while records of the run point into it. */
        if ((size_t)(limit - to) < perfile_record_size(in->next) + PF_RELAYOUT_MAX_GROWTH)
            break;
        if (!write_with_new_id(in, in->next, to, out) && !write_sample(x, in, in->next, to, out))
            break;
        const size_t size = perfile_record_size(out);
        to += out->header == to ? size : 0;
        out->sequence = sequence++;
        bytes += size;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
        /* The writer can write the run with one call if the records lie one after the other. */
        adjacent &= out->header == end;
        end = out->header + size;
        keys |= in->key;
        in->result.records++;
        in->result.samples++;
        n++;
        pf_merge_advance(x, in);
    }
    x->bytes.len = (size_t)(to - x->bytes.ptr);
    x->sequence = sequence;
    x->base.n_run = n;
    x->result.records += n - begun;
    x->result.samples += n - begun;
    x->since_round += bytes;
    x->timed_since_round |= keys != 0;
    if (!begun)
        x->base.framed = (pf_framed){n, 0, (uint16_t)shortest, (uint16_t)longest, adjacent};
}
