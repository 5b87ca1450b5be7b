/* Internals of perfile_byteswap(), a stage that copies runs of records to its own buffer and
 * byte-swaps every field there (core/swap.h). */
#ifndef PF_TRANSFORM_BYTESWAP_H
#define PF_TRANSFORM_BYTESWAP_H

#include "base/buffer.h"
#include "core/stream.h"
#include "perfile/byteswap.h"

typedef struct pf_byteswap {
    perfile_stream base;
    perfile_byteswap_options options;
    pf_buffer bytes;          /* byte-swapped records of the run */
    const perfile_record *of; /* origin of base.run[0] in the stream below, for its payload */

    /* Fragments of a large simpleperf record cannot be byte-swapped one by one, because a field may
     * be split between two of them.  They are held until the joined record comes; it is
     * byte-swapped, and its bytes are distributed to the fragments again.  The fragments are then
     * yielded before the joined record. */
    pf_buffer fragments; /* perfile_record of each held fragment, as in the stream below */
    /* Their bytes.  Headers are byte-swapped at once, bodies by pf_byteswap_fill_fragments(). */
    pf_buffer held;
    size_t n_fragments_yielded;
    /* The next records of the run below: at[0 .. n) are contiguous, rest[0 .. n_rest) are the rest
     * of the run, elsewhere in memory. */
    const perfile_record *at;
    size_t n;
    const perfile_record *rest;
    size_t n_rest;
    bool joined_is_swapped; /* at[0] is a joined record, byte-swapped in `bytes` */
} pf_byteswap;

/* Holds a copy of fragment `r`. */
perfile_status pf_byteswap_hold_fragment(pf_byteswap *o, const perfile_record *r,
                                         perfile_error *err);
/* Distributes `joined`, the byte-swapped bytes of the joined record, to the bodies of the held
 * fragments. */
void pf_byteswap_fill_fragments(pf_byteswap *o, perfile_bytes joined);
/* Makes the next held fragment the run.  Returns false if none is left; then nothing is held any
 * more. */
bool pf_byteswap_next_fragment(pf_byteswap *o);

/* Returns `r`, a record of the stream below, as a record of this stage with byte-swapped bytes at
 * `bytes`. */
perfile_record pf_byteswap_record(const pf_byteswap *o, const perfile_record *r,
                                  const uint8_t *bytes);

#endif
