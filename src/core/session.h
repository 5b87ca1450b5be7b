/* The session inside the library: the one place that facts about a capture go to, whatever its
 * format.
 *
 * Drivers add facts as stored bytes with their offset and origin: from sections when a file is
 * opened, and from HEADER_* records when such records are read (pf_session_collect()).  After that
 * nothing depends on whether the capture is a file or a pipe.  Then pf_session_resolve() assigns
 * names and groups to events, which may depend on facts that came later than the event. */
#ifndef PF_CORE_SESSION_H
#define PF_CORE_SESSION_H

#include "base/arena.h"
#include "perfile/session.h"
#include "perfile/stream.h"

/* A hash map from 64-bit keys (ids of events, configs) to positions of owners.  The first owner of
 * a key keeps it. Open addressing with linear probing; nothing is ever removed. */

#define PF_NO_OWNER UINT32_MAX

typedef struct pf_id_slot {
    uint64_t id;
    uint32_t taken; /* owner + 1, 0: free */
    uint32_t reserved;
} pf_id_slot;

/* All zeros but for `seed` is an empty map.  Keys come from input: without a seed that the input
 * cannot know, it could make all of them fall on one place. */
typedef struct pf_ids {
    pf_id_slot *slots;
    size_t mask; /* slots - 1, a power of two */
    size_t n;
    uint64_t seed;
} pf_ids;

static inline size_t pf_ids_home(const pf_ids *m, uint64_t id)
{
    uint64_t h = (id ^ m->seed) * (m->seed | 1);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32) & m->mask;
}

/* The owner of `id`, or PF_NO_OWNER. */
static inline uint32_t pf_ids_find(const pf_ids *m, uint64_t id)
{
    if (m->n == 0)
        return PF_NO_OWNER;
    for (size_t i = pf_ids_home(m, id);; i = (i + 1) & m->mask) {
        const pf_id_slot *slot = &m->slots[i];
        if (!slot->taken)
            return PF_NO_OWNER;
        if (slot->id == id)
            return slot->taken - 1;
    }
}

/* Gives `id` to `owner` unless it has one; *added (may be NULL) says whether it did.  The memory
 * counts in `arena`.  PERFILE_E_NOMEM, PERFILE_E_LIMIT: nothing changed. */
perfile_status pf_ids_add(pf_ids *m, pf_arena *arena, uint64_t id, uint32_t owner, bool *added,
                          perfile_error *err);

void pf_ids_free(pf_ids *m);

/* An attr as a driver found it. */
typedef struct pf_attr_fact {
    perfile_bytes attr; /* all bytes that can belong to it; its member `size` decides how many do */
    perfile_bytes ids;  /* u64 each, as stored */
    uint64_t offset;    /* of the attr in the file */
    uint16_t origin;    /* PERFILE_ORIGIN_… */
    bool stable;        /* the bytes outlive the session; otherwise they are copied */
    uint32_t ids_damage; /* PERFILE_DAMAGE_BAD_IDS if the ids lie outside the file, 0 otherwise */
} pf_attr_fact;

perfile_status pf_session_new(bool swapped, const perfile_open_options *options,
                              perfile_session **session, perfile_error *err);
void pf_session_free(perfile_session *s);

/* A separate session with the events, names, features and clock that `from` has at this moment. */
perfile_status pf_session_copy(const perfile_session *from, const perfile_open_options *options,
                               perfile_session **copy, perfile_error *err);

/* A session for a stage that replaces some features and otherwise has everything of the session
 * below (`from`): see core/session.c.  It must not outlive `from`. */
typedef struct pf_session_view pf_session_view;
perfile_status pf_session_view_new(const perfile_session *from, pf_session_view **view,
                                   perfile_error *err);
void pf_session_view_free(pf_session_view *view);
const perfile_session *pf_session_view_shown(const pf_session_view *view);
/* Brings the view up to date; to be called whenever `from` may have changed. */
perfile_status pf_session_view_refresh(pf_session_view *view, perfile_error *err);
/* Replaces the payload of a feature of the container; the new one is borrowed.  Does nothing if the
 * container has no such feature. */
