/* Reading ahead of the caller, in threads.
 *
 * Blocks of the file are jobs of a ring of slots (io/workers.h), and are taken back in file order.
 * The thread that reads a block also scans it (pf_scan) while the bytes are in its cache.  If the
 * scan processed nearly the whole block, only the bytes in front of and behind the scanned range
 * are kept (the *edges*), and the thread reads its next block into the same buffer: that buffer
 * stays in the cache of its processor, which saves half of the time.  Otherwise the buffer stays
 * with the block until the caller has moved on.  If the caller wants bytes of a scanned range after
 * all, the block is read again.
 *
 * In front of each buffer, and of edges, is room for the tail of the previous block, so that a
 * record that crosses a block boundary is contiguous.  Longer spans (more than PF_AHEAD_FRONT) and
 * views come from the mapping.
 *
 * What the caller keeps (pf_source_keep()) is the buffer of its current block: it gets no other
 * block before the caller lets go.  There are twice as many buffers as blocks, so that as many can
 * be kept as are read.
 *
 * How far to read ahead is found out while reading.  At the start and after a jump (the caller
 * passes over the data of AUXTRACE records, for example) the caller reads one short block itself:
 * many look at a few bytes only, and never need a thread.  Then two are requested, and with each
 * block that is used up one more, up to the number of slots.  If the caller takes much longer for a
 * block than reading it takes, because it prints records, for example, the caller reads the next
 * block itself: its threads are better used for its own work. */
#include "io/source_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/source_kind.h"
#include "io/workers.h"

enum {
    BLOCKS_PER_THREAD = 4,
    FIRST_BLOCK = 64 << 10, /* bytes of the block behind a jump */
    PAGE = 4096,
    EDGE = PF_AHEAD_FRONT, /* longest edge that is kept, in front of and behind a scanned range */
    SLOW = 3 /* the caller is slow if it takes this many times as long as reading and scanning */
};

/* One block of the file; there is one per slot of the ring. */
typedef struct block {
    uint64_t offset;  /* of its first byte in the file */
    size_t len;       /* bytes requested; once the job is done, bytes read */
    int error;        /* errno of the read behind those `len` bytes, 0: none */
    uint64_t read_ns; /* nanoseconds that reading and scanning took */
    /* Either the whole block or its edges are kept.  Both begin with PF_AHEAD_FRONT bytes of room
     * for the tail of the previous block. */
    uint8_t *buf;        /* then the bytes of the block; NULL: only the edges are kept */
    uint8_t *edges;      /* then the front edge and the back edge, one after the other */
    const pf_scan *scan; /* the scan to run on it; NULL: none */
    pf_scanned scanned;  /* its result */
    void *notes;         /* memory for pf_scanned.notes, kept from block to block */
} block;

/* The source.  All members belong to the caller's thread, except the list of buffers under `lock`
 * and the blocks whose jobs are under way. */
typedef struct ahead {
    perfile_source base;
    perfile_bytes mapping;
    int fd;
    bool own; /* close() closes `fd` */
    pf_workers *workers;
    block *blocks;
    unsigned n_blocks;
    size_t block;         /* bytes of one block; the last one may be shorter */
    unsigned depth;       /* how many blocks may be requested and not taken back */
    uint64_t returned_ns; /* time when the caller got the current block; 0: the first one after a
                             restart */
    uint64_t block_ns;    /* what the caller takes for a block, on average; 0: not known */
    uint64_t read_ns;     /* what reading one takes: the least lately, for a thread that had to
                             wait for a processor says nothing, but that there are too many */
    bool caller_is_slow;  /* see SLOW */
    uint64_t next_offset; /* offset of the next block to request */
    const pf_scan *scan;  /* registered by ahead_scanned(); NULL: none */
    uint8_t *memory;      /* one allocation for all buffers */
    uint8_t *edges;       /* one for all edges */
    /* Buffers that no block uses, as a stack: the one used last is the most likely to be cached. */
    pthread_mutex_t lock;
    uint8_t **buffers;
    unsigned n_buffers;
    size_t buffer_bytes; /* of one, its room in front included */
    unsigned *kept;      /* per buffer, by its place in `memory`: how often it was kept */
    unsigned n_kept;     /* buffers that are */
    /* The bytes that run() can return: the tail of the previous block and then the current block,
     * or one edge of it. */
    block *current;     /* the block that was taken last; NULL: none since the last restart */
    const uint8_t *ptr; /* the bytes */
    size_t len;
    uint64_t at;        /* file offset of ptr[0] */
    uint64_t block_end; /* file offset of the end of the current block */
} ahead;

