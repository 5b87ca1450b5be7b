/* Text for terminals: escaping names from captures and users; suggestions for misspelt words.
 *
 * Names in captures, names of files and arguments may hold anything: escape sequences that drive a
 * terminal, line breaks that begin a message of their own, marks that turn the direction of what
 * follows.  Messages of the library (perfile_error, notes, findings) hold such names as they are:
 * a program passes them through perfile_printable() where it writes them. */
#ifndef PERFILE_TEXT_H
#define PERFILE_TEXT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the character at `p`, of which `left` (at least 1) are there: well-formed UTF-8 in the
 * shortest form, no surrogates, nothing above U+10FFFF; its code point is *code (may be NULL).
 * 0: there is none. */
PERFILE_API size_t perfile_utf8_char(const uint8_t *p, size_t left, uint32_t *code);

/* False for control characters (C0, DEL, C1), separators of lines and paragraphs, and characters
 * that set the direction of writing. */
PERFILE_API bool perfile_is_printable(uint32_t code);

/* Writes `text` to `out` (of `size` bytes, NUL-terminated, cut at a character when it does not fit;
 * `out` may be NULL when `size` is 0) with each byte of what is not printable or no UTF-8 as \xNN.
 * Returns the bytes that all of it needs, NUL not counted. */
PERFILE_API size_t perfile_printable(perfile_bytes text, char *out, size_t size);

/* Which of `n` words were meant by `word`, which is none of them: "cycles", "cycles or cpu-cycles",
 * at most three, nearest first, to `out`; empty when none is near.  Case does not count.  Returns
 * how many there are. */
PERFILE_API size_t perfile_suggest(const char *word, const char *const *words, size_t n, char *out,
                                   size_t size);

#ifdef __cplusplus
}
#endif

#endif
