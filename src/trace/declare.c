/* Declarations of fields in the description of a tracepoint:
 *
 *     unsigned short common_type      char prev_comm[16]        const char * filename
 *     __data_loc char[] name          __rel_loc unsigned long[] addresses
 *
 * The kind of a value follows from its type, and from size and sign in the description: arrays of
 * char are text, other arrays of bytes are bytes, arrays of numbers are lists of numbers.  A field
 * with the size of a number is a number.  Everything else is bytes. */
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

static bool is_name(uint8_t c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static perfile_bytes trimmed(perfile_bytes t)
{
    while (t.len && is_blank(t.ptr[0])) {
        t.ptr++;
        t.len--;
    }
    while (t.len && is_blank(t.ptr[t.len - 1]))
        t.len--;
    return t;
}

/* Returns true if `word` is one of the words of a type. */
static bool has_word(perfile_bytes type, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= type.len; i++)
        if (memcmp(type.ptr + i, word, n) == 0 && (i == 0 || !is_name(type.ptr[i - 1])) &&
            (i + n == type.len || !is_name(type.ptr[i + n])))
            return true;
    return false;
}

/* Types by name.  Size 0: the size of a long.  Fixed-size types have several spellings (__u8,
 * uint8_t). */
static const struct {
    const char *name;
    uint8_t size;
    bool is_signed;
} types[] = {
    {"u8", 1, false},         {"u16", 2, false},      {"u32", 4, false},
    {"u64", 8, false},        {"s8", 1, true},        {"s16", 2, true},
    {"s32", 4, true},         {"s64", 8, true},       {"__u8", 1, false},
    {"__u16", 2, false},      {"__u32", 4, false},    {"__u64", 8, false},
    {"__s8", 1, true},        {"__s16", 2, true},     {"__s32", 4, true},
    {"__s64", 8, true},       {"uint8_t", 1, false},  {"uint16_t", 2, false},
    {"uint32_t", 4, false},   {"uint64_t", 8, false}, {"int8_t", 1, true},
    {"int16_t", 2, true},     {"int32_t", 4, true},   {"int64_t", 8, true},
    {"bool", 1, false},       {"_Bool", 1, false},    {"pid_t", 4, true},
    {"gfp_t", 4, false},      {"dev_t", 4, false},    {"size_t", 0, false},
    {"ssize_t", 0, true},     {"loff_t", 8, true},    {"sector_t", 8, false},
    {"dma_addr_t", 8, false},
};

unsigned pf_trace_type_size(perfile_bytes type, unsigned long_size, bool *is_signed)
{
    bool ignored;
    bool *sign = is_signed ? is_signed : &ignored;
    const bool is_unsigned = has_word(type, "unsigned");
    *sign = false;
    if (memchr(type.ptr ? (const void *)type.ptr : "", '*', type.len))
        return long_size;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (has_word(type, types[i].name)) {
            *sign = types[i].is_signed;
            return types[i].size ? types[i].size : long_size;
        }
    *sign = !is_unsigned;
    if (has_word(type, "char"))
        return 1;
    if (has_word(type, "short"))
        return 2;
    if (has_word(type, "long"))
        return type.len > 9 && has_word(type, "long long") ? 8 : long_size;
    if (has_word(type, "int") || has_word(type, "enum") || is_unsigned || has_word(type, "signed"))
        return 4;
    *sign = false;
    return 0;
}

/* Removes brackets at the end of `text`.  *count is the number in them, 0 if there is none or a
 * word.  Returns false if there are no brackets. */
