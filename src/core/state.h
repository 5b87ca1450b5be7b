/* The state behind perfile_session, for the files of this room only (tests/build/rooms.sh). */
#ifndef PF_CORE_STATE_H
#define PF_CORE_STATE_H

#include "base/arena.h"
#include "core/ids.h"
#include "core/names.h"
#include "core/session.h"
#include "schema/rows.h"

/* An event and what is not shown of it.  Lives in the arena, so that its address never changes. */
typedef struct pf_event {
    perfile_event shown;
    perfile_attr attr; /* shown.attr points at it */
    perfile_layout layout;
    uint8_t name_rank; /* PF_NAME_… */
    uint8_t *own_ids;  /* shown.ids.ptr once ids were added to those of the attr, room for … */
    uint32_t ids_cap;  /* … so many */
    perfile_cpu_map_data cpus; /* shown.cpus, when it has them … */
    perfile_bytes cpus_stored; /* … and the record body they are in */
} pf_event;

/* A growable array of pointers to things in the arena. */
typedef struct pf_pointers {
    void **items;
    uint32_t n;
    uint32_t cap;
} pf_pointers;

struct perfile_session {
    bool swapped;
    bool as_stored;
    bool regroup;          /* settle goes over the groups of all events again */
    int8_t sample_id_slot; /* of the first event, see core/layout.h */
    int8_t trailer_id_slot;
    uint64_t generation;
    const perfile_layout *shared; /* equal to those of all events; NULL: they differ, or none */
    pf_usual_fn *usual;           /* decodes samples of `shared`, in this byte order; NULL: none */
    pf_event **events;
    uint32_t n_events;
    uint32_t events_cap;
    pf_ids ids; /* id -> event */

    perfile_instance *instances;
    uint32_t n_instances;
    uint32_t instances_cap;
    pf_ids instance_ids; /* id -> instance */

    uint32_t n_idless; /* events whose attr came without ids … */
    uint32_t idless;   /* … and the last of them */

    perfile_feature *features[PERFILE_N_FEATURES]; /* in ascending order of number */
    uint32_t n_features;
    uint32_t feature_changes; /* how often one was added, or took the place of another in a view */
    const perfile_feature *by_number[PERFILE_N_FEATURES];

    pf_pointers event_types; /* perfile_event_type */
    pf_pointers build_ids;   /* perfile_build_id */

    struct pf_group *groups; /* ascending, not overlapping */
    uint32_t n_groups;
    uint32_t group_at;  /* the first that may hold the next new event */
    uint32_t n_settled; /* events that have their name and group */

    const char *facts[PERFILE_N_FACTS];
    uint32_t n_cpus;
    bool has_conversion;
    bool is_short;
    uint64_t shift, mult, zero, cycles, mask;

    pf_session_reader *readers;

    pf_names names;
    pf_arena arena;
    uint64_t
        model_bytes; /* perfile_limits.  At the end: what decodes a record shares a cache line */
};

perfile_status pf_pointers_add(pf_pointers *p, void *item, perfile_error *err);

/* Gives an id that nobody has to `event`. */
perfile_status pf_session_add_id(perfile_session *s, pf_event *event, uint64_t id,
                                 perfile_error *err);

/* Adds the build ids of feature BUILD_ID, or one of a record. */
perfile_status pf_session_add_build_id(perfile_session *s, const perfile_build_id *id, bool stable,
                                       perfile_error *err);

/* An entry of feature BUILD_ID, which came from `origin`; borrows from it. */
void pf_build_id_of_entry(const perfile_build_id_entry *e, uint16_t origin, perfile_build_id *id);

/* What ID_INDEX says of ids (instances.c). */
perfile_status pf_instances_add(perfile_session *s, const perfile_instance *x, perfile_error *err);
perfile_status pf_instances_take(perfile_session *s, const perfile_id_index *index,
                                 perfile_error *err);

/* What a new feature says in words and numbers (facts.c). */
perfile_status pf_facts_take(perfile_session *s, const perfile_feature *f, perfile_error *err);

/* Groups of the events from `from` on (groups.c). */
perfile_status pf_groups_take(perfile_session *s, const perfile_feature *f, perfile_error *err);
void pf_groups_settle(perfile_session *s, uint32_t from);

#endif
