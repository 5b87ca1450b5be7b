/* What `info` finds out about a capture. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "cli/input.h"
#include "perfile/model.h"

/* Per event; the last one counts records that belong to none. */
typedef struct cli_event_counts {
    uint64_t records;
    uint64_t samples;
} cli_event_counts;

typedef struct cli_found {
    cli_input in;
    const perfile_session *session;
    const perfile_container *container;
    perfile_model *model;
    bool walked;
    perfile_summary sum;

    cli_event_counts *events;
    uint32_t n_events; /* that there is room for */
    cli_event_counts other;
    uint64_t samples;
    uint64_t rounds;
    uint64_t first, last;      /* times above 0, PERFILE_NO_TIME when there are none */
    uint32_t n_cpus;           /* that records were taken on */
    uint8_t cpu_seen[1 << 13]; /* a bit each */

    uint64_t lost_records; /* LOST: records or samples that found no room */
    uint64_t lost_samples; /* LOST_SAMPLES */
    uint64_t throttles;
    uint64_t unthrottles;
    uint64_t aux_truncated;
    uint64_t aux_bytes;
    uint64_t auxtrace_errors;
    uint64_t map_timeouts; /* mappings that were not told */

    uint64_t compressed_records;
    uint64_t compressed_bytes;
} cli_found;

/* Takes in one record; false when there is no memory. */
bool cli_info_feed(cli_found *x, const perfile_record *r);

/* Prints it; false when there is no memory. */
bool cli_info_json(cli_found *x);
bool cli_info_text(cli_found *x);

#endif
