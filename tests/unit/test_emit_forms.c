/* The forms as wholes, on one small capture: a pipe with an event, a COMM whose name is no UTF-8, a
 * sample with a call chain, one that is too short, an unknown type, and a record that is cut off.
 */
#include "testing.h"

#include "base/alloc.h"
#include "builder.h"
#include "perfile/perfile.h"
#include "emit/command.h"
#include "lib/command.h"

enum { SAMPLE_ID_ALL = 1 << 18 };

static void build_capture(builder *b)
{
    static const build_attr_plan attr = {
        .type = 1,
        .size = 64,
        .period = 1000,
        .sample_type =
            PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CALLCHAIN,
        .flags = SAMPLE_ID_ALL,
    };
    build_bytes(b, "PERFILE2", 8);
    build_u64(b, 16);

    size_t at = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &attr);
    build_u64(b, 7);
    build_end(b, at);

    at = build_begin(b, PERFILE_RECORD_COMM, PERFILE_MISC_COMM_EXEC);
    build_u32(b, 10);
    build_u32(b, 11);
    build_bytes(b, "s\xff\0\0\0\0\0", 8);
    build_u32(b, 10);
    build_u32(b, 11);
    build_u64(b, 1500000000);
    build_end(b, at);

    at = build_begin(b, PERFILE_RECORD_SAMPLE, 1);
    build_u64(b, 0xffffffff81000010);
    build_u32(b, 10);
    build_u32(b, UINT32_MAX);
    build_u64(b, 2000000001);
    build_u64(b, 2);
    build_u64(b, (uint64_t)-128);
    build_u64(b, 0xffffffff81000010);
    build_end(b, at);

    at = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u64(b, 0x1000);
    build_end(b, at);

    at = build_begin(b, 60, 0);
    build_bytes(b, "abcd", 4);
    build_end(b, at);

    build_u32(b, PERFILE_RECORD_FINISHED_ROUND);
    build_u16(b, 0);
    build_u16(b, 24);
}

static const char jsonl[] =
    "{\"kind\":\"header\",\"format\":\"pipe\",\"version\":2,\"endian\":\"little\",\"size\":\"16\"}"
    "\n"
    "{\"kind\":\"record\",\"index\":0,\"offset\":\"16\",\"type\":64,"
    "\"name\":\"PERF_RECORD_HEADER_ATTR\",\"misc\":0,\"size\":80,\"body\":{\"attr\":{\"type\":1,"
    "\"size\":64,\"config\":\"0x0\",\"sample_period\":\"1000\",\"sample_type\":\"0x27\","
    "\"read_format\":\"0x0\",\"flags\":[\"sample_id_all\"],\"precise_ip\":0,\"wakeup_events\":0,"
    "\"bp_type\":0,\"config1\":\"0x0\"},\"id\":[\"7\"]}}\n"
    "{\"kind\":\"record\",\"index\":1,\"offset\":\"96\",\"type\":3,\"name\":\"PERF_RECORD_COMM\","
    "\"misc\":8192,\"size\":40,\"body\":{\"pid\":10,\"tid\":11,\"comm\":{\"hex\":\"73ff\"}},"
    "\"sample_id\":{\"pid\":10,\"tid\":11,\"time\":\"1500000000\"},\"attr\":0}\n"
    "{\"kind\":\"record\",\"index\":2,\"offset\":\"136\",\"type\":9,"
    "\"name\":\"PERF_RECORD_SAMPLE\",\"misc\":1,\"size\":56,\"attr\":0,"
    "\"body\":{\"ip\":\"0xffffffff81000010\",\"pid\":10,\"tid\":4294967295,"
    "\"time\":\"2000000001\",\"callchain\":[\"0xffffffffffffff80\",\"0xffffffff81000010\"]}}\n"
    "{\"kind\":\"record\",\"index\":3,\"offset\":\"192\",\"type\":9,"
    "\"name\":\"PERF_RECORD_SAMPLE\",\"misc\":2,\"size\":16,\"error\":\"short-body\","
    "\"data\":\"0010000000000000\"}\n"
    "{\"kind\":\"record\",\"index\":4,\"offset\":\"208\",\"type\":60,\"name\":null,\"misc\":0,"
    "\"size\":12,\"body\":{\"data\":\"61626364\"}}\n"
    "{\"kind\":\"error\",\"offset\":\"220\",\"error\":\"truncated-record\"}\n"
    "{\"kind\":\"end\",\"records\":5,\"errors\":2}\n";

