/* Sources: every kind gives the same bytes, however they arrive. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/options.h"
#include "io/source.h"
#include "random.h"
#include "io/command.h"

#define N 3000000u

/* Puts the spooled source in the place of a stream; a seekable one stays. */
static perfile_status spool_in_place(perfile_source **s, perfile_error *err)
{
    perfile_source *spooled;
    if ((*s)->seekable)
        return PERFILE_OK;
    perfile_status st = pf_source_spool(*s, &spooled, err);
    if (st == PERFILE_OK) {
        perfile_source_close(*s);
        *s = spooled;
    }
    return st;
}

static uint8_t *data; /* N bytes that differ from place to place */

static int setup(void **state)
{
    (void)state;
    data = malloc(N);
    for (size_t i = 0; i < N; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    return data ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(data);
    return 0;
}

static void put_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Reads all of `s` in steps of random size, looking at every byte of every step. */
static void read_all(perfile_source *s, uint64_t total)
{
    perfile_error err;
    uint64_t at = 0;
    for (;;) {
        size_t need = 1 + random_below(random_below(8) ? 200 : 200000);
        perfile_bytes run;
        if (pf_source_run(s, at, need, &run, &err) != PERFILE_OK)
            fail_msg("at %llu: %s", (unsigned long long)at, err.message);
        if (run.len < need) {
            assert_int_equal(at + run.len, total);
            assert_int_equal(s->size, total);
        }
        assert_true(at + run.len <= total);
        assert_true(run.len == 0 || memcmp(run.ptr, data + at, run.len) == 0);
        if (run.len == 0)
            break;
        at += run.len < need ? run.len : need;
    }
    assert_int_equal(at, total);
}

static void random_access(perfile_source *s, uint64_t total)
{
    assert_true(s->seekable);
    for (int i = 0; i < 300; i++) {
        uint64_t at = random_below((uint32_t)total + 1000);
        size_t need = random_below(5000);
        uint64_t left = at < total ? total - at : 0;
        perfile_bytes run;
        assert_int_equal(pf_source_run(s, at, need, &run, NULL), PERFILE_OK);
        assert_true(run.len >= (need < left ? need : left) && run.len <= left);
        assert_true(run.len == 0 || memcmp(run.ptr, data + at, run.len) == 0);
    }
    perfile_bytes run;
    assert_int_equal(pf_source_run(s, UINT64_MAX, SIZE_MAX, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 0);
}

static void files(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, N};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint32_t flags = 0; flags < 2; flags++) {
            put_file("file", data, sizes[i]);
            perfile_source_options o = {.size = sizeof o, .flags = flags};
            perfile_source *s;
            assert_int_equal(perfile_source_path("file", &o, &s, NULL), PERFILE_OK);
            assert_string_equal(pf_source_name(s), "file");
            assert_int_equal(s->size, sizes[i]);
            assert_true(s->stable == (!flags || !sizes[i]));
            read_all(s, sizes[i]);
            random_access(s, sizes[i]);
            assert_int_equal(spool_in_place(&s, NULL), PERFILE_OK); /* nothing to do */
            perfile_source_close(s);
        }
    }
}

static void file_position_of_a_descriptor_does_not_matter(void **state)
{
    (void)state;
    put_file("file", data, 5000);
    for (uint32_t flags = 0; flags < 2; flags++) {
        int fd = open("file", O_RDONLY);
        assert_int_equal(lseek(fd, 3000, SEEK_SET), 3000);
        perfile_source_options o = {.size = sizeof o, .flags = flags};
        perfile_source *s;
        assert_int_equal(perfile_source_fd(fd, "x", &o, &s, NULL), PERFILE_OK);
        read_all(s, 5000);
        perfile_source_close(s);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 3000);
        assert_int_equal(close(fd), 0); /* still the caller's */
    }
}

