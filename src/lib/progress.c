/* Counting bytes for progress callbacks; see lib/progress.h. */
#include "lib/progress.h"

#include "core/stream.h"

enum { REPORT_BYTES = 8 << 20 }; /* between two reports: a few per second */

void pf_progress_begin(pf_progress *p, const perfile_container *c)
{
    *p = (pf_progress){.container = c, .total = pf_container_bytes(c)};
}

bool pf_progress_at(pf_progress *p, const perfile_record *at)
{
    for (; p->part < at->part && p->part < p->container->n_parts; p->part++)
        p->behind += p->total ? p->container->parts[p->part].size : 0;
    p->done = p->behind + at->offset;
    if (p->done < p->reported + REPORT_BYTES)
        return false;
    p->reported = p->done;
    return true;
}
