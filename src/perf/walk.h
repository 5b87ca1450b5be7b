/* Between the walk and what it does about damage. */
#ifndef PF_PERF_WALK_H
#define PF_PERF_WALK_H

#include "perf/stream.h"

/* Begins to walk the part p->part at its first record. */
void pf_walk_begin_part(pf_perf_stream *p);

/* Tells the first pending damage: counts it, and makes it a record for those who ask. */
void pf_walk_report(pf_perf_stream *p);

/* Nothing more of this part is read: what is left of it is lost because of `damage`. */
perfile_status pf_walk_stop(pf_perf_stream *p, unsigned damage, uint64_t offset,
                            perfile_error *err);

/* Looks for the next records `from` bytes behind p->pos or later; what is passed over is lost. */
perfile_status pf_walk_resync(pf_perf_stream *p, unsigned damage, uint64_t from,
                              perfile_error *err);

/* Something at p->pos is no record. */
perfile_status pf_walk_bad_record(pf_perf_stream *p, unsigned damage, perfile_error *err);

/* Ends the part because of what pf_perf_defer() remembered. */
perfile_status pf_walk_stop_deferred(pf_perf_stream *p, perfile_error *err);

/* The bytes behind the last record were not in memory, and now the input ends before they do. */
perfile_status pf_walk_stop_in_extra(pf_perf_stream *p, perfile_error *err);

/* Passes over the gap that a look ahead has found at p->pos. */
perfile_status pf_walk_pass_gap(pf_perf_stream *p, perfile_error *err);

/* Finds out how far from p->pos records can be trusted; *run begins there. */
perfile_status pf_walk_look_ahead(pf_perf_stream *p, perfile_bytes *run, perfile_error *err);

#endif
