/* Recovery of a damaged capture: a killed recording, a truncated or damaged file, a directory with
 * missing parts.  Records that can be trusted are written to a new capture that any reader can
 * open. */
#ifndef PERFILE_RECOVER_H
#define PERFILE_RECOVER_H

#include "check.h"
#include "stream.h"
#include "writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The record before or after a gap. */
typedef struct perfile_gap_side {
    bool there;      /* false: no record on this side, the gap is at an end of its file */
    uint8_t family;  /* PERFILE_FAMILY_… */
    uint32_t type;   /* PERFILE_RECORD_… */
    uint64_t offset; /* in the file; for a record inside compressed ones: of its envelope */
    uint64_t size;   /* in bytes, header included */
    uint64_t time;   /* ns; PERFILE_NO_TIME if it has none */
    uint64_t reserved[2];
} perfile_gap_side;

/* A range that is not in the new capture, or something else that was lost. */
typedef struct perfile_gap {
    uint32_t damage;  /* PERFILE_DAMAGE_…: the reason */
    uint32_t part;    /* number of the file in a directory */
    uint64_t offset;  /* in that file; PERFILE_NO_OFFSET: at no particular offset */
    uint64_t bytes;   /* bytes that were skipped; 0: nothing of the file is missing here */
    const char *rule; /* rule in format/rules.def that the omitted record breaks; NULL: none */
    bool inner; /* inside compressed records: `offset` is of the envelope, `bytes` are decompressed
                 * bytes */
    perfile_gap_side before, after; /* the records around it */
} perfile_gap;

/* A remark that is not about a gap: a guess that was made, or a feature that was omitted. */
typedef struct perfile_recover_note {
    uint32_t feature;    /* UINT32_MAX: not about a feature */
    uint32_t damage;     /* 0: nothing was lost */
    const char *message; /* a sentence; valid during the call */
} perfile_recover_note;

/* Set `size`; zeros are the defaults. */
typedef struct perfile_recover_options {
    size_t size;
    const perfile_assume *assume; /* facts that override the file; NULL: none */
    const perfile_limits *limits; /* NULL: defaults */
    const char *from;             /* as in perfile_open_options */
    /* Called for each gap, in order of offset.  `name` is the file of a directory, or NULL.  May be
     * NULL. */
    void (*gap)(void *user, const perfile_gap *gap, const char *name);
    /* Called once for each remark.  May be NULL. */
    void (*note)(void *user, const perfile_recover_note *note);
    /* Called from time to time with the bytes of the input done so far, of `total` (0: unknown).
     * May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    uint64_t reserved[8];
} perfile_recover_options;

/* Counts of what was recovered. */
typedef struct perfile_recover_summary {
    uint64_t records;       /* records that were kept */
    uint64_t bytes;         /* their bytes in the new capture */
    uint64_t samples;       /* samples among them */
    uint64_t gaps;          /* gaps that were reported */
    uint64_t lost;          /* bytes of the input that are in gaps */
    uint64_t missing;       /* bytes of records that the header declares and the input lacks */
    uint64_t features;      /* feature sections kept or rebuilt … */
    uint64_t features_lost; /* … and omitted because they are damaged */
    uint64_t first_time, last_time; /* of the samples kept; PERFILE_NO_TIME if there are none */
    uint32_t events;                /* in the new capture */
    uint32_t form;                  /* of the new capture: that of the input */
    bool unterminated;              /* the recording was not finished */
    bool decompressed;              /* compressed records were replaced by their content */
    bool damaged;                   /* something was lost */
    uint64_t reserved[6];
} perfile_recover_summary;

/* Reads everything that is left of the capture on `source`, writes it to `sink`, and finishes the
 * sink on success.  With `sink` NULL this is a dry run that only reports.  The source is closed on
 * success; the caller still owns the sink.  *result (its first `size` bytes) is filled with the
 * counts so far, also on failure.
 *
 * Records are kept in order and byte for byte, for a directory file by file; the content of
 * compressed records is written decompressed.  Sections, feature table and index are rebuilt,
 * SAMPLE_TIME from the samples that are kept.
 *
 * PERFILE_OK, also when something was lost: see *result.  PERFILE_E_CORRUPT or TRUNCATED: no record
 * could be kept, and nothing was written.  Other errors: reading or writing failed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_recover_capture(
    perfile_source *source, perfile_sink *sink, const perfile_recover_options *options,
    perfile_recover_summary *result, size_t size, perfile_error *err);

/* An event that was parsed from text, as it would be stored. */
typedef struct perfile_event_text {
    uint32_t attr_size; /* bytes of `attr` in use */
    uint32_t n_ids;     /* items of `ids` in use */
    uint8_t attr[512];  /* as stored */
    uint64_t ids[64];   /* as stored */
} perfile_event_text;

/* Makes an event from "NAME:MEMBER=VALUE,MEMBER=VALUE…", for instance
 * "cycles:sample_type=IP|TID|TIME|PERIOD".  NAME is the name of a hardware or software event, or
 * empty.  MEMBER is an attr member that decides the layout (type, config, sample_type, read_format,
 * branch_sample_type, sample_regs_user, sample_stack_user, sample_regs_intr), or `id`, which may be
 * repeated.  VALUE is a number, or names of bits joined by |. sample_id_all is set.  `byte_order`
 * is PERFILE_BYTE_ORDER_… of attr and ids; 0: this machine's.  PERFILE_E_USAGE: err->message names
 * the part that was not understood. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_event_parse(const char *text,
                                                                uint32_t byte_order,
                                                                perfile_event_text *event,
                                                                perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
