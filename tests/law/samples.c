/* The ways to a sample agree: into the caller's struct and into the stream's, field by field and by
 * the run. */
#include "testing.h"

#include "captures.h"

/* Samples of one event whose size changes: with a tail, too short, and as they should be. */
static void uneven(builder *b, bool swap)
{
    static const int tails[] = {0, 8, 0, -8, 0, 3, 16, 0, -48, -1, 0};
    *b = (builder){.swap = swap};
    capture_pipe_header(b, 1);
    for (unsigned i = 0; i < 200; i++) {
        builder one = {.swap = swap};
        capture_sample(&one, 2 * i);
        int tail = tails[i % (sizeof tails / sizeof tails[0])];
        for (int n = 0; n < tail; n++)
            build_u8(&one, 0xee);
        size_t size = tail < 0 ? one.b.len - (size_t)-tail : one.b.len;
        perfile_bytes body = {one.b.ptr + 8, size - 8};
        build_record(b, PERFILE_RECORD_SAMPLE, 2, body);
        build_clear(&one);
    }
}

static perfile_stream *opened(perfile_bytes bytes)
{
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(bytes, "memory", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    return s;
}

/* Returns how many could be decoded. */
static unsigned same_decoded(perfile_bytes bytes)
{
    perfile_stream *s = opened(bytes);
    const perfile_record *r;
    const perfile_sample *shared;
    unsigned decoded = 0;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        perfile_sample own;
        perfile_error a = {0}, b = {0};
        memset(&own, 0x55, sizeof own);
        perfile_status st = perfile_sample_decode(r, &own, sizeof own, &a);
        assert_int_equal(perfile_stream_sample(s, r, &shared, &b), st);
        assert_int_equal(a.damage, b.damage);
        if (st != PERFILE_OK)
            continue;
        assert_memory_equal(&own, shared, sizeof own);
        decoded++;
    }
    perfile_stream_close(s);
    return decoded;
}

/* Returns how many fields there were. */
static unsigned same_fields(perfile_bytes bytes, uint32_t bit)
{
    perfile_stream *s = opened(bytes);
    const perfile_record *r;
    size_t n;
    unsigned all = 0;
    while (perfile_stream_next_run(s, &r, &n, NULL) == PERFILE_OK) {
        uint64_t values[PERFILE_RUN_RECORDS], again[PERFILE_RUN_RECORDS], value;
        uint32_t at[PERFILE_RUN_RECORDS];
        size_t found = perfile_sample_fields(r, n, bit, values, at), k = 0;
        assert_int_equal(perfile_sample_fields(r, n, bit, again, NULL), found);
        for (size_t i = 0; i < n; i++) {
            if (!perfile_sample_field(r + i, bit, &value))
                continue;
            assert_true(k < found && at[k] == i && values[k] == value && again[k] == value);
            k++;
        }
        assert_int_equal(k, found);
        all += (unsigned)found;
    }
    perfile_stream_close(s);
    return all;
}

static void ways_to_a_sample(void **state)
{
    (void)state;
    for (unsigned form = 0; form <= CAPTURE_FORMS; form++) {
        for (unsigned swap = 0; swap < 2; swap++) {
            builder b;
            if (form < CAPTURE_FORMS)
                capture_make(&b, form, swap, 300);
            else
                uneven(&b, swap);
            unsigned decoded = same_decoded(built(&b)), fields = 0;
            for (uint64_t bit = 0; bit < 33; bit++)
                fields += same_fields(built(&b), (uint32_t)((uint64_t)1 << bit));
            assert_int_equal(same_fields(built(&b), 0), 0);
            assert_int_equal(same_fields(built(&b), PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TIME), 0);
            assert_true(decoded > 0 && fields >= 6 * decoded);
            build_clear(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_to_a_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
