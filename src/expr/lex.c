/* The lexer.  The text ends with a NUL, so looking ahead by one character is always allowed. */
#include "expr/parse.h"

#include "base/error.h"

#define WHERE "expression"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the value of a digit in bases up to 16; 16 for other characters. */
static int digit_of(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* Multiplies *v by `by`.  Returns false and changes nothing if that overflows. */
static bool times(uint64_t *v, uint64_t by)
{
    if (by && *v > UINT64_MAX / by)
        return false;
    *v *= by;
    return true;
}

/* Appends a digit to *v.  Returns false and changes nothing if that overflows. */
static bool append(uint64_t *v, unsigned base, unsigned digit)
{
    uint64_t n = *v;
    if (!times(&n, base) || n > UINT64_MAX - digit)
        return false;
    *v = n + digit;
    return true;
}

static perfile_status too_large(perfile_error *err)
{
    return pf_fail(err, PERFILE_E_USAGE, WHERE, "the number is above 2^64 - 1");
}

/* Reads a number with a prefix: 0x1f, 0o17, 0b101.  Letters after the prefix are digits or an
 * error, so it has no unit. */
static perfile_status lex_based(const char *p, unsigned base, pf_token *t, perfile_error *err)
{
    uint32_t i = 2;
    for (; is_digit(p[i]) || is_letter(p[i]); i++) {
        unsigned digit = (unsigned)digit_of(p[i]);
        if (digit >= base)
            return pf_fail(err, PERFILE_E_USAGE, WHERE,
                           "'%c' is not a digit of a number to base %u", p[i], base);
        if (!append(&t->number, base, digit))
            return too_large(err);
    }
    if (i == 2)
        return pf_fail(err, PERFILE_E_USAGE, WHERE, "digits are missing after \"%.2s\"", p);
    t->len = i;
    return PERFILE_OK;
}

/* Units of time are powers of 1000, units of size powers of 1024. */
static const struct {
    const char *name;
    uint64_t factor;
} units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"K", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
};

/* Reads the unit after a number: its length and factor; 0 and 1 if there is none. */
static perfile_status lex_unit(const char *p, uint32_t *n, uint64_t *factor, perfile_error *err)
{
    uint32_t len = 0;
    while (is_letter(p[len]) || is_digit(p[len]))
        len++;
    *n = len;
    *factor = 1;
    if (!len)
        return PERFILE_OK;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].name) == len && memcmp(units[i].name, p, len) == 0) {
            *factor = units[i].factor;
            return PERFILE_OK;
        }
    return pf_fail(err, PERFILE_E_USAGE, WHERE,
                   "unknown unit \"%.*s\": there are ns, us, ms, s and K, M, G, T (of 1024)",
                   len < 16 ? (int)len : 16, p);
}

/* Computes mantissa * factor * 10^exponent exactly; the result must be an integer.  Divides by 10
 * before multiplying where possible, so that 1.5s does not overflow on the way. */
static perfile_status scale(uint64_t mantissa, uint64_t factor, int exponent, uint64_t *number,
                            perfile_error *err)
{
    for (; exponent < 0 && mantissa % 10 == 0 && mantissa; exponent++)
        mantissa /= 10;
    if (!times(&mantissa, factor))
        return too_large(err);
    for (; exponent < 0 && mantissa; exponent++) {
        if (mantissa % 10)
            return pf_fail(err, PERFILE_E_USAGE, WHERE, "the number is not an integer");
        mantissa /= 10;
    }
    for (; exponent > 0 && mantissa; exponent--)
        if (!times(&mantissa, 10))
            return too_large(err);
    *number = mantissa;
    return PERFILE_OK;
}

/* Reads a decimal number: 7, 1.5s, 1e6, 64K.  `1..9` is a range, so a dot only counts before a
 * digit.  The exponent stops growing at a few hundred, where every number except 0 is out of range
 * or not an integer. */
