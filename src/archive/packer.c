/* Makes chunks of the bytes and records of a capture, and encodes them in threads.
 *
 * Bytes of a part wait in `pending` until their kind is known.  A chunk of records is open while
 * contiguous records are added.  Their fields go to the encoder; their bytes stay in `pending`,
 * because they are needed to verify the columns, and to compress the chunk as a whole if columns do
 * not save enough.  The chunk is closed when it is large enough, or when other bytes follow.
 *
 * Bytes that nobody reports as records become BYTES chunks when there are many of them. */
#include "archive/pack.h"
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "core/session.h"
#include "io/out.h"
#include "io/workers.h"
#include "perfile/version.h"
#include "schema/rows.h"
#include "core/command.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { RECORDS_OF_CHUNK = 64, BYTES_OF_CHUNK = 16 << 10 };
#else
enum {
    RECORDS_OF_CHUNK = 65536, /* more gain less than 1 %; 16384 cost 5 % */
    BYTES_OF_CHUNK = 8 << 20  /* larger chunks compress user stacks better */
};
#endif
enum { SMALL = 128 << 10, ROOM = BYTES_OF_CHUNK + (2 << 20) /* bytes to reserve for `pending` */ };
enum { MOST_PARTS = 65535, HEAD_MOST = 64 << 20 /* bytes that may wait to be patched */ };

typedef struct part {
    char *name; /* NULL: the capture is not a directory */
    bool holds;
    bool has_records;
    pf_buffer head;    /* bytes [0, head.len) of the part, which may still be patched */
    pf_buffer pending; /* bytes of the part from `base` on */
    uint64_t base;
} part;

struct pf_packer {
    pf_pack *pack; /* borrowed */
    uint16_t source;
    perfile_archive_options options;
    pf_workers *workers;
    pf_toolbox box;
    pf_job *jobs; /* one for each slot */
    unsigned n_jobs;
    part *parts;
    uint32_t n_parts, cap_parts;
    bool open; /* a chunk of records is open: of part `at`, from its base to `told` */
    uint32_t at;
    uint64_t told;
    pf_about about;
    /* Session that jobs may read; it calls `reader` before it changes.  NULL: none. */
    const perfile_session *asked;
    pf_session_reader reader;
    pf_buffer meta; /* scratch */
};

static void work(void *user, unsigned slot, unsigned thread)
{
    (void)thread;
    pf_packer *p = user;
    pf_job_encode(&p->jobs[slot]);
}

/* pf_session_reader.before_change: no job reads the session any more when this returns. */
static void stop_asking(void *user, bool last)
{
    (void)last;
    pf_packer *p = user;
    pf_job *j = &p->jobs[pf_workers_slot(p->workers)];
    if (p->open && j->status == PERFILE_OK)
        j->status = pf_job_catch_up(j, p->parts[p->at].pending.ptr, &j->error);
    pf_workers_wait_all(p->workers);
    pf_session_remove_reader(&p->reader);
    p->asked = NULL;
}

/* Must be called before jobs get records of the session `s`, which may be NULL. */
static void ask(pf_packer *p, const perfile_session *s)
{
    if (s == p->asked || p->n_jobs == 1)
        return;
    if (p->asked)
        stop_asking(p, false);
    if (s)
        pf_session_add_reader(s, &p->reader);
    p->asked = s;
}

static perfile_status start(pf_packer *p, perfile_error *err)
{
    const unsigned threads = p->options.threads > 1 ? pf_workers_threads(p->options.threads) : 1;
    p->n_jobs = threads > 1 ? threads + 1 : 1;
    p->jobs = pf_alloc(p->n_jobs, sizeof *p->jobs);
    if (!p->jobs)
        return pf_fail_nomem(err, "archive");
    for (unsigned i = 0; i < p->n_jobs; i++)
        pf_job_init(&p->jobs[i], &p->box, p->options.level, threads > 1);
    return pf_workers_new(threads, p->n_jobs, work, p, &p->workers, err);
}

