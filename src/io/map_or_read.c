/* The measurement behind pf_mapping_is_faster().
 *
 * At TRIES places of the file, two neighbouring pieces of PIECE bytes are used: the first is read
 * with pread(), the second is touched in the mapping.  Neither was accessed before through this
 * mapping or buffer, so that each shows the cost of the first access.  The least time of each way
 * counts, because noise only adds. */
#include "io/map_or_read.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/source_kind.h"

enum {
    MIN_FILE = 32 << 20, /* smaller files are not measured */
    PIECE = 256 << 10,   /* bytes of one measurement */
    TRIES = 8,
    LINE = 64 /* a cache line: one byte of each is touched, as a parser would do */
};

static uint64_t now_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* True if all pages of the piece, which begins on a page boundary, are in the page cache. */
static bool is_cached(const uint8_t *piece)
{
    enum { MOST = PIECE / 4096 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char resident[MOST] = {0};
    if (page < PIECE / MOST || mincore((void *)(uintptr_t)piece, PIECE, (void *)resident) != 0)
        return false;
    for (size_t i = 0; i < PIECE / page; i++)
        if (!(resident[i] & 1))
            return false;
    return true;
}

/* Nanoseconds to read one byte of each cache line of the mapped piece, with its page faults. */
static uint64_t touch_piece(const uint8_t *piece)
{
    const volatile uint8_t *bytes = piece;
    uint64_t begun = now_ns();
    for (size_t i = 0; i < PIECE; i += LINE)
        (void)bytes[i];
    return now_ns() - begun;
}

/* Nanoseconds, at least 1, to read the piece at `offset` into `buf`; 0 if it cannot be read. */
static uint64_t read_piece(int fd, uint64_t offset, uint8_t *buf)
{
    uint64_t begun = now_ns();
    if (pread(fd, buf, PIECE, (off_t)offset) != PIECE)
        return 0;
    return now_ns() - begun + 1;
}

bool pf_mapping_is_faster(int fd, perfile_bytes whole)
{
    uint64_t least_read = UINT64_MAX, least_touch = UINT64_MAX;
    if (whole.len < MIN_FILE)
        return false;
    uint8_t *buf = pf_realloc(NULL, PIECE, 1);
    for (unsigned i = 0; buf && i < TRIES; i++) {
        /* Evenly spread; a new place each time, so that no piece was accessed before. */
        const uint64_t offset = whole.len / (TRIES + 1) * (i + 1) / PIECE * PIECE;
        const uint8_t *piece = whole.ptr + offset;
        if (!is_cached(piece) || !is_cached(piece + PIECE))
            break;
        const uint64_t a = read_piece(fd, offset, buf);
        const uint64_t b = touch_piece(piece + PIECE);
        /* A fault in a large folio maps up to 2 MiB around it: drop them, so that the next try
         * faults again. */
        pf_map_release(whole, 0, whole.len);
        if (a == 0)
            break;
        least_read = a < least_read ? a : least_read;
        least_touch = b < least_touch ? b : least_touch;
    }
    pf_free(buf);
    return least_touch < least_read;
}
