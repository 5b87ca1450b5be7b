#include "base/options.h"

#include <string.h>

#include "base/error.h"

perfile_status pf_options_take_sized(void *mine, size_t mine_size, const void *given,
                                     size_t given_size, const char *where, perfile_error *err)
{
    const uint8_t *bytes = given;
    for (size_t i = mine_size; i < given_size; i++)
        if (bytes[i])
            return pf_fail(err, PERFILE_E_USAGE, where,
                           "the struct of %zu bytes has members that this library, with %zu, does "
                           "not know",
                           given_size, mine_size);
    memset(mine, 0, mine_size);
    memcpy(mine, given, given_size < mine_size ? given_size : mine_size);
    return PERFILE_OK;
}

perfile_status pf_options_take(void *mine, size_t mine_size, const void *given, const char *where,
                               perfile_error *err)
{
    size_t size = mine_size;
    perfile_status st = PERFILE_OK;
    if (given) {
        memcpy(&size, given, sizeof size);
        if (size < sizeof size)
            return pf_fail(err, PERFILE_E_USAGE, where, "size is %zu, not set by sizeof", size);
        st = pf_options_take_sized(mine, mine_size, given, size, where, err);
    } else {
        memset(mine, 0, mine_size);
    }
    if (st == PERFILE_OK)
        memcpy(mine, &mine_size, sizeof mine_size);
    return st;
}
