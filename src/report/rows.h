/* Samples counted by where they were: self and total of each file, function, thread … (the rows of
 * perfile/profile.h). */
#ifndef PF_PROFILE_ROWS_H
#define PF_PROFILE_ROWS_H

#include <regex.h>

#include "perfile/profile.h"
#include "profile/profile.h"

/* A place: what the keys of rows need of a frame.  Its key is everything before `symbol`.  A
 * function is identified by its file and start, because several may have the same name.  If
 * captures are compared it is identified by its name, because they may be of two builds. */
typedef struct pf_report_place {
    const char *dso;      /* of the profile's texts; NULL: not asked for, or nothing is mapped */
    const char *source;   /* likewise; NULL: also if it is not known */
    const char *module;   /* likewise: the file of the function, if functions are asked for */
    const char *function; /* likewise: its name; NULL: also if it is not known */
    uint64_t start;       /* offset in the module at which it begins; else of the frame */
    uint32_t code;        /* PF_CODE_… if one of them is asked for */
    uint32_t no_frame;    /* 1: the place of samples without an address */
    const char *symbol;   /* what it is called; NULL: not asked for */
} pf_report_place;

/* What is counted for a row, and for a node of its call tree. */
typedef struct pf_figures {
    uint64_t samples, period, total_samples, total_period; /* periods up to UINT64_MAX */
} pf_figures;

/* A row.  Its key is everything before `at`. */
typedef struct pf_row {
    const char *parent; /* of the profile's texts; NULL: none, or not asked for */
    uint32_t label;     /* in pf_rows.labels: what is asked for of the labels of its samples */
    uint32_t place;     /* in pf_rows.places */
    pf_figures at[PF_N_TIMES]; /* PF_NOW, PF_BEFORE */
    const char *event;         /* of all its samples, unless `mixed` */
    uint64_t enabled, running; /* of counters, and … */
    uint32_t unit;             /* … in pf_counting.units */
    uint32_t marked;           /* number + 1 of the last sum that was added to its total */
    bool mixed;                /* perfile_profile_row.mixed */
} pf_row;

/* Which frame of a stack counts if only the callers or callees of a function are counted. */
enum { PF_AROUND_NOTHING = 0, PF_AROUND_CALLERS, PF_AROUND_CALLEES };

typedef struct pf_rows {
    pf_profile *profile;
    pf_intern labels, places, rows;
    uint32_t *place_of;   /* of each frame */
    uint32_t *label_of;   /* of each label of the profile */
    const char **parents; /* of each stack, if `parent` was given; NULL: none */
    const char **sources; /* of each frame, if asked for; NULL: not known */
    size_t n_sources;
    bool *is_around;  /* of each frame, if `around` is set: it is of that function */
    uint32_t nowhere; /* the place of samples without a frame */
    bool per_dso, per_symbol, per_source;
    bool has_chains;   /* some stack has two frames or more */
    size_t names_most; /* bytes to which longer names were cut; 0: none were */
    /* Set before pf_rows_make(): */
    bool joins_unnamed, joins_unmapped; /* as in pf_resolver */
    bool compares;                      /* sums of PF_NOW and PF_BEFORE have the same rows */
    unsigned around;                    /* PF_AROUND_… */
    const char *function;               /* of which the callers or callees are counted */
} pf_rows;

/* Finds the lines of the source of all frames from number `first` on, which the capture of
 * `symbols` has.  False if there is no memory. */
bool pf_rows_sources(pf_rows *r, pf_profile *profile, perfile_symbols *symbols, uint32_t first);

/* Makes the rows of all sums, for the keys PERFILE_PER_…, ended by 0.  The labels of the profile
 * have the event of the samples and PF_LABEL_NO_PERIOD.  `parent`: a compiled expression, NULL:
 * none.  `record_bytes`: of all records, which bound the bytes of names.  To be freed in any case.
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_rows_make(pf_rows *r, pf_profile *profile, const uint8_t *per,
                            const regex_t *parent, uint64_t record_bytes, perfile_error *err);
void pf_rows_free(pf_rows *r);

/* The row of a place for the samples of a sum; PF_INTERN_NONE if there is no memory. */
uint32_t pf_rows_number(pf_rows *r, const pf_sum *sum, uint32_t place);

/* Sets the part of the key that identifies the function of a frame.  If `text` is given, its bytes
 * are used to make `symbol`.  False if there is no memory. */
bool pf_rows_function(pf_rows *r, const pf_call_frame *frame, pf_report_place *place,
                      pf_buffer *text);

/* Where the function of `around` is in a stack: its innermost place for callers, its outermost for
 * callees. */
typedef struct pf_around {
    uint32_t frame; /* the next one towards callers or callees; PF_INTERN_NONE: there is none */
    size_t depth;   /* how many frames are inside of the function's own */
} pf_around;

/* False: the function is not in the stack. */
bool pf_rows_around(const pf_rows *r, uint32_t stack, pf_around *out);

/* Shortens a text of the profile to `most` bytes; NULL stays NULL.  False if there is no memory. */
bool pf_rows_shorten(pf_profile *p, const char **text, size_t most);

#endif
