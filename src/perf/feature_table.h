/* The feature table of a file as it looks in bytes that may be damaged: open.c and repair.c ask
 * whether one stands somewhere, and search one that has moved. */
#ifndef PF_PERF_FEATURE_TABLE_H
#define PF_PERF_FEATURE_TABLE_H

#include "perf/header.h"

enum {
    PF_TABLE_ENTRY = 16, /* an entry of the feature table: offset and size */
    PF_TABLE_MOST = 64   /* a table with more entries is not believed: perf has fewer features */
};

/* The bytes of a file that are examined: `bytes` stand at offset `at` of a file of `size` bytes. */
typedef struct pf_table_bytes {
    perfile_bytes bytes;
    uint64_t at;
    uint64_t size;
    bool swap;
} pf_table_bytes;

/* The number of features in the bitmap. */
unsigned pf_table_count(const uint64_t features[4]);

/* True if the bytes at offset `at` could be a feature table of `n` entries.  Its sections must fill
 * the bytes behind the table, in any order, with at most `pad` bytes in front of them and at most
 * `pad` bytes between them.  `moved` is added to their offsets (modulo 2^64).  *end is the offset
 * behind the last section. */
bool pf_table_plausible(const pf_table_bytes *in, uint64_t at, uint64_t n, uint64_t pad,
                        uint64_t moved, uint64_t *end);

/* Searches for the feature table of a file in which bytes were inserted or lost in front of it.
 * The offsets in the table then still count from where `h` says that it stands.  Sets *table. */
bool pf_table_find_moved(const pf_table_bytes *in, const pf_perf_header *h, uint64_t *table);

#endif
