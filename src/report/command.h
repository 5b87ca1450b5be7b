/* Profiles of several captures, over time, and as trees of calls. */
#ifndef PF_REPORT_COMMAND_H
#define PF_REPORT_COMMAND_H

#include "perfile/profile.h"

enum { /* perfile_profile_options.flags, besides the public ones */
       /* Compares later captures (pf_profile_continue()) with the first one:
        * pf_profile_get_before().  As they may be of two builds, functions are identified by
        * name only, and mapped files by name without folders.  All addresses of a file in no known
        * function share one row, unless PERFILE_PROFILE_UNKNOWN_ADDRESS is set. */
       PF_PROFILE_COMPARE = 1 << 3,
       /* Adds up times on and off CPUs instead of samples.  Keys are COMM, PID, TID and CPU;
        * pf_profile_get_times() has the additional numbers of a row.  The times come from
        * SWITCH and SWITCH_CPU_WIDE records, and from samples of sched:sched_switch (if every
        * switch was sampled: period 1) and sched:sched_wakeup.  Records must come in order of time
        * (perfile_sort()).  Records with PERFILE_REC_UNSELECTED are not counted; they only give the
        * state before other records.  The flags above cause PERFILE_E_USAGE. */
       PF_PROFILE_TIMES = 1 << 7
};

/* The times of a row's threads, with PF_PROFILE_TIMES.  `samples` of the row is how often they
 * left a CPU, `period` the ns for which they were on one.
 *
 * Each time a thread leaves a CPU, its time on that CPU and its time off CPUs before that are
 * added.  Periods that began before the capture or end after it are not counted. */
typedef struct pf_profile_times {
    uint64_t off;       /* ns on no CPU, from leaving one until running on one again */
    uint64_t waiting;   /* ns of waiting for a CPU, since it was woken or preempted.  With a wake-up
                         * this includes the wait before its first time on a CPU */
    uint64_t longest;   /* ns of the longest such wait */
    uint64_t idle;      /* with PERFILE_PER_CPU alone: ns for which the CPU was idle; else 0 */
    uint64_t preempted; /* how often it left a CPU although it could have continued */
    const char *preempted_by; /* name of the thread that most often followed then; NULL: not known,
                               * or never preempted.  Lives as long as the profile */
    uint64_t preempted_most;  /* how often it was preempted by this thread */
    uint64_t reserved[4];
} pf_profile_times;

/* Ends the current capture and begins another one, or none if `session` is NULL.  The previous
 * session is no longer used.  The limits of the first session stay in effect.  PERFILE_E_USAGE: the
 * profile is finished.  PERFILE_E_NOMEM, PERFILE_E_LIMIT, PERFILE_E_IO. */
PERFILE_MUST_USE perfile_status pf_profile_continue(perfile_profile *profile,
                                                    const perfile_session *session,
                                                    const perfile_model *model, perfile_error *err);

/* The same for row `i` in the first capture, which has the same keys; with PF_PROFILE_COMPARE.
 */
bool pf_profile_get_before(const perfile_profile *profile, size_t i, perfile_profile_row *row,
                           size_t size);

/* Fills the first `size` bytes of *times for row `i`, with PF_PROFILE_TIMES; returns false
 * after the last row. */
bool pf_profile_get_times(const perfile_profile *profile, size_t i, pf_profile_times *times,
                          size_t size);

/* Call trees: below a row are the functions that called it, or that it called, and so on.
 *
 * A node is a part of call chains.  With PERFILE_PER_SYMBOL the part begins next to the frame that
 * the row counts; otherwise it begins with this frame, as the row does not name its function.
 * Nodes are functions, whatever the keys are. */
enum {                           /* pf_calls_options.flags */
       PF_TREE_CALLEES = 1 << 0, /* callees, from its outermost position in a chain; else its
                                  * callers, from its innermost position */
       PF_TREE_TOTAL = 1 << 1,   /* callers: of all samples that have it in their chain; else
                                  * only of samples taken there.  Callees always cover all */
       PF_TREE_PERIODS = 1 << 2  /* shares are of periods, not of samples */
};

/* Zeros are the defaults.  With PERFILE_PROFILE_CALLERS and …_CALLEES trees continue in
 * the same direction and cover all samples, whatever the flags say. */
typedef struct pf_calls_options {
    uint32_t flags;       /* PF_TREE_… */
    uint32_t least;       /* millionths of all samples: nodes with a smaller share are omitted */
    uint32_t depth;       /* maximum depth of nodes; 0: 64; at most 1024 */
    uint32_t width;       /* maximum children of a node, the largest ones; 0: all */
    const uint64_t *rows; /* numbers of the rows that get a tree */
    size_t n_rows;        /* items of `rows` */
} pf_calls_options;

/* A node of the tree of a row. */
typedef struct pf_profile_node {
    uint64_t row;     /* number of its row */
    uint32_t depth;   /* 1: a child of the row; else a child of the last node before it with a depth
                       * less by one */
    uint32_t below;   /* number of its children */
    bool named;       /* `symbol` is a function */
    bool cut;         /* some of its descendants are omitted */
    uint16_t cpumode; /* CPU mode of the code, as in perfile_profile_row */
    uint64_t samples; /* callers: samples taken in the row's function; callees: samples taken in
                       * this one */
    uint64_t period;  /* sum of their periods, up to UINT64_MAX */
    uint64_t total_samples; /* samples that have this part in their call chain */
    uint64_t total_period;  /* up to UINT64_MAX */
    const char *symbol; /* this and the next two as in perfile_profile_row; they live as long as the
                         * trees */
    const char *module; /* likewise */
    uint64_t start;     /* likewise */
    uint64_t reserved[2];
} pf_profile_node;

/* Makes call trees of a finished profile and replaces earlier ones.  As a chain of n functions has
 * n * n nodes, the number of nodes is limited to 8192 plus one for each 4 bytes of records; nodes
 * that lack descendants because of this are `cut`.  PERFILE_E_USAGE: also if captures are compared,
 * or if a row does not exist or is listed twice.  PERFILE_E_NOMEM, PERFILE_E_LIMIT (profile_bytes).
 */
PERFILE_MUST_USE perfile_status pf_profile_make_trees(perfile_profile *profile,
                                                      const pf_calls_options *options,
                                                      perfile_error *err);

/* Fills the first `size` bytes of *node; returns false after the last node.  Trees are in the order
 * of pf_calls_options.rows.  A node is followed by its descendants; children with the most
 * samples (or periods) come first. */
bool pf_profile_get_node(const perfile_profile *profile, size_t i, pf_profile_node *node,
                         size_t size);

/* perfile_profile_get_summary(). */
void pf_profile_get_summary(const perfile_profile *profile, perfile_profile_summary *out,
                            size_t size);

#endif
