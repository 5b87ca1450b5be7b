/* Makes feature EVENT_DESC from the events of a session. */
#ifndef PF_CORE_EVENT_DESC_H
#define PF_CORE_EVENT_DESC_H

#include "base/buffer.h"
#include "perfile/session.h"

/* Appends the payload to `out`.  names[i] is the name of event i; `names` NULL: the session's
 * names.  Attrs are copied as stored.  `left_out`: indices (uint32_t each) of events that are not
 * described. */
perfile_status pf_event_desc_make(const perfile_session *s, const char *const *names,
                                  perfile_bytes left_out, pf_buffer *out, perfile_error *err);

#endif
