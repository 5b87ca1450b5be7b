/* perfile_archive_source() inside the library. */
#ifndef PF_ARCHIVE_SOURCE_H
#define PF_ARCHIVE_SOURCE_H

#include "io/source.h"
#include "perfile/archive.h"

/* Closes a source that perfile_archive_source() has put in the place of another one, which is the
 * caller's again.  No stream or entry of it may be open. */
void pf_archive_source_undo(perfile_source *image);

/* Makes another source of the directory in an archive that `source` is; either may be closed
 * first. */
perfile_status pf_archive_source_again(const perfile_source *source, perfile_source **again,
                                       perfile_error *err);

#endif
