/* A record as it is stored: a borrowed view of its bytes, which everything in the library passes
 * on. */
#ifndef PERFILE_RECORD_H
#define PERFILE_RECORD_H

#include "records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* See event.h and session.h. */
typedef struct perfile_event perfile_event;
typedef struct perfile_session perfile_session;

/* Set by the driver, never read from input, so that no file can pose as another format. */
enum {
    PERFILE_FAMILY_PERF = 0,
    PERFILE_FAMILY_PERFMON = 1,
    PERFILE_FAMILY_DAMAGE = 2 /* stands for bytes that could not be read; see `damage` */
};

/* Types of other families than perf's own begin at family << PERFILE_FAMILY_SHIFT, so that a type
 * of one is none of another; the low bits are the number that is stored.  perf.data may hold any
 * number of 32 bits: which family a record is of is said by its `family`. */
#define PERFILE_FAMILY_SHIFT 24

/* perfile_record.flags */
enum {
    PERFILE_REC_SWAPPED = 1 << 0, /* stored in the other byte order than this machine's */
    PERFILE_REC_STABLE =
        1 << 1, /* bytes live until the stream is closed, not just to the next call */
    PERFILE_REC_ENVELOPE = 1 << 2,    /* its content follows as records of their own */
    PERFILE_REC_INNER = 1 << 3,       /* came out of an envelope */
    PERFILE_REC_PARTIAL = 1 << 4,     /* bytes that were not asked for are zero */
    PERFILE_REC_PAYLOAD_CUT = 1 << 5, /* the input ends inside the bytes behind the record */
    PERFILE_REC_TIMED = 1 << 6,       /* `time` is the record's: a record in front of it said it */
    PERFILE_REC_UNSELECTED = 1 << 7   /* a filter with PERFILE_FILTER_MARK does not select it */
};

/* Where there is no time, process or thread, position in the stream. */
#define PERFILE_NO_TIME     UINT64_MAX
#define PERFILE_NO_PID      UINT32_MAX
#define PERFILE_NO_SEQUENCE UINT64_MAX

/* A record.
 *
 * `header` points at the first byte of the record as stored, `body` is what follows the header (8
 * bytes in perf's own family) up to the record's size (not limited to 64 KiB: simpleperf splits
 * larger records).  `extra` is what follows the record and is not part of its size (AUXTRACE,
 * HEADER_TRACING_DATA); its pointer is NULL when the bytes are not in memory: see
 * perfile_stream_extra().
 *
 * A record of family DAMAGE has offset, the number of bytes that were passed over (body.len; the
 * bytes themselves when they are in memory, else body.ptr is NULL) and `damage`. */
struct perfile_record {
    const uint8_t *header;  /* as stored */
    perfile_bytes body;     /* as stored */
    uint32_t type;          /* PERFILE_RECORD_…, in native byte order as `misc` */
    uint16_t misc;          /* PERFILE_MISC_… */
    uint8_t family;         /* PERFILE_FAMILY_… */
    uint8_t flags;          /* PERFILE_REC_… */
    uint64_t offset;        /* of the header in its file; of an inner record: of its envelope */
    uint64_t stream_offset; /* of an inner record: in the decompressed stream of its part */
    uint64_t sequence;      /* counts the records of the stream from 0, envelopes too */
    uint64_t envelope;      /* of an inner record: sequence of the record that completed it */
    perfile_bytes extra;    /* behind the record: bytes of AUXTRACE and tracing data */
    uint32_t part;          /* which file of a directory: position in perfile_container.parts */
    uint32_t damage;        /* PERFILE_DAMAGE_… of a damage record */
    const perfile_session *session; /* facts that decoding needs; of the stream */
    uint64_t time;                  /* with PERFILE_REC_TIMED, never of perf's own family: a number
                                       of the family's own clock; perfile_record_time() makes ns */
};

/* The event that the record belongs to; NULL when it belongs to none, or to an unknown one.  Event
 * and time are looked up by this call, from what the session knows by then: call it before the next
 * call on the stream. */
PERFILE_API const perfile_event *perfile_record_event(const perfile_record *r);

