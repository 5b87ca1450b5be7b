/* The check of what `convert --target` wrote (see target.h).
 *
 * What a version of perf cannot hold is dropped or rewritten while records pass, but not all that
 * it refuses is in a single record: the form of the file, features against events, what was damaged
 * before.  So the result is read once more, by the rules that `validate --for` has. */
#include "cli/convert/target.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/archive.h"
#include "cli/command.h"
#include "cli/input.h"
#include "perfile/check.h"

enum { MOST_MESSAGES = 8 };

typedef struct result {
    const char *path, *version;
    uint64_t errors, said;
} result;

static void on_finding(void *user, const perfile_finding *f)
{
    result *r = user;
    r->errors++;
    if (r->said++ < MOST_MESSAGES)
        cli_message("%s: %s: %s", r->path, perfile_rule_of(f->rule)->id, f->message);
}

static void on_reason(void *user, unsigned verdict, const char *sentence)
{
    result *r = user;
    if (verdict != PERFILE_VERDICT_READS && r->said++ < MOST_MESSAGES)
        cli_message("%s: perf %s %s", r->path, r->version, sentence);
}

/* Reads all records. */
static perfile_status read_to_end(perfile_stream *s, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    do
        st = perfile_stream_next_run(s, &first, &n, err);
    while (st == PERFILE_OK);
    return st;
}

/* Opens the file or directory, or a capture of an archive (0: it is none), as it was written:
 * --source and the like are about the input. */
static perfile_status open_result(const char *path, uint32_t capture, const perfile_limits *limits,
                                  perfile_stream **s, perfile_error *err)
{
    const perfile_source_options how = {.size = sizeof how, .limits = limits, .capture = capture};
    const perfile_open_options reading = {
        .size = sizeof reading, .deliver = PERFILE_DELIVER_DAMAGE, .limits = limits};
    perfile_source *source;
    perfile_status st = perfile_source_path(path, &how, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &reading, s, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

static int check_capture(result *r, uint32_t capture, const perfile_limits *limits)
{
    const perfile_check_options check = {
        .size = sizeof check, .finding = on_finding, .user = r, .severity = PERFILE_SEVERITY_ERROR};
    perfile_error err;
    perfile_stream *s = NULL;
    unsigned verdict = PERFILE_VERDICT_READS;
    perfile_status st = open_result(r->path, capture, limits, &s, &err);
    if (st == PERFILE_OK)
        st = perfile_check(s, &check, &s, &err);
    if (st == PERFILE_OK)
        st = read_to_end(s, &err);
    if (st >= 0)
        st = perfile_check_version(s, r->version, &verdict, on_reason, r, &err);
    if (st < 0)
        cli_report_error(r->path, &err);
    perfile_stream_close(s);
    return st < 0 || r->errors || verdict != PERFILE_VERDICT_READS ? CLI_DAMAGED : CLI_DONE;
}

uint32_t cli_captures_in(const char *path, const perfile_limits *limits)
{
    perfile_archive *a;
    perfile_archive_summary sum = {0};
    if (cli_archive_open(path, limits, false, &a, NULL) != PERFILE_OK)
        return 0;
    perfile_archive_get_summary(a, &sum, sizeof sum);
    perfile_archive_close(a);
    return sum.captures;
}

int cli_check_target(const char *path, const char *version, uint32_t before,
                     const perfile_limits *limits)
{
    static const char prefix[] = "perf-";
    const bool has_prefix = strncmp(version, prefix, sizeof prefix - 1) == 0;
    result r = {.path = path, .version = version + (has_prefix ? sizeof prefix - 1 : 0)};
    struct stat about;
    int status = CLI_DONE;
    if (stat(path, &about) != 0 || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)))
        return CLI_DONE; /* a pipe or device: its reader has the bytes already */
    const uint32_t captures = cli_captures_in(path, limits);
    if (!captures)
        return check_capture(&r, 0, limits);
    for (uint32_t i = before + 1; i <= captures; i++)
        status = cli_worse(status, check_capture(&r, i, limits));
    return status;
}
