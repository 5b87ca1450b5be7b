/* Emits records in several threads; threads.h is the interface.
 *
 * What a job has.  Records are borrowed until the next call on their stream.  Those that are
 * stable, as in a mapped file, and those whose bytes the source keeps (pf_source_keep()) are used
 * where they are; of others a job has copies, which are still in the cache of the processor that
 * framed them. The perfile_record structs are not copied: records that follow each other in the
 * stream are one span, which has the first struct, and of the others only type, misc and size
 * (items).  If the stream has framed a run and its records are adjacent, even these are read from
 * the headers again.
 *
 * How large a job is.  What counts is the text: it should fit a cache, and be enough that handing
 * the job over does not matter.  The last job says how much text there is for a byte of records.
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
    TEXT_PER_BYTE = 8,      /* of records, as long as no job has said */
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
    pf_kept kept;    /* what the source keeps for it, or empty */
    bool copied;     /* the records are in job.bytes: neither stable nor kept */
    size_t at;       /* then the offset of the first record there … */
    size_t extra_at; /* … and that of the bytes behind it */
    bool framed;     /* type, misc and size are read from the headers: there are no items */
} span;

typedef struct job {
    perfile_emitter *e; /* of its own, without a sink: collects the text */
    pf_buffer spans;    /* array of span */
    pf_buffer items;    /* array of item, for all spans that are not framed */
    pf_buffer bytes;    /* copies of records */
    size_t most_bytes;  /* of its records: then it is full */
    size_t n_bytes;     /* of its records, copied or not */
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
    perfile_source *source; /* of the records, or NULL */
    size_t job_text;        /* bytes of text of a job, about */
    size_t job_bytes;       /* bytes of records that make so much, as far as is known */
    job *open;              /* the job that is being filled, or NULL */
    perfile_status status;  /* of the first job, in stream order, that failed */
    perfile_error error;
};
typedef struct pf_emit_threads threads;

