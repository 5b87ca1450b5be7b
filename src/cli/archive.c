/* Archives: opening them, printing a summary line, and their captures as inputs. */
#include "cli/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/print.h"
#include "archive/command.h"

bool cli_is_regular(const char *path)
{
    struct stat sb;
    return strcmp(path, "-") != 0 && stat(path, &sb) == 0 && S_ISREG(sb.st_mode);
}

perfile_status cli_archive_open(const cli_file *file, const perfile_limits *limits, bool pipes,
                                perfile_archive **archive, perfile_error *err)
{
    perfile_source *source;
    if (!pipes && !cli_is_regular(file->path))
        return PERFILE_END;
    perfile_status st = cli_source_mapped(file, limits, &source, err);
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

/* Sets the name and modification time of the file or directory `path`. */
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

void cli_archive_name(const cli_file *file, char name[CLI_CAPTURE_NAME],
                      perfile_archive_options *options)
{
    struct stat sb;
    perfile_archive *archive;
    perfile_archive_capture capture;
    const char *path = file->path;
    if (strcmp(path, "-") == 0 || stat(path, &sb) != 0 ||
        (!S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode)))
        return;
    if (cli_archive_open(file, NULL, false, &archive, NULL) != PERFILE_OK) {
        name_of_file(path, name, options);
        return;
    }
    if (perfile_archive_capture_at(archive, file->capture ? file->capture : 1, &capture,
                                   sizeof capture, NULL) == PERFILE_OK) {
        if (capture.name && strlen(capture.name) < CLI_CAPTURE_NAME)
            options->name = strcpy(name, capture.name);
        options->modified = capture.modified == UINT64_MAX ? 0 : capture.modified;
    }
    perfile_archive_close(archive);
}

bool cli_archive_is_damaged(const pf_archive_summary *s)
{
    return s->head_damaged || s->gaps;
}

void cli_archive_print(const pf_archive_summary *s)
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
        cli_print(", DAMAGED in %" PRIu32 " place%s: %s belong to no chunk", s->gaps,
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

void cli_archive_json(const pf_archive_summary *s, const perfile_archive_capture *c)
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

bool cli_shell_input(const cli_file *file, char *out, size_t size)
{
    const int n = file->capture ? snprintf(out, size, "--source %" PRIu32 " ", file->capture) : 0;
    return n >= 0 && (size_t)n < size && cli_shell_file(file->path, out + n, size - (size_t)n);
}

/* Opens `file` if it is an archive of several captures that are separate inputs, and sets *n to
 * their number; else returns NULL.  Each capture is opened separately, which goes over all chunks.
 * So if there are too many captures, none is opened, and opening the file later reports that one
 * must be chosen. */
static perfile_archive *open_several(const cli_file *file, uint32_t *n)
{
    perfile_archive *a;
    pf_archive_summary sum;
    if (cli_archive_open(file, NULL, false, &a, NULL) != PERFILE_OK)
        return NULL;
    pf_archive_get_summary(a, &sum, sizeof sum);
    *n = sum.captures;
    if (sum.captures > 1 && sum.captures <= CLI_MOST_CAPTURES)
        return a;
    perfile_archive_close(a);
    return NULL;
}

/* Returns the name of capture `number` of `path` for messages, allocated.  `packed` is the name
 * under which it was packed, or NULL. */
static char *name_of_capture(const char *path, uint32_t number, const char *packed)
{
    enum { WORDS = 32 };
    const size_t size = strlen(path) + (packed ? strlen(packed) : 0) + WORDS;
    char *name = malloc(size);
    const int n = name ? snprintf(name, size, "%s, capture %" PRIu32, path, number) : 0;
    if (name && packed)
        snprintf(name + n, size - (size_t)n, " (%s)", packed);
    return name;
}

bool cli_add_input(const cli_file *file, bool each, cli_inputs *to)
{
    uint32_t n = 0;
    perfile_archive *a = each ? open_several(file, &n) : NULL;
    cli_file *more = realloc(to->at, (to->n + (a ? n : 1)) * sizeof *more);
    bool ok = more;
    to->at = more ? more : to->at;
    if (ok && !a)
        to->at[to->n++] = *file;
    for (uint32_t k = 1; a && k <= n && ok; k++) {
        perfile_archive_capture c = {0};
        if (perfile_archive_capture_at(a, k, &c, sizeof c, NULL) != PERFILE_OK)
            c.name = NULL;
        cli_file *one = &to->at[to->n];
        *one = *file;
        one->name = one->own_name = name_of_capture(file->path, k, c.name);
        one->capture = k;
        one->n_captures = n;
        ok = one->name;
        to->n += ok;
    }
    perfile_archive_close(a);
    return ok;
}
