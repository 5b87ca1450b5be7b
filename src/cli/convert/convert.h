/* What `perfile convert` says about what it did. */
#ifndef CLI_CONVERT_CONVERT_H
#define CLI_CONVERT_CONVERT_H

#include "perfile/convert.h"

typedef struct cli_conversion {
    const char *name; /* of the input, for messages */
    const char *out;
    bool json;
    perfile_convert_summary sum;
} cli_conversion;

/* Before the first note, a callback of perfile_convert_capture(), and at the end; `failed` is NULL
 * when it went well. */
void cli_conversion_begin(cli_conversion *x);
void cli_conversion_note(void *conversion, const perfile_note *note);
void cli_conversion_end(cli_conversion *x, const perfile_error *failed);

#endif
