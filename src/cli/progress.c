#include "cli/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/print.h"

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

void cli_progress_step(uint64_t done, uint64_t total)
{
    if (!terminal)
        return;
    uint64_t now = now_ms();
    if (now < due)
        return;
    due = now + 200;
    shown = true;
    if (total)
        cli_print_error("\r\033[K%s: %" PRIu64 " of %" PRIu64 " MB, %u%%", name, done / 1000000,
                        total / 1000000, (unsigned)(100.0 * (double)done / (double)total));
    else
        cli_print_error("\r\033[K%s: %" PRIu64 " MB", name, done / 1000000);
}

void cli_progress_clear(void)
{
    if (!shown)
        return;
    cli_print_error("\r\033[K");
    shown = false;
}
