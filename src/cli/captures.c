/* Captures of archives as inputs. */
#include "cli/captures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/archive.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/text.h"

typedef struct capture {
    char *path; /* a copy of its own: its address is what it is known by */
    char *name;
    uint32_t number;
    bool lacks_selection; /* see cli_all_lack_selection() */
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

bool cli_all_lack_selection(const char *path)
{
    bool all = true;
    for (size_t i = 0; i < n_captures; i++) {
        if (captures[i].path == path)
            captures[i].lacks_selection = true;
        if (strcmp(captures[i].path, path) == 0)
            all = all && captures[i].lacks_selection;
    }
    return all;
}

bool cli_shell_input(const char *path, char *out, size_t size)
{
    const uint32_t number = cli_capture_of(path) ? cli_capture_of(path) : cli_archive_capture();
    const int n = number ? snprintf(out, size, "--source %" PRIu32 " ", number) : 0;
    return n >= 0 && (size_t)n < size && cli_shell_file(path, out + n, size - (size_t)n);
}

/* Opens `path` if it is an archive whose captures are inputs of their own, of which *n becomes the
 * number; NULL: it is none.  Each of its captures is opened on its own, which costs a look at all
 * chunks: too many are not opened at all, and whoever opens the path says that one must be chosen.
 */
static perfile_archive *open_several(const char *path, uint32_t *n)
{
    perfile_archive *a;
    perfile_archive_summary sum;
    if (cli_archive_open(path, NULL, false, &a, NULL) != PERFILE_OK)
        return NULL;
    perfile_archive_get_summary(a, &sum, sizeof sum);
    *n = sum.captures;
    if (sum.captures > 1 && sum.captures <= CLI_MOST_CAPTURES)
        return a;
    perfile_archive_close(a);
    return NULL;
}

/* Adds capture `number` of `path`, which was packed under the name `packed` (NULL: not known).
 * NULL: no memory. */
static char *add(const char *path, uint32_t number, const char *packed)
{
    enum { WORDS = 32 };
    const size_t size = strlen(path) + (packed ? strlen(packed) : 0) + WORDS;
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
    const int n = snprintf(c.name, size, "%s, capture %" PRIu32, path, number);
    if (packed)
        snprintf(c.name + n, size - (size_t)n, " (%s)", packed);
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

/* Appends `path`, or the captures of the archive that it is. */
static bool append_captures(char *path)
{
    uint32_t n = 0;
    bool ok = true;
    perfile_archive *a = open_several(path, &n);
    if (!a)
        return append(&expanded, path);
    for (uint32_t k = 1; k <= n && ok; k++) {
        perfile_archive_capture c = {0};
        if (perfile_archive_capture_at(a, k, &c, sizeof c, NULL) != PERFILE_OK)
            c.name = NULL;
        ok = append(&expanded, add(path, k, c.name));
    }
    perfile_archive_close(a);
    return ok;
}

int cli_each_capture(cli_inputs *in)
{
    bool ok = true;
    release();
    if (cli_archive_capture())
        return CLI_CONTINUE;
    for (size_t i = 0; i < in->n && ok; i++)
        ok = append_captures(in->at[i]);
    if (!ok) {
        cli_message("out of memory");
        return CLI_FAILED;
    }
    *in = expanded;
    return CLI_CONTINUE;
}
