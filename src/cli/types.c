#include "cli/types.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "perfile/record.h"

static bool number_of(const char *word, uint32_t *type)
{
    char *end;
    *type = perfile_record_type_number(word);
    if (*type)
        return true;
    if (word[0] < '0' || word[0] > '9')
        return false;
    unsigned long long value = strtoull(word, &end, 0);
    *type = (uint32_t)value;
    return !*end && value <= UINT32_MAX;
}

/* The name of a type that was meant. */
static int unknown_type(const char *command, const char *word)
{
    enum { MOST = 256 };
    const char *names[MOST];
    char meant[200];
    size_t n = 0;
    for (uint32_t type = 1; type < MOST; type++)
        if (perfile_record_type_name(type))
            names[n++] = perfile_record_type_name(type);
    return cli_usage(command, "--type: there is no record type '%s'%s", word,
                     cli_meant(word, names, n, meant, sizeof meant));
}

int cli_types_add(const char *command, cli_types *t, const char *list)
{
    do {
        char word[64];
        size_t n = strcspn(list, ",");
        if (n >= sizeof word)
            return unknown_type(command, list);
        memcpy(word, list, n);
        word[n] = 0;
        list += n + (list[n] == ',');

        uint32_t type;
        if (!number_of(word, &type))
            return unknown_type(command, word);
        t->any = true;
        if (type < 256) {
            t->low[type] = true;
            continue;
        }
        uint32_t *high = realloc(t->high, (t->n_high + 1) * sizeof *high);
        if (!high) {
            cli_say("out of memory");
            return CLI_FAILED;
        }
        t->high = high;
        t->high[t->n_high++] = type;
    } while (*list);
    return CLI_CONTINUE;
}

void cli_types_free(cli_types *t)
{
    free(t->high);
    *t = (cli_types){0};
}
