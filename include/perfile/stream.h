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

/* A capture that is read, or a stage on another stream. */
typedef struct perfile_stream perfile_stream;

enum { /* perfile_open_options.deliver */
       PERFILE_DELIVER_DAMAGE =
           1 << 0 /* yield a record of family DAMAGE for bytes that could not be read */
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

/* Facts that replace those of a damaged header.  Set `size`; a member that is 0 is taken from the
 * header.  What it points to is borrowed until the stream is closed. */
typedef struct perfile_assume {
    size_t size;
    uint32_t form;        /* PERFILE_FORM_… */
    uint32_t byte_order;  /* PERFILE_BYTE_ORDER_… of the capture and of `events` */
    perfile_section data; /* where the records are; size UINT64_MAX: up to the end of the file */
    /* Replace the events of the header and of HEADER_ATTR records. */
    const perfile_assumed_event *events;
    uint32_t n_events;       /* items of `events` */
    bool has_features;       /* `features` and `features_shift` count */
    uint64_t features[4];    /* bitmap of the features that the table behind `data` lists */
    uint64_t features_shift; /* added to the offsets in that table, modulo 2^64 */
    /* Processors of the files, where each is of one: in the order in which they were given, in a
     * directory in that of the processors which their names say.  NULL: as their names say. */
    const uint32_t *cpus;
    uint64_t n_cpus; /* items of `cpus`, as many as there are files */
    uint64_t reserved[5];
} perfile_assume;

/* How a capture is read.  Set `size`; zeros are the defaults. */
typedef struct perfile_open_options {
    size_t size;
    uint32_t on_damage; /* PERFILE_ON_DAMAGE_STOP (the default), RESYNC or SALVAGE */
    uint32_t deliver;   /* bits of PERFILE_DELIVER_… */
    uint32_t envelopes; /* PERFILE_ENVELOPES_… */
    /* perfile_open_path() only: PERFILE_SOURCE_…, how the file is read.  PERFILE_E_USAGE elsewhere:
     * a source that is open already has its own. */
    uint32_t source_flags;
    /* Read the file exactly as stored, as version 1 of the `dump --format jsonl` schema needs it:
     * no handling of overlaps, no heuristics for trailers, no trimming of build ids. */
    bool as_stored;
    const char *from;             /* name of the format, NULL: found by evidence */
    const perfile_limits *limits; /* NULL: defaults; copied */
    /* Called for what is worth knowing but is no damage (an attr newer than this library, …).  May
     * be NULL. */
    void (*notice)(void *user, const perfile_error *what);
    void *notice_user;
    /* Called inside a call on the stream before that blocks on a pipe, socket or terminal: the time
     * to flush output.  It must not call functions on the stream.  Not called for sources of
     * callbacks.  May be NULL. */
    void (*waiting)(void *user);
    void *waiting_user;
    const perfile_assume *assume; /* NULL: nothing */
    uint64_t reserved[5];
} perfile_open_options;

/* Opens a capture of any form on `source`.  *stream owns the source from success on; on failure
 * it stays the caller's.
 * PERFILE_E_CORRUPT or TRUNCATED: the bytes are no capture that could be read (err.damage says
 * more, err.message what was found); UNSUPPORTED: `from` names no format. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_open(perfile_source *source,
                                                         const perfile_open_options *options,
                                                         perfile_stream **stream,
                                                         perfile_error *err);

/* The same for a path or "-". */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_open_path(const char *path,
                                                              const perfile_open_options *options,
                                                              perfile_stream **stream,
                                                              perfile_error *err);

/* Fetches the next record of `s`.
 *
 * On PERFILE_OK, *r belongs to the stream; what it points to is valid until the next call on `s`,
 * or until perfile_stream_close() if (*r)->flags has PERFILE_REC_STABLE (the bytes; the struct
 * itself lives to the next call only).  Records come in stored order.  With PERFILE_DELIVER_DAMAGE
 * a record of family DAMAGE stands for bytes that could not be read; perfile_stream_get_summary()
 * counts them either way.
 *
 * PERFILE_END after the last record, and on every call after that.  An error (out of memory, a
 * failed read, a limit) is final: every later call returns it again. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_next(perfile_stream *s,
                                                                const perfile_record **r,
                                                                perfile_error *err);

enum { PERFILE_RUN_RECORDS = 64 /* more are never in one run */ };

/* Fetches the next records of `s`, several at once: (*first)[0 .. *n), at least one, all that is
 * ready without reading on.  For loops where a call per record would show.  They are those that
 * perfile_stream_next() would give one by one, and live as long: until the next call on `s`.  The
 * size of perfile_record is part of the ABI. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_next_run(perfile_stream *s,
                                                                    const perfile_record **first,
                                                                    size_t *n, perfile_error *err);

/* Samples that perfile_stream_pass() skipped. */
typedef struct perfile_passed {
    uint64_t samples, bytes; /* how many, and their bytes as stored */
    uint64_t offset;         /* of the first */
    uint32_t part;           /* which file of a directory */
    uint32_t reserved0;
    uint64_t reserved[2];
} perfile_passed;

/* Skips the samples that come next if the capture is in an archive whose index counts them, so that
 * they need not be decoded: for callers that need the counts only.  Fills the first `size` bytes of
 * *passed.  If `samples` is 0, fetch one record with perfile_stream_next(), then call this again.
 */