static void a_file_cut_while_it_is_read_ends(void **state)
{
    (void)state;
    put_file("file", data, N);
    perfile_source_options o = {.size = sizeof o, .flags = PERFILE_SOURCE_NO_MAP};
    perfile_source *s;
    assert_int_equal(perfile_source_path("file", &o, &s, NULL), PERFILE_OK);
    assert_int_equal(truncate("file", 2000000), 0);
    read_all(s, 2000000);
    perfile_source_close(s);

    /* What may be looked at in a mapping, too, fails. */
    o.flags = PERFILE_SOURCE_SEQUENTIAL;
    perfile_bytes run;
    perfile_error err;
    assert_int_equal(perfile_source_path("file", &o, &s, NULL), PERFILE_OK);
    assert_int_equal(truncate("file", 1000000), 0);
    assert_int_equal(pf_source_run(s, 999990, 20, &run, &err), PERFILE_E_IO);
    assert_non_null(strstr(err.message, "was cut while it was read"));
    perfile_source_close(s);
}

static void a_file_is_read_in_sequence_and_mapped_beside(void **state)
{
    (void)state;
    enum { LIMIT = 5000 };
    const perfile_limits small = {.size = sizeof small, .window_bytes = LIMIT};
    perfile_source_options o = {.size = sizeof o, .flags = PERFILE_SOURCE_SEQUENTIAL};
    perfile_source *s;
    perfile_bytes run, view;
    put_file("file", data, N);
    for (int limited = 0; limited < 2; limited++) {
        o.limits = limited ? &small : NULL;
        assert_int_equal(perfile_source_path("file", &o, &s, NULL), PERFILE_OK);
        assert_false(s->stable);
        assert_true(s->lasting);
        assert_int_equal(pf_source_view(s, 100, 1, &view, NULL), PERFILE_OK);
        assert_int_equal(view.len, N - 100);
        if (!limited)
            read_all(s, N);
        random_access(s, N);
        /* Longer than the window: out of the mapping. */
        assert_int_equal(pf_source_run(s, 7, N - 7, &run, NULL), PERFILE_OK);
        assert_int_equal(run.len, N - 7);
        assert_memory_equal(run.ptr, data + 7, N - 7);
        assert_int_equal(pf_source_view(s, N, 1, &run, NULL), PERFILE_OK);
        assert_int_equal(run.len, 0);
        assert_memory_equal(view.ptr, data + 100, N - 100);
        perfile_source_close(s);
    }
}

