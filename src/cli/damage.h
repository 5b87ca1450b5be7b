/* Damage that was met while a capture was read, for people and for reports. */
#ifndef CLI_DAMAGE_H
#define CLI_DAMAGE_H

#include "cli/input.h"

/* Says each kind of damage once: where first, how often, and what it cost.  CLI_DONE when there was
 * none, else CLI_DAMAGED. */
int cli_report_damage(const cli_input *in);

/* Looks into every feature section; those that cannot be read are damage too. */
void cli_check_features(cli_input *in);

/* How many damages there are. */
uint64_t cli_damage_count(const cli_input *in);

/* Which files of a directory are missing, as far as their numbers tell: "data.0, data.3..data.5" or
 * "every data.N".  False when none is. */
bool cli_missing_parts(const cli_input *in, char *out, size_t size);

/* Whether there is damage beside missing files, of which recover() saves what can be saved. */
bool cli_recoverable(const cli_input *in);

/* "damage": the member of a report, {"count":…,"lost":…,"kinds":[…]}. */
void cli_json_damage(const cli_input *in);

#endif
