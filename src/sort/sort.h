/* Internals of perfile_sort().
 *
 * The first pass reads the stream below to its end and computes the sort key of every record.
 * Records in a mapped file stay there and form ranges: sequences that are in order already.  All
 * other records are copied to a store, which spills sorted runs to temporary files when memory does
 * not suffice.  The second pass merges ranges and stored records through one heap.
 *
 * read.c does the first pass (with ranges.c and store.c), yield.c the second. */
#ifndef PF_SORT_SORT_H
#define PF_SORT_SORT_H

#include "base/buffer.h"
#include "base/byte_order.h"
#include "core/stream.h"
#include "perfile/session.h"
#include "perfile/abi.h"
#include "core/session.h"
#include "core/layout.h"
#include "perfile/record.h"
#include "perfile/sort.h"
#include "schema/rows.h"

#include <stddef.h>
#include <stdint.h>

/* The sort key of a record is its time, or a substitute if it has none.  Both passes compute it, so
 * it may depend only on the record and on the records before it in its part. */

/* The times seen so far in one part of the capture.  Records without a time get their key from
 * them.  All zeros: no time yet. */
typedef struct pf_time_clock {
    uint64_t last_time; /* ns: time of the last record with a time other than 0 */
    uint64_t max_time;  /* ns: greatest time so far */
} pf_time_clock;

/* Returns the key of `r` and advances the clock.  `time` is the record's time, PERFILE_NO_TIME if
 * it has none.
 *
 * A kernel record without a time came from the same ring buffer as the record before it, and gets
 * the same key.  A tool record without a time must stay after every record that it followed, so it
 * gets the greatest time so far.  Tool records that describe the whole capture (mark PF_ROW_FIRST:
 * attrs, features, build ids) get 0 and go to the front.  A time of 0 (synthesized side-band) is a
 * key of its own and does not advance the clock. */
static inline uint64_t pf_time_key_of(pf_time_clock *c, const perfile_record *r, uint64_t time)
{
    if (time == PERFILE_NO_TIME && !pf_is_of_tool(r))
        return c->last_time;
    if (time == PERFILE_NO_TIME)
        return pf_marks_of(r) & PF_ROW_FIRST ? 0 : c->max_time;
    if (time) {
        c->last_time = time;
        c->max_time = time > c->max_time ? time : c->max_time;
    }
    return time;
}

/* The same, with the time taken from the record. */
static inline uint64_t pf_time_key(pf_time_clock *c, const perfile_record *r)
{
    return pf_time_key_of(c, r, pf_record_order(r));
}

/* Where the time is in samples, if that is the same for all events. */
typedef struct pf_time_place {
    size_t at;   /* offset in the body */
    size_t need; /* least body size that contains the time; SIZE_MAX: the offset differs by event */
} pf_time_place;

/* Returns the time offset for the events that `s` has now.  It may change when the session learns
 * more. */
static inline pf_time_place pf_time_place_of(const perfile_session *s)
{
    const perfile_layout *all = pf_session_layout(s);
    int slot = all ? all->sample_slot[PF_SLOT_TIME] : -1;
    return slot < 0 ? (pf_time_place){0, SIZE_MAX}
                    : (pf_time_place){8 * (size_t)slot, 8 * (size_t)slot + 8};
}

/* FINISHED_ROUND records (sort.c). */

/* A FINISHED_ROUND is due after this many bytes of records.  Readers that sort, such as perf
 * report, hold the records of two rounds in memory. */
enum { PF_ROUND_BYTES = 4 << 20 };

/* Returns a FINISHED_ROUND in the byte order of `s`.  It says that no record after it is earlier
 * than any record before it.  Its bytes are static. */
perfile_record pf_round_record(const perfile_session *s, uint64_t sequence);

/* An entry of a heap that merges sorted sequences: the next record of one of them.  Records with
 * equal keys are ordered by part and offset, as in the input, then by `source`, the number of the
 * sequence. */
typedef struct pf_head {
    uint64_t key, offset;
    uint32_t part, source;
} pf_head;

/* A binary heap; at[0] is the least entry.  The user allocates the array, with room for all
 * sequences. */
typedef struct pf_heap {
    pf_head *at;
    uint32_t n;
} pf_heap;

static inline bool pf_head_before(const pf_head *a, const pf_head *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->part != b->part)
        return a->part < b->part;
    return a->offset != b->offset ? a->offset < b->offset : a->source < b->source;
}

