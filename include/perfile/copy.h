/* From a stream into a writer: what is between open and finish of every program that writes
 * captures from captures. */
#ifndef PERFILE_COPY_H
#define PERFILE_COPY_H

#include "stream.h"
#include "writer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* perfile_note.kind */
       PERFILE_NOTE_NONE = 0,
       PERFILE_NOTE_RECORDS_LEFT_OUT = 1, /* of a type that no table describes, on demand */
       PERFILE_NOTE_RECORDS_KEPT = 2,     /* the same, with the bytes of the other byte order */
       PERFILE_NOTE_RECORDS_BROKEN = 3,   /* they cannot be read: rewritten as far as that goes */
       PERFILE_NOTE_RECORDS_CUT = 4,      /* the bytes that they announce are not there: left out */
       PERFILE_NOTE_FEATURE_LEFT_OUT = 5, /* of a number that no table describes, on demand */
       PERFILE_NOTE_FEATURE_KEPT = 6,     /* the same, with the bytes of the other byte order */
       PERFILE_NOTE_FEATURE_BROKEN = 7,   /* it cannot be read: as it was, or left out */
       PERFILE_NOTE_FEATURE_NO_PLACE = 8, /* the form has no place for it: left out */
       PERFILE_NOTE_EVENT_BROKEN = 9, /* its attr cannot be read: rewritten as far as that goes */
       PERFILE_NOTE_DAMAGE = 10,      /* bytes that belong to no record */
       PERFILE_NOTE_BYTES_LEFT_OUT = 11,  /* between and behind the parts of the file: the form has
                                        no  place for them */
       PERFILE_NOTE_ROUNDS_LEFT_OUT = 12, /* FINISHED_ROUND: not true of several files in a row */
       PERFILE_NOTE_PARTS = 13,        /* files of a directory were joined, one after the other */
       PERFILE_NOTE_DECOMPRESSED = 14, /* what was in compressed records stands in their place */
       PERFILE_NOTE_TARGET =
           15, /* a version of perf does not know it: perfile_target_loss.sentence */
       PERFILE_NOTE_NOT_RECORDED =
           16,                  /* no event has what a term of a filter asks its samples for */
       PERFILE_NOTE_EMPTY = 17, /* a filter selects nothing: what there is instead */
       PERFILE_NOTE_UNKNOWN_FORMAT =
           18,                    /* no capture that can be read: packed or unpacked as bytes */
       PERFILE_NOTE_FORMAT = 19,  /* the other format has no place for it */
       PERFILE_NOTE_ASSUMED = 20, /* the input does not say it: what was taken instead */
       PERFILE_N_NOTES
};

/* What is not in the output as it was in the input; all of one kind, number and damage. */
typedef struct perfile_note {
    uint32_t kind;     /* PERFILE_NOTE_… */
    uint32_t number;   /* type of the records, number of the feature; UINT32_MAX: neither */
    uint32_t damage;   /* PERFILE_DAMAGE_…, 0: none */
    uint32_t part;     /* of `offset`: which file of a directory */
    uint64_t count;    /* how many */
    uint64_t bytes;    /* of them */
    uint64_t offset;   /* of the first; PERFILE_NO_OFFSET: no place is meant */
    const char *text;  /* a sentence; valid during the call */
    const char *where; /* static: the member of the options that decides this ("terms.pid",
                        * "perfmon.rates"); NULL: none */
} perfile_note;

/* "records-left-out" …, "" for numbers that are none. */
PERFILE_API const char *perfile_note_name(uint32_t kind);

/* Whether something of the input is not in the output. */
PERFILE_API bool perfile_note_is_loss(uint32_t kind);

enum {                                     /* perfile_copy_options.flags */
       PERFILE_COPY_DROP_UNKNOWN = 1 << 0, /* records and features that no table describes */
       PERFILE_COPY_FORCE = 1 << 1,        /* go on behind damage: what can be read is copied */
       /* Compressed records go on as they are, not what is in them. */
       PERFILE_COPY_COMPRESSED = 1 << 2
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_copy_options {
    size_t size;
    uint32_t flags; /* PERFILE_COPY_… */
    uint32_t reserved0;
    /* Called at the end, for each kind of thing that is not as it was.  May be NULL. */
    void (*note)(void *user, const perfile_note *note);
    /* Now and then: bytes of the input behind us, of `total` (0: not known).  May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    uint64_t reserved[6];
} perfile_copy_options;

/* What was written. */
typedef struct perfile_copy_summary {
    uint64_t records;  /* written, those that became facts not among them */
    uint64_t samples;  /* of them */
    uint64_t bytes;    /* of the records as they were read */
    uint64_t damages;  /* of the input */
    uint64_t lost;     /* bytes of the input that are in no record because of them */
    uint64_t losses;   /* notes that are losses */
    uint32_t events;   /* in the output */
    uint32_t features; /* in the output */
    uint64_t reserved[6];
} perfile_copy_summary;

/* Copies everything of `s`, from where it stands (its first record) to its end, and finishes `w`.
 * Facts go where the form of `w` has them: out of HEADER_ATTR, HEADER_FEATURE, HEADER_EVENT_TYPE
 * and HEADER_TRACING_DATA records into sections, and back; of HEADER_BUILD_ID records those before
 * the first record of the kernel.  Records go out as `s` gives them, compressed ones as what is in
 * them.  Damage is an error unless it is asked to go on.
 *
 * *result (its first `size` bytes; may be NULL) is filled as far as it went.
 * PERFILE_E_CORRUPT, TRUNCATED: damage, err->offset says where; errors of reading and writing. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_copy(perfile_stream *s, perfile_writer *w,
                                                         const perfile_copy_options *options,
                                                         perfile_copy_summary *result, size_t size,
                                                         perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
