/* What several threads make is what one makes, byte for byte, of whole captures and of damaged
 * ones. */
#include "testing.h"

#include <stdio.h>

#include "base/alloc.h"
#include "captures.h"
#include "core/stream.h"
#include "dripping.h"
#include "emit/emitter.h"
#include "perfile/perfile.h"
#include "random.h"
#include "recorded.h"
#include "emit/command.h"

/* How a capture is read, and what is made of it. */
typedef struct way {
    const char *format;
    uint32_t flags;
    bool as_stored, mapped, resync;
} way;

static const way ways[] = {
    {"jsonl", 0, true, false, false},
    {"jsonl", PERFILE_EMIT_RESOLVE, false, true, true},
    {"cbor", 0, true, true, false},
    {"text", 0, false, false, true},
    {"text", PERFILE_EMIT_HEX, false, true, false},
    {"tsv", 0, false, false, false},
};
enum {
    N_WAYS = sizeof ways / sizeof ways[0],
    JOB_OF_ONE = 1,
    JOB_OF_SOME = 300,
    MOST_BYTES = 64 << 20
};

/* All that is to be seen of an emitter. */
typedef struct emitted {
    void *bytes;
    size_t len;
    perfile_status status;
    int outcome;
    uint64_t errors;
} emitted;

static perfile_status put_all(perfile_emitter *e, perfile_stream *s, bool by_run)
{
    const perfile_record *r;
    size_t n = 1;
    perfile_status st = perfile_emitter_begin(e, NULL);
    while (st == PERFILE_OK) {
        st = by_run ? perfile_stream_next_run(s, &r, &n, NULL) : perfile_stream_next(s, &r, NULL);
        if (st == PERFILE_OK)
            st = by_run ? perfile_emitter_put_run(e, r, n, NULL) : perfile_emitter_put(e, r, NULL);
    }
    perfile_status end = perfile_emitter_finish(e, NULL);
    return end == PERFILE_OK && st != PERFILE_END ? st : end;
}

static void emit(perfile_stream *s, const way *w, unsigned threads, size_t job, emitted *out)
{
    perfile_sink *sink;
    perfile_emitter *e;
    perfile_emit_options how = {
        .size = sizeof how, .flags = w->flags, .fields = "time,event,pid,cpu,period,callchain"};
    assert_int_equal(perfile_sink_memory("memory", &sink, NULL), PERFILE_OK);
    if (job == PF_EMIT_JOB_TEXT)
        how.threads = threads;
    assert_int_equal(perfile_emitter_open(w->format, s, sink, &how, &e, NULL), PERFILE_OK);
    if (threads > 1 && !e->threads)
        assert_int_equal(pf_emit_threads_start(e, s, threads, job, NULL), PERFILE_OK);
    out->status = put_all(e, s, threads != 2);
    out->outcome = pf_emitter_outcome(e);
    out->errors = pf_emitter_errors(e);
    perfile_emitter_close(e);
    assert_int_equal(perfile_sink_finish(sink, NULL), PERFILE_OK);
    assert_int_equal(sink_copy(sink, &out->bytes, &out->len), PERFILE_OK);
    perfile_sink_close(sink);
}

/* False when it is no capture that could be opened. */
static bool read_emitted(perfile_bytes bytes, const way *w, unsigned threads, size_t job,
                         emitted *out)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_open_options options = {.size = sizeof options,
                                    .as_stored = w->as_stored,
                                    .deliver = PERFILE_DELIVER_DAMAGE,
                                    .on_damage = w->resync ? PERFILE_ON_DAMAGE_RESYNC
                                                           : PERFILE_ON_DAMAGE_STOP};
    dripping d = {.bytes = bytes, .most = 5000, .state = 1};
    if (w->mapped)
        assert_int_equal(perfile_source_memory(bytes, "memory", &source, NULL), PERFILE_OK);
    else
        assert_int_equal(dripping_open(&d, true, NULL, &source, NULL), PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    emit(s, w, threads, job, out);
    perfile_stream_close(s);
    return true;
}