static inline void pf_heap_push(pf_heap *h, const pf_head one)
{
    uint32_t at = h->n++;
    for (; at && pf_head_before(&one, &h->at[(at - 1) / 2]); at = (at - 1) / 2)
        h->at[at] = h->at[(at - 1) / 2];
    h->at[at] = one;
}

/* Replaces the least entry by `one`. */
static inline void pf_heap_replace(pf_heap *h, const pf_head one)
{
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && pf_head_before(&h->at[child + 1], &h->at[child]))
            child++;
        if (!pf_head_before(&h->at[child], &one))
            break;
        h->at[at] = h->at[child];
    }
    h->at[at] = one;
}

/* Removes the least entry. */
static inline void pf_heap_pop(pf_heap *h)
{
    if (--h->n)
        pf_heap_replace(h, h->at[h->n]);
}

/* Adjacent records of one part of the mapped file, in order: none is earlier than the one before.
 */
typedef struct pf_sort_range {
    const uint8_t *start; /* address of the first record in the mapping … */
    uint64_t offset;      /* … and its offset in the part */
    uint64_t bytes;       /* length of the range, with the FINISHED_ROUNDs inside it */
    /* First pass: key of the last record.  Second pass: key of the next one. */
    uint64_t key;
    /* First pass: the clock before the first record.  Second pass: the clock after the next record.
     * A walk from it computes the same keys again. */
    pf_time_clock clock;
    const uint8_t *at; /* second pass: the next record */
    uint32_t part;
    bool changed; /* the file was changed: the next record differs from what the first pass read */
} pf_sort_range;

typedef struct pf_sort_ranges {
    pf_sort_range *list;            /* in input order */
    uint32_t n, most;               /* ranges in use, and capacity; it never grows */
    bool full;                      /* no further ranges fit: the caller stores the records */
    bool swap;                      /* records are in the other byte order */
    const perfile_session *session; /* borrowed */
    pf_time_place place;            /* second pass: where the time is in samples */
} pf_sort_ranges;

/* Makes `b` empty, with room for `most` ranges.  `session` must outlive it. */
perfile_status pf_sort_ranges_open(pf_sort_ranges *b, uint32_t most, const perfile_session *session,
                                   perfile_error *err);
void pf_sort_ranges_close(pf_sort_ranges *b);

/* Returns true if `r` may be part of a range.  The second pass must find the record again by its
 * header alone.  So its bytes must be persistent and contiguous and of perf's own family.  It must
 * not be an envelope or come from one, have a payload after it, or have any other mark. */
static inline bool pf_sort_walkable(const perfile_record *r)
{
    const uint8_t unfit = PERFILE_REC_STABLE | PERFILE_REC_ENVELOPE | PERFILE_REC_INNER |
                          PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_PARTIAL | PERFILE_REC_UNSELECTED;
    return r->family == PERFILE_FAMILY_PERF && (r->flags & unfit) == PERFILE_REC_STABLE &&
           r->extra.len == 0 && !pf_type_is_wide(r->type) &&
           r->body.len <= UINT16_MAX - PF_PERF_RECORD_HEADER &&
           (r->body.len == 0 || r->body.ptr == r->header + PF_PERF_RECORD_HEADER);
}

/* Adds `bytes` of adjacent records that pf_sort_walkable() accepts; `r` is the first of them.
 * Their keys ascend from `first` to `last`, and `before` is the clock before them.  They extend the
 * last range or begin a new one.  Returns false if there is no room for another range: then the
 * caller stores the records. */
bool pf_sort_ranges_add(pf_sort_ranges *b, const perfile_record *r, uint64_t bytes, uint64_t first,
                        uint64_t last, const pf_time_clock *before);
/* Adds the bytes of a FINISHED_ROUND to the last range if it directly follows it, so that the range
 * can continue after it.  The second pass skips such records. */
void pf_sort_ranges_add_round(pf_sort_ranges *b, const perfile_record *r);

/* Fills header, body, type and misc of `r` from the record at `at`.  The caller has checked that
 * the whole record is available. */
static inline void pf_sort_frame(perfile_record *r, const uint8_t *at, bool swap)
{
    const pf_frame f = pf_frame_at(at, swap);
    r->header = at;
    r->body = (perfile_bytes){at + PF_PERF_RECORD_HEADER, f.size - (size_t)PF_PERF_RECORD_HEADER};
    r->type = f.type;
    r->misc = f.misc;
}

