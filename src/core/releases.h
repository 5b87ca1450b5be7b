/* What each release of perf knows: the rows of format/versions.def as data.  The checker asks what
 * a release makes of a capture, the target stage and writers what they may hand to it. */
#ifndef PF_CORE_RELEASES_H
#define PF_CORE_RELEASES_H

#include "perfile/base.h"
#include "schema/rows.h"

typedef struct pf_release {
    const char *name;   /* "6.1" */
    uint32_t attr_size; /* bytes of its attr */
    /* How many of the lowest bits of sample_type, read_format, branch_sample_type and the attr
     * flags it knows. */
    uint32_t sample_bits, read_bits, branch_bits, flag_bits;
    uint32_t feature;  /* the last feature that it knows */
    uint32_t cpu_maps; /* how many forms of processor sets it knows */
    bool own_attr;    /* expects ids in HEADER_ATTR after an attr of its own size, whatever the attr
                         says */
    bool skips_tools; /* skips unknown records of tools; false: it stops at them */
} pf_release;

extern const pf_release pf_releases[PF_N_RELEASES];
/* A release that knows everything, also what no table has. */
extern const pf_release pf_release_any;

/* Finds the row of "6.1" or "perf-6.1".  PERFILE_E_USAGE otherwise; the message lists all releases.
 */
perfile_status pf_release_find(const char *version, const pf_release **release, perfile_error *err);

bool pf_release_knows_type(const pf_release *r, uint32_t type);

/* True if it knows MMAP2 records with a build id. */
bool pf_release_knows_map_build_ids(const pf_release *r);

/* False if this member of the attr is reserved space for the release.  True for all members that
 * are no row LATE. */
bool pf_release_knows_member(const pf_release *r, const char *member);

/* Number of the empty HEADER_FEATURE record that ends the list of features in a pipe for the perf
 * of this version ("6.1", "5.10.0-28-amd64"); 0: it has none, or this is no version. */
uint32_t pf_end_of_features(perfile_bytes version);
/* The least such number, `end` or greater, that is none of the features up to `last`: of the first
 * version that knows them all, or of the newest. */
uint32_t pf_end_of_features_behind(uint32_t end, uint32_t last);

/* True if the release has the TRAIT ("ODD_SIZE"), for any form of capture. */
bool pf_release_has_trait(const pf_release *r, const char *trait);
/* True if it refuses files whose events differ in sample_type (trait EVENTS_OF_TWO_TYPES). */
bool pf_release_needs_one_sample_type(const pf_release *r);

/* A mask of the `n` lowest bits. */
static inline uint64_t pf_low_bits(uint32_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

#endif
