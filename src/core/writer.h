/* The writer inside the library: facts and records on their way into a sink.  A format implements a
 * table of functions (ops) and has a struct of its own that begins with perfile_writer. */
#ifndef PF_CORE_WRITER_H
#define PF_CORE_WRITER_H

#include "core/stream.h"
#include "perfile/container.h"
#include "perfile/writer.h"

typedef struct pf_writer_ops {
    const char *format; /* the name of its driver */
    unsigned family;    /* PERFILE_FAMILY_… of the records that it accepts */

    /* Facts: perfile_writer_event() and perfile_writer_feature().  NULL: the format cannot store
     * such facts; the call fails with PERFILE_E_UNSUPPORTED. */
    perfile_status (*event)(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                            perfile_error *err);
    perfile_status (*feature)(perfile_writer *w, uint32_t number, perfile_bytes payload,
                              perfile_error *err);
    /* The header of a file of the input (perfile_part.header), before its records.  NULL: the
     * format makes its own. */
    perfile_status (*header)(perfile_writer *w, const perfile_part *part, perfile_error *err);

    /* Writes a batch.  A range as an archive stores it comes only if takes() has returned true for
     * records of this session, of which all that come before it were put.  takes NULL: never. */
    perfile_status (*put)(perfile_writer *w, const pf_batch *batch, perfile_error *err);
    bool (*takes)(perfile_writer *w, const perfile_session *session);
    /* Some of the w->extra_left bytes that belong after the last record.  NULL: the format has no
     * such bytes. */
    perfile_status (*extra)(perfile_writer *w, perfile_bytes piece, perfile_error *err);

    /* See perfile_writer_finish() and _close(); after perfile_writer_abort() w->given_up is set.
     * `close` frees the writer and all that it owns but not the sink. */
    perfile_status (*finish)(perfile_writer *w, perfile_error *err);
    void (*close)(perfile_writer *w);
} pf_writer_ops;

struct perfile_writer {
    const pf_writer_ops *ops;
    perfile_sink *sink;
    bool own_sink;
    bool directory;     /* the sink has parts */
    bool swap;          /* the other byte order than this machine's */
    bool packs_as_read; /* who copies a compressed capture sets `level` before the first record */
    bool finished;
    bool given_up;
    int level;           /* of compression; 0: none */
    uint32_t form;       /* PERFILE_FORM_… */
    uint64_t extra_left; /* bytes after the last record that are still to come */
    uint64_t bytes;      /* of records, in all parts */
};

/* PERFILE_E_UNSUPPORTED: the format has no `what` ("features"). */
perfile_status pf_writer_refuse(const perfile_writer *w, const char *what, perfile_error *err);

#endif
