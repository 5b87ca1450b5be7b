/* A small printf() that escapes its string arguments, but not its format string.
 *
 * The format is read once: text between conversions is copied, %s and %c go through put_escaped(),
 * and numbers are converted with snprintf() and padded here.  Padding counts the escaped width, so
 * that columns stay aligned. print.h says what a format may contain. */
#include "cli/print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"
#include "perfile/text.h"

enum { NUMBER_BYTES = 400 }; /* the longest double: %f of DBL_MAX has 309 digits and a fraction */

/* The output buffer.  A message is normally one fwrite(), which is one write() on unbuffered
 * standard error, so that lines of several processes do not mix. */
typedef struct printer {
    FILE *to;
    size_t n; /* bytes used in `at` */
    char at[1024];
} printer;

/* One conversion of a format, such as "%-08.3lx". */
typedef struct conversion {
    bool left_align, zero_pad, has_precision;
    int width, precision;
    char length;    /* h, l, z, j or t; 'H' for hh, 'L' for ll; 0 if there is none */
    char specifier; /* the letter at the end: s, d, x … */
} conversion;

static const char erase_row[] = "\r\033[K";
static bool progress_shown;

void cli_print_make_room(FILE *stream)
{
    if (!progress_shown || !isatty(fileno(stream)))
        return;
    fputs(erase_row, stderr);
    progress_shown = false;
}

static void write_out(const printer *p, const char *bytes, size_t n)
{
    cli_print_make_room(p->to);
    fwrite(bytes, 1, n, p->to);
}

static void flush(printer *p)
{
    write_out(p, p->at, p->n);
    p->n = 0;
}

/* Appends bytes to the buffer, which is flushed if they do not fit.  Bytes that are longer than the
 * buffer are written directly. */
static void put(printer *p, const char *bytes, size_t n)
{
    if (n > sizeof p->at - p->n)
        flush(p);
    if (n > sizeof p->at) {
        write_out(p, bytes, n);
        return;
    }
    memcpy(p->at + p->n, bytes, n);
    p->n += n;
}

static void put_repeated(printer *p, size_t n, char c)
{
    while (n--)
        put(p, &c, 1);
}

/* Prints a text that needs no escaping, padded with spaces to the width of `s`. */
static void put_padded(printer *p, const conversion *s, const char *text, size_t n)
{
    size_t blank = s->width > 0 && (size_t)s->width > n ? (size_t)s->width - n : 0;
    put_repeated(p, s->left_align ? 0 : blank, ' ');
    put(p, text, n);
    put_repeated(p, s->left_align ? blank : 0, ' ');
}

/* Returns the number of printable ASCII bytes at the beginning of `text`. */
static size_t plain_run(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && (unsigned char)text[i] >= 0x20 && (unsigned char)text[i] < 0x7f)
        i++;
    return i;
}

/* Prints `text` with unprintable characters and invalid UTF-8 escaped as \xNN.  Sequences of
 * printable ASCII are copied; all other characters go one by one through perfile_printable(). */
static void put_escaped(printer *p, const char *text, size_t n)
{
    for (size_t i = 0, from; i < n; i += from) {
        char one[17];
        from = plain_run(text + i, n - i);
        if (from) {
            put(p, text + i, from);
            continue;
        }
        const uint8_t *at = (const uint8_t *)text + i;
        from = perfile_utf8_char(at, n - i, NULL);
        from = from ? from : 1;
        put(p, one, perfile_printable((perfile_bytes){at, from}, one, sizeof one));
    }
}

/* Prints %s.  The width counts escaped bytes. */
static void put_string(printer *p, const conversion *s, const char *text)
{
    if (!text)
        text = "(null)";
    size_t n = s->has_precision ? strnlen(text, (size_t)s->precision) : strlen(text);
    size_t wide =
        s->width > 0 ? perfile_printable((perfile_bytes){(const uint8_t *)text, n}, NULL, 0) : 0;
    size_t blank = s->width > 0 && (size_t)s->width > wide ? (size_t)s->width - wide : 0;
    put_repeated(p, s->left_align ? 0 : blank, ' ');
    put_escaped(p, text, n);
    put_repeated(p, s->left_align ? blank : 0, ' ');
}

