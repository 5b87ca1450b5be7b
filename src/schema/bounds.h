/* HAND layouts: those whose bounds are not the bounds of what surrounds them.
 *
 * pf_bound_NAME() looks ahead without moving the outer cursor, and returns the cursor and context
 * with which the members are read; on damage the inner cursor is bad.  pf_bound_close() then moves
 * the outer cursor behind the layout, or makes it bad.  Decoders, walks and byte-swappers all go
 * through these functions. */
#ifndef PF_SCHEMA_BOUNDS_H
#define PF_SCHEMA_BOUNDS_H

#include "schema/types.h"

typedef struct pf_bounds {
    pf_context k;
    pf_cursor c;
    const uint8_t *after; /* where the outer cursor goes on; NULL: where the members end */
} pf_bounds;

/* An attr ends where its own size says.  Where the space for it is given (k->attr_size: attrs
 * section, EVENT_DESC) the size is bounded by it; in a HEADER_ATTR record it must be right. */
pf_bounds pf_bound_attr(const pf_context *k, pf_cursor *c);

/* A BUILD_ID entry ends where its header says, and the header has the misc bits of its body. */
pf_bounds pf_bound_build_id_entry(const pf_context *k, pf_cursor *c);

/* perf before 2.6.35 wrote entries without pid: the kernel's name then stands four bytes early. */
pf_bounds pf_bound_build_ids(const pf_context *k, pf_cursor *c);

/* attr_size of EVENT_DESC is that of all its attrs. */
pf_bounds pf_bound_event_desc(const pf_context *k, pf_cursor *c);

/* schedstat_version decides the form of the domains. */
pf_bounds pf_bound_cpu_domain_info(const pf_context *k, pf_cursor *c);

/* simpleperf's FILE entries begin with their size. */
pf_bounds pf_bound_file_entry(const pf_context *k, pf_cursor *c);

/* TRACING_DATA says its own byte order behind magic and version. */
pf_bounds pf_bound_tracing_formats(const pf_context *k, pf_cursor *c);

/* Ordinary bounds: these layouts are HAND rows only because walk.c or swap.c treats them specially.
 */
static inline pf_bounds pf_bound_none(const pf_context *k, const pf_cursor *c)
{
    return (pf_bounds){*k, *c, NULL};
}
#define pf_bound_id_index        pf_bound_none
#define pf_bound_cpu_topology    pf_bound_none
#define pf_bound_tracing_data    pf_bound_none
#define pf_bound_file2_entry     pf_bound_none
#define pf_bound_sp_debug_unwind pf_bound_none
#define pf_bound_sp_init_map     pf_bound_none

static inline void pf_bound_close(pf_cursor *c, const pf_bounds *b)
{
    if (b->c.bad)
        pf_cur_fail(c, b->c.bad);
    else
        c->pos = b->after ? b->after : b->c.pos;
}

/* The output of encoders: a bounded buffer, written in either byte order.
 *
 * A pf_put never fails.  When the buffer is full, bytes are only counted, so that a caller without
 * a buffer learns the size that is needed.  The first field that did not fit (`full`) and the first
 * value that cannot be stored
 * (`wrong`) are remembered; core/encode.c makes the error from them. */

typedef struct pf_put {
    uint8_t *start;
    size_t room;
    size_t len;        /* bytes so far, those that did not fit included */
    size_t owed;       /* zeros that are due when anything follows */
    size_t end;        /* where the layout that is written ends, SIZE_MAX when nothing says so */
    bool swap;         /* written in the other byte order than this machine's */
    bool is_record;    /* text is filled up to where the record would be aligned */
    const char *field; /* what is being written: "mmap2.filename" */
    const char *full;  /* what did not fit first, NULL: all did */
    const char *wrong; /* what cannot be held, with the two numbers, NULL: all can */
    uint64_t found;
    uint64_t needed;
} pf_put;

/* Advances by `n` bytes and returns where they go; NULL if they do not fit (they are counted). */
static inline uint8_t *pf_put_advance(pf_put *w, size_t n)
{
    size_t at = w->len;
    if (n > SIZE_MAX - at)
        n = SIZE_MAX - at;
    w->len = at + n;
    if (w->len <= w->room)
        return w->start + at;
    if (!w->full)
        w->full = w->field;
    return NULL;
}

static inline void pf_put_zeros_now(pf_put *w, size_t n)
{
    uint8_t *p = n ? pf_put_advance(w, n) : NULL;
    if (p)
        memset(p, 0, n);
}

/* Writes the zeros that are owed, then makes room for `n` bytes. */
static inline uint8_t *pf_put_next(pf_put *w, size_t n)
{
    if (w->owed) {
        size_t owed = w->owed;
        w->owed = 0;
        pf_put_zeros_now(w, owed);
    }
    return pf_put_advance(w, n);
}

/* The current field cannot be stored: the given value is `found`, the format needs `needed`.  The
 * first one counts. */
static inline void pf_put_refuse(pf_put *w, uint64_t found, uint64_t needed)
{
    if (w->wrong)
        return;
    w->wrong = w->field;
    w->found = found;
    w->needed = needed;
}

static inline void pf_put_u8(pf_put *w, uint8_t v)
{
    uint8_t *p = pf_put_next(w, 1);
    if (p)
        *p = v;
}

static inline void pf_put_u16(pf_put *w, uint16_t v)
{
    uint8_t *p = pf_put_next(w, 2);
    if (p)
        pf_store_u16(p, v, w->swap);
}

static inline void pf_put_u32(pf_put *w, uint32_t v)
{
    uint8_t *p = pf_put_next(w, 4);
    if (p)
        pf_store_u32(p, v, w->swap);
}

static inline void pf_put_u64(pf_put *w, uint64_t v)
{
    uint8_t *p = pf_put_next(w, 8);
    if (p)
        pf_store_u64(p, v, w->swap);
}

static inline void pf_put_bytes(pf_put *w, perfile_bytes b)
{
    uint8_t *p = b.len ? pf_put_next(w, b.len) : NULL;
    if (p)
        memcpy(p, b.ptr, b.len);
}

static inline void pf_put_zeros(pf_put *w, size_t n)
{
    uint8_t *p = n ? pf_put_next(w, n) : NULL;
    if (p)
        memset(p, 0, n);
}

/* Writes zeros until the distance from `from` is a multiple of `unit`. */
static inline void pf_put_align(pf_put *w, size_t from, size_t unit)
{
    pf_put_zeros(w, (unit - (w->len - from) % unit) % unit);
}

/* How many bytes are left up to `end`; many where nothing bounds the layout. */
static inline size_t pf_put_left(const pf_put *w)
{
    return w->end > w->len ? w->end - w->len : 0;
}

#endif
