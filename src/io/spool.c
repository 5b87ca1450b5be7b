#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/source_kind.h"

static perfile_status nameless_file(int *fd, perfile_error *err)
{
    static const char name[] = "/perfile-XXXXXX";
    const char *dir = getenv("TMPDIR");
    if (!dir || !dir[0])
        dir = "/tmp";
    size_t n = strlen(dir);
    char *path = pf_alloc(n + sizeof name, 1);
    if (!path)
        return pf_fail_nomem(err, "spool");
    memcpy(path, dir, n);
    memcpy(path + n, name, sizeof name);
    perfile_status st = PERFILE_OK;
    *fd = mkstemp(path);
    if (*fd < 0) {
        st = pf_fail_io(err, errno, "spool", "cannot make a temporary file in '%s'", dir);
    } else {
        (void)unlink(path);
        (void)fcntl(*fd, F_SETFD, FD_CLOEXEC);
    }
    pf_free(path);
    return st;
}

static perfile_status write_all(int fd, perfile_bytes b, perfile_error *err)
{
    while (b.len) {
        ssize_t n = write(fd, b.ptr, b.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pf_fail_io(err, errno, "spool", "cannot write the temporary file");
        b.ptr += n;
        b.len -= (size_t)n;
    }
    return PERFILE_OK;
}

static perfile_status copy_to(perfile_source *s, int fd, uint64_t *size, perfile_error *err)
{
    uint64_t limit = s->limits.spool_bytes;
    for (uint64_t at = 0;;) {
        perfile_bytes run;
        perfile_status st = pf_source_run(s, at, 1, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (!run.len) {
            *size = at;
            return PERFILE_OK;
        }
        if (run.len > limit - at)
            return pf_fail(err, PERFILE_E_LIMIT, "spool_bytes",
                           "'%s' is longer than the temporary file may be, %" PRIu64 " bytes",
                           s->name, limit);
        st = write_all(fd, run, err);
        if (st != PERFILE_OK)
            return st;
        at += run.len;
    }
}

perfile_status pf_source_spool(perfile_source *from, perfile_source **spooled, perfile_error *err)
{
    if (from->directory)
        return pf_fail_io(err, EISDIR, "spool", "cannot read '%s'", from->name);
    int fd = -1;
    perfile_status st = nameless_file(&fd, err);
    if (st != PERFILE_OK)
        return st;
    uint64_t size = 0;
    st = copy_to(from, fd, &size, err);
    if (st == PERFILE_OK)
        st = pf_source_map(fd, true, size, from->name, &from->options, spooled, err);
    if (st != PERFILE_OK)
        close(fd);
    return st;
}
