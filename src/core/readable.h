/* Whether the fields of records and features can be read to their end. */
#ifndef PF_CORE_READABLE_H
#define PF_CORE_READABLE_H

#include "perfile/session.h"

/* `flags` are PERFILE_WALK_… */
bool pf_record_readable(const perfile_record *r, uint32_t flags);
bool pf_feature_readable(const perfile_feature *f, uint32_t flags);

/* Whether it is the end of the features of a pipe: an empty one, whose number is the writer's count
 * of features.  For newer tools that is the number of a real one, which would not be empty. */
bool pf_feature_ends_list(const perfile_feature *f);

/* What is wrong with a feature (PERFILE_DAMAGE_…), 0 when it is whole. */
uint32_t pf_feature_damage(const perfile_feature *f);

#endif
