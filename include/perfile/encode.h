/* The way back: bytes of records, features and attrs from the structs of records.h.
 *
 * For a row RECORD(mmap2, …) in format/records.def there is
 *
 *     perfile_status perfile_mmap2_encode(const perfile_mmap2 *in, size_t size,
 *                                         const perfile_encode_options *how, void *out, size_t
 * room, size_t *len, perfile_error *err);
 *
 * which makes a whole record (header, body, trailer), and likewise for every FEATURE row, which
 * makes its payload.  What is made is read back and compared before it is given out: what a decoder
 * gets from the bytes is what the program put in, or there is an error that names the member.
 *
 * - `has_…` members say what is there, as they do for decoders; the second of two that exclude each
 *   other need not be set.  `present` of perfile_sample and perfile_sample_id must have the bits
 *   that the layout asks for.
 * - Members that say how many or how long (nr, raw_size …) are taken from what they count, so that
 *   they cannot disagree: whatever they hold is passed over.
 * - Numbers are native.  Arrays, strings and lists may be those of a decoded struct, of either byte
 *   order, or those of a program: perfile_words_u64(), perfile_strings_of(), perfile_NAME_list().
 * - Text ends with a NUL; it and the record are filled up with zeros to a multiple of 8, unless
 *   zeros there would be read as something.  Strings with a length (features) take a multiple
 * of 64.
 *
 * Nothing is allocated.  `out` must not overlap what `in` points to; after a failure its contents
 * are worthless.  65,536 bytes hold any record but simpleperf's.  With `out` NULL nothing is
 * written and *len is what is needed.
 *
 * PERFILE_E_USAGE: the struct does not say what its bytes would (perfile_error.where names the
 * member), or `out` is too small.  PERFILE_E_LIMIT: the record would be too long; `where` names the
 * member that did not fit. */
#ifndef PERFILE_ENCODE_H
#define PERFILE_ENCODE_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How records and features are stored.  All zeros beside `size`: little-endian, of no event. */
typedef struct perfile_encode_options {
    size_t size;
    const perfile_layout *layout;       /* of the event: samples, READ and trailers need it */
    const perfile_sample_id *sample_id; /* the trailer, for kernel records whose layout has one */
    uint32_t n_cpus;                    /* CPU_TOPOLOGY: the processors that NRCPUS has */
    uint16_t misc;                      /* of the header; not for simpleperf's records */
    bool big_endian;
    uint8_t reserved0;
    uint64_t reserved[4];
} perfile_encode_options;

/* The layout of records of an event with that attr. */
PERFILE_API void perfile_layout_of_attr(const perfile_attr *attr, size_t size,
                                        perfile_layout *layout);

/* Native arrays in the form that structs hold.  They borrow: the array must outlive them. */
PERFILE_API perfile_words perfile_words_u16(const uint16_t *words, size_t n);
PERFILE_API perfile_words perfile_words_u32(const uint32_t *words, size_t n);
PERFILE_API perfile_words perfile_words_s32(const int32_t *words, size_t n);
PERFILE_API perfile_words perfile_words_u64(const uint64_t *words, size_t n);
PERFILE_API perfile_strings perfile_strings_of(const perfile_bytes *texts, size_t n);

/* perfile_ns_link_list() … : `n` structs of `size` bytes each (sizeof *items) as a list. */
#define STRUCT(id, doc)                                                                            \
    PERFILE_API perfile_list perfile_##id##_list(const perfile_##id *items, size_t n, size_t size);
#include "perfile/format/structs.def"
#define STRUCT(id, doc)                                                                            \
    PERFILE_API perfile_list perfile_##id##_list(const perfile_##id *items, size_t n, size_t size);
#define FEATURE(id, number, name, source, contract, doc)                                           \
    PERFILE_API perfile_status perfile_##id##_encode(                                              \
        const perfile_##id *in, size_t size, const perfile_encode_options *how, void *out,         \
        size_t room, size_t *len, perfile_error *err);
#include "perfile/format/features.def"
#define PERFILE_RECORD_ENCODER(id)                                                                 \
    PERFILE_API perfile_status perfile_##id##_encode(                                              \
        const perfile_##id *in, size_t size, const perfile_encode_options *how, void *out,         \
        size_t room, size_t *len, perfile_error *err);
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_ENCODER(id)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_ENCODER(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PERFILE_RECORD_ENCODER(id)
#include "perfile/format/simpleperf.def"

/* A trailer that stands alone, as how->layout has it; how->sample_id does not matter. */
PERFILE_API perfile_status perfile_sample_id_encode(const perfile_sample_id *in, size_t size,
                                                    const perfile_encode_options *how, void *out,
                                                    size_t room, size_t *len, perfile_error *err);

/* An attr of in->size bytes (0, as in very old files: 64), in the order that `how` says.  Members
 * that do not fit must be 0. */
PERFILE_API perfile_status perfile_attr_encode(const perfile_attr *in, size_t size,
                                               const perfile_encode_options *how, void *out,
                                               size_t room, size_t *len, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
