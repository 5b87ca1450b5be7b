/* Tracepoints by name, and their fields one after the other. */
#ifndef PF_TRACE_COMMAND_H
#define PF_TRACE_COMMAND_H

#include "perfile/tracepoint.h"

/* Finds the tracepoint with this number (attr.config); it lives until `t` is closed.  PERFILE_END:
 * the capture has no description of it, or an unreadable one. */
PERFILE_MUST_USE perfile_status pf_tracepoint_find(perfile_tracepoints *t, uint64_t id,
                                                   const perfile_tracepoint **out,
                                                   perfile_error *err);

#endif
