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

    /* Facts: perfile_writer_event() and the functions of perfile/writer.h with these names.  NULL:
     * the format cannot store such facts; the call fails with PERFILE_E_UNSUPPORTED. */
    perfile_status (*event)(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                            perfile_error *err);
    perfile_status (*event_name)(perfile_writer *w, uint32_t index, const char *name,
                                 perfile_error *err);
    perfile_status (*event_type)(perfile_writer *w, uint64_t event_id, perfile_bytes name,
                                 perfile_error *err);
    perfile_status (*feature)(perfile_writer *w, uint32_t number, perfile_bytes payload,
                              perfile_error *err);

    /* The header of a file of the input (perfile_part.header), before its records.  NULL: the
     * format makes its own. */
    perfile_status (*header)(perfile_writer *w, const perfile_part *part, perfile_error *err);

    /* A record; the records of one run.  `seen` is what is known about the run (pf_framed; n 0:
     * nothing). */
    perfile_status (*put)(perfile_writer *w, const perfile_record *r, perfile_error *err);
    perfile_status (*run)(perfile_writer *w, const perfile_record *first, size_t n, pf_framed seen,
                          perfile_error *err);
    /* Some of the w->extra_left bytes that belong behind the last record.  NULL: the format has no
     * such bytes. */
    perfile_status (*extra)(perfile_writer *w, perfile_bytes piece, perfile_error *err);
    /* Records as an archive stores them: pf_sink_stored().  Called only if takes_stored() has
     * returned true for records of this session, of which all that came in front of them were put.
     * NULL: never. */
    bool (*takes_stored)(perfile_writer *w, const perfile_session *session);
    perfile_status (*stored)(perfile_writer *w, const struct pf_stored *range, perfile_error *err);
    /* From now on records are compressed; called before the first one, and only with
     * w->packs_as_read set, for a capture that is copied and was compressed with this level.  NULL:
     * never. */
    perfile_status (*compress)(perfile_writer *w, uint32_t level, perfile_error *err);
    /* The end of a round: every buffer was read once more.  NULL: the format has no rounds. */
    perfile_status (*round)(perfile_writer *w, perfile_error *err);

    /* See perfile_writer_finish(), _abort(), _close(), _bytes().  `close` frees the writer and all
     * that it owns but not the sink. */
    perfile_status (*finish)(perfile_writer *w, perfile_error *err);
    void (*abort)(perfile_writer *w);
    void (*close)(perfile_writer *w);
    uint64_t (*bytes)(const perfile_writer *w);
} pf_writer_ops;

struct perfile_writer {
    const pf_writer_ops *ops;
    perfile_sink *sink;
    bool own_sink;
    bool directory;      /* the sink has parts */
    bool swap;           /* the other byte order than this machine's */
    bool packs;          /* compresses records */
    bool packs_as_read;  /* will, if the capture that is copied is compressed */
    uint32_t form;       /* PERFILE_FORM_… */
    uint64_t extra_left; /* bytes behind the last record that are still to come */
};

/* PERFILE_E_UNSUPPORTED: the format has no `what` ("features"). */
perfile_status pf_writer_refuse(const perfile_writer *w, const char *what, perfile_error *err);

#endif
