/* Emits records in several threads; threads.h is the interface.
 *
 * What a job keeps.  Records are borrowed until the next call on their stream, so a job has copies
 * of their bytes (which are still in the cache of the processor that framed them), unless they are
 * stable, as in a mapped file.  The perfile_record structs are not copied: records that follow each
 * other in the stream are one span, which keeps the first struct, and of the others only type, misc
 * and size (items).  If the stream has framed a run and its records are adjacent, even these are
 * read from the headers again.
 *
 * What is not worth a job.  Copying records of several kilobytes (copies of the stack) costs as
 * much as printing them: the caller prints them while the threads of the source read on.  The same
 * goes for what is rare: damage, records that do not lie behind their header, and records with
 * bytes behind them that are not in memory.  Before that, all jobs are finished, so that the order
 * stays.
 *
 * Why the result is the same.  Each job has an emitter of its own: forms keep nothing from one
 * record to the next but caches, and the number of records so far, which is set when a job begins.
 *
 * The session.  Decoding reads it, so it must not change while jobs are open: it calls
 * before_change() first (pf_session_reader), which finishes them. */
#include "emit/threads.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/session.h"
#include "core/stream.h"
#include "io/workers.h"
#include "schema/frame.h"

enum {
    JOB_RECORDS = 8192,     /* records of a job at most */
    MAX_RECORD = 128 << 10, /* bytes of a record, or of what lies behind it, that may go to a job */
    LONG_RECORDS = 2 << 10, /* mean size of the records of a run above which it is not copied */
    JOBS_PER_THREAD = 3
};

/* What the records of a span do not have in common. */
typedef struct item {
    uint32_t size, type;
    uint16_t misc;
} item;

/* Records that follow each other in the stream and in memory. */
typedef struct span {
    perfile_record first;
    uint32_t n;
    uint32_t header; /* size of a record header */
    uint64_t bytes;  /* of all records */
    size_t at;       /* offset of the first record in job.bytes; not used for stable records */
    size_t extra_at; /* offset in job.bytes of the bytes behind the record */
    bool framed;     /* type, misc and size are read from the headers: there are no items */
} span;

typedef struct job {
    perfile_emitter *e; /* of its own, without a sink: collects the text */
    pf_buffer spans;    /* array of span */
    pf_buffer items;    /* array of item, for all spans that are not framed */
    pf_buffer bytes;    /* copies of records that are not stable */
    size_t n_bytes;     /* size of its records, stable ones included */
    size_t n_records;
    perfile_status status; /* of the thread that ran it */
    perfile_error error;
} job;

struct pf_emit_threads {
    pf_workers *workers;
    pf_session_reader reader;
    perfile_session *session;
    perfile_emitter *e;
    job *jobs;
    unsigned n_jobs;
    size_t job_bytes;
    job *open;             /* the job that is being filled, or NULL */
    perfile_status status; /* of the first job, in stream order, that failed */
    perfile_error error;
};
typedef struct pf_emit_threads threads;

/* Makes the records of a span again, one by one, and emits them. */
static perfile_status put_span(const job *j, const span *s, const item *items, perfile_error *err)
{
    perfile_record r = s->first;
    const bool swap = r.flags & PERFILE_REC_SWAPPED;
    const bool stable = r.flags & PERFILE_REC_STABLE;
    const bool inner = r.flags & PERFILE_REC_INNER;
    const uint8_t *at = stable ? r.header : j->bytes.ptr + s->at;
    if (r.extra.len && !stable)
        r.extra.ptr = j->bytes.ptr + s->extra_at;
    for (uint32_t i = 0; i < s->n; i++) {
        const pf_frame f = s->framed ? pf_frame_of(r.family, at, swap)
                                     : (pf_frame){items[i].type, items[i].size, items[i].misc};
        r.header = at;
        r.body = (perfile_bytes){at + s->header, f.size - s->header};
        r.type = f.type;
        r.misc = f.misc;
        perfile_status st = j->e->ops->put(j->e, &r, err);
        if (st != PERFILE_OK)
            return st;
        at += f.size;
        r.sequence++;
        *(inner ? &r.stream_offset : &r.offset) += f.size;
    }
    return PERFILE_OK;
}

/* Makes the text of a job; in any thread. */
static void run_job(job *j)
{
    const span *s = (const span *)(const void *)j->spans.ptr;
    const span *end = s + j->spans.len / sizeof *s;
    const item *items = (const item *)(const void *)j->items.ptr;
    for (; s < end && j->status == PERFILE_OK; s++) {
        j->status = put_span(j, s, items, &j->error);
        if (!s->framed) /* where all are, there are no items, and no array of them */
            items += s->n;
    }
    if (j->status == PERFILE_OK && j->e->no_memory)
        j->status = pf_fail_nomem(&j->error, "emitter");
}

