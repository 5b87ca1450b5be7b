/* Prints a payload with its print fmt (print.h), in the way of perf. */
#include "base/byte_order.h"
#include "trace/eventheader.h"
#include "trace/print.h"
#include "trace/printk.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pf_print_bytes(pf_print_out *out, const void *bytes, size_t n)
{
    const size_t room = out->most - out->len;
    n = n < room ? n : room;
    if (n)
        memcpy(out->to + out->len, bytes, n);
    out->len += n;
}

void pf_print_number(pf_print_out *out, const char *format, ...)
{
    char text[PF_PRINT_WIDTH + 64];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        pf_print_bytes(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void put_text(pf_print_out *out, const char *text)
{
    pf_print_bytes(out, text, strlen(text));
}

/* Prints a number with flags or a precision, by snprintf(). */
static void put_formatted(pf_print_out *out, const pf_print_piece *p, int width, int precision,
                          uint64_t n)
{
    char format[16] = "%", text[2 * PF_PRINT_WIDTH];
    size_t at = 1;
    for (unsigned i = 0; i < 5; i++)
        if (p->flags & 1U << i)
            format[at++] = "-0+ #"[i];
    memcpy(format + at, precision < 0 ? "*ll" : "*.*ll", precision < 0 ? 3 : 5);
    at += precision < 0 ? 3 : 5;
    format[at++] = p->conversion;
    format[at] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int len = precision < 0
                        ? snprintf(text, sizeof text, format, width, (long long)n)
                        : snprintf(text, sizeof text, format, width, precision, (long long)n);
#pragma GCC diagnostic pop
    if (len > 0)
        pf_print_bytes(out, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
}

/* Prints a number with known width and precision.  Most are decimal or hexadecimal, at most filled
 * with zeros ("%03d"); these are converted here. */
static void put_integer(pf_print_out *out, const pf_print_piece *p, int width, int precision,
                        uint64_t n)
{
    const unsigned unused = 64 - 8u * p->bytes;
    const bool is_signed = p->conversion == 'd';
    char digits[PF_PRINT_WIDTH + 24], *const end = digits + sizeof digits, *at = end;
    n = n << unused;
    n = is_signed ? (uint64_t)((int64_t)n >> unused) : n >> unused;
    if ((p->flags & ~PF_PRINT_ZEROS) || (width && !p->flags) || precision >= 0 ||
        p->conversion == 'o' || p->conversion == 'X') {
        put_formatted(out, p, width, precision, n);
        return;
    }
    const bool negative = is_signed && (int64_t)n < 0;
    uint64_t left = negative ? 0 - n : n;
    if (p->conversion == 'x')
        do
            *--at = "0123456789abcdef"[left % 16];
        while (left /= 16);
    else
        do
            *--at = (char)('0' + left % 10);
        while (left /= 10);
    while (end - at < width - negative)
        *--at = '0';
    if (negative)
        *--at = '-';
    pf_print_bytes(out, at, (size_t)(end - at));
}

/* Prints the names of the bits of a number. */
static void put_flags(pf_print_out *out, const pf_print *print, const pf_print_value *v)
{
    uint64_t left = v->number;
    bool any = false;
    const pf_print_step *s = v->step;
    for (uint32_t i = 0; i < s->u.table.n; i++) {
        const pf_print_entry *e = &print->entries[s->u.table.first + i];
        if (!e->value || (left & e->value) != e->value)
            continue;
        if (any)
            pf_print_bytes(out, s->text.ptr, s->text.len);
        pf_print_bytes(out, e->name.ptr, e->name.len);
        any = true;
        left &= ~e->value;
    }
    if (!left)
        return;
    if (any)
        pf_print_bytes(out, s->text.ptr, s->text.len);
    pf_print_number(out, "0x%llx", (unsigned long long)left);
}

static void put_symbol(pf_print_out *out, const pf_print *print, const pf_print_value *v)
{
    const pf_print_step *s = v->step;
    for (uint32_t i = 0; i < s->u.table.n; i++) {
        const pf_print_entry *e = &print->entries[s->u.table.first + i];
        if (e->value != v->number)
            continue;
        pf_print_bytes(out, e->name.ptr, e->name.len);
        return;
    }
    pf_print_number(out, "0x%llx", (unsigned long long)v->number);
}

/* Prints bytes in hexadecimal. */
static void put_hex(pf_print_out *out, const pf_print_value *v)
{
    for (size_t i = 0; i < v->bytes.len && out->len < out->most; i++)
        pf_print_number(out, i && v->what == PF_VALUE_HEX ? " %02x" : "%02x", v->bytes.ptr[i]);
}

static void put_array(pf_print_out *out, const pf_trace_format *f, const pf_print_value *v)
{
    const size_t n = v->bytes.len / v->element;
    for (size_t i = 0; i < n && out->len < out->most; i++)
        pf_print_number(out, i ? " %llu" : "%llu",
                        (unsigned long long)pf_trace_number(v->bytes.ptr + i * v->element,
                                                            v->element, false, f->swapped));
}

/* Prints a bit mask in hexadecimal, the highest byte first, with a comma after each 32 bits. */
static void put_bitmask(pf_print_out *out, const pf_trace_format *f, const pf_print_value *v)
{
    const bool big = f->swapped != (bool)PF_NATIVE_BIG;
    const size_t n = v->bytes.len, word = f->long_size;
    for (size_t i = 0; i < n && out->len < out->most; i++) {
        const size_t place = n - 1 - i; /* index of the byte, by significance */
        const size_t at =
            big && n % word == 0 ? place / word * word + (word - 1 - place % word) : place;
        pf_print_number(out, "%02x", v->bytes.ptr[at]);
        if (place && place % 4 == 0)
            put_text(out, ",");
    }
}

/* Prints a field with %s.  An array is text.  A field with the size of a pointer is one: it is
 * printed as the kernel's constant text at that address, or as a number. */
static void put_field(pf_print_out *out, const pf_trace_format *f, const pf_print_value *v)
{
    if (!(v->field->flags & PERFILE_TRACEPOINT_ARRAY) && v->field->size == f->long_size) {
        const char *text = pf_printk_find(f->printk, v->number);
        if (text)
            put_text(out, text);
        else
            pf_print_number(out, "%llx", (unsigned long long)v->number);
        return;
    }
    const uint8_t *nul = v->bytes.len ? memchr(v->bytes.ptr, 0, v->bytes.len) : NULL;
    pf_print_bytes(out, v->bytes.ptr, nul ? (size_t)(nul - v->bytes.ptr) : v->bytes.len);
}

/* Prints a value with %s, without width and precision.  Numbers print nothing, as in perf. */
static void put_value(pf_print_out *out, const pf_trace_format *f, const pf_print_value *v)
{
    switch (v->what) {
    case PF_VALUE_TEXT: {
        const uint8_t *nul = v->bytes.len ? memchr(v->bytes.ptr, 0, v->bytes.len) : NULL;
        pf_print_bytes(out, v->bytes.ptr, nul ? (size_t)(nul - v->bytes.ptr) : v->bytes.len);
        break;
    }
    case PF_VALUE_FIELD:
        put_field(out, f, v);
        break;
    case PF_VALUE_FLAGS:
        put_flags(out, f->print, v);
        break;
    case PF_VALUE_SYMBOL:
        put_symbol(out, f->print, v);
        break;
    case PF_VALUE_HEX:
    case PF_VALUE_HEX_STR:
        put_hex(out, v);
        break;
    case PF_VALUE_ARRAY:
        put_array(out, f, v);
        break;
    case PF_VALUE_BITMASK:
        put_bitmask(out, f, v);
        break;
    default:
        break;
    }
}

/* Prints %s: the text is cut to the precision, and padded with blanks to the width. */
static void put_string(pf_print_out *out, const pf_trace_format *f, const pf_print_piece *p,
                       int width, int precision, const pf_print_value *v)
{
    const size_t begin = out->len;
    put_value(out, f, v);
    size_t n = out->len - begin;
    if (precision >= 0 && n > (size_t)precision)
        n = (size_t)precision;
    out->len = begin + n;
    size_t blanks = (size_t)width > n ? (size_t)width - n : 0;
    const size_t room = out->most - out->len;
    blanks = blanks < room ? blanks : room;
    uint8_t *at = out->to + begin;
    if (!(p->flags & PF_PRINT_LEFT))
        memmove(at + blanks, at, n);
    memset(p->flags & PF_PRINT_LEFT ? at + n : at, ' ', blanks);
    out->len += blanks;
}

/* Data for %p and its variants. */
typedef struct naming {
    perfile_tracepoint_symbol_fn *symbol;
    void *user;
} naming;

/* Prints %p. %pS and its variants print the name of a function, or else its address, even 0x0.  The
 * others print what glibc prints for a pointer. */
static void put_pointer(pf_print_out *out, const pf_print_piece *p, const naming *names, uint64_t n,
                        int width)
{
    uint64_t offset = 0;
    const char c = p->pointer[0];
    const bool is_function = c && strchr("FfSs", c);
    const char *name = names->symbol && is_function ? names->symbol(names->user, n, &offset) : NULL;
    char text[24] = "(nil)";
    if (name) {
        put_text(out, name);
        if (c == 'F' || c == 'S')
            pf_print_number(out, "+0x%llx", (unsigned long long)offset);
        return;
    }
    if (n || is_function)
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)n);
    pf_print_number(out, p->flags & PF_PRINT_LEFT ? "%-*s" : "%*s", width, text);
}

static int bounded(int64_t n)
{
    return n < 0 ? 0 : n > PF_PRINT_WIDTH ? PF_PRINT_WIDTH : (int)n;
}

static void put_piece(pf_print_out *out, const pf_trace_format *f, const pf_print_piece *p,
                      perfile_bytes payload, const naming *names)
{
    int width = p->width, precision = p->precision;
    pf_print_bytes(out, p->text.ptr, p->text.len);
    if (!p->conversion)
        return;
    if (p->star.n) {
        const pf_print_value star =
            pf_print_evaluate(f, f->print->steps + p->star.first, p->star.n, payload);
        *(width == -1 ? &width : &precision) = bounded((int32_t)star.number);
    }
    const pf_print_value v =
        pf_print_evaluate(f, f->print->steps + p->value.first, p->value.n, payload);
    switch (p->conversion) {
    case 's':
        put_string(out, f, p, width, precision, &v);
        break;
    case 'c':
        pf_print_number(out, "%*c", p->flags & PF_PRINT_LEFT ? -width : width, (int)v.number);
        break;
    case 'p':
        if (v.what == PF_VALUE_TEXT)
            put_value(out, f, &v);
        else if (!pf_print_address(out, p, &v))
            put_pointer(out, p, names, v.number, width);
        break;
    default:
        put_integer(out, p, width, precision, v.number);
        break;
    }
}

/* Returns true if an array of bytes is text, up to its first NUL. */
static bool is_text(perfile_bytes b)
{
    size_t i = 0;
    for (; i < b.len && b.ptr[i]; i++)
        if (b.ptr[i] < ' ' ? b.ptr[i] < '\t' || b.ptr[i] > '\r' : b.ptr[i] > '~')
            return false;
    return true;
}

/* Prints an array in the field-by-field form. */
static void put_raw_array(pf_print_out *out, const perfile_tracepoint_field *field, perfile_bytes b)
{
    if (field->element == 1 && is_text(b)) {
        const uint8_t *nul = b.len ? memchr(b.ptr, 0, b.len) : NULL;
        pf_print_bytes(out, b.ptr, nul ? (size_t)(nul - b.ptr) : b.len);
        return;
    }
    put_text(out, "ARRAY[");
    for (size_t i = 0; i < b.len && out->len < out->most; i++)
        pf_print_number(out, i ? ", %02x" : "%02x", b.ptr[i]);
    put_text(out, "]");
}

/* Prints field by field, in perf's form, for a print fmt that cannot be evaluated. */
static void put_fields(pf_print_out *out, const pf_trace_format *f, perfile_bytes payload)
{
    put_text(out, "[FAILED TO PARSE]");
    for (uint32_t i = 0; i < f->shown.n_fields; i++) {
        const perfile_tracepoint_field *field = &f->shown.fields[i];
        perfile_bytes b;
        if (field->flags & PERFILE_TRACEPOINT_COMMON)
            continue;
        put_text(out, " ");
        put_text(out, field->field.name);
        put_text(out, "=");
        if (!pf_trace_field_bytes(f, field, payload, &b))
            continue;
        const bool is_signed =
            field->field.type == PERFILE_STORED_S32 || field->field.type == PERFILE_STORED_S64;
        const uint64_t n = b.len ? pf_trace_number(b.ptr, b.len, is_signed, f->swapped) : 0;
        if (field->flags & PERFILE_TRACEPOINT_ARRAY)
            put_raw_array(out, field, b);
        else if (field->flags & (PERFILE_TRACEPOINT_POINTER | PERFILE_TRACEPOINT_LONG))
            pf_print_number(out, "0x%llx", (unsigned long long)n);
        else if (is_signed)
            pf_print_number(out, "%lld", (long long)n);
        else
            pf_print_number(out, "%llu", (unsigned long long)n);
    }
}

/* Compiles the print fmt.  This is the only change of a description after it was made, and it is
 * not visible outside. */
void pf_trace_compile(const pf_trace_format *f)
{
    pf_trace_format *mine = (pf_trace_format *)(uintptr_t)f;
    if (!f->compiled && pf_print_compile(f, f->arena, &mine->print, NULL) != PERFILE_OK)
        mine->print = NULL; /* out of memory: payloads are printed field by field */
    mine->compiled = true;
}

size_t pf_trace_print(const pf_trace_format *f, perfile_bytes payload,
                      perfile_tracepoint_symbol_fn *symbol, void *user, uint8_t *to)
{
    const size_t most = PF_PRINT_ALWAYS + PF_PRINT_A_BYTE * payload.len;
    pf_print_out out = {to, 0, most < PF_PRINT_MOST ? most : PF_PRINT_MOST};
    const naming names = {symbol, user};
    f = f->self ? f->self->base : f;
    pf_trace_compile(f);
    if (!f->print)
        put_fields(&out, f, payload);
    for (uint32_t i = 0; f->print && i < f->print->n_pieces; i++)
        put_piece(&out, f, &f->print->pieces[i], payload, &names);
    return out.len;
}

size_t perfile_tracepoint_print(const perfile_tracepoint *t, perfile_bytes payload,
                                perfile_tracepoint_symbol_fn *symbol, void *user, char *out,
                                size_t size)
{
    uint8_t text[PF_PRINT_MOST];
    const size_t len =
        pf_trace_print((const pf_trace_format *)(const void *)t, payload, symbol, user, text);
    if (!size)
        return len;
    const size_t kept = len < size ? len : size - 1;
    memcpy(out, text, kept);
    out[kept] = '\0';
    return len;
}
