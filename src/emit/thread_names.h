/* The threads of all labels, each once, with its last name.  Idle is one thread for each processor.
 */
#ifndef PF_EMIT_THREAD_NAMES_H
#define PF_EMIT_THREAD_NAMES_H

#include "emit/tracks.h"

/* A thread.  The key is its numbers. */
typedef struct pf_named_thread {
    uint32_t pid, tid;
    uint32_t cpu; /* of idle; PF_NO_LABEL: of another thread, or not known */
    uint32_t zero;
    const char *comm; /* of the profile's texts; NULL: it is not known */
    uint64_t named;   /* when it was called so */
} pf_named_thread;

/* Adds them to *threads, which is empty, in the order of the labels; to be freed in any case.
 * Labels without both numbers are left out.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_name_threads(const pf_tracks *t, pf_profile *p, pf_intern *threads,
                               perfile_error *err);

#endif
