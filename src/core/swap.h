/* Rewriting in the other byte order, byte for byte: what no table describes, padding, payloads and
 * the bytes of RAW, AUX and stacks stay as stored, and so does what is damaged.
 *
 * Nothing is allocated.  `out` must not overlap what it is made from.  Doing it twice gives the
 * first bytes again. */
#ifndef PF_CORE_SWAP_H
#define PF_CORE_SWAP_H

#include "perfile/session.h"

/* Writes `r` (family PERF), header and all, to `out`, which has room for perfile_record_size(r).
 * Bytes behind the record (`extra`) are not its concern.  Neither is what is in an envelope: the
 * fields in front of it are turned, the records inside it have to be unpacked, turned, and packed
 * again.
 *
 * On failure the header, what could be read of the body, and the trailer were turned, and the rest
 * is as stored: a reader finds the same damage at the same place.  The caller decides what becomes
 * of it.
 *
 * PERFILE_E_UNSUPPORTED: no table has this type, or the feature that it carries.
 * PERFILE_E_TRUNCATED, PERFILE_E_CORRUPT: its bytes do not hold what they should, or nobody knows
 * its layout; err->damage says what. */
perfile_status pf_swap_record(const perfile_record *r, uint8_t *out, perfile_error *err);

/* The same for records[0 .. n) that lie one behind the other, as those of one run without extra do,
 * which is copied as a whole.  Returns how many were turned: n, or those before the first that
 * could not be; that one, which *err is about, is as pf_swap_record() leaves it, those behind it
 * are as stored. */
size_t pf_swap_run(const perfile_record *records, size_t n, uint8_t *out, perfile_error *err);

/* Payload of a feature, to `out` with room for f->payload.len.  Statuses as above; on
 * failure *out cannot be read either.  TRACING_DATA stays as it is: it says its byte order itself.
 */
perfile_status pf_swap_feature(const perfile_feature *f, uint8_t *out, perfile_error *err);

/* An attr with the space around it, as it stands in an attrs section. */
perfile_status pf_swap_attr(perfile_bytes stored, bool swapped, uint8_t *out, perfile_error *err);

#endif
