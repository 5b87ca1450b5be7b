/* Names as the commands print them. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/input.h"

/* "SAMPLE", or "type 99" in `buf` for types without a name. */
const char *cli_type_name(uint32_t type, char *buf, size_t size);

/* "file" or "pipe". */
const char *cli_form_name(const perfile_container *c);

#endif
