/* Names of record types and of forms of captures. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/input.h"

/* Returns the family and the type of a record as one number, to be used as a key. */
static inline uint64_t cli_type_key(const perfile_record *r)
{
    return (uint64_t)r->family << 32 | r->type;
}

/* Returns the name of the type of a key: "SAMPLE", or "type 99", written into `buf`, if it has
 * none. */
const char *cli_type_name(uint64_t key, char *buf, size_t size);

/* Returns the number of the type as it is stored in the capture. */
uint32_t cli_type_number(uint64_t key);

/* Returns "file" or "pipe"; for captures of other families the name of their format. */
const char *cli_form_name(const perfile_container *c);

#endif