static const char plain[] =
    "perf.data pipe, version 2, little-endian\n"
    "\n"
    "0x00000010                    HEADER_ATTR       80\n"
    "    attr\n"
    "      type                1  software\n"
    "      size                64\n"
    "      config              0x0\n"
    "      sample_period       1000\n"
    "      sample_type         0x27  IP|TID|TIME|CALLCHAIN\n"
    "      read_format         0x0\n"
    "      flags               0x40000  sample_id_all\n"
    "      wakeup_events       0\n"
    "      bp_type             0\n"
    "      config1             0x0\n"
    "    id                  7\n"
    "0x00000060       1.500000000  COMM              40    exec    cpu-clock\n"
    "    pid                 10\n"
    "    tid                 11\n"
    "    comm                \"s\\xff\"\n"
    "    sample_id           pid 10  tid 11  time 1.500000000\n"
    "0x00000088       2.000000001  SAMPLE            56    kernel  cpu-clock\n"
    "    ip                  0xffffffff81000010\n"
    "    pid                 10\n"
    "    tid                 -1\n"
    "    time                2000000001  2.000000001 s\n"
    "    callchain           [KERNEL]\n"
    "                        0xffffffff81000010\n"
    "0x000000c0                    SAMPLE            16    user    cpu-clock\n"
    "    ip                  0x1000\n"
    "    !! short-body: content runs past its end\n"
    "  0008  00 10 00 00 00 00 00 00                           |........|\n"
    "0x000000d0                    type 60           12\n"
    "    data                61626364\n"
    "0x000000dc  !! truncated-record: a record runs past the end; 8 bytes skipped\n"
    "\n"
    "5 records; 2 places are damaged, marked !!\n";

/* The COMM and the sample. */
static const char beside_bytes[] =
    "0x00000060       1.500000000  COMM              40    exec    cpu-clock\n"
    "  0000  03 00 00 00              type                3  COMM\n"
    "  0004  00 20                    misc                0x2000  exec\n"
    "  0006  28 00                    size                40\n"
    "  0008  0a 00 00 00              pid                 10\n"
    "  000c  0b 00 00 00              tid                 11\n"
    "  0010  73 ff 00 00 00 00 00 00  comm                \"s\\xff\"\n"
    "                                 sample_id\n"
    "  0018  0a 00 00 00                pid                 10\n"
    "  001c  0b 00 00 00                tid                 11\n"
    "  0020  00 2f 68 59 00 00 00 00    time                1500000000  1.500000000 s\n"
    "0x00000088       2.000000001  SAMPLE            56    kernel  cpu-clock\n"
    "  0000  09 00 00 00              type                9  SAMPLE\n"
    "  0004  01 00                    misc                0x1  kernel\n"
    "  0006  38 00                    size                56\n"
    "  0008  10 00 00 81 ff ff ff ff  ip                  0xffffffff81000010\n"
    "  0010  0a 00 00 00              pid                 10\n"
    "  0014  ff ff ff ff              tid                 -1\n"
    "  0018  01 94 35 77 00 00 00 00  time                2000000001  2.000000001 s\n"
    "  0020  02 00 00 00 00 00 00 00  nr                  2\n"
    "  0028  80 ff ff ff ff ff ff ff  callchain           [KERNEL]\n"
    "  0030  10 00 00 81 ff ff ff ff                      0xffffffff81000010\n"
    "0x000000c0";

/* Emits all of `s`; *outcome and *errors only when that worked. */
static perfile_status emit_all(perfile_stream *s, const char *form, uint32_t flags,
                               perfile_sink *sink, int *outcome, uint64_t *errors)
{
    perfile_emitter *e;
    const perfile_record *r;
    perfile_emit_options options = {.size = sizeof options, .flags = flags};
    perfile_status st = perfile_emitter_open(form, s, sink, &options, &e, NULL);
    if (st != PERFILE_OK)
        return st;
    st = perfile_emitter_begin(e, NULL);
    while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        st = perfile_emitter_put(e, r, NULL);
    if (st == PERFILE_END)
        st = perfile_emitter_finish(e, NULL);
    *outcome = pf_emitter_outcome(e);
    *errors = pf_emitter_errors(e);
    perfile_emitter_close(e);
    return st;
}

static perfile_status emit_bytes(perfile_bytes capture, const char *form, uint32_t flags,
                                 perfile_sink *sink, int *outcome, uint64_t *errors)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_open_options options = {
        .size = sizeof options, .deliver = PERFILE_DELIVER_DAMAGE, .as_stored = true};
    perfile_status st = perfile_source_memory(capture, "capture", &source, NULL);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &options, &s, NULL);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    st = emit_all(s, form, flags, sink, outcome, errors);
    perfile_stream_close(s);
    return st;
}