static perfile_status lex_decimal(const char *p, pf_token *t, perfile_error *err)
{
    enum { MOST = 400 };
    uint64_t mantissa = 0, factor;
    int exponent = 0;
    uint32_t i = 0, n;
    for (; is_digit(p[i]); i++)
        if (!append(&mantissa, 10, (unsigned)digit_of(p[i])))
            return too_large(err);
    /* 010 is 8 in C and 10 elsewhere, so it is ambiguous. */
    if (p[0] == '0' && i > 1)
        return pf_fail(err, PERFILE_E_USAGE, WHERE,
                       "a number does not begin with 0: write 0o… for octal digits");
    if (p[i] == '.' && is_digit(p[i + 1]))
        for (i++; is_digit(p[i]); i++, exponent--)
            if (!append(&mantissa, 10, (unsigned)digit_of(p[i])))
                return pf_fail(err, PERFILE_E_USAGE, WHERE, "the number has too many digits");
    bool signed_exponent = p[i] && (p[i + 1] == '-' || p[i + 1] == '+');
    if ((p[i] == 'e' || p[i] == 'E') && is_digit(p[i + 1 + signed_exponent])) {
        int e = 0;
        bool negative = p[i + 1] == '-';
        for (i += 1 + signed_exponent; is_digit(p[i]); i++)
            e = e < MOST ? 10 * e + digit_of(p[i]) : e;
        exponent += negative ? -e : e;
    }
    perfile_status st = lex_unit(p + i, &n, &factor, err);
    if (st != PERFILE_OK)
        return st;
    t->len = i + n;
    return scale(mantissa, factor, exponent, &t->number, err);
}

/* Reads a number of any base, without sign; the parser handles "-". */
static perfile_status lex_number(const char *p, pf_token *t, perfile_error *err)
{
    t->code = PF_TOKEN_NUMBER;
    t->number = 0;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        return lex_based(p, 16, t, err);
    if (p[0] == '0' && p[1] == 'o')
        return lex_based(p, 8, t, err);
    if (p[0] == '0' && p[1] == 'b')
        return lex_based(p, 2, t, err);
    return lex_decimal(p, t, err);
}

/* Reads a text in quotes of either kind.  pf_lex_text() checks its escapes. */
static perfile_status lex_quoted(const char *p, pf_token *t, perfile_error *err)
{
    uint32_t i = 1;
    while (p[i] && p[i] != p[0])
        i += p[i] == '\\' && p[i + 1] ? 2 : 1;
    if (!p[i])
        return pf_fail(err, PERFILE_E_USAGE, WHERE, "the text has no closing %c", p[0]);
    t->code = PF_TOKEN_TEXT;
    t->len = i + 1;
    return PERFILE_OK;
}

/* Reads a name: letters, digits, and dots before letters.  With a leading dot it is a name of list
 * elements. */
static void lex_name(const char *p, pf_token *t)
{
    uint32_t i = 0;
    while (is_letter(p[i]) || (i && is_digit(p[i])) || (p[i] == '.' && is_letter(p[i + 1])))
        i++;
    t->len = i;
    t->code = p[0] == '.' ? PF_TOKEN_ELEMENT : PF_TOKEN_NAME;
    if (i == 2 && memcmp(p, "in", 2) == 0)
        t->code = PF_TOKEN_IN;
}

/* Marks of two characters come before their prefixes. */
static const struct {
    const char *text;
    uint8_t code;
} marks[] = {
    {"||", PF_TOKEN_OR},       {"&&", PF_TOKEN_AND},  {"==", PF_TOKEN_EQ},
    {"!=", PF_TOKEN_NE},       {"<=", PF_TOKEN_LE},   {">=", PF_TOKEN_GE},
    {"..", PF_TOKEN_TO},       {"<", PF_TOKEN_LT},    {">", PF_TOKEN_GT},
    {"~", PF_TOKEN_LIKE},      {"+", PF_TOKEN_PLUS},  {"-", PF_TOKEN_MINUS},
    {"*", PF_TOKEN_STAR},      {"&", PF_TOKEN_MASK},  {"!", PF_TOKEN_NOT},
    {"(", PF_TOKEN_OPEN},      {")", PF_TOKEN_CLOSE}, {"{", PF_TOKEN_OPEN_SET},
    {"}", PF_TOKEN_CLOSE_SET}, {",", PF_TOKEN_COMMA}, {".", PF_TOKEN_ELEMENT},
};

