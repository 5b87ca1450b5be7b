/* Records by time. */
#ifndef PERFILE_SORT_H
#define PERFILE_SORT_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PERFILE_SORT_LEAST_MEMORY = 2 << 20, /* of max_memory */
    PERFILE_SORT_MAX_MEMORY = 256 << 20, /* its default */
    PERFILE_SORT_MAX_MAPPED = 1 << 30    /* of max_mapped */
};

enum { /* perfile_sort_options.flags */
       /* What is sorted already is read to its end before the first record, too. */
       PERFILE_SORT_WHOLE = 1 << 0
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_sort_options {
    size_t size;
    /* Bytes in memory, as far as sorting decides: what the session holds and the buffers of source
     * and sink are not among them.  Of a mapped input records stay where they are until it is their
     * turn, and count 24 to 30 bytes each.  Beyond that temporary files are used. */
    uint64_t max_memory;
    const char *temporary; /* folder for them, NULL: TMPDIR, or /tmp; borrowed */
    /* Now and then: `done` of the `total` bytes of the input (0: not known).  Half of a byte is
     * done when it was read, the other half when it is handed out.  May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /* A mapped input of no more bytes stays mapped between the passes: to map it twice costs as
     * much as to look at it.  Nor do records that wait in it for their turn have more, else they go
     * to temporary files, too; where times step back in few places, none wait.  It is page cache,
     * which the system takes back when it needs it.  0: 1 GiB, or with a max_memory that much. */
    uint64_t max_mapped;
    uint64_t flags; /* PERFILE_SORT_… */
    uint64_t reserved[4];
} perfile_sort_options;

/* Puts a stage on `below` that hands on its records by time, in the order of the input where times
 * are equal.  The first call for a record reads `below` to its end.
 *
 * What is sorted already (perfile_stream_sorted_by(): a merge, a stage on a sorted stream) stays in
 * its order: its records are handed on as they come, with numbers and rounds of their own, and
 * nothing is held.  With PERFILE_SORT_WHOLE it is read to its end first as everything else is, and
 * held in memory and temporary files, so that all facts are known before the first record.
 *
 * Times of 0 (what existed before the recording) come first, and with them records that say
 * something of the capture as a whole, wherever they stood: attrs, features, build ids, names, maps
 * of processors, threads and ids.  Other records without a time stay behind those that they stood
 * behind: of the kernel behind the last one that had a time, of tools behind all.
 *
 * FINISHED_ROUND of the input are left out; new ones stand after every few MiB and at the end of
 * what has times, so that readers that sort need little memory.  Compressed records are left out,
 * what was in them is sorted and no inner record any more.  Records of simpleperf in pieces stay
 * together.  Damage is told when it is met, before any record.  `sequence` counts anew.
 *
 * FINISHED_ROUND of the input are not trusted: of a mapped file a first pass finds out up to where
 * all that follows is later, whatever rounds it has, and the second holds no more than that.  What
 * does not fit max_memory, and what is not mapped (pipes, decompressed records), goes as sorted
 * runs to temporary files, which have no name, and is merged from there.
 *
 * *stream owns `below` from success on; on failure it stays the caller's.
 * PERFILE_E_USAGE: max_memory is below the least, or `below` has been read from already. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_sort(perfile_stream *below,
                                                         const perfile_sort_options *options,
                                                         perfile_stream **stream,
                                                         perfile_error *err);

/* What a sorting stage has read and handed out. */
typedef struct perfile_sort_summary {
    uint64_t records;        /* handed out, rounds that were made not among them */
    uint64_t samples;        /* of them */
    uint64_t out_of_order;   /* of the input: earlier than the one before */
    uint64_t rounds_dropped; /* of the input: FINISHED_ROUND left out */
    uint64_t rounds;         /* made */
    uint64_t envelopes;      /* compressed records left out, whose content was handed out */
    uint64_t temporary;      /* bytes that were written to temporary files */
    /* What was read: */
    uint64_t timed;         /* records with a time that is not 0 */
    uint64_t timed_samples; /* of them */
    uint64_t first_sample;  /* least and greatest time of those; without any UINT64_MAX … */
    uint64_t last_sample;   /* … and 0 */
    uint64_t reserved[6];
} perfile_sort_summary;

/* What the stage `stream` has done so far: the first `size` bytes of *out; zeros when it is none
 * of perfile_sort(). */
PERFILE_API void perfile_sort_get_summary(const perfile_stream *stream, perfile_sort_summary *out,
                                          size_t size);

#ifdef __cplusplus
}
#endif

#endif
