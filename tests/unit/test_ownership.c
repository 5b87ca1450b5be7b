/* Functions that read a whole capture close their source, or take it over, on success only: after a
 * failure it still belongs to the caller.  Sources count here how often they are closed: never
 * during a call that fails, and once in all. */
#include "../testing.h"

#include <errno.h>

#include "../captures.h"
#include "../dripping.h"
#include "../splitting.h"
#include "base/alloc.h"
#include "perfile/perfile.h"

enum { SAMPLES = 4, UNKNOWN_FLAG = 1 << 30 };

/* Where a call fails. */
enum {
    NOWHERE,
    IN_OPTIONS,
    IN_OUTPUT, /* the capture was read; functions without output exceed a limit by then */
    IN_INPUT,  /* the source is not a capture */
    PLACES
};

/* What a function is given. */
typedef struct call {
    unsigned fails; /* NOWHERE … */
    perfile_source *source;
    perfile_source *other; /* a capture, for the function that takes several */
    perfile_sink *sink;
    perfile_error err;
} call;

/* An input whose model exceeds its limit if the call fails late. */
static perfile_limits limits_of(const call *c)
{
    return (perfile_limits){.size = sizeof(perfile_limits), .model_bytes = c->fails == IN_OUTPUT};
}

static uint32_t flags_of(const call *c)
{
    return c->fails == IN_OPTIONS ? UNKNOWN_FLAG : 0;
}

static perfile_status convert(call *c)
{
    const perfile_convert_options how = {.size = sizeof how, .flags = flags_of(c)};
    return perfile_convert_capture(c->source, c->sink, &how, NULL, 0, &c->err);
}

static perfile_status filter(call *c)
{
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_COMM, .text = "work"};
    const perfile_filter_options how = {
        .size = sizeof how, .flags = flags_of(c), .n_terms = 1, .terms = &term};
    return perfile_filter_capture(c->source, c->sink, &how, NULL, NULL, 0, NULL, 0, &c->err);
}

static perfile_status recover(call *c)
{
    const perfile_recover_options how = {.size = sizeof how, .reserved = {flags_of(c)}};
    return perfile_recover_capture(c->source, c->sink, &how, NULL, 0, &c->err);
}

static perfile_status refuse_part(void *user, const perfile_split_part *part, perfile_sink **sink,
                                  perfile_error *err)
{
    (void)user, (void)part, (void)sink;
    *err = (perfile_error){.status = PERFILE_E_IO, .where = "part", .message = "refused"};
    return PERFILE_E_IO;
}

static perfile_status split(call *c)
{
    split_parts parts = {0};
    const perfile_split_options how = {
        .size = sizeof how, .flags = flags_of(c), .by = PERFILE_SPLIT_CPU};
    const perfile_split_capture_options writing = {.size = sizeof writing,
                                                   .open = c->fails == IN_OUTPUT ? refuse_part
                                                                                 : split_open_part,
                                                   .done = split_part_done,
                                                   .user = &parts};
    const perfile_status st = perfile_split_capture(c->source, &how, &writing, NULL, 0, &c->err);
    split_parts_clear(&parts);
    return st;
}

/* The source is the second input, so that another one is open when it fails. */
static perfile_status merge(call *c)
{
    perfile_merge_source in[] = {{.source = c->other}, {.source = c->source, .has_offset = true}};
    const perfile_merge_options merging = {.size = sizeof merging, .flags = flags_of(c)};
    const perfile_merge_captures_options how = {.size = sizeof how, .merge = &merging};
    const perfile_status st = perfile_merge_captures(in, 2, c->sink, &how, NULL, 0, &c->err);
    assert_ptr_equal(in[0].source, st == PERFILE_OK ? NULL : c->other);
    assert_ptr_equal(in[1].source, st == PERFILE_OK ? NULL : c->source);
    c->other = in[0].source;
    return st;
}