static uint8_t *acquire_buffer(ahead *a)
{
    pthread_mutex_lock(&a->lock);
    uint8_t *buf = a->buffers[--a->n_buffers]; /* never empty: see ahead_keep() */
    pthread_mutex_unlock(&a->lock);
    return buf;
}

static void return_buffer(ahead *a, uint8_t *buf)
{
    pthread_mutex_lock(&a->lock);
    a->buffers[a->n_buffers++] = buf;
    pthread_mutex_unlock(&a->lock);
}

/* How often the buffer is kept.  Only the current block's can be, so that this is the caller's. */
static unsigned *times_kept(const ahead *a, const uint8_t *buf)
{
    return &a->kept[(size_t)(buf - a->memory) / a->buffer_bytes];
}

/* Takes the buffer away from `b`, and returns it to the stack unless it is kept.  NULL, or a block
 * without a buffer, is fine. */
static void release_buffer(ahead *a, block *b)
{
    if (!b || !b->buf)
        return;
    if (!*times_kept(a, b->buf))
        return_buffer(a, b->buf);
    b->buf = NULL;
}

/* Reads b->len bytes at b->offset; b->len becomes the number of bytes read. */
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

/* Bytes of the block in front of the scanned range. */
static size_t front_edge(const block *b)
{
    return (size_t)(b->scanned.start - b->offset);
}

/* Bytes of the block behind the scanned range. */
static size_t back_edge(const block *b)
{
    return (size_t)(b->offset + b->len - b->scanned.end);
}

/* Runs the scan.  If both edges are short enough, copies them and gives the buffer back. */
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
    release_buffer(a, b);
}

static uint64_t now_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The job of a slot: reads and scans a block.  Runs in any thread, also the caller's. */
static void read_block(void *user, unsigned slot)
{
    ahead *a = user;
    block *b = &a->blocks[slot];
    const uint64_t begun = now_ns();
    b->buf = acquire_buffer(a);
    read_bytes(a, b);
    b->scanned = (pf_scanned){0};
    if (b->scan)
        scan(a, b);
    b->read_ns = now_ns() - begun;
}

/* The scan for block `b`; NULL if none is registered or there is no memory for its notes.  Without
 * a scan the caller reads all bytes itself, so that failure here costs time only. */
static const pf_scan *scan_for(const ahead *a, block *b)
{
    if (a->scan && !b->notes)
        b->notes = pf_alloc(1, a->scan->note_bytes);
    return b->notes ? a->scan : NULL;
}

/* Submits jobs up to the present depth.  The first block behind a jump, and those of a slow caller,
 * are requested one by one, and no thread is woken for them: the caller reads them itself when it
 * waits for them. */
static void request_blocks(ahead *a)
{
    const bool first = !a->current, alone = first || a->caller_is_slow;
    const unsigned depth = alone ? 1 : a->depth;
    const size_t most = first && FIRST_BLOCK < a->block ? FIRST_BLOCK : a->block;
    while (a->next_offset < a->base.size && pf_workers_submitted(a->workers) < depth) {
        block *b = &a->blocks[pf_workers_slot(a->workers)];
        uint64_t left = a->base.size - a->next_offset;
        b->offset = a->next_offset;
        b->scan = scan_for(a, b);
        b->len = left < most ? (size_t)left : most;
        a->next_offset += b->len;
        (alone ? pf_workers_submit_without_wakeup : pf_workers_submit)(a->workers);
    }
}

