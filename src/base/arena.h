/* An arena: memory that grows in chunks and is released all at once.  A session stores its facts
 * (attrs, ids, names, features) in one; the arena's limit bounds them. */
#ifndef PF_BASE_ARENA_H
#define PF_BASE_ARENA_H

#include "perfile/base.h"

typedef struct pf_arena_chunk pf_arena_chunk;

/* Initialize with pf_arena_init(). */
typedef struct pf_arena {
    pf_arena_chunk *chunks; /* all chunks, the newest first */
    uint8_t *at;            /* next free byte of the chunk that small requests come from */
    size_t left;            /* bytes free from `at` on */
    size_t chunk_bytes;     /* size of the next chunk for small requests */
    uint64_t used;          /* bytes charged: allocated here, or counted by pf_arena_charge() */
    uint64_t limit;         /* maximum of `used` */
    const char *limit_name; /* name of the limit in perfile_error.where */
} pf_arena;

/* Makes an empty arena of at most `limit` bytes.  `limit_name`, a static string, names the limit in
 * errors. */
void pf_arena_init(pf_arena *a, uint64_t limit, const char *limit_name);

/* Releases everything that was allocated.  The arena is then empty and may be used again. */
void pf_arena_free(pf_arena *a);

/* Allocates `n` zeroed bytes, aligned for any type, which live until pf_arena_free().  Fails with
 * PERFILE_E_NOMEM or PERFILE_E_LIMIT. */
perfile_status pf_arena_get(pf_arena *a, size_t n, void **p, perfile_error *err);

/* Allocates a copy of `bytes`, without alignment. */
perfile_status pf_arena_copy(pf_arena *a, perfile_bytes bytes, perfile_bytes *copy,
                             perfile_error *err);

/* Allocates a copy of `bytes` followed by a NUL. */
perfile_status pf_arena_text(pf_arena *a, perfile_bytes bytes, const char **text,
                             perfile_error *err);

/* Counts `n` bytes against the limit.  They belong to the owner of the arena but are allocated
 * elsewhere. */
perfile_status pf_arena_charge(pf_arena *a, uint64_t n, perfile_error *err);

/* Takes back a charge of `n` bytes. */
void pf_arena_refund(pf_arena *a, uint64_t n);

#endif
