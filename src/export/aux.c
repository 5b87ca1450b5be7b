/* The form `aux`: the AUX area of a capture for decoders of instruction traces, one file per ring
 * buffer, in a directory.
 *
 * A file `aux.N` has the data of ring buffer N, as stored after its AUXTRACE records.
 * `index.json`, which is the sink itself, describes them: the tracer and its parameters
 * (AUXTRACE_INFO); for each file its CPU or thread, its pieces with their offset in the AUX stream,
 * and the gaps between them; the spans in AUX records with time, task and flags; and where tracing
 * began (ITRACE_START).
 *
 * Data is copied as it comes.  The index is stored: at most 64 bytes per record, charged to
 * perfile_limits.profile_bytes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/session.h"
#include "export/export.h"
#include "io/out.h"
#include "model/index.h"
#include "perfile/field.h"
#include "schema/command.h"

/* The data after an AUXTRACE record. */
typedef struct piece {
    uint64_t at;     /* offset in the file */
    uint64_t size;   /* bytes that the capture has */
    uint64_t offset; /* offset in the AUX stream */
    uint64_t reference;
    uint64_t record; /* offset of the record in the capture */
    size_t next;     /* index + 1 of the next piece of the same ring buffer; 0 if none */
} piece;

/* A ring buffer. */
typedef struct queue {
    uint32_t idx, cpu, tid; /* of its first record */
    uint64_t bytes;
    size_t first, last; /* indexes + 1 of its pieces; 0 if none */
} queue;

/* An AUX or ITRACE_START record.  The latter has no size and no flags. */
typedef struct span {
    uint64_t time, offset, size, flags;
    uint32_t pid, tid, cpu;
    bool start;
} span;

/* An array that grows. */
typedef struct list {
    void *at;
    size_t n, cap;
} list;

typedef struct aux {
    perfile_emitter base;
    pf_budget budget;
    list pieces, queues, spans;
    pf_index by_idx; /* idx to the index in `queues` */
    bool has_info;
    uint32_t type;  /* PERFILE_AUXTRACE_… */
    pf_buffer priv; /* words of AUXTRACE_INFO, in native byte order */
    perfile_export_summary sum;
} aux;

/* Appends an item of `width` bytes.  Returns false when out of memory or over the limit. */
static bool append(aux *x, list *l, const void *item, size_t width)
{
    if (l->n == l->cap) {
        const size_t cap = l->cap ? 2 * l->cap : 32;
        void *at = pf_budget_realloc(&x->budget, l->at, l->cap, cap, width);
        if (!at)
            return false;
        l->at = at;
        l->cap = cap;
    }
    memcpy((uint8_t *)l->at + l->n++ * width, item, width);
    return true;
}

static perfile_status fail(aux *x, perfile_error *err)
{
    if (!x->budget.refused)
        return pf_fail_nomem(err, "export");
    return pf_fail(err, PERFILE_E_LIMIT, "profile_bytes",
                   "the index needs more than %" PRIu64 " bytes", x->budget.limit);
}

static perfile_status open(perfile_emitter *e, perfile_error *err)
{
    aux *x = (aux *)(void *)e;
    if (e->exporting->flags & PERFILE_EXPORT_OFF_CPU)
        return pf_fail(err, PERFILE_E_USAGE, "export.flags", "'aux' has no samples");
    x->budget.limit = pf_session_profile_bytes(e->session);
    x->by_idx = (pf_index){.seed = pf_index_seed(x), .budget = &x->budget};
    return pf_sink_name_file(e->sink, 0, "index.json", err);
}

static void close(perfile_emitter *e)
{
    aux *x = (aux *)(void *)e;
    pf_free(x->pieces.at);
    pf_free(x->queues.at);
    pf_free(x->spans.at);
    pf_index_free(&x->by_idx);
    pf_buffer_free(&x->priv);
}

static perfile_status begin(perfile_emitter *e, perfile_error *err)
{
    (void)e;
    (void)err;
    return PERFILE_OK;
}

