/* The progress line on standard error.
 *
 * It is overwritten with \r and erased at the end.  \r only goes back to the beginning of the last
 * row, so a line that wraps could not be erased: the line is never wider than the terminal, and of
 * a long name only the end is shown. */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/print.h"
#include "cli/text.h"
#include "perfile/text.h"

enum {
    NAME_BYTES = 1024, /* of the escaped name */
    FIGURES = 96       /* bytes of ": 12 of 345 MB, 3%" */
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

/* True unless `s` is at a UTF-8 continuation byte. */
static bool begins_character(const char *s)
{
    return ((unsigned char)*s & 0xc0) != 0x80;
}

static size_t count_columns(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += begins_character(s);
    return n;
}

/* Returns the longest tail of `text` that fits in `columns`. */
static const char *tail_that_fits(const char *text, size_t columns)
{
    size_t passed = count_columns(text);
    for (; *text && passed > columns; passed--)
        do
            text++;
        while (!begins_character(text));
    return text;
}

/* Prints the line: the name, or its end behind "...", and the figures.  Without room for the name
 * the figures stand alone, without their leading ": ". */
static void show(const char *figures)
{
    static const char ellipsis[] = "...";
    const size_t max_columns = cli_terminal_width(STDERR_FILENO) -
                               1; /* some terminals go on when the last column is filled */
    char text[NAME_BYTES];
    const char *shown_name = text;
    perfile_printable((perfile_bytes){(const uint8_t *)input_name, strlen(input_name)}, text,
                      sizeof text);
    size_t room = max_columns > strlen(figures) ? max_columns - strlen(figures) : 0;
    bool fits = count_columns(text) <= room;
    if (!fits)
        shown_name = room > strlen(ellipsis) ? tail_that_fits(text, room - strlen(ellipsis)) : "";
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
