/* Internals of emitters: what the forms of `dump` (text, jsonl, cbor, tsv) and of `export` share.
 *
 * A form is a table of functions, pf_emit_ops.  They append to the buffer `out` of the emitter;
 * emitter.c writes it to the sink in chunks of 64 KiB. No form calls the sink itself, so that an
 * emitter without a sink can fill a buffer in another thread (threads.c).  Memory errors do not
 * need to be checked at each append: they set `no_memory`, and the next write fails. */
#ifndef PF_EMIT_EMITTER_H
#define PF_EMIT_EMITTER_H

#include "base/buffer.h"
#include "perfile/emit.h"

/* A form.  The functions get the emitter that pf_emitter_new() allocated with `size` bytes: a
 * struct of the form that begins with a perfile_emitter. */
typedef struct pf_emit_ops {
    const char *name; /* for --format */
    const char *doc;  /* one line for --help */
    size_t size;      /* of the form's emitter struct */
    /* May be NULL.  Reads the options, before begin(); releases what that and later calls hold. */
    perfile_status (*open)(perfile_emitter *e, perfile_error *err);
    void (*close)(perfile_emitter *e);
    /* Header, events and features; a record or damage; the end.  Damaged input is no error of
     * theirs. */
    perfile_status (*begin)(perfile_emitter *e, perfile_error *err);
    perfile_status (*put)(perfile_emitter *e, const perfile_record *r, perfile_error *err);
    perfile_status (*finish)(perfile_emitter *e, perfile_error *err);
    /* For viewers, see emit/export.h; NULL in the forms of `dump`. */
    const struct pf_export_ops *exports;
    /* All output for an input that could not be opened; instead of begin().  NULL: there is none.
     */
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
    const perfile_model *model;              /* resolves names; may be NULL */
    const char *fields;                      /* perfile_emit_options.fields, valid in open() only */
    const perfile_export_options *exporting; /* likewise; complete */
    bool no_memory;                          /* `out` could not grow: its content is incomplete */
    bool decoded;                            /* something could be decoded: for the outcome */
    bool walk_only;                  /* tests: never use the fast path of emit/sample.inc … */
    uint64_t n_fast_path;            /* … and how many bodies and trailers used it */
    struct pf_emit_threads *threads; /* NULL: only the caller's thread, see emit/threads.h */
    pf_buffer out;
    uint64_t n_records;
    uint64_t n_errors; /* damage that was emitted */
};

/* Makes an emitter of this form; the caller sets the members for the stream, then calls ops->open.
 */
perfile_status pf_emitter_new(const pf_emit_ops *ops, perfile_sink *sink, perfile_emitter **out,
                              perfile_error *err);

/* Closes an emitter that has no threads; NULL is fine. */
void pf_emitter_free(perfile_emitter *e);

/* Emits a record in the calling thread, whether or not the emitter has threads. */
perfile_status pf_emitter_put_now(perfile_emitter *e, const perfile_record *r, perfile_error *err);

/* Writes `out` to the sink and empties it.  PERFILE_E_NOMEM if an append failed before. */
perfile_status pf_emitter_write_out(perfile_emitter *e, perfile_error *err);

/* Reserves `n` bytes at the end of `out` and returns where to write them; NULL if there is no
 * memory.  To be followed by pf_emit_filled() with the end of what was written. */
static inline uint8_t *pf_emit_room(perfile_emitter *e, size_t n)
{
    if (!pf_buffer_reserve(&e->out, n)) {
        e->no_memory = true;
        return NULL;
    }
    return e->out.ptr + e->out.len;
}

enum {
    PF_VALUE_ROOM = 24 /* bytes that a number needs at most in any form, with quotes and comma */
};

/* Bytes that writing a key needs: keys are copied in units of 16 bytes, so that more is written
 * than the key has. */
#define PF_KEY_ROOM(name) (sizeof(name) + 32)

/* The room that pf_emit_room() gave was filled up to `end`. */
static inline void pf_emit_filled(perfile_emitter *e, const uint8_t *end)
{
    e->out.len = (size_t)(end - e->out.ptr);
}

static inline void pf_emit_bytes(perfile_emitter *e, const void *bytes, size_t n)
{
    if (!pf_buffer_append(&e->out, bytes, n))
        e->no_memory = true;
}

/* CRC-32 of the bytes behind a record (AUX data, tracing data), in memory or read from the stream.
 * PERFILE_E_TRUNCATED if the input ends inside them. */
perfile_status pf_emit_extra_crc(perfile_emitter *e, const perfile_record *r, uint32_t *crc,
                                 perfile_error *err);

/* The file name of part `part` of a directory; NULL for the main file, `data`, and for single
 * files.  Borrowed from the container. */
static inline const char *pf_emit_part_name(const perfile_emitter *e, uint32_t part)
{
    if (part == 0 || !e->container || part >= e->container->n_parts)
        return NULL;
    return e->container->parts[part].name;
}

/* All forms; lib/open.c lists them. */
extern const pf_emit_ops pf_emit_text, pf_emit_jsonl, pf_emit_cbor, pf_emit_tsv;
extern const pf_emit_ops pf_emit_folded, pf_emit_flamegraph, pf_emit_pprof, pf_emit_speedscope,
    pf_emit_aux, pf_emit_firefox, pf_emit_perfetto, pf_emit_chrome;

#endif
