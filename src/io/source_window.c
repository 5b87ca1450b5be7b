/* Input that is read through one buffer (struct pf_window).
 *
 * New data is read after the data in the buffer.  When there is no room left, the bytes still
 * needed are moved to the front.  The buffer grows only when it is full of needed bytes.  So memory
 * grows with bytes that arrived and were requested, never with a length that the input claims;
 * limits.window_bytes bounds it.
 *
 * A regular file that is read from start to end goes through a small window although it is also
 * mapped: copying it into the same few hundred KiB, which stay in the second-level cache, costs
 * less than page faults on many machines.  Long-lived or very long spans come from the mapping. */
#include "io/source_kind.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

/* WINDOW_FIRST: first buffer of a stream.  WINDOW_ROOM: if there is less room than this after the
 * data, a move is worth its cost.  WINDOW_FILE: first buffer of a file with a mapping.
 * WINDOW_MOST: largest span of such a file that goes through the buffer.  WINDOW_HEAD: size of the
 * first read of such a file, and of the first read after a jump; each later read is twice as long
 * as the one before.  WINDOW_PAGE: page size. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* Small, so that small inputs also make the window move and grow. */
#define WINDOW_FIRST ((size_t)512)
#define WINDOW_ROOM  ((size_t)64)
#define WINDOW_FILE  ((size_t)512)
#define WINDOW_MOST  ((size_t)4 << 10)
#define WINDOW_HEAD  ((size_t)64)
#define WINDOW_PAGE  ((size_t)8)
#else
#define WINDOW_FIRST ((size_t)1 << 20)
#define WINDOW_ROOM  ((size_t)64 << 10)
/* Small enough that bytes are still in the second-level cache when they are parsed, and when they
 * are written again. */
#define WINDOW_FILE  ((size_t)512 << 10)
#define WINDOW_MOST  ((size_t)4 << 20) /* resynchronization after damage needs that much */
/* Most files are opened only to read their beginning, and the first use of each page of the buffer
 * costs time. */
#define WINDOW_HEAD  ((size_t)32 << 10)
/* Input offset and buffer address agree modulo a page.  The kernel copies from page-cache pages,
 * and that is up to twice as fast when source and destination have the same offset in their
 * page. */
#define WINDOW_PAGE  ((size_t)4 << 10)
#endif

/* Returns the maximum size of the buffer in bytes. */
static size_t window_max(const pf_window *w)
{
    uint64_t max = w->base.limits.window_bytes;
    return max < PTRDIFF_MAX ? (size_t)max : (size_t)PTRDIFF_MAX;
}

/* Moves the data to the front of the buffer.  Its offset within a page (WINDOW_PAGE) stays the same
 * if that still moves it towards the front and leaves room. */
static void move_to_front(pf_window *w)
{
    size_t head = (size_t)(w->at % WINDOW_PAGE);
    if (head >= w->head || head + w->len >= w->cap)
        head = 0;
    memmove(w->buf + head, w->buf + w->head, w->len);
    w->head = head;
    w->n_before = 0;
}

/* Positions an empty window so that its first byte has the same page offset as in the input. */
static void start_at_page_offset(pf_window *w)
{
    size_t head = (size_t)(w->at % WINDOW_PAGE);
    w->head = head < w->cap ? head : 0;
    w->n_before = 0;
}

/* Replaces the buffer by one of `cap` bytes that begins on a page boundary.  The contents are
 * copied. */
static perfile_status grow(pf_window *w, size_t cap, perfile_error *err)
{
    uint8_t *memory = pf_realloc(NULL, cap + WINDOW_PAGE, 1);
    if (!memory)
        return pf_fail_nomem(err, "source.window");
    uint8_t *buf = memory + (-(uintptr_t)memory & (WINDOW_PAGE - 1));
    if (w->cap)
        memcpy(buf, w->buf, w->cap);
    pf_free(w->memory);
    w->memory = memory;
    w->buf = buf;
    w->cap = cap;
    return PERFILE_OK;
}

/* Makes room for at least one byte after the data, by a move or by growth.  The caller has checked
 * that the data is shorter than window_max(). */
static perfile_status make_room(pf_window *w, perfile_error *err)
{
    size_t room = w->cap - w->head - w->len, max = window_max(w);
    if (w->len == 0)
        start_at_page_offset(w);
    else if (room < WINDOW_ROOM && w->head >= w->len)
        move_to_front(w); /* copies no more than was consumed since the last move: amortized O(1) */
    else if (room == 0 && w->head && w->cap >= max)
        move_to_front(w); /* as often as needed: more memory is not allowed */
    if (w->head + w->len < w->cap)
        return PERFILE_OK;

    /* More than half of the buffer is bytes that have arrived and are needed; a length in the input
     * alone never leads here. */
    size_t cap = !w->cap ? WINDOW_FIRST : w->cap > max / 2 ? max : w->cap * 2;
    if (w->mapping.ptr)
        cap = w->cap ? cap : w->mapping.len < WINDOW_FILE ? w->mapping.len : WINDOW_FILE;
    perfile_status st = grow(w, cap < max ? cap : max, err);
    if (st == PERFILE_OK && w->len == 0)
        start_at_page_offset(w);
    return st;
}

