/* Numbers in the form "text", as their kind (format/kinds.def) says: names of enumerations and
 * bits, times, dates, addresses, contexts of call chains, bits of misc. */
#include "emit/text_page.h"

#include <stdio.h>

#include "perfile/abi.h"
#include "schema/shapes.h"

/* The value of a bit field of `word`. */
static uint64_t part_of(uint64_t word, const perfile_bits *b)
{
    return word >> b->shift & (b->width < 64 ? (UINT64_C(1) << b->width) - 1 : UINT64_MAX);
}

/* The value of a bit field: the name from its enumeration, the names of its bits as a+b, or the
 * number. */
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

/* Bits without a name are shown as one number at the end. */
bool pf_text_page_parts(pf_text_page *t, const perfile_vocabulary *v, uint64_t word)
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

/* The bits of misc above the cpumode, by type of record: a name when set, one when clear, or NULL.
 */
static const struct {
    uint32_t type;
    uint16_t bit;
    const char *set;
    const char *clear;
} misc_words[] = {
#define MISC(type, bit, word, set, clear) {PERFILE_RECORD_##type, PERFILE_MISC_##bit, set, clear},
#include "format/misc.def"
};

/* Writes the separator unless this is the first word. */
static void put_bar(pf_text_page *t, bool *any)
{
    if (*any)
        PF_TEXT_LITERAL(t, "|");
    *any = true;
}

/* See text_page.h.  What has no name is shown as a number at the end. */
void pf_text_page_misc(pf_text_page *t, uint32_t type, uint16_t misc)
{
    bool any = false;
    uint16_t rest = misc;
    const char *mode = NULL;
    /* In records of tools these bits are no cpumode: the tools leave them as they are. */
    if (type < PERFILE_RECORD_USER || type == PERFILE_RECORD_HEADER_BUILD_ID) {
        unsigned number = misc & PERFILE_MISC_CPUMODE_MASK;
        const perfile_vocabulary *modes = perfile_kind_words(PERFILE_KIND_BUILD_ID_MISC);
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

/* Nanoseconds since 1970 as 2024-02-29T12:00:00.000000000Z. */
static void put_date(pf_text_page *t, uint64_t ns)
{
    uint64_t seconds = ns / 1000000000;
    /* Days are counted from 0000-03-01 (719468 days before 1970), so that the leap day is the last
     * day of its year.  An era has 400 years, 146097 days; 1460, 36524 and 146096 correct for the
     * leap days of 4, 100 and 400 years.  Months of such a year begin every 153 / 5 days. */
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

/* A double that is stored as its 64 bits. */
static void put_scale(pf_text_page *t, uint64_t bits)
{
    double scale;
    char text[40];
    memcpy(&scale, &bits, sizeof scale);
    int n = snprintf(text, sizeof text, "%.17g", scale);
    if (n > 0)
        pf_text_page_raw(t, text, (size_t)n);
}

/* True if all bits are set in the width that the number is stored in: the kernel's "none". */
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

/* A number without a name, in the base of its kind. */
static void put_plain(pf_text_page *t, unsigned kind, unsigned type, uint64_t v)
{
    if (perfile_kind_base(kind) == PERFILE_BASE_HEX) {
        pf_text_page_0x(t, v);
    } else if (pf_is_signed(type) && (int64_t)v < 0) {
        PF_TEXT_LITERAL(t, "-");
        pf_text_page_dec(t, 0 - v);
    } else {
        pf_text_page_dec(t, v);
    }
}

/* A number, and behind it its name or the names of its bits. */
static void put_spelled(pf_text_page *t, unsigned kind, unsigned type, uint64_t v)
{
    const perfile_vocabulary *words = perfile_kind_words(kind);
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

/* An entry of a call chain: an address, or [kernel] for PERF_CONTEXT_… Above the last page there is
 * no code, so that these values are never addresses. */
static void put_chain(pf_text_page *t, uint64_t v)
{
    enum { MARKERS = 4095 };
    const char *word = NULL;
    if (v >= UINT64_MAX - MARKERS + 1)
        word = perfile_vocabulary_word(perfile_kind_words(PERFILE_KIND_CHAIN), v);
    if (!word) {
        pf_text_page_0x(t, v);
        return;
    }
    PF_TEXT_LITERAL(t, "[");
    pf_text_page_string(t, word);
    PF_TEXT_LITERAL(t, "]");
}

/* A time, date or duration: the number of nanoseconds, and what it means.  On a shared line only
 * the latter, except for durations. */
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
            PF_TEXT_LITERAL(t, "-1"); /* how perf shows "no process", "no processor" */
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