/* pf_sort_range_begin() goes to the first record of range `i`, pf_sort_range_advance() to the
 * record at `at`.  Both set *head to that record; false: the range has ended. */
bool pf_sort_range_begin(pf_sort_ranges *b, uint32_t i, pf_head *head);
bool pf_sort_range_advance(pf_sort_ranges *b, const uint8_t *at, pf_head *head);
/* Fills `r` with the next record of a range, except for its sequence. */
void pf_sort_range_record(const pf_sort_ranges *b, const pf_sort_range *one, perfile_record *r);

/* Pages of the mapping are released in units of 64 KiB: a fault on one released page brings back up
 * to that much (the kernel's fault-around). */
enum { PF_SORT_PAGES = 64 << 10 };

/* Rounds down to a multiple of PF_SORT_PAGES. */
static inline uint64_t pf_sort_round_to_pages(uint64_t offset)
{
    return offset & ~(uint64_t)(PF_SORT_PAGES - 1);
}

/* Fails with PERFILE_E_IO because the mapped file was changed between the two passes.  The error's
 * offset is the start of the range. */
perfile_status pf_sort_fail_changed(const pf_sort_range *range, perfile_error *err);

/* The entry by which an item is sorted: its key and its position. */
typedef struct pf_sort_entry {
    uint64_t key;
    uint64_t at; /* offset of the item */
} pf_sort_entry;

/* The store holds records that cannot stay in a mapped file: they came from a pipe or an envelope,
 * or there are too many ranges.
 *
 * Each record becomes a pf_sort_item in memory.  When the budget is used up, the items are sorted
 * and spilled: written to a temporary file as a sorted run.  At the end, either everything is in
 * memory and has one reader, or everything is in runs, with one reader for each.  Payloads (AUX
 * data, tracing data) go to a separate file as they arrive, and items refer to it by offset. */

enum {                             /* pf_sort_item.how */
       PF_SORT_BORROWED = 1 << 0,  /* the item holds a pointer to the record, not its bytes */
       PF_SORT_EXTRA = 1 << 1,     /* a pf_sort_extra precedes the record */
       PF_SORT_EXTRA_FILE = 1 << 2 /* the payload is in the store's payload file */
};

/* The header of an item, both in memory and in files.  Without gaps, it is followed by a
 * pf_sort_extra if PF_SORT_EXTRA is set, then by the record's bytes, or by a pointer to them if
 * PF_SORT_BORROWED is set. */
typedef struct pf_sort_item {
    uint64_t key;
    uint64_t offset; /* of the record in its part */
    uint32_t size;   /* of the whole item, a multiple of 8 */
    uint32_t body;   /* bytes after the header of the record */
    uint32_t part;
    uint8_t flags; /* PERFILE_REC_… */
    uint8_t contents;
    uint8_t family; /* PERFILE_FAMILY_… */
    uint8_t reserved;
} pf_sort_item;

/* The payload of a record: bytes that follow it and are not part of its size. */
typedef struct pf_sort_extra {
    uint64_t len;
    uint64_t at; /* address, or with PF_SORT_EXTRA_FILE offset in the payload file */
} pf_sort_extra;

enum {
    PF_SORT_FAN_IN = 64, /* a level with this many runs is merged into one run of the next level */
    PF_SORT_LEVELS = 6   /* up to 64^6 spills; more is PERFILE_E_LIMIT */
};

/* A run: the bytes [at, end) of the file of its level. */
typedef struct pf_sort_run {
    uint64_t at, end;
} pf_sort_run;

/* The runs of a level.  They are in one file, in the order in which their records were read.  All
 * records of a higher level were read before those of a lower level. */
typedef struct pf_sort_level {
    int fd; /* temporary file; -1: none yet */
    uint32_t n;
    uint64_t end; /* of the file */
    pf_sort_run runs[PF_SORT_FAN_IN];
} pf_sort_level;

/* Reads the items of one run, or those in memory, in order. */
typedef struct pf_sort_reader {
    const pf_sort_item *item; /* the current item; NULL at the end, or if `needs_fill` is set */
    bool needs_fill; /* the next item must be read from the file first: see pf_sort_reader_fill() */
    int fd;
    uint64_t at, end;                  /* range of the file that is not in `window` yet */
    pf_buffer window;                  /* bytes read from the file; `item` is at its start */
    const uint8_t *memory;             /* items in memory; NULL if the reader reads a run */
    const pf_sort_entry *entry, *last; /* … and their sorted entries */
} pf_sort_reader;

