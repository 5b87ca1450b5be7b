/* A stream of records: open, next, close. */
#ifndef PERFILE_STREAM_H
#define PERFILE_STREAM_H

#include "container.h"
#include "damage.h"
#include "session.h"
#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A capture that is being read, or a stage on top of another stream. */
typedef struct perfile_stream perfile_stream;

enum { /* perfile_open_options.deliver */
       PERFILE_DELIVER_DAMAGE =
           1 << 0 /* yield a record of family DAMAGE for bytes that cannot be read */
};
enum {                             /* perfile_open_options.envelopes */
       PERFILE_ENVELOPES_BOTH = 0, /* compressed records, each followed by its content */
       PERFILE_ENVELOPES_OUTER = 1 /* compressed records only */
};

/* An event as it would be stored: an attr and its ids. */
typedef struct perfile_assumed_event {
    perfile_bytes attr; /* as stored */
    perfile_bytes ids;  /* u64 each */
    uint64_t reserved[2];
} perfile_assumed_event;

/* Facts to use instead of those in a damaged header.  Set `size`.  A member that is 0 is taken from
 * the header.  Everything the struct points to is borrowed until the stream is closed. */
typedef struct perfile_assume {
    size_t size;
    uint32_t form;        /* PERFILE_FORM_… */
    uint32_t byte_order;  /* PERFILE_BYTE_ORDER_… of the capture and of `events` */
    perfile_section data; /* where the records are; size UINT64_MAX: up to the end of the file */
    /* Replace the events of the header and of HEADER_ATTR records. */
    const perfile_assumed_event *events;
    uint32_t n_events;       /* items of `events` */
    bool has_features;       /* use `features` and `features_shift` */
    uint64_t features[4];    /* bitmap of the features listed in the table that follows `data` */
    uint64_t features_shift; /* added to the offsets in that table, modulo 2^64 */
    /* CPU of each file, for formats with one file per CPU.  The order is that of the CPUs in
     * the file names of the directory.  NULL: the file
     * names decide. */
    const uint32_t *cpus;
    uint64_t n_cpus; /* items of `cpus`; must be the number of files */
    uint64_t reserved[5];
} perfile_assume;

/* How to read a capture.  Set `size`; zeros are the defaults. */
typedef struct perfile_open_options {
    size_t size;
    uint32_t on_damage; /* PERFILE_ON_DAMAGE_STOP (the default), RESYNC or SALVAGE */
    uint32_t deliver;   /* bits of PERFILE_DELIVER_… */
    uint32_t envelopes; /* PERFILE_ENVELOPES_… */
    /* PERFILE_SOURCE_…: how perfile_open_path() reads the file.  Everywhere else a value other than
     * 0 is PERFILE_E_USAGE: a source that is already open has its own flags. */
    uint32_t source_flags;
    /* Read the file exactly as stored: no handling of overlaps, no heuristics for trailers, no
     * trimming of build ids.  Version 1 of the dump schema needs this. */
    bool as_stored;
    const char *from;             /* name of the format; NULL: detect it */
    const perfile_limits *limits; /* NULL: defaults; copied */
    /* Called for facts that are worth reporting but are no damage, such as an attr newer than this
     * library.  May be NULL. */
    void (*notice)(void *user, const perfile_error *what);
    void *notice_user;
    /* Called before a call on the stream blocks on a pipe, socket or terminal, so that the caller
     * can flush its output.  It must not call functions on the stream.  It is not called for
     * sources made of callbacks.  May be NULL. */
    void (*waiting)(void *user);
    void *waiting_user;
    const perfile_assume *assume; /* NULL: assume nothing */
    uint64_t reserved[5];
} perfile_open_options;

/* Opens the capture on `source`, in any form.  On success *stream owns the source.  On failure the
 * caller still owns it.
 * PERFILE_E_CORRUPT or TRUNCATED: the bytes are not a readable capture; err.damage is the kind of
 * damage and err.message says what was found.  UNSUPPORTED: `from` names no known format. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_open(perfile_source *source,
                                                         const perfile_open_options *options,
                                                         perfile_stream **stream,
                                                         perfile_error *err);

/* Opens the capture at `path`, or on standard input if it is "-".  Otherwise like
 * perfile_open(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_open_path(const char *path,
                                                              const perfile_open_options *options,
                                                              perfile_stream **stream,
                                                              perfile_error *err);

/* Fetches the next record of `s`.
 *
 * On PERFILE_OK, *r belongs to the stream.  The struct is valid until the next call on `s`.  So are
 * the bytes it points to, but with PERFILE_REC_STABLE in (*r)->flags these bytes are valid until
 * perfile_stream_close().  Records come in stored order.  With PERFILE_DELIVER_DAMAGE, bytes that
 * could not be read are reported as a record of family DAMAGE. perfile_stream_get_summary() counts
 * them either way.
 *
 * Returns PERFILE_END after the last record, and on every later call.  An error (out of memory, a
 * failed read, a limit) is final: every later call returns it again. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_next(perfile_stream *s,
                                                                const perfile_record **r,
                                                                perfile_error *err);

enum { PERFILE_RUN_RECORDS = 64 /* the most records in one run */ };

