/* Recovering what is left of a capture: a killed recording, a cut or damaged file, a directory with
 * missing parts.  Records that can be trusted go into a new capture that any reader opens. */
#ifndef PERFILE_RECOVER_H
#define PERFILE_RECOVER_H

#include "check.h"
#include "stream.h"
#include "writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The record in front of a gap, or behind it. */
typedef struct perfile_gap_side {
    bool there;      /* false: the gap begins or ends the records of its file */
    uint8_t family;  /* PERFILE_FAMILY_… */
    uint32_t type;   /* PERFILE_RECORD_… */
    uint64_t offset; /* in the file; of a compressed record: of its envelope */
    uint64_t size;   /* in bytes, header included */
    uint64_t time;   /* PERFILE_NO_TIME when it has none */
    uint64_t reserved[2];
} perfile_gap_side;

/* Bytes that are not in the new capture, or something else that was lost. */
typedef struct perfile_gap {
    uint32_t damage;  /* PERFILE_DAMAGE_…: why */
    uint32_t part;    /* which file of a directory */
    uint64_t offset;  /* in that file; PERFILE_NO_OFFSET when no place is meant */
    uint64_t bytes;   /* passed over; 0 when nothing of the file is missing here */
    const char *rule; /* of format/rules.def, that the record left out breaks; NULL: none */
    bool inner;       /* inside compressed records: offset is that of the envelope, `bytes` are
                         decompressed ones */
    perfile_gap_side before, after; /* what stands around it */
} perfile_gap;

/* A remark that is about no gap: what was guessed, which feature was left out. */
typedef struct perfile_recover_note {
    uint32_t feature; /* UINT32_MAX: the note is on no feature */
    uint32_t damage;  /* 0: nothing was lost */
    const char *text; /* a sentence; valid during the call */
} perfile_recover_note;

/* Set `size`; zeros are the defaults. */
typedef struct perfile_recover_options {
    size_t size;
    const perfile_assume *assume; /* what is known better than the file says; NULL: nothing */
    const perfile_limits *limits; /* NULL: defaults */
    const char *from;             /* as in perfile_open_options */
    /* Called in order of place, for all of them; any may be NULL.  `name` is the part of a
     * directory, or NULL. */
    void (*gap)(void *user, const perfile_gap *gap, const char *name);
    /* Something to be said, once.  May be NULL. */
    void (*note)(void *user, const perfile_recover_note *note);
    /* Now and then: bytes of the input behind us, of `total` (0: not known). */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    uint64_t reserved[8];
} perfile_recover_options;

/* What was rescued. */
typedef struct perfile_recover_summary {
    uint64_t records;       /* kept */
    uint64_t bytes;         /* of them, as they stand in the new capture */
    uint64_t samples;       /* of them */
    uint64_t gaps;          /* gaps that were reported */
    uint64_t lost;          /* bytes of the input that are in gaps */
    uint64_t missing;       /* bytes of records that the header declares and the input lacks */
    uint64_t features;      /* feature sections kept or rebuilt … */
    uint64_t features_lost; /* … and left out because they are damaged */
    uint64_t first_time, last_time; /* of the samples kept; PERFILE_NO_TIME when there is none */
    uint32_t events;                /* in the new capture */
    uint32_t form;                  /* of the new capture: that of the input */
    bool unterminated;              /* the recording was not finished */
    bool decompressed; /* compressed records stand in the new capture as what was in them */
    bool damaged;      /* something was lost */
    uint64_t reserved[6];
} perfile_recover_summary;

/* Reads all that is left of the capture on `source` and writes it to `sink` (NULL: a dry run
 * that only reports), which is finished on success.  The source is closed in any case; the sink
 * stays the caller's.  *result (its first `size` bytes) is filled as far as it went.
 *
 * Records are kept in order and byte for byte, those of a directory part by part; what is in
 * compressed records is written decompressed.  Sections, feature table and index are rebuilt,
 * SAMPLE_TIME from the samples that are kept.
 *
 * PERFILE_OK, also when something was lost: see *result.  PERFILE_E_CORRUPT or TRUNCATED: no record
 * could be kept, and nothing was written.  Others: reading or writing failed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_recover_capture(
    perfile_source *source, perfile_sink *sink, const perfile_recover_options *options,
    perfile_recover_summary *result, size_t size, perfile_error *err);

/* An event that was described in words, as it would be stored. */
typedef struct perfile_event_text {
    uint32_t attr_size; /* bytes of `attr` that count */
    uint32_t n_ids;     /* items of `ids` that count */
    uint8_t attr[512];  /* as stored */
    uint64_t ids[64];   /* as stored */
} perfile_event_text;

/* Makes an event of "NAME:MEMBER=VALUE,MEMBER=VALUE…", for instance
 * "cycles:sample_type=IP|TID|TIME|PERIOD".  NAME is one of a hardware or software event, or
 * nothing. Members are those of an attr that decide the layout (type, config, sample_type,
 * read_format, branch_sample_type, sample_regs_user, sample_stack_user, sample_regs_intr) and `id`,
 * any number of times; values are numbers, or names of bits joined by |.  sample_id_all is set.
 * `byte_order`: PERFILE_BYTE_ORDER_… of attr and ids; 0: this machine's.
 * PERFILE_E_USAGE: err->message names what was not understood. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_event_parse(const char *text,
                                                                uint32_t byte_order,
                                                                perfile_event_text *event,
                                                                perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
