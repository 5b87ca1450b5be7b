/* Numbers, times, sizes and names as text for people; tables. */
#include "cli/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "perfile/text.h"

bool cli_is_utf8(perfile_bytes text)
{
    for (size_t i = 0; i < text.len;) {
        size_t n = perfile_utf8_char(text.ptr + i, text.len - i, NULL);
        if (!n)
            return false;
        i += n;
    }
    return true;
}

/* True if a shell takes `word` literally without quotes. */
static bool is_shell_safe(const char *word)
{
    const char *safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
    return *word && !word[strspn(word, safe)];
}

/* True if `word` needs the form with escapes: $'a\033b'. */
static bool has_unprintable(const char *word)
{
    size_t n = strlen(word);
    return perfile_printable((perfile_bytes){(const uint8_t *)word, n}, NULL, 0) != n;
}

bool cli_shell_word(const char *word, char *out, size_t size)
{
    size_t n = 0;
    /* Three forms: unchanged; 'in quotes', with '\'' for a quote; $'with escapes'. */
    bool plain = is_shell_safe(word), escapes = !plain && has_unprintable(word);
    if (!plain)
        n = (size_t)snprintf(out, size, escapes ? "$'" : "'");
    for (const char *p = word; *p && n < size; p++) {
        unsigned char c = (unsigned char)*p;
        /* Octal escapes have exactly three digits, so that a following digit is not part of
         * them. */
        if (escapes && (c < 0x20 || c >= 0x7f))
            n += (size_t)snprintf(out + n, size - n, "\\%03o", (unsigned)c);
        else if (c == '\'' && !plain)
            n += (size_t)snprintf(out + n, size - n, escapes ? "\\'" : "'\\''");
        else
            n += (size_t)snprintf(out + n, size - n, "%s%c", c == '\\' && escapes ? "\\" : "", c);
    }
    if (!plain && n < size)
        n += (size_t)snprintf(out + n, size - n, "'");
    if (n >= size)
        out[0] = '\0';
    return n < size;
}

bool cli_shell_file(const char *path, char *out, size_t size)
{
    const char *front = path[0] == '-' ? "-- " : "";
    size_t n = strlen(front);
    if (strcmp(path, "-") == 0 || n >= size) /* standard input has already been read */
        return false;
    memcpy(out, front, n);
    return cli_shell_word(path, out + n, size - n);
}

