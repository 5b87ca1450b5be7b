/* Shared by all sinks: the buffer, the stored error, and the inputs that an output must not change.
 * Also sinks in memory and sinks with callbacks.
 *
 * Bytes are collected in the buffer and go to ops->write() when it is full; large writes bypass the
 * buffer.  `passed` counts the bytes that ops->write() has written, so offset `passed` is the first
 * byte of the buffer. */
#include "io/out.h"

#include <inttypes.h>
#include <stddef.h>
#include <unistd.h>
#include <errno.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/options.h"
#include "io/out_kind.h"
#include "io/workers.h"
#include "perfile/source.h"
#include "io/command.h"

/* Writes of at least this size bypass the buffer: copying them would cost more than a system
 * call. */
#define SINK_LARGE ((size_t)64 << 10)

/* Stores `e` unless the sink has an earlier error.  Returns the stored error. */
static perfile_status keep_error(perfile_sink *s, const perfile_error *e, perfile_error *err)
{
    if (!s->error.status)
        s->error = *e;
    return pf_sink_status(s, err);
}

perfile_status pf_sink_fail_io(const perfile_sink *s, int sys, const char *what, perfile_error *err)
{
    return pf_fail_io(err, sys, "sink", "cannot %s '%s'", what, s->name);
}

perfile_status pf_sink_keep_io(perfile_sink *s, int sys, perfile_error *err)
{
    perfile_error e;
    (void)pf_sink_fail_io(s, sys, "write", &e);
    return keep_error(s, &e, err);
}

/* Stores PERFILE_E_NOMEM in the sink. */
static perfile_status keep_nomem(perfile_sink *s, perfile_error *err)
{
    perfile_error e;
    (void)pf_fail_nomem(&e, "sink");
    return keep_error(s, &e, err);
}

perfile_status pf_sink_status(const perfile_sink *s, perfile_error *err)
{
    if (s->error.status && err)
        *err = s->error;
    return s->error.status;
}

/* Fails if the sink has an error or is finished. */
static perfile_status check_writable(const perfile_sink *s, perfile_error *err)
{
    if (s->error.status)
        return pf_sink_status(s, err);
    if (s->finished)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "'%s' is finished", s->name);
    return PERFILE_OK;
}

/* Passes all of `b` to the kind's write function. */
static perfile_status write_through(perfile_sink *s, perfile_bytes b, perfile_error *err)
{
    while (b.len) {
        /* Systems limit one write() to about 2 GiB; 1 GiB is accepted everywhere. */
        perfile_bytes part = {b.ptr, b.len < ((size_t)1 << 30) ? b.len : (size_t)1 << 30};
        int64_t n = s->ops->write(s, part);
        if (n < 0)
            return pf_sink_keep_io(s, (int)-n, err);
        b.ptr += n;
        b.len -= (size_t)n;
        s->passed += (uint64_t)n;
    }
    return PERFILE_OK;
}

/* Passes the buffer's bytes to the kind and empties it; does nothing for a sink in memory. */
static perfile_status write_buffer(perfile_sink *s, perfile_error *err)
{
    if (!s->ops->write)
        return PERFILE_OK;
    perfile_status st = write_through(s, (perfile_bytes){s->buffer.ptr, s->buffer.len}, err);
    if (st == PERFILE_OK)
        pf_buffer_clear(&s->buffer);
    return st;
}

perfile_status pf_sink_grow(perfile_sink *s, size_t n)
{
    perfile_status st = check_writable(s, NULL);
    if (st == PERFILE_OK && s->buffer.cap - s->buffer.len < n)
        st = write_buffer(s, NULL);
    if (st == PERFILE_OK && !pf_buffer_reserve(&s->buffer, n))
        st = keep_nomem(s, NULL);
    return st;
}

perfile_status perfile_sink_write(perfile_sink *sink, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = check_writable(sink, err);
    if (st != PERFILE_OK)
        return st;
    bool large = bytes.len >= SINK_LARGE;
    /* The buffered bytes go first, so that bytes stay in order.  In memory there is no write():
     * pf_buffer_append() grows the buffer instead. */
    if ((large || bytes.len > sink->buffer.cap - sink->buffer.len) && sink->ops->write) {
        st = write_buffer(sink, err);
        if (st != PERFILE_OK)
            return st;
        if (large)
            return write_through(sink, bytes, err);
    }
    if (!pf_buffer_append(&sink->buffer, bytes.ptr, bytes.len))
        return keep_nomem(sink, err);
    return PERFILE_OK;
}

