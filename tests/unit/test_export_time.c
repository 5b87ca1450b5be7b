/* Exports that show time: what is made of unsorted samples, switches, other records and counters of
 * captures that are built here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "exporting.h"

enum { TEXT = 1 << 17 };

static const char *const forms[] = {"firefox", "chrome", "perfetto", "speedscope"};

static bool has_form(const char *form)
{
    bool has = false;
    for (size_t i = 0; perfile_export_format(i); i++)
        has |= strcmp(perfile_export_format(i), form) == 0;
    return has;
}

static void put_switch(builder *b, uint32_t pid, uint32_t tid, bool in, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_SWITCH, in ? 0 : PERFILE_MISC_SWITCH_OUT);
    end(b, start, pid, tid, time);
}

static void put_lost(builder *b, uint32_t pid, uint64_t lost, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_LOST, 0);
    build_u64(b, 1);
    build_u64(b, lost);
    end(b, start, pid, pid, time);
}

static void put_exit(builder *b, uint32_t pid, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_EXIT, 0);
    build_u32(b, pid);
    build_u32(b, 1);
    build_u32(b, pid);
    build_u32(b, 1);
    build_u64(b, time);
    end(b, start, pid, pid, time);
}

/* An export, which must have all of these texts, the last one being NULL. */
static void assert_has(const char *form, const builder *b, size_t n,
                       const perfile_export_options *options, const char *const *wanted)
{
    static char text[TEXT];
    perfile_export_summary sum;
    assert_int_equal(export_to(form, b, n, options, NULL, text, sizeof text, &sum), PERFILE_OK);
    for (; *wanted; wanted++) {
        if (!strstr(text, *wanted))
            fail_msg("%s has no %s: %s", form, *wanted, text);
    }
}

/* Two threads, not in order of time, with switches, a loss and an end. */
static void build_work(builder *b)
{
    begin(b, CHAIN_TYPE, 0, FREQ);
    put_comm(b, 5, "work", false, 0);
    put_mmap(b, 5, 0x400000, 0x1000, 0x2000, "/bin/work", 0);
    put_sample(b, USER, 5, 3000000, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010, 0x400020));
    put_sample(b, USER, 5, 1000000, 0x400030, CHAIN(PF_CONTEXT_USER, 0x400030));
    put_switch(b, 5, 5, false, 2500000);
    put_switch(b, 5, 5, true, 1500000);
    put_switch(b, 5, 5, true, 2700000);
    put_lost(b, 5, 7, 2600000);
    put_fork(b, 6, 5, 2000000);
    put_sample(b, KERNEL, 6, 2100000, 9, NULL, 0);
    put_exit(b, 5, 4000000);
}

static void threads_stand_over_time(void **state)
{
    (void)state;
    BUILDER b = {0};
    build_work(&b);
    const char *const firefox[] = {
        "\"preprocessedProfileVersion\":57", "\"name\":\"work\",\"path\":\"/bin/work\"",
        /* The caller is one byte in front of where it goes on. */
        "\"samples\":{\"length\":2,\"weightType\":\"samples\",\"stack\":[0,2],\"time\":[0,2]",
        "\"stackTable\":{\"length\":3,\"frame\":[0,1,2],\"prefix\":[null,null,1]}",
        "\"address\":[8240,8223,8208]",
        "{\"type\":\"on-cpu\"},{\"type\":\"on-cpu\"},{\"type\":\"LOST\",\"id\":1,\"lost\":7}",
        "\"startTime\":[0.5,1.7,1.6,3],\"endTime\":[1.5,3,null,null],\"phase\":[1,1,0,0]",
        "\"tid\":6,\"processStartupTime\":1,\"processShutdownTime\":null,\"registerTime\":1",
        "\"registerTime\":0,\"unregisterTime\":3", NULL};
    assert_has("firefox", &b, 1, NULL, firefox);
    const char *const chrome[] = {
        "{\"ph\":\"M\",\"pid\":5,\"tid\":5,\"name\":\"process_name\",\"args\":{\"name\":\"work\"}}",
        "{\"ph\":\"X\",\"pid\":5,\"tid\":5,\"ts\":500.000,\"dur\":1000.000,",
        "{\"ph\":\"X\",\"pid\":5,\"tid\":5,\"ts\":1700.000,\"dur\":1300.000,",
        "\"ts\":0.000,\"cat\":\"sample\",\"name\":",
        "\"name\":\"LOST\",\"args\":{\"type\":\"LOST\",\"id\":1,\"lost\":7}",
        NULL};
    assert_has("chrome", &b, 1, NULL, chrome);
}

