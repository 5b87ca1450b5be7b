#include "io/out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "io/out_dir.h"
#include "io/out_file.h"

#define SINK_LARGE ((size_t)64 << 10) /* copying so much costs more than a call to write it */

/* Keeps the first error, and hands it out. */
static perfile_status keep(perfile_sink *s, const perfile_error *e, perfile_error *err)
{
    if (!s->error.status)
        s->error = *e;
    return pf_sink_status(s, err);
}

static perfile_status keep_io(perfile_sink *s, int sys, const char *what, perfile_error *err)
{
    perfile_error e;
    (void)pf_fail_io(&e, sys, "sink", "cannot %s '%s'", what, s->name);
    return keep(s, &e, err);
}

static perfile_status keep_nomem(perfile_sink *s, perfile_error *err)
{
    perfile_error e;
    (void)pf_fail_nomem(&e, "sink");
    return keep(s, &e, err);
}

perfile_status pf_sink_status(const perfile_sink *s, perfile_error *err)
{
    if (s->error.status && err)
        *err = s->error;
    return s->error.status;
}

static perfile_status writable(const perfile_sink *s, perfile_error *err)
{
    if (s->error.status)
        return pf_sink_status(s, err);
    if (s->finished)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "'%s' is finished", s->name);
    return PERFILE_OK;
}

/* Whether a call that failed with `sys` is to be made again. */
static bool again(int fd, int sys)
{
    if (sys == EAGAIN || sys == EWOULDBLOCK) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        return poll(&p, 1, -1) >= 0 || errno == EINTR;
    }
    return sys == EINTR;
}

static int64_t write_once(perfile_sink *s, perfile_bytes b)
{
    if (s->kind == PF_SINK_CALLBACK) {
        int64_t n = s->callbacks.write(s->callbacks.user, b.ptr, b.len);
        return n == 0 || n > (int64_t)b.len || n < -INT32_MAX ? -EIO : n;
    }
    ssize_t n = write(s->fd, b.ptr, b.len);
    return n < 0 ? -errno : n;
}

static perfile_status hand_on(perfile_sink *s, perfile_bytes b, perfile_error *err)
{
    while (b.len) {
        /* One write() takes no more than this anywhere. */
        perfile_bytes part = {b.ptr, b.len < ((size_t)1 << 30) ? b.len : (size_t)1 << 30};
        int64_t n = write_once(s, part);
        if (n < 0) {
            bool retry = s->kind == PF_SINK_FD ? again(s->fd, (int)-n) : n == -EINTR;
            if (retry)
                continue;
            return keep_io(s, (int)-n, "write", err);
        }
        b.ptr += n;
        b.len -= (size_t)n;
        s->passed += (uint64_t)n;
    }
    return PERFILE_OK;
}

static perfile_status drain(perfile_sink *s, perfile_error *err)
{
    if (s->kind == PF_SINK_MEMORY)
        return PERFILE_OK;
    perfile_status st = hand_on(s, (perfile_bytes){s->buffer.ptr, s->buffer.len}, err);
    if (st == PERFILE_OK)
        pf_buffer_clear(&s->buffer);
    return st;
}

perfile_status pf_sink_room(perfile_sink *s, size_t n)
{
    perfile_status st = writable(s, NULL);
    if (st == PERFILE_OK && s->buffer.cap - s->buffer.len < n)
        st = drain(s, NULL);
    if (st == PERFILE_OK && !pf_buffer_reserve(&s->buffer, n))
        st = keep_nomem(s, NULL);
    return st;
}

perfile_status perfile_sink_write(perfile_sink *sink, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = writable(sink, err);
    if (st != PERFILE_OK)
        return st;
    bool large = bytes.len >= SINK_LARGE;
    if (sink->kind != PF_SINK_MEMORY &&
        (large || bytes.len > sink->buffer.cap - sink->buffer.len)) {
        st = drain(sink, err);
        if (st != PERFILE_OK)
            return st;
        if (large)
            return hand_on(sink, bytes, err);
    }
    if (!pf_buffer_append(&sink->buffer, bytes.ptr, bytes.len))
        return keep_nomem(sink, err);
    return PERFILE_OK;
}