perfile_status pf_packer_new(pf_pack *pack, uint16_t source, const perfile_archive_options *options,
                             pf_packer **packer, perfile_error *err)
{
    if (options->level < 0 || options->level > PF_PACK_LEVEL_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "archive.level", "level %d; there are 1 to %d",
                       options->level, PF_PACK_LEVEL_MOST);
    pf_packer *p = pf_alloc(1, sizeof *p);
    if (!p)
        return pf_fail_nomem(err, "archive");
    p->pack = pack;
    p->source = source;
    p->options = *options;
    pf_toolbox_init(&p->box, !(options->flags & PERFILE_ARCHIVE_NO_VERIFY));
    p->reader = (pf_session_reader){.before_change = stop_asking, .user = p};
    if (!p->options.level)
        p->options.level = PF_PACK_LEVEL_DEFAULT;
    if (!p->options.chunk_records || p->options.chunk_records > RECORDS_OF_CHUNK)
        p->options.chunk_records = RECORDS_OF_CHUNK;
    perfile_status st = pf_about_init(&p->about, options, err);
    if (st == PERFILE_OK)
        st = start(p, err);
    if (st == PERFILE_OK)
        *packer = p;
    else
        pf_packer_close(p);
    return st;
}

void pf_packer_close(pf_packer *p)
{
    if (!p)
        return;
    pf_workers_free(p->workers);
    if (p->asked)
        pf_session_remove_reader(&p->reader);
    for (unsigned i = 0; p->jobs && i < p->n_jobs; i++)
        pf_job_free(&p->jobs[i]);
    pf_free(p->jobs);
    pf_toolbox_free(&p->box);
    for (uint32_t i = 0; i < p->n_parts; i++) {
        pf_free(p->parts[i].name);
        pf_buffer_free(&p->parts[i].head);
        pf_buffer_free(&p->parts[i].pending);
    }
    pf_free(p->parts);
    pf_about_free(&p->about);
    pf_buffer_free(&p->meta);
    pf_free(p);
}

/* Waits for the oldest submitted job and writes its chunk. */
static perfile_status take_oldest(pf_packer *p, perfile_error *err)
{
    unsigned slot;
    if (!pf_workers_take(p->workers, &slot))
        return PERFILE_OK;
    pf_job *j = &p->jobs[slot];
    if (j->status != PERFILE_OK) {
        if (err)
            *err = j->error;
        return j->status;
    }
    const pf_pack_chunk chunk = {.kind = j->records ? PF_CHUNK_RECORDS : PF_CHUNK_BYTES,
                                 .flags = j->flags,
                                 .source = p->source,
                                 .part = j->part,
                                 .raw_off = j->raw_off,
                                 .meta = {j->meta.ptr, j->meta.len}};
    return pf_pack_put_stored(p->pack, &chunk, &j->payload, err);
}

/* Yields the next job, free to be filled. */
static perfile_status free_job(pf_packer *p, pf_job **job, perfile_error *err)
{
    if (pf_workers_full(p->workers)) {
        perfile_status st = take_oldest(p, err);
        if (st != PERFILE_OK)
            return st;
    }
    *job = &p->jobs[pf_workers_slot(p->workers)];
    return PERFILE_OK;
}

/* Moves the first `n` pending bytes of a part to the job and submits it. */
static perfile_status submit(pf_packer *p, pf_job *j, uint32_t number, size_t n, perfile_error *err)
{
    part *x = &p->parts[number];
    const pf_buffer raw = j->raw;
    j->raw = x->pending;
    x->pending = raw;
    pf_buffer_clear(&x->pending);
    if (!pf_buffer_append(&x->pending, j->raw.ptr + n, j->raw.len - n))
        return pf_fail_nomem(err, "archive");
    j->raw.len = n;
    j->part = (uint16_t)number;
    j->raw_off = x->base;
    x->base += n;
    pf_workers_submit(p->workers);
    /* With one thread there is one job: write its chunk now, so that it can be used again. */
    return p->n_jobs == 1 ? take_oldest(p, err) : PERFILE_OK;
}

/* Packs the first `n` pending bytes as BYTES chunks. */
static perfile_status put_bytes(pf_packer *p, uint32_t number, size_t n, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (n && st == PERFILE_OK) {
        const size_t some = n < BYTES_OF_CHUNK ? n : BYTES_OF_CHUNK;
        pf_job *j;
        st = free_job(p, &j, err);
        if (st != PERFILE_OK)
            return st;
        pf_job_begin_bytes(j);
        st = submit(p, j, number, some, err);
        n -= some;
    }
    return st;
}

