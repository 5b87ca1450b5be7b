/* Any bytes as a payload of the codec COLUMNS: it decodes inside its bounds or is refused; what
 * decodes is a chain of records, and decodes to records of the same sizes in the other byte order.
 */
#include "ensure.h"

#include <string.h>

#include "archive/columns.h"
#include "base/byte_order.h"

static bool decode(pf_columns_decoder *d, perfile_bytes payload, bool big, uint8_t *out, size_t n)
{
    perfile_error err = {0};
    const perfile_status st = pf_columns_decode(d, payload, big, out, n, &err);
    ENSURE(st == PERFILE_OK || (st == PERFILE_E_CORRUPT && err.message[0]));
    return st == PERFILE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const size_t raw_len = (size_t)choose(&c, 2);
    const perfile_bytes payload = {data, c.left};
    static pf_columns_decoder *d; /* one for all inputs, as for all chunks of an archive */
    d = d ? d : pf_columns_decoder_new();
    uint8_t *little = malloc(raw_len + 1), *big = malloc(raw_len + 1);
    ENSURE(d && little && big);
    if (decode(d, payload, false, little, raw_len)) {
        ENSURE(decode(d, payload, true, big, raw_len));
        for (size_t at = 0, n; at < raw_len; at += n) {
            ENSURE(raw_len - at >= 8);
            n = pf_load_u16(little + at + 6, PF_NATIVE_BIG);
            ENSURE(n >= 8 && n <= raw_len - at);
            ENSURE(n == pf_load_u16(big + at + 6, !PF_NATIVE_BIG));
            ENSURE(pf_load_u32(little + at, PF_NATIVE_BIG) ==
                   pf_load_u32(big + at, !PF_NATIVE_BIG));
        }
    }
    free(little);
    free(big);
    return 0;
}
