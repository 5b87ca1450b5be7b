/* Memory: the C library's allocator or that of the program, with a counter for tests of failing
 * allocations, arenas, and the defaults of perfile_limits. */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/options.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint64_t pf_alloc_count;
uint64_t pf_alloc_fail_at;

/* Returns true if a test asked for this allocation to fail. */
static int fails_by_test(void)
{
    uint64_t n = __atomic_add_fetch(&pf_alloc_count, 1, __ATOMIC_RELAXED);
    return n == pf_alloc_fail_at;
}

/* The functions of the program; all NULL: those of the C library. */
static perfile_allocator program;

perfile_status perfile_set_allocator(const perfile_allocator *allocator, perfile_error *err)
{
    perfile_allocator a;
    perfile_status st = pf_options_copy(&a, allocator, "allocator", err);
    if (st != PERFILE_OK)
        return st;
    if (allocator && !(a.allocate && a.resize && a.release))
        return pf_fail(err, PERFILE_E_USAGE, "allocator", "one of the three functions is missing");
    program = a;
    return PERFILE_OK;
}

static void *allocate_zeroed(size_t n, size_t width)
{
    size_t bytes;
    if (pf_mul_size(n, width, &bytes))
        return NULL;
    void *p = program.allocate(program.user, bytes ? bytes : 1);
    return p ? memset(p, 0, bytes) : NULL;
}

void *pf_alloc(size_t n, size_t width)
{
    if (fails_by_test())
        return NULL;
    if (program.allocate)
        return allocate_zeroed(n, width);
    /* calloc() checks the product.  With 0 items it might return NULL, which means failure here. */
    return calloc(n ? n : 1, width);
}

void *pf_realloc(void *old, size_t n, size_t width)
{
    size_t bytes;
    if (pf_mul_size(n, width, &bytes) || fails_by_test())
        return NULL;
    if (program.allocate)
        return old ? program.resize(program.user, old, bytes ? bytes : 1)
                   : program.allocate(program.user, bytes ? bytes : 1);
    return realloc(old, bytes ? bytes : 1);
}

void pf_free(void *p)
{
    if (!program.allocate)
        free(p);
    else if (p)
        program.release(program.user, p);
}

void *pf_array_more(void *items, uint32_t n, uint32_t *cap, size_t width)
{
    if (n < *cap)
        return items;
    if (n > UINT32_MAX / 2)
        return NULL; /* 2 * n must fit in 32 bits */
    uint32_t more = n ? 2 * n : 8;
    void *moved = pf_realloc(items, more, width);
    if (moved)
        *cap = more;
    return moved;
}

/* The memory begins at a large page that the C library must not have touched: if one small page in
 * it is in use, for example for a header before the memory, the system backs all of it with small
 * pages.  If there is too little address space, the memory is on small pages. */
void *pf_alloc_large(size_t bytes)
{
    const size_t page = 2 << 20;
    if (bytes > PTRDIFF_MAX - page || fails_by_test())
        return NULL;
    if (program.allocate)
        return program.allocate(program.user, bytes ? bytes : 1);
    const size_t rounded = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, rounded ? rounded : page);
    if (!p)
        return malloc(bytes ? bytes : 1);
#ifdef MADV_HUGEPAGE
    (void)madvise(p, rounded, MADV_HUGEPAGE);
#endif
    return p;
}

/* Requests are cut one after the other from chunks of doubling size, 4 KiB to 1 MiB.  A request of
 * more than a quarter of a chunk that does not fit gets a chunk of its own.  Chunks are zeroed when
 * they are allocated. */

#define CHUNK_FIRST ((size_t)4 << 10) /* bytes of the first chunk */
#define CHUNK_MOST  ((size_t)1 << 20) /* bytes of the largest chunk for small requests */

/* A chunk: a header followed by its bytes, which are aligned for any type. */
struct pf_arena_chunk {
    pf_arena_chunk *next;
    max_align_t bytes[];
};

void pf_arena_init(pf_arena *a, uint64_t limit, const char *limit_name)
{
    *a = (pf_arena){.chunk_bytes = CHUNK_FIRST, .limit = limit, .limit_name = limit_name};
}

void pf_arena_free(pf_arena *a)
{
    while (a->chunks) {
        pf_arena_chunk *next = a->chunks->next;
        pf_free(a->chunks);
        a->chunks = next;
    }
    a->at = NULL;
    a->left = 0;
    a->used = 0;
    a->chunk_bytes = CHUNK_FIRST;
}

perfile_status pf_arena_charge(pf_arena *a, uint64_t n, perfile_error *err)
{
    if (n > a->limit || a->used > a->limit - n)
        return pf_fail(err, PERFILE_E_LIMIT, a->limit_name,
                       "%llu bytes and %llu more exceed the limit of %llu",
                       (unsigned long long)a->used, (unsigned long long)n,
                       (unsigned long long)a->limit);
    a->used += n;
    return PERFILE_OK;
}

