/* Converts captures: to another form (file, pipe, directory), byte order or compression. */
#ifndef PERFILE_CONVERT_H
#define PERFILE_CONVERT_H

#include "copy.h"
#include "byteswap.h"
#include "scrub.h"
#include "target.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                                        /* perfile_convert_options.flags */
       PERFILE_CONVERT_DROP_UNKNOWN = 1 << 0, /* as PERFILE_COPY_DROP_UNKNOWN */
       PERFILE_CONVERT_FORCE = 1 << 1,        /* on_damage COPY, unless another policy is given */
       PERFILE_CONVERT_COMPRESS = 1 << 2,     /* … with `level` */
       PERFILE_CONVERT_DECOMPRESS = 1 << 3,
       /* As DECOMPRESS, but only if there are compressed records, else nothing changes.  A pipe is
        * assumed to have some.  An archive gets the mark "expanded". */
       PERFILE_CONVERT_EXPAND = 1 << 4,
       /* Replace bytes without meaning by zeros: see perfile_scrub().  Compressed records are
        * decompressed.  An archive gets the mark "scrubbed". */
       PERFILE_CONVERT_SCRUB = 1 << 5
};

enum { /* perfile_perfmon_options.layout: how ids of events split into group and number */
       PERFILE_PERFMON_LAYOUT_AUTO = 0, /* chosen by the ids found; else A */
       PERFILE_PERFMON_LAYOUT_A = 1,    /* 6 and 10 bits */
       PERFILE_PERFMON_LAYOUT_B = 2     /* 5 and 11 bits */
};

enum { /* perfile_perfmon_options.flags */
       /* Make what `perf stat record` would have recorded: a STAT for each event and CPU instead of
        * samples.  Only for captures that have nothing but times and counts. */
       PERFILE_PERFMON_STAT = 1 << 0
};

/* The number of events that a sample represents. */
typedef struct perfile_perfmon_rate {
    uint32_t event; /* id as stored */
    uint32_t reserved0;
    uint64_t rate; /* events of each sample, at least 1 */
} perfile_perfmon_rate;

/* Facts that perfmon buffers lack but a conversion to perf.data needs.  Set `size`. */
typedef struct perfile_perfmon_options {
    size_t size;
    uint32_t layout;                   /* PERFILE_PERFMON_LAYOUT_… */
    uint32_t flags;                    /* PERFILE_PERFMON_… */
    const perfile_perfmon_rate *rates; /* n_rates of them; an event without one has rate 1 */
    size_t n_rates;                    /* items of `rates` */
    const uint32_t *cpus;              /* as in perfile_assume */
    size_t n_cpus;                     /* items of `cpus` */
    uint64_t reserved[4];
} perfile_perfmon_options;

/* Set `size`.  With zeros the output has the bytes of the input. */
typedef struct perfile_convert_options {
    size_t size;
    uint32_t form;       /* PERFILE_FORM_FILE or PIPE; 0: that of the input */
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_LITTLE or BIG; 0: that of the input */
    uint32_t flags;      /* PERFILE_CONVERT_… */
    int32_t level;       /* zstd level; 0: the default of zstd */
    const char *from;    /* as in perfile_open_options; or "cbor": the source is a dump, see
                            perfile_convert_capture() */
    const char *target;  /* "perf-6.1": for that version, see perfile_target(); NULL: none */
    const perfile_limits *limits;                       /* NULL: the defaults */
    void (*note)(void *user, const perfile_note *note); /* as in perfile_copy_options */
    /* Called from time to time: `done` is the bytes of the input processed so far, of `total` (0:
     * not known).  May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    uint32_t on_damage; /* PERFILE_ON_DAMAGE_FAIL (the default), COPY, STOP, RESYNC or SALVAGE */
    uint32_t reserved0;
    const char *format; /* as in perfile_writer_options; NULL: that of the input */
    const perfile_perfmon_options *perfmon; /* of perfmon buffers; NULL: defaults */
    uint64_t reserved[4];
} perfile_convert_options;

/* What perfile_convert_capture() did. */
typedef struct perfile_convert_summary {
    perfile_copy_summary copied; /* what was written */
    uint32_t form;               /* of the output */
    uint32_t byte_order;         /* PERFILE_BYTE_ORDER_… of the output */
    bool directory;              /* of the output */
    bool same;                   /* the output is identical to the input, byte for byte */
    bool damaged;                /* the input was damaged; never with FAIL */
    uint64_t scrubbed_records;   /* with SCRUB: as in perfile_scrub_summary */
    uint64_t scrubbed_bytes;     /* likewise */
    uint64_t reserved[4];
} perfile_convert_summary;

/* Reads the capture on `source`, writes it to `sink` in the requested form, and finishes the sink.
 * A sink made by perfile_sink_directory() makes a directory.  The source is closed on success; the
 * caller keeps the sink.
 *
 * Conversion to another format: perfmon buffers become perf.data, with notes of kind FORMAT and
 * ASSUMED; their records are then in time order.  No other format can become another one.
 *
 * With `from` "cbor" the source is a dump in CBOR (format/dump.cddl), and the capture that it
 * describes is converted.  This capture is first made in a temporary file.  Parts that the dump
 * lacks are dropped, with notes of kind RECORDS_LEFT_OUT, FEATURE_LEFT_OUT and DAMAGE.  For
 * PERFILE_E_CORRUPT, TRUNCATED and LIMIT, err->offset is then an offset in the dump.
 *
 * Nothing changes that need not.  Without options the bytes of the input are copied, and its
 * records are checked for damage.  With another byte order but the same form everything keeps its
 * offset, even data that no table describes.  Otherwise sections and feature table are rebuilt.
 *
 * Fills the first `size` bytes of *result (may be NULL), also on failure, as far as it got.
 * PERFILE_E_CORRUPT, TRUNCATED: the input is damaged at err->offset, and nothing was written under
 * the name of the sink (a pipe may have received the beginning).  If `on_damage` is not FAIL, this
 * happens only when nothing in the input can be read. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_convert_capture(
    perfile_source *source, perfile_sink *sink, const perfile_convert_options *options,
    perfile_convert_summary *result, size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
