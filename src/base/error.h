/* Filling a perfile_error, once, where the fact is known. */
#ifndef PF_BASE_ERROR_H
#define PF_BASE_ERROR_H

#include "perfile/base.h"

/* Fills `err` (may be NULL) and returns `status`.  The offset is left unset: whoever knows the
 * position in the input adds it with pf_error_at(). */
perfile_status pf_fail(perfile_error *err, perfile_status status, const char *where,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* PERFILE_E_NOMEM, in the usual words. */
perfile_status pf_fail_nomem(perfile_error *err, const char *where);

/* What `damage` (PERFILE_DAMAGE_…) at `offset` means, in its own words; returns its status. */
perfile_status pf_fail_damage(perfile_error *err, unsigned damage, const char *where,
                              uint64_t offset);

/* PERFILE_E_IO with `sys` (an errno) in words behind the message. */
perfile_status pf_fail_io(perfile_error *err, int sys, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sets the offset unless one is set already. */
void pf_error_at(perfile_error *err, uint64_t offset);

#endif
