/* The emitter "script" of the library: exact lines of captures that are built here, by flags and
 * fields, by one thread and by several. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "exporting.h"

enum { TEXT = 1 << 16 };

/* Prints `n` captures; the status of the first thing that fails. */
static perfile_status print(const builder *captures, size_t n, const perfile_emit_options *options,
                            char text[TEXT], perfile_error *err)
{
    perfile_sink *sink;
    perfile_emitter *e = NULL;
    const perfile_record *r;
    assert_int_equal(perfile_sink_memory("out", &sink, err), PERFILE_OK);
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        perfile_emit_options how = *options;
        perfile_stream *s;
        assert_int_equal(open_capture(built(&captures[i]), NULL, &s, &how.model), PERFILE_OK);
        st = e ? perfile_emitter_continue(e, s, how.model, err)
               : perfile_emitter_open("script", s, sink, &how, &e, err);
        while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, err)) == PERFILE_OK)
            st = perfile_emitter_put(e, r, err);
        if (st == PERFILE_END)
            st = perfile_emitter_continue(e, NULL, NULL, err);
        else if (e)
            (void)!perfile_emitter_continue(e, NULL, NULL, NULL);
        perfile_stream_close(s);
    }
    if (st == PERFILE_OK)
        st = perfile_emitter_finish(e, err);
    const perfile_bytes out = perfile_sink_bytes(sink);
    snprintf(text, TEXT, "%.*s", (int)out.len, (const char *)out.ptr);
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    return st;
}

/* A process with a file, the kernel, and two samples. */
static void build_work(builder *b)
{
    begin(b, CHAIN_TYPE, 1000, 0);
    put_mmap(b, PERFILE_NO_PID, KERNEL_TEXT, 0x1000000, KERNEL_TEXT, "[kernel.kallsyms]_text", 0);
    put_comm(b, 7, "work", true, 1000);
    put_mmap(b, 7, 0x400000, 0x10000, 0x2000, "/bin/work", 1000);
    put_sample(b, KERNEL, 7, 2500001234, KERNEL_TEXT + 16,
               CHAIN((uint64_t)-128, KERNEL_TEXT + 16, (uint64_t)-512, 0x400100, 0x400200, 0));
    put_fork(b, 8, 7, 2600000000);
    put_sample(b, USER, 9, 3000000000, 0x10, CHAIN((uint64_t)-512, 0x10));
}

static void assert_prints(const perfile_emit_options *options, const char *wanted)
{
    static char text[TEXT];
    perfile_error err;
    builder b = {0};
    perfile_emit_options how = *options;
    build_work(&b);
    for (how.threads = 1; how.threads <= 3; how.threads++) {
        assert_int_equal(print(&b, 1, &how, text, &err), PERFILE_OK);
        assert_string_equal(text, wanted);
    }
    build_clear(&b);
}

static void lines_are_those_of_perf(void **state)
{
    (void)state;
    assert_prints(&(perfile_emit_options){.size = sizeof(perfile_emit_options)},
                  "work     7     2.500001:         10 cpu-clock:HG: \n"
                  "\tffffffff81000010 [unknown] ([kernel.kallsyms])\n"
                  "\t            2100 [unknown] (/bin/work)\n"
                  "\t            2200 [unknown] (/bin/work)\n"
                  "\t               0 [unknown] ([unknown])\n"
                  "\n"
                  ":9     9     3.000000:         10 cpu-clock:HG: \n"
                  "\t              10 [unknown] ([unknown])\n"
                  "\n");
}

static void flags_and_fields_decide(void **state)
{
    (void)state;
    perfile_emit_options how = {.size = sizeof how,
                                .flags = PERFILE_SCRIPT_NO_CHAINS | PERFILE_SCRIPT_NANOSECONDS |
                                         PERFILE_SCRIPT_TASKS,
                                .fields = "-period,-event,-symoff +misc"};
    assert_prints(&how,
                  "            work     7 E         0.000001000: PERF_RECORD_COMM exec: work:7/7\n"
                  "            work     7 K         2.500001234:  ffffffff81000010 [unknown] "
                  "([kernel.kallsyms])\n"
                  "            work     8           2.600000000: PERF_RECORD_FORK(8:8):(7:7)\n"
                  "              :9     9 U         3.000000000:                10 [unknown] "
                  "([unknown])\n");
    how = (perfile_emit_options){.size = sizeof how, .fields = "tid,ip -sym", .max_stack = 2};
    assert_prints(&how, "    7 \n\tffffffff81000010\n\t            2100\n\n    9 \n"
                        "\t              10\n\n");
    how = (perfile_emit_options){
        .size = sizeof how, .fields = "time -ip,-sym", .flags = PERFILE_SCRIPT_DELTATIME};
    assert_prints(&how, "    0.000000: \n    0.499998: \n");
    how.flags = PERFILE_SCRIPT_RELTIME;
    assert_prints(&how, "    0.000000: \n    0.499998: \n");
}

static void captures_follow_each_other(void **state)
{
    (void)state;
    static char text[TEXT];
    perfile_error err;
    builder b[2];
    memset(b, 0, sizeof b);
    build_work(&b[0]);
    build_work(&b[1]);
    const perfile_emit_options how = {.size = sizeof how, .fields = "comm,tid -ip,-sym"};
    assert_int_equal(print(b, 2, &how, text, &err), PERFILE_OK);
    const char *one = "            work     7 \n              :9     9 \n";
    char twice[256];
    snprintf(twice, sizeof twice, "%s%s", one, one);
    assert_string_equal(text, twice);
    build_clear(&b[0]);
    build_clear(&b[1]);
}

static void what_cannot_be_printed_is_an_error(void **state)
{
    (void)state;
    static char text[TEXT];
    static const char *const wrong[] = {"no-such-field", "comm,+ip", "bad:comm",    "comm,addr",
                                        "hw:trace",      "srcline",  "symoff,comm", "hw:"};
    builder b = {0};
    build_work(&b);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        perfile_error err = {0};
        const perfile_emit_options how = {.size = sizeof how, .fields = wrong[i]};
        assert_int_equal(print(&b, 1, &how, text, &err), PERFILE_E_USAGE);
        assert_string_equal(text, "");
        assert_string_equal(err.where, "fields");
    }
    perfile_error err = {0};
    const perfile_emit_options both = {.size = sizeof both,
                                       .flags = PERFILE_SCRIPT_DELTATIME | PERFILE_SCRIPT_RELTIME};
    assert_int_equal(print(&b, 1, &both, text, &err), PERFILE_E_USAGE);
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_perf),
        cmocka_unit_test(flags_and_fields_decide),
        cmocka_unit_test(captures_follow_each_other),
        cmocka_unit_test(what_cannot_be_printed_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
