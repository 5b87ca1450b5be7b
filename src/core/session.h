/* The session inside the library: it collects the facts about a capture of any format.
 *
 * Drivers add facts as stored bytes with their offset and origin: from sections when a file is
 * opened, and from HEADER_* records when such records are read (pf_session_collect()).  After that
 * nothing depends on whether the capture is a file or a pipe.  pf_session_resolve() then assigns
 * names and groups to events, which may depend on facts that came after the event. */
#ifndef PF_CORE_SESSION_H
#define PF_CORE_SESSION_H

#include "base/arena.h"
#include "perfile/session.h"
#include "perfile/stream.h"

/* A hash map from 64-bit keys (event ids, configs) to indices of owners.  The first owner of a key
 * stays its owner.  It uses open addressing with linear probing; nothing is ever removed. */

#define PF_NO_OWNER UINT32_MAX

typedef struct pf_id_slot {
    uint64_t id;
    uint32_t taken; /* owner + 1; 0 if the slot is free */
    uint32_t reserved;
} pf_id_slot;

/* A map that is all zeros except `seed` is empty.  Keys come from input, which could make all of
 * them collide if it knew the seed. */
typedef struct pf_ids {
    pf_id_slot *slots;
    size_t mask; /* number of slots - 1; the number is a power of two */
    size_t n;
    uint64_t seed;
} pf_ids;

static inline size_t pf_ids_home(const pf_ids *m, uint64_t id)
{
    uint64_t h = (id ^ m->seed) * (m->seed | 1);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32) & m->mask;
}

/* Returns the owner of `id`, or PF_NO_OWNER. */
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

/* Gives `id` to `owner` unless it has an owner.  *added (may be NULL) says whether it did.  The
 * memory is charged to `arena`.  PERFILE_E_NOMEM, PERFILE_E_LIMIT: nothing changed. */
perfile_status pf_ids_add(pf_ids *m, pf_arena *arena, uint64_t id, uint32_t owner, bool *added,
                          perfile_error *err);

void pf_ids_free(pf_ids *m);

/* An attr as a driver found it. */
typedef struct pf_attr_fact {
    perfile_bytes attr;  /* all bytes that can belong to it; its member `size` says how many do */
    perfile_bytes ids;   /* u64 each, as stored */
    uint64_t offset;     /* of the attr in the file */
    uint16_t origin;     /* PERFILE_ORIGIN_… */
    bool stable;         /* the bytes outlive the session; otherwise they are copied */
    uint32_t ids_damage; /* PERFILE_DAMAGE_BAD_IDS if the ids are outside the file, 0 otherwise */
} pf_attr_fact;

perfile_status pf_session_open(bool swapped, const perfile_open_options *options,
                               perfile_session **session, perfile_error *err);
void pf_session_free(perfile_session *s);

/* Makes a separate session with the events, names, features and clock that `from` has now. */
perfile_status pf_session_copy(const perfile_session *from, const perfile_open_options *options,
                               perfile_session **copy, perfile_error *err);

/* A session for a stage that replaces some features and shares everything else with the session
 * below (`from`): see core/session.c.  It must not outlive `from`. */
typedef struct pf_session_view pf_session_view;
perfile_status pf_session_view_new(const perfile_session *from, pf_session_view **view,
                                   perfile_error *err);
void pf_session_view_free(pf_session_view *view);
const perfile_session *pf_session_view_shown(const pf_session_view *view);
/* Updates the view.  Must be called whenever `from` may have changed. */
perfile_status pf_session_view_refresh(pf_session_view *view, perfile_error *err);
/* Replaces the payload of a feature of the container.  The new payload is borrowed.  Does nothing
 * if the container has no such feature. */
perfile_status pf_session_view_replace(pf_session_view *view, uint32_t number,
                                       perfile_bytes payload, perfile_error *err);

/* Adds an event.  If an attr comes twice with the same ids (HEADER_ATTR twice), the second becomes
 * another event; the ids belong to the first event that listed them. */
perfile_status pf_session_add_attr(perfile_session *s, const pf_attr_fact *fact,
                                   perfile_error *err);

/* Adds a feature; copies `f->payload` unless `stable`.  If a number comes twice, the first feature
 * counts. */
perfile_status pf_session_add_feature(perfile_session *s, const perfile_feature *f, bool stable,
                                      perfile_error *err);

/* Adds an entry of the event_types section or a HEADER_EVENT_TYPE record. */
perfile_status pf_session_add_event_type(perfile_session *s, uint64_t event_id, perfile_bytes name,
                                         bool stable, perfile_error *err);

/* Collects facts from a record: HEADER_ATTR, HEADER_EVENT_TYPE, HEADER_TRACING_DATA (with extra),
 * HEADER_FEATURE, EVENT_UPDATE, TIME_CONV, ID_INDEX, simpleperf's EVENT_ID.  Ignores other types
 * and records that cannot be decoded.  Fails only with PERFILE_E_NOMEM and PERFILE_E_LIMIT. */
