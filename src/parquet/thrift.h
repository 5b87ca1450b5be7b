/* Writes structures in the compact protocol of Apache Thrift, as the headers and the footer of
 * Parquet files are stored (format/parquet.md).
 *
 * Fields of a structure are written in the order of their ids; those that are left out are not
 * there.  Memory is checked once, at the end: `failed`. */
#ifndef PF_PARQUET_THRIFT_H
#define PF_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "perfile/base.h"

enum { PF_THRIFT_DEEPEST = 8 };

/* Types of the elements of lists. */
enum { PF_THRIFT_I32 = 5, PF_THRIFT_BINARY = 8, PF_THRIFT_STRUCT = 12 };

typedef struct pf_thrift {
    pf_buffer *out;
    bool failed;                      /* there was no memory */
    unsigned depth;                   /* open structures */
    unsigned last[PF_THRIFT_DEEPEST]; /* of each the id of its last field */
} pf_thrift;

/* A writer that appends to `out`, and has begun a structure. */
pf_thrift pf_thrift_new(pf_buffer *out);

/* Fields: their id, which is greater than that of the field before by at most 15. */
void pf_thrift_bool(pf_thrift *t, unsigned id, bool value);
void pf_thrift_i8(pf_thrift *t, unsigned id, int8_t value);
void pf_thrift_i32(pf_thrift *t, unsigned id, int32_t value);
void pf_thrift_i64(pf_thrift *t, unsigned id, int64_t value);
void pf_thrift_binary(pf_thrift *t, unsigned id, perfile_bytes value);
void pf_thrift_text(pf_thrift *t, unsigned id, const char *value);

/* A structure as a field, or (id 0) as an element of a list; its fields follow. */
void pf_thrift_begin(pf_thrift *t, unsigned id);
void pf_thrift_end(pf_thrift *t);

/* A structure without fields: an alternative that says nothing more. */
void pf_thrift_empty(pf_thrift *t, unsigned id);

/* A list of `n` elements of `type`, which follow: PF_THRIFT_… */
void pf_thrift_list(pf_thrift *t, unsigned id, unsigned type, size_t n);
void pf_thrift_element_i32(pf_thrift *t, int32_t value);
void pf_thrift_element_text(pf_thrift *t, const char *value);

#endif
