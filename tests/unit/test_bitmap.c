/* The feature bitmap of big-endian files, in which nothing says how wide the writer's longs were.
 */
#include "testing.h"

#include "captures.h"
#include "written.h"

enum { BITMAP_AT = 72 };

/* A big-endian capture that has these features, eight bytes each. */
static perfile_sink *with_features(const uint32_t *numbers, size_t n)
{
    perfile_writer_options o = {.size = sizeof o, .byte_order = PERFILE_BYTE_ORDER_BIG};
    perfile_attr a = written_attr(0);
    perfile_new_event e = {.size = sizeof e, .attr = &a};
    perfile_writer *w;
    perfile_sink *sink;
    uint32_t index;
    assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_add_event(w, &e, &index, NULL), PERFILE_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(perfile_writer_feature(w, numbers[i], written_text("12345678"), NULL),
                         PERFILE_OK);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_writer_close(w);
    return sink;
}

/* What readers take for its features, HOSTNAME aside where nobody gave one. */
static void has(perfile_bytes bytes, const uint32_t *numbers, size_t n, bool hostname)
{
    perfile_source *source;
    perfile_stream *s;
    uint64_t wanted[4] = {0};
    for (size_t i = 0; i < n; i++)
        wanted[numbers[i] / 64] |= UINT64_C(1) << numbers[i] % 64;
    if (hostname)
        wanted[0] |= UINT64_C(1) << PERFILE_FEATURE_HOSTNAME;
    assert_int_equal(perfile_source_memory(bytes, "m", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_memory_equal(perfile_stream_container(s)->features, wanted, sizeof wanted);
    if (hostname)
        assert_string_equal(perfile_session_fact(perfile_stream_session(s), PERFILE_FACT_HOSTNAME),
                            "");
    perfile_stream_close(s);
}

static void written_ones_are_read_as_they_were(void **state)
{
    (void)state;
    for (uint32_t one = 1; one < PERFILE_N_FEATURES; one++) {
        perfile_sink *sink = with_features(&one, 1);
        if (one != PERFILE_FEATURE_AUXTRACE) /* the writer's own */
            has(perfile_sink_bytes(sink), &one, 1,
                (!perfile_feature_name(one) && perfile_feature_name(one ^ 32)) ||
                    one == PERFILE_FEATURE_COMPRESSED || one == PERFILE_FEATURE_DIR_FORMAT);
        perfile_sink_close(sink);
    }
}

/* Features 12 + 32 and so on would be HOSTNAME and others in words of 32 bits. */
static void ambiguous_ones_get_a_hostname(void **state)
{
    (void)state;
    static const uint32_t odd[] = {15, 19, 35, 36, 37, 38, 44};
    perfile_sink *sink = with_features(odd, sizeof odd / sizeof odd[0]);
    has(perfile_sink_bytes(sink), odd, sizeof odd / sizeof odd[0], true);
    perfile_sink_close(sink);
}

/* As a machine with longs of 32 bits writes the same words. */
static perfile_bytes narrowed(perfile_sink *sink, uint8_t *copy, size_t room)
{
    perfile_bytes b = perfile_sink_bytes(sink);
    assert_true(b.len <= room);
    memcpy(copy, b.ptr, b.len);
    for (size_t i = 0; i < 4; i++) {
        memcpy(copy + BITMAP_AT + 8 * i, b.ptr + BITMAP_AT + 8 * i + 4, 4);
        memcpy(copy + BITMAP_AT + 8 * i + 4, b.ptr + BITMAP_AT + 8 * i, 4);
    }
    return (perfile_bytes){copy, b.len};
}

static void narrow_longs_are_noticed(void **state)
{
    (void)state;
    static const uint32_t usual[] = {2, 3, 5, 11, 17};
    static const uint32_t nameless[] = {2, 5, 11, 17, 130};
    uint8_t copy[1024];
    perfile_sink *sink = with_features(usual, 5);
    has(perfile_sink_bytes(sink), usual, 5, false);
    has(narrowed(sink, copy, sizeof copy), usual, 5, false);
    perfile_sink_close(sink);
    sink = with_features(nameless, 5);
    has(perfile_sink_bytes(sink), nameless, 5, false);
    has(narrowed(sink, copy, sizeof copy), nameless, 5, false);
    perfile_sink_close(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_ones_are_read_as_they_were),
        cmocka_unit_test(ambiguous_ones_get_a_hostname),
        cmocka_unit_test(narrow_longs_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
