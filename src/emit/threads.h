/* Several threads make the text of an emitter.  Records are collected in jobs; any thread turns a
 * job into text, and the caller's thread writes the texts to the sink in order. */
#ifndef PF_EMIT_THREADS_H
#define PF_EMIT_THREADS_H

#include "emit/emitter.h"

enum { PF_EMIT_JOB_TEXT = 384 << 10 }; /* bytes of text of a job: they fit the level 2 cache */

/* Gives the emitter `threads` threads (2 to PF_MOST_THREADS), the caller's included, and jobs that
 * make about `job_text` bytes of text, of at most half as many bytes of records.  All members of
 * `e` must be set.  On failure `e` must still be closed. */
perfile_status pf_emit_threads_start(perfile_emitter *e, perfile_stream *stream, unsigned threads,
                                     size_t job_text, perfile_error *err);

/* Like perfile_emitter_put_run().  An error of an earlier record may be returned by a later call.
 */
perfile_status pf_emit_threads_put(perfile_emitter *e, const perfile_record *r, size_t n,
                                   perfile_error *err);

/* Finishes all jobs and writes their text to the sink.  Returns the first error of any of them. */
perfile_status pf_emit_threads_wait(perfile_emitter *e, perfile_error *err);

/* Waits for the threads and frees e->threads; NULL is fine.  Text that was not written is dropped.
 */
void pf_emit_threads_free(perfile_emitter *e);

#endif
