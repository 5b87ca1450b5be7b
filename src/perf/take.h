/* The hot loop: records of one contiguous run of bytes into the slots of the stream. */
#ifndef PF_PERF_TAKE_H
#define PF_PERF_TAKE_H

#include "schema/frame.h"
#include "perf/stream.h"
#include "schema/family.h"

enum {
    PF_AHEAD = 6144,        /* lines that far ahead are fetched: half the time on call chains */
    PF_LONG = PF_AHEAD / 2, /* records from here on are long: see pf_perf_ahead() */
    PF_LONG_AHEAD = 4       /* so many of them ahead */
};

/* Makes every slot ready for records that differ only in what pf_perf_take() writes. */
static inline void pf_perf_prepare(pf_perf_stream *p, bool inner, uint32_t n)
{
    uint8_t flags = p->swap ? PERFILE_REC_SWAPPED : 0;
    if (inner)
        flags |= PERFILE_REC_INNER;
    else if (p->file->source->stable)
        flags |= PERFILE_REC_STABLE;
    for (uint32_t i = 0; i < n; i++)
        p->base.run[i] = (perfile_record){.flags = flags,
                                          .envelope = PERFILE_NO_SEQUENCE,
                                          .part = p->part,
                                          .session = p->base.session};
    p->slots_inner = inner;
    p->slot_dirty = false;
}

/* The slots for records of the file, made ready again where something else was in them. */
static inline void pf_perf_slots(pf_perf_stream *p)
{
    if (p->slots_inner || p->slot_dirty)
        pf_perf_prepare(p, false, p->slots_inner ? PERFILE_RUN_RECORDS : 1);
}

/* Lets the session take what the record says of it, so that it holds from this record on. */
static inline perfile_status pf_perf_learn(pf_perf_stream *p, const perfile_record *r,
                                           perfile_error *err)
{
    if (!pf_session_wants(r->type))
        return PERFILE_OK;
    if (r->type == PERFILE_RECORD_HEADER_ATTR && p->assume.n_events)
        return PERFILE_OK; /* other events are given */
    uint64_t before = perfile_session_generation(p->base.session);
    perfile_status st = pf_session_learn(p->base.session, r, err);
    if (st == PERFILE_OK && perfile_session_generation(p->base.session) != before)
        st = pf_session_settle(p->base.session, err);
    return st;
}

static inline bool pf_perf_kernel(uint32_t type)
{
    return type - 1 < PF_PERF_LAST_KERNEL_TYPE;
}

/* Kernel records that are known, and FINISHED_ROUND: nothing but their header needs a look. */
static inline bool pf_perf_plain(uint32_t type)
{
    return pf_perf_kernel(type) || type == PERFILE_RECORD_FINISHED_ROUND;
}

/* A hint only: nothing is read, so that it may point behind the run. */
static inline void pf_perf_fetch_ahead(const uint8_t *at, uint32_t ahead)
{
    uintptr_t there = (uintptr_t)at + ahead;
    __builtin_prefetch((const void *)there);
    __builtin_prefetch((const void *)(there + 64));
}

/* How far ahead of the records that follow these.  Of long records only the header is looked at,
 * and the next ones are mostly as long (copies of the stack are of one size). */
static inline uint32_t pf_perf_ahead(size_t bytes, uint32_t n)
{
    if (bytes < (size_t)n * PF_LONG || n == 0)
        return PF_AHEAD;
    return (uint32_t)(bytes / n) * PF_LONG_AHEAD;
}

/* Fills `*r` with the record at `at`, whose place in the file or in the decompressed stream is
 * `place`. */
static inline __attribute__((always_inline)) void
pf_perf_put(const pf_perf_stream *p, perfile_record *r, const uint8_t *at, uint32_t type,
            uint16_t size, uint64_t place, uint64_t sequence, bool inner, bool swap)
{
    r->header = at;
    r->body.ptr = at + PF_PERF_RECORD_HEADER;
    r->body.len = (size_t)size - PF_PERF_RECORD_HEADER;
    r->type = type;
    r->misc = pf_load_u16(at + 4, swap);
    r->sequence = sequence;
    if (inner) {
        r->offset = p->envelope_offset;
        r->stream_offset = place;
        r->envelope = p->envelope;
    } else {
        r->offset = place;
    }
}

/* pf_perf_take() with what is the same for all records of a run as constants.  While any record
 * would be whole there is one bound to look at, and of the types just the kernel's. */
static inline __attribute__((always_inline)) size_t
pf_perf_take_as(pf_perf_stream *p, perfile_bytes run, uint64_t pos, bool inner, bool swap)
{
    const uint8_t *at = run.ptr;
    const uint8_t *end = run.ptr + run.len;
    perfile_record *r = p->base.run;
    perfile_record *full = r + PERFILE_RUN_RECORDS;
    uint64_t sequence = p->sequence;
    uint64_t shift = pos - (uintptr_t)run.ptr;
    uint32_t other = 0, shortest = UINT16_MAX, longest = 0;
    const uint8_t *any = run.len > UINT16_MAX ? end - UINT16_MAX : at;
    const uint32_t ahead = p->ahead;
    while (r < full && at < any) {
        pf_perf_fetch_ahead(at, ahead);
        uint32_t type = pf_load_u32(at, swap);
        uint16_t size = pf_load_u16(at + 6, swap);
        if (!pf_perf_kernel(type) || size < PF_PERF_RECORD_HEADER)
            break;
        pf_perf_put(p, r++, at, type, size, (uintptr_t)at + shift, sequence++, inner, swap);
        at += size;
        other |= type ^ PERFILE_RECORD_SAMPLE;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
    }
    while (r < full && (size_t)(end - at) >= PF_PERF_RECORD_HEADER) {
        uint32_t type = pf_load_u32(at, swap);
        uint16_t size = pf_load_u16(at + 6, swap);
        if (!pf_perf_plain(type) || size < PF_PERF_RECORD_HEADER || size > (size_t)(end - at))
            break;
        pf_perf_put(p, r++, at, type, size, (uintptr_t)at + shift, sequence++, inner, swap);
        at += size;
        other |= type ^ PERFILE_RECORD_SAMPLE;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
    }
    p->sequence = sequence;
    p->base.n_run = (uint32_t)(r - p->base.run);
    p->ahead = pf_perf_ahead((size_t)(at - run.ptr), p->base.n_run);
    p->base.summary.records += p->base.n_run;
    p->base.framed = (pf_framed){p->base.n_run, other, (uint16_t)shortest, (uint16_t)longest, true};
    return (size_t)(at - run.ptr);
}

/* Takes whole plain records off the front of `run`, which begins at `pos` of the file (inner: of
 * the decompressed stream), up to the first that is not plain or not whole.  Returns the bytes
 * taken; base.n_run counts the records. */
static inline size_t pf_perf_take(pf_perf_stream *p, perfile_bytes run, uint64_t pos, bool inner)
{
    return p->swap ? pf_perf_take_as(p, run, pos, inner, true)
                   : pf_perf_take_as(p, run, pos, inner, false);
}

#endif
