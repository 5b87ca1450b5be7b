/* What a command did not write as it was in the input, on standard error: a line for each note of
 * the library, and one for several features that are damaged in the same way. */
#ifndef CLI_NOTE_H
#define CLI_NOTE_H

#include "perfile/copy.h"

/* Messages of the library name members of its structs; the command names options.  This is where
 * one becomes the other. */

enum { CLI_MEMBERS_TEXT = 2 * sizeof((perfile_error *)0)->message };

/* Writes a message of the library about its member `where` in words of the command: a message that
 * begins with the name of the member begins with the option instead; others get the options in
 * brackets at the end.  Returns `message` if no option sets this member, or `where` is NULL. */
const char *cli_with_options(const char *where, const char *message, char out[CLI_MEMBERS_TEXT]);

/* The member "error" of a report, if `failed` is not NULL. */
void cli_json_error(const perfile_error *failed);

/* Prints a note of the input `name`. */
void cli_note(const char *name, const perfile_note *note);

/* The same for a note of other structs: `feature` is its number, or UINT32_MAX. */
void cli_note_of(const char *name, uint32_t feature, uint32_t damage, const char *text);

/* Prints what is still held back.  To be called after the last note, before what is printed next.
 */
void cli_notes_end(void);

#endif