perfile_status perfile_sink_flush(perfile_sink *sink, perfile_error *err)
{
    perfile_status st = writable(sink, err);
    if (st == PERFILE_OK)
        st = drain(sink, err);
    if (st == PERFILE_OK && sink->flags & PERFILE_SINK_SYNC_ALL && sink->kind == PF_SINK_FD &&
        !pf_out_file_sync(sink->fd))
        return keep_io(sink, errno, "write", err);
    if (st != PERFILE_OK || sink->kind != PF_SINK_CALLBACK || !sink->callbacks.flush)
        return st;
    int r = sink->callbacks.flush(sink->callbacks.user);
    return r < 0 ? keep_io(sink, r < -INT32_MAX ? EIO : -r, "write", err) : PERFILE_OK;
}

perfile_status perfile_sink_finish(perfile_sink *sink, perfile_error *err)
{
    if (sink->finished && !sink->error.status)
        return PERFILE_OK;
    perfile_status st = perfile_sink_flush(sink, err);
    if (st != PERFILE_OK)
        return st;
    if (sink->kind == PF_SINK_FD) {
        perfile_error e;
        st = sink->dir ? pf_out_dir_finish(sink, &e) : pf_out_file_finish(sink, &e);
        if (st != PERFILE_OK)
            return keep(sink, &e, err);
    }
    sink->finished = true;
    return PERFILE_OK;
}

perfile_status pf_sink_appear(perfile_sink *s, perfile_error *err)
{
    perfile_status st = perfile_sink_flush(s, err);
    perfile_error e;
    if (st != PERFILE_OK || !s->temporary || s->appeared)
        return st;
    pf_out_file_show(s);
    st = pf_out_file_appear(s, &e);
    return st == PERFILE_OK ? st : keep(s, &e, err);
}

void perfile_sink_abort(perfile_sink *sink)
{
    perfile_error e;
    if (sink->finished)
        return;
    if (sink->dir)
        pf_out_dir_remove(sink);
    else
        pf_out_file_remove(sink);
    pf_buffer_clear(&sink->buffer);
    sink->passed = 0;
    (void)pf_fail(&e, PERFILE_E_USAGE, "sink", "'%s' was given up", sink->name);
    (void)keep(sink, &e, NULL);
}

bool pf_sink_can_patch(const perfile_sink *s)
{
    return s->patchable;
}

perfile_status pf_sink_patch(perfile_sink *s, uint64_t offset, perfile_bytes bytes,
                             perfile_error *err)
{
    perfile_status st = writable(s, err);
    if (st != PERFILE_OK)
        return st;
    if (!s->patchable || !pf_within(offset, bytes.len, perfile_sink_count(s)))
        return pf_fail(err, PERFILE_E_USAGE, "sink.patch",
                       "'%s': %zu bytes at %" PRIu64 " cannot be replaced", s->name, bytes.len,
                       offset);
    if (offset < s->passed) {
        st = drain(s, err); /* so that the place is not in two halves */
        if (st != PERFILE_OK)
            return st;
        while (bytes.len) {
            ssize_t n = pwrite(s->fd, bytes.ptr, bytes.len, (off_t)(s->start + offset));
            if (n < 0 && again(s->fd, errno))
                continue;
            if (n <= 0)
                return keep_io(s, n ? errno : EIO, "write", err);
            bytes.ptr += n;
            bytes.len -= (size_t)n;
            offset += (uint64_t)n;
        }
    } else if (bytes.len) {
        memcpy(s->buffer.ptr + (size_t)(offset - s->passed), bytes.ptr, bytes.len);
    }
    return PERFILE_OK;
}

