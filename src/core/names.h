/* Names of events, and what each release of perf knows.
 *
 * A capture can name an event in several places, at different times and with different authority: a
 * name of a higher rank replaces one of a lower rank.  An event without any name gets the name that
 * perf would print (decode.c).  Facts that can name events are collected here as they come;
 * pf_names_assign() applies them. */
#ifndef PF_CORE_NAMES_H
#define PF_CORE_NAMES_H

#include "core/session.h"
#include "perfile/base.h"
#include "perfile/session.h"
#include "schema/rows.h"

/* Names of tracepoints, from the blob of tracepoint formats in feature TRACING_DATA. */

/* All texts point into the blob, which the session owns. */
typedef struct pf_tracepoint {
    perfile_bytes system;
    perfile_bytes name;
    perfile_bytes format; /* the description that contains name and number */
    uint64_t id;
} pf_tracepoint;

typedef struct pf_tracepoints {
    pf_tracepoint *items;
    uint32_t n;
    uint32_t cap;
    pf_ids by_id;
    bool big_endian; /* byte order of the payloads */
    uint8_t long_size;
} pf_tracepoints;

/* Reads name and number from a format ("name: …", "ID: …").  Returns false if one is missing. */
bool pf_tracepoint_read(perfile_bytes format, perfile_bytes *name, uint64_t *id);

/* Reads the formats up to the first damage.  Fails only with PERFILE_E_NOMEM and
 * PERFILE_E_LIMIT. */
perfile_status pf_tracepoints_scan(pf_tracepoints *t, pf_arena *arena, perfile_bytes blob,
                                   perfile_error *err);

/* Returns the tracepoint with that id (attr.config), or NULL. */
const pf_tracepoint *pf_tracepoint_names_find(const pf_tracepoints *t, uint64_t id);

void pf_tracepoints_free(pf_tracepoints *t);

struct pf_event;

/* The source of a name; a higher rank wins. */
enum {
    PF_NAME_NONE = 0,
    PF_NAME_DERIVED,
    PF_NAME_META,   /* simpleperf's META_INFO */
    PF_NAME_TYPE,   /* event_types, HEADER_EVENT_TYPE */
    PF_NAME_UPDATE, /* EVENT_UPDATE */
    PF_NAME_DESC    /* feature EVENT_DESC */
};

/* A name that the capture has for events of this type and config. */
typedef struct pf_named {
    perfile_bytes name;
    uint32_t type;
    uint64_t config;
    bool has_ids; /* for an entry of EVENT_DESC: it lists ids */
} pf_named;

typedef struct pf_pmu {
    uint32_t type;
    const char *name;
} pf_pmu;

typedef struct pf_names {
    pf_named *desc; /* entries of EVENT_DESC, in its order */
    uint32_t n_desc, desc_cap;
    pf_ids desc_ids; /* id -> position in desc */
    pf_named *meta;  /* lines of event_type_info in simpleperf's META_INFO */
    uint32_t n_meta, meta_cap;
    pf_ids meta_keys; /* hash of type and config -> position in meta */
    pf_pmu *pmus;
    uint32_t n_pmus, pmus_cap;
    pf_ids pmu_types; /* number of a PMU -> position in pmus */
    pf_tracepoints tracepoints;
    pf_ids type_configs;   /* config -> position in event_types */
    pf_ids trace_configs;  /* config -> first tracepoint event with it */
    uint32_t n_types_seen; /* the first event types, which have been matched with events */
    bool stale;            /* a feature came that can name any event: all must be named again */
} pf_names;

void pf_names_init(pf_names *n, uint64_t seed);
void pf_names_free(pf_names *n);

/* Collects names of events, PMUs and tracepoints from a new feature. */
perfile_status pf_names_collect(perfile_session *s, const perfile_feature *f, perfile_error *err);

/* Names the new events, or all events if a feature came that can name any of them. */
perfile_status pf_names_assign(perfile_session *s, perfile_error *err);

/* Names `event` unless it has a name of higher rank.  The name is copied. */
perfile_status pf_names_set(perfile_session *s, struct pf_event *event, unsigned rank,
                            perfile_bytes name, uint16_t origin, perfile_error *err);

/* Writes the name that perf would print for the event to `text`, at most `size` bytes including the
 * NUL. */
void pf_name_derive(const perfile_session *s, const perfile_attr *attr, char *text, size_t size);

/* Appends the modifiers (":u" …) to the name in `text`.  After the "/" of a PMU there is no
 * colon. */
void pf_name_modifiers(const perfile_attr *attr, char *text, size_t size);

/* What each release of perf knows: the rows of format/versions.def as data.  The checker uses it to
 * tell how a release reads a capture; the target stage and writers use it to write only what the
 * release accepts. */

typedef struct pf_release {
    const char *name;   /* "6.1" */
    uint32_t attr_size; /* bytes of its attr */
    /* How many of the lowest bits it knows of sample_type, read_format, branch_sample_type and the
     * attr flags. */
    uint32_t sample_bits, read_bits, branch_bits, flag_bits;
    uint32_t feature;  /* the last feature that it knows */
    uint32_t cpu_maps; /* number of forms of CPU sets that it knows */
    bool own_attr;     /* in HEADER_ATTR it ignores attr.size and expects ids after its own size */
    bool skips_tools;  /* true: skips unknown records of tools; false: stops at them */
} pf_release;

extern const pf_release pf_releases[PF_N_RELEASES];
/* A release that knows everything, including types that are in no table. */
extern const pf_release pf_release_any;

/* Finds the row of "6.1" or "perf-6.1".  PERFILE_E_USAGE: there is none; the message lists all
 * releases. */
perfile_status pf_release_find(const char *version, const pf_release **release, perfile_error *err);

bool pf_release_knows_type(const pf_release *r, uint32_t type);

/* Returns true if it knows MMAP2 records with a build id. */
bool pf_release_knows_map_build_ids(const pf_release *r);

/* Returns false if this member of the attr is reserved space for the release.  Returns true for all
 * members without a row LATE. */
bool pf_release_knows_member(const pf_release *r, const char *member);

/* Returns the number of the empty HEADER_FEATURE record with which the perf of this version ("6.1",
 * "5.10.0-28-amd64") ends the list of features in a pipe.  Returns 0 if it has none, or if this is
 * not a version. */
uint32_t pf_end_of_features(perfile_bytes version);
/* Returns the smallest such number that is at least `end` and greater than `last`, the last
 * feature.  It is taken from the first version that knows all these features, or from the
 * newest. */
uint32_t pf_end_of_features_behind(uint32_t end, uint32_t last);

/* Returns true if the release has the TRAIT ("ODD_SIZE"), for any form of capture. */
bool pf_release_has_trait(const pf_release *r, const char *trait);
/* Returns true if it rejects files with events that differ in sample_type (trait
 * EVENTS_OF_TWO_TYPES). */
bool pf_release_needs_one_sample_type(const pf_release *r);

/* Returns a mask of the `n` lowest bits. */
static inline uint64_t pf_low_bits(uint32_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

#endif