/* The same, but keeps the bytes in `head` if they may still be patched. */
static perfile_status hold_or_put(pf_packer *p, uint32_t number, size_t n, perfile_error *err)
{
    part *x = &p->parts[number];
    if (!x->holds || x->has_records || x->head.len + n > HEAD_MOST)
        return put_bytes(p, number, n, err);
    if (!pf_buffer_append(&x->head, x->pending.ptr, n))
        return pf_fail_nomem(err, "archive");
    pf_buffer_consume_front(&x->pending, n);
    x->base += n;
    return PERFILE_OK;
}

/* Closes the open chunk of records. */
static perfile_status close_records(pf_packer *p, perfile_error *err)
{
    if (!p->open)
        return PERFILE_OK;
    p->open = false;
    pf_job *j = &p->jobs[pf_workers_slot(p->workers)];
    return submit(p, j, p->at, (size_t)(p->told - p->parts[p->at].base), err);
}

/* Writes all chunks that are being encoded. */
static perfile_status drain(pf_packer *p, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && pf_workers_submitted(p->workers))
        st = take_oldest(p, err);
    return st;
}

/* Writes a META chunk about the parts from `first` on. */
static perfile_status put_meta(pf_packer *p, uint32_t first, bool complete, perfile_error *err)
{
    perfile_status st = drain(p, err); /* keep the order of the calls, whatever the threads do */
    if (st != PERFILE_OK)
        return st;
    pf_meta_part *parts = pf_alloc(p->n_parts - first, sizeof *parts);
    if (!parts)
        return pf_fail_nomem(err, "archive");
    for (uint32_t i = first; i < p->n_parts; i++) {
        const part *x = &p->parts[i];
        parts[i - first] = (pf_meta_part){.number = i,
                                          .name = x->name,
                                          .format = !complete        ? NULL
                                                    : x->has_records ? "perf.data"
                                                                     : "opaque",
                                          .has_size = complete,
                                          .size = x->base + x->pending.len};
    }
    pf_buffer_clear(&p->meta);
    st = pf_about_encode(&p->about, parts, p->n_parts - first, complete, &p->meta, err);
    pf_free(parts);
    const pf_pack_chunk chunk = {
        .kind = PF_CHUNK_META, .source = p->source, .raw = {p->meta.ptr, p->meta.len}};
    return st == PERFILE_OK ? pf_pack_put(p->pack, &chunk, err) : st;
}

static char *copy_name(const char *name)
{
    const size_t n = strlen(name) + 1;
    char *copy = pf_alloc(n, 1);
    return copy ? memcpy(copy, name, n) : NULL;
}

perfile_status pf_packer_part(pf_packer *p, const char *name, perfile_error *err)
{
    if (p->n_parts == MOST_PARTS)
        return pf_fail(err, PERFILE_E_LIMIT, "archive.parts", "more than %d files", MOST_PARTS);
    part *more = pf_array_more(p->parts, p->n_parts, &p->cap_parts, sizeof *more);
    if (!more)
        return pf_fail_nomem(err, "archive");
    p->parts = more;
    part *x = &p->parts[p->n_parts];
    *x = (part){.name = name ? copy_name(name) : NULL};
    if (name && !x->name)
        return pf_fail_nomem(err, "archive");
    p->n_parts++;
    return put_meta(p, p->n_parts - 1, false, err);
}

perfile_status pf_packer_mark(pf_packer *p, uint32_t lossy, perfile_error *err)
{
    if ((p->about.lossy & lossy) == lossy)
        return PERFILE_OK;
    p->about.lossy |= lossy;
    /* Now, because the archive may never be finished. */
    return put_meta(p, p->n_parts, false, err);
}

perfile_status pf_packer_name(pf_packer *p, uint32_t number, const char *name, perfile_error *err)
{
    char *copy = copy_name(name);
    if (!copy)
        return pf_fail_nomem(err, "archive");
    pf_free(p->parts[number].name);
    p->parts[number].name = copy;
    return put_meta(p, number, false, err);
}