/* Reads once after the data, as much as fits.  *got is 0 at the end of input. */
static perfile_status read_some(pf_window *w, size_t *got, perfile_error *err)
{
    uint64_t end = w->at + w->len;
    size_t n = w->cap - w->head - w->len;
    *got = 0;
    if (w->base.size != PF_SIZE_UNKNOWN && n > w->base.size - end)
        n = (size_t)(w->base.size - end);
    if (w->mapping.ptr && w->next_read < w->cap) {
        const size_t most = w->next_read > WINDOW_HEAD ? w->next_read : WINDOW_HEAD;
        n = n < most ? n : most;
        w->next_read = 2 * most;
    }
    int64_t r = n ? w->read(w, end, w->buf + w->head + w->len, n) : 0;
    if (r < 0) {
        perfile_status st =
            pf_fail_io(err, (int)-r, "source.read", "cannot read '%s'", w->base.name);
        pf_error_at(err, end);
        return st;
    }
    if ((uint64_t)r > n)
        return pf_fail(err, PERFILE_E_USAGE, "source.read",
                       "'%s': asked for %zu bytes, the callback says it read %" PRId64,
                       w->base.name, n, r);
    w->len += (size_t)r;
    /* A file with a mapping was truncated: access to the mapping after its new end would raise
     * SIGBUS. */
    if (r == 0 && n && w->mapping.ptr)
        return pf_fail(err, PERFILE_E_IO, "source.read", "the file was cut while it was read");
    if (r == 0)
        w->base.size = end; /* end of a stream, or of a file that was truncated while it is read */
    *got = (size_t)r;
    return PERFILE_OK;
}

/* Moves the window to `offset` and drops the bytes before it.  A seekable source may jump anywhere;
 * a stream reads and discards up to `offset`, and cannot go back. */
static perfile_status advance(pf_window *w, uint64_t offset, perfile_error *err)
{
    if (offset < w->at || offset - w->at > w->len) {
        if (w->base.seekable) {
            /* A step back to bytes that are still in the buffer needs no read. */
            uint64_t step_back = offset < w->at ? w->at - offset : UINT64_MAX;
            bool kept = step_back <= w->n_before;
            w->at = offset;
            w->head = kept ? w->head - (size_t)step_back : 0;
            w->len = kept ? w->len + (size_t)step_back : 0;
            w->n_before = kept ? w->n_before - (size_t)step_back : 0;
            w->next_read = kept ? w->next_read : 0;
            return PERFILE_OK;
        }
        if (offset < w->at)
            return pf_fail(err, PERFILE_E_USAGE, "source.offset",
                           "'%s': offset %" PRIu64 " was released, the stream is at %" PRIu64,
                           w->base.name, offset, w->at);
    }
    /* A stream: `offset` is after the buffer, so read and discard. */
    while (offset - w->at > w->len) {
        w->at += w->len;
        w->len = w->n_before = 0;
        if (w->base.size != PF_SIZE_UNKNOWN)
            return PERFILE_OK; /* the end came first */
        size_t got;
        perfile_status st = make_room(w, err);
        if (st == PERFILE_OK)
            st = read_some(w, &got, err);
        if (st != PERFILE_OK)
            return st;
    }
    size_t n = (size_t)(offset - w->at);
    w->at = offset;
    w->head += n;
    w->n_before += n;
    w->len -= n;
    return PERFILE_OK;
}

/* Returns all bytes from `offset` to the end, from the mapping. */
static perfile_bytes from_mapping(const pf_window *w, uint64_t offset)
{
    if (offset >= w->base.size)
        return (perfile_bytes){NULL, 0};
    return (perfile_bytes){w->mapping.ptr + offset, (size_t)(w->base.size - offset)};
}

/* See pf_source_run().  After advance() w->at == offset, except on a stream that ended before
 * `offset`. */
