/* Looking at the records that come next without making a run of them: functions of pf_stream_ops
 * (core/stream.h) for callers that skip or copy most of what they see.
 *
 * Headers are compared as 64-bit words without misc.  While they are equal, the records have one
 * type and size, the address of the next header does not depend on a load, and loads overlap. */
#include "perf/take.h"

/* Samples of one size.  Only slot 0 is filled; the caller reads the others where they lie. */
pf_peeked pf_perf_peek(perfile_stream *s)
{
    const uint64_t all_but_misc = UINT64_C(0xffff0000ffffffff);
    const pf_peeked none = {0};
    pf_perf_stream *p = pf_perf_of(s);
    perfile_bytes run;
    if (p->swap || !pf_perf_at_records(p) ||
        pf_perf_fetch(p, PF_PERF_RECORD_HEADER, &run, NULL) != PERFILE_OK)
        return none;
    const pf_frame f =
        run.len < PF_PERF_RECORD_HEADER ? (pf_frame){0} : pf_frame_at(run.ptr, false);
    if (f.type != PERFILE_RECORD_SAMPLE || f.size < PF_PERF_RECORD_HEADER || f.size > run.len)
        return none;
    const uint8_t *at = run.ptr;
    const uint64_t header = pf_load_u64(at, PF_NATIVE_BIG);
    size_t n = 0, most = run.len / f.size;
    most = most < PERFILE_RUN_RECORDS ? most : PERFILE_RUN_RECORDS;
    const uint32_t ahead = pf_perf_prefetch_distance(f.size, 1);
    while (n < most && ((pf_load_u64(at, PF_NATIVE_BIG) ^ header) & all_but_misc) == 0) {
        pf_perf_prefetch(at, ahead);
        at += f.size;
        n++;
    }
    pf_perf_ensure_slots(p);
    pf_perf_fill_slot(p, &s->run[0], run.ptr, f.type, (uint16_t)f.size, p->pos, p->sequence, false,
                      false);
    return (pf_peeked){s->run, n, f.size};
}

bool pf_perf_place(perfile_stream *s, pf_record_range *here)
{
    pf_perf_stream *p = pf_perf_of(s);
    if (!pf_perf_at_records(p))
        return false;
    uint64_t left = p->file->end == PF_SIZE_UNKNOWN ? UINT64_MAX : p->file->end - p->pos;
    *here = (pf_record_range){p->pos, left, p->sequence, 0, p->part};
    return true;
}

/* Samples of any sizes as one span of bytes. */
pf_sample_span pf_perf_span(perfile_stream *s, uint64_t most)
{
    enum { BYTES = 1 << 20 }; /* at most: fits a second-level cache */
    const uint64_t all_but_misc = UINT64_C(0xffff0000ffffffff); /* in either byte order */
    pf_perf_stream *p = pf_perf_of(s);
    pf_sample_span all = {.offset = p->pos, .part = p->part, .lasting = p->file->source->stable};
    perfile_bytes run;
    if (!pf_perf_at_records(p) || pf_perf_fetch(p, PF_PERF_RECORD_HEADER, &run, NULL) != PERFILE_OK)
        return all;
    size_t at = 0, end = run.len = run.len < BYTES ? run.len : BYTES;
    while (all.n < most && end - at >= PF_PERF_RECORD_HEADER) {
        const pf_frame f = pf_frame_at(run.ptr + at, p->swap);
        if (f.type != PERFILE_RECORD_SAMPLE || f.size < PF_PERF_RECORD_HEADER || f.size > end - at)
            break;
        /* Records of one size: no load waits for another, and nothing has to be fetched ahead. */
        const uint64_t header = pf_load_u64(run.ptr + at, PF_NATIVE_BIG);
        size_t n = 0, room = (end - at) / f.size;
        room = room < most - all.n ? room : (size_t)(most - all.n);
        do {
            n++;
            at += f.size;
        } while (n < room &&
                 ((pf_load_u64(run.ptr + at, PF_NATIVE_BIG) ^ header) & all_but_misc) == 0);
        all.size = all.n ? 0 : (uint16_t)f.size;
        all.n += n;
        if (n < PF_EQUAL_RUN) {
            const uint64_t left = most - all.n;
            at = pf_perf_pass_mixed(run, at, left < PF_MIXED_RUN ? left : PF_MIXED_RUN, p->swap,
                                    pf_perf_prefetch_distance(f.size, 1), &n);
            all.n += n;
            all.size = n ? 0 : all.size;
        }
    }
    all.bytes = (perfile_bytes){run.ptr, at};
    return all;
}

void pf_perf_skip(perfile_stream *s, uint64_t records, uint64_t bytes)
{
    pf_perf_stream *p = pf_perf_of(s);
    p->pos += bytes;
    p->sequence += records;
    p->extra_left = 0;
    s->summary.records += records;
    s->summary.bytes += bytes;
}
