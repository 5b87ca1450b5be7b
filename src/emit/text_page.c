/* The layer below the form "text": lines, columns, escapes and hex dumps, numbers by their kind,
 * and names of registers. */
#include "emit/text_page.h"
#include "perfile/abi.h"
#include "perfile/text.h"
#include "schema/rows.h"
#include "base/command.h"
#include "schema/command.h"

#include <stdio.h>

enum {
    INDENT = 4,
    STEP = 2,       /* additional blanks per depth */
    SHORT_RUN = 16, /* blanks that one memset() of constant size writes */
    HEX_BYTES = 8,  /* per line, before a field */
    DUMP_BYTES = 16 /* per line of a dump */
};

void pf_text_page_string(pf_text_page *t, const char *text)
{
    pf_text_page_raw(t, text, strlen(text));
}

void pf_text_page_spaces(pf_text_page *t, size_t n)
{
    uint8_t *at = pf_emit_room(&t->base, n < SHORT_RUN ? SHORT_RUN : n);
    if (!at)
        return;
    memset(at, ' ', SHORT_RUN); /* the constant size avoids a call */
    if (n > SHORT_RUN)
        memset(at + SHORT_RUN, ' ', n - SHORT_RUN);
    pf_emit_filled(&t->base, at + n);
}

/* Writes seconds with all 9 decimals, so that no digit is lost. */
void pf_text_page_seconds(pf_text_page *t, uint64_t ns, size_t width)
{
    enum { NS_DIGITS = 9 };
    uint8_t digits[PF_DEC_MAX + 1 + NS_DIGITS];
    uint8_t *end = pf_put_dec(digits, ns / 1000000000);
    *end++ = '.';
    end = pf_put_dec_fixed(end, ns % 1000000000, NS_DIGITS);
    size_t n = (size_t)(end - digits);
    if (n < width)
        pf_text_page_spaces(t, width - n);
    pf_emit_bytes(&t->base, digits, n);
}

/* Returns the length of the character at `p`; 0 if it is not printable or not UTF-8. */
static size_t printable(const uint8_t *p, size_t left)
{
    uint32_t code;
    size_t n = perfile_utf8_char(p, left, &code);
    return n && pf_is_printable(code) ? n : 0;
}

/* Writes a byte that cannot be shown as \n, \t or \xNN. */
static void put_escaped(pf_text_page *t, uint8_t c)
{
    if (c == '\n') {
        PF_TEXT_LITERAL(t, "\\n");
    } else if (c == '\t') {
        PF_TEXT_LITERAL(t, "\\t");
    } else {
        PF_TEXT_LITERAL(t, "\\x");
        pf_text_page_raw(t, pf_hex_pairs + 2 * c, 2);
    }
}

/* Returns the number of bytes from `i` on that need no escape and no further test: printable
 * ASCII. */
static size_t plain_run(perfile_bytes text, size_t i, bool quoted)
{
    size_t n = 0;
    for (; n < text.len - i; n++) {
        uint8_t c = text.ptr[i + n];
        if (c < 0x20 || c >= 0x7f || (quoted && (c == '"' || c == '\\')))
            break;
    }
    return n;
}

/* Writes text from input with escapes.  If `quoted`, also escapes quotes and backslashes. */
static void put_text(pf_text_page *t, perfile_bytes text, bool quoted)
{
    for (size_t i = 0; i < text.len;) {
        size_t run = plain_run(text, i, quoted);
        pf_emit_bytes(&t->base, text.ptr + i, run);
        i += run;
        if (i == text.len)
            break;
        uint8_t c = text.ptr[i];
        size_t n = printable(text.ptr + i, text.len - i);
        if (n == 0)
            put_escaped(t, c);
        else if (quoted && (c == '"' || c == '\\'))
            pf_emit_bytes(&t->base, (const char[]){'\\', (char)c}, 2);
        else
            pf_emit_bytes(&t->base, text.ptr + i, n);
        i += n ? n : 1;
    }
}

void pf_text_page_text(pf_text_page *t, perfile_bytes text)
{
    put_text(t, text, false);
}

void pf_text_page_quoted(pf_text_page *t, perfile_bytes text)
{
    PF_TEXT_LITERAL(t, "\"");
    put_text(t, text, true);
    PF_TEXT_LITERAL(t, "\"");
}

