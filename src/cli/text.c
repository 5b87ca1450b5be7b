/* The conversions of text.h. */
#include "cli/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

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
    /* Three forms: as it is; 'in quotes', with '\'' for a quote; $'with escapes'. */
    bool plain = is_shell_safe(word), escapes = !plain && has_unprintable(word);
    if (!plain)
        n = (size_t)snprintf(out, size, escapes ? "$'" : "'");
    for (const char *p = word; *p && n < size; p++) {
        unsigned char c = (unsigned char)*p;
        /* Octal escapes have exactly three digits, so that a digit behind one is not taken for part
         * of it. */
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
    if (strcmp(path, "-") == 0 || n >= size) /* standard input has been read */
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
    double v = (double)bytes; /* one digit is shown: the precision of a double is enough */
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
    if (unit) { /* K, M or G in either case, also KiB and KB */
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

/* Returns a record that has only what a key says: family and type. */
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
