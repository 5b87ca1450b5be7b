/* Any bytes as a perfmon buffer; tests/perfmon_laws.h has the properties to check. */
#include "tests/perfmon_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const uint64_t chosen = choose(&c, 2);
    const unsigned which = (unsigned)choose(&c, 1) % (PERFMON_LAWS + 1);
    /* A separate block, so that an overread is caught. */
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfmon_laws((perfile_bytes){block, c.left}, chosen, which);
    free(block);
    return 0;
}
