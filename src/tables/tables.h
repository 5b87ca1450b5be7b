/* Captures as tables: what the makers of rows share.
 *
 * It is a form of export (export/export.h): records are put in, samples come resolved and in order.
 * Makers fill a batch of each table; a full one goes to the consumer, which writes a row group or
 * hands it on.  Several captures come one after the other, and share nothing: what is distinct
 * (stacks, frames, modules) is written once for each capture. */
#ifndef PF_TABLES_TABLES_H
#define PF_TABLES_TABLES_H

#include "export/export.h"
#include "arrow/batch.h"

/* Under the fuzzer a batch is small, so that small captures have several. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PF_BATCH_ROWS = 7 };
#else
enum { PF_BATCH_ROWS = 122880 }; /* at most: a row group of most engines */
#endif

/* A table of the present capture. */
typedef struct pf_table {
    const pf_table_about *about;
    size_t number;         /* PF_TABLE_… */
    const char *event;     /* of a table of tracepoints: "sched:sched_switch"; else NULL */
    pf_table_batch *batch; /* rows that were not given on; NULL: nobody wants the table */
    void *to;              /* the consumer's */
} pf_table;

/* Where batches go. */
typedef struct pf_tables_consumer {
    /* A capture begins: what is known of it is in the pf_tables.  May be NULL. */
    perfile_status (*begin)(void *user, perfile_error *err);
    /* Gets table->batch, which is complete and has rows, and leaves an empty one of the same table
     * there. */
    perfile_status (*put)(void *user, pf_table *table, perfile_error *err);
    /* A table of a capture ends: no more rows come.  May be NULL. */
    perfile_status (*end)(void *user, pf_table *table, perfile_error *err);
    /* A table is given up, or ended before: frees table->to.  May be NULL. */
    void (*drop)(void *user, pf_table *table);
    /* A table begins: its batch is there, of which columns may become unwanted.  May be NULL. */
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
    const pf_tables_consumer *consumer; /* set between pf_tables_open() and _begin(), … */
    void *user;                         /* … as this */
    uint32_t wanted;                    /* bits 1 << PF_TABLE_…, likewise */
    bool wide;                          /* branches and registers, too */
    bool with_lines;                    /* of the source, of frames */
    const char *const *labels;          /* KEY=VALUE, ended by NULL; borrowed; NULL: none */
    perfile_error failed;               /* of the consumer; status 0: none */
    perfile_export_summary sum;         /* of what was forgotten: stacks, frames, named, unmapped */

    /* The present capture. */
    perfile_stream *stream;
    const perfile_session *session;
    const perfile_model *model;
    char id[33];                    /* capture_id */
    bool begun;                     /* its tables are open */
    uint64_t records;               /* so far */
    perfile_clock clock;            /* whose wall_ns counts if it has_wall */
    uint64_t kept;                  /* bytes of the profile that are not forgotten: its texts */
    uint64_t first_time, last_time; /* of them; first_time > last_time: none has a time */
    pf_table at[PF_N_TABLES];       /* of `tracepoints` the batch is not used */
    pf_buffer branch_frames;        /* of wide.c: numbers of frames, of both ends of each branch */
    struct pf_samples_maker *samples;
    struct pf_stacks_maker *stacks;
    struct pf_threads_maker *threads;
    struct pf_switches_maker *switches;
    struct pf_tracepoints_maker *tracepoints;
    struct pf_counters_maker *counters;
    struct pf_captures_maker *captures;
} pf_tables;

/* A maker of rows of some tables.  All functions may be NULL; they return false if there is no
 * memory, the limit of the profile is exceeded, or the consumer failed (pf_tables.failed). */
typedef struct pf_table_maker {
    /* A capture begins.  What it allocates is in the members of pf_tables. */
    bool (*begin)(pf_tables *x);
    /* Each sample, with its event, stack and record. */
    bool (*sample)(pf_tables *x, const pf_profiled *s);
    /* Each other record of perf, with its event, time, task and processor as the trailer says them.
     */
    bool (*note)(pf_tables *x, const pf_profiled *about);
    /* A record of family DAMAGE. */
    bool (*damage)(pf_tables *x, const perfile_record *r);
    /* The capture ends.  The order of makers is that of tables.c. */
    bool (*end)(pf_tables *x);
    /* Frees what begin() made; also after a failure, and without begin(). */
    void (*close)(pf_tables *x);
} pf_table_maker;

extern const pf_table_maker pf_make_samples, pf_make_stacks, pf_make_threads, pf_make_switches,
    pf_make_tracepoints, pf_make_counters, pf_make_captures;

/* True if somebody wants the table; then its batch is there. */
static inline bool pf_table_wanted(const pf_tables *x, size_t table)
{
    return x->at[table].batch;
}

