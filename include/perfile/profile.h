/* What samples add up to: the numbers that `perf report` shows.
 *
 * A profile counts the samples of a capture for each combination of a few keys, such as the mapped
 * file and the function: those taken there, and those with it anywhere in their call chain.  It can
 * count those that called one function, or that it called; compare captures; and has for each row
 * a call tree.  Of a capture of perf stat it can add up the counts.
 *
 *     perfile_profile_options options = {.size = sizeof options,
 *                                        .per = {PERFILE_PER_DSO, PERFILE_PER_SYMBOL},
 *                                        .symbols = &symbols_options};
 *     st = perfile_profile_open(perfile_stream_session(stream), model, &options, &p, &err);
 *     while (st == PERFILE_OK &&
 *            (st = perfile_stream_next_run(stream, &first, &n, &err)) == PERFILE_OK)
 *         st = perfile_profile_put_run(p, first, n, &err);
 *     if (st == PERFILE_END)
 *         st = perfile_profile_finish(p, &err);
 *     for (size_t i = 0; perfile_profile_get_row(p, i, &row, sizeof row); i++)
 *         …
 *
 * The model must have been fed with the whole capture: each address is resolved as it was mapped at
 * the time of its sample.  Memory grows with distinct call chains, not with samples, and is bounded
 * by perfile_limits.profile_bytes. */
#ifndef PERFILE_PROFILE_H
#define PERFILE_PROFILE_H

#include "model.h"
#include "symbol.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys by which samples are counted apart: perfile_profile_options.per, and the first five
 * perfile_export_options.per. */
enum {
    PERFILE_PER_COMM = 1,   /* the name of the thread at the time of the sample */
    PERFILE_PER_PID = 2,    /* the process */
    PERFILE_PER_TID = 3,    /* the thread */
    PERFILE_PER_EVENT = 4,  /* the event, by its name */
    PERFILE_PER_CPU = 5,    /* the processor */
    PERFILE_PER_DSO = 6,    /* what is mapped at the address */
    PERFILE_PER_SYMBOL = 7, /* the function at the address; the address itself where unknown */
    /* The function of the call chain, the innermost one, whose name
     * perfile_profile_options.parent matches. */
    PERFILE_PER_PARENT = 8,
    PERFILE_PER_SOURCE = 9, /* the line of the source at the address: perfile_symbols_source() */
    /* With PERFILE_PROFILE_COUNTERS: the interval in which it was counted. */
    PERFILE_PER_TIME = 10
};

enum {                                     /* perfile_profile_options.flags */
       PERFILE_PROFILE_NO_UNWIND = 1 << 0, /* copies of user stacks are not unwound */
       /* With PERFILE_PER_SYMBOL: what is in no known function.  By default each place in a file is
        * a row of its own, and all addresses at which nothing is known to be mapped are one: most
        * are no places in code, but what a walk of a stack without frame pointers took for one. */
       PERFILE_PROFILE_UNKNOWN_MODULE = 1 << 1,  /* one row for each file */
       PERFILE_PROFILE_UNKNOWN_ADDRESS = 1 << 2, /* one for each address */
       /* The first capture is what those after it (perfile_profile_continue()) are compared with:
        * perfile_profile_get_before().  As they may be of two builds, functions are identified by
        * their name only, mapped files by their name without folders, and there is one row for all
        * of a file that is in no known function, unless PERFILE_PROFILE_UNKNOWN_ADDRESS is set. */
       PERFILE_PROFILE_COMPARE = 1 << 3,
       /* Only samples with perfile_profile_options.function in their call chain are counted, each
        * for one row only: that of what called the function, in its innermost place in the chain;
        * or that of what it called, in its outermost.  Members that such a row has of a place in
        * code are NULL if there is none: the chain begins or ends with the function itself. */
       PERFILE_PROFILE_CALLERS = 1 << 4,
       PERFILE_PROFILE_CALLEES = 1 << 5,
       /* The values of perf stat (STAT records) are counted, in place of samples; keys are EVENT,
        * CPU, COMM, TID and TIME.  A row of an event adds up what counters counted, and events that
        * could not be counted have a row without values.  What is above is not meant for them:
        * PERFILE_E_USAGE. */
       PERFILE_PROFILE_COUNTERS = 1 << 6,
       /* Times on processors and off them are added up, in place of samples; keys are COMM, PID,
        * TID and CPU, and perfile_profile_get_times() has what a row says besides.  They are from
        * SWITCH and SWITCH_CPU_WIDE records, and from samples of sched:sched_switch (each of them:
        * with a period of 1) and sched:sched_wakeup, which have to come in order of time
        * (perfile_sort()).  What is above is not meant for them: PERFILE_E_USAGE.  Of records with
        * PERFILE_REC_UNSELECTED nothing is counted; they say what was before others. */
       PERFILE_PROFILE_TIMES = 1 << 7
};

