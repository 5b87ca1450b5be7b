/* The public functions of emitters, and the threads that produce text.  They call the form (ops)
 * and write its buffer to the sink. */
#include "base/alloc.h"
#include "base/crc32.h"
#include "base/error.h"
#include "core/session.h"
#include "core/stream.h"
#include "emit/emitter.h"
#include "io/workers.h"
#include "emit/command.h"

#include <string.h>

enum {
    WRITE_BYTES = 64 << 10, /* output is written in chunks of this size */
    /* Padding after an emitter, so that two emitters that are allocated one after the other share
     * no cache line (CPUs fetch lines in pairs).  Each thread writes to its emitter with every
     * record; without the padding, text by two threads took a fifth longer. */
    APART_BYTES = 128
};

/* Output by several threads.
 *
 * A job is a batch of records plus the text that a thread makes of them with its own emitter.  This
 * works because forms keep no state between records except caches and the number of records so far,
 * which is set when a job begins.  Texts are written in the order of the jobs, so the result equals
 * the output of one thread.
 *
 * Records are only valid until the next call on their stream.  So a job copies them, and also their
 * bytes unless these are persistent, as in a mapped file.  The size of a job depends on its text,
 * which should fit a cache: the last finished job tells how much text a byte of records makes.
 *
 * Some records are not worth a job.  The caller's thread writes these, after all jobs are finished:
 * damage, records that are not contiguous with their header or have following bytes that are not in
 * memory, and records of several kilobytes (stack copies), which cost as much to copy as to print.
 *
 * Decoding reads the session, which must not change while jobs are open.  Before a change the
 * session calls before_change() (pf_session_reader), which finishes all jobs. */

enum {
    JOB_RECORDS = 4096,     /* most records of a job */
    MAX_RECORD = 128 << 10, /* most bytes of a record in a job, and of the bytes after it */
    LONG_RECORDS = 2 << 10, /* batches with longer records on average are not copied */
    TEXT_PER_BYTE = 8,      /* assumed text per byte of records until a job has finished */
    JOBS_PER_THREAD = 3
};

typedef struct job {
    perfile_emitter *e; /* the job's own emitter, without a sink: collects the text */
    perfile_record *records;
    uint32_t n;
    pf_buffer bytes;       /* of records that are not persistent; does not grow while filling */
    size_t n_bytes;        /* bytes of its records, copied or not */
    perfile_status status; /* result of the thread that ran it */
    perfile_error error;
} job;

struct pf_emit_threads {
    pf_workers *workers;
    pf_session_reader reader;
    perfile_session *session;
    perfile_emitter *e;
    job *jobs;
    unsigned n_jobs;
    size_t job_text;       /* approximate bytes of text per job */
    size_t job_bytes;      /* estimated bytes of records that make this much text */
    job *open;             /* the job that is being filled, or NULL */
    perfile_status status; /* status of the first job, in stream order, that failed */
    perfile_error error;
};
typedef struct pf_emit_threads threads;

/* Makes the text of a job.  Runs in any thread. */
static void run_job(job *j)
{
    for (uint32_t i = 0; i < j->n && j->status == PERFILE_OK; i++)
        j->status = j->e->ops->put(j->e, &j->records[i], &j->error);
    if (j->status == PERFILE_OK && j->e->no_memory)
        j->status = pf_fail_nomem(&j->error, "emitter");
}

static void run_slot(void *user, unsigned slot, unsigned thread)
{
    (void)thread;
    run_job(&((threads *)user)->jobs[slot]);
}

/* Remembers the first error. */
static void set_failure(threads *t, perfile_status st, const perfile_error *err)
{
    if (t->status != PERFILE_OK)
        return;
    t->status = st;
    t->error = *err;
}

/* Empties a job. */
static void clear_job(job *j)
{
    j->e->n_errors = 0;
    j->e->decoded = j->e->no_memory = false;
    j->status = PERFILE_OK;
    j->n = 0;
    j->n_bytes = 0;
    pf_buffer_clear(&j->e->out);
    pf_buffer_clear(&j->bytes);
}

/* Computes from a finished job how many bytes of records the next jobs should have.  At most half
 * the bytes of text: other records may make 40 times as much text as their size. */
static void size_jobs(threads *t, const job *j)
{
    const size_t text = j->e->out.len, most = t->job_text / 2;
    if (!text)
        return;
    const double bytes = (double)t->job_text * (double)j->n_bytes / (double)text;
    t->job_bytes = bytes < (double)most ? (size_t)bytes : most;
}

