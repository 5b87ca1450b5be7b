/* Laws of sorting: no step back in time, equal times in the order of the input, and every record
 * that went in comes out, once; however the bytes come, and however little memory there is. */
#include "testing.h"

#include "base/alloc.h"
#include "captures.h"
#include "dripping.h"
#include "recorded.h"
#include "sorted.h"

enum { LEAST = PERFILE_SORT_LEAST_MEMORY };

typedef struct outcome {
    sorted_bag bag;
    sorted_state state;
    perfile_sort_summary result;
} outcome;

static perfile_stream *open_stream(perfile_source *source)
{
    perfile_stream *s;
    perfile_open_options options = {.size = sizeof options};
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    return s;
}

static perfile_stream *open_memory(perfile_bytes bytes)
{
    perfile_source *source;
    assert_int_equal(perfile_source_memory(bytes, "memory", &source, NULL), PERFILE_OK);
    return open_stream(source);
}

static perfile_stream *open_dripping(dripping *d)
{
    perfile_source *source;
    assert_int_equal(dripping_open(d, false, NULL, &source, NULL), PERFILE_OK);
    return open_stream(source);
}

static outcome sort_all(perfile_stream *s, uint64_t memory)
{
    outcome o = {0};
    perfile_sort_options options = {.size = sizeof options, .max_memory = memory};
    assert_int_equal(perfile_sort(s, &options, &s, NULL), PERFILE_OK);
    assert_int_equal(sorted_read(s, &o.bag, &o.state), PERFILE_END);
    perfile_sort_get_summary(s, &o.result, sizeof o.result);
    perfile_stream_close(s);
    return o;
}

static sorted_bag bag_of(perfile_stream *s)
{
    sorted_bag bag = {0};
    assert_int_equal(sorted_read(s, &bag, NULL), PERFILE_END);
    perfile_stream_close(s);
    return bag;
}

static void expect_sorted(const char *what, const sorted_bag *in, const outcome *o)
{
    if (o->state.steps_back || o->state.unstable || o->bag.n != in->n ||
        memcmp(&o->bag, in, sizeof *in) != 0) {
        print_error("%s: %u steps back, %u out of order, %llu of %llu records\n", what,
                    o->state.steps_back, o->state.unstable, (unsigned long long)o->bag.n,
                    (unsigned long long)in->n);
        fail();
    }
}

/* A capture of one event whose samples have the given times, in a file or a pipe. */
static void make(builder *b, bool pipe, bool swap, uint32_t n, uint64_t (*time)(uint32_t i))
{
    *b = (builder){.swap = swap};
    if (pipe)
        capture_pipe_header(b, 2);
    else
        capture_header(b);
    for (uint32_t i = 0; i < n; i++) {
        size_t start = b->b.len;
        capture_sample(b, i);
        build_u64_at(b, start + 32, time(i));
        if (i % 1000 == 999)
            build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
    }
    if (!pipe)
        capture_data_end(b);
}

static uint64_t any_time(uint32_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return 1 + (x ^ x >> 31) % 1000000;
}
static uint64_t few_times(uint32_t i)
{
    return 1 + any_time(i) % 7;
}
static uint64_t backward(uint32_t i)
{
    return UINT32_MAX - i;
}
static uint64_t two_buffers(uint32_t i)
{
    uint32_t round = i / 1000, at = i % 1000;
    return 1 + (uint64_t)round * 1000 + (at < 500 ? 2 * at : 2 * (at - 500) + 1);
}
/* The same in pairs that are turned: times step back within any block. */
static uint64_t turned_pairs(uint32_t i)
{
    return two_buffers(i ^ 1);
}
static uint64_t one_late(uint32_t i)
{
    return i == 70000 ? 5 : 10 + i;
}
static uint64_t late_in_pairs(uint32_t i)
{
    return i == 70000 ? 5 : 10 + (i ^ 1);
}
static uint64_t one_early(uint32_t i)
{
    return i == 100 ? UINT64_MAX / 2 : 10 + i;
}
static uint64_t zeros_late(uint32_t i)
{
    return i > 50000 && i % 3 == 0 ? 0 : 10 + i;
}
static uint64_t none(uint32_t i)
{
    (void)i;
    return PERFILE_NO_TIME;
}

