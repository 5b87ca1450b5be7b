/* Packets of the form `perfetto`: what those who write them share. */
#ifndef PF_EMIT_PERFETTO_PACKET_H
#define PF_EMIT_PERFETTO_PACKET_H

#include "emit/perfetto.h"
#include "perfetto.pb-c.h"

enum {
    PF_PERFETTO_OTHERS = 1,      /* trusted_packet_sequence_id of what is of no event */
    PF_PERFETTO_FIRST_EVENT = 2, /* of the first event */
    PF_PERFETTO_REALTIME = 1,    /* clock_id */
    PF_PERFETTO_BOOTTIME = 6
};

typedef PfPerfetto__TracePacket pf_perfetto_packet;

typedef struct pf_perfetto_writer {
    pf_perfetto *p;
    uint32_t sequence; /* of the packets that are being written */
    bool first;        /* the next packet is the first of it */
    /* The sequence in which each of them was written last. */
    uint32_t *stacks, *frames, *names, *objects;
    pf_buffer ids, text, other;
} pf_perfetto_writer;

/* Writes a packet of the present sequence. */
perfile_status pf_perfetto_put(pf_perfetto_writer *w, pf_perfetto_packet *one, perfile_error *err);

/* A name of a capture as UTF-8 in `out`; NULL if there is no memory. */
char *pf_perfetto_clean(const char *name, size_t most, pf_buffer *out);

/* The time of a packet; *untimed as for pf_tracks_time(). */
void pf_perfetto_set_time(const pf_perfetto_writer *w, pf_perfetto_packet *one, uint64_t time,
                          uint64_t *untimed);

/* Writes all samples, with what they refer to. */
perfile_status pf_perfetto_put_samples(pf_perfetto_writer *w, perfile_error *err);

#endif
