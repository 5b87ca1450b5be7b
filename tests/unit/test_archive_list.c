/* Archives as archives: what is listed of them, and what their columns are called.  That damage of
 * them is found is in test_archive_verify.c. */
#include "archives.h"

#include "archive/header.h"
#include "perfile/stream.h"
#include "archive/command.h"
#include "perfile/sink.h"

static void an_archive_is_listed(void **state)
{
    (void)state;
    const perfile_bytes b = packed("callgraph.data");
    perfile_archive *a = opened(b);
    pf_archive_summary s;
    perfile_archive_capture capture;
    pf_archive_gap gap;
    pf_archive_chunk c;
    uint64_t part_bytes = 0, records = 0;
    uint32_t n = 0;
    pf_archive_get_summary(a, &s, sizeof s);
    assert_int_equal(s.id, ARCHIVE_ID);
    assert_int_equal(s.version, 1);
    assert_int_equal(s.bytes, b.len);
    assert_int_equal(s.captures, 1);
    assert_true(s.finished && s.from_index && !s.head_damaged && !s.gaps);
    for (; pf_archive_chunk_at(a, n, &c, sizeof c, NULL) == PERFILE_OK; n++) {
        assert_int_equal(c.capture, 1);
        assert_int_equal(c.part, 0);
        assert_non_null(pf_archive_kind_name(c.kind));
        assert_non_null(pf_archive_codec_name(c.codec));
        part_bytes += c.kind == PF_CHUNK_META ? 0 : c.part_bytes;
        records += c.records;
        uint64_t of_types = 0;
        for (uint32_t i = 0; i < c.n_types; i++)
            of_types += c.types[i].records;
        assert_int_equal(of_types, c.records);
        assert_int_equal(c.has_zone, c.kind == PF_CHUNK_RECORDS);
        assert_true(!c.has_zone || c.first_time < c.last_time);
    }
    assert_int_equal(n, s.chunks);
    assert_int_equal(part_bytes, s.decoded);
    assert_int_equal(records, 63); /* perfile stats of the capture */
    assert_false(pf_archive_gap_at(a, 0, &gap));
    assert_int_equal(perfile_archive_capture_at(a, 1, &capture, sizeof capture, NULL), PERFILE_OK);
    assert_int_equal(capture.n_parts, 1);
    assert_int_equal(capture.parts[0].size, s.decoded);
    assert_string_equal(capture.parts[0].format, "perf.data");
    assert_non_null(strstr(capture.creator, "perfile"));
    assert_int_equal(perfile_archive_capture_at(a, 2, &capture, sizeof capture, NULL), PERFILE_END);
    assert_int_equal(perfile_archive_capture_at(a, 0, &capture, sizeof capture, NULL), PERFILE_END);
    assert_null(pf_archive_kind_name(77));
    assert_null(pf_archive_codec_name(77));
    perfile_archive_close(a);
    perfile_archive_close(NULL);
    release(b);
}

/* An archive of one empty capture with this name: the status of making its sink, and, if that is
 * PERFILE_OK, what is read back. */
static perfile_status name_comes_back(const char *name, uint64_t modified)
{
    perfile_sink *memory, *sink;
    perfile_archive_capture capture;
    const perfile_archive_options how = {
        .size = sizeof how, .id = ARCHIVE_ID, .name = name, .modified = modified};
    assert_int_equal(perfile_sink_memory("archive", &memory, NULL), PERFILE_OK);
    const perfile_status st = perfile_archive_sink(memory, &how, &sink, NULL);
    if (st != PERFILE_OK) {
        perfile_sink_close(memory);
        return st;
    }
    assert_int_equal(perfile_sink_finish(sink, NULL), PERFILE_OK);
    perfile_archive *a = opened(perfile_sink_bytes(memory));
    assert_int_equal(perfile_archive_capture_at(a, 1, &capture, sizeof capture, NULL), PERFILE_OK);
    assert_int_equal(capture.modified, modified ? modified : UINT64_MAX);
    assert_true(name ? capture.name && strcmp(capture.name, name) == 0 : !capture.name);
    perfile_archive_close(a);
    perfile_sink_close(sink);
    return PERFILE_OK;
}

static void captures_keep_their_names(void **state)
{
    (void)state;
    char longest[257];
    memset(longest, 'x', sizeof longest);
    longest[256] = '\0';
    assert_int_equal(name_comes_back(longest, 1), PERFILE_E_USAGE);
    longest[255] = '\0';
    assert_int_equal(name_comes_back(longest, 0), PERFILE_OK);
    assert_int_equal(name_comes_back(NULL, 1), PERFILE_OK);
    assert_int_equal(name_comes_back("perf.data", UINT64_C(1500000000000000001)), PERFILE_OK);
    assert_int_equal(name_comes_back("../perf.data", 1), PERFILE_E_USAGE);
    assert_int_equal(name_comes_back("..", 1), PERFILE_E_USAGE);
    assert_int_equal(name_comes_back("", 1), PERFILE_E_USAGE);
}