typedef struct pf_sort_store {
    uint64_t budget;            /* bytes for items, entries and scratch */
    const char *temporary;      /* folder for files, NULL: the default; borrowed */
    pf_buffer items;            /* in input order */
    pf_sort_entry *entries;     /* one for each item: key and offset in `items` */
    pf_sort_entry *scratch;     /* scratch for sorting; half as many entries */
    size_t n, cap, scratch_cap; /* number of items, and capacities of the two arrays */
    pf_sort_level levels[PF_SORT_LEVELS];
    pf_buffer out;         /* output buffer of the run that is being written */
    int out_fd;            /* its file, … */
    uint64_t out_at;       /* … and the position in it */
    int payloads;          /* file of payloads; -1: none yet */
    uint64_t payloads_end; /* its size */
    uint64_t written;      /* bytes written to all files */
    uint64_t spills;       /* how often memory was spilled */
} pf_sort_store;

/* Opens a store that is all zeros.  `budget` is the number of bytes for records in memory and for
 * sorting them; `temporary` is borrowed.  Allocates nothing. */
void pf_sort_store_open(pf_sort_store *s, uint64_t budget, const char *temporary);

/* Adds a record.  Its bytes are copied unless they are persistent; with `copy` they always are.  A
 * payload that is not in persistent memory must be in the payload file already, as the last
 * r->extra.len bytes added with pf_sort_store_payload(). */
perfile_status pf_sort_store_add(pf_sort_store *s, uint64_t key, const perfile_record *r, bool copy,
                                 perfile_error *err);

/* Appends bytes to the payload file.  They belong to the record that is added next. */
perfile_status pf_sort_store_payload(pf_sort_store *s, perfile_bytes bytes, perfile_error *err);

/* Adds a copy of an item, with another key.  `item` must not be in this store. */
perfile_status pf_sort_store_add_item(pf_sort_store *s, const pf_sort_item *item, uint64_t key,
                                      perfile_error *err);

/* Sets the key of all fragments among the items from `first` on.  Called when the record joined
 * from them has shown its time.  `first` and `spills` are the values that s->n and s->spills had
 * before the first fragment was added; if there was a spill since, nothing is changed. */
void pf_sort_store_set_fragment_keys(pf_sort_store *s, size_t first, uint64_t spills, uint64_t key);

/* Ends the adding of records.  *n is the number of readers that pf_sort_store_read() will make.
 * Afterwards everything is either in memory (one reader, or none) or in runs (one reader each). */
perfile_status pf_sort_store_finish(pf_sort_store *s, size_t *n, perfile_error *err);

/* Makes readers[0 .. n), in the order in which their records were read: of equal keys, the earlier
 * reader's record comes first.  The store must outlive them. */
void pf_sort_store_read(pf_sort_store *s, pf_sort_reader *readers, size_t n);

/* Moves to the next item.  The previous one is no longer valid. */
void pf_sort_reader_next(pf_sort_reader *r);
/* If `needs_fill` is set, reads about `window` bytes of the file.  Then `item` is set, unless the
 * run has ended.  All earlier items of `r` are no longer valid. */
perfile_status pf_sort_reader_fill(pf_sort_reader *r, size_t window, perfile_error *err);
void pf_sort_reader_close(pf_sort_reader *r);

/* Fills *r with the record of an item, except for type, misc and session.  Its bytes belong to the
 * item.  Returns the payload, all zeros if there is none. r->extra.ptr is NULL if the payload is in
 * the payload file. */
pf_sort_extra pf_sort_item_record(const pf_sort_item *item, perfile_record *r);

void pf_sort_store_close(pf_sort_store *s);

