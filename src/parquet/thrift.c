/* The compact protocol of Apache Thrift (thrift.h). */
#include "parquet/thrift.h"

#include <assert.h>
#include <string.h>

#include "parquet/encodings.h"

/* Field types that are not used as element types. */
enum { TRUE = 1, FALSE = 2, I8 = 3, I64 = 6, LIST = 9 };

static void byte(pf_thrift *t, unsigned value)
{
    if (!pf_buffer_append_u8(t->out, (uint8_t)value))
        t->failed = true;
}

static void number(pf_thrift *t, uint64_t value)
{
    if (!pf_varint(t->out, value))
        t->failed = true;
}

static void binary(pf_thrift *t, perfile_bytes value)
{
    number(t, value.len);
    if (!pf_buffer_append(t->out, value.ptr, value.len))
        t->failed = true;
}

/* Writes the header of a field: the distance of its id to the previous one, and its type. */
static void field(pf_thrift *t, unsigned id, unsigned type)
{
    unsigned *last = &t->last[t->depth - 1];
    assert(id > *last && id - *last <= 15);
    byte(t, (id - *last) << 4 | type);
    *last = id;
}

pf_thrift pf_thrift_new(pf_buffer *out)
{
    return (pf_thrift){.out = out, .depth = 1};
}

void pf_thrift_bool(pf_thrift *t, unsigned id, bool value)
{
    field(t, id, value ? TRUE : FALSE);
}

void pf_thrift_i8(pf_thrift *t, unsigned id, int8_t value)
{
    field(t, id, I8);
    byte(t, (uint8_t)value);
}

void pf_thrift_i32(pf_thrift *t, unsigned id, int32_t value)
{
    field(t, id, PF_THRIFT_I32);
    number(t, pf_zigzag((uint64_t)(int64_t)value));
}

void pf_thrift_i64(pf_thrift *t, unsigned id, int64_t value)
{
    field(t, id, I64);
    number(t, pf_zigzag((uint64_t)value));
}

void pf_thrift_binary(pf_thrift *t, unsigned id, perfile_bytes value)
{
    field(t, id, PF_THRIFT_BINARY);
    binary(t, value);
}

static perfile_bytes bytes_of(const char *text)
{
    return (perfile_bytes){(const uint8_t *)text, strlen(text)};
}

void pf_thrift_text(pf_thrift *t, unsigned id, const char *value)
{
    pf_thrift_binary(t, id, bytes_of(value));
}

void pf_thrift_begin(pf_thrift *t, unsigned id)
{
    assert(t->depth < PF_THRIFT_DEEPEST);
    if (id)
        field(t, id, PF_THRIFT_STRUCT);
    t->last[t->depth++] = 0;
}

void pf_thrift_end(pf_thrift *t)
{
    byte(t, 0);
    t->depth--;
}

void pf_thrift_empty(pf_thrift *t, unsigned id)
{
    pf_thrift_begin(t, id);
    pf_thrift_end(t);
}

void pf_thrift_list(pf_thrift *t, unsigned id, unsigned type, size_t n)
{
    field(t, id, LIST);
    byte(t, (n < 15 ? (unsigned)n : 15) << 4 | type);
    if (n >= 15)
        number(t, n);
}

void pf_thrift_element_i32(pf_thrift *t, int32_t value)
{
    number(t, pf_zigzag((uint64_t)(int64_t)value));
}

void pf_thrift_element_text(pf_thrift *t, const char *value)
{
    binary(t, bytes_of(value));
}
