/* Damage that was found while a capture was read: messages for people, and the member `damage` of
 * JSON reports. */
#ifndef CLI_DAMAGE_H
#define CLI_DAMAGE_H

#include "cli/input.h"

/* Reports each kind of damage once on standard error: its first offset, how often it occurs, and
 * how many bytes were lost.  Returns CLI_DAMAGED, or CLI_DONE if there is none. */
int cli_report_damage(const cli_input *in);

/* Decodes every feature section; those that cannot be decoded are counted as damage, too. */
void cli_check_features(cli_input *in);

/* Returns how many damages there are, of all kinds. */
uint64_t cli_damage_count(const cli_input *in);

/* Writes which files of a directory are missing, as far as gaps in their numbers show it: "data.0,
 * data.3..data.5" or "every data.N".  Returns false if none is. */
bool cli_missing_parts(const cli_input *in, char *out, size_t size);

/* True if there is damage other than missing files: then `perfile recover` can do something. */
bool cli_recoverable(const cli_input *in);

/* Prints the member `damage` of a report: {"count":…,"lost":…,"missing":…,"kinds":[…]}. */
void cli_json_damage(const cli_input *in);

#endif
