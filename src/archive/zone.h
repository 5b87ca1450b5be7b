/* The zone of a chunk as its metadata: CBOR (format/archive.cddl). */
#ifndef PF_ARCHIVE_ZONE_H
#define PF_ARCHIVE_ZONE_H

#include "base/buffer.h"
#include "core/zone.h"

/* Appends the zone as CBOR, after pf_zone_seal().  PERFILE_E_NOMEM: `out` ends as it did before. */
perfile_status pf_zone_encode(pf_zone *z, pf_buffer *out, perfile_error *err);

/* Reads the metadata of a chunk into `z`, which may have been used; it is sealed then.
 * PERFILE_E_CORRUPT (also for no bytes at all), PERFILE_E_NOMEM: of *z nothing is known. */
perfile_status pf_zone_decode(perfile_bytes cbor, pf_zone *z, perfile_error *err);

#endif
