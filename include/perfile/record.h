/* A record as stored: a borrowed view of its bytes.  The whole library passes records in this
 * form. */
#ifndef PERFILE_RECORD_H
#define PERFILE_RECORD_H

#include "records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* See event.h and session.h. */
typedef struct perfile_event perfile_event;
typedef struct perfile_session perfile_session;

/* The family of a record.  The driver sets it; it is never read from input, so no file can imitate
 * another format. */
enum {
    PERFILE_FAMILY_PERF = 0,
    PERFILE_FAMILY_PERFMON = 1,
    PERFILE_FAMILY_DAMAGE = 2 /* bytes that could not be read; see `damage` */
};

/* Types of families other than perf begin at family << PERFILE_FAMILY_SHIFT, so types of these
 * families never collide; the low bits are the stored number. perf.data may hold any 32-bit number
 * as a type, so only `family` tells the family of a record. */
#define PERFILE_FAMILY_SHIFT 24

/* perfile_record.flags */
enum {
    PERFILE_REC_SWAPPED = 1 << 0, /* not in the byte order of this machine */
    PERFILE_REC_STABLE =
        1 << 1, /* bytes are valid until the stream is closed, not just until the next call */
    PERFILE_REC_ENVELOPE = 1 << 2,    /* its content follows as separate records */
    PERFILE_REC_INNER = 1 << 3,       /* came out of an envelope */
    PERFILE_REC_PARTIAL = 1 << 4,     /* bytes that were not requested are zero */
    PERFILE_REC_PAYLOAD_CUT = 1 << 5, /* the input ends inside the bytes after the record */
    PERFILE_REC_TIMED = 1 << 6,       /* `time` is valid: an earlier record gave it */
    PERFILE_REC_UNSELECTED = 1 << 7   /* a filter with PERFILE_FILTER_MARK does not select it */
};

/* Values for: no time, no process or thread, no position in the stream. */
#define PERFILE_NO_TIME     UINT64_MAX
#define PERFILE_NO_PID      UINT32_MAX
#define PERFILE_NO_SEQUENCE UINT64_MAX

/* A record.
 *
 * `header` points at the first byte of the record as stored.  `body` is everything between the
 * header (8 bytes in the perf family) and the end of the record.  Its length is not limited to 64
 * KiB, because simpleperf splits larger records.  `extra` is the data that follows the record
 * without being part of its size (AUXTRACE, HEADER_TRACING_DATA).  Its pointer is NULL if the bytes
 * are not in memory: see perfile_stream_extra().
 *
 * A record of family DAMAGE has `offset`, `damage`, and the number of skipped bytes in body.len.
 * body.ptr points to these bytes, or is NULL if they are not in memory. */
struct perfile_record {
    const uint8_t *header;  /* as stored */
    perfile_bytes body;     /* as stored */
    uint32_t type;          /* PERFILE_RECORD_…, in native byte order as `misc` */
    uint16_t misc;          /* PERFILE_MISC_… */
    uint8_t family;         /* PERFILE_FAMILY_… */
    uint8_t flags;          /* PERFILE_REC_… */
    uint64_t offset;        /* of the header in its file; for an inner record, of its envelope */
    uint64_t stream_offset; /* of an inner record: in the decompressed stream of its part */
    uint64_t sequence;      /* counts the records of the stream from 0, envelopes too */
    uint64_t envelope;      /* of an inner record: sequence of the record that completed it */
    perfile_bytes extra;    /* after the record: bytes of AUXTRACE and tracing data */
    uint32_t part;          /* file of a directory: position in perfile_container.parts */
    uint32_t damage;        /* PERFILE_DAMAGE_… of a damage record */
    const perfile_session *session; /* facts that decoding needs; of the stream */
    uint64_t time; /* with PERFILE_REC_TIMED, never in the perf family: a number of the clock of the
                      family; perfile_record_time() converts it to ns */
};

