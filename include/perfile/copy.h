/* Copies a stream into a writer: the part between open and finish that all programs which rewrite
 * captures have in common. */
#ifndef PERFILE_COPY_H
#define PERFILE_COPY_H

#include "stream.h"
#include "writer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* perfile_note.kind */
       PERFILE_NOTE_NONE = 0,
       PERFILE_NOTE_RECORDS_LEFT_OUT = 1, /* unknown type, dropped on request */
       PERFILE_NOTE_RECORDS_KEPT = 2,     /* unknown type, bytes kept in the old byte order */
       PERFILE_NOTE_RECORDS_BROKEN = 3,   /* not readable: rewritten as far as possible */
       PERFILE_NOTE_RECORDS_CUT = 4,      /* the bytes they announce are missing: dropped */
       PERFILE_NOTE_FEATURE_LEFT_OUT = 5, /* unknown number, dropped on request */
       PERFILE_NOTE_FEATURE_KEPT = 6,     /* unknown number, bytes kept in the old byte order */
       PERFILE_NOTE_FEATURE_BROKEN = 7,   /* not readable: copied unchanged, or dropped */
       PERFILE_NOTE_FEATURE_NO_PLACE = 8, /* the output form cannot store it: dropped */
       PERFILE_NOTE_EVENT_BROKEN = 9,     /* attr not readable: rewritten as far as possible */
       PERFILE_NOTE_DAMAGE = 10,          /* bytes that belong to no record */
       PERFILE_NOTE_BYTES_LEFT_OUT = 11,  /* bytes between or after the parts of the file */
       PERFILE_NOTE_ROUNDS_LEFT_OUT = 12, /* FINISHED_ROUND, not true of joined files */
       PERFILE_NOTE_PARTS = 13,           /* files of a directory were joined end to end */
       PERFILE_NOTE_DECOMPRESSED = 14,    /* compressed records became their content */
       PERFILE_NOTE_TARGET = 15,          /* see perfile_target_loss.sentence */
       PERFILE_NOTE_NOT_RECORDED = 16,    /* a filter needs data that no event recorded */
       PERFILE_NOTE_EMPTY = 17,           /* a filter selects nothing; text: what there is */
       PERFILE_NOTE_UNKNOWN_FORMAT = 18,  /* no readable capture: packed as bytes */
       PERFILE_NOTE_FORMAT = 19,          /* the other format cannot store it */
       PERFILE_NOTE_ASSUMED = 20,         /* missing in the input; text: what was assumed */
       PERFILE_N_NOTES
};

/* One kind of difference between input and output.  A note covers everything of the same kind,
 * number and damage. */
typedef struct perfile_note {
    uint32_t kind;       /* PERFILE_NOTE_… */
    uint32_t number;     /* record type or feature number; UINT32_MAX: neither */
    uint32_t damage;     /* PERFILE_DAMAGE_…, 0: none */
    uint32_t part;       /* file of a directory that `offset` refers to */
    uint64_t count;      /* number of records or other items */
    uint64_t bytes;      /* their bytes */
    uint64_t offset;     /* of the first; PERFILE_NO_OFFSET: none */
    const char *message; /* a sentence; valid during the call */
    const char *where;   /* static: the member of the options that decides this ("terms.pid",
                          * "perfmon.rates"); NULL: none */
} perfile_note;

#ifndef PERFILE_DECLARATIONS
/* Returns the name of a kind ("records-left-out" …), or "" for a number that is no kind. */
static inline const char *perfile_note_name(uint32_t kind)
{
    return perfile_name(PERFILE_NAME_NOTE, kind);
}
#endif

enum {                                     /* perfile_copy_options.flags */
       PERFILE_COPY_DROP_UNKNOWN = 1 << 0, /* drop records and features that no table describes */
       PERFILE_COPY_FORCE = 1 << 1,        /* continue after damage: copy what can be read */
       /* Copy compressed records as they are, instead of their content. */
       PERFILE_COPY_COMPRESSED = 1 << 2
};

/* Set `size`; zeros are the defaults. */
typedef struct perfile_copy_options {
    size_t size;
    uint32_t flags; /* PERFILE_COPY_… */
    uint32_t reserved0;
    /* Called at the end, once for each difference.  May be NULL. */
    void (*note)(void *user, const perfile_note *note);
    /* Called from time to time: `done` is the bytes of the input processed so far, of `total` (0:
     * not known).  May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    uint64_t reserved[6];
} perfile_copy_options;

/* What was written. */
typedef struct perfile_copy_summary {
    uint64_t records;  /* written, without those that became facts */
    uint64_t samples;  /* samples among them */
    uint64_t bytes;    /* bytes of the records as they were read */
    uint64_t damages;  /* damage found in the input */
    uint64_t lost;     /* bytes of the input that are in no record because of damage */
    uint64_t losses;   /* notes that are losses */
    uint32_t events;   /* in the output */
    uint32_t features; /* in the output */
    uint64_t reserved[6];
} perfile_copy_summary;

/* Copies `s` from its current position, which must be its first record, to its end, and finishes
 * `w`.  Facts are stored as the form of `w` needs them: HEADER_ATTR, HEADER_FEATURE,
 * HEADER_EVENT_TYPE and HEADER_TRACING_DATA records become sections, and sections become records.
 * HEADER_BUILD_ID records are converted only if they come before the first record of the kernel.
 * Other records are written as `s` yields them, and compressed records are replaced by their
 * content (but see PERFILE_COPY_COMPRESSED).  Damage is an error unless PERFILE_COPY_FORCE is set.
 *
 * Fills the first `size` bytes of *result (may be NULL), also on failure, with the counts so far.
 * PERFILE_E_CORRUPT, TRUNCATED: damage at err->offset.  Other errors are those of reading and
 * writing. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_copy(perfile_stream *s, perfile_writer *w,
                                                         const perfile_copy_options *options,
                                                         perfile_copy_summary *result, size_t size,
                                                         perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