static bool compare(const char *name, perfile_bytes bytes)
{
    static const struct {
        unsigned threads;
        size_t job;
    } tries[] = {{2, JOB_OF_ONE}, {5, JOB_OF_SOME}, {2, PF_EMIT_JOB_TEXT}};
    bool opened = false;
    for (unsigned i = 0; i < N_WAYS; i++) {
        emitted one, many;
        if (!read_emitted(bytes, &ways[i], 1, 0, &one))
            continue;
        opened = true;
        for (unsigned k = 0; k < sizeof tries / sizeof tries[0]; k++) {
            assert_true(read_emitted(bytes, &ways[i], tries[k].threads, tries[k].job, &many));
            bool same = one.len == many.len && memcmp(one.bytes, many.bytes, one.len) == 0 &&
                        one.status == many.status && one.outcome == many.outcome &&
                        one.errors == many.errors;
            if (!same)
                fail_msg("%s: %s with %u threads and jobs of %zu bytes", name, ways[i].format,
                         tries[k].threads, tries[k].job);
            free(many.bytes);
        }
        free(one.bytes);
    }
    return opened;
}

/* Some copies with a few bytes changed, or cut. */
static void compare_damaged(const char *name, perfile_bytes bytes, unsigned copies)
{
    for (unsigned i = 0; i < copies && bytes.len; i++) {
        perfile_bytes copy = {exact(bytes.ptr, bytes.len), bytes.len};
        uint8_t *at = (uint8_t *)(uintptr_t)copy.ptr;
        for (unsigned k = 0; k <= i % 4; k++)
            at[random_below((uint32_t)bytes.len)] = (uint8_t)random_below(256);
        if (i % 5 == 4)
            copy.len = random_below((uint32_t)bytes.len);
        compare(name, copy);
        free(at);
    }
}

static void made(void **state)
{
    (void)state;
    /* $PERFILE_EVERY: a sanitizer makes everything slow. */
    const unsigned copies = getenv("PERFILE_EVERY") ? 3 : 12;
    for (unsigned form = 0; form < CAPTURE_FORMS; form++)
        for (unsigned swap = 0; swap < 2; swap++) {
            BUILDER b = {0};
            capture_make(&b, form, swap, 60);
            perfile_bytes bytes = built(&b);
            assert_true(compare(capture_names[form], bytes));
            compare_damaged(capture_names[form], bytes, copies);
        }
}

/* Whichever allocation fails, in whichever thread: either it is told, or nothing is missing. */
static void memory_refused(void **state)
{
    (void)state;
    const way *w = &ways[0];
    BUILDER b = {0};
    perfile_source *source;
    perfile_stream *s;
    emitted one;
    bool refused = true;
    capture_make(&b, CAPTURE_FILE, false, 60);
    assert_true(read_emitted(built(&b), w, 1, 0, &one));
    for (uint64_t n = 1; refused; n++) {
        perfile_sink *sink;
        perfile_emitter *e = NULL;
        const perfile_open_options options = {.size = sizeof options, .as_stored = true};
        assert_int_equal(perfile_source_memory(built(&b), "memory", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_memory("memory", &sink, NULL), PERFILE_OK);
        pf_alloc_fail_at = pf_alloc_count + n;
        perfile_status st = perfile_emitter_open(w->format, s, sink, NULL, &e, NULL);
        if (st == PERFILE_OK)
            st = pf_emit_threads_start(e, s, 3, JOB_OF_SOME, NULL);
        if (st == PERFILE_OK)
            st = put_all(e, s, true);
        perfile_emitter_close(e);
        refused = pf_alloc_count >= pf_alloc_fail_at;
        pf_alloc_fail_at = 0;
        assert_true(st == PERFILE_OK || (refused && st == PERFILE_E_NOMEM));
        if (st == PERFILE_OK)
            assert_int_equal(perfile_sink_bytes(sink).len, one.len);
        perfile_sink_close(sink);
        perfile_stream_close(s);
    }
    free(one.bytes);
}

/* One capture in $PERFILE_EVERY, and of those the ones of at most 1 MiB. */
static void one_capture(const char *path, perfile_stream *s)
{
    enum { LARGE = 1 << 20 };
    static unsigned n;
    const char *every = getenv("PERFILE_EVERY");
    unsigned step = every ? (unsigned)strtoul(every, NULL, 10) : 1;
    (void)s;
    if (step > 1 && n++ % step)
        return;
    perfile_bytes bytes = recorded_file(path);
    if (bytes.ptr && bytes.len <= LARGE) {
        assert_true(compare(path, bytes));
        compare_damaged(path, bytes, 1);
    }
    free((void *)(uintptr_t)bytes.ptr);
}

static void recorded(void **state)
{
    (void)state;
    assert_true(recorded_each(one_capture) >= 20);
    if (!recorded_corpus())
        print_message("\nnot tried: captures of others: there is no corpus\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made),
        cmocka_unit_test(memory_refused),
        cmocka_unit_test(recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
