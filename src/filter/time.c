/* Ranges of time: from text to ns of the session clock.
 *
 * Parsing (pf_filter_period()) yields ends of several kinds: a time of the clock, a time after the
 * first sample, a share of all samples, or UTC. Computing (pf_filter_times()) converts them to ns
 * when clock and samples of the capture are known. All sums and products are checked. */
#include <ctype.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "filter/filter.h"

#define BILLION UINT64_C(1000000000)

/* Returns PERFILE_E_USAGE. The message has the syntax of a term of time, the text, and why it is
 * wrong. */
static perfile_status refuse(const char *text, const char *why, perfile_error *err)
{
    return pf_fail(err, PERFILE_E_USAGE, "terms.time",
                   "time takes A..B or A,B, each like 12.5 (seconds), 500ms, +1s, 10%% or "
                   "2026-05-01T10:00:00: '%s' %s",
                   text, why);
}

/* Adds; returns false if the sum overflows. */
static bool add(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !pf_add_u64(a, b, sum);
}

/* Multiplies; returns false if the product overflows. */
static bool multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    *product = a * b;
    return !a || b <= UINT64_MAX / a;
}

/* Reads digits and a fraction, multiplies by `unit` (a power of ten up to a billion), and advances
 * *at past them. Digits beyond the unit are cut off. Returns false if there are no digits or the
 * result is too large. A point followed by another one is the ".." of a range. */
static bool decimal(const char **at, const char *end, uint64_t unit, uint64_t *out)
{
    const char *p = *at;
    uint64_t whole = 0, part = 0, scale = unit;
    bool digits = false;
    for (; p < end && isdigit((unsigned char)*p); p++, digits = true)
        if (!multiply(whole, 10, &whole) || !add(whole, (uint64_t)(*p - '0'), &whole))
            return false;
    if (p < end && *p == '.' && !(p + 1 < end && p[1] == '.')) {
        for (p++; p < end && isdigit((unsigned char)*p); p++, digits = true) {
            scale /= 10;
            part += (uint64_t)(*p - '0') * scale;
        }
    }
    *at = p;
    return digits && multiply(whole, unit, &whole) && add(whole, part, out);
}

/* Returns true if [*at, end) is exactly `word`. */
static bool is_word(const char **at, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - *at) != n || memcmp(*at, word, n) != 0)
        return false;
    *at = end;
    return true;
}

/* Reads a duration or time: "12.5" (seconds), "500ms", "7ns". */
static bool span(const char *p, const char *end, uint64_t *ns)
{
    static const struct {
        const char *word;
        uint64_t unit;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", BILLION}, {"", BILLION}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const char *at = p;
        if (decimal(&at, end, units[i].unit, ns) && is_word(&at, end, units[i].word))
            return true;
    }
    return false;
}

/* Reads a share, "10%", in billionths; at most 100%. */
static bool share(const char *p, const char *end, uint64_t *billionths)
{
    return decimal(&p, end, BILLION / 100, billionths) && is_word(&p, end, "%") &&
           *billionths <= BILLION;
}

/* Reads exactly n digits. */
static bool digits(const char **at, const char *end, unsigned n, int64_t *out)
{
    *out = 0;
    for (; n; n--, ++*at) {
        if (*at == end || !isdigit((unsigned char)**at))
            return false;
        *out = 10 * *out + (**at - '0');
    }
    return true;
}

/* Reads the character `c`. */
static bool mark(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return false;
    ++*at;
    return true;
}

/* Computes the days from 1970-01-01 to a date of the Gregorian calendar. Returns false if there is
 * no such date, or it is before 1970. */
static bool days(int64_t year, int64_t month, int64_t day, int64_t *out)
{
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1970 || month < 1 || month > 12 || day < 1 ||
        day > lengths[month - 1] + (month == 2 && leap))
        return false;
    int64_t before = year - 1;
    *out = 365 * (year - 1970) + (before / 4 - before / 100 + before / 400) -
           (1969 / 4 - 1969 / 100 + 1969 / 400) + day - 1;
    for (int64_t m = 1; m < month; m++)
        *out += lengths[m - 1] + (m == 2 && leap);
    return true;
}

