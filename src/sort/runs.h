/* Sorted runs of a store in temporary files: writing, merging by levels, reading. */
#ifndef PF_SORT_RUNS_H
#define PF_SORT_RUNS_H

#include "sort/store.h"

/* Writes a run to `level`: one call of begin, put() for each item in order, one call of end. */
perfile_status pf_sort_run_begin(pf_sort_store *s, unsigned level, perfile_error *err);
perfile_status pf_sort_run_put(pf_sort_store *s, const pf_sort_item *item, perfile_error *err);
perfile_status pf_sort_run_end(pf_sort_store *s, unsigned level, perfile_error *err);

/* To be called when level 0 has PF_SORT_FAN runs: merges them into one run of level 1, and does the
 * same with each higher level that is full then.  PERFILE_E_LIMIT: the highest level is full. */
perfile_status pf_sort_runs_merge(pf_sort_store *s, perfile_error *err);

/* Makes a reader for each run of the level, in the order in which their records were read; returns
 * the position behind the last reader.  Their first items come with pf_sort_reader_fill(). */
pf_sort_reader *pf_sort_runs_open(const pf_sort_level *level, pf_sort_reader *readers);

#endif
