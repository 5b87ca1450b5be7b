/* Messages of the library name members of its structs; the command names options.  This is where
 * one becomes the other. */
#ifndef CLI_MEMBERS_H
#define CLI_MEMBERS_H

#include "perfile/copy.h"

enum { CLI_MEMBERS_TEXT = 2 * sizeof((perfile_error *)0)->message };

/* Writes a message of the library about its member `where` in words of the command: a message that
 * begins with the name of the member begins with the option instead; others get the options in
 * brackets at the end.  Returns `message` if no option sets this member, or `where` is NULL. */
const char *cli_with_options(const char *where, const char *message, char out[CLI_MEMBERS_TEXT]);

/* The member "error" of a report, if `failed` is not NULL. */
void cli_json_error(const perfile_error *failed);

#endif
