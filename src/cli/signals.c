#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "perfile/text.h"

/* Read by handlers: set in one store, never freed while set. */
static const char *volatile file;
static char shown_file[4096]; /* what `file` points at: the name as it may be shown */
static const char *volatile temporary;

static void put(const char *text)
{
    size_t n = strlen(text);
    while (n) {
        ssize_t done = write(STDERR_FILENO, text, n);
        if (done <= 0)
            return;
        text += done;
        n -= (size_t)done;
    }
}

/* Removes `path`/data.N, with N below 0 `path`/data.  A handler may not call much. */
static bool drop_part(const char *path, long n)
{
    enum { MOST = 4096, DIGITS = 24 };
    char name[MOST + DIGITS], digits[DIGITS];
    size_t len = strlen(path), k = DIGITS - 1;
    if (len + 6 > MOST)
        return false;
    memcpy(name, path, len);
    memcpy(name + len, "/data.", 6);
    len += n < 0 ? 5 : 6;
    digits[k] = '\0';
    for (long left = n; n >= 0 && (left || k == DIGITS - 1); left /= 10)
        digits[--k] = (char)('0' + left % 10);
    memcpy(name + len, digits + k, DIGITS - k);
    return unlink(name) == 0;
}

/* A file, or a directory with `data`, data.0, data.1 … in it. */
static void drop_temporary(void)
{
    if (!temporary || unlink(temporary) == 0)
        return;
    (void)drop_part(temporary, -1);
    for (long n = 0; drop_part(temporary, n);)
        n++;
    rmdir(temporary);
}

static void on_bus(int number)
{
    (void)number;
    drop_temporary();
    put("perfile: ");
    put(file ? file : "input");
    put(": the file was cut while it was read\n");
    _exit(CLI_FAILED);
}

static void on_end(int number)
{
    drop_temporary();
    signal(number, SIG_DFL);
    raise(number);
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

void cli_signals_hold(bool hold)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        sigaddset(&set, ends[i]);
    sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

void cli_signals_install(void)
{
    struct sigaction bus = {.sa_handler = on_bus};
    sigaction(SIGBUS, &bus, NULL);
    /* A file that may not grow further is a failed write. */
    signal(SIGXFSZ, SIG_IGN);

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction was;
        struct sigaction end = {.sa_handler = on_end, .sa_flags = SA_NODEFER};
        if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(ends[i], &end, NULL);
    }
}

void cli_signals_file(const char *name)
{
    file = NULL;
    if (!name)
        return;
    perfile_printable((perfile_bytes){(const uint8_t *)name, strlen(name)}, shown_file,
                      sizeof shown_file);
    file = shown_file;
}

void cli_signals_temporary(const char *path)
{
    temporary = path;
}
