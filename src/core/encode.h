/* Encoders for a caller that has rows of the tables instead of types.  They do the same as
 * perfile_NAME_encode() (perfile/encode.h).  The result is read back as stored
 * (perfile_open_options.as_stored), as a dump shows it. */
#ifndef PF_CORE_ENCODE_H
#define PF_CORE_ENCODE_H

#include "perfile/encode.h"
#include "schema/rows.h"

/* Work space of the encoders: the output, and room for two structs of the row, of row->size bytes
 * each and aligned for any type.  `given` receives a copy of the input, `again` the decoded
 * result. */
typedef struct pf_encode_space {
    void *given;
    void *again;
    uint8_t *out; /* NULL: nothing is written; *len receives the size needed */
    size_t room;
} pf_encode_space;

/* Encodes the struct `in` as a record of perf's own family: header, body and trailer.  If `bytes`
 * is not 0, the record gets that size: zeros are added to or removed from the end of its body.
 * Errors are those of perfile/encode.h, and PERFILE_E_USAGE with "record.size" if the fields do not
 * fit `bytes`. */
perfile_status pf_encode_row(const pf_row *row, const pf_encode_space *space, const void *in,
                             uint32_t bytes, const perfile_encode_options *how, size_t *len,
                             perfile_error *err);

/* Encodes the struct `in` as the payload of a feature. */
perfile_status pf_encode_feature_row(const pf_row *row, const pf_encode_space *space,
                                     const void *in, const perfile_encode_options *how, size_t *len,
                                     perfile_error *err);

/* Returns the trailer of a record of layout `l` with the values of `all`: `present` is set, and
 * members that a trailer of this layout does not have are 0, as the encoder demands. */
perfile_sample_id pf_trailer_of(const perfile_layout *l, const perfile_sample_id *all);

#endif
