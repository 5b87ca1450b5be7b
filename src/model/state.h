/* The inside of perfile_model. */
#ifndef PF_MODEL_STATE_H
#define PF_MODEL_STATE_H

#include "model/history.h"
#include "model/index.h"
#include "model/space.h"
#include "perfile/model.h"

/* Kinds of change: the high half of pf_change.key; the low half is a number of the capture. */
enum {
    PF_NAME = 1, /* of a tid; value: the name (a pointer), flags: PF_EXEC */
    PF_START,    /* of a tid; value: ppid, ptid */
    PF_END,      /* of a tid; value: ppid, ptid */
    PF_IMAGE     /* of a pid: its mappings begin anew; value: ppid; flags: PF_EXEC, PF_COPY */
};
enum { /* pf_change.flags */
       PF_EXEC = 1 << 0,
       PF_COPY = 1 << 1 /* it began with what its parent had */
};

static inline uint64_t pf_key(uint32_t kind, uint32_t number)
{
    return (uint64_t)kind << 32 | number;
}

static inline uint64_t pf_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

typedef struct pf_task {
    uint32_t pid, tid;
} pf_task;

typedef struct pf_named_id {
    uint8_t bytes[20];
    uint8_t size;
} pf_named_id;

/* A growing array. */
#define PF_ARRAY(type)                                                                             \
    struct {                                                                                       \
        type *at;                                                                                  \
        void *wide;                                                                                \
        size_t n, cap;                                                                             \
    }

/* Makes room for one more; false when there is no memory, or no room in the budget. */
#define PF_PUSH(budget, array)                                                                     \
    ((array).n < (array).cap ||                                                                    \
     (((array).wide = pf_array_widen(budget, (array).at, &(array).cap, sizeof *(array).at)) &&     \
      ((array).at = (array).wide, true)))

#define PF_DROP(budget, array) pf_budget_free(budget, (array).at, (array).cap, sizeof *(array).at)

/* `at` with half as much room again, and *cap with it; NULL when there is no memory, or no room in
 * the budget. */
void *pf_array_widen(pf_budget *budget, void *at, size_t *cap, size_t width);

enum { PF_MODEL_FACTS = 2 };

struct perfile_model {
    const perfile_session *session;
    pf_budget budget; /* limits.model_bytes: all but the lists */
    uint64_t sequence;
    pf_texts texts;
    const char *idle; /* what the kernel calls the idle threads, which never say it */
    pf_history history;
    pf_history gone; /* KSYMBOLs that went, by address */
    pf_index task_index;
    PF_ARRAY(pf_task) tasks;
    pf_task last_task;
    pf_index space_index; /* by pid */
    PF_ARRAY(pf_space) spaces;
    pf_space symbols;
    PF_ARRAY(perfile_mapping) mappings;
    pf_index mapping_index; /* by a hash of what is in it */
    pf_index id_index;      /* by name (a pointer) */
    PF_ARRAY(pf_named_id) ids;
    bool learnt[PF_MODEL_FACTS];

    /* Lists that were asked for. */
    perfile_thread_name *names;
    perfile_thread *threads;
    perfile_process *processes;
    perfile_mapping *sorted;
    size_t n_threads, n_processes;
    bool has_threads, has_sorted;
    uint32_t *order; /* changes of threads by number, process and time, while lists are made */
    size_t n_order;
};

/* These return false when there is no memory, or no room in the budget. */

/* Remembers a build id by the name of its file.  `build_id` empty: nothing to remember. */
bool pf_model_build_id(perfile_model *m, perfile_bytes name, perfile_bytes build_id);

/* Puts the build id of its name into a mapping that has none of its own. */
void pf_model_name_build_id(const perfile_model *m, perfile_mapping *x);

/* Takes what features say, as far as they are there by now. */
bool pf_model_learn(perfile_model *m);

/* Takes what a record says. */
bool pf_model_record(perfile_model *m, const perfile_record *r);

/* PERFILE_E_LIMIT when something was refused since the last time, else PERFILE_E_NOMEM. */
perfile_status pf_model_fail(perfile_model *m, perfile_error *err);

/* Forgets the lists. */
void pf_model_forget(perfile_model *m);

#endif
