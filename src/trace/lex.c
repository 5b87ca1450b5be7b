/* Tokens of a print fmt (lex.h). */
#include "trace/lex.h"

#include <string.h>

#include "trace/print.h"

static bool is_letter(uint8_t c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static void skip(perfile_bytes *t, size_t n)
{
    t->ptr += n;
    t->len -= n;
}

/* Reads a literal that begins at `t`.  It ends at a quote without a backslash.  Without an end it
 * is TOKEN_BAD and takes all the rest. */
static pf_print_token literal(perfile_bytes *t)
{
    for (size_t i = 1; i < t->len; i++) {
        if (t->ptr[i] == '\\') {
            i++;
        } else if (t->ptr[i] == '"') {
            const pf_print_token found = {.kind = TOKEN_TEXT, .text = {t->ptr + 1, i - 1}};
            skip(t, i + 1);
            return found;
        }
    }
    skip(t, t->len);
    return (pf_print_token){.kind = TOKEN_BAD};
}

static int digit_of(uint8_t c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Reads a number: decimal, hexadecimal with 0x, or octal with a leading zero.  A suffix like UL is
 * ignored. */
static pf_print_token number(perfile_bytes *t)
{
    pf_print_token found = {.kind = TOKEN_NUMBER};
    int base = 10;
    size_t i = 0;
    if (t->ptr[0] == '0' && t->len > 2 && (t->ptr[1] | 0x20) == 'x') {
        base = 16;
        i = 2;
    } else if (t->ptr[0] == '0') {
        base = 8;
    }
    for (; i < t->len && digit_of(t->ptr[i]) < base; i++)
        found.number = found.number * (unsigned)base + (unsigned)digit_of(t->ptr[i]);
    while (i < t->len && (is_letter(t->ptr[i]) || is_digit(t->ptr[i])))
        i++;
    skip(t, i);
    return found;
}

static pf_print_token sign(perfile_bytes *t)
{
    static const char two[][3] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->"};
    pf_print_token found = {.kind = TOKEN_SIGN, .sign = {(char)t->ptr[0], 0, 0}};
    for (size_t i = 0; i < sizeof two / sizeof two[0] && t->len > 1; i++)
        if (memcmp(t->ptr, two[i], 2) == 0)
            found.sign[1] = two[i][1];
    skip(t, found.sign[1] ? 2 : 1);
    return found;
}

pf_print_token pf_print_token_read(perfile_bytes *t)
{
    while (t->len && (t->ptr[0] == ' ' || t->ptr[0] == '\t' || t->ptr[0] == '\n'))
        skip(t, 1);
    if (!t->len)
        return (pf_print_token){.kind = TOKEN_END};
    if (is_letter(t->ptr[0])) {
        size_t n = 1;
        while (n < t->len && (is_letter(t->ptr[n]) || is_digit(t->ptr[n])))
            n++;
        const pf_print_token found = {.kind = TOKEN_NAME, .text = {t->ptr, n}};
        skip(t, n);
        return found;
    }
    if (is_digit(t->ptr[0]))
        return number(t);
    if (t->ptr[0] == '\'' && t->len > 2 && t->ptr[2] == '\'') {
        const pf_print_token found = {.kind = TOKEN_NUMBER, .number = t->ptr[1]};
        skip(t, 3);
        return found;
    }
    return t->ptr[0] == '"' ? literal(t) : sign(t);
}

const pf_print_call pf_print_calls[] = {
    {"__get_str", CALL_FIELD, PF_PRINT_STRING, 1},
    {"__get_rel_str", CALL_FIELD, PF_PRINT_STRING, 1},
    {"__get_dynamic_array", CALL_FIELD, PF_PRINT_BYTES, 1},
    {"__get_rel_dynamic_array", CALL_FIELD, PF_PRINT_BYTES, 1},
    {"__get_sockaddr", CALL_FIELD, PF_PRINT_BYTES, 1},
    {"__get_rel_sockaddr", CALL_FIELD, PF_PRINT_BYTES, 1},
    {"__get_dynamic_array_len", CALL_FIELD, PF_PRINT_LENGTH, 1},
    {"__get_rel_dynamic_array_len", CALL_FIELD, PF_PRINT_LENGTH, 1},
    {"__get_bitmask", CALL_FIELD, PF_PRINT_BITMASK, 1},
    {"__get_rel_bitmask", CALL_FIELD, PF_PRINT_BITMASK, 1},
    {"__get_cpumask", CALL_FIELD, PF_PRINT_BITMASK, 1},
    {"__get_rel_cpumask", CALL_FIELD, PF_PRINT_BITMASK, 1},
    {"__print_flags", CALL_TABLE, PF_PRINT_FLAGS, 1},
    {"__print_flags_u64", CALL_TABLE, PF_PRINT_FLAGS, 1},
    {"__print_symbolic", CALL_TABLE, PF_PRINT_SYMBOL, 1},
    {"__print_symbolic_u64", CALL_TABLE, PF_PRINT_SYMBOL, 1},
    {"__print_hex", CALL_VALUES, PF_PRINT_HEX, 2},
    {"__print_hex_str", CALL_VALUES, PF_PRINT_HEX_STR, 2},
    {"__print_array", CALL_VALUES, PF_PRINT_ARRAY, 3},
    {"__builtin_expect", CALL_VALUES, PF_PRINT_EXPECT, 2},
    {"sizeof", CALL_SIZE, PF_PRINT_NUMBER, 1},
};

int pf_print_call_find(perfile_bytes name)
{
    const int n = sizeof pf_print_calls / sizeof pf_print_calls[0];
    for (int i = 0; i < n; i++)
        if (strlen(pf_print_calls[i].name) == name.len &&
            memcmp(pf_print_calls[i].name, name.ptr, name.len) == 0)
            return i;
    return -1;
}
