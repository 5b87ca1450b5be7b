/* Features of merged captures: each rule of format/merging.def, in both byte orders. */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "builder.h"
#include "core/session.h"
#include "perfile/perfile.h"
#include "stage/merge.h"

enum { INPUTS = 3, EVENTS = 4, ATTR = 136 };

/* Inputs, of which all is made up but their sessions, and what was told. */
typedef struct merging {
    pf_merge x;
    pf_merge_input in[INPUTS];
    pf_merge_event events[INPUTS][EVENTS];
    bool swap;
    char told[4096];
    perfile_error err;
    uint8_t scratch[1 << 16];
} merging;

static merging m;

static void on_note(void *user, const perfile_merge_note *note)
{
    size_t len = strlen(m.told);
    (void)user;
    snprintf(m.told + len, sizeof m.told - len, "%" PRIu32 " %" PRIu32 " %d %" PRIu64 " %s\n",
             note->kind, note->number, (int)note->input, note->count, note->text);
}

static perfile_session *new_session(bool swap)
{
    perfile_session *s;
    assert_int_equal(pf_session_new(swap, NULL, &s, NULL), PERFILE_OK);
    return s;
}

static void begin(uint32_t n, bool swap)
{
    static const char *const names[INPUTS] = {"a.data", "b.data", "c.data"};
    memset(&m, 0, sizeof m);
    m.swap = swap;
    m.x.inputs = m.in;
    m.x.n_inputs = n;
    m.x.options.note = on_note;
    m.x.base.session = new_session(swap);
    for (uint32_t k = 0; k < n; k++) {
        m.in[k].session = new_session(swap);
        m.in[k].name = names[k];
        m.in[k].at = k;
        m.in[k].events = m.events[k];
        m.in[k].plain = true;
    }
}

static void end(void)
{
    for (uint32_t k = 0; k < m.x.n_inputs; k++)
        pf_session_free((perfile_session *)(uintptr_t)m.in[k].session);
    pf_session_free(m.x.base.session);
}

static perfile_session *session_of(uint32_t k)
{
    return (perfile_session *)(uintptr_t)m.in[k].session;
}

static void add(uint32_t k, uint32_t number, perfile_bytes payload)
{
    const perfile_feature f = {.number = number,
                               .flags = m.swap ? PERFILE_REC_SWAPPED : 0,
                               .size = payload.len,
                               .payload = payload};
    assert_int_equal(pf_session_add_feature(session_of(k), &f, false, NULL), PERFILE_OK);
}

static perfile_bytes text(const char *s)
{
    return (perfile_bytes){(const uint8_t *)s, strlen(s)};
}

static perfile_encode_options order(void)
{
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .big_endian = m.swap != (bool)PF_NATIVE_BIG};
}

/* Gives input `k` a feature made of a struct. */
#define ADD(k, NUMBER, id, ...)                                                                    \
    do {                                                                                           \
        const perfile_##id v_ = {__VA_ARGS__};                                                     \
        const perfile_encode_options how_ = order();                                               \
        size_t len_;                                                                               \
        assert_int_equal(perfile_##id##_encode(&v_, sizeof v_, &how_, m.scratch, sizeof m.scratch, \
                                               &len_, &m.err),                                     \
                         PERFILE_OK);                                                              \
        add(k, PERFILE_FEATURE_##NUMBER, (perfile_bytes){m.scratch, len_});                        \
    } while (0)

static const perfile_feature *out(uint32_t number)
{
    return perfile_session_feature(m.x.base.session, number);
}