/* The capture of an archive that is open, by its number, as often as one likes. */
static void a_capture_is_opened_again(void **state)
{
    (void)state;
    const perfile_bytes b = packed("callgraph.data");
    for (unsigned damaged = 0; damaged < 2; damaged++) {
        uint8_t *bytes = exact(b.ptr, b.len);
        if (damaged)
            bytes[9] ^= 1; /* of the header: its chunks say what it is */
        perfile_archive *a = opened((perfile_bytes){bytes, b.len});
        perfile_error err;
        perfile_source *source;
        for (uint32_t number = 0; number < 2; number++) {
            const perfile_convert_options as_is = {.size = sizeof as_is};
            perfile_sink *sink = memory_sink();
            assert_int_equal(pf_archive_capture_source(a, number, &source, &err), PERFILE_OK);
            assert_int_equal(perfile_convert_capture(source, sink, &as_is, NULL, 0, &err),
                             PERFILE_OK);
            assert_int_equal(perfile_sink_count(sink), 11128);
            perfile_sink_close(sink);
        }
        assert_int_equal(pf_archive_capture_source(a, 2, &source, &err), PERFILE_E_USAGE);
        perfile_archive_close(a);
        free(bytes);
    }
    release(b);
}

static void what_is_no_archive_is_told(void **state)
{
    (void)state;
    perfile_archive *a = NULL;
    perfile_source *source = capture_of("callgraph.data");
    assert_int_equal(perfile_archive_open(source, &a, NULL), PERFILE_END);
    perfile_source_close(source);
    source = capture_of("threads.data"); /* a directory */
    assert_int_equal(perfile_archive_open(source, &a, NULL), PERFILE_END);
    perfile_source_close(source);
    assert_null(a);
}

/* Checks the sums of a chunk's columns; returns how many are called `field`. */
static unsigned columns_called(perfile_archive *a, uint32_t i, const perfile_session *s,
                               const char *field)
{
    const pf_archive_column *columns;
    pf_archive_chunk c;
    uint64_t stored = 0, decoded = 0;
    uint32_t n;
    unsigned found = 0;
    chunk_at(a, i, &c);
    perfile_status st = pf_archive_columns(a, i, s, &columns, &n, NULL);
    assert_int_equal(st, c.codec == PF_CODEC_COLUMNS ? PERFILE_OK : PERFILE_END);
    if (st == PERFILE_END)
        return 0;
    for (uint32_t k = 0; k < n; k++) {
        stored += columns[k].stored;
        decoded += columns[k].decoded;
        assert_int_equal(columns[k].type == UINT32_MAX, k == 0);
        assert_true(k == 0 || columns[k].encoding[0]);
        assert_true(columns[k].values <= c.part_bytes);
        found += strcmp(columns[k].field, field) == 0;
    }
    assert_int_equal(stored, c.payload);
    assert_int_equal(decoded, c.part_bytes);
    return found;
}

static unsigned all_columns_called(perfile_bytes b, const perfile_session *s, const char *field)
{
    perfile_archive *a = opened(b);
    pf_archive_summary sum;
    unsigned found = 0;
    pf_archive_get_summary(a, &sum, sizeof sum);
    for (uint32_t i = 0; i < sum.chunks; i++)
        found += columns_called(a, i, s, field);
    perfile_archive_close(a);
    return found;
}

static void columns_have_the_names_of_fields(void **state)
{
    (void)state;
    static const struct {
        const char *capture, *field;
    } rows[] = {{"callgraph.data", "callchain"}, {"callgraph.data", "pid,tid"},
                {"callgraph.data", "time"},      {"callgraph.data", "filename"},
                {"dwarf.data", "callchain"},     {"fields.data", "regs_user"},
                {"big-endian.data", "ip"},       {"tracepoints.data", "raw+8"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const perfile_bytes b = packed(rows[i].capture);
        perfile_stream *stream;
        assert_int_equal(perfile_open(capture_of(rows[i].capture), NULL, &stream, NULL),
                         PERFILE_OK);
        const perfile_session *s = perfile_stream_session(stream);
        if (!all_columns_called(b, s, rows[i].field))
            fail_msg("%s has no column %s", rows[i].capture, rows[i].field);
        perfile_stream_close(stream);
        release(b);
    }
}

/* Without the events nothing is known of the fields of samples. */
static void columns_of_samples_need_a_session(void **state)
{
    (void)state;
    const perfile_bytes b = packed("callgraph.data");
    assert_int_equal(all_columns_called(b, NULL, "callchain"), 0);
    assert_true(all_columns_called(b, NULL, "filename") > 0);
    release(b);
}

static void columns_of_all_kinds_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ARCHIVED_KINDS; i++) {
        const perfile_bytes b = packed(archived_kinds[i]);
        all_columns_called(b, NULL, "");
        release(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_is_listed),
        cmocka_unit_test(captures_keep_their_names),
        cmocka_unit_test(a_capture_is_opened_again),
        cmocka_unit_test(what_is_no_archive_is_told),
        cmocka_unit_test(columns_have_the_names_of_fields),
        cmocka_unit_test(columns_of_samples_need_a_session),
        cmocka_unit_test(columns_of_all_kinds_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