/* Finds the file of a ring buffer; makes it if it is new. */
static perfile_status find_queue(aux *x, const perfile_auxtrace *a, uint32_t *number,
                                 perfile_sink **part, perfile_error *err)
{
    char name[16];
    const uint32_t known = pf_index_get(&x->by_idx, a->idx);
    *number = known != PF_INDEX_NONE ? known : (uint32_t)x->queues.n;
    if (known == PF_INDEX_NONE) {
        const queue q = {.idx = a->idx, .cpu = a->cpu, .tid = a->tid};
        if (!append(x, &x->queues, &q, sizeof q) || !pf_index_put(&x->by_idx, a->idx, *number))
            return fail(x, err);
        snprintf(name, sizeof name, "aux.%" PRIu32, a->idx);
        perfile_status st = pf_sink_name_file(x->base.sink, *number + 1, name, err);
        if (st != PERFILE_OK)
            return st;
    }
    return pf_sink_part(x->base.sink, *number, part, err);
}

/* Copies the data after an AUXTRACE record.  Sets *size to the bytes copied. */
static perfile_status copy_data(aux *x, const perfile_record *r, perfile_sink *part, uint64_t *size,
                                perfile_error *err)
{
    perfile_bytes chunk = r->extra;
    perfile_status st = PERFILE_OK;
    *size = 0;
    if (chunk.ptr) {
        *size = chunk.len;
        return perfile_sink_write(part, chunk, err);
    }
    while (st == PERFILE_OK &&
           (st = perfile_stream_extra(x->base.stream, r, &chunk, err)) == PERFILE_OK) {
        *size += chunk.len;
        st = perfile_sink_write(part, chunk, err);
    }
    /* The stream reports the missing data of a truncated capture; the index shows it as missing. */
    return st == PERFILE_END || st == PERFILE_E_TRUNCATED ? PERFILE_OK : st;
}

static perfile_status put_data(aux *x, const perfile_record *r, perfile_error *err)
{
    perfile_auxtrace a;
    perfile_sink *part;
    piece p = {0};
    uint32_t number;
    if (perfile_auxtrace_decode(r, &a, sizeof a, NULL) != PERFILE_OK)
        return PERFILE_OK;
    perfile_status st = find_queue(x, &a, &number, &part, err);
    if (st != PERFILE_OK)
        return st;
    queue *q = (queue *)x->queues.at + number;
    p.at = q->bytes;
    p.offset = a.offset;
    p.reference = a.reference;
    p.record = r->offset;
    st = copy_data(x, r, part, &p.size, err);
    q->bytes += p.size;
    x->sum.aux_bytes += p.size;
    if (st != PERFILE_OK)
        return st;
    if (!append(x, &x->pieces, &p, sizeof p))
        return fail(x, err);
    if (q->last)
        ((piece *)x->pieces.at)[q->last - 1].next = x->pieces.n;
    else
        q->first = x->pieces.n;
    q->last = x->pieces.n;
    return PERFILE_OK;
}

static perfile_status put_info(aux *x, const perfile_record *r, perfile_error *err)
{
    perfile_auxtrace_info info;
    if (x->has_info || perfile_auxtrace_info_decode(r, &info, sizeof info, NULL) != PERFILE_OK)
        return PERFILE_OK;
    x->has_info = true;
    x->type = info.type;
    for (size_t i = 0; i < info.priv.n; i++) {
        const uint64_t word = perfile_word(&info.priv, i);
        if (!pf_buffer_append(&x->priv, &word, sizeof word))
            return fail(x, err);
    }
    return PERFILE_OK;
}

