/* The inside of perfile_sort(). */
#ifndef PF_SORT_SORT_H
#define PF_SORT_SORT_H

#include "perfile/sort.h"
#include "sort/gather.h"
#include "sort/store.h"
#include "sort/window.h"

/* One of the sorted sequences that are merged: a window, a reader, or all strands. */
typedef struct pf_sort_source {
    uint64_t key; /* of its first record, … */
    uint64_t offset;
    uint32_t part;
    uint32_t order; /* … and what decides where those are equal */
    pf_sort_window *window;
    pf_sort_reader *reader;
    pf_sort_strands *strands;
} pf_sort_source;

typedef struct pf_sort {
    perfile_stream base;
    perfile_sort_options options;
    perfile_sort_summary result;
    pf_totals totals;
    bool in_order;     /* the stream below is sorted: its records are held as they come */
    uint64_t step;     /* bytes between looks at pages and progress */
    bool writing;      /* the input was read to its end */
    bool stays_mapped; /* between the passes */

    /* Reading. */
    pf_sort_blocks blocks;
    pf_sort_store loose;
    pf_time_clock clock;
    uint64_t previous; /* key of the record before */
    uint64_t bytes;    /* of the records that will be handed out */
    uint32_t part;
    uint64_t known; /* pf_sort_known() when the first time was looked up */
    bool looked;
    bool rounds;     /* the records are of a family that has them */
    bool split_open; /* in the middle of a record in pieces, whose key is: */
    uint64_t split_key;
    size_t split_first; /* n and spills of `loose` in front of its pieces */
    uint64_t split_spills;
    uint64_t split_end; /* sequence of the last record that ended one */
    uint64_t released;  /* bytes of `part` that were given back */
    uint64_t done, total, told;

    /* Handing out. */
    pf_sort_store moved;     /* what was in blocks that would need too much memory */
    pf_sort_strands strands; /* instead of windows */
    bool by_strands;
    pf_sort_window *windows;
    pf_sort_reader *readers;
    pf_sort_source *sources;
    pf_sort_source **heap; /* the first has the least */
    uint32_t n_windows, n_readers, n_heap;
    pf_sort_source *dry; /* taken off the heap until it has read on */
    uint64_t reader_window;
    uint64_t keys[PERFILE_RUN_RECORDS]; /* of the run */
    uint64_t clean; /* slots of the run that records of windows were in last, by bit */
    uint64_t sequence;
    uint64_t round_bytes; /* since the last FINISHED_ROUND */
    bool timed;           /* a record with a time since then */
    bool in_pieces;       /* the last record was a piece of one */
    bool whole_ready;     /* … and the last of them */
    bool whole_over;      /* `whole` was handed out */
    pf_buffer whole;      /* a record in pieces, as far as they came */
    pf_buffer piece;      /* of a payload */
    pf_sort_extra extra;
    uint64_t extra_read;
    pf_sample_span given; /* samples of strands that were handed out as bytes, and not taken yet */
    uint64_t given_at;    /* so many of them were */
    pf_sort_gathered gathered;
    pf_buffer room;         /* for what is gathered */
    perfile_record payload; /* whose mapped payload was handed out last; extra.len 0: none */
} pf_sort;

/* sort/in_order.c: the stage on a stream that is sorted, which need not be read before. */
perfile_status pf_sort_in_order(perfile_stream *below, const perfile_sort_options *options,
                                perfile_stream **stream, perfile_error *err);
/* What that stage has done so far; false: `s` is another one. */
bool pf_sort_in_order_result(const perfile_stream *s, perfile_sort_summary *out);

/* Counts records that are handed out, for what is told of all of them: any record; samples, of
 * which `first` and `last` are the least and the greatest time. */
void pf_sort_note(pf_totals *sum, const perfile_record *r);
void pf_sort_note_samples(pf_totals *sum, uint64_t n, uint64_t first, uint64_t last);

static inline void pf_sort_tell_totals(const pf_totals *sum, perfile_sort_summary *out)
{
    out->timed = sum->timed;
    out->timed_samples = sum->timed_samples;
    out->first_sample = sum->first_sample;
    out->last_sample = sum->last_sample;
}

/* How many events and ids there are: with more, records may have other times. */
uint64_t pf_sort_known(const perfile_session *s);

/* sort/read.c: the first pass.  PERFILE_OK with a run: damage that was met. */
perfile_status pf_sort_read(pf_sort *x, perfile_error *err);

/* sort/plan.c: decides what stays in the file, what is in memory, and what is in runs. */
perfile_status pf_sort_plan(pf_sort *x, perfile_error *err);

/* sort/merge.c: makes the next run. */
perfile_status pf_sort_merge_begin(pf_sort *x, perfile_error *err);
perfile_status pf_sort_merge(pf_sort *x, perfile_error *err);
/* The least key that a source has beside the first. */
uint64_t pf_sort_least_of_others(const pf_sort *x);
/* Strands are the first source, and have moved on. */
void pf_sort_strands_took(pf_sort *x);

/* sort/span.c: samples as bytes.  See pf_stream_ops. */
pf_sample_span pf_sort_span(perfile_stream *s, uint64_t most);
void pf_sort_skip(perfile_stream *s, uint64_t records, uint64_t bytes);
/* Makes a run of what was handed out and not taken. */
void pf_sort_hand_out(pf_sort *x);

void pf_sort_progress(pf_sort *x, uint64_t done);

#endif
