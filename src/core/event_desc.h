/* Feature EVENT_DESC, made of the events that a session has. */
#ifndef PF_CORE_EVENT_DESC_H
#define PF_CORE_EVENT_DESC_H

#include "base/buffer.h"
#include "perfile/session.h"

/* Its payload, behind what is in `out`.  names[i] is what event i is called; NULL: as the session
 * calls them.  Attrs are those that are stored.  `left_out`: indices (uint32_t) of events that are
 * not described. */
perfile_status pf_event_desc_make(const perfile_session *s, const char *const *names,
                                  perfile_bytes left_out, pf_buffer *out, perfile_error *err);

#endif
