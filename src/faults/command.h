/* Damages that are made in a capture on purpose, to test readers of captures.
 *
 * The caller has a whole capture in memory.  pf_faults_open() finds every place at which a damage
 * of format/faults.def can be made.  Places of the same damage in the same field of the same type
 * are one group.  pf_faults_make() makes one damage of a group, and only returns it if a rule of
 * the damage has more findings after it than before, so that each damage is one that `perfile
 * validate` reports. */
#ifndef PF_FAULTS_COMMAND_H
#define PF_FAULTS_COMMAND_H

#include "perfile/base.h"
#include "perfile/sink.h"
#include "perfile/source.h"

enum {
    PF_FAULTS_MOST_BYTES = 64 << 20, /* of a capture; format/limits.md */
    PF_FAULTS_NAME = 160             /* size of a buffer for the name of a group */
};

/* A row of format/faults.def. */
typedef struct pf_fault {
    const char *name, *rules, *sentence;
} pf_fault;

/* Returns the row at `position`, or NULL after the last. */
const pf_fault *pf_fault_at(size_t position);

/* Reads all bytes of a source that is one file or pipe, up to PF_FAULTS_MOST_BYTES;
 * pf_faults_free() releases them.  PERFILE_E_LIMIT: there are more.  PERFILE_E_UNSUPPORTED: not a
 * perf.data file or pipe, but a directory or a capture in another format. */
PERFILE_MUST_USE perfile_status pf_faults_read(perfile_source *source, perfile_bytes *bytes,
                                               perfile_error *err);
void pf_faults_free(perfile_bytes bytes);

/* The places of a capture. */
typedef struct pf_faults pf_faults;

/* Finds the places in `bytes`, which are borrowed until pf_faults_close().  The same bytes and the
 * same seed give the same places and damages on every machine.  PERFILE_E_NOMEM.  Captures that
 * cannot be opened have no places. */
PERFILE_MUST_USE perfile_status pf_faults_open(perfile_bytes bytes, uint64_t seed,
                                               pf_faults **faults, perfile_error *err);
void pf_faults_close(pf_faults *faults);

/* Returns the number of groups. */
size_t pf_faults_n(const pf_faults *faults);

/* Returns the position in format/faults.def of the damage that group `group` makes. */
size_t pf_faults_row(const pf_faults *faults, size_t group);

/* Writes "count-too-large.SAMPLE.nr", the name of a group. */
const char *pf_faults_name(const pf_faults *faults, size_t group, char out[PF_FAULTS_NAME]);

/* A damage that was made. */
typedef struct pf_fault_change {
    const pf_fault *fault;
    const char *how;   /* "set", "flip", "cut", "double", "swap", "fill" or "append" */
    const char *place; /* "header", "attr", the name of the record's type or of the feature */
    const char *field; /* name of the field, or what is hit instead of one: "record" */
    const char *rule;  /* id of the rule that reports it, "V-303" */
    uint64_t index;    /* of the record in the stream, of the attr, or the number of the feature;
                        * UINT64_MAX for the header */
    uint32_t type;     /* of the record; UINT32_MAX if no record is hit */
    uint64_t offset;   /* of the first changed byte in the capture */
    uint64_t bytes;    /* bytes that were changed, inserted or cut off */
    bool has_values;   /* `before` and `after` are valid: numbers of the field, or of the byte in
                        * which a bit was flipped */
    uint64_t before, after;
} pf_fault_change;

/* Makes a damage of group `group`.  *bytes is a new capture, which pf_faults_free() releases.
 * PERFILE_END: no rule reports the damage at any of the places that were tried, so none is made.
 * PERFILE_E_NOMEM. */
PERFILE_MUST_USE perfile_status pf_faults_make(const pf_faults *faults, size_t group,
                                               pf_fault_change *change, perfile_bytes *bytes,
                                               perfile_error *err);

/* Makes a damage of that row in a place that the seed chooses among all groups; otherwise like
 * pf_faults_make(). */
PERFILE_MUST_USE perfile_status pf_faults_make_any(const pf_faults *faults, size_t row,
                                                   pf_fault_change *change, perfile_bytes *bytes,
                                                   perfile_error *err);

/* Sets *fires to whether that rule has more findings in `bytes` than in the capture of `faults`.
 * PERFILE_E_NOMEM. */
PERFILE_MUST_USE perfile_status pf_faults_fires(const pf_faults *faults, const char *rule,
                                                perfile_bytes bytes, bool *fires,
                                                perfile_error *err);

/* Writes a file into a folder, which is a sink with PERFILE_SINK_FOLDER. */
PERFILE_MUST_USE perfile_status pf_faults_put(perfile_sink *folder, const char *name,
                                              perfile_bytes bytes, perfile_error *err);

#endif