perfile_status pf_session_collect(perfile_session *s, const perfile_record *r, perfile_error *err);

/* An object with threads that read the session.  It is notified before each change and before the
 * session is freed; its threads must not read the session during the change. */
typedef struct pf_session_reader {
    /* Returns when no thread reads the session any more.  `last`: the session is about to be freed,
     * and objects that belong to its stream, such as its model, may be gone already. */
    void (*before_change)(void *user, bool last);
    void *user;
    struct pf_session_reader *next, **link; /* in the session's list; link is NULL if in none */
} pf_session_reader;

/* The caller owns `reader`, which must not move before pf_session_remove_reader().  The caller may
 * remove it while it is notified, or after the session was freed.  The list of readers is not a
 * fact, so the session may be const. */
void pf_session_add_reader(const perfile_session *s, pf_session_reader *reader);
void pf_session_remove_reader(pf_session_reader *reader);

/* Notifies the readers.  Must be called before the session changes, or anything else that its
 * readers use. */
void pf_session_will_change(const perfile_session *s);

/* Returns true if pf_session_collect() may collect something from records of this type.  A driver
 * ends its run before such a record, so that a fact holds from its record on and not earlier. */
static inline bool pf_session_collects_type(uint32_t type)
{
    return type >= PERFILE_RECORD_USER && type != PERFILE_RECORD_FINISHED_ROUND;
}

/* The same for a record. */
static inline bool pf_session_collects(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF && pf_session_collects_type(r->type);
}

/* Assigns names and groups to events.  Must be called after a driver has added the facts of the
 * container, and after each pf_session_collect() that added something. */
perfile_status pf_session_resolve(perfile_session *s, perfile_error *err);

/* For formats without TIME_CONV records.  The first function sets the conversion of the capture's
 * own ticks to ns; the second sets the CPU of each part, and borrows the array. */
void pf_session_set_conversion(perfile_session *s, uint64_t shift, uint64_t mult);
void pf_session_set_cpus_of_parts(perfile_session *s, const uint32_t *cpus, uint32_t n);

/* Converts `ticks` to ns, as perf does for a TIME_CONV record with zero 0.  If the result is a time
 * that perf reads as "no time", it becomes 1. */
uint64_t pf_ticks_to_ns(int64_t ticks, uint64_t shift, uint64_t mult);

/* Returns the key that orders records by time: the time in the unit of the family, which is more
 * exact than ns.  PERFILE_NO_TIME if the record has none. */
uint64_t pf_record_order(const perfile_record *r);

/* The directory of the capture.  Its companion files (pf_is_companion_file()) are facts, too.
 * It is borrowed and lives as long as the stream.  NULL if the capture is not a directory. */
void pf_session_set_files(perfile_session *s, const perfile_source *directory);
const perfile_source *pf_session_files(const perfile_session *s);

/* Members of perfile_limits that bound models of this session, records of it that a stage holds,
 * and profiles. */
uint64_t pf_session_model_bytes(const perfile_session *s);
uint64_t pf_session_held_bytes(const perfile_session *s);
uint64_t pf_session_profile_bytes(const perfile_session *s);

/* perfile_open_options.as_stored; false for NULL.  Decoders need it: schema/types.h. */
bool pf_session_as_stored(const perfile_session *s);

/* For loops over many samples: */
/* Returns the layout that all events have.  NULL if they differ, if there are none, or if `s` is
 * NULL. */
const perfile_layout *pf_session_layout(const perfile_session *s);
/* Returns the index of the 64-bit word that has the id in samples of all events; -1 if it is not
 * the same for all. */
int pf_session_sample_id_slot(const perfile_session *s);
/* Returns the map from ids to event indices.  Its address is valid as long as `s`. */
const pf_ids *pf_session_ids(const perfile_session *s);
/* Returns how many events have an attr without ids. */
uint32_t pf_session_n_without_ids(const perfile_session *s);

/* Returns a random seed for hash maps with keys from the input, so that input cannot provoke
 * collisions. */
uint64_t pf_session_seed(const perfile_session *s);

/* Returns true if feature TRACING_DATA describes the tracepoint with this number (attr.config). */
bool pf_session_has_tracepoint(const perfile_session *s, uint64_t config);

/* The description of a tracepoint in feature TRACING_DATA.  Borrowed from the session. */
typedef struct pf_tracepoint_text {
    perfile_bytes system, name, format;
    uint64_t id;       /* attr.config of its event */
    bool big_endian;   /* byte order of the payloads */
    uint8_t long_size; /* size of a long on the recorded kernel, in bytes */
} pf_tracepoint_text;

/* Finds the description by its number `config`, or by its index `i`.  Returns false if there is
 * none. */
bool pf_session_tracepoint(const perfile_session *s, uint64_t config, pf_tracepoint_text *out);
bool pf_session_tracepoint_at(const perfile_session *s, uint32_t i, pf_tracepoint_text *out);

#endif
