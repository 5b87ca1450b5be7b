/* The framing loop, the hottest code of the library: turns contiguous bytes into the records of a
 * batch (base.run), up to PERFILE_RUN_RECORDS at a time.
 *
 * The loop reads only the 8-byte header of each record.  All members of a slot that are the same
 * for every record of a part (flags, session, part number) are written once by
 * pf_perf_prepare_slots(), so the loop writes six members per record.  It is compiled twice, once
 * for each byte order.  Records that need more than framing stop the loop and are handled in
 * walk.c. */
#ifndef PF_PERF_TAKE_H
#define PF_PERF_TAKE_H

#include "schema/rows.h"
#include "perf/stream.h"
#include "core/command.h"

enum {
    /* Prefetch distance for short records.  Measured: without prefetching, samples with call chains
     * take twice the time, because their headers are too far apart for the hardware prefetcher.
     * With 4096 bytes or more, a filter over short records, which reads the records of a batch a
     * second time, takes 5 to 20 % longer than with 512 to 2048. */
    PF_PREFETCH_BYTES = 1024,
    PF_MEDIUM_RECORD = 128, /* average size from which records are of medium length */
    /* Prefetch distance for records of medium length: a walk of call chains is 5 to 10 % faster,
     * and code that reads the records a second time loses nothing. */
    PF_PREFETCH_MEDIUM_BYTES = 4096,
    /* Maximum number of records of medium length in a batch, if they come from memory and not from
     * a buffer that was just filled.  Nothing is prefetched while the records of a batch are
     * decoded.  If the batch is shorter than the prefetch distance, the records of the next batch
     * arrive meanwhile: decoding takes 3/4 of the time. */
    PF_MEDIUM_RUN = 24,
    PF_LONG_RECORD = 3072,       /* average size from which records are long … */
    PF_PREFETCH_LONG_RECORDS = 4 /* … and the prefetch distance in records */
};

/* Writes into the first `n` slots everything that all records of this part have in common.  `inner`
 * means records inside an envelope. pf_perf_fill_slot() writes the remaining members. */
static inline void pf_perf_prepare_slots(pf_perf_stream *p, bool inner, uint32_t n)
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

/* Prepares the slots for outer records again if they hold inner records or anything else. */
static inline void pf_perf_ensure_slots(pf_perf_stream *p)
{
    if (p->slots_inner || p->slot_dirty)
        pf_perf_prepare_slots(p, false, p->slots_inner ? PERFILE_RUN_RECORDS : 1);
}

/* Passes `r` to the session if it carries facts (HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE …), so
 * that these apply from this record on, not earlier. */
static inline perfile_status pf_perf_feed_session(pf_perf_stream *p, const perfile_record *r,
                                                  perfile_error *err)
{
    if (!pf_session_collects_type(r->type))
        return PERFILE_OK;
    if (r->type == PERFILE_RECORD_HEADER_ATTR && p->assume.n_events)
        return PERFILE_OK; /* the caller's events replace the events of the capture */
    uint64_t before = pf_session_generation(p->base.session);
    perfile_status st = pf_session_collect(p->base.session, r, err);
    if (st == PERFILE_OK && pf_session_generation(p->base.session) != before)
        st = pf_session_resolve(p->base.session, err);
    return st;
}

/* Returns true for the record types that the kernel writes, 1 to PF_PERF_LAST_KERNEL_TYPE.  Type 0
 * wraps around, so one comparison is enough. */
static inline bool pf_perf_is_kernel(uint32_t type)
{
    return type - 1 < PF_PERF_LAST_KERNEL_TYPE;
}

/* Returns true for plain records: known kernel records and FINISHED_ROUND.  They need nothing but
 * framing. */
static inline bool pf_perf_is_plain(uint32_t type)
{
    return pf_perf_is_kernel(type) || type == PERFILE_RECORD_FINISHED_ROUND;
}

/* Prefetches two cache lines, `ahead` bytes after `at`.  The address may be outside the buffer: a
 * prefetch never faults.  It is computed as an integer, because computing such a pointer is
 * undefined behavior. */
static inline void pf_perf_prefetch(const uint8_t *at, uint32_t ahead)
{
    uintptr_t target = (uintptr_t)at + ahead;
    __builtin_prefetch((const void *)target);
    __builtin_prefetch((const void *)(target + 64));
}

/* Returns the prefetch distance for the records that follow `n` records with a total of `bytes`
 * bytes.  Long records (copies of the user stack) mostly have one size, and only their headers are
 * read.  So the distance is a multiple of the average size, to hit a header. */
static inline uint32_t pf_perf_prefetch_distance(size_t bytes, uint32_t n)
{
    if (bytes < (size_t)n * PF_MEDIUM_RECORD || n == 0)
        return PF_PREFETCH_BYTES;
    if (bytes < (size_t)n * PF_LONG_RECORD)
        return PF_PREFETCH_MEDIUM_BYTES;
    return (uint32_t)(bytes / n) * PF_PREFETCH_LONG_RECORDS;
}

