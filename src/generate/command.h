/* Makes captures from nothing: every record type, feature and field that the tables know, with
 * values from a seed.  The exact dump of the capture can be written beside it, from what was meant,
 * not by decoding the capture. */
#ifndef PF_GENERATE_COMMAND_H
#define PF_GENERATE_COMMAND_H

#include "perfile/copy.h"
#include "perfile/sink.h"
#include "perfile/source.h"
#include "perfile/writer.h"

/* pf_generate_options.form, besides PERFILE_FORM_…: a directory, which needs a sink of
 * perfile_sink_directory(). */
#define PF_GENERATE_DIRECTORY 100U
/* A file of version 1, as perf up to 3.6 wrote: its magic is PERFFILE, and it has event types. */
#define PF_GENERATE_VERSION_1 101U
/* A file of simpleperf: with its own records and features, too. */
#define PF_GENERATE_SIMPLEPERF 102U

/* pf_generate_options.oddity: what the format can hold, but no kernel writes. */
enum {
    PF_GENERATE_EMPTY_GROUPS = 1, /* groups without counters */
    PF_GENERATE_BARE_TRACEPOINTS  /* all events are tracepoints, and samples have no RAW data */
};

enum { PF_GENERATE_MOST_EVENTS = 64, PF_GENERATE_MOST_ROUNDS = 100000 };

/* A description of a capture as text: its events, records and features. */
typedef struct pf_spec pf_spec;

/* Reads a description; see `perfile generate --help`.  The caller calls pf_spec_free().
 * PERFILE_E_USAGE, PERFILE_E_LIMIT with err->where "spec": a line is wrong, and the message names
 * it. */
perfile_status pf_spec_read(perfile_source *from, pf_spec **spec, perfile_error *err);
void pf_spec_free(pf_spec *spec); /* may be NULL */
/* pf_spec_kind(): what a description is, by its first byte. */
enum {
    PF_SPEC_TEXT,
    PF_SPEC_CBOR, /* of `perfile dump --format cbor`: pf_generate_dumped() */
    PF_SPEC_JSON
};
perfile_status pf_spec_kind(perfile_source *from, unsigned *kind, perfile_error *err);

/* Writes the capture of a dump in CBOR to `sink`, and finishes it.  note() is called for what the
 * dump does not have, and may be NULL.  Errors have the offset in the dump. */
perfile_status pf_generate_dumped(perfile_source *from,
                                  void (*note)(void *user, const perfile_note *note), void *user,
                                  perfile_sink *sink, perfile_error *err);

/* Returns the form that the description asks for; 0 if it says none. */
uint32_t pf_spec_form(const pf_spec *spec);
/* Returns how many records the statements of the description ask for. */
uint64_t pf_spec_records(const pf_spec *spec);

/* 0 in a member that has no other meaning of it: as `spec` says, or the default. */
typedef struct pf_generate_options {
    uint32_t oddity;     /* PF_GENERATE_EMPTY_GROUPS, _BARE_TRACEPOINTS; 0: none */
    uint64_t seed;       /* 0: 1 */
    uint32_t form;       /* PERFILE_FORM_FILE, _PIPE, PF_GENERATE_…; 0: a file */
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_…; 0: little-endian */
    uint32_t attr_size;  /* bytes of attrs; 0: those of the newest kernel of the form */
    uint32_t n_events;   /* 1 to PF_GENERATE_MOST_EVENTS; 0: 3, or as many as are described */
    uint32_t rounds;     /* records of each type, 1 to PF_GENERATE_MOST_ROUNDS; 0: 3 */
    uint32_t compress, compress2; /* zstd level of COMPRESSED, or COMPRESSED2, records; 0: none */
    uint32_t type;                /* records of this type only; 0: of all types */
    uint32_t feature;             /* this feature only; 0: all of them, UINT32_MAX: none */
    uint64_t fields;              /* sample_type of all events; 0: any */
    bool has_read_format;
    uint32_t read_format;       /* of all events, with has_read_format */
    struct pf_covered *covered; /* gets what the capture has; may be NULL */
    const pf_spec *spec;        /* may be NULL */
} pf_generate_options;

typedef struct pf_generate_summary {
    uint64_t records, features, events;
    uint32_t n_left_out;       /* types and features that could not be made … */
    const char *left_out[128]; /* … and their names */
} pf_generate_summary;

/* Writes a capture to `sink`, and what `perfile dump --format jsonl` shows of it to `expect` (may
 * be NULL).  Both are finished on success, and stay the caller's.  The same options give the same
 * bytes on every machine; compressed ones with the same version of zstd.  PERFILE_E_USAGE: an
 * option is out of range; with err->where "spec": no capture can be as it is described. */
perfile_status pf_generate(const pf_generate_options *options, perfile_sink *sink,
                           perfile_sink *expect, pf_generate_summary *sum, perfile_error *err);

typedef struct pf_matrix_summary {
    size_t files;          /* captures; each has a dump beside it */
    size_t items, covered; /* what the tables have, and how much of it the captures have */
} pf_matrix_summary;

/* Writes small captures into `folder` (PERFILE_SINK_FOLDER), each named for what it has:
 * record-MMAP2.file.little.data (a directory as archive, .dir.little.perfile); beside each a dump,
 * record-MMAP2.file.little.jsonl.  Finishes the folder on success.  Calls missed() for everything
 * in the tables that no capture has. */
perfile_status pf_generate_matrix(uint64_t seed, perfile_sink *folder,
                                  void (*missed)(void *user, const char *what), void *user,
                                  pf_matrix_summary *sum, perfile_error *err);

#endif
