/* Blocks of the file are jobs of a ring (io/workers.h): each is read into the buffer of its slot,
 * and taken back in order.  In front of a buffer there is room for the end of the block before, so
 * that a record that goes over the end of a block lies in one piece.  What is longer than that, or
 * stays (views), is looked at in the mapping beside it.
 *
 * Nobody knows whether what follows will be wanted: after a jump (the bytes behind AUXTRACE records
 * are passed over) one block is asked for, and with each that is used up one more, as many as there
 * are slots at most. */
#include "io/source_ahead.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/workers.h"

enum { BLOCKS_PER_THREAD = 4 };

typedef struct block {
    uint8_t *buf;     /* PF_AHEAD_FRONT bytes for what is in front of it, then its own */
    uint64_t offset;  /* in the file */
    size_t len;       /* that are wanted; when it is done: that there are */
    int error;        /* errno of reading what follows, 0: none */
    pf_scan_fn *scan; /* looks at it when it is read, may be NULL */
    pf_scanned scanned;
} block;

typedef struct ahead {
    perfile_source base;
    perfile_bytes whole;
    int fd;
    bool own;
    pf_workers *workers;
    block *blocks;
    unsigned n_blocks;
    size_t block;   /* bytes of one */
    unsigned depth; /* blocks that are asked for ahead */
    uint64_t next;  /* where the next block begins that is asked for */
    /* What run() can give: bytes of the block that was taken last, and of the one before. */
    const uint8_t *ptr;
    size_t len;
    uint64_t at; /* offset of ptr[0] */
    int error;   /* behind them */
    pf_scan_fn *scan;
    pf_scanned scanned; /* of the block */
} ahead;

static void read_bytes(const ahead *a, block *b)
{
    size_t wanted = b->len;
    b->len = 0;
    b->error = 0;
    while (b->len < wanted) {
        ssize_t n = pread(a->fd, b->buf + PF_AHEAD_FRONT + b->len, wanted - b->len,
                          (off_t)(b->offset + b->len));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            b->error = errno;
        if (n <= 0)
            return;
        b->len += (size_t)n;
    }
}

/* A block, in any thread. */
static void read_block(void *user, unsigned slot)
{
    const ahead *a = user;
    block *b = &a->blocks[slot];
    read_bytes(a, b);
    b->scanned = (pf_scanned){0};
    if (b->scan)
        b->scan((perfile_bytes){b->buf + PF_AHEAD_FRONT, b->len}, b->offset, &b->scanned);
}

static void ask(ahead *a)
{
    while (a->next < a->base.size && pf_workers_submitted(a->workers) < a->depth) {
        block *b = &a->blocks[pf_workers_slot(a->workers)];
        uint64_t left = a->base.size - a->next;
        b->offset = a->next;
        b->scan = a->scan;
        b->len = left < a->block ? (size_t)left : a->block;
        a->next += b->len;
        pf_workers_submit(a->workers);
    }
}

/* Nothing that was read or asked for is of any use. */
static void jump(ahead *a, uint64_t offset)
{
    unsigned slot;
    while (pf_workers_take(a->workers, &slot))
        ;
    a->next = a->at = offset;
    a->len = 0;
    a->error = 0;
    a->scanned = (pf_scanned){0};
    a->depth = 1;
    ask(a);
}

static perfile_status cannot_read(const ahead *a, perfile_error *err)
{
    if (!a->error)
        return pf_fail(err, PERFILE_E_IO, "source.read", "the file was cut while it was read");
    perfile_status st = pf_fail_io(err, a->error, "source.read", "cannot read '%s'", a->base.name);
    pf_error_at(err, a->at + a->len);
    return st;
}

/* Takes the next block; what is left of this one from `offset` on goes in front of it. */
static perfile_status advance(ahead *a, uint64_t offset, perfile_error *err)
{
    size_t left = a->len - (size_t)(offset - a->at);
    unsigned slot;
    /* One slot fewer than there are: the bytes in front of the next block are still in theirs. */
    if (a->depth < a->n_blocks - 1)
        a->depth++;
    if (!pf_workers_submitted(a->workers))
        ask(a);
    if (!pf_workers_take(a->workers, &slot)) {
        a->error = 0;
        return cannot_read(a, err); /* the last block was shorter than the file said */
    }
    const block *b = &a->blocks[slot];
    uint8_t *front = b->buf + PF_AHEAD_FRONT - left;
    if (left)
        memcpy(front, a->ptr + (a->len - left), left);
    a->ptr = front;
    a->at = offset;
    a->len = left;
    a->error = b->error;
    bool gap = b->offset != offset + left;
    if (gap || b->len == 0)
        return cannot_read(a, err);
    a->len += b->len;
    a->scanned = b->scanned;
    ask(a);
    return PERFILE_OK;
}

