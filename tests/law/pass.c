/* Records that are passed over are those that would have come one by one. */
#include "testing.h"

#include "ahead.h"
#include "base/byte_order.h"
#include "captures.h"
#include "dripping.h"
#include "perf/stream.h"
#include "random.h"
#include "recorded.h"

typedef struct counts {
    uint64_t records[2], bytes[2]; /* of samples; of rounds */
    uint64_t others, passed, hash;
    perfile_status status;
} counts;

static void count(counts *c, const perfile_record *r)
{
    bool round = r->type == PERFILE_RECORD_FINISHED_ROUND;
    if (r->family == PERFILE_FAMILY_PERF && (round || r->type == PERFILE_RECORD_SAMPLE)) {
        c->records[round]++;
        c->bytes[round] += perfile_record_size(r);
        return;
    }
    c->others++;
    c->hash = (c->hash ^ r->offset ^ r->sequence ^ (uint64_t)r->type << 32 ^ r->damage) *
              UINT64_C(0x9e3779b97f4a7c15);
}

static void pass(counts *c, perfile_stream *s)
{
    perfile_passed p;
    while (perfile_stream_pass(s, &p, sizeof p), p.samples + p.rounds) {
        c->records[0] += p.samples;
        c->records[1] += p.rounds;
        c->bytes[0] += p.sample_bytes;
        c->bytes[1] += p.round_bytes;
        c->passed += p.samples + p.rounds;
    }
}

static counts count_all(perfile_stream *s, bool passing, perfile_stream_summary *sum)
{
    counts c = {0};
    const perfile_record *r;
    size_t n;
    do {
        if (passing)
            pass(&c, s);
        c.status = perfile_stream_next_run(s, &r, &n, NULL);
        for (size_t i = 0; c.status == PERFILE_OK && i < n; i++)
            count(&c, &r[i]);
    } while (c.status == PERFILE_OK);
    perfile_stream_get_summary(s, sum, sizeof *sum);
    return c;
}

static uint64_t passed;

static void same(const char *name, perfile_stream *one, perfile_stream *other)
{
    perfile_stream_summary sum[2];
    counts a = count_all(one, false, &sum[0]);
    counts b = count_all(other, true, &sum[1]);
    passed += b.passed;
    b.passed = 0;
    if (memcmp(&a, &b, sizeof a) != 0 || memcmp(&sum[0], &sum[1], sizeof sum[0]) != 0)
        fail_msg("%s: other records are passed than come", name);
}

static perfile_stream *stream_of(perfile_source *source, const perfile_open_options *options)
{
    perfile_stream *s;
    if (perfile_open(source, options, &s, NULL) == PERFILE_OK)
        return s;
    perfile_source_close(source);
    return NULL;
}

static void compare(const char *name, perfile_bytes bytes, uint32_t on_damage)
{
    const perfile_open_options options = {
        .size = sizeof options, .on_damage = on_damage, .deliver = PERFILE_DELIVER_DAMAGE};
    perfile_source *memory, *pieces;
    dripping d = {.bytes = bytes, .most = 300, .state = 1};
    assert_int_equal(perfile_source_memory(bytes, "memory", &memory, NULL), PERFILE_OK);
    assert_int_equal(dripping_open(&d, true, NULL, &pieces, NULL), PERFILE_OK);
    perfile_stream *one = stream_of(memory, &options), *other = stream_of(pieces, &options);
    assert_int_equal(one != NULL, other != NULL);
    if (one)
        same(name, one, other);
    perfile_stream_close(one);
    perfile_stream_close(other);
}

/* The same where other threads have counted already, some of it in vain. */
static void compare_ahead(const char *name, perfile_bytes bytes, size_t block)
{
    const perfile_open_options options = {.size = sizeof options,
                                          .deliver = PERFILE_DELIVER_DAMAGE};
    perfile_source *memory, *ahead;
    assert_int_equal(perfile_source_memory(bytes, "memory", &memory, NULL), PERFILE_OK);
    open_ahead(bytes, 3, block, &ahead);
    perfile_stream *one = stream_of(memory, &options), *other = stream_of(ahead, &options);
    assert_int_equal(one != NULL, other != NULL);
    if (one)
        same(name, one, other);
    perfile_stream_close(one);
    perfile_stream_close(other);
}