/* Drops all blocks, requested or read, and begins again at `offset`. */
static void restart_at(ahead *a, uint64_t offset)
{
    unsigned slot;
    while (pf_workers_take(a->workers, &slot))
        release_buffer(a, &a->blocks[slot]);
    release_buffer(a, a->current);
    a->current = NULL;
    a->next_offset = a->at = a->block_end = offset;
    a->len = 0;
    a->depth = 1;
    a->returned_ns = 0;
}

/* PERFILE_E_IO for the bytes behind the current block: the errno of the read, or, without one, the
 * file is shorter than it was when it was mapped. */
static perfile_status fail_read(const ahead *a, perfile_error *err)
{
    if (!a->current || !a->current->error)
        return pf_fail(err, PERFILE_E_IO, "source.read", "the file was cut while it was read");
    perfile_status st =
        pf_fail_io(err, a->current->error, "source.read", "cannot read '%s'", a->base.name);
    pf_error_at(err, a->block_end);
    return st;
}

/* Makes `b` the current block and shows run() its bytes, or its front edge if only edges are kept,
 * with the `tail` bytes of the previous block in front, which are already in their place. */
static void expose_block(ahead *a, block *b, size_t tail)
{
    a->current = b;
    a->ptr = (b->buf ? b->buf : b->edges) + PF_AHEAD_FRONT - tail;
    a->at = b->offset - tail;
    a->len = tail + (b->buf ? b->len : front_edge(b));
    a->block_end = b->offset + b->len;
}

/* Shows run() the bytes behind the scanned range, of a block of which only edges are kept. */
static void expose_back_edge(ahead *a)
{
    const block *b = a->current;
    a->ptr = b->edges + PF_AHEAD_FRONT + front_edge(b);
    a->at = b->scanned.end;
    a->len = back_edge(b);
}

/* The caller wants bytes of the scanned range: reads the current block again and shows all of it.
 */
static void reread_block(ahead *a)
{
    block *b = a->current;
    size_t tail = (size_t)(b->offset - a->at);
    b->buf = acquire_buffer(a);
    memcpy(b->buf + PF_AHEAD_FRONT - tail, a->ptr, tail);
    read_bytes(a, b);
    expose_block(a, b, tail);
}

/* The caller took so long for a block of the same size as `b`. */
static void compare_times(ahead *a, uint64_t ns, const block *b)
{
    const uint64_t longer = a->read_ns + a->read_ns / 8;
    a->read_ns = a->read_ns && longer < b->read_ns ? longer : b->read_ns;
    a->block_ns = a->block_ns ? a->block_ns / 4 * 3 + ns / 4 : ns;
    a->caller_is_slow = a->block_ns > SLOW * a->read_ns;
}

/* Takes the next block and makes it current.  The bytes of the present one from `offset` on (its
 * tail, at most PF_AHEAD_FRONT) are copied in front of the new one. */
static perfile_status advance(ahead *a, uint64_t offset, perfile_error *err)
{
    const uint64_t asked = now_ns();
    const size_t tail = (size_t)(a->block_end - offset);
    const bool first = !a->current;
    unsigned slot;
    /* One block fewer than there are slots: the slot of the current block must not be reused while
     * the caller still reads from it. */
    if (!first && a->depth < a->n_blocks - 1)
        a->depth++;
    if (!pf_workers_submitted(a->workers))
        request_blocks(a);
    if (!pf_workers_take(a->workers, &slot)) {
        release_buffer(a, a->current);
        a->current = NULL;
        return fail_read(a, err); /* the file is shorter than its size was */
    }
    block *b = &a->blocks[slot];
    if (a->returned_ns)
        compare_times(a, asked - a->returned_ns, b);
    if (tail)
        memcpy((b->buf ? b->buf : b->edges) + PF_AHEAD_FRONT - tail, a->ptr + (a->len - tail),
               tail);
    release_buffer(a, a->current);
    bool gap = b->offset != a->block_end; /* the previous block was read short */
    expose_block(a, b, tail);
    if (gap || b->len == 0)
        return fail_read(a, err);
    if (!first)
        request_blocks(a);
    a->returned_ns = now_ns();
    return PERFILE_OK;
}

