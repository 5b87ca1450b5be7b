/* Samples counted by where they were: self and total of each file, function, thread … (the rows of
 * perfile/profile.h). */
#ifndef PF_PROFILE_ROWS_H
#define PF_PROFILE_ROWS_H

#include <regex.h>

#include "perfile/profile.h"
#include "profile/profile.h"

/* A frame as far as the keys of the rows need it.  The key is all up to `symbol`.  A function is
 * identified by its file and start, because several may have one name. */
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

/* A row.  The key is all up to `samples`. */
typedef struct pf_row {
    const char *parent; /* of the profile's texts; NULL: none, or not asked for */
    uint32_t label;     /* in pf_rows.labels: what is asked for of the labels of its samples */
    uint32_t place;     /* in pf_rows.places */
    uint64_t samples, period, total_samples, total_period; /* periods up to UINT64_MAX */
    const char *event;                                     /* of all its samples, unless `mixed` */
    uint32_t marked; /* number + 1 of the last sum that was added to its total */
    bool mixed;      /* perfile_profile_row.mixed */
} pf_row;

typedef struct pf_rows {
    pf_profile *profile;
    pf_intern labels, places, rows;
    uint32_t *place_of;   /* of each frame */
    uint32_t *label_of;   /* of each label of the profile */
    const char **parents; /* of each stack, if `parent` was given; NULL: none */
    const char **sources; /* of each frame, if asked for; NULL: not known */
    bool per_dso, per_symbol;
    bool joins_unnamed, joins_unmapped; /* as in pf_resolver; set before pf_rows_make() */
    bool has_chains;                    /* some stack has two frames or more */
    size_t names_most;                  /* bytes to which longer names were cut; 0: none were */
} pf_rows;

/* Makes the rows of all sums, for the keys PERFILE_PER_…, ended by 0.  The labels of the profile
 * have the event of the samples and PF_LABEL_NO_PERIOD.  `parent`: a compiled expression, NULL:
 * none.  `symbols` know lines of the source; NULL: they are not known.  `record_bytes`: of all
 * records, which bound the bytes of names.  To be freed in any case.  PERFILE_E_NOMEM,
 * PERFILE_E_LIMIT. */
perfile_status pf_rows_make(pf_rows *r, pf_profile *profile, const uint8_t *per,
                            const regex_t *parent, perfile_symbols *symbols, uint64_t record_bytes,
                            perfile_error *err);
void pf_rows_free(pf_rows *r);

#endif
