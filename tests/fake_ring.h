/* The kernel's side of a ring buffer: a control page and a data area in heap blocks of exact size,
 * and a writer in either direction.  Addresses are computed byte by byte, unlike in the reader. */
#ifndef TESTS_FAKE_RING_H
#define TESTS_FAKE_RING_H

#include <stdlib.h>
#include <string.h>

#include "perfile/ring.h"

/* Offsets in the page: written out again, so that a wrong one in the reader is seen. */
enum { FAKE_LOCK = 8, FAKE_HEAD = 1024, FAKE_TAIL = 1032, FAKE_AUX_HEAD = 1056 };
enum { FAKE_AUX_TAIL = 1064 };

typedef struct fake_ring {
    uint8_t *page;
    uint8_t *data;
    size_t size;
    uint64_t head;
} fake_ring;

static inline fake_ring fake_new(size_t size)
{
    fake_ring f = {calloc(1, PERFILE_RING_PAGE_BYTES), calloc(1, size), size, 0};
    if (!f.page || !f.data)
        abort();
    return f;
}

static inline void fake_free(fake_ring *f)
{
    free(f->page);
    free(f->data);
}

static inline uint64_t fake_get(const fake_ring *f, size_t at)
{
    return __atomic_load_n((uint64_t *)(void *)(f->page + at), __ATOMIC_ACQUIRE);
}

static inline void fake_set(fake_ring *f, size_t at, uint64_t v)
{
    __atomic_store_n((uint64_t *)(void *)(f->page + at), v, __ATOMIC_RELEASE);
}

/* Head and tail at `at`: an empty buffer that was in use. */
static inline void fake_at(fake_ring *f, uint64_t at)
{
    f->head = at;
    fake_set(f, FAKE_HEAD, at);
    fake_set(f, FAKE_TAIL, at);
}

/* The bytes of record number `n`, header included: all follow from number and size. */
static inline void fake_record(uint8_t *to, uint64_t n, uint16_t size)
{
    uint32_t type = 0x10000 + (uint32_t)(n & 0xffff);
    uint16_t misc = (uint16_t)(n * 7);
    memcpy(to, &type, 4);
    memcpy(to + 4, &misc, 2);
    memcpy(to + 6, &size, 2);
    for (size_t i = 8; i < size; i++)
        to[i] = (uint8_t)(n * 131 + (n >> 8) * 29 + i * 17);
}

static inline void fake_bytes(fake_ring *f, uint64_t at, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        f->data[(at + i) % f->size] = bytes[i];
}

/* Writes forward without asking whether there is room. */
static inline void fake_put(fake_ring *f, uint64_t n, uint16_t size)
{
    static _Thread_local uint8_t bytes[1 << 16];
    fake_record(bytes, n, size);
    fake_bytes(f, f->head, bytes, size);
    f->head += size;
    fake_set(f, FAKE_HEAD, f->head);
}

/* Writes backward, as with attr.write_backward. */
static inline void fake_put_backward(fake_ring *f, uint64_t n, uint16_t size)
{
    static _Thread_local uint8_t bytes[1 << 16];
    fake_record(bytes, n, size);
    f->head -= size;
    fake_bytes(f, f->head, bytes, size);
    fake_set(f, FAKE_HEAD, f->head);
}

static inline perfile_ring_options fake_options(const fake_ring *f, uint32_t mode)
{
    return (perfile_ring_options){
        .size = sizeof(perfile_ring_options),
        .page = f->page,
        .page_bytes = PERFILE_RING_PAGE_BYTES,
        .data = {f->data, f->size},
        .mode = mode,
    };
}

/* Whether `r` is record number `n` of `size` bytes. */
static inline bool fake_is(const perfile_record *r, uint64_t n, uint16_t size)
{
    static _Thread_local uint8_t bytes[1 << 16];
    fake_record(bytes, n, size);
    uint32_t type;
    uint16_t misc;
    memcpy(&type, bytes, 4);
    memcpy(&misc, bytes + 4, 2);
    return perfile_record_size(r) == size && r->type == type && r->misc == misc &&
           r->body.ptr == r->header + 8 && memcmp(r->header, bytes, size) == 0;
}

#endif