/* Fetches the next records of `s`, several at once, for loops where one call per record would cost
 * too much.  Yields (*first)[0 .. *n): at least one record, and all that are ready without reading
 * more input.  They are the records that perfile_stream_next() would yield one by one, with the
 * same lifetime: until the next call on `s`.  The size of perfile_record is part of the ABI. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_next_run(perfile_stream *s,
                                                                    const perfile_record **first,
                                                                    size_t *n, perfile_error *err);

/* Moves to the record at `offset` of file `part`; reading continues from there, also after
 * PERFILE_END.  `part` is 0, or for a directory the position in perfile_container.parts.  `offset`
 * must be one that a record had (perfile_record.offset and .part, or an index that the caller made
 * of them), or the end of the records.  At a fragment of a SIMPLEPERF_SPLIT record that is not the
 * first one, the fragments that follow are reported as PERFILE_DAMAGE_BAD_SPLIT.
 *
 * The session keeps the facts it has, but records that are never read add none.  Before seeking in
 * a pipe that was stored in a file, read the records that carry facts.  `sequence` and the summary
 * continue to count the records that are read.
 *
 * PERFILE_E_UNSUPPORTED: the stream reads a pipe, is a stage or was made by a program; or the part
 * has compressed records, which can be read only from the beginning of the part.  PERFILE_E_USAGE:
 * there is no such part, or the offset is outside the records.  In both cases the position does not
 * change.  An error that was final stays final. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_seek(perfile_stream *s, uint32_t part,
                                                                uint64_t offset,
                                                                perfile_error *err);

/* Decodes the SAMPLE `r` of this stream into a struct that the stream owns.  This is faster than
 * perfile_sample_decode(), which clears the struct of the caller.  *sample is valid until the next
 * call of this function.  Errors are those of the decoders in records.h. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_sample(perfile_stream *s,
                                                                  const perfile_record *r,
                                                                  const perfile_sample **sample,
                                                                  perfile_error *err);

/* Reads the next piece of the bytes that follow a record (perfile_record.extra) when they are not
 * in memory.  A piece is at most 1 MiB and is valid until the next call on `s`.  Returns
 * PERFILE_END after the last one.  `r` must be the current record of the stream. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_extra(perfile_stream *s,
                                                                 const perfile_record *r,
                                                                 perfile_bytes *piece,
                                                                 perfile_error *err);

/* The facts of the capture that are known so far. */
PERFILE_API const perfile_session *perfile_stream_session(const perfile_stream *s);
PERFILE_API const perfile_container *perfile_stream_container(const perfile_stream *s);

/* What a stream has read so far. */
typedef struct perfile_stream_summary {
    uint64_t records; /* yielded, envelopes and inner records included, damage excluded */
    uint64_t bytes;   /* bytes of these as stored: payloads after records included, inner records
                         excluded */
    uint64_t inner_records;    /* records that came out of envelopes */
    uint64_t inner_bytes;      /* bytes of these, decompressed */
    uint64_t damages;          /* of the container and of the stream */
    uint64_t lost;             /* bytes of the input that are in no record because of damage */
    uint64_t by_damage[64];    /* per PERFILE_DAMAGE_… */
    uint64_t first_offset;     /* of the first damage */
    uint64_t unknown_types;    /* records of types that have no row in format/ */
    uint64_t unknown_features; /* features with numbers that have no row in format/ */
    uint64_t missing;          /* bytes of records that the header declares but the input lacks */
    uint64_t reserved[7];
} perfile_stream_summary;

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *out. */
static inline void perfile_stream_get_summary(const perfile_stream *s, perfile_stream_summary *out,
                                              size_t size)
{
    perfile_summary(PERFILE_SUMMARY_STREAM, s, out, size);
}
#endif

/* Closes the stream and everything it owns.  `s` may be NULL. */
PERFILE_API void perfile_stream_close(perfile_stream *s);

#ifdef __cplusplus
}
#endif

#endif