void pf_packer_hold(pf_packer *p, uint32_t number, bool hold)
{
    p->parts[number].holds = hold;
}

perfile_status pf_packer_write(pf_packer *p, uint32_t number, perfile_bytes bytes,
                               perfile_error *err)
{
    part *x = &p->parts[number];
    perfile_status st = PERFILE_OK;
    /* Unless there is little, reserve room for a whole chunk at once: growing in steps touches new
     * memory each time. */
    const size_t len = x->pending.len + bytes.len;
    if (len > SMALL && len < ROOM && !pf_buffer_reserve_large(&x->pending, ROOM - x->pending.len))
        return pf_fail_nomem(err, "archive");
    if (!pf_buffer_append(&x->pending, bytes.ptr, bytes.len))
        return pf_fail_nomem(err, "archive");
    const bool mine = p->open && p->at == number;
    const size_t untold = x->pending.len - (mine ? (size_t)(p->told - x->base) : 0);
    if (untold < 2 * (size_t)BYTES_OF_CHUNK)
        return PERFILE_OK;
    /* The next free job is the one of the open chunk. */
    st = close_records(p, err);
    return st == PERFILE_OK ? hold_or_put(p, number, BYTES_OF_CHUNK, err) : st;
}

perfile_status pf_packer_patch(pf_packer *p, uint32_t number, uint64_t offset, perfile_bytes bytes,
                               perfile_error *err)
{
    part *x = &p->parts[number];
    const uint64_t untold = p->open && p->at == number ? p->told : x->base;
    while (bytes.len) {
        uint8_t *to;
        size_t room;
        if (offset < x->head.len) {
            to = x->head.ptr + offset;
            room = (size_t)(x->head.len - offset);
        } else if (offset >= untold && offset - x->base < x->pending.len) {
            to = x->pending.ptr + (offset - x->base);
            room = x->pending.len - (size_t)(offset - x->base);
        } else {
            return pf_fail(err, PERFILE_E_UNSUPPORTED, "archive.patch",
                           "bytes at %llu are packed already, and would have to be changed: write "
                           "to a file, and pack that",
                           (unsigned long long)offset);
        }
        const size_t n = bytes.len < room ? bytes.len : room;
        memcpy(to, bytes.ptr, n);
        bytes.ptr += n;
        bytes.len -= n;
        offset += n;
    }
    return PERFILE_OK;
}

/* Opens a chunk of records at `offset`.  Pending bytes before it become BYTES chunks. */
static perfile_status open_records(pf_packer *p, uint32_t number, uint64_t offset,
                                   const perfile_record *first, perfile_error *err)
{
    pf_job *j;
    perfile_status st = hold_or_put(p, number, (size_t)(offset - p->parts[number].base), err);
    if (st == PERFILE_OK)
        st = free_job(p, &j, err);
    if (st != PERFILE_OK)
        return st;
    part *x = &p->parts[number];
    if (j->raw.cap > x->pending.cap) { /* swap: the old buffer of the job has room for a chunk */
        const pf_buffer small = x->pending;
        pf_buffer_clear(&j->raw);
        (void)pf_buffer_append(&j->raw, small.ptr, small.len);
        x->pending = j->raw;
        j->raw = small;
    }
    pf_job_begin_records(j, first->flags & PERFILE_REC_SWAPPED);
    p->open = p->parts[number].has_records = true;
    p->at = number;
    p->told = offset;
    return PERFILE_OK;
}

/* Adds records to the open chunk, as many as fit.  *n is set to their number. */
static perfile_status add_records(pf_packer *p, const perfile_record *first, size_t *n,
                                  perfile_error *err)
{
    const part *x = &p->parts[p->at];
    pf_job *j = &p->jobs[pf_workers_slot(p->workers)];
    const size_t room = p->options.chunk_records - j->n_records;
    *n = *n < room ? *n : room;
    perfile_status st = pf_job_add(j, x->pending.ptr, first, *n, err);
    p->told += pf_job_bytes_of(first, *n);
    if (st == PERFILE_OK &&
        (j->n_records == p->options.chunk_records || p->told - x->base >= BYTES_OF_CHUNK))
        st = close_records(p, err);
    return st;
}

