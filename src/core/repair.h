/* Repair: what a driver offers for rescuing damaged captures of its format
 * (perfile_recover_capture()).  It guesses what the header no longer says (byte order, events,
 * where records begin and end), and tries events on the records to see whether they fit. */
#ifndef PF_CORE_REPAIR_H
#define PF_CORE_REPAIR_H

#include "base/buffer.h"
#include "io/source.h"
#include "perfile/stream.h"

/* pf_repair.guessed: what was guessed. */
enum {
    PF_GUESS_HEADER = 1 << 0, /* magic or size: form and byte order */
    PF_GUESS_ATTRS = 1 << 1, /* the attr section was found by searching for what looks like attrs */
    PF_GUESS_DESC = 1 << 2,  /* events of feature EVENT_DESC */
    PF_GUESS_HEADER_ATTR = 1 << 3, /* events of HEADER_ATTR records */
    PF_GUESS_IDS = 1 << 4,         /* ids of an ID_INDEX record for events that were given */
    PF_GUESS_START = 1 << 5,       /* where the records begin */
    PF_GUESS_END = 1 << 6,         /* … and end */
    PF_GUESS_TABLE = 1 << 7, /* the feature table was found by searching for what looks like one */
    PF_GUESS_NO_FEATURES = 1 << 8, /* it is not known which features the capture has */
    PF_GUESS_SOUND = 1 << 9,       /* events that break rules were corrected or left out */
    PF_GUESS_EVENTS = PF_GUESS_ATTRS | PF_GUESS_DESC | PF_GUESS_HEADER_ATTR | PF_GUESS_SOUND
};

typedef struct pf_repair {
    uint32_t guessed;      /* PF_GUESS_… */
    bool no_events;        /* the events of the file fit none of its samples */
    bool unsound;          /* the events break rules, and no others were found */
    bool no_memory;        /* events were found but could not be kept */
    perfile_assume assume; /* the result; borrows from the two buffers */
    pf_buffer
        events; /* array of perfile_assumed_event, without pointers before pf_repair_resolve() */
    pf_buffer bytes; /* attrs and ids of the events, one after the other */
} pf_repair;

/* Frees everything; or only drops the events. */
void pf_repair_free(pf_repair *r);
void pf_repair_clear(pf_repair *r);

/* Adds a copy of an event; false if there is no memory.  pf_repair_resolve() then puts all of them
 * into r->assume. */
bool pf_repair_add(pf_repair *r, perfile_bytes attr, perfile_bytes ids);
void pf_repair_resolve(pf_repair *r);

/* How well events fit the first samples of a file. */
typedef struct pf_fit {
    unsigned seen; /* samples that were examined */
    unsigned fit;  /* how many of them the events fit */
} pf_fit;

typedef struct pf_repair_ops {
    /* Examines the file `source`, which can be read at any offset, and fills `r` (all zero).
     * `given` (may be NULL) is what the caller knows already.  PERFILE_E_CORRUPT: nothing in the
     * file looks like a capture. */
    perfile_status (*guess)(perfile_source *source, const perfile_assume *given, pf_repair *r,
                            perfile_error *err);
    /* The rest may be NULL, together: the format has no events, and its records hold no others.
     *
     * Fills `r` with events from a second description in the file, at or after offset `from`;
     * false: none. */
    bool (*find_events)(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
    /* How well `assume` (NULL: the events of the file) fits the first samples. */
    perfile_status (*fit)(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                          perfile_error *err);
    /* True if the sample belongs to a known event and its fields fill it exactly. */
    bool (*sample_fits)(const perfile_record *r);
    /* True if the header of the record is damaged: it contains other complete records, so that its
     * size has become too large, or its type is one that no newer version can have. */
    bool (*swallows)(const perfile_record *r);
    /* Makes a stream of the driver call `believes` before it leaves anything out for the first
     * time. */
    void (*ask_before_gaps)(perfile_stream *s, bool (*believes)(void *user), void *user);
} pf_repair_ops;

#endif
