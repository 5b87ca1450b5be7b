#include "cli/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"

/* Whether something stands before the next value on its level. */
static bool comma;
static FILE *to; /* NULL: standard output */

static FILE *out(void)
{
    return to ? to : stdout;
}

void cli_json_to(FILE *stream)
{
    to = stream;
}

static void begin(const char *key)
{
    if (comma)
        putc(',', out());
    comma = true;
    if (key)
        fprintf(out(), "\"%s\":", key);
}

static void open_level(const char *key, char bracket)
{
    begin(key);
    putc(bracket, out());
    comma = false;
}

static void close_level(char bracket)
{
    putc(bracket, out());
    comma = true;
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
    fprintf(out(), "%" PRIu64, value);
}

void cli_json_signed(const char *key, int64_t value)
{
    begin(key);
    fprintf(out(), "%" PRId64, value);
}

void cli_json_real(const char *key, double value)
{
    /* JSON knows neither infinity nor NaN. */
    if (!(value - value == 0)) {
        cli_json_null(key);
        return;
    }
    begin(key);
    fprintf(out(), "%.17g", value);
}

void cli_json_bool(const char *key, bool value)
{
    begin(key);
    fputs(value ? "true" : "false", out());
}

void cli_json_null(const char *key)
{
    begin(key);
    fputs("null", out());
}

void cli_json_decimal(const char *key, uint64_t value)
{
    begin(key);
    fprintf(out(), "\"%" PRIu64 "\"", value);
}

void cli_json_hex(const char *key, uint64_t value)
{
    begin(key);
    fprintf(out(), "\"0x%" PRIx64 "\"", value);
}

void cli_json_bytes(const char *key, perfile_bytes bytes)
{
    begin(key);
    putc('"', out());
    for (size_t i = 0; i < bytes.len; i++)
        fprintf(out(), "%02x", bytes.ptr[i]);
    putc('"', out());
}

static void put_text(perfile_bytes text)
{
    putc('"', out());
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = text.ptr[i];
        if (c == '"' || c == '\\')
            fprintf(out(), "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(out(), "\\u%04x", c);
        else
            putc(c, out());
    }
    putc('"', out());
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
    putc('\n', out());
    comma = false;
}
