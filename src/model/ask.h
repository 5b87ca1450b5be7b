/* Questions to a model whose answers are kept: what the answer is, and how long it stays the same.
 *
 * A reader of millions of samples asks the same few questions again and again.  With the reach of
 * an answer it can keep it, and needs to ask once for each stretch of time only. */
#ifndef PF_MODEL_ASK_H
#define PF_MODEL_ASK_H

#include "perfile/model.h"

/* Where an answer holds: at all times from `first` to `last`, and for mappings at all addresses
 * from `low` to `high`, each included.  Not the largest such range, but one that contains what was
 * asked. */
typedef struct pf_reach {
    uint64_t first, last; /* ns of the session clock */
    uint64_t low, high;   /* addresses */
} pf_reach;

/* The answers of perfile_model_comm() and perfile_model_mapping(), and their reach.  Valid until
 * the next feed. */
const char *pf_model_comm(const perfile_model *m, uint32_t pid, uint32_t tid, uint64_t time,
                          pf_reach *reach);
const perfile_mapping *pf_model_mapping(const perfile_model *m, uint32_t pid, uint64_t addr,
                                        uint64_t time, pf_reach *reach);

/* To be called after the last feed: makes questions about threads fast.  PERFILE_E_NOMEM. */
perfile_status pf_model_settle(perfile_model *m, perfile_error *err);

/* True if a thread, file or other thing of the model has this name. */
bool pf_model_has_name(const perfile_model *m, perfile_bytes name);

/* True if a mapping has this name, or perfile_mapping_dso() of one is it.  Looks at all of them. */
bool pf_model_has_file(const perfile_model *m, perfile_bytes name);

#endif
