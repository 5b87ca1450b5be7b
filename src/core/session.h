/* The inside of perfile_session: the one place where facts of a capture go, whatever form it has.
 *
 * Drivers hand over stored bytes with their place and origin: from sections at open, and from
 * HEADER_* records as they pass (pf_session_learn).  After that there is no difference between
 * a file and a pipe. */
#ifndef PF_CORE_SESSION_H
#define PF_CORE_SESSION_H

#include "core/ids.h"
#include "perfile/session.h"
#include "perfile/stream.h"

/* An attr as a driver found it.  `attr` is the prefix of the entry that may hold the attr (file:
 * the entry less its id section; record: the body); how much of it counts is decided by its size
 * member.  Bytes are copied unless `stable`. */
typedef struct pf_attr_fact {
    perfile_bytes attr;
    perfile_bytes ids;
    uint64_t offset;
    uint16_t origin;
    bool stable;
    uint32_t ids_damage;
} pf_attr_fact;

perfile_status pf_session_new(bool swapped, const perfile_open_options *options,
                              perfile_session **session, perfile_error *err);
void pf_session_free(perfile_session *s);

/* A session of its own with the events, names, features and clock that `from` has by now. */
perfile_status pf_session_copy(const perfile_session *from, const perfile_open_options *options,
                               perfile_session **copy, perfile_error *err);

/* A session of a stage that says what the one below it says, but for some features: see
 * core/session_view.c.  It lives no longer than `from`, and is `from` but for what follows. */
typedef struct pf_session_view pf_session_view;
perfile_status pf_session_view_new(const perfile_session *from, pf_session_view **view,
                                   perfile_error *err);
void pf_session_view_free(pf_session_view *view);
const perfile_session *pf_session_view_shown(const pf_session_view *view);
/* To be called whenever `from` may have learned something. */
perfile_status pf_session_view_follow(pf_session_view *view, perfile_error *err);
/* Gives a feature of the container another payload, which is borrowed; nothing when it has none of
 * that number. */
perfile_status pf_session_view_feature(pf_session_view *view, uint32_t number,
                                       perfile_bytes payload, perfile_error *err);

/* Adds an event.  A second one with ids that are all known already (HEADER_ATTR twice) is kept as
 * an event of its own: ids belong to the first that listed them. */
perfile_status pf_session_add_attr(perfile_session *s, const pf_attr_fact *fact,
                                   perfile_error *err);

/* Adds a feature; `f->payload` is copied unless `stable`.  The first of a number counts. */
perfile_status pf_session_add_feature(perfile_session *s, const perfile_feature *f, bool stable,
                                      perfile_error *err);

/* Adds an entry of the event_types section or a HEADER_EVENT_TYPE record. */
perfile_status pf_session_add_event_type(perfile_session *s, uint64_t event_id, perfile_bytes name,
                                         bool stable, perfile_error *err);

/* Takes what a record says about the session: HEADER_ATTR, HEADER_EVENT_TYPE, HEADER_TRACING_DATA
 * (with extra), HEADER_FEATURE, EVENT_UPDATE, TIME_CONV, ID_INDEX, simpleperf's EVENT_ID.  Other
 * types and records that cannot be decoded are passed over.  PERFILE_E_NOMEM and PERFILE_E_LIMIT
 * only. */
perfile_status pf_session_learn(perfile_session *s, const perfile_record *r, perfile_error *err);

/* Whoever reads the session in other threads: told before it changes, so that none of them reads
 * meanwhile. */
typedef struct pf_session_reader {
    void (*before_change)(void *user);
    void *user;
    struct pf_session_reader *next;
} pf_session_reader;

/* `reader` belongs to the caller, and stays where it is up to pf_session_remove_reader(). */
void pf_session_add_reader(perfile_session *s, pf_session_reader *reader);
void pf_session_remove_reader(perfile_session *s, pf_session_reader *reader);

/* To be called before anything of the session changes, or what its readers know besides. */
void pf_session_will_change(const perfile_session *s);

/* Whether pf_session_learn() does anything with this type: a driver ends its run of records before
 * such a one, so that facts hold from their record on. */
static inline bool pf_session_wants(uint32_t type)
{
    return type >= PERFILE_RECORD_USER && type != PERFILE_RECORD_FINISHED_ROUND;
}

/* Whether it does anything with the record. */
static inline bool pf_session_learns(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF && pf_session_wants(r->type);
}

/* To be called when a driver has added what the container says, and after each learn() that added
 * something: names, groups and the shared layout are settled. */
perfile_status pf_session_settle(perfile_session *s, perfile_error *err);

/* perfile_limits.model_bytes, for models of this session. */
uint64_t pf_session_model_bytes(const perfile_session *s);

/* What decoders need to know of the session; see schema/context.h. */
bool pf_session_as_stored(const perfile_session *s);

/* What loops over many samples look up. */
/* The layout that all events have; NULL: they differ, or there are none, or `s` is NULL. */
const perfile_layout *pf_session_layout(const perfile_session *s);
/* Where samples of all events say their id, in words; -1: not at one place. */
int pf_session_sample_id_slot(const perfile_session *s);
/* Ids and the positions of the events that they are of; at this address as long as `s`. */
const pf_ids *pf_session_ids(const perfile_session *s);
/* Events whose attr came without ids. */
uint32_t pf_session_n_idless(const perfile_session *s);

/* A number that input cannot know, for maps whose keys come from it. */
uint64_t pf_session_seed(const perfile_session *s);

/* Whether TRACING_DATA describes the tracepoint of that number (attr.config). */
bool pf_session_has_tracepoint(const perfile_session *s, uint64_t config);

#endif
