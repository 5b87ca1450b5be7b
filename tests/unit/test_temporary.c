/* Temporary files have no name, also when a signal comes while they are made.
 *
 * open() and mkstemp() of this program stand in front of the C library's: a file system that knows
 * no O_TMPFILE, and a signal that comes at the worst moment. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/source_kind.h"
#include "testing.h"

static char folder[] = "temporary-XXXXXX";
static bool knows_unnamed;  /* O_TMPFILE works */
static unsigned made;       /* files with a name */
static char name_made[256]; /* that of the last one */
static int names_at_signal; /* 1: this file had its name when the handler ran; -1: it did not run */

static int names(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    if ((flags & O_TMPFILE) == O_TMPFILE && !knows_unnamed) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int mkstemp(char *path)
{
    made++;
    memcpy(strstr(path, "XXXXXX"), "000001", 6);
    snprintf(name_made, sizeof name_made, "%s", path);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600);
    int saved = errno;
    raise(SIGTERM);
    errno = saved;
    return fd;
}

static void handler(int signal)
{
    (void)signal;
    names_at_signal = access(name_made, F_OK) == 0;
}

static void try_it(bool unnamed, unsigned named)
{
    int fd;
    uint8_t byte = 0;
    size_t got;
    knows_unnamed = unnamed;
    made = 0;
    names_at_signal = -1;
    assert_int_equal(pf_temporary_open(folder, "test", &fd, NULL), PERFILE_OK);
    assert_int_equal(made, named);
    assert_int_equal(names_at_signal, named ? 0 : -1);
    assert_int_equal(names(), 0);
    assert_int_not_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    assert_int_equal(
        pf_temporary_write(fd, folder, 3, (perfile_bytes){(const uint8_t *)"x", 1}, "test", NULL),
        PERFILE_OK);
    assert_int_equal(pf_temporary_read(fd, 3, &byte, 1, &got, "test", NULL), PERFILE_OK);
    assert_int_equal(byte, 'x');
    close(fd);
}

static void no_name_stays(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = handler};
    assert_non_null(mkdtemp(folder));
    sigaction(SIGTERM, &action, NULL);
    try_it(false, 1);
    knows_unnamed = true;
    int fd = open(folder, O_TMPFILE | O_RDWR, 0600);
    if (fd >= 0) { /* this file system has them */
        close(fd);
        try_it(true, 0);
    } else {
        print_message("not tried: files that never had a name: %s\n", strerror(errno));
    }
    assert_int_equal(rmdir(folder), 0);
}

static void failures_are_reported(void **state)
{
    (void)state;
    int fd;
    perfile_error err;
    assert_int_equal(pf_temporary_open("no/such/folder", "test", &fd, &err), PERFILE_E_IO);
    assert_int_equal(err.sys, ENOENT);
    assert_non_null(strstr(err.message, "no/such/folder"));
    /* A full disk is reported with the directory, too. */
    fd = open("/dev/full", O_RDWR, 0);
    assert_true(fd >= 0);
    const perfile_bytes byte = {(const uint8_t *)"x", 1};
    assert_int_equal(pf_temporary_write(fd, "some/folder", 0, byte, "test", &err), PERFILE_E_IO);
    assert_int_equal(err.sys, ENOSPC);
    assert_non_null(strstr(err.message, "some/folder"));
    assert_int_equal(setenv("TMPDIR", "another/folder", 1), 0);
    assert_int_equal(pf_temporary_write(fd, NULL, 0, byte, "test", &err), PERFILE_E_IO);
    assert_non_null(strstr(err.message, "another/folder"));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_name_stays),
                                       cmocka_unit_test(failures_are_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
