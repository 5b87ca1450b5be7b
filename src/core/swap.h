/* Byte-swapping of stored records, features and attrs: each number is rewritten where it is.  All
 * other bytes are copied: types that no table describes, padding, RAW and AUX data, stacks, and
 * damaged parts.  This header also splits records for decoders.
 *
 * Nothing is allocated.  `out` must not overlap the input.  Byte-swapping the result restores the
 * original bytes. */
#ifndef PF_CORE_SWAP_H
#define PF_CORE_SWAP_H

#include "perfile/record.h"
#include "perfile/session.h"
#include "schema/rows.h"

/* Byte-swaps the record `r`, including its header, to `out`, which has room for
 * perfile_record_size(r).  Bytes after the record (`extra`) are left to the caller.  In an envelope
 * only the fields before the compressed data are byte-swapped; the caller has to unpack, byte-swap
 * and pack the records inside.
 *
 * On failure the header, the readable part of the body, and the trailer have been byte-swapped and
 * the rest is as stored, so a reader finds the same damage at the same offset.  The caller decides
 * how to continue.
 *
 * PERFILE_E_UNSUPPORTED: no table has this type, or the feature that it carries.
 * PERFILE_E_TRUNCATED, PERFILE_E_CORRUPT: its bytes do not hold its fields, or its layout is
 * unknown; err->damage says which. */
perfile_status pf_swap_record(const perfile_record *r, uint8_t *out, perfile_error *err);

/* The same for records[0 .. n), which are contiguous in memory (one run without extra).  Returns
 * n, or the index of the first record that could not be byte-swapped.  *err describes that record,
 * which is as pf_swap_record() leaves it; the records after it are as stored. */
size_t pf_swap_run(const perfile_record *records, size_t n, uint8_t *out, perfile_error *err);

/* Byte-swaps the payload of a feature to `out`, which has room for f->payload.len.  Statuses are as
 * above; on failure *out cannot be read either.  TRACING_DATA is copied unchanged, because it
 * states its own byte order. */
perfile_status pf_swap_feature(const perfile_feature *f, uint8_t *out, perfile_error *err);

/* Byte-swaps an attr together with the space after it in an attrs section. */
perfile_status pf_swap_attr(perfile_bytes stored, bool swapped, uint8_t *out, perfile_error *err);

/* A record split into the parts that its decoder needs: event, layout, body and trailer. */

typedef struct pf_parts {
    const perfile_event *event;   /* NULL if there is none */
    const perfile_layout *layout; /* NULL if there is none */
    perfile_bytes body;
    perfile_bytes trailer;
} pf_parts;

/* Fills *p.  Fails if the layout of the record cannot be determined; err->damage says why. */
perfile_status pf_record_parts(const perfile_record *r, pf_parts *p, perfile_error *err);

/* Decodes the record and copies time, process, thread and CPU from fields of its body.  `need` has
 * bits PF_HAS_….  Returns false if the row of the record lacks one of them, or if the record cannot
 * be decoded. */
bool pf_record_own(const perfile_record *r, unsigned need, pf_own *own);

/* Returns the context for the record's decoder: layout, misc, options, and whether branch stacks
 * have hw_idx. */
pf_context pf_record_context(const perfile_record *r, const pf_parts *p);

#endif