void pf_text_page_trim(pf_text_page *t)
{
    pf_buffer *out = &t->base.out;
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
}

void pf_text_page_line(pf_text_page *t, size_t indent)
{
    t->line_start = t->base.out.len;
    if (t->gutter)
        pf_text_page_string(t, t->gutter);
    pf_text_page_spaces(t, indent);
    t->open = true;
}

void pf_text_page_end(pf_text_page *t)
{
    pf_emit_bytes(&t->base, "\n", 1);
    t->open = false;
}

/* Writes the offset that precedes bytes: 4 digits, or 8 above 0xffff, and two blanks. */
static void put_offset(pf_text_page *t, uint64_t offset)
{
    uint8_t *at = pf_emit_room(&t->base, 18);
    if (!at)
        return;
    at = pf_put_hex_fixed(at, offset, offset > 0xffff ? 8 : 4);
    memcpy(at, "  ", 2);
    pf_emit_filled(&t->base, at + 2);
}

/* Begins a line in hex mode with `offset` and up to 8 bytes.  If `bytes` is NULL, writes blanks of
 * the same width. */
static void pf_text_page_hex_line(pf_text_page *t, uint64_t offset, const uint8_t *bytes, size_t n)
{
    pf_text_page_line(t, 2);
    if (!bytes) {
        pf_text_page_spaces(t, 6 + 3 * HEX_BYTES + 1); /* offset, bytes, one blank */
        return;
    }
    put_offset(t, offset);
    uint8_t *at = pf_emit_room(&t->base, 3 * HEX_BYTES + 1);
    if (!at)
        return;
    memset(at, ' ', 3 * HEX_BYTES + 1);
    for (size_t i = 0; i < n && i < HEX_BYTES; i++)
        memcpy(at + 3 * i, pf_hex_pairs + 2 * bytes[i], 2);
    pf_emit_filled(&t->base, at + 3 * HEX_BYTES + 1);
}

/* Returns true if the line of `width` bytes at `i` equals the line before.  Always false for the
 * last line, so that the end of the bytes is shown. */
static bool repeats(perfile_bytes bytes, size_t i, size_t width)
{
    return i >= width && bytes.len - i > width &&
           memcmp(bytes.ptr + i, bytes.ptr + i - width, width) == 0;
}

/* Writes one star for lines that repeat the line before.  Returns the position of the next
 * different line. */
static size_t skip_repeated(pf_text_page *t, perfile_bytes bytes, size_t i, size_t width)
{
    if (!repeats(bytes, i, width))
        return i;
    while (repeats(bytes, i, width))
        i += width;
    pf_text_page_line(t, 2);
    PF_TEXT_LITERAL(t, "*");
    pf_text_page_end(t);
    return i;
}

void pf_text_page_rest(pf_text_page *t, uint64_t offset, perfile_bytes bytes)
{
    for (size_t i = HEX_BYTES; i < bytes.len; i += HEX_BYTES) {
        i = skip_repeated(t, bytes, i, HEX_BYTES);
        size_t n = bytes.len - i < HEX_BYTES ? bytes.len - i : HEX_BYTES;
        pf_text_page_hex_line(t, offset + i, bytes.ptr + i, n);
        pf_text_page_trim(t);
        pf_text_page_end(t);
    }
}

void pf_text_page_dump(pf_text_page *t, uint64_t offset, perfile_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i += DUMP_BYTES) {
        i = skip_repeated(t, bytes, i, DUMP_BYTES);
        size_t n = bytes.len - i < DUMP_BYTES ? bytes.len - i : DUMP_BYTES;
        pf_text_page_line(t, 2);
        put_offset(t, offset + i);
        uint8_t *at = pf_emit_room(&t->base, 3 * DUMP_BYTES + 5 + DUMP_BYTES);
        if (!at)
            return;
        memset(at, ' ', 3 * DUMP_BYTES + 2);
        for (size_t k = 0; k < n; k++)
            memcpy(at + 3 * k + (k >= DUMP_BYTES / 2), pf_hex_pairs + 2 * bytes.ptr[i + k], 2);
        at += 3 * DUMP_BYTES + 2;
        *at++ = '|';
        for (size_t k = 0; k < n; k++) {
            uint8_t c = bytes.ptr[i + k];
            *at++ = c >= 0x20 && c < 0x7f ? c : '.';
        }
        *at++ = '|';
        pf_emit_filled(&t->base, at);
        pf_text_page_end(t);
    }
}

