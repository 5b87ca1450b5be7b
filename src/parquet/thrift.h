/* Writes structures in the compact protocol of Apache Thrift, which headers and footer of Parquet
 * files use (format/parquet.md).
 *
 * Fields of a structure are written in the order of their ids; missing ones are simply not written.
 * Check `failed` once, at the end. */
#ifndef PF_PARQUET_THRIFT_H
#define PF_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "perfile/base.h"

enum { PF_THRIFT_DEEPEST = 8 };

/* Element types of lists. */
enum { PF_THRIFT_I32 = 5, PF_THRIFT_BINARY = 8, PF_THRIFT_STRUCT = 12 };

typedef struct pf_thrift {
    pf_buffer *out;
    bool failed;                      /* out of memory */
    unsigned depth;                   /* open structures */
    unsigned last[PF_THRIFT_DEEPEST]; /* id of the last field of each */
} pf_thrift;

/* Returns a writer that appends to `out`, and begins a structure. */
pf_thrift pf_thrift_new(pf_buffer *out);

/* Write a field.  Its id must exceed the id of the previous field by 1 to 15. */
void pf_thrift_bool(pf_thrift *t, unsigned id, bool value);
void pf_thrift_i8(pf_thrift *t, unsigned id, int8_t value);
void pf_thrift_i32(pf_thrift *t, unsigned id, int32_t value);
void pf_thrift_i64(pf_thrift *t, unsigned id, int64_t value);
void pf_thrift_binary(pf_thrift *t, unsigned id, perfile_bytes value);
void pf_thrift_text(pf_thrift *t, unsigned id, const char *value);

/* Begins a structure as a field, or as an element of a list (id 0).  Its fields follow. */
void pf_thrift_begin(pf_thrift *t, unsigned id);
void pf_thrift_end(pf_thrift *t);

/* Writes a structure without fields: an alternative without data. */
void pf_thrift_empty(pf_thrift *t, unsigned id);

/* Begins a list of `n` elements of a type PF_THRIFT_…; the elements follow. */
void pf_thrift_list(pf_thrift *t, unsigned id, unsigned type, size_t n);
void pf_thrift_element_i32(pf_thrift *t, int32_t value);
void pf_thrift_element_text(pf_thrift *t, const char *value);

#endif