/* Makes the records of a span again, one by one, and emits them. */
static perfile_status put_span(const job *j, const span *s, const item *items, perfile_error *err)
{
    perfile_record r = s->first;
    const bool swap = r.flags & PERFILE_REC_SWAPPED;
    const bool inner = r.flags & PERFILE_REC_INNER;
    const uint8_t *at = s->copied ? j->bytes.ptr + s->at : r.header;
    if (r.extra.len && s->copied)
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

/* Empties a job. */
static void clear_job(threads *t, job *j)
{
    const span *s = (const span *)(const void *)j->spans.ptr; /* NULL: the job was never used */
    for (size_t i = 0; i < j->spans.len / sizeof *s; i++)
        pf_source_let_go(t->source, &s[i].kept);
    j->e->n_errors = 0;
    j->e->decoded = j->e->no_memory = false;
    j->status = PERFILE_OK;
    j->n_bytes = j->n_records = 0;
    pf_buffer_clear(&j->e->out);
    pf_buffer_clear(&j->spans);
    pf_buffer_clear(&j->items);
    pf_buffer_clear(&j->bytes);
}

/* Learns from a finished job how many bytes of records the next ones should have: at most half as
 * many as of text, for the text of others may be 40 times as long as they are. */
static void size_jobs(threads *t, const job *j)
{
    const size_t text = j->e->out.len, most = t->job_text / 2;
    if (!text)
        return;
    const double bytes = (double)t->job_text * (double)j->n_bytes / (double)text;
    t->job_bytes = bytes < (double)most ? (size_t)bytes : most;
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
    size_jobs(t, j);
    clear_job(t, j);
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

/* Size of r[0 .. n), which are adjacent in memory. */
static size_t bytes_of(const perfile_record *r, size_t n)
{
    return n ? (size_t)(r[n - 1].header - r->header) + perfile_record_size(&r[n - 1]) : 0;
}

/* True if r[0 .. n), which are adjacent, need not be copied; *kept is what the source keeps then.
 */
static bool stays(const threads *t, const perfile_record *r, size_t n, pf_kept *kept)
{
    perfile_bytes all = {r->header, bytes_of(r, n)};
    *kept = (pf_kept){0};
    if (r->flags & PERFILE_REC_STABLE)
        return true;
    if (r->extra.len && (n > 1 || r->extra.ptr != all.ptr + all.len))
        return false;
    all.len += r->extra.len;
    return pf_source_keep(t->source, all, kept);
}

/* False if the source keeps the bytes of the span, and not those of [at, at + n). */
static bool within_kept(const span *s, const uint8_t *at, size_t n)
{
    return !s->kept.of ||
           (at >= s->kept.bytes.ptr && n <= (size_t)(s->kept.bytes.ptr + s->kept.bytes.len - at));
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
    const uint8_t *at = s->copied ? r->header : f->header + s->bytes;
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
        if (!within_kept(s, at, size))
            break;
        items[k] = (item){(uint32_t)size, r->type, r->misc};
        at += size;
        bytes += size;
    }
    return k;
}

/* Adds bytes of a record, which are copied if those of the span are. */
static bool add_bytes(job *j, bool copied, const uint8_t *bytes, size_t n)
{
    j->n_bytes += n;
    return !copied || pf_buffer_append(&j->bytes, bytes, n);
}

/* Begins a span with r[0 .. n): one record, or framed ones. */
static bool add_span(threads *t, job *j, const perfile_record *r, size_t n, bool framed)
{
    const size_t size = bytes_of(r, n);
    const item it = {(uint32_t)size, r->type, r->misc};
    span s = {.first = *r,
              .n = (uint32_t)n,
              .header = (uint32_t)header_bytes(r),
              .bytes = size,
              .at = j->bytes.len,
              .extra_at = j->bytes.len + size,
              .framed = framed};
    s.copied = !stays(t, r, n, &s.kept);
    if (!pf_buffer_append(&j->spans, &s, sizeof s)) {
        pf_source_let_go(t->source, &s.kept);
        return false;
    }
    j->n_records += n;
    return (framed || pf_buffer_append(&j->items, &it, sizeof it)) &&
           add_bytes(j, s.copied, r->header, size) &&
           add_bytes(j, s.copied, r->extra.ptr, r->extra.len);
}

/* Adds r[0 .. n) to the last span; their items have been added. */
static bool extend_span(job *j, span *s, const perfile_record *r, size_t n)
{
    size_t bytes = bytes_of(r, n);
    s->n += (uint32_t)n;
    s->bytes += bytes;
    j->n_records += n;
    return add_bytes(j, s->copied, r->header, bytes);
}

/* Adds as many of r[0 .. n) as continue the last span, or begins a span with the first.  *added:
 * how many were added.  False: no memory. */
static bool add_records(threads *t, job *j, const perfile_record *r, size_t n, size_t *added)
{
    span *s = last_span(j);
    if (!pf_buffer_reserve(&j->items, n * sizeof(item)))
        return false;
    size_t k = 0;
    if (s && !s->framed)
        k = count_following(s, r, n, j->most_bytes - j->n_bytes,
                            (item *)(void *)(j->items.ptr + j->items.len));
    *added = k ? k : 1;
    if (!k)
        return add_span(t, j, r, 1, false);
    j->items.len += k * sizeof(item);
    return extend_span(j, s, r, k);
}

/* The same for records that the stream has framed: they are adjacent and differ in their headers
 * only, so that they need no items. */
static bool add_framed(threads *t, job *j, const perfile_record *r, size_t n, size_t *added)
{
    span *s = last_span(j);
    item it;
    size_t k = 1;
    while (k < n && bytes_of(r, k) < j->most_bytes - j->n_bytes)
        k++;
    *added = k;
    if (s && s->framed && count_following(s, r, 1, SIZE_MAX, &it) &&
        within_kept(s, r->header, bytes_of(r, k)))
        return extend_span(j, s, r, k);
    return add_span(t, j, r, k, true);
}

static bool is_full(const job *j)
{
    return j->n_bytes >= j->most_bytes || j->n_records >= JOB_RECORDS;
}

/* Takes a free job; if there is none, the oldest is finished first. */
static void open_job(threads *t)
{
    if (pf_workers_full(t->workers))
        write_oldest(t);
    t->open = &t->jobs[pf_workers_slot(t->workers)];
    t->open->e->n_records = t->e->n_records;
    t->open->most_bytes = t->job_bytes;
}

/* True if r[0 .. n) are not worth a job: they are long, and would have to be copied. */
static bool too_long(const threads *t, const perfile_record *r, size_t n)
{
    pf_kept kept;
    if (bytes_of(r, n) <= n * LONG_RECORDS)
        return false;
    const bool copied = !stays(t, r, n, &kept);
    pf_source_let_go(t->source, &kept);
    return copied;
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
    if (framed && too_long(t, r, n))
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
        if (is_full(t->open)) {
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
                                     size_t job_text, perfile_error *err)
{
    threads *t = pf_alloc(1, sizeof *t);
    if (!t)
        return pf_fail_nomem(err, "emitter");
    e->threads = t;
    t->e = e;
    t->source = pf_stream_source(stream);
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

void pf_emit_threads_free(perfile_emitter *e)
{
    threads *t = e->threads;
    if (!t)
        return;
    pf_workers_free(t->workers);
    pf_session_remove_reader(t->session, &t->reader);
    for (unsigned i = 0; i < t->n_jobs; i++) {
        job *j = &t->jobs[i];
        if (j->e)
            clear_job(t, j);
        pf_emitter_free(j->e);
        pf_buffer_free(&j->spans);
        pf_buffer_free(&j->items);
        pf_buffer_free(&j->bytes);
    }
    pf_free(t->jobs);
    pf_free(t);
    e->threads = NULL;
}
