/* Evaluates the expressions of a print fmt (print.h).
 *
 * Jumps only go forward, so each step is executed at most once.  The compiler has counted the
 * values on the stack: a step never pops more than there are. */
#include <string.h>

#include "trace/print.h"

static pf_print_value number(uint64_t n, bool is_signed)
{
    return (pf_print_value){.what = PF_VALUE_NUMBER, .number = n, .is_signed = is_signed};
}

static bool is_number(const perfile_tracepoint_field *field)
{
    return !(field->flags & PERFILE_TRACEPOINT_ARRAY) && field->field.type != PERFILE_STORED_BLOB;
}

static pf_print_value field_value(const pf_trace_format *f, const perfile_tracepoint_field *field,
                                  perfile_bytes payload)
{
    pf_print_value v = {.what = PF_VALUE_FIELD, .field = field};
    if (!pf_trace_field_bytes(f, field, payload, &v.bytes))
        v.bytes = (perfile_bytes){NULL, 0};
    v.element = field->element <= 8 ? (uint8_t)field->element : 0;
    if (!is_number(field) || !v.bytes.len)
        return v;
    v.is_signed =
        field->field.type == PERFILE_STORED_S32 || field->field.type == PERFILE_STORED_S64;
    v.number = pf_trace_number(v.bytes.ptr, v.bytes.len, v.is_signed, f->swapped);
    return v;
}

/* Returns the value of a dynamic field: its text, bytes, length or bit mask. */
static pf_print_value dynamic_value(const pf_trace_format *f, const pf_print_step *s,
                                    perfile_bytes payload)
{
    pf_print_value v = field_value(f, &f->shown.fields[s->field], payload);
    if (s->code == PF_PRINT_LENGTH)
        return number(v.bytes.len, true);
    v.what = s->code == PF_PRINT_STRING    ? PF_VALUE_TEXT
             : s->code == PF_PRINT_BITMASK ? PF_VALUE_BITMASK
                                           : PF_VALUE_BYTES;
    return v;
}

/* Truncates a number to the size of a type. */
static uint64_t cut(uint64_t n, unsigned bytes, bool is_signed)
{
    if (bytes >= 8)
        return n;
    const unsigned unused = 64 - 8 * bytes;
    return is_signed ? (uint64_t)((int64_t)(n << unused) >> unused) : n << unused >> unused;
}

