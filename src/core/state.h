/* The struct of perfile_session.  Only files of this room may include this header
 * (tests/build/rooms.sh checks it); other rooms use core/session.h.
 *
 * Everything that callers may point to is in `arena`.  It never moves, and it lives as long as the
 * session. */
#ifndef PF_CORE_STATE_H
#define PF_CORE_STATE_H

#include "base/arena.h"
#include "core/session.h"
#include "core/names.h"
#include "schema/rows.h"
#include "core/command.h"

/* An event: its public part and its private state.  It is in the arena, so its address never
 * changes. */
typedef struct pf_event {
    perfile_event shown; /* the public part */
    perfile_attr attr;   /* shown.attr points at it */
    perfile_layout layout;
    uint8_t name_rank; /* PF_NAME_… */
    uint8_t *own_ids;  /* NULL, or shown.ids.ptr after ids were added to those of the attr */
    uint32_t ids_cap;  /* how many ids fit in own_ids */
    perfile_cpu_map_data cpus; /* shown.cpus points here if it is set */
    perfile_bytes
        cpus_stored; /* the body of the EVENT_UPDATE record that `cpus` was decoded from */
} pf_event;

/* A growable array of pointers to objects in the arena. */
typedef struct pf_pointers {
    void **items;
    uint32_t n;
    uint32_t cap;
} pf_pointers;

struct perfile_session {
    bool swapped;   /* the byte order of records differs from this machine's */
    bool as_stored; /* perfile_open_options.as_stored */
    bool regroup;   /* the next pf_session_resolve() assigns the groups of all events again */
    int8_t sample_id_slot;  /* word with the id in samples of the first event: see core/layout.h */
    int8_t trailer_id_slot; /* the same for trailers */
    uint64_t generation;    /* see pf_session_generation() */
    const perfile_layout
        *shared; /* equal to the layouts of all events; NULL if they differ or there are none */
    pf_usual_fn *usual; /* specialized decoder for samples of `shared`, or NULL */
    pf_event **events;
    uint32_t n_events;
    uint32_t events_cap;
    pf_ids ids; /* id -> event */

    pf_instance *instances;
    uint32_t n_instances;
    uint32_t instances_cap;
    pf_ids instance_ids; /* id -> instance */

    uint32_t n_idless; /* how many events have an attr without ids */
    uint32_t idless;   /* index of the last such event */

    perfile_feature *features[PERFILE_N_FEATURES]; /* in ascending order of number */
    uint32_t n_features;
    uint32_t feature_changes; /* counts features added, and replaced by a view (session.c) */
    const perfile_feature *by_number[PERFILE_N_FEATURES];

    pf_pointers event_types; /* pf_event_type */
    pf_pointers build_ids;   /* perfile_build_id */

    struct pf_group *groups; /* ascending, not overlapping */
    uint32_t n_groups;
    uint32_t group_at;  /* index of the first group that can contain the next new event */
    uint32_t n_settled; /* number of events with assigned name and group, counted from the first */

    const char *facts[PERFILE_N_FACTS];
    uint32_t n_cpus;
    bool has_conversion;
    bool is_short;
    uint64_t shift, mult, zero, cycles, mask;
    const uint32_t *cpus_of_parts; /* NULL if parts have no CPU */
    uint32_t n_cpus_of_parts;

    const perfile_source *files; /* pf_session_files() */

    pf_session_reader *readers;

    pf_names names;
    pf_arena arena;
    /* Members of perfile_limits.  They are last, so that the members used for decoding share a
     * cache line. */
    uint64_t model_bytes, held_bytes, profile_bytes;
};

/* Appends an item; the array grows as needed. */
perfile_status pf_pointers_add(pf_pointers *p, void *item, perfile_error *err);

/* Adds `id` to `event` unless it is 0 or already belongs to an event. */
perfile_status pf_session_add_id(perfile_session *s, pf_event *event, uint64_t id,
                                 perfile_error *err);

/* Adds a build id from feature BUILD_ID or from a record.  Its bytes are copied unless `stable`. */
perfile_status pf_session_add_build_id(perfile_session *s, const perfile_build_id *id, bool stable,
                                       perfile_error *err);

/* Converts an entry of feature BUILD_ID.  *id borrows from the entry. */
void pf_build_id_of_entry(const perfile_build_id_entry *e, uint16_t origin, perfile_build_id *id);

/* Event instances, from ID_INDEX records (facts.c). */
perfile_status pf_instances_add(perfile_session *s, const pf_instance *x, perfile_error *err);
perfile_status pf_instances_collect(perfile_session *s, const perfile_id_index *index,
                                    perfile_error *err);

/* Collects texts, numbers and build ids from a new feature (facts.c). */
perfile_status pf_facts_collect(perfile_session *s, const perfile_feature *f, perfile_error *err);

/* pf_groups_collect() collects groups from feature GROUP_DESC; pf_groups_assign() assigns them to
 * the events from index `from` on (facts.c). */
perfile_status pf_groups_collect(perfile_session *s, const perfile_feature *f, perfile_error *err);
void pf_groups_assign(perfile_session *s, uint32_t from);

#endif
