/* Records that are passed over are those that would have come one by one. */
#include "testing.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made),
        cmocka_unit_test(recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
