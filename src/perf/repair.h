/* Repair: guessing what the damaged header and sections of a capture no longer say.
 *
 * The result is a perfile_assume: values that the driver uses instead of those in the file.  The
 * file itself is not changed.  Records are not repaired here; salvage (perf/salvage.h) selects them
 * when the file is then opened with these values. */
#ifndef PF_PERF_REPAIR_H
#define PF_PERF_REPAIR_H

#include "core/repair.h"
#include "perf/header.h"

/* Examines the seekable `source` and fills `r`, which must be all zero and is released by
 * pf_repair_free().  `given` (may be NULL) is what the caller knows; it is not guessed again.  What
 * looks fine is not replaced: r->guessed says what was. */
perfile_status pf_perf_repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                              perfile_error *err);

/* perf/repair.c: finding events in bytes by what attrs look like.  Each pf_repair_find_…
 * replaces the events of `r` by those it finds and returns true if it found any. */

/* Returns the size of the attr at the beginning of `b`, 0 if the bytes do not look like an attr
 * that this library knows.  Strict: for searching in arbitrary bytes. */
size_t pf_attr_plausible_size(perfile_bytes b, bool swap);

/* True if `entry`, found where the header says that attrs are, can be an attr; it may be newer than
 * this library.  Lenient. */
bool pf_attr_entry_plausible(perfile_bytes entry, bool swap);

/* Searches the entries of the attr section; *end is the offset behind the last. */
bool pf_repair_find_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t *end);
/* Searches a feature EVENT_DESC, or HEADER_ATTR records, from offset `from` on. */
bool pf_repair_find_desc(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
bool pf_repair_find_header_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);

/* Fills `r` with the events of `given` and the ids of an ID_INDEX record of the file; false if
 * there is none whose number of events is the same. */
bool pf_repair_find_ids(pf_repair *r, perfile_bytes file, bool swap, const perfile_assume *given);

/* Opens `file` with the values of `assume` (NULL: as the file says) and counts how many of its
 * first samples its events fit.  A file that cannot be opened has 0 of 0; errors other than
 * PERFILE_E_NOMEM are not returned. */
perfile_status pf_repair_fit(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                             perfile_error *err);

#endif
