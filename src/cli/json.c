/* The JSON writer.  `needs_comma` is all the state that nesting needs: an opening bracket clears
 * it, every value and closing bracket sets it. */
#include "cli/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perfile/text.h"
#include "base/command.h"

/* True if the next value follows another one on the same level. */
static bool needs_comma;
static FILE *output; /* NULL for standard output */

static FILE *output_stream(void)
{
    return output ? output : stdout;
}

void cli_json_to(FILE *stream)
{
    output = stream;
}

/* Writes the comma and the key of the next value. */
static void begin(const char *key)
{
    cli_print_make_room(output_stream());
    if (needs_comma)
        putc(',', output_stream());
    needs_comma = true;
    if (key)
        fprintf(output_stream(), "\"%s\":", key);
}

static void open_level(const char *key, char bracket)
{
    begin(key);
    putc(bracket, output_stream());
    needs_comma = false;
}

static void close_level(char bracket)
{
    putc(bracket, output_stream());
    needs_comma = true;
}

void cli_json_object(const char *key)
{
    open_level(key, '{');
}

void cli_json_object_end(void)
{
    close_level('}');
}

void cli_json_array(const char *key)
{
    open_level(key, '[');
}

void cli_json_array_end(void)
{
    close_level(']');
}

void cli_json_number(const char *key, uint64_t value)
{
    begin(key);
    fprintf(output_stream(), "%" PRIu64, value);
}

void cli_json_signed(const char *key, int64_t value)
{
    begin(key);
    fprintf(output_stream(), "%" PRId64, value);
}

void cli_json_real(const char *key, double value)
{
    /* JSON has neither infinity nor NaN. */
    if (!(value - value == 0)) {
        cli_json_null(key);
        return;
    }
    begin(key);
    fprintf(output_stream(), "%.17g", value);
}

void cli_json_bool(const char *key, bool value)
{
    begin(key);
    fputs(value ? "true" : "false", output_stream());
}

void cli_json_null(const char *key)
{
    begin(key);
    fputs("null", output_stream());
}

void cli_json_decimal(const char *key, uint64_t value)
{
    begin(key);
    fprintf(output_stream(), "\"%" PRIu64 "\"", value);
}

void cli_json_known(const char *key, uint64_t value)
{
    if (value == UINT64_MAX)
        cli_json_null(key);
    else
        cli_json_decimal(key, value);
}

void cli_json_signed_decimal(const char *key, int64_t value)
{
    begin(key);
    fprintf(output_stream(), "\"%" PRId64 "\"", value);
}

void cli_json_hex(const char *key, uint64_t value)
{
    begin(key);
    fprintf(output_stream(), "\"0x%" PRIx64 "\"", value);
}

void cli_json_bytes(const char *key, perfile_bytes bytes)
{
    begin(key);
    putc('"', output_stream());
    for (size_t i = 0; i < bytes.len; i++)
        fprintf(output_stream(), "%02x", bytes.ptr[i]);
    putc('"', output_stream());
}

static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Writes well-formed UTF-8 as a string.  All unprintable characters are escaped, more than JSON
 * requires, because reports are also read on terminals. */
static void put_text(perfile_bytes text)
{
    putc('"', output_stream());
    for (size_t i = 0, n; i < text.len; i += n) {
        uint32_t code = 0;
        for (n = 0; i + n < text.len && is_plain(text.ptr[i + n]); n++)
            continue;
        if (n) {
            fwrite(text.ptr + i, 1, n, output_stream());
            continue;
        }
        n = perfile_utf8_char(text.ptr + i, text.len - i, &code);
        if (code == '"' || code == '\\')
            fprintf(output_stream(), "\\%c", (int)code);
        else if (!pf_is_printable(code)) /* four digits are enough: none of these is above
                                          * U+FFFF */
            fprintf(output_stream(), "\\u%04" PRIx32, code);
        else
            fwrite(text.ptr + i, 1, n, output_stream());
    }
    putc('"', output_stream());
}

void cli_json_text(const char *key, perfile_bytes text)
{
    if (cli_is_utf8(text)) {
        begin(key);
        put_text(text);
        return;
    }
    cli_json_object(key);
    cli_json_bytes("hex", text);
    cli_json_object_end();
}

void cli_json_string(const char *key, const char *text)
{
    if (text)
        cli_json_text(key, (perfile_bytes){(const uint8_t *)text, strlen(text)});
    else
        cli_json_null(key);
}

void cli_json_line(void)
{
    putc('\n', output_stream());
    needs_comma = false;
}
