/* Examining samples and rounds in the threads that read the file: pf_looker (core/stream.h).
 *
 * A thread searches its block for a chain of headers, as in pass.c, makes records of what follows,
 * and shows them to the looker, which writes notes.  These are used only if the stream arrives at
 * exactly the offset where the chain begins.  The looker decodes records by the session of the
 * stream, which must not change meanwhile: before it changes, wait_for_threads() waits until all
 * blocks at work are finished.  The looker itself decides whether notes made before a change still
 * hold. */
#include "base/alloc.h"
#include "core/session.h"
#include "perf/take.h"

enum { RUN = 64 /* records: few enough for the stack, and the first cache */ };

/* What the threads need.  Written by the thread of the stream, before any other is at work. */
typedef struct pf_perf_look {
    pf_scan scan; /* must be first: the threads get a pointer to it and cast back */
    const pf_looker *looker;
    perfile_session *session;
    pf_session_reader reader;
    pf_perf_stream *stream;
    bool swap;
} pf_perf_look;

/* The notes of a block: our counts, then the notes of the looker. */
typedef struct notes {
    perfile_passed passed;
    _Alignas(max_align_t) char of_looker[];
} notes;

/* Adds n records, samples or rounds, to the counts. */
static void count(perfile_passed *passed, const perfile_record *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool sample = r[i].type == PERFILE_RECORD_SAMPLE;
        uint64_t bytes = r[i].body.len + PF_PERF_RECORD_HEADER;
        passed->samples += sample;
        passed->sample_bytes += sample ? bytes : 0;
        passed->rounds += !sample;
        passed->round_bytes += sample ? 0 : bytes;
    }
}

/* Frames the complete samples and rounds at the front of `rest` into `run`, at most RUN; returns
 * their number.  `offset` and `sequence` are those of the first. */
static size_t frame(perfile_record *run, perfile_bytes rest, uint64_t offset, uint64_t sequence,
                    bool swap)
{
    size_t at = 0, n = 0;
    for (; n < RUN && rest.len - at >= PF_PERF_RECORD_HEADER; n++) {
        const uint8_t *header = rest.ptr + at;
        const uint32_t type = pf_load_u32(header, swap);
        const uint16_t size = pf_load_u16(header + 6, swap);
        if ((type != PERFILE_RECORD_SAMPLE && type != PERFILE_RECORD_FINISHED_ROUND) ||
            size < PF_PERF_RECORD_HEADER || size > rest.len - at)
            break;
        perfile_record *r = &run[n];
        r->header = header;
        r->body =
            (perfile_bytes){header + PF_PERF_RECORD_HEADER, (size_t)size - PF_PERF_RECORD_HEADER};
        r->type = type;
        r->misc = pf_load_u16(header + 4, swap);
        r->offset = offset + at;
        r->sequence = sequence + n;
        at += size;
    }
    return n;
}

static void prepare_records(const pf_perf_look *l, perfile_record *run)
{
    for (size_t i = 0; i < RUN; i++)
        run[i] = (perfile_record){.flags = l->swap ? PERFILE_REC_SWAPPED : 0,
                                  .envelope = PERFILE_NO_SEQUENCE,
                                  .session = l->session};
}

/* pf_scan.look, in any thread: shows the records of one block to the looker, until the looker stops
 * or something else than samples and rounds comes. */
static void look(const pf_scan *scan, perfile_bytes bytes, uint64_t offset, pf_scanned *scanned)
{
    const pf_perf_look *l = (const pf_perf_look *)(const void *)scan;
    const pf_looker *looker = l->looker;
    notes *mine = scanned->notes;
    perfile_passed *p = &mine->passed;
    perfile_record run[RUN];
    size_t n, done, at = pf_perf_sample_row(bytes, offset, l->swap);
    scanned->start = offset + at;
    *p = (perfile_passed){0};
    prepare_records(l, run);
    looker->begin(looker->user, mine->of_looker);
    do {
        n = frame(run, (perfile_bytes){bytes.ptr + at, bytes.len - at}, offset + at,
                  p->samples + p->rounds, l->swap);
        done = n ? looker->run(looker->user, mine->of_looker, run, n) : 0;
        count(p, run, done);
        if (done)
            at = (size_t)(run[done - 1].body.ptr + run[done - 1].body.len - bytes.ptr);
    } while (n == RUN && done == n);
    scanned->end = offset + at;
}

/* pf_session_reader.before_change: waits for the threads of all parts that were begun. */
static void wait_for_threads(void *user)
{
    const pf_perf_stream *p = ((const pf_perf_look *)user)->stream;
    for (uint32_t i = 0; i < p->n_parts && i <= p->part; i++)
        pf_source_wait(p->parts[i].source);
}

/* Makes p->look and registers it with the session; NULL if there is no memory. */
static pf_perf_look *begin(pf_perf_stream *p, const pf_looker *looker)
{
    pf_perf_look *l = pf_alloc(1, sizeof *l);
    if (!l)
        return NULL;
    *l = (pf_perf_look){.scan = {look, sizeof(notes) + looker->note_bytes},
                        .looker = looker,
                        .session = p->base.session,
                        .reader = {.before_change = wait_for_threads, .user = l},
                        .stream = p,
                        .swap = p->swap};
    pf_session_add_reader(p->base.session, &l->reader);
    return l;
}

void pf_perf_look_end(pf_perf_stream *p)
{
    if (!p->look)
        return;
    wait_for_threads(p->look);
    pf_session_remove_reader(p->base.session, &p->look->reader);
    pf_free(p->look);
    p->look = NULL;
}

bool pf_perf_looked(perfile_stream *s, const pf_looker *looker, pf_looked *out)
{
    pf_perf_stream *p = pf_perf_of(s);
    pf_scanned known;
    if (!pf_perf_at_records(p) || !p->file->source->ops->scanned)
        return false;
    if (!p->look && !(p->look = begin(p, looker)))
        return false;
    if (!pf_perf_scanned(p, &p->look->scan, &known) || known.start != p->pos)
        return false;
    notes *seen = known.notes;
    *out = (pf_looked){seen->passed, p->sequence, seen->of_looker};
    out->passed.offset = p->pos;
    out->passed.part = p->part;
    return true;
}
