/* Recognizes files that are often given in place of a capture by mistake: compressed files, ELF
 * files, text.  The result only makes an error message better; it never decides an outcome. */
#ifndef PF_LIB_FOREIGN_H
#define PF_LIB_FOREIGN_H

#include "io/source.h"

/* Format of the error message; its %s is the result of pf_foreign(). */
#define PF_FOREIGN_MESSAGE "not a perf.data file: %s"

/* Describes what a file that begins with `head` is, and what to do about it: "it is compressed by
 * gzip; …".  NULL if it is not recognized.  The text is static. */
const char *pf_foreign(perfile_bytes head);
/* The same for the file that `source` reads.  NULL also for a directory and if reading fails. */
const char *pf_foreign_source(perfile_source *source);

#endif
