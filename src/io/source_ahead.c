/* Blocks of the file are jobs of a ring (io/workers.h), taken back in order.  A thread reads a
 * block into some buffer, and looks at it for who asked for that (pf_scan).  Where it found nearly
 * all of the block to be a stretch that nobody else looks at, it keeps the bytes in front of the
 * stretch and behind it, the edges, and reads the next block into the same buffer: that one stays
 * in the cache of its processor, which is half of the time.  Else the buffer stays with the block
 * until the caller has gone on.  If the bytes of a stretch are wanted all the same, they are read
 * again.
 *
 * In front of a buffer, and of edges, there is room for the end of the block before, so that a
 * record that goes over the end of a block lies in one piece.  What is longer than that, or stays
 * (views), is looked at in the mapping beside it.
 *
 * Nobody knows whether what follows will be wanted: after a jump (the bytes behind AUXTRACE records
 * are passed over) one block is asked for, and with each that is used up one more, as many as there
 * are slots at most.  Where the caller takes much longer for a block than it takes to read it,
 * because it prints it, say, it reads the next one itself: threads are better used otherwise. */
#include "io/source_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/workers.h"

enum {
    BLOCKS_PER_THREAD = 4,
    PAGE = 4096,
    EDGE = PF_AHEAD_FRONT, /* bytes in front of a stretch, and behind it, that are kept at most */
    SLOW = 3               /* times as long as reading and looking take: then nobody reads ahead */
};

typedef struct block {
    uint64_t offset; /* in the file */
    size_t len;      /* bytes that are wanted; when it is done: that there are */
    int error;       /* errno of reading what follows, 0: none */
    uint64_t took;   /* nanoseconds to read it and to look at it */
    uint8_t *buf;    /* PF_AHEAD_FRONT bytes for what is in front of it, then its own; or NULL: */
    uint8_t *edges;  /* PF_AHEAD_FRONT bytes as well, then the two edges of the stretch */
    const pf_scan *scan; /* looks at it when it is read, may be NULL */
    pf_scanned scanned;
    void *notes;
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
    uint64_t given; /* when the caller got the last one; 0: not since the last jump */
    bool slow;      /* it takes SLOW times as long as reading */
    uint64_t next;  /* where the next block begins that is asked for */
    const pf_scan *scan;
    uint8_t *memory; /* of all buffers and edges */
    /* Buffers that no block has; the one that was used last is taken first. */
    pthread_mutex_t lock;
    uint8_t **buffers;
    unsigned n_buffers;
    /* What run() can give: bytes of the block that was taken last, and of the end of the one
     * before; of a block with edges one of these. */
    block *current; /* NULL: none since the last jump */
    const uint8_t *ptr;
    size_t len;
    uint64_t at;     /* offset of ptr[0] */
    uint64_t behind; /* end of the block */
} ahead;

static uint8_t *take_buffer(ahead *a)
{
    pthread_mutex_lock(&a->lock);
    uint8_t *buf = a->buffers[--a->n_buffers]; /* there are as many as blocks */
    pthread_mutex_unlock(&a->lock);
    return buf;
}

static void give_back(ahead *a, block *b)
{
    if (!b || !b->buf)
        return;
    pthread_mutex_lock(&a->lock);
    a->buffers[a->n_buffers++] = b->buf;
    pthread_mutex_unlock(&a->lock);
    b->buf = NULL;
}

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

static size_t front_edge(const block *b)
{
    return (size_t)(b->scanned.start - b->offset);
}

static size_t back_edge(const block *b)
{
    return (size_t)(b->offset + b->len - b->scanned.end);
}

static void scan(ahead *a, block *b)
{
    const uint8_t *bytes = b->buf + PF_AHEAD_FRONT;
    b->scanned.notes = b->notes;
    b->scan->look(b->scan, (perfile_bytes){bytes, b->len}, b->offset, &b->scanned);
    if (b->scanned.end <= b->scanned.start || front_edge(b) > EDGE || back_edge(b) > EDGE)
        return;
    uint8_t *edges = b->edges + PF_AHEAD_FRONT;
    memcpy(edges, bytes, front_edge(b));
    memcpy(edges + front_edge(b), bytes + b->len - back_edge(b), back_edge(b));
    give_back(a, b);
}