/* Returns the number of blanks before a field, by its depth.  In hex mode its bytes already indent
 * it. */
static size_t indent_of(const pf_text_page *t)
{
    return (t->hex ? 0 : INDENT) + STEP * (size_t)t->depth;
}

/* Begins a line for a field, or continues the open one.  Returns true if it continues one. */
static bool begin_field(pf_text_page *t, uint64_t offset, size_t n)
{
    if (t->open) {
        PF_TEXT_LITERAL(t, "  ");
        return true;
    }
    if (t->hex) {
        pf_text_page_hex_line(t, offset, n ? t->bytes + offset : NULL, n);
        pf_text_page_spaces(t, indent_of(t));
    } else {
        pf_text_page_line(t, indent_of(t));
    }
    return false;
}

/* Returns the length of a cached name without its padding. */
static size_t trimmed(const pf_key *key)
{
    size_t n = key->len;
    while (n && key->text[n - 1] == ' ')
        n--;
    return n;
}

/* Returns true if the fields at this depth share one line. */
static bool shares_line(const pf_text_page *t)
{
    return t->in_line >> t->depth & 1;
}

void pf_text_page_name(pf_text_page *t, const pf_key *key, const perfile_value *v)
{
    bool short_name = begin_field(t, v->offset, t->hex ? (size_t)v->width : 0) || shares_line(t);
    uint8_t *at = pf_emit_room(&t->base, sizeof key->text + 1);
    if (!at)
        return;
    memcpy(at, key->text, sizeof key->text);
    size_t n = key->len;
    if (short_name) {
        n = trimmed(key);
        at[n++] = ' ';
    }
    pf_emit_filled(&t->base, at + n);
}

void pf_text_page_heading(pf_text_page *t, const char *name, size_t n)
{
    if (t->open)
        pf_text_page_end(t);
    begin_field(t, 0, 0);
    pf_text_page_raw(t, name, n);
}

void pf_text_page_named(pf_text_page *t, const char *name, uint64_t offset, size_t n)
{
    size_t len = strlen(name);
    begin_field(t, offset, n);
    pf_text_page_raw(t, name, len);
    pf_text_page_spaces(t, len < PF_NAME_WIDTH ? PF_NAME_WIDTH - len : 2);
}

void pf_text_page_named_end(pf_text_page *t)
{
    if (!shares_line(t))
        pf_text_page_end(t);
}

void pf_text_page_value_line(pf_text_page *t, uint64_t offset, const uint8_t *bytes, size_t n)
{
    if (t->hex)
        pf_text_page_hex_line(t, offset, bytes, n);
    else
        pf_text_page_line(t, 0);
    pf_text_page_spaces(t, indent_of(t) + PF_NAME_WIDTH);
}

void pf_text_page_between(pf_text_page *t)
{
    if (t->base.out.len - t->line_start > PF_LINE_WIDTH) {
        pf_text_page_end(t);
        pf_text_page_value_line(t, 0, NULL, 0);
    } else {
        PF_TEXT_LITERAL(t, " ");
    }
}

void pf_text_page_reset(pf_text_page *t)
{
    if (t->open)
        pf_text_page_end(t);
    t->depth = 0;
    t->in_line = 0;
}

/* Numbers in the form "text", written by their kind (format/kinds.def): names of enumerations and
 * bits, times, dates, addresses, callchain contexts, bits of misc. */

/* Returns the value of a bit field of `word`. */
static uint64_t part_of(uint64_t word, const perfile_bits *b)
{
    return word >> b->shift & (b->width < 64 ? (UINT64_C(1) << b->width) - 1 : UINT64_MAX);
}

/* Writes the value of a bit field: its name in the enumeration, the names of its bits as a+b, or
 * the number. */
