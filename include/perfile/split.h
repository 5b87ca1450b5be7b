/* Splitting a capture into parts, each a complete capture.
 *
 * Every record belongs to one part, its *target part*.  Data records are in their target part only.
 * Facts are repeated in every part.  So is the side-band that perfile_filter() would keep for the
 * data of the part: side-band of processes with data in it and of their ancestors, side-band of the
 * kernel and of the recording up to the end of the part's time, and losses within its time.  Within
 * a part records are in stored order.
 *
 * Split by time, size or number: parts follow each other, and a record without a time goes to the
 * target part of the record before it.  Split by a key: the target part is the first one for
 * side-band of processes that get no part; data without the key has its own part, the last one. */
#ifndef PERFILE_SPLIT_H
#define PERFILE_SPLIT_H

#include "archive.h"
#include "copy.h"
#include "filter.h"
#include "sink.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* perfile_split_options.by */
       /* `amount` ns each, counted from the first sample (or from the first data record if there
        * are no samples); parts without data are omitted. */
       PERFILE_SPLIT_EVERY = 1,
       /* A part has at most `amount` bytes as a file; parts are cut in stored order.  The size of
        * the side-band is an upper estimate, made before it is known which of it is needed.  A part
        * gets at least one record and data of an eighth of `amount`, even if the repeated records
        * leave no room for that. */
       PERFILE_SPLIT_SIZE = 2,
       PERFILE_SPLIT_RECORDS = 3, /* `amount` data records each, in stored order */
       PERFILE_SPLIT_TID = 4,
       PERFILE_SPLIT_PID = 5,
       PERFILE_SPLIT_CPU = 6,
       PERFILE_SPLIT_EVENT = 7,
       PERFILE_SPLIT_COMM = 8 /* name of the thread at that time */
};

enum {                                          /* perfile_split_options.flags */
       PERFILE_SPLIT_NO_SIDEBAND = 1 << 0,      /* facts and records of the target part only */
       PERFILE_SPLIT_COMPACT_SIDEBAND = 1 << 1, /* as PERFILE_FILTER_COMPACT_SIDEBAND */
       PERFILE_SPLIT_REPLACE = 1 << 2           /* replace existing files with the names of parts */
};

enum { PERFILE_SPLIT_MOST_PARTS = 100000 };

/* Set `size`. */
typedef struct perfile_split_options {
    size_t size;
    uint32_t by;     /* PERFILE_SPLIT_EVERY … */
    uint32_t flags;  /* PERFILE_SPLIT_… */
    uint64_t amount; /* at least 1; for EVERY, SIZE, RECORDS */
    /* Path of the parts: one %d (or %4d, %04d) is replaced by their number from 0, or, split by a
     * key, one %s by the key.  Characters of a key other than letters, digits, '.', '_' and '-'
     * become '_', and a name that is already used gets "-2". %% is a %.  NULL with
     * perfile_split_capture_options.open. */
    const char *pattern;
    uint64_t reserved[8];
} perfile_split_options;

/* A part that was written. */
typedef struct perfile_split_part {
    uint32_t number; /* from 0, in the order of time, position or key */
    uint32_t reserved0;
    const char *key;     /* key as text, "none" for data without one; NULL: not split by a key */
    const char *name;    /* of the file, NULL without a pattern */
    uint64_t records;    /* data records with this target part */
    uint64_t samples;    /* SAMPLE records among them */
    uint64_t first_time; /* of these records; PERFILE_NO_TIME: they have none */
    uint64_t last_time;  /* likewise */
    uint64_t written;    /* records in it, without those that became facts */
    uint64_t bytes;      /* of the file */
    uint64_t reserved[4];
} perfile_split_part;

/* Set `size`; zeros are the defaults. */
typedef struct perfile_split_capture_options {
    size_t size;
    uint32_t form;      /* PERFILE_FORM_FILE or PIPE; 0: that of the input */
    uint32_t on_damage; /* PERFILE_ON_DAMAGE_STOP (the default), RESYNC, SALVAGE or FAIL */
    const char *from;   /* as in perfile_open_options */
    const perfile_limits *limits; /* NULL: the defaults */
    /* Used instead of a pattern: opens the sink of a part.  The caller owns it; it is finished when
     * `done` is called with it. */
    perfile_status (*open)(void *user, const perfile_split_part *part, perfile_sink **sink,
                           perfile_error *err);
    /* Called when a part is complete, in order of parts.  May be NULL.  `sink` is NULL with a
     * pattern. */
    void (*done)(void *user, const perfile_split_part *part, perfile_sink *sink);
    /* With a pattern: reports the folder in which the parts data.0, data.1 … are written, so that a
     * signal handler can remove it.  Called with NULL when the files are about to be renamed or
     * removed; from then on the process should not be ended. */
    void (*temporary)(void *user, const char *path);
    void (*note)(void *user, const perfile_note *note); /* as in perfile_copy_options */
    /* Called from time to time with the bytes of the input done so far, of `total` (0: unknown).
     * May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    const char *format; /* as in perfile_writer_options; NULL: that of the input */
    /* With a pattern: make archives of the parts, with these options.  NULL: no archives. */
    const perfile_archive_options *archive;
    int32_t compress_level; /* as in perfile_writer_options, but 0 is PERFILE_COMPRESS_AS_READ */
    uint32_t reserved0;
    uint64_t reserved[3];
} perfile_split_capture_options;

/* What a split did. */
typedef struct perfile_split_summary {
    uint64_t records; /* records of the capture; compressed records count as their content */
    uint64_t samples; /* samples among them */
    uint64_t parts;   /* parts that were written */
    uint64_t written; /* records in all parts */
    uint64_t bytes;   /* of all parts */
    uint64_t damages; /* of the input … */
    uint64_t lost;    /* … and bytes of it that are in no record because of them */
    uint64_t reserved[8];
} perfile_split_summary;

/* Reads the capture on `source` two or three times, plus twice for every further 512 parts, and
 * writes the parts.  Input that cannot be read twice is copied to a temporary file.  The source is
 * closed on success.
 *
 * With a pattern the parts are written to a temporary folder next to their final path.  They appear
 * when all of them are complete: all or none.  They never replace the source.
 *
 * *sum (its first `size` bytes; may be NULL) is filled with the counts so far, also on failure.
 *
 * PERFILE_E_IO with EEXIST: a file with the name of a part exists, see PERFILE_SPLIT_REPLACE.
 * PERFILE_E_LIMIT: there would be more than PERFILE_SPLIT_MOST_PARTS, or the parts would have more
 * bytes than limits.growth_ratio allows: repeated records make many small parts large. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_split_capture(perfile_source *source, const perfile_split_options *options,
                      const perfile_split_capture_options *writing, perfile_split_summary *sum,
                      size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
