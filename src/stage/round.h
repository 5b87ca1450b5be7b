/* FINISHED_ROUND records, made by stages that yield records in order of time. */
#ifndef PF_STAGE_ROUND_H
#define PF_STAGE_ROUND_H

#include "perfile/session.h"

/* Bytes of records after which the next FINISHED_ROUND is due.  Readers that sort, as perf report
 * does, hold the records of two rounds in memory. */
enum { PF_ROUND_BYTES = 4 << 20 };

/* Returns a FINISHED_ROUND in the byte order of `s`: no later record is earlier than any before
 * it.  Its bytes are static. */
perfile_record pf_round_record(const perfile_session *s, uint64_t sequence);

#endif
