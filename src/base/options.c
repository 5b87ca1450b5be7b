/* Copying and checking structs that programs fill in (see options.h). */
#include "base/options.h"

#include <string.h>

#include "base/error.h"

perfile_status pf_options_copy_sized(void *mine, size_t mine_size, const void *given,
                                     size_t given_size, const char *where, perfile_error *err)
{
    /* Members behind our struct, of a newer header. */
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

perfile_status pf_options_copy(void *mine, size_t mine_size, const void *given, const char *where,
                               perfile_error *err)
{
    size_t size = mine_size;
    perfile_status st = PERFILE_OK;
    if (given) {
        memcpy(&size, given, sizeof size); /* the first member of every such struct */
        if (size < sizeof size)
            return pf_fail(err, PERFILE_E_USAGE, where, "size is %zu, not set by sizeof", size);
        st = pf_options_copy_sized(mine, mine_size, given, size, where, err);
    } else {
        memset(mine, 0, mine_size);
    }
    if (st == PERFILE_OK)
        memcpy(mine, &mine_size, sizeof mine_size); /* the size of the copy */
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