/* The struct `v` of a feature of the output. */
#define OUT(NUMBER, id)                                                                            \
    perfile_##id v;                                                                                \
    assert_non_null(out(PERFILE_FEATURE_##NUMBER));                                                \
    assert_int_equal(perfile_##id##_decode(out(PERFILE_FEATURE_##NUMBER), &v, sizeof v, &m.err),   \
                     PERFILE_OK)

static void join(void)
{
    assert_int_equal(pf_merge_features(&m.x, &m.err), PERFILE_OK);
}

static void is_text(perfile_bytes b, const char *wanted)
{
    assert_int_equal(b.len, strlen(wanted));
    assert_memory_equal(b.ptr, wanted, b.len);
}

static void says(const char *wanted)
{
    if (!strstr(m.told, wanted))
        print_error("no '%s' in:\n%s", wanted, m.told);
    assert_non_null(strstr(m.told, wanted));
}

static void is_as_in(uint32_t k, uint32_t number)
{
    const perfile_feature *f = perfile_session_feature(m.in[k].session, number);
    assert_non_null(f);
    assert_non_null(out(number));
    assert_int_equal(out(number)->size, f->payload.len);
    assert_int_equal(out(number)->payload.len, f->payload.len);
    assert_int_equal(out(number)->origin, PERFILE_ORIGIN_CONTAINER);
    assert_int_equal((out(number)->flags & PERFILE_REC_SWAPPED) != 0, m.swap);
    assert_memory_equal(out(number)->payload.ptr, f->payload.ptr, f->payload.len);
}

static void test_same(bool swap)
{
    enum { UNKNOWN = 200, OTHER = 201 };
    begin(3, swap);
    ADD(0, OSRELEASE, osrelease, .string = text("6.1"));
    ADD(2, OSRELEASE, osrelease, .string = text("6.1"));
    ADD(0, ARCH, arch, .string = text("x86_64"));
    ADD(1, ARCH, arch, .string = text("aarch64"));
    ADD(2, ARCH, arch, .string = text("riscv64"));
    ADD(0, CPUID, cpuid, .string = text("one"));
    ADD(2, CPUID, cpuid, .string = text("other"));
    ADD(1, TOTAL_MEM, total_mem, .total_mem = 5);
    add(0, UNKNOWN, text("abc"));
    add(1, UNKNOWN, text("abc"));
    add(0, OTHER, text("abc"));
    add(1, OTHER, text("abd"));
    ADD(0, DIR_FORMAT, dir_format, .version = 1);
    ADD(1, COMPRESSED, compression, .type = 1);
    join();
    is_as_in(0, PERFILE_FEATURE_OSRELEASE);
    is_as_in(1, PERFILE_FEATURE_TOTAL_MEM);
    is_as_in(0, UNKNOWN);
    assert_int_equal(perfile_session_n_features(m.x.base.session), 3);
    assert_string_equal(
        m.told, "1 6 -1 0 feature ARCH: in b.data, c.data it is not that of a.data: left out\n"
                "1 9 2 0 feature CPUID: in c.data it is not that of a.data: left out\n"
                "1 201 1 0 feature 201: in b.data it is not that of a.data: left out\n");
    end();
}

static void test_unwind(bool swap)
{
    begin(2, swap);
    add(0, PERFILE_FEATURE_DEBUG_UNWIND, text("\x0a\x00"));
    add(1, PERFILE_FEATURE_DEBUG_UNWIND, text("\x0a\x00"));
    add(0, PERFILE_FEATURE_DEBUG_UNWIND_FILE, text("one"));
    add(1, PERFILE_FEATURE_DEBUG_UNWIND_FILE, text("other"));
    join();
    assert_int_equal(perfile_session_n_features(m.x.base.session), 0);
    says("feature DEBUG_UNWIND: nothing without DEBUG_UNWIND_FILE");
    says("feature DEBUG_UNWIND_FILE: in b.data it is not that of a.data");
    end();
    begin(2, swap);
    add(0, PERFILE_FEATURE_DEBUG_UNWIND, text("\x0a\x00"));
    add(0, PERFILE_FEATURE_DEBUG_UNWIND_FILE, text("one"));
    join();
    is_as_in(0, PERFILE_FEATURE_DEBUG_UNWIND);
    is_as_in(0, PERFILE_FEATURE_DEBUG_UNWIND_FILE);
    end();
}

static void test_hosts(bool swap)
{
    begin(3, swap);
    ADD(0, HOSTNAME, hostname, .string = text("ant"));
    ADD(1, HOSTNAME, hostname, .string = text("bee"));
    ADD(2, HOSTNAME, hostname, .string = text("ant"));
    join();
    OUT(HOSTNAME, hostname);
    is_text(v.string, "ant,bee");
    assert_string_equal(perfile_session_fact(m.x.base.session, PERFILE_FACT_HOSTNAME), "ant,bee");
    assert_string_equal(m.told,
                        "0 3 -1 0 feature HOSTNAME: made of those of a.data, b.data, c.data\n");
    end();

    /* The same name, and other bytes behind its NUL. */
    begin(2, swap);
    BUILDER padded = {.swap = m.swap};
    build_u32(&padded, 64);
    build_bytes(&padded, "ant\0x", 5);
    build_zeros(&padded, 64 - 5);
    ADD(0, HOSTNAME, hostname, .string = text("ant"));
    add(1, PERFILE_FEATURE_HOSTNAME, built(&padded));
    join();
    is_as_in(0, PERFILE_FEATURE_HOSTNAME);
    assert_string_equal(m.told, "");
    end();
}

static void add_topology(uint32_t k)
{
    BUILDER b = {.swap = m.swap};
    build_u32(&b, 0);
    build_u32(&b, 0);
    for (unsigned cpu = 0; cpu < 4; cpu++)
        build_u32(&b, 1); /* two processors */
    add(k, PERFILE_FEATURE_CPU_TOPOLOGY, built(&b));
}

static void test_processors(bool swap)
{
    begin(2, swap);
    ADD(0, NRCPUS, nrcpus, .nr_cpus_avail = 2, .nr_cpus_online = 2);
    ADD(1, NRCPUS, nrcpus, .nr_cpus_avail = 2, .nr_cpus_online = 2);
    add_topology(0);
    add_topology(1);
    join();
    is_as_in(0, PERFILE_FEATURE_NRCPUS);
    is_as_in(0, PERFILE_FEATURE_CPU_TOPOLOGY);
    assert_string_equal(m.told, "");
    end();

    begin(2, swap);
    ADD(0, NRCPUS, nrcpus, .nr_cpus_avail = 2, .nr_cpus_online = 2);
    ADD(1, NRCPUS, nrcpus, .nr_cpus_avail = 8, .nr_cpus_online = 1);
    add_topology(0);
    join();
    OUT(NRCPUS, nrcpus);
    assert_int_equal(v.nr_cpus_avail, 8);
    assert_int_equal(v.nr_cpus_online, 2);
    assert_null(out(PERFILE_FEATURE_CPU_TOPOLOGY));
    says("0 7 -1 0 feature NRCPUS: made of those of a.data, b.data");
    says("1 13 0 0 feature CPU_TOPOLOGY: a.data has it of 2 processors, feature NRCPUS says 8 now");
    end();
}

static void test_flags(bool swap)
{
    begin(2, swap);
    add(1, PERFILE_FEATURE_BRANCH_STACK, text(""));
    add(0, PERFILE_FEATURE_STAT, text(""));
    add(1, PERFILE_FEATURE_STAT, text(""));
    join();
    is_as_in(1, PERFILE_FEATURE_BRANCH_STACK);
    is_as_in(0, PERFILE_FEATURE_STAT);
    end();
}

static void test_span(bool swap)
{
    begin(3, swap);
    ADD(1, SAMPLE_TIME, sample_time, .first_sample_time = 1, .last_sample_time = 2);
    m.in[0].n_samples = m.in[1].n_samples = 5;
    m.in[0].first_sample = 1000;
    m.in[0].last_sample = 2000;
    m.in[1].first_sample = 1100;
    m.in[1].last_sample = 1900;
    m.in[1].offset = (uint64_t)0 - 500;
    m.in[2].last_sample = 9999; /* of no sample */
    join();
    OUT(SAMPLE_TIME, sample_time);
    assert_int_equal(v.first_sample_time, 600);
    assert_int_equal(v.last_sample_time, 2000);
    end();

    begin(2, swap);
    m.in[0].n_samples = 5;
    join();
    assert_null(out(PERFILE_FEATURE_SAMPLE_TIME));
    end();

    begin(2, swap);
    ADD(0, SAMPLE_TIME, sample_time, .first_sample_time = 0, .last_sample_time = 0);
    join();
    is_as_in(0, PERFILE_FEATURE_SAMPLE_TIME);
    end();
}
#define CLOCK(k, time)                                                                             \
    ADD(k, CLOCK_DATA, clock_data, .version = 1, .clockid = 1, .wall_clock_ns = 7000,              \
        .clockid_time_ns = (time));                                                                \
    ADD(k, CLOCKID, clockid, .clockid_res_ns = (k) + 1)

static void test_clocks(bool swap)
{
    begin(3, swap);
    m.x.clock_of = 1;
    CLOCK(0, 10);
    CLOCK(1, 20);
    join();
    is_as_in(1, PERFILE_FEATURE_CLOCK_DATA);
    is_as_in(1, PERFILE_FEATURE_CLOCKID);
    says("0 29 1 0 feature CLOCK_DATA: that of b.data, whose clock the output has");
    end();

    /* Another input's, moved into the clock of the output. */
    begin(3, swap);
    m.in[1].host = 1;
    m.in[1].offset = 400;
    m.in[2].offset = 500;
    CLOCK(1, 10);
    CLOCK(2, 20);
    join();
    OUT(CLOCK_DATA, clock_data);
    assert_int_equal(v.clockid_time_ns, 520);
    assert_int_equal(v.wall_clock_ns, 7000);
    is_as_in(2, PERFILE_FEATURE_CLOCKID);
    end();

    begin(2, swap);
    m.in[1].host = 1;
    CLOCK(1, 10);
    join();
    assert_null(out(PERFILE_FEATURE_CLOCK_DATA));
    end();
}

/* Events. */

static void add_event(perfile_session *s, uint32_t type, uint64_t config, uint64_t id)
{
    BUILDER b = {.swap = m.swap};
    BUILDER ids = {.swap = m.swap};
    build_u32(&b, type);
    build_u32(&b, ATTR);
    build_u64(&b, config);
    build_zeros(&b, ATTR - 16);
    build_u64(&ids, id);
    const pf_attr_fact fact = {.attr = built(&b), .ids = {built(&ids).ptr, id ? 8 : 0}};
    assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
    assert_int_equal(pf_session_settle(s, NULL), PERFILE_OK);
}

/* An event of input `k` that is event `to` of the output, where it is added unless it is there. */
static void event(uint32_t k, uint32_t type, uint64_t config, uint64_t id, uint32_t to)
{
    add_event(session_of(k), type, config, id);
    m.events[k][m.in[k].n_events++].out = to;
    if (to >= perfile_session_n_events(m.x.base.session))
        add_event(m.x.base.session, type, config, id ? id + 100 * k : 0);
}

static void settle(uint32_t k)
{
    assert_int_equal(pf_session_settle(session_of(k), NULL), PERFILE_OK);
}

static void describe(uint32_t k, const char *one, uint64_t id)
{
    const perfile_event_desc_entry e = {
        .attr = {.size = ATTR, .config = id}, .name = text(one), .ids = perfile_words_u64(&id, 1)};
    ADD(k, EVENT_DESC, event_desc, .attr_size = ATTR,
        .events = perfile_event_desc_entry_list(&e, 1, sizeof e));
    settle(k);
}

static const char *called(uint32_t i)
{
    return perfile_session_event(m.x.base.session, i)->name;
}

static void test_event_desc(bool swap)
{
    begin(2, swap);
    event(0, PERFILE_TYPE_HARDWARE, 0, 1, 0);
    event(1, PERFILE_TYPE_HARDWARE, 1, 1, 1);
    event(1, PERFILE_TYPE_HARDWARE, 0, 2, 0); /* joined */
    describe(1, "work", 1);
    join();
    assert_string_equal(called(0), "cycles");
    assert_string_equal(called(1), "work");
    OUT(EVENT_DESC, event_desc);
    assert_int_equal(v.nr_events, 2);
    assert_int_equal(v.attr_size, ATTR);
    perfile_event_desc_entry e;
    assert_int_equal(perfile_event_desc_entry_next(&v.events, &e, sizeof e), PERFILE_OK);
    is_text(e.name, "cycles");
    assert_int_equal(perfile_event_desc_entry_next(&v.events, &e, sizeof e), PERFILE_OK);
    is_text(e.name, "work");
    assert_int_equal(e.attr.config, 1);
    assert_int_equal(e.ids.n, 1);
    assert_int_equal(perfile_word(&e.ids, 0), 101);
    end();

    /* Nobody has one, and nobody needs one. */
    begin(2, swap);
    event(0, PERFILE_TYPE_HARDWARE, 0, 1, 0);
    event(1, PERFILE_TYPE_HARDWARE, 1, 1, 1);
    join();
    assert_int_equal(perfile_session_n_features(m.x.base.session), 0);
    assert_string_equal(called(1), "instructions");
    end();
}

static void add_meta(uint32_t k, const char *type_info)
{
    const perfile_meta_entry entries[] = {
        {.key = text("system_wide"), .value = text("true")},
        {.key = text("event_type_info"), .value = text(type_info)},
        {.key = text(k ? "b" : "a"), .value = text("1")}};
    ADD(k, META_INFO, sp_meta_info,
        .entries = perfile_meta_entry_list(entries, 3, sizeof entries[0]));
}

static void test_meta(bool swap)
{
    begin(2, swap);
    event(0, PERFILE_TYPE_RAW, 17, 1, 0);
    event(1, PERFILE_TYPE_RAW, 18, 1, 1);
    add_meta(0, "raw-one,4,17");
    add_meta(1, "raw-two,4,18");
    settle(0);
    settle(1);
    join();
    OUT(META_INFO, sp_meta_info);
    static const char *const wanted[] = {
        "system_wide", "true", "event_type_info", "raw-one,4,17", "a", "1", "b", "1"};
    perfile_meta_entry e;
    for (size_t i = 0; i < 8; i += 2) {
        assert_int_equal(perfile_meta_entry_next(&v.entries, &e, sizeof e), PERFILE_OK);
        is_text(e.key, wanted[i]);
        is_text(e.value, wanted[i + 1]);
    }
    assert_int_equal(perfile_meta_entry_next(&v.entries, &e, sizeof e), PERFILE_END);
    says("1 129 1 1 feature META_INFO: 1 entry of b.data say");
    /* The name that it loses is in EVENT_DESC. */
    assert_non_null(out(PERFILE_FEATURE_EVENT_DESC));
    assert_string_equal(called(1),
                        m.in[1].session ? perfile_session_event(m.in[1].session, 0)->name : "");
    assert_non_null(strstr(called(1), "raw-two"));
    end();
}

static void test_event_types(bool swap)
{
    begin(2, swap);
    for (uint32_t k = 0; k < 2; k++) {
        assert_int_equal(pf_session_add_event_type(session_of(k), 7, text("seven"), false, NULL),
                         PERFILE_OK);
        assert_int_equal(
            pf_session_add_event_type(session_of(k), 8, text(k ? "eight" : "acht"), false, NULL),
            PERFILE_OK);
    }
    join();
    static const char *const wanted[] = {"seven", "acht", "eight"};
    assert_int_equal(perfile_session_n_event_types(m.x.base.session), 3);
    for (uint32_t i = 0; i < 3; i++)
        is_text(perfile_session_event_type(m.x.base.session, i)->name, wanted[i]);
    end();
}

static void group(uint32_t k, const perfile_group_desc_entry *groups, size_t n)
{
    ADD(k, GROUP_DESC, group_desc,
        .groups = perfile_group_desc_entry_list(groups, n, sizeof groups[0]));
}

static void test_groups(bool swap)
{
    const perfile_group_desc_entry pair = {.name = text("pair"), .leader_idx = 0, .nr_members = 2};
    const perfile_group_desc_entry late = {.name = text("late"), .leader_idx = 1, .nr_members = 2};
    const perfile_group_desc_entry far = {.name = text("far"), .leader_idx = 2, .nr_members = 2};
    const perfile_group_desc_entry none = {.name = text("none"), .leader_idx = 0};
    perfile_group_desc_entry e;

    begin(3, swap);
    for (uint32_t i = 0; i < 3; i++)
        event(0, PERFILE_TYPE_HARDWARE, i, 0, i);
    for (uint32_t i = 0; i < 2; i++)
        event(1, PERFILE_TYPE_HARDWARE, i, 0, i); /* a part */
    for (uint32_t i = 0; i < 3; i++)
        event(2, PERFILE_TYPE_SOFTWARE, i, 0, 3 + i);
    group(0, &late, 1);
    group(1, &pair, 1); /* has a member of the other */
    const perfile_group_desc_entry last[] = {late, far, none};
    group(2, last, 3);
    join();
    OUT(GROUP_DESC, group_desc);
    assert_int_equal(v.nr, 2);
    assert_int_equal(perfile_group_desc_entry_next(&v.groups, &e, sizeof e), PERFILE_OK);
    is_text(e.name, "pair");
    assert_int_equal(e.leader_idx, 0);
    assert_int_equal(perfile_group_desc_entry_next(&v.groups, &e, sizeof e), PERFILE_OK);
    is_text(e.name, "late");
    assert_int_equal(e.leader_idx, 4);
    assert_int_equal(e.nr_members, 2);
    assert_int_equal(perfile_session_event(m.x.base.session, 5)->group_leader, 4);
    says("1 17 0 1 feature GROUP_DESC: 1 entry of a.data");
    says("1 17 2 2 feature GROUP_DESC: 2 entries of c.data");
    end();

    /* A group whose members are not side by side; the same group twice. */
    begin(2, swap);
    event(0, PERFILE_TYPE_HARDWARE, 0, 0, 0);
    event(0, PERFILE_TYPE_HARDWARE, 1, 0, 1);
    event(1, PERFILE_TYPE_HARDWARE, 1, 0, 1);
    event(1, PERFILE_TYPE_HARDWARE, 0, 0, 0);
    group(0, &pair, 1);
    group(1, &pair, 1);
    join();
    assert_int_equal(out(PERFILE_FEATURE_GROUP_DESC)->size, 4 + 68 + 8);
    says("1 17 1 1 feature GROUP_DESC: 1 entry of b.data");
    end();
    begin(2, swap);
    for (uint32_t k = 0; k < 2; k++) {
        event(k, PERFILE_TYPE_HARDWARE, 0, 0, 0);
        event(k, PERFILE_TYPE_HARDWARE, 1, 0, 1);
        group(k, &pair, 1);
    }
    join();
    is_as_in(0, PERFILE_FEATURE_GROUP_DESC);
    assert_null(strstr(m.told, "left out"));
    end();
}

/* Lists. */

static void pmu(uint32_t k, uint32_t type, const char *one)
{
    const perfile_pmu_mapping pmus[] = {{.type = 4, .name = text("cpu")},
                                        {.type = type, .name = text(one)}};
    ADD(k, PMU_MAPPINGS, pmu_mappings, .pmus = perfile_pmu_mapping_list(pmus, 2, sizeof pmus[0]));
}

static void test_pmus(bool swap)
{
    begin(3, swap);
    pmu(0, 9, "uncore");
    pmu(1, 10, "uncore");
    pmu(2, 9, "uncore");
    join();
    OUT(PMU_MAPPINGS, pmu_mappings);
    assert_int_equal(v.nr, 3);
    assert_string_equal(perfile_session_pmu_name(m.x.base.session, 10), "uncore");
    assert_string_equal(perfile_session_pmu_name(m.x.base.session, 4), "cpu");
    end();

    for (int drop = 0; drop < 2; drop++) {
        begin(3, swap);
        pmu(0, 9, "uncore");
        pmu(1, 9, "msr");
        pmu(2, 9, "msr");
        m.x.options.flags = drop ? PERFILE_MERGE_DROP_CONFLICTING : 0;
        perfile_status st = pf_merge_features(&m.x, &m.err);
        assert_int_equal(st, drop ? PERFILE_OK : PERFILE_E_USAGE);
        if (drop) {
            is_as_in(0, PERFILE_FEATURE_PMU_MAPPINGS);
            says("2 16 1 1 PMU 9 is 'uncore' in a.data and 'msr' in b.data");
            says("2 16 2 1 PMU 9 is 'uncore' in a.data and 'msr' in c.data");
        } else {
            assert_non_null(
                strstr(m.err.message, "PMU 9 is 'uncore' in a.data and 'msr' in b.data"));
        }
        end();
    }
}

static perfile_build_id_entry file(const char *name, const char *id, uint16_t misc)
{
    perfile_build_id_entry e = {.misc = misc};
    e.id = (perfile_header_build_id){
        .has_pid = true, .pid = -1, .build_id = text(id), .no_size = true, .filename = text(name)};
    return e;
}

#define FILES(k, ...)                                                                              \
    do {                                                                                           \
        const perfile_build_id_entry files_[] = {__VA_ARGS__};                                     \
        ADD(k, BUILD_ID, build_ids,                                                                \
            .build_ids = perfile_build_id_entry_list(files_, sizeof files_ / sizeof files_[0],     \
                                                     sizeof files_[0]));                           \
    } while (0)
#define ID_1 "abcdefghijklmnopqrst"
#define ID_2 "ABCDEFGHIJKLMNOPQRST"

static void learn_file(uint32_t k, const char *name)
{
    const perfile_header_build_id id = {
        .has_pid = true, .pid = -1, .build_id = text(ID_2), .filename = text(name)};
    perfile_encode_options how = order();
    size_t len;
    how.misc = 2;
    assert_int_equal(perfile_header_build_id_encode(&id, sizeof id, &how, m.scratch,
                                                    sizeof m.scratch, &len, &m.err),
                     PERFILE_OK);
    const perfile_record r = {.type = PERFILE_RECORD_HEADER_BUILD_ID,
                              .misc = 2,
                              .flags = m.swap ? PERFILE_REC_SWAPPED : 0,
                              .header = m.scratch,
                              .body = {m.scratch + 8, len - 8},
                              .session = m.in[k].session};
    assert_int_equal(pf_session_learn(session_of(k), &r, NULL), PERFILE_OK);
}

static void test_build_ids(bool swap)
{
    begin(3, swap);
    FILES(0, file("/bin/sh", ID_1, 2), file("/bin/ls", ID_1, 2), file("/bin/ls", ID_2, 2));
    FILES(1, file("/bin/sh", ID_1, 2), file("/bin/sh", ID_2, 3), file("/bin/ls", ID_2, 2));
    FILES(2, file("/bin/sh", ID_2, 2));
    learn_file(2, "/bin/cat");
    learn_file(2, "/bin/ls");
    assert_int_equal(perfile_session_n_build_ids(m.in[2].session), 3);
    join();
    static const struct {
        const char *name, *id;
    } wanted[] = {{"/bin/sh", ID_1},
                  {"/bin/ls", ID_1},
                  {"/bin/ls", ID_2},
                  {"/bin/sh", ID_2},
                  {"/bin/cat", ID_2}};
    assert_int_equal(perfile_session_n_build_ids(m.x.base.session), 5);
    for (uint32_t i = 0; i < 5; i++) {
        const perfile_build_id *id = perfile_session_build_id(m.x.base.session, i);
        is_text(id->filename, wanted[i].name);
        is_text(id->id, wanted[i].id);
        assert_int_equal(id->pid, -1);
    }
    /* As stored, those of the first are in front. */
    const perfile_feature *first =
        perfile_session_feature(m.in[0].session, PERFILE_FEATURE_BUILD_ID);
    assert_memory_equal(out(PERFILE_FEATURE_BUILD_ID)->payload.ptr, first->payload.ptr,
                        first->payload.len);
    says("1 2 2 1 feature BUILD_ID: 1 entry of c.data say");
    end();

    /* Of records only. */
    begin(2, swap);
    learn_file(1, "/bin/cat");
    join();
    assert_int_equal(perfile_session_n_build_ids(m.x.base.session), 1);
    assert_int_equal(perfile_session_build_id(m.x.base.session, 0)->misc, 2);
    end();
    begin(2, swap);
    FILES(0, file("/bin/sh", ID_1, 2));
    FILES(1, file("/bin/sh", ID_1, 2));
    join();
    is_as_in(0, PERFILE_FEATURE_BUILD_ID);
    assert_string_equal(m.told, "");
    end();
}

static void add_bpf(uint32_t k, uint32_t id, const char *data)
{
    BUILDER b = {.swap = m.swap};
    build_u32(&b, 5);
    build_u32(&b, id);
    build_u64(&b, 0);
    const perfile_bpf_prog_info_entry e = {.info = built(&b), .data = text(data)};
    const perfile_bpf_btf_entry btf = {.id = id, .data = text(data)};
    ADD(k, BPF_PROG_INFO, bpf_prog_info,
        .infos = perfile_bpf_prog_info_entry_list(&e, 1, sizeof e));
    ADD(k, BPF_BTF, bpf_btf, .btfs = perfile_bpf_btf_entry_list(&btf, 1, sizeof btf));
}

static void test_bpf(bool swap)
{
    begin(3, swap);
    add_bpf(0, 7, "seven");
    add_bpf(1, 8, "eight");
    add_bpf(2, 7, "other");
    join();
    OUT(BPF_PROG_INFO, bpf_prog_info);
    assert_int_equal(v.nr, 2);
    assert_int_equal(out(PERFILE_FEATURE_BPF_BTF)->size, 4 + 2 * (8 + 5));
    says("1 25 2 1 feature BPF_PROG_INFO: 1 entry of c.data");
    says("1 26 2 1 feature BPF_BTF: 1 entry of c.data");
    end();
}

static void raw(uint32_t k, uint32_t number, uint32_t value)
{
    BUILDER b = {.swap = m.swap};
    for (uint32_t i = 0; i < 2; i++) {
        /* FILE2: a message of 8 bytes; INIT_MAP: a record of 12. */
        if (number == PERFILE_FEATURE_FILE2) {
            build_u32(&b, 8);
            build_u32(&b, 0);
        } else {
            build_u32(&b, PERFILE_RECORD_COMM);
            build_u16(&b, 0);
            build_u16(&b, 12);
        }
        build_u32(&b, i * value);
    }
    add(k, number, built(&b));
}

static void test_concatenated(bool swap)
{
    begin(3, swap);
    for (uint32_t k = 0; k < 3; k++) {
        raw(k, PERFILE_FEATURE_FILE2, k + 1);
        raw(k, PERFILE_FEATURE_INIT_MAP, k + 1);
        const perfile_file_entry f = {
            .path = text(k == 1 ? "/b" : "/a"), .type = 5, .min_vaddr = 5};
        ADD(k, FILE, sp_file, .files = perfile_file_entry_list(&f, 1, sizeof f));
    }
    m.in[1].plain = false;
    size_t one = perfile_session_feature(m.in[0].session, PERFILE_FEATURE_FILE)->payload.len;
    join();
    assert_int_equal(out(PERFILE_FEATURE_FILE2)->size, 12 * 4);
    assert_int_equal(out(PERFILE_FEATURE_INIT_MAP)->size, 12 * 3);
    assert_int_equal(out(PERFILE_FEATURE_FILE)->size, 2 * one);
    says("1 134 1 0 feature INIT_MAP: the records of b.data get other ids");
    end();
}

static void test_damaged(bool swap)
{
    const perfile_feature gone = {
        .number = PERFILE_FEATURE_ARCH, .size = 99, .damage = PERFILE_DAMAGE_OUT_OF_BOUNDS};
    perfile_feature elsewhere = gone;
    elsewhere.number = PERFILE_FEATURE_CPUDESC;
    elsewhere.damage = 0;
    begin(2, swap);
    assert_int_equal(pf_session_add_feature(session_of(0), &gone, false, NULL), PERFILE_OK);
    assert_int_equal(pf_session_add_feature(session_of(1), &elsewhere, false, NULL), PERFILE_OK);
    ADD(1, ARCH, arch, .string = text("x86_64"));
    add(0, PERFILE_FEATURE_PMU_MAPPINGS, text("\xff\xff\xff\xffno list"));
    pmu(1, 9, "uncore");
    add(0, PERFILE_FEATURE_HOSTNAME, text("\xff\xff\xff\xffno name"));
    ADD(1, HOSTNAME, hostname, .string = text("bee"));
    add(0, PERFILE_FEATURE_NRCPUS, text("abc"));
    ADD(1, NRCPUS, nrcpus, .nr_cpus_avail = 2, .nr_cpus_online = 2);
    add(0, PERFILE_FEATURE_GROUP_DESC, text("\xff\xff\xff\xffno list"));
    add(0, PERFILE_FEATURE_META_INFO, text("no end"));
    join();
    is_as_in(1, PERFILE_FEATURE_ARCH);
    is_as_in(1, PERFILE_FEATURE_PMU_MAPPINGS);
    is_as_in(1, PERFILE_FEATURE_HOSTNAME);
    is_as_in(1, PERFILE_FEATURE_NRCPUS);
    is_as_in(0, PERFILE_FEATURE_META_INFO); /* the only one goes as it is */
    assert_null(out(PERFILE_FEATURE_CPUDESC));
    assert_null(out(PERFILE_FEATURE_GROUP_DESC));
    says("1 6 0 0 feature ARCH: a.data has it damaged: left out");
    says("1 8 1 0 feature CPUDESC: b.data has it damaged: left out");
    says("1 16 0 0 feature PMU_MAPPINGS: a.data has it damaged: left out");
    says("1 3 0 0 feature HOSTNAME: a.data has it damaged: left out");
    says("1 7 0 0 feature NRCPUS: a.data has it damaged: left out");
    says("1 17 0 0 feature GROUP_DESC: a.data has it damaged: left out");
    end();
}

#define IN_BOTH_ORDERS(name)                                                                       \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        test_##name(false);                                                                        \
        test_##name(true);                                                                         \
    }
IN_BOTH_ORDERS(same)
IN_BOTH_ORDERS(unwind)
IN_BOTH_ORDERS(hosts)
IN_BOTH_ORDERS(processors)
IN_BOTH_ORDERS(flags)
IN_BOTH_ORDERS(span)
IN_BOTH_ORDERS(clocks)
IN_BOTH_ORDERS(event_desc)
IN_BOTH_ORDERS(meta)
IN_BOTH_ORDERS(event_types)
IN_BOTH_ORDERS(groups)
IN_BOTH_ORDERS(pmus)
IN_BOTH_ORDERS(build_ids)
IN_BOTH_ORDERS(bpf)
IN_BOTH_ORDERS(concatenated)
IN_BOTH_ORDERS(damaged)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same),        cmocka_unit_test(unwind),     cmocka_unit_test(hosts),
        cmocka_unit_test(processors),  cmocka_unit_test(flags),      cmocka_unit_test(span),
        cmocka_unit_test(clocks),      cmocka_unit_test(event_desc), cmocka_unit_test(meta),
        cmocka_unit_test(event_types), cmocka_unit_test(groups),     cmocka_unit_test(pmus),
        cmocka_unit_test(build_ids),   cmocka_unit_test(bpf),        cmocka_unit_test(concatenated),
        cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
