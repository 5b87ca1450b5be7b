/* What lies at a byte of a capture that is no part of a record. */
#ifndef CLI_DUMP_OFFSET_H
#define CLI_DUMP_OFFSET_H

#include "cli/input.h"

/* Says on standard error what byte `at` of the file is, once no record was found there. */
void cli_explain_offset(const cli_input *in, uint64_t at);

#endif
