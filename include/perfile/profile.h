/* Adds up samples: the numbers that `perf report` shows.
 *
 * A profile counts the samples of a capture for each combination of a few keys, such as mapped file
 * and function.  It counts samples taken there, and samples that have it anywhere in their call
 * chain.  It can also count only the callers or callees of one function, compare captures, and make
 * a call tree for each row.  For a capture of perf stat it can add up the counts.
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
 * Feed the model with the whole capture first: each address is resolved with the mappings at the
 * time of its sample.  Memory grows with distinct call chains, not with samples, and is bounded by
 * perfile_limits.profile_bytes. */
#ifndef PERFILE_PROFILE_H
#define PERFILE_PROFILE_H

#include "model.h"
#include "symbol.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys that separate samples into rows: perfile_profile_options.per, and the first five also
 * perfile_export_options.per. */
enum {
    PERFILE_PER_COMM = 1,   /* the name of the thread at the time of the sample */
    PERFILE_PER_PID = 2,    /* the process */
    PERFILE_PER_TID = 3,    /* the thread */
    PERFILE_PER_EVENT = 4,  /* the event, by its name */
    PERFILE_PER_CPU = 5,    /* the CPU */
    PERFILE_PER_DSO = 6,    /* the object mapped at the address */
    PERFILE_PER_SYMBOL = 7, /* the function at the address; the address itself where unknown */
    /* The innermost function of the call chain with a name that perfile_profile_options.parent
     * matches. */
    PERFILE_PER_PARENT = 8,
    PERFILE_PER_SOURCE = 9, /* the source line at the address: perfile_symbols_source() */
    /* With PERFILE_PROFILE_COUNTERS: the interval of the count. */
    PERFILE_PER_TIME = 10
};

enum { /* perfile_profile_options.flags; 1 << 3 and 1 << 7 are flags of the command perfile */
       PERFILE_PROFILE_NO_UNWIND = 1 << 0, /* copies of user stacks are not unwound */
       /* With PERFILE_PER_SYMBOL: rows for addresses in no known function.  By default each offset
        * in a file has its own row, and all addresses without a known mapping share one: most of
        * these are not code, but values that a stack walk without frame pointers mistook for it. */
       PERFILE_PROFILE_UNKNOWN_MODULE = 1 << 1,  /* one row for each file */
       PERFILE_PROFILE_UNKNOWN_ADDRESS = 1 << 2, /* one for each address */
       /* Counts only samples with perfile_profile_options.function in their call chain, each for
        * one row only.  CALLERS: the row of the function's caller, at its innermost position in the
        * chain.  CALLEES: the row of the function that it called, at its outermost position.  If
        * the chain begins or ends with the function itself there is no such frame, and the row's
        * members for it are NULL. */
       PERFILE_PROFILE_CALLERS = 1 << 4,
       PERFILE_PROFILE_CALLEES = 1 << 5,
       /* Counts the values of perf stat (STAT records) instead of samples.  Keys are EVENT, CPU,
        * COMM, TID and TIME.  The row of an event adds up its counters; an event that could not be
        * counted has a row without values.  The flags above cause PERFILE_E_USAGE. */
       PERFILE_PROFILE_COUNTERS = 1 << 6,
};

/* What to count.  Set `size`; zeros are the defaults.  Texts are copied. */
typedef struct perfile_profile_options {
    size_t size;
    uint32_t flags;  /* PERFILE_PROFILE_… */
    uint8_t per[12]; /* PERFILE_PER_…, each once, ended by 0; empty: all samples are one row */
    /* How function names are looked up.  Copies of user stacks are then unwound, too.  Borrowed
     * until the profile is finished.  NULL: no names and no unwinding. */
    const perfile_symbols_options *symbols;
    /* For PERFILE_PER_PARENT: an extended regular expression.  NULL: system calls and page faults,
     * "^(__(x64|ia32|arm64|s390x|riscv)_)?sys_|^(do|exc)_page_fault". */
    const char *parent;
    /* Number of threads that resolve samples, including the caller's; at most 256.  0 or 1: only
     * the caller's.  The result does not depend on it.  Each thread has its own tables, so each may
     * take as much memory as one thread alone.  All calls come from one thread, except for
     * `symbols->notice`, which may come from any of them but only one at a time. */
    uint32_t threads;
    uint32_t reserved0;
    /* For PERFILE_PROFILE_CALLERS and …_CALLEES: the name of a function, as in
     * perfile_profile_row.symbol.  All functions of that name count. */
    const char *function;
    /* For PERFILE_PER_TIME: a step in ns.  Interval times are rounded down to a multiple of it.  0:
     * each interval has its own rows. */
    uint64_t time_step;
    uint64_t reserved[4];
} perfile_profile_options;

/* The samples of one combination of key values.  Members for keys that were not requested are NULL
 * and UINT32_MAX.  Texts live as long as the profile and are not escaped.
 *
 * With PERFILE_PER_SYMBOL a function is identified by its module and start address, not by its
 * name: C++ overloads, which share a name without their arguments, have a row each. */
