#include "cli/names.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/json.h"

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

void cli_json_damage(const cli_input *in)
{
    perfile_summary sum = {0};
    perfile_stream_summary(in->stream, &sum, sizeof sum);
    cli_json_object("damage");
    cli_json_number("count", sum.damages);
    cli_json_number("lost", sum.lost);
    cli_json_array("kinds");
    for (unsigned kind = 1; kind < CLI_N_DAMAGES; kind++) {
        if (!sum.by_damage[kind])
            continue;
        cli_json_object(NULL);
        cli_json_string("name", perfile_damage_name(kind));
        cli_json_number("count", sum.by_damage[kind]);
        uint64_t first = cli_first_damage(in, kind);
        if (first != PERFILE_NO_OFFSET)
            cli_json_decimal("offset", first);
        cli_json_number("lost", in->damage[kind].lost);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object_end();
}
