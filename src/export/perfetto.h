/* The form `perfetto`: the collected data, and functions shared by the files that write packets. */
#ifndef PF_EXPORT_PERFETTO_H
#define PF_EXPORT_PERFETTO_H

#include "export/export.h"
#include "perfetto.pb-c.h"

/* A switch of a CPU from one thread to another. */
typedef struct pf_exchange {
    uint64_t time, sequence;
    const char *prev_comm, *next_comm; /* texts of the profile; NULL if not known */
    int64_t prev_state;
    uint32_t cpu, prev_tid, next_tid;
    int32_t prev_prio, next_prio;
    bool traced;    /* by sched:sched_switch, which has priorities */
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
    const char *name; /* text of the profile, or NULL */
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
    size_t n_labels; /* labels with an event in `timebases` */
} pf_perfetto;

/* Packets. */

enum {
    PF_PERFETTO_OTHERS = 1,      /* trusted_packet_sequence_id of packets without an event */
    PF_PERFETTO_FIRST_EVENT = 2, /* sequence of the first event */
    PF_PERFETTO_REALTIME = 1,    /* clock_id */
    PF_PERFETTO_BOOTTIME = 6
};

typedef PfPerfetto__TracePacket pf_perfetto_packet;

typedef struct pf_perfetto_writer {
    pf_perfetto *p;
    uint32_t sequence; /* of the packets that are being written */
    bool first;        /* the next packet is the first of its sequence */
    /* For each item, the last sequence that has it. */
    uint32_t *stacks, *frames, *names, *objects;
    pf_buffer ids, text, other;
} pf_perfetto_writer;

/* Writes a packet of the current sequence. */
perfile_status pf_perfetto_put(pf_perfetto_writer *w, pf_perfetto_packet *one, perfile_error *err);

/* Converts a name of a capture to UTF-8 in `out`.  Returns NULL when out of memory. */
char *pf_perfetto_clean(const char *name, size_t most, pf_buffer *out);

/* Sets the time of a packet; *untimed as for pf_tracks_time(). */
void pf_perfetto_set_time(const pf_perfetto_writer *w, pf_perfetto_packet *one, uint64_t time,
                          uint64_t *untimed);

/* Writes all samples, with everything they refer to. */
perfile_status pf_perfetto_put_samples(pf_perfetto_writer *w, perfile_error *err);

/* Makes room for one more item of a list.  Returns false when out of memory or over the limit. */
bool pf_perfetto_reserve(pf_perfetto *p, void **list, size_t n, size_t *cap, size_t width);

/* Store the switch in a sample, and in another record.  Return false when out of memory or over the
 * limit. */
bool pf_perfetto_take_switch(pf_perfetto *p, const pf_profiled *sample);
bool pf_perfetto_note_switch(pf_perfetto *p, const pf_profiled *about);

/* Sorts the switches of all captures, after the tracks are sorted.  Returns false when out of
 * memory or over the limit. */
bool pf_perfetto_order_switches(pf_perfetto *p);

/* Writes the switches. */
perfile_status pf_perfetto_put_switches(pf_perfetto_writer *w, perfile_error *err);

#endif
