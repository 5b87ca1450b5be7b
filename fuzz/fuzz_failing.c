/* A call fails while a capture is read and written: the n-th allocation, the n-th read, seek or
 * write in a caller's callbacks, or the n-th system call.  Then the result is that error, nothing
 * stays open, and no file is left.  Or the failure did not matter, and the result is the same as
 * without it. */
#include <stdarg.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "operations.h"
#include "scratch.h"

enum { FAIL_NOTHING, FAIL_MEMORY, FAIL_INPUT_OUTPUT };
enum { FROM_MEMORY, FROM_PIPE, FROM_SEEKABLE, FROM_FILE, FROM_WINDOW, FROM_SEQUENCE, FROM_KINDS };
enum { TO_MEMORY, TO_CALLBACK, TO_FILE, TO_DIRECTORY, TO_KINDS };

/* The kind of call that fails, and how many there were. */
static struct {
    unsigned what; /* FAIL_… */
    uint64_t at;   /* number of the failing call, starting with 1; 0 for none */
    uint64_t count;
    int sys;
    bool map; /* the failing call maps a file */
} failing;

static bool fails(void)
{
    if (failing.what != FAIL_INPUT_OUTPUT || ++failing.count != failing.at)
        return false;
    errno = failing.sys;
    return true;
}

/* System calls.  Those that undo something (close, unlink, munmap) do not fail: no caller could
 * react. */
#define FAILS(type, name, parameters, arguments, failure)                                          \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        if (fails())                                                                               \
            return failure;                                                                        \
        return __real_##name arguments;                                                            \
    }

FAILS(int, fstat64, (int fd, struct stat *st), (fd, st), -1)
FAILS(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
FAILS(int, mkstemp64, (char *path), (path), -1)
FAILS(int, rename, (const char *from, const char *to), (from, to), -1)
FAILS(ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n), -1)
FAILS(ssize_t, pread64, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), -1)
FAILS(ssize_t, write, (int fd, const void *buf, size_t n), (fd, buf, n), -1)
FAILS(ssize_t, pwrite64, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at), -1)

void *__real_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset);

void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    if (!fails())
        return __real_mmap64(at, n, prot, flags, fd, offset);
    failing.map = true;
    return MAP_FAILED;
}

/* Syncing to disk is not needed here. */
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    (void)fd;
    return fails() ? -1 : 0;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

int __wrap_open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    return fails() ? -1 : __real_open64(path, flags, mode);
}

/* Callbacks of a caller. */
typedef struct caller {
    perfile_bytes in;
    size_t at, most;
    uint64_t written; /* hash of the written bytes */
} caller;

static int64_t on_read(void *user, void *buf, size_t len)
{
    caller *c = user;
    size_t n = len < c->most ? len : c->most;
    if (fails())
        return -failing.sys;
    if (n > c->in.len - c->at)
        n = c->in.len - c->at;
    if (n)
        memcpy(buf, c->in.ptr + c->at, n);
    c->at += n;
    return (int64_t)n;
}

static int on_seek(void *user, uint64_t offset)
{
    caller *c = user;
    if (fails())
        return -failing.sys;
    if (offset > c->in.len)
        return -EINVAL;
    c->at = (size_t)offset;
    return 0;
}

static int64_t on_write(void *user, const void *bytes, size_t len)
{
    caller *c = user;
    size_t n = len < c->most ? len : c->most;
    if (fails())
        return -failing.sys;
    c->written = scratch_mix(c->written, bytes, n);
    return (int64_t)n;
}

static int on_flush(void *user)
{
    (void)user;
    return fails() ? -failing.sys : 0;
}

typedef struct attempt {
    operation operation;
    unsigned from, to;
    size_t most; /* maximum of bytes that a callback reads or writes */
} attempt;

typedef struct outcome {
    perfile_status st;
    int sys;
    uint64_t hash;      /* hash of the output */
    uint64_t count, at; /* number of calls that may fail, and the one that did */
    bool made;          /* a file or directory was made */
    char message[sizeof((perfile_error *)0)->message];
} outcome;

static perfile_status open_source(const attempt *a, caller *c, perfile_source **source,
                                  perfile_error *err)
{
    perfile_source_options how = {.size = sizeof how, .limits = &small_limits};
    perfile_source_callbacks callbacks = {
        .size = sizeof callbacks, .user = c, .read = on_read, .total = c->in.len};
    char path[600];
    switch (a->from) {
    case FROM_MEMORY:
        return perfile_source_memory(c->in, "memory", source, err);
    case FROM_SEEKABLE:
        callbacks.seek = on_seek;
        return perfile_source_callback(&callbacks, "callbacks", &how, source, err);
    case FROM_PIPE:
        callbacks.total = 0;
        return perfile_source_callback(&callbacks, "callbacks", &how, source, err);
    default:
        how.flags = a->from == FROM_WINDOW     ? PERFILE_SOURCE_NO_MAP
                    : a->from == FROM_SEQUENCE ? PERFILE_SOURCE_SEQUENTIAL
                                               : 0;
        snprintf(path, sizeof path, "%s/in", scratch_path);
        return perfile_source_path(path, &how, source, err);
    }
}

