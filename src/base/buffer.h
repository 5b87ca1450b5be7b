/* A growable buffer of bytes: appended at the end, consumed at the front. */
#ifndef PF_BASE_BUFFER_H
#define PF_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All zeros is an empty buffer.  `ptr` may be NULL while `len` is 0; it changes when the buffer
 * grows. */
typedef struct pf_buffer {
    uint8_t *ptr; /* first byte that was not consumed */
    size_t len;
    size_t cap;  /* bytes that fit from `ptr` on */
    size_t head; /* consumed bytes before `ptr` */
} pf_buffer;

/* The slow path of pf_buffer_reserve(). */
bool pf_buffer_grow(pf_buffer *b, size_t n);

void pf_buffer_free(pf_buffer *b);

/* Makes room for `n` more bytes at ptr + len.  Returns false when out of memory; the buffer is then
 * unchanged. */
static inline bool pf_buffer_reserve(pf_buffer *b, size_t n)
{
    return b->cap - b->len >= n || pf_buffer_grow(b, n);
}

/* Like pf_buffer_reserve(), for a buffer that will be filled.  From 1 MiB on, its memory comes from
 * pf_alloc_large(). */
bool pf_buffer_reserve_large(pf_buffer *b, size_t n);

/* Appends `n` bytes.  Returns false when out of memory.  `bytes` must not point into the buffer
 * itself. */
static inline bool pf_buffer_append(pf_buffer *b, const void *bytes, size_t n)
{
    if (n == 0)
        return true;
    if (!pf_buffer_reserve(b, n))
        return false;
    memcpy(b->ptr + b->len, bytes, n);
    b->len += n;
    return true;
}

static inline bool pf_buffer_append_u8(pf_buffer *b, uint8_t byte)
{
    if (!pf_buffer_reserve(b, 1))
        return false;
    b->ptr[b->len++] = byte;
    return true;
}

/* Empties the buffer but keeps its memory. */
static inline void pf_buffer_clear(pf_buffer *b)
{
    if (b->head) {
        b->ptr -= b->head;
        b->cap += b->head;
        b->head = 0;
    }
    b->len = 0;
}

/* Drops the first `n` bytes, n <= len.  Nothing is moved; a later pf_buffer_reserve() reuses the
 * space. */
static inline void pf_buffer_consume_front(pf_buffer *b, size_t n)
{
    if (n == 0)
        return;
    b->ptr += n;
    b->len -= n;
    b->cap -= n;
    b->head += n;
    if (b->len == 0)
        pf_buffer_clear(b);
}

#endif
