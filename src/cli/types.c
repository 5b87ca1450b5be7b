#include "cli/types.h"

#include <stdlib.h>
#include <string.h>

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

const char *cli_types_add(cli_types *t, const char *list)
{
    while (*list) {
        char word[64];
        size_t n = strcspn(list, ",");
        if (n >= sizeof word)
            return "there is no record type of this name";
        memcpy(word, list, n);
        word[n] = 0;
        list += n + (list[n] == ',');

        uint32_t type;
        if (!number_of(word, &type))
            return "there is no record type of this name";
        t->any = true;
        if (type < 256) {
            t->low[type] = true;
            continue;
        }
        uint32_t *high = realloc(t->high, (t->n_high + 1) * sizeof *high);
        if (!high)
            return "out of memory";
        t->high = high;
        t->high[t->n_high++] = type;
    }
    return t->any ? NULL : "no record type is given";
}

void cli_types_free(cli_types *t)
{
    free(t->high);
    *t = (cli_types){0};
}