/* Stores an AUX or ITRACE_START record. */
static perfile_status put_span(aux *x, const perfile_record *r, perfile_error *err)
{
    span s = {.time = perfile_record_time(r), .pid = PERFILE_NO_PID, .tid = PERFILE_NO_PID};
    perfile_aux a;
    perfile_itrace_start start;
    if (!perfile_record_task(r, &s.pid, &s.tid))
        s.pid = s.tid = PERFILE_NO_PID;
    if (!perfile_record_cpu(r, &s.cpu))
        s.cpu = UINT32_MAX;
    if (r->type == PERFILE_RECORD_AUX) {
        if (perfile_aux_decode(r, &a, sizeof a, NULL) != PERFILE_OK)
            return PERFILE_OK;
        s.offset = a.aux_offset;
        s.size = a.aux_size;
        s.flags = a.flags;
    } else {
        if (perfile_itrace_start_decode(r, &start, sizeof start, NULL) != PERFILE_OK)
            return PERFILE_OK;
        s.pid = start.pid;
        s.tid = start.tid;
        s.start = true;
    }
    return append(x, &x->spans, &s, sizeof s) ? PERFILE_OK : fail(x, err);
}

static perfile_status put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    aux *x = (aux *)(void *)e;
    e->n_records++;
    if (r->family != PERFILE_FAMILY_PERF)
        return PERFILE_OK;
    switch (r->type) {
    case PERFILE_RECORD_AUXTRACE:
        return put_data(x, r, err);
    case PERFILE_RECORD_AUXTRACE_INFO:
        return put_info(x, r, err);
    case PERFILE_RECORD_AUX:
    case PERFILE_RECORD_ITRACE_START:
        return put_span(x, r, err);
    default:
        return PERFILE_OK;
    }
}

/* Appends formatted text to the index. */
__attribute__((format(printf, 2, 3))) static void say(aux *x, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pf_emit_bytes(&x->base, text, (size_t)n); /* no line is as long as `text` */
}

/* Writes a member such as "cpu":3; all ones become null. */
static void say_number(aux *x, const char *name, uint32_t number)
{
    if (number == UINT32_MAX)
        say(x, "\"%s\":null", name);
    else
        say(x, "\"%s\":%" PRIu32, name, number);
}

/* Writes the tracer: its name, number and words. */
static void say_info(aux *x)
{
    const char *name = perfile_vocabulary_word(pf_kind_words(PERFILE_KIND_AUXTRACE_TYPE), x->type);
    if (x->has_info && name)
        say(x, "\"tracer\":\"%s\",\"type\":%" PRIu32, name, x->type);
    else if (x->has_info)
        say(x, "\"tracer\":null,\"type\":%" PRIu32, x->type);
    else
        say(x, "\"tracer\":null,\"type\":null");
    say(x, ",\n\"priv\":[");
    for (size_t at = 0; at < x->priv.len; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, x->priv.ptr + at, sizeof word);
        say(x, "%s\"0x%" PRIx64 "\"", at ? "," : "", word);
    }
    say(x, "]");
}

/* Writes the output so far if there is enough of it. */
static perfile_status write_some(aux *x, perfile_error *err)
{
    enum { ENOUGH = 1 << 16 };
    return x->base.out.len >= ENOUGH || x->base.no_memory ? pf_emitter_write_out(&x->base, err)
                                                          : PERFILE_OK;
}

/* Writes a ring buffer: its pieces, and the gaps of the stream between them. */
static perfile_status say_queue(aux *x, const queue *q, perfile_error *err)
{
    const piece *pieces = x->pieces.at;
    perfile_status st = PERFILE_OK;
    say(x, "{\"file\":\"aux.%" PRIu32 "\",\"idx\":%" PRIu32 ",", q->idx, q->idx);
    say_number(x, "cpu", q->cpu);
    say(x, ",");
    say_number(x, "tid", q->tid);
    say(x, ",\"bytes\":%" PRIu64 ",\n\"pieces\":[", q->bytes);
    for (size_t i = q->first; i && st == PERFILE_OK; i = pieces[i - 1].next) {
        const piece *p = &pieces[i - 1];
        say(x,
            "%s\n{\"at\":%" PRIu64 ",\"size\":%" PRIu64 ",\"offset\":\"%" PRIu64
            "\",\"reference\":\"0x%" PRIx64 "\",\"record\":\"%" PRIu64 "\"}",
            i == q->first ? "" : ",", p->at, p->size, p->offset, p->reference, p->record);
        st = write_some(x, err);
    }
    say(x, "],\n\"missing\":[");
    bool any = false;
    for (size_t i = q->first; i && pieces[i - 1].next && st == PERFILE_OK; i = pieces[i - 1].next) {
        const uint64_t end = pieces[i - 1].offset + pieces[i - 1].size;
        const uint64_t next = pieces[pieces[i - 1].next - 1].offset;
        if (next <= end || end < pieces[i - 1].offset)
            continue;
        say(x, "%s{\"from\":\"%" PRIu64 "\",\"to\":\"%" PRIu64 "\"}", any ? "," : "", end, next);
        any = true;
        x->sum.aux_missing++;
        st = write_some(x, err);
    }
    say(x, "]}");
    return st;
}

