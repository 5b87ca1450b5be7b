/* What a ring has returned and lost. */
#ifndef PF_RING_COMMAND_H
#define PF_RING_COMMAND_H

#include "perfile/ring.h"

/* perfile_ring_get_summary(). */
void pf_ring_get_summary(const perfile_ring *ring, perfile_ring_summary *out, size_t size);

#endif
