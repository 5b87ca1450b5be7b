/* What releases of perf know: the rows of format/versions.def. */
#ifndef PF_CORE_RELEASES_H
#define PF_CORE_RELEASES_H

#include "perfile/base.h"
#include "schema/rows.h"

typedef struct pf_release {
    const char *name; /* "6.1" */
    uint32_t attr_size;
    uint32_t sample_bits, read_bits, branch_bits, flag_bits;
    uint32_t feature;
    uint32_t cpu_maps;
    bool own_attr, skips_tools;
} pf_release;

extern const pf_release pf_releases[PF_N_RELEASES];
/* One that knows everything, also what no table does. */
extern const pf_release pf_release_any;

/* The row of "6.1" or "perf-6.1".  PERFILE_E_USAGE, with all there are. */
perfile_status pf_release_find(const char *version, const pf_release **release, perfile_error *err);

bool pf_release_knows_type(const pf_release *r, uint32_t type);

/* Whether it has build ids in MMAP2 records. */
bool pf_release_knows_map_build_ids(const pf_release *r);

/* Whether it has this member of the attr where older ones have reserved space; true for members
 * that have been there as long as their place. */
bool pf_release_knows_member(const pf_release *r, const char *member);

/* Number of the empty HEADER_FEATURE record that ends the list of features in a pipe for the perf
 * of this version ("6.1", "5.10.0-28-amd64"); 0: it has none, or this is no version. */
uint32_t pf_end_of_features(perfile_bytes version);
/* The least such number, `end` or greater, that is none of the features up to `last`: of the first
 * version that knows them all, or of the newest. */
uint32_t pf_end_of_features_behind(uint32_t end, uint32_t last);

/* Whether it is one of the versions that have the TRAIT ("ODD_SIZE"), in whatever form. */
bool pf_release_has_trait(const pf_release *r, const char *trait);
/* Whether it refuses files whose events differ in sample_type: the trait EVENTS_OF_TWO_TYPES. */
bool pf_release_wants_one_type(const pf_release *r);

/* The `n` lowest bits. */
static inline uint64_t pf_low_bits(uint32_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

#endif