/* Writes the text of a job to the sink and empties the job.  After a failure nothing is written. */
static void write_job(threads *t, job *j)
{
    perfile_emitter *e = t->e;
    perfile_error err;
    perfile_bytes out = {j->e->out.ptr, j->e->out.len};
    perfile_status st = j->status;
    if (st != PERFILE_OK) {
        set_failure(t, st, &j->error);
    } else if (t->status == PERFILE_OK) {
        st = pf_emitter_write_out(e, &err);
        if (st == PERFILE_OK && out.len)
            st = perfile_sink_write(e->sink, out, &err);
        if (st != PERFILE_OK)
            set_failure(t, st, &err);
    }
    e->n_errors += j->e->n_errors;
    e->decoded |= j->e->decoded;
    size_jobs(t, j);
    clear_job(j);
}

/* Waits for the oldest job and writes it.  Returns false if there is none. */
static bool write_oldest(threads *t)
{
    unsigned slot;
    if (!pf_workers_take(t->workers, &slot))
        return false;
    write_job(t, &t->jobs[slot]);
    return true;
}

/* Finishes all jobs in order.  The job that is being filled is run in this thread. */
static void finish_all(threads *t)
{
    while (write_oldest(t))
        ;
    if (!t->open)
        return;
    run_job(t->open);
    write_job(t, t->open);
    t->open = NULL;
}

/* Called by the session when it is about to change (pf_session_reader). */
static void before_change(void *user, bool last)
{
    (void)last;
    finish_all(user);
}

static perfile_status failure_of(const threads *t, perfile_error *err)
{
    if (t->status != PERFILE_OK && err)
        *err = t->error;
    return t->status;
}

/* Finishes all jobs and writes their text to the sink.  Returns the first error of any of them. */
static perfile_status pf_emit_threads_wait(perfile_emitter *e, perfile_error *err)
{
    finish_all(e->threads);
    return failure_of(e->threads, err);
}

/* Returns true if the record can go to a job: header and body are contiguous, and the bytes after
 * the record are in memory. */
static bool fits_job(const threads *t, const perfile_record *r)
{
    return r->family != PERFILE_FAMILY_DAMAGE && r->session == t->session && r->header &&
           r->body.ptr >= r->header &&
           (size_t)(r->body.ptr - r->header) + r->body.len < MAX_RECORD &&
           r->body.ptr == r->header + perfile_record_size(r) - r->body.len &&
           (r->extra.ptr || !r->extra.len) && r->extra.len < MAX_RECORD;
}

/* Returns true if r[0 .. n) are not worth a job: they are long and would have to be copied. */
static bool too_long(const perfile_record *r, size_t n)
{
    uint64_t bytes = 0;
    if (r->flags & PERFILE_REC_STABLE)
        return false;
    for (size_t i = 0; i < n; i++)
        bytes += r[i].body.len;
    return bytes > n * LONG_RECORDS;
}

/* Returns true if the job takes no more records, or has no room for one of `size` bytes. */
static bool is_full(const threads *t, const job *j, size_t size)
{
    return j->n == JOB_RECORDS || j->n_bytes >= t->job_bytes ||
           (j->n && size > j->bytes.cap - j->bytes.len);
}

/* Copies bytes into the job, which has room for them. */
static const uint8_t *copy_of(job *j, const uint8_t *bytes, size_t n)
{
    uint8_t *at = j->bytes.ptr + j->bytes.len;
    memcpy(at, bytes, n);
    j->bytes.len += n;
    return at;
}

/* Adds a record to a job that is not full (is_full()).  Returns false when out of memory. */
static bool add(job *j, const perfile_record *given)
{
    const size_t size = perfile_record_size(given), header = size - given->body.len;
    perfile_record *r = &j->records[j->n];
    *r = *given;
    if (!(r->flags & PERFILE_REC_STABLE)) {
        if (!pf_buffer_reserve(&j->bytes, size + r->extra.len))
            return false;
        r->header = copy_of(j, given->header, size);
        r->body.ptr = r->header + header;
        if (r->extra.len)
            r->extra.ptr = copy_of(j, given->extra.ptr, given->extra.len);
    }
    j->n++;
    j->n_bytes += size + r->extra.len;
    return true;
}

/* Opens a free job.  If there is none, finishes the oldest first. */
static void open_job(threads *t)
{
    if (pf_workers_full(t->workers))
        write_oldest(t);
    t->open = &t->jobs[pf_workers_slot(t->workers)];
    t->open->e->n_records = t->e->n_records;
}

