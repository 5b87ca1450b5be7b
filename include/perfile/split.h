/* Splitting a capture into parts, each a complete capture of its own.
 *
 * Every record has one part to which it belongs, its *home part*.  Data records are in their home
 * part only.  Facts are repeated in every part, and so is the side-band that perfile_filter() would
 * keep for the data of the part: of processes with data in it and of their ancestors, of the kernel
 * and of the recording up to the end of the part's time, losses within its time.  Within a part
 * records stand in stored order.
 *
 * Split by time, size or number: parts follow each other, and the home part of a record without a
 * time is that of the record before it.  Split by a key: side-band of processes that get no part
 * has its home in the first part, and data without the key have a part of their own, the last one.
 */
#ifndef PERFILE_SPLIT_H
#define PERFILE_SPLIT_H

#include "archive.h"
#include "copy.h"
#include "filter.h"
#include "sink.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                          /* perfile_split_options.by */
       PERFILE_SPLIT_EVERY = 1, /* `amount` ns each, counted from the first sample (without samples
                                   from the first data record); parts without data are left out */
       /* A part has at most `amount` bytes as a file; parts are cut in stored order.  The size of
        * the side-band is estimated from above, before it is known what is needed of it.  A part
        * gets at least one record and an eighth of `amount` in data, even if what it repeats leaves
        * no room for that. */
       PERFILE_SPLIT_SIZE = 2,
       PERFILE_SPLIT_RECORDS = 3, /* `amount` data records each, in stored order */
       PERFILE_SPLIT_TID = 4,
       PERFILE_SPLIT_PID = 5,
       PERFILE_SPLIT_CPU = 6,
       PERFILE_SPLIT_EVENT = 7,
       PERFILE_SPLIT_COMM = 8 /* name of the thread at that time */
};

enum {                                          /* perfile_split_options.flags */
       PERFILE_SPLIT_NO_SIDEBAND = 1 << 0,      /* facts and records of the home part only */
       PERFILE_SPLIT_COMPACT_SIDEBAND = 1 << 1, /* as PERFILE_FILTER_COMPACT_SIDEBAND */
       PERFILE_SPLIT_REPLACE = 1 << 2           /* files with the names of parts may exist */
};

enum { PERFILE_SPLIT_MOST_PARTS = 100000 };

/* Set `size`. */
typedef struct perfile_split_options {
    size_t size;
    uint32_t by;     /* PERFILE_SPLIT_EVERY … */
    uint32_t flags;  /* PERFILE_SPLIT_… */
    uint64_t amount; /* from 1 on; of EVERY, SIZE, RECORDS */
    /* Path of the parts: one %d (or %4d, %04d) stands for their number from 0, or, split by a key,
     * one %s for the key.  Characters of a key other than letters, digits, '.', '_' and '-' become
     * '_', and a name that is taken gets "-2".  %% is a %.  NULL with
     * perfile_split_capture_options.open. */
    const char *pattern;
    uint64_t reserved[8];
} perfile_split_options;

/* A part that was written. */
typedef struct perfile_split_part {
    uint32_t number; /* from 0, in the order of time, position or key */
    uint32_t reserved0;
    const char *key;     /* in words, "none" for data without; NULL: not by a key */
    const char *name;    /* of the file, NULL without a pattern */
    uint64_t records;    /* data records whose home part this is */
    uint64_t samples;    /* SAMPLE records among them */
    uint64_t first_time; /* of them; PERFILE_NO_TIME: they have none */
    uint64_t last_time;  /* of them */
    uint64_t written;    /* records in it, those that became facts not among them */
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
    /* Instead of a pattern: the sink of a part.  It stays the caller's, and is finished when `done`
     * is called with it. */
    perfile_status (*open)(void *user, const perfile_split_part *part, perfile_sink **sink,
                           perfile_error *err);
    /* A part is complete; they come in order.  May be NULL; `sink` is NULL with a pattern. */
    void (*done)(void *user, const perfile_split_part *part, perfile_sink *sink);
    /* With a pattern: the folder in which the parts data.0, data.1 … are written, for a signal
     * handler that removes it; NULL when the files are about to get their names or to go, from
     * where on the process should not end. */
    void (*temporary)(void *user, const char *path);
    void (*note)(void *user, const perfile_note *note); /* as in perfile_copy_options */
    /* Now and then: bytes of the input behind us, of `total` (0: not known).  May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    const char *format; /* as in perfile_writer_options; NULL: that of the input */
    /* With a pattern: the parts become archives, made with these options.  NULL: they do not. */
    const perfile_archive_options *archive;
    int32_t compress_level; /* as in perfile_writer_options, but 0 is PERFILE_COMPRESS_AS_READ */
    uint32_t reserved0;
    uint64_t reserved[3];
} perfile_split_capture_options;

/* What a split did. */
typedef struct perfile_split_summary {
    uint64_t records; /* of the capture, compressed ones not counted but what is in them */
    uint64_t samples; /* of them */
    uint64_t parts;   /* that were written */
    uint64_t written; /* records in all parts */
    uint64_t bytes;   /* of all parts */
    uint64_t damages; /* of the input … */
    uint64_t lost;    /* … and its bytes that are in no record because of them */
    uint64_t reserved[8];
} perfile_split_summary;

/* Whether the options are sound.  PERFILE_E_USAGE: err->message says what is wrong. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_split_check(const perfile_split_options *options, perfile_error *err);

/* Reads the capture on `source`, two or three times and twice more for every further 512 parts, and
 * writes the parts.  What cannot be read twice goes to a temporary file.  The source is closed in
 * any case.
 *
 * With a pattern the parts are written into a temporary folder beside it, and appear when all of
 * them are complete, all or none.  The source is never what they take the place of.
 *
 * *sum (its first `size` bytes; may be NULL) is filled as far as it went.
 * PERFILE_E_IO with EEXIST: a file with the name of a part exists, see PERFILE_SPLIT_REPLACE;
 * PERFILE_E_LIMIT: there would be more than PERFILE_SPLIT_MOST_PARTS, or they would have more bytes
 * than limits.growth_ratio allows: what is in every part makes many small ones large. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_split_capture(perfile_source *source, const perfile_split_options *options,
                      const perfile_split_capture_options *writing, perfile_split_summary *sum,
                      size_t size, perfile_error *err);

/* Makes the stream that is split, with `user` as given to perfile_split_stream(): the same one each
 * time, as the same stages on the same captures with the same options are. */
typedef perfile_status (*perfile_stream_open)(void *user, perfile_stream **stream,
                                              perfile_error *err);

/* The same for a stream, for instance of stages on one capture or on several: `open` is called for
 * each pass.  How the stream is read is up to `open`: writing->from has no meaning, and of
 * writing->on_damage only whether it is FAIL. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_split_stream(perfile_stream_open open, void *user, const perfile_split_options *options,
                     const perfile_split_capture_options *writing, perfile_split_summary *sum,
                     size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