/* Writes the buffer, then flushes the output or ends it. */
static perfile_status end_writing(perfile_sink *s, pf_sink_end how, perfile_error *err)
{
    perfile_error e;
    perfile_status st = check_writable(s, err);
    if (st == PERFILE_OK)
        st = write_buffer(s, err);
    if (st != PERFILE_OK || !s->ops->finish)
        return st;
    st = s->ops->finish(s, PF_SINK_FLUSH, &e);
    if (st == PERFILE_OK && how != PF_SINK_FLUSH)
        st = s->ops->finish(s, how, &e);
    return st == PERFILE_OK ? st : keep_error(s, &e, err);
}

perfile_status perfile_sink_flush(perfile_sink *sink, perfile_error *err)
{
    return end_writing(sink, PF_SINK_FLUSH, err);
}

perfile_status perfile_sink_finish(perfile_sink *sink, perfile_error *err)
{
    if (sink->finished && !sink->error.status)
        return PERFILE_OK; /* finishing twice is allowed */
    perfile_status st = end_writing(sink, PF_SINK_LAST, err);
    sink->finished = st == PERFILE_OK;
    return st;
}

perfile_status pf_sink_appear(perfile_sink *s, perfile_error *err)
{
    return end_writing(s, PF_SINK_APPEAR, err);
}

void pf_sink_abort(perfile_sink *sink)
{
    perfile_error e;
    if (sink->finished)
        return;
    if (sink->ops->abort)
        sink->ops->abort(sink);
    /* The stored error makes every later call fail, including perfile_sink_finish(). */
    pf_buffer_clear(&sink->buffer);
    sink->passed = 0;
    (void)pf_fail(&e, PERFILE_E_USAGE, "sink", "'%s' was given up", sink->name);
    (void)keep_error(sink, &e, NULL);
}

perfile_status pf_sink_patch(perfile_sink *s, uint64_t offset, perfile_bytes bytes,
                             perfile_error *err)
{
    perfile_status st = check_writable(s, err);
    if (st != PERFILE_OK)
        return st;
    if (!s->patchable || !pf_within(offset, bytes.len, pf_sink_count(s)))
        return pf_fail(err, PERFILE_E_USAGE, "sink.patch",
                       "'%s': %zu bytes at %" PRIu64 " cannot be replaced", s->name, bytes.len,
                       offset);
    if (offset < s->passed) {
        /* Otherwise the range could be partly in the file and partly in the buffer. */
        st = write_buffer(s, err);
        if (st != PERFILE_OK)
            return st;
        /* Now the whole range is in the file: it ends at or before `passed`. */
        while (bytes.len) {
            int64_t n = s->ops->patch(s, offset, bytes);
            if (n < 0)
                return pf_sink_keep_io(s, (int)-n, err);
            bytes.ptr += n;
            bytes.len -= (size_t)n;
            offset += (uint64_t)n;
        }
    } else if (bytes.len) { /* the whole range is still in the buffer */
        memcpy(s->buffer.ptr + (size_t)(offset - s->passed), bytes.ptr, bytes.len);
    }
    return PERFILE_OK;
}

perfile_status pf_sink_part(perfile_sink *s, uint32_t n, perfile_sink **part, perfile_error *err)
{
    if (!pf_sink_has_parts(s))
        return pf_fail(err, PERFILE_E_USAGE, "sink.part", "'%s' is not a directory", s->name);
    perfile_status st = s->ops->part(s, n < UINT32_MAX ? n + 1 : n, NULL, part, err);
    if (st == PERFILE_OK && n >= s->n_parts)
        s->n_parts = n + 1;
    return st;
}

perfile_status pf_sink_name_file(perfile_sink *s, uint32_t file, const char *name,
                                 perfile_error *err)
{
    if (!pf_sink_has_parts(s))
        return pf_fail(err, PERFILE_E_USAGE, "sink.part", "'%s' is not a directory", s->name);
    if (!pf_is_output_file(name))
        return pf_fail(err, PERFILE_E_USAGE, "sink.part",
                       "'%s' is not what a file is called in an output", name);
    perfile_status st = s->ops->part(s, file, name, NULL, err);
    if (st == PERFILE_OK && file > s->n_parts)
        s->n_parts = file;
    return st;
}

