/* Model of the recorded system: processes, threads, their names, and mappings, collected from
 * records.
 *
 * Feed records in any order, then query.  Such records do not come in order of time, so every fact
 * is stored with its time.  An answer for a time is correct as soon as the records that affect it
 * were fed.  Records without a time count as older than the recording; of two with the same time
 * the later one in the stream wins.
 *
 * Memory grows with the number of these records, not with sizes that they claim, up to
 * perfile_limits.model_bytes of the stream.  A record that repeats an earlier one exactly costs
 * nothing.  Requested lists need additional memory. */
#ifndef PERFILE_MODEL_H
#define PERFILE_MODEL_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model; it holds the facts of the records that were fed. */
typedef struct perfile_model perfile_model;

/* A thread got a name. */
typedef struct perfile_thread_name {
    uint64_t time;    /* when, ns of the session clock */
    const char *name; /* lives as long as the model */
    bool exec;        /* the name changed because another program was started */
    uint64_t reserved[1];
} perfile_thread_name;

/* A thread.  If a tid is reused, each use is a separate thread. */
typedef struct perfile_thread {
    uint32_t pid, tid;   /* its numbers */
    uint32_t ppid, ptid; /* parent process and thread; PERFILE_NO_PID if not known */
    uint64_t start;      /* PERFILE_NO_TIME: it was there before the recording, or is not known */
    uint64_t end;        /* PERFILE_NO_TIME: it outlived the recording, or is not known */
    const char *comm;    /* its last name; if it had none, the name of its parent; or NULL */
    uint32_t n_names;    /* items of `names` */
    const perfile_thread_name *names; /* in order of time */
    uint64_t reserved[2];
} perfile_thread;

/* The threads of one pid.  If a pid is reused, each use is a separate process. */
typedef struct perfile_process {
    uint32_t pid, ppid;  /* its number, and its parent's */
    uint64_t start, end; /* as in perfile_thread */
    const char *comm;    /* of its main thread */
    uint32_t n_threads;  /* threads that were seen */
    uint64_t reserved[2];
} perfile_process;

enum {                            /* perfile_mapping.kind */
       PERFILE_MAPPING_FILE = 0,  /* MMAP, MMAP2 */
       PERFILE_MAPPING_SYMBOL = 1 /* KSYMBOL: a piece of generated kernel code */
};

/* A mapping in an address space. */
typedef struct perfile_mapping {
    uint32_t pid;              /* PERFILE_NO_PID: the kernel */
    uint32_t tid;              /* thread that made the mapping */
    uint64_t addr, len, pgoff; /* bytes: first address, length, offset in the file */
    uint64_t start;            /* 0 if it existed before the recording */
    uint64_t end; /* when the process started another program or ended, or the symbol was removed;
                   * PERFILE_NO_TIME if not seen.  Filled by perfile_model_mappings().  Later
                   * mappings may cover it */
    const char *name;             /* file, or [name] of a pseudo file, or symbol; never NULL */
    uint64_t ino, ino_generation; /* of the file */
    uint32_t maj, min;            /* device of the file */
    uint32_t prot, flags;         /* PROT_ and MAP_ bits */
    uint8_t build_id[20];         /* of the file, build_id_size bytes are valid */
    uint8_t build_id_size; /* 0: not known.  From the record itself, else from the capture's list
                            * for the name: feature BUILD_ID, HEADER_BUILD_ID records */
    uint8_t kind;          /* PERFILE_MAPPING_… */
    uint8_t cpumode;       /* misc of the record: 1 kernel, 2 user, 4 guest kernel, 5 guest user */
    bool has_inode;        /* maj, min, ino, ino_generation are present */
    bool has_prot;         /* prot, flags are present */
    bool data;             /* not executable */
    bool generated; /* executable memory of a process without a file: the record says //anon or the
                     * like.  `name` is then /tmp/perf-PID.map of `pid`, which has its symbols if it
                     * exists; perf uses the same name */
    uint8_t reserved0[5];
    uint64_t reserved[2];
} perfile_mapping;

/* Makes a model.  It asks `s` for build ids and for simpleperf's records of the initial state
 * (feature INIT_MAP); `s` must outlive the model.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_model_open(const perfile_session *s,
                                                               perfile_model **model,
                                                               perfile_error *err);

/* Feeds the record `r`.  Records without facts about processes, and damaged ones, are skipped.
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT (model_bytes): the model can still be queried, but may lack the
 * facts of this record. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_model_feed(perfile_model *model,
                                                               const perfile_record *r,
                                                               perfile_error *err);

/* Returns the name of a thread at a time (PERFILE_NO_TIME: its last one): its own, else the one
 * inherited by fork (through at most 32 generations), else the name of its process; NULL if not
 * known, and for PERFILE_NO_PID.  Equal names are equal pointers, which live as long as the model.
 */
