/* Captures as tables: the interface shared by the makers of rows.
 *
 * This is a form of export (export/export.h): records are put in, and samples come back resolved
 * and in order.  Makers fill a batch of each table.  A full batch goes to the consumer, which
 * writes a row group or passes it on.  Several captures follow each other and share nothing:
 * distinct items (stacks, frames, modules) are written once for each capture. */
#ifndef PF_TABLES_TABLES_H
#define PF_TABLES_TABLES_H

#include "export/export.h"
#include "arrow/batch.h"

/* Under the fuzzer a batch is small, so that small captures have several. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PF_BATCH_ROWS = 7 };
#else
enum { PF_BATCH_ROWS = 122880 }; /* maximum; the row group size of most engines */
#endif

/* A table of the current capture. */
typedef struct pf_table {
    const pf_table_about *about;
    size_t number;     /* PF_TABLE_… */
    const char *event; /* for a tracepoint's table, such as "sched:sched_switch"; otherwise NULL */
    pf_table_batch *batch; /* pending rows; NULL: the table is not wanted */
    void *to;              /* owned by the consumer */
} pf_table;

/* The receiver of batches. */
typedef struct pf_tables_consumer {
    /* A capture begins; its properties are in the pf_tables.  May be NULL. */
    perfile_status (*begin)(void *user, perfile_error *err);
    /* Receives table->batch, which is complete and has rows, and replaces it by an empty batch of
     * the same table. */
    perfile_status (*put)(void *user, pf_table *table, perfile_error *err);
    /* A table of a capture ends: no more rows come.  May be NULL. */
    perfile_status (*end)(void *user, pf_table *table, perfile_error *err);
    /* Frees table->to, after the table ended or was abandoned.  May be NULL. */
    void (*drop)(void *user, pf_table *table);
    /* A table begins: its batch exists, and the consumer may mark columns as unwanted.  May be
     * NULL. */
    perfile_status (*open)(void *user, pf_table *table, perfile_error *err);
} pf_tables_consumer;

struct pf_samples_maker;
struct pf_stacks_maker;
struct pf_threads_maker;
struct pf_switches_maker;
struct pf_tracepoints_maker;
struct pf_counters_maker;
struct pf_captures_maker;

/* The emitter. */
typedef struct pf_tables {
    pf_exporter x;
    const pf_tables_consumer *consumer; /* set between pf_tables_open() and pf_tables_begin(), … */
    void *user;                         /* … like this one */
    uint32_t wanted;                    /* bits 1 << PF_TABLE_…, set likewise */
    bool wide;                          /* with branches and registers */
    bool with_lines;                    /* with source lines of frames */
    const char *const *labels;          /* KEY=VALUE, NULL-terminated; borrowed; NULL: none */
    perfile_error failed;               /* error of the consumer; status 0: none */
    perfile_export_summary sum; /* totals of dropped items: stacks, frames, named, unmapped */

    /* The current capture. */
    perfile_stream *stream;
    const perfile_session *session;
    const perfile_model *model;
    char id[33];                    /* capture_id */
    bool begun;                     /* its tables are open */
    uint64_t records;               /* so far */
    perfile_clock clock;            /* wall_ns is valid if has_wall */
    uint64_t kept;                  /* bytes of the profile that are never dropped: its texts */
    uint64_t first_time, last_time; /* times of the records; first_time > last_time: none */
    pf_table at[PF_N_TABLES];       /* `tracepoints` does not use its batch */
    pf_buffer branch_frames; /* for wide.c: numbers of frames, for both ends of each branch */
    struct pf_samples_maker *samples;
    struct pf_stacks_maker *stacks;
    struct pf_threads_maker *threads;
    struct pf_switches_maker *switches;
    struct pf_tracepoints_maker *tracepoints;
    struct pf_counters_maker *counters;
    struct pf_captures_maker *captures;
} pf_tables;

/* A maker of rows of some tables.  Any function may be NULL.  They return false when out of memory,
 * over the profile's limit, or if the consumer failed (pf_tables.failed). */
typedef struct pf_table_maker {
    /* A capture begins.  Allocates the maker's member of pf_tables. */
    bool (*begin)(pf_tables *x);
    /* Handles a sample, with its event, stack and record. */
    bool (*sample)(pf_tables *x, const pf_profiled *s);
    /* Handles any other record of perf, with its event, and with time, task and CPU from its
     * trailer. */
    bool (*note)(pf_tables *x, const pf_profiled *about);
    /* Handles a record of family DAMAGE. */
    bool (*damage)(pf_tables *x, const perfile_record *r);
    /* The capture ends.  Makers are called in the order of tables.c. */
    bool (*end)(pf_tables *x);
    /* Frees what begin() allocated.  Also called after a failure, and without begin(). */
    void (*close)(pf_tables *x);
} pf_table_maker;

extern const pf_table_maker pf_make_samples, pf_make_stacks, pf_make_threads, pf_make_switches,
    pf_make_tracepoints, pf_make_counters, pf_make_captures;

/* Returns true if the table is wanted; its batch then exists. */
static inline bool pf_table_wanted(const pf_tables *x, size_t table)
{
    return x->at[table].batch;
}

