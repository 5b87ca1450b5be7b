/* What events are called: the best that the capture says, else what perf would call them. */
#ifndef PF_CORE_NAMES_H
#define PF_CORE_NAMES_H

#include "core/ids.h"
#include "core/tracing.h"
#include "perfile/session.h"

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

/* A name that the capture gives for a type and config. */
typedef struct pf_named {
    perfile_bytes name;
    uint32_t type;
    uint64_t config;
    bool has_ids;
} pf_named;

typedef struct pf_pmu {
    uint32_t type;
    const char *name;
} pf_pmu;

typedef struct pf_names {
    pf_named *desc; /* entries of EVENT_DESC, in its order */
    uint32_t n_desc, desc_cap;
    pf_ids desc_ids;
    pf_named *meta; /* lines of event_type_info */
    uint32_t n_meta, meta_cap;
    pf_ids meta_keys;
    pf_pmu *pmus;
    uint32_t n_pmus, pmus_cap;
    pf_ids pmu_types;
    pf_tracepoints tracepoints;
    pf_ids type_configs;   /* config -> position in event_types */
    pf_ids trace_configs;  /* config -> first event that is a tracepoint */
    uint32_t n_types_seen; /* event types that were matched with events */
    bool stale;            /* a feature came that may name any event */
} pf_names;

void pf_names_init(pf_names *n, uint64_t seed);
void pf_names_free(pf_names *n);

/* Keeps what a new feature says about names. */
perfile_status pf_names_take(perfile_session *s, const perfile_feature *f, perfile_error *err);

/* Names the events that are new, or all when a feature made that necessary. */
perfile_status pf_names_settle(perfile_session *s, perfile_error *err);

/* Names `event` unless it has a better name. */
perfile_status pf_names_set(perfile_session *s, struct pf_event *event, unsigned rank,
                            perfile_bytes name, uint16_t origin, perfile_error *err);

/* Writes what perf would call the event to `text`, at most `size` bytes with the NUL. */
void pf_name_derive(const perfile_session *s, const perfile_attr *attr, char *text, size_t size);

/* Writes the modifiers (":u" …) behind the name in `text`; behind a PMU's "/" without colon. */
void pf_name_modifiers(const perfile_attr *attr, char *text, size_t size);

#endif
