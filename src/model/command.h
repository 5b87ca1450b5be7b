/* Parts of the model that only the program itself needs. */
#ifndef PF_MODEL_COMMAND_H
#define PF_MODEL_COMMAND_H

#include "perfile/model.h"

/* Returns true if perfile_model_feed() learns from records of this type, so that callers can skip
 * the others.  SAMPLE and SWITCH tell only that a thread exists. */
bool pf_model_wants(uint32_t type);

/* The same, and the range of times from *first to *last, inclusive, for which the answer is valid,
 * so that readers of many records can reuse it for the thread.  The range may be shorter than
 * possible. */
const char *pf_model_comm_during(const perfile_model *model, uint32_t pid, uint32_t tid,
                                 uint64_t time, uint64_t *first, uint64_t *last);

/* The lists of perfile_model_list(). */
PERFILE_MUST_USE perfile_status pf_model_threads(perfile_model *model,
                                                 const perfile_thread **threads, size_t *n,
                                                 perfile_error *err);
PERFILE_MUST_USE perfile_status pf_model_processes(perfile_model *model,
                                                   const perfile_process **processes, size_t *n,
                                                   perfile_error *err);
PERFILE_MUST_USE perfile_status pf_model_mappings(perfile_model *model,
                                                  const perfile_mapping **mappings, size_t *n,
                                                  perfile_error *err);

#endif