/* speedscope: largest first, and all threads; time off the processor, unless samples are asked for.
 */
static void time_off_the_processor_is_empty(void **state)
{
    (void)state;
    BUILDER b = {0};
    static char text[TEXT];
    perfile_export_summary sum;
    build_work(&b);
    const char *const time[] = {
        "\"name\":\"made\"",
        "\"name\":\"all cpu-clock\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":30,",
        "\"name\":\"work 5/5 cpu-clock\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":"
        "200020,\n\"samples\":[[0],[],[0,0]],\n\"weights\":[10,200000,10]}",
        "\"name\":\"work 6/6 "
        "cpu-clock\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":10,",
        NULL};
    assert_has("speedscope", &b, 1, NULL, time);
    const perfile_export_options counted = {.size = sizeof counted,
                                            .flags = PERFILE_EXPORT_SAMPLES};
    const char *const samples[] = {"\"name\":\"all cpu-clock\",\"unit\":\"none\"",
                                   "\"samples\":[[0],[0,0]],\n\"weights\":[1,1]", NULL};
    assert_has("speedscope", &b, 1, &counted, samples);
    assert_int_equal(export_to("speedscope", &b, 1, &counted, NULL, text, sizeof text, &sum),
                     PERFILE_OK);
    const char *all = strstr(text, "\"name\":\"all"), *large = strstr(text, "\"name\":\"work 5/5 "),
               *small = strstr(text, "\"name\":\"work 6/6 ");
    assert_true(all && all < large && large < small);
    const perfile_export_options both = {.size = sizeof both,
                                         .flags = PERFILE_EXPORT_SAMPLES | PERFILE_EXPORT_PERIODS};
    assert_int_equal(export_to("speedscope", &b, 1, &both, NULL, text, sizeof text, &sum),
                     PERFILE_E_USAGE);
}

/* An event of a capture with several of them. */
static void put_event(builder *b, uint32_t type, uint64_t config, uint64_t id)
{
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, &(build_attr_plan){.type = type,
                                     .size = 64,
                                     .config = config,
                                     .period = 1000,
                                     .sample_type = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP |
                                                    PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                                                    PERFILE_SAMPLE_PERIOD,
                                     .flags = SAMPLE_ID_ALL | FREQ});
    build_u64(b, id);
    build_end(b, start);
}

static void put_of_event(builder *b, uint64_t id, uint64_t time, uint64_t ip)
{
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, USER);
    build_u64(b, id);
    build_u64(b, ip);
    build_u32(b, 5);
    build_u32(b, 5);
    build_u64(b, time);
    build_u64(b, 10 * id);
    build_end(b, start);
}

/* An event gets the name that the tool gave it. */
static void put_event_name(builder *b, uint64_t id, const char *name)
{
    enum { NAME = 2 };
    size_t start = build_begin(b, PERFILE_RECORD_EVENT_UPDATE, 0);
    build_u64(b, NAME);
    build_u64(b, id);
    build_text(b, name);
    build_end(b, start);
}

/* firefox: samples are of the clock with most of them, on all kinds of processors; those of other
 * events are markers with their stack, on the same track, unless tracks are asked for by event. */
