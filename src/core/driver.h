/* The interface of drivers.  A driver knows one format on disk: it recognises it, reads it as a
 * stream, and where it can, writes, byte-swaps and repairs it.  The registry (src/lib/) tries the
 * drivers in order of their evidence. */
#ifndef PF_CORE_DRIVER_H
#define PF_CORE_DRIVER_H

#include "core/repair.h"
#include "core/stream.h"
#include "perfile/convert.h"
#include "perfile/writer.h"

enum {                      /* pf_driver.can: what options of a writer it knows */
       PF_CAN_COMPRESS = 1, /* compress_level */
       PF_CAN_TARGET = 2    /* target: a version of perf */
};

/* What can be read from the first PF_HEAD_BYTES bytes of a capture. */
enum { PF_HEAD_BYTES = 16 };
typedef struct pf_head {
    uint32_t form; /* PERFILE_FORM_… */
    bool swap;     /* the other byte order than this machine's */
} pf_head;

/* A copy of a file in the making, with everything at the same offset but in the other byte order.
 * Its records have been byte-swapped; the driver now byte-swaps header, attrs, ids and features. */
typedef struct pf_byteswap_copy {
    const perfile_stream *stream; /* the original, read to its end */
    perfile_source *bytes;        /* the original bytes (of the first file of a directory) */
    perfile_sink *sink;           /* the copy */
    /* Called for what could not be byte-swapped.  PERFILE_OK goes on, any other status ends the
     * conversion. */
    perfile_status (*kept)(void *user, const perfile_record *r, const perfile_feature *f,
                           const perfile_error *why);
    void *user;
} pf_byteswap_copy;

/* A conversion to records of perf's own family, of a driver of another one. */
typedef struct pf_translation {
    /* Opens a stream on the capture, which the caller closes; may be called several times. */
    perfile_status (*pass)(void *user, perfile_stream **stream, perfile_error *err);
    /* Called for damage that the first pass meets.  PERFILE_OK goes on. */
    perfile_status (*damage)(void *user, const perfile_record *r, perfile_error *err);
    void *user;
    const perfile_convert_options *options; /* `note` is called at once: kinds FORMAT and ASSUMED */
    uint64_t *losses;                       /* counts those of kind FORMAT */
} pf_translation;

typedef struct pf_driver {
    const char *name; /* what --from takes */
    const char *doc;
    uint8_t family; /* PERFILE_FAMILY_… of its records */
    uint8_t can;    /* PF_CAN_… */
    /* How many bits of `peek` (the first bytes of the source, 4096 at most) speak for this format;
     * 0: it is another.  For a directory `peek` is empty, and `source` lists its entries. */
    unsigned (*probe)(perfile_bytes peek, const perfile_source *source);
    /* Opens a stream, which owns the source from success on. */
    perfile_status (*open)(perfile_source *source, const perfile_open_options *options,
                           perfile_stream **stream, perfile_error *err);
    /* Makes a writer on `sink` (core/writer.h).  The options have been completed.  NULL: the format
     * can only be read. */
    perfile_status (*create)(perfile_sink *sink, const perfile_writer_options *options,
                             perfile_writer **writer, perfile_error *err);
    /* The outputs that `create` can make.  A single one is used whatever form the caller asks for.
     */
    const perfile_output *outputs;
    size_t n_outputs;
    /* Fills `head` from the first PF_HEAD_BYTES bytes; false if they do not tell.  NULL: they never
     * do. */
    bool (*head)(perfile_bytes bytes, pf_head *head);
    /* Byte-swapping that keeps every offset.  byteswap_head: writes the byte-swapped header of a
     * pipe (PF_HEAD_BYTES) to `out`.  byteswap_facts: does all but the records of a file.  NULL: a
     * converted capture is written from scratch. */
    void (*byteswap_head)(perfile_bytes bytes, uint8_t *out);
    perfile_status (*byteswap_facts)(const pf_byteswap_copy *t, perfile_error *err);
    /* Makes a stream of the records and facts that perf would have of the capture.  If they are in
     * order of time (perfile_stream.sorted_by), their last one ends what is sorted (FINISHED_ROUND,
     * STAT_ROUND); else they are sorted.  `t` must outlive it.  NULL: captures can be written in
     * their own format only. */
    perfile_status (*translate)(const pf_translation *t, perfile_stream **stream,
                                perfile_error *err);
    bool names_files; /* files of a directory have names of their own, not `data`, data.N */
    const pf_repair_ops *repair; /* NULL: damaged captures cannot be repaired */
} pf_driver;

#endif
