/* Messages of the library name members of its structs; the command names options.  This is where
 * one becomes the other. */
#ifndef CLI_MEMBERS_H
#define CLI_MEMBERS_H

#include "perfile/copy.h"

enum { CLI_MEMBERS_TEXT = 2 * sizeof((perfile_error *)0)->message };

/* Writes the message of an error or note whose `where` is the member that it is about: with the
 * option in the place of the member's name at its beginning, or else with the options in brackets
 * behind it.  Returns `message` if no option is about this member (or `where` is NULL). */
const char *cli_with_options(const char *where, const char *message, char out[CLI_MEMBERS_TEXT]);

/* The member "error" of a report, if `failed` is not NULL. */
void cli_json_error(const perfile_error *failed);

#endif
