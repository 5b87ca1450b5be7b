/* Whether records and features can be decoded completely: a walk that shows the fields to nobody.
 */
#ifndef PF_CORE_READABLE_H
#define PF_CORE_READABLE_H

#include "perfile/session.h"

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