static perfile_status open_sink(const attempt *a, caller *c, perfile_sink **sink,
                                perfile_error *err)
{
    perfile_sink_options how = {.size = sizeof how};
    perfile_sink_callbacks callbacks = {
        .size = sizeof callbacks, .user = c, .write = on_write, .flush = on_flush};
    char path[600];
    snprintf(path, sizeof path, "%s/out", scratch_path);
    switch (a->to) {
    case TO_MEMORY:
        return perfile_sink_memory("memory", sink, err);
    case TO_CALLBACK:
        return perfile_sink_callback(&callbacks, "callbacks", sink, err);
    case TO_FILE:
        how.flags = a->most % 2 ? PERFILE_SINK_SYNC : 0;
        return perfile_sink_path(path, &how, sink, err);
    default:
        return perfile_sink_directory(path, &how, sink, err);
    }
}

static void collect_entry(int folder, const char *name, void *user)
{
    outcome *o = user;
    scratch_entry e;
    if (strcmp(name, "in") == 0)
        return;
    ENSURE(scratch_find(name, &e));
    o->made = true;
    o->hash += e.hash;
    scratch_unlink(folder, name, NULL);
}

/* Hashes all output, wherever it is.  Then the directory is empty again except for the input. */
static void collect(outcome *o, const caller *c, const perfile_sink *sink)
{
    perfile_bytes b = sink ? perfile_sink_bytes(sink) : (perfile_bytes){0};
    o->hash = scratch_mix(c->written, b.ptr, b.len);
    scratch_each(scratch_fd, collect_entry, o);
}

static void try(const attempt *a, perfile_bytes in, unsigned what, uint64_t at, outcome *o)
{
    caller c = {.in = in, .most = a->most};
    perfile_error err = {0};
    perfile_source *source = NULL;
    perfile_sink *sink = NULL;
    int descriptor = scratch_descriptor();
    *o = (outcome){0};
    o->at = at;
    failing.what = what;
    failing.at = what == FAIL_INPUT_OUTPUT ? at : 0;
    failing.count = 0;
    failing.map = false;
    pf_alloc_count = 0;
    pf_alloc_fail_at = what == FAIL_MEMORY ? at : 0;
    o->st = open_sink(a, &c, &sink, &err);
    if (o->st == PERFILE_OK)
        o->st = open_source(a, &c, &source, &err);
    if (o->st == PERFILE_OK)
        o->st = operate(&a->operation, source, sink, &err);
    o->count = what == FAIL_MEMORY ? pf_alloc_count : failing.count;
    pf_alloc_fail_at = 0;
    failing.what = FAIL_NOTHING;
    o->sys = err.sys;
    snprintf(o->message, sizeof o->message, "%s", err.message);
    if (o->st != PERFILE_OK)
        ENSURE(err.status == o->st && err.where && err.message[0]);
    /* After a failure the contents of a memory sink are meaningless. */
    perfile_sink *finished = o->st == PERFILE_OK ? sink : NULL;
    if (finished && a->to == TO_MEMORY) {
        collect(o, &c, finished);
        perfile_sink_close(sink);
    } else {
        perfile_sink_close(sink);
        collect(o, &c, NULL);
    }
    ENSURE(scratch_descriptor() == descriptor);
}

static bool is_same(const outcome *a, const outcome *b)
{
    return a->st == b->st && (a->st != PERFILE_OK || (a->hash == b->hash && a->made == b->made));
}

static void compare(const attempt *a, const outcome *clean, const outcome *failed, unsigned what)
{
    bool told = what == FAIL_MEMORY ? failed->st == PERFILE_E_NOMEM
                                    : failed->st == PERFILE_E_IO && failed->sys == failing.sys;
    /* A file that cannot be mapped is read through a window, with which recover guesses less. */
    if (failing.map && a->operation.what == OPERATION_RECOVER)
        return;
    if (!told && !is_same(clean, failed))
        fprintf(stderr,
                "operation %u (variant %u) from %u to %u: status %d without, %d with the failure "
                "of %s %llu of %llu: %s (%d %016llx, %d %016llx)\n",
                a->operation.what, a->operation.variant, a->from, a->to, clean->st, failed->st,
                what == FAIL_MEMORY ? "allocation" : "call", (unsigned long long)failed->at,
                (unsigned long long)clean->count, failed->message, clean->made,
                (unsigned long long)clean->hash, failed->made, (unsigned long long)failed->hash);
    ENSURE(told || is_same(clean, failed));
    ENSURE(failed->st == PERFILE_OK || !failed->made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int errors[] = {EIO, ENOSPC, EACCES, EMFILE};
    choices c = {data, size};
    char pattern[600];
    attempt a = {0};
    uint64_t chosen = choose(&c, 4);
    uint64_t nth = choose(&c, 2);
    unsigned what = chosen & 1 ? FAIL_MEMORY : FAIL_INPUT_OUTPUT;
    outcome clean, failed;
    scratch_begin();
    snprintf(pattern, sizeof pattern, "%s/part-%%d", scratch_path);
    failing.sys = errors[chosen >> 1 & 3];
    a.operation =
        (operation){.what = (unsigned)(chosen >> 3 & 31) % OPERATIONS,
                    .variant = (unsigned)(chosen >> 8 & 255),
                    .on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 16 & 3) % 3,
                    .pattern = pattern};
    a.from = (unsigned)(chosen >> 18 & 7) % FROM_KINDS;
    a.to = (unsigned)(chosen >> 21 & 7) % TO_KINDS;
    a.most = 1 + (size_t)(chosen >> 24 & 255) * 16;
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    perfile_bytes in = {block, c.left};
    if (a.from >= FROM_FILE)
        scratch_put(scratch_fd, "in", in);
    try(&a, in, what, 0, &clean);
    if (clean.count) {
        try(&a, in, what, 1 + nth % clean.count, &failed);
        compare(&a, &clean, &failed, what);
    }
    free(block);
    return 0;
}
