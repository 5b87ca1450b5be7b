/* Byte-swapping of records and features: format/ expanded once more, to code that writes each
 * number in the other byte order to the same offset of a copy.  core/swap.h is the interface for
 * whole records. */
#ifndef PF_SCHEMA_SWAP_H
#define PF_SCHEMA_SWAP_H

#include "schema/rows.h"

/* pf_byteswap_sample() for the sample types that are usual, each compiled for itself; see
 * pf_usual_sample().  `out` holds a copy of the body; false when the body cannot be read: then
 * *out is byte-swapped up to the first field that could not be read. */
typedef bool pf_usual_swap_fn(perfile_bytes body, bool swapped, uint8_t *out);
pf_usual_swap_fn *pf_usual_swap(uint64_t sample_type);

/* Copies `n` numbers of `width` (2, 4 or 8) bytes from `in` to `out` and byte-swaps each. */
void pf_swap_words(uint8_t *out, const uint8_t *in, size_t n, unsigned width);

/* pf_swap_header(), as a function that pf_family_perf can point at. */
void pf_byteswap_perf_header(uint8_t *out, const uint8_t *header);

/* Byte-swaps the records in simpleperf's feature INIT_MAP: headers and bodies. */
pf_byteswap_fn pf_byteswap_records;

/* Byte-swaps the 8-byte header (u32 type, u16 misc, u16 size) of a record of perf's own family. */
static inline void pf_swap_header(uint8_t *out, const uint8_t *in)
{
    pf_store_u32(out, pf_load_u32(in, true), false);
    pf_store_u16(out + 4, pf_load_u16(in + 4, true), false);
    pf_store_u16(out + 6, pf_load_u16(in + 6, true), false);
}

#endif