perfile_status pf_sink_make(pf_sink_kind kind, const char *name,
                            const perfile_sink_options *options, size_t buffer, perfile_sink **sink,
                            perfile_error *err)
{
    perfile_sink_options o = {0};
    if (options) {
        if (options->size < sizeof options->size)
            return pf_fail(err, PERFILE_E_USAGE, "sink.options", "size is %zu, not set by sizeof",
                           options->size);
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
        if (options->size < offsetof(perfile_sink_options, reserved))
            o.n_inputs = 0;
    }
    if (o.flags & ~(uint32_t)(PERFILE_SINK_REPLACE | PERFILE_SINK_SYNC | PERFILE_SINK_SYNC_ALL))
        return pf_fail(err, PERFILE_E_USAGE, "sink.options", "unknown flags 0x%x", o.flags);
    perfile_sink *s = pf_alloc(1, sizeof *s);
    if (!s)
        return pf_fail_nomem(err, "sink");
    s->kind = kind;
    s->flags = o.flags;
    s->fd = -1;
    s->patchable = kind == PF_SINK_MEMORY;
    if (!name)
        name = "output";
    size_t n = strlen(name) + 1;
    s->name = pf_alloc(n, 1);
    if (!s->name || (kind != PF_SINK_MEMORY && !pf_buffer_reserve(&s->buffer, buffer))) {
        perfile_sink_close(s);
        return pf_fail_nomem(err, "sink");
    }
    memcpy(s->name, name, n);
    for (size_t i = 0; i < o.n_inputs; i++) {
        if (!pf_inputs_add_path(&s->inputs, o.inputs[i])) {
            perfile_sink_close(s);
            return pf_fail_nomem(err, "sink");
        }
    }
    *sink = s;
    return PERFILE_OK;
}

perfile_status pf_sink_apart(perfile_sink *s, perfile_error *err)
{
    if (s->kind != PF_SINK_FD || !s->inputs.n)
        return PERFILE_OK;
    return s->target ? pf_inputs_apart(&s->inputs, s->target, s->name, err)
                     : pf_inputs_apart_fd(&s->inputs, s->fd, s->name, err);
}

perfile_status pf_sink_reads(perfile_sink *s, const pf_inputs *inputs, perfile_error *err)
{
    if (s->error.status || s->finished)
        return writable(s, err);
    perfile_error e;
    if (!pf_inputs_join(&s->inputs, inputs))
        return keep_nomem(s, err);
    if (s->appeared && s->own_fd)
        pf_out_file_narrow(s);
    return pf_sink_apart(s, &e) == PERFILE_OK ? PERFILE_OK : keep(s, &e, err);
}

perfile_status perfile_output_check(const char *path, int fd, const char *const *inputs,
                                    size_t n_inputs, perfile_error *err)
{
    pf_inputs in = {0};
    perfile_status st = PERFILE_OK;
    bool standard = path && strcmp(path, "-") == 0;
    for (size_t i = 0; i < n_inputs && st == PERFILE_OK; i++)
        if (!pf_inputs_add_path(&in, inputs[i]))
            st = pf_fail_nomem(err, "sink");
    if (st == PERFILE_OK && path && !standard)
        st = pf_inputs_apart(&in, path, path, err);
    else if (st == PERFILE_OK)
        st = pf_inputs_apart_fd(&in, standard ? STDOUT_FILENO : fd,
                                standard ? "standard output" : "output", err);
    pf_inputs_free(&in);
    return st;
}

void pf_sink_look(perfile_sink *s)
{
    struct stat sb;
    int flags = fcntl(s->fd, F_GETFL);
    if (fstat(s->fd, &sb) < 0) {
        (void)keep_io(s, errno, "write", NULL);
        return;
    }
    if (!S_ISREG(sb.st_mode) || flags < 0 || (flags & O_APPEND))
        return;
    off_t at = lseek(s->fd, 0, SEEK_CUR);
    if (at < 0)
        return;
    s->start = (uint64_t)at;
    s->patchable = true;
}