/* All bytes from `offset` to the end, out of the mapping. */
static perfile_bytes from_mapping(const ahead *a, uint64_t offset)
{
    if (offset >= a->base.size)
        return (perfile_bytes){NULL, 0};
    return (perfile_bytes){a->mapping.ptr + offset, (size_t)(a->base.size - offset)};
}

/* Restarts at `offset` unless it lies in what the current block can show. */
static void restart_unless_near(ahead *a, uint64_t offset)
{
    if (offset < a->at || offset > a->block_end)
        restart_at(a, offset);
}

/* See pf_source_run().  Each step of the loop shows more of the file: the back edge, the whole
 * block again, or the next block, until `need` bytes at `offset` are visible. */
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
        *run = from_mapping(a, offset);
        return PERFILE_OK;
    }
    restart_unless_near(a, offset);
    while (offset > a->at + a->len || a->len - (offset - a->at) < need || offset == a->block_end) {
        const bool edges = a->current && !a->current->buf;
        if (edges && offset >= a->current->scanned.end && a->at < a->current->scanned.end) {
            expose_back_edge(a);
        } else if (edges && a->at < a->current->scanned.end) {
            reread_block(a);
        } else {
            perfile_status st = advance(a, offset, err);
            if (st != PERFILE_OK)
                return st;
        }
    }
    *run = (perfile_bytes){a->ptr + (offset - a->at), a->len - (size_t)(offset - a->at)};
    return PERFILE_OK;
}

/* See pf_source_view(): the mapping stays until close. */
static perfile_status ahead_view(perfile_source *s, uint64_t offset, size_t need,
                                 perfile_bytes *run, perfile_error *err)
{
    (void)need, (void)err;
    *run = from_mapping((const ahead *)s, offset);
    return PERFILE_OK;
}

/* See pf_source_scanned().  An error of reading is not reported here; the run() that follows meets
 * it again and reports it. */
static bool ahead_scanned(perfile_source *s, const pf_scan *scan, uint64_t offset,
                          pf_scanned *scanned)
{
    ahead *a = (ahead *)s;
    a->scan = scan;
    if (offset >= s->size)
        return false;
    restart_unless_near(a, offset);
    if (offset == a->block_end && advance(a, offset, NULL) != PERFILE_OK) {
        restart_at(a, offset); /* run() reports the error */
        return false;
    }
    const block *b = a->current;
    if (!b || !b->scan || b->scanned.end <= b->scanned.start || offset > b->scanned.start)
        return false;
    *scanned = b->scanned;
    return true;
}

/* See pf_source_keep().  As many buffers as there are blocks can be kept: the other half is there
 * for the blocks, each of which has one at most. */
static bool ahead_keep(perfile_source *s, perfile_bytes bytes, pf_kept *kept)
{
    ahead *a = (ahead *)s;
    uint8_t *buf = a->current ? a->current->buf : NULL;
    if (!buf || bytes.ptr < a->ptr || bytes.ptr >= a->ptr + a->len ||
        bytes.len > (size_t)(a->ptr + a->len - bytes.ptr))
        return false;
    unsigned *times = times_kept(a, buf);
    if (!*times && a->n_kept == a->n_blocks)
        return false;
    a->n_kept += !*times;
    ++*times;
    *kept = (pf_kept){{a->ptr, a->len}, buf};
    return true;
}

static void ahead_let_go(perfile_source *s, const pf_kept *kept)
{
    ahead *a = (ahead *)s;
    unsigned *times = times_kept(a, kept->of);
    if (--*times)
        return;
    a->n_kept--;
    if (!a->current || a->current->buf != kept->of)
        return_buffer(a, kept->of);
}

