/* An arena: memory that grows in chunks and is released all at once.  Sessions keep their facts
 * (attrs, ids, names, features) in one, and its limit bounds them. */
#ifndef PF_BASE_ARENA_H
#define PF_BASE_ARENA_H

#include "perfile/base.h"

typedef struct pf_arena_chunk pf_arena_chunk;

/* Initialise with pf_arena_init(). */
typedef struct pf_arena {
    pf_arena_chunk *chunks; /* all chunks, the newest first */
    uint8_t *at;            /* next free byte of the chunk that small requests come from */
    size_t left;            /* bytes free from `at` on */
    size_t chunk_bytes;     /* size of the next chunk for small requests */
    uint64_t used;          /* bytes charged: allocated, or counted by pf_arena_charge() */
    uint64_t limit;         /* greatest value of `used` */
    const char *limit_name; /* its name in perfile_error.where */
} pf_arena;

/* Makes an empty arena of at most `limit` bytes.  `limit_name`, a static string, names the limit in
 * errors. */
void pf_arena_init(pf_arena *a, uint64_t limit, const char *limit_name);

/* Releases everything that was allocated; the arena is empty then and may be used again. */
void pf_arena_free(pf_arena *a);

/* Allocates `n` zeroed bytes, aligned for any type; they live until pf_arena_free().
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_arena_get(pf_arena *a, size_t n, void **p, perfile_error *err);

/* Allocates a copy of `bytes`, without alignment. */
perfile_status pf_arena_copy(pf_arena *a, perfile_bytes bytes, perfile_bytes *copy,
                             perfile_error *err);

/* Allocates a copy of `bytes` with a NUL behind it. */
perfile_status pf_arena_text(pf_arena *a, perfile_bytes bytes, const char **text,
                             perfile_error *err);

/* Counts `n` bytes against the limit that belong to the same owner but are allocated elsewhere. */
perfile_status pf_arena_charge(pf_arena *a, uint64_t n, perfile_error *err);

/* Takes back a charge of `n` bytes. */
void pf_arena_refund(pf_arena *a, uint64_t n);

#endif
