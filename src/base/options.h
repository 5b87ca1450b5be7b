/* Structs that the caller fills in: options, callbacks, visitors.
 *
 * The first member is `size`, which the caller sets to sizeof.  Program and library may be of
 * different versions, so that one of them knows members that the other does not.  Members that the
 * program's struct lacks are zero, which is the default everywhere.  Members that only the program
 * knows must be zero: the library would otherwise ignore a request silently. */
#ifndef PF_BASE_OPTIONS_H
#define PF_BASE_OPTIONS_H

#include "perfile/damage.h"

/* Copies `given` (NULL: all defaults) to *mine, a struct of `mine_size` bytes whose `size` becomes
 * mine_size.  PERFILE_E_USAGE with `where` if `size` was not set, or if a member that this library
 * does not know is not zero. */
perfile_status pf_options_copy(void *mine, size_t mine_size, const void *given, const char *where,
                               perfile_error *err);

/* The same for a struct without `size` member, whose size is a parameter. */
perfile_status pf_options_copy_sized(void *mine, size_t mine_size, const void *given,
                                     size_t given_size, const char *where, perfile_error *err);

/* Replaces *on_damage by `otherwise` if it is PERFILE_ON_DAMAGE_DEFAULT.  PERFILE_E_USAGE with
 * `where` if it is then above `last`, the last policy that the caller supports. */
perfile_status pf_on_damage_resolve(uint32_t *on_damage, uint32_t otherwise, uint32_t last,
                                    const char *where, perfile_error *err);

/* PERFILE_E_USAGE with `where` unless `byte_order` is one of PERFILE_BYTE_ORDER_…. */
perfile_status pf_byte_order_check(uint32_t byte_order, const char *where, perfile_error *err);

#endif