/* Prints the digits of `value`.  With the flag 0 the sign comes before the zeros. */
static void put_number(printer *p, const conversion *s, bool negative, uintmax_t value)
{
    char digits[24];
    const char *sign = negative ? "-" : "";
    size_t n = (size_t)snprintf(digits, sizeof digits,
                                s->specifier == 'x'   ? "%" PRIxMAX
                                : s->specifier == 'X' ? "%" PRIXMAX
                                                      : "%" PRIuMAX,
                                value);
    if (s->zero_pad && !s->left_align) {
        size_t all = n + negative;
        put(p, sign, negative);
        put_repeated(p, (size_t)s->width > all ? (size_t)s->width - all : 0, '0');
        put(p, digits, n);
        return;
    }
    char text[26];
    n = (size_t)snprintf(text, sizeof text, "%s%s", sign, digits);
    put_padded(p, s, text, n);
}

/* Fetches a signed argument of the length in `s`, and prints it. */
static void put_signed(printer *p, const conversion *s, va_list *args)
{
    intmax_t value;
    switch (s->length) {
    case 'l':
        value = va_arg(*args, long);
        break;
    case 'L':
        value = va_arg(*args, long long);
        break;
    case 'z':
    case 't':
        value = va_arg(*args, ptrdiff_t);
        break;
    case 'j':
        value = va_arg(*args, intmax_t);
        break;
    default:
        value = va_arg(*args, int);
    }
    put_number(p, s, value < 0, value < 0 ? 0 - (uintmax_t)value : (uintmax_t)value);
}

/* Fetches an unsigned argument of the length in `s`, and prints it. */
static void put_unsigned(printer *p, const conversion *s, va_list *args)
{
    uintmax_t value;
    switch (s->length) {
    case 'l':
        value = va_arg(*args, unsigned long);
        break;
    case 'L':
        value = va_arg(*args, unsigned long long);
        break;
    case 'z':
    case 't':
        value = va_arg(*args, size_t);
        break;
    case 'j':
        value = va_arg(*args, uintmax_t);
        break;
    default:
        value = va_arg(*args, unsigned);
    }
    put_number(p, s, false, value);
}

