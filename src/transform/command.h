/* What the versions of perf know. */
#ifndef PF_TRANSFORM_COMMAND_H
#define PF_TRANSFORM_COMMAND_H

#include "perfile/target.h"
#include "perfile/scrub.h"

/* Returns the name of a known version, "3.8" …, in ascending order; NULL after the last. */
const char *pf_target_version_at(size_t position);

/* Returns true if the version knows the feature (PERFILE_FEATURE_…); for DIR_FORMAT, if it opens
 * directories.  Returns false if there is no such version. */
bool pf_target_has_feature(const char *version, uint32_t number);

/* Returns the size of the version's attr in bytes; 0 if there is no such version.  For writers that
 * make HEADER_ATTR records from shorter attrs. */
uint32_t pf_target_attr_size(const char *version);

/* perfile_target_get_summary(), perfile_scrub_get_summary(). */
void pf_target_get_summary(const perfile_stream *stream, perfile_target_summary *out, size_t size);
void pf_scrub_get_summary(const perfile_stream *stream, perfile_scrub_summary *out, size_t size);

#endif