perfile_status pf_sink_companion(perfile_sink *s, const char *name, perfile_sink **file,
                                 perfile_error *err)
{
    const uint32_t n = s->n_parts;
    perfile_status st = pf_sink_name_file(s, n + 1, name, err);
    return st == PERFILE_OK ? pf_sink_part(s, n, file, err) : st;
}

perfile_status pf_sink_records(perfile_sink *s, uint64_t offset, const struct pf_batch *batch,
                               perfile_error *err)
{
    perfile_error e;
    if (!s->ops->records)
        return PERFILE_OK;
    perfile_status st = check_writable(s, err);
    if (st == PERFILE_OK)
        st = write_buffer(s, err);
    if (st != PERFILE_OK)
        return st;
    return s->ops->records(s, offset, batch, &e) == PERFILE_OK ? PERFILE_OK
                                                               : keep_error(s, &e, err);
}

/* Copies and checks the caller's options. */
static perfile_status fill_options(perfile_sink_options *o, const perfile_sink_options *given,
                                   perfile_error *err)
{
    return pf_options_copy(o, given, "sink.options", err);
}

perfile_status pf_sink_new(size_t bytes, const pf_sink_ops *ops, const char *name,
                           const perfile_sink_options *options, size_t buffer, void *sink,
                           perfile_error *err)
{
    perfile_sink_options o;
    perfile_status st = fill_options(&o, options, err);
    if (st != PERFILE_OK)
        return st;
    perfile_sink *s = pf_alloc(1, bytes);
    if (!s)
        return pf_fail_nomem(err, "sink");
    s->ops = ops;
    s->flags = o.flags;
    if (o.flags & PERFILE_SINK_FOLDER && !pf_sink_is_folder(s)) {
        pf_free(s);
        return pf_fail(err, PERFILE_E_USAGE, "sink.options", "only a directory can be a folder");
    }
    /* From here on perfile_sink_close() cleans up; it accepts a kind whose members are zero. */
    if (!name)
        name = "output";
    size_t n = strlen(name) + 1;
    s->name = pf_alloc(n, 1);
    bool room = s->name && pf_buffer_reserve(&s->buffer, buffer);
    if (room)
        memcpy(s->name, name, n);
    for (size_t i = 0; room && i < o.n_inputs; i++)
        room = pf_inputs_add_path(&s->inputs, o.inputs[i]);
    if (!room) {
        perfile_sink_close(s);
        return pf_fail_nomem(err, "sink");
    }
    memcpy(sink, &s, sizeof s);
    return PERFILE_OK;
}

perfile_status pf_sink_add_inputs(perfile_sink *s, const pf_inputs *inputs, perfile_error *err)
{
    if (s->error.status || s->finished)
        return check_writable(s, err);
    perfile_error e;
    if (!pf_inputs_join(&s->inputs, inputs))
        return keep_nomem(s, err);
    if (!s->inputs.n || !s->ops->reads)
        return PERFILE_OK;
    return s->ops->reads(s, &e) == PERFILE_OK ? PERFILE_OK : keep_error(s, &e, err);
}

perfile_status pf_output_check(const char *path, int fd, const char *const *inputs, size_t n_inputs,
                               perfile_error *err)
{
    pf_inputs in = {0};
    perfile_status st = PERFILE_OK;
    bool standard = path && strcmp(path, "-") == 0;
    for (size_t i = 0; i < n_inputs && st == PERFILE_OK; i++)
        if (!pf_inputs_add_path(&in, inputs[i]))
            st = pf_fail_nomem(err, "sink");
    /* "-" and a bare descriptor have no name that could be replaced: only the file itself
     * counts. */
    if (st == PERFILE_OK && path && !standard)
        st = pf_inputs_check_path(&in, path, path, err);
    else if (st == PERFILE_OK)
        st = pf_inputs_check_fd(&in, standard ? STDOUT_FILENO : fd,
                                standard ? "standard output" : "output", err);
    pf_inputs_free(&in);
    return st;
}