static void put_part_value(pf_text_page *t, const perfile_bits *b, uint64_t value)
{
    const perfile_vocabulary *v = b->values;
    const char *word = v && v->words ? perfile_vocabulary_word(v, value) : NULL;
    if (word) {
        pf_text_page_string(t, word);
        return;
    }
    if (!v || !v->bits) {
        pf_text_page_dec(t, value);
        return;
    }
    bool first = true;
    for (uint32_t i = 0; i < v->n; i++) {
        if (!part_of(value, &v->bits[i]))
            continue;
        if (!first)
            PF_TEXT_LITERAL(t, "+");
        first = false;
        pf_text_page_string(t, v->bits[i].name);
    }
    if (first)
        pf_text_page_dec(t, value);
}

/* Writes all non-zero bit fields of `word` as a|b.  Bits without a name become one number at the
 * end.  Returns false if nothing was written. */
static bool pf_text_page_parts(pf_text_page *t, const perfile_vocabulary *v, uint64_t word)
{
    bool any = false;
    uint64_t known = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        const perfile_bits *b = &v->bits[i];
        uint64_t value = part_of(word, b);
        known |= part_of(UINT64_MAX, b) << b->shift; /* bits that have a name */
        if (value == 0)
            continue;
        if (any)
            PF_TEXT_LITERAL(t, "|");
        any = true;
        pf_text_page_string(t, b->name);
        if (b->width > 1) {
            PF_TEXT_LITERAL(t, "=");
            put_part_value(t, b, value);
        }
    }
    if (word & ~known) {
        if (any)
            PF_TEXT_LITERAL(t, "|");
        pf_text_page_0x(t, word & ~known);
        any = true;
    }
    return any;
}

/* The bits of misc above the cpumode, by record type, with a name for the set and for the clear
 * bit.  A name may be NULL. */
static const struct {
    uint32_t type;
    uint16_t bit;
    const char *set;
    const char *clear;
} misc_words[] = {
#define MISC(type, bit, word, set, clear) {PERFILE_RECORD_##type, PERFILE_MISC_##bit, set, clear},
#include "format/misc.def"
};

/* Writes the separator, except before the first word. */
static void put_bar(pf_text_page *t, bool *any)
{
    if (*any)
        PF_TEXT_LITERAL(t, "|");
    *any = true;
}

/* See text_page.h.  Bits without a name become one number at the end. */
void pf_text_page_misc(pf_text_page *t, uint32_t type, uint16_t misc)
{
    bool any = false;
    uint16_t rest = misc;
    const char *mode = NULL;
    /* In records written by tools these bits are not a cpumode: tools do not set them. */
    if (type < PERFILE_RECORD_USER || type == PERFILE_RECORD_HEADER_BUILD_ID) {
        unsigned number = misc & PERFILE_MISC_CPUMODE_MASK;
        const perfile_vocabulary *modes = pf_kind_words(PERFILE_KIND_BUILD_ID_MISC);
        mode = number ? perfile_vocabulary_word(modes, number) : NULL;
    }
    if (mode) {
        put_bar(t, &any);
        pf_text_page_string(t, mode);
        rest &= (uint16_t)~PERFILE_MISC_CPUMODE_MASK;
    }
    for (size_t i = 0; i < sizeof misc_words / sizeof misc_words[0]; i++) {
        if (misc_words[i].type != type)
            continue;
        bool set = misc & misc_words[i].bit;
        rest &= (uint16_t)~misc_words[i].bit;
        const char *word = set ? misc_words[i].set : misc_words[i].clear;
        if (!word)
            continue;
        put_bar(t, &any);
        pf_text_page_string(t, word);
    }
    if (rest) {
        put_bar(t, &any);
        pf_text_page_0x(t, rest);
    }
}