/* Two that read the same file at places near each other do not take it in turns to read it anew. */
static void the_window_goes_back_over_what_it_has(void **state)
{
    (void)state;
    perfile_source_options o = {.size = sizeof o, .flags = PERFILE_SOURCE_SEQUENTIAL};
    perfile_source *s;
    perfile_bytes run;
    put_file("file", data, 10000);
    assert_int_equal(perfile_source_path("file", &o, &s, NULL), PERFILE_OK);
    assert_int_equal(pf_source_run(s, 0, 1, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 10000);
    assert_int_equal(pf_source_run(s, 4000, 1, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 6000);
    int fd = open("file", O_WRONLY);
    assert_int_equal(pwrite(fd, "other bytes", 11, 1000), 11);
    assert_int_equal(close(fd), 0);
    assert_int_equal(pf_source_run(s, 900, 1, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 9100);
    assert_memory_equal(run.ptr, data + 900, 9100);
    assert_int_equal(pf_source_run(s, 10000, 1, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 0);
    perfile_source_close(s);
}

static void a_large_sparse_file_maps(void **state)
{
    (void)state;
    const off_t size = (off_t)20 << 30;
    int fd = open("sparse", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (sizeof(size_t) < 8 || ftruncate(fd, size) < 0) {
        close(fd);
        skip();
    }
    assert_int_equal(pwrite(fd, "end", 3, size - 3), 3);
    perfile_source *s;
    assert_int_equal(perfile_source_fd(fd, "sparse", NULL, &s, NULL), PERFILE_OK);
    assert_true(s->stable);
    perfile_bytes run;
    assert_int_equal(pf_source_run(s, (uint64_t)size - 3, 3, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 3);
    assert_memory_equal(run.ptr, "end", 3);
    perfile_source_close(s);
    close(fd);
    unlink("sparse");
}

static void memory(void **state)
{
    (void)state;
    perfile_source *s;
    assert_int_equal(perfile_source_memory((perfile_bytes){data, N}, "m", &s, NULL), PERFILE_OK);
    assert_true(s->stable);
    read_all(s, N);
    random_access(s, N);
    perfile_source_close(s);
    assert_int_equal(perfile_source_memory((perfile_bytes){NULL, 0}, NULL, &s, NULL), PERFILE_OK);
    read_all(s, 0);
    perfile_source_close(s);
    assert_int_equal(perfile_source_memory((perfile_bytes){NULL, 1}, NULL, &s, NULL),
                     PERFILE_E_USAGE);
}

static volatile sig_atomic_t interruptions;

static void interrupted(int signal_number)
{
    (void)signal_number;
    interruptions++;
}

/* Every `usec` microseconds a signal that makes system calls fail with EINTR; 0 ends that. */
static void interrupt_every(suseconds_t usec)
{
    struct sigaction sa = {.sa_handler = interrupted}; /* no SA_RESTART */
    assert_int_equal(sigaction(SIGALRM, &sa, NULL), 0);
    struct itimerval t = {.it_interval = {0, usec}, .it_value = {0, usec}};
    assert_int_equal(setitimer(ITIMER_REAL, &t, NULL), 0);
    if (!usec)
        assert_true(signal(SIGALRM, SIG_DFL) != SIG_ERR);
}

/* A child that writes the data in pieces of random size, some of them late. */
static pid_t writer(int out, size_t total, uint32_t most)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid)
        return pid;
    for (size_t at = 0; at < total;) {
        size_t n = 1 + random_below(most);
        if (n > total - at)
            n = total - at;
        ssize_t w = write(out, data + at, n);
        if (w < 0)
            _exit(1);
        at += (size_t)w;
        if (random_below(100) == 0)
            usleep(200);
    }
    _exit(0);
}

static void pipes(void **state)
{
    (void)state;
    static const uint32_t most[] = {7, 300, 5000, 70000, 1000000};
    for (uint32_t i = 0; i < 2 * sizeof most / sizeof most[0]; i++) {
        int p[2];
        assert_int_equal(pipe(p), 0);
        size_t total = i < 2 ? 100000 : N;
        pid_t pid = writer(p[1], total, most[i / 2]);
        close(p[1]);
        if (i & 1)
            assert_int_equal(fcntl(p[0], F_SETFL, O_NONBLOCK), 0);
        perfile_source *s;
        assert_int_equal(perfile_source_fd(p[0], "pipe", NULL, &s, NULL), PERFILE_OK);
        assert_false(s->seekable);
        interrupt_every(100);
        read_all(s, total);
        interrupt_every(0);
        perfile_bytes run;
        assert_int_equal(pf_source_run(s, total + 9, 1, &run, NULL), PERFILE_OK);
        assert_int_equal(run.len, 0);
        perfile_source_close(s);
        close(p[0]);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    assert_true(interruptions > 0);
}

/* The writer stays; a source that waits for more than it needs hangs here until the alarm. */
static void a_live_pipe_gives_what_has_arrived(void **state)
{
    (void)state;
    int p[2];
    assert_int_equal(pipe(p), 0);
    perfile_source *s;
    assert_int_equal(perfile_source_fd(p[0], "pipe", NULL, &s, NULL), PERFILE_OK);
    alarm(20);
    perfile_bytes run;
    assert_int_equal(write(p[1], data, 100), 100);
    assert_int_equal(pf_source_run(s, 0, 8, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 100); /* all that one read gave */
    assert_int_equal(pf_source_run(s, 60, 40, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 40);
    assert_int_equal(pf_source_run(s, 100, 0, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 0);
    assert_int_equal(write(p[1], data + 100, 50), 50);
    assert_int_equal(pf_source_run(s, 120, 30, &run, NULL), PERFILE_OK); /* skips 20 */
    assert_int_equal(run.len, 30);
    assert_memory_equal(run.ptr, data + 120, 30);
    alarm(0);
    assert_int_equal(s->size, PF_SIZE_UNKNOWN);

    perfile_error err;
    assert_int_equal(pf_source_run(s, 119, 1, &run, &err), PERFILE_E_USAGE);
    assert_non_null(strstr(err.message, "119"));
    close(p[1]);
    assert_int_equal(pf_source_run(s, 120, 31, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, 30);
    assert_int_equal(s->size, 150);
    perfile_source_close(s);
    close(p[0]);
}

static void an_endless_device_is_read_as_asked(void **state)
{
    (void)state;
    perfile_source *s;
    assert_int_equal(perfile_source_path("/dev/zero", NULL, &s, NULL), PERFILE_OK);
    perfile_bytes run;
    assert_int_equal(pf_source_run(s, 0, 1000, &run, NULL), PERFILE_OK);
    assert_true(run.len >= 1000 && run.len <= 1 << 20);
    assert_int_equal(pf_source_run(s, 10000000, 5000000, &run, NULL), PERFILE_OK);
    assert_true(run.len >= 5000000 && run.len <= 10 << 20);
    perfile_source_close(s);

    perfile_limits l = {.size = sizeof l, .spool_bytes = 3000000};
    perfile_source_options o = {.size = sizeof o, .limits = &l};
    assert_int_equal(perfile_source_path("/dev/zero", &o, &s, NULL), PERFILE_OK);
    perfile_error err;
    assert_int_equal(spool_in_place(&s, &err), PERFILE_E_LIMIT);
    assert_string_equal(err.where, "spool_bytes");
    perfile_source_close(s);
}

typedef struct drip {
    size_t at, total;
    size_t most; /* bytes at a time */
    int closed;
    int64_t fail_with;
} drip;

static int64_t drip_read(void *user, void *buf, size_t len)
{
    drip *d = user;
    if (d->fail_with && d->at >= d->total / 2)
        return d->fail_with;
    size_t n = 1 + random_below((uint32_t)d->most);
    if (n > len)
        n = len;
    if (n > d->total - d->at)
        n = d->total - d->at;
    memcpy(buf, data + d->at, n);
    d->at += n;
    return (int64_t)n;
}

static int drip_seek(void *user, uint64_t offset)
{
    drip *d = user;
    if (offset > d->total)
        return -EINVAL;
    d->at = (size_t)offset;
    return 0;
}

static void drip_close(void *user)
{
    ((drip *)user)->closed++;
}

static void callbacks(void **state)
{
    (void)state;
    drip d = {.total = 300000, .most = 7};
    perfile_source_callbacks c = {
        .size = sizeof c, .user = &d, .read = drip_read, .close = drip_close};
    perfile_source *s;
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    read_all(s, d.total);
    perfile_source_close(s);
    assert_int_equal(d.closed, 1);

    d = (drip){.at = 77, .total = 300000, .most = 5000};
    c.seek = drip_seek;
    c.total = d.total;
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    assert_true(s->seekable);
    assert_int_equal(s->size, d.total);
    read_all(s, d.total);
    random_access(s, d.total);
    perfile_source_close(s);

    c.seek = NULL;
    c.size = offsetof(perfile_source_callbacks, seek); /* an older header: no close either */
    /* A program that wants to stop says so once. */
    d = (drip){.total = 1000, .most = 7, .fail_with = -EINTR};
    perfile_error interrupted;
    perfile_bytes part;
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(pf_source_run(s, 0, 1000, &part, &interrupted), PERFILE_E_IO);
    assert_int_equal(interrupted.sys, EINTR);
    perfile_source_close(s);

    d = (drip){.total = 1000, .most = 7, .fail_with = -EIO};
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    perfile_error err;
    perfile_bytes run;
    assert_int_equal(pf_source_run(s, 0, 1000, &run, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EIO);
    assert_true(err.offset >= 500 && err.offset < 510);
    assert_int_equal(pf_source_run(s, 0, 400, &run, &err), PERFILE_OK);
    assert_true(run.len >= 500 && memcmp(run.ptr, data, run.len) == 0);
    perfile_source_close(s);
    assert_int_equal(d.closed, 0);

    d = (drip){.total = 1000, .most = 7, .fail_with = INT64_MAX};
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(pf_source_run(s, 0, 1000, &run, &err), PERFILE_E_USAGE);
    perfile_source_close(s);
    d.fail_with = INT64_MIN;
    d.at = 0;
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(pf_source_run(s, 0, 1000, &run, &err), PERFILE_E_IO);
    perfile_source_close(s);
}

static void the_window_has_a_limit(void **state)
{
    (void)state;
    perfile_limits l = {.size = sizeof l, .window_bytes = 5000};
    perfile_source_options o = {.size = sizeof o, .flags = PERFILE_SOURCE_NO_MAP, .limits = &l};
    drip d = {.total = 100000, .most = 100};
    perfile_source_callbacks c = {.size = sizeof c, .user = &d, .read = drip_read};
    perfile_source *s;
    perfile_bytes run;
    perfile_error err;
    assert_int_equal(perfile_source_callback(&c, "drip", &o, &s, NULL), PERFILE_OK);
    for (size_t at = 0; at + 5000 <= 100000; at += 1 + random_below(7000)) {
        assert_int_equal(pf_source_run(s, at, 5001, &run, &err), PERFILE_E_LIMIT);
        assert_string_equal(err.where, "window_bytes");
        assert_int_equal(err.offset, at);
        assert_int_equal(pf_source_run(s, at, 5000, &run, &err), PERFILE_OK);
        assert_int_equal(run.len, 5000);
        assert_memory_equal(run.ptr, data + at, 5000);
    }
    perfile_source_close(s);

    put_file("file", data, 6000);
    assert_int_equal(perfile_source_path("file", &o, &s, NULL), PERFILE_OK);
    assert_int_equal(pf_source_run(s, 0, 5001, &run, &err), PERFILE_E_LIMIT);
    assert_int_equal(pf_source_run(s, 1000, 9999, &run, &err), PERFILE_OK); /* all that is there */
    assert_int_equal(run.len, 5000);
    perfile_source_close(s);
}

/* A promise of 64 MiB costs nothing while the bytes do not come. */
static void memory_grows_with_what_arrives(void **state)
{
    (void)state;
    drip d = {.total = 1500000, .most = 100000};
    perfile_source_callbacks c = {.size = sizeof c, .user = &d, .read = drip_read};
    perfile_source *s;
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    uint64_t before = pf_alloc_count;
    perfile_bytes run;
    assert_int_equal(pf_source_run(s, 0, 60 << 20, &run, NULL), PERFILE_OK);
    assert_int_equal(run.len, d.total);
    assert_int_equal(pf_alloc_count - before, 2); /* 1 MiB, 2 MiB */
    perfile_source_close(s);
}

static void spool(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags < 2; flags++) {
        perfile_source_options o = {.size = sizeof o, .flags = flags};
        int p[2];
        assert_int_equal(pipe(p), 0);
        pid_t pid = writer(p[1], N, 50000);
        close(p[1]);
        perfile_source *s;
        assert_int_equal(perfile_source_fd(p[0], "pipe", &o, &s, NULL), PERFILE_OK);
        perfile_bytes run;
        assert_int_equal(pf_source_run(s, 0, 104, &run, NULL), PERFILE_OK); /* a peek is allowed */
        assert_int_equal(spool_in_place(&s, NULL), PERFILE_OK);
        assert_string_equal(pf_source_name(s), "pipe");
        assert_int_equal(s->size, N);
        assert_true(s->stable == !flags);
        read_all(s, N);
        random_access(s, N);
        perfile_source_close(s);
        close(p[0]);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }

    drip d = {.total = 1000, .most = 10};
    perfile_source_callbacks c = {.size = sizeof c, .user = &d, .read = drip_read};
    perfile_source *s;
    perfile_bytes run;
    perfile_error err;
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(pf_source_run(s, 1, 1, &run, NULL), PERFILE_OK);
    assert_int_equal(spool_in_place(&s, &err), PERFILE_E_USAGE); /* offset 0 is gone */
    perfile_source_close(s);

    d.at = 0;
    assert_int_equal(perfile_source_callback(&c, "drip", NULL, &s, NULL), PERFILE_OK);
    const char *tmp = getenv("TMPDIR");
    char *kept = tmp ? strdup(tmp) : NULL;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    assert_int_equal(spool_in_place(&s, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, ENOENT);
    assert_non_null(strstr(err.message, "/nowhere/at/all"));
    if (kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
    assert_int_equal(spool_in_place(&s, &err), PERFILE_OK); /* nothing had been read */
    read_all(s, 1000);
    perfile_source_close(s);
}

static void directories(void **state)
{
    (void)state;
    static const char *const names[] = {
        "data",     "data.0", "data.1", "data.2", "data.10", "data.02", "data.99999999999999999999",
        "data.old", "other"};
    assert_int_equal(system("rm -rf dir && mkdir -p dir/data.7"), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "dir/%s", names[i]);
        put_file(path, data, 100 * (i + 1));
    }
    assert_int_equal(mkfifo("dir/data.fifo", 0600), 0);
    assert_int_equal(symlink("data.loop", "dir/data.loop"), 0);
    assert_int_equal(symlink("data.1", "dir/data.link"), 0);

    perfile_source *s, *e;
    perfile_error err;
    assert_int_equal(perfile_source_path("dir/", NULL, &s, NULL), PERFILE_OK);
    assert_true(pf_source_has_entries(s));
    char **list;
    size_t n;
    assert_int_equal(pf_source_list(s, "data.", &list, &n, NULL), PERFILE_OK);
    static const char *const want[] = {"data.0",    "data.1",    "data.02",
                                       "data.2",    "data.10",   "data.99999999999999999999",
                                       "data.link", "data.loop", "data.old"};
    assert_int_equal(n, sizeof want / sizeof want[0]);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(list[i], want[i]);
    pf_free(list);
    assert_int_equal(pf_source_list(s, "nothing", &list, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 0);
    pf_free(list);

    assert_int_equal(pf_source_entry(s, "data.2", &e, NULL), PERFILE_OK);
    assert_string_equal(pf_source_name(e), "dir/data.2");
    read_all(e, 400);
    assert_int_equal(pf_source_list(e, "", &list, &n, &err), PERFILE_E_USAGE);
    perfile_source_close(e);
    assert_int_equal(pf_source_entry(s, "missing", &e, &err), PERFILE_E_IO);
    assert_string_equal(err.message, "cannot open 'dir/missing': No such file or directory");
    assert_int_equal(pf_source_entry(s, "data.loop", &e, &err), PERFILE_E_UNSUPPORTED);
    assert_int_equal(pf_source_entry(s, "data.link", &e, &err), PERFILE_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'dir/data.link' is a symbolic link"));
    assert_int_equal(pf_source_entry(s, "data.fifo", &e, &err), PERFILE_E_UNSUPPORTED);
    assert_int_equal(pf_source_entry(s, "data.7", &e, &err), PERFILE_E_UNSUPPORTED);
    assert_int_equal(pf_source_entry(s, "..", &e, &err), PERFILE_E_USAGE);
    assert_int_equal(pf_source_entry(s, "../file", &e, &err), PERFILE_E_USAGE);
    assert_int_equal(pf_source_entry(s, "", &e, &err), PERFILE_E_USAGE);
    perfile_bytes run;
    assert_int_equal(pf_source_run(s, 0, 1, &run, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EISDIR);
    assert_int_equal(pf_source_spool(s, &e, &err), PERFILE_E_IO);
    perfile_source_close(s);
}

/* Files that are given one by one: entries in that order, by their names without folders. */
static void several_files(void **state)
{
    (void)state;
    static const char *const paths[] = {"given/b/two", "given/a/one", "given/three"};
    static const char *const names[] = {"two", "one", "three"};
    static const char *const same[] = {"given/b/two", "given/a/two"};
    static const char *const in[] = {"given/three", "-"};
    assert_int_equal(system("rm -rf given && mkdir -p given/a given/b"), 0);
    for (size_t i = 0; i < 3; i++)
        put_file(paths[i], data, 10 * (i + 1));
    perfile_source *s, *again, *e;
    perfile_error err;
    char **list;
    size_t n;
    assert_int_equal(pf_source_files(paths, 3, NULL, &s, NULL), PERFILE_OK);
    assert_true(pf_source_has_entries(s) && pf_source_is_directory(s));
    assert_int_equal(pf_source_again(s, &again, NULL), PERFILE_OK);
    perfile_source_close(s);
    assert_int_equal(pf_source_list(again, "", &list, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(list[i], names[i]);
        assert_int_equal(pf_source_entry(again, names[i], &e, NULL), PERFILE_OK);
        assert_string_equal(pf_source_name(e), paths[i]);
        read_all(e, 10 * (i + 1));
        perfile_source_close(e);
    }
    pf_free(list);
    assert_int_equal(pf_source_list(again, "t", &list, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 2);
    assert_string_equal(list[0], "two");
    assert_string_equal(list[1], "three");
    pf_free(list);
    perfile_bytes run;
    assert_int_equal(pf_source_run(again, 0, 1, &run, &err), PERFILE_E_IO); /* of which of them? */
    assert_int_equal(err.sys, EISDIR);
    assert_int_equal(pf_source_entry(again, "four", &e, &err), PERFILE_E_IO);
    perfile_source_close(again);
    assert_int_equal(pf_source_files(paths, 0, NULL, &s, &err), PERFILE_E_USAGE);
    assert_int_equal(pf_source_files(same, 2, NULL, &s, &err), PERFILE_E_USAGE);
    assert_string_equal(err.message, "two of the files are called 'two'");
    assert_int_equal(pf_source_files(in, 2, NULL, &s, &err), PERFILE_E_USAGE);
}

static void wrong_use_is_told(void **state)
{
    (void)state;
    perfile_source *s;
    perfile_error err;
    assert_int_equal(perfile_source_path("nope", NULL, &s, &err), PERFILE_E_IO);
    assert_string_equal(err.message, "cannot open 'nope': No such file or directory");
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(perfile_source_path("", NULL, &s, &err), PERFILE_E_IO);
    assert_int_equal(perfile_source_path(NULL, NULL, &s, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_source_fd(-1, "x", NULL, &s, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, EBADF);
    perfile_source_options o = {0};
    assert_int_equal(perfile_source_path("/dev/null", &o, &s, &err), PERFILE_E_USAGE);
    o = (perfile_source_options){.size = sizeof o, .flags = 1u << 30};
    assert_int_equal(perfile_source_path("/dev/null", &o, &s, &err), PERFILE_E_USAGE);
    perfile_limits l = {0};
    o = (perfile_source_options){.size = sizeof o, .limits = &l};
    assert_int_equal(perfile_source_path("/dev/null", &o, &s, &err), PERFILE_E_USAGE);
    perfile_source_callbacks c = {.size = sizeof c};
    assert_int_equal(perfile_source_callback(&c, "x", NULL, &s, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_source_callback(NULL, "x", NULL, &s, &err), PERFILE_E_USAGE);
    perfile_source_close(NULL);
}

static void limits_have_defaults(void **state)
{
    (void)state;
    perfile_limits l;
    assert_int_equal(pf_limits_copy(&l, NULL, NULL), PERFILE_OK);
    assert_int_equal(l.size, sizeof l);
    assert_int_equal(l.window_bytes, 64u << 20);
    assert_int_equal(l.zstd_window, 27);
    assert_int_equal(l.spool_bytes, UINT64_C(64) << 30);
    perfile_limits given = {
        .size = offsetof(perfile_limits, zstd_window), .inflate_bytes = 5, .zstd_window = 9};
    assert_int_equal(pf_limits_copy(&l, &given, NULL), PERFILE_OK);
    assert_int_equal(l.window_bytes, 64u << 20);
    assert_int_equal(l.inflate_bytes, 5);
    assert_int_equal(l.zstd_window, 27); /* the older header did not have it */
}

/* Everything that allocates, once; the sanitizer looks for leaks. */
static perfile_status all_kinds(void)
{
    perfile_source *s, *e;
    perfile_bytes run;
    drip d = {.total = 1200000, .most = 200000};
    perfile_source_callbacks c = {.size = sizeof c, .user = &d, .read = drip_read};
    perfile_source_options o = {.size = sizeof o, .flags = PERFILE_SOURCE_NO_MAP};
    char **list;
    size_t n;

    perfile_status st = perfile_source_path("dir", NULL, &s, NULL);
    if (st != PERFILE_OK)
        return st;
    st = pf_source_list(s, "data", &list, &n, NULL);
    if (st == PERFILE_OK)
        pf_free(list);
    if (st == PERFILE_OK)
        st = pf_source_entry(s, "data", &e, NULL);
    perfile_source_close(s);
    if (st != PERFILE_OK)
        return st;
    perfile_source_close(e);

    for (uint32_t i = 0; i < 2; i++) {
        o.flags = i ? PERFILE_SOURCE_SEQUENTIAL : PERFILE_SOURCE_NO_MAP;
        st = perfile_source_path("file", &o, &s, NULL);
        if (st != PERFILE_OK)
            return st;
        st = pf_source_run(s, 0, 1, &run, NULL);
        perfile_source_close(s);
        if (st != PERFILE_OK)
            return st;
    }

    st = perfile_source_memory((perfile_bytes){data, 1}, "m", &s, NULL);
    if (st != PERFILE_OK)
        return st;
    perfile_source_close(s);

    st = perfile_source_callback(&c, "drip", NULL, &s, NULL);
    if (st != PERFILE_OK)
        return st;
    st = pf_source_run(s, 0, 1100000, &run, NULL);
    if (st == PERFILE_OK)
        st = spool_in_place(&s, NULL);
    perfile_source_close(s);
    return st;
}

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t first = pf_alloc_count;
    int open_before = open_files();
    assert_int_equal(all_kinds(), PERFILE_OK);
    uint64_t n = pf_alloc_count - first;
    assert_true(n > 10);
    for (uint64_t i = 1; i <= n; i++) {
        pf_alloc_fail_at = pf_alloc_count + i;
        assert_int_equal(all_kinds(), PERFILE_E_NOMEM);
        assert_int_equal(open_files(), open_before);
    }
    pf_alloc_fail_at = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(file_position_of_a_descriptor_does_not_matter),
        cmocka_unit_test(a_file_cut_while_it_is_read_ends),
        cmocka_unit_test(a_file_is_read_in_sequence_and_mapped_beside),
        cmocka_unit_test(the_window_goes_back_over_what_it_has),
        cmocka_unit_test(a_large_sparse_file_maps),
        cmocka_unit_test(memory),
        cmocka_unit_test(pipes),
        cmocka_unit_test(a_live_pipe_gives_what_has_arrived),
        cmocka_unit_test(an_endless_device_is_read_as_asked),
        cmocka_unit_test(callbacks),
        cmocka_unit_test(the_window_has_a_limit),
        cmocka_unit_test(memory_grows_with_what_arrives),
        cmocka_unit_test(spool),
        cmocka_unit_test(directories),
        cmocka_unit_test(several_files),
        cmocka_unit_test(wrong_use_is_told),
        cmocka_unit_test(limits_have_defaults),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
