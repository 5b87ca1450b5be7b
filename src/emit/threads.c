/* Records are borrowed to the next call on their stream, so a job has copies of their bytes (which
 * are in the cache of the processor that framed them) unless they are stable: of a mapped file. The
 * n_records themselves are not copied: those that count_following each other in the stream are a
 * span, of which the first says all but type, misc and size of the others.  These are kept, or,
 * where the stream says that the n_records of a run stand one behind the other, read from their
 * headers again.
 *
 * To copy n_records of several kilobytes (copies of the stack) costs as much as to print them: the
 * caller does that while the threads of the source read on.
 *
 * Each job has an emitter of its own: the forms keep nothing from one record to the next but what
 * makes them faster, and the number of n_records so far, which the job knows.  What is rare is done
 * by the caller, when all jobs before it are: damage, n_records that do not stand behind their
 * header, and those with bytes behind them that are not in memory.
 *
 * Decoding reads the session, so it must not change while jobs are open: it tells before it does
 * (pf_session_reader), and then they are finished. */
#include "emit/threads.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/session.h"
#include "core/stream.h"
#include "io/workers.h"
#include "schema/frame.h"

enum {
    JOB_RECORDS = 8192,
    MAX_RECORD = 128 << 10, /* longer ones, with what lies behind them, are no part of a job */
    LONG_RECORDS = 2 << 10, /* bytes of a record, in the mean of a run, that are not worth a copy */
    JOBS_PER_THREAD = 3
};

/* What differs between the n_records of a span. */
typedef struct item {
    uint32_t size, type;
    uint16_t misc;
} item;

typedef struct span {
    perfile_record first;
    uint32_t n;
    uint32_t header; /* bytes of a header */
    uint64_t bytes;  /* of all n_records */
    size_t at;       /* of the first in the bytes of the job, unless it is stable … */
    size_t extra_at; /* … and of what lies behind it */
    bool framed;     /* type, misc and size are those of the headers; there are no items */
} span;

typedef struct job {
    perfile_emitter *e;
    pf_buffer spans, items, bytes;
    size_t n_bytes;   /* bytes of n_records, stable ones included */
    size_t n_records; /* so many */
    perfile_status status;
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
    job *open;             /* that is being filled, or NULL */
    perfile_status status; /* of the first that failed */
    perfile_error error;
};
typedef struct pf_emit_threads threads;

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

/* A job, in any thread. */
static void run_job(job *j)
{
    const span *s = (const span *)(const void *)j->spans.ptr;
    const span *end = s + j->spans.len / sizeof *s;
    const item *items = (const item *)(const void *)j->items.ptr;
    for (; s < end && j->status == PERFILE_OK; items += s->framed ? 0 : s->n, s++)
        j->status = put_span(j, s, items, &j->error);
    if (j->status == PERFILE_OK && j->e->no_memory)
        j->status = pf_fail_nomem(&j->error, "emitter");
}

static void run_slot(void *user, unsigned slot)
{
    run_job(&((threads *)user)->jobs[slot]);
}

static void set_failure(threads *t, perfile_status st, const perfile_error *err)
{
    if (t->status != PERFILE_OK)
        return;
    t->status = st;
    t->error = *err;
}

/* What the job new_span goes to the sink; the job is empty then. */
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

/* Waits for the oldest job; false when there is none. */
static bool write_oldest(threads *t)
{
    unsigned slot;
    if (!pf_workers_take(t->workers, &slot))
        return false;
    write_job(t, &t->jobs[slot]);
    return true;
}

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

/* Whether the record may wait in a job. */
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

/* How many of r[0 .. n) count_following the n_records of the span in the stream, and each other in
 * memory; they are put into `items`, which has room. */
static size_t count_following(const span *s, const perfile_record *r, size_t n, size_t most,
                              item *items)
{
    const perfile_record *f = &s->first;
    const uint64_t step_inner = f->flags & PERFILE_REC_INNER ? UINT64_MAX : 0;
    const uint8_t *at = f->flags & PERFILE_REC_STABLE ? f->header + s->bytes : r->header;
    uint64_t bytes = s->bytes;
    size_t k = 0;
    if (f->extra.len || !at)
        return 0;
    for (; k < n && bytes - s->bytes < most; k++, r++) {
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

static bool add_bytes(job *j, const perfile_record *r, const uint8_t *bytes, size_t n)
{
    j->n_bytes += n;
    return r->flags & PERFILE_REC_STABLE || pf_buffer_append(&j->bytes, bytes, n);
}

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

/* Bytes of r[0 .. n), which lie one behind the other. */
static size_t bytes_of(const perfile_record *r, size_t n)
{
    return n ? (size_t)(r[n - 1].header - r->header) + perfile_record_size(&r[n - 1]) : 0;
}

static bool extend_span(job *j, span *s, const perfile_record *r, size_t n)
{
    size_t bytes = bytes_of(r, n);
    s->n += (uint32_t)n;
    s->bytes += bytes;
    j->n_records += n;
    return add_bytes(j, r, r->header, bytes);
}

/* Adds the first of r[0 .. n), and those that go with it; *added: how many. */
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

/* The same of n_records that lie one behind the other and differ in nothing but their headers. */
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

static void open_job(threads *t)
{
    if (pf_workers_full(t->workers))
        write_oldest(t);
    t->open = &t->jobs[pf_workers_slot(t->workers)];
    t->open->e->n_records = t->e->n_records;
}

/* By the caller, when all jobs are done. */
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
