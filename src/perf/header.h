/* The header of perf.data, both versions, file and pipe form.  These functions read bytes only;
 * they know nothing about streams. open.c and file.c decide what the numbers mean for a capture. */
#ifndef PF_PERF_HEADER_H
#define PF_PERF_HEADER_H

#include "core/driver.h"
#include "perfile/container.h"

enum {
    PF_PERF_PIPE_HEADER = 16, /* magic and size */
    PF_PERF_OLD_HEADER = 72,  /* a file without the feature bitmap */
    PF_PERF_FILE_HEADER = 104
};

typedef struct pf_perf_header {
    uint32_t form;      /* PERFILE_FORM_… */
    uint32_t version;   /* 1: PERFFILE; 2: PERFILE2 */
    bool swap;          /* stored in the byte order that is not this machine's */
    uint64_t magic;     /* the first 8 bytes, read as a little-endian number */
    uint64_t size;      /* as stored; may be an unknown size */
    uint32_t used;      /* number of its bytes that are read: 16, 72 or 104 */
    uint64_t attr_size; /* bytes of an entry of `attrs`: an attr, then offset and size of its ids */
    perfile_section attrs;
    perfile_section data;
    perfile_section event_types;
    uint64_t features[4];    /* bitmap; bit n of word n / 64 is feature n */
    uint64_t features_moved; /* added to the offsets in the feature table:
                                perfile_assume.features_shift */
} pf_perf_header;

/* Reads magic and size, 16 bytes.  Returns 0, PERFILE_DAMAGE_BAD_MAGIC, or
 * PERFILE_DAMAGE_TRUNCATED_HEADER if there are fewer `bytes`.  Members that were not read are 0. */
unsigned pf_perf_header_begin(perfile_bytes bytes, pf_perf_header *h);

/* Reads the rest of a file header into `h`, after pf_perf_header_begin().  Returns 0 or
 * PERFILE_DAMAGE_TRUNCATED_HEADER.  A header of unknown size is read as one of 104 bytes. */
unsigned pf_perf_header_sections(perfile_bytes bytes, pf_perf_header *h);

/* Returns true if the feature bitmap of a big-endian file, read as four 64-bit words, was written
 * by a program whose `long` has 32 bits.  Sets `narrow` to the bitmap read that way. */
bool pf_perf_bitmap_narrow(const uint64_t wide[4], uint64_t narrow[4]);

/* Returns true if the stored header size is 16, 72 or 104. */
bool pf_perf_header_size_known(const pf_perf_header *h);

/* Finding the feature table of a file in bytes that may be damaged. open.c and repair.c use this to
 * test whether a table is at an offset, and to search for one that has moved. */

enum {
    PF_TABLE_ENTRY = 16, /* an entry of the feature table: offset and size */
    PF_TABLE_MOST = 64   /* a table with more entries is not believed: perf has fewer features */
};

/* The bytes that are examined: `bytes` begin at offset `at` of a file of `size` bytes. */
typedef struct pf_table_bytes {
    perfile_bytes bytes;
    uint64_t at;
    uint64_t size;
    bool swap;
} pf_table_bytes;

/* Returns the number of features in the bitmap. */
unsigned pf_table_count(const uint64_t features[4]);

/* Returns true if the bytes at offset `at` could be a feature table of `n` entries.  Its sections,
 * in any order, must fill the bytes after the table, with at most `pad` bytes before them and at
 * most `pad` bytes between them.  `moved` is added to their offsets (modulo 2^64).  Sets *end to
 * the end of the last section. */
bool pf_table_plausible(const pf_table_bytes *in, uint64_t at, uint64_t n, uint64_t pad,
                        uint64_t moved, uint64_t *end);

/* Searches for the feature table of a file in which bytes were inserted or lost before the table.
 * The offsets in the table are then still relative to the position that `h` gives.  Sets *table to
 * the offset where the table is.  Returns false if it is not found. */
bool pf_table_find_moved(const pf_table_bytes *in, const pf_perf_header *h, uint64_t *table);

#endif
