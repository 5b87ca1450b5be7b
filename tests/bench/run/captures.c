/* The captures: recorded where `perf record` works, else made. */
#include "bench.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfile/perfile.h"

enum { SLICE_MEGABYTES = 20, HEADER_BYTES = 104 };

const char *const kind_names[N_KINDS] = {"flat", "chains", "tracepoints", "dwarf"};

/* How a kind is recorded: what the program does how often for one MiB. */
static const struct {
    const char *options[12];
    const char *load;
    double per_megabyte;
} recording[N_KINDS] = {
    {{"-e", "page-faults", "-c1", "-P", "-T", "--sample-cpu", "--sample-identifier"},
     "faults",
     1048576.0 / 56},
    {{"-e", "page-faults", "-c1", "-P", "-g"}, "faults", 1048576.0 / 152},
    {{"-e", "raw_syscalls:sys_enter", "-e", "sched:sched_switch", "--sample-identifier"},
     "calls",
     1048576.0 / 128},
    {{"-e", "page-faults", "-c1", "-P", "--call-graph", "dwarf"}, "faults", 1048576.0 / 8400},
};

static bool map(capture *c)
{
    struct stat sb;
    int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &sb) < 0 || sb.st_size < HEADER_BYTES) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    c->size = (size_t)sb.st_size;
    const uint8_t *p = mmap(NULL, c->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return false;
    c->bytes = p;
    uint64_t at, size;
    memcpy(&at, p + 40, sizeof at);
    memcpy(&size, p + 48, sizeof size);
    if (at > c->size || size > c->size - at) {
        captures_release(c);
        return false;
    }
    c->data = p + at;
    c->data_size = (size_t)size;
    c->n_records = limit_walk(c);
    return true;
}

void captures_cache(const char *path)
{
    static char block[1 << 20];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, block, sizeof block) > 0)
        continue;
    if (fd >= 0)
        close(fd);
}

void captures_ready(const capture *c)
{
    enum { PAGE = 4096 };
    static const char *const written[] = {COPY_SUFFIX, OUT_SUFFIX "*"};
    char pattern[sizeof c->path + 8];
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s%s", c->path, written[i]);
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                unlink(found.gl_pathv[k]);
        globfree(&found);
    }
    captures_cache(c->path);
    for (size_t i = 0; i < c->size; i += PAGE)
        (void)*(volatile const uint8_t *)(c->bytes + i);
}

void captures_release(capture *c)
{
    if (c->bytes) {
        void *p;
        memcpy(&p, &c->bytes, sizeof p);
        munmap(p, c->size);
    }
    c->bytes = NULL;
}

/* Whether the loops of hand.c can read it: one layout, the one they know. */
static bool fits(const capture *c)
{
    perfile_stream *s;
    if (perfile_open_path(c->path, NULL, &s, NULL) != PERFILE_OK)
        return false;
    const perfile_session *session = perfile_stream_session(s);
    bool good = perfile_session_n_events(session) > 0;
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++)
        if (perfile_session_event(session, i)->attr->sample_type != hand_sample_type[c->kind])
            good = false;
    perfile_stream_close(s);
    return good;
}

static void record(const capture *c, const char *tools, unsigned megabytes)
{
    char load[4096], n[32];
    const char *argv[32] = {"perf", "record", "-q", "-m", "16M", "-o", c->path};
    size_t at = 7;
    for (size_t i = 0; recording[c->kind].options[i]; i++)
        argv[at++] = recording[c->kind].options[i];
    snprintf(load, sizeof load, "%s/load", tools);
    snprintf(n, sizeof n, "%.0f", megabytes * recording[c->kind].per_megabyte);
    argv[at++] = load;
    argv[at++] = recording[c->kind].load;
    argv[at] = n;
    if (process_run(argv, NULL, false).ok)
        return;
    unlink(c->path);
}

/* Two processes at a time, so that what is written at once comes from two buffers. */
static bool record_rounds(const char *path, const char *tools, unsigned megabytes)
{
    char loads[3 * 2048];
    unsigned long n = (unsigned long)(megabytes * recording[FLAT].per_megabyte / 2) + 1;
    snprintf(loads, sizeof loads, "'%s/load' faults %lu & '%s/load' faults %lu; wait", tools, n,
             tools, n);
    const char *const argv[] = {
        "perf",        "record", "-q", "-m", "64M",          "-e",
        "page-faults", "-c1",    "-P", "-T", "--sample-cpu", "--sample-identifier",
        "-o",          path,     "sh", "-c", loads,          NULL};
    return process_run(argv, NULL, false).ok;
}

bool captures_make_rounds(const settings *set, bool sorted, capture *c)
{
    char plain[sizeof c->path];
    *c = (capture){.kind = FLAT};
    snprintf(plain, sizeof plain, "%s/rounds.data", set->dir);
    snprintf(c->path, sizeof c->path, "%s/%s.data", set->dir, sorted ? "rounds-sorted" : "rounds");
    if (map(c) && c->size >= (size_t)set->megabytes << 20)
        return true;
    captures_release(c);
    const char *const sort[] = {set->command, "sort", "-f", "-o", c->path, plain, NULL};
    bool made = sorted ? process_run(sort, NULL, false).ok
                       : record_rounds(c->path, set->tools, set->megabytes + set->megabytes / 8);
    return made && map(c);
}

static bool make(const capture *c, const char *tools, unsigned megabytes)
{
    char program[4096], n[32];
    snprintf(program, sizeof program, "%s/make_capture", tools);
    snprintf(n, sizeof n, "%u", megabytes);
    const char *argv[] = {program, kind_names[c->kind], n, c->path, NULL};
    return process_run(argv, NULL, false).ok;
}

bool captures_make(const char *dir, const char *tools, unsigned kind, unsigned megabytes,
                   bool slice, capture *c)
{
    *c = (capture){.kind = kind};
    if (slice && megabytes > SLICE_MEGABYTES)
        megabytes = SLICE_MEGABYTES;
    snprintf(c->path, sizeof c->path, "%s/%s%s.data", dir, kind_names[kind], slice ? "-slice" : "");
    size_t least = (size_t)megabytes << 20;
    if (map(c) && c->size >= least)
        return true;
    captures_release(c);
    for (unsigned times = 1; times <= 4; times *= 2) { /* records may have been lost, or smaller */
        record(c, tools, megabytes * times);
        if (!map(c))
            break;
        if (fits(c) && c->size >= least)
            return true;
        captures_release(c);
    }
    return make(c, tools, megabytes + 1) && map(c);
}

const char *const form_names[N_FORMS] = {"pipe", "zstd", "pipe-zstd"};

bool captures_make_form(const char *tools, const capture *c, unsigned form, char *path)
{
    struct stat of, there;
    char program[4096];
    int stem = (int)(strlen(c->path) - strlen(".data"));
    snprintf(program, sizeof program, "%s/make_form", tools);
    int n = snprintf(path, sizeof c->path, "%.*s-%s.data", stem, c->path, form_names[form]);
    if (n < 0 || (size_t)n >= sizeof c->path || stat(c->path, &of) < 0)
        return false;
    if (stat(path, &there) == 0 && there.st_mtime >= of.st_mtime)
        return true;
    const char *argv[] = {program, form_names[form], c->path, path, NULL};
    if (process_run(argv, NULL, false).ok)
        return true;
    unlink(path);
    return false;
}
