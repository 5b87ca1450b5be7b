/* Bytes that are no records between records: read on behind them when asked to, told of always. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../builder.h"
#include "perfile/perfile.h"

enum {
    SAMPLES = 40,
    AFTER = 17, /* garbage stands behind this many samples */
    HEADER_END = 16 + 8 + 64
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* A pipe form capture with `n` bytes of garbage in the middle. */
static perfile_bytes capture(builder *b, size_t n, bool zeros, uint32_t seed)
{
    build_clear(b);
    build_bytes(b, "PERFILE2", 8);
    build_u64(b, 16);
    size_t at = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &(build_attr_plan){.type = 1, .size = 64, .period = 1, .sample_type = 7});
    build_end(b, at);
    for (unsigned i = 0; i < SAMPLES; i++) {
        at = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
        build_u64(b, 0xffffffff81000000 + i);
        build_u32(b, 4000);
        build_u32(b, 4001);
        build_u64(b, 1000000000 + i);
        build_end(b, at);
        for (size_t k = 0; i + 1 == AFTER && k < n; k++)
            build_u8(b, zeros ? 0 : (uint8_t)next_random(&seed));
    }
    return built(b);
}

typedef struct result {
    perfile_stream_summary sum;
    uint64_t samples;
    uint64_t last_time;
} result;

static result read_all(perfile_bytes bytes, uint32_t on_damage)
{
    result out = {0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_open_options options = {.size = sizeof options, .on_damage = on_damage};
    assert_int_equal(perfile_source_memory(bytes, "test", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        out.samples += r->type == PERFILE_RECORD_SAMPLE;
        if (r->type == PERFILE_RECORD_SAMPLE)
            out.last_time = perfile_record_time(r);
    }
    perfile_stream_get_summary(s, &out.sum, sizeof out.sum);
    perfile_stream_close(s);
    return out;
}

static void goes_on_behind_zeros(void **state)
{
    (void)state;
    builder b = {.swap = PF_NATIVE_BIG};
    static const size_t sizes[] = {1, 7, 8, 64, 100, 4096, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        perfile_bytes bytes = capture(&b, sizes[i], true, 0);
        result whole = read_all(bytes, PERFILE_ON_DAMAGE_RESYNC);
        assert_int_equal(whole.samples, SAMPLES);
        assert_int_equal(whole.last_time, 1000000000 + SAMPLES - 1);
        assert_int_equal(whole.sum.lost, sizes[i]);
        assert_int_equal(whole.sum.damages, 1);
        result stopped = read_all(bytes, PERFILE_ON_DAMAGE_STOP);
        assert_int_equal(stopped.samples, AFTER);
        assert_int_equal(stopped.sum.first_offset, HEADER_END + AFTER * 32);
    }
    build_clear(&b);
}

/* Random bytes may begin like a record that swallows good ones: then those are lost, but said to
 * be, and the reading comes to the end all the same. */
static void goes_on_behind_noise(void **state)
{
    (void)state;
    builder b = {.swap = PF_NATIVE_BIG};
    unsigned complete = 0;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        size_t n = 8 + seed % 500;
        perfile_bytes bytes = capture(&b, n, false, seed);
        result r = read_all(bytes, PERFILE_ON_DAMAGE_RESYNC);
        assert_true(r.samples >= AFTER);
        assert_int_equal(r.sum.bytes + r.sum.lost, bytes.len - 16);
        complete += r.samples == SAMPLES && r.last_time == 1000000000 + SAMPLES - 1;
    }
    assert_true(complete >= 150);
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_behind_zeros),
        cmocka_unit_test(goes_on_behind_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