/* Returns the event of the record, or NULL if it belongs to none or to an unknown one.  The call
 * looks up event and time in the facts that the session has at that moment: call it before the next
 * call on the stream. */
PERFILE_API const perfile_event *perfile_record_event(const perfile_record *r);

/* Returns the time in ns of the session clock: the time that the driver knows (PERFILE_REC_TIMED),
 * else the time of the sample, the trailer, or the own field of the record (the time of STAT_ROUND
 * is a duration).  PERFILE_NO_TIME if it has none.  Tools write 0 in records about things that
 * existed before the recording. */
PERFILE_API uint64_t perfile_record_time(const perfile_record *r);

/* Find process and thread, or the CPU, of the record: from the sample, else from the trailer, else
 * from fields of the record itself.  Return false if it has none.  For a record that a tool made
 * about something that existed before (time 0), its own fields are used. */
PERFILE_API bool perfile_record_task(const perfile_record *r, uint32_t *pid, uint32_t *tid);
PERFILE_API bool perfile_record_cpu(const perfile_record *r, uint32_t *cpu);

/* Reads one field of fixed size of all samples among first[0 .. n), records of one run
 * (perfile_stream_next_run()).  `bit` is PERFILE_SAMPLE_IDENTIFIER, IP, TID (pid in the low half,
 * tid in the high half), TIME, ADDR, ID, STREAM_ID, CPU or PERIOD.  The offset of a field is known
 * per event, so nothing else is decoded.  Stores the values of the records that have the field in
 * `values`, without gaps, and the positions of these records in the run in `at` (may be NULL).
 * Both need room for `n` items.  Returns the number of values. */
PERFILE_API size_t perfile_sample_fields(const perfile_record *first, size_t n, uint64_t bit,
                                         uint64_t *values, uint32_t *at);

#ifndef PERFILE_DECLARATIONS
/* Reads one field of fixed size of a SAMPLE, see perfile_sample_fields().  Returns false if the
 * sample does not have it. */
static inline bool perfile_sample_field(const perfile_record *r, uint64_t bit, uint64_t *value)
{
    return perfile_sample_fields(r, 1, bit, value, NULL) == 1;
}

/* Returns the name of a type of the perf family, "SAMPLE" for 9; NULL for types without a row in
 * format/. */
static inline const char *perfile_record_type_name(uint32_t type)
{
    return perfile_name(PERFILE_NAME_RECORD_TYPE, type);
}

/* Likewise for the types of any family. */
static inline const char *perfile_type_name(unsigned family, uint32_t type)
{
    return perfile_name(PERFILE_NAME_TYPE, (uint64_t)family << 32 | type);
}
#endif

/* Returns the number of a type name, or 0.  Case is ignored, and the prefix PERF_RECORD_ is
 * allowed.  All families are searched. */
PERFILE_API uint32_t perfile_record_type_number(const char *name);

#ifndef PERFILE_DECLARATIONS
/* Returns the bytes of the record as stored: header and body, without extra. */
static inline size_t perfile_record_size(const perfile_record *r)
{
    if (r->family == PERFILE_FAMILY_PERF)
        return r->body.len + 8;
    return r->body.len +
           (r->family == PERFILE_FAMILY_DAMAGE ? 0 : (size_t)(r->body.ptr - r->header));
}

/* Returns the type as stored. */
static inline uint32_t perfile_record_stored_type(const perfile_record *r)
{
    const uint32_t low = (UINT32_C(1) << PERFILE_FAMILY_SHIFT) - 1;
    return r->family == PERFILE_FAMILY_PERF ? r->type : r->type & low;
}
#endif

/* Makes a copy that owns its bytes (extra too, if in memory) and stays valid after the stream moves
 * on.  Event, layout and time still come from `session`, which must outlive the copy.  Release it
 * with perfile_record_free().  PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_record_copy(const perfile_record *r,
                                                                perfile_record **copy,
                                                                perfile_error *err);
PERFILE_API void perfile_record_free(perfile_record *copy);

#ifdef __cplusplus
}
#endif

#endif
