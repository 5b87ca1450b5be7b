/* A sink that passes its bytes to the caller's functions. */
#include <errno.h>

#include "base/error.h"
#include "base/options.h"
#include "io/out_kind.h"

typedef struct pf_out_callback {
    perfile_sink base;
    perfile_sink_callbacks callbacks;
} pf_out_callback;

/* No error is tried again, not even -EINTR.  A result that breaks the contract (0, more than
 * offered, no errno) is reported as EIO. */
static int64_t callback_write(perfile_sink *s, perfile_bytes b)
{
    const perfile_sink_callbacks *c = &((const pf_out_callback *)s)->callbacks;
    int64_t n = c->write(c->user, b.ptr, b.len);
    return n == 0 || n > (int64_t)b.len || n < -INT32_MAX ? -EIO : n;
}

static int callback_flush(perfile_sink *s)
{
    const perfile_sink_callbacks *c = &((const pf_out_callback *)s)->callbacks;
    int r = c->flush ? c->flush(c->user) : 0;
    return r < -INT32_MAX ? -EIO : r < 0 ? r : 0;
}

static void callback_close(perfile_sink *s)
{
    const perfile_sink_callbacks *c = &((const pf_out_callback *)s)->callbacks;
    if (c->close)
        c->close(c->user);
}

static const pf_sink_ops callback_ops = {
    .write = callback_write, .flush = callback_flush, .close = callback_close};

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
    *sink = &s->base;
    return PERFILE_OK;
}
