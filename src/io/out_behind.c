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
/* Those who write much write pieces of 256 KiB and a record more. */
enum { PIECE = 320 << 10, SLOTS = 4 };
#endif

typedef struct piece {
    uint64_t offset;
    size_t len;
    int error; /* negative errno */
    const uint8_t *bytes;
    uint8_t *room; /* for a copy of them */
} piece;

struct pf_behind {
    int fd;
    int error; /* the first that was met */
    pf_workers *workers;
    piece pieces[SLOTS];
    uint8_t *memory;
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

/* In any thread. */
static void write_piece(void *user, unsigned slot)
{
    const pf_behind *b = user;
    piece *p = &((pf_behind *)user)->pieces[slot];
    p->error = pf_write_at(b->fd, p->offset, (perfile_bytes){p->bytes, p->len});
}

perfile_status pf_behind_new(int fd, pf_behind **behind, perfile_error *err)
{
    pf_behind *b = pf_alloc(1, sizeof *b);
    if (!b)
        return pf_fail_nomem(err, "sink.behind");
    b->fd = fd;
    b->memory = pf_realloc(NULL, SLOTS, PIECE);
    perfile_status st = b->memory ? pf_workers_new(2, SLOTS, write_piece, b, &b->workers, err)
                                  : pf_fail_nomem(err, "sink.behind");
    if (st != PERFILE_OK) {
        pf_behind_free(b);
        return st;
    }
    pf_workers_wait_only(b->workers);
    for (unsigned i = 0; i < SLOTS; i++)
        b->pieces[i].room = b->memory + (size_t)i * PIECE;
    *behind = b;
    return PERFILE_OK;
}

/* Waits for the oldest piece; false: there is none. */
static bool take(pf_behind *b)
{
    unsigned slot;
    if (!pf_workers_take(b->workers, &slot))
        return false;
    if (b->error == 0)
        b->error = b->pieces[slot].error;
    return true;
}

int pf_behind_write(pf_behind *behind, uint64_t offset, perfile_bytes bytes, bool lasting)
{
    while (bytes.len && behind->error == 0) {
        if (pf_workers_full(behind->workers))
            (void)take(behind);
        piece *p = &behind->pieces[pf_workers_slot(behind->workers)];
        p->offset = offset;
        p->len = bytes.len < PIECE ? bytes.len : PIECE;
        p->bytes = lasting ? bytes.ptr : memcpy(p->room, bytes.ptr, p->len);
        pf_workers_submit(behind->workers);
        bytes.ptr += p->len;
        bytes.len -= p->len;
        offset += p->len;
    }
    return behind->error;
}

int pf_behind_settle(pf_behind *behind)
{
    while (take(behind))
        ;
    return behind->error;
}

void pf_behind_free(pf_behind *behind)
{
    if (!behind)
        return;
    if (behind->workers)
        (void)pf_behind_settle(behind);
    pf_workers_free(behind->workers);
    pf_free(behind->memory);
    pf_free(behind);
}
