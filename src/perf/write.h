/* The inside of perfile_writer: a capture of form FILE or PIPE, or a directory, on its way into
 * sinks. */
#ifndef PF_PERF_WRITE_H
#define PF_PERF_WRITE_H

#include "base/buffer.h"
#include "core/releases.h"
#include "core/writer.h"
#include "io/deflate.h"
#include "schema/frame.h"
#include "perf/header.h"
#include "perfile/field.h"
#include "perfile/session.h"
#include "perfile/writer.h"

enum {
    PF_RECORD_MOST = UINT16_MAX, /* bytes that the size of a record can say */
    /* What is compressed at once: its envelope holds all that zstd makes of it. */
    PF_WRITE_CHUNK = 60 << 10,
    PF_WRITE_MMAP_LEN = 64 << 10 /* what COMPRESSED says of that: a multiple of 4096 */
};

typedef struct pf_written_event {
    size_t attr; /* where in pf writer's `facts` its bytes are … */
    size_t attr_len;
    size_t ids;
    size_t ids_len;
    size_t name; /* with a NUL */
    bool named;
    bool readable; /* the attr could be decoded: */
    uint64_t id;   /* the first of its ids, or 0 */
    perfile_layout layout;
} pf_written_event;

typedef struct pf_written_feature {
    bool there;
    size_t at; /* of the payload in `facts` */
    size_t len;
} pf_written_feature;

/* A file of records: a capture has one, a directory several. */
typedef struct pf_write_part {
    perfile_sink *sink;
    uint64_t bytes;      /* of its records */
    pf_deflate *deflate; /* its own zstd stream … */
    pf_buffer stage;     /* … and what is not compressed yet */
} pf_write_part;

typedef struct pf_perf_writer {
    perfile_writer base;
    bool progressive;
    bool as_stored; /* events of another capture are taken whatever they say */
    bool compressed2;
    int level; /* of compression, 0: none */
    uint32_t attr_size;
    const pf_release *target; /* NULL: any */
    bool begun;               /* the first record came: what stands before it is written */
    bool kernel;              /* a record of the kernel came */
    bool finished;
    perfile_error broken; /* what went wrong half-way; status PERFILE_OK: nothing */
    pf_buffer facts;      /* attrs, ids, names, payloads */
    pf_buffer events;     /* pf_written_event */
    uint32_t n_events;
    pf_buffer event_types; /* their section, as stored */
    pf_written_feature features[PERFILE_N_FEATURES];
    pf_buffer updates;   /* EVENT_UPDATE records for the beginning */
    pf_buffer aux_index; /* offset and size of each AUXTRACE record, as stored */
    pf_buffer scratch;   /* a record or payload that is made from a struct of the caller */
    pf_buffer own;       /* one that the writer makes itself: the other may wait meanwhile */
    uint64_t entry_size; /* of the attrs section */
    perfile_section attrs;
    perfile_section types;
    uint64_t data_start;
    uint64_t plain_bytes, packed_bytes; /* what was compressed, and what came of it */

    pf_write_part *parts; /* `data` first */
    uint32_t n_parts;
    uint32_t at;         /* the number of … */
    pf_write_part *part; /* … the one that is written */

    /* Adjacent records that stay where they are, not written yet. */
    perfile_bytes span;
    bool span_lasting; /* see pf_sink_write_lasting() */
} pf_perf_writer;

/* The writer inside of `w`; NULL, and *err says so, when `w` writes another format: of what
 * perf.data alone has. */
pf_perf_writer *pf_perf_writer_of(perfile_writer *w, const char *what, perfile_error *err);

static inline uint64_t pf_write_u64(const pf_perf_writer *w, uint64_t v)
{
    return w->base.swap ? pf_swap_u64(v) : v;
}

static inline uint32_t pf_write_u32(const pf_perf_writer *w, uint32_t v)
{
    return w->base.swap ? pf_swap_u32(v) : v;
}

static inline pf_written_event *pf_write_event_at(const pf_perf_writer *w, uint32_t i)
{
    return (pf_written_event *)(void *)w->events.ptr + i;
}

/* Bytes that were kept; of nothing there is no pointer. */
static inline perfile_bytes pf_write_fact(const pf_perf_writer *w, size_t at, size_t len)
{
    return len ? (perfile_bytes){w->facts.ptr + at, len} : (perfile_bytes){NULL, 0};
}

/* How structs are encoded. */
static inline perfile_encode_options pf_write_encoding(const pf_perf_writer *w)
{
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .byte_order = pf_byte_order_of(w->base.swap)};
}

/* perf/write.c.  A copy of `bytes` in w->facts. */
perfile_status pf_write_keep(pf_perf_writer *w, perfile_bytes bytes, size_t *at,
                             perfile_error *err);
