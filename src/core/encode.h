/* The encoders for a program that has rows of the tables and no types: what perfile_NAME_encode()
 * (perfile/encode.h) does, by row.  What is made is read back as stored
 * (perfile_open_options.as_stored), as a dump shows it. */
#ifndef PF_CORE_ENCODE_H
#define PF_CORE_ENCODE_H

#include "perfile/encode.h"
#include "schema/rows.h"

/* Where encoders work: two structs of the row (row->size bytes each, aligned for any type), for a
 * copy of what is given and for what is read back, and the output. */
typedef struct pf_encode_space {
    void *given;
    void *again;
    uint8_t *out; /* NULL: nothing is written, and the length is what is needed */
    size_t room;
} pf_encode_space;

/* Makes a record of perf's own family of the struct `in` of a row: header, body and trailer.  With
 * `bytes` not 0 it gets that size: zeros are put behind its body or taken away there.
 * Errors are those of perfile/encode.h; PERFILE_E_USAGE with "record.size" if the fields do not fit
 * `bytes`. */
perfile_status pf_encode_row(const pf_row *row, const pf_encode_space *space, const void *in,
                             uint32_t bytes, const perfile_encode_options *how, size_t *len,
                             perfile_error *err);

/* Makes the payload of a feature of its struct. */
perfile_status pf_encode_feature_row(const pf_row *row, const pf_encode_space *space,
                                     const void *in, const perfile_encode_options *how, size_t *len,
                                     perfile_error *err);

#endif
