/* Names for what can be wrong with an input. */
#ifndef PERFILE_DAMAGE_H
#define PERFILE_DAMAGE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PERFILE_DAMAGE_SHORT_BODY … : one for each row of format/damage.def; 0 is none. */
enum {
    PERFILE_DAMAGE_NONE = 0,
#define DAMAGE(id, number, name, status, text) PERFILE_DAMAGE_##id = (number),
#include "perfile/format/damage.def"
    PERFILE_N_DAMAGES
};

/* The short name ("short-body"), the sentence, and the status that goes with it.  "" and
 * PERFILE_E_CORRUPT for numbers that are none. */
PERFILE_API const char *perfile_damage_name(unsigned damage);
PERFILE_API const char *perfile_damage_text(unsigned damage);
PERFILE_API perfile_status perfile_damage_status(unsigned damage);

#ifdef __cplusplus
}
#endif

#endif
