/* The form `aux`: the data of ring buffers in files of a directory, and the index of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exporting.h"

static void put_info(builder *b)
{
    size_t start = build_begin(b, PERFILE_RECORD_AUXTRACE_INFO, 0);
    build_u32(b, 1); /* intel_pt */
    build_u32(b, 0);
    build_u64(b, 7);
    build_u64(b, 0xabc);
    build_end(b, start);
}

/* Data of ring buffer `idx`, and the record in front of them. */
static void put_data(builder *b, uint32_t idx, uint64_t offset, const char *data)
{
    size_t start = build_begin(b, PERFILE_RECORD_AUXTRACE, 0);
    build_u64(b, strlen(data));
    build_u64(b, offset);
    build_u64(b, 0x11);
    build_u32(b, idx);
    build_u32(b, UINT32_MAX);
    build_u32(b, 3);
    build_u32(b, 0);
    build_end(b, start);
    build_bytes(b, data, strlen(data));
}

static void put_span(builder *b, uint64_t offset, uint64_t size, uint64_t flags, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_AUX, 0);
    build_u64(b, offset);
    build_u64(b, size);
    build_u64(b, flags);
    end(b, start, 5, 6, time);
}

static void put_start(builder *b, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_ITRACE_START, 0);
    build_u32(b, 5);
    build_u32(b, 6);
    end(b, start, 5, 6, time);
}

/* Exports to the directory `path`; the status of the first thing that fails. */
static perfile_status export_aux(const builder *b, const perfile_limits *limits, const char *path,
                                 perfile_export_summary *sum)
{
    perfile_stream *s;
    perfile_sink *sink;
    const perfile_model *model;
    const perfile_record *first;
    perfile_emitter *e = NULL;
    size_t n;
    const perfile_sink_options replace = {.size = sizeof replace, .flags = PERFILE_SINK_REPLACE};
    assert_int_equal(open_capture(built(b), limits, &s, &model), PERFILE_OK);
    assert_int_equal(perfile_sink_directory(path, &replace, &sink, NULL), PERFILE_OK);
    perfile_status st = perfile_emitter_open("aux", s, sink, NULL, &e, NULL);
    if (st == PERFILE_OK)
        st = perfile_emitter_begin(e, NULL);
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, NULL)) == PERFILE_OK)
        st = perfile_emitter_put_run(e, first, n, NULL);
    if (st == PERFILE_END)
        st = perfile_emitter_continue(e, NULL, NULL, NULL);
    if (st == PERFILE_OK)
        st = perfile_emitter_finish(e, NULL);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(sink, NULL);
    if (e)
        perfile_emitter_get_summary(e, sum, sizeof *sum);
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    perfile_stream_close(s);
    return st;
}

static void assert_file(const char *path, const char *wanted)
{
    char text[4096];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    assert_string_equal(text, wanted);
    unlink(path);
}

static void files_have_the_data_and_the_index_says_where(void **state)
{
    (void)state;
    perfile_export_summary sum;
    for (unsigned swap = 0; swap < 2; swap++) {
        BUILDER b = {.swap = swap};
        begin(&b, CHAIN_TYPE, 0, FREQ);
        put_info(&b);
        put_start(&b, 90);
        put_span(&b, 0, 8, 0, 100);
        put_span(&b, 16, 8, 1 | 8, 101); /* truncated, collision */
        put_data(&b, 2, 0, "aaaaaaaa");
        put_data(&b, 0, 64, "bbbbbbbbbbbbbbbb");
        put_data(&b, 2, 16, "cccccccc");
        assert_int_equal(export_aux(&b, NULL, "aux-made", &sum), PERFILE_OK);
        assert_file("aux-made/aux.2", "aaaaaaaacccccccc");
        assert_file("aux-made/aux.0", "bbbbbbbbbbbbbbbb");
        assert_file(
            "aux-made/index.json",
            "{\"tracer\":\"intel_pt\",\"type\":1,\n\"priv\":[\"0x7\",\"0xabc\"],\n\"files\":[\n"
            "{\"file\":\"aux.2\",\"idx\":2,\"cpu\":3,\"tid\":null,\"bytes\":16,\n\"pieces\":[\n"
            "{\"at\":0,\"size\":8,\"offset\":\"0\",\"reference\":\"0x11\",\"record\":\"256\"},\n"
            "{\"at\":8,\"size\":8,\"offset\":\"16\",\"reference\":\"0x11\",\"record\":\"376\"}],\n"
            "\"missing\":[{\"from\":\"8\",\"to\":\"16\"}]},\n"
            "{\"file\":\"aux.0\",\"idx\":0,\"cpu\":3,\"tid\":null,\"bytes\":16,\n\"pieces\":[\n"
            "{\"at\":0,\"size\":16,\"offset\":\"64\",\"reference\":\"0x11\",\"record\":\"312\"}],\n"
            "\"missing\":[]}],\n"
            "\"spans\":[\n"
            "{\"cpu\":null,\"pid\":5,\"tid\":6,\"time\":\"100\",\"offset\":\"0\",\"size\":\"8\","
            "\"flags\":[],\"flag_bits\":\"0x0\"},\n"
            "{\"cpu\":null,\"pid\":5,\"tid\":6,\"time\":\"101\",\"offset\":\"16\",\"size\":\"8\","
            "\"flags\":[\"truncated\",\"collision\"],\"flag_bits\":\"0x9\"}],\n"
            "\"starts\":[\n{\"cpu\":null,\"pid\":5,\"tid\":6,\"time\":\"90\"}]}\n");
        assert_int_equal(rmdir("aux-made"), 0);
        assert_int_equal(sum.aux_files, 2);
        assert_int_equal(sum.aux_bytes, 32);
        assert_int_equal(sum.aux_missing, 1);
    }
}

/* A sink without parts is refused, and one form only writes a directory. */
static void a_directory_is_needed(void **state)
{
    (void)state;
    BUILDER b = {0};
    char text[64];
    size_t n = 0;
    begin(&b, CHAIN_TYPE, 0, FREQ);
    assert_int_equal(export_to("aux", &b, 1, NULL, NULL, text, sizeof text, NULL), PERFILE_E_USAGE);
    perfile_format format;
    for (size_t i = 0; perfile_format_at(true, i, &format, sizeof format); i++) {
        const bool is = strcmp(format.name, "aux") == 0;
        assert_int_equal(format.directory, is);
        n += is;
    }
    assert_int_equal(n, 1);
    assert_false(perfile_format_at(true, 1000, &format, sizeof format));
}

/* The index is kept in memory: no more than the limit. */
static void the_index_is_limited(void **state)
{
    (void)state;
    perfile_export_summary sum;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    for (unsigned i = 0; i < 200; i++)
        put_span(&b, i, 1, 0, i);
    const perfile_limits few = {.size = sizeof few, .profile_bytes = 4000};
    assert_int_equal(export_aux(&b, &few, "aux-few", &sum), PERFILE_E_LIMIT);
    assert_int_not_equal(access("aux-few", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_the_data_and_the_index_says_where),
        cmocka_unit_test(a_directory_is_needed),
        cmocka_unit_test(the_index_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
