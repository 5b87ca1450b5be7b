/* Sorting the records of a stream by time. */
#ifndef PERFILE_SORT_H
#define PERFILE_SORT_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PERFILE_SORT_LEAST_MEMORY = 2 << 20, /* minimum of max_memory */
    PERFILE_SORT_MAX_MEMORY = 256 << 20, /* default of max_memory */
    PERFILE_SORT_MAX_MAPPED = 1 << 30    /* default of max_mapped */
};

enum { /* perfile_sort_options.flags */
       /* Read the stream to its end before the first record is yielded, even if it is already
        * sorted. */
       PERFILE_SORT_WHOLE = 1 << 0,
       /* Make one FINISHED_ROUND, after the last record, instead of one after every few MiB; also
        * if no record has a time. */
       PERFILE_SORT_ONE_ROUND = 1 << 1
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_sort_options {
    size_t size;
    /* Bytes of memory that sorting may use, in addition to the session and the buffers of source
     * and sink.  Records of a mapped input stay in the mapping until they are yielded.  A sixteenth
     * of the limit is for the list of ranges that are in order, about 110 bytes each.  Data that
     * exceeds the limit goes to temporary files. */
    uint64_t max_memory;
    const char *temporary; /* folder for temporary files, NULL: TMPDIR, or /tmp; borrowed */
    /* Called from time to time with `done` of `total` bytes of the input (0: unknown).  A byte
     * counts half when it is read and half when it is yielded.  May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /* A mapped input of at most so many bytes stays mapped between the two passes, as mapping pages
     * again costs as much as reading them.  This is page cache, which the system can reclaim when
     * it needs memory.  0: 1 GiB, or max_memory if that is set. */
    uint64_t max_mapped;
    uint64_t flags; /* PERFILE_SORT_… */
    uint64_t reserved[4];
} perfile_sort_options;

/* Puts a stage on `below` that yields its records by time; records of equal time in stored order.
 * The first call for a record reads `below` to its end.
 *
 * A stream that is already sorted (a merge, a stage on a sorted stream)
 * keeps its order: records are passed through with a `sequence` and FINISHED_ROUND of this stage,
 * and nothing is held.  With PERFILE_SORT_WHOLE even such a stream is first read to its end and
 * held in memory and temporary files, so that all facts are known before the first record.
 *
 * Records of time 0 (synthesized ones) come first, together with records that describe the capture
 * as a whole, wherever they were: attrs, features, build ids, names, maps of CPUs, threads and ids.
 * Other records without a time stay after the records that they followed in the input: kernel
 * records after the last one with a time, tool records after all that preceded them.
 *
 * FINISHED_ROUND records of the input are dropped and not trusted.  New ones are made after every
 * few MiB and after the last record with a time, so that a reader that sorts again needs little
 * memory.  Compressed records are dropped; their content is sorted and no longer marked as inner.
 * Fragments of simpleperf's long records stay together.  Damage is reported when it is met, which
 * is before the first record is yielded.  `sequence` counts from 0 again.
 *
 * For a mapped file the first pass finds the ranges that are in order, and the second pass merges
 * them in place.  Data that does not fit in max_memory, or is not mapped (pipes, decompressed
 * records), goes to unnamed temporary files as sorted runs, which are merged.
 *
 * *stream owns `below` on success; on failure the caller still owns it.  PERFILE_E_USAGE:
 * max_memory is below the minimum, or `below` has already been read from. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sort(perfile_stream *below,
                                                         const perfile_sort_options *options,
                                                         perfile_stream **stream,
                                                         perfile_error *err);

/* What a sorting stage has read and yielded. */
typedef struct perfile_sort_summary {
    uint64_t records;        /* yielded, without the FINISHED_ROUND that were made */
    uint64_t samples;        /* SAMPLE records among them */
    uint64_t out_of_order;   /* records of the input that are earlier than the one before them */
    uint64_t rounds_dropped; /* FINISHED_ROUND records of the input */
    uint64_t rounds;         /* FINISHED_ROUND records that were made */
    uint64_t envelopes;      /* compressed records that were replaced by their content */
    uint64_t temporary;      /* bytes written to temporary files */
    uint64_t timed;          /* records read with a time other than 0 */
    uint64_t timed_samples;  /* samples among them */
    uint64_t first_sample;   /* least time of those samples; UINT64_MAX without any */
    uint64_t last_sample;    /* greatest time of those samples; 0 without any */
    uint64_t reserved[6];
} perfile_sort_summary;

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *out with the counts so far; zeros if `stream` is not a stage of
 * perfile_sort(). */
static inline void perfile_sort_get_summary(const perfile_stream *stream, perfile_sort_summary *out,
                                            size_t size)
{
    perfile_summary(PERFILE_SUMMARY_SORT, stream, out, size);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
