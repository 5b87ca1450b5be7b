/* Names, texts and statuses of the kinds of damage, from format/damage.def. */
#include "perfile/damage.h"

typedef struct pf_damage_row {
    const char *name;
    const char *text;
    perfile_status status;
} pf_damage_row;

static const pf_damage_row rows[PERFILE_N_DAMAGES] = {
    {"", "", PERFILE_E_CORRUPT}, /* 0, and for numbers that are no damage */
#define DAMAGE(id, number, name, status, text) [number] = {name, text, PERFILE_E_##status},
#include "perfile/format/damage.def"
};

static const pf_damage_row *row(unsigned damage)
{
    return &rows[damage < PERFILE_N_DAMAGES ? damage : 0];
}

const char *perfile_damage_name(unsigned damage)
{
    return row(damage)->name;
}

const char *perfile_damage_text(unsigned damage)
{
    return row(damage)->text;
}

perfile_status perfile_damage_status(unsigned damage)
{
    return row(damage)->status;
}
