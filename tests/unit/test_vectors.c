/* Records by hand: bytes, and what they say.  Each was checked against the documents of the format;
 * the types that perf writes rarely are here because laws cannot see a wrong order of fields. */
#include "testing.h"

#include "builder.h"
#include "perfile/perfile.h"
#include "perfile/emit.h"
#include "perfile/sink.h"

typedef struct vector {
    uint32_t type;
    uint16_t misc;
    const char *body; /* hex, little-endian */
    const char *json; /* the body in JSON lines */
} vector;

static const vector vectors[] = {
    {PERFILE_RECORD_LOST, 0, "0700000000000000 2a00000000000000", "{\"id\":\"7\",\"lost\":\"42\"}"},
    {PERFILE_RECORD_EXIT, 0, "01000000 02000000 03000000 04000000 0500000000000000",
     "{\"pid\":1,\"ppid\":2,\"tid\":3,\"ptid\":4,\"time\":\"5\"}"},
    {PERFILE_RECORD_THROTTLE, 0, "0100000000000000 0200000000000000 0300000000000000",
     "{\"time\":\"1\",\"id\":\"2\",\"stream_id\":\"3\"}"},
    {PERFILE_RECORD_MMAP2, PERFILE_MISC_MMAP_BUILD_ID,
     "01000000 02000000 0010000000000000 0020000000000000 0030000000000000 04000000 deadbeef"
     "00000000000000000000000000000000 05000000 02000000 2f61000000000000",
     "{\"pid\":1,\"tid\":2,\"addr\":\"0x1000\",\"len\":\"0x2000\",\"pgoff\":\"0x3000\","
     "\"build_id_size\":4,\"build_id\":\"deadbeef\",\"prot\":5,\"flags\":2,\"filename\":\"/a\"}"},
    /* the first kernels with MMAP2: the name stands where prot and flags came later */
    {PERFILE_RECORD_MMAP2, 0,
     "01000000 02000000 0010000000000000 0020000000000000 0030000000000000 08000000 01000000"
     "0900000000000000 0a00000000000000 2f62696e2f736800",
     "{\"pid\":1,\"tid\":2,\"addr\":\"0x1000\",\"len\":\"0x2000\",\"pgoff\":\"0x3000\",\"maj\":8,"
     "\"min\":1,\"ino\":\"9\",\"ino_generation\":\"10\",\"filename\":\"/bin/sh\"}"},
    {PERFILE_RECORD_AUX, 0, "0001000000000000 0002000000000000 0100000000000000",
     "{\"aux_offset\":\"0x100\",\"aux_size\":\"0x200\",\"flags\":\"0x1\"}"},
    {PERFILE_RECORD_SWITCH_CPU_WIDE, PERFILE_MISC_SWITCH_OUT, "01000000 ffffffff",
     "{\"next_prev_pid\":1,\"next_prev_tid\":4294967295}"},
    {PERFILE_RECORD_NAMESPACES, 0,
     "01000000 02000000 0200000000000000 0300000000000000 0400000000000000 0300000000000000"
     "0500000000000000",
     "{\"pid\":1,\"tid\":2,\"link_info\":[{\"dev\":\"3\",\"ino\":\"4\"},{\"dev\":\"3\",\"ino\":"
     "\"5\"}]}"},
    {PERFILE_RECORD_KSYMBOL, 0, "001000c0ffffffff 40000000 0100 0000 6270665f78000000",
     "{\"addr\":\"0xffffffffc0001000\",\"len\":64,\"ksym_type\":1,\"flags\":0,\"name\":\"bpf_x\"}"},
    {PERFILE_RECORD_BPF_EVENT, 0, "0100 0000 07000000 0123456789abcdef",
     "{\"type\":1,\"flags\":0,\"id\":7,\"tag\":\"0123456789abcdef\"}"},
    {PERFILE_RECORD_CGROUP, 0, "0900000000000000 2f61000000000000",
     "{\"id\":\"9\",\"path\":\"/a\"}"},
    {PERFILE_RECORD_TEXT_POKE, 0, "0010000000000000 0100 0200 90ebfe 0000000000",
     "{\"addr\":\"0x1000\",\"old_len\":1,\"new_len\":2,\"bytes\":\"90ebfe\"}"},
    {PERFILE_RECORD_CALLCHAIN_DEFERRED, 0,
     "4200000000000000 0200000000000000 0010000000000000 0020000000000000",
     "{\"cookie\":\"0x42\",\"ips\":[\"0x1000\",\"0x2000\"]}"},
    {PERFILE_RECORD_ID_INDEX, 0,
     "0100000000000000 0100000000000000 0200000000000000 0300000000000000 ffffffffffffffff",
     "{\"entries\":[{\"id\":\"1\",\"idx\":\"2\",\"cpu\":\"3\",\"tid\":\"18446744073709551615\"}]}"},
    /* with the second table: its members are those of the entries */
    {PERFILE_RECORD_ID_INDEX, 0,
     "0200000000000000 0100000000000000 0200000000000000 0300000000000000 0400000000000000"
     "0500000000000000 0600000000000000 0700000000000000 0800000000000000"
     "0900000000000000 0a00000000000000 0b00000000000000 0c00000000000000",
     "{\"entries\":[{\"id\":\"1\",\"idx\":\"2\",\"cpu\":\"3\",\"tid\":\"4\",\"machine_pid\":\"9\","
     "\"vcpu\":\"10\"},{\"id\":\"5\",\"idx\":\"6\",\"cpu\":\"7\",\"tid\":\"8\",\"machine_pid\":"
     "\"11\",\"vcpu\":\"12\"}]}"},
    {PERFILE_RECORD_AUXTRACE_ERROR, 0,
     "01000000 02000000 03000000 04000000 05000000 01000000 0010000000000000 0600000000000000"
     "6f6f707300000000",
     "{\"type\":1,\"code\":2,\"cpu\":3,\"pid\":4,\"tid\":5,\"fmt\":1,\"ip\":\"0x1000\",\"time\":"
     "\"6\",\"msg\":\"oops\"}"},
    {PERFILE_RECORD_CPU_MAP, 0, "0000 0200 0100 ffff", "{\"type\":0,\"cpu\":[1,65535]}"},
    {PERFILE_RECORD_CPU_MAP, 0, "0100 0100 0400 05000000 000000000000",
     "{\"type\":1,\"long_size\":4,\"mask\":[\"0x5\"]}"},
    {PERFILE_RECORD_CPU_MAP, 0, "0100 0100 0800 00000000 0300000000000000",
     "{\"type\":1,\"long_size\":8,\"mask\":[\"0x3\"]}"},
    {PERFILE_RECORD_CPU_MAP, 0, "0200 01 00 0200 0700",
     "{\"type\":2,\"any_cpu\":1,\"start_cpu\":2,\"end_cpu\":7}"},
    {PERFILE_RECORD_STAT_CONFIG, 0, "0100000000000000 0200000000000000 0100000000000000",
     "{\"data\":[{\"tag\":\"2\",\"val\":\"1\"}]}"},
    {PERFILE_RECORD_EVENT_UPDATE, 0, "0100000000000000 0700000000000000 000000000000f03f",
     "{\"type\":\"1\",\"id\":\"7\",\"scale\":\"0x3ff0000000000000\"}"},
    {PERFILE_RECORD_EVENT_UPDATE, 0, "0300000000000000 0700000000000000 0200 00 00 0000 0100 0000",
     "{\"type\":\"3\",\"id\":\"7\",\"cpus\":{\"type\":2,\"any_cpu\":0,\"start_cpu\":0,\"end_cpu\":"
     "1}}"},
    {PERFILE_RECORD_TIME_CONV, 0, "1f00000000000000 0200000000000000 0300000000000000",
     "{\"time_shift\":\"31\",\"time_mult\":\"2\",\"time_zero\":\"0x3\"}"},
    {PERFILE_RECORD_SCHEDSTAT_CPU, 0, "0100000000000000 02000000 1100 0000 01020304",
     "{\"timestamp\":\"1\",\"cpu\":2,\"version\":17,\"data\":\"01020304\"}"},
    {PERFILE_RECORD_SCHEDSTAT_DOMAIN, 0, "0100000000000000 02000000 0f00 0300 01020304",
     "{\"timestamp\":\"1\",\"cpu\":2,\"version\":15,\"domain\":3,\"data\":\"01020304\"}"},
    {PERFILE_RECORD_SIMPLEPERF_DEBUG, 0, "0100000000000000 6869000000000000",
     "{\"data\":\"01000000000000006869000000000000\"}"},
};

