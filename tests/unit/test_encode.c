/* Structs that a program makes: the bytes that they become, and what is said of those that cannot.
 */
#include "testing.h"

#include "builder.h"
#include "perfile/perfile.h"

static uint8_t out[1 << 17];
static perfile_error err;

#define ENCODE(id, in, how, len)                                                                   \
    perfile_##id##_encode(in, sizeof *(in), how, out, sizeof out, len, &err)

static perfile_bytes text(const char *s)
{
    return (perfile_bytes){(const uint8_t *)s, strlen(s)};
}

/* The bytes that tests expect. */
static const perfile_encode_options little = {.size = sizeof little,
                                              .byte_order = PERFILE_BYTE_ORDER_LITTLE};

static void is_hex(size_t len, const char *digits)
{
    perfile_bytes wanted = hex(digits);
    assert_int_equal(len, wanted.len);
    assert_memory_equal(out, wanted.ptr, len);
    free((void *)(uintptr_t)wanted.ptr);
}

static perfile_layout layout_of(uint64_t sample_type, uint64_t more_flags)
{
    perfile_layout l;
    const perfile_attr attr = {
        .sample_type = sample_type, .sample_regs_user = 5, .flags = more_flags};
    perfile_layout_of_attr(&attr, sizeof attr, &l);
    return l;
}

enum { TRAILER = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };
#define ID_ALL ((uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL)

