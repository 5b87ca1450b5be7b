/* `perfile convert`: the report on what differs between input and output. */
#ifndef CLI_CONVERT_CONVERT_H
#define CLI_CONVERT_CONVERT_H

#include "perfile/convert.h"

typedef struct cli_conversion {
    const char *name; /* of the input, for messages */
    const char *out;
    bool json;          /* one JSON object on standard output instead of messages */
    bool copied_chunks; /* the input is an archive, and its chunks were copied */
    bool scrubs;        /* the summary tells what was zeroed */
    perfile_convert_summary sum;
} cli_conversion;

/* To be called in this order: begin, then note() for each note (a callback of
 * perfile_convert_capture(), whose `user` is the cli_conversion), then end.  `failed` is the error,
 * NULL if there is none. */
void cli_conversion_begin(cli_conversion *x);
void cli_conversion_note(void *conversion, const perfile_note *note);
void cli_conversion_end(cli_conversion *x, const perfile_error *failed);

#endif