/* Writes nanoseconds since 1970 as 2024-02-29T12:00:00.000000000Z. */
static void put_date(pf_text_page *t, uint64_t ns)
{
    uint64_t seconds = ns / 1000000000;
    /* Days count from 0000-03-01 (719468 days before 1970), so that a leap day is the last day of
     * its year.  An era has 400 years, 146097 days; 1460, 36524 and 146096 correct for the leap
     * days of 4, 100 and 400 years.  Months of such a year begin every 153 / 5 days. */
    uint64_t days = seconds / 86400 + 719468;
    uint64_t era = days / 146097;
    uint64_t of_era = days % 146097;
    uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    uint64_t month = (5 * of_year + 2) / 153;
    uint64_t day = of_year - (153 * month + 2) / 5 + 1;
    year += era * 400 + (month >= 10);
    month = month < 10 ? month + 3 : month - 9;

    uint8_t text[32];
    uint8_t *at = pf_put_dec_fixed(text, year, 4);
    *at++ = '-';
    at = pf_put_dec_fixed(at, month, 2);
    *at++ = '-';
    at = pf_put_dec_fixed(at, day, 2);
    *at++ = 'T';
    at = pf_put_dec_fixed(at, seconds / 3600 % 24, 2);
    *at++ = ':';
    at = pf_put_dec_fixed(at, seconds / 60 % 60, 2);
    *at++ = ':';
    at = pf_put_dec_fixed(at, seconds % 60, 2);
    *at++ = '.';
    at = pf_put_dec_fixed(at, ns % 1000000000, 9);
    *at++ = 'Z';
    pf_emit_bytes(&t->base, text, (size_t)(at - text));
}

/* Writes a double that is stored as its 64 bits. */
static void put_scale(pf_text_page *t, uint64_t bits)
{
    double scale;
    char text[40];
    memcpy(&scale, &bits, sizeof scale);
    int n = snprintf(text, sizeof text, "%.17g", scale);
    if (n > 0)
        pf_text_page_raw(t, text, (size_t)n);
}

/* Returns true if all bits of the stored width are set, which is how the kernel writes "none". */
static bool all_ones(unsigned type, uint64_t v)
{
    switch (type) {
    case PERFILE_STORED_U16:
        return v == UINT16_MAX;
    case PERFILE_STORED_U32:
        return v == UINT32_MAX;
    default:
        return v == UINT64_MAX;
    }
}

/* Writes a number without a name, in the base of its kind. */
static void put_plain(pf_text_page *t, unsigned kind, unsigned type, uint64_t v)
{
    if (pf_kind_base(kind) == PERFILE_BASE_HEX) {
        pf_text_page_0x(t, v);
    } else if (pf_is_signed(type) && (int64_t)v < 0) {
        PF_TEXT_LITERAL(t, "-");
        pf_text_page_dec(t, 0 - v);
    } else {
        pf_text_page_dec(t, v);
    }
}

/* Writes a number followed by its name or the names of its bits. */
static void put_spelled(pf_text_page *t, unsigned kind, unsigned type, uint64_t v)
{
    const perfile_vocabulary *words = pf_kind_words(kind);
    put_plain(t, kind, type, v);
    if (!words || (words->bits && v == 0))
        return;
    const char *word = words->words ? perfile_vocabulary_word(words, v) : NULL;
    if (word || words->bits)
        PF_TEXT_LITERAL(t, "  ");
    if (word)
        pf_text_page_string(t, word);
    else if (words->bits)
        pf_text_page_parts(t, words, v);
}

/* Writes an entry of a callchain: an address, or [kernel] for PERF_CONTEXT_…. The last page has no
 * code, so context values are never addresses. */
static void put_chain(pf_text_page *t, uint64_t v)
{
    enum { MARKERS = 4095 };
    const char *word = NULL;
    if (v >= UINT64_MAX - MARKERS + 1)
        word = perfile_vocabulary_word(pf_kind_words(PERFILE_KIND_CHAIN), v);
    if (!word) {
        pf_text_page_0x(t, v);
        return;
    }
    PF_TEXT_LITERAL(t, "[");
    pf_text_page_string(t, word);
    PF_TEXT_LITERAL(t, "]");
}

/* Writes a time, date or duration as a number of nanoseconds and in readable form.  On a shared
 * line only the readable form, except for durations. */
static void put_unit(pf_text_page *t, uint64_t v, unsigned kind)
{
    bool in_line = t->in_line >> t->depth & 1;
    if (!in_line || kind == PERFILE_KIND_DURATION)
        pf_text_page_dec(t, v);
    if (kind == PERFILE_KIND_DURATION) {
        PF_TEXT_LITERAL(t, " ns");
        return;
    }
    if (!in_line)
        PF_TEXT_LITERAL(t, "  ");
    if (kind == PERFILE_KIND_WALL)
        put_date(t, v);
    else
        pf_text_page_seconds(t, v, 0);
    if (!in_line && kind == PERFILE_KIND_TIME)
        PF_TEXT_LITERAL(t, " s");
}

