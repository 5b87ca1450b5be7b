/* Captures made of dumps: reads what `perfile dump --format cbor` writes (format/dump.cddl, "Back
 * to a capture" in it) and writes the capture that it is a dump of.
 *
 * pf_undump() is all that other rooms call.  It reads the sequence of objects line by line, makes
 * of each the struct that the tables of format/ have for it, and of the struct the bytes, with the
 * encoders of the library; what it makes goes to a temporary file, which is opened as any capture.
 * So nothing behind this room knows that there was a dump. */
#ifndef PF_UNDUMP_UNDUMP_H
#define PF_UNDUMP_UNDUMP_H

#include "base/arena.h"
#include "base/cbor.h"
#include "core/encode.h"
#include "io/source.h"
#include "perfile/copy.h"
#include "undump/keys.h"

/* Is told what cannot come back, because the dump does not have it: one call for each record and
 * feature, with note->text static or NULL.  May be NULL. */
typedef void pf_undump_note_fn(void *user, const perfile_note *note);

/* Makes a capture of the dump that `from` has, from its beginning to its end.  On success *capture
 * is a source of it, which says that it reads what `from` reads; the caller closes both.
 * PERFILE_E_CORRUPT, TRUNCATED, LIMIT: err->offset is the place in the dump. */
perfile_status pf_undump(perfile_source *from, pf_undump_note_fn *note, void *user,
                         perfile_source **capture, perfile_error *err);

/* The same into `sink`, which is finished, and must be one that a file can be written to. */
perfile_status pf_undump_to(perfile_source *from, pf_undump_note_fn *note, void *user,
                            perfile_sink *sink, perfile_error *err);

/* The inside of the room. */

/* Keys of a line: `kind`, and what the kinds have. */
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

/* An object whose values are looked up by key, in any order.  Values are places in the dump. */
typedef struct pf_undump_object {
    const uint8_t *at[PF_N_LINE_KEYS]; /* of the value; NULL: there is none */
} pf_undump_object;

/* What pf_undump_fill() found besides. */
typedef struct pf_undump_filled {
    perfile_bytes data; /* of the key `data`, if no member has that name … */
    bool has_data;      /* … and whether it was there */
    bool has_crc;       /* a checksum stands for bytes of the struct */
    uint32_t n_keys;
} pf_undump_filled;

/* Makers of what `type`, `endian` and so on ask for: a perf.data file or pipe, or a perfmon buffer
 * (capture.c, perfmon.c). */
typedef struct pf_undump {
    perfile_source *from;
    perfile_sink *sink;     /* of the temporary file */
    perfile_writer *writer; /* NULL: no header has come, or it is a perfmon buffer */
    bool perfmon;
    bool swap;
    bool named_file; /* the dump is of a directory */
    pf_undump_note_fn *note;
    void *user;

    /* The line that is read. */
    perfile_bytes item;
    uint64_t offset; /* of it in the dump */
    pf_arena arena;  /* for arrays of it */

    /* Layouts of records by the number of their event, and how many events the capture has. */
    perfile_layout *layouts;
    uint32_t n_layouts, room_layouts;
    uint32_t n_cpus;       /* of feature NRCPUS; 0: not known */
    bool has_end;          /* the line `end` came */
    uint64_t n_records;    /* lines so far */
    uint64_t slack;        /* zeros behind the fields of records so far */
    uint64_t envelopes;    /* COMPRESSED records left out so far */
    uint64_t inner;        /* records out of them */
    uint64_t fragments_at; /* `index` of the first of the fragments that were written last */
    uint64_t fragments_to; /* … and behind the last */
    perfile_note packed;   /* of the first envelope */

    pf_encode_space space;
    void *given; /* the struct that is filled; as large as any */
    size_t given_size;
    pf_undump_keys *of_structs[PF_N_SHAPES];
    pf_undump_keys *of_rows[PF_ROWS_MOST];
    pf_undump_keys *of_features[64];
    pf_undump_keys *of_guests, *of_dies;
} pf_undump_state;

/* Fails with the place `at` in the line.  `where` is static. */
perfile_status pf_undump_fail(const pf_undump_state *u, const uint8_t *at, const char *where,
                              perfile_error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Fails with what the reader `c` has met. */
perfile_status pf_undump_fail_cbor(const pf_undump_state *u, const pf_cbor *c, const char *where,
                                   perfile_error *err);

/* A reader of the value at `at`. */
static inline pf_cbor pf_undump_value(const pf_undump_state *u, const uint8_t *at)
{
    return pf_cbor_begin_any((perfile_bytes){at, (size_t)(u->item.ptr + u->item.len - at)});
}

/* The next item of `c`, a string in one piece: one in several is joined in the arena. */
perfile_status pf_undump_string(pf_undump_state *u, pf_cbor *c, pf_cbor_item *item,
                                perfile_error *err);

/* Looks the keys of the object at `at` up.  A key that no line has, and one that comes twice, are
 * errors. */
perfile_status pf_undump_object_read(pf_undump_state *u, const uint8_t *at, pf_undump_object *o,
                                     perfile_error *err);

/* The number at `at`, from 0 to `most`. */
perfile_status pf_undump_number(pf_undump_state *u, const uint8_t *at, const char *where,
                                uint64_t most, uint64_t *number, perfile_error *err);
/* True if null is there. */
bool pf_undump_is_null(const pf_undump_state *u, const uint8_t *at);
/* The bytes, or text, at `at`. */
perfile_status pf_undump_bytes(pf_undump_state *u, const uint8_t *at, const char *where, bool text,
                               perfile_bytes *bytes, perfile_error *err);

/* Fills *out, which has k->size bytes, with the object at `at`.  What it points to is in the dump
 * or in the arena: valid until the next line. */
perfile_status pf_undump_fill(pf_undump_state *u, const pf_undump_keys *k, const uint8_t *at,
                              const char *where, void *out, pf_undump_filled *filled,
                              perfile_error *err);

/* Keys of a struct of structs.def, of a row, of a feature; NULL: no memory. */
const pf_undump_keys *pf_undump_keys_of(pf_undump_state *u, unsigned shape);
const pf_undump_keys *pf_undump_keys_of_row(pf_undump_state *u, uint8_t family, const pf_row *row);
const pf_undump_keys *pf_undump_keys_of_feature(pf_undump_state *u, const pf_row *row);

/* Lines of each kind. */
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

/* Makes the payload of a feature, in u->space.out; *len is its length.  *lost: the dump does not
 * have its bytes. */
perfile_status pf_undump_payload(pf_undump_state *u, uint32_t number, const uint8_t *data,
                                 size_t *len, bool *lost, perfile_error *err);

/* Remembers the layout of records of an event. */
perfile_status pf_undump_add_layout(pf_undump_state *u, const perfile_attr *attr,
                                    perfile_error *err);

/* Makes u->space.out larger, and keeps what is in it. */
perfile_status pf_undump_room(pf_undump_state *u, size_t room, perfile_error *err);

/* Tells what is left out: `number` of a type or feature, or UINT32_MAX. */
void pf_undump_leave_out(pf_undump_state *u, uint32_t kind, uint32_t number, uint64_t bytes,
                         const char *why);

#endif
