/* Queries to a model that also return how long the answer is valid.
 *
 * A reader of millions of samples makes the same few queries again and again.  With the validity
 * interval of an answer it can cache the answer, and has to query only once per interval. */
#ifndef PF_MODEL_ASK_H
#define PF_MODEL_ASK_H

#include "perfile/model.h"

/* The validity of an answer: all times from `first` to `last`, and for mappings all addresses from
 * `low` to `high`; each end is included.  It contains the time and address of the query, but is not
 * always as large as possible. */
typedef struct pf_reach {
    uint64_t first, last; /* ns of the session clock */
    uint64_t low, high;   /* addresses */
} pf_reach;

/* As perfile_model_comm() and perfile_model_mapping(), but also set *reach to the validity of the
 * answer.  Results are valid until the next feed. */
const char *pf_model_comm(const perfile_model *m, uint32_t pid, uint32_t tid, uint64_t time,
                          pf_reach *reach);
const perfile_mapping *pf_model_mapping(const perfile_model *m, uint32_t pid, uint64_t addr,
                                        uint64_t time, pf_reach *reach);

/* Makes queries about threads fast.  Call it after the last feed.  PERFILE_E_NOMEM: out of memory.
 */
perfile_status pf_model_settle(perfile_model *m, perfile_error *err);

/* Returns true if a thread, file or other object of the model has this name. */
bool pf_model_has_name(const perfile_model *m, perfile_bytes name);

/* Returns true if a mapping has this name, or if perfile_mapping_dso() returns it for a mapping.
 * Tests all mappings. */
bool pf_model_has_file(const perfile_model *m, perfile_bytes name);

#endif
