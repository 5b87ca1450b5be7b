/* The perf.data writer: writes a capture of form FILE or PIPE, or a directory, into sinks.
 *
 * Facts (events, names, features) are collected until the first record comes. pf_write_begin() then
 * writes what comes before the records: sections of a file, or the same facts as records of a pipe.
 * Records are written as they come. finish() writes what comes after the records of a file.  The
 * comments above the prototypes below say which source file does what.
 *
 * After an error in the middle of writing, the state of the output is unknown.  The error is stored
 * in `broken`, and every later call returns it (pf_write_set_broken()).  Errors that the caller can
 * correct, such as a wrong argument, are found before anything is written and are not stored. */
#ifndef PF_PERF_WRITE_H
#define PF_PERF_WRITE_H

#include "base/buffer.h"
#include "core/names.h"
#include "core/writer.h"
#include "io/zstd.h"
#include "schema/rows.h"
#include "perf/header.h"
#include "perfile/field.h"
#include "perfile/session.h"
#include "perfile/writer.h"

enum {
    PF_RECORD_MOST = UINT16_MAX, /* largest record: its size field has 16 bits */
    /* Bytes compressed into one envelope.  Small enough that the output of zstd, which may be
     * larger than its input, still fits into a record. */
    PF_WRITE_CHUNK = 60 << 10,
    /* mmap_len of the feature COMPRESSED: the size of the buffer that readers allocate to
     * decompress an envelope.  A multiple of 4096, not below PF_WRITE_CHUNK. */
    PF_WRITE_MMAP_LEN = 64 << 10
};

/* An event that was added.  `attr`, `ids` and `name` are offsets in pf_perf_writer.facts. */
typedef struct pf_written_event {
    size_t attr; /* as the caller gave it, in the byte order of the capture */
    size_t attr_len;
    size_t ids;     /* u64 each, in the byte order of the capture */
    size_t ids_len; /* bytes */
    size_t name;    /* with a NUL */
    bool named;     /* `name` is set */
    bool readable;  /* the attr could be decoded: `layout` is set */
    uint64_t id;    /* the first of its ids, or 0 */
    perfile_layout layout;
} pf_written_event;

typedef struct pf_written_feature {
    bool there; /* the feature was set */
    size_t at;  /* offset of the payload in pf_perf_writer.facts */
    size_t len;
} pf_written_feature;

/* A file of records.  A directory has several, other captures have one. */
typedef struct pf_write_part {
    perfile_sink *sink;
    uint64_t bytes;      /* of its records */
    pf_deflate *deflate; /* its own zstd stream; NULL without compression */
    pf_buffer stage;     /* bytes of records that are not compressed yet, up to PF_WRITE_CHUNK */
} pf_write_part;

typedef struct pf_perf_writer {
    perfile_writer base;
    bool progressive;         /* the file can be read while it is being written */
    bool as_stored;           /* events are not checked: records need not be attributable */
    bool compressed2;         /* envelopes are COMPRESSED2, not COMPRESSED */
    uint32_t attr_size;       /* bytes of every attr that is written; 0: as many as needed */
    const pf_release *target; /* the version of perf that must read it; NULL: any */
    bool version_1;           /* the magic is PERFFILE */
    bool begun;               /* everything before the records is written */
    bool kernel;              /* a record of the kernel was written */
    bool to_archive;          /* the sink wants to know which bytes are records (io/out.h) */
    perfile_error broken;     /* the error that broke the output; PERFILE_OK: none */
    pf_buffer facts;          /* bytes of attrs, ids, names and features, referred to by offset */
    pf_buffer events;         /* pf_written_event */
    uint32_t n_events;
    pf_buffer event_types; /* the section of event types, as stored */
    pf_written_feature features[PERFILE_N_FEATURES];
    pf_buffer updates;   /* EVENT_UPDATE records that go before the other records */
    pf_buffer aux_index; /* offset and size of each AUXTRACE record, as stored */
    /* There are two buffers, because a record encoded from a struct may be in `scratch` while the
     * writer makes records of its own in `own` (front of a pipe, an envelope). */
    pf_buffer scratch;
    pf_buffer own;
    pf_buffer gathered;  /* scattered records, copied for an archive */
    uint64_t entry_size; /* bytes of an entry of the attr section */
    perfile_section attrs;
    perfile_section types;              /* event types */
    uint64_t data_start;                /* offset of the first record */
    uint64_t plain_bytes, packed_bytes; /* bytes before and after compression */

    /* With `to_archive`: the session, and its generation, that has_events_of() compared last, and
     * whether its events were those of the capture that is written. */
    const perfile_session *compared;
    uint64_t compared_generation;
    uint32_t compared_attrs;
    bool compared_same;
    uint32_t n_attr_records; /* HEADER_ATTR records that were put; each adds an event */

    pf_write_part *parts; /* `data` first, then data.0 … */
    uint32_t n_parts;
    uint32_t at;         /* index of the part that is written */
    pf_write_part *part; /* &parts[at] */

    /* Adjacent records in the caller's memory that are not written yet.  They must be flushed
     * before that memory may change. */
    perfile_bytes span;
} pf_perf_writer;

/* Returns `w` as a perf.data writer.  If `w` writes another format, returns NULL and sets an error
 * about `what` (a plural noun). */
pf_perf_writer *pf_perf_writer_of(perfile_writer *w, const char *what, perfile_error *err);

/* Counts `n` bytes of records written to the current part. */
static inline void pf_write_count(pf_perf_writer *w, uint64_t n)
{
    w->part->bytes += n;
    w->base.bytes += n;
}

