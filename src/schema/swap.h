/* The other byte order: format/ expanded once more to code that turns each number where it stands.
 */
#ifndef PF_SCHEMA_SWAP_H
#define PF_SCHEMA_SWAP_H

#include "schema/rows.h"

/* pf_byteswap_sample() for the sample types that are usual, each compiled for itself; see
 * pf_usual_sample().  `out` holds a copy of the body; false when the body cannot be read: then
 * *out is turned as far as it could be. */
typedef bool pf_usual_swap_fn(perfile_bytes body, bool swapped, uint8_t *out);
pf_usual_swap_fn *pf_usual_swap(uint64_t sample_type);

/* `n` numbers of 2, 4 or 8 bytes from `in` to `out`, the bytes of each turned. */
void pf_swap_words(uint8_t *out, const uint8_t *in, size_t n, unsigned width);

/* pf_swap_header() of below, as a member of pf_family_perf. */
void pf_byteswap_perf_header(uint8_t *out, const uint8_t *header);

/* simpleperf's INIT_MAP: records in a feature, headers and bodies. */
pf_byteswap_fn pf_byteswap_records;

/* The 8 bytes in front of a record of perf's own family. */
static inline void pf_swap_header(uint8_t *out, const uint8_t *in)
{
    pf_store_u32(out, pf_load_u32(in, true), false);
    pf_store_u16(out + 4, pf_load_u16(in + 4, true), false);
    pf_store_u16(out + 6, pf_load_u16(in + 6, true), false);
}

#endif
