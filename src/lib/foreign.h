/* Files that are given in place of a capture by mistake. */
#ifndef PF_LIB_FOREIGN_H
#define PF_LIB_FOREIGN_H

#include "io/source.h"

/* The message about them; its %s is what pf_foreign() says. */
#define PF_FOREIGN_MESSAGE "not a perf.data file: %s"

/* What a file that begins with `head` is and what to do: "it is compressed by gzip; …".  NULL when
 * that cannot be told. */
const char *pf_foreign(perfile_bytes head);
/* The same of the file that `source` reads; NULL for a directory, too. */
const char *pf_foreign_source(perfile_source *source);

#endif
