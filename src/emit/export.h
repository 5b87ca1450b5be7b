/* What the forms for viewers share: samples are resolved and added up in a profile (src/profile),
 * and a form writes it at the end.
 *
 * A form that shows samples one by one gives `take` of its own, and writes as they come. */
#ifndef PF_EMIT_EXPORT_H
#define PF_EMIT_EXPORT_H

#include "emit/emitter.h"
#include "profile/reader.h"
#include "profile/tree.h"

/* What such forms have in addition to pf_emit_ops. */
typedef struct pf_export_ops {
    perfile_status (*put_run)(perfile_emitter *e, const perfile_record *first, size_t n,
                              perfile_error *err);
    /* A capture ends, and another begins, unless base.stream is NULL: then stream, session and
     * model of the emitter are those of it.  NULL: the form shows one only. */
    perfile_status (*next)(perfile_emitter *e, perfile_error *err);
    void (*summary)(const perfile_emitter *e, perfile_export_summary *out);
} pf_export_ops;

/* The emitter of such a form; a form may have a struct that begins with it. */
typedef struct pf_exporter {
    perfile_emitter base;
    pf_profile profile;
    pf_profile_reader reader;
    bool reading;    /* `reader` is of the present capture */
    pf_index events; /* the names of events so far (texts of the profile) */
    perfile_export_options options;
    char *title; /* a copy of options.title; NULL: none was given */
    perfile_export_summary sum;
} pf_exporter;

/* Functions of pf_emit_ops and pf_export_ops for forms that add up. */
perfile_status pf_export_open(perfile_emitter *e, perfile_error *err);
void pf_export_close(perfile_emitter *e);
perfile_status pf_export_begin(perfile_emitter *e, perfile_error *err);
perfile_status pf_export_put(perfile_emitter *e, const perfile_record *r, perfile_error *err);
extern const pf_export_ops pf_export_adds_up;

/* To be called first in finish(): the last capture ends. */
perfile_status pf_export_end_input(pf_exporter *x, perfile_error *err);

/* The options that decide names and weights. */
pf_tree_options pf_export_tree_options(const pf_exporter *x);

#endif
