/* A struct for every record, feature and part of them, made from the rows of format/.
 *
 * For a row RECORD(mmap2, …) in format/records.def there are
 *
 *     typedef struct perfile_mmap2 { uint32_t pid; … bool has_build_id; … } perfile_mmap2;
 *     perfile_status perfile_mmap2_decode(const perfile_record *r, perfile_mmap2 *out, size_t size,
 *                                         perfile_error *err);
 *
 * and likewise perfile_NAME_decode(const perfile_feature *, …) for every FEATURE row.  Members are
 * in the order of the table: a FIELD is an integer in native byte order, STR is text without its
 * NUL, BLOB bytes, WORDS an array read with perfile_word(), LIST a sequence of structs read with
 * perfile_NAME_next(), USE another struct inside.  A `has_…` member says whether the members under
 * it are there: absent and zero differ.  Members that are absent are zero.
 *
 * Decoded structs borrow: bytes, words and lists point into the record or feature and live as
 * long as its bytes.
 *
 * Decoders take `size`, sizeof *out at the caller: a newer library fills only that much.  After a
 * failure *out holds what was read before the place that could not be read.  They return
 * PERFILE_E_TRUNCATED or PERFILE_E_CORRUPT (perfile_error.damage says what) when the bytes do not
 * hold what they should, PERFILE_E_USAGE when the record is of another type. */
#ifndef PERFILE_RECORDS_H
#define PERFILE_RECORDS_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perfile_record perfile_record;
typedef struct perfile_feature perfile_feature;
typedef struct perfile_layout perfile_layout;

/* `n` integers as stored, `width` bytes each (1, 2, 4 or 8). */
typedef struct perfile_words {
    const uint8_t *ptr;
    size_t n;
    uint8_t width;
    bool swapped; /* stored in the other byte order */
} perfile_words;

/* The i-th integer.  i must be below w->n. */
PERFILE_API uint64_t perfile_word(const perfile_words *w, size_t i);

/* Copies min(w->n, n) integers to `out` and returns that number. */
PERFILE_API size_t perfile_words_copy(const perfile_words *w, uint64_t *out, size_t n);

/* `n` strings one behind the other, as stored; or of a program: see perfile_strings_of(). */
typedef struct perfile_strings {
    perfile_bytes bytes;
    size_t n;
    bool swapped;
    bool given; /* bytes.ptr points at n perfile_bytes */
} perfile_strings;

/* Takes the first string off `s` (text without its NUL).  PERFILE_END after the last. */
PERFILE_API perfile_status perfile_strings_next(perfile_strings *s, perfile_bytes *text);

/* `n` structs one behind the other, as stored, or those of a program: see perfile_NAME_list().
 * The rest is for perfile_NAME_next(). */
typedef struct perfile_list {
    perfile_bytes bytes;
    uint64_t n;
    const perfile_layout *layout;
    uint32_t context;
    uint16_t misc;
    bool swapped;
    bool old_build_id;
    bool as_stored;
    uint32_t given; /* not 0: bytes.ptr points at structs of that size, which a program made */
} perfile_list;

/* The structs.  `present` of perfile_sample and perfile_sample_id holds bits of sample_type. */
#define PERFILE_TYPE_u8      uint8_t
#define PERFILE_TYPE_u16     uint16_t
#define PERFILE_TYPE_u32     uint32_t
#define PERFILE_TYPE_u64     uint64_t
#define PERFILE_TYPE_s32     int32_t
#define PERFILE_TYPE_string  perfile_bytes
#define PERFILE_TYPE_cstr    perfile_bytes
#define PERFILE_WORDS_u16    perfile_words
#define PERFILE_WORDS_u32    perfile_words
#define PERFILE_WORDS_s32    perfile_words
#define PERFILE_WORDS_u64    perfile_words
#define PERFILE_WORDS_ulong  perfile_words
#define PERFILE_WORDS_string perfile_strings

#define PERFILE_STRUCT_BEGIN(id)                                                                   \
    typedef struct perfile_##id {                                                                  \
        uint32_t present;
#define PERFILE_STRUCT_END(id)                                                                     \
    }                                                                                              \
    perfile_##id;

#include "structs.inc"
#include "perfile/format/structs.def"
#include "structs.inc"
#include "perfile/format/sample.def"
#include "structs.inc"
#include "perfile/format/records.def"
#include "structs.inc"
#include "perfile/format/simpleperf.def"
#include "structs.inc"
#include "perfile/format/features.def"

/* The decoders of records and features, and the steps through lists. */
#define STRUCT(id, doc)                                                                            \
    PERFILE_API perfile_status perfile_##id##_next(perfile_list *list, perfile_##id *out,          \
                                                   size_t size);
#include "perfile/format/structs.def"
#define STRUCT(id, doc)                                                                            \
    PERFILE_API perfile_status perfile_##id##_next(perfile_list *list, perfile_##id *out,          \
                                                   size_t size);
#define FEATURE(id, number, name, source, contract, doc)                                           \
    PERFILE_API perfile_status perfile_##id##_decode(                                              \
        const perfile_feature *feature, perfile_##id *out, size_t size, perfile_error *err);
#include "perfile/format/features.def"
#define PERFILE_RECORD_DECODER(id)                                                                 \
    PERFILE_API perfile_status perfile_##id##_decode(                                              \
        const perfile_record *record, perfile_##id *out, size_t size, perfile_error *err);
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_DECODER(id)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_DECODER(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_DECODER(id)
#include "perfile/format/simpleperf.def"

/* The trailer of a kernel record.  PERFILE_END when the record has none. */
PERFILE_API perfile_status perfile_sample_id_decode(const perfile_record *record,
                                                    perfile_sample_id *out, size_t size,
                                                    perfile_error *err);

/* Decodes attr bytes that are not part of a capture; `swapped`: in the other byte order. */
PERFILE_API perfile_status perfile_attr_decode(perfile_bytes bytes, bool swapped, perfile_attr *out,
                                               size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
