/* Attrs from perfile_new_event, the struct with which programs describe events to writers and
 * sessions. */
#ifndef PF_CORE_NEW_EVENT_H
#define PF_CORE_NEW_EVENT_H

#include "perfile/writer.h"
#include "schema/attr_places.h"

/* Copies the caller's struct, which may be of an older version of the header; missing members are
 * 0. PERFILE_E_USAGE: no attr, or n_ids without ids. */
perfile_status pf_new_event_copy(const perfile_new_event *given, perfile_new_event *event,
                                 perfile_error *err);

/* Encodes event->attr to `out`, which has room for PF_ATTR_MOST bytes.  The attr gets the size that
 * it states, or, if that is 0, the smallest size that holds all members that are not 0. */
perfile_status pf_new_event_encode(const perfile_new_event *event, bool swap, uint8_t *out,
                                   size_t *len, perfile_error *err);

#endif
