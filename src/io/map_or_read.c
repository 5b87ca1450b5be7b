#include "io/map_or_read.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/source_kind.h"

enum {
    WORTH = 32 << 20, /* bytes of a file */
    PIECE = 256 << 10,
    TRIES = 8,
    LINE = 64
};

static uint64_t now(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Whether all of a piece, which begins with a page, is in memory. */
static bool is_cached(const uint8_t *piece)
{
    enum { MOST = PIECE / 4096 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char there[MOST] = {0};
    if (page < PIECE / MOST || mincore((void *)(uintptr_t)piece, PIECE, (void *)there) != 0)
        return false;
    for (size_t i = 0; i < PIECE / page; i++)
        if (!(there[i] & 1))
            return false;
    return true;
}

static uint64_t touch(const uint8_t *piece)
{
    const volatile uint8_t *bytes = piece;
    uint64_t begun = now();
    for (size_t i = 0; i < PIECE; i += LINE)
        (void)bytes[i];
    return now() - begun;
}

/* 0: it cannot be read. */
static uint64_t read_piece(int fd, uint64_t offset, uint8_t *buf)
{
    uint64_t begun = now();
    if (pread(fd, buf, PIECE, (off_t)offset) != PIECE)
        return 0;
    return now() - begun + 1;
}

bool pf_mapping_is_faster(int fd, perfile_bytes whole)
{
    uint64_t least_read = UINT64_MAX, least_touch = UINT64_MAX;
    if (whole.len < WORTH)
        return false;
    uint8_t *buf = pf_realloc(NULL, PIECE, 1);
    for (unsigned i = 0; buf && i < TRIES; i++) {
        /* Two pieces that nobody has looked at, somewhere else each time. */
        const uint64_t offset = whole.len / (TRIES + 1) * (i + 1) / PIECE * PIECE;
        const uint8_t *piece = whole.ptr + offset;
        if (!is_cached(piece) || !is_cached(piece + PIECE))
            break;
        const uint64_t a = read_piece(fd, offset, buf);
        const uint64_t b = touch(piece + PIECE);
        pf_map_release(whole, 0, whole.len); /* of a large folio it touched the 2 MiB around it */
        if (a == 0)
            break;
        least_read = a < least_read ? a : least_read;
        least_touch = b < least_touch ? b : least_touch;
    }
    pf_free(buf);
    return least_touch < least_read;
}
