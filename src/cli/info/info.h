/* The facts that `perfile info` prints about a capture.  They are collected in one pass over the
 * records, and then printed as text or JSON. */
#ifndef CLI_INFO_INFO_H
#define CLI_INFO_INFO_H

#include "cli/input.h"
#include "cli/print.h"
#include "perfile/model.h"
#include "archive/command.h"

/* Counts for one event. */
typedef struct cli_event_counts {
    uint64_t records;
    uint64_t samples;
} cli_event_counts;

typedef struct cli_info_numbers {
    uint32_t *at;
    size_t n, cap;
} cli_info_numbers;

typedef struct cli_info_facts {
    cli_input in;
    const perfile_session *session; /* session of the stream */
    const perfile_container *container;
    perfile_model *model; /* processes and threads; owned */
    bool walked;          /* all records were read; not the case with --header */
    bool has_file_time;
    perfile_archive *archive_of; /* the archive that the capture is in, owned, or NULL */
    pf_archive_summary archive;
    perfile_archive_capture packed; /* what the archive says about the capture */
    uint64_t file_time;             /* modification time of the file, in ns since 1970 */
    perfile_stream_summary sum;

    cli_event_counts *events; /* by event index; owned */
    uint32_t n_events;        /* number of entries in `events`; later events have no records */
    cli_event_counts other;   /* records without an event */
    uint64_t samples;
    uint64_t rounds;           /* number of FINISHED_ROUND records */
    uint64_t first, last;      /* least and greatest time above 0; PERFILE_NO_TIME if there is
                                * none */
    uint32_t n_cpus;           /* CPUs that have records */
    uint8_t cpu_seen[1 << 13]; /* a bit for each of them */

    cli_losses losses;
    uint64_t aux_bytes; /* total size of AUX area traces */

    uint64_t compressed_records;
    uint64_t compressed_bytes;

    bool described; /* samples may be counted from descriptions in an archive … */
    cli_info_numbers described_pids, described_tids; /* … with these pids and tids */
} cli_info_facts;

/* Sets *wall to the time of the recording in ns since 1970.  It comes from the clocks of the
 * capture, or else from the modification time of the file (*of_file is true then).  Returns false
 * if neither is known. */
bool cli_info_captured(const cli_info_facts *x, uint64_t *wall, bool *of_file);

/* Returns how the call chains of an event were recorded: "fp", "dwarf" or "lbr"; NULL if it has
 * none. */
const char *cli_info_call_graph(const perfile_attr *a);

/* Print the facts to standard output.  Return false when out of memory. */
bool cli_info_json(cli_info_facts *x);
bool cli_info_text(cli_info_facts *x);

/* What `perfile info --chunks` and `--columns` show of an archive. */
enum { CLI_INFO_CHUNKS = 1, CLI_INFO_COLUMNS = 2 };

/* Prints that for one input, and returns the exit status. */
int cli_info_archive(const cli_file *file, const cli_reading *how, unsigned what, bool json);

#endif