/* Returns `st` if it is an error.  Otherwise writes `out` if it has a full chunk or if no_memory
 * must be reported. */
static perfile_status write_out_if_full(perfile_emitter *e, perfile_status st, perfile_error *err)
{
    if (st != PERFILE_OK || (e->out.len < WRITE_BYTES && !e->no_memory))
        return st;
    return pf_emitter_write_out(e, err);
}

/* Emits a record in the calling thread, even if the emitter has threads. */
static perfile_status pf_emitter_put_now(perfile_emitter *e, const perfile_record *r,
                                         perfile_error *err)
{
    return write_out_if_full(e, e->ops->put(e, r, err), err);
}

/* Closes an emitter that has no threads.  NULL is allowed. */
static void pf_emitter_free(perfile_emitter *e)
{
    if (!e)
        return;
    if (e->ops->close)
        e->ops->close(e);
    perfile_tracepoints_close(e->tracepoints);
    pf_buffer_free(&e->out);
    pf_free(e);
}

/* Finishes all jobs, then emits r[0 .. n) in the caller's thread. */
static perfile_status put_in_caller(threads *t, const perfile_record *r, size_t n,
                                    perfile_error *err)
{
    finish_all(t);
    perfile_status st = failure_of(t, err);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = pf_emitter_put_now(t->e, &r[i], err);
    return st;
}

static void submit(threads *t)
{
    t->open = NULL;
    pf_workers_submit(t->workers);
}

/* Like perfile_emitter_put_run().  An error of an earlier record may be returned by a later
 * call. */
static perfile_status pf_emit_threads_put(perfile_emitter *e, const perfile_record *r, size_t n,
                                          perfile_error *err)
{
    threads *t = e->threads;
    if (n && too_long(r, n))
        return put_in_caller(t, r, n, err);
    for (const perfile_record *end = r + n; r < end && t->status == PERFILE_OK; r++) {
        if (!fits_job(t, r)) {
            perfile_status st = put_in_caller(t, r, 1, err);
            if (st != PERFILE_OK)
                return st;
            continue;
        }
        if (t->open && is_full(t, t->open, perfile_record_size(r) + r->extra.len))
            submit(t);
        if (!t->open)
            open_job(t);
        if (!add(t->open, r))
            return pf_fail_nomem(err, "emitter");
        e->n_records++;
    }
    return failure_of(t, err);
}

/* Makes the emitter of a job, with the settings of `e`. */
static perfile_status new_job(const perfile_emitter *e, job *j, perfile_error *err)
{
    perfile_status st = pf_emitter_new(e->ops, NULL, &j->e, err);
    if (st != PERFILE_OK)
        return st;
    j->e->stream = e->stream;
    j->e->session = e->session;
    j->e->container = e->container;
    j->e->flags = e->flags;
    j->e->model = e->model;
    j->e->fields = e->fields;
    j->records = pf_alloc(JOB_RECORDS, sizeof *j->records);
    if (!j->records || !pf_buffer_reserve(&j->bytes, MAX_RECORD))
        return pf_fail_nomem(err, "emitter");
    return e->ops->open ? e->ops->open(j->e, err) : PERFILE_OK;
}

perfile_status pf_emit_threads_start(perfile_emitter *e, perfile_stream *stream, unsigned n,
                                     size_t job_text, perfile_error *err)
{
    threads *t = pf_alloc(1, sizeof *t);
    if (!t)
        return pf_fail_nomem(err, "emitter");
    e->threads = t;
    t->e = e;
    t->job_text = job_text;
    t->job_bytes = job_text / TEXT_PER_BYTE;
    t->session = stream->session;
    t->reader = (pf_session_reader){.before_change = before_change, .user = t};
    pf_session_add_reader(t->session, &t->reader);
    unsigned jobs = JOBS_PER_THREAD * n;
    t->jobs = pf_alloc(jobs, sizeof *t->jobs);
    if (!t->jobs)
        return pf_fail_nomem(err, "emitter");
    t->n_jobs = jobs;
    perfile_status st = pf_workers_new(n, jobs, run_slot, t, &t->workers, err);
    for (unsigned i = 0; i < jobs && st == PERFILE_OK; i++)
        st = new_job(e, &t->jobs[i], err);
    return st;
}

/* Waits for the threads and frees e->threads; NULL is allowed.  Text that was not written is
 * dropped. */
