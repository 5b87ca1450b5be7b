/* Sorted runs in files. */
#ifndef PF_SORT_RUNS_H
#define PF_SORT_RUNS_H

#include "sort/store.h"

/* Writes a run of `level`: begin, items in order, end. */
perfile_status pf_sort_run_begin(pf_sort_store *s, unsigned level, perfile_error *err);
perfile_status pf_sort_run_put(pf_sort_store *s, const pf_sort_item *item, perfile_error *err);
perfile_status pf_sort_run_end(pf_sort_store *s, unsigned level, perfile_error *err);

/* Level 0 is full: its runs become one of the next, and so on upwards. */
perfile_status pf_sort_runs_merge(pf_sort_store *s, perfile_error *err);

/* Readers of all runs of a level, in order; returns the place behind the last. */
pf_sort_reader *pf_sort_runs_open(const pf_sort_level *level, pf_sort_reader *readers);

#endif
