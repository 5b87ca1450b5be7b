/* Any bytes as spans of a program.  Reading stays inside them, every record is inside one span, and
 * all bytes are in records or lost.  The same spans, read through a stage into a file, give one of
 * the promised results.
 *
 * Input: the spans, one after another, then choices: byte order, policy, events, lengths. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/builder.h"
#include "base/command.h"

enum { MOST_SPANS = 64 };

/* Each span is in a separate block, which is freed when the next one is requested. */
typedef struct spans {
    const uint8_t *at;
    size_t left;
    choices c;
    uint8_t *block;
    size_t len;
    uint64_t handed;
    unsigned n, damages;
} spans;

static perfile_status next(void *user, perfile_bytes *span, perfile_error *err)
{
    spans *x = user;
    free(x->block);
    x->block = NULL;
    x->handed += x->len;
    x->len = 0;
    ENSURE(err);
    uint64_t act = choose(&x->c, 2);
    if (x->left == 0 || x->n++ == MOST_SPANS)
        return PERFILE_END;
    if (act % 16 == 15) {
        x->damages++;
        err->damage = PERFILE_DAMAGE_OVERRUN;
        return pf_damage_status(PERFILE_DAMAGE_OVERRUN);
    }
    /* If no length was chosen, the rest of the input is one span. */
    x->len = act && act < x->left ? (size_t)act : x->left;
    x->block = malloc(x->len);
    ENSURE(x->block);
    memcpy(x->block, x->at, x->len);
    x->at += x->len;
    x->left -= x->len;
    *span = (perfile_bytes){x->block, x->len};
    return PERFILE_OK;
}

static void close_spans(void *user)
{
    spans *x = user;
    free(x->block);
    x->block = NULL;
}

static perfile_session *make_session(bool swapped, choices *c)
{
    const perfile_session_options o = {
        .size = sizeof o, .byte_order = pf_byte_order_of(swapped), .limits = &small_limits};
    perfile_session *s;
    ENSURE(perfile_session_open(&o, &s, NULL) == PERFILE_OK);
    for (uint64_t i = 0, n = choose(c, 1) % 3; i <= n; i++) {
        builder b = {.swap = swapped};
        const uint64_t id = 70 + i;
        const perfile_words ids = perfile_words_u64(&id, 1);
        build_attr_plan plan = {.size = 112,
                                .config = i,
                                .sample_type = choose(c, 3) | PERFILE_SAMPLE_IDENTIFIER,
                                .read_format = PERFILE_FORMAT_ID,
                                .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
        build_attr(&b, &plan);
        ENSURE(perfile_session_add_attr(s, built(&b), &ids, NULL, NULL, NULL) == PERFILE_OK);
        build_clear(&b);
    }
    return s;
}

static perfile_stream *make_stream(spans *x, const perfile_session *session, uint32_t policy)
{
    const perfile_stream_callbacks c = {
        .size = sizeof c, .user = x, .next = next, .close = close_spans};
    const perfile_open_options o = {.size = sizeof o,
                                    .on_damage = policy,
                                    .deliver = PERFILE_DELIVER_DAMAGE,
                                    .envelopes = PERFILE_ENVELOPES_BOTH,
                                    .limits = &small_limits};
    perfile_stream *s;
    ENSURE(perfile_stream_callback(&c, NULL, session, &o, &s, NULL) == PERFILE_OK);
    return s;
}

static void check_record(const spans *x, const perfile_record *r)
{
    if (r->family != PERFILE_FAMILY_PERF)
        return;
    uint64_t sum = 0;
    if (!(r->flags & PERFILE_REC_INNER)) {
        ENSURE(r->header >= x->block && r->header + perfile_record_size(r) <= x->block + x->len);
        ENSURE(r->offset == x->handed + (uint64_t)(r->header - x->block));
    }
    for (size_t i = 0; i < r->body.len; i++)
        sum += r->body.ptr[i];
    ENSURE(sum <= 255 * (uint64_t)r->body.len);
    (void)perfile_record_time(r);
    (void)perfile_record_event(r);
}

/* Reads record by record. */
static void walk(spans x, const perfile_session *session, uint32_t policy)
{
    perfile_stream *s = make_stream(&x, session, policy);
    const perfile_record *r;
    perfile_stream_summary sum;
    perfile_error err = {0};
    perfile_status st;
    bool envelopes = false; /* bytes lost inside of envelopes are not bytes of spans */
    while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK) {
        check_record(&x, r);
        envelopes |= (r->flags & PERFILE_REC_ENVELOPE) != 0;
    }
    ENSURE(st == PERFILE_END || (st == PERFILE_E_LIMIT && err.where));
    perfile_stream_get_summary(s, &sum, sizeof sum);
    if (st == PERFILE_END) {
        ENSURE(envelopes || sum.bytes + sum.lost == x.handed + x.len);
        ENSURE(sum.by_damage[PERFILE_DAMAGE_OVERRUN] ==
               (policy == PERFILE_ON_DAMAGE_STOP ? x.damages > 0 : x.damages));
    }
    perfile_stream_close(s);
}

/* Copies through sort into a file. */
static void copy(spans x, const perfile_session *session, uint32_t policy)
{
    perfile_stream *s = make_stream(&x, session, policy), *sorted;
    const perfile_writer_options o = {
        .size = sizeof o, .byte_order = perfile_session_byte_order(session), .as_stored = true};
    perfile_sink *sink;
    perfile_writer *w;
    const perfile_sort_options sorting = {.size = sizeof sorting,
                                          .max_memory = PERFILE_SORT_LEAST_MEMORY};
    perfile_error err = {0};
    ENSURE(perfile_sort(s, &sorting, &sorted, NULL) == PERFILE_OK);
    ENSURE(perfile_sink_memory("out", &sink, NULL) == PERFILE_OK);
    ENSURE(perfile_writer_open(sink, &o, &w, NULL) == PERFILE_OK);
    const perfile_copy_options how = {.size = sizeof how, .flags = PERFILE_COPY_FORCE};
    perfile_status st = perfile_copy(sorted, w, &how, NULL, 0, &err);
    ENSURE(st == PERFILE_OK || (st < 0 && err.status == st && err.message[0]));
    perfile_writer_close(w);
    perfile_stream_close(sorted);
    perfile_sink_close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t act = choose(&c, 1);
    perfile_session *session = make_session(act & 1, &c);
    const uint32_t policy = PERFILE_ON_DAMAGE_STOP + (uint32_t)(act >> 1) % 3;
    spans x = {.at = data, .left = c.left, .c = c};
    walk(x, session, policy);
    copy(x, session, policy);
    perfile_session_close(session);
    return 0;
}