/* What `form` makes of the capture; released by free(). */
static char *emitted(const char *form, uint32_t flags, size_t *len)
{
    builder b = {.swap = PF_NATIVE_BIG};
    build_capture(&b);
    perfile_sink *sink;
    int outcome;
    uint64_t errors;
    void *bytes;
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(emit_bytes(built(&b), form, flags, sink, &outcome, &errors), PERFILE_OK);
    assert_int_equal(outcome, PF_EMIT_DAMAGED);
    assert_int_equal(errors, 2);
    assert_int_equal(perfile_sink_finish(sink, NULL), PERFILE_OK);
    assert_int_equal(sink_copy(sink, &bytes, len), PERFILE_OK);
    perfile_sink_close(sink);
    build_clear(&b);
    char *text = malloc(*len + 1);
    assert_non_null(text);
    memcpy(text, bytes, *len);
    text[*len] = 0;
    free(bytes);
    return text;
}

static void json_lines(void **state)
{
    size_t len;
    char *got = emitted("jsonl", 0, &len);
    (void)state;
    assert_string_equal(got, jsonl);
    free(got);
}

static void text_is_readable(void **state)
{
    size_t len;
    char *got = emitted("text", 0, &len);
    (void)state;
    assert_string_equal(got, plain);
    free(got);
}

static void hex_shows_every_byte(void **state)
{
    size_t len;
    char *got = emitted("text", PERFILE_EMIT_HEX, &len);
    (void)state;
    assert_non_null(strstr(got, beside_bytes));
    free(got);
}

static void cbor_is_a_sequence(void **state)
{
    size_t len;
    char *got = emitted("cbor", 0, &len);
    (void)state;
    perfile_bytes header =
        hex("bf 646b696e64 66686561646572 66666f726d6174 6470697065 "
            "6776657273696f6e 02 66656e6469616e 666c6974746c65 6473697a65 10 ff");
    perfile_bytes end = hex("bf 646b696e64 63656e64 677265636f726473 05 666572726f7273 02 ff");
    assert_true(len > header.len + end.len);
    assert_memory_equal(got, header.ptr, header.len);
    assert_memory_equal(got + len - end.len, end.ptr, end.len);
    free((void *)(uintptr_t)header.ptr);
    free((void *)(uintptr_t)end.ptr);
    free(got);
}

static void fails_as(const char *form, uint32_t damage, const char *wanted)
{
    perfile_sink *sink;
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(pf_emit_failure(form, sink, damage, 0, NULL), PERFILE_OK);
    perfile_bytes got = perfile_sink_bytes(sink);
    assert_int_equal(got.len, strlen(wanted));
    assert_memory_equal(got.ptr, wanted, got.len);
    perfile_sink_close(sink);
}

static void failures_are_told(void **state)
{
    (void)state;
    fails_as("jsonl", PERFILE_DAMAGE_BAD_MAGIC,
             "{\"kind\":\"error\",\"offset\":\"0\",\"error\":\"bad-magic\"}\n"
             "{\"kind\":\"end\",\"records\":0,\"errors\":1}\n");
    fails_as("text", PERFILE_DAMAGE_TRUNCATED_HEADER,
             "0x00000000  !! truncated-header: fewer bytes are left than a header needs\n");
}

static void forms_have_names(void **state)
{
    (void)state;
    assert_string_equal(perfile_emit_format(0), "text");
    size_t n = 0;
    perfile_format format;
    while (perfile_format_at(false, n, &format, sizeof format)) {
        assert_string_equal(format.name, perfile_emit_format(n));
        assert_non_null(format.doc);
        assert_false(format.binary || format.directory || format.folder);
        n++;
    }
    assert_int_equal(n, 4);
    assert_null(perfile_emit_format(n));
    assert_int_equal(pf_emit_failure("csv", NULL, 0, 0, NULL), PERFILE_E_USAGE);
    perfile_emitter_close(NULL);
}

static void memory_that_is_refused_is_told(void **state)
{
    static const struct {
        const char *form;
        uint32_t flags;
    } forms[] = {{"text", 0}, {"text", PERFILE_EMIT_HEX}, {"jsonl", 0}, {"cbor", 0}};
    builder b = {.swap = PF_NATIVE_BIG};
    (void)state;
    build_capture(&b);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        for (uint64_t n = 1;; n++) {
            perfile_sink *sink;
            int outcome;
            uint64_t errors;
            assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
            pf_alloc_count = 0;
            pf_alloc_fail_at = n;
            perfile_status st =
                emit_bytes(built(&b), forms[i].form, forms[i].flags, sink, &outcome, &errors);
            bool refused = pf_alloc_count >= n;
            pf_alloc_fail_at = 0;
            perfile_sink_close(sink);
            if (!refused) {
                assert_int_equal(st, PERFILE_OK);
                assert_true(n > 5);
                break;
            }
            assert_int_equal(st, PERFILE_E_NOMEM);
        }
    }
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_lines),
        cmocka_unit_test(text_is_readable),
        cmocka_unit_test(hex_shows_every_byte),
        cmocka_unit_test(cbor_is_a_sequence),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(forms_have_names),
        cmocka_unit_test(memory_that_is_refused_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
