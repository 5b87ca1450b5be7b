/* perfile_stream_seek(): the walk goes on at another record.
 *
 * A part is begun again, as if it had just been opened, and then the walk is put at the record.
 * Everything that reaches over several records (fragments of simpleperf, what salvage has looked at
 * ahead) starts afresh by that; only a zstd stream cannot be entered in its middle. */
#include <inttypes.h>

#include "base/error.h"
#include "perf/walk.h"

static bool has_compressed_records(const pf_perf_stream *p)
{
    return p->compressed > 0 ||
           perfile_session_feature(p->base.session, PERFILE_FEATURE_COMPRESSED) != NULL;
}

static perfile_status check_place(const pf_perf_stream *p, uint32_t part, uint64_t offset,
                                  perfile_error *err)
{
    if (part >= p->n_parts)
        return pf_fail(err, PERFILE_E_USAGE, "stream.part", "part %u of %u", part, p->n_parts);
    const pf_perf_part *to = &p->parts[part];
    uint64_t end = to->end == PF_SIZE_UNKNOWN ? to->source->size : to->end;
    if (!to->source->seekable || end == PF_SIZE_UNKNOWN)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "stream.seek", "'%s' is read as a stream",
                       to->source->name);
    if (offset < to->start || offset > end)
        return pf_fail(err, PERFILE_E_USAGE, "stream.offset",
                       "offset %" PRIu64 ", but records lie from %" PRIu64 " to %" PRIu64, offset,
                       to->start, end);
    if (offset != to->start && has_compressed_records(p))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "stream.seek",
                       "compressed records are read from the beginning of their part, at %" PRIu64,
                       to->start);
    return PERFILE_OK;
}

perfile_status pf_perf_seek(perfile_stream *s, uint32_t part, uint64_t offset, perfile_error *err)
{
    pf_perf_stream *p = pf_perf_of(s);
    perfile_status st = check_place(p, part, offset, err);
    if (st != PERFILE_OK)
        return st;
    /* Damage that was met and not reported yet still counts. */
    while (p->n_pending)
        pf_walk_report(p);
    p->part = part;
    pf_walk_begin_part(p);
    p->pos = offset;
    return PERFILE_OK;
}