static perfile_status window_run(perfile_source *s, uint64_t offset, size_t need,
                                 perfile_bytes *run, perfile_error *err)
{
    pf_window *w = (pf_window *)s;
    *run = (perfile_bytes){NULL, 0};
    if (s->size != PF_SIZE_UNKNOWN) {
        if (offset >= s->size && s->seekable)
            return PERFILE_OK; /* on a stream, advance() still checks and releases */
        uint64_t left = offset < s->size ? s->size - offset : 0;
        if (need > left)
            need = (size_t)left;
    }
    /* Long spans come from the mapping and do not move the window. */
    if (w->mapping.ptr && (need > WINDOW_MOST || need > window_max(w))) {
        *run = from_mapping(w, offset);
        return PERFILE_OK;
    }
    if (need > window_max(w)) {
        perfile_status st = pf_fail(err, PERFILE_E_LIMIT, "window_bytes",
                                    "%zu bytes wanted at once, the limit is %" PRIu64, need,
                                    s->limits.window_bytes);
        pf_error_at(err, offset);
        return st;
    }
    perfile_status st = advance(w, offset, err);
    if (st != PERFILE_OK)
        return st;
    while (w->at == offset && w->len < need) {
        size_t got;
        st = make_room(w, err);
        if (st == PERFILE_OK)
            st = read_some(w, &got, err);
        if (st != PERFILE_OK)
            return st;
        if (!got)
            break;
    }
    if (w->at == offset && w->len)
        *run = (perfile_bytes){w->buf + w->head, w->len};
    return PERFILE_OK;
}

/* See pf_source_view().  Without a mapping the span is valid only until the next call. */
static perfile_status window_view(perfile_source *s, uint64_t offset, size_t need,
                                  perfile_bytes *run, perfile_error *err)
{
    const pf_window *w = (const pf_window *)s;
    if (!w->mapping.ptr)
        return window_run(s, offset, need, run, err);
    *run = from_mapping(w, offset);
    return PERFILE_OK;
}

static void window_release(perfile_source *s, uint64_t offset, uint64_t len)
{
    const pf_window *w = (const pf_window *)s;
    if (w->mapping.ptr)
        pf_map_release(w->mapping, offset, len);
}

static void window_close(perfile_source *s)
{
    pf_window *w = (pf_window *)s;
    if (w->release)
        w->release(w);
    if (w->mapping.ptr)
        munmap((void *)(uintptr_t)w->mapping.ptr, w->mapping.len);
    pf_free(w->memory);
}

const pf_source_ops pf_window_ops = {
    .run = window_run, .view = window_view, .release = window_release, .close = window_close};

/* Calls the `waiting` callback if the next read() from a pipe would block. */
static void notify_before_wait(const pf_window *w)
{
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    if (w->base.waiting && !w->base.seekable && poll(&p, 1, 0) == 0)
        w->base.waiting(w->base.waiting_user);
}

/* The `read` of a window over a descriptor.  Uses pread() for regular files, because the file
 * position belongs to the caller. */
static int64_t fd_read(pf_window *w, uint64_t at, void *buf, size_t len)
{
    notify_before_wait(w);
    for (;;) {
        ssize_t n = w->base.seekable ? pread(w->fd, buf, len, (off_t)at) : read(w->fd, buf, len);
        if (n >= 0)
            return n;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            /* The descriptor is non-blocking: wait here, so that "no data yet" does not look like
             * the end. */
            struct pollfd p = {.fd = w->fd, .events = POLLIN};
            if (poll(&p, 1, -1) >= 0)
                continue;
        }
        if (errno != EINTR)
            return -errno;
    }
}

static void fd_release(pf_window *w)
{
    close(w->fd);
}

perfile_status pf_source_window(int fd, bool own, uint64_t size, const char *name,
                                const perfile_source_options *options, perfile_source **source,
                                perfile_error *err)
{
    pf_window *w;
    perfile_status st = pf_source_new(sizeof *w, &pf_window_ops, name, options, &w, err);
    if (st != PERFILE_OK)
        return st;
    w->base.size = size;
    w->base.seekable = size != PF_SIZE_UNKNOWN;
    w->read = fd_read;
    w->release = own ? fd_release : NULL;
    w->fd = fd;
    *source = &w->base;
    return PERFILE_OK;
}

void pf_window_add_mapping(perfile_source *window, perfile_bytes mapping)
{
    ((pf_window *)window)->mapping = mapping;
    window->lasting = true;
}

/* Bytes from functions of the caller: a window that reads through callbacks. */

/* The `read` of the window.  Seeks first if the callback is not at `at`.  No error is retried, not
 * even -EINTR: a program ends the reading that way. */
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
    /* An error becomes an int in pf_fail_io(), so a value that is not an errno is reported as
     * EIO. */
    return n < -INT32_MAX ? -EIO : n;
}

/* The `release` of the window: calls the caller's `close`. */
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
                         : 0; /* unknown offset of a seekable callback: the first read seeks */
    *source = &w->base;
    return PERFILE_OK;
}