static uint64_t now(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A block, in any thread. */
static void read_block(void *user, unsigned slot)
{
    ahead *a = user;
    block *b = &a->blocks[slot];
    const uint64_t begun = now();
    b->buf = take_buffer(a);
    read_bytes(a, b);
    b->scanned = (pf_scanned){0};
    if (b->scan)
        scan(a, b);
    b->took = now() - begun;
}

/* Without memory for the notes nobody looks. */
static const pf_scan *scan_of(const ahead *a, block *b)
{
    if (a->scan && !b->notes)
        b->notes = pf_alloc(1, a->scan->note_bytes);
    return b->notes ? a->scan : NULL;
}

static void ask(ahead *a)
{
    const unsigned depth = a->slow ? 1 : a->depth;
    while (a->next < a->base.size && pf_workers_submitted(a->workers) < depth) {
        block *b = &a->blocks[pf_workers_slot(a->workers)];
        uint64_t left = a->base.size - a->next;
        b->offset = a->next;
        b->scan = scan_of(a, b);
        b->len = left < a->block ? (size_t)left : a->block;
        a->next += b->len;
        (a->slow ? pf_workers_submit_quietly : pf_workers_submit)(a->workers);
    }
}

/* Nothing that was read or asked for is of any use. */
static void jump(ahead *a, uint64_t offset)
{
    unsigned slot;
    while (pf_workers_take(a->workers, &slot))
        give_back(a, &a->blocks[slot]);
    give_back(a, a->current);
    a->current = NULL;
    a->next = a->at = a->behind = offset;
    a->len = 0;
    a->depth = 1;
    a->given = 0;
    ask(a);
}

static perfile_status cannot_read(const ahead *a, perfile_error *err)
{
    if (!a->current || !a->current->error)
        return pf_fail(err, PERFILE_E_IO, "source.read", "the file was cut while it was read");
    perfile_status st =
        pf_fail_io(err, a->current->error, "source.read", "cannot read '%s'", a->base.name);
    pf_error_at(err, a->behind);
    return st;
}

/* The block as a whole, or what is in front of its stretch, `left` bytes of the one before first.
 */
static void show(ahead *a, block *b, size_t left)
{
    a->current = b;
    a->ptr = (b->buf ? b->buf : b->edges) + PF_AHEAD_FRONT - left;
    a->at = b->offset - left;
    a->len = left + (b->buf ? b->len : front_edge(b));
    a->behind = b->offset + b->len;
}

/* What is behind the stretch. */
static void show_behind(ahead *a)
{
    const block *b = a->current;
    a->ptr = b->edges + PF_AHEAD_FRONT + front_edge(b);
    a->at = b->scanned.end;
    a->len = back_edge(b);
}

/* The stretch, too, which is read again. */
static void show_all(ahead *a)
{
    block *b = a->current;
    size_t left = (size_t)(b->offset - a->at);
    b->buf = take_buffer(a);
    memcpy(b->buf + PF_AHEAD_FRONT - left, a->ptr, left);
    read_bytes(a, b);
    show(a, b, left);
}

/* Takes the next block; what is left of this one from `offset` on goes in front of it. */
static perfile_status advance(ahead *a, uint64_t offset, perfile_error *err)
{
    const uint64_t asked = now();
    size_t left = (size_t)(a->behind - offset);
    unsigned slot;
    /* One slot fewer than there are: the bytes in front of the next block are still in theirs. */
    if (a->depth < a->n_blocks - 1)
        a->depth++;
    if (!pf_workers_submitted(a->workers))
        ask(a);
    if (!pf_workers_take(a->workers, &slot)) {
        give_back(a, a->current);
        a->current = NULL;
        return cannot_read(a, err); /* the last block was shorter than the file said */
    }
    block *b = &a->blocks[slot];
    a->slow = a->given && asked - a->given > SLOW * b->took;
    if (left)
        memcpy((b->buf ? b->buf : b->edges) + PF_AHEAD_FRONT - left, a->ptr + (a->len - left),
               left);
    give_back(a, a->current);
    bool gap = b->offset != a->behind;
    show(a, b, left);
    if (gap || b->len == 0)
        return cannot_read(a, err);
    ask(a);
    a->given = now();
    return PERFILE_OK;
}

static perfile_bytes mapped(const ahead *a, uint64_t offset)
{
    if (offset >= a->base.size)
        return (perfile_bytes){NULL, 0};
    return (perfile_bytes){a->whole.ptr + offset, (size_t)(a->base.size - offset)};
}

static void go_to(ahead *a, uint64_t offset)
{
    if (offset < a->at || offset > a->behind)
        jump(a, offset);
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
    go_to(a, offset);
    while (offset > a->at + a->len || a->len - (offset - a->at) < need || offset == a->behind) {
        const bool edges = a->current && !a->current->buf;
        if (edges && offset >= a->current->scanned.end && a->at < a->current->scanned.end) {
            show_behind(a);
        } else if (edges && a->at < a->current->scanned.end) {
            show_all(a);
        } else {
            perfile_status st = advance(a, offset, err);
            if (st != PERFILE_OK)
                return st;
        }
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

static bool ahead_scanned(perfile_source *s, const pf_scan *scan, uint64_t offset,
                          pf_scanned *scanned)
{
    ahead *a = (ahead *)s;
    a->scan = scan;
    if (offset >= s->size)
        return false;
    go_to(a, offset);
    if (offset == a->behind && advance(a, offset, NULL) != PERFILE_OK) {
        jump(a, offset); /* run() says why */
        return false;
    }
    const block *b = a->current;
    if (!b || !b->scan || b->scanned.end <= b->scanned.start || offset > b->scanned.start)
        return false;
    *scanned = b->scanned;
    return true;
}

static void ahead_settle(perfile_source *s)
{
    pf_workers_settle(((ahead *)s)->workers);
}

static void ahead_release(perfile_source *s, uint64_t offset, uint64_t len)
{
    pf_map_release(((const ahead *)s)->whole, offset, len);
}

static void free_blocks(ahead *a)
{
    for (unsigned i = 0; a->blocks && i < a->n_blocks; i++)
        pf_free(a->blocks[i].notes);
    pf_free(a->blocks);
    pf_free(a->buffers);
    pf_free(a->memory);
}

static void ahead_close(perfile_source *s)
{
    ahead *a = (ahead *)s;
    pf_workers_free(a->workers);
    free_blocks(a);
    pthread_mutex_destroy(&a->lock);
    munmap((void *)(uintptr_t)a->whole.ptr, a->whole.len);
    if (a->own)
        close(a->fd);
}

static const pf_source_ops ahead_ops = {
    .run = ahead_run,
    .view = ahead_view,
    .scanned = ahead_scanned,
    .settle = ahead_settle,
    .release = ahead_release,
    .close = ahead_close,
};

/* Up to where a page begins: the kernel copies twice as fast to there. */
static size_t to_page(uintptr_t n)
{
    return (size_t)(-n & (PAGE - 1));
}

/* Memory that nobody writes to costs nothing: most of the buffers are never used. */
static perfile_status make_blocks(ahead *a, unsigned threads, perfile_error *err)
{
    const size_t buf = PF_AHEAD_FRONT + a->block + to_page(a->block);
    const size_t edges = PF_AHEAD_FRONT + 2 * EDGE;
    a->n_blocks = BLOCKS_PER_THREAD * threads;
    a->blocks = pf_alloc(a->n_blocks, sizeof *a->blocks);
    a->buffers = pf_alloc(a->n_blocks, sizeof *a->buffers);
    a->memory = pf_realloc(NULL, PAGE + a->n_blocks * (buf + edges), 1);
    if (!a->blocks || !a->buffers || !a->memory)
        return pf_fail_nomem(err, "source.ahead");
    uint8_t *at = a->memory + to_page((uintptr_t)a->memory);
    for (unsigned i = 0; i < a->n_blocks; i++, at += buf + edges) {
        a->buffers[a->n_buffers++] = at;
        a->blocks[i].edges = at + buf;
    }
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
    pthread_mutex_init(&a->lock, NULL);
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
