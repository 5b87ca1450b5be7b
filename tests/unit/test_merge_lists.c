/* Features of merged captures that are lists. */
#include "merging.h"
#include "core/command.h"

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
    says("1 129 1 1 feature META_INFO: 1 entry of b.data in contradiction to an earlier input");
    /* The name that it loses is in EVENT_DESC. */
    assert_non_null(out(PERFILE_FEATURE_EVENT_DESC));
    assert_string_equal(called(1), perfile_session_event(m.in[1].session, 0)->name);
    assert_non_null(strstr(called(1), "raw-two"));
    end();
}

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
    assert_string_equal(pf_session_pmu_name(m.x.base.session, 10), "uncore");
    assert_string_equal(pf_session_pmu_name(m.x.base.session, 4), "cpu");
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
    assert_int_equal(pf_session_collect(session_of(k), &r, NULL), PERFILE_OK);
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
    says("1 2 2 1 feature BUILD_ID: 1 entry of c.data in contradiction to an earlier input");
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

/* perf before 2.6.35: no pid, names four bytes early. */
static void test_old_build_ids(bool swap)
{
    static const char *const names[] = {"[kernel.kallsyms]", "/bin/sh"};
    begin(2, swap);
    BUILDER b = {.swap = swap};
    for (size_t i = 0; i < 2; i++) {
        build_u32(&b, 0);
        build_u16(&b, i ? 2 : 1);
        build_u16(&b, 8 + 20 + 4 + 64);
        build_bytes(&b, ID_1, 20);
        build_zeros(&b, 4);
        build_bytes(&b, names[i], strlen(names[i]));
        build_zeros(&b, 64 - strlen(names[i]));
    }
    add(0, PERFILE_FEATURE_BUILD_ID, built(&b));
    FILES(1, file("/bin/sh", ID_1, 2), file("/bin/ls", ID_2, 2));
    assert_int_equal(perfile_session_n_build_ids(m.in[0].session), 2);
    join();
    static const char *const wanted[] = {"[kernel.kallsyms]", "/bin/sh", "/bin/ls"};
    assert_int_equal(perfile_session_n_build_ids(m.x.base.session), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const perfile_build_id *id = perfile_session_build_id(m.x.base.session, i);
        is_text(id->filename, wanted[i]);
        is_text(id->id, i < 2 ? ID_1 : ID_2);
    }
    end();
}

static void fill(void)
{
    for (uint32_t k = 0; k < 3; k++) {
        pmu(k, 10 + k, k ? "one" : "other");
        FILES(k, file(k ? "/bin/sh" : "/bin/ls", ID_1, 2));
        learn_file(k, "/bin/cat");
        add_bpf(k, k, "program");
        add_meta(k, k ? "raw-one,4,17" : "raw-two,4,18");
        raw(k, PERFILE_FEATURE_FILE2, k + 1);
        ADD(k, HOSTNAME, hostname, .string = text(k ? "ant" : "bee"));
        event(k, PERFILE_TYPE_RAW, 17 + k, 1, k);
        const perfile_group_desc_entry alone = {.name = text("alone"), .nr_members = 1};
        ADD(k, GROUP_DESC, group_desc,
            .groups = perfile_group_desc_entry_list(&alone, 1, sizeof alone));
    }
}

static void without_memory(void **state)
{
    (void)state;
    fails_without_memory(fill);
}

IN_BOTH_ORDERS(meta)
IN_BOTH_ORDERS(pmus)
IN_BOTH_ORDERS(build_ids)
IN_BOTH_ORDERS(old_build_ids)
IN_BOTH_ORDERS(bpf)
IN_BOTH_ORDERS(concatenated)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meta),           cmocka_unit_test(pmus),
        cmocka_unit_test(build_ids),      cmocka_unit_test(old_build_ids),
        cmocka_unit_test(without_memory), cmocka_unit_test(bpf),
        cmocka_unit_test(concatenated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
