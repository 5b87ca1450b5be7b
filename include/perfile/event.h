/* Events: what was counted, and the layout of its records. */
#ifndef PERFILE_EVENT_H
#define PERFILE_EVENT_H

#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a fact came from. */
enum {
    PERFILE_ORIGIN_CONTAINER = 0, /* header, section or table of the file */
    PERFILE_ORIGIN_STREAM = 1,    /* a record of the stream */
    PERFILE_ORIGIN_DERIVED = 2    /* worked out from other facts */
};

/* An event.  It does not change, except that a later record of the stream may name it. */
struct perfile_event {
    uint32_t index;       /* in order of appearance, from 0 */
    uint16_t origin;      /* PERFILE_ORIGIN_… */
    uint16_t name_origin; /* of the name */
    uint64_t offset;      /* of the attr in the file */
    perfile_bytes stored; /* the attr as stored, including a tail that this version does not know */
    const perfile_attr *attr;     /* in native numbers; flags numbered as in a little-endian file */
    perfile_words ids;            /* may be none */
    const char *name;             /* "cycles:u", "sched:sched_switch" …; never NULL */
    const char *unit;             /* from EVENT_UPDATE, or NULL */
    double scale;                 /* from EVENT_UPDATE, else 1 */
    uint32_t group_leader;        /* index of the leader, own index when alone or unknown */
    uint32_t damage;              /* PERFILE_DAMAGE_BAD_ATTR_SIZE when its size was impossible */
    uint32_t ids_damage;          /* PERFILE_DAMAGE_BAD_IDS when its ids are outside the file */
    const perfile_layout *layout; /* how its records are decoded */
    const perfile_cpu_map_data *cpus; /* CPUs of its PMU, from EVENT_UPDATE, or NULL */
};

/* The parts of an attr that decide the layout of records, and values derived from them. */
struct perfile_layout {
    uint64_t sample_type;        /* of the attr: bits of PERFILE_SAMPLE_… */
    uint64_t read_format;        /* of the attr: bits of PERFILE_FORMAT_… */
    uint64_t branch_sample_type; /* of the attr: bits of PERFILE_BRANCH_… */
    uint64_t sample_regs_user;   /* of the attr: a bit for each register */
    uint64_t sample_regs_intr;   /* of the attr: a bit for each register */
    bool sample_id_all;          /* of the attr: kernel records have a trailer */
    uint8_t trailer_size;        /* bytes of sample_id at the end of kernel records, 0 without */
    uint8_t trailer_slots;       /* the same in words */
    int8_t sample_slot[64];  /* per bit of sample_type: word in the body of a SAMPLE, -1: not at a
                                fixed place */
    int8_t trailer_slot[64]; /* per bit: word from the end of the record (1 is the last), -1 */
    uint64_t reserved[6];
};

#ifndef PERFILE_DECLARATIONS
/* Finds how many events a SAMPLE represents: its own period, else the fixed one of its event.
 * Returns false if neither is known. */
static inline bool perfile_sample_period(const perfile_record *r, uint64_t *period)
{
    const perfile_event *e;
    if (perfile_sample_field(r, PERFILE_SAMPLE_PERIOD, period))
        return true;
    e = r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF
            ? perfile_record_event(r)
            : NULL;
    if (!e || e->attr->is_freq)
        return false;
    *period = e->attr->sample_period;
    return true;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
