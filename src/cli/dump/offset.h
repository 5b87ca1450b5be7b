/* Explains an offset of a capture that is in no record, for `dump --at`. */
#ifndef CLI_DUMP_OFFSET_H
#define CLI_DUMP_OFFSET_H

#include "cli/input.h"

/* Reports on standard error what byte `at` of the file is part of.  To be called when no record was
 * found there, with the input still open. */
void cli_explain_offset(const cli_input *in, uint64_t at);

#endif
