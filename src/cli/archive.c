/* Opening archives as archives, and what is printed about one in a line. */
#include "cli/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/print.h"

bool cli_is_regular(const char *path)
{
    struct stat sb;
    return strcmp(path, "-") != 0 && stat(path, &sb) == 0 && S_ISREG(sb.st_mode);
}

perfile_status cli_archive_open(const char *path, const perfile_limits *limits, bool pipes,
                                perfile_archive **archive, perfile_error *err)
{
    perfile_source *source;
    if (!pipes && !cli_is_regular(path))
        return PERFILE_END;
    perfile_status st = cli_source_mapped(path, limits, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_archive_open(source, archive, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

bool cli_capture_time(const char *path, uint64_t *ns)
{
    char data[4096];
    struct stat sb;
    bool found = strcmp(path, "-") == 0 ? fstat(0, &sb) == 0 : stat(path, &sb) == 0;
    if (found && S_ISDIR(sb.st_mode)) {
        const int n = snprintf(data, sizeof data, "%s/data", path);
        found = n > 0 && (size_t)n < sizeof data && stat(data, &sb) == 0;
    }
    if (!found || !S_ISREG(sb.st_mode) || sb.st_mtim.tv_sec < 0)
        return false;
    *ns = (uint64_t)sb.st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)sb.st_mtim.tv_nsec;
    return true;
}

/* Notes name and time of the file or directory `path`. */
static void name_of_file(const char *path, char *name, perfile_archive_options *options)
{
    uint64_t time;
    size_t end = strlen(path);
    while (end && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin && path[begin - 1] != '/')
        begin--;
    const bool dots = path[begin] == '.' && path[end - 1] == '.' && end - begin <= 2;
    if (begin == end || end - begin >= CLI_CAPTURE_NAME || dots)
        return;
    memcpy(name, path + begin, end - begin);
    name[end - begin] = '\0';
    options->name = name;
    if (cli_capture_time(path, &time))
        options->modified = time;
}

void cli_archive_name(const char *path, char name[CLI_CAPTURE_NAME],
                      perfile_archive_options *options)
{
    struct stat sb;
    perfile_archive *archive;
    perfile_archive_capture capture;
    const uint32_t number = cli_capture_of(path) ? cli_capture_of(path) : cli_archive_capture();
    if (strcmp(path, "-") == 0 || stat(path, &sb) != 0 ||
        (!S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode)))
        return;
    if (cli_archive_open(path, NULL, false, &archive, NULL) != PERFILE_OK) {
        name_of_file(path, name, options);
        return;
    }
    if (perfile_archive_capture_at(archive, number ? number : 1, &capture, sizeof capture, NULL) ==
        PERFILE_OK) {
        if (capture.name && strlen(capture.name) < CLI_CAPTURE_NAME)
            options->name = strcpy(name, capture.name);
        options->modified = capture.modified == UINT64_MAX ? 0 : capture.modified;
    }
    perfile_archive_close(archive);
}

bool cli_archive_is_damaged(const perfile_archive_summary *s)
{
    return s->head_damaged || s->gaps;
}

void cli_archive_print(const perfile_archive_summary *s)
{
    char bytes[32], decoded[32];
    cli_format_bytes(s->bytes, bytes, sizeof bytes);
    cli_format_bytes(s->decoded, decoded, sizeof decoded);
    if (s->version)
        cli_print("version %" PRIu32 ", ", s->version);
    if (s->captures > 1)
        cli_print("%" PRIu32 " captures, ", s->captures);
    cli_print("%" PRIu32 " chunk%s, %s of %s", s->chunks, s->chunks == 1 ? "" : "s", bytes,
              decoded);
    if (s->bytes)
        cli_print(" (%.1f to 1)", (double)s->decoded / (double)s->bytes);
    cli_print(", %s", s->finished ? "finished" : "not finished");
    if (s->head_damaged)
        cli_print(", DAMAGED header");
    if (s->gaps) {
        cli_format_bytes(s->gap_bytes, bytes, sizeof bytes);
        cli_print(", DAMAGED in %" PRIu32 " place%s: %s are no chunk", s->gaps,
                  s->gaps == 1 ? "" : "s", bytes);
    }
    cli_print("\n");
}

void cli_archive_json_lossy(const perfile_archive_capture *c)
{
    cli_json_array("lossy");
    for (uint32_t i = 0; i < c->n_lossy; i++)
        cli_json_string(NULL, c->lossy[i]);
    cli_json_array_end();
}

void cli_archive_json(const perfile_archive_summary *s, const perfile_archive_capture *c)
{
    cli_json_object("archive");
    cli_json_number("version", s->version);
    cli_json_hex("id", s->id);
    cli_json_number("bytes", s->bytes);
    cli_json_number("decoded", s->decoded);
    cli_json_number("captures", s->captures);
    cli_json_number("chunks", s->chunks);
    cli_json_bool("finished", s->finished);
    cli_json_bool("from_index", s->from_index);
    cli_json_bool("head_damaged", s->head_damaged);
    cli_json_number("gaps", s->gaps);
    cli_json_number("gap_bytes", s->gap_bytes);
    if (c) {
        cli_json_string("name", c->name);
        cli_archive_json_lossy(c);
    }
    cli_json_object_end();
}

void cli_archive_print_lossy(const perfile_archive_capture *c)
{
    for (uint32_t i = 0; i < c->n_lossy; i++)
        cli_print("%s%s", i ? ", " : "", c->lossy[i]);
}

/* Captures of archives as inputs. */

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
