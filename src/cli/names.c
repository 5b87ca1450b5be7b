/* Names of record types and forms, see names.h. */
#include "cli/names.h"

#include <inttypes.h>
#include <stdio.h>

/* Returns a record that has only what a key says: family and type. */
static perfile_record record_of_key(uint64_t key)
{
    return (perfile_record){.family = (uint8_t)(key >> 32), .type = (uint32_t)key};
}

uint32_t cli_type_number(uint64_t key)
{
    const perfile_record r = record_of_key(key);
    return perfile_record_stored_type(&r);
}

const char *cli_type_name(uint64_t key, char *buf, size_t size)
{
    const perfile_record r = record_of_key(key);
    const char *name = perfile_type_name(r.family, r.type);
    if (name)
        return name;
    snprintf(buf, size, "type %" PRIu32, cli_type_number(key));
    return buf;
}

const char *cli_form_name(const perfile_container *c)
{
    if (c->family != PERFILE_FAMILY_PERF)
        return c->format;
    switch (c->form) {
    case PERFILE_FORM_FILE:
        return "file";
    case PERFILE_FORM_PIPE:
        return "pipe";
    default:
        return "none";
    }
}