static perfile_bytes mapped(const ahead *a, uint64_t offset)
{
    if (offset >= a->base.size)
        return (perfile_bytes){NULL, 0};
    return (perfile_bytes){a->whole.ptr + offset, (size_t)(a->base.size - offset)};
}

static perfile_status ahead_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                                perfile_error *err)
{
    ahead *a = (ahead *)s;
    *run = (perfile_bytes){NULL, 0};
    if (offset >= s->size)
        return PERFILE_OK;
    if (need > s->size - offset)
        need = (size_t)(s->size - offset);
    if (need > PF_AHEAD_FRONT) {
        *run = mapped(a, offset);
        return PERFILE_OK;
    }
    if (offset < a->at || offset - a->at > a->len)
        jump(a, offset);
    while (offset - a->at == a->len || a->len - (offset - a->at) < need) {
        perfile_status st = advance(a, offset, err);
        if (st != PERFILE_OK)
            return st;
    }
    *run = (perfile_bytes){a->ptr + (offset - a->at), a->len - (size_t)(offset - a->at)};
    return PERFILE_OK;
}

static perfile_status ahead_view(perfile_source *s, uint64_t offset, size_t need,
                                 perfile_bytes *run, perfile_error *err)
{
    (void)need, (void)err;
    *run = mapped((const ahead *)s, offset);
    return PERFILE_OK;
}

static bool ahead_scanned(perfile_source *s, pf_scan_fn *scan, pf_scanned *scanned)
{
    ahead *a = (ahead *)s;
    bool any = a->scan == scan && a->scanned.end > a->scanned.start;
    a->scan = scan;
    if (any)
        *scanned = a->scanned;
    return any;
}

static void ahead_release(perfile_source *s, uint64_t offset, uint64_t len)
{
    pf_map_release(((const ahead *)s)->whole, offset, len);
}

static void ahead_close(perfile_source *s)
{
    ahead *a = (ahead *)s;
    pf_workers_free(a->workers);
    for (unsigned i = 0; a->blocks && i < a->n_blocks; i++)
        pf_free(a->blocks[i].buf);
    pf_free(a->blocks);
    munmap((void *)(uintptr_t)a->whole.ptr, a->whole.len);
    if (a->own)
        close(a->fd);
}

static const pf_source_ops ahead_ops = {
    .run = ahead_run,
    .view = ahead_view,
    .scanned = ahead_scanned,
    .release = ahead_release,
    .close = ahead_close,
};

static perfile_status make_blocks(ahead *a, unsigned threads, perfile_error *err)
{
    a->n_blocks = BLOCKS_PER_THREAD * threads;
    a->blocks = pf_alloc(a->n_blocks, sizeof *a->blocks);
    if (!a->blocks)
        return pf_fail_nomem(err, "source.ahead");
    for (unsigned i = 0; i < a->n_blocks; i++)
        if (!(a->blocks[i].buf = pf_realloc(NULL, PF_AHEAD_FRONT + a->block, 1)))
            return pf_fail_nomem(err, "source.ahead");
    return pf_workers_new(threads, a->n_blocks, read_block, a, &a->workers, err);
}

perfile_status pf_source_ahead(int fd, bool own, perfile_bytes whole, size_t block_bytes,
                               const char *name, const perfile_source_options *options,
                               perfile_source **source, perfile_error *err)
{
    ahead *a;
    perfile_status st = pf_source_new(sizeof *a, &ahead_ops, name, options, &a, err);
    if (st != PERFILE_OK)
        return st;
    a->block = block_bytes;
    st = make_blocks(a, pf_workers_threads(options->threads), err);
    if (st != PERFILE_OK) {
        a->whole.len = 0;
        perfile_source_close(&a->base);
        return st;
    }
    a->whole = whole;
    a->fd = fd;
    a->own = own;
    a->base.size = whole.len;
    a->base.seekable = a->base.lasting = true;
    *source = &a->base;
    return PERFILE_OK;
}