/* Writes the names of the flags of an AUX record. */
static void say_flags(aux *x, uint64_t flags)
{
    const perfile_vocabulary *words = pf_kind_words(PERFILE_KIND_AUX_FLAGS);
    bool any = false;
    say(x, ",\"flags\":[");
    for (uint32_t i = 0; i < words->n; i++) {
        const perfile_bits *b = &words->bits[i];
        if (b->width != 1 || !(flags >> b->shift & 1))
            continue;
        say(x, "%s\"%s\"", any ? "," : "", b->name);
        any = true;
    }
    say(x, "],\"flag_bits\":\"0x%" PRIx64 "\"", flags);
}

/* Writes all spans, or where tracing began. */
static perfile_status say_spans(aux *x, bool starts, perfile_error *err)
{
    const span *at = x->spans.at;
    perfile_status st = PERFILE_OK;
    bool any = false;
    for (size_t i = 0; i < x->spans.n && st == PERFILE_OK; i++) {
        const span *s = &at[i];
        if (s->start != starts)
            continue;
        say(x, "%s\n{", any ? "," : "");
        any = true;
        say_number(x, "cpu", s->cpu);
        say(x, ",");
        say_number(x, "pid", s->pid);
        say(x, ",");
        say_number(x, "tid", s->tid);
        if (s->time == PERFILE_NO_TIME)
            say(x, ",\"time\":null");
        else
            say(x, ",\"time\":\"%" PRIu64 "\"", s->time);
        if (!starts) {
            say(x, ",\"offset\":\"%" PRIu64 "\",\"size\":\"%" PRIu64 "\"", s->offset, s->size);
            say_flags(x, s->flags);
        }
        say(x, "}");
        st = write_some(x, err);
    }
    return st;
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    aux *x = (aux *)(void *)e;
    perfile_status st = PERFILE_OK;
    say(x, "{");
    say_info(x);
    say(x, ",\n\"files\":[");
    for (size_t i = 0; i < x->queues.n && st == PERFILE_OK; i++) {
        say(x, i ? ",\n" : "\n");
        st = say_queue(x, (const queue *)x->queues.at + i, err);
    }
    say(x, "],\n\"spans\":[");
    if (st == PERFILE_OK)
        st = say_spans(x, false, err);
    say(x, "],\n\"starts\":[");
    if (st == PERFILE_OK)
        st = say_spans(x, true, err);
    say(x, "]}\n");
    return st;
}

static perfile_status put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                              perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = put(e, &first[i], err);
    return st;
}

static void summary(const perfile_emitter *e, perfile_export_summary *out)
{
    const aux *x = (const aux *)(const void *)e;
    *out = x->sum;
    out->aux_files = x->queues.n;
    out->first_time = PERFILE_NO_TIME;
    out->bytes = x->budget.used;
}

static const pf_export_ops exports = {.put_run = put_run, .summary = summary, .directory = true};

const pf_emit_ops pf_emit_aux = {
    .name = "aux",
    .doc = "the AUX area for decoders, a file for each ring buffer and an index",
    .size = sizeof(aux),
    .open = open,
    .close = close,
    .begin = begin,
    .put = put,
    .finish = finish,
    .exports = &exports,
};