static void samples_are_of_one_event(void **state)
{
    (void)state;
    BUILDER b = {0};
    enum { HARDWARE = 0, SOFTWARE = 1, PAGE_FAULTS = 2, INSTRUCTIONS = 1, CYCLES = 0 };
    build_u64(&b, 0x32454c4946524550);
    build_u64(&b, 16);
    put_event(&b, SOFTWARE, PAGE_FAULTS, 1);
    put_event(&b, HARDWARE, INSTRUCTIONS, 2);
    put_event(&b, HARDWARE, UINT64_C(4) << 32 | CYCLES, 3);
    put_event(&b, HARDWARE, UINT64_C(8) << 32 | CYCLES, 4);
    for (unsigned i = 0; i < 9; i++)
        put_of_event(&b, 1 + i % 4, 1000000 * (i + 1), 0x1000 + i % 4);
    const char *const joined[] = {
        "\"interval\":1,",
        "\"symbolicated\":true",
        "\"samples\":{\"length\":4,\"weightType\":\"samples\",\"stack\":[0,1,0,1],\"time\":[2,3,6,"
        "7]",
        "{\"type\":\"page-faults\",\"period\":10,\"cause\":{\"time\":0,\"stack\":2}}",
        "{\"type\":\"instructions\",\"period\":20,\"cause\":{\"time\":1,\"stack\":3}}",
        "\"startTime\":[0,1,4,5,8],\"endTime\":[null,null,null,null,null],\"phase\":[0,0,0,0,0]",
        "{\"name\":\"page-faults\",\"display\":",
        NULL};
    assert_has("firefox", &b, 1, NULL, joined);
    const perfile_export_options apart = {
        .size = sizeof apart, .per = {PERFILE_PER_PID, PERFILE_PER_TID, PERFILE_PER_EVENT}};
    const char *const tracks[] = {"(page-faults)\"", "(instructions)\"",
                                  "\"samples\":{\"length\":3,",
                                  "\"stack\":[0,0,0],\"time\":[0,4,8]", NULL};
    assert_has("firefox", &b, 1, &apart, tracks);
}

/* Cycles of the PMUs of two kinds of processors are one event likewise. */
static void cycles_of_all_processors_are_samples(void **state)
{
    (void)state;
    BUILDER b = {0};
    enum { CORE = 10, ATOM = 11, CYCLES = 0x3c, MISSES = 0x412e };
    build_u64(&b, 0x32454c4946524550);
    build_u64(&b, 16);
    put_event(&b, CORE, CYCLES, 1);
    put_event(&b, CORE, MISSES, 2);
    put_event(&b, ATOM, CYCLES, 3);
    put_event_name(&b, 1, "cpu_core/cycles/");
    put_event_name(&b, 2, "cpu_core/cache-misses/");
    put_event_name(&b, 3, "cpu_atom/cpu-cycles,period=7/u");
    for (unsigned i = 0; i < 4; i++)
        put_of_event(&b, 1 + (i * i + 1) % 3, 1000000 * (i + 1), 0x1000 + i); /* 2, 3, 3, 2 */
    put_of_event(&b, 1, 5000000, 0x2000);
    const char *const joined[] = {
        "\"samples\":{\"length\":3,\"weightType\":\"samples\",\"stack\":[0,1,2],\"time\":[1,2,4]",
        "{\"type\":\"cpu_core/cache-misses/\",\"period\":20,\"cause\"", NULL};
    assert_has("firefox", &b, 1, NULL, joined);
}

