/* Makes captures from nothing: every record type, feature and field that the tables know, with
 * values from a seed.  The exact dump of the capture can be written beside it, from what was meant,
 * not by decoding the capture. */
#ifndef PF_GENERATE_COMMAND_H
#define PF_GENERATE_COMMAND_H

#include "perfile/sink.h"
#include "perfile/writer.h"

enum { PF_GENERATE_MOST_EVENTS = 64, PF_GENERATE_MOST_ROUNDS = 100000 };

typedef struct pf_generate_options {
    uint64_t seed;
    uint32_t form;       /* PERFILE_FORM_FILE, PERFILE_FORM_PIPE */
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_… */
    uint32_t attr_size;  /* bytes of attrs; 0: those of the newest kernel */
    uint32_t n_events;   /* 1 to PF_GENERATE_MOST_EVENTS */
    uint32_t rounds;     /* records of each type, 1 to PF_GENERATE_MOST_ROUNDS */
    uint32_t type;       /* records of this type only; 0: of all types */
    uint32_t feature;    /* this feature only; 0: all of them, UINT32_MAX: none */
    uint64_t fields;     /* sample_type of all events; 0: any */
    bool has_read_format;
    uint32_t read_format;       /* of all events, with has_read_format */
    struct pf_covered *covered; /* gets what the capture has; may be NULL */
} pf_generate_options;

typedef struct pf_generate_summary {
    uint64_t records, features, events;
    uint32_t n_left_out;       /* types and features that could not be made … */
    const char *left_out[128]; /* … and their names */
} pf_generate_summary;

/* Writes a capture to `sink`, and what `perfile dump --format jsonl` shows of it to `expect` (may
 * be NULL).  Both are finished on success, and stay the caller's.  The same options give the same
 * bytes on every machine.  PERFILE_E_USAGE: an option is out of range. */
perfile_status pf_generate(const pf_generate_options *options, perfile_sink *sink,
                           perfile_sink *expect, pf_generate_summary *sum, perfile_error *err);

typedef struct pf_matrix_summary {
    size_t files;          /* captures; each has a dump beside it */
    size_t items, covered; /* what the tables have, and how much of it the captures have */
} pf_matrix_summary;

/* Writes small captures into `folder` (PERFILE_SINK_FOLDER), each named for what it has:
 * record-MMAP2.file.little.data; beside each a dump, record-MMAP2.file.little.jsonl.  Finishes the
 * folder on success.  Calls missed() for everything in the tables that no capture has. */
perfile_status pf_generate_matrix(uint64_t seed, perfile_sink *folder,
                                  void (*missed)(void *user, const char *what), void *user,
                                  pf_matrix_summary *sum, perfile_error *err);

#endif
