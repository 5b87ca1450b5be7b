/* Names of tracepoints, from the blob of tracepoint formats in feature TRACING_DATA. */
#ifndef PF_CORE_TRACING_H
#define PF_CORE_TRACING_H

#include "core/ids.h"

/* Both texts point into the blob, which the session keeps. */
typedef struct pf_tracepoint {
    perfile_bytes system;
    perfile_bytes name;
} pf_tracepoint;

typedef struct pf_tracepoints {
    pf_tracepoint *items;
    uint32_t n;
    uint32_t cap;
    pf_ids by_id;
} pf_tracepoints;

/* Reads name and number from a format ("name: …", "ID: …"); false if it does not have both. */
bool pf_tracepoint_read(perfile_bytes format, perfile_bytes *name, uint64_t *id);

/* Reads the formats up to the first damage.  Fails with PERFILE_E_NOMEM and PERFILE_E_LIMIT only.
 */
perfile_status pf_tracepoints_scan(pf_tracepoints *t, pf_arena *arena, perfile_bytes blob,
                                   perfile_error *err);

/* The tracepoint with that id (attr.config), or NULL. */
const pf_tracepoint *pf_tracepoints_find(const pf_tracepoints *t, uint64_t id);

void pf_tracepoints_free(pf_tracepoints *t);

#endif
