/* What got lost between the kernel and the capture, as the records tell it. */
#ifndef CLI_LOSSES_H
#define CLI_LOSSES_H

#include "perfile/session.h"

typedef struct cli_losses {
    uint64_t lost_records; /* sum of LOST: samples and others that found no room in a buffer */
    uint64_t lost_samples; /* sum of LOST_SAMPLES */
    uint64_t gaps;         /* LOST records */
    uint64_t filtered;     /* of LOST_SAMPLES again: dropped by a BPF filter, as it was told to */
    uint64_t throttles;
    uint64_t unthrottles;
    uint64_t aux_truncated;
    uint64_t auxtrace_errors;
    uint64_t map_timeouts; /* mappings that were not told */
} cli_losses;

/* Whether records of this type tell of losses. */
static inline bool cli_losses_relevant(uint32_t type)
{
    return type != PERFILE_RECORD_SAMPLE;
}

void cli_losses_feed(cli_losses *x, const perfile_record *r);

/* Of LOST records what LOST_SAMPLES do not count once more: perf has those of its counters (bit
 * LOST of read_format), which count the samples among what LOST tells of, too. */
uint64_t cli_losses_others(const cli_losses *x, const perfile_session *s);

/* "1208 samples (86.7%), in 10 gaps, 1 throttling" on standard output, behind `before`; false, and
 * nothing, when nothing was lost.  `samples`: that are in the capture. */
bool cli_losses_print(const cli_losses *x, const perfile_session *s, uint64_t samples,
                      const char *before);

/* The members of the object `losses` of a report. */
void cli_losses_json(const cli_losses *x, const perfile_session *s);

#endif