perfile_status pf_session_view_replace(pf_session_view *view, uint32_t number,
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

/* Collects facts from a record: HEADER_ATTR, HEADER_EVENT_TYPE, HEADER_TRACING_DATA
 * (with extra), HEADER_FEATURE, EVENT_UPDATE, TIME_CONV, ID_INDEX, simpleperf's EVENT_ID.  Other
 * types and records that cannot be decoded are passed over.  PERFILE_E_NOMEM and PERFILE_E_LIMIT
 * only. */
perfile_status pf_session_collect(perfile_session *s, const perfile_record *r, perfile_error *err);

/* Something whose threads read the session.  It is notified before each change, and before the
 * session is released, and must stop them until then. */
typedef struct pf_session_reader {
    /* Returns when no thread reads the session any more.  `last`: the session is released, and what
     * belongs to its stream may be gone, such as its model. */
    void (*before_change)(void *user, bool last);
    void *user;
    struct pf_session_reader *next, **link; /* in the session's list; link NULL: in none */
} pf_session_reader;

/* `reader` belongs to the caller and must not move before pf_session_remove_reader(), which it may
 * call when it is notified, or when the session was released.  Who reads a session is no fact of
 * it: it may be const. */
void pf_session_add_reader(const perfile_session *s, pf_session_reader *reader);
void pf_session_remove_reader(pf_session_reader *reader);

/* Notifies the readers.  To be called before the session changes, or anything else that its readers
 * use. */
void pf_session_will_change(const perfile_session *s);

/* True if pf_session_collect() may collect something from records of this type.  A driver ends its
 * run of records before such a record, so that a fact holds from its record on and not earlier. */
static inline bool pf_session_collects_type(uint32_t type)
{
    return type >= PERFILE_RECORD_USER && type != PERFILE_RECORD_FINISHED_ROUND;
}

/* The same for a record. */
static inline bool pf_session_collects(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF && pf_session_collects_type(r->type);
}

/* Assigns names and groups to events.  To be called when a driver has added the facts of the
 * container, and after each pf_session_collect() that added something. */
perfile_status pf_session_resolve(perfile_session *s, perfile_error *err);

/* The conversion of the capture's own ticks to ns, of a format that has no TIME_CONV records.  The
 * processor of each part; borrowed. */
void pf_session_set_conversion(perfile_session *s, uint64_t shift, uint64_t mult);
void pf_session_set_cpus_of_parts(perfile_session *s, const uint32_t *cpus, uint32_t n);

/* The time in ns of `ticks` by a conversion, as perf computes it of a TIME_CONV record with zero 0.
 * Times that perf would take for "no time" become 1. */
uint64_t pf_ticks_to_ns(int64_t ticks, uint64_t shift, uint64_t mult);

/* What orders records by time: the time as the family counts it, more exact than ns;
 * PERFILE_NO_TIME without one. */
uint64_t pf_record_order(const perfile_record *r);

/* The directory of the capture, whose companion files (perfile_is_companion_file()) are facts, too.
 * Borrowed; it lives as long as the stream that has the capture.  NULL: it is no directory. */
void pf_session_set_files(perfile_session *s, const perfile_source *directory);
const perfile_source *pf_session_files(const perfile_session *s);

/* Members of perfile_limits, for models of this session, records of it that wait, and profiles. */
uint64_t pf_session_model_bytes(const perfile_session *s);
uint64_t pf_session_held_bytes(const perfile_session *s);
uint64_t pf_session_profile_bytes(const perfile_session *s);

/* perfile_open_options.as_stored; false for NULL.  Decoders need it: schema/types.h. */
bool pf_session_as_stored(const perfile_session *s);

/* For loops over many samples: */
/* The layout that all events have; NULL: they differ, or there are none, or `s` is NULL. */
const perfile_layout *pf_session_layout(const perfile_session *s);
/* Index of the 64-bit word in which samples of all events have their id; -1: not the same for all.
 */
int pf_session_sample_id_slot(const perfile_session *s);
/* The map from ids to event indices; its address is valid as long as `s`. */
const pf_ids *pf_session_ids(const perfile_session *s);
/* How many events have an attr without ids. */
uint32_t pf_session_n_without_ids(const perfile_session *s);

/* A random seed for hash maps whose keys come from the input, so that input cannot provoke
 * collisions. */
uint64_t pf_session_seed(const perfile_session *s);

/* True if feature TRACING_DATA describes the tracepoint with this number (attr.config). */
bool pf_session_has_tracepoint(const perfile_session *s, uint64_t config);

/* The description of a tracepoint in feature TRACING_DATA.  Borrowed from the session. */
typedef struct pf_tracepoint_text {
    perfile_bytes system, name, format;
    uint64_t id;       /* attr.config of its event */
    bool big_endian;   /* payloads are */
    uint8_t long_size; /* bytes of a long of the recorded kernel */
} pf_tracepoint_text;

/* That of the number `config`; the i-th.  False: there is none. */
bool pf_session_tracepoint(const perfile_session *s, uint64_t config, pf_tracepoint_text *out);
bool pf_session_tracepoint_at(const perfile_session *s, uint32_t i, pf_tracepoint_text *out);

#endif