void pf_arena_refund(pf_arena *a, uint64_t n)
{
    a->used -= n;
}

/* Allocates a chunk of `n` bytes and adds it to the list.  Returns NULL when out of memory. */
static uint8_t *new_chunk(pf_arena *a, size_t n)
{
    if (n > SIZE_MAX - sizeof(pf_arena_chunk))
        return NULL;
    pf_arena_chunk *chunk = pf_alloc(1, sizeof *chunk + n);
    if (!chunk)
        return NULL;
    chunk->next = a->chunks;
    a->chunks = chunk;
    return (uint8_t *)chunk->bytes;
}

/* Allocates `n` bytes at a multiple of `align` and charges them; padding is not charged. */
static perfile_status allocate(pf_arena *a, size_t n, size_t align, uint8_t **p, perfile_error *err)
{
    perfile_status st = pf_arena_charge(a, n, err);
    if (st != PERFILE_OK)
        return st;

    /* Padding up to the alignment. */
    size_t skip = a->at ? (size_t)(-(uintptr_t)a->at & (align - 1)) : 0;
    if (skip > a->left || n > a->left - skip) {
        /* A large request gets its own chunk, so that the rest of the current one is not wasted. */
        bool large = n > a->chunk_bytes / 4;
        uint8_t *fresh = new_chunk(a, large ? n : a->chunk_bytes);
        if (!fresh) {
            pf_arena_refund(a, n);
            return pf_fail_nomem(err, "session");
        }
        if (large) {
            *p = fresh; /* `at` and `left` still describe the current small chunk */
            return PERFILE_OK;
        }
        /* The rest of the previous chunk, at most about a quarter of the new one, stays unused. */
        a->at = fresh;
        a->left = a->chunk_bytes;
        if (a->chunk_bytes < CHUNK_MOST)
            a->chunk_bytes *= 2;
        skip = 0;
    }

    *p = a->at + skip;
    a->at += skip + n;
    a->left -= skip + n;
    return PERFILE_OK;
}

perfile_status pf_arena_get(pf_arena *a, size_t n, void **p, perfile_error *err)
{
    uint8_t *bytes = NULL;
    perfile_status st = allocate(a, n, _Alignof(max_align_t), &bytes, err);
    if (st == PERFILE_OK)
        *p = bytes;
    return st;
}

perfile_status pf_arena_copy(pf_arena *a, perfile_bytes bytes, perfile_bytes *copy,
                             perfile_error *err)
{
    if (bytes.len == 0) {
        *copy = (perfile_bytes){NULL, 0};
        return PERFILE_OK;
    }
    uint8_t *p = NULL;
    perfile_status st = allocate(a, bytes.len, 1, &p, err);
    if (st != PERFILE_OK)
        return st;
    memcpy(p, bytes.ptr, bytes.len);
    *copy = (perfile_bytes){p, bytes.len};
    return PERFILE_OK;
}

perfile_status pf_arena_text(pf_arena *a, perfile_bytes bytes, const char **text,
                             perfile_error *err)
{
    if (bytes.len == SIZE_MAX)
        return pf_fail_nomem(err, "session"); /* len + 1 would be 0 */
    uint8_t *p = NULL;
    perfile_status st = allocate(a, bytes.len + 1, 1, &p, err);
    if (st != PERFILE_OK)
        return st;
    if (bytes.len)
        memcpy(p, bytes.ptr, bytes.len);
    p[bytes.len] = 0;
    *text = (const char *)p;
    return PERFILE_OK;
}

/* The default values of perfile_limits; include/perfile/base.h documents them. */

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static void set_default(uint64_t *limit, uint64_t value)
{
    if (!*limit)
        *limit = value;
}

perfile_status pf_limits_copy(perfile_limits *out, const perfile_limits *given, perfile_error *err)
{
    perfile_limits l;
    perfile_status st = pf_options_copy(&l, given, "limits", err);
    if (st != PERFILE_OK)
        return st;
    set_default(&l.window_bytes, 64 * MIB);
    set_default(&l.inflate_bytes, 256 * MIB);
    set_default(&l.zstd_window, 27); /* a power of two: 128 MiB */
    set_default(&l.split_bytes, 256 * MIB);
    set_default(&l.session_bytes, 512 * MIB);
    set_default(&l.spool_bytes, 64 * GIB);
    set_default(&l.held_bytes, 64 * MIB);
    set_default(&l.model_bytes, 512 * MIB);
    set_default(&l.symbol_bytes, GIB);
    set_default(&l.inflate_ratio, 1024);
    set_default(&l.growth_ratio, 20);
    set_default(&l.profile_bytes, 512 * MIB);
    *out = l;
    return PERFILE_OK;
}
