/* The record walk: delivers batches of records, part by part, and reports damage where no record
 * can be read.
 *
 * Only the size of a record says where the next one begins.  So an unknown type ends a part, unless
 * the policy is to search for the next chain of records (repair.c).  Records before it stay valid,
 * and the next part is read. */
#include "perfmon/repair.h"

#include "base/error.h"

/* Returns the time of a TIME record in the form of perfile_record.time: see pf_family.ticks. */
static uint64_t ordered(int64_t ticks)
{
    return (uint64_t)ticks ^ PF_TICKS_BIAS;
}

static void begin_part(pf_perfmon_stream *p, uint32_t part)
{
    p->at = part;
    p->pos = PF_PERFMON_HEADER;
    p->timed = p->damaged = p->prepared = false;
}

/* Sets the members of the slots that are the same for all records of a part. */
static void prepare_slots(pf_perfmon_stream *p)
{
    const bool stable = p->parts[p->at].source->stable;
    const perfile_record common = {.family = PF_FAMILY_AT_perfmon,
                                   .flags =
                                       (uint8_t)((stable ? PERFILE_REC_STABLE : 0) |
                                                 (pf_perfmon_swap() ? PERFILE_REC_SWAPPED : 0)),
                                   .envelope = PERFILE_NO_SEQUENCE,
                                   .part = p->at,
                                   .session = p->base.session};
    for (size_t i = 0; i < PERFILE_RUN_RECORDS; i++)
        p->base.run[i] = common;
    p->prepared = true;
}

/* Sets *next to the offset where reading goes on after damage at p->pos, and *found.  If there is
 * none, the rest of the part is lost and *next is its end. */
static perfile_status find_next(pf_perfmon_stream *p, unsigned damage, uint64_t *next, bool *found,
                                perfile_error *err)
{
    const pf_perfmon_part *part = &p->parts[p->at];
    const uint64_t size = part->source->size;
    const bool searches = p->base.options.on_damage > PERFILE_ON_DAMAGE_STOP;
    perfile_bytes there;
    *found = false;
    *next = size < part->end ? size : part->end;
    if (damage == PERFILE_DAMAGE_TRUNCATED_DATA) {
        *next = p->pos;
        return PERFILE_OK;
    }
    if (searches)
        return pf_perfmon_next_chain(part->source, p->pos, part->end, next, found, err);
    if (size != PF_SIZE_UNKNOWN)
        return PERFILE_OK;
    /* The end in the header may be any number: only bytes that are there count as lost. */
    perfile_status st = pf_source_run(part->source, p->pos, 1, &there, err);
    if (st == PERFILE_OK && there.len < *next - p->pos)
        *next = p->pos + there.len;
    return st;
}

/* Delivers damage at p->pos as the only item of the batch. */
static perfile_status tell_damage(pf_perfmon_stream *p, unsigned damage, perfile_error *err)
{
    perfile_stream *s = &p->base;
    uint64_t next;
    bool found;
    perfile_status st = find_next(p, damage, &next, &found, err);
    if (st != PERFILE_OK)
        return st;
    const uint64_t lost = next > p->pos ? next - p->pos : 0;
    pf_stream_damage(s, damage, p->pos, lost);
    s->run[0] = (perfile_record){.family = PERFILE_FAMILY_DAMAGE,
                                 .body = {NULL, (size_t)lost},
                                 .offset = p->pos,
                                 .sequence = PERFILE_NO_SEQUENCE,
                                 .envelope = PERFILE_NO_SEQUENCE,
                                 .part = p->at,
                                 .damage = damage,
                                 .session = s->session};
    s->n_run = 1;
    p->pos = next;
    p->damaged = !found;
    p->timed = p->prepared = false;
    return PERFILE_OK;
}

static inline void add(pf_perfmon_stream *p, const uint8_t *at, const pf_frame *f, uint8_t flags)
{
    perfile_record *r = &p->base.run[p->base.n_run++];
    r->header = at;
    r->body = (perfile_bytes){at + PF_PERFMON_RECORD_HEADER, f->size - PF_PERFMON_RECORD_HEADER};
    r->type = f->type;
    r->misc = f->misc;
    r->offset = p->pos;
    r->sequence = p->sequence++;
    r->flags = flags;
    if (*at == PF_PERFMON_TIME) {
        p->time = ordered(pf_perfmon_time(r));
        p->timed = true;
    }
    if (p->timed)
        r->flags |= PERFILE_REC_TIMED;
    r->time = p->timed ? p->time : 0;
    p->pos += f->size;
}

/* Fills the batch from the bytes at p->pos.  `whole`: these are all remaining bytes of the records.
 * Returns the damage at which it stops, 0 if there is none or more bytes are needed to decide. */
static unsigned add_run(pf_perfmon_stream *p, perfile_bytes run, bool whole)
{
    if (!p->prepared)
        prepare_slots(p);
    const uint8_t flags = p->base.run[0].flags & (PERFILE_REC_STABLE | PERFILE_REC_SWAPPED);
    size_t at = 0;
    while (at < run.len && p->base.n_run < PERFILE_RUN_RECORDS) {
        pf_frame f;
        const unsigned damage = pf_perfmon_frame(run.ptr + at, run.len - at, &f);
        const bool cut =
            damage == PERFILE_DAMAGE_TRUNCATED_HEADER || damage == PERFILE_DAMAGE_TRUNCATED_RECORD;
        if (damage)
            return cut && !whole ? 0 : damage;
        add(p, run.ptr + at, &f, flags);
        at += f.size;
    }
    return 0;
}

/* Fills the batch from the current part.  Returns PERFILE_END if it has no more records. */
static perfile_status fill_part(pf_perfmon_stream *p, perfile_error *err)
{
    perfile_stream *s = &p->base;
    pf_perfmon_part *part = &p->parts[p->at];
    const uint64_t left = part->end > p->pos ? part->end - p->pos : 0;
    perfile_bytes run = {NULL, 0};
    if (p->damaged || left == 0)
        return PERFILE_END;
    const size_t need = left < PF_PERFMON_MOST ? (size_t)left : PF_PERFMON_MOST;
    perfile_status st = pf_source_run(part->source, p->pos, need, &run, err);
    if (st != PERFILE_OK)
        return st;
    const bool ended = run.len < need; /* the input ends before the records do */
    const bool whole = ended || run.len >= left;
    if (run.len > left)
        run.len = (size_t)left;
    const uint64_t from = p->pos;
    unsigned damage =
        run.len == 0 ? (unsigned)PERFILE_DAMAGE_TRUNCATED_DATA : add_run(p, run, whole);
    s->summary.records += s->n_run;
    s->summary.bytes += p->pos - from;
    if (damage && s->n_run == 0)
        return tell_damage(p, damage, err);
    return PERFILE_OK; /* damage after records is found again by the next call */
}

perfile_status pf_perfmon_fill(perfile_stream *s, perfile_error *err)
{
    pf_perfmon_stream *p = (pf_perfmon_stream *)(void *)s;
    if (p->pos == 0)
        begin_part(p, 0);
    for (;;) {
        perfile_status st = fill_part(p, err);
        if (st != PERFILE_END)
            return st;
        if (p->at + 1 >= p->n_parts)
            return PERFILE_END;
        begin_part(p, p->at + 1);
    }
}
