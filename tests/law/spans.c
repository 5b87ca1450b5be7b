/* Laws of samples that stages hand out as bytes: whoever asks for spans and for runs, in whatever
 * turn, and takes all of a span or nothing, gets the bytes of the records in their order. */
#include "testing.h"

#include "captures.h"
#include "instances.h"
#include "core/stream.h"
#include "sorted.h"

enum { SAMPLES = 60000, MOST_INPUTS = 12 };

/* What was handed out. */
typedef struct handed {
    uint64_t n, hash, spans;
} handed;

static void hand(handed *h, const uint8_t *at, size_t bytes, uint64_t n)
{
    h->hash = sorted_hash(h->hash, at, bytes);
    h->n += n;
}

static perfile_stream *open_memory(perfile_bytes bytes)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_open_options options = {.size = sizeof options};
    assert_int_equal(perfile_source_memory(bytes, "memory", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    return s;
}

/* Reads all of `s`; `choose` decides in which turn, 0: runs only. */
static handed read_all(perfile_stream *s, uint64_t choose)
{
    handed h = {0};
    dice d = {choose};
    const perfile_record *first;
    size_t n;
    perfile_status st;
    while ((st = perfile_stream_next_run(s, &first, &n, NULL)) == PERFILE_OK) {
        for (size_t i = 0; i < n; i++)
            hand(&h, first[i].header, perfile_record_size(&first[i]), 1);
        while (choose && s->ops->span && roll(&d, 8)) {
            const uint64_t most = roll(&d, 3) ? UINT64_MAX : 1 + roll(&d, 200);
            const pf_sample_span all = s->ops->span(s, most);
            assert_true(all.n <= most);
            if (all.n == 0 || roll(&d, 8) == 0)
                break; /* it comes as records, then */
            hand(&h, all.bytes.ptr, all.bytes.len, all.n);
            h.spans++;
            (s->ops->skip)(s, all.n, all.bytes.len);
        }
    }
    assert_int_equal(st, PERFILE_END);
    return h;
}

/* Times of one buffer, of two and three that take turns in rounds, and with no order at all. */
static uint64_t ascending(uint32_t i)
{
    return 1000 + i / 3;
}
static uint64_t of_buffers(uint32_t i, uint32_t buffers)
{
    const uint32_t round = 9000, at = i % round, each = round / buffers;
    return 1000 + i / round * round + at % each * buffers + at / each;
}
static uint64_t two(uint32_t i)
{
    return of_buffers(i, 2);
}
static uint64_t three(uint32_t i)
{
    return of_buffers(i, 3);
}
static uint64_t pairs(uint32_t i)
{
    return 1000 + (i ^ 1);
}
/* A sample without a time, and one that is late. */
static uint64_t with_odd_ones(uint32_t i)
{
    return i % 5000 == 77 ? 0 : i % 7000 == 6 ? 1 + i / 2 : two(i);
}

static const struct {
    const char *name;
    uint64_t (*time)(uint32_t i);
    bool spans;
} orders[] = {{"ascending", ascending, true},
              {"two", two, true},
              {"three", three, true},
              {"odd ones", with_odd_ones, false},
              {"pairs", pairs, false}};

enum { N_ORDERS = sizeof orders / sizeof orders[0] };

/* One event, so that all samples are of one layout. */
static void begin(builder *b)
{
    const build_attr_plan plan = capture_plan(0);
    build_bytes(b, b->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 104);
    build_u64(b, 136 + 16);
    build_u64(b, 104 + 8);
    build_u64(b, 136 + 16);
    build_zeros(b, 104 - b->b.len);
    build_u64(b, 70);
    build_attr(b, &plan);
    build_zeros(b, 136 - plan.size);
    build_u64(b, 104);
    build_u64(b, 8);
    build_u64_at(b, 40, b->b.len);
}

static perfile_bytes make(builder *b, bool swap, unsigned order)
{
    *b = (builder){.swap = swap};
    begin(b);
    capture_stream(b, 1);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        size_t start = b->b.len;
        capture_sample(b, 2 * i);
        build_u64_at(b, start + 32, orders[order].time(i));
        if (i % 9000 == 8999)
            build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
    }
    capture_data_end(b);
    return (perfile_bytes){b->b.ptr, b->b.len};
}

static perfile_stream *sorted(perfile_bytes bytes)
{
    perfile_stream *s = open_memory(bytes);
    assert_int_equal(perfile_sort(s, NULL, &s, NULL), PERFILE_OK);
    return s;
}

static perfile_stream *merged(const perfile_bytes *inputs, size_t n)
{
    perfile_merge_input in[MOST_INPUTS];
    perfile_stream *s;
    for (size_t i = 0; i < n; i++)
        in[i] = (perfile_merge_input){
            .stream = sorted(inputs[i]), .name = "memory", .has_offset = true};
    assert_int_equal(perfile_merge(in, n, NULL, &s, NULL), PERFILE_OK);
    return s;
}

/* Closes both. */
static void expect_same(const char *what, perfile_stream *records, perfile_stream *mixed,
                        uint64_t choose, bool spans)
{
    const handed want = read_all(records, 0), got = read_all(mixed, choose);
    if (want.n != got.n || want.hash != got.hash || (spans && got.spans == 0)) {
        print_error("%s: %llu of %llu records, %llu spans\n", what, (unsigned long long)got.n,
                    (unsigned long long)want.n, (unsigned long long)got.spans);
        fail();
    }
    perfile_stream_close(records);
    perfile_stream_close(mixed);
}

static void sorted_spans_are_the_records(void **state)
{
    (void)state;
    for (unsigned order = 0; order < N_ORDERS; order++)
        for (unsigned swap = 0; swap < 2; swap++) {
            BUILDER b;
            const perfile_bytes bytes = make(&b, swap, order);
            for (uint64_t choose = 1; choose < 4; choose++)
                expect_same(orders[order].name, sorted(bytes), sorted(bytes), choose,
                            orders[order].spans);
        }
}

static void merged_spans_are_the_records(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 5, MOST_INPUTS};
    for (unsigned swap = 0; swap < 2; swap++) {
        builder all[N_ORDERS];
        perfile_bytes bytes[N_ORDERS], inputs[MOST_INPUTS];
        for (unsigned i = 0; i < N_ORDERS; i++)
            bytes[i] = make(&all[i], swap, i);
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            for (unsigned kind = 0; kind < 3; kind++) {
                for (size_t i = 0; i < counts[k]; i++)
                    inputs[i] = bytes[kind == 2 ? i % N_ORDERS : kind];
                expect_same("merge", merged(inputs, counts[k]), merged(inputs, counts[k]), 1 + kind,
                            true);
            }
        for (unsigned i = 0; i < N_ORDERS; i++)
            pf_buffer_free(&all[i].b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_spans_are_the_records),
        cmocka_unit_test(merged_spans_are_the_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
