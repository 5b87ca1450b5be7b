/* Writing behind: pieces of the output are jobs of a pool of two threads (io/workers.h).
 *
 * The caller only waits (pf_workers_wait_only()): two writes to one file at once would exclude each
 * other in the kernel.  Pieces are therefore written in order, by one thread. */
#include "io/out_behind.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/workers.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PIECE = 256, SLOTS = 4 };
#else
/* PIECE: sort and merge write batches of 256 KiB plus one record (up to 64 KiB), which fit in one
 * piece. */
enum { PIECE = 320 << 10, SLOTS = 4 };
#endif

/* One write. */
typedef struct piece {
    uint64_t offset; /* in the file */
    size_t len;
    int error;            /* result: 0 or a negative errno */
    const uint8_t *bytes; /* what to write: the caller's bytes, or `copy` */
    uint8_t *copy;        /* PIECE bytes of this slot */
} piece;

struct pf_write_behind {
    int fd;
    int error; /* negative errno of the first write that failed, or 0 */
    pf_workers *workers;
    piece pieces[SLOTS]; /* by slot of the pool */
    uint8_t *memory;     /* of all copies */
};

int pf_write_at(int fd, uint64_t offset, perfile_bytes bytes)
{
    while (bytes.len) {
        ssize_t n = pwrite(fd, bytes.ptr, bytes.len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        bytes.ptr += n;
        bytes.len -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

/* The job of a slot. */
static void write_piece(void *user, unsigned slot)
{
    const pf_write_behind *b = user;
    piece *p = &((pf_write_behind *)user)->pieces[slot];
    p->error = pf_write_at(b->fd, p->offset, (perfile_bytes){p->bytes, p->len});
}

perfile_status pf_write_behind_new(int fd, pf_write_behind **behind, perfile_error *err)
{
    pf_write_behind *b = pf_alloc(1, sizeof *b);
    if (!b)
        return pf_fail_nomem(err, "sink.behind");
    b->fd = fd;
    b->memory = pf_realloc(NULL, SLOTS, PIECE);
    perfile_status st = b->memory ? pf_workers_new(2, SLOTS, write_piece, b, &b->workers, err)
                                  : pf_fail_nomem(err, "sink.behind");
    if (st != PERFILE_OK) {
        pf_write_behind_free(b);
        return st;
    }
    pf_workers_wait_only(b->workers);
    for (unsigned i = 0; i < SLOTS; i++)
        b->pieces[i].copy = b->memory + (size_t)i * PIECE;
    *behind = b;
    return PERFILE_OK;
}

/* Waits for the oldest piece and keeps its error; false if there is none. */
static bool take_piece(pf_write_behind *b)
{
    unsigned slot;
    if (!pf_workers_take(b->workers, &slot))
        return false;
    if (b->error == 0)
        b->error = b->pieces[slot].error;
    return true;
}

/* The caller may reuse its buffer at once, except with `stable`.  When all slots are full, the
 * oldest piece is waited for. */
int pf_write_behind_write(pf_write_behind *behind, uint64_t offset, perfile_bytes bytes,
                          bool stable)
{
    while (bytes.len && behind->error == 0) {
        if (pf_workers_full(behind->workers))
            (void)take_piece(behind);
        piece *p = &behind->pieces[pf_workers_slot(behind->workers)];
        p->offset = offset;
        p->len = bytes.len < PIECE ? bytes.len : PIECE;
        p->bytes = stable ? bytes.ptr : memcpy(p->copy, bytes.ptr, p->len);
        pf_workers_submit(behind->workers);
        bytes.ptr += p->len;
        bytes.len -= p->len;
        offset += p->len;
    }
    return behind->error;
}

int pf_write_behind_wait(pf_write_behind *behind)
{
    while (take_piece(behind))
        ;
    return behind->error;
}

void pf_write_behind_free(pf_write_behind *behind)
{
    if (!behind)
        return;
    if (behind->workers)
        (void)pf_write_behind_wait(behind);
    pf_workers_free(behind->workers);
    pf_free(behind->memory);
    pf_free(behind);
}