typedef struct pf_sort {
    perfile_stream base;
    perfile_sort_options options;
    perfile_sort_summary result;
    pf_totals totals;
    /* PERFILE_SORT_WHOLE on a stream that is sorted already: all records go to the store `loose`,
     * in the order in which they arrive. */
    bool in_order;
    uint64_t step;     /* bytes between two releases of pages, and between two calls of progress */
    bool writing;      /* true in the second pass: the input was read to its end */
    bool stays_mapped; /* pages are never released */

    /* First pass. */
    pf_sort_ranges ranges;
    pf_sort_store loose; /* records that do not stay in the file */
    pf_buffer record;    /* copy of a record that is not persistent, while its payload is read */
    pf_time_clock clock;
    uint64_t previous;      /* key of the previous record */
    uint64_t bytes;         /* size of all records that will be yielded, with their payloads */
    uint32_t part;          /* part of the previous record */
    bool key_seen;          /* the key of a kernel record was computed … */
    uint64_t known_events;  /* … and then pf_sort_count_events_and_ids() returned this */
    bool rounds;            /* records are of a family that has FINISHED_ROUND */
    bool fragments_open;    /* the previous record was a fragment, and not the last of its record */
    uint64_t fragments_key; /* key of all fragments of that record */
    size_t fragments_first; /* loose.n before the first of them … */
    uint64_t fragments_spills; /* … and loose.spills */
    uint64_t fragments_end;    /* sequence of the last fragment of the last joined record */
    uint64_t released;         /* offset in `part`: earlier pages were released */
    uint64_t done, total;      /* arguments of options.progress, in bytes */
    uint64_t reported;         /* `done` when progress was called last */
    uint64_t touched; /* second pass: bytes read from ranges since pages were last released */

    /* Second pass. */
    pf_sort_store moved;     /* records that were in ranges, with keys computed again */
    pf_sort_reader *readers; /* readers of both stores */
    uint32_t n_readers;
    pf_heap heap;           /* sources: all ranges, then all readers */
    uint32_t to_refill;     /* source to fill before it goes on the heap; UINT32_MAX: none */
    uint64_t reader_window; /* bytes that a reader of a run reads at once */
    uint64_t keys[PERFILE_RUN_RECORDS]; /* keys of the records in the run */
    /* Bit i: the constant members of slot i of the run are set up for records of the mapping. */
    uint64_t prepared;
    uint64_t sequence;       /* sequence of the next record */
    uint64_t round_bytes;    /* bytes of records since the last FINISHED_ROUND */
    uint64_t round_most;     /* … and when the next one is due */
    bool timed;              /* a record since then had a time */
    bool in_fragments;       /* the last record was a fragment … */
    bool joined_ready;       /* … and it was the last one of its record: `joined` is complete */
    bool joined_yielded;     /* `joined` was yielded */
    pf_buffer joined;        /* bodies of the fragments so far */
    pf_buffer payload_chunk; /* chunk of a payload, for extra() */
    pf_sort_extra extra;     /* payload of run[0] in the payload file of `loose` … */
    uint64_t extra_read;     /* … and how much of it extra() has returned */
    perfile_record payload;  /* the last record with a mapped payload; extra.len 0: none */
} pf_sort;

/* in_order.c: makes a stage on a stream that is sorted already.  The stage passes records on as
 * they arrive, and owns `below` if this succeeds. */
perfile_status pf_sort_in_order(perfile_stream *below, const perfile_sort_options *options,
                                perfile_stream **stream, perfile_error *err);
/* Sets *out to what that stage has done so far.  Returns false if `s` is another kind of stage. */
bool pf_sort_in_order_result(const perfile_stream *s, perfile_sort_summary *out);

/* Adds a record to the totals; it will be yielded. */
void pf_sort_note(pf_totals *sum, const perfile_record *r);
/* Adds `n` samples; `first` and `last` are the least and the greatest of their times. */
void pf_sort_note_samples(pf_totals *sum, uint64_t n, uint64_t first, uint64_t last);

/* Sets the members of the summary that come from the totals. */
static inline void pf_sort_set_totals(const pf_totals *sum, perfile_sort_summary *out)
{
    out->timed = sum->timed;
    out->timed_samples = sum->timed_samples;
    out->first_sample = sum->first_sample;
    out->last_sample = sum->last_sample;
}

/* Returns the number of events and ids that the session has.  If it grows, records read earlier may
 * turn out to have other times. */
uint64_t pf_sort_count_events_and_ids(const perfile_session *s);

/* read.c: does the first pass.  PERFILE_END: the input was read to its end.  PERFILE_OK: the
 * current run is damage; call again to continue. */
perfile_status pf_sort_read(pf_sort *x, perfile_error *err);

/* yield.c: begins the second pass: puts ranges and readers on the heap. */
perfile_status pf_sort_merge_begin(pf_sort *x, perfile_error *err);
/* Makes the next run of records; PERFILE_END after the last one. */
perfile_status pf_sort_merge(pf_sort *x, perfile_error *err);

/* Counts bytes of the mapping that the second pass has read.  Every few megabytes, releases the
 * whole mapping; pages that are still needed (one for each open range) are read again. */
void pf_sort_touched(pf_sort *x, uint64_t bytes);

void pf_sort_progress(pf_sort *x, uint64_t done);

#endif
