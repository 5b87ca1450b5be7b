/* Parts of sessions, streams and writers that only the program itself needs. */
#ifndef PF_CORE_COMMAND_H
#define PF_CORE_COMMAND_H

#include "perfile/catalogue.h"
#include "perfile/record.h"
#include "perfile/session.h"
#include "perfile/stream.h"
#include "perfile/writer.h"

/* Returns the layout that decodes the record: that of its event, or the one that all events share
 * if the id is unknown.  NULL if there is none.  *damage (`damage` may be NULL) becomes
 * PERFILE_DAMAGE_NO_ATTR or UNKNOWN_ID if a SAMPLE, READ or trailer cannot be decoded without a
 * layout, else 0. */
const perfile_layout *pf_record_layout(const perfile_record *r, uint32_t *damage);

/* One of the counters that an event was opened as, identified by its id.  ID_INDEX records describe
 * them. */
typedef struct pf_instance {
    uint64_t id;          /* as samples have it */
    uint64_t buffer;      /* its ring buffer */
    uint64_t cpu;         /* CPU it counts on; UINT64_MAX: any */
    uint64_t tid;         /* thread it counts; UINT64_MAX: any */
    uint64_t machine_pid; /* process of its virtual machine; 0: the host */
    uint64_t vcpu;        /* virtual CPU of that machine */
} pf_instance;
/* Returns false if nothing is known about that id (yet).  If several records describe it, the first
 * counts. */
bool pf_session_instance(const perfile_session *s, uint64_t id, pf_instance *out, size_t size);

/* Names of events in files of perf up to 3.11. */
typedef struct pf_event_type {
    uint64_t event_id;  /* attr.config */
    perfile_bytes name; /* valid as long as the session */
    uint64_t reserved[1];
} pf_event_type;
uint32_t pf_session_n_event_types(const perfile_session *s);
const pf_event_type *pf_session_event_type(const perfile_session *s, uint32_t position);

/* What perfile_row() and perfile_summary() ask of this room. */
const perfile_struct *pf_struct_at(size_t position);
void pf_writer_get_summary(const perfile_writer *w, perfile_writer_summary *out, size_t size);

/* Returns the name of the PMU with this attr.type number (PMU_MAPPINGS); NULL when unknown. */
const char *pf_session_pmu_name(const perfile_session *s, uint32_t pmu_type);

/* Samples that pf_stream_pass() skipped. */
typedef struct pf_passed {
    uint64_t samples, bytes; /* count, and bytes as stored */
    uint64_t offset;         /* of the first sample */
    uint32_t part;           /* position in perfile_container.parts */
    uint32_t reserved0;
    uint64_t reserved[2];
} pf_passed;

/* Skips the samples that come next without decoding them, if the capture is in an archive that has
 * an index with their counts.  For callers that need only the counts.  Fills the first `size` bytes
 * of *passed.  If `samples` is 0, fetch one record with perfile_stream_next(), then call this
 * again. */
void pf_stream_pass(perfile_stream *s, pf_passed *passed, size_t size);

/* The number of samples of one event in a chunk. */
typedef struct pf_described_event {
    uint64_t index;   /* perfile_event.index */
    uint64_t samples; /* count */
} pf_described_event;

/* What the index of an archive says about the samples of one chunk. */
typedef struct pf_described {
    uint64_t samples, sample_bytes;   /* count, and bytes as stored */
    uint64_t first_time, last_time;   /* least and greatest, 0 too; PERFILE_NO_TIME: not known */
    const pf_described_event *events; /* samples that belong to no event are in no item */
    const uint32_t *pids;             /* pids that occur, ascending; NULL: not known */
    const uint32_t *tids;             /* likewise */
    const uint32_t *cpus;             /* likewise */
    uint32_t n_events, n_pids, n_tids, n_cpus; /* items of the four arrays */
    uint64_t reserved[4];
} pf_described;

/* Lets the caller skip samples by their description.  Before the samples of a chunk are decoded,
 * `enough` is called with their description, if the chunk holds no other data.  If it returns true,
 * the samples are skipped and count as read.  Side-band records are always read.  *d is valid
 * during the call only.  Call this function before the first record is read.  Returns false if
 * nothing will be described, as for every input that is not an archive. */
bool pf_stream_describe(perfile_stream *s, bool (*enough)(void *user, const pf_described *d),
                        void *user);

enum {                           /* pf_stream_sorted_by() */
       PF_SORTED_BY_NOTHING = 0, /* stored order, or the order that a stage makes */
       PF_SORTED_BY_TIME = 1     /* the order of perfile_sort(), with all parts as one sequence */
};

/* Returns the order of the records of `s`. perfile_sort() and perfile_merge() set it; stages that
 * drop or change records keep it. */
uint32_t pf_stream_sorted_by(const perfile_stream *s);

/* The name of the input in messages: path, "-", or the name of its source.  Valid as long as
 * `s`. */
const char *pf_stream_name(const perfile_stream *s);

/* perfile_family_at(), perfile_record_type_at(), perfile_feature_type_at(). */
bool pf_family_at(size_t position, perfile_family *out, size_t size);
bool pf_record_type_at(uint32_t family, size_t position, perfile_record_type *out, size_t size);
bool pf_feature_type_at(size_t position, perfile_feature_type *out, size_t size);

/* Adds an entry to the event_types section, which perf up to 3.11 wrote.  Form FILE only.  In the
 * form PIPE it is a record: perfile_writer_put_header_event_type(). */
PERFILE_MUST_USE perfile_status pf_writer_event_type(perfile_writer *w, uint64_t event_id,
                                                     perfile_bytes name, perfile_error *err);

/* Makes the file one of version 1 (magic PERFFILE), as perf up to 3.6 wrote.  Form FILE only,
 * before the records. */
PERFILE_MUST_USE perfile_status pf_writer_version_1(perfile_writer *w, perfile_error *err);

/* perfile_stream_get_summary(). */
void pf_stream_get_summary(const perfile_stream *s, perfile_stream_summary *out, size_t size);

/* The numbers of perfile_session_number(). */
uint32_t pf_session_n_events(const perfile_session *s);
uint32_t pf_session_n_features(const perfile_session *s);
uint32_t pf_session_n_build_ids(const perfile_session *s);
uint32_t pf_session_n_cpus(const perfile_session *s);
uint32_t pf_session_byte_order(const perfile_session *s);
bool pf_session_swapped(const perfile_session *s);
uint64_t pf_session_generation(const perfile_session *s);

#endif
