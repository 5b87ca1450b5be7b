/* Bytes from the caller's functions: a window whose reads are callbacks. */
#include "io/source_window.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"

/* The `read` of the window.  Seeks first if the callback is not at `at`.  No
 * error is tried again, not even -EINTR: that is how a program ends the reading. */
static int64_t callback_read(pf_window *w, uint64_t at, void *buf, size_t len)
{
    const perfile_source_callbacks *c = &w->callbacks;
    if (c->seek && at != w->position) {
        int r = c->seek(c->user, at);
        if (r < 0)
            return r;
        w->position = at;
    }
    int64_t n = c->read(c->user, buf, len);
    if (n > 0)
        w->position += (uint64_t)n;
    /* An error becomes an int in pf_fail_io(): a value that is no errno is reported as EIO. */
    return n < -INT32_MAX ? -EIO : n;
}

/* The `release` of the window: the caller's `close`. */
static void callback_release(pf_window *w)
{
    w->callbacks.close(w->callbacks.user);
}

perfile_status perfile_source_callback(const perfile_source_callbacks *callbacks, const char *name,
                                       const perfile_source_options *options,
                                       perfile_source **source, perfile_error *err)
{
    perfile_source_callbacks c;
    perfile_status st = pf_options_copy(&c, callbacks, "source.callbacks", err);
    if (st != PERFILE_OK)
        return st;
    if (!c.read)
        return pf_fail(err, PERFILE_E_USAGE, "source.callbacks", "no read callback");

    pf_window *w;
    st = pf_source_new(sizeof *w, &pf_window_ops, name, options, &w, err);
    if (st != PERFILE_OK)
        return st;
    w->base.size = c.seek ? c.total : PF_SIZE_UNKNOWN;
    w->base.seekable = c.seek != NULL;
    w->read = callback_read;
    w->release = c.close ? callback_release : NULL;
    w->callbacks = c;
    w->position = c.seek ? PF_SIZE_UNKNOWN
                         : 0; /* unknown position of a seekable callback: the first read seeks */
    *source = &w->base;
    return PERFILE_OK;
}
