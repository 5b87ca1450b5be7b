/* Copies and checks structs that programs fill in (see options.h). */
#include "base/options.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

perfile_status pf_options_copy_sized(void *mine, size_t mine_size, const void *given,
                                     size_t given_size, const char *where, perfile_error *err)
{
    /* Members after the end of our struct come from a newer header. */
    const uint8_t *bytes = given;
    for (size_t i = mine_size; i < given_size; i++)
        if (bytes[i])
            return pf_fail(err, PERFILE_E_USAGE, where,
                           "the struct of %zu bytes has members that this library, with %zu, does "
                           "not know",
                           given_size, mine_size);
    /* Members that an older program's struct lacks stay zero. */
    memset(mine, 0, mine_size);
    memcpy(mine, given, given_size < mine_size ? given_size : mine_size);
    return PERFILE_OK;
}

/* A member that this version of the library restricts: flags, of which it knows some, or reserved
 * words, which must be zero. */
typedef struct member {
    const char *name;
    uint16_t at, bytes; /* offset and size in the struct; a member of 0 bytes ends the list */
    uint64_t known;     /* the bits that may be set; 0 for reserved words */
} member;

enum { MEMBERS = 4 };

#define FLAGS(type, member, last)                                                                  \
    {                                                                                              \
#member, offsetof(perfile_##type, member), sizeof(((perfile_##type *)0)->member),          \
            ((uint64_t)(last) << 1) - 1                                                            \
    }
#define RESERVED(type, member)                                                                     \
    {                                                                                              \
#member, offsetof(perfile_##type, member), sizeof(((perfile_##type *)0)->member), 0        \
    }
#define OPTIONS(type, ...) [PF_OPTIONS_##type] = {sizeof(perfile_##type), {__VA_ARGS__}}

/* FLAGS names the last flag; all flags before it are known, too. */
static const struct {
    size_t size;
    member members[MEMBERS];
} types[] = {
    OPTIONS(archive_options, FLAGS(archive_options, flags, PERFILE_ARCHIVE_SCRUBBED),
            RESERVED(archive_options, reserved)),
    OPTIONS(limits, RESERVED(limits, reserved)),
    OPTIONS(byteswap_options, RESERVED(byteswap_options, reserved)),
    OPTIONS(check_options, FLAGS(check_options, flags, PERFILE_CHECK_FEW_SAMPLES),
            RESERVED(check_options, reserved0), RESERVED(check_options, reserved)),
    OPTIONS(perfmon_options, FLAGS(perfmon_options, flags, PERFILE_PERFMON_STAT),
            RESERVED(perfmon_options, reserved)),
    OPTIONS(convert_options, FLAGS(convert_options, flags, PERFILE_CONVERT_SCRUB),
            RESERVED(convert_options, reserved0), RESERVED(convert_options, reserved)),
    OPTIONS(copy_options, FLAGS(copy_options, flags, PERFILE_COPY_COMPRESSED),
            RESERVED(copy_options, reserved0), RESERVED(copy_options, reserved)),
    OPTIONS(export_options, FLAGS(export_options, flags, PERFILE_EXPORT_ONE_FOLDER),
            RESERVED(export_options, reserved)),
    OPTIONS(emit_options, FLAGS(emit_options, flags, PERFILE_SCRIPT_SHOW_INFO),
            RESERVED(emit_options, reserved0)),
    OPTIONS(encode_options, RESERVED(encode_options, reserved0),
            RESERVED(encode_options, reserved1), RESERVED(encode_options, reserved)),
    OPTIONS(expr_provider, {0}),
    OPTIONS(expr_options, FLAGS(expr_options, flags, PERFILE_EXPR_PAYLOADS),
            RESERVED(expr_options, reserved0), RESERVED(expr_options, reserved)),
    OPTIONS(filter_options, FLAGS(filter_options, flags, PERFILE_FILTER_MARK),
            RESERVED(filter_options, reserved)),
    OPTIONS(filter_capture_options, RESERVED(filter_capture_options, reserved0),
            RESERVED(filter_capture_options, reserved)),
    OPTIONS(open_filtered_options, RESERVED(open_filtered_options, reserved)),
    OPTIONS(session_options, RESERVED(session_options, reserved0),
            RESERVED(session_options, reserved)),
    OPTIONS(stream_callbacks, RESERVED(stream_callbacks, reserved)),
    OPTIONS(merge_options, FLAGS(merge_options, flags, PERFILE_MERGE_FAIL_ON_DAMAGE),
            RESERVED(merge_options, reserved0), RESERVED(merge_options, reserved)),
    OPTIONS(merge_captures_options, RESERVED(merge_captures_options, reserved0),
            RESERVED(merge_captures_options, reserved)),
    OPTIONS(profile_options, FLAGS(profile_options, flags, 1 << 7 /* PF_PROFILE_TIMES */),
            RESERVED(profile_options, reserved0), RESERVED(profile_options, reserved)),
    OPTIONS(recover_options, RESERVED(recover_options, reserved)),
    OPTIONS(ring_options, RESERVED(ring_options, reserved)),
    OPTIONS(ring_stream_options, RESERVED(ring_stream_options, reserved)),
    OPTIONS(sink_options, FLAGS(sink_options, flags, PERFILE_SINK_FOLDER),
            RESERVED(sink_options, reserved0), RESERVED(sink_options, reserved)),
    OPTIONS(sink_callbacks, {0}),
    OPTIONS(allocator, {0}),
    OPTIONS(sort_options, FLAGS(sort_options, flags, PERFILE_SORT_ONE_ROUND),
            RESERVED(sort_options, reserved)),
    OPTIONS(source_options, FLAGS(source_options, flags, PERFILE_SOURCE_NO_INDEX),
            RESERVED(source_options, reserved)),
    OPTIONS(source_callbacks, {0}),
    OPTIONS(split_options, FLAGS(split_options, flags, PERFILE_SPLIT_REPLACE),
            RESERVED(split_options, reserved)),
    OPTIONS(split_capture_options, RESERVED(split_capture_options, reserved0),
            RESERVED(split_capture_options, reserved)),
    OPTIONS(assume, RESERVED(assume, reserved)),
    OPTIONS(open_options, FLAGS(open_options, deliver, PERFILE_DELIVER_DAMAGE),
            FLAGS(open_options, source_flags, PERFILE_SOURCE_NO_INDEX),
            RESERVED(open_options, reserved)),
    OPTIONS(symbols_options, FLAGS(symbols_options, flags, PERFILE_SYMBOLS_GIVEN_ONLY),
            RESERVED(symbols_options, reserved)),
    OPTIONS(table_options, FLAGS(table_options, flags, PERFILE_TABLE_WIDE),
            RESERVED(table_options, reserved)),
    OPTIONS(target_options, RESERVED(target_options, reserved)),
    OPTIONS(writer_options, FLAGS(writer_options, sink_flags, PERFILE_SINK_SYNC_ALL),
            RESERVED(writer_options, reserved)),
    OPTIONS(new_event, RESERVED(new_event, reserved)),
    OPTIONS(put_options, RESERVED(put_options, reserved0), RESERVED(put_options, reserved)),
};