static void any_order_is_put_right(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t (*time)(uint32_t i);
        int copied; /* whether what is mapped has to be: 1 yes, 0 no, -1 either */
    } orders[] = {{"any", any_time, 1},           {"few", few_times, 1},
                  {"backward", backward, 1},      {"buffers", two_buffers, 0},
                  {"pairs", turned_pairs, 1},     {"late in pairs", late_in_pairs, 1},
                  {"one late", one_late, 0},      {"one early", one_early, 0},
                  {"zeros late", zeros_late, -1}, {"none", none, 0}};
    for (unsigned i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        for (unsigned form = 0; form < 4; form++) {
            BUILDER b;
            make(&b, form & 1, form & 2, 80000, orders[i].time);
            perfile_bytes bytes = built(&b);
            sorted_bag in = bag_of(open_memory(bytes));
            outcome o = sort_all(open_memory(bytes), LEAST);
            expect_sorted(orders[i].name, &in, &o);
            assert_true(in.n >= 80000);
            if (orders[i].copied >= 0)
                assert_int_equal(o.result.temporary > 0, orders[i].copied);
            outcome much = sort_all(open_memory(bytes), 0);
            expect_sorted(orders[i].name, &in, &much);
            assert_int_equal(much.result.temporary, 0);
            /* Rounds depend on nothing but the records. */
            assert_int_equal(much.state.rounds, o.state.rounds);
            assert_int_equal(o.state.rounds > 0, orders[i].time != none);
            if (form & 1) {
                dripping d = {.bytes = bytes, .most = 5000, .state = form};
                o = sort_all(open_dripping(&d), LEAST);
                expect_sorted(orders[i].name, &in, &o);
            }
        }
    }
}

/* Of what waits in a mapped file the entries are memory, and the records are not. */
static uint64_t large_rounds(uint32_t i)
{
    enum { ROUND = 40000 };
    uint32_t round = i / ROUND, at = i % ROUND;
    return 1 + (uint64_t)round * ROUND + (at < ROUND / 2 ? 2 * at : 2 * (at - ROUND / 2) + 1);
}

static uint64_t large_rounds_in_pairs(uint32_t i)
{
    return large_rounds(i ^ 1);
}

/* … nor does it count as held where each of a few ranges is read from front to back. */
static void what_is_mapped_is_not_held(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 8; form++) {
        static const uint64_t mapped[] = {1 << 30, LEAST / 2};
        const bool pairs = form & 4;
        BUILDER b;
        make(&b, form & 1, form & 2, 160000, pairs ? large_rounds_in_pairs : large_rounds);
        const sorted_bag in = bag_of(open_memory(built(&b)));
        for (unsigned k = 0; k < 2; k++) {
            const perfile_sort_options how = {
                .size = sizeof how, .max_memory = LEAST, .max_mapped = mapped[k]};
            outcome o = {0};
            perfile_stream *s = open_memory(built(&b));
            assert_int_equal(perfile_sort(s, &how, &s, NULL), PERFILE_OK);
            assert_int_equal(sorted_read(s, &o.bag, &o.state), PERFILE_END);
            perfile_sort_get_summary(s, &o.result, sizeof o.result);
            perfile_stream_close(s);
            expect_sorted("large rounds", &in, &o);
            assert_int_equal(o.result.temporary > 0, pairs);
        }
    }
}

/* More runs than one level of files takes. */
static void runs_of_runs(void **state)
{
    (void)state;
    BUILDER b;
    make(&b, true, false, 600000, any_time);
    sorted_bag in = bag_of(open_memory(built(&b)));
    outcome o = sort_all(open_memory(built(&b)), LEAST);
    expect_sorted("runs of runs", &in, &o);
    assert_true(o.result.temporary > 3 * (b.b.len - 1000) / 2);
}

static void every_form(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        builder b;
        capture_make(&b, form / 2, form % 2, 40);
        sorted_bag in = bag_of(open_memory(built(&b)));
        outcome o = sort_all(open_memory(built(&b)), 0);
        expect_sorted(capture_names[form / 2], &in, &o);
        assert_true(in.n > 0);
        dripping d = {.bytes = built(&b), .most = 100, .state = form};
        o = sort_all(open_dripping(&d), LEAST);
        expect_sorted(capture_names[form / 2], &in, &o);
        build_clear(&b);
    }
}

/* A payload larger than the window of a pipe is read in pieces, and the record in front of it is
 * gone by then. */
static void payload_in_pieces(void **state)
{
    enum { PAYLOAD = 3 << 20 };
    BUILDER b;
    (void)state;
    make(&b, true, false, 3000, backward);
    for (unsigned i = 0; i < 2; i++) {
        size_t start = build_begin(&b, PERFILE_RECORD_AUXTRACE, 0);
        build_u64(&b, PAYLOAD);
        build_u64(&b, i * (uint64_t)PAYLOAD);
        build_zeros(&b, 24);
        build_end(&b, start);
        for (uint32_t k = 0; k < PAYLOAD / 4; k++)
            build_u32(&b, k * 2654435761U + i);
        capture_sample(&b, 7 + i);
    }
    sorted_bag in = bag_of(open_memory(built(&b)));
    dripping d = {.bytes = built(&b), .most = 1 << 16};
    outcome o = sort_all(open_dripping(&d), 0);
    expect_sorted("a payload in pieces", &in, &o);
    d = (dripping){.bytes = built(&b), .most = 1 << 16};
    o = sort_all(open_dripping(&d), LEAST);
    expect_sorted("a payload in pieces, little memory", &in, &o);
}

