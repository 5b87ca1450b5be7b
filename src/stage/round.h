/* FINISHED_ROUND records of stages that hand on records by time. */
#ifndef PF_STAGE_ROUND_H
#define PF_STAGE_ROUND_H

#include "perfile/session.h"

/* Where the next round is due: readers that sort hold two of them. */
enum { PF_ROUND_BYTES = 4 << 20 };

/* One that says: all that follows is not earlier than what stands in front. */
perfile_record pf_round_record(const perfile_session *s, uint64_t sequence);

#endif
