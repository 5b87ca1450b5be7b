/* Names of events.  A capture can name an event in several places, at different times and with
 * different authority: a name of a higher rank replaces one of a lower rank.  An event that nothing
 * names gets the name that perf would print (derive.c).  Facts that can name events are kept here
 * as they come; pf_names_assign() applies them. */
#ifndef PF_CORE_NAMES_H
#define PF_CORE_NAMES_H

#include "core/session.h"
#include "perfile/session.h"

/* Names of tracepoints, from the blob of tracepoint formats in feature TRACING_DATA. */

/* Both texts point into the blob, which the session keeps. */
typedef struct pf_tracepoint {
    perfile_bytes system;
    perfile_bytes name;
} pf_tracepoint;

typedef struct pf_tracepoints {
    pf_tracepoint *items;
    uint32_t n;
    uint32_t cap;
    pf_ids by_id;
} pf_tracepoints;

/* Reads name and number from a format ("name: …", "ID: …"); false if it does not have both. */
bool pf_tracepoint_read(perfile_bytes format, perfile_bytes *name, uint64_t *id);

/* Reads the formats up to the first damage.  Fails with PERFILE_E_NOMEM and PERFILE_E_LIMIT only.
 */
perfile_status pf_tracepoints_scan(pf_tracepoints *t, pf_arena *arena, perfile_bytes blob,
                                   perfile_error *err);

/* The tracepoint with that id (attr.config), or NULL. */
const pf_tracepoint *pf_tracepoints_find(const pf_tracepoints *t, uint64_t id);

void pf_tracepoints_free(pf_tracepoints *t);

struct pf_event;

/* Where a name came from; a higher rank wins. */
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
    bool has_ids; /* of an entry of EVENT_DESC: it lists ids */
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
    pf_ids trace_configs;  /* config -> first event that is a tracepoint */
    uint32_t n_types_seen; /* event types from 0 on that have been matched with events */
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

/* Writes the name that perf would print for the event to `text`, `size` bytes at most, NUL
 * included. */
void pf_name_derive(const perfile_session *s, const perfile_attr *attr, char *text, size_t size);

/* Appends the modifiers (":u" …) to the name in `text`; after the "/" of a PMU without the colon.
 */
void pf_name_modifiers(const perfile_attr *attr, char *text, size_t size);

#endif