/* Returns the maximum number of records in the next batch. */
static inline uint32_t pf_perf_run_length(const pf_perf_stream *p, bool inner)
{
    const bool fetched = p->prefetch_bytes == PF_PREFETCH_MEDIUM_BYTES && !inner;
    return fetched && p->file->source->stable ? PF_MEDIUM_RUN : PERFILE_RUN_RECORDS;
}

/* Fills the slot `*r` with the record at `at`.  `place` is its offset in the file, or in the
 * decompressed stream for `inner` records. */
static inline __attribute__((always_inline)) void
pf_perf_fill_slot(const pf_perf_stream *p, perfile_record *r, const uint8_t *at, uint32_t type,
                  uint16_t size, uint64_t place, uint64_t sequence, bool inner, bool swap)
{
    r->header = at;
    r->body.ptr = at + PF_PERF_RECORD_HEADER;
    r->body.len = (size_t)size - PF_PERF_RECORD_HEADER;
    r->type = type;
    r->misc = pf_load_u16(at + 4, swap);
    r->sequence = sequence;
    if (inner) {
        r->offset = p->inner.envelope_offset;
        r->stream_offset = place;
        r->envelope = p->inner.envelope;
    } else {
        r->offset = place;
    }
}

/* pf_perf_frame_run() with `inner` and `swap` as compile-time constants.
 *
 * The first loop runs while at least 64 KiB are left.  Every record is complete there, so it does
 * not compare sizes with the end; and it accepts only kernel types.  The second loop frames the
 * rest with all checks. */
static inline __attribute__((always_inline)) size_t
pf_perf_frame_run_as(pf_perf_stream *p, perfile_bytes run, uint64_t pos, bool inner, bool swap)
{
    const uint8_t *at = run.ptr;
    const uint8_t *end = run.ptr + run.len;
    perfile_record *r = p->base.run;
    perfile_record *full = r + pf_perf_run_length(p, inner);
    uint64_t sequence = p->sequence;
    uint64_t shift = pos - (uintptr_t)run.ptr; /* address + shift = offset, modulo 2^64 */
    /* Facts about the whole batch: see pf_batch.  `other` stays 0 while all records are samples. */
    uint32_t other = 0, shortest = UINT16_MAX, longest = 0;
    const uint8_t *any = run.len > UINT16_MAX ? end - UINT16_MAX : at; /* end of the first loop */
    const uint32_t ahead = p->prefetch_bytes;
    while (r < full && at < any) {
        pf_perf_prefetch(at, ahead);
        uint32_t type = pf_load_u32(at, swap);
        uint16_t size = pf_load_u16(at + 6, swap);
        if (!pf_perf_is_kernel(type) || size < PF_PERF_RECORD_HEADER)
            break;
        pf_perf_fill_slot(p, r++, at, type, size, (uintptr_t)at + shift, sequence++, inner, swap);
        at += size;
        other |= type ^ PERFILE_RECORD_SAMPLE;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
    }
    while (r < full && (size_t)(end - at) >= PF_PERF_RECORD_HEADER) {
        uint32_t type = pf_load_u32(at, swap);
        uint16_t size = pf_load_u16(at + 6, swap);
        if (!pf_perf_is_plain(type) || size < PF_PERF_RECORD_HEADER || size > (size_t)(end - at))
            break;
        pf_perf_fill_slot(p, r++, at, type, size, (uintptr_t)at + shift, sequence++, inner, swap);
        at += size;
        other |= type ^ PERFILE_RECORD_SAMPLE;
        shortest = size < shortest ? size : shortest;
        longest = size > longest ? size : longest;
    }
    p->sequence = sequence;
    p->base.n_run = (uint32_t)(r - p->base.run);
    p->prefetch_bytes = pf_perf_prefetch_distance((size_t)(at - run.ptr), p->base.n_run);
    p->base.summary.records += p->base.n_run;
    p->base.framed = (pf_batch){.n = p->base.n_run,
                                .samples_only = other == 0,
                                .contiguous = true,
                                .shortest = (uint16_t)shortest,
                                .longest = (uint16_t)longest};
    return (size_t)(at - run.ptr);
}

/* Frames the plain, complete records at the beginning of `run` and stops at the first other one.
 * `pos` is the offset of `run` in the file, or in the decompressed stream for `inner` records.
 * Returns the number of bytes framed; base.n_run is the number of records. */
static inline size_t pf_perf_frame_run(pf_perf_stream *p, perfile_bytes run, uint64_t pos,
                                       bool inner)
{
    return p->swap ? pf_perf_frame_run_as(p, run, pos, inner, true)
                   : pf_perf_frame_run_as(p, run, pos, inner, false);
}

#endif
