/* What was lost between the kernel and the capture, as the records of the capture report it. */
#ifndef CLI_LOSSES_H
#define CLI_LOSSES_H

#include "perfile/session.h"

/* Sums over the records of a capture. */
typedef struct cli_losses {
    uint64_t lost_records; /* of LOST records: samples and others that found no room in a buffer */
    uint64_t lost_samples; /* of LOST_SAMPLES records */
    uint64_t gaps;         /* LOST records */
    uint64_t filtered;     /* of LOST_SAMPLES that a BPF filter dropped on purpose */
    uint64_t throttles;
    uint64_t unthrottles;
    uint64_t aux_truncated;
    uint64_t auxtrace_errors;
    uint64_t map_timeouts; /* mappings flagged as incomplete (PERFILE_MISC_PROC_MAP_TIMEOUT) */
} cli_losses;

/* False for records that cli_losses_feed() ignores anyway: a quick test in front of it. */
static inline bool cli_losses_relevant(uint32_t type)
{
    return type != PERFILE_RECORD_SAMPLE;
}

void cli_losses_feed(cli_losses *x, const perfile_record *r);

/* Returns how many records LOST reports in addition to the samples of LOST_SAMPLES.  Where events
 * have a counter of lost samples (bit LOST of read_format), perf writes it as LOST_SAMPLES, and the
 * same samples are counted by LOST, too. */
uint64_t cli_losses_others(const cli_losses *x, const perfile_session *s);

/* Prints `before` and a list such as "1208 samples (86.7%), in 10 gaps, 1 throttling" to standard
 * output.  Prints nothing and returns false if nothing was lost.  `samples` is the number of
 * samples in the capture, for the percentage; CLI_SAMPLES_UNKNOWN: only some of them were counted,
 * and there is no percentage. */
#define CLI_SAMPLES_UNKNOWN UINT64_MAX
bool cli_losses_print(const cli_losses *x, const perfile_session *s, uint64_t samples,
                      const char *before);

/* Prints the members of the object `losses` of a report. */
void cli_losses_json(const cli_losses *x, const perfile_session *s);

#endif