typedef struct perfile_profile_row {
    /* Samples taken there; with PERFILE_PROFILE_CALLERS: taken in the function that it called. */
    uint64_t samples;
    uint64_t period; /* sum of their periods, up to UINT64_MAX */
    /* The same for all samples that have it anywhere in their call chain, including samples taken
     * there.  Each sample counts once per row, so the totals of rows may add up to more than all
     * samples. */
    uint64_t total_samples;
    uint64_t total_period; /* up to UINT64_MAX */
    const char *comm;      /* NULL: not known */
    const char *event;     /* NULL: likewise */
    const char *dso;       /* as perfile_mapping_dso(); NULL: no known mapping */
    const char *symbol;    /* a function, [module+0x1234] or [module]; NULL: no address */
    const char *parent;    /* NULL: no function matches */
    const char *source;    /* "file.c:123"; NULL: not known */
    uint32_t pid;          /* PERFILE_NO_PID: not known */
    uint32_t tid;          /* PERFILE_NO_PID: not known */
    uint32_t cpu;          /* UINT32_MAX: not known */
    uint16_t cpumode; /* CPU mode of the code, PERFILE_MISC_CPUMODE_…; with PERFILE_PER_SYMBOL or
                       * …_DSO */
    bool named;       /* `symbol` is a function */
    /* The periods mean nothing: the samples are of several events, or some have no period. */
    bool mixed;
    const char *module; /* with PERFILE_PER_SYMBOL: the module of the function, as `dso`.  NULL,
                         * with `start` 0, when captures are compared */
    uint64_t start; /* where the function begins: offset in the module, or address in the kernel. If
                     * `named` is false: the address itself, or 0 when all addresses share a row */
    /* With PERFILE_PROFILE_COUNTERS.  `samples` is then the number of values, and `period` is their
     * unscaled sum. */
    uint64_t enabled; /* ns during which the counters were enabled */
    uint64_t running; /* ns during which they counted: less if they shared a hardware counter */
    uint64_t count; /* the sum, scaled up from `running` to `enabled` unless scaling was off in perf
                     * stat; 0 if the counters never ran */
    uint64_t time;  /* end of the interval, ns since the start; rounded down to a multiple of
                     * `time_step`.  UINT64_MAX: not requested, or not known */
    const char *unit; /* unit of `count` times `scale`; NULL: none, or several */
    double scale;     /* 1: none */
    uint64_t reserved[2];
} perfile_profile_row;

/* Totals of a profile. */
typedef struct perfile_profile_summary {
    uint64_t samples;          /* samples that were put in */
    uint64_t period;           /* sum of their periods, up to UINT64_MAX */
    uint64_t rows;             /* number of rows; 0 before perfile_profile_finish() */
    uint64_t without_period;   /* samples without a known period */
    uint64_t without_stack;    /* samples without a known address */
    uint64_t unreadable;       /* samples with an unreadable call chain */
    uint64_t joined;           /* call chains whose user part came later (CALLCHAIN_DEFERRED) */
    uint64_t not_joined;       /* call chains that never got their user part */
    uint64_t stacks;           /* distinct stacks; each prefix of a stack counts, too */
    uint64_t unmapped;         /* stacks that end at an address without a known mapping */
    uint64_t named;            /* stacks that end in a known function */
    uint64_t frames;           /* distinct functions, files and code addresses in these stacks */
    uint64_t bytes;            /* bytes of memory, limited by perfile_limits.profile_bytes */
    uint64_t unwound;          /* as in perfile_export_summary, and the next four: */
    uint32_t unwound_short;    /* the copy of the stack ends */
    uint32_t unwound_no_file;  /* a file was not found */
    uint32_t unwound_no_rules; /* it has no rules for the code */
    uint32_t not_unwound;      /* not supported, or damaged */
    bool has_chains;           /* some samples have callers, so totals exceed samples taken */
    bool mixed;                /* as perfile_profile_row.mixed, of all samples */
    uint8_t reserved0[2];
    /* Longer names were shortened in the middle to this many bytes, because the names of all rows
     * would have taken more than 4 times the size of the records plus 256 KiB.  0: no name was
     * shortened. */
    uint32_t names_most;
    uint64_t too_costly; /* requests that the symbolizer did not answer */
    /* Where captures are compared: samples and period of the first capture; `samples` and `period`
     * are then of the others.  All other members cover all captures. */
    uint64_t before_samples;
    uint64_t before_period; /* likewise */
    uint64_t idle;          /* of times on and off CPUs: ns for which CPUs were idle, of all CPUs */
} perfile_profile_summary;

/* A profile: adds up samples. */
typedef struct perfile_profile perfile_profile;

/* Opens a profile.  Borrows session and model until the profile is finished or closed.  `model`
 * NULL: mappings and thread names are unknown.  PERFILE_E_USAGE: `per` or `parent` is invalid.
 * PERFILE_E_NOMEM.  PERFILE_E_IO, PERFILE_E_LIMIT: from reading symbols->kallsyms. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_profile_open(
    const perfile_session *session, const perfile_model *model,
    const perfile_profile_options *options, perfile_profile **profile, perfile_error *err);

/* Adds n records; records that are not counted are skipped.  PERFILE_E_NOMEM, PERFILE_E_LIMIT
 * (profile_bytes). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_profile_put_run(perfile_profile *profile,
                                                                    const perfile_record *first,
                                                                    size_t n, perfile_error *err);

/* Ends the input, looks up function names and makes the rows.  Call it once.  PERFILE_E_USAGE: it
 * is finished already.  PERFILE_E_NOMEM, PERFILE_E_LIMIT, PERFILE_E_IO. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_profile_finish(perfile_profile *profile,
                                                                   perfile_error *err);

/* Fills the first `size` bytes of *row; returns false after the last row.  The order of rows has no
 * meaning. */
PERFILE_API bool perfile_profile_get_row(const perfile_profile *profile, size_t i,
                                         perfile_profile_row *row, size_t size);

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *summary. */
static inline void perfile_profile_get_summary(const perfile_profile *profile,
                                               perfile_profile_summary *summary, size_t size)
{
    perfile_summary(PERFILE_SUMMARY_PROFILE, profile, summary, size);
}
#endif

/* Releases the profile and all texts of its rows.  NULL is fine. */
PERFILE_API void perfile_profile_close(perfile_profile *profile);

#ifdef __cplusplus
}
#endif

#endif
