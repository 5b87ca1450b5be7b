/* Makes feature EVENT_DESC from the events of a session. */
#ifndef PF_CORE_FACTS_H
#define PF_CORE_FACTS_H

#include "base/buffer.h"
#include "perfile/session.h"
#include "perfile/writer.h"
#include "schema/types.h"

/* Appends the payload to `out`.  names[i] is the name of event i; `names` NULL: the session's
 * names.  Attrs are copied as stored.  `left_out`: indices (uint32_t each) of events that are not
 * described. */
perfile_status pf_event_desc_make(const perfile_session *s, const char *const *names,
                                  perfile_bytes left_out, pf_buffer *out, perfile_error *err);

/* Attrs from perfile_new_event, the struct with which programs describe events to writers and
 * sessions. */

/* Copies the caller's struct, which may be of an older version of the header; missing members are
 * 0. PERFILE_E_USAGE: no attr, or n_ids without ids. */
perfile_status pf_new_event_copy(const perfile_new_event *given, perfile_new_event *event,
                                 perfile_error *err);

/* Encodes event->attr to `out`, which has room for PF_ATTR_MOST bytes.  The attr gets the size that
 * it states, or, if that is 0, the smallest size that holds all members that are not 0. */
perfile_status pf_new_event_encode(const perfile_new_event *event, bool swap, uint8_t *out,
                                   size_t *len, perfile_error *err);

/* Whether records and features can be decoded completely: a walk that shows the fields to nobody.
 */

/* `flags` are PERFILE_WALK_… */
bool pf_record_readable(const perfile_record *r, uint32_t flags);
bool pf_feature_readable(const perfile_feature *f, uint32_t flags);

/* True for the feature that ends the list of features in a pipe: it is empty, and its number is the
 * count of features that the writer knows.  A reader of a newer version knows a real feature of
 * that number, but a real one would not be empty. */
bool pf_feature_ends_list(const perfile_feature *f);

/* The damage of a feature (PERFILE_DAMAGE_…), 0 if it is intact. */
uint32_t pf_feature_damage(const perfile_feature *f);

#endif
