/* The writer inside the library: it writes facts and records to a sink.  A format implements a
 * table of functions (ops) and has a struct of its own that begins with perfile_writer. */
#ifndef PF_CORE_WRITER_H
#define PF_CORE_WRITER_H

#include "core/stream.h"
#include "perfile/container.h"
#include "perfile/writer.h"

typedef struct pf_writer_ops {
    const char *format; /* the name of its driver */
    unsigned family;    /* PERFILE_FAMILY_… of the records that it accepts */

    /* Facts: see perfile_writer_event() and perfile_writer_feature().  NULL if the format cannot
     * store such facts; the call then fails with PERFILE_E_UNSUPPORTED. */
    perfile_status (*event)(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                            perfile_error *err);
    perfile_status (*feature)(perfile_writer *w, uint32_t number, perfile_bytes payload,
                              perfile_error *err);
    /* Writes the header of a file of the input (perfile_part.header), before its records.  NULL if
     * the format makes its own header. */
    perfile_status (*header)(perfile_writer *w, const perfile_part *part, perfile_error *err);

    /* put() writes a batch.  It receives a range as an archive stores it only if takes() has
     * returned true for the session of its records, and if all records before it were put.  If
     * takes is NULL, it never does. */
    perfile_status (*put)(perfile_writer *w, const pf_batch *batch, perfile_error *err);
    bool (*takes)(perfile_writer *w, const perfile_session *session);
    /* Writes some of the w->extra_left bytes that belong after the last record.  NULL if the format
     * has no such bytes. */
    perfile_status (*extra)(perfile_writer *w, perfile_bytes piece, perfile_error *err);

    /* See perfile_writer_finish() and perfile_writer_close().  perfile_writer_abort() sets
     * w->given_up. close() frees the writer and everything that it owns, but not the sink. */
    perfile_status (*finish)(perfile_writer *w, perfile_error *err);
    void (*close)(perfile_writer *w);
} pf_writer_ops;

struct perfile_writer {
    const pf_writer_ops *ops;
    perfile_sink *sink;
    bool own_sink;
    bool directory;     /* the output is a directory: the sink has parts */
    bool swap;          /* the byte order differs from this machine's */
    bool packs_as_read; /* to copy a compressed capture, `level` is set before its records */
    bool finished;
    bool given_up;
    int level;           /* compression level; 0 for none */
    uint32_t form;       /* PERFILE_FORM_… */
    uint64_t extra_left; /* bytes still to come after the last record */
    uint64_t bytes;      /* bytes of records, in all parts */
};

/* Fails with PERFILE_E_UNSUPPORTED: the format has no `what` ("features"). */
perfile_status pf_writer_refuse(const perfile_writer *w, const char *what, perfile_error *err);

#endif
