/* Records that a source does not show: of an archive that is read by a filter, or for counts.  They
 * are passed over here, as if they had been read: see core/narrow.h. */
#include "core/narrow.h"
#include "perf/walk.h"

void pf_perf_narrow(perfile_stream *s, const pf_narrow *how)
{
    pf_perf_stream *p = pf_perf_of(s);
    for (uint32_t i = 0; i < p->n_parts; i++) {
        perfile_source *source = p->parts[i].source;
        if (!source->ops->narrow)
            continue;
        source->ops->narrow(source, how);
        p->narrowed = how != NULL;
        p->counts = how == NULL;
    }
}

bool pf_perf_absent(const pf_perf_stream *p, pf_absent *absent)
{
    perfile_source *source = p->file->source;
    return source->ops->absent && source->ops->absent(source, p->pos, absent) &&
           absent->bytes <= p->file->end - p->pos;
}

void pf_perf_pass_absent(pf_perf_stream *p)
{
    pf_absent absent;
    while (p->pos < p->file->end && pf_perf_absent(p, &absent))
        pf_perf_skip(&p->base, absent.records, absent.bytes);
}
