/* Structs that programs fill in: options, callbacks, visitors.
 *
 * The first member of each is `size`, which a program sets to sizeof.  Programs and the library may
 * be of different versions, so that one of them knows members that the other does not: what the
 * program's struct is too short for is zero, which is the default everywhere; what only the program
 * knows must be zero, else it would be ignored without a word. */
#ifndef PF_BASE_OPTIONS_H
#define PF_BASE_OPTIONS_H

#include "perfile/damage.h"

/* Copies `given`, NULL for all defaults, into *mine, of `mine_size` bytes; its size is that then.
 * PERFILE_E_USAGE with `where` when the size was not set, or for members that are not known. */
perfile_status pf_options_take(void *mine, size_t mine_size, const void *given, const char *where,
                               perfile_error *err);

/* The same of a struct whose size is said beside it. */
perfile_status pf_options_take_sized(void *mine, size_t mine_size, const void *given,
                                     size_t given_size, const char *where, perfile_error *err);

/* Checks a policy of PERFILE_ON_DAMAGE_…: one up to `last`, or the default, which *on_damage is
 * then replaced with.  PERFILE_E_USAGE with `where` for any other number. */
perfile_status pf_on_damage_take(uint32_t *on_damage, uint32_t otherwise, uint32_t last,
                                 const char *where, perfile_error *err);

/* Checks a byte order of PERFILE_BYTE_ORDER_….  PERFILE_E_USAGE with `where` for any other number.
 */
perfile_status pf_byte_order_check(uint32_t byte_order, const char *where, perfile_error *err);

#endif
