/* Decoding and encoding again, for records, features and attrs of any type without naming one. */
#ifndef TESTS_ENCODED_H
#define TESTS_ENCODED_H

#include "perfile/perfile.h"
#include "core/command.h"

/* What an encoder has to know to make `r` once more; *id holds the trailer. */
static inline perfile_encode_options encoded_how(const perfile_record *r, perfile_sample_id *id,
                                                 uint32_t byte_order)
{
    perfile_encode_options how = {.size = sizeof how,
                                  .layout = pf_record_layout(r, NULL),
                                  .misc = r->misc,
                                  .byte_order = byte_order};
    if (r->type < PERFILE_RECORD_USER && r->type != PERFILE_RECORD_SAMPLE &&
        perfile_sample_id_decode(r, id, sizeof *id, NULL) == PERFILE_OK)
        how.sample_id = id;
    return how;
}

/* The record `r` made again.  PERFILE_END when it cannot be decoded. */
static inline perfile_status encoded_record(const perfile_record *r,
                                            const perfile_encode_options *how, void *out,
                                            size_t room, size_t *len, perfile_error *err)
{
    switch (r->type) {
#define ENCODED_CASE(id, number)                                                                   \
    case number: {                                                                                 \
        perfile_##id v;                                                                            \
        if (perfile_##id##_decode(r, &v, sizeof v, err) != PERFILE_OK)                             \
            return PERFILE_END;                                                                    \
        return perfile_##id##_encode(&v, sizeof v, how, out, room, len, err);                      \
    }
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    ENCODED_CASE(id, number)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    ENCODED_CASE(id, number)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    ENCODED_CASE(id, number)
#include "perfile/format/simpleperf.def"
    default:
        return PERFILE_END;
    }
}

/* The same for payloads. */
static inline perfile_status encoded_feature(const perfile_feature *r,
                                             const perfile_encode_options *how, void *out,
                                             size_t room, size_t *len, perfile_error *err)
{
    switch (r->number) {
#define FEATURE(id, number, name, source, contract, doc) ENCODED_CASE(id, number)
#include "perfile/format/features.def"
    default:
        return PERFILE_END;
    }
}

#endif
