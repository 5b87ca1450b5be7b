/* Features of merged captures by the rules of format/merging.def, in both byte orders: those of a
 * single value. */
#include "merging.h"

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
        m.told,
        "1 6 -1 0 feature ARCH: in b.data, c.data it differs from that of a.data: left out\n"
        "1 9 2 0 feature CPUID: in c.data it differs from that of a.data: left out\n"
        "1 201 1 0 feature 201: in b.data it differs from that of a.data: left out\n");
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
    says("feature DEBUG_UNWIND: useless without DEBUG_UNWIND_FILE");
    says("feature DEBUG_UNWIND_FILE: in b.data it differs from that of a.data");
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
                        "0 3 -1 0 feature HOSTNAME: joined from those of a.data, b.data, c.data\n");
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
    says("0 7 -1 0 feature NRCPUS: joined from those of a.data, b.data");
    says("1 13 0 0 feature CPU_TOPOLOGY: a.data has it for 2 CPUs, NRCPUS of the output has "
         "8");
    end();
}

static void add_node(uint32_t k, uint64_t mem_total, uint64_t mem_free)
{
    const perfile_numa_node node = {
        .mem_total = mem_total, .mem_free = mem_free, .cpus = text("0-3")};
    ADD(k, NUMA_TOPOLOGY, numa_topology, .nodes = perfile_numa_node_list(&node, 1, sizeof node));
}

static void test_nodes(bool swap)
{
    begin(2, swap);
    add_node(0, 100, 50);
    add_node(1, 100, 40);
    join();
    is_as_in(0, PERFILE_FEATURE_NUMA_TOPOLOGY);
    says("0 14 -1 0 feature NUMA_TOPOLOGY: free memory taken from a.data");
    end();
    begin(2, swap);
    add_node(0, 100, 50);
    add_node(1, 200, 50);
    join();
    assert_null(out(PERFILE_FEATURE_NUMA_TOPOLOGY));
    says("1 14 1 0 feature NUMA_TOPOLOGY: in b.data it differs from that of a.data: left out");
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

    /* Samples that say no time. */
    begin(2, swap);
    ADD(0, SAMPLE_TIME, sample_time, .first_sample_time = 7, .last_sample_time = 9);
    m.in[0].n_samples = m.in[1].n_samples = 5;
    m.in[0].first_sample = 7;
    m.in[0].last_sample = 9;
    m.in[1].first_sample = UINT64_MAX;
    m.in[1].offset = 100;
    join();
    is_as_in(0, PERFILE_FEATURE_SAMPLE_TIME);
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
    m.x.clock_input = 1;
    CLOCK(0, 10);
    CLOCK(1, 20);
    join();
    is_as_in(1, PERFILE_FEATURE_CLOCK_DATA);
    is_as_in(1, PERFILE_FEATURE_CLOCKID);
    says("0 29 1 0 feature CLOCK_DATA: taken from b.data, which has the clock of the output");
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
    const perfile_pmu_mapping pmu = {.type = 9, .name = text("uncore")};
    ADD(1, PMU_MAPPINGS, pmu_mappings, .pmus = perfile_pmu_mapping_list(&pmu, 1, sizeof pmu));
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
    says("1 6 0 0 feature ARCH: that of a.data is damaged: left out");
    says("1 8 1 0 feature CPUDESC: that of b.data is damaged: left out");
    says("1 16 0 0 feature PMU_MAPPINGS: that of a.data is damaged: left out");
    says("1 3 0 0 feature HOSTNAME: that of a.data is damaged: left out");
    says("1 7 0 0 feature NRCPUS: that of a.data is damaged: left out");
    says("1 17 0 0 feature GROUP_DESC: that of a.data is damaged: left out");
    end();
}

IN_BOTH_ORDERS(same)
IN_BOTH_ORDERS(unwind)
IN_BOTH_ORDERS(hosts)
IN_BOTH_ORDERS(processors)
IN_BOTH_ORDERS(nodes)
IN_BOTH_ORDERS(flags)
IN_BOTH_ORDERS(span)
IN_BOTH_ORDERS(clocks)
IN_BOTH_ORDERS(damaged)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same),       cmocka_unit_test(unwind), cmocka_unit_test(hosts),
        cmocka_unit_test(processors), cmocka_unit_test(nodes),  cmocka_unit_test(flags),
        cmocka_unit_test(span),       cmocka_unit_test(clocks), cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
