/* What a packer says about its capture in META chunks, apart from the parts: its name, when it was
 * packed, how it differs from what was read, its events.  For packer.c only. */
#ifndef PF_ARCHIVE_PACKER_ABOUT_H
#define PF_ARCHIVE_PACKER_ABOUT_H

#include "archive/meta.h"
#include "perfile/archive.h"

typedef struct pf_about {
    char *name;                     /* of the file or directory; NULL: not known */
    uint64_t modified;              /* ns since 1970, UTC; 0: not known */
    uint64_t created;               /* likewise */
    uint32_t lossy;                 /* PF_LOSSY_… */
    const perfile_session *session; /* `events` are those of its `generation` */
    uint64_t generation;
    pf_meta_event *events; /* names and attrs in `strings` */
    uint32_t n_events;
    pf_arena strings;
} pf_about;

/* Of a capture that is packed now, with these options.  PERFILE_E_USAGE: the name is none that a
 * file can have. */
perfile_status pf_about_init(pf_about *x, const perfile_archive_options *options,
                             perfile_error *err);
void pf_about_free(pf_about *x);

/* Copies names and attrs of the events, when they have changed.  NULL changes nothing. */
perfile_status pf_about_events(pf_about *x, const perfile_session *s, perfile_error *err);

/* Appends a map that says this and the `n` parts; the events only if it is the last one
 * (`complete`). */
perfile_status pf_about_encode(const pf_about *x, pf_meta_part *parts, uint32_t n, bool complete,
                               pf_buffer *out, perfile_error *err);

#endif
