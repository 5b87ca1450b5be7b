/* Merging captures of any form in one call: opening, sorting, perfile_merge(), writing.
 *
 *     perfile_merge_source in[2] = {{.source = one}, {.source = two}};
 *     st = perfile_merge_captures(in, 2, sink, NULL, NULL, 0, &err); */
#ifndef PERFILE_MERGE_CAPTURES_H
#define PERFILE_MERGE_CAPTURES_H

#include "copy.h"
#include "merge.h"
#include "sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An input capture.  Set `source`; the other members may be zero. */
typedef struct perfile_merge_source {
    perfile_source *source; /* closed on success */
    const char *name;       /* name for messages; NULL: the name of the source */
    const char *from;       /* as in perfile_open_options */
    int64_t offset;         /* with `has_offset`: ns to be added to its times */
    bool has_offset;        /* `offset` counts */
    uint8_t reserved0[7];
    /* Filled after the input was read to its end, before `merged` is called: the first
     * `summary_size` bytes, with the damage of this input.  May be NULL. */
    perfile_stream_summary *summary;
    size_t summary_size; /* sizeof *summary */
    uint64_t reserved[5];
} perfile_merge_source;

enum {
    /* Memory limit for sorting all inputs, in bytes.  Each input has an equal share, but at least
     * PERFILE_SORT_LEAST_MEMORY. */
    PERFILE_MERGE_MAX_MEMORY = 256 << 20
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_merge_captures_options {
    size_t size;
    const perfile_merge_options *merge; /* how they are merged; NULL: the defaults */
    uint32_t form; /* PERFILE_FORM_FILE or PIPE; 0: that of the first input, of a directory FILE */
    uint32_t on_damage; /* PERFILE_ON_DAMAGE_STOP (the default), RESYNC, SALVAGE or FAIL */
    /* Replaces PERFILE_MERGE_MAX_MEMORY; 0: not set.  If set, it also limits how much of the inputs
     * stays mapped while they wait: perfile_sort_options.max_mapped. */
    uint64_t max_memory;
    const char *temporary;        /* as in perfile_sort_options */
    const perfile_limits *limits; /* NULL: the defaults */
    /* As in perfile_copy_options.  `input` is the position of the input that was converted to the
     * byte order of the first, or UINT32_MAX for a note about the output. */
    void (*note)(void *user, uint32_t input, const perfile_note *note);
    void (*progress)(void *user, uint64_t done, uint64_t total); /* as in perfile_sort_options */
    /* Called once, when nothing more will be read: call perfile_merge_get_summary() here.
     *  Not called if merging did not begin. */
    void (*merged)(void *user, const perfile_stream *stream);
    void *user;
    const char *format; /* as in perfile_writer_options; NULL: that of the input */
    /* Filled with the counts of written data so far, also on failure: the first `copied_size`
     * bytes.  `damages` and `lost` are totals of all inputs.  May be NULL. */
    perfile_copy_summary *copied;
    size_t copied_size;     /* sizeof *copied */
    int32_t compress_level; /* as in perfile_writer_options */
    uint32_t reserved0;
    uint64_t reserved[4];
} perfile_merge_captures_options;

/* Opens the captures, converts them to the byte order of the first, sorts and merges them, writes
 * the result to `sink`, and finishes the sink.  A capture in file form from a pipe is spooled to a
 * temporary file.  On success the sources are closed and set to NULL.  The caller still owns the
 * sink.  *summary (its first `size` bytes; may be NULL) is filled with the counts so far, also on
 * failure.
 *
 * Error messages about an input begin with its name and, if known, the offset in it.  See
 * perfile_merge() for PERFILE_E_USAGE. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_merge_captures(perfile_merge_source *in, size_t n, perfile_sink *sink,
                       const perfile_merge_captures_options *options,
                       perfile_merge_summary *summary, size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