perfile_status pf_packer_records(pf_packer *p, uint32_t number, uint64_t offset,
                                 const perfile_record *first, size_t n, perfile_error *err)
{
    const uint64_t end = offset + pf_job_bytes_of(first, n);
    const part *x = &p->parts[number];
    const bool swapped = first->flags & PERFILE_REC_SWAPPED;
    perfile_status st = pf_about_events(&p->about, first->session, err);
    if (st == PERFILE_OK && p->open &&
        (p->at != number || p->told != offset ||
         !pf_job_accepts(&p->jobs[pf_workers_slot(p->workers)], swapped)))
        st = close_records(p, err);
    if (st == PERFILE_OK && (offset < x->base || end > x->base + x->pending.len))
        return PERFILE_OK; /* these bytes are packed already, or were never written */
    ask(p, first->session);
    for (size_t some; n && st == PERFILE_OK; first += some, n -= some) {
        some = n;
        if (!p->open)
            st = open_records(p, number, end - pf_job_bytes_of(first, n), first, err);
        if (st == PERFILE_OK)
            st = add_records(p, first, &some, err);
    }
    return st;
}

perfile_status pf_packer_stored(pf_packer *p, uint32_t number, const pf_stored *range,
                                perfile_error *err)
{
    const pf_chunk *c = range->chunk;
    perfile_status st = pf_about_events(&p->about, range->session, err);
    if (st == PERFILE_OK)
        st = close_records(p, err);
    if (st == PERFILE_OK)
        st = hold_or_put(p, number, p->parts[number].pending.len, err);
    if (st == PERFILE_OK)
        st = drain(p, err); /* keep the order of the calls, whatever the threads do */
    pf_buffer_clear(&p->meta);
    if (st == PERFILE_OK)
        st = pf_archive_meta(range->archive, c, &p->meta, err);
    part *x = &p->parts[number];
    const pf_pack_chunk to = {.source = p->source,
                              .part = (uint16_t)number,
                              .raw_off = x->base,
                              .meta = {p->meta.ptr, p->meta.len}};
    if (st == PERFILE_OK)
        st = pf_pack_move(p->pack, range->archive, c, &to, err);
    if (st != PERFILE_OK)
        return st;
    x->base += c->raw_len;
    x->has_records = true;
    return st;
}

/* Packs `head` as BYTES chunks. */
static perfile_status put_head(pf_packer *p, uint32_t number, perfile_error *err)
{
    part *x = &p->parts[number];
    const uint64_t end = x->base;
    const pf_buffer empty = x->pending;
    x->pending = x->head;
    x->head = empty;
    x->base = 0;
    perfile_status st = put_bytes(p, number, x->pending.len, err);
    x->base = end;
    return st;
}

static perfile_status put_rest(pf_packer *p, perfile_error *err)
{
    perfile_status st = close_records(p, err);
    for (uint32_t i = 0; i < p->n_parts && st == PERFILE_OK; i++) {
        st = put_bytes(p, i, p->parts[i].pending.len, err);
        if (st == PERFILE_OK && p->parts[i].head.len)
            st = put_head(p, i, err);
    }
    return st == PERFILE_OK ? drain(p, err) : st;
}

perfile_status pf_packer_finish(pf_packer *p, perfile_error *err)
{
    perfile_status st = put_rest(p, err);
    return st == PERFILE_OK ? put_meta(p, 0, true, err) : st;
}

/* What META chunks say about a capture that is being packed. */

