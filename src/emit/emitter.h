/* What an emitter is inside: a form fills `out`, which is handed to the sink in large pieces. */
#ifndef PF_EMIT_EMITTER_H
#define PF_EMIT_EMITTER_H

#include "base/buffer.h"
#include "perfile/emit.h"

typedef struct pf_emit_ops {
    const char *name;
    const char *doc;
    size_t size; /* of the emitter */
    /* May be NULL: what the options ask for, before the first record; and what that holds. */
    perfile_status (*open)(perfile_emitter *e, perfile_error *err);
    void (*close)(perfile_emitter *e);
    perfile_status (*begin)(perfile_emitter *e, perfile_error *err);
    perfile_status (*put)(perfile_emitter *e, const perfile_record *r, perfile_error *err);
    perfile_status (*finish)(perfile_emitter *e, perfile_error *err);
    /* An input that could not be opened. */
    perfile_status (*failure)(perfile_emitter *e, uint32_t damage, uint64_t offset,
                              perfile_error *err);
} pf_emit_ops;

struct perfile_emitter {
    const pf_emit_ops *ops;
    perfile_stream *stream;
    const perfile_session *session;
    const perfile_container *container;
    perfile_sink *sink;
    uint32_t flags;
    const perfile_model *model;      /* may be NULL */
    const char *fields;              /* while opening: see perfile_emit_options */
    bool no_memory;                  /* `out` could not grow: what it holds is not complete */
    bool decoded;                    /* something was */
    bool by_walk;                    /* for laws: nothing at once, see emit/sample.inc … */
    uint64_t n_at_once;              /* … and how often that was done */
    struct pf_emit_threads *threads; /* NULL: the caller's alone, see emit/threads.h */
    pf_buffer out;
    uint64_t n_records;
    uint64_t n_errors;
};

/* An emitter of this form without a stream. */
perfile_status pf_emitter_new(const pf_emit_ops *ops, perfile_sink *sink, perfile_emitter **out,
                              perfile_error *err);

/* perfile_emitter_close() of one without threads. */
void pf_emitter_free(perfile_emitter *e);

/* perfile_emitter_put() in the caller's thread. */
perfile_status pf_emitter_put_now(perfile_emitter *e, const perfile_record *r, perfile_error *err);

/* Hands `out` to the sink. */
perfile_status pf_emitter_hand_on(perfile_emitter *e, perfile_error *err);

/* Room for `n` bytes at the end of `out`, NULL when there is no memory. */
static inline uint8_t *pf_emit_room(perfile_emitter *e, size_t n)
{
    if (!pf_buffer_reserve(&e->out, n)) {
        e->no_memory = true;
        return NULL;
    }
    return e->out.ptr + e->out.len;
}

enum {
    PF_VALUE_ROOM = 24 /* of a number in any form, the quotes and the comma included */
};

/* What is written for a key: its characters, and some that are overwritten. */
#define PF_KEY_ROOM(name) (sizeof(name) + 32)

/* Room up to `end` was filled. */
static inline void pf_emit_filled(perfile_emitter *e, const uint8_t *end)
{
    e->out.len = (size_t)(end - e->out.ptr);
}

static inline void pf_emit_bytes(perfile_emitter *e, const void *bytes, size_t n)
{
    if (!pf_buffer_append(&e->out, bytes, n))
        e->no_memory = true;
}

/* CRC-32 of the bytes behind a record, wherever they are.  PERFILE_E_TRUNCATED when the input ends
 * inside them. */
perfile_status pf_emit_extra_crc(perfile_emitter *e, const perfile_record *r, uint32_t *crc,
                                 perfile_error *err);

/* The name of the file of a directory that holds part `part`; NULL when it goes without saying. */
static inline const char *pf_emit_part_name(const perfile_emitter *e, uint32_t part)
{
    if (part == 0 || !e->container || part >= e->container->n_parts)
        return NULL;
    return e->container->parts[part].name;
}

/* All forms; lib/registry.c lists them. */
extern const pf_emit_ops pf_emit_text, pf_emit_jsonl, pf_emit_cbor, pf_emit_tsv;

#endif
