/* The inside of perfile_writer: a capture of form FILE or PIPE on its way into a sink. */
#ifndef PF_PERF_WRITE_H
#define PF_PERF_WRITE_H

#include "base/buffer.h"
#include "perf/header.h"
#include "perfile/abi.h"
#include "perfile/writer.h"

typedef struct pf_written_event {
    size_t attr; /* where in pf writer's `facts` its bytes are … */
    size_t attr_len;
    size_t ids;
    size_t ids_len;
} pf_written_event;

typedef struct pf_written_feature {
    bool there;
    size_t at; /* of the payload in `facts` */
    size_t len;
} pf_written_feature;

struct perfile_writer {
    perfile_sink *sink;
    uint32_t form;
    bool swap;
    bool begun; /* the first record came: what stands before it is written */
    bool finished;
    pf_buffer facts;  /* attrs, ids, payloads */
    pf_buffer events; /* pf_written_event */
    uint32_t n_events;
    pf_buffer event_types; /* their section, as stored */
    pf_written_feature features[PERFILE_N_FEATURES];
    pf_buffer aux_index; /* offset and size of each AUXTRACE record, as stored */
    uint64_t extra_left; /* bytes behind the last record that are still to come */

    uint64_t entry_size; /* of the attrs section */
    perfile_section attrs;
    perfile_section types;
    uint64_t data_start;
    uint64_t data_bytes;

    /* Adjacent records that stay where they are, not written yet. */
    perfile_bytes span;
};

/* perf/write_layout.c: what stands before the records, what stands behind them, and the header. */
perfile_status pf_write_front(perfile_writer *w, perfile_error *err);
perfile_status pf_write_back(perfile_writer *w, perfile_error *err);

#endif