static uint64_t now(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

perfile_status pf_about_init(pf_about *x, const perfile_archive_options *options,
                             perfile_error *err)
{
    const uint32_t expanded = options->flags & PERFILE_ARCHIVE_EXPANDED ? PF_LOSSY_EXPANDED : 0;
    const uint32_t scrubbed = options->flags & PERFILE_ARCHIVE_SCRUBBED ? PF_LOSSY_SCRUBBED : 0;
    *x = (pf_about){.created = now(), .modified = options->modified, .lossy = expanded | scrubbed};
    pf_arena_init(&x->strings, UINT64_MAX, "archive.events");
    if (!options->name)
        return PERFILE_OK;
    const perfile_bytes name = {(const uint8_t *)options->name, strlen(options->name)};
    if (!pf_meta_name_is_safe(name))
        return pf_fail(err, PERFILE_E_USAGE, "archive.name",
                       "a capture is called by the name of its file: 1 to %d bytes, without '/'",
                       PF_META_MOST_NAME);
    x->name = pf_alloc(name.len + 1, 1);
    if (!x->name)
        return pf_fail_nomem(err, "archive");
    memcpy(x->name, name.ptr, name.len);
    return PERFILE_OK;
}

void pf_about_free(pf_about *x)
{
    pf_free(x->name);
    pf_free(x->events);
    pf_arena_free(&x->strings);
}

perfile_status pf_about_events(pf_about *x, const perfile_session *s, perfile_error *err)
{
    if (!s || (s == x->session && pf_session_generation(s) == x->generation))
        return PERFILE_OK;
    x->session = s;
    x->generation = pf_session_generation(s);
    const uint32_t n = pf_session_n_events(s);
    pf_free(x->events);
    pf_arena_free(&x->strings);
    x->n_events = 0;
    x->events = pf_alloc(n, sizeof *x->events);
    if (!x->events)
        return pf_fail_nomem(err, "archive");
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(s, i);
        const perfile_bytes name = {(const uint8_t *)e->name, strlen(e->name)};
        pf_meta_event *copy = &x->events[i];
        perfile_status st = pf_arena_text(&x->strings, name, &copy->name, err);
        if (st == PERFILE_OK)
            st = pf_arena_copy(&x->strings, e->stored, &copy->attr, err);
        if (st != PERFILE_OK)
            return st;
        x->n_events++;
    }
    return PERFILE_OK;
}

perfile_status pf_about_encode(const pf_about *x, pf_meta_part *parts, uint32_t n, bool complete,
                               pf_buffer *out, perfile_error *err)
{
    char creator[48];
    snprintf(creator, sizeof creator, "perfile %d.%d.%d", PERFILE_VERSION_MAJOR,
             PERFILE_VERSION_MINOR, PERFILE_VERSION_PATCH);
    const char *lossy[PF_META_LOSSY_WORDS];
    const pf_meta m = {.creator = creator,
                       .name = x->name,
                       .has_modified = x->modified != 0,
                       .modified = x->modified,
                       .has_created = true,
                       .created = x->created,
                       .has_lossy = x->lossy != 0,
                       .lossy = lossy,
                       .n_lossy = pf_meta_lossy_words(x->lossy, lossy),
                       .parts = parts,
                       .n_parts = n,
                       .has_events = complete && x->n_events,
                       .events = x->events,
                       .n_events = complete ? x->n_events : 0};
    return pf_meta_encode(&m, out, err);
}

/* Jobs encode one chunk: as columns if this is possible and correct, else with zstd, else raw.
 *
 * Correct means that the decoded payload equals the original bytes.  So a bug in the encoder, or a
 * caller that reports records which are none, costs size and loses no data. */

enum {
    WORTH_PERCENT = 95, /* percent of the raw size; larger columns are not used */
    AHEAD = 2048        /* bytes to prefetch: they were written on another CPU */
};

void pf_job_init(pf_job *j, pf_toolbox *box, int level, bool later)
{
    *j = (pf_job){.box = box, .level = level, .later = later};
}

void pf_job_free(pf_job *j)
{
    pf_tools_put_back(j->box, j->tools);
    pf_buffer_free(&j->raw);
    pf_buffer_free(&j->meta);
    pf_buffer_free(&j->columns);
    pf_buffer_free(&j->packed);
}

void pf_job_begin_bytes(pf_job *j)
{
    j->status = PERFILE_OK;
    j->records = false;
    j->flags = 0;
    pf_buffer_clear(&j->meta);
}

void pf_job_begin_records(pf_job *j, bool swapped)
{
    const bool big = swapped != (bool)PF_NATIVE_BIG;
    j->status = PERFILE_OK;
    j->records = true;
    j->swapped = swapped;
    j->aligned = true;
    j->flags = big ? PF_CHUNK_FLAG_BIG_ENDIAN : 0;
    j->n_records = j->taken = j->added = 0;
    pf_buffer_clear(&j->meta);
}

bool pf_job_accepts(const pf_job *j, bool swapped)
{
    return j->swapped == swapped;
}