static perfile_status open_filtered(call *c)
{
    const perfile_limits limits = limits_of(c);
    const perfile_open_options opening = {.size = sizeof opening, .limits = &limits};
    perfile_open_filtered_options how = {
        .size = sizeof how, .how = &opening, .model = true, .reserved = {flags_of(c)}};
    perfile_stream *s;
    const perfile_status st = perfile_open_filtered(c->source, NULL, &how, &s, NULL, &c->err);
    if (st == PERFILE_OK)
        perfile_stream_close(s);
    return st;
}

static perfile_status table_stream(call *c)
{
    const perfile_limits limits = limits_of(c);
    const perfile_open_options opening = {.size = sizeof opening, .limits = &limits};
    const perfile_table_options how = {.size = sizeof how, .how = &opening, .flags = flags_of(c)};
    struct ArrowArrayStream s;
    const perfile_status st = perfile_table_stream(c->source, "samples", &how, &s, &c->err);
    if (st == PERFILE_OK)
        s.release(&s);
    return st;
}

static const struct {
    const char *name;
    perfile_status (*run)(call *c);
} functions[] = {
    {"convert_capture", convert},   {"filter_capture", filter}, {"recover_capture", recover},
    {"split_capture", split},       {"merge_captures", merge},  {"open_filtered", open_filtered},
    {"table_stream", table_stream},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* A capture as a file, as it comes from a pipe, and in an archive. */
enum { AS_FILE, AS_PIPE, IN_ARCHIVE, INPUTS };
static perfile_bytes inputs[INPUTS];

static perfile_source *memory(perfile_bytes bytes)
{
    perfile_source *source;
    assert_int_equal(perfile_source_memory(bytes, "memory", &source, NULL), PERFILE_OK);
    return source;
}

static int make(void **state)
{
    static builder file, pipe;
    perfile_sink *below, *sink;
    (void)state;
    capture_make(&file, CAPTURE_FILE, false, SAMPLES);
    capture_make(&pipe, CAPTURE_PIPE, false, SAMPLES);
    assert_int_equal(perfile_sink_memory("archive", &below, NULL), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(below, NULL, &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_convert_capture(memory(built(&file)), sink, NULL, NULL, 0, NULL),
                     PERFILE_OK);
    const perfile_bytes archive = perfile_sink_bytes(below);
    inputs[AS_FILE] = built(&file);
    inputs[AS_PIPE] = built(&pipe);
    inputs[IN_ARCHIVE] = (perfile_bytes){exact(archive.ptr, archive.len), archive.len};
    perfile_sink_close(sink);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    for (unsigned i = 0; i < INPUTS; i++)
        free((void *)(uintptr_t)inputs[i].ptr);
    return 0;
}

/* A source that counts how often it is closed. */
typedef struct counted {
    dripping d; /* first member: its functions get a pointer to it */
    unsigned closed;
} counted;

static void count_close(void *user)
{
    ((counted *)user)->closed++;
}

static perfile_source *counted_source(counted *x, perfile_bytes bytes, bool seekable)
{
    perfile_source *source;
    *x = (counted){.d = {.bytes = bytes, .most = 1000, .state = 1}};
    const perfile_source_callbacks callbacks = {.size = sizeof callbacks,
                                                .user = x,
                                                .read = dripping_read,
                                                .seek = seekable ? dripping_seek : NULL,
                                                .total = seekable ? bytes.len : 0,
                                                .close = count_close};
    assert_int_equal(perfile_source_callback(&callbacks, "counted", NULL, &source, NULL),
                     PERFILE_OK);
    return source;
}

static int64_t refuse_write(void *user, const void *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len;
    return -EIO;
}

static int64_t refuse_patch(void *user, uint64_t offset, const void *bytes, size_t len)
{
    (void)offset;
    return refuse_write(user, bytes, len);
}

static perfile_sink *sink_of(unsigned fails)
{
    const perfile_sink_callbacks refusing = {
        .size = sizeof refusing, .write = refuse_write, .patch = refuse_patch};
    perfile_sink *sink;
    assert_int_equal(fails == IN_OUTPUT ? perfile_sink_callback(&refusing, "refusing", &sink, NULL)
                                        : perfile_sink_memory("out", &sink, NULL),
                     PERFILE_OK);
    return sink;
}

/* Runs the function; its `fail_at`th allocation fails, with 0 none. */
static perfile_status run(unsigned function, unsigned fails, perfile_source *source,
                          uint64_t fail_at)
{
    call c = {
        .fails = fails, .source = source, .other = memory(inputs[AS_FILE]), .sink = sink_of(fails)};
    perfile_source *other = c.other;
    c.other = NULL;
    if (functions[function].run == merge)
        c.other = other;
    else
        perfile_source_close(other);
    pf_alloc_count = 0;
    pf_alloc_fail_at = fail_at;
    const perfile_status st = functions[function].run(&c);
    pf_alloc_fail_at = 0;
    if (st != PERFILE_OK && (c.err.status != st || !c.err.message[0]))
        fail_msg("%s: status %d without a message", functions[function].name, (int)st);
    perfile_source_close(c.other);
    perfile_sink_close(c.sink);
    return st;
}

static void check_closed(unsigned function, unsigned fails, const counted *x, unsigned times)
{
    if (x->closed != times)
        fail_msg("%s, failing at place %u: the source was closed %u times instead of %u",
                 functions[function].name, fails, x->closed, times);
}

/* A source that can be read again is then given to the same function, which succeeds. */
static void check(unsigned function, unsigned fails, perfile_bytes bytes, bool seekable)
{
    counted x;
    perfile_source *source = counted_source(&x, bytes, seekable);
    perfile_status st = run(function, fails, source, 0);
    if (fails != NOWHERE) {
        if (st >= 0)
            fail_msg("%s does not fail at place %u", functions[function].name, fails);
        check_closed(function, fails, &x, 0);
        if (seekable && fails != IN_INPUT)
            st = run(function, NOWHERE, source, 0);
        else
            perfile_source_close(source);
    }
    if (fails == NOWHERE || (seekable && fails != IN_INPUT))
        assert_int_equal(st, PERFILE_OK);
    check_closed(function, fails, &x, 1);
}

static void sources_are_closed_on_success_only(void **state)
{
    static const uint8_t text[] = "this is not a capture, but a text of some length";
    const perfile_bytes foreign = {text, sizeof text - 1};
    (void)state;
    for (unsigned function = 0; function < FUNCTIONS; function++)
        for (unsigned seekable = 0; seekable < 2; seekable++) {
            for (unsigned i = 0; i < INPUTS; i++)
                for (unsigned fails = 0; fails < IN_INPUT; fails++)
                    check(function, fails, inputs[i], seekable);
            check(function, IN_INPUT, foreign, seekable);
        }
}

/* The same if memory runs out anywhere in the call. */
static void also_without_memory(void **state)
{
    enum { STEP = 5 }; /* one allocation in so many fails */
    unsigned failed = 0;
    (void)state;
    for (unsigned i = 0; i < 2 * INPUTS * FUNCTIONS; i++) {
        const unsigned function = i / (2 * INPUTS);
        for (uint64_t n = 1 + i % STEP;; n += STEP) {
            counted x;
            perfile_source *source = counted_source(&x, inputs[i / 2 % INPUTS], i % 2);
            const perfile_status st = run(function, NOWHERE, source, n);
            const bool reached = pf_alloc_count >= n;
            check_closed(function, NOWHERE, &x, st == PERFILE_OK);
            closed_unless_ok(source, st);
            check_closed(function, NOWHERE, &x, 1);
            assert_true(st == PERFILE_OK || st == PERFILE_E_NOMEM);
            failed += st != PERFILE_OK;
            if (!reached)
                break;
        }
    }
    assert_true(failed > 10 * 2 * INPUTS * FUNCTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_closed_on_success_only),
        cmocka_unit_test(also_without_memory),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
