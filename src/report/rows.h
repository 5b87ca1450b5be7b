/* Samples counted by location: self and total of each file, function, thread … (the rows of
 * perfile/profile.h). */
#ifndef PF_PROFILE_ROWS_H
#define PF_PROFILE_ROWS_H

#include <regex.h>

#include "perfile/profile.h"
#include "profile/profile.h"

/* A place: the properties of a frame that the keys of rows need.  Its key is everything before
 * `symbol`.  A function is identified by its file and start, because several functions may have the
 * same name.  In a comparison it is identified by its name, because captures may be of two
 * builds. */
typedef struct pf_report_place {
    const char *dso;      /* in the profile's texts; NULL: not requested, or nothing is mapped */
    const char *source;   /* likewise; also NULL if unknown */
    const char *module;   /* likewise; the file of the function, if functions are requested */
    const char *function; /* likewise; its name; also NULL if unknown */
    uint64_t start;     /* offset of the function in the module, or of the frame if the function is
                           unknown */
    uint32_t code;      /* PF_CODE_…, if file or function is requested */
    uint32_t no_frame;  /* 1: the place of samples without an address */
    const char *symbol; /* name for output; NULL: not requested */
} pf_report_place;

/* The counts of a row, and of a node of its call tree. */
typedef struct pf_figures {
    uint64_t samples, period, total_samples, total_period; /* periods saturate at UINT64_MAX */
} pf_figures;

/* A row.  Its key is everything before `at`. */
typedef struct pf_row {
    const char *parent;        /* in the profile's texts; NULL: none, or not requested */
    uint32_t label;            /* index in pf_rows.labels: the requested label members */
    uint32_t place;            /* index in pf_rows.places */
    pf_figures at[PF_N_TIMES]; /* PF_NOW, PF_BEFORE */
    const char *event;         /* the event of all its samples, unless `mixed` */
    uint64_t enabled, running; /* for counters, and … */
    uint32_t unit;             /* … index in pf_counting.units */
    uint32_t marked;           /* number + 1 of the last sum that was added to its total */
    bool mixed;                /* perfile_profile_row.mixed */
} pf_row;

/* Selects the frame of a stack that counts, if only callers or callees of a function are
 * counted. */
enum { PF_AROUND_NOTHING = 0, PF_AROUND_CALLERS, PF_AROUND_CALLEES };

typedef struct pf_rows {
    pf_profile *profile;
    pf_intern labels, places, rows;
    uint32_t *place_of;   /* by frame */
    uint32_t *label_of;   /* by label of the profile */
    const char **parents; /* by stack, if there is a `parent` expression; NULL: no match */
    const char **sources; /* by frame, if requested; NULL: unknown */
    size_t n_sources;
    bool *is_around;  /* by frame, if `around` is set: it is of that function */
    uint32_t nowhere; /* the place of samples without a frame */
    bool per_dso, per_symbol, per_source;
    bool has_chains;   /* some stack has at least two frames */
    size_t names_most; /* length to which longer names were cut; 0: none were */
    /* Set before pf_rows_make(): */
    bool joins_unnamed, joins_unmapped; /* as in pf_resolver */
    bool compares;                      /* sums of PF_NOW and PF_BEFORE have the same rows */
    unsigned around;                    /* PF_AROUND_… */
    const char *function;               /* the function with the counted callers or callees */
} pf_rows;

/* Finds the source lines of all frames with number `first` or higher, in the capture of `symbols`.
 * Returns false when out of memory. */
bool pf_rows_sources(pf_rows *r, pf_profile *profile, perfile_symbols *symbols, uint32_t first);

/* Makes the rows of all sums for the keys PERFILE_PER_…, zero-terminated.  Labels of the profile
 * must have the event and PF_LABEL_NO_PERIOD.  `parent` is a compiled expression, or NULL.
 * `record_bytes` is the size of all records, which limits the bytes of names.  Call pf_rows_free()
 * in any case.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_rows_make(pf_rows *r, pf_profile *profile, const uint8_t *per,
                            const regex_t *parent, uint64_t record_bytes, perfile_error *err);
void pf_rows_free(pf_rows *r);

/* Returns the row of a place for the samples of a sum, and adds it if it is new.  Returns
 * PF_INTERN_NONE when out of memory. */
uint32_t pf_rows_number(pf_rows *r, const pf_sum *sum, uint32_t place);

/* Sets the part of the key that identifies the function of a frame.  If `text` is given, also sets
 * `symbol`, using `text` as a buffer.  Returns false when out of memory. */
bool pf_rows_function(pf_rows *r, const pf_call_frame *frame, pf_report_place *place,
                      pf_buffer *text);

/* The position of the function of `around` in a stack: the innermost one for callers, the outermost
 * one for callees. */
typedef struct pf_around {
    uint32_t frame; /* the next frame towards callers or callees; PF_INTERN_NONE: none */
    size_t depth;   /* number of frames inside the function's own */
} pf_around;

/* Finds the position.  Returns false if the function is not in the stack. */
bool pf_rows_around(const pf_rows *r, uint32_t stack, pf_around *out);

/* Shortens a text of the profile to `most` bytes; NULL stays NULL.  Returns false when out of
 * memory. */
bool pf_rows_shorten(pf_profile *p, const char **text, size_t most);

#endif
