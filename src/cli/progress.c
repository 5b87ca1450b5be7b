/* The line of progress fits the terminal: one that wraps could not be erased, since \r goes back to
 * the beginning of the last row only.  So of a long name only the end is shown. */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/print.h"
#include "perfile/text.h"

enum { USUAL_WIDTH = 80, NAME_BYTES = 1024, FIGURES = 96 };

static const char *name;
static uint64_t due;
static bool terminal;
static bool shown;

static uint64_t now_ms(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void cli_progress_start(const char *what)
{
    name = what;
    terminal = isatty(STDERR_FILENO);
    due = terminal ? now_ms() + 1000 : 0;
}

/* Columns of the terminal on standard error: as it says, else as COLUMNS does. */
static size_t width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long n = columns ? strtol(columns, NULL, 10) : 0;
    return n > 0 ? (size_t)n : USUAL_WIDTH;
}

static bool begins_character(const char *s)
{
    return ((unsigned char)*s & 0xc0) != 0x80;
}

static size_t columns_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += begins_character(s);
    return n;
}

/* The end of `text` that fits in `columns`. */
static const char *end_of(const char *text, size_t columns)
{
    size_t passed = columns_of(text);
    for (; *text && passed > columns; passed--)
        do
            text++;
        while (!begins_character(text));
    return text;
}

static void show(const char *figures)
{
    static const char cut[] = "...";
    const size_t most = width() - 1; /* some terminals go on when the last column is filled */
    char text[NAME_BYTES];
    const char *shown_name = text;
    perfile_printable((perfile_bytes){(const uint8_t *)name, strlen(name)}, text, sizeof text);
    size_t room = most > strlen(figures) ? most - strlen(figures) : 0;
    bool whole = columns_of(text) <= room;
    if (!whole)
        shown_name = room > strlen(cut) ? end_of(text, room - strlen(cut)) : "";
    cli_print_error("\r\033[K%s%s%.*s", !whole && *shown_name ? cut : "", shown_name, (int)most,
                    *shown_name ? figures : figures + 2);
    shown = true;
}

void cli_progress_step(uint64_t done, uint64_t total)
{
    char figures[FIGURES];
    if (!terminal)
        return;
    uint64_t now = now_ms();
    if (now < due)
        return;
    due = now + 200;
    if (total)
        snprintf(figures, sizeof figures, ": %" PRIu64 " of %" PRIu64 " MB, %u%%", done / 1000000,
                 total / 1000000, (unsigned)(100.0 * (double)done / (double)total));
    else
        snprintf(figures, sizeof figures, ": %" PRIu64 " MB", done / 1000000);
    show(figures);
}

void cli_progress_clear(void)
{
    if (!shown)
        return;
    cli_print_error("\r\033[K");
    shown = false;
}