/* A column of the row that is being made: PF_COLUMN(x, samples, time). */
#define PF_COLUMN(x, table, name) (&(x)->at[PF_TABLE_##table].batch->columns[PF_AT(table, name)])
#define PF_MEMBER(x, table, parent, name)                                                          \
    (&(x)->at[PF_TABLE_##table].batch->columns[PF_IN(table, parent, name)])

/* The row of a table is complete; a full batch is given on.  False as of makers. */
bool pf_table_row(pf_tables *x, pf_table *table);

/* True if the batch should be given on, for makers that count rows with pf_table_batch_row(). */
bool pf_table_is_full(const pf_table *table);

/* Gives the rows of a table on, if it has some.  False likewise. */
bool pf_table_flush(pf_tables *x, pf_table *table);

/* Opens a table of tracepoints, with the columns of `about`, which lives as long; and ends it.
 * False likewise. */
bool pf_table_open(pf_tables *x, pf_table *table);
bool pf_table_end(pf_tables *x, pf_table *table);

/* Frees the batch, and lets the consumer free what it has of the table. */
void pf_table_drop(pf_tables *x, pf_table *table);

/* Writes the capture_id, a time and its wall time, or -1 for PERFILE_NO_PID; nothing if it is not
 * known. */
void pf_put_capture(pf_tables *x, pf_table_column *c);
void pf_put_time(pf_table_column *c, uint64_t time);
void pf_put_wall(pf_tables *x, pf_table_column *c, uint64_t time);
void pf_put_cpu(pf_table_column *c, uint32_t cpu);

/* A number of I64; nothing if it does not fit. */
void pf_put_number(pf_table_column *c, uint64_t value);

/* Writes the names of the bits that are set, as the vocabulary of that name in format/words.def has
 * them, as an item of TEXTS. */
void pf_put_bits(pf_table_column *c, const char *vocabulary, uint64_t bits);

/* pid and tid of what is put: 0xffffffff is the -1 of the kernel, unless `known` is false. */
static inline void pf_put_task(pf_table_column *pid, pf_table_column *tid, const pf_profiled *s,
                               bool known)
{
    if (!known)
        return;
    pf_column_number(pid, s->pid);
    pf_column_number(tid, s->tid);
}

/* Functions of pf_emit_ops and pf_export_ops: of forms whose struct begins with a pf_tables. */
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

/* When the present capture was recorded, in ns since 1970; false if it is not known. */
bool pf_tables_captured_at(const pf_tables *x, uint64_t *wall);

/* To be called first in finish(): the last capture ends. */
perfile_status pf_tables_end_input(pf_tables *x, perfile_error *err);

/* Ids of content (format/tables.md): equal for equal content, on all machines. */

int64_t pf_id_of_module(perfile_bytes build_id, const char *path);
int64_t pf_id_of_frame(int64_t module, uint64_t offset, unsigned mode, unsigned inlined,
                       const char *function);

/* The id of a stack, of a frame on those of its callers; that of no frames is 0. */
int64_t pf_id_of_stack(int64_t callers, int64_t frame);

/* The capture_id: of all bytes of a source; `hex` gets 32 digits and a NUL. */
perfile_status pf_id_of_source(perfile_source *source, char hex[33], perfile_error *err);

/* Rows of stacks, frames and modules, which samples and mappings refer to (stacks.c). */

/* Names the frames of the profile that are new, and finds the ids of all new frames and stacks,
 * with the rows of frames and modules.  False as of makers. */
bool pf_stacks_update(pf_tables *x);

/* The id of a frame and of a stack that pf_stacks_update() has seen; the row of the stack is made
 * if there is none.  False likewise. */
int64_t pf_stacks_frame(const pf_tables *x, uint32_t frame);
bool pf_stacks_stack(pf_tables *x, uint32_t stack, int64_t *id);

/* The name of the function of such a frame, of the profile's texts; NULL: it is not known. */
const char *pf_stacks_function(const pf_tables *x, uint32_t frame);

/* Numbers mean nothing from now on. */
void pf_stacks_forget(pf_tables *x);

/* Completes the rows of samples that wait for the ids and names of their stacks (samples.c), and
 * gives them on.  False likewise. */
bool pf_samples_complete(pf_tables *x);

/* Branches and registers of a sample, which is decoded (wide.c); the ids of frames wait until
 * pf_wide_complete().  False likewise. */
bool pf_wide_put(pf_tables *x, const pf_profiled *s, const perfile_sample *v);
void pf_wide_complete(pf_tables *x);

/* The same for rows of tracepoints (tracepoints.c). */
bool pf_tracepoints_complete(pf_tables *x);

#endif
