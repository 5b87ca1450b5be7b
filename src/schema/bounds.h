/* HAND layouts: those whose bounds are not the bounds of what surrounds them.
 *
 * pf_bound_NAME() looks ahead without moving the outer cursor, and returns the cursor and context
 * with which the members are read; on damage the inner cursor is bad.  pf_bound_close() then moves
 * the outer cursor behind the layout, or makes it bad.  Decoders, walks and byte-swappers all go
 * through these functions. */
#ifndef PF_SCHEMA_BOUNDS_H
#define PF_SCHEMA_BOUNDS_H

#include "schema/types.h"

typedef struct pf_bounds {
    pf_context k;
    pf_cursor c;
    const uint8_t *after; /* where the outer cursor goes on; NULL: where the members end */
} pf_bounds;

/* An attr ends where its own size says.  Where the space for it is given (k->attr_size: attrs
 * section, EVENT_DESC) the size is bounded by it; in a HEADER_ATTR record it must be right. */
pf_bounds pf_bound_attr(const pf_context *k, pf_cursor *c);

/* A BUILD_ID entry ends where its header says, and the header has the misc bits of its body. */
pf_bounds pf_bound_build_id_entry(const pf_context *k, pf_cursor *c);

/* perf before 2.6.35 wrote entries without pid: the kernel's name then stands four bytes early. */
pf_bounds pf_bound_build_ids(const pf_context *k, pf_cursor *c);

/* attr_size of EVENT_DESC is that of all its attrs. */
pf_bounds pf_bound_event_desc(const pf_context *k, pf_cursor *c);

/* schedstat_version decides the form of the domains. */
pf_bounds pf_bound_cpu_domain_info(const pf_context *k, pf_cursor *c);

/* simpleperf's FILE entries begin with their size. */
pf_bounds pf_bound_file_entry(const pf_context *k, pf_cursor *c);

/* TRACING_DATA says its own byte order behind magic and version. */
pf_bounds pf_bound_tracing_formats(const pf_context *k, pf_cursor *c);

/* Ordinary bounds: these layouts are HAND rows only because walk.c or swap.c treats them specially.
 */
static inline pf_bounds pf_bound_none(const pf_context *k, const pf_cursor *c)
{
    return (pf_bounds){*k, *c, NULL};
}
#define pf_bound_id_index        pf_bound_none
#define pf_bound_cpu_topology    pf_bound_none
#define pf_bound_tracing_data    pf_bound_none
#define pf_bound_file2_entry     pf_bound_none
#define pf_bound_sp_debug_unwind pf_bound_none
#define pf_bound_sp_init_map     pf_bound_none

static inline void pf_bound_close(pf_cursor *c, const pf_bounds *b)
{
    if (b->c.bad)
        pf_cur_fail(c, b->c.bad);
    else
        c->pos = b->after ? b->after : b->c.pos;
}

#endif