static void run_slot(void *user, unsigned slot)
{
    run_job(&((threads *)user)->jobs[slot]);
}

/* Keeps the first error. */
static void set_failure(threads *t, perfile_status st, const perfile_error *err)
{
    if (t->status != PERFILE_OK)
        return;
    t->status = st;
    t->error = *err;
}

/* Writes the text of a job to the sink and empties the job.  Nothing is written after a failure. */
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
    j->e->n_errors = 0;
    j->e->decoded = j->e->no_memory = false;
    j->status = PERFILE_OK;
    j->n_bytes = j->n_records = 0;
    pf_buffer_clear(&j->e->out);
    pf_buffer_clear(&j->spans);
    pf_buffer_clear(&j->items);
    pf_buffer_clear(&j->bytes);
}

/* Waits for the oldest job and writes it.  False if there is none. */
static bool write_oldest(threads *t)
{
    unsigned slot;
    if (!pf_workers_take(t->workers, &slot))
        return false;
    write_job(t, &t->jobs[slot]);
    return true;
}

/* Finishes all jobs in order; the one that is being filled is run here. */
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

/* pf_session_reader: the session is about to change. */
static void before_change(void *user)
{
    finish_all(user);
}

static perfile_status failure_of(const threads *t, perfile_error *err)
{
    if (t->status != PERFILE_OK && err)
        *err = t->error;
    return t->status;
}

perfile_status pf_emit_threads_wait(perfile_emitter *e, perfile_error *err)
{
    finish_all(e->threads);
    return failure_of(e->threads, err);
}

static size_t header_bytes(const perfile_record *r)
{
    return perfile_record_size(r) - r->body.len;
}

/* True if the record can go to a job: header and body lie together, and what lies behind it is in
 * memory. */
static bool fits_job(const threads *t, const perfile_record *r)
{
    return r->family != PERFILE_FAMILY_DAMAGE && r->session == t->session && r->header &&
           r->body.ptr == r->header + header_bytes(r) && (r->extra.ptr || !r->extra.len) &&
           r->body.len < MAX_RECORD && r->extra.len < MAX_RECORD;
}

static span *last_span(const job *j)
{
    return j->spans.len ? (span *)(void *)(j->spans.ptr + j->spans.len) - 1 : NULL;
}

/* Returns how many of r[0 .. n), from the first on, continue the span `s`: they follow its records
 * in the stream, and each other in memory, and agree with them in all but type, misc and size.
 * These go to items[], which has room for n.  Stops when `most` bytes are reached. */
static size_t count_following(const span *s, const perfile_record *r, size_t n, size_t most,
                              item *items)
{
    const perfile_record *f = &s->first;
    /* Records out of an envelope advance in stream_offset, others in offset. */
    const uint64_t step_inner = f->flags & PERFILE_REC_INNER ? UINT64_MAX : 0;
    const uint8_t *at = f->flags & PERFILE_REC_STABLE ? f->header + s->bytes : r->header;
    uint64_t bytes = s->bytes;
    size_t k = 0;
    if (f->extra.len || !at)
        return 0;
    for (; k < n && bytes - s->bytes < most; k++, r++) {
        /* One test instead of a dozen branches: not 0 if any member differs. */
        uint64_t differs = (r->sequence ^ (f->sequence + s->n + k)) |
                           (r->offset ^ (f->offset + (bytes & ~step_inner))) |
                           (r->stream_offset ^ (f->stream_offset + (bytes & step_inner))) |
                           (r->envelope ^ f->envelope) | r->extra.len | (r->part ^ f->part) |
                           (uint64_t)(r->family ^ f->family) | (uint64_t)(r->flags ^ f->flags) |
                           (r->damage ^ f->damage) |
                           (f->flags & PERFILE_REC_TIMED ? r->time ^ f->time : 0);
        if (differs || r->header != at || r->body.ptr != at + s->header ||
            r->session != f->session || r->body.len >= MAX_RECORD)
            break;
        size_t size = r->body.len + s->header;
        items[k] = (item){(uint32_t)size, r->type, r->misc};
        at += size;
        bytes += size;
    }
    return k;
}

/* Copies bytes of a record to the job, unless they are stable. */
static bool add_bytes(job *j, const perfile_record *r, const uint8_t *bytes, size_t n)
{
    j->n_bytes += n;
    return r->flags & PERFILE_REC_STABLE || pf_buffer_append(&j->bytes, bytes, n);
}

/* Begins a span with the record `r`. */
static bool add_span(job *j, const perfile_record *r, bool framed)
{
    size_t size = perfile_record_size(r);
    const item it = {(uint32_t)size, r->type, r->misc};
    const span new_span = {
        *r, 1, (uint32_t)header_bytes(r), size, j->bytes.len, j->bytes.len + size, framed};
    j->n_records++;
    return pf_buffer_append(&j->spans, &new_span, sizeof new_span) &&
           (framed || pf_buffer_append(&j->items, &it, sizeof it)) &&
           add_bytes(j, r, r->header, size) && add_bytes(j, r, r->extra.ptr, r->extra.len);
}

