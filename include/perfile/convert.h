/* Captures in another form: file, pipe, directory, byte order, compression. */
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
       /* As DECOMPRESS, but only if there are compressed records: else nothing changes.  A pipe is
        * taken to have some.  An archive gets the mark "expanded". */
       PERFILE_CONVERT_EXPAND = 1 << 4,
       /* Zeros in place of bytes that mean nothing: see perfile_scrub().  Compressed records are
        * decompressed.  An archive gets the mark "scrubbed". */
       PERFILE_CONVERT_SCRUB = 1 << 5
};

enum { /* perfile_perfmon_options.layout: how ids of events split into group and number */
       PERFILE_PERFMON_LAYOUT_AUTO = 0, /* by the ids that there are; else A */
       PERFILE_PERFMON_LAYOUT_A = 1,    /* 6 and 10 bits */
       PERFILE_PERFMON_LAYOUT_B = 2     /* 5 and 11 bits */
};

enum { /* perfile_perfmon_options.flags */
       /* As `perf stat record` would have counted: a STAT for each event and processor instead of
        * samples.  Only of captures that have nothing but times and counts. */
       PERFILE_PERFMON_STAT = 1 << 0
};

/* How many events a sample of an event stands for. */
typedef struct perfile_perfmon_rate {
    uint32_t event; /* id as stored */
    uint32_t reserved0;
    uint64_t rate; /* events of each sample, at least 1 */
} perfile_perfmon_rate;

/* What perfmon buffers do not say, for a conversion to perf.data.  Set `size`. */
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

/* Set `size`; with zeros the output has the bytes of the input. */
typedef struct perfile_convert_options {
    size_t size;
    uint32_t form;       /* PERFILE_FORM_FILE or PIPE; 0: that of the input */
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_LITTLE or BIG; 0: that of the input */
    uint32_t flags;      /* PERFILE_CONVERT_… */
    int32_t level;       /* of zstd; 0: what zstd takes */
    const char *from;    /* as in perfile_open_options; or "cbor": the source is a dump, see
                          * perfile_convert_capture() */
    const char *target;  /* "perf-6.1": for that version, see perfile_target(); NULL: none */
    const perfile_limits *limits;                       /* NULL: the defaults */
    void (*note)(void *user, const perfile_note *note); /* as in perfile_copy_options */
    /* Now and then: bytes of the input behind us, of `total` (0: not known).  May be NULL. */
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
    bool same;                   /* every byte of the output is that of the input */
    bool damaged;                /* the input was; not with FAIL */
    uint64_t scrubbed_records;   /* with SCRUB: as in perfile_scrub_summary */
    uint64_t scrubbed_bytes;     /* likewise */
    uint64_t reserved[4];
} perfile_convert_summary;

/* Reads the capture on `source`, writes it to `sink` in the form that is asked for, and finishes
 * the sink.  A sink made by perfile_sink_directory() makes a directory.  The source is closed in
 * any case; the sink stays the caller's.
 *
 * Another format: perfmon buffers become perf.data, as notes of kind FORMAT and ASSUMED tell;
 * records are in order of time then.  No other format becomes another.
 *
 * With `from` "cbor" the source has the objects of `perfile dump --format cbor` (format/dump.cddl),
 * and the capture that they describe is what is converted.  It is made in a temporary file first.
 * What a dump does not have is left out, with notes of kind RECORDS_LEFT_OUT, FEATURE_LEFT_OUT and
 * DAMAGE.  err->offset of PERFILE_E_CORRUPT, TRUNCATED and LIMIT is a place in the dump then.
 *
 * What need not change does not: without options the bytes of the input are copied, and its records
 * are checked for damage.  With another byte order but the same form everything keeps its offset,
 * also what no table describes.  Otherwise sections and feature table are rebuilt.
 *
 * *result (its first `size` bytes; may be NULL) is filled as far as it went.
 * PERFILE_E_CORRUPT, TRUNCATED: the input is damaged, err->offset says where, and nothing was
 * written under the name of the sink (a pipe may have got the beginning).  Unless `on_damage` is
 * FAIL only when nothing in it can be read. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_convert_capture(
    perfile_source *source, perfile_sink *sink, const perfile_convert_options *options,
    perfile_convert_summary *result, size_t size, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif
