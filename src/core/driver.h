/* A driver knows one on-disk form and turns its bytes into a stream. */
#ifndef PF_CORE_DRIVER_H
#define PF_CORE_DRIVER_H

#include "core/repair.h"
#include "core/stream.h"
#include "perfile/writer.h"

enum {                      /* pf_driver.can: what options of a writer it knows */
       PF_CAN_COMPRESS = 1, /* compress_level */
       PF_CAN_TARGET = 2    /* target: a version of perf */
};

/* What the first bytes of a capture say. */
enum { PF_HEAD_BYTES = 16 };
typedef struct pf_head {
    uint32_t form; /* PERFILE_FORM_… */
    bool swap;     /* the other byte order than this machine's */
} pf_head;

/* A copy of a capture in which records were turned into the other byte order, and now facts are:
 * each at its place. */
typedef struct pf_turning {
    const perfile_stream *stream; /* read to its end */
    perfile_source *bytes;        /* of its first file, as they were */
    perfile_sink *sink;           /* of the copy */
    /* Told what could not be turned; not PERFILE_OK: it is an error. */
    perfile_status (*kept)(void *user, const perfile_record *r, const perfile_feature *f,
                           const perfile_error *why);
    void *user;
} pf_turning;

typedef struct pf_driver {
    const char *name; /* what --from takes */
    const char *doc;
    uint8_t family; /* PERFILE_FAMILY_… of its records */
    uint8_t can;    /* PF_CAN_… */
    /* Bits of evidence that `peek`, the first bytes of the source (at most 4096), is this form; 0:
     * it is not.  For a directory `peek` is empty and `source` is asked for its entries. */
    unsigned (*probe)(perfile_bytes peek, const perfile_source *source);
    /* Owns the source from success on. */
    perfile_status (*open)(perfile_source *source, const perfile_open_options *options,
                           perfile_stream **stream, perfile_error *err);
    /* A writer on `sink` (core/writer.h); the options are whole.  NULL: it is only read. */
    perfile_status (*create)(perfile_sink *sink, const perfile_writer_options *options,
                             perfile_writer **writer, perfile_error *err);
    /* What it writes: where there is one only, that is meant whatever form is asked for. */
    const perfile_output *outputs;
    size_t n_outputs;
    /* Fills `head` from the first PF_HEAD_BYTES; false: they say nothing.  NULL: they never do. */
    bool (*head)(perfile_bytes bytes, pf_head *head);
    /* Conversion to the other byte order where everything stays at its place.  `turn_head`: of a
     * pipe, PF_HEAD_BYTES from `bytes` to `out`; `turn_facts`: of a file.  NULL: captures are
     * written anew. */
    void (*turn_head)(perfile_bytes bytes, uint8_t *out);
    perfile_status (*turn_facts)(const pf_turning *t, perfile_error *err);
    const pf_repair_ops *repair; /* NULL: nothing is guessed */
} pf_driver;

#endif