static bool take_brackets(perfile_bytes *text, uint32_t *count)
{
    uint32_t n = 0;
    size_t open = 0;
    if (!text->len || text->ptr[text->len - 1] != ']')
        return false;
    while (open < text->len && text->ptr[open] != '[')
        open++;
    for (size_t i = open + 1; i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9'; i++)
        n = n < PF_TRACE_PAYLOAD ? 10 * n + (uint32_t)(text->ptr[i] - '0') : n;
    *count = n;
    *text = trimmed((perfile_bytes){text->ptr, open});
    return true;
}

/* Returns PERFILE_STORED_… of a number.  Field tables have no signed numbers below 32 bits. */
static uint8_t stored_as(unsigned size, bool is_signed)
{
    if (size == 8)
        return is_signed ? PERFILE_STORED_S64 : PERFILE_STORED_U64;
    if (is_signed)
        return PERFILE_STORED_S32;
    return size == 1 ? PERFILE_STORED_U8 : size == 2 ? PERFILE_STORED_U16 : PERFILE_STORED_U32;
}

static bool is_number_size(uint32_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Sets the type of an array of `count` declared items; 0: unknown number. */
static void describe_array(perfile_tracepoint_field *f, perfile_bytes type, uint32_t count,
                           unsigned long_size)
{
    bool is_signed = false;
    unsigned size = pf_trace_type_size(type, long_size, &is_signed);
    if (count && f->size && f->size % count == 0 && !(f->flags & PERFILE_TRACEPOINT_DYNAMIC))
        size = f->size / count;
    f->element = size;
    f->field.kind = PERFILE_KIND_OPAQUE;
    f->field.type = PERFILE_STORED_BLOB;
    if (size == 1 && has_word(type, "char") && !has_word(type, "unsigned")) {
        f->field.type = PERFILE_STORED_TEXT;
        f->field.kind = PERFILE_KIND_TEXT;
    } else if (size > 1 && is_number_size(size)) {
        /* S32 and S64 are the only signed item types in the tables. */
        f->field.type = PERFILE_STORED_WORDS;
        f->field.element =
            size == 4 || size == 8 ? stored_as(size, is_signed) : stored_as(size, false);
        f->field.kind = f->flags & PERFILE_TRACEPOINT_POINTER ? PERFILE_KIND_HEX : PERFILE_KIND_DEC;
    }
}

static void describe_scalar(perfile_tracepoint_field *f, bool is_signed)
{
    f->element = f->size;
    f->field.type = PERFILE_STORED_BLOB;
    f->field.kind = PERFILE_KIND_OPAQUE;
    if (!is_number_size(f->size))
        return;
    f->field.type = stored_as(f->size, is_signed && !(f->flags & PERFILE_TRACEPOINT_POINTER));
    f->field.kind = f->flags & PERFILE_TRACEPOINT_POINTER ? PERFILE_KIND_ADDR : PERFILE_KIND_DEC;
}

/* Removes the last name from `text`. */
static perfile_bytes take_name(perfile_bytes *text)
{
    size_t begin = text->len;
    while (begin && is_name(text->ptr[begin - 1]))
        begin--;
    const perfile_bytes name = {text->ptr + begin, text->len - begin};
    *text = trimmed((perfile_bytes){text->ptr, begin});
    return name;
}

/* The brackets may follow the name (char comm[16]) or the type (__data_loc char[] name).  A bit
 * field (name:3) is read as the number that contains it: the description does not say which bits it
 * has. */
bool pf_trace_declare(perfile_bytes text, bool has_sign, bool is_signed, unsigned long_size,
                      perfile_tracepoint_field *f, perfile_bytes *name, perfile_bytes *type)
{
    bool by_name;
    uint32_t count = 0;
    perfile_bytes left = trimmed(text);
    const uint8_t *colon = left.len ? memchr(left.ptr, ':', left.len) : NULL;
    if (colon)
        left = trimmed((perfile_bytes){left.ptr, (size_t)(colon - left.ptr)});
    bool array = take_brackets(&left, &count);
    *name = take_name(&left);
    *type = left;
    if (!name->len || !left.len)
        return false;
    perfile_bytes base = left;
    array |= take_brackets(&base, &count);
    if (has_word(base, "__data_loc") || has_word(base, "__rel_loc"))
        f->flags |= PERFILE_TRACEPOINT_DYNAMIC |
                    (has_word(base, "__rel_loc") ? PERFILE_TRACEPOINT_RELATIVE : 0);
    if (base.len && base.ptr[base.len - 1] == '*')
        f->flags |= PERFILE_TRACEPOINT_POINTER;
    if (has_word(base, "long"))
        f->flags |= PERFILE_TRACEPOINT_LONG;
    (void)pf_trace_type_size(base, long_size, &by_name);
    if (array || f->flags & PERFILE_TRACEPOINT_DYNAMIC) {
        f->flags |= PERFILE_TRACEPOINT_ARRAY;
        describe_array(f, base, count, long_size);
    } else {
        describe_scalar(f, has_sign ? is_signed : by_name);
    }
    return true;
}