/* The column of the current row: PF_COLUMN(x, samples, time). */
#define PF_COLUMN(x, table, name) (&(x)->at[PF_TABLE_##table].batch->columns[PF_AT(table, name)])
#define PF_MEMBER(x, table, parent, name)                                                          \
    (&(x)->at[PF_TABLE_##table].batch->columns[PF_IN(table, parent, name)])

/* Completes the row of a table, and passes on a full batch.  Returns false as makers do. */
bool pf_table_row(pf_tables *x, pf_table *table);

/* Returns true if the batch should be passed on, for makers that count rows with
 * pf_table_batch_row(). */
bool pf_table_is_full(const pf_table *table);

/* Passes on the rows of a table, if it has any.  Returns false as makers do. */
bool pf_table_flush(pf_tables *x, pf_table *table);

/* Open a tracepoint's table, with the columns of `about`, which must live as long; and end it.
 * Return false as makers do. */
bool pf_table_open(pf_tables *x, pf_table *table);
bool pf_table_end(pf_tables *x, pf_table *table);

/* Frees the batch, and lets the consumer free its data of the table. */
void pf_table_drop(pf_tables *x, pf_table *table);

/* Write the capture_id, a time, a wall time, or a CPU.  Unknown values are left out. */
void pf_put_capture(pf_tables *x, pf_table_column *c);
void pf_put_time(pf_table_column *c, uint64_t time);
void pf_put_wall(pf_tables *x, pf_table_column *c, uint64_t time);
void pf_put_cpu(pf_table_column *c, uint32_t cpu);

/* Writes an I64 number; nothing if it does not fit. */
void pf_put_number(pf_table_column *c, uint64_t value);

/* Writes the names of the set bits as an item of TEXTS.  The names are from this vocabulary of
 * format/words.def. */
void pf_put_bits(pf_table_column *c, const char *vocabulary, uint64_t bits);

/* Writes pid and tid, unless `known` is false. 0xffffffff is then the kernel's -1. */
static inline void pf_put_task(pf_table_column *pid, pf_table_column *tid, const pf_profiled *s,
                               bool known)
{
    if (!known)
        return;
    pf_column_number(pid, s->pid);
    pf_column_number(tid, s->tid);
}

/* Functions of pf_emit_ops and pf_export_ops, for forms with a struct that begins with a
 * pf_tables. */
perfile_status pf_tables_open(perfile_emitter *e, perfile_error *err);
void pf_tables_close(perfile_emitter *e);
perfile_status pf_tables_begin(perfile_emitter *e, perfile_error *err);
perfile_status pf_tables_put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                                 perfile_error *err);
perfile_status pf_tables_put(perfile_emitter *e, const perfile_record *r, perfile_error *err);
perfile_status pf_tables_next(perfile_emitter *e, perfile_error *err);
bool pf_tables_take(pf_exporter *x, const pf_profiled *sample, uint32_t label);
bool pf_tables_note(pf_exporter *x, const pf_profiled *about);

void pf_tables_summary(const perfile_emitter *e, perfile_export_summary *out);

/* Returns the start of the current capture in ns since 1970, in *wall.  Returns false if it is
 * unknown. */
bool pf_tables_captured_at(const pf_tables *x, uint64_t *wall);

/* Ends the last capture.  Must be called first in finish(). */
perfile_status pf_tables_end_input(pf_tables *x, perfile_error *err);

/* Ids of content (format/tables.md): equal for equal content, on all machines. */

int64_t pf_id_of_module(perfile_bytes build_id, const char *path);
int64_t pf_id_of_frame(int64_t module, uint64_t offset, unsigned mode, unsigned inlined,
                       const char *function);

/* Returns the id of a stack: `frame` on top of the stack `callers`.  The id of the empty stack is
 * 0. */
int64_t pf_id_of_stack(int64_t callers, int64_t frame);

/* Computes the capture_id from all bytes of a source.  `hex` receives 32 digits and a NUL. */
perfile_status pf_id_of_source(perfile_source *source, char hex[33], perfile_error *err);

/* Rows of stacks, frames and modules, which samples and mappings refer to (stacks.c). */

/* Names new frames of the profile, computes the ids of all new frames and stacks, and makes the
 * rows of frames and modules.  Returns false as makers do. */
bool pf_stacks_update(pf_tables *x);

/* Return the id of a frame or stack that pf_stacks_update() has seen.  Makes the row of the stack
 * if it has none yet.  Returns false as makers do. */
int64_t pf_stacks_frame(const pf_tables *x, uint32_t frame);
bool pf_stacks_stack(pf_tables *x, uint32_t stack, int64_t *id);

/* Returns the name of such a frame's function, in the profile's texts.  NULL: unknown. */
const char *pf_stacks_function(const pf_tables *x, uint32_t frame);

/* Drops everything: all numbers become invalid. */
void pf_stacks_forget(pf_tables *x);

/* Completes the rows of samples that wait for the ids and names of their stacks (samples.c), and
 * passes them on.  Returns false as makers do. */
bool pf_samples_complete(pf_tables *x);

/* Write branches and registers of a decoded sample (wide.c).  The ids of frames are filled in by
 * pf_wide_complete().  Returns false as makers do. */
bool pf_wide_put(pf_tables *x, const pf_profiled *s, const perfile_sample *v);
void pf_wide_complete(pf_tables *x);

/* Does the same as pf_samples_complete() for rows of tracepoints (tracepoints.c). */
bool pf_tracepoints_complete(pf_tables *x);

#endif
