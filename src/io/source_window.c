#include "io/source_window.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* Small inputs have to make it move and grow too. */
#define WINDOW_FIRST ((size_t)512)
#define WINDOW_ROOM  ((size_t)64)
#define WINDOW_FILE  ((size_t)512)
#define WINDOW_MOST  ((size_t)4 << 10)
#define WINDOW_PAGE  ((size_t)8)
#else
#define WINDOW_FIRST ((size_t)1 << 20)
#define WINDOW_ROOM  ((size_t)64 << 10) /* less than this behind the data is worth a move */
/* Beside a mapping, which takes what is longer: what was read is still in the second-level cache
 * when it is looked at, and goes on from there when it is written. */
#define WINDOW_FILE  ((size_t)256 << 10)
#define WINDOW_MOST  ((size_t)4 << 20) /* what looks for records asks for so much */
/* A byte of the input is read to where it lies in a page of the file: the kernel copies from page
 * to page, which is up to twice as fast when both begin at the same place. */
#define WINDOW_PAGE  ((size_t)4 << 10)
#endif

static size_t window_max(const pf_window *w)
{
    uint64_t max = w->base.limits.window_bytes;
    return max < PTRDIFF_MAX ? (size_t)max : (size_t)PTRDIFF_MAX;
}

/* The data go to the front of the buffer, or so far behind it as they are behind the beginning of a
 * page, where that is a move to the front. */
static void to_front(pf_window *w)
{
    size_t head = (size_t)(w->at % WINDOW_PAGE);
    if (head >= w->head || head + w->len >= w->cap)
        head = 0;
    memmove(w->buf + head, w->buf + w->head, w->len);
    w->head = head;
    w->back = 0;
}

static void to_page(pf_window *w)
{
    size_t head = (size_t)(w->at % WINDOW_PAGE);
    w->head = head < w->cap ? head : 0;
    w->back = 0;
}

/* A buffer of `cap` bytes that begins with a page. */
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

/* Makes room behind the data; the caller has made sure that less than window_max() is there. */
static perfile_status make_room(pf_window *w, perfile_error *err)
{
    size_t room = w->cap - w->head - w->len;
    if (w->len == 0)
        to_page(w);
    else if (room < WINDOW_ROOM && w->head >= w->len)
        to_front(w); /* moves no more than was consumed since the last move */
    else if (room == 0 && w->head)
        to_front(w);
    if (w->head + w->len < w->cap)
        return PERFILE_OK;

    /* Full of bytes that have arrived: a length in the input alone never gets us here. */
    size_t max = window_max(w);
    size_t cap = !w->cap ? WINDOW_FIRST : w->cap > max / 2 ? max : w->cap * 2;
    if (w->whole.ptr)
        cap = w->cap ? cap : w->whole.len < WINDOW_FILE ? w->whole.len : WINDOW_FILE;
    perfile_status st = grow(w, cap < max ? cap : max, err);
    if (st == PERFILE_OK && w->len == 0)
        to_page(w);
    return st;
}

/* One read, as much as there is room for; *got is 0 at the end. */
static perfile_status read_some(pf_window *w, size_t *got, perfile_error *err)
{
    uint64_t end = w->at + w->len;
    size_t n = w->cap - w->head - w->len;
    *got = 0;
    if (w->base.size != PF_SIZE_UNKNOWN && n > w->base.size - end)
        n = (size_t)(w->base.size - end);
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
    if (r == 0 && n && w->whole.ptr) /* what was mapped of it is gone, too */
        return pf_fail(err, PERFILE_E_IO, "source.read", "the file was cut while it was read");
    if (r == 0)
        w->base.size = end; /* also of a file that was cut while we read it */
    *got = (size_t)r;
    return PERFILE_OK;
}

/* Drops what lies below `offset`; on a stream, reads on to it. */
static perfile_status advance(pf_window *w, uint64_t offset, perfile_error *err)
{
    if (offset < w->at || offset - w->at > w->len) {
        if (w->base.seekable) {
            uint64_t back = offset < w->at ? w->at - offset : UINT64_MAX;
            bool there = back <= w->back;
            w->at = offset;
            w->head = there ? w->head - (size_t)back : 0;
            w->len = there ? w->len + (size_t)back : 0;
            w->back = there ? w->back - (size_t)back : 0;
            return PERFILE_OK;
        }
        if (offset < w->at)
            return pf_fail(err, PERFILE_E_USAGE, "source.offset",
                           "'%s': offset %" PRIu64 " was released, the stream is at %" PRIu64,
                           w->base.name, offset, w->at);
    }
    while (offset - w->at > w->len) {
        w->at += w->len;
        w->len = w->back = 0;
        if (w->base.size != PF_SIZE_UNKNOWN)
            return PERFILE_OK;
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
    w->back += n;
    w->len -= n;
    return PERFILE_OK;
}

/* Out of the mapping beside it. */
static perfile_bytes mapped(const pf_window *w, uint64_t offset)
{
    if (offset >= w->base.size)
        return (perfile_bytes){NULL, 0};
    return (perfile_bytes){w->whole.ptr + offset, (size_t)(w->base.size - offset)};
}

static perfile_status window_run(perfile_source *s, uint64_t offset, size_t need,
                                 perfile_bytes *run, perfile_error *err)
{
    pf_window *w = (pf_window *)s;
    *run = (perfile_bytes){NULL, 0};
    if (s->size != PF_SIZE_UNKNOWN) {
        if (offset >= s->size && s->seekable)
            return PERFILE_OK;
        uint64_t left = offset < s->size ? s->size - offset : 0;
        if (need > left)
            need = (size_t)left;
    }
    if (w->whole.ptr && (need > WINDOW_MOST || need > window_max(w))) {
        *run = mapped(w, offset);
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

static perfile_status window_view(perfile_source *s, uint64_t offset, size_t need,
                                  perfile_bytes *run, perfile_error *err)
{
    const pf_window *w = (const pf_window *)s;
    if (!w->whole.ptr)
        return window_run(s, offset, need, run, err);
    *run = mapped(w, offset);
    return PERFILE_OK;
}

static void window_release(perfile_source *s, uint64_t offset, uint64_t len)
{
    const pf_window *w = (const pf_window *)s;
    if (w->whole.ptr)
        pf_map_release(w->whole, offset, len);
}

static void window_close(perfile_source *s)
{
    pf_window *w = (pf_window *)s;
    if (w->release)
        w->release(w);
    if (w->whole.ptr)
        munmap((void *)(uintptr_t)w->whole.ptr, w->whole.len);
    pf_free(w->memory);
}

const pf_source_ops pf_window_ops = {
    .run = window_run, .view = window_view, .release = window_release, .close = window_close};

/* Tells whoever wants to know that the next read will wait. */
static void before_wait(const pf_window *w)
{
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    if (w->base.waiting && !w->base.seekable && poll(&p, 1, 0) == 0)
        w->base.waiting(w->base.waiting_user);
}

static int64_t fd_read(pf_window *w, uint64_t at, void *buf, size_t len)
{
    before_wait(w);
    for (;;) {
        ssize_t n = w->base.seekable ? pread(w->fd, buf, len, (off_t)at) : read(w->fd, buf, len);
        if (n >= 0)
            return n;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            /* Somebody made it non-blocking; waiting here keeps that from being the end. */
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

void pf_window_beside(perfile_source *window, perfile_bytes whole)
{
    ((pf_window *)window)->whole = whole;
    window->lasting = true;
}
