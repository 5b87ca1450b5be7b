/* Files that are given in place of a capture by mistake. */
#ifndef PF_LIB_FOREIGN_H
#define PF_LIB_FOREIGN_H

#include "perfile/base.h"

/* What a file that begins with `head` is and what to do: "it is compressed by gzip; …".  NULL when
 * that cannot be told. */
const char *pf_foreign(perfile_bytes head);

#endif
