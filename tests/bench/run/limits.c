/* The limits of the machine, as bare loops. */
#include "bench.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LINE = 64, BLOCK = 1 << 20, NEAR = 256 << 10, HEADER = 8 };

#if defined(__linux__) && !defined(MAP_POPULATE)
#define MAP_POPULATE 0
#endif

static inline uint32_t size_at(const uint8_t *p)
{
    uint16_t size;
    memcpy(&size, p + 6, sizeof size);
    return size;
}

uint64_t limit_walk(const capture *c)
{
    const uint8_t *at = c->data, *end = at + c->data_size;
    uint64_t n = 0;
    while (end - at >= HEADER) {
        uint32_t size = size_at(at);
        if (size < HEADER || size > end - at)
            break;
        at += size;
        n++;
    }
    return n;
}

#define WALK_AHEAD(id, ahead)                                                                      \
    uint64_t limit_walk_##id(const capture *c)                                                     \
    {                                                                                              \
        const uint8_t *at = c->data, *end = at + c->data_size;                                     \
        uint64_t n = 0;                                                                            \
        while (end - at >= HEADER) {                                                               \
            uint32_t size = size_at(at);                                                           \
            if (size < HEADER || size > end - at)                                                  \
                break;                                                                             \
            __builtin_prefetch(at + (ahead));                                                      \
            __builtin_prefetch(at + (ahead) + LINE);                                               \
            at += size;                                                                            \
            n++;                                                                                   \
        }                                                                                          \
        return n;                                                                                  \
    }

WALK_AHEAD(ahead_1k, 1024)
WALK_AHEAD(ahead_4k, 4096)

/* Maps the file and reads a byte of every `step`. */
static uint64_t touch(const capture *c, int flags, size_t step)
{
    uint64_t sum = 0;
    int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    uint8_t *p = mmap(NULL, c->size, PROT_READ, MAP_PRIVATE | flags, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return 0;
    for (size_t i = 0; i < c->size; i += step)
        sum += p[i];
    munmap(p, c->size);
    return sum;
}

uint64_t limit_pages(const capture *c)
{
    return touch(c, 0, PAGE);
}

uint64_t limit_touch(const capture *c)
{
    return touch(c, 0, LINE);
}

uint64_t limit_populate(const capture *c)
{
    return touch(c, MAP_POPULATE, LINE);
}

/* Follows the records through blocks, as whoever does something with a capture has to.  No header
 * is in two blocks: both begin at multiples of 8. */
typedef struct follower {
    uint64_t at, end; /* in the file: of the next record, and of all */
    uint64_t n;
} follower;

static follower follow_from(const capture *c)
{
    uint64_t begin = (uint64_t)(c->data - c->bytes);
    return (follower){begin, begin + c->data_size, 0};
}

static void follow(follower *f, const uint8_t *block, uint64_t offset, size_t len)
{
    uint64_t end = offset + len < f->end ? offset + len : f->end;
    while (f->at + HEADER <= end) {
        uint32_t size = size_at(block + (f->at - offset));
        f->at = size < HEADER ? UINT64_MAX - HEADER : f->at + size;
        f->n++;
    }
    __asm__ volatile("" ::"r"(f->n) : "memory");
}

uint64_t limit_read_bare(const capture *c)
{
    static uint8_t block[BLOCK];
    uint64_t sum = 0;
    int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; (n = read(fd, block, sizeof block)) > 0;)
        sum += (uint64_t)n;
    close(fd);
    return sum;
}

/* Blocks of the file, read by two threads in turns. */
typedef struct reader {
    const capture *c;
    int fd;
    uint8_t *block;
    atomic_uint_fast64_t *next;
    uint64_t sum;
} reader;

static void *read_blocks(void *user)
{
    reader *r = user;
    for (uint64_t at; (at = atomic_fetch_add(r->next, BLOCK)) < r->c->size;) {
        ssize_t n = pread(r->fd, r->block, BLOCK, (off_t)at);
        r->sum += n > 0 ? (uint64_t)n : 0;
    }
    return NULL;
}

uint64_t limit_read_two(const capture *c)
{
    static uint8_t blocks[2][BLOCK];
    atomic_uint_fast64_t next = 0;
    pthread_t other;
    int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    reader r[2] = {{c, fd, blocks[0], &next, 0}, {c, fd, blocks[1], &next, 0}};
    bool two = pthread_create(&other, NULL, read_blocks, &r[1]) == 0;
    read_blocks(&r[0]);
    if (two)
        pthread_join(other, NULL);
    close(fd);
    return r[0].sum + r[1].sum;
}

uint64_t limit_read(const capture *c)
{
    static uint8_t block[NEAR];
    uint64_t sum = 0;
    follower f = follow_from(c);
    int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; (n = read(fd, block, sizeof block)) > 0; sum += (uint64_t)n)
        follow(&f, block, sum, (size_t)n);
    close(fd);
    return f.n == c->n_records ? sum : 0;
}

static int open_copy(const capture *c)
{
    char path[sizeof c->path + 8];
    snprintf(path, sizeof path, "%s" COPY_SUFFIX, c->path);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* Into a file beside it: what a copy costs at least. */
static uint64_t copies(const capture *c, unsigned n)
{
    static uint8_t block[BLOCK];
    uint64_t sum = 0;
    int to = open_copy(c);
    for (unsigned i = 0; i < n; i++) {
        int from = open(c->path, O_RDONLY | O_CLOEXEC);
        follower f = follow_from(c);
        uint64_t at = 0;
        for (ssize_t got; (got = read(from, block, sizeof block)) > 0; at += (uint64_t)got) {
            follow(&f, block, at, (size_t)got);
            if (write(to, block, (size_t)got) != got)
                break;
        }
        sum += f.n == c->n_records ? at : 0;
        close(from);
    }
    close(to);
    return sum / n;
}

uint64_t limit_copy(const capture *c)
{
    return copies(c, 1);
}

uint64_t limit_copy_four(const capture *c)
{
    return copies(c, 4);
}

/* The records of the capture, out of memory into a file. */
static uint64_t write_in(const capture *c, size_t block)
{
    uint64_t sum = 0;
    int to = open_copy(c);
    follower f = {0, c->data_size, 0};
    while (sum < c->data_size) {
        size_t left = c->data_size - (size_t)sum;
        size_t some = left < block ? left : block;
        follow(&f, c->data + sum, sum, some);
        ssize_t n = write(to, c->data + sum, some);
        if (n <= 0)
            break;
        sum += (uint64_t)n;
    }
    close(to);
    return sum;
}

uint64_t limit_write(const capture *c)
{
    return write_in(c, BLOCK);
}

uint64_t limit_write_small(const capture *c)
{
    return write_in(c, NEAR);
}

uint64_t limit_memcpy(const capture *c)
{
    static uint8_t block[BLOCK];
    uint64_t sum = 0;
    for (size_t i = 0; i + BLOCK <= c->size; i += BLOCK) {
        memcpy(block, c->bytes + i, BLOCK);
        __asm__ volatile("" ::"r"(block) : "memory");
        sum += BLOCK;
    }
    return sum;
}
