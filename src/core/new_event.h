/* Attrs from the structs that programs give, for writers and sessions. */
#ifndef PF_CORE_NEW_EVENT_H
#define PF_CORE_NEW_EVENT_H

#include "perfile/writer.h"
#include "schema/attr_places.h"

/* What the caller's struct says, as far as his version of it goes; the rest is 0.  PERFILE_E_USAGE:
 * there is no attr, or no ids where some are promised. */
perfile_status pf_new_event_take(const perfile_new_event *given, perfile_new_event *event,
                                 perfile_error *err);

/* Encodes event->attr to `out`, which has room for PF_ATTR_MOST bytes: as many bytes as its size
 * says, or as its members need. */
perfile_status pf_new_event_attr(const perfile_new_event *event, bool swap, uint8_t *out,
                                 size_t *len, perfile_error *err);

#endif
