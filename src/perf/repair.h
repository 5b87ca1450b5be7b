/* Guessing what a capture no longer says. */
#ifndef PF_PERF_REPAIR_H
#define PF_PERF_REPAIR_H

#include "base/buffer.h"
#include "io/source.h"
#include "perf/header.h"
#include "perfile/stream.h"

/* What was guessed; all zero is nothing. */
enum {
    PF_GUESS_HEADER = 1 << 0,      /* magic or size: form and byte order */
    PF_GUESS_ATTRS = 1 << 1,       /* the attr section was found by its look */
    PF_GUESS_DESC = 1 << 2,        /* events of feature EVENT_DESC */
    PF_GUESS_HEADER_ATTR = 1 << 3, /* events of HEADER_ATTR records */
    PF_GUESS_IDS = 1 << 4,         /* ids of an ID_INDEX record for events that were given */
    PF_GUESS_START = 1 << 5,       /* where the records begin */
    PF_GUESS_END = 1 << 6,         /* … and end */
    PF_GUESS_TABLE = 1 << 7,       /* the feature table was found by its look */
    PF_GUESS_NO_FEATURES = 1 << 8, /* which features it has is not known */
    PF_GUESS_SOUND = 1 << 9,       /* events that break rules were put right or left out */
    PF_GUESS_EVENTS = PF_GUESS_ATTRS | PF_GUESS_DESC | PF_GUESS_HEADER_ATTR | PF_GUESS_SOUND
};

typedef struct pf_repair {
    uint32_t guessed;
    bool no_events;        /* those that the file has go with none of its samples */
    bool unsound;          /* they break rules, and there are no others */
    bool no_memory;        /* events were found that could not be kept */
    perfile_assume assume; /* valid while this is */
    pf_buffer events;      /* perfile_assumed_event; offsets in `bytes` until the end */
    pf_buffer bytes;       /* their attrs and ids */
} pf_repair;

/* Looks at the file `source`, which can be asked anywhere, and fills `r` (all zero).  `given` (may
 * be NULL) is known already.  PERFILE_E_CORRUPT: nothing in it looks like a capture. */
perfile_status pf_perf_repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                              perfile_error *err);

void pf_repair_free(pf_repair *r);

/* perf/repair_events.c: events by their look.  Each fills `r` with those it finds. */

/* Bytes of an attr at the beginning of `b`, 0 when it does not look like one. */
size_t pf_attr_look(perfile_bytes b, bool swap);

/* Whether an entry of the attr section is not plainly wrong. */
bool pf_attr_sane(perfile_bytes entry, bool swap);

/* Searches the entries of the attr section; *end is behind the last. */
bool pf_repair_find_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t *end);
bool pf_repair_find_desc(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
bool pf_repair_find_header_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);

/* Gives the given events the ids of an ID_INDEX record, when they are as many. */
bool pf_repair_find_ids(pf_repair *r, perfile_bytes file, bool swap, const perfile_assume *given);

void pf_repair_forget(pf_repair *r);

/* Adds an event, copied; r->assume has those that were added after pf_repair_settle(). */
bool pf_repair_add(pf_repair *r, perfile_bytes attr, perfile_bytes ids);
void pf_repair_settle(pf_repair *r);

/* How well events go with the first samples of a file. */
typedef struct pf_fit {
    unsigned seen; /* samples that were looked at … */
    unsigned fit;  /* … and those that the events fit */
} pf_fit;

/* `assume` may be NULL: those that the file has. */
perfile_status pf_repair_fit(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                             perfile_error *err);

#endif