_Static_assert(sizeof types / sizeof types[0] == PF_OPTIONS_TYPES, "a row for each struct");

/* Fails with PERFILE_E_USAGE if member `m` of the struct at `bytes` has bits that this library does
 * not know. */
static perfile_status check_member(const uint8_t *bytes, const member *m, const char *where,
                                   perfile_error *err)
{
    uint64_t value = 0;
    if (m->known) {
        uint32_t narrow;
        if (m->bytes == sizeof narrow) {
            memcpy(&narrow, bytes + m->at, sizeof narrow);
            value = narrow;
        } else {
            memcpy(&value, bytes + m->at, sizeof value);
        }
        value &= ~m->known;
        if (value)
            return pf_fail(err, PERFILE_E_USAGE, where, "unknown flags in '%s': 0x%" PRIx64,
                           m->name, value);
        return PERFILE_OK;
    }
    for (unsigned i = 0; i < m->bytes; i++)
        if (bytes[m->at + i])
            return pf_fail(err, PERFILE_E_USAGE, where,
                           "'%s' is not zero: a member that this library does not know, or a "
                           "struct that was not zeroed",
                           m->name);
    return PERFILE_OK;
}

perfile_status pf_options_copy_typed(void *mine, pf_options_type type, const void *given,
                                     const char *where, perfile_error *err)
{
    const size_t mine_size = types[type].size;
    size_t size = mine_size;
    perfile_status st = PERFILE_OK;
    if (given) {
        memcpy(&size, given, sizeof size); /* the first member of every such struct */
        if (size < sizeof size)
            return pf_fail(err, PERFILE_E_USAGE, where, "size is %zu, not set by sizeof", size);
        st = pf_options_copy_sized(mine, mine_size, given, size, where, err);
        for (const member *m = types[type].members;
             st == PERFILE_OK && m < types[type].members + MEMBERS && m->bytes; m++)
            st = check_member(mine, m, where, err);
    } else {
        memset(mine, 0, mine_size);
    }
    if (st == PERFILE_OK)
        memcpy(mine, &mine_size, sizeof mine_size); /* the size of the copy */
    return st;
}

#define ITEM(type, ...) [PF_ITEMS_##type] = {__VA_ARGS__}

static const member items[][MEMBERS] = {
    ITEM(merge_input, RESERVED(merge_input, reserved0), RESERVED(merge_input, reserved)),
    ITEM(merge_source, RESERVED(merge_source, reserved0), RESERVED(merge_source, reserved)),
    ITEM(filter_term, RESERVED(filter_term, reserved)),
    ITEM(assumed_event, RESERVED(assumed_event, reserved)),
};

perfile_status pf_item_check_typed(const void *item, pf_items_type type, const char *where,
                                   perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const member *m = items[type];
    for (; st == PERFILE_OK && m < items[type] + MEMBERS && m->bytes; m++)
        st = check_member(item, m, where, err);
    return st;
}

perfile_status pf_on_damage_resolve(uint32_t *on_damage, uint32_t otherwise, uint32_t last,
                                    const char *where, perfile_error *err)
{
    if (*on_damage == PERFILE_ON_DAMAGE_DEFAULT)
        *on_damage = otherwise;
    if (*on_damage <= last)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_USAGE, where, "on_damage is %u: needs a policy from 0 to %u",
                   (unsigned)*on_damage, (unsigned)last);
}

perfile_status pf_byte_order_check(uint32_t byte_order, const char *where, perfile_error *err)
{
    if (byte_order <= PERFILE_BYTE_ORDER_BIG)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_USAGE, where, "byte order %u is unknown: needs 0 to %u",
                   (unsigned)byte_order, (unsigned)PERFILE_BYTE_ORDER_BIG);
}