/* Reads "2026-05-01" or "2026-05-01T10:00:00.5", in UTC; a Z may follow. Second 60 is a leap
 * second. */
static bool wall(const char *p, const char *end, uint64_t *ns)
{
    int64_t year, month, day, hour = 0, minute = 0, date;
    uint64_t seconds = 0;
    if (!digits(&p, end, 4, &year) || !mark(&p, end, '-') || !digits(&p, end, 2, &month) ||
        !mark(&p, end, '-') || !digits(&p, end, 2, &day) || !days(year, month, day, &date))
        return false;
    if (p < end && (*p == 'T' || *p == ' ')) {
        p++;
        if (!digits(&p, end, 2, &hour) || !mark(&p, end, ':') || !digits(&p, end, 2, &minute) ||
            hour > 23 || minute > 59)
            return false;
        if (mark(&p, end, ':') && (!decimal(&p, end, BILLION, &seconds) || seconds >= 61 * BILLION))
            return false;
        (void)mark(&p, end, 'Z');
    }
    if (p != end)
        return false;
    uint64_t minutes = (uint64_t)((date * 24 + hour) * 60 + minute);
    return multiply(minutes, 60 * BILLION, ns) && add(*ns, seconds, ns);
}

/* Parses one end of a range; an empty text is an open end. */
static bool parse_end(const char *p, const char *end, pf_moment *out)
{
    if (p == end) {
        out->kind = PF_OPEN;
        return true;
    }
    if (*p == '+') {
        out->kind = PF_AFTER_FIRST;
        return span(p + 1, end, &out->ns);
    }
    if (share(p, end, &out->ns)) {
        out->kind = PF_SHARE;
        return true;
    }
    if (span(p, end, &out->ns)) {
        out->kind = PF_CLOCK;
        return true;
    }
    out->kind = PF_WALL;
    return wall(p, end, &out->ns);
}

/* Finds the separator of a range in [text, end): "A..B", and as perf writes it, "A,B" and
 * "10%-20%". Returns the end of the first time and sets *second to the start of the second. Returns
 * NULL if there is only one time. */
static const char *find_separator(const char *text, const char *end, const char **second)
{
    for (const char *p = text; p + 1 < end; p++) {
        if (p[0] != '.' || p[1] != '.')
            continue;
        p += p + 2 < end && p[2] == '.'; /* "1...2": a point that ends the first number */
        *second = p + 2;
        return p;
    }
    const char *mark = memchr(text, ',', (size_t)(end - text));
    const char *percent = memchr(text, '%', (size_t)(end - text));
    if (!mark && percent && percent + 1 < end && percent[1] == '-')
        mark = percent + 1;
    *second = mark ? mark + 1 : NULL;
    return mark;
}

/* Reads "10%/2" of perf: the second of ten parts. */
static bool part(const char *text, const char *end, pf_period *out)
{
    const char *slash = memchr(text, '/', (size_t)(end - text));
    uint64_t width, n;
    if (!slash || !share(text, slash, &width) || !width)
        return false;
    const char *p = slash + 1;
    if (!decimal(&p, end, 1, &n) || p != end || n == 0 || n > (BILLION + width - 1) / width)
        return false;
    out->from = (pf_moment){PF_SHARE, (n - 1) * width};
    out->to = (pf_moment){PF_SHARE, n * width < BILLION ? n * width : BILLION};
    return true;
}

/* Parses one range from [text, end). `whole` is for messages. */
static perfile_status period(const char *text, const char *end, const char *whole, pf_period *out,
                             perfile_error *err)
{
    const char *second;
    *out = (pf_period){{PF_OPEN, 0}, {PF_OPEN, 0}};
    if (part(text, end, out))
        return PERFILE_OK;
    const char *first = find_separator(text, end, &second);
    if (!first || (first == text && second == end))
        return refuse(whole, "has no range", err);
    if (!parse_end(text, first, &out->from))
        return refuse(whole, "does not begin with a time", err);
    if (!parse_end(second, end, &out->to))
        return refuse(whole, "does not end with a time", err);
    return PERFILE_OK;
}

