/* Finding the next records behind bytes that are none. */
#include "perf/frame.h"
#include "perf/stream.h"
#include "schema/rows.h"

enum {
    CHAIN = 4,              /* plausible records in a row; fewer only at the end of the bytes */
    FIXED_SAMPLE = 0x103cf, /* sample_type bits that take a word each */
    CPUMODES = 6
};

/* The least size of a SAMPLE in this capture. */
static uint32_t least_sample(const perfile_session *session)
{
    uint32_t least = UINT16_MAX;
    uint32_t n = perfile_session_n_events(session);
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(session, i);
        uint64_t fixed = e->attr.sample_type & FIXED_SAMPLE;
        uint32_t size = PF_PERF_RECORD_HEADER + 8 * (uint32_t)__builtin_popcountll(fixed);
        if (size < least)
            least = size;
    }
    return n ? least : PF_PERF_RECORD_HEADER;
}

static bool plausible(const pf_frame *f, uint32_t sample)
{
    const pf_row *row = pf_record_row(f->type);
    if (!row || f->size < (uint32_t)PF_PERF_RECORD_HEADER + row->fixed)
        return false;
    if (f->type < PERFILE_RECORD_USER &&
        (f->size % 8 || (f->misc & PERFILE_MISC_CPUMODE_MASK) >= CPUMODES))
        return false;
    return f->type != PERFILE_RECORD_SAMPLE || f->size >= sample;
}

/* Whether records follow each other from `at` on. */
static bool chain_at(const uint8_t *at, const uint8_t *end, uint32_t sample, bool swap)
{
    for (unsigned n = 0; n < CHAIN; n++) {
        size_t left = (size_t)(end - at);
        if (left == 0)
            return n > 0;
        if (left < PF_PERF_RECORD_HEADER)
            return false;
        pf_frame f = pf_frame_at(at, swap);
        if (!plausible(&f, sample) || f.size > left)
            return false;
        uint64_t extra = pf_frame_extra(at, &f, swap);
        if (extra > left - f.size)
            return false;
        at += f.size + extra;
    }
    return true;
}

size_t pf_perf_resync(const perfile_session *session, perfile_bytes bytes, size_t from, bool swap)
{
    const uint8_t *end = bytes.ptr + bytes.len;
    uint32_t sample = least_sample(session);
    for (size_t at = from; at < bytes.len; at++)
        if (chain_at(bytes.ptr + at, end, sample, swap))
            return at;
    return bytes.len;
}
