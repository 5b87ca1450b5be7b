/* Fills in a perfile_error.  This is done once, where the fact is known; callers pass the error up
 * unchanged. */
#ifndef PF_BASE_ERROR_H
#define PF_BASE_ERROR_H

#include "perfile/base.h"

/* Fills in `err` (may be NULL) and returns `status`.  `where` is a static string that names the
 * field or the limit.  The offset is left unset: the caller that knows the position in the input
 * sets it with pf_error_at(). */
perfile_status pf_fail(perfile_error *err, perfile_status status, const char *where,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Fails with PERFILE_E_NOMEM, "out of memory". */
perfile_status pf_fail_nomem(perfile_error *err, const char *where);

/* Fails with the status and the standard text of `damage` (PERFILE_DAMAGE_…), found at `offset`. */
perfile_status pf_fail_damage(perfile_error *err, unsigned damage, const char *where,
                              uint64_t offset);

/* Fails with PERFILE_E_IO.  If `sys`, an errno, is not 0, its text is appended to the message. */
perfile_status pf_fail_io(perfile_error *err, int sys, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sets the offset unless it is already set; `err` may be NULL. */
void pf_error_at(perfile_error *err, uint64_t offset);

#endif
