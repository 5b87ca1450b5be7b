/* What `info` finds out about a capture. */
#ifndef CLI_INFO_INFO_H
#define CLI_INFO_INFO_H

#include "cli/input.h"
#include "cli/losses.h"
#include "perfile/model.h"

/* Per event; the last one counts records that belong to none. */
typedef struct cli_event_counts {
    uint64_t records;
    uint64_t samples;
} cli_event_counts;

typedef struct cli_info_facts {
    cli_input in;
    const perfile_session *session;
    const perfile_container *container;
    perfile_model *model;
    bool walked;
    bool has_file_time;
    uint64_t file_time; /* when the file was last written: ns since 1970 */
    perfile_stream_summary sum;

    cli_event_counts *events;
    uint32_t n_events; /* that there is room for */
    cli_event_counts other;
    uint64_t samples;
    uint64_t rounds;
    uint64_t first, last;      /* times above 0, PERFILE_NO_TIME when there are none */
    uint32_t n_cpus;           /* that records were taken on */
    uint8_t cpu_seen[1 << 13]; /* a bit each */

    cli_losses losses;
    uint64_t aux_bytes;

    uint64_t compressed_records;
    uint64_t compressed_bytes;
} cli_info_facts;

/* Takes in the records of a run, or some of them; false when there is no memory. */
bool cli_info_feed(cli_info_facts *x, const perfile_record *first, size_t n);

/* When it was recorded: ns since 1970, by the clocks of the capture or else the file's time; false
 * when not known. */
bool cli_info_captured(const cli_info_facts *x, uint64_t *wall, bool *of_file);

/* "fp", "dwarf", "lbr": how call chains of the event were found; NULL when it has none. */
const char *cli_info_call_graph(const perfile_attr *a);

/* Prints it; false when there is no memory. */
bool cli_info_json(cli_info_facts *x);
bool cli_info_text(cli_info_facts *x);

#endif