/* What is counted.  Set `size`; zeros are the defaults.  Texts are copied. */
typedef struct perfile_profile_options {
    size_t size;
    uint32_t flags;  /* PERFILE_PROFILE_… */
    uint8_t per[12]; /* PERFILE_PER_…, each once, ended by 0; empty: all samples are one row */
    /* How names of functions are looked up; copies of user stacks are then unwound.  Borrowed until
     * the profile is finished.  NULL: neither. */
    const perfile_symbols_options *symbols;
    /* Of PERFILE_PER_PARENT: an extended regular expression.  NULL: system calls and page
     * faults, "^(__(x64|ia32|arm64|s390x|riscv)_)?sys_|^(do|exc)_page_fault". */
    const char *parent;
    /* How many threads resolve samples, the caller's included; at most 256.  0 or 1: only the
     * caller's.  What comes out does not depend on it; each has tables of its own, so that memory
     * may be as much for each.  All calls come from one thread, but for those of `symbols->notice`,
     * which come from one at a time. */
    uint32_t threads;
    uint32_t reserved0;
    /* For PERFILE_PROFILE_CALLERS and …_CALLEES: the name of a function, as perfile_profile_row has
     * it in `symbol`.  All functions of that name count. */
    const char *function;
    /* For PERFILE_PER_TIME: a step in ns.  Times of intervals are rounded down to a multiple of it.
     * 0: each interval has rows of its own. */
    uint64_t time_step;
    uint64_t reserved[4];
} perfile_profile_options;

/* The samples of one combination of values.  Members of keys that were not asked for are NULL and
 * UINT32_MAX.  Texts live as long as the profile, and are not escaped.
 *
 * With PERFILE_PER_SYMBOL a function is identified by its module and its start, not by its name:
 * overloads of C++, which have one name without their arguments, have a row each. */
typedef struct perfile_profile_row {
    /* Samples taken there; with PERFILE_PROFILE_CALLERS: in the function that it called. */
    uint64_t samples;
    uint64_t period; /* sum of their periods, up to UINT64_MAX */
    /* The same for all samples that have it anywhere in their call chain, those taken there
     * included; each counts once.  So rows may add up to more than there are samples. */
    uint64_t total_samples;
    uint64_t total_period; /* up to UINT64_MAX */
    const char *comm;      /* NULL: it is not known */
    const char *event;     /* NULL: likewise */
    const char *dso;       /* as perfile_mapping_dso(); NULL: nothing is known to be mapped there */
    const char *symbol;    /* a function, [module+0x1234] or [module]; NULL: without an address */
    const char *parent;    /* NULL: no function matches */
    const char *source;    /* "file.c:123"; NULL: it is not known */
    uint32_t pid;          /* PERFILE_NO_PID: not known */
    uint32_t tid;          /* PERFILE_NO_PID: not known */
    uint32_t cpu;          /* UINT32_MAX: not known */
    uint16_t cpumode; /* of the code, PERFILE_MISC_CPUMODE_…; with PERFILE_PER_SYMBOL or …_DSO */
    bool named;       /* `symbol` is a function */
    /* The periods mean nothing: they are of several events, or some samples have none. */
    bool mixed;
    const char *module; /* with PERFILE_PER_SYMBOL: as `dso`, of the function.  NULL, and `start` 0,
                         * where captures are compared */
    uint64_t start;     /* offset in the module, or address in the kernel, at which the function
                         * begins; of the address itself where `named` is false, 0 where all
                         * addresses are one row */
    /* With PERFILE_PROFILE_COUNTERS.  `samples` is then the number of values, and `period` is their
     * sum, as counted. */
    uint64_t enabled; /* ns for which the counters were enabled … */
    uint64_t running; /* … and for which they counted: less if they shared a hardware counter */
    uint64_t count;   /* the sum, scaled up from `running` to `enabled` unless perf stat was told
                       * not to scale; 0 if the counters never ran */
    uint64_t time;    /* end of the interval, ns since the start; rounded down to a multiple of
                       * `time_step`.  UINT64_MAX: not asked for, or not known */
    const char *unit; /* the unit of `count` times `scale`; NULL: none, or several */
    double scale;     /* 1: none */
    uint64_t reserved[2];
} perfile_profile_row;

