/* Records that cannot stay where they are: copied to memory, and beyond a budget to temporary
 * files, as sorted runs. */
#ifndef PF_SORT_STORE_H
#define PF_SORT_STORE_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "sort/entries.h"

enum {                             /* pf_sort_item.how */
       PF_SORT_BORROWED = 1 << 0,  /* behind it is a pointer, not the record */
       PF_SORT_EXTRA = 1 << 1,     /* behind it are the bytes behind the record: pf_sort_extra */
       PF_SORT_EXTRA_FILE = 1 << 2 /* which are in the file of payloads */
};

/* What stands in front of a record in memory and in files; all of it is `size` bytes, a multiple of
 * 8. */
typedef struct pf_sort_item {
    uint64_t key;
    uint64_t offset;
    uint32_t size;
    uint32_t body; /* bytes behind the header of the record */
    uint32_t part;
    uint8_t flags; /* PERFILE_REC_… */
    uint8_t how;
    uint8_t family; /* PERFILE_FAMILY_… */
    uint8_t reserved;
} pf_sort_item;

typedef struct pf_sort_extra {
    uint64_t len;
    uint64_t at; /* a pointer, or a place in the file of payloads */
} pf_sort_extra;

enum {
    PF_SORT_FAN = 64, /* runs of a level, which then become one of the next */
    PF_SORT_LEVELS = 6
};

typedef struct pf_sort_run {
    uint64_t at, end;
} pf_sort_run;

/* A file; its runs are in the order in which their records were read, and before those of the level
 * below. */
typedef struct pf_sort_level {
    int fd; /* -1: none */
    uint32_t n;
    uint64_t end;
    pf_sort_run runs[PF_SORT_FAN];
} pf_sort_level;

/* Reads a run, or what is in memory: the item at hand, and how to get the next. */
typedef struct pf_sort_reader {
    const pf_sort_item *item; /* NULL: at the end, or `dry` */
    bool dry;                 /* the next item is not in memory: pf_sort_reader_fill() */
    int fd;
    uint64_t at, end;                  /* of the file */
    pf_buffer window;                  /* item is at its front */
    const uint8_t *memory;             /* of a reader of memory, … */
    const pf_sort_entry *entry, *last; /* … in this order */
} pf_sort_reader;

typedef struct pf_sort_store {
    uint64_t budget;       /* of bytes, entries and scratch */
    const char *temporary; /* folder */
    pf_buffer items;
    pf_sort_entry *entries;
    pf_sort_entry *scratch;
    size_t n, cap, scratch_cap;
    bool sorted;
    pf_sort_level levels[PF_SORT_LEVELS];
    pf_buffer out; /* on its way to a file */
    int out_fd;
    uint64_t out_at;
    int payloads; /* file of what stands behind records; -1: none */
    uint64_t payloads_end;
    uint64_t written; /* bytes to files */
    uint64_t spills;
} pf_sort_store;

/* Of an all zero one: `budget` bytes are for records and what sorting them takes. */
void pf_sort_store_open(pf_sort_store *s, uint64_t budget, const char *temporary);

/* Adds a record.  Its bytes are copied unless they are stable; with `copy` in any case.  Payloads
 * that are neither in memory nor stable are given later: pf_sort_store_payload(). */
perfile_status pf_sort_store_add(pf_sort_store *s, uint64_t key, const perfile_record *r, bool copy,
                                 perfile_error *err);

/* Adds bytes to the payload of the record that is added next, which has EXTRA_FILE then. */
perfile_status pf_sort_store_payload(pf_sort_store *s, perfile_bytes piece, perfile_error *err);

/* The same item once more, with another key. */
perfile_status pf_sort_store_again(pf_sort_store *s, const pf_sort_item *item, uint64_t key,
                                   perfile_error *err);

/* The time of a record in pieces is known when it is whole: gives `key` to the pieces among the
 * items from `first` (an earlier s->n) on, unless some of them went to a run meanwhile. */
void pf_sort_store_time_pieces(pf_sort_store *s, size_t first, uint64_t spills, uint64_t key);

/* Bytes of memory in use. */
uint64_t pf_sort_store_memory(const pf_sort_store *s);

/* Whether there are runs in files. */
bool pf_sort_store_spilled(const pf_sort_store *s);

/* Nothing more is added: how many readers it needs, in *n.  All of it is either in memory (then one
 * reader, or none) or in files. */
perfile_status pf_sort_store_finish(pf_sort_store *s, size_t *n, perfile_error *err);

/* Makes readers[0 .. n), in the order in which their records were read.  Each has a window of
 * `window` bytes. */
void pf_sort_store_read(pf_sort_store *s, pf_sort_reader *readers, size_t n);

/* Moves to the next item; `item` is invalid from here on. */
void pf_sort_reader_next(pf_sort_reader *r);
/* Reads on: what was in the window of `r` is invalid from here on. */
perfile_status pf_sort_reader_fill(pf_sort_reader *r, size_t window, perfile_error *err);
void pf_sort_reader_close(pf_sort_reader *r);

/* The record of an item, without type, misc and session.  Returns its payload, zeros if none. */
pf_sort_extra pf_sort_item_record(const pf_sort_item *item, perfile_record *r);

void pf_sort_store_close(pf_sort_store *s);

#endif