static char *dumped(const vector *v)
{
    builder b = {.swap = PF_NATIVE_BIG};
    perfile_source *source;
    perfile_stream *s;
    perfile_sink *sink;
    perfile_emitter *e;
    const perfile_record *r;
    perfile_bytes out;
    perfile_open_options options = {.size = sizeof options, .as_stored = true};
    build_bytes(&b, "PERFILE2", 8);
    build_u64(&b, 16);
    perfile_bytes body = hex(v->body);
    build_record(&b, v->type, v->misc, body);
    assert_int_equal(perfile_source_memory(built(&b), "vector", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_emitter_open("jsonl", s, sink, NULL, &e, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_emitter_put(e, r, NULL), PERFILE_OK);
    assert_int_equal(perfile_emitter_flush(e, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_flush(sink, NULL), PERFILE_OK);
    out = perfile_sink_bytes(sink);
    char *line = malloc(out.len + 1);
    assert_non_null(line);
    memcpy(line, out.ptr, out.len);
    line[out.len] = 0;
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    perfile_stream_close(s);
    build_clear(&b);
    free((void *)(uintptr_t)body.ptr);
    return line;
}

static void records_say_what_their_bytes_mean(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        char *line = dumped(&vectors[i]);
        char *body = strstr(line, "\"body\":");
        assert_non_null(body);
        body += strlen("\"body\":");
        body[strlen(body) - 2] = 0; /* the brace of the line, and its end */
        assert_string_equal(body, vectors[i].json);
        free(line);
    }
}

/* simpleperf's UNWINDING_RESULT in its three forms: behind stack_end, behind dyn_size (unwinding
 * failed) or behind a call chain it may end. */
static void unwinding_may_end_without_a_chain(void **state)
{
    static const char body[] = "0100000000000000 0200000000000000 0300000000000000"
                               "0400000000000000 0500000000000000 0600000000000000"
                               "0200000000000000 0300000000000000 0700000000000000"
                               "0800000000000000 0800000000000000 1111111111111111"
                               "0400000000000000"
                               "0100000000000000 0900000000000000 0a00000000000000";
    static const struct {
        size_t bytes;
        bool decodes, has_regs, has_chain;
    } forms[] = {
        {48, true, false, false}, {104, true, true, false}, {128, true, true, true},
        {96, false, true, false}, {112, false, true, true}, {120, false, true, true},
    };
    perfile_bytes whole = hex(body);
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        perfile_sp_unwinding_result v;
        const perfile_record r = {.header = whole.ptr,
                                  .body = {whole.ptr, forms[i].bytes},
                                  .type = PERFILE_RECORD_SIMPLEPERF_UNWINDING_RESULT,
                                  .flags = PF_NATIVE_BIG ? PERFILE_REC_SWAPPED : 0};
        perfile_status st = perfile_sp_unwinding_result_decode(&r, &v, sizeof v, NULL);
        assert_int_equal(st == PERFILE_OK, forms[i].decodes);
        if (st != PERFILE_OK)
            continue;
        assert_int_equal(v.has_regs, forms[i].has_regs);
        assert_int_equal(v.has_chain, forms[i].has_chain);
        if (forms[i].has_regs)
            assert_int_equal(v.dyn_size, 4);
        if (forms[i].has_chain)
            assert_int_equal(perfile_word(&v.ips, 0), 9);
    }
    free((void *)(uintptr_t)whole.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unwinding_may_end_without_a_chain),
        cmocka_unit_test(records_say_what_their_bytes_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
