/* Laws of the library: what a stream gives does not depend on how the bytes come; memory that is
 * refused is told, and loses nothing; reading allocates nothing once it is under way. */
#include "testing.h"

#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "captures.h"
#include "dripping.h"
#include "streamed.h"

enum { SAMPLES = 40 };

static perfile_status read_source(perfile_source *source, transcript *t, unsigned how)
{
    perfile_stream *s;
    perfile_open_options options = {.size = sizeof options, .deliver = PERFILE_DELIVER_DAMAGE};
    perfile_status st = perfile_open(source, &options, &s, NULL);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    st = streamed(t, s, how, NULL);
    perfile_stream_close(s);
    return st;
}

static perfile_status read_memory(perfile_bytes bytes, transcript *t, unsigned how)
{
    perfile_source *source;
    perfile_status st = perfile_source_memory(bytes, "memory", &source, NULL);
    return st == PERFILE_OK ? read_source(source, t, how) : st;
}

static perfile_status read_pieces(perfile_bytes bytes, size_t most, bool seekable, transcript *t)
{
    perfile_source *source;
    dripping d = {.bytes = bytes, .most = most, .state = most};
    perfile_status st = dripping_open(&d, seekable, NULL, &source, NULL);
    return st == PERFILE_OK ? read_source(source, t, STREAMED_FIELDS) : st;
}

static perfile_status read_file(perfile_bytes bytes, uint32_t flags, transcript *t)
{
    static const char path[] = "capture.data";
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, f), bytes.len);
    assert_int_equal(fclose(f), 0);
    perfile_source *source;
    perfile_source_options options = {.size = sizeof options, .flags = flags};
    perfile_status st = perfile_source_path(path, &options, &source, NULL);
    return st == PERFILE_OK ? read_source(source, t, STREAMED_FIELDS) : st;
}

static void same(const char *form, const char *way, perfile_status st, transcript *a, transcript *b)
{
    if (st == PERFILE_OK && a->hash == b->hash)
        return;
    size_t i = 0;
    while (i < a->len && i < b->len && a->text[i] == b->text[i])
        i++;
    size_t from = i < 300 ? 0 : i - 300;
    print_error("%s, %s: status %d\n--- one\n%.600s\n--- other\n%.600s\n", form, way, st,
                a->text ? a->text + from : "", b->text ? b->text + from : "");
    fail();
}

static void any_pieces_give_the_whole(void **state)
{
    (void)state;
    static const size_t most[] = {1, 7, 100, 5000};
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        builder b;
        const char *name = capture_names[form / 2];
        capture_make(&b, form / 2, form % 2, SAMPLES);
        uint8_t *block = exact(b.b.ptr, b.b.len);
        perfile_bytes bytes = {block, b.b.len};
        transcript whole = {.with_text = true};
        assert_int_equal(read_memory(bytes, &whole, STREAMED_FIELDS), PERFILE_OK);
        for (unsigned i = 0; i < 2 * sizeof most / sizeof most[0]; i++) {
            /* Without seeking the file form is spooled. */
            transcript t = {.with_text = true};
            perfile_status st = read_pieces(bytes, most[i / 2], i % 2, &t);
            same(name, i % 2 ? "through a window" : "through a pipe", st, &whole, &t);
            transcript_clear(&t);
        }
        static const struct {
            uint32_t flags;
            const char *how;
        } files[] = {{0, "mapped"},
                     {PERFILE_SOURCE_NO_MAP, "from a file that is not mapped"},
                     {PERFILE_SOURCE_SEQUENTIAL, "from a file in sequence"}};
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            transcript t = {.with_text = true};
            perfile_status st = read_file(bytes, files[i].flags, &t);
            same(name, files[i].how, st, &whole, &t);
            transcript_clear(&t);
        }
        transcript runs = {.with_text = true};
        perfile_status st = read_memory(bytes, &runs, STREAMED_FIELDS | STREAMED_RUNS);
        same(name, "by the run", st, &whole, &runs);
        transcript_clear(&runs);
        transcript_clear(&whole);
        free(block);
        build_clear(&b);
    }
}