static void ahead_wait(perfile_source *s)
{
    pf_workers_wait_all(((ahead *)s)->workers);
}

static void ahead_release(perfile_source *s, uint64_t offset, uint64_t len)
{
    pf_map_release(((const ahead *)s)->mapping, offset, len);
}

static void free_blocks(ahead *a)
{
    for (unsigned i = 0; a->blocks && i < a->n_blocks; i++)
        pf_free(a->blocks[i].notes);
    pf_free(a->blocks);
    pf_free(a->buffers);
    pf_free(a->kept);
    pf_free(a->memory);
    pf_free(a->edges);
}

/* See pf_source_read(): by the caller itself, beside what the threads read. */
static perfile_status ahead_read(perfile_source *s, uint64_t offset, uint8_t *to, size_t n,
                                 perfile_error *err)
{
    return pf_source_pread(((const ahead *)s)->fd, s->name, offset, to, n, err);
}

static void ahead_close(perfile_source *s)
{
    ahead *a = (ahead *)s;
    pf_workers_free(a->workers);
    free_blocks(a);
    pthread_mutex_destroy(&a->lock);
    munmap((void *)(uintptr_t)a->mapping.ptr, a->mapping.len);
    if (a->own)
        close(a->fd);
}

static const pf_source_ops ahead_ops = {
    .run = ahead_run,
    .keep = ahead_keep,
    .let_go = ahead_let_go,
    .read = ahead_read,
    .view = ahead_view,
    .scanned = ahead_scanned,
    .wait = ahead_wait,
    .release = ahead_release,
    .close = ahead_close,
};

/* Bytes from `n` up to the next page boundary.  Buffers begin on one: the kernel copies to them
 * twice as fast. */
static size_t bytes_to_page(uintptr_t n)
{
    return (size_t)(-n & (PAGE - 1));
}

/* Allocates slots and buffers and makes the workers.  Most buffers are never used when scans
 * succeed or nothing is kept; untouched memory has no pages, so that they cost nothing.  Those at
 * the front are used first. */
static perfile_status make_blocks(ahead *a, unsigned threads, perfile_error *err)
{
    const size_t edge = PF_AHEAD_FRONT + 2 * EDGE;
    a->n_blocks = BLOCKS_PER_THREAD * threads;
    const unsigned buffers = 2 * a->n_blocks;
    a->buffer_bytes = PF_AHEAD_FRONT + a->block + bytes_to_page(a->block);
    a->blocks = pf_alloc(a->n_blocks, sizeof *a->blocks);
    a->buffers = pf_alloc(buffers, sizeof *a->buffers);
    a->kept = pf_alloc(buffers, sizeof *a->kept);
    a->memory = pf_alloc_large(buffers * a->buffer_bytes);
    a->edges = pf_realloc(NULL, a->n_blocks * edge, 1);
    if (!a->blocks || !a->buffers || !a->kept || !a->memory || !a->edges)
        return pf_fail_nomem(err, "source.ahead");
    for (unsigned i = 0; i < buffers; i++)
        a->buffers[buffers - 1 - i] = a->memory + i * a->buffer_bytes;
    for (unsigned i = 0; i < a->n_blocks; i++)
        a->blocks[i].edges = a->edges + i * edge;
    a->n_buffers = buffers;
    return pf_workers_new(threads, a->n_blocks, read_block, a, &a->workers, err);
}

perfile_status pf_source_ahead(int fd, bool own, perfile_bytes mapping, size_t block_bytes,
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
        /* The mapping is still the caller's: close() gets an empty one, and no descriptor. */
        a->mapping.len = 0;
        perfile_source_close(&a->base);
        return st;
    }
    a->mapping = mapping;
    a->fd = fd;
    a->own = own;
    a->base.size = mapping.len;
    a->base.seekable = a->base.lasting = true;
    *source = &a->base;
    return PERFILE_OK;
}
