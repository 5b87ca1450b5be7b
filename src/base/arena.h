/* Memory that is released all at once: what a session keeps, for as long as it lives. */
#ifndef PF_BASE_ARENA_H
#define PF_BASE_ARENA_H

#include "perfile/base.h"

typedef struct pf_arena_chunk pf_arena_chunk;

/* Begins with pf_arena_init(). */
typedef struct pf_arena {
    pf_arena_chunk *chunks;
    uint8_t *at; /* free bytes of the newest small chunk */
    size_t left;
    size_t chunk_bytes; /* of the next small chunk */
    uint64_t used;      /* bytes handed out and charged */
    uint64_t limit;
    const char *limit_name;
} pf_arena;

/* Hands out at most `limit` bytes; `limit_name` (static) is what an error calls the limit. */
void pf_arena_init(pf_arena *a, uint64_t limit, const char *limit_name);

void pf_arena_free(pf_arena *a);

/* `n` zeroed bytes, aligned for any type.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_arena_get(pf_arena *a, size_t n, void **p, perfile_error *err);

/* A copy of `bytes`, at any address. */
perfile_status pf_arena_copy(pf_arena *a, perfile_bytes bytes, perfile_bytes *copy,
                             perfile_error *err);

/* The same with a NUL behind. */
perfile_status pf_arena_text(pf_arena *a, perfile_bytes bytes, const char **text,
                             perfile_error *err);

/* Counts `n` bytes that belong to the same owner but are allocated elsewhere. */
perfile_status pf_arena_charge(pf_arena *a, uint64_t n, perfile_error *err);
void pf_arena_refund(pf_arena *a, uint64_t n);

#endif