perfile_status perfile_sink_fd(int fd, const char *name, const perfile_sink_options *options,
                               perfile_sink **sink, perfile_error *err)
{
    perfile_sink *s = NULL;
    perfile_status st = pf_sink_make(PF_SINK_FD, name, options, PF_SINK_BUFFER, &s, err);
    if (st != PERFILE_OK)
        return st;
    s->fd = fd;
    if (fcntl(fd, F_GETFL) < 0) {
        st = pf_fail_io(err, errno, "sink", "cannot write '%s'", s->name);
    } else {
        st = pf_sink_apart(s, err);
    }
    if (st != PERFILE_OK) {
        perfile_sink_close(s);
        return st;
    }
    pf_sink_look(s);
    *sink = s;
    return PERFILE_OK;
}

perfile_status perfile_sink_path(const char *path, const perfile_sink_options *options,
                                 perfile_sink **sink, perfile_error *err)
{
    if (!path)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "no path given");
    if (strcmp(path, "-") == 0)
        return perfile_sink_fd(STDOUT_FILENO, path, options, sink, err);
    perfile_sink *s = NULL;
    perfile_status st = pf_sink_make(PF_SINK_FD, path, options, PF_SINK_BUFFER, &s, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_out_file_open(s, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(s);
        return st;
    }
    pf_sink_look(s);
    *sink = s;
    return PERFILE_OK;
}

perfile_status perfile_sink_callback(const perfile_sink_callbacks *callbacks, const char *name,
                                     perfile_sink **sink, perfile_error *err)
{
    perfile_sink_callbacks c = {0};
    if (callbacks && callbacks->size >= sizeof callbacks->size)
        memcpy(&c, callbacks, callbacks->size < sizeof c ? callbacks->size : sizeof c);
    if (!c.write)
        return pf_fail(err, PERFILE_E_USAGE, "sink.callbacks", "no write callback");
    perfile_sink *s = NULL;
    perfile_status st = pf_sink_make(PF_SINK_CALLBACK, name, NULL, PF_SINK_BUFFER, &s, err);
    if (st != PERFILE_OK)
        return st;
    s->callbacks = c;
    *sink = s;
    return PERFILE_OK;
}

perfile_status perfile_sink_memory(const char *name, perfile_sink **sink, perfile_error *err)
{
    return pf_sink_make(PF_SINK_MEMORY, name, NULL, PF_SINK_BUFFER, sink, err);
}

perfile_bytes perfile_sink_bytes(const perfile_sink *sink)
{
    if (sink->kind != PF_SINK_MEMORY)
        return (perfile_bytes){NULL, 0};
    return (perfile_bytes){sink->buffer.ptr, sink->buffer.len};
}

perfile_status perfile_sink_take(perfile_sink *sink, void **bytes, size_t *len, perfile_error *err)
{
    if (sink->kind != PF_SINK_MEMORY)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "'%s' is not in memory", sink->name);
    if (sink->error.status)
        return pf_sink_status(sink, err);
    *bytes = sink->buffer.ptr;
    *len = sink->buffer.len;
    sink->buffer = (pf_buffer){0};
    return PERFILE_OK;
}

uint64_t perfile_sink_count(const perfile_sink *sink)
{
    return sink->passed + sink->buffer.len;
}

const char *perfile_sink_name(const perfile_sink *sink)
{
    return sink->name;
}

const char *perfile_sink_temporary(const perfile_sink *sink)
{
    if (sink->appeared)
        return NULL;
    return sink->dir ? pf_out_dir_path(sink) : sink->temporary;
}

void perfile_sink_close(perfile_sink *sink)
{
    if (!sink)
        return;
    if (sink->dir)
        pf_out_dir_close(sink);
    pf_out_file_close(sink);
    if (sink->callbacks.close)
        sink->callbacks.close(sink->callbacks.user);
    pf_buffer_free(&sink->buffer);
    pf_inputs_free(&sink->inputs);
    pf_free(sink->name);
    pf_free(sink);
}
