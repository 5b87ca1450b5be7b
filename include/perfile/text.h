/* Text for terminals: escaping names from captures and users, and suggestions for misspelled words.
 *
 * Names in captures, file names and arguments may contain anything: escape sequences that control a
 * terminal, line breaks that start a fake message, marks that change the direction of the text
 * after them.  Messages of the library (perfile_error, notes, findings) contain such names
 * unescaped.  A program must pass them through perfile_printable() before it writes them. */
#ifndef PERFILE_TEXT_H
#define PERFILE_TEXT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes `text` to `out` of `size` bytes, NUL-terminated.  Each byte of an unprintable character or
 * of invalid UTF-8 becomes \xNN.  Text that does not fit is cut at a character.  `out` may be NULL
 * if `size` is 0.  Returns the length of the complete result in bytes, without the NUL. */
PERFILE_API size_t perfile_printable(perfile_bytes text, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