void pf_text_page_number(pf_text_page *t, unsigned kind, unsigned type, uint64_t v)
{
    switch (kind) {
    case PERFILE_KIND_PID:
    case PERFILE_KIND_TID:
    case PERFILE_KIND_CPU:
        if (!pf_is_signed(type) && all_ones(type, v))
            PF_TEXT_LITERAL(t, "-1"); /* how perf shows "no process" and "no CPU" */
        else
            put_plain(t, kind, type, v);
        break;
    case PERFILE_KIND_TIME:
    case PERFILE_KIND_WALL:
    case PERFILE_KIND_DURATION:
        if (v == 0)
            PF_TEXT_LITERAL(t, "0");
        else
            put_unit(t, v, kind);
        break;
    case PERFILE_KIND_ADDR:
    case PERFILE_KIND_REG:
    case PERFILE_KIND_HEX:
        pf_text_page_0x(t, v);
        break;
    case PERFILE_KIND_DEC:
    case PERFILE_KIND_PERIOD:
        put_plain(t, PERFILE_KIND_DEC, type, v);
        break;
    case PERFILE_KIND_CHAIN:
        put_chain(t, v);
        break;
    case PERFILE_KIND_SCALE:
        put_scale(t, v);
        break;
    case PERFILE_KIND_BUILD_ID_MISC:
        pf_text_page_0x(t, v);
        PF_TEXT_LITERAL(t, "  ");
        pf_text_page_misc(t, PERFILE_RECORD_HEADER_BUILD_ID, (uint16_t)v);
        break;
    default:
        put_spelled(t, kind, type, v);
        break;
    }
}

/* Names of registers from format/regs.def, by the machine that made the recording: ARCH or
 * E_MACHINE. */

enum arch {
    ARCH_x86,
    ARCH_arm,
    ARCH_arm64,
    ARCH_riscv,
    ARCH_powerpc,
    ARCH_s390,
    ARCH_mips,
    N_ARCHS
};

static const char *const names[N_ARCHS][64] = {
#define REG(arch, bit, name) [ARCH_##arch][bit] = name,
#include "format/regs.def"
};

/* Prefixes of `uname -m`.  A prefix of another prefix comes after it (arm64 before arm). */
static const struct {
    const char *prefix;
    enum arch arch;
} machines[] = {
    {"x86_64", ARCH_x86}, {"i386", ARCH_x86},    {"i486", ARCH_x86},      {"i586", ARCH_x86},
    {"i686", ARCH_x86},   {"x86", ARCH_x86},     {"aarch64", ARCH_arm64}, {"arm64", ARCH_arm64},
    {"arm", ARCH_arm},    {"riscv", ARCH_riscv}, {"ppc", ARCH_powerpc},   {"powerpc", ARCH_powerpc},
    {"s390", ARCH_s390},  {"mips", ARCH_mips},
};

/* EM_… numbers of elf.h. */
static const struct {
    uint32_t number;
    enum arch arch;
} elf_machines[] = {
    {3, ARCH_x86},  {8, ARCH_mips}, {20, ARCH_powerpc}, {21, ARCH_powerpc}, {22, ARCH_s390},
    {40, ARCH_arm}, {62, ARCH_x86}, {183, ARCH_arm64},  {243, ARCH_riscv},
};

pf_registers pf_registers_of_machine(const char *machine)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (strncmp(machine, machines[i].prefix, strlen(machines[i].prefix)) == 0)
            return names[machines[i].arch];
    return NULL;
}

pf_registers pf_registers_of(const perfile_session *s)
{
    const char *uname = perfile_session_fact(s, PERFILE_FACT_ARCH);
    pf_registers found = uname ? pf_registers_of_machine(uname) : NULL;
    if (found)
        return found;
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_E_MACHINE);
    perfile_elf_machine elf;
    if (f && perfile_elf_machine_decode(f, &elf, sizeof elf, NULL) == PERFILE_OK) {
        for (size_t i = 0; i < sizeof elf_machines / sizeof elf_machines[0]; i++)
            if (elf_machines[i].number == elf.e_machine)
                return names[elf_machines[i].arch];
    }
    return NULL;
}
