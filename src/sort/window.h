/* Records that stay where they are, in the mapped file: what is known of them after a first pass,
 * and the stretch of it that has to be held to hand them out by time. */
#ifndef PF_SORT_WINDOW_H
#define PF_SORT_WINDOW_H

#include "base/byte_order.h"
#include "core/stream.h"
#include "sort/entries.h"
#include "stage/time_key.h"
#include "schema/frame.h"

/* Records one behind the other. */
typedef struct pf_sort_block {
    const uint8_t *start;
    uint64_t bytes;
    uint64_t offset; /* of `start` in its part */
    uint64_t records;
    uint64_t min, max;   /* of their keys */
    uint64_t floor;      /* least key of the blocks of this part behind this one */
    pf_time_clock clock; /* in front of it */
    uint32_t part;
} pf_sort_block;

typedef struct pf_sort_blocks {
    pf_sort_block *list;
    uint32_t n, most;
    uint64_t block_bytes; /* where a block ends */
    bool full;            /* no more go in */
    uint32_t steps_back;  /* blocks that were begun because times step back … */
    bool mixed;           /* … which are too many for that: they do within blocks, too */
    bool swap;
    const perfile_session *session;
    /* The source, when the file is read through a window with a mapping beside it; NULL: the file
     * is mapped.  `start` of a block is its address in the mapping either way, and `mapped` the
     * address of the first byte of the file. */
    perfile_source *beside;
    const uint8_t *mapped;
} pf_sort_blocks;

perfile_status pf_sort_blocks_open(pf_sort_blocks *b, uint32_t most, const perfile_session *session,
                                   perfile_error *err);
void pf_sort_blocks_close(pf_sort_blocks *b);

/* Whether the walk of a block can find the record again from its header alone. */
static inline bool pf_sort_walkable(const perfile_record *r)
{
    const uint8_t unfit = PERFILE_REC_STABLE | PERFILE_REC_ENVELOPE | PERFILE_REC_INNER |
                          PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_PARTIAL;
    return r->family == PERFILE_FAMILY_PERF && (r->flags & unfit) == PERFILE_REC_STABLE &&
           r->extra.len == 0 && !pf_type_is_wide(r->type) &&
           r->body.len <= UINT16_MAX - PF_PERF_RECORD_HEADER &&
           (r->body.len == 0 || r->body.ptr == r->header + PF_PERF_RECORD_HEADER);
}

/* `r`; what was read through the window, as it stands in the mapping, unless it came out of an
 * envelope or is not all there. */
static inline perfile_record pf_sort_as_mapped(const pf_sort_blocks *b, const perfile_record *r)
{
    const uint8_t unfit = PERFILE_REC_INNER | PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_PARTIAL;
    perfile_record m = *r;
    if (!b->beside || r->flags & unfit)
        return m;
    m.header = b->mapped + r->offset;
    const size_t size = perfile_record_size(r);
    m.body.ptr = r->body.len ? m.header + (size - r->body.len) : NULL;
    m.extra.ptr = r->extra.len ? m.header + size : NULL;
    m.flags |= PERFILE_REC_STABLE;
    return m;
}

/* Puts a record behind those that are there; false when there is no place for it. */
bool pf_sort_blocks_add(pf_sort_blocks *b, const perfile_record *r, uint64_t key,
                        const pf_time_clock *before);
/* A time is earlier than one in the block: false when a new block begins there, so that each is in
 * order by itself.  Three quarters of all blocks are for the length of the capture. */
static inline bool pf_sort_blocks_mix(pf_sort_blocks *b)
{
    b->steps_back += !b->mixed;
    b->mixed |= b->steps_back > b->most / 4;
    return b->mixed;
}
/* The same in the block that was added to last, when nothing new has to be made for it. */
static inline bool pf_sort_blocks_extend(pf_sort_blocks *b, const perfile_record *r, uint64_t key)
{
    pf_sort_block *last = b->list + b->n - 1;
    if (b->n == 0 || last->start + last->bytes != r->header || last->bytes >= b->block_bytes ||
        last->part != r->part || (key < last->max && !pf_sort_blocks_mix(b)))
        return false;
    last->bytes += perfile_record_size(r);
    last->records++;
    last->min = key < last->min ? key : last->min;
    last->max = key > last->max ? key : last->max;
    return true;
}
/* Records of a part one behind the other. */
typedef struct pf_sort_piece {
    const perfile_record *first;
    uint64_t records, bytes;
    uint64_t min, max; /* of their keys … */
    bool ascending;    /* … which are in order */
} pf_sort_piece;

/* The same for all of a piece, which never has to be looked at again: false when it is to be put in
 * record by record. */
bool pf_sort_blocks_add_piece(pf_sort_blocks *b, const pf_sort_piece *piece,
                              const pf_time_clock *before);
/* FINISHED_ROUND: passed over, now and by the walk. */
void pf_sort_blocks_round(pf_sort_blocks *b, const perfile_record *r);