/* Size of r[0 .. n), which are adjacent in memory. */
static size_t bytes_of(const perfile_record *r, size_t n)
{
    return n ? (size_t)(r[n - 1].header - r->header) + perfile_record_size(&r[n - 1]) : 0;
}

/* Adds r[0 .. n) to the last span; their items have been added. */
static bool extend_span(job *j, span *s, const perfile_record *r, size_t n)
{
    size_t bytes = bytes_of(r, n);
    s->n += (uint32_t)n;
    s->bytes += bytes;
    j->n_records += n;
    return add_bytes(j, r, r->header, bytes);
}

/* Adds as many of r[0 .. n) as continue the last span, or begins a span with the first.  *added:
 * how many were added.  False: no memory. */
static bool add_records(const threads *t, job *j, const perfile_record *r, size_t n, size_t *added)
{
    span *s = last_span(j);
    if (!pf_buffer_reserve(&j->items, n * sizeof(item)))
        return false;
    size_t k = 0;
    if (s && !s->framed)
        k = count_following(s, r, n, t->job_bytes - j->n_bytes,
                            (item *)(void *)(j->items.ptr + j->items.len));
    *added = k ? k : 1;
    if (!k)
        return add_span(j, r, false);
    j->items.len += k * sizeof(item);
    return extend_span(j, s, r, k);
}

/* The same for records that the stream has framed: they are adjacent and differ in their headers
 * only, so that they need no items. */
static bool add_framed(const threads *t, job *j, const perfile_record *r, size_t n, size_t *added)
{
    span *s = last_span(j);
    item it;
    size_t k = 1;
    while (k < n && bytes_of(r, k) < t->job_bytes - j->n_bytes)
        k++;
    *added = k;
    if (s && s->framed && count_following(s, r, 1, SIZE_MAX, &it))
        return extend_span(j, s, r, k);
    return add_span(j, r, true) && (k == 1 || extend_span(j, last_span(j), r + 1, k - 1));
}

static bool is_full(const threads *t, const job *j)
{
    return j->n_bytes >= t->job_bytes || j->n_records >= JOB_RECORDS;
}

/* Takes a free job; if there is none, the oldest is finished first. */
static void open_job(threads *t)
{
    if (pf_workers_full(t->workers))
        write_oldest(t);
    t->open = &t->jobs[pf_workers_slot(t->workers)];
    t->open->e->n_records = t->e->n_records;
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

perfile_status pf_emit_threads_put(perfile_emitter *e, const perfile_record *r, size_t n,
                                   perfile_error *err)
{
    threads *t = e->threads;
    const bool framed = pf_stream_framed(e->stream, r, n).adjacent && fits_job(t, r);
    if (framed && !(r->flags & PERFILE_REC_STABLE) && bytes_of(r, n) > n * LONG_RECORDS)
        return put_in_caller(t, r, n, err);
    for (size_t added; n && t->status == PERFILE_OK; r += added, n -= added) {
        if (!fits_job(t, r)) {
            added = 1;
            perfile_status st = put_in_caller(t, r, 1, err);
            if (st != PERFILE_OK)
                return st;
            continue;
        }
        if (!t->open)
            open_job(t);
        if (!(framed ? add_framed : add_records)(t, t->open, r, n, &added))
            return pf_fail_nomem(err, "emitter");
        e->n_records += added;
        if (is_full(t, t->open)) {
            t->open = NULL;
            pf_workers_submit(t->workers);
        }
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
    return e->ops->open ? e->ops->open(j->e, err) : PERFILE_OK;
}

perfile_status pf_emit_threads_start(perfile_emitter *e, perfile_stream *stream, unsigned n,
                                     size_t job_bytes, perfile_error *err)
{
    threads *t = pf_alloc(1, sizeof *t);
    if (!t)
        return pf_fail_nomem(err, "emitter");
    e->threads = t;
    t->e = e;
    t->job_bytes = job_bytes;
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

void pf_emit_threads_free(perfile_emitter *e)
{
    threads *t = e->threads;
    if (!t)
        return;
    pf_workers_free(t->workers);
    pf_session_remove_reader(t->session, &t->reader);
    for (unsigned i = 0; i < t->n_jobs; i++) {
        job *j = &t->jobs[i];
        pf_emitter_free(j->e);
        pf_buffer_free(&j->spans);
        pf_buffer_free(&j->items);
        pf_buffer_free(&j->bytes);
    }
    pf_free(t->jobs);
    pf_free(t);
    e->threads = NULL;
}