PERFILE_API const char *perfile_model_comm(const perfile_model *model, uint32_t pid, uint32_t tid,
                                           uint64_t time);

/* Returns the mapping at `addr` of process `pid` (PERFILE_NO_PID: the kernel) at a time: the latest
 * one that covers the address.  One from before the process last started a program is used only
 * where that program has mapped nothing; a fork inherits the mappings of its parent (32 such steps
 * at most).  NULL if not known.  Valid until the next feed. */
PERFILE_API const perfile_mapping *perfile_model_mapping(const perfile_model *model, uint32_t pid,
                                                         uint64_t addr, uint64_t time);

#ifndef PERFILE_DECLARATIONS
/* Returns the name of the thread of a record, at its time; NULL if not known. */
static inline const char *perfile_model_record_comm(const perfile_model *model,
                                                    const perfile_record *r)
{
    uint32_t pid, tid;
    if (!perfile_record_task(r, &pid, &tid))
        return NULL;
    return perfile_model_comm(model, pid, tid, perfile_record_time(r));
}
#endif

#ifndef PERFILE_DECLARATIONS
/* Returns the mapping at the address of a SAMPLE of user or kernel code of the host; NULL if not
 * known.  Valid until the next feed. */
static inline const perfile_mapping *perfile_model_record_mapping(const perfile_model *model,
                                                                  const perfile_record *r)
{
    const uint32_t mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    uint32_t pid = PERFILE_NO_PID, tid;
    uint64_t ip;
    if (mode != PERFILE_MISC_CPUMODE_KERNEL && mode != PERFILE_MISC_CPUMODE_USER)
        return NULL;
    if (!perfile_sample_field(r, PERFILE_SAMPLE_IP, &ip))
        return NULL;
    if (mode == PERFILE_MISC_CPUMODE_USER && !perfile_record_task(r, &pid, &tid))
        return NULL;
    return perfile_model_mapping(model, pid, ip, perfile_record_time(r));
}
#endif

#ifndef PERFILE_DECLARATIONS
/* Returns the name of a mapping as perf names the object: the kernel's name is stored with a symbol
 * appended, "[kernel.kallsyms]_text".  Lives as long as the model; equal names are equal pointers.
 */
static inline perfile_bytes perfile_mapping_dso(const perfile_mapping *mapping)
{
    perfile_bytes dso = {(const uint8_t *)mapping->name, strlen(mapping->name)};
    const char *end = mapping->name[0] == '[' ? strchr(mapping->name, ']') : NULL;
    if (end && end[1] == '_')
        dso.len = (size_t)(end + 1 - mapping->name);
    return dso;
}
#endif

enum { /* `list` of perfile_model_list() */
       PERFILE_MODEL_THREADS = 0,
       PERFILE_MODEL_PROCESSES = 1,
       PERFILE_MODEL_MAPPINGS = 2
};

/* Makes a list of structs, for the functions below: *items becomes the first of *n.
 * PERFILE_E_USAGE: there is no such list. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_model_list(perfile_model *model, uint32_t list,
                                                               const void **items, size_t *n,
                                                               perfile_error *err);

#ifndef PERFILE_DECLARATIONS
/* Returns all threads, sorted by process, then thread, then time.  The list is made on request and
 * is valid until the next feed.  PERFILE_E_NOMEM. */
static inline PERFILE_MUST_USE perfile_status perfile_model_threads(perfile_model *model,
                                                                    const perfile_thread **threads,
                                                                    size_t *n, perfile_error *err)
{
    const void *items = NULL;
    const perfile_status st = perfile_model_list(model, PERFILE_MODEL_THREADS, &items, n, err);
    if (st == PERFILE_OK)
        *threads = (const perfile_thread *)items;
    return st;
}

/* Likewise all processes, sorted by process, then time. */
static inline PERFILE_MUST_USE perfile_status perfile_model_processes(
    perfile_model *model, const perfile_process **processes, size_t *n, perfile_error *err)
{
    const void *items = NULL;
    const perfile_status st = perfile_model_list(model, PERFILE_MODEL_PROCESSES, &items, n, err);
    if (st == PERFILE_OK)
        *processes = (const perfile_process *)items;
    return st;
}

/* Likewise all mappings, sorted by process, then address, then time. */
static inline PERFILE_MUST_USE perfile_status perfile_model_mappings(
    perfile_model *model, const perfile_mapping **mappings, size_t *n, perfile_error *err)
{
    const void *items = NULL;
    const perfile_status st = perfile_model_list(model, PERFILE_MODEL_MAPPINGS, &items, n, err);
    if (st == PERFILE_OK)
        *mappings = (const perfile_mapping *)items;
    return st;
}
#endif

/* Releases the model.  NULL is fine. */
PERFILE_API void perfile_model_close(perfile_model *model);

#ifdef __cplusplus
}
#endif

#endif
