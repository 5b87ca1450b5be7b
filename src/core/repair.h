/* What a driver offers to those who rescue captures of its format: what the bytes no longer say is
 * guessed, and events are tried on the records. */
#ifndef PF_CORE_REPAIR_H
#define PF_CORE_REPAIR_H

#include "base/buffer.h"
#include "io/source.h"
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

void pf_repair_free(pf_repair *r);
void pf_repair_forget(pf_repair *r);

/* Adds an event, copied; r->assume has those that were added after pf_repair_settle(). */
bool pf_repair_add(pf_repair *r, perfile_bytes attr, perfile_bytes ids);
void pf_repair_settle(pf_repair *r);

/* How well events go with the first samples of a file. */
typedef struct pf_fit {
    unsigned seen; /* samples that were looked at … */
    unsigned fit;  /* … and those that the events fit */
} pf_fit;

typedef struct pf_repair_ops {
    /* Looks at the file `source`, which can be asked anywhere, and fills `r` (all zero).  `given`
     * (may be NULL) is known already.  PERFILE_E_CORRUPT: nothing in it looks like a capture. */
    perfile_status (*guess)(perfile_source *source, const perfile_assume *given, pf_repair *r,
                            perfile_error *err);
    /* Fills `r` with the events that the file describes once more in another place; false: none. */
    bool (*find_events)(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
    /* How well `assume` (NULL: what the file says) goes with its first samples. */
    perfile_status (*fit)(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                          perfile_error *err);
    /* Whether a sample is of an event that is known, and fits it. */
    bool (*sample_fits)(const perfile_record *r);
    /* Whether a record holds others, which its size was damaged to swallow. */
    bool (*swallows)(const perfile_record *r);
    /* Lets a stream of the driver ask whether the capture is sound before it leaves anything out.
     */
    void (*ask_before_gaps)(perfile_stream *s, bool (*believes)(void *user), void *user);
} pf_repair_ops;

#endif
