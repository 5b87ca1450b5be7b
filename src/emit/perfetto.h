/* The form `perfetto`: what its parts share.
 *
 * perfetto.c gathers, perfetto_write.c writes. */
#ifndef PF_EMIT_PERFETTO_H
#define PF_EMIT_PERFETTO_H

#include "emit/shown.h"
#include "emit/tracks.h"

/* A processor went from one thread to another. */
typedef struct pf_exchange {
    uint64_t time, sequence;
    const char *prev_comm, *next_comm; /* of the profile's texts; NULL: not known */
    int64_t prev_state;
    uint32_t cpu, prev_tid, next_tid;
    int32_t prev_prio, next_prio;
    bool traced;    /* by sched:sched_switch, which knows priorities */
    uint8_t source; /* PF_SWITCHES_… */
    uint32_t input; /* pf_exporter.n_inputs of the capture */
} pf_exchange;

/* Records that the kernel could not write. */
typedef struct pf_loss {
    uint64_t time, count;
    uint32_t cpu;
} pf_loss;

/* An event.  The key is its name. */
typedef struct pf_timebase {
    const char *name; /* of the profile's texts, or NULL */
    uint64_t config, period;
    uint32_t type;
    bool is_freq;
} pf_timebase;

typedef struct pf_perfetto {
    pf_exporter x;
    pf_tracks tracks;
    pf_shown shown;
    pf_intern timebases; /* pf_timebase */
    pf_exchange *exchanges;
    size_t n_exchanges, cap_exchanges;
    pf_loss *losses;
    size_t n_losses, cap_losses;
    size_t n_labels; /* those whose event is in `timebases` */
} pf_perfetto;

/* Writes all of it, sorted. */
perfile_status pf_perfetto_write(pf_perfetto *p, perfile_error *err);

#endif