PERFILE_API void perfile_stream_pass(perfile_stream *s, perfile_passed *passed, size_t size);

/* How many samples of a chunk are of an event. */
typedef struct perfile_described_event {
    uint64_t index;   /* perfile_event.index */
    uint64_t samples; /* how many */
} perfile_described_event;

/* Samples that an archive describes as a whole: those of one chunk. */
typedef struct perfile_described {
    uint64_t samples, sample_bytes; /* how many, and their bytes as stored */
    uint64_t first_time, last_time; /* least and greatest; 0 counts.  PERFILE_NO_TIME: not known */
    const perfile_described_event *events;     /* those of no event are in no item */
    const uint32_t *pids;                      /* that occur, ascending; NULL: not known */
    const uint32_t *tids;                      /* likewise */
    const uint32_t *cpus;                      /* likewise */
    uint32_t n_events, n_pids, n_tids, n_cpus; /* items of these */
    uint64_t reserved[4];
} perfile_described;

/* For callers to whom such a description says enough: from now on `enough` is asked about the
 * samples of each chunk before they are decoded, if a chunk has no other data; if it returns true
 * they are skipped, and count as read.  Side-band is read in any case.  The struct is valid during
 * the call only.  To be called before the first record is read.  False: nothing will be described,
 * as of everything that is no archive. */
PERFILE_API bool perfile_stream_describe(perfile_stream *s,
                                         bool (*enough)(void *user, const perfile_described *d),
                                         void *user);

/* Goes to the record at `offset` of file `part` (0, or of a directory the position in
 * perfile_container.parts), a place that a record had before (perfile_record.offset and .part) or
 * that an index of the caller's own remembers: the next record is that one, and reading goes on
 * behind it, also after PERFILE_END.  `offset` may be the end of the records, too.
 *
 * The session keeps what it has learned, and learns nothing of records that are never read: of a
 * pipe stored in a file, read those that carry facts first.  Numbers (`sequence`) and the summary
 * go on counting what is read.
 *
 * PERFILE_E_UNSUPPORTED: the stream reads a pipe, is a stage or made by a program, or the part has
 * compressed records, which can be read from the beginning of the part only.  PERFILE_E_USAGE:
 * there is no such part, or no records lie at that offset.  In both cases the stream stays where it
 * was.  After an error that was final it stays final. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_seek(perfile_stream *s, uint32_t part,
                                                                uint64_t offset,
                                                                perfile_error *err);

/* Decodes the SAMPLE `r` of this stream into a struct that the stream owns; faster than
 * perfile_sample_decode(), which clears the caller's.  *sample is valid until the next call of
 * this function.  Fails as the decoders of records.h do. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_sample(perfile_stream *s,
                                                                  const perfile_record *r,
                                                                  const perfile_sample **sample,
                                                                  perfile_error *err);

/* The bytes behind a record (perfile_record.extra) when they are not in memory: the next piece of
 * them, at most 1 MiB, valid until the next call on `s`.  PERFILE_END after the last.  Only for the
 * record that the stream is at. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_extra(perfile_stream *s,
                                                                 const perfile_record *r,
                                                                 perfile_bytes *piece,
                                                                 perfile_error *err);

/* Facts of the capture, as far as they are known by now. */
PERFILE_API const perfile_session *perfile_stream_session(const perfile_stream *s);
PERFILE_API const perfile_container *perfile_stream_container(const perfile_stream *s);

/* What a stream has read so far. */
typedef struct perfile_stream_summary {
    uint64_t records; /* yielded, envelopes and inner ones included, damage not */
    uint64_t bytes;   /* of them as stored, payloads behind records included, inner ones not */
    uint64_t inner_records;    /* that came out of envelopes */
    uint64_t inner_bytes;      /* decompressed */
    uint64_t damages;          /* of the container and of the stream */
    uint64_t lost;             /* bytes of the input that are in no record because of damage */
    uint64_t by_damage[64];    /* per PERFILE_DAMAGE_… */
    uint64_t first_offset;     /* of the first damage */
    uint64_t unknown_types;    /* records whose type has no row in format/ */
    uint64_t unknown_features; /* features whose number has no row in format/ */
    uint64_t missing;          /* bytes of records that the header declares but the input lacks */
    uint64_t reserved[7];
} perfile_stream_summary;

/* Fills the first `size` bytes of *out. */
PERFILE_API void perfile_stream_get_summary(const perfile_stream *s, perfile_stream_summary *out,
                                            size_t size);

enum {                                /* perfile_stream_sorted_by() */
       PERFILE_SORTED_BY_NOTHING = 0, /* records stand in stored order, or in that of a stage */
       PERFILE_SORTED_BY_TIME = 1     /* as perfile_sort() has them, all parts as one sequence */
};

/* In which order the records of `s` come: what perfile_sort() and perfile_merge() say of theirs,
 * and what stages keep that leave out or change records. */
PERFILE_API uint32_t perfile_stream_sorted_by(const perfile_stream *s);

/* The name of the input in messages: path, "-", or the name of its source.  Valid as long as `s`.
 */
PERFILE_API const char *perfile_stream_name(const perfile_stream *s);

/* Closes the stream and what it owns.  NULL is fine. */
PERFILE_API void perfile_stream_close(perfile_stream *s);

#ifdef __cplusplus
}
#endif

#endif