/* Adds records to columns and zone. */
static perfile_status take_apart(pf_job *j, const perfile_record *first, size_t n,
                                 perfile_error *err)
{
    pf_tools *t = j->tools;
    if (!t && (t = j->tools = pf_tools_take(j->box))) {
        pf_columns_encoder_begin(t->encoder, j->swapped);
        pf_zone_clear(&t->zone);
    }
    return t && pf_columns_encoder_add(t->encoder, first, n) && pf_zone_add(&t->zone, first, n)
               ? PERFILE_OK
               : pf_fail_nomem(err, "archive");
}

/* Returns true if the record has the session, part and flags of j->some. */
static bool is_like(const pf_job *j, const perfile_record *r)
{
    const perfile_record *like = &j->some[0];
    const unsigned flags = (unsigned)(like->flags ^ r->flags) & ~(unsigned)PERFILE_REC_STABLE;
    return like->session == r->session && like->part == r->part && !flags;
}

/* Sets the members that this record and the following ones have in common. */
static perfile_status begin_alike(pf_job *j, const uint8_t *raw, const perfile_record *r,
                                  perfile_error *err)
{
    perfile_status st = pf_job_catch_up(j, raw, err);
    for (size_t i = 0; i < PF_JOB_AT_ONCE; i++) {
        j->some[i] = *r;
        j->some[i].extra = (perfile_bytes){0};
    }
    return st;
}

perfile_status pf_job_add(pf_job *j, const uint8_t *raw, const perfile_record *first, size_t n,
                          perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n; i++)
        j->aligned &= first[i].body.len % 8 == 0;
    if (!j->later)
        st = take_apart(j, first, n, err);
    else if (j->n_records == 0 || !is_like(j, first))
        st = begin_alike(j, raw, first, err);
    j->n_records += n;
    j->added += pf_job_bytes_of(first, n);
    j->taken = j->later ? j->taken : j->added;
    return st;
}

/* Frames the next records in j->some, as many as fit.  Returns their number, or 0 if the bytes are
 * not valid records. */
static size_t frame(pf_job *j, const uint8_t *raw)
{
    size_t n = 0, at = j->taken;
    for (; n < PF_JOB_AT_ONCE && at < j->added; n++) {
        perfile_record *r = &j->some[n];
        const size_t left = j->added - at;
        __builtin_prefetch((const void *)((uintptr_t)raw + at + AHEAD));
        const pf_frame f =
            left < PF_PERF_RECORD_HEADER ? (pf_frame){0} : pf_frame_at(raw + at, j->swapped);
        if (f.size < PF_PERF_RECORD_HEADER || f.size > left)
            return 0;
        r->header = raw + at;
        r->body =
            (perfile_bytes){r->header + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER};
        r->type = f.type;
        r->misc = f.misc;
        at += f.size;
    }
    j->taken = at;
    return n;
}

perfile_status pf_job_catch_up(pf_job *j, const uint8_t *raw, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    while (j->taken < j->added && st == PERFILE_OK) {
        const size_t n = frame(j, raw);
        if (!n) {
            j->records = false;
            j->taken = j->added;
            break;
        }
        st = take_apart(j, j->some, n, err);
    }
    return st;
}

/* Completes flags and zone of a chunk of records, before its payload is encoded. */
static perfile_status end_records(pf_job *j, perfile_error *err)
{
    perfile_status st = pf_job_catch_up(j, j->raw.ptr, err);
    if (st != PERFILE_OK || !j->records) {
        j->flags = 0;
        return st;
    }
    j->flags |= j->aligned ? PF_CHUNK_FLAG_ALIGNED : 0;
    pf_zone_seal(&j->tools->zone);
    return pf_zone_encode(&j->tools->zone, &j->meta, err);
}

/* Makes room to decode the chunk. */
static bool make_room(pf_job *j)
{
    pf_buffer_clear(&j->tools->again);
    return pf_buffer_reserve_large(&j->tools->again, j->raw.len + 1);
}

