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

/* Returns the number of bytes of the UTF-8 character at `p`, which has `left` (at least 1) bytes; 0
 * if there is no valid one.  Valid is the shortest form, no surrogates, nothing above U+10FFFF.
 * Stores the code point in *code (may be NULL). */
PERFILE_API size_t perfile_utf8_char(const uint8_t *p, size_t left, uint32_t *code);

/* Writes `text` to `out` of `size` bytes, NUL-terminated.  Each byte of an unprintable character or
 * of invalid UTF-8 becomes \xNN.  Text that does not fit is cut at a character.  `out` may be NULL
 * if `size` is 0.  Returns the length of the complete result in bytes, without the NUL. */
PERFILE_API size_t perfile_printable(perfile_bytes text, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
