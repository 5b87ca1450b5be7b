/* Values of fields in payloads. */
#include <string.h>

#include "base/byte_order.h"
#include "trace/eventheader.h"

uint64_t pf_trace_number(const uint8_t *p, size_t size, bool sign, bool swapped)
{
    switch (size) {
    case 1:
        return sign ? (uint64_t)(int64_t)(int8_t)*p : *p;
    case 2: {
        const uint16_t v = pf_load_u16(p, swapped);
        return sign ? (uint64_t)(int64_t)(int16_t)v : v;
    }
    case 4: {
        const uint32_t v = pf_load_u32(p, swapped);
        return sign ? (uint64_t)(int64_t)(int32_t)v : v;
    }
    case 8:
        return pf_load_u64(p, swapped);
    default:
        return 0;
    }
}

/* Finds a dynamic field.  Its word has the offset in the low 16 bits and the size in the high 16
 * bits.  In some kernels the words of bit masks have 32 bits for each, but no recorder writes
 * those. */
static bool dynamic_bytes(const pf_trace_format *f, const perfile_tracepoint_field *field,
                          perfile_bytes payload, perfile_bytes *bytes)
{
    if (field->size < 4)
        return false;
    const uint32_t word = pf_load_u32(payload.ptr + field->offset, f->swapped);
    size_t at = word & 0xffff;
    const size_t n = word >> 16;
    if (field->flags & PERFILE_TRACEPOINT_RELATIVE)
        at += field->offset + field->size;
    if (at > payload.len || payload.len - at < n)
        return false;
    *bytes = (perfile_bytes){payload.ptr + at, n};
    return true;
}

bool pf_trace_field_bytes(const pf_trace_format *f, const perfile_tracepoint_field *field,
                          perfile_bytes payload, perfile_bytes *bytes)
{
    if (field->offset > payload.len)
        return false;
    const size_t left = payload.len - field->offset;
    if (left < field->size)
        return false;
    if (field->flags & PERFILE_TRACEPOINT_DYNAMIC)
        return dynamic_bytes(f, field, payload, bytes);
    *bytes = (perfile_bytes){payload.ptr + field->offset, field->size ? field->size : left};
    return true;
}

static const pf_trace_format *format_of(const perfile_tracepoint *t)
{
    return (const pf_trace_format *)(const void *)t;
}

static bool is_signed(uint8_t stored)
{
    return stored == PERFILE_STORED_S32 || stored == PERFILE_STORED_S64;
}

perfile_status perfile_tracepoint_value(const perfile_tracepoint *t, perfile_bytes payload,
                                        uint32_t i, perfile_value *value)
{
    const pf_trace_format *f = format_of(t);
    const perfile_tracepoint_field *field = &t->fields[i];
    perfile_bytes bytes;
    if (field->flags & PERFILE_TRACEPOINT_SELF)
        return pf_eh_value(f, payload, i, value);
    if (!pf_trace_field_bytes(f, field, payload, &bytes))
        return PERFILE_END;
    value->offset = (uint64_t)(bytes.ptr - payload.ptr);
    value->width = bytes.len;
    value->number = 0;
    switch (field->field.type) {
    case PERFILE_STORED_TEXT: {
        const uint8_t *nul = bytes.len ? memchr(bytes.ptr, 0, bytes.len) : NULL;
        value->u.bytes = (perfile_bytes){bytes.ptr, nul ? (size_t)(nul - bytes.ptr) : bytes.len};
        break;
    }
    case PERFILE_STORED_BLOB:
        value->u.bytes = bytes;
        break;
    case PERFILE_STORED_WORDS:
        value->u.words = (perfile_words){bytes.ptr, bytes.len / field->element,
                                         (uint8_t)field->element, f->swapped};
        break;
    default:
        value->number =
            pf_trace_number(bytes.ptr, bytes.len, is_signed(field->field.type), f->swapped);
        break;
    }
    return PERFILE_OK;
}
