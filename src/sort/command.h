/* What the command says about a merge: clocks, ids, pids, inputs. */
#ifndef PF_SORT_COMMAND_H
#define PF_SORT_COMMAND_H

#include "perfile/merge.h"
#include "perfile/sort.h"

/* Returns the name of a note kind, "joined" …; "" for other numbers. */
const char *pf_merge_note_name(uint32_t kind);

enum {                               /* pf_merge_input_summary.clock: how its offset was found */
       PF_MERGE_CLOCK_FIRST = 0,     /* the first input defines the clock */
       PF_MERGE_CLOCK_GIVEN = 1,     /* the caller gave an offset */
       PF_MERGE_CLOCK_ALIGNED = 2,   /* PERFILE_MERGE_ALIGN_START */
       PF_MERGE_CLOCK_RECORDING = 3, /* part or copy of the recording of an earlier input */
       PF_MERGE_CLOCK_BOOT = 4,      /* same clock, same boot of the same machine */
       PF_MERGE_CLOCK_WALL = 5,      /* by feature CLOCK_DATA of both */
       PF_MERGE_CLOCK_GLOBAL = 6,    /* both use CLOCK_REALTIME, or both CLOCK_TAI */
       PF_MERGE_CLOCK_NONE = 7       /* it has no times */
};

/* The result for an input. */
typedef struct pf_merge_input_summary {
    uint64_t records; /* yielded */
    uint64_t samples; /* SAMPLE records among them */
    int64_t offset;   /* ns that were added to its times */
    uint32_t clock;   /* PERFILE_MERGE_CLOCK_… */
    uint32_t host;    /* from 0: inputs of one machine have the same */
    uint32_t part_of; /* position of the first input of the same recording, possibly its own */
    uint32_t boot;    /* from 0: inputs of one boot of one machine have the same */
    uint64_t reserved[4];
} pf_merge_input_summary;

/* Returns the name of a PERFILE_MERGE_CLOCK_…, "same boot" …; "" for other numbers. */
const char *pf_merge_clock_name(uint32_t clock);

/* Fills the first `size` bytes of *out for input `position`; zeros if there is none. */
void pf_merge_get_input_summary(const perfile_stream *stream, size_t position,
                                pf_merge_input_summary *out, size_t size);

/* An id of an input, and its id in the output, which may be the same. */
typedef struct pf_merge_id_pair {
    uint64_t id;     /* in the input */
    uint64_t new_id; /* in the output */
    uint32_t event;  /* in the output */
    uint32_t reserved;
} pf_merge_id_pair;

/* Gets the `k`-th id of the events of input `position`; returns false if there is none. */
bool pf_merge_get_id(const perfile_stream *stream, size_t position, size_t k, pf_merge_id_pair *out,
                     size_t size);

/* Gets the least pid or tid above `after` (UINT32_MAX: the first) of input `position` that was
 * renumbered; returns false if there are no more. */
bool pf_merge_get_pid(const perfile_stream *stream, size_t position, uint32_t after, uint32_t *pid,
                      uint32_t *new_pid);

/* perfile_sort_get_summary(), perfile_merge_get_summary(). */
void pf_sort_get_summary(const perfile_stream *stream, perfile_sort_summary *out, size_t size);
void pf_merge_get_summary(const perfile_stream *stream, perfile_merge_summary *out, size_t size);

#endif
