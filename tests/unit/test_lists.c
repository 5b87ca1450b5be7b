/* Lists, arrays and texts that programs make: what is put in comes out again, for every struct that
 * the tables have. */
#include "testing.h"

#include "perfile/perfile.h"

/* Two structs of a type as a list; the second one's bytes are those that were given. */
#define TRY(id)                                                                                    \
    do {                                                                                           \
        perfile_##id given[2], out;                                                                \
        memset(given, 0, sizeof given);                                                            \
        memset(&given[1], 1, sizeof given[1]);                                                     \
        perfile_list list = perfile_##id##_list(given, 2, sizeof given[0]);                        \
        assert_int_equal(list.n, 2);                                                               \
        assert_int_equal(perfile_##id##_next(&list, &out, sizeof out), PERFILE_OK);                \
        assert_memory_equal(&out, &given[0], sizeof out);                                          \
        assert_int_equal(perfile_##id##_next(&list, &out, sizeof out), PERFILE_OK);                \
        assert_memory_equal(&out, &given[1], sizeof out);                                          \
        assert_int_equal(perfile_##id##_next(&list, &out, sizeof out), PERFILE_END);               \
        n++;                                                                                       \
    } while (0);

static void structs_of_every_type(void **state)
{
    (void)state;
    unsigned n = 0;
#define STRUCT(id, doc) TRY(id)
#include "perfile/format/structs.def"
#define STRUCT(id, doc) TRY(id)
#include "perfile/format/features.def"
    assert_true(n > 20);
}

static void arrays(void **state)
{
    (void)state;
    const uint16_t halves[] = {1, UINT16_MAX};
    const uint32_t words[] = {1, UINT32_MAX};
    const int32_t numbers[] = {1, -1};
    const uint64_t longs[] = {1, UINT64_MAX};
    perfile_words w = perfile_words_u16(halves, 2);
    assert_int_equal(perfile_word(&w, 1), UINT16_MAX);
    w = perfile_words_u32(words, 2);
    assert_int_equal(perfile_word(&w, 1), UINT32_MAX);
    w = perfile_words_s32(numbers, 2);
    assert_int_equal(w.n, 2);
    assert_int_equal((uint32_t)perfile_word(&w, 1), UINT32_MAX);
    w = perfile_words_u64(longs, 2);
    uint64_t copy[3] = {7, 7, 7};
    assert_int_equal(perfile_words_copy(&w, copy, 3), 2);
    assert_int_equal(copy[1], UINT64_MAX);
    assert_int_equal(copy[2], 7);
}

static void texts(void **state)
{
    (void)state;
    const perfile_bytes given[] = {{(const uint8_t *)"one", 3}, {(const uint8_t *)"two", 3}};
    perfile_strings s = perfile_strings_of(given, 2);
    perfile_bytes text;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(perfile_strings_next(&s, &text), PERFILE_OK);
        assert_int_equal(text.len, 3);
        assert_memory_equal(text.ptr, given[i].ptr, 3);
    }
    assert_int_equal(perfile_strings_next(&s, &text), PERFILE_END);
}

/* Every kind has a name and says what it means. */
static void kinds(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PERFILE_N_KINDS; i++) {
        assert_non_null(perfile_kind_name(i));
        assert_true(strlen(perfile_kind_doc(i)) > 3);
        assert_true(perfile_kind_base(i) <= PERFILE_BASE_GROUP);
    }
    assert_string_equal(perfile_kind_doc(PERFILE_KIND_ADDR), "an address");
}

/* What an event is called, its unit and its factor are read again as they were given. */
static void events(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_source *in;
    perfile_stream *s;
    const perfile_record *r;
    const perfile_attr attr = {.type = PERFILE_TYPE_SOFTWARE,
                               .sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_IDENTIFIER};
    const uint64_t id = 7;
    const perfile_new_event event = {
        .size = sizeof event, .attr = &attr, .ids = &id, .n_ids = 1, .name = "power"};
    assert_int_equal(perfile_sink_memory("events", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, NULL, &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_add_event(w, &event, NULL, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_event_unit(w, 0, "Joules", NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_event_scale(w, 0, 0.25, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_event_scale(w, 1, 0.25, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_writer_close(w);
    assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "events", &in, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_open(in, NULL, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        ;
    const perfile_event *e = perfile_session_event(perfile_stream_session(s), 0);
    assert_string_equal(e->name, "power");
    assert_string_equal(e->unit, "Joules");
    assert_true(e->scale == 0.25);
    perfile_stream_close(s);
    perfile_sink_close(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(structs_of_every_type),
                                       cmocka_unit_test(arrays), cmocka_unit_test(texts),
                                       cmocka_unit_test(kinds), cmocka_unit_test(events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