uint64_t pf_sink_count(const perfile_sink *sink)
{
    return sink->passed + sink->buffer.len;
}

const char *pf_sink_name(const perfile_sink *sink)
{
    return sink->name;
}

const char *pf_sink_temporary(const perfile_sink *sink)
{
    return sink->temporary;
}

void perfile_sink_close(perfile_sink *sink)
{
    if (!sink)
        return;
    if (sink->ops->close)
        sink->ops->close(sink);
    pf_buffer_free(&sink->buffer);
    pf_inputs_free(&sink->inputs);
    pf_free(sink->name);
    pf_free(sink);
}

/* A sink in memory: the buffer is the output. */

static const pf_sink_ops memory_ops = {.write = NULL /* bytes stay in the buffer */};

perfile_status perfile_sink_memory(const char *name, perfile_sink **sink, perfile_error *err)
{
    perfile_sink *s = NULL;
    perfile_status st = pf_sink_new(sizeof *s, &memory_ops, name, NULL, 0, &s, err);
    if (st != PERFILE_OK)
        return st;
    s->patchable = true;
    *sink = s;
    return PERFILE_OK;
}

void pf_sink_get_summary(const perfile_sink *sink, perfile_sink_summary *out, size_t size)
{
    perfile_sink_summary sum = {.count = pf_sink_count(sink)};
    if (!sink->ops->write)
        sum.memory = (perfile_bytes){sink->buffer.ptr, sink->buffer.len};
    memcpy(out, &sum, size < sizeof sum ? size : sizeof sum);
}

/* A sink that passes its bytes to functions of the caller. */

typedef struct pf_out_callback {
    perfile_sink base;
    perfile_sink_callbacks callbacks;
} pf_out_callback;

/* No error is retried, not even -EINTR.  A result that breaks the contract (0, more than `len`, not
 * an errno) is reported as EIO. */
static int64_t callback_result(int64_t n, size_t len)
{
    return n == 0 || n > (int64_t)len || n < -INT32_MAX ? -EIO : n;
}

static int64_t callback_write(perfile_sink *s, perfile_bytes b)
{
    const perfile_sink_callbacks *c = &((const pf_out_callback *)s)->callbacks;
    return callback_result(c->write(c->user, b.ptr, b.len), b.len);
}

static int64_t callback_patch(perfile_sink *s, uint64_t offset, perfile_bytes b)
{
    const perfile_sink_callbacks *c = &((const pf_out_callback *)s)->callbacks;
    return callback_result(c->patch(c->user, offset, b.ptr, b.len), b.len);
}

static perfile_status callback_finish(perfile_sink *s, pf_sink_end how, perfile_error *err)
{
    const perfile_sink_callbacks *c = &((const pf_out_callback *)s)->callbacks;
    const int r = c->flush && how == PF_SINK_FLUSH ? c->flush(c->user) : 0;
    return r < 0 ? pf_sink_keep_io(s, r < -INT32_MAX ? EIO : -r, err) : PERFILE_OK;
}

static void callback_close(perfile_sink *s)
{
    const perfile_sink_callbacks *c = &((const pf_out_callback *)s)->callbacks;
    if (c->close)
        c->close(c->user);
}

static const pf_sink_ops callback_ops = {.write = callback_write,
                                         .patch = callback_patch,
                                         .finish = callback_finish,
                                         .close = callback_close};

perfile_status perfile_sink_callback(const perfile_sink_callbacks *callbacks, const char *name,
                                     perfile_sink **sink, perfile_error *err)
{
    perfile_sink_callbacks c;
    perfile_status st = pf_options_copy(&c, callbacks, "sink.callbacks", err);
    if (st != PERFILE_OK)
        return st;
    if (!c.write)
        return pf_fail(err, PERFILE_E_USAGE, "sink.callbacks", "no write callback");
    pf_out_callback *s = NULL;
    st = pf_sink_new(sizeof *s, &callback_ops, name, NULL, PF_SINK_BUFFER, &s, err);
    if (st != PERFILE_OK)
        return st;
    s->callbacks = c;
    s->base.patchable = c.patch != NULL;
    *sink = &s->base;
    return PERFILE_OK;
}
