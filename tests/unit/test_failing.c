/* Functions that fail leave their results alone: here those that other tests do not let fail, above
 * all the encoders and list functions that the tables make.  The wrappers around all public
 * functions (tests/canaries) see that, too, and write down which functions they have seen fail. */
#include "archives.h"

#include "base/alloc.h"
#include "perfile/perfile.h"
#include "archive/command.h"
#include "lib/command.h"

enum { MOST = 1 << 13, UNTOUCHED = 0xa5 };

static _Alignas(16) const uint8_t zeros[MOST];
static _Alignas(16) uint8_t out[MOST];
static perfile_error err;

/* Whether a call failed, said why, and left `size` bytes of `out` and *len alone. */
static void assert_failed(const char *name, perfile_status st, size_t size, size_t len)
{
    bool same = len == 0;
    for (size_t i = 0; i < size; i++)
        same &= out[i] == UNTOUCHED;
    if (st >= 0 || !same || err.status != st || !err.message[0])
        fail_msg("%s: status %d, '%s'%s", name, (int)st, err.message, same ? "" : ", has changed");
}

static void begin(void)
{
    memset(out, UNTOUCHED, sizeof out);
    memset(&err, 0, sizeof err);
}

/* A byte order that there is not, and no room, which some need none of. */
static void encoders(void **state)
{
    (void)state;
    const perfile_attr attr = {.sample_type = PERFILE_SAMPLE_TID,
                               .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
    const perfile_sample_id trailer = {.present = PERFILE_SAMPLE_TID};
    perfile_layout layout;
    perfile_layout_of_attr(&attr, sizeof attr, &layout);
    const perfile_encode_options how = {
        .size = sizeof how, .layout = &layout, .sample_id = &trailer, .byte_order = 77};
    size_t len = 0;
#define ENCODER(id)                                                                                \
    _Static_assert(sizeof(perfile_##id) <= MOST, "zeros for all of it");                           \
    begin();                                                                                       \
    assert_failed(#id,                                                                             \
                  perfile_##id##_encode((const perfile_##id *)(const void *)zeros,                 \
                                        sizeof(perfile_##id), &how, out, 0, &len, &err),           \
                  MOST, len);
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) ENCODER(id)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) ENCODER(id)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc) ENCODER(id)
#include "perfile/format/simpleperf.def"
    ENCODER(sample_id)
#define FEATURE(id, number, name, source, contract, doc) ENCODER(id)
#include "perfile/format/features.def"
}

/* A list whose only element has one byte of those that it needs; it stays in the list. */
static void lists(void **state)
{
    (void)state;
    const perfile_layout layout = {.sample_type = PERFILE_SAMPLE_TID};
    const uint8_t byte = 200;
    perfile_list list;
#define NEXT(id)                                                                                   \
    begin();                                                                                       \
    list = (perfile_list){.bytes = {&byte, 1}, .n = 1, .layout = &layout};                         \
    err.status = perfile_##id##_next(&list, (perfile_##id *)(void *)out, sizeof(perfile_##id));    \
    err.message[0] = '-';                                                                          \
    assert_failed(#id, err.status, MOST, list.n - 1);
#define STRUCT(id, doc) NEXT(id)
#include "perfile/format/structs.def"
#define STRUCT(id, doc) NEXT(id)
#include "perfile/format/features.def"
    perfile_strings strings = {.bytes = {&byte, 1}, .n = 1};
    begin();
    err.status = perfile_strings_next(&strings, (perfile_bytes *)(void *)out);
    err.message[0] = '-';
    assert_failed("strings", err.status, MOST, strings.n - 1);
}

/* One of the calls below is made again with each of its allocations failing, until it needs no more
 * than there are. */
static bool again(unsigned *n, perfile_status st)
{
    pf_alloc_fail_at = 0;
    if (*n && st != PERFILE_OK && (st != PERFILE_E_NOMEM || err.status != st))
        fail_msg("allocation %u: status %d, '%s'", *n, (int)st, err.message);
    if (*n && st == PERFILE_OK) {
        assert_true(*n > 1);
        return false;
    }
    ++*n;
    begin();
    return true;
}

/* Of the calls from here on. */
static void fail_at(unsigned n)
{
    pf_alloc_fail_at = pf_alloc_count + n;
}

/* The position of the first chunk of records. */
static uint32_t records_at(perfile_archive *a)
{
    pf_archive_chunk c;
    uint32_t i = 0;
    do
        chunk_at(a, i, &c);
    while (c.kind != PF_CHUNK_RECORDS && ++i);
    return i;
}

static void archives(void **state)
{
    (void)state;
    const perfile_bytes b = packed("callgraph.data");
    perfile_status st = PERFILE_OK;
    perfile_archive *a;
    for (unsigned n = 0; again(&n, st);) {
        perfile_source *source;
        assert_int_equal(perfile_source_memory(b, "packed", &source, NULL), PERFILE_OK);
        fail_at(n);
        st = perfile_archive_open(source, &a, &err);
        if (st == PERFILE_OK)
            perfile_archive_close(a);
        else
            perfile_source_close(source);
    }
    for (unsigned n = 0; again(&n, st); perfile_archive_close(a)) {
        perfile_archive_capture capture;
        a = opened(b);
        fail_at(n);
        st = perfile_archive_capture_at(a, 1, &capture, sizeof capture, &err);
    }
    for (unsigned n = 0; again(&n, st); perfile_archive_close(a)) {
        pf_archive_chunk c;
        a = opened(b);
        const uint32_t at = records_at(a);
        perfile_archive_close(a);
        a = opened(b);
        fail_at(n);
        st = pf_archive_chunk_at(a, at, &c, sizeof c, &err);
    }
    for (unsigned n = 0; again(&n, st); perfile_archive_close(a)) {
        const pf_archive_column *columns;
        uint32_t many;
        a = opened(b);
        const uint32_t at = records_at(a);
        fail_at(n);
        st = pf_archive_columns(a, at, NULL, &columns, &many, &err);
    }
    release(b);
}

static perfile_stream *stream_of(const char *capture)
{
    perfile_stream *s;
    assert_int_equal(perfile_open(capture_of(capture), NULL, &s, NULL), PERFILE_OK);
    return s;
}

static void models(void **state)
{
    (void)state;
    perfile_status st = PERFILE_OK;
    for (unsigned n = 0; again(&n, st);) {
        const perfile_record *r;
        const perfile_process *processes;
        perfile_model *model;
        size_t many;
        perfile_stream *s = stream_of("callgraph.data");
        assert_int_equal(perfile_model_open(perfile_stream_session(s), &model, NULL), PERFILE_OK);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            assert_int_equal(perfile_model_feed(model, r, NULL), PERFILE_OK);
        fail_at(n);
        st = perfile_model_processes(model, &processes, &many, &err);
        perfile_model_close(model);
        perfile_stream_close(s);
    }
}

static perfile_status open_nothing(void *user, perfile_stream **stream, perfile_error *error)
{
    (void)user, (void)stream, (void)error;
    return PERFILE_E_IO;
}

/* Options that do not make sense, streams of another kind. */
static void others(void **state)
{
    (void)state;
    const perfile_split_options how = {.size = sizeof how};
    perfile_split_summary sum;
    unsigned verdict = 77;
    perfile_stream *s = stream_of("callgraph.data");
    assert_int_equal(perfile_check_version(s, "6.1", &verdict, NULL, NULL, &err), PERFILE_E_USAGE);
    assert_int_equal(verdict, 77);
    assert_int_equal(pf_split_stream(open_nothing, NULL, &how, NULL, &sum, sizeof sum, &err),
                     PERFILE_E_USAGE);
    perfile_stream_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(encoders), cmocka_unit_test(lists),
                                       cmocka_unit_test(archives), cmocka_unit_test(models),
                                       cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