static void pf_emit_threads_free(perfile_emitter *e)
{
    threads *t = e->threads;
    if (!t)
        return;
    pf_workers_free(t->workers);
    pf_session_remove_reader(&t->reader);
    for (unsigned i = 0; i < t->n_jobs; i++) {
        job *j = &t->jobs[i];
        pf_emitter_free(j->e);
        pf_free(j->records);
        pf_buffer_free(&j->bytes);
    }
    pf_free(t->jobs);
    pf_free(t);
    e->threads = NULL;
}

perfile_status pf_emitter_new(const pf_emit_ops *ops, perfile_sink *sink, perfile_emitter **out,
                              perfile_error *err)
{
    perfile_emitter *e = pf_alloc(1, ops->size + APART_BYTES);
    if (!e)
        return pf_fail_nomem(err, "emitter");
    e->ops = ops; /* pf_alloc() has zeroed the rest */
    e->sink = sink;
    *out = e;
    return PERFILE_OK;
}

perfile_status pf_emitter_write_out(perfile_emitter *e, perfile_error *err)
{
    perfile_bytes out = {e->out.ptr, e->out.len};
    if (e->no_memory)
        return pf_fail_nomem(err, "emitter");
    pf_buffer_clear(&e->out);
    return out.len ? perfile_sink_write(e->sink, out, err) : PERFILE_OK;
}

perfile_status perfile_emitter_flush(perfile_emitter *e, perfile_error *err)
{
    perfile_status st = e->threads ? pf_emit_threads_wait(e, err) : PERFILE_OK;
    return st == PERFILE_OK ? pf_emitter_write_out(e, err) : st;
}

perfile_status perfile_emitter_begin(perfile_emitter *e, perfile_error *err)
{
    return write_out_if_full(e, e->ops->begin(e, err), err);
}

perfile_status perfile_emitter_put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                                       perfile_error *err)
{
    if (e->threads)
        return pf_emit_threads_put(e, first, n, err);
    if (e->ops->exports)
        return write_out_if_full(e, e->ops->exports->put_run(e, first, n, err), err);
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = pf_emitter_put_now(e, &first[i], err);
    return st;
}

/* Threads finish first, because the end of the output may depend on all records (their number). */
perfile_status perfile_emitter_finish(perfile_emitter *e, perfile_error *err)
{
    perfile_status st = e->threads ? pf_emit_threads_wait(e, err) : PERFILE_OK;
    if (st == PERFILE_OK)
        st = e->ops->finish(e, err);
    return st == PERFILE_OK ? perfile_emitter_flush(e, err) : st;
}

void pf_emitter_get_summary(const perfile_emitter *e, perfile_export_summary *summary, size_t size)
{
    perfile_export_summary all = {0};
    if (e->ops->exports)
        e->ops->exports->summary(e, &all);
    memset(summary, 0, size);
    memcpy(summary, &all, size < sizeof all ? size : sizeof all);
}

/* Returns the exit status of `dump`.  Damage alone is not a failure if something could be
 * decoded. */
int pf_emitter_outcome(const perfile_emitter *e)
{
    if (e->n_errors == 0)
        return PF_EMIT_COMPLETE;
    return e->decoded ? PF_EMIT_DAMAGED : PF_EMIT_NOTHING;
}

uint64_t pf_emitter_errors(const perfile_emitter *e)
{
    return e->n_errors;
}

void perfile_emitter_close(perfile_emitter *e)
{
    if (e)
        pf_emit_threads_free(e);
    pf_emitter_free(e);
}

perfile_tracepoints *pf_emit_tracepoints(perfile_emitter *e)
{
    if (!e->tracepoints &&
        perfile_tracepoints_open(e->session, &e->tracepoints, NULL) != PERFILE_OK)
        e->no_memory = true;
    return e->tracepoints;
}

perfile_status pf_emit_extra_crc(perfile_emitter *e, const perfile_record *r, uint32_t *crc,
                                 perfile_error *err)
{
    *crc = 0;
    if (r->extra.ptr) {
        *crc = pf_crc32(0, r->extra);
        return PERFILE_OK;
    }
    for (;;) { /* not in memory: the stream reads it in chunks */
        perfile_bytes chunk;
        perfile_status st = perfile_stream_extra(e->stream, r, &chunk, err);
        if (st == PERFILE_END)
            return PERFILE_OK;
        if (st != PERFILE_OK)
            return st;
        *crc = pf_crc32(*crc, chunk);
    }
}
