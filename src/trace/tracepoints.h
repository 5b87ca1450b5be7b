/* The tracepoints of a session, inside the library: see perfile/tracepoint.h. */
#ifndef PF_TRACE_TRACEPOINTS_H
#define PF_TRACE_TRACEPOINTS_H

#include "perfile/event.h"
#include "trace/format.h"

/* perfile_tracepoint_find(). */
perfile_status pf_tracepoints_find(perfile_tracepoints *t, uint64_t id, const pf_trace_format **out,
                                   perfile_error *err);

/* The tracepoint of an event; PERFILE_END: it is none, or has no description. */
perfile_status pf_tracepoints_of_event(perfile_tracepoints *t, const perfile_event *event,
                                       const pf_trace_format **out, perfile_error *err);

/* The event of a payload: where payloads describe themselves a description of its own, else `f`,
 * also if its description cannot be read or there are too many.  PERFILE_E_NOMEM. */
perfile_status pf_tracepoints_event(perfile_tracepoints *t, perfile_bytes payload,
                                    const pf_trace_format **f, perfile_error *err);

/* The RAW bytes of a sample; false if it has none. */
bool pf_tracepoint_payload(const perfile_record *r, perfile_bytes *payload);

#endif
