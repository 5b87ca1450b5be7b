/* A description of a capture as text, one statement a line; `perfile generate --help` shows one.
 *
 * Says how the capture is stored (`to pipe`, `byte-order big`), and which events, records and
 * features it has, in order.  What no statement says comes from the seed. */
#ifndef PF_GENERATE_SPEC_H
#define PF_GENERATE_SPEC_H

#include "generate/command.h"
#include "generate/given.h"

enum {
    PF_SPEC_ANY = -1,    /* no value is given */
    PF_SPEC_MOST_IDS = 8 /* ids of an event */
};

/* An event, or records of one type, or a feature. */
typedef struct pf_spec_item {
    uint32_t line;
    bool is_record;
    const pf_row *row; /* NULL: an event */
    const pf_row_shape *shape;
    uint32_t count; /* of records */
    int32_t attr;   /* the event of records, or PF_SPEC_ANY */
    int32_t misc;   /* of records, or PF_SPEC_ANY */
    uint64_t ids[PF_SPEC_MOST_IDS];
    uint32_t n_ids; /* of an event; 0: any two */
    pf_given given;
} pf_spec_item;

typedef struct pf_spec_list {
    pf_spec_item *at;
    uint32_t n, room;
    bool said; /* the capture has these and no others */
} pf_spec_list;

struct pf_spec {
    pf_generate_options said; /* members are 0 if nothing is said */
    pf_spec_list events, records, features;
    uint64_t n_records;
    pf_arena arena;
};

#endif
