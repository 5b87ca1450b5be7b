/* Internals of perfile_model: the data collected from records, and the lists made from it on
 * request.
 *
 * Everything that changes over time (names, starts and ends of threads, new process images) is a
 * pf_change in one pf_history, keyed by kind and number.  Everything that has addresses is a span
 * in a pf_space, one per process.  Both accept records in any order of time. */
#ifndef PF_MODEL_STATE_H
#define PF_MODEL_STATE_H

#include "model/history.h"
#include "model/index.h"
#include "model/space.h"
#include "perfile/model.h"

/* Kinds of change: the high half of pf_change.key.  The low half is a tid or pid of the capture. */
enum {
    PF_CHANGE_NAME = 1, /* COMM, by tid; value: the name (a pointer into texts) */
    PF_CHANGE_START,    /* FORK, by tid; value: pf_pair(ppid, ptid) */
    PF_CHANGE_END,      /* EXIT, by tid; value: pf_pair(ppid, ptid) */
    PF_CHANGE_IMAGE     /* by pid: older mappings end (exec, new process); value: ppid */
};
enum { /* pf_change.flags */
       /* With NAME and IMAGE: another program was started. */
       PF_CHANGE_EXEC = 1 << 0,
       /* With START and IMAGE: the task begins with the name and mappings of its parent. */
       PF_CHANGE_INHERITS = 1 << 1
};

/* pf_mapping_span.mapping for a KSYMBOL that was unregistered. */
#define PF_SPAN_REMOVED UINT32_MAX

/* Returns the key of a change. */
static inline uint64_t pf_key(uint32_t kind, uint32_t number)
{
    return (uint64_t)kind << 32 | number;
}

/* Two 32-bit numbers in one 64-bit value. */
static inline uint64_t pf_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* A thread that some record mentioned. */
typedef struct pf_task {
    uint32_t pid, tid;
} pf_task;

/* The build id that the capture lists for a file name.  Mappings of the file without a build id in
 * their record get this one, no matter which comes first.  Until the build id is listed, `first`
 * and next_of_file link these mappings. */
typedef struct pf_named_id {
    uint8_t bytes[20];
    uint8_t size;   /* valid bytes; 0: the capture has not listed it yet */
    uint32_t first; /* list of them: position + 1 of the last one */
} pf_named_id;

/* A growing array: `n` elements in use, `cap` allocated.  PF_ARRAY_RESERVE() uses `grown`. */
#define PF_ARRAY(type)                                                                             \
    struct {                                                                                       \
        type *at;                                                                                  \
        void *grown;                                                                               \
        size_t n, cap;                                                                             \
    }

/* Makes room for one more element.  Evaluates to false when out of memory or the budget is
 * exhausted. */
#define PF_ARRAY_RESERVE(budget, array)                                                            \
    ((array).n < (array).cap ||                                                                    \
     (((array).grown = pf_array_grow(budget, (array).at, &(array).cap, sizeof *(array).at)) &&     \
      ((array).at = (array).grown, true)))

/* Releases the elements and their share of the budget. */
#define PF_ARRAY_FREE(budget, array)                                                               \
    pf_budget_free(budget, (array).at, (array).cap, sizeof *(array).at)

/* Reallocates `at` with half as much room again and updates *cap.  Returns NULL when out of memory
 * or the budget is exhausted; `at` is then unchanged. */
void *pf_array_grow(pf_budget *budget, void *at, size_t *cap, size_t width);

enum { PF_MODEL_FACTS = 2 }; /* features that a model uses: INIT_MAP and BUILD_ID */

struct perfile_model {
    const perfile_session *session; /* borrowed; features are read from it */
    pf_budget budget;      /* limits.model_bytes, for everything except the lists on request */
    uint64_t sequence;     /* number of the current record: at equal times the later record wins */
    pf_texts texts;        /* names of threads and files */
    const char *idle_name; /* "swapper", the name of tid 0, which no COMM reports */
    pf_history history;    /* changes of threads and processes, by pf_key() */
    pf_history removed_symbols; /* KSYMBOL records with the unregister flag; key: address */
    pf_index task_index;        /* pf_pair(pid, tid) to position in tasks */
    PF_ARRAY(pf_task) tasks;
    pf_task last_task;    /* noted last; most records mention the same thread again */
    pf_index space_index; /* pid to position in spaces */
    PF_ARRAY(pf_space) spaces;
    pf_space symbols; /* address space of KSYMBOLs: generated kernel code such as BPF programs */
    PF_ARRAY(perfile_mapping) mappings; /* distinct mappings, as in their first record */
    PF_ARRAY(uint32_t) next_of_file;    /* see pf_named_id.first; 0: end of list */
    pf_index mapping_index;             /* hash of a mapping's contents to its position */
    pf_index id_index;                  /* file name (a pointer into texts) to position in ids */
    PF_ARRAY(pf_named_id) ids;
    bool facts_added[PF_MODEL_FACTS]; /* features that were evaluated already */

    /* Lists made by pf_model_threads() and similar functions; dropped at the next record. */
    perfile_thread_name *names; /* perfile_thread.names points into it */
    perfile_thread *threads;
    perfile_process *processes;
    perfile_mapping *sorted; /* copies of `mappings` for pf_model_mappings() */
    size_t n_threads, n_processes;
    bool has_threads, has_sorted; /* the lists are complete */
    uint32_t *order; /* only while lists are made: positions in history.all by (key, pid, time) */
    size_t n_order;
};

/* The bool functions return false when out of memory or the budget is exhausted. */

/* Stores the build id of the file `name`.  The first one for a name stays.  An empty one is
 * ignored. */
bool pf_model_add_build_id(perfile_model *m, perfile_bytes name, perfile_bytes build_id);

/* Gives the mapping that was stored last the build id that is listed for its file, now or later, if
 * its record had none. */
bool pf_model_link_build_id(perfile_model *m);

/* Evaluates the features INIT_MAP and BUILD_ID of the session, each once, as soon as it exists. */
bool pf_model_add_facts(perfile_model *m);

/* Adds the contents of one record, of any type that pf_model_wants() accepts. */
bool pf_model_add_record(perfile_model *m, const perfile_record *r);

/* Returns the status of a failed addition: PERFILE_E_LIMIT if the budget refused memory since the
 * last call, otherwise PERFILE_E_NOMEM. */
perfile_status pf_model_fail(perfile_model *m, perfile_error *err);

/* Releases the lists made on request, which a new record may have changed. */
void pf_model_drop_lists(perfile_model *m);

#endif
