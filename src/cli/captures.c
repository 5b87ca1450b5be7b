/* Captures of archives as inputs. */
#include "cli/captures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/archive.h"
#include "cli/command.h"
#include "cli/input.h"

typedef struct capture {
    char *path; /* a copy of its own: its address is what it is known by */
    char *name;
    uint32_t number;
} capture;

/* They live until the next command line, as argv does. */
static capture *captures;
static size_t n_captures;
static cli_inputs expanded;

static const capture *find(const char *path)
{
    for (size_t i = 0; i < n_captures; i++)
        if (captures[i].path == path)
            return &captures[i];
    return NULL;
}

uint32_t cli_capture_of(const char *path)
{
    const capture *c = find(path);
    return c ? c->number : 0;
}

const char *cli_capture_name(const char *path)
{
    const capture *c = find(path);
    return c ? c->name : NULL;
}

/* How many captures the archive `path` has; 1 also for what is no archive, or cannot be opened. */
static uint32_t count(const char *path)
{
    perfile_archive *a;
    perfile_archive_summary sum;
    if (cli_archive_open(path, NULL, false, &a, NULL) != PERFILE_OK)
        return 1;
    perfile_archive_get_summary(a, &sum, sizeof sum);
    perfile_archive_close(a);
    return sum.captures ? sum.captures : 1;
}

/* Adds capture `number` of `path`; NULL: no memory. */
static char *add(const char *path, uint32_t number)
{
    enum { WORDS = 32 };
    const size_t size = strlen(path) + WORDS;
    capture *more = realloc(captures, (n_captures + 1) * sizeof *more);
    if (!more)
        return NULL;
    captures = more;
    capture c = {.path = malloc(size), .name = malloc(size), .number = number};
    if (!c.path || !c.name) {
        free(c.path);
        free(c.name);
        return NULL;
    }
    snprintf(c.path, size, "%s", path);
    snprintf(c.name, size, "%s, capture %" PRIu32, path, number);
    captures[n_captures++] = c;
    return c.path;
}

static bool append(cli_inputs *to, char *path)
{
    char **more = path ? realloc(to->at, (to->n + 1) * sizeof *more) : NULL;
    if (!more)
        return false;
    to->at = more;
    to->at[to->n++] = path;
    return true;
}

/* Releases those of an earlier command line. */
static void release(void)
{
    for (size_t i = 0; i < n_captures; i++) {
        free(captures[i].path);
        free(captures[i].name);
    }
    free(captures);
    free(expanded.at);
    captures = NULL;
    n_captures = 0;
    expanded = (cli_inputs){0};
}

int cli_each_capture(cli_inputs *in)
{
    bool ok = true;
    release();
    if (cli_archive_capture())
        return CLI_CONTINUE;
    for (size_t i = 0; i < in->n && ok; i++) {
        const uint32_t n = count(in->at[i]);
        /* Each is opened on its own, which costs a look at all chunks: too many are not opened at
         * all, and whoever opens the path says that one must be chosen. */
        const bool each = n > 1 && n <= CLI_MOST_CAPTURES;
        if (!each)
            ok = append(&expanded, in->at[i]);
        for (uint32_t k = 1; each && k <= n && ok; k++)
            ok = append(&expanded, add(in->at[i], k));
    }
    if (!ok) {
        cli_message("out of memory");
        return CLI_FAILED;
    }
    *in = expanded;
    return CLI_CONTINUE;
}
