/* Decoded structs as transcripts, by one more expansion of the tables: what the decoders give can
 * be compared with what the walk shows, for every row there is. */
#ifndef TESTS_DECODED_H
#define TESTS_DECODED_H

#include "perfile/perfile.h"
#include "schema/rows.h"
#include "transcript.h"

/* How often each member was told: a law that never saw one says nothing about it. */
enum {
#define DECODED_MEMBER(id, name) DECODED_##id##_##name,
#include "decoded_names.inc"
#include "perfile/format/structs.def"
#include "decoded_names.inc"
#include "perfile/format/sample.def"
#include "decoded_names.inc"
#include "perfile/format/records.def"
#include "decoded_names.inc"
#include "perfile/format/simpleperf.def"
#include "decoded_names.inc"
#include "perfile/format/features.def"
#undef DECODED_MEMBER
    DECODED_N
};

static const char *const decoded_names[DECODED_N] = {
#define DECODED_MEMBER(id, name) #id "." #name,
#include "decoded_names.inc"
#include "perfile/format/structs.def"
#include "decoded_names.inc"
#include "perfile/format/sample.def"
#include "decoded_names.inc"
#include "perfile/format/records.def"
#include "decoded_names.inc"
#include "perfile/format/simpleperf.def"
#include "decoded_names.inc"
#include "perfile/format/features.def"
#undef DECODED_MEMBER
};

static unsigned long decoded_told[DECODED_N];

/* Leaves out what says nothing that the rest does not, so that structs from bytes that were not
 * canonical compare with those from bytes that are. */
static bool decoded_settled;

/* Elements of lists that perfile_NAME_next() did not give. */
static uint64_t decoded_unread;

#define TELL_u8           tell_number
#define TELL_u16          tell_number
#define TELL_u32          tell_number
#define TELL_u64          tell_number
#define TELL_s32          tell_signed
#define TELL_s64          tell_signed
#define TELL_string       tell_bytes
#define TELL_cstr         tell_bytes
#define TELL_WORDS_u16    tell_words
#define TELL_WORDS_u32    tell_words
#define TELL_WORDS_s32    tell_words
#define TELL_WORDS_u64    tell_words
#define TELL_WORDS_ulong  tell_words
#define TELL_WORDS_string tell_strings

#include "decoded.inc"
#include "perfile/format/structs.def"
#include "decoded.inc"
#include "perfile/format/sample.def"
#include "decoded.inc"
#include "perfile/format/records.def"
#include "decoded.inc"
#include "perfile/format/simpleperf.def"
#include "decoded.inc"
#include "perfile/format/features.def"

/* Decodes a record of any type and tells what came out.  PERFILE_E_USAGE for types without row. */
static inline perfile_status decoded_record(transcript *t, const perfile_record *r,
                                            perfile_error *err)
{
    perfile_status st = PERFILE_E_USAGE;
    switch (r->type) {
#define DECODED_CASE(id, number)                                                                   \
    case number: {                                                                                 \
        perfile_##id v;                                                                            \
        st = perfile_##id##_decode(r, &v, sizeof v, err);                                          \
        if (st == PERFILE_OK && decoded_settled)                                                   \
            pf_settle_##id(&v);                                                                    \
        if (st == PERFILE_OK)                                                                      \
            tell_##id(t, &v);                                                                      \
        break;                                                                                     \
    }
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    DECODED_CASE(id, number)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    DECODED_CASE(id, number)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    DECODED_CASE(id, number)
#include "perfile/format/simpleperf.def"
    default:
        break;
    }
    return st;
}

static inline perfile_status decoded_trailer(transcript *t, const perfile_record *r,
                                             perfile_error *err)
{
    perfile_sample_id v;
    perfile_status st = perfile_sample_id_decode(r, &v, sizeof v, err);
    if (st == PERFILE_OK)
        tell_sample_id(t, &v);
    return st;
}

static inline perfile_status decoded_feature(transcript *t, const perfile_feature *r,
                                             perfile_error *err)
{
    perfile_status st = PERFILE_E_USAGE;
    switch (r->number) {
#define FEATURE(id, number, name, source, contract, doc) DECODED_CASE(id, number)
#include "perfile/format/features.def"
    default:
        break;
    }
    return st;
}

static inline perfile_status decoded_attr(transcript *t, perfile_bytes bytes, bool swapped,
                                          perfile_error *err)
{
    perfile_attr v;
    perfile_status st = perfile_attr_decode(bytes, swapped, &v, sizeof v, err);
    if (st == PERFILE_OK)
        tell_attr(t, &v);
    return st;
}

/* The walk looks into messages, records and texts that these features' structs hold as bytes. */
static inline bool decoded_is_flat(uint32_t feature)
{
    return feature == PERFILE_FEATURE_TRACING_DATA || feature == PERFILE_FEATURE_DEBUG_UNWIND ||
           feature == PERFILE_FEATURE_FILE2 || feature == PERFILE_FEATURE_INIT_MAP;
}

#endif
