/* What a command did not write as it was in the input, on standard error: a line for each note of
 * the library, and one for several features that are damaged in the same way. */
#ifndef CLI_NOTE_H
#define CLI_NOTE_H

#include "perfile/copy.h"

/* Prints a note of the input `name`. */
void cli_note(const char *name, const perfile_note *note);

/* The same for a note of other structs: `feature` is its number, or UINT32_MAX. */
void cli_note_of(const char *name, uint32_t feature, uint32_t damage, const char *text);

/* Prints what is still held back.  To be called after the last note, before what is printed next.
 */
void cli_notes_end(void);

#endif