/* Returns the end of the first range. perf separates several shares by commas ("10%-20%,30%-40%"),
 * but the comma in "A,B" separates the ends of one range. */
static const char *end_of_first_range(const char *text)
{
    const char *comma = strchr(text, ',');
    size_t n = comma ? (size_t)(comma - text) : 0;
    bool range = n && !strstr(text, "..") &&
                 (memchr(text, '/', n) || (memchr(text, '%', n) && memchr(text, '-', n)));
    return range ? comma : text + strlen(text);
}

/* A text may have several ranges: the caller repeats this until *text is empty. */
perfile_status pf_filter_period(const char **text, const char *whole, pf_period *out,
                                perfile_error *err)
{
    const char *end = end_of_first_range(*text);
    perfile_status st = period(*text, end, whole, out, err);
    *text = *end ? end + 1 : end;
    return st;
}

/* Computes an end of a range in ns. If it is relative and no sample has a time, the resulting range
 * is empty. */
static perfile_status end_in_ns(const pf_filter *x, const pf_moment *m, bool is_end, uint64_t *ns,
                                perfile_error *err)
{
    perfile_clock clock;
    bool relative = m->kind == PF_AFTER_FIRST || m->kind == PF_SHARE;
    *ns = m->ns;
    if (relative && x->first_time == PERFILE_NO_TIME) {
        *ns = is_end ? 0 : UINT64_MAX; /* no sample has a time: the range is empty */
        return PERFILE_OK;
    }
    switch (m->kind) {
    case PF_OPEN:
        *ns = is_end ? PERFILE_NO_TIME - 1 : 0;
        return PERFILE_OK;
    case PF_AFTER_FIRST:
        if (!add(x->first_time, m->ns, ns))
            *ns = PERFILE_NO_TIME - 1;
        return PERFILE_OK;
    case PF_SHARE: {
        uint64_t all = x->last_time - x->first_time;
        /* In two steps: all * m->ns could overflow. */
        *ns = x->first_time + all / BILLION * m->ns + all % BILLION * m->ns / BILLION;
        return PERFILE_OK;
    }
    case PF_WALL:
        perfile_session_clock(x->pass.session, &clock);
        if (!clock.has_wall)
            return pf_fail(err, PERFILE_E_USAGE, "terms.time",
                           "time by the wall clock: the capture has no CLOCK_DATA that fits its "
                           "clock (perf record -k CLOCK_MONOTONIC writes it); use its own times");
        if (clock.wall_ns > m->ns && clock.wall_ns - m->ns > clock.clock_ns)
            *ns = 0; /* before the clock started at 0 */
        else
            *ns = m->ns - clock.wall_ns + clock.clock_ns;
        return PERFILE_OK;
    default:
        return PERFILE_OK;
    }
}

/* Called once per pass, when the clock is known. A range that begins at UINT64_MAX is relative, but
 * no sample has a time. */
perfile_status pf_filter_times(pf_filter *x, perfile_error *err)
{
    x->terms.times.n = 0;
    x->pass.window_end = x->terms.n_periods ? 0 : PERFILE_NO_TIME;
    for (uint32_t i = 0; i < x->terms.n_periods; i++) {
        uint64_t from, to;
        perfile_status st = end_in_ns(x, &x->terms.periods[i].from, false, &from, err);
        if (st == PERFILE_OK)
            st = end_in_ns(x, &x->terms.periods[i].to, true, &to, err);
        if (st != PERFILE_OK)
            return st;
        if (from == UINT64_MAX || to < from) {
            if (x->first_time != PERFILE_NO_TIME || from != UINT64_MAX)
                return pf_fail(err, PERFILE_E_USAGE, "terms.time",
                               "time: a range ends before it begins");
            continue; /* no sample has a time */
        }
        st = pf_ranges_add(&x->terms.times, from, to, err);
        if (st != PERFILE_OK)
            return st;
        if (to > x->pass.window_end)
            x->pass.window_end = to;
    }
    pf_ranges_sort(&x->terms.times);
    /* Inverted, the selected records are outside of the ranges, so side-band of any time is needed.
     */
    if (x->terms.invert)
        x->pass.window_end = PERFILE_NO_TIME;
    return PERFILE_OK;
}
