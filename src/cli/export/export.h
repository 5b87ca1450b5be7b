/* `perfile export`: what was read, and the report on it. */
#ifndef CLI_EXPORT_EXPORT_H
#define CLI_EXPORT_EXPORT_H

#include "cli/losses.h"
#include "cli/symbols.h"
#include "perfile/emit.h"

/* A run of the command. */
typedef struct cli_export_run {
    const char *format;
    const char *out;
    bool json;            /* the report is a JSON object on standard output */
    bool weighs;          /* weights are periods */
    bool compares;        /* with a capture before */
    bool aux;             /* the form has the AUX area, and no samples */
    cli_symbols *symbols; /* functions are looked up, and some not found; NULL: they are not */
    size_t n_inputs;
    cli_losses losses;     /* of all inputs */
    uint64_t lost_records; /* cli_losses_others() of each input, added up */
    bool foreign;          /* there were records of another family, which have no samples */
    uint64_t damages;      /* of all inputs */
    perfile_export_summary sum;
} cli_export_run;

/* Prints the report.  `written`: the output is complete. */
void cli_export_report(const cli_export_run *x, bool written);

#endif
