/* Makes captures from dumps: reads the CBOR form of `perfile dump` (format/dump.cddl, "Back to a
 * capture" in it) and writes the capture that was dumped.
 *
 * Other rooms call only pf_undump() and pf_undump_to().  They read the sequence of objects line by
 * line, fill for each the struct that the tables of format/ have for it, and encode the struct with
 * the library's encoders.  The result goes to a temporary file, which is opened like any capture.
 * So no other room knows that there was a dump. */
#ifndef PF_UNDUMP_UNDUMP_H
#define PF_UNDUMP_UNDUMP_H

#include "base/arena.h"
#include "base/cbor.h"
#include "core/encode.h"
#include "io/source.h"
#include "perfile/copy.h"
#include "undump/keys.h"

/* Is called once for each record and feature that cannot be restored, because the dump does not
 * have it. note->message is static or NULL.  May be NULL. */
typedef void pf_undump_note_fn(void *user, const perfile_note *note);

/* Makes a capture from all of the dump `from`.  On success *capture is a source of the capture,
 * with the same input names as `from`; the caller closes both.  PERFILE_E_CORRUPT, TRUNCATED,
 * LIMIT: err->offset is the offset in the dump. */
perfile_status pf_undump(perfile_source *from, pf_undump_note_fn *note, void *user,
                         perfile_source **capture, perfile_error *err);

/* Writes the capture to `sink`, which must support writing files, and finishes it. */
perfile_status pf_undump_to(perfile_source *from, pf_undump_note_fn *note, void *user,
                            perfile_sink *sink, perfile_error *err);

/* Private to this room. */

/* Keys of a line: `kind`, and the keys of all kinds. */
#define PF_UNDUMP_LINE_KEYS(X)                                                                     \
    X(kind)                                                                                        \
    X(index)                                                                                       \
    X(offset)                                                                                      \
    X(file)                                                                                        \
    X(compressed_in)                                                                               \
    X(stream_offset)                                                                               \
    X(type)                                                                                        \
    X(name)                                                                                        \
    X(misc)                                                                                        \
    X(size)                                                                                        \
    X(event)                                                                                       \
    X(comm)                                                                                        \
    X(dso)                                                                                         \
    X(tracepoint)                                                                                  \
    X(body)                                                                                        \
    X(attr)                                                                                        \
    X(sample_id)                                                                                   \
    X(payload)                                                                                     \
    X(error)                                                                                       \
    X(data)                                                                                        \
    X(ids)                                                                                         \
    X(feature)                                                                                     \
    X(event_id)                                                                                    \
    X(format)                                                                                      \
    X(version)                                                                                     \
    X(endian)                                                                                      \
    X(attr_size)                                                                                   \
    X(attrs)                                                                                       \
    X(event_types)                                                                                 \
    X(features)                                                                                    \
    X(records)                                                                                     \
    X(errors)                                                                                      \
    X(arch)                                                                                        \
    X(flags)                                                                                       \
    X(ticks_per_second)                                                                            \
    X(capture_end)                                                                                 \
    X(reserved_flags)                                                                              \
    X(time)                                                                                        \
    X(feat_id)
enum {
#define X(name) PF_LINE_##name,
    PF_UNDUMP_LINE_KEYS(X)
#undef X
        PF_N_LINE_KEYS
};

/* An object with its values by key.  Values are positions in the dump. */
typedef struct pf_undump_object {
    const uint8_t *at[PF_N_LINE_KEYS]; /* of the value; NULL: none */
} pf_undump_object;

/* Additional results of pf_undump_fill(). */
typedef struct pf_undump_filled {
    perfile_bytes data; /* the value of the key `data`, if no member has that name … */
    bool has_data;      /* … and whether it was present */
    bool has_crc;       /* a checksum replaces bytes of the struct */
    uint32_t n_keys;
} pf_undump_filled;

/* State of the conversion.  The header selects what is made: a perf.data file or pipe (capture.c),
 * or a perfmon buffer (perfmon.c). */
typedef struct pf_undump {
    perfile_source *from;
    perfile_sink *sink;     /* of the temporary file */
    perfile_writer *writer; /* NULL: no header yet, or a perfmon buffer */
    bool perfmon;
    bool swap;
    bool named_file; /* the dump is of a directory */
    pf_undump_note_fn *note;
    void *user;

    /* The current line. */
    perfile_bytes item;
    uint64_t offset; /* its offset in the dump */
    pf_arena arena;  /* for its arrays */

    /* Layouts of records by event number; n_layouts is the number of events. */
    perfile_layout *layouts;
    uint32_t n_layouts, room_layouts;
    uint32_t n_cpus;       /* from feature NRCPUS; 0: unknown */
    bool has_end;          /* the line `end` was read */
    uint64_t n_records;    /* record lines so far */
    uint64_t slack;        /* zeros after the fields of records so far */
    uint64_t envelopes;    /* COMPRESSED records left out so far */
    uint64_t inner;        /* records that were in them */
    uint64_t fragments_at; /* `index` of the first of the last fragments */
    uint64_t fragments_to; /* … and after the last of them */
    perfile_note packed;   /* about the first COMPRESSED record */

    pf_encode_space space;
    void *given; /* the struct that is filled; large enough for any */
    size_t given_size;
    pf_undump_keys *of_structs[PF_N_SHAPES];
    pf_undump_keys *of_rows[PF_ROWS_MOST];
    pf_undump_keys *of_features[64];
    pf_undump_keys *of_guests, *of_dies;
} pf_undump_state;