/* Every refused allocation is told, and loses nothing (the sanitizers look). */
static void refused_memory(void **state)
{
    (void)state;
    for (unsigned pipe = 0; pipe < 2; pipe++) {
        BUILDER b;
        make(&b, pipe, false, 30000, any_time);
        perfile_bytes bytes = built(&b);
        bool refused = true;
        for (uint64_t n = 1; refused; n++) {
            sorted_bag bag = {0};
            dripping d = {.bytes = bytes, .most = 5000, .state = 1};
            perfile_stream *s = pipe ? open_dripping(&d) : open_memory(bytes);
            perfile_sort_options options = {.size = sizeof options, .max_memory = LEAST};
            pf_alloc_count = 0;
            pf_alloc_fail_at = n;
            perfile_status st = perfile_sort(s, &options, &s, NULL);
            if (st == PERFILE_OK)
                st = sorted_read(s, &bag, NULL);
            refused = pf_alloc_count >= n;
            pf_alloc_fail_at = 0;
            assert_int_equal(st, refused ? PERFILE_E_NOMEM : PERFILE_END);
            perfile_stream_close(s);
        }
    }
}

/* Records do not cost allocations: four times as many take a few more, for what grows. */
static void nothing_per_record(void **state)
{
    (void)state;
    for (unsigned pipe = 0; pipe < 2; pipe++) {
        uint64_t count[2];
        for (unsigned i = 0; i < 2; i++) {
            BUILDER b;
            make(&b, pipe, false, i ? 200000 : 50000, any_time);
            perfile_bytes bytes = built(&b);
            dripping d = {.bytes = bytes, .most = 5000, .state = 1};
            perfile_stream *s = pipe ? open_dripping(&d) : open_memory(bytes);
            pf_alloc_count = 0;
            (void)sort_all(s, 0);
            count[i] = pf_alloc_count;
        }
        assert_true(count[0] > 3 && count[1] < count[0] + 30);
    }
}

/* Each capture there is. */
static unsigned n_recorded;

static void sort_recorded(const char *path, perfile_stream *plain)
{
    sorted_bag in = {0};
    if (sorted_read(plain, &in, NULL) != PERFILE_END)
        return;
    static const uint32_t flags[] = {0, PERFILE_SOURCE_NO_MAP, PERFILE_SOURCE_SEQUENTIAL};
    for (unsigned way = 0; way < sizeof flags / sizeof flags[0]; way++) {
        perfile_source_options how = {.size = sizeof how, .flags = flags[way]};
        perfile_source *source;
        assert_int_equal(perfile_source_path(path, &how, &source, NULL), PERFILE_OK);
        outcome o = sort_all(open_stream(source), way ? LEAST : 0);
        expect_sorted(path, &in, &o);
    }
    n_recorded++;
}

static void recorded_captures(void **state)
{
    (void)state;
    recorded_each(sort_recorded);
    assert_true(n_recorded > 20);
}

/* The laws can fail. */
static void the_laws_can_fail(void **state)
{
    (void)state;
    BUILDER b;
    make(&b, false, false, 990, two_buffers);
    sorted_bag in = {0};
    sorted_state x = {0};
    perfile_stream *s = open_memory(built(&b));
    assert_int_equal(sorted_read(s, &in, &x), PERFILE_END);
    perfile_stream_close(s);
    assert_true(x.steps_back > 0);
    b.b.ptr[b.b.len - 1] ^= 1;
    sorted_bag other = bag_of(open_memory(built(&b)));
    assert_int_equal(other.n, in.n);
    assert_true(memcmp(&other, &in, sizeof in) != 0);
}

static void wrong_use(void **state)
{
    (void)state;
    BUILDER b;
    const perfile_record *r;
    perfile_error err;
    perfile_sort_options options = {.size = sizeof options, .max_memory = LEAST - 1};
    make(&b, false, false, 10, any_time);
    perfile_stream *s = open_memory(built(&b));
    assert_int_equal(perfile_sort(s, &options, &s, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "sort.max_memory");
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_sort(s, NULL, &s, &err), PERFILE_E_USAGE);
    perfile_stream_close(s);
}

/* A folder for temporary files that is not there, and one that is full. */
static void temporary_files_fail(void **state)
{
    (void)state;
    BUILDER b;
    perfile_error err;
    const perfile_record *r;
    make(&b, true, false, 80000, any_time);
    perfile_sort_options options = {
        .size = sizeof options, .max_memory = LEAST, .temporary = "no-such-folder"};
    perfile_stream *s = open_memory(built(&b));
    assert_int_equal(perfile_sort(s, &options, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_next(s, &r, &err), PERFILE_E_IO);
    assert_non_null(strstr(err.message, "no-such-folder"));
    assert_int_equal(perfile_stream_next(s, &r, &err), PERFILE_E_IO);
    perfile_stream_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_laws_can_fail),
        cmocka_unit_test(any_order_is_put_right),
        cmocka_unit_test(runs_of_runs),
        cmocka_unit_test(every_form),
        cmocka_unit_test(payload_in_pieces),
        cmocka_unit_test(refused_memory),
        cmocka_unit_test(nothing_per_record),
        cmocka_unit_test(recorded_captures),
        cmocka_unit_test(wrong_use),
        cmocka_unit_test(temporary_files_fail),
        cmocka_unit_test(what_is_mapped_is_not_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
