/* Names as the commands print them. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/input.h"

/* A type and its family as one number. */
static inline uint64_t cli_type_key(const perfile_record *r)
{
    return (uint64_t)r->family << 32 | r->type;
}

/* "SAMPLE", or "type 99" in `buf` for types without a name. */
const char *cli_type_name(uint64_t key, char *buf, size_t size);

/* The number as it is stored. */
uint32_t cli_type_number(uint64_t key);

/* "file" or "pipe"; of another family the name of the format. */
const char *cli_form_name(const perfile_container *c);

#endif
