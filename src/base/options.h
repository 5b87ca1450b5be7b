/* Copies and checks structs that the caller fills in: options, callbacks, visitors.
 *
 * The first member is `size`, which the caller sets to sizeof.  The program and the library may be
 * of different versions, so that one of them may know members that the other does not.  Members
 * that the program's struct lacks are zero, which is the default everywhere.  Members that only the
 * program knows must be zero: otherwise the library would silently ignore a request.  The same
 * holds for reserved words, which a later version may turn into members, and for flags: a reserved
 * word that is not zero or an unknown flag is refused. */
#ifndef PF_BASE_OPTIONS_H
#define PF_BASE_OPTIONS_H

#include "perfile/base.h"
#include "perfile/perfile.h"

/* All public structs with a `size` that the library copies, as X(NAME) for perfile_NAME. */
#define PF_OPTIONS_EACH(X)                                                                         \
    X(archive_options)                                                                             \
    X(limits)                                                                                      \
    X(byteswap_options)                                                                            \
    X(check_options)                                                                               \
    X(perfmon_options)                                                                             \
    X(convert_options)                                                                             \
    X(copy_options)                                                                                \
    X(export_options)                                                                              \
    X(emit_options)                                                                                \
    X(encode_options)                                                                              \
    X(expr_provider)                                                                               \
    X(expr_options)                                                                                \
    X(filter_options)                                                                              \
    X(filter_capture_options)                                                                      \
    X(open_filtered_options)                                                                       \
    X(session_options)                                                                             \
    X(stream_callbacks)                                                                            \
    X(merge_options)                                                                               \
    X(merge_captures_options)                                                                      \
    X(profile_options)                                                                             \
    X(recover_options)                                                                             \
    X(ring_options)                                                                                \
    X(ring_stream_options)                                                                         \
    X(sink_options)                                                                                \
    X(sink_callbacks)                                                                              \
    X(sort_options)                                                                                \
    X(source_options)                                                                              \
    X(source_callbacks)                                                                            \
    X(split_options)                                                                               \
    X(split_capture_options)                                                                       \
    X(assume)                                                                                      \
    X(open_options)                                                                                \
    X(symbols_options)                                                                             \
    X(table_options)                                                                               \
    X(target_options)                                                                              \
    X(writer_options)                                                                              \
    X(new_event)                                                                                   \
    X(put_options)                                                                                 \
    X(allocator)

#define PF_OPTIONS_ENUM(name) PF_OPTIONS_##name,
typedef enum pf_options_type { PF_OPTIONS_EACH(PF_OPTIONS_ENUM) PF_OPTIONS_TYPES } pf_options_type;

/* Copies `given` to *mine, a struct of one of these types; its `size` becomes that of this library.
 * If `given` is NULL, all members get their defaults.  Fails with PERFILE_E_USAGE and `where` if
 * `size` was not set, or if a member, reserved word or flag that this library does not know is not
 * zero. */
#define PF_OPTIONS_CASE(name) perfile_##name * : PF_OPTIONS_##name,
#define pf_options_copy(mine, given, where, err)                                                   \
    pf_options_copy_typed((mine), _Generic((mine), PF_OPTIONS_EACH(PF_OPTIONS_CASE) void *: PF_OPTIONS_TYPES), (given), (where), (err))
perfile_status pf_options_copy_typed(void *mine, pf_options_type type, const void *given,
                                     const char *where, perfile_error *err);

/* Checks an element of an array, which has no `size`: reserved words and unknown flags must be
 * zero. */
#define PF_ITEMS_EACH(X)    X(merge_input) X(merge_source) X(filter_term) X(assumed_event)
#define PF_ITEMS_ENUM(name) PF_ITEMS_##name,
typedef enum pf_items_type { PF_ITEMS_EACH(PF_ITEMS_ENUM) PF_ITEMS_TYPES } pf_items_type;
#define PF_ITEMS_CASE(name) const perfile_##name * : PF_ITEMS_##name,
#define pf_item_check(item, where, err)                                                            \
    pf_item_check_typed((item), _Generic((item), PF_ITEMS_EACH(PF_ITEMS_CASE) void *: PF_ITEMS_TYPES), (where), (err))
perfile_status pf_item_check_typed(const void *item, pf_items_type type, const char *where,
                                   perfile_error *err);

/* Copies a struct without a `size` member; its size is a parameter. */
perfile_status pf_options_copy_sized(void *mine, size_t mine_size, const void *given,
                                     size_t given_size, const char *where, perfile_error *err);

/* Replaces *on_damage by `otherwise` if it is PERFILE_ON_DAMAGE_DEFAULT.  Then fails with
 * PERFILE_E_USAGE and `where` if it is above `last`, the last policy that the caller supports. */
perfile_status pf_on_damage_resolve(uint32_t *on_damage, uint32_t otherwise, uint32_t last,
                                    const char *where, perfile_error *err);

/* Fails with PERFILE_E_USAGE and `where` unless `byte_order` is one of PERFILE_BYTE_ORDER_…. */
perfile_status pf_byte_order_check(uint32_t byte_order, const char *where, perfile_error *err);

/* Defaults of perfile_limits. */

/* Copies the limits that `given` (may be NULL) sets into *out.  A limit that is 0, or missing in a
 * struct of an older header, gets its default.  Fails like pf_options_copy(). */
perfile_status pf_limits_copy(perfile_limits *out, const perfile_limits *given, perfile_error *err);

#endif