/* The records of a block once more; `start`: block->start, or where it was read to. */
typedef struct pf_sort_walk {
    const uint8_t *at, *end;
    perfile_record record;
    bool swap;
} pf_sort_walk;

static inline void pf_sort_walk_begin(pf_sort_walk *w, const pf_sort_blocks *b,
                                      const pf_sort_block *block, const uint8_t *start)
{
    *w = (pf_sort_walk){.at = start, .end = start + block->bytes, .swap = b->swap};
    w->record.flags = (uint8_t)(PERFILE_REC_STABLE | (b->swap ? PERFILE_REC_SWAPPED : 0));
    w->record.part = block->part;
    w->record.envelope = PERFILE_NO_SEQUENCE;
    w->record.session = b->session;
}

/* Fills the part of `r` that the header decides. */
static inline void pf_sort_frame(perfile_record *r, const uint8_t *at, bool swap)
{
    const pf_frame f = pf_frame_at(at, swap);
    r->header = at;
    r->body = (perfile_bytes){at + PF_PERF_RECORD_HEADER, f.size - (size_t)PF_PERF_RECORD_HEADER};
    r->type = f.type;
    r->misc = f.misc;
}

/* False at the end; w->at is not w->end then when the bytes are no longer what they were. */
static inline bool pf_sort_walk_next(pf_sort_walk *w)
{
    do {
        size_t left = (size_t)(w->end - w->at);
        size_t size = left >= PF_PERF_RECORD_HEADER ? pf_frame_at(w->at, w->swap).size : 0;
        if (size < PF_PERF_RECORD_HEADER || size > left)
            return false;
        __builtin_prefetch((const void *)((uintptr_t)w->at + 2048));
        pf_sort_frame(&w->record, w->at, w->swap);
        w->at += size;
    } while (w->record.type == PERFILE_RECORD_FINISHED_ROUND);
    return true;
}

/* The same for what most records are: a sample with a time at `place`, which is all that is read of
 * it.  Then it was at w->at, and *time is not 0. */
static inline bool pf_sort_walk_sample(pf_sort_walk *w, const pf_time_place *place, uint64_t *time)
{
    size_t left = (size_t)(w->end - w->at);
    if (left < PF_PERF_RECORD_HEADER)
        return false;
    const pf_frame f = pf_frame_at(w->at, w->swap);
    const size_t size = f.size;
    if (f.type != PERFILE_RECORD_SAMPLE || size < PF_PERF_RECORD_HEADER || size > left ||
        size - PF_PERF_RECORD_HEADER < place->need)
        return false;
    *time = pf_load_u64(w->at + PF_PERF_RECORD_HEADER + place->at, w->swap);
    if (*time == 0 || *time == PERFILE_NO_TIME)
        return false;
    __builtin_prefetch((const void *)((uintptr_t)w->at + 2048));
    w->at += size;
    return true;
}

/* Pages are given back in these pieces: as many come back with one that is touched again. */
static inline uint64_t pf_sort_pages(uint64_t offset)
{
    return offset & ~(uint64_t)0xffff;
}

/* That, as an error. */
perfile_status pf_sort_changed(const pf_sort_block *block, perfile_error *err);

/* Looks at all keys again: the session knows better now how to read them. */
perfile_status pf_sort_blocks_again(pf_sort_blocks *b, perfile_error *err);

/* Sets `floor` of all blocks. */
void pf_sort_blocks_settle(pf_sort_blocks *b);

/* What is held of one part. */
typedef struct pf_sort_window {
    const pf_sort_blocks *blocks;
    uint32_t next, end; /* blocks that are not in yet */
    pf_sort_entry *e; /* e[at .. ready) can be handed out, e[ready .. n) has to wait; all sorted */
    pf_sort_entry *scratch;
    size_t at, ready, n, cap, scratch_cap;
    uint64_t step;     /* bytes that are taken in at once, at least */
    uint64_t lag;      /* bytes behind the oldest one that stay: a writer may not have looked yet */
    uint64_t released; /* the source was told of what is before this offset, … */
    uint64_t again;    /* … and once of what is before this one */
    /* From the address of an entry in the mapping to where its bytes are looked at: in the window
     * of the source, which holds all from the oldest entry on.  0: in the mapping itself, as there
     * is no window, or more is held than goes into it. */
    uintptr_t shift;
} pf_sort_window;

/* What windows hold at most. */
typedef struct pf_sort_need {
    uint64_t memory; /* bytes for entries and what is taken in at once, … */
    uint64_t mapped; /* … and of records that wait, which are in the file */
} pf_sort_need;

/* Adds that of a window on the blocks [first, end), which are those of a part. */
perfile_status pf_sort_window_need(const pf_sort_blocks *b, uint32_t first, uint32_t end,
                                   uint64_t step, pf_sort_need *need, perfile_error *err);

/* Takes in blocks until there is something to hand out, or the end: then at == ready.  `stream` is
 * told what is not needed any more. */
perfile_status pf_sort_window_fill(pf_sort_window *w, perfile_stream *stream, perfile_error *err);
void pf_sort_window_close(pf_sort_window *w);

#endif
