/* What a writer is inside: the facts and records of a capture on their way into a sink, whatever
 * its format.  A format has a table of functions and its own struct, which begins with this one. */
#ifndef PF_CORE_WRITER_H
#define PF_CORE_WRITER_H

#include "core/stream.h"
#include "perfile/writer.h"

typedef struct pf_writer_ops {
    const char *format; /* as the driver is called */
    unsigned family;    /* of the records that it takes */

    /* Facts, as perfile_writer_event() and the functions of writer.h that have these names say.
     * NULL: the format has no place for them, and whoever gives one is told. */
    perfile_status (*event)(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                            perfile_error *err);
    perfile_status (*event_name)(perfile_writer *w, uint32_t index, const char *name,
                                 perfile_error *err);
    perfile_status (*event_type)(perfile_writer *w, uint64_t event_id, perfile_bytes name,
                                 perfile_error *err);
    perfile_status (*feature)(perfile_writer *w, uint32_t number, perfile_bytes payload,
                              perfile_error *err);

    /* A record; the records of one run, of which `seen` was seen when it was made (see pf_framed; n
     * 0: nothing). */
    perfile_status (*put)(perfile_writer *w, const perfile_record *r, perfile_error *err);
    perfile_status (*run)(perfile_writer *w, const perfile_record *first, size_t n, pf_framed seen,
                          perfile_error *err);
    /* Bytes behind the last record, of which w->extra_left are still to come.  NULL: none can. */
    perfile_status (*extra)(perfile_writer *w, perfile_bytes piece, perfile_error *err);
    /* Samples one behind the other, as they are stored: only after takes_samples() said that they
     * need nothing but to be copied; `swapped` is their byte order.  NULL: they never do. */
    bool (*takes_samples)(const perfile_writer *w, bool swapped);
    perfile_status (*samples)(perfile_writer *w, perfile_bytes samples, bool lasting,
                              perfile_error *err);
    /* Every buffer was read once more.  NULL: the format does not say so. */
    perfile_status (*round)(perfile_writer *w, perfile_error *err);

    /* The end: see perfile_writer_finish(), _abort(), _close(), _bytes().  `close` releases all
     * that is the writer's own, `w` too, but not the sink. */
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
    bool packs;          /* compresses what it is given */
    bool input_stays;    /* stable records stay where they are until pf_sink_settle() */
    uint32_t form;       /* PERFILE_FORM_… */
    uint64_t extra_left; /* bytes behind the last record that are still to come */
};

/* PERFILE_E_UNSUPPORTED: the format has no `what` ("features"). */
perfile_status pf_writer_refuse(const perfile_writer *w, const char *what, perfile_error *err);

#endif
