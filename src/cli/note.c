/* A capture that was cut may have lost all features for the same reason.  The first one is printed;
 * the names of those that follow it with the same damage are collected, and become one line. */
#include "cli/note.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/members.h"
#include "perfile/damage.h"
#include "perfile/field.h"

enum { NAMES = 80 /* bytes of names of features in a line */ };

static struct {
    const char *input;
    uint32_t damage;  /* of the feature that was printed last; 0: none was */
    uint32_t more;    /* features after it with the same damage */
    uint32_t unnamed; /* of these, those that `names` has no room for */
    char names[NAMES];
} held;

/* Adds the name of a feature to those that are held back. */
static void hold(uint32_t feature)
{
    const size_t at = strlen(held.names);
    const char *name = perfile_feature_name(feature);
    const int n =
        name ? snprintf(held.names + at, NAMES - at, "%s%s", at ? ", " : "", name)
             : snprintf(held.names + at, NAMES - at, "%s%" PRIu32, at ? ", " : "", feature);
    held.more++;
    if (held.unnamed || n < 0 || (size_t)n >= NAMES - at) {
        held.names[at] = '\0';
        held.unnamed++;
    }
}

void cli_notes_end(void)
{
    if (held.more) {
        if (held.unnamed)
            cli_message("%s: the same of %s and %" PRIu32 " more", held.input, held.names,
                        held.unnamed);
        else
            cli_message("%s: the same of %s", held.input, held.names);
    }
    memset(&held, 0, sizeof held);
}

void cli_note_of(const char *name, uint32_t feature, uint32_t damage, const char *text)
{
    if (damage && feature != UINT32_MAX && held.damage == damage && strcmp(held.input, name) == 0) {
        hold(feature);
        return;
    }
    cli_notes_end();
    cli_message("%s: %s", name, text);
    if (feature != UINT32_MAX) {
        held.input = name;
        held.damage = damage;
    }
}

void cli_note(const char *name, const perfile_note *note)
{
    const bool feature =
        note->kind >= PERFILE_NOTE_FEATURE_LEFT_OUT && note->kind <= PERFILE_NOTE_FEATURE_NO_PLACE;
    char text[CLI_MEMBERS_TEXT];
    cli_note_of(name, feature ? note->number : UINT32_MAX, note->damage,
                cli_with_options(note->where, note->text, text));
}
