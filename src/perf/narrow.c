/* Records that a source does not show: of an archive that is read by a filter, or for counts.  They
 * are passed over here, as if they had been read: see core/narrow.h. */
#include "core/narrow.h"

#include "base/alloc.h"
#include "perf/walk.h"

void pf_perf_narrow(perfile_stream *s, const pf_narrow *how)
{
    pf_perf_stream *p = pf_perf_of(s);
    p->how = how;
    for (uint32_t i = 0; i < p->n_parts; i++) {
        perfile_source *source = p->parts[i].source;
        if (!source->ops->narrow)
            continue;
        source->ops->narrow(source, how);
        p->narrowed = how != NULL;
        p->counts = how == NULL;
    }
}

/* pf_narrow.needs and .stored of a stream without a stage above: every record is handed out. */
static unsigned needs_stored(void *user, const pf_zone *zone, uint64_t sequence)
{
    const pf_perf_stream *p = user;
    (void)sequence;
    return pf_zone_plain_samples(zone) && p->taker->wants(p->taker->user, zone) ? PF_NEED_STORED
                                                                                : PF_NEED_ALL;
}

static void give(void *user, const pf_stored *range)
{
    const pf_perf_stream *p = user;
    p->taker->take(p->taker->user, range);
}

void pf_perf_give_stored(perfile_stream *s, const pf_stored_taker *taker)
{
    pf_perf_stream *p = pf_perf_of(s);
    if (s->begun || s->describing || !s->origin)
        return;
    if (!p->giving)
        p->giving = pf_alloc(1, sizeof *p->giving);
    if (!p->giving)
        return; /* then everything is read */
    p->taker = taker;
    *p->giving = (pf_narrow){.needs = needs_stored, .stored = give, .user = p};
    pf_perf_narrow(s, p->giving);
}

bool pf_perf_absent(const pf_perf_stream *p, pf_absent *absent)
{
    perfile_source *source = p->file->source;
    return source->ops->absent && source->ops->absent(source, p->pos, p->sequence, absent) &&
           absent->bytes <= p->file->end - p->pos;
}

/* Goes past records, which count as read. */
static void skip(pf_perf_stream *p, uint64_t records, uint64_t bytes)
{
    perfile_stream_summary *sum = &p->base.summary;
    p->pos += bytes;
    p->sequence += records;
    p->extra_left = 0;
    sum->records += records;
    sum->bytes += bytes;
}

void pf_perf_pass(perfile_stream *s, perfile_passed *passed)
{
    pf_perf_stream *p = pf_perf_of(s);
    pf_absent absent;
    if (!p->file && p->part < p->n_parts && p->parts[p->part].source->ops->absent)
        pf_walk_begin_part(p); /* before its first records are decoded */
    if (!pf_perf_at_records(p) || p->narrowed || !p->file->source->ops->absent)
        return;
    if (!p->counts)
        pf_perf_narrow(s, NULL);
    if (!pf_perf_absent(p, &absent))
        return;
    *passed = (perfile_passed){
        .samples = absent.records, .bytes = absent.bytes, .offset = p->pos, .part = p->part};
    skip(p, absent.records, absent.bytes);
}

/* Tells the reader what is passed over. */
static void report(const pf_perf_stream *p, const pf_absent *absent)
{
    const pf_narrow *how = p->how;
    if (absent->chunk) {
        const pf_stored range = {.archive = absent->archive,
                                 .chunk = absent->chunk,
                                 .zone = absent->zone,
                                 .records = absent->zone->records,
                                 .samples = pf_zone_plain_samples(absent->zone),
                                 .bytes = pf_zone_bytes(absent->zone),
                                 .offset = p->pos,
                                 .part = p->part,
                                 .session = p->base.session};
        how->stored(how->user, &range);
    } else if (how->passed) {
        how->passed(how->user, absent->zone, p->sequence, absent->records);
    }
}

void pf_perf_pass_absent(pf_perf_stream *p)
{
    pf_absent absent;
    while (p->pos < p->file->end && pf_perf_absent(p, &absent)) {
        report(p, &absent);
        skip(p, absent.records, absent.bytes);
    }
}