/* The generated captures hold what they should: a law over nothing is none. */
static void captures_are_whole(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        builder b;
        perfile_source *source;
        perfile_stream *s;
        perfile_stream_summary sum;
        const perfile_record *r;
        unsigned samples = 0, events = 0, undecoded = 0;
        capture_make(&b, form / 2, form % 2, SAMPLES);
        assert_int_equal(perfile_source_memory(built(&b), "memory", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
            samples += r->type == PERFILE_RECORD_SAMPLE;
            events += r->type == PERFILE_RECORD_SAMPLE && perfile_record_event(r) != NULL;
            undecoded += perfile_record_walk(r, 0, &instance_visitor, NULL, NULL) != PERFILE_OK;
        }
        perfile_stream_get_summary(s, &sum, sizeof sum);
        unsigned wanted = form / 2 == CAPTURE_RECORDS ? 1U : (unsigned)SAMPLES;
        if (form / 2 == CAPTURE_SPLIT)
            wanted++;
        if (samples != wanted || events != wanted || undecoded ||
            sum.damages != (form / 2 == CAPTURE_KILLED) || sum.lost)
            fail_msg("%s: %u samples, %u of known events, %u not decoded, %u damages",
                     capture_names[form / 2], samples, events, undecoded, (unsigned)sum.damages);
        assert_int_equal(perfile_session_n_events(perfile_stream_session(s)),
                         form / 2 == CAPTURE_RECORDS ? 1 : 2);
        perfile_stream_close(s);
        build_clear(&b);
    }
}

/* Memory that is refused, at any time: that is what is said, and the sanitizer finds no leak. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (unsigned form = 0; form < CAPTURE_FORMS; form++) {
        builder b;
        capture_make(&b, form, false, SAMPLES);
        uint8_t *block = exact(b.b.ptr, b.b.len);
        perfile_bytes bytes = {block, b.b.len};
        for (unsigned way = 0; way < 3; way++) {
            uint64_t n = 0;
            for (uint64_t i = 0; i <= n; i++) {
                uint64_t before = pf_alloc_count;
                transcript t = {0};
                pf_alloc_fail_at = i ? before + i : 0;
                perfile_status st =
                    way == 0 ? read_memory(bytes, &t, 0) : read_pieces(bytes, 500, way == 1, &t);
                pf_alloc_fail_at = 0;
                if (i == 0) {
                    n = pf_alloc_count - before;
                    assert_int_equal(st, PERFILE_OK);
                    assert_true(n > 5);
                } else if (st != PERFILE_E_NOMEM) {
                    fail_msg("%s: allocation %u of %u refused: status %d", capture_names[form],
                             (unsigned)i, (unsigned)n, st);
                }
            }
        }
        free(block);
        build_clear(&b);
    }
}

/* From the 1000th record on. */
static void reading_allocates_nothing(unsigned form, uint32_t samples, bool pieces)
{
    builder b;
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    uint64_t n = 0, settled = 0;
    capture_make(&b, form, false, samples);
    dripping d = {.bytes = built(&b), .most = 100000};
    if (pieces)
        assert_int_equal(dripping_open(&d, false, NULL, &source, NULL), PERFILE_OK);
    else
        assert_int_equal(perfile_source_memory(built(&b), "memory", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    uint64_t sum = 0;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        perfile_sample v;
        if (r->type == PERFILE_RECORD_SAMPLE) {
            assert_int_equal(perfile_sample_decode(r, &v, sizeof v, NULL), PERFILE_OK);
            sum += v.ip + perfile_record_time(r);
        }
        if (++n == 1000)
            settled = pf_alloc_count;
    }
    if (pf_alloc_count != settled)
        fail_msg("%s: %u allocations between the 1000th and the last of %u records",
                 capture_names[form], (unsigned)(pf_alloc_count - settled), (unsigned)n);
    assert_true(n > samples && sum);
    perfile_stream_close(s);
    build_clear(&b);
}

static void steady_state(void **state)
{
    (void)state;
    reading_allocates_nothing(CAPTURE_FILE, 100000, false);
    reading_allocates_nothing(CAPTURE_PIPE, 100000, false);
    reading_allocates_nothing(CAPTURE_PIPE, 100000, true);
    reading_allocates_nothing(CAPTURE_FILE_ZSTD, 100000, false);
    reading_allocates_nothing(CAPTURE_PIPE_ZSTD, 100000, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_are_whole),
        cmocka_unit_test(any_pieces_give_the_whole),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(steady_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