static void names_do_not_break_json(void **state)
{
    (void)state;
    BUILDER b = {0};
    char *longest = malloc(60001);
    assert_non_null(longest);
    memset(longest, 'n', 60000);
    longest[60000] = '\0';
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_comm(&b, 5, "a;b\n\"<\\\xff\x1b", false, 10);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, longest, 20);
    put_sample(&b, USER, 5, UINT64_MAX - 1, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
    put_sample(&b, USER, 5, 100, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
    put_lost(&b, 5, UINT64_MAX, 30);
    const char *const wanted[] = {"a:b?\\\"\\u003c\\\\??", "\"lost\":18446744073709551615", NULL};
    assert_has("firefox", &b, 1, NULL, wanted);
    assert_has("chrome", &b, 1, NULL, wanted);
    free(longest);
}

/* Without times everything stands behind each other. */
static void samples_without_time_are_kept(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID, 1, 0);
    for (unsigned i = 0; i < 3; i++) {
        size_t start = build_begin(&b, PERFILE_RECORD_SAMPLE, USER);
        build_u64(&b, 9);
        build_u32(&b, 5);
        build_u32(&b, 5);
        build_end(&b, start);
    }
    const char *const firefox[] = {"\"time\":[0,1,2]", NULL};
    assert_has("firefox", &b, 1, NULL, firefox);
    const char *const chrome[] = {"\"ts\":2000.000", NULL};
    assert_has("chrome", &b, 1, NULL, chrome);
}

/* A thread that changes its name while it is on a processor has one stretch. */
static void stretches_do_not_overlap(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_comm(&b, 5, "one", false, 0);
    put_comm(&b, 5, "two", true, 2000);
    put_switch(&b, 5, 5, true, 1000);
    put_switch(&b, 5, 5, false, 3000);
    put_sample(&b, USER, 5, 1500, 9, NULL, 0);
    put_sample(&b, USER, 5, 2500, 9, NULL, 0);
    put_switch(&b, 5, 5, true, 4000);
    put_exit(&b, 5, 5000);
    const char *const wanted[] = {"\"ts\":0.000,\"dur\":2.000,", "\"ts\":3.000,\"dur\":1.000,",
                                  "\"comm\":\"one\"", "\"comm\":\"two\"", NULL};
    assert_has("chrome", &b, 1, NULL, wanted);
}

static void captures_add_up(void **state)
{
    (void)state;
    builder b[2] = {{.swap = false}, {.swap = true}};
    build_work(&b[0]);
    build_work(&b[1]);
    const char *const firefox[] = {"\"samples\":{\"length\":4,", "\"time\":[0,0,2,2]", NULL};
    assert_has("firefox", b, 2, NULL, firefox);
    static char text[TEXT];
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        perfile_export_summary sum;
        if (!has_form(forms[i]))
            continue;
        assert_int_equal(export_to(forms[i], b, 2, NULL, NULL, text, sizeof text, &sum),
                         PERFILE_OK);
        assert_int_equal(sum.samples, 6);
    }
    build_clear(&b[0]);
    build_clear(&b[1]);
}

static void a_limit_is_kept(void **state)
{
    (void)state;
    BUILDER b = {0};
    static char text[TEXT];
    build_work(&b);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        unsigned kept = 0;
        if (!has_form(forms[i]))
            continue;
        for (uint64_t bytes = 1000; bytes < UINT64_C(1) << 24; bytes *= 2) {
            const perfile_limits limits = {.size = sizeof limits, .profile_bytes = bytes};
            perfile_export_summary sum = {0};
            perfile_status st = export_to(forms[i], &b, 1, NULL, &limits, text, sizeof text, &sum);
            assert_true(st == PERFILE_OK || st == PERFILE_E_LIMIT);
            assert_true(sum.bytes <= bytes);
            kept += st == PERFILE_OK;
        }
        assert_in_range(kept, 1, 12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_stand_over_time),
        cmocka_unit_test(time_off_the_processor_is_empty),
        cmocka_unit_test(samples_are_of_one_event),
        cmocka_unit_test(cycles_of_all_processors_are_samples),
        cmocka_unit_test(names_do_not_break_json),
        cmocka_unit_test(samples_without_time_are_kept),
        cmocka_unit_test(stretches_do_not_overlap),
        cmocka_unit_test(captures_add_up),
        cmocka_unit_test(a_limit_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