/* Returns true if the payload decodes to the original bytes.  Returns false when out of memory. */
static bool is_right(pf_job *j, const pf_pack_payload *payload)
{
    pf_tools *t = j->tools;
    if (!make_room(j))
        return false;
    const bool big = j->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    if (payload->codec == PF_CODEC_COLUMNS &&
        pf_columns_decode(t->decoder, payload->bytes, big, t->again.ptr, j->raw.len, NULL) !=
            PERFILE_OK)
        return false;
    if (payload->codec == PF_CODEC_ZSTD &&
        ZSTD_decompressDCtx(t->unzstd, t->again.ptr, j->raw.len, payload->bytes.ptr,
                            payload->bytes.len) != j->raw.len)
        return false;
    return payload->codec == PF_CODEC_RAW || memcmp(t->again.ptr, j->raw.ptr, j->raw.len) == 0;
}

/* Encodes the records as columns.  Returns false if this fails or does not save enough. */
static bool encode_columns(pf_job *j)
{
    const perfile_bytes raw = {j->raw.ptr, j->raw.len};
    pf_buffer_clear(&j->columns);
    if (pf_columns_encoder_finish(j->tools->encoder, j->level, &j->columns, NULL) != PERFILE_OK ||
        j->columns.len > raw.len / 100 * WORTH_PERCENT)
        return false;
    j->payload = pf_pack_columns(raw, (perfile_bytes){j->columns.ptr, j->columns.len});
    return !j->box->verify || is_right(j, &j->payload);
}

static perfile_status encode(pf_job *j)
{
    const perfile_bytes raw = {j->raw.ptr, j->raw.len};
    perfile_status st = j->records ? end_records(j, &j->error) : PERFILE_OK;
    if (st != PERFILE_OK || (j->records && encode_columns(j)))
        return st;
    if (!j->tools && !(j->tools = pf_tools_take(j->box)))
        return pf_fail_nomem(&j->error, "archive");
    st = pf_pack_compress(j->tools->zstd, j->level, raw, &j->packed, &j->payload, &j->error);
    if (st == PERFILE_OK && j->box->verify && !is_right(j, &j->payload))
        j->payload = (pf_pack_payload){.codec = PF_CODEC_RAW,
                                       .raw_len = j->payload.raw_len,
                                       .raw_crc = j->payload.raw_crc,
                                       .bytes = raw};
    return st;
}

void pf_job_encode(pf_job *j)
{
    if (j->status == PERFILE_OK)
        j->status = encode(j);
    pf_tools_put_back(j->box, j->tools);
    j->tools = NULL;
}

/* The pool: a list of idle helpers, protected by a lock. */

static void release(pf_tools *t)
{
    pf_columns_encoder_free(t->encoder);
    pf_columns_decoder_free(t->decoder);
    ZSTD_freeCCtx(t->zstd);
    ZSTD_freeDCtx(t->unzstd);
    pf_zone_free(&t->zone);
    pf_buffer_free(&t->again);
    pf_free(t);
}

static pf_tools *make(bool verify)
{
    pf_tools *t = pf_alloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->encoder = pf_columns_encoder_new();
    t->decoder = verify ? pf_columns_decoder_new() : NULL;
    t->zstd = ZSTD_createCCtx();
    t->unzstd = verify ? ZSTD_createDCtx() : NULL;
    if (t->encoder && t->zstd && (!verify || (t->decoder && t->unzstd)))
        return t;
    release(t);
    return NULL;
}

void pf_toolbox_init(pf_toolbox *box, bool verify)
{
    *box = (pf_toolbox){.verify = verify};
    pthread_mutex_init(&box->lock, NULL);
}

void pf_toolbox_free(pf_toolbox *box)
{
    for (pf_tools *t = box->free, *next; t; t = next) {
        next = t->next;
        release(t);
    }
    pthread_mutex_destroy(&box->lock);
}

pf_tools *pf_tools_take(pf_toolbox *box)
{
    pthread_mutex_lock(&box->lock);
    pf_tools *t = box->free;
    if (t)
        box->free = t->next;
    pthread_mutex_unlock(&box->lock);
    return t ? t : make(box->verify);
}

void pf_tools_put_back(pf_toolbox *box, pf_tools *tools)
{
    if (!tools)
        return;
    pthread_mutex_lock(&box->lock);
    tools->next = box->free;
    box->free = tools;
    pthread_mutex_unlock(&box->lock);
}
