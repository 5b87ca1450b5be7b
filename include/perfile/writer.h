/* Writing captures: facts and records in, a file out.
 *
 * The writer copies stored bytes: attrs, ids, features and records go out as they are given, in the
 * byte order of the capture they came from.  What depends on places in the file (sections, feature
 * table, index of AUX traces) it makes itself. */
#ifndef PERFILE_WRITER_H
#define PERFILE_WRITER_H

#include "container.h"
#include "record.h"
#include "sink.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perfile_writer perfile_writer;

/* Set `size`; zeros are the defaults. */
typedef struct perfile_writer_options {
    size_t size;
    uint32_t form; /* PERFILE_FORM_FILE (also 0) or PERFILE_FORM_PIPE */
    uint32_t reserved0;
    bool swapped; /* what is given is stored in the other byte order than this machine's */
    uint64_t reserved[8];
} perfile_writer_options;

/* Begins a capture on `sink`, which stays the caller's and must outlive the writer.
 * PERFILE_E_USAGE when the form is FILE and the sink cannot go back to its header (a pipe, a
 * terminal): write to a file, or the form PIPE. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_writer_open(perfile_sink *sink, const perfile_writer_options *options,
                    perfile_writer **writer, perfile_error *err);

/* Adds an event: an attr and its ids as stored (`ids` may be NULL).  Before the first record.  In
 * the form FILE all attrs get the size of the greatest, as perf wants it; what is added is zero. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_event(perfile_writer *w,
                                                                 perfile_bytes attr,
                                                                 const perfile_words *ids,
                                                                 perfile_error *err);

/* Adds an entry of the event_types section, which perf up to 3.11 wrote.  Before the first record;
 * in the form PIPE it is a record. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_event_type(perfile_writer *w,
                                                                      uint64_t event_id,
                                                                      perfile_bytes name,
                                                                      perfile_error *err);

/* Sets the payload of a feature section, copied; at any time, the last one counts.  The index of
 * AUX traces (AUXTRACE) is made by the writer.  Form FILE only: in the form PIPE features are
 * records. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_feature(perfile_writer *w,
                                                                   uint32_t number,
                                                                   perfile_bytes payload,
                                                                   perfile_error *err);

/* Writes a record as it is stored, with the bytes behind it if they are in memory; if they are not,
 * perfile_writer_extra() has to follow until all r->extra.len bytes are there. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_put(perfile_writer *w,
                                                               const perfile_record *r,
                                                               perfile_error *err);
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_extra(perfile_writer *w,
                                                                 perfile_bytes piece,
                                                                 perfile_error *err);

/* The same for `n` records of one run (perfile_stream_next_run()). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_put_run(perfile_writer *w,
                                                                   const perfile_record *first,
                                                                   size_t n, perfile_error *err);

/* Bytes of records so far. */
PERFILE_API uint64_t perfile_writer_bytes(const perfile_writer *w);

/* Writes what follows the records and the header, and finishes the sink: the file appears under its
 * name.  Only closing is left after that. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_finish(perfile_writer *w,
                                                                  perfile_error *err);

/* Releases the writer, not the sink.  Without perfile_writer_finish() nothing has appeared.  NULL
 * is fine. */
PERFILE_API void perfile_writer_close(perfile_writer *w);

#ifdef __cplusplus
}
#endif

#endif
