/* The store: records that cannot stay in a mapped file while they wait (from pipes, out of
 * envelopes, or because windows would be too large).
 *
 * Each record becomes a pf_sort_item in memory.  When the budget is used up, the items are sorted
 * and written to a temporary file as a run ("spilled"; runs.h).  At the end either everything is in
 * memory, with one reader, or everything is in runs, with one reader each.  Payloads behind records
 * (AUX data, tracing data) go to a file of their own as they arrive, and items point into it. */
#ifndef PF_SORT_STORE_H
#define PF_SORT_STORE_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "sort/window.h"

enum {                             /* pf_sort_item.how */
       PF_SORT_BORROWED = 1 << 0,  /* the item holds a pointer to the record, not its bytes */
       PF_SORT_EXTRA = 1 << 1,     /* a pf_sort_extra stands in front of the record */
       PF_SORT_EXTRA_FILE = 1 << 2 /* the payload is in the store's payload file */
};

/* The header of an item, in memory and in files alike.  Behind it stand, without gaps: a
 * pf_sort_extra with PF_SORT_EXTRA, then the record's bytes, or a pointer to them with
 * PF_SORT_BORROWED. */
typedef struct pf_sort_item {
    uint64_t key;
    uint64_t offset; /* of the record in its part */
    uint32_t size;   /* of the whole item, a multiple of 8 */
    uint32_t body;   /* bytes behind the header of the record */
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
    PF_SORT_FAN_IN = 64, /* runs of one level; when there are so many they become one of the next */
    PF_SORT_LEVELS = 6   /* up to 64^6 spills; more is PERFILE_E_LIMIT */
};

/* Bytes [at, end) of the file of its level. */
typedef struct pf_sort_run {
    uint64_t at, end;
} pf_sort_run;

/* The runs of a level, in one file and in the order in which their records were read.  All records
 * of a higher level were read before those of a lower one. */
typedef struct pf_sort_level {
    int fd; /* temporary file; -1: none yet */
    uint32_t n;
    uint64_t end; /* of the file */
    pf_sort_run runs[PF_SORT_FAN_IN];
} pf_sort_level;

/* Reads the items of one run, or those in memory, in order. */
typedef struct pf_sort_reader {
    const pf_sort_item *item; /* the current one; NULL: at the end, or `needs_fill` */
    bool needs_fill;          /* the next item must be read first: pf_sort_reader_fill() */
    int fd;
    uint64_t at, end;                  /* of the file: bytes that are not in `window` yet */
    pf_buffer window;                  /* `item` is at its front */
    const uint8_t *memory;             /* of items in memory; NULL: the reader is of a run */
    const pf_sort_entry *entry, *last; /* … which these entries put in order */
} pf_sort_reader;

typedef struct pf_sort_store {
    uint64_t budget;            /* bytes for items, entries and scratch */
    const char *temporary;      /* folder for files, NULL: the default; borrowed */
    pf_buffer items;            /* in input order */
    pf_sort_entry *entries;     /* key and position in `items` of each */
    pf_sort_entry *scratch;     /* for sorting: half as many */
    size_t n, cap, scratch_cap; /* items, and what the two arrays have room for */
    pf_sort_level levels[PF_SORT_LEVELS];
    pf_buffer out;         /* of the run that is being written */
    int out_fd;            /* its file, … */
    uint64_t out_at;       /* … and the position in it */
    int payloads;          /* file of payloads; -1: none yet */
    uint64_t payloads_end; /* its size */
    uint64_t written;      /* bytes written to all files */
    uint64_t spills;       /* how often memory was spilled */
} pf_sort_store;

/* Opens a store that is all zeros.  `budget` bytes are for the records in memory and for sorting
 * them; `temporary` is borrowed.  Allocates nothing. */
void pf_sort_store_open(pf_sort_store *s, uint64_t budget, const char *temporary);

/* Adds a record with this key.  Its bytes are copied unless they are stable; with `copy` always.  A
 * payload that is not stable in memory must be in the payload file already: r->extra.len bytes that
 * pf_sort_store_payload() has added last. */
perfile_status pf_sort_store_add(pf_sort_store *s, uint64_t key, const perfile_record *r, bool copy,
                                 perfile_error *err);

/* Appends bytes to the payload file, for the record that is added next. */
perfile_status pf_sort_store_payload(pf_sort_store *s, perfile_bytes bytes, perfile_error *err);

/* Adds a copy of an item, with another key.  `item` must not be in this store. */
perfile_status pf_sort_store_add_item(pf_sort_store *s, const pf_sort_item *item, uint64_t key,
                                      perfile_error *err);

/* Gives `key` to all fragments among the items from `first` on, once the joined record has shown
 * its time.  `first` and `spills` are s->n and s->spills as they were before the first fragment was
 * added; does nothing if there was a spill since. */
void pf_sort_store_set_fragment_keys(pf_sort_store *s, size_t first, uint64_t spills, uint64_t key);

/* Bytes in use of the budget. */
uint64_t pf_sort_store_memory(const pf_sort_store *s);

/* True if there are runs in files. */
bool pf_sort_store_spilled(const pf_sort_store *s);

/* To be called when all records were added: *n is the number of readers that pf_sort_store_read()
 * makes.  Afterwards everything is either in memory (one reader, or none) or in runs (one each). */
perfile_status pf_sort_store_finish(pf_sort_store *s, size_t *n, perfile_error *err);

/* Makes readers[0 .. n), in the order in which their records were read; where keys are equal, the
 * earlier reader goes first.  The store must stay until they are closed. */
void pf_sort_store_read(pf_sort_store *s, pf_sort_reader *readers, size_t n);

/* Moves to the next item; the one before is invalid from here on. */
void pf_sort_reader_next(pf_sort_reader *r);
/* Where `needs_fill` is set: reads about `window` bytes of the file, so that `item` is set unless
 * the run has ended.  All items of `r` before are invalid from here on. */
perfile_status pf_sort_reader_fill(pf_sort_reader *r, size_t window, perfile_error *err);
void pf_sort_reader_close(pf_sort_reader *r);

/* Fills *r with the record of an item, but for type, misc and session.  Its bytes belong to the
 * item.  Returns the payload, zeros if there is none; r->extra.ptr is NULL if that is in the
 * payload file. */
pf_sort_extra pf_sort_item_record(const pf_sort_item *item, perfile_record *r);

void pf_sort_store_close(pf_sort_store *s);

/* Sorted runs of a store in temporary files: writing, merging by levels, reading. */

/* Writes a run to `level`: one call of begin, put() for each item in order, one call of end. */
perfile_status pf_sort_run_begin(pf_sort_store *s, unsigned level, perfile_error *err);
perfile_status pf_sort_run_put(pf_sort_store *s, const pf_sort_item *item, perfile_error *err);
perfile_status pf_sort_run_end(pf_sort_store *s, unsigned level, perfile_error *err);

/* To be called when level 0 has PF_SORT_FAN runs: merges them into one run of level 1, and does the
 * same with each higher level that is full then.  PERFILE_E_LIMIT: the highest level is full. */
perfile_status pf_sort_runs_merge(pf_sort_store *s, perfile_error *err);

/* Makes a reader for each run of the level, in the order in which their records were read; returns
 * the position behind the last reader.  Their first items come with pf_sort_reader_fill(). */
pf_sort_reader *pf_sort_runs_open(const pf_sort_level *level, pf_sort_reader *readers);

#endif