/* PERFILE_OK, or why nothing can be written any more. */
perfile_status pf_write_usable(const pf_perf_writer *w, perfile_error *err);
/* The same; or that bytes behind the last record are still to come. */
perfile_status pf_write_between(const pf_perf_writer *w, perfile_error *err);
/* Keeps what went wrong half-way: nothing can be written any more. */
perfile_status pf_write_break(pf_perf_writer *w, perfile_status st, const perfile_error *why,
                              perfile_error *err);
/* Samples one behind the other, in the byte order of the capture if `swapped` is its: only where
 * they need nothing but to be copied. */
bool pf_write_takes_samples(const perfile_writer *w, bool swapped);
perfile_status pf_write_samples(perfile_writer *w, perfile_bytes samples, bool lasting,
                                perfile_error *err);
/* The other functions of pf_writer_ops. */
perfile_status pf_write_event(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                              perfile_error *err);
perfile_status pf_write_event_name(perfile_writer *w, uint32_t index, const char *name,
                                   perfile_error *err);
perfile_status pf_write_event_type(perfile_writer *w, uint64_t event_id, perfile_bytes name,
                                   perfile_error *err);
perfile_status pf_write_feature(perfile_writer *w, uint32_t number, perfile_bytes payload,
                                perfile_error *err);
perfile_status pf_write_put(perfile_writer *w, const perfile_record *r, perfile_error *err);
perfile_status pf_write_run(perfile_writer *w, const perfile_record *first, size_t n,
                            pf_framed seen, perfile_error *err);
perfile_status pf_write_extra(perfile_writer *w, perfile_bytes piece, perfile_error *err);
perfile_status pf_write_round(perfile_writer *w, perfile_error *err);
/* Bytes of records that are as they shall be, into the part that is written. */
perfile_status pf_write_bytes(pf_perf_writer *w, perfile_bytes bytes, perfile_error *err);
/* Whole records that do not stay where they are; `what` is for messages. */
perfile_status pf_write_record(pf_perf_writer *w, perfile_bytes bytes, uint32_t part,
                               perfile_error *err);
perfile_status pf_write_flush_span(pf_perf_writer *w, perfile_error *err);
/* Writes what stands before the first record, once. */
perfile_status pf_write_begin(pf_perf_writer *w, perfile_error *err);
/* `n` bytes of w->scratch. */
perfile_status pf_write_scratch(pf_perf_writer *w, size_t n, uint8_t **at, perfile_error *err);

/* perf/write_layout.c: what stands before the records, what stands behind them, and the header. */
perfile_status pf_write_front(pf_perf_writer *w, perfile_error *err);
perfile_status pf_write_back(pf_perf_writer *w, perfile_error *err);
/* The attr as it is stored, `size` bytes, which it says itself, too. */
perfile_status pf_write_attr(pf_perf_writer *w, const pf_written_event *e, size_t size,
                             pf_buffer *to, perfile_error *err);

/* perf/write_pipe.c: facts as records. */
perfile_status pf_write_pipe_front(pf_perf_writer *w, perfile_error *err);
perfile_status pf_write_pipe_event(pf_perf_writer *w, const pf_written_event *e,
                                   perfile_error *err);
perfile_status pf_write_pipe_feature(pf_perf_writer *w, uint32_t number, perfile_bytes payload,
                                     perfile_error *err);
/* Whether a pipe can hold it. */
perfile_status pf_write_pipe_can(const pf_perf_writer *w, uint32_t number, perfile_bytes payload,
                                 perfile_error *err);

/* perf/write_events.c: EVENT_DESC of the names that were given, if any. */
perfile_status pf_write_event_desc(pf_perf_writer *w, perfile_error *err);

/* perf/write_compress.c */
perfile_status pf_write_compress(pf_perf_writer *w, const perfile_record *r, perfile_error *err);
perfile_status pf_write_stage(pf_perf_writer *w, perfile_bytes piece, perfile_error *err);
/* All that waits to be compressed in this part. */
perfile_status pf_write_flush_stage(pf_perf_writer *w, perfile_error *err);
/* The feature of what was compressed. */
perfile_status pf_write_compression(pf_perf_writer *w, perfile_error *err);

/* perf/write_parts.c: the part that is written from now on. */
perfile_status pf_write_go_to(pf_perf_writer *w, uint32_t part, perfile_error *err);
perfile_status pf_write_finish_parts(pf_perf_writer *w, perfile_error *err);
perfile_status pf_write_first_part(pf_perf_writer *w, perfile_error *err);
void pf_write_free_parts(pf_perf_writer *w);

#endif
