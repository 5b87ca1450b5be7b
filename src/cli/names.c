#include "cli/names.h"

#include <inttypes.h>
#include <stdio.h>
const char *cli_type_name(uint32_t type, char *buf, size_t size)
{
    const char *name = perfile_record_type_name(type);
    if (name)
        return name;
    snprintf(buf, size, "type %" PRIu32, type);
    return buf;
}

const char *cli_form_name(const perfile_container *c)
{
    switch (c->form) {
    case PERFILE_FORM_FILE:
        return "file";
    case PERFILE_FORM_PIPE:
        return "pipe";
    default:
        return "none";
    }
}