/* Fails at the position `at` in the line.  `where` is static. */
perfile_status pf_undump_fail(const pf_undump_state *u, const uint8_t *at, const char *where,
                              perfile_error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Fails with the error of the reader `c`. */
perfile_status pf_undump_fail_cbor(const pf_undump_state *u, const pf_cbor *c, const char *where,
                                   perfile_error *err);

/* Returns a reader for the value at `at`. */
static inline pf_cbor pf_undump_value(const pf_undump_state *u, const uint8_t *at)
{
    return pf_cbor_begin_any((perfile_bytes){at, (size_t)(u->item.ptr + u->item.len - at)});
}

/* Reads the next item of `c`, a string.  One that is stored in several pieces is joined in the
 * arena. */
perfile_status pf_undump_string(pf_undump_state *u, pf_cbor *c, pf_cbor_item *item,
                                perfile_error *err);

/* Finds the keys of the object at `at`.  Unknown and duplicate keys are errors. */
perfile_status pf_undump_object_read(pf_undump_state *u, const uint8_t *at, pf_undump_object *o,
                                     perfile_error *err);

/* Reads the number at `at`, from 0 to `most`. */
perfile_status pf_undump_number(pf_undump_state *u, const uint8_t *at, const char *where,
                                uint64_t most, uint64_t *number, perfile_error *err);
/* Returns true if the value is null. */
bool pf_undump_is_null(const pf_undump_state *u, const uint8_t *at);
/* Reads the bytes, or text, at `at`. */
perfile_status pf_undump_bytes(pf_undump_state *u, const uint8_t *at, const char *where, bool text,
                               perfile_bytes *bytes, perfile_error *err);

/* Fills *out, a struct of k->size bytes, from the object at `at`.  It points into the dump or the
 * arena and is valid until the next line. */
perfile_status pf_undump_fill(pf_undump_state *u, const pf_undump_keys *k, const uint8_t *at,
                              const char *where, void *out, pf_undump_filled *filled,
                              perfile_error *err);

/* Return the keys of a struct of structs.def, of a row, of a feature.  NULL when out of memory. */
const pf_undump_keys *pf_undump_keys_of(pf_undump_state *u, unsigned shape);
const pf_undump_keys *pf_undump_keys_of_row(pf_undump_state *u, uint8_t family, const pf_row *row);
const pf_undump_keys *pf_undump_keys_of_feature(pf_undump_state *u, const pf_row *row);

/* Handlers of each kind of line. */
perfile_status pf_undump_header(pf_undump_state *u, const pf_undump_object *o, perfile_error *err);
perfile_status pf_undump_attr(pf_undump_state *u, const pf_undump_object *o, perfile_error *err);
perfile_status pf_undump_event_type(pf_undump_state *u, const pf_undump_object *o,
                                    perfile_error *err);
perfile_status pf_undump_feature(pf_undump_state *u, const pf_undump_object *o, perfile_error *err);
perfile_status pf_undump_record(pf_undump_state *u, const pf_undump_object *o, perfile_error *err);
perfile_status pf_undump_perfmon_header(pf_undump_state *u, const pf_undump_object *o,
                                        perfile_error *err);
perfile_status pf_undump_perfmon_record(pf_undump_state *u, const pf_undump_object *o,
                                        perfile_error *err);

/* Encodes the payload of a feature to u->space.out; *len is its length.  *lost: the dump does not
 * have its bytes. */
perfile_status pf_undump_payload(pf_undump_state *u, uint32_t number, const uint8_t *data,
                                 size_t *len, bool *lost, perfile_error *err);

/* Stores the record layout of an event. */
perfile_status pf_undump_add_layout(pf_undump_state *u, const perfile_attr *attr,
                                    perfile_error *err);

/* Enlarges u->space.out and keeps its contents. */
perfile_status pf_undump_room(pf_undump_state *u, size_t room, perfile_error *err);

/* Reports an omission.  `number` is a record type or feature, or UINT32_MAX. */
void pf_undump_leave_out(pf_undump_state *u, uint32_t kind, uint32_t number, uint64_t bytes,
                         const char *why);

#endif
