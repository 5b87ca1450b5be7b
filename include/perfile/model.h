/* What records say about the world: processes, threads, their names, and what is mapped where.
 *
 * A model is fed with records as they pass, in any order, and asked.  Records that describe the
 * world do not come in order of time, so everything is kept with its time, and an answer for a time
 * is right as soon as the records that concern it were fed.  Records without a time count as being
 * from before the recording; of two with the same time the later one in the stream wins.
 *
 * Memory grows with the records of these kinds that arrived, not with anything they promise, up to
 * perfile_limits.model_bytes of the stream.  What a record says that another one said before, all
 * the same, costs nothing.  Lists that are asked for come on top of that. */
#ifndef PERFILE_MODEL_H
#define PERFILE_MODEL_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was learned of the records that were fed. */
typedef struct perfile_model perfile_model;

/* A thread got a name. */
typedef struct perfile_thread_name {
    uint64_t time;    /* when, ns of the session clock */
    const char *name; /* lives as long as the model */
    bool exec;        /* because another program was started */
    uint64_t reserved[1];
} perfile_thread_name;

/* A thread; a number that was used again makes another one. */
typedef struct perfile_thread {
    uint32_t pid, tid;   /* its numbers */
    uint32_t ppid, ptid; /* who made it; PERFILE_NO_PID when not known */
    uint64_t start;      /* PERFILE_NO_TIME: it was there before the recording, or is not known */
    uint64_t end;        /* PERFILE_NO_TIME: it outlived the recording, or is not known */
    const char *comm; /* its last name, that of whom it was forked from if it had none, or NULL */
    uint32_t n_names; /* items of `names` */
    const perfile_thread_name *names; /* in order of time */
    uint64_t reserved[2];
} perfile_thread;

/* The threads of one pid; a number that was used again makes another one. */
typedef struct perfile_process {
    uint32_t pid, ppid;  /* its number and that of its parent */
    uint64_t start, end; /* as those of a thread */
    const char *comm;    /* of its main thread */
    uint32_t n_threads;  /* that were seen */
    uint64_t reserved[2];
} perfile_process;

enum {                            /* perfile_mapping.kind */
       PERFILE_MAPPING_FILE = 0,  /* MMAP, MMAP2 */
       PERFILE_MAPPING_SYMBOL = 1 /* KSYMBOL: a piece of generated kernel code */
};

/* Something that lies in an address space. */
typedef struct perfile_mapping {
    uint32_t pid;              /* PERFILE_NO_PID: the kernel */
    uint32_t tid;              /* who made the mapping */
    uint64_t addr, len, pgoff; /* bytes: first address, length, offset in the file */
    uint64_t start;            /* 0 for what was there before the recording */
    uint64_t end;     /* when the process started another program or ended, or the symbol went;
                       * PERFILE_NO_TIME when not seen.  Filled by perfile_model_mappings().  Other
                       * mappings that came later may lie over it. */
    const char *name; /* file, or [name] of a pseudo file, or symbol; never NULL */
    uint64_t ino, ino_generation; /* of the file */
    uint32_t maj, min;            /* device of the file */
    uint32_t prot, flags;         /* PROT_ and MAP_ bits */
    uint8_t build_id[20];         /* of the file, build_id_size bytes are valid */
    uint8_t build_id_size; /* 0: not known.  Of the record itself, else what the capture lists for
                            * the name: feature BUILD_ID, HEADER_BUILD_ID records */
    uint8_t kind;          /* PERFILE_MAPPING_… */
    uint8_t cpumode;       /* misc of the record: 1 kernel, 2 user, 4 guest kernel, 5 guest user */
    bool has_inode;        /* maj, min, ino, ino_generation are there */
    bool has_prot;         /* prot, flags are there */
    bool data;             /* not executable */
    bool generated;        /* executable memory of a process without a file behind it: the record
                            * says //anon or the like, `name` is /tmp/perf-PID.map of `pid`, which
                            * has its symbols if there is one.  perf uses the same name. */
    uint8_t reserved0[5];
    uint64_t reserved[2];
} perfile_mapping;

/* `s` is asked for build ids and for simpleperf's records of what existed at the start (feature
 * INIT_MAP), and must outlive the model.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_model_new(const perfile_session *s,
                                                              perfile_model **model,
                                                              perfile_error *err);

/* Whether perfile_model_feed() learns from records of this type: for callers in a hurry.  SAMPLE
 * and SWITCH say only that a thread exists. */
PERFILE_API bool perfile_model_wants(uint32_t type);

/* Feeds the record `r`.  Records without facts about processes, and damaged ones, are skipped.
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT (model_bytes); the model can be asked on, but may lack what this
 * record said. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_model_feed(perfile_model *model,
                                                               const perfile_record *r,
                                                               perfile_error *err);

/* The name of a thread at a time (PERFILE_NO_TIME: its last one): its own, else what it inherited
 * from whom it was forked (through at most 32 generations), else that of its process; NULL when not
 * known, and for PERFILE_NO_PID.  Equal names are equal pointers, which live as long as the model.
 */
PERFILE_API const char *perfile_model_comm(const perfile_model *model, uint32_t pid, uint32_t tid,
                                           uint64_t time);

/* The same, and the times from *first to *last, both included, at which it is the same: for readers
 * of many records, who keep the answer for a thread as long as it holds.  They are not the longest
 * such span. */
PERFILE_API const char *perfile_model_comm_during(const perfile_model *model, uint32_t pid,
                                                  uint32_t tid, uint64_t time, uint64_t *first,
                                                  uint64_t *last);

/* What was mapped at `addr` of process `pid` (PERFILE_NO_PID: of the kernel) at a time: the latest
 * mapping that covers the address; one from before the process last started a program only where
 * that program has mapped nothing; a fork has what its parent had (32 such steps at most).  NULL
 * when not known.  Valid until the next feed. */
PERFILE_API const perfile_mapping *perfile_model_mapping(const perfile_model *model, uint32_t pid,
                                                         uint64_t addr, uint64_t time);

/* The name of the thread of a record at its time; NULL when not known. */
PERFILE_API const char *perfile_model_record_comm(const perfile_model *model,
                                                  const perfile_record *r);

/* What was mapped at the address of a SAMPLE of user or kernel code; NULL when not known.  Valid
 * until the next feed. */
PERFILE_API const perfile_mapping *perfile_model_record_mapping(const perfile_model *model,
                                                                const perfile_record *r);

/* The name of a mapping as perf calls the object: that of the kernel is stored with a symbol behind
 * it, "[kernel.kallsyms]_text".  Lives as long as the model; equal names are at equal places. */
PERFILE_API perfile_bytes perfile_mapping_dso(const perfile_mapping *mapping);

/* All of them, sorted by process, then thread or address, then time.  The lists are made when asked
 * for and are valid until the next feed.  PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_model_threads(perfile_model *model,
                                                                  const perfile_thread **threads,
                                                                  size_t *n, perfile_error *err);
PERFILE_API PERFILE_MUST_USE perfile_status perfile_model_processes(
    perfile_model *model, const perfile_process **processes, size_t *n, perfile_error *err);
PERFILE_API PERFILE_MUST_USE perfile_status perfile_model_mappings(perfile_model *model,
                                                                   const perfile_mapping **mappings,
                                                                   size_t *n, perfile_error *err);

/* Releases the model.  NULL is fine. */
PERFILE_API void perfile_model_close(perfile_model *model);

#ifdef __cplusplus
}
#endif

#endif