/* With PERFILE_PROFILE_TIMES what a row says of its threads.  `samples` of the row is how often
 * they left a processor, `period` the ns for which they were on one.
 *
 * Counted is, each time that a thread leaves a processor, how long it was there, and how long it
 * was off before: what began before the capture, or ends after it, is not. */
typedef struct perfile_profile_times {
    uint64_t off;     /* ns on no processor, between leaving one and coming to one again */
    uint64_t waiting; /* ns of waiting for a processor: since it was woken, or was preempted.  With
                       * a wake-up, also before it was on a processor for the first time */
    uint64_t longest; /* ns of the longest such wait */
    uint64_t idle;    /* with PERFILE_PER_CPU alone: ns for which the processor was idle; else 0 */
    uint64_t preempted;       /* how often it left a processor although it could have gone on … */
    const char *preempted_by; /* … and the thread that came then most often, by its name; NULL: it
                               * is not known, or there was none; it lives as long as the profile */
    uint64_t preempted_most;  /* how often that was this one */
    uint64_t reserved[4];
} perfile_profile_times;

/* What the samples add up to. */
typedef struct perfile_profile_summary {
    uint64_t samples;        /* that were put in */
    uint64_t period;         /* sum of their periods, up to UINT64_MAX */
    uint64_t rows;           /* how many there are; 0 before perfile_profile_finish() */
    uint64_t without_period; /* samples for which no period is known */
    uint64_t without_stack;  /* samples of which no address is known */
    uint64_t unreadable;     /* samples whose call chain could not be read */
    uint64_t joined;         /* call chains whose user part came later (CALLCHAIN_DEFERRED) */
    uint64_t not_joined;     /* those whose user part did not come */
    uint64_t stacks;         /* distinct ones, with every beginning of one */
    uint64_t unmapped;       /* of them, those that end where nothing is known to be mapped */
    uint64_t named;          /* of them, those that end in a known function */
    uint64_t frames;        /* distinct functions, files and places in code that these consist of */
    uint64_t bytes;         /* of memory, out of perfile_limits.profile_bytes */
    uint64_t unwound;       /* as in perfile_export_summary, and the next four: */
    uint32_t unwound_short; /* the copy of the stack ends */
    uint32_t unwound_no_file;  /* a file was not found */
    uint32_t unwound_no_rules; /* it has no rules for the code */
    uint32_t not_unwound;      /* not supported, or damaged */
    bool has_chains;           /* some samples have callers: totals are more than what was taken */
    bool mixed;                /* as perfile_profile_row.mixed, of all samples */
    uint8_t reserved0[2];
    /* Bytes to which longer names were shortened, in the middle, because the names of all rows
     * would have been more than 4 times the records, and 256 KiB; 0: all names are whole. */
    uint32_t names_most;
    uint64_t too_costly; /* perfile_symbols_too_costly() */
    /* With PERFILE_PROFILE_COMPARE, of the first capture; those of the others are in `samples`.
     * What samples lack, and what is said of stacks, is of all captures. */
    uint64_t before_samples;
    uint64_t before_period; /* likewise */
    uint64_t idle; /* with PERFILE_PROFILE_TIMES: ns for which processors were idle, of all */
} perfile_profile_summary;

/* Samples that are added up. */
typedef struct perfile_profile perfile_profile;

/* Borrows session and model until the profile is finished or closed.  `model` NULL: nothing is
 * known to be mapped, and no thread has a name.  PERFILE_E_USAGE: `per` or `parent` is none;
 * PERFILE_E_NOMEM; PERFILE_E_IO, PERFILE_E_LIMIT: symbols->kallsyms. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_profile_open(
    const perfile_session *session, const perfile_model *model,
    const perfile_profile_options *options, perfile_profile **profile, perfile_error *err);

/* Puts n records in; those that are no samples are skipped.  PERFILE_E_NOMEM, PERFILE_E_LIMIT
 * (profile_bytes). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_profile_put_run(perfile_profile *profile,
                                                                    const perfile_record *first,
                                                                    size_t n, perfile_error *err);

/* The present capture ends, and another one begins; with `session` NULL none, and the session that
 * was given before is not used any more.  Limits are those of the first one.  PERFILE_E_USAGE: the
 * profile is finished; PERFILE_E_NOMEM, PERFILE_E_LIMIT, PERFILE_E_IO. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_profile_continue(perfile_profile *profile,
                                                                     const perfile_session *session,
                                                                     const perfile_model *model,
                                                                     perfile_error *err);

/* No more records come: names functions, and makes the rows.  Called once.  Errors likewise. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_profile_finish(perfile_profile *profile,
                                                                   perfile_error *err);

/* Fills the first `size` bytes of *row; false behind the last row.  Rows are in no order that means
 * something. */