/* How to decode the record: the event's layout, or the one that all events share when its id is
 * unknown; NULL when there is none.  `damage` (may be NULL): PERFILE_DAMAGE_NO_ATTR or UNKNOWN_ID
 * when a SAMPLE, READ or trailer cannot be decoded for want of it, else 0. */
PERFILE_API const perfile_layout *perfile_record_layout(const perfile_record *r, uint32_t *damage);

/* Time in ns of the session clock: what the driver knows (PERFILE_REC_TIMED); of the sample, else
 * of the trailer, else of the record's own field (that of STAT_ROUND is a span).  PERFILE_NO_TIME
 * when it has none.  0 is what tools give records of what existed before. */
PERFILE_API uint64_t perfile_record_time(const perfile_record *r);

/* Process, thread and processor: of the sample, else of the trailer, else of the record's own
 * fields; false when it has none.  Of a record that a tool made of what existed before (time 0) its
 * own fields count. */
PERFILE_API bool perfile_record_task(const perfile_record *r, uint32_t *pid, uint32_t *tid);
PERFILE_API bool perfile_record_cpu(const perfile_record *r, uint32_t *cpu);

/* One field of fixed size of a SAMPLE, `bit` being one of PERFILE_SAMPLE_IDENTIFIER IP TID (pid in
 * the low, tid in the high half) TIME ADDR ID STREAM_ID CPU PERIOD; false when it has none.  Its
 * place is known per event: nothing else is decoded. */
PERFILE_API bool perfile_sample_field(const perfile_record *r, uint64_t bit, uint64_t *value);

/* How many events a SAMPLE stands for: its own period, else the fixed one of its event; false when
 * neither is known. */
PERFILE_API bool perfile_sample_period(const perfile_record *r, uint64_t *period);

/* The same as perfile_sample_field() of the records first[0 .. n) of one run
 * (perfile_stream_next_run()), for loops where a call per record would show: puts the values of
 * those that have the field one after the other in `values`, and where in the run they stand in
 * `at` (may be NULL), both with room for `n`.  Returns how many. */
PERFILE_API size_t perfile_sample_fields(const perfile_record *first, size_t n, uint64_t bit,
                                         uint64_t *values, uint32_t *at);

/* "SAMPLE" for 9; NULL for types that have no row in format/.  Of perf's own family; of any family:
 * perfile_type_name(). */
PERFILE_API const char *perfile_record_type_name(uint32_t type);
PERFILE_API const char *perfile_type_name(unsigned family, uint32_t type);

/* The number of a type name (case does not count, a PERF_RECORD_ in front is fine), or 0.  All
 * families are looked through. */
PERFILE_API uint32_t perfile_record_type_number(const char *name);

/* Bytes of the header of a record of that family (PERFILE_FAMILY_…); 0 of damage, which has none.
 */
PERFILE_API size_t perfile_family_header(unsigned family);

#ifndef PERFILE_DECLARATIONS
/* Bytes of the record as stored: header and body, without extra. */
PERFILE_API inline size_t perfile_record_size(const perfile_record *r)
{
    return r->body.len + (r->family == PERFILE_FAMILY_PERF ? 8 : perfile_family_header(r->family));
}

/* The type as it is stored. */
PERFILE_API inline uint32_t perfile_record_stored_type(const perfile_record *r)
{
    const uint32_t low = (UINT32_C(1) << PERFILE_FAMILY_SHIFT) - 1;
    return r->family == PERFILE_FAMILY_PERF ? r->type : r->type & low;
}
#else /* the same, which the library has, too */
PERFILE_API size_t perfile_record_size(const perfile_record *r);
PERFILE_API uint32_t perfile_record_stored_type(const perfile_record *r);
#endif

/* A copy that owns its bytes (extra too when they are in memory) and stays valid after the stream
 * moved on; event, layout and time are still those of `session`, which must outlive it.
 * Release with perfile_record_free().  PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_record_copy(const perfile_record *r,
                                                                perfile_record **copy,
                                                                perfile_error *err);
PERFILE_API void perfile_record_free(perfile_record *copy);

#ifdef __cplusplus
}
#endif

#endif
