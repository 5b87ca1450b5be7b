/* Several threads make the bytes of an emitter: what is put is gathered in jobs, which become text
 * in any thread, and go to the sink in order. */
#ifndef PF_EMIT_THREADS_H
#define PF_EMIT_THREADS_H

#include "emit/emitter.h"

enum { PF_EMIT_JOB_BYTES = 128 << 10 }; /* of records: their text fits the second-level cache */

/* Gives `e`, which is complete, so many threads (2 to PF_MOST_THREADS), the caller's among them,
 * and jobs of so many bytes of records.  `e` is to be closed whether or not it succeeds. */
perfile_status pf_emit_threads_start(perfile_emitter *e, perfile_stream *stream, unsigned threads,
                                     size_t job_bytes, perfile_error *err);

/* As perfile_emitter_put_run(); what goes wrong is returned by this call or a later one. */
perfile_status pf_emit_threads_put(perfile_emitter *e, const perfile_record *r, size_t n,
                                   perfile_error *err);

/* Waits for all that was put, and hands it to the sink. */
perfile_status pf_emit_threads_wait(perfile_emitter *e, perfile_error *err);

void pf_emit_threads_free(perfile_emitter *e);

#endif
