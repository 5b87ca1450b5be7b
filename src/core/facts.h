/* Helpers for facts: feature EVENT_DESC, attrs from a program's struct, and the tests whether
 * records and features are intact. */
#ifndef PF_CORE_FACTS_H
#define PF_CORE_FACTS_H

#include "base/buffer.h"
#include "perfile/session.h"
#include "perfile/writer.h"
#include "schema/types.h"

/* Makes the payload of feature EVENT_DESC from the events of a session and appends it to `out`.
 * names[i] is the name of event i; if `names` is NULL, the session's names are used.  Attrs are
 * copied as stored.  `left_out` has the indices (uint32_t each) of events that are left out. */
perfile_status pf_event_desc_make(const perfile_session *s, const char *const *names,
                                  perfile_bytes left_out, pf_buffer *out, perfile_error *err);

/* Encoding of attrs from perfile_new_event, the struct with which programs describe events to
 * writers and sessions. */

/* Copies the caller's struct, which may come from an older version of the header; missing members
 * become 0.  PERFILE_E_USAGE: no attr, or n_ids without ids. */
perfile_status pf_new_event_copy(const perfile_new_event *given, perfile_new_event *event,
                                 perfile_error *err);

/* Encodes event->attr to `out`, which has room for PF_ATTR_MOST bytes.  The encoded attr has the
 * size that it states.  If that is 0, it gets the smallest size that holds all members that are not
 * 0. */
perfile_status pf_new_event_encode(const perfile_new_event *event, bool swap, uint8_t *out,
                                   size_t *len, perfile_error *err);

/* These two return true if the record or feature can be decoded completely. */

/* `flags` are PERFILE_WALK_… */
bool pf_record_readable(const perfile_record *r, uint32_t flags);
bool pf_feature_readable(const perfile_feature *f, uint32_t flags);

/* Returns true for the feature that ends the list of features in a pipe.  It is empty, and its
 * number is the count of features that the writer knows.  A newer version may have a real feature
 * of this number, but a real one is not empty. */
bool pf_feature_ends_list(const perfile_feature *f);

/* Returns the damage of a feature (PERFILE_DAMAGE_…), or 0 if it is intact. */
uint32_t pf_feature_damage(const perfile_feature *f);

#endif