static void with_trailer(void **state)
{
    (void)state;
    size_t n;
    perfile_layout l = layout_of(TRAILER | PERFILE_SAMPLE_IP, ID_ALL);
    const perfile_sample_id id = {.present = TRAILER, .pid = 1, .tid = 2, .time = 3};
    const perfile_comm comm = {.pid = 1, .tid = 2, .comm = text("work")};
    perfile_encode_options how = {.size = sizeof how,
                                  .byte_order = PERFILE_BYTE_ORDER_LITTLE,
                                  .layout = &l,
                                  .sample_id = &id,
                                  .misc = PERFILE_MISC_COMM_EXEC};
    assert_int_equal(ENCODE(comm, &comm, &how, &n), PERFILE_OK);
    is_hex(n, "03000000 0020 2800 01000000 02000000 776f726b00000000"
              "01000000 02000000 0300000000000000");
    how.byte_order = PERFILE_BYTE_ORDER_BIG;
    assert_int_equal(ENCODE(comm, &comm, &how, &n), PERFILE_OK);
    is_hex(n, "00000003 2000 0028 00000001 00000002 776f726b00000000"
              "00000001 00000002 0000000000000003");
    assert_int_equal(ENCODE(sample_id, &id, &how, &n), PERFILE_OK);
    is_hex(n, "00000001 00000002 0000000000000003");

    /* Tools leave trailers out where that is seen; where it is not, there must be one. */
    how.sample_id = NULL;
    assert_int_equal(ENCODE(comm, &comm, &how, &n), PERFILE_OK);
    assert_int_equal(n, 24);
    const perfile_namespaces none = {.pid = 1};
    const perfile_ns_link links[3] = {{.dev = 1, .ino = 2}, {.dev = 3, .ino = 4}};
    perfile_namespaces some = none;
    some.link_info = perfile_ns_link_list(links, 3, sizeof links[0]);
    assert_int_equal(ENCODE(namespaces, &none, &how, &n), PERFILE_OK);
    assert_int_equal(ENCODE(namespaces, &some, &how, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "encode_options.sample_id");
    perfile_sample_id wrong = id;
    wrong.present = PERFILE_SAMPLE_TID;
    how.sample_id = &wrong;
    assert_int_equal(ENCODE(comm, &comm, &how, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "sample_id.present");
    how.sample_id = &id;
    const perfile_finished_round round = {0};
    assert_int_equal(ENCODE(finished_round, &round, &how, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "encode_options.sample_id");
}

static void arrays_of_programs(void **state)
{
    (void)state;
    size_t n;
    const perfile_ns_link links[2] = {{.dev = 3, .ino = 4}, {.dev = 5, .ino = 6}};
    /* The count is that of the list, whatever it says. */
    const perfile_namespaces ns = {.pid = 1,
                                   .tid = 2,
                                   .nr_namespaces = 77,
                                   .link_info = perfile_ns_link_list(links, 2, sizeof links[0])};
    assert_int_equal(ENCODE(namespaces, &ns, &little, &n), PERFILE_OK);
    is_hex(n, "10000000 0000 3800 01000000 02000000 0200000000000000"
              "0300000000000000 0400000000000000 0500000000000000 0600000000000000");

    const uint16_t cpus[3] = {0, 2, 4};
    const perfile_cpu_map map = {.cpus = {.is_list = true, .cpu = perfile_words_u16(cpus, 3)}};
    assert_int_equal(ENCODE(cpu_map, &map, &little, &n), PERFILE_OK);
    is_hex(n, "4a000000 0000 1800 0000 0300 0000 0200 0400 000000000000");

    /* Words of another width do, as long as the numbers fit. */
    const uint64_t wide[2] = {1, 0x10000};
    perfile_cpu_map other = {.cpus = {.is_list = true, .cpu = perfile_words_u64(wide, 1)}};
    assert_int_equal(ENCODE(cpu_map, &other, &little, &n), PERFILE_OK);
    other.cpus.cpu.n = 2;
    assert_int_equal(ENCODE(cpu_map, &other, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "cpu_map_data.cpu");

    const perfile_bytes words[2] = {text("perf"), text("record")};
    const perfile_cmdline cmdline = {.cmdline = perfile_strings_of(words, 2)};
    const perfile_encode_options big = {.size = sizeof big, .byte_order = PERFILE_BYTE_ORDER_BIG};
    assert_int_equal(ENCODE(cmdline, &cmdline, &big, &n), PERFILE_OK);
    assert_int_equal(n, 4 + 2 * 68);
    assert_memory_equal(out, "\0\0\0\2\0\0\0\100perf\0", 13);
    assert_memory_equal(out + 4 + 68, "\0\0\0\100record\0", 11);

    /* Lists in lists. */
    const perfile_pmu_cap caps[2] = {{.name = text("branches"), .value = text("32")},
                                     {.name = text("max_precise"), .value = text("3")}};
    const perfile_pmu_caps_entry pmus[2] = {
        {.caps = perfile_pmu_cap_list(caps, 2, sizeof caps[0]), .pmu_name = text("cpu_core")},
        {.caps = perfile_pmu_cap_list(caps, 1, sizeof caps[0]), .pmu_name = text("cpu_atom")}};
    const perfile_pmu_caps all = {.pmus = perfile_pmu_caps_entry_list(pmus, 2, sizeof pmus[0])};
    assert_int_equal(ENCODE(pmu_caps, &all, &big, &n), PERFILE_OK);
    assert_int_equal(n, 4 + 2 * (4 + 68) + 3 * 2 * 68);

    /* Attrs in a list: their space is that of the feature. */
    const uint64_t ids[3] = {7, 8, 9};
    const perfile_event_desc_entry events[2] = {
        {.attr = {.size = 112, .is_period = true}, .name = text("cycles")},
        {.attr = {.size = 136, .is_period = true, .config3 = 5},
         .name = text("instructions"),
         .ids = perfile_words_u64(ids, 3)}};
    perfile_event_desc desc = {
        .attr_size = 136, .events = perfile_event_desc_entry_list(events, 2, sizeof events[0])};
    assert_int_equal(ENCODE(event_desc, &desc, &big, &n), PERFILE_OK);
    assert_int_equal(n, 8 + 2 * (136 + 4 + 68) + 24);
    desc.attr_size = 128;
    assert_int_equal(ENCODE(event_desc, &desc, &big, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "attr.config3");
}

static void samples(void **state)
{
    (void)state;
    size_t n;
    const uint64_t chain[3] = {UINT64_MAX - 511, 0x401000, 0x402000};
    const uint64_t regs[3] = {1, 2, 3};
    perfile_layout l = layout_of(PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_CALLCHAIN |
                                     PERFILE_SAMPLE_RAW | PERFILE_SAMPLE_REGS_USER,
                                 0);
    const perfile_encode_options how = {
        .size = sizeof how, .byte_order = PERFILE_BYTE_ORDER_LITTLE, .layout = &l, .misc = 2};
    perfile_sample s = {.present = (uint32_t)l.sample_type,
                        .ip = 0x401000,
                        .pid = 1,
                        .tid = 2,
                        .callchain = perfile_words_u64(chain, 3),
                        .raw = text("1234"),
                        .regs_user = {.abi = 2, .has_regs = true}};
    s.regs_user.regs = perfile_words_u64(regs, 2);
    assert_int_equal(ENCODE(sample, &s, &how, &n), PERFILE_OK);
    is_hex(n, "09000000 0200 5800 0010400000000000 01000000 02000000 0300000000000000"
              "00feffffffffffff 0010400000000000 0020400000000000 04000000 31323334"
              "0200000000000000 0100000000000000 0200000000000000");
    s.regs_user.regs.n = 1;
    assert_int_equal(ENCODE(sample, &s, &how, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "regs_user.regs");
    s.regs_user.regs = perfile_words_u64(regs, 3);
    assert_int_equal(ENCODE(sample, &s, &how, &n), PERFILE_E_USAGE);
    s.regs_user.regs.n = 2;
    s.present |= PERFILE_SAMPLE_TIME;
    assert_int_equal(ENCODE(sample, &s, &how, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "sample.present");
    assert_int_equal(ENCODE(sample, &s, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "encode_options.layout");
}

static void attrs(void **state)
{
    (void)state;
    size_t n;
    perfile_attr a = {.size = 64,
                      .is_freq = true,
                      .sample_freq = 99,
                      .sample_type = 7,
                      .flags = 1 | (uint64_t)1 << PERFILE_ATTR_BIT_FREQ |
                               (uint64_t)2 << PERFILE_ATTR_BIT_PRECISE_IP | ID_ALL};
    const perfile_encode_options big = {.size = sizeof big, .byte_order = PERFILE_BYTE_ORDER_BIG};
    assert_int_equal(ENCODE(attr, &a, &big, &n), PERFILE_OK);
    /* Bit 0 is the highest, and precise_ip stays a number: 2 is 10 from bit 48 down to bit 47. */
    is_hex(n, "00000000 00000040 0000000000000000 0000000000000063 0000000000000007"
              "0000000000000000 8021200000000000 00000000 00000000 0000000000000000");
    for (a.size = 64; a.size <= 160; a.size += 4) {
        perfile_attr back;
        a.has_extra = false;
        perfile_status st = ENCODE(attr, &a, &little, &n);
        if (st != PERFILE_OK) {
            /* Not where a member ends: the bytes between have to be given. */
            assert_string_equal(err.where, "attr.has_extra");
            continue;
        }
        assert_int_equal(n, a.size);
        assert_int_equal(
            perfile_attr_decode((perfile_bytes){out, n}, PF_NATIVE_BIG, &back, sizeof back, NULL),
            PERFILE_OK);
        assert_int_equal(back.sample_freq, 99);
    }
    a.size = 112;
    a.aux_sample_size = 1;
    assert_int_equal(ENCODE(attr, &a, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "attr.aux_sample_size");
    a.size = 120;
    assert_int_equal(ENCODE(attr, &a, &little, &n), PERFILE_OK);
    a.size = 60;
    assert_int_equal(ENCODE(attr, &a, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "attr.size");
    a.size = 120;
    a.is_freq = false;
    a.is_period = true;
    assert_int_equal(ENCODE(attr, &a, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "attr.is_freq");
}

/* What cannot be held is refused, and the member is named. */
static void refused(void **state)
{
    (void)state;
    static char long_name[70000];
    size_t n = 77;
    memset(long_name, 'x', sizeof long_name - 1);
    perfile_mmap m = {.pid = 1, .filename = text(long_name)};
    assert_int_equal(ENCODE(mmap, &m, &little, &n), PERFILE_E_LIMIT);
    assert_string_equal(err.where, "mmap.filename");
    assert_non_null(strstr(err.message, "65535"));
    assert_int_equal(n, 77);
    m.filename.len = 65535 - 8 - 32 - 7 - 1;
    assert_int_equal(ENCODE(mmap, &m, &little, &n), PERFILE_OK);
    assert_int_equal(n, 65528);
    m.filename.len++;
    assert_int_equal(ENCODE(mmap, &m, &little, &n), PERFILE_E_LIMIT);
    m.filename = (perfile_bytes){(const uint8_t *)"a\0b", 3};
    assert_int_equal(ENCODE(mmap, &m, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "mmap.filename");

    m.filename = text("/a");
    assert_int_equal(perfile_mmap_encode(&m, sizeof m, NULL, out, 47, &n, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "mmap.filename");
    assert_int_equal(perfile_mmap_encode(&m, sizeof m, NULL, out, 5, &n, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_mmap_encode(&m, sizeof m, NULL, NULL, 0, &n, &err), PERFILE_OK);
    assert_int_equal(n, 48);

    const perfile_text_poke poke = {.old_len = 1, .new_len = 1, .bytes = text("abc")};
    assert_int_equal(ENCODE(text_poke, &poke, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "text_poke.bytes");
    const perfile_bpf_event bpf = {.tag = text("short")};
    assert_int_equal(ENCODE(bpf_event, &bpf, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "bpf_event.tag");
    perfile_header_build_id id = {.has_pid = true, .build_id = text("123456789012345678901")};
    assert_int_equal(ENCODE(header_build_id, &id, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "header_build_id.build_id");

    /* misc decides which form it is. */
    perfile_mmap2 m2 = {.has_build_id = true, .has_prot = true, .build_id = text("12345678")};
    assert_int_equal(ENCODE(mmap2, &m2, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "mmap2.has_build_id");
    const perfile_encode_options how = {.size = sizeof how,
                                        .byte_order = PERFILE_BYTE_ORDER_LITTLE,
                                        .misc = PERFILE_MISC_MMAP_BUILD_ID};
    assert_int_equal(ENCODE(mmap2, &m2, &how, &n), PERFILE_OK);
    assert_int_equal(out[40], 8);
    m2 = (perfile_mmap2){.has_prot = true, .ino = 5};
    assert_int_equal(ENCODE(mmap2, &m2, &little, &n), PERFILE_OK);
    const perfile_event_update update = {.type = 1, .has_name = true, .name = text("x")};
    assert_int_equal(ENCODE(event_update, &update, &little, &n), PERFILE_E_USAGE);
    assert_string_equal(err.where, "event_update.has_scale");
}

/* Structs of programs that know fewer or more members than the library. */
static void other_versions(void **state)
{
    (void)state;
    struct {
        perfile_lost lost;
        uint64_t newer;
    } in = {.lost = {.id = 1, .lost = 2}};
    size_t n;
    assert_int_equal(perfile_lost_encode(&in.lost, sizeof in, &little, out, sizeof out, &n, &err),
                     PERFILE_OK);
    is_hex(n, "02000000 0000 1800 0100000000000000 0200000000000000");
    in.newer = 1;
    assert_int_equal(perfile_lost_encode(&in.lost, sizeof in, &little, out, sizeof out, &n, &err),
                     PERFILE_E_USAGE);
    assert_int_equal(perfile_lost_encode(&in.lost, offsetof(perfile_lost, lost), &little, out,
                                         sizeof out, &n, &err),
                     PERFILE_OK);
    is_hex(n, "02000000 0000 1800 0100000000000000 0000000000000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_trailer), cmocka_unit_test(arrays_of_programs),
        cmocka_unit_test(samples),      cmocka_unit_test(attrs),
        cmocka_unit_test(refused),      cmocka_unit_test(other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