/* Returns an item of an array; 0 if the index is out of range. */
static pf_print_value item(const pf_trace_format *f, const pf_print_value *array, uint64_t i)
{
    const unsigned size = array->element;
    if (!size || i >= array->bytes.len / size)
        return number(0, false);
    const bool is_signed = array->field->field.element == PERFILE_STORED_S32 ||
                           array->field->field.element == PERFILE_STORED_S64;
    return number(pf_trace_number(array->bytes.ptr + i * size, size, is_signed, f->swapped),
                  is_signed);
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_signed, bool rest)
{
    if (!b)
        return 0;
    if (!is_signed)
        return rest ? a % b : a / b;
    if (b == UINT64_MAX) /* -1: dividing the smallest number by it would overflow */
        return rest ? 0 : 0 - a;
    return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static uint64_t shift_right(uint64_t a, uint64_t b, bool is_signed)
{
    if (b >= 64)
        return is_signed && (int64_t)a < 0 ? UINT64_MAX : 0;
    return is_signed ? (uint64_t)((int64_t)a >> b) : a >> b;
}

/* Returns -1, 0 or 1 if a is less than, equal to or greater than b. */
static int order_of(uint64_t a, uint64_t b, bool is_signed)
{
    if (is_signed)
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    return (a > b) - (a < b);
}

/* Applies an operator to two numbers. */
static pf_print_value calculate(uint8_t code, const pf_print_value *x, const pf_print_value *y)
{
    const uint64_t a = x->number, b = y->number;
    const bool is_signed = x->is_signed && y->is_signed;
    switch (code) {
    case PF_PRINT_MUL:
        return number(a * b, is_signed);
    case PF_PRINT_DIV:
    case PF_PRINT_MOD:
        return number(divide(a, b, is_signed, code == PF_PRINT_MOD), is_signed);
    case PF_PRINT_ADD:
        return number(a + b, is_signed);
    case PF_PRINT_SUB:
        return number(a - b, is_signed);
    case PF_PRINT_SHL:
        return number(b < 64 ? a << b : 0, x->is_signed);
    case PF_PRINT_SHR:
        return number(shift_right(a, b, x->is_signed), x->is_signed);
    case PF_PRINT_LESS:
        return number(order_of(a, b, is_signed) < 0, true);
    case PF_PRINT_LESS_EQUAL:
        return number(order_of(a, b, is_signed) <= 0, true);
    case PF_PRINT_MORE:
        return number(order_of(a, b, is_signed) > 0, true);
    case PF_PRINT_MORE_EQUAL:
        return number(order_of(a, b, is_signed) >= 0, true);
    case PF_PRINT_EQUAL:
        return number(a == b, true);
    case PF_PRINT_UNEQUAL:
        return number(a != b, true);
    case PF_PRINT_AND:
        return number(a & b, is_signed);
    case PF_PRINT_XOR:
        return number(a ^ b, is_signed);
    case PF_PRINT_OR:
        return number(a | b, is_signed);
    case PF_PRINT_BOTH:
        return number(a && b, true);
    default:
        return number(a || b, true);
    }
}

/* Returns the first `n` bytes of a value, or all if it has fewer. */
static pf_print_value first_bytes(const pf_print_value *of, uint64_t n, uint8_t what,
                                  uint8_t element)
{
    pf_print_value v = *of;
    v.what = what;
    v.element = element;
    v.bytes.len = n < v.bytes.len ? (size_t)n : v.bytes.len;
    return v;
}

/* Evaluates __print_array().  Items with a size that no number has are printed as bytes. */
static pf_print_value array_of(const pf_print_value *bytes, uint64_t n, uint64_t size)
{
    const uint8_t element = size == 2 || size == 4 || size == 8 ? (uint8_t)size : 1;
    return first_bytes(bytes, n < UINT32_MAX ? n * element : UINT64_MAX, PF_VALUE_ARRAY, element);
}

/* Executes a step with one operand, *v. */
static void change(const pf_print_step *s, pf_print_value *v)
{
    switch (s->code) {
    case PF_PRINT_CAST:
        v->number = cut(v->number, s->width, s->is_signed);
        v->is_signed = s->is_signed;
        break;
    case PF_PRINT_MINUS:
        *v = number(0 - v->number, v->is_signed);
        break;
    case PF_PRINT_INVERT:
        *v = number(~v->number, v->is_signed);
        break;
    case PF_PRINT_NOT:
        *v = number(!v->number, true);
        break;
    default:
        v->what = s->code == PF_PRINT_FLAGS ? PF_VALUE_FLAGS : PF_VALUE_SYMBOL;
        v->step = s;
        break;
    }
}

/* Executes a step with two or three operands; the result is v[0]. */
static void join(const pf_trace_format *f, const pf_print_step *s, pf_print_value *v)
{
    switch (s->code) {
    case PF_PRINT_INDEX:
        v[0] = v[0].field ? item(f, &v[0], v[1].number) : number(0, false);
        break;
    case PF_PRINT_EXPECT:
        break;
    case PF_PRINT_HEX:
    case PF_PRINT_HEX_STR:
        v[0] = first_bytes(&v[0], v[1].number,
                           s->code == PF_PRINT_HEX ? PF_VALUE_HEX : PF_VALUE_HEX_STR, 1);
        break;
    case PF_PRINT_ARRAY:
        v[0] = array_of(&v[0], v[1].number, v[2].number);
        break;
    default:
        v[0] = calculate(s->code, &v[0], &v[1]);
        break;
    }
}

/* Returns the value that a step without operands pushes. */
static pf_print_value pushed(const pf_trace_format *f, const pf_print_step *s,
                             perfile_bytes payload)
{
    switch (s->code) {
    case PF_PRINT_NUMBER:
        return number(s->u.number, s->is_signed);
    case PF_PRINT_TEXT:
        return (pf_print_value){.what = PF_VALUE_TEXT, .bytes = s->text};
    case PF_PRINT_FIELD:
        return field_value(f, &f->shown.fields[s->field], payload);
    default:
        return dynamic_value(f, s, payload);
    }
}

pf_print_value pf_print_evaluate(const pf_trace_format *f, const pf_print_step *steps, uint32_t n,
                                 perfile_bytes payload)
{
    pf_print_value stack[PF_PRINT_DEPTH + 1];
    unsigned top = 0;
    if (n == 1 && steps->code <= PF_PRINT_BITMASK) /* the common case */
        return pushed(f, steps, payload);
    stack[0] = number(0, true);
    for (uint32_t i = 0; i < n;) {
        const pf_print_step *s = &steps[i];
        i++;
        if (s->code <= PF_PRINT_BITMASK) {
            stack[top++] = pushed(f, s, payload);
        } else if (s->code == PF_PRINT_JUMP_FALSE) {
            if (!stack[--top].number)
                i = s->to;
        } else if (s->code == PF_PRINT_JUMP) {
            i = s->to;
        } else if (s->code <= PF_PRINT_SYMBOL) {
            change(s, &stack[top - 1]);
        } else {
            top -= s->code == PF_PRINT_ARRAY ? 2 : 1;
            join(f, s, &stack[top - 1]);
        }
    }
    return stack[0];
}