static void made(void **state)
{
    (void)state;
    for (unsigned form = 0; form < CAPTURE_FORMS; form++)
        for (unsigned swap = 0; swap < 2; swap++) {
            BUILDER b = {0};
            capture_make(&b, form, swap, 300);
            for (size_t cut = 0; cut < 200; cut += 7)
                for (uint32_t damage = PERFILE_ON_DAMAGE_STOP; damage <= PERFILE_ON_DAMAGE_SALVAGE;
                     damage++)
                    compare(capture_names[form], (perfile_bytes){b.b.ptr, b.b.len - cut}, damage);
        }
    assert_true(passed > 10000);
}

/* Blocks that begin anywhere, and bytes in the file that look like records and are none. */
static void counted_ahead(void **state)
{
    (void)state;
    for (unsigned form = 0; form < CAPTURE_FORMS; form++)
        for (unsigned swap = 0; swap < 2; swap++) {
            BUILDER b = {0};
            capture_make(&b, form, swap, 300);
            for (size_t block = 1000; block < 6000; block += 777)
                compare_ahead(capture_names[form], built(&b), block);
            for (unsigned i = 0; i < 20; i++) {
                b.b.ptr[random_below((uint32_t)b.b.len)] ^= (uint8_t)(1 + random_below(255));
                compare_ahead(capture_names[form], built(&b), 1024);
            }
        }
    /* Samples of 24 bytes that hold others: a chain of these begins at every 8 bytes. */
    BUILDER b = {0};
    capture_make(&b, CAPTURE_KILLED, false, 10);
    for (unsigned i = 0; i < 4000; i++) {
        build_u32(&b, PERFILE_RECORD_SAMPLE);
        build_u16(&b, 0);
        build_u16(&b, 24);
        build_u64(&b, UINT64_C(24) << 48 | PERFILE_RECORD_SAMPLE);
        build_u64(&b, UINT64_C(24) << 48 | PERFILE_RECORD_SAMPLE);
    }
    for (size_t block = 1000; block < 6000; block += 8)
        compare_ahead("samples within samples", built(&b), block);
}

static void one_capture(const char *path, perfile_stream *s)
{
    const perfile_open_options options = {.size = sizeof options};
    const perfile_source_options how = {.size = sizeof how, .flags = PERFILE_SOURCE_SEQUENTIAL};
    perfile_source *source;
    assert_int_equal(perfile_source_path(path, &how, &source, NULL), PERFILE_OK);
    perfile_stream *other = stream_of(source, &options);
    assert_non_null(other);
    same(path, s, other);
    perfile_stream_close(other);
}

static void recorded(void **state)
{
    (void)state;
    passed = 0;
    assert_true(recorded_each(one_capture) >= 20);
    assert_true(passed > (recorded_corpus() ? 10000 : 100));
    if (!recorded_corpus())
        print_message("\nnot tried: captures of others: there is no corpus\n");
}

/* Samples with a payload of 68 bytes, the number of FINISHED_ROUND, behind which stands what can be
 * taken for a size: wherever a block begins, its row begins with a record. */
static void a_row_begins_with_a_record(void **state)
{
    enum { SIZE = 128, RECORDS = 40, RAW = 56 };
    static uint8_t bytes[SIZE * RECORDS];
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        memset(bytes, 0, sizeof bytes);
        for (size_t i = 0; i < RECORDS; i++) {
            uint8_t *r = bytes + i * SIZE;
            pf_store_u32(r, PERFILE_RECORD_SAMPLE, swap);
            pf_store_u16(r + 6, SIZE, swap);
            pf_store_u32(r + RAW, PERFILE_RECORD_FINISHED_ROUND, swap);
            pf_store_u16(r + RAW + 6, 2 * SIZE, swap);
        }
        for (size_t from = 0; from < 2 * SIZE; from += 8) {
            const perfile_bytes block = {bytes + from, sizeof bytes - from};
            const size_t start = pf_perf_sample_row(block, from, swap);
            assert_true(start < block.len);
            assert_int_equal((from + start) % SIZE, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_begins_with_a_record),
        cmocka_unit_test(made),
        cmocka_unit_test(counted_ahead),
        cmocka_unit_test(recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
