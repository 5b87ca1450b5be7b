/* The tracepoints of a session, for use inside the library: see perfile/tracepoint.h. */
#ifndef PF_TRACE_TRACEPOINTS_H
#define PF_TRACE_TRACEPOINTS_H

#include "perfile/event.h"
#include "trace/format.h"

/* Does the work of pf_tracepoint_find(). */
perfile_status pf_tracepoints_find(perfile_tracepoints *t, uint64_t id, const pf_trace_format **out,
                                   perfile_error *err);

/* Finds the tracepoint of an event.  PERFILE_END: it has none, or no description. */
perfile_status pf_tracepoints_of_event(perfile_tracepoints *t, const perfile_event *event,
                                       const pf_trace_format **out, perfile_error *err);

/* Finds the event of a payload.  If payloads describe themselves, *f becomes a description of the
 * event.  It stays unchanged if the event cannot be described or there are too many events.
 * PERFILE_E_NOMEM. */
perfile_status pf_tracepoints_event(perfile_tracepoints *t, perfile_bytes payload,
                                    const pf_trace_format **f, perfile_error *err);

/* Finds the RAW bytes of a sample.  Returns false if it has none. */
bool pf_tracepoint_payload(const perfile_record *r, perfile_bytes *payload);

#endif