PERFILE_API bool perfile_profile_get_row(const perfile_profile *profile, size_t i,
                                         perfile_profile_row *row, size_t size);

/* With PERFILE_PROFILE_COMPARE: row `i` of the first capture, with the same keys; likewise. */
PERFILE_API bool perfile_profile_get_before(const perfile_profile *profile, size_t i,
                                            perfile_profile_row *row, size_t size);

/* With PERFILE_PROFILE_TIMES: fills the first `size` bytes of *times for row `i`; likewise. */
PERFILE_API bool perfile_profile_get_times(const perfile_profile *profile, size_t i,
                                           perfile_profile_times *times, size_t size);

/* Call trees: below a row the functions that called it, or that it called, and those beyond them.
 *
 * A node stands for a part of call chains, which begins next to the frame that the row counts (with
 * PERFILE_PER_SYMBOL; else with this frame, as the row does not say its function).  Functions are
 * nodes whatever the keys are. */
enum {                                /* perfile_tree_options.flags */
       PERFILE_TREE_CALLEES = 1 << 0, /* what it called, from its outermost place in a chain on;
                                       * else its callers, from its innermost place on */
       PERFILE_TREE_TOTAL = 1 << 1,   /* callers of all samples that have it in their chain; else of
                                       * those only that were taken there.  Callees are of all. */
       PERFILE_TREE_PERIODS = 1 << 2  /* shares are of periods, not of samples */
};

/* Set `size`; zeros are the defaults.  With PERFILE_PROFILE_CALLERS and …_CALLEES trees go the same
 * way on, and are of all samples, whatever the flags say. */
typedef struct perfile_tree_options {
    size_t size;
    uint32_t flags;       /* PERFILE_TREE_… */
    uint32_t least;       /* millionths of all samples: nodes with a smaller share are left out */
    uint32_t depth;       /* how many nodes lie one below the other; 0: 64, the most are 1024 */
    uint32_t width;       /* of the nodes below one only so many, those of the most; 0: all */
    const uint64_t *rows; /* the numbers of the rows that get one … */
    size_t n_rows;        /* … and how many these are */
    uint64_t reserved[2];
} perfile_tree_options;

/* A node of the tree of a row. */
typedef struct perfile_profile_node {
    uint64_t row;     /* the number of its row */
    uint32_t depth;   /* 1: it is next to the row; else it is below the last node with one less */
    uint32_t below;   /* how many nodes are directly below it */
    bool named;       /* `symbol` is a function */
    bool cut;         /* some nodes below it are left out */
    uint16_t cpumode; /* of the code, as in perfile_profile_row */
    uint64_t samples; /* callers: that were taken in the row's function; callees: in this one */
    uint64_t period;  /* of these, up to UINT64_MAX */
    uint64_t total_samples; /* whose call chain has this part */
    uint64_t total_period;  /* up to UINT64_MAX */
    const char *symbol; /* this and the next two as in perfile_profile_row; they live as long as the
                         * trees */
    const char *module; /* likewise */
    uint64_t start;     /* likewise */
    uint64_t reserved[2];
} perfile_profile_node;

/* Makes call trees of a finished profile, in the place of those that it had.  A chain of n
 * functions has n * n nodes: there are at most 8192 and one for each 4 bytes of records; above what
 * is left out then nodes are `cut`.  PERFILE_E_USAGE: also where captures are compared, and of rows
 * that are none or given twice; PERFILE_E_NOMEM, PERFILE_E_LIMIT (profile_bytes). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_profile_make_trees(
    perfile_profile *profile, const perfile_tree_options *options, perfile_error *err);

/* Fills the first `size` bytes of *node; false behind the last node.  Trees are in the order in
 * which rows were given; a node is followed by the nodes below it, those of the most samples (or
 * periods) first. */
PERFILE_API bool perfile_profile_get_node(const perfile_profile *profile, size_t i,
                                          perfile_profile_node *node, size_t size);

/* Fills the first `size` bytes of *summary. */
PERFILE_API void perfile_profile_get_summary(const perfile_profile *profile,
                                             perfile_profile_summary *summary, size_t size);

/* Releases the profile and all texts of its rows.  NULL is fine. */
PERFILE_API void perfile_profile_close(perfile_profile *profile);

#ifdef __cplusplus
}
#endif

#endif