void cli_format_seconds(uint64_t ns, char *out, size_t size)
{
    snprintf(out, size, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

/* Converts days since 1970 to a date of the proleptic Gregorian calendar.  Days are counted from
 * 0000-03-01, so that the leap day is the last day of a year, and in eras of 400 years, which all
 * have 146097 days (`doe`: day of the era, `yoe`: year of the era, `doy`: day of the year, `mp`:
 * month from March). */
static void date_of_days(uint64_t days, unsigned *year, unsigned *month, unsigned *day)
{
    uint64_t z = days + 719468;
    uint64_t era = z / 146097;
    uint64_t doe = z % 146097;
    uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    uint64_t mp = (5 * doy + 2) / 153;
    *day = (unsigned)(doy - (153 * mp + 2) / 5 + 1);
    *month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);
    *year = (unsigned)(yoe + era * 400 + (*month <= 2));
}

void cli_format_wall_time(uint64_t ns, char *out, size_t size)
{
    unsigned year, month, day;
    uint64_t s = ns / 1000000000;
    unsigned second = (unsigned)(s % 86400);
    date_of_days(s / 86400, &year, &month, &day);
    snprintf(out, size, "%04u-%02u-%02uT%02u:%02u:%02u.%09uZ", year, month, day, second / 3600,
             second / 60 % 60, second % 60, (unsigned)(ns % 1000000000));
}

void cli_format_bytes(uint64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double v = (double)bytes; /* one decimal is printed: the precision of a double is sufficient */
    int unit = -1;
    while (v >= 1000 && unit < 5) {
        v /= 1000;
        unit++;
    }
    if (unit < 0)
        snprintf(out, size, "%" PRIu64 " bytes", bytes);
    else
        snprintf(out, size, "%.1f %s", v, units[unit]);
}

const char *cli_format_grouped(uint64_t n, char out[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *to = out;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

bool cli_read_size(const char *word, uint64_t *bytes)
{
    static const char units[] = "KMG";
    char *end;
    unsigned shift = 0;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    const char *unit = *end ? strchr(units, *end >= 'a' ? *end - ('a' - 'A') : *end) : NULL;
    if (unit) { /* K, M or G in either case; KiB and KB, too */
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
        end += *end == 'i';
        end += *end == 'B';
    }
    if (end == word || *end || word[0] < '0' || word[0] > '9' || errno || n > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)n << shift;
    return true;
}

/* True unless `c` is a UTF-8 continuation byte. */
static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t cli_columns(const char *text, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n && text[i]; i++)
        all += begins_character(text[i]);
    return all;
}

const char *cli_skip_columns(const char *text, size_t n)
{
    for (; *text && n; n--)
        do
            text++;
        while (!begins_character(*text));
    return text;
}

size_t cli_terminal_width(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long n = columns ? strtol(columns, NULL, 10) : 0;
    return n > 0 ? (size_t)n : 80;
}

/* Names of record types and forms. */

/* Returns a record that only has the members of a key: family and type. */
static perfile_record record_of_key(uint64_t key)
{
    return (perfile_record){.family = (uint8_t)(key >> 32), .type = (uint32_t)key};
}

uint32_t cli_type_number(uint64_t key)
{
    const perfile_record r = record_of_key(key);
    return perfile_record_stored_type(&r);
}

const char *cli_type_name(uint64_t key, char *buf, size_t size)
{
    const perfile_record r = record_of_key(key);
    const char *name = perfile_type_name(r.family, r.type);
    if (name)
        return name;
    snprintf(buf, size, "type %" PRIu32, cli_type_number(key));
    return buf;
}

const char *cli_form_name(const perfile_container *c)
{
    if (c->family != PERFILE_FAMILY_PERF)
        return c->format;
    switch (c->form) {
    case PERFILE_FORM_FILE:
        return "file";
    case PERFILE_FORM_PIPE:
        return "pipe";
    default:
        return "none";
    }
}

/* Tables: cells are stored as consecutive strings, and printed when all widths are known.
 *
 * In a pipe or file, texts are never shortened.  On a terminal, the widest columns become narrower
 * until a row fits: their texts are shortened in the middle, because long names mostly begin with
 * the same characters. */

enum {
    MAX_COLUMNS = 16,
    MOST_PADDING = 64, /* most spaces that one long cell adds to the rows of all others */
    LEAST_TEXT = 12    /* least columns of a shortened text */
};

struct cli_table {
    const char *const *columns; /* headings, with their '>' */
    unsigned n;
    unsigned at;               /* column of the next cell */
    size_t width[MAX_COLUMNS]; /* of the widest cell so far */
    char *cells;               /* NUL-terminated, row by row */
    size_t len, cap;           /* bytes of `cells` used, and allocated */
    bool failed;               /* memory ran out; no more cells are added */
    bool narrowed;             /* the table is for a terminal, and `width` limits the cells */
};

static const char *heading(const cli_table *t, unsigned column)
{
    return t->columns[column] + (t->columns[column][0] == '>');
}

cli_table *cli_table_new(const char *const *columns, unsigned n)
{
    cli_table *t = calloc(1, sizeof *t);
    if (!t || n > MAX_COLUMNS) {
        free(t);
        return NULL;
    }
    t->columns = columns;
    t->n = n;
    for (unsigned i = 0; i < n; i++)
        t->width[i] = cli_columns(heading(t, i), SIZE_MAX);
    return t;
}

void cli_table_free(cli_table *t)
{
    if (t)
        free(t->cells);
    free(t);
}

/* Makes room for `n` bytes. */
static bool reserve(cli_table *t, size_t n)
{
    if (t->cap - t->len >= n)
        return true;
    size_t cap = (t->cap + n) * 2;
    char *cells = t->failed ? NULL : realloc(t->cells, cap);
    if (!cells) {
        t->failed = true;
        return false;
    }
    t->cells = cells;
    t->cap = cap;
    return true;
}

void cli_cell_text(cli_table *t, perfile_bytes text)
{
    size_t n = perfile_printable(text, NULL, 0) + 1;
    if (!reserve(t, n))
        return;
    char *cell = t->cells + t->len;
    perfile_printable(text, cell, n);
    t->len += n;
    size_t wide = cli_columns(cell, n);
    if (wide > t->width[t->at])
        t->width[t->at] = wide;
    t->at = (t->at + 1) % t->n;
}

void cli_cell_string(cli_table *t, const char *text)
{
    if (!text)
        text = "-";
    cli_cell_text(t, (perfile_bytes){(const uint8_t *)text, strlen(text)});
}

void cli_cell_time(cli_table *t, uint64_t time)
{
    char text[40];
    if (time != PERFILE_NO_TIME)
        cli_format_seconds(time, text, sizeof text);
    cli_cell_string(t, time != PERFILE_NO_TIME ? text : NULL);
}

void cli_cell(cli_table *t, const char *format, ...)
{
    char small[64], *text = small;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(small, sizeof small, format, args);
    if (n >= (int)sizeof small && (text = malloc((size_t)n + 1)))
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    if (text)
        cli_cell_string(t, text);
    else
        t->failed = true;
    if (text != small)
        free(text);
}

/* Makes columns of text narrower, the widest first, until a row fits into `most` columns of the
 * screen, or no column can be narrower. */
static void narrow(cli_table *t, size_t most)
{
    size_t sum = 2 * ((size_t)t->n - 1);
    for (unsigned i = 0; i < t->n; i++)
        sum += t->width[i];
    while (sum > most) {
        unsigned widest = t->n;
        for (unsigned i = 0; i < t->n; i++)
            if (t->columns[i][0] != '>' && t->width[i] > LEAST_TEXT &&
                (widest == t->n || t->width[i] > t->width[widest]))
                widest = i;
        if (widest == t->n)
            break;
        t->width[widest]--;
        sum--;
    }
}

/* Prints a text.  If it has more than `most` columns, its middle is omitted. */
static void print_within(const char *text, size_t wide, size_t most)
{
    if (wide <= most) {
        cli_print("%s", text);
        return;
    }
    cli_print("%.*s\xe2\x80\xa6%s", (int)(cli_skip_columns(text, most / 2) - text), text,
              cli_skip_columns(text, wide - (most - 1 - most / 2)));
}

/* Prints one cell. *blank is the number of spaces to print before the next text, so that no line
 * ends with spaces. */
static void put_cell(const cli_table *t, unsigned column, const char *text, size_t *blank)
{
    size_t wide = cli_columns(text, SIZE_MAX);
    size_t pad = t->width[column] > wide ? t->width[column] - wide : 0;
    bool right = t->columns[column][0] == '>';
    if (!t->narrowed && t->width[column] > MOST_PADDING)
        pad = wide < MOST_PADDING ? MOST_PADDING - wide : 0;
    *blank += (column ? 2 : 0) + (right ? pad : 0);
    if (*text) {
        cli_print("%*s", (int)*blank, "");
        print_within(text, wide, t->narrowed ? t->width[column] : SIZE_MAX);
        *blank = 0;
    }
    *blank += right ? 0 : pad;
    if (column + 1 == t->n) {
        cli_print("\n");
        *blank = 0;
    }
}

bool cli_table_print(cli_table *t)
{
    if (t->failed)
        return false;
    size_t blank = 0;
    t->narrowed = isatty(STDOUT_FILENO);
    if (t->narrowed)
        narrow(t, cli_terminal_width(STDOUT_FILENO));
    for (unsigned i = 0; i < t->n; i++)
        put_cell(t, i, heading(t, i), &blank);
    unsigned column = 0;
    for (const char *cell = t->cells; cell && cell < t->cells + t->len; cell += strlen(cell) + 1) {
        put_cell(t, column, cell, &blank);
        column = (column + 1) % t->n;
    }
    return true;
}

bool cli_table_end(cli_table *t, bool print)
{
    const bool ok = !print || cli_table_print(t);
    cli_table_free(t);
    return ok;
}