/* Return numbers in the byte order of the capture. */
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

/* Returns `len` bytes at offset `at` of w->facts; ptr is NULL if len is 0.  Valid until a fact is
 * added. */
static inline perfile_bytes pf_write_fact(const pf_perf_writer *w, size_t at, size_t len)
{
    return len ? (perfile_bytes){w->facts.ptr + at, len} : (perfile_bytes){NULL, 0};
}

/* Returns the options to encode structs in the byte order of the capture. */
static inline perfile_encode_options pf_write_encoding(const pf_perf_writer *w)
{
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .byte_order = pf_byte_order_of(w->base.swap)};
}

/* perf/write.c.  Appends a copy of `bytes` to w->facts and sets *at to its offset. */
perfile_status pf_write_keep(pf_perf_writer *w, perfile_bytes bytes, size_t *at,
                             perfile_error *err);
/* Returns PERFILE_OK, or the error that ended writing. */
perfile_status pf_write_check_usable(const pf_perf_writer *w, perfile_error *err);
/* Does the same, and also fails if payload bytes of the last record are still due
 * (pf_write_extra()). */
perfile_status pf_write_check_at_record(const pf_perf_writer *w, perfile_error *err);
/* If `st` is an error, stores `why` as the state of the writer and copies it to *err.  Returns st.
 */
perfile_status pf_write_set_broken(pf_perf_writer *w, perfile_status st, const perfile_error *why,
                                   perfile_error *err);
/* The other functions of pf_writer_ops: see core/writer.h. */
perfile_status pf_write_event(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                              perfile_error *err);
perfile_status pf_write_feature(perfile_writer *w, uint32_t number, perfile_bytes payload,
                                perfile_error *err);
perfile_status pf_write_put(perfile_writer *w, const pf_batch *batch, perfile_error *err);
bool pf_write_takes(perfile_writer *w, const perfile_session *session);
perfile_status pf_write_extra(perfile_writer *w, perfile_bytes bytes, perfile_error *err);
/* Writes bytes of records unchanged to the current part, after the pending span. */
perfile_status pf_write_bytes(pf_perf_writer *w, perfile_bytes bytes, perfile_error *err);
/* Writes one complete record to part number `part`.  The caller may change its bytes afterwards. */
perfile_status pf_write_record(pf_perf_writer *w, perfile_bytes bytes, uint32_t part,
                               perfile_error *err);
/* Writes the pending span. */
perfile_status pf_write_flush_span(pf_perf_writer *w, perfile_error *err);
/* Writes everything before the records.  Does nothing when called again. */
perfile_status pf_write_begin(pf_perf_writer *w, perfile_error *err);
/* Empties w->scratch, reserves `n` bytes of it, and sets *at to them. */
perfile_status pf_write_scratch(pf_perf_writer *w, size_t n, uint8_t **at, perfile_error *err);

/* perf/write_layout.c. pf_write_file_front() writes the sections before the records of a file;
 * pf_write_file_back() writes those after the records, and the header. */
perfile_status pf_write_file_front(pf_perf_writer *w, perfile_error *err);
perfile_status pf_write_file_back(pf_perf_writer *w, perfile_error *err);
/* Appends the attr of `e` to `to`, cut or filled with zeros to `size` bytes, and with that size in
 * attr.size. */
perfile_status pf_write_attr(pf_perf_writer *w, const pf_written_event *e, size_t size,
                             pf_buffer *to, perfile_error *err);

/* perf/write_layout.c: writes the facts as records of a pipe. */
perfile_status pf_write_pipe_front(pf_perf_writer *w, perfile_error *err);
perfile_status pf_write_pipe_event(pf_perf_writer *w, const pf_written_event *e,
                                   perfile_error *err);
perfile_status pf_write_pipe_feature(pf_perf_writer *w, uint32_t number, perfile_bytes payload,
                                     perfile_error *err);
/* Fails if the feature cannot be written to a pipe. */
perfile_status pf_write_pipe_check_feature(const pf_perf_writer *w, uint32_t number,
                                           perfile_bytes payload, perfile_error *err);

/* perf/write_events.c: sets the feature EVENT_DESC if any event was given a name. */
perfile_status pf_write_event_desc(pf_perf_writer *w, perfile_error *err);

/* perf/write.c: adds a record, or bytes of records, to the stage of the current part.  A full stage
 * is written as an envelope. */
perfile_status pf_write_compress(pf_perf_writer *w, const perfile_record *r, perfile_error *err);
perfile_status pf_write_add_to_stage(pf_perf_writer *w, perfile_bytes bytes, perfile_error *err);
/* Writes the content of the current part's stage as an envelope. */
perfile_status pf_write_flush_stage(pf_perf_writer *w, perfile_error *err);
/* Sets the feature COMPRESSED if the writer compresses. */
perfile_status pf_write_compressed_feature(pf_perf_writer *w, perfile_error *err);

/* pf_write_select_part() selects the part that is written from now on. pf_write_finish_parts()
 * flushes spans and stages of all parts, the first part last. pf_write_first_part() makes part 0,
 * on the writer's sink. */
perfile_status pf_write_select_part(pf_perf_writer *w, uint32_t part, perfile_error *err);
perfile_status pf_write_finish_parts(pf_perf_writer *w, perfile_error *err);
perfile_status pf_write_first_part(pf_perf_writer *w, perfile_error *err);
void pf_write_free_parts(pf_perf_writer *w);

#endif
