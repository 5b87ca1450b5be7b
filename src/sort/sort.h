/* Internals of perfile_sort(): the stage, and what its files share.
 *
 * The stage works in two passes.  read.c reads the stream below to its end: records that stay in
 * the mapped file are noted as blocks (window.h), the others go to a store (store.h).  plan.c then
 * decides what is merged: strands or windows of the blocks, and readers of the stores.  merge.c
 * merges these sources by a heap and makes runs of records; span.c yields samples as bytes instead
 * where it can. */
#ifndef PF_SORT_SORT_H
#define PF_SORT_SORT_H

#include "perfile/sort.h"
#include "sort/strands.h"
#include "sort/store.h"
#include "sort/window.h"

/* One of the sorted sequences that are merged.  Exactly one of window, reader and strands is set;
 * all strands together are one source, because they have a heap of their own. */
typedef struct pf_sort_source {
    /* Of the next record.  Sources are compared by key, part, offset, order. */
    uint64_t key;
    uint64_t offset; /* in the part */
    uint32_t part;
    uint32_t order; /* number of the source */
    pf_sort_window *window;
    pf_sort_reader *reader;
    pf_sort_strands *strands;
} pf_sort_source;

typedef struct pf_sort {
    perfile_stream base;
    perfile_sort_options options;
    perfile_sort_summary result;
    pf_totals totals;
    /* PERFILE_SORT_WHOLE on a stream that is sorted already: all records go to the store `loose`,
     * in the order in which they come. */
    bool in_order;
    uint64_t step;     /* bytes between two releases of pages, and between two calls of progress */
    bool writing;      /* second pass: the input was read to its end */
    bool stays_mapped; /* no pages are released between the passes */

    /* First pass. */
    pf_sort_blocks blocks;
    pf_sort_store loose; /* records that do not stay in the file */
    pf_buffer record;    /* one with a payload that does not, while that is read */
    pf_time_clock clock;
    uint64_t previous;      /* key of the record before */
    uint64_t bytes;         /* of all records that will be yielded, with their payloads */
    uint32_t part;          /* of the record before */
    bool key_seen;          /* the key of a kernel record was computed … */
    uint64_t known_events;  /* … and pf_sort_count_events_and_ids() was this at the first one */
    bool rounds;            /* records are of a family that has FINISHED_ROUND */
    bool fragments_open;    /* the record before was a fragment, and not the last of its record */
    uint64_t fragments_key; /* key of the fragments of that record */
    size_t fragments_first; /* loose.n and … */
    uint64_t fragments_spills; /* … loose.spills in front of them */
    uint64_t fragments_end;    /* sequence of the last fragment of the last joined record */
    uint64_t released;         /* offset in `part`: pages before it were released */
    uint64_t done, total;      /* of options.progress, in bytes */
    uint64_t reported;         /* `done` when progress was called last */

    /* Second pass. */
    pf_sort_store moved;     /* records of blocks whose windows would need too much memory */
    pf_sort_strands strands; /* with by_strands: instead of windows */
    bool by_strands;
    pf_sort_window *windows; /* one for each part */
    pf_sort_reader *readers; /* of both stores */
    pf_sort_source *sources; /* one for each window and reader, and one for the strands */
    pf_sort_source **heap;   /* sources with a next record; heap[0] is the least */
    uint32_t n_windows, n_readers, n_heap;
    pf_sort_source *to_refill;          /* must be filled before it goes on the heap; NULL: none */
    uint64_t reader_window;             /* bytes that a reader of a run reads at once */
    uint64_t keys[PERFILE_RUN_RECORDS]; /* of the records of the run */
    /* Bit per slot of the run: its constant members are set up for records of the mapping. */
    uint64_t prepared;
    uint64_t sequence;       /* of the next record */
    uint64_t round_bytes;    /* since the last FINISHED_ROUND */
    uint64_t round_most;     /* … at which the next one is due */
    bool timed;              /* there was a record with a time since then */
    bool in_fragments;       /* the last record was a fragment … */
    bool joined_ready;       /* … and the last one of its record: `joined` is complete */
    bool joined_yielded;     /* `joined` was yielded */
    pf_buffer joined;        /* bodies of the fragments so far */
    pf_buffer payload_chunk; /* chunk of a payload, for extra() */
    pf_sort_extra extra;     /* payload of run[0], in the payload file of `loose` … */
    uint64_t extra_read;     /* … and how much of it extra() has returned */
    perfile_record payload;  /* the last record with a mapped payload; extra.len 0: none */
} pf_sort;

/* in_order.c: the stage on a stream that is sorted already.  It passes records on as they come and
 * owns `below` from success on. */
perfile_status pf_sort_in_order(perfile_stream *below, const perfile_sort_options *options,
                                perfile_stream **stream, perfile_error *err);
/* Sets *out to what such a stage has done so far; false: `s` is another kind of stage. */
bool pf_sort_in_order_result(const perfile_stream *s, perfile_sort_summary *out);

/* Adds a record that will be yielded to the totals. */
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

/* Returns the number of events and ids that the session has.  When it grows, records that came
 * before may turn out to have other times. */
uint64_t pf_sort_count_events_and_ids(const perfile_session *s);

/* read.c: the first pass.  PERFILE_END: the input was read to its end.  PERFILE_OK: damage was met,
 * which is the current run; call again to go on. */
perfile_status pf_sort_read(pf_sort *x, perfile_error *err);

/* plan.c: decides what stays in the file, what is held in memory, and what goes to temporary files;
 * makes strands, windows and readers. */
perfile_status pf_sort_plan(pf_sort *x, perfile_error *err);

/* merge.c: makes the sources and puts them on the heap. */
perfile_status pf_sort_merge_begin(pf_sort *x, perfile_error *err);
/* Makes the next run of records; PERFILE_END after the last one. */
perfile_status pf_sort_merge(pf_sort *x, perfile_error *err);
/* joined.c: if the run is a fragment, adds its body to the joined record. */
perfile_status pf_sort_join_fragment(pf_sort *x, perfile_error *err);
/* Behind the last fragment: makes the joined record the run, unless the bytes are no record of just
 * this size (then the run stays empty). */
void pf_sort_make_joined(pf_sort *x);

/* Returns slot `i` of the run for a record that is not of the mapping; merge.c prepares it again
 * afterwards. */
static inline perfile_record *pf_sort_unprepared_slot(pf_sort *x, uint32_t i)
{
    x->prepared &= ~(UINT64_C(1) << i);
    return &x->base.run[i];
}

/* Calls options.progress, if there is one. */
void pf_sort_progress(pf_sort *x, uint64_t done);

#endif