/* Reads an operator or bracket. */
static perfile_status lex_mark(const char *p, pf_token *t, perfile_error *err)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t len = strlen(marks[i].text);
        if (strncmp(p, marks[i].text, len) == 0) {
            t->code = marks[i].code;
            t->len = (uint32_t)len;
            return PERFILE_OK;
        }
    }
    if (*p == '=')
        return pf_fail(err, PERFILE_E_USAGE, WHERE, "write == to compare");
    if (*p == '|')
        return pf_fail(err, PERFILE_E_USAGE, WHERE, "write || for \"or\"");
    if (*p > ' ' && *p < 127)
        return pf_fail(err, PERFILE_E_USAGE, WHERE, "unexpected character '%c'", *p);
    return pf_fail(err, PERFILE_E_USAGE, WHERE, "unexpected byte 0x%02x", (uint8_t)*p);
}

perfile_status pf_lex(const char *text, uint32_t at, pf_token *t, perfile_error *err)
{
    while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')
        at++;
    const char *p = text + at;
    *t = (pf_token){.code = PF_TOKEN_END, .at = at};
    if (!*p)
        return PERFILE_OK;
    if (is_digit(*p))
        return lex_number(p, t, err);
    if (*p == '"' || *p == '\'')
        return lex_quoted(p, t, err);
    if (is_letter(*p) || (*p == '.' && is_letter(p[1]))) {
        lex_name(p, t);
        return PERFILE_OK;
    }
    return lex_mark(p, t, err);
}

/* Returns the byte for the escape after the backslash before `p`, -1 if there is no such escape.
 * *used is its length without the backslash. */
static int escaped(const char *p, uint32_t *used)
{
    /* Each escape, and its byte at the same index. */
    static const char from[] = "ntr\\\"'";
    static const char to[] = "\n\t\r\\\"'";
    const char *c = strchr(from, *p);
    *used = 1;
    if (*p && c)
        return to[c - from];
    if (*p != 'x' || digit_of(p[1]) > 15 || digit_of(p[2]) > 15)
        return -1;
    *used = 3;
    return digit_of(p[1]) << 4 | digit_of(p[2]);
}

static bool put(pf_buffer *out, int byte)
{
    return pf_buffer_append_u8(out, (uint8_t)byte);
}

perfile_status pf_lex_text(const char *text, const pf_token *t, bool pattern, pf_buffer *out,
                           uint32_t *wrong, perfile_error *err)
{
    uint32_t end = t->at + t->len - 1;
    for (uint32_t i = t->at + 1; i < end; i++) {
        int c = (uint8_t)text[i];
        bool good = true;
        *wrong = i;
        if (c == '\\') {
            uint32_t used = 1;
            bool special = strchr("*?[]", text[i + 1]) != NULL;
            c = special ? text[i + 1] : escaped(text + i + 1, &used);
            if (c < 0)
                return pf_fail(err, PERFILE_E_USAGE, WHERE,
                               "unknown escape: there are \\\\ \\\" \\' \\n \\t \\r \\x41, and "
                               "\\* \\? \\[ \\] for patterns");
            /* The backslash remains for pf_expr_glob(), which takes the character literally. */
            if (pattern && (special || c == '\\'))
                good = put(out, '\\');
            i += used;
        }
        if (!good || !put(out, c))
            return pf_fail_nomem(err, WHERE);
    }
    return PERFILE_OK;
}
