/* Guessing what a capture no longer says. */
#ifndef PF_PERF_REPAIR_H
#define PF_PERF_REPAIR_H

#include "core/repair.h"
#include "perf/header.h"

/* Looks at the file `source`, which can be asked anywhere, and fills `r` (all zero).  `given` (may
 * be NULL) is known already.  PERFILE_E_CORRUPT: nothing in it looks like a capture. */
perfile_status pf_perf_repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                              perfile_error *err);
/* perf/repair_events.c: events by their look.  Each fills `r` with those it finds. */

/* Bytes of an attr at the beginning of `b`, 0 when it does not look like one. */
size_t pf_attr_plausible_size(perfile_bytes b, bool swap);

/* Whether an entry of the attr section is not plainly wrong. */
bool pf_attr_entry_plausible(perfile_bytes entry, bool swap);

/* Searches the entries of the attr section; *end is behind the last. */
bool pf_repair_find_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t *end);
bool pf_repair_find_desc(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
bool pf_repair_find_header_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);

/* Gives the given events the ids of an ID_INDEX record, when they are as many. */
bool pf_repair_find_ids(pf_repair *r, perfile_bytes file, bool swap, const perfile_assume *given);

/* `assume` may be NULL: those that the file has. */
perfile_status pf_repair_fit(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                             perfile_error *err);

#endif