static void put_real(printer *p, const conversion *s, double value)
{
    char text[NUMBER_BYTES];
    int precision = s->has_precision ? s->precision : 6;
    int n = s->specifier == 'g' ? snprintf(text, sizeof text, "%.*g", precision, value)
                                : snprintf(text, sizeof text, "%.*f", precision, value);
    put_padded(p, s, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* Reads a width or precision: digits, or `*` for the next argument.  Returns the position after
 * it. */
static const char *read_count(const char *f, va_list *args, int *count)
{
    if (*f == '*') {
        *count = va_arg(*args, int);
        return f + 1;
    }
    for (*count = 0; *f >= '0' && *f <= '9'; f++)
        *count = 10 * *count + (*f - '0');
    return f;
}

/* Reads one conversion; `f` is after the %.  Returns the position after its letter. */
static const char *read_conversion(const char *f, va_list *args, conversion *s)
{
    *s = (conversion){0};
    for (; *f == '-' || *f == '0'; f++) {
        s->left_align |= *f == '-';
        s->zero_pad |= *f == '0';
    }
    f = read_count(f, args, &s->width);
    if (*f == '.') {
        s->has_precision = true;
        f = read_count(f + 1, args, &s->precision);
    }
    if (strchr("hlzjt", *f)) {
        s->length = *f++;
        if (*f == s->length)
            s->length = (char)(*f++ - 'a' + 'A');
    }
    s->specifier = *f;
    return f + 1;
}

/* Fetches the argument of one conversion and prints it. */
static void put_argument(printer *p, const conversion *s, va_list *args)
{
    char c;
    switch (s->specifier) {
    case 's':
        put_string(p, s, va_arg(*args, const char *));
        break;
    case 'c':
        c = (char)va_arg(*args, int);
        put_escaped(p, &c, 1);
        break;
    case 'd':
    case 'i':
        put_signed(p, s, args);
        break;
    case 'f':
    case 'g':
        put_real(p, s, va_arg(*args, double));
        break;
    case '%':
        put(p, "%", 1);
        break;
    default: /* u, x, X */
        put_unsigned(p, s, args);
    }
}

/* Prints the whole format into the buffer, without flushing it at the end. */
static void put_formatted(printer *p, const char *format, va_list *args)
{
    while (*format) {
        size_t plain = strcspn(format, "%");
        put(p, format, plain);
        format += plain;
        if (*format != '%')
            break;
        conversion s;
        format = read_conversion(format + 1, args, &s);
        put_argument(p, &s, args);
    }
}

void cli_print(const char *format, ...)
{
    printer p = {.to = stdout};
    va_list args;
    va_start(args, format);
    put_formatted(&p, format, &args);
    va_end(args);
    flush(&p);
}

void cli_print_error(const char *format, ...)
{
    printer p = {.to = stderr};
    va_list args;
    fflush(stdout);
    va_start(args, format);
    put_formatted(&p, format, &args);
    va_end(args);
    flush(&p);
}

void cli_print_progress(const char *format, ...)
{
    printer p = {.to = stderr};
    va_list args;
    fflush(stdout);
    progress_shown = false;
    put(&p, erase_row, sizeof erase_row - 1);
    va_start(args, format);
    put_formatted(&p, format, &args);
    va_end(args);
    flush(&p);
    progress_shown = true;
}

void cli_print_error_line(const char *head, const char *format, va_list args)
{
    printer p = {.to = stderr};
    va_list copy; /* where va_list is an array type, &args would have the wrong type */
    va_copy(copy, args);
    fflush(stdout);
    put_escaped(&p, head, strlen(head));
    put(&p, ": ", 2);
    put_formatted(&p, format, &copy);
    put(&p, "\n", 1);
    flush(&p);
    va_end(copy);
}

void cli_print_help(bool error, const char *text)
{
    fputs(text, error ? stderr : stdout);
}

void cli_print_text(perfile_bytes text)
{
    printer p = {.to = stdout};
    put_escaped(&p, (const char *)text.ptr, text.len);
    flush(&p);
}

/* The progress line on standard error.
 *
 * It is overwritten with \r and erased at the end. \r only goes back to the beginning of the last
 * row, so a line that wraps could not be erased.  Therefore the line is never wider than the
 * terminal; only the end of a long name is shown. */

enum {
    NAME_BYTES = 1024, /* size of the buffer for the escaped name */
    FIGURES = 96       /* size of the buffer for ": 12 of 345 MB, 3%" */
};

static const char *input_name;
static uint64_t next_update_ms; /* on CLOCK_MONOTONIC */
static bool to_terminal;
static bool off;

static uint64_t now_ms(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void cli_progress_off(void)
{
    off = true;
}

void cli_progress_start(const char *what)
{
    input_name = what;
    to_terminal = !off && isatty(STDERR_FILENO);
    next_update_ms = to_terminal ? now_ms() + 1000 : 0;
}

/* Prints the line: the name, or "..." and its end, and the figures.  If there is no room for the
 * name, only the figures are printed, without their leading ": ". */
static void show(const char *figures)
{
    static const char ellipsis[] = "...";
    const size_t max_columns = cli_terminal_width(STDERR_FILENO) -
                               1; /* some terminals wrap when the last column is filled */
    char text[NAME_BYTES];
    const char *shown_name = text;
    perfile_printable((perfile_bytes){(const uint8_t *)input_name, strlen(input_name)}, text,
                      sizeof text);
    size_t room = max_columns > strlen(figures) ? max_columns - strlen(figures) : 0;
    const size_t columns = cli_columns(text, sizeof text);
    const bool fits = columns <= room;
    if (!fits)
        shown_name = room > strlen(ellipsis)
                         ? cli_skip_columns(text, columns - (room - strlen(ellipsis)))
                         : "";
    cli_print_progress("%s%s%.*s", !fits && *shown_name ? ellipsis : "", shown_name,
                       (int)max_columns, *shown_name ? figures : figures + 2);
}

void cli_progress_step(uint64_t done, uint64_t total)
{
    char figures[FIGURES];
    if (!to_terminal)
        return;
    uint64_t now = now_ms();
    if (now < next_update_ms)
        return;
    next_update_ms = now + 200;
    if (total)
        snprintf(figures, sizeof figures, ": %" PRIu64 " of %" PRIu64 " MB, %u%%", done / 1000000,
                 total / 1000000, (unsigned)(100.0 * (double)done / (double)total));
    else
        snprintf(figures, sizeof figures, ": %" PRIu64 " MB", done / 1000000);
    show(figures);
}

void cli_progress_clear(void)
{
    cli_print_make_room(stderr);
}
