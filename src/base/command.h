/* Statuses of damage, printable characters, similar words. */
#ifndef PF_BASE_COMMAND_H
#define PF_BASE_COMMAND_H

#include "perfile/damage.h"
#include "perfile/text.h"

/* Returns the status of a kind of damage; PERFILE_E_CORRUPT for numbers that are no kind. */
perfile_status pf_damage_status(unsigned damage);

/* Returns false for control characters (C0, DEL, C1), line and paragraph separators, and characters
 * that set the direction of writing. */
bool pf_is_printable(uint32_t code);

/* Writes the words closest to the misspelled `word` to `out`: "cycles", "cycles or cpu-cycles", at
 * most three, nearest first; empty if none is close.  Case is ignored.  Returns how many there are.
 */
size_t pf_suggest(const char *word, const char *const *words, size_t n, char *out, size_t size);

/* Return a status, and a kind of damage, in words: perfile_status_text(), perfile_damage_name(),
 * perfile_damage_text(), perfile_version(). */
const char *pf_status_text(perfile_status status);
const char *pf_damage_name(unsigned damage);
const char *pf_damage_text(unsigned damage);
const char *pf_version(void);

#endif
