/* What older versions of perf do not know, dropped or turned: one small stream for each, in both
 * byte orders. */
#include "testing.h"

#include "targeting.h"
#include "core/command.h"
#include "transform/command.h"

static void mapping(builder *b, uint16_t misc, uint8_t id, const char *name)
{
    size_t start = build_begin(b, PERFILE_RECORD_MMAP2, misc);
    build_u32(b, 5);
    build_u32(b, 7);
    build_u64(b, 0x1000);
    build_u64(b, 0x2000);
    build_u64(b, 0);
    if (misc & PERFILE_MISC_MMAP_BUILD_ID) {
        build_u8(b, 20);
        build_zeros(b, 3);
        for (int i = 0; i < 20; i++)
            build_u8(b, id);
    } else {
        build_u32(b, 8);
        build_u32(b, 1);
        build_u64(b, 99);
        build_u64(b, 0);
    }
    build_u32(b, 5);
    build_u32(b, 2);
    build_text(b, name);
    chain_trailer(b, 7, 3);
    build_end(b, start);
}

static void mappings_lose_no_build_id(void **state)
{
    const uint16_t with = PERFILE_MISC_MMAP_BUILD_ID;
    build_attr_plan plan = chain_plan();
    result out;
    (void)state;
    FOR_BOTH_ORDERS(b)
    {
        BUILDER b = {.swap = b_swap};
        begin(&b, &plan);
        mapping(&b, with | 2, 0xaa, "/bin/a");
        mapping(&b, with | 2, 0xaa, "/bin/a");
        mapping(&b, 2, 0, "/bin/b");
        mapping(&b, with | 1, 0xbb, "[kernel.kallsyms]_text");
        chain_sample(&b, 7, 1, 77);
        mapping(&b, with | 2, 0xcc, "/bin/c"); /* while one waits */
        chain_rest(&b, 7, 77, 2, false);
        run(&out, &b, "5.10");
        const uint32_t types[] = {64, 67, 10, 10, 10, 67, 10, 9, 67, 10};
        assert_int_equal(out.n, 10);
        for (size_t i = 0; i < out.n; i++)
            assert_int_equal(out.records[i]->type, types[i]);
        for (size_t i = 0; i < 5; i++) {
            perfile_mmap2 v;
            const perfile_record *r = nth(&out, PERFILE_RECORD_MMAP2, i);
            assert_int_equal(perfile_mmap2_decode(r, &v, sizeof v, NULL), PERFILE_OK);
            assert_true(v.has_inode && !v.has_build_id && v.addr == 0x1000 && v.prot == 5);
            assert_true(v.ino == (i == 2 ? 99 : 0) && v.maj == (i == 2 ? 8 : 0));
            assert_int_equal(perfile_record_time(r), 3);
            assert_int_equal(r->misc & 7, i == 3 ? 1 : 2);
        }
        const perfile_session *s = perfile_stream_session(out.s);
        static const char *const files[] = {"/bin/a", "[kernel.kallsyms]", "/bin/c"};
        static const uint8_t ids[] = {0xaa, 0xbb, 0xcc};
        assert_int_equal(perfile_session_n_build_ids(s), 3);
        for (uint32_t i = 0; i < 3; i++) {
            const perfile_build_id *id = perfile_session_build_id(s, i);
            assert_int_equal(id->id.len, 20);
            assert_int_equal(id->id.ptr[19], ids[i]);
            assert_int_equal(id->pid, -1);
            assert_int_equal(id->filename.len, strlen(files[i]));
            assert_memory_equal(id->filename.ptr, files[i], id->filename.len);
        }
        assert_int_equal(out.sum.mappings, 4);
        assert_int_equal(out.sum.build_ids, 3);
        done(&out);

        run(&out, &b, "5.15");
        assert_int_equal(n_of(&out, PERFILE_RECORD_HEADER_BUILD_ID), 0);
        assert_int_equal(out.sum.mappings, 0);
        done(&out);
    }
}

/* Versions that stop at odd sizes, and pass over event types without the whole place of a name. */
static void texts_are_filled_up(void **state)
{
    enum { N = 9, EVENT_TYPE = 80 };
    static const struct {
        const char *version;
        bool whole;
    } versions[] = {{"7.2", true}, {"7.3", true}, {"6.12", false}, {"5.10", false}};
    build_attr_plan plan = chain_plan();
    (void)state;
    FOR_BOTH_ORDERS(b)
    for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
        BUILDER b = {.swap = b_swap};
        result out;
        size_t odd = 0;
        begin(&b, &plan);
        for (size_t i = 0; i < N; i++) {
            size_t start = build_begin(&b, PERFILE_RECORD_HEADER_BUILD_ID, 2);
            build_u32(&b, UINT32_MAX);
            build_zeros(&b, 24);
            build_bytes(&b, "/long/name", i + 1);
            build_end(&b, start);
            odd += (8 + 4 + 24 + i + 1) % 8 != 0;
        }
        size_t start = build_begin(&b, PERFILE_RECORD_HEADER_EVENT_TYPE, 0);
        build_u64(&b, 4711);
        build_bytes(&b, "cycles", 6);
        build_end(&b, start);
        start = build_begin(&b, PERFILE_RECORD_CPU_MAP, 0);
        build_u16(&b, 0);
        build_u16(&b, 1);
        build_u16(&b, 3);
        build_end(&b, start);
        run(&out, &b, versions[v].version);
        assert_int_equal(n_of(&out, PERFILE_RECORD_HEADER_BUILD_ID), N);
        for (size_t i = 0; i < N; i++) {
            const perfile_record *r = nth(&out, PERFILE_RECORD_HEADER_BUILD_ID, i);
            size_t stored = 8 + 4 + 24 + i + 1;
            assert_int_equal(perfile_record_size(r),
                             versions[v].whole ? (stored + 7) / 8 * 8 : stored);
            perfile_header_build_id id;
            assert_int_equal(perfile_header_build_id_decode(r, &id, sizeof id, NULL), PERFILE_OK);
            assert_int_equal(id.filename.len, i + 1);
            assert_memory_equal(id.filename.ptr, "/long/name", i + 1);
        }
        const perfile_record *r = nth(&out, PERFILE_RECORD_HEADER_EVENT_TYPE, 0);
        assert_int_equal(perfile_record_size(r), versions[v].whole ? EVENT_TYPE : 22);
        assert_int_equal(pf_session_event_type(perfile_stream_session(out.s), 0)->name.len, 6);
        if (versions[v].whole) {
            assert_int_equal(perfile_record_size(nth(&out, PERFILE_RECORD_CPU_MAP, 0)), 16);
            assert_int_equal(out.sum.changed, odd + 2);
        }
        assert_int_equal(
            out.lost[PERFILE_TARGET_LOSS_RECORDS] + out.lost[PERFILE_TARGET_LOSS_TOO_LONG], 0);
        done(&out);
    }
}

/* More than are remembered: told again and again, none is missing. */
static void many_build_ids(void **state)
{
    enum { N = 40000 };
    build_attr_plan plan = chain_plan();
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    char name[200];
    uint32_t ids = 0, maps = 0;
    const perfile_target_options to = {.size = sizeof to, .version = "4.19"};
    (void)state;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    for (unsigned i = 0; i < N; i++) {
        snprintf(name, sizeof name, "/usr/lib/some/where/lib%u.so", i % (N / 2));
        mapping(&b, PERFILE_MISC_MMAP_BUILD_ID | 2, (uint8_t)(i % (N / 2)), name);
    }
    assert_int_equal(perfile_source_memory(built(&b), "built", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_target(s, &to, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        ids += r->type == PERFILE_RECORD_HEADER_BUILD_ID;
        maps += r->type == PERFILE_RECORD_MMAP2;
    }
    assert_int_equal(maps, N);
    assert_true(ids >= N / 2 && ids <= N);
    perfile_stream_close(s);
}

static void fields_are_cut_out(void **state)
{
    result out;
    (void)state;
    const build_attr_plan plan = {
        .type = 4,
        .size = 144,
        .period = 1000,
        .sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_READ |
                       PERFILE_SAMPLE_BRANCH_STACK | PERFILE_SAMPLE_WEIGHT_STRUCT |
                       PERFILE_SAMPLE_DATA_SRC | PERFILE_SAMPLE_CGROUP |
                       PERFILE_SAMPLE_DATA_PAGE_SIZE | PERFILE_SAMPLE_AUX,
        .read_format = PERFILE_FORMAT_GROUP | PERFILE_FORMAT_ID | PERFILE_FORMAT_LOST |
                       PERFILE_FORMAT_TOTAL_TIME_ENABLED,
        .branch = PERFILE_BRANCH_HW_INDEX | PERFILE_BRANCH_COUNTERS | PERFILE_BRANCH_ANY |
                  PERFILE_BRANCH_PRIV_SAVE,
        .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL,
    };
    FOR_BOTH_ORDERS(b)
    {
        BUILDER b = {.swap = b_swap};
        begin(&b, &plan);
        size_t start = build_begin(&b, PERFILE_RECORD_SAMPLE, 2);
        build_u64(&b, 0x401000);
        build_u64(&b, 5);  /* time */
        build_u64(&b, 2);  /* counters of the group */
        build_u64(&b, 33); /* enabled */
        for (uint64_t i = 0; i < 2; i++) {
            build_u64(&b, 100 + i);
            build_u64(&b, 70);
            build_u64(&b, 9); /* lost */
        }
        build_u64(&b, 2);  /* branches */
        build_u64(&b, 44); /* hw_idx */
        for (uint64_t i = 0; i < 6; i++)
            build_u64(&b, 0x600 + i);
        build_u64(&b, 1); /* counters */
        build_u64(&b, 2);
        build_u64(&b, 0x0003000200000001); /* three weights */
        build_u64(&b, 0x88);               /* data_src */
        build_u64(&b, 1234);               /* cgroup */
        build_u64(&b, 4096);               /* data page size */
        build_u64(&b, 8);                  /* AUX */
        build_bytes(&b, "auxbytes", 8);
        build_end(&b, start);
        start = build_begin(&b, PERFILE_RECORD_READ, 0);
        build_u32(&b, 5);
        build_u32(&b, 7);
        build_u64(&b, 1);
        build_u64(&b, 33);
        build_u64(&b, 100);
        build_u64(&b, 70);
        build_u64(&b, 9);
        build_u64(&b, 6); /* the trailer: time */
        build_end(&b, start);

        run(&out, &b, "4.19");
        perfile_sample v = sample_at(&out, 0);
        perfile_read_entry e;
        assert_true(v.ip == 0x401000 && v.time == 5 && !v.has_extra && v.values.nr == 2);
        assert_true(v.values.time_enabled == 33);
        assert_int_equal(perfile_read_entry_next(&v.values.cntr, &e, sizeof e), PERFILE_OK);
        assert_true(e.value == 100 && e.id == 70 && !e.has_lost);
        assert_int_equal(perfile_read_entry_next(&v.values.cntr, &e, sizeof e), PERFILE_OK);
        assert_true(e.value == 101 && e.id == 70 && !e.has_lost);
        assert_true(v.branch_stack.nr == 2 && !v.branch_stack.has_hw_idx &&
                    !v.branch_stack.has_counters);
        perfile_branch_entry branch;
        assert_int_equal(perfile_branch_entry_next(&v.branch_stack.lbr, &branch, sizeof branch),
                         PERFILE_OK);
        assert_true(branch.from == 0x600 && branch.to == 0x601);
        assert_true(v.weight.has_full && v.weight.full == 1);
        assert_true(v.data_src == 0x88);
        assert_false(v.present & (PERFILE_SAMPLE_CGROUP | PERFILE_SAMPLE_DATA_PAGE_SIZE |
                                  PERFILE_SAMPLE_AUX | PERFILE_SAMPLE_WEIGHT_STRUCT));
        perfile_read read;
        const perfile_record *r = nth(&out, PERFILE_RECORD_READ, 0);
        assert_int_equal(perfile_read_decode(r, &read, sizeof read, NULL), PERFILE_OK);
        assert_true(read.pid == 5 && read.values.nr == 1 && perfile_record_time(r) == 6);
        assert_int_equal(r->body.len, 8 + 8 + 8 + 16 + 8);
        const perfile_attr *attr = perfile_session_event(perfile_stream_session(out.s), 0)->attr;
        assert_int_equal(attr->size, 112);
        assert_int_equal(attr->branch_sample_type, PERFILE_BRANCH_ANY);
        assert_int_equal(attr->read_format & PERFILE_FORMAT_LOST, 0);
        assert_true(attr->sample_type & PERFILE_SAMPLE_WEIGHT);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_SAMPLE_FIELD], 3);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_READ_FIELD], 2);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_BRANCH_FIELD], 2);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_WEIGHT], 1);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_ATTR_BIT], 1);
        assert_non_null(strstr(out.names, "branch_sample_type.PRIV_SAVE"));
        assert_int_equal(out.first[PERFILE_TARGET_LOSS_READ_FIELD], 16 + 160);
        done(&out);

        run(&out, &b, "6.6"); /* lacks the counters only */
        v = sample_at(&out, 0);
        assert_true(v.branch_stack.has_hw_idx && v.branch_stack.hw_idx == 44 &&
                    !v.branch_stack.has_counters && v.weight.var3_w == 3 && v.aux_size == 8);
        assert_int_equal(out.sum.losses, 1);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_BRANCH_FIELD], 1);
        done(&out);
    }
}

/* A sample that does not hold what its layout says cannot be rewritten: dropped, and counted. */
static void unreadable_ones_are_counted(void **state)
{
    result out;
    (void)state;
    const build_attr_plan plan = {.type = 1,
                                  .size = 136,
                                  .period = 1,
                                  .sample_type = PERFILE_SAMPLE_RAW | PERFILE_SAMPLE_CGROUP};
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    size_t start = build_begin(&b, PERFILE_RECORD_SAMPLE, 0);
    build_u32(&b, 0xffffffff);
    build_u32(&b, 0);
    build_u64(&b, 1);
    build_end(&b, start);
    run(&out, &b, "4.19");
    assert_int_equal(n_of(&out, PERFILE_RECORD_SAMPLE), 0);
    assert_int_equal(out.lost[PERFILE_TARGET_LOSS_UNREADABLE], 1);
    assert_non_null(strstr(out.names, "SAMPLE"));
    assert_int_equal(out.sum.dropped, 1);
    done(&out);
    run(&out, &b, "6.1"); /* nothing has to change: it stays */
    assert_int_equal(n_of(&out, PERFILE_RECORD_SAMPLE), 1);
    assert_int_equal(out.sum.losses, 0);
    done(&out);
}

static void attrs_are_cut(void **state)
{
    result out;
    perfile_attr attr = {.type = 4,
                         .size = 144,
                         .sample_type = PERFILE_SAMPLE_IP,
                         .aux_action = 2,
                         .config3 = 3,
                         .config4 = 4};
    (void)state;
    FOR_BOTH_ORDERS(b)
    {
        uint8_t bytes[200];
        size_t n;
        BUILDER b = {.swap = b_swap};
        const perfile_encode_options how = {.size = sizeof how,
                                            .byte_order = pf_byte_order_of(b.swap)};
        attr.flags = UINT64_C(1) << 39 | UINT64_C(1) << 10;
        attr.is_freq = true;
        attr.sample_freq = 99;
        assert_int_equal(
            perfile_attr_encode(&attr, sizeof attr, &how, bytes, sizeof bytes, &n, NULL),
            PERFILE_OK);
        build_bytes(&b, b.swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
        build_u64(&b, 16);
        size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
        build_bytes(&b, bytes, n);
        build_bytes(&b,
                    "\0\0\0\0\0\0\0\0"
                    "\0\0\0\0\0\0\0\0newer...",
                    24); /* members that nobody knows */
        build_u64(&b, 70);
        build_end(&b, start);
        uint32_t size = b.swap ? pf_swap_u32(168) : 168;
        memcpy(b.b.ptr + 16 + 8 + 4, &size, sizeof size);
        start = build_begin(&b, PERFILE_RECORD_SAMPLE, 0);
        build_u64(&b, 1);
        build_end(&b, start);

        run(&out, &b, "6.1");
        const perfile_event *e = perfile_session_event(perfile_stream_session(out.s), 0);
        assert_int_equal(e->stored.len, 128);
        assert_true(e->attr->size == 128 && e->attr->sample_freq == 99 &&
                    e->attr->aux_action == 0 && e->attr->flags == UINT64_C(1) << 10);
        assert_int_equal(e->ids.n, 1);
        assert_true(perfile_word(&e->ids, 0) == 70);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_ATTR_MEMBER], 4);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_ATTR_BIT], 1);
        assert_string_equal(out.names, "flags.defer_output aux_action config3 config4 extra ");
        done(&out);

        run(&out, &b, "7.3");
        e = perfile_session_event(perfile_stream_session(out.s), 0);
        assert_true(e->attr->size == 144 && e->attr->config4 == 4 && e->attr->aux_action == 2);
        assert_string_equal(out.names, "extra ");
        done(&out);
    }
}

/* Of HEADER_ATTR older versions read the ids behind an attr of their own size. */
static void short_attrs_grow_in_records(void **state)
{
    result out;
    const build_attr_plan plan = {
        .type = 1, .size = 112, .period = 1, .sample_type = PERFILE_SAMPLE_IP};
    (void)state;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    run(&out, &b, "6.1");
    assert_int_equal(out.records[0]->body.len, 128 + 8);
    assert_int_equal(perfile_session_event(perfile_stream_session(out.s), 0)->attr->size, 128);
    assert_int_equal(out.sum.losses, 0);
    done(&out);
    run(&out, &b, "6.6");
    assert_int_equal(out.records[0]->body.len, 112 + 8);
    assert_int_equal(out.sum.changed, 0);
    done(&out);
}

static void feature_record(builder *b, uint64_t number, const char *text)
{
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_FEATURE, 0);
    build_u64(b, number);
    if (text)
        build_string(b, text);
    build_end(b, start);
}

static void features_are_dropped(void **state)
{
    result out;
    build_attr_plan plan = chain_plan();
    (void)state;
    FOR_BOTH_ORDERS(b)
    {
        BUILDER b = {.swap = b_swap};
        begin(&b, &plan);
        feature_record(&b, PERFILE_FEATURE_HOSTNAME, "host");
        feature_record(&b, PERFILE_FEATURE_CLN_SIZE, "x");
        feature_record(&b, 77, "x");
        feature_record(&b, 35, NULL);
        size_t start = build_begin(&b, PERFILE_RECORD_BPF_METADATA, 0);
        build_zeros(&b, 528);
        build_end(&b, start);
        build_record(&b, 99, 0, (perfile_bytes){(const uint8_t *)"unknown.", 8});
        run(&out, &b, "6.1");
        assert_int_equal(out.n, 3);
        perfile_feature f;
        assert_int_equal(perfile_record_feature(out.records[2], &f, NULL), PERFILE_OK);
        assert_true(f.number == 32 && f.payload.len == 0);
        assert_int_equal(perfile_session_n_features(perfile_stream_session(out.s)), 1);
        assert_string_equal(
            perfile_session_fact(perfile_stream_session(out.s), PERFILE_FACT_HOSTNAME), "host");
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_FEATURE], 2);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_RECORDS], 2);
        assert_int_equal(out.sum.dropped, 4);
        assert_non_null(strstr(out.names, "BPF_METADATA type 99 CLN_SIZE feature 77"));
        done(&out);
    }
}

/* The end of the features has the number that the version waits for, or is not there. */
static void the_list_of_features_ends(void **state)
{
    static const struct {
        const char *version;
        uint64_t end; /* 0: none */
    } cases[] = {{"3.16", 0}, {"4.19", 23}, {"5.10", 30}, {"5.15", 32}, {"6.1", 32}, {"7.3", 35}};
    static const uint64_t ends[] = {23, 30, 32, 35, 77};
    build_attr_plan plan = chain_plan();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
            result out;
            BUILDER b = {.swap = false};
            begin(&b, &plan);
            feature_record(&b, PERFILE_FEATURE_HOSTNAME, "host");
            feature_record(&b, ends[k], NULL);
            run(&out, &b, cases[i].version);
            assert_int_equal(out.n, cases[i].end ? 3 : 1);
            if (cases[i].end)
                assert_int_equal(pf_load_u64(out.records[2]->body.ptr, false), cases[i].end);
            assert_int_equal(out.lost[PERFILE_TARGET_LOSS_FEATURE], 0);
            done(&out);
        }
}

/* Whatever a version knows: samples and other records are of the events that they were of, and
 * mappings are there. */
static void every_version_knows_whose(void **state)
{
    const uint64_t types[2] = {PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TIME,
                               PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TIME |
                                   PERFILE_SAMPLE_PERIOD};
    (void)state;
    FOR_BOTH_ORDERS(b)
    for (size_t v = 0; pf_target_version_at(v); v++) {
        BUILDER b = {.swap = b_swap};
        result out;
        build_bytes(&b, b.swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
        build_u64(&b, 16);
        for (unsigned e = 0; e < 2; e++) {
            const build_attr_plan plan = {.type = 1,
                                          .config = e,
                                          .size = 64,
                                          .sample_type = types[e],
                                          .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
            size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
            build_attr(&b, &plan);
            build_u64(&b, 70 + e);
            build_end(&b, start);
        }
        for (unsigned i = 0; i < 4; i++) {
            size_t start = build_begin(&b, PERFILE_RECORD_SAMPLE, 2);
            build_u64(&b, 70 + i % 2);
            build_u64(&b, 0x401000);
            build_u64(&b, 100 + i);
            if (i % 2)
                build_u64(&b, 1000);
            build_end(&b, start);
            start = build_begin(&b, i < 2 ? PERFILE_RECORD_COMM : PERFILE_RECORD_MMAP2, 2);
            build_u32(&b, 5);
            build_u32(&b, 7);
            if (i >= 2) {
                build_u64(&b, 0x1000);
                build_u64(&b, 0x2000);
                build_zeros(&b, 8 + 24);
                build_u32(&b, 5);
                build_u32(&b, 2);
            }
            build_text(&b, "/bin/a");
            build_u64(&b, 100 + i);
            build_u64(&b, 70 + i % 2);
            build_end(&b, start);
        }
        run(&out, &b, pf_target_version_at(v));
        assert_int_equal(out.n, 10);
        for (unsigned i = 0; i < 8; i++) {
            const perfile_record *r = out.records[2 + i];
            assert_int_equal(perfile_record_event(r)->attr->config, i / 2 % 2);
            assert_int_equal(perfile_record_time(r), 100 + i / 2);
        }
        for (unsigned i = 0; i < 2; i++) {
            const perfile_record *r = out.records[7 + 2 * i];
            perfile_mmap old;
            perfile_mmap2 new;
            perfile_bytes name;
            if (r->type == PERFILE_RECORD_MMAP) {
                assert_int_equal(perfile_mmap_decode(r, &old, sizeof old, NULL), PERFILE_OK);
                assert_int_equal(old.len, 0x2000);
                name = old.filename;
            } else {
                assert_int_equal(perfile_mmap2_decode(r, &new, sizeof new, NULL), PERFILE_OK);
                assert_int_equal(new.len, 0x2000);
                name = new.filename;
            }
            assert_int_equal(name.len, 6);
            assert_memory_equal(name.ptr, "/bin/a", 6);
        }
        done(&out);
    }
}

static void ranges_of_cpus(void **state)
{
    result out;
    build_attr_plan plan = chain_plan();
    (void)state;
    FOR_BOTH_ORDERS(b)
    {
        BUILDER b = {.swap = b_swap};
        begin(&b, &plan);
        for (unsigned i = 0; i < 3; i++) {
            size_t start =
                build_begin(&b, i == 1 ? PERFILE_RECORD_EVENT_UPDATE : PERFILE_RECORD_CPU_MAP, 0);
            if (i == 1) {
                build_u64(&b, 3); /* CPUS */
                build_u64(&b, 70);
            }
            build_u16(&b, 2);
            build_u8(&b, i == 1);
            build_u8(&b, 0);
            build_u16(&b, 3);
            build_u16(&b, i == 2 ? 0xfffe : 5);
            build_end(&b, start);
        }
        run(&out, &b, "5.15");
        assert_int_equal(out.n, 3);
        perfile_cpu_map map;
        perfile_event_update update;
        assert_int_equal(perfile_cpu_map_decode(out.records[1], &map, sizeof map, NULL),
                         PERFILE_OK);
        assert_true(map.cpus.is_list && map.cpus.nr == 3);
        assert_int_equal(perfile_word(&map.cpus.cpu, 0), 3);
        assert_int_equal(perfile_word(&map.cpus.cpu, 2), 5);
        assert_int_equal(perfile_event_update_decode(out.records[2], &update, sizeof update, NULL),
                         PERFILE_OK);
        assert_true(update.id == 70 && update.has_cpus && update.cpus.is_list);
        assert_int_equal(update.cpus.nr, 4);
        assert_int_equal(perfile_word(&update.cpus.cpu, 0), 0xffff);
        assert_int_equal(perfile_word(&update.cpus.cpu, 3), 5);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_TOO_LONG], 1);
        assert_int_equal(out.sum.losses, 2);
        done(&out);
        run(&out, &b, "6.1");
        assert_int_equal(out.n, 4);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_TOO_LONG], 0);
        done(&out);
    }
}

static void usage(void **state)
{
    build_attr_plan plan = chain_plan();
    perfile_source *source;
    perfile_stream *s, *t = NULL;
    perfile_error err;
    perfile_target_options options = {.size = sizeof options, .version = "perf-6.2"};
    const perfile_open_options outer = {.size = sizeof outer, .envelopes = PERFILE_ENVELOPES_OUTER};
    perfile_target_summary sum;
    (void)state;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    assert_int_equal(perfile_source_memory(built(&b), "built", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &outer, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_target(s, &options, &t, &err), PERFILE_E_USAGE);
    assert_non_null(strstr(err.message, "perf-4.19"));
    options.version = NULL;
    assert_int_equal(perfile_target(s, &options, &t, &err), PERFILE_E_USAGE);
    options.version = "6.1";
    assert_int_equal(perfile_target(s, &options, &t, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "options.envelopes");
    assert_null(t);
    perfile_target_get_summary(s, &sum, sizeof sum);
    assert_true(sum.losses == 0);
    perfile_stream_close(s);
    assert_int_equal(pf_target_attr_size("perf-6.1"), 128);
    assert_int_equal(pf_target_attr_size("9"), 0);
    assert_string_equal(pf_target_version_at(0), "3.8");
}

/* Each allocation refused once: an error, nothing leaked, and without one all is well. */
static void every_allocation_may_fail(void **state)
{
    build_attr_plan plan = chain_plan();
    const perfile_target_options to = {.size = sizeof to, .version = "5.10"};
    (void)state;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    feature_record(&b, PERFILE_FEATURE_HOSTNAME, "host");
    for (unsigned i = 0; i < 100; i++) {
        mapping(&b, PERFILE_MISC_MMAP_BUILD_ID | 2, (uint8_t)i, "/bin/a");
        chain_sample(&b, 7, i + 1, 100 + i);
        if (i > 10)
            chain_rest(&b, 7, 90 + i, 2, false);
    }
    bool refused = true;
    for (unsigned n = 1; refused; n++) {
        perfile_source *source;
        perfile_stream *s;
        const perfile_record *r;
        assert_int_equal(perfile_source_memory(built(&b), "built", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        pf_alloc_fail_at = pf_alloc_count + n;
        perfile_status st = perfile_target(s, &to, &s, NULL);
        while (st == PERFILE_OK)
            st = perfile_stream_next(s, &r, NULL);
        refused = pf_alloc_count >= pf_alloc_fail_at;
        pf_alloc_fail_at = 0;
        assert_int_equal(st, refused ? PERFILE_E_NOMEM : PERFILE_END);
        perfile_stream_close(s);
        assert_true(n < 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_lose_no_build_id),
        cmocka_unit_test(many_build_ids),
        cmocka_unit_test(texts_are_filled_up),
        cmocka_unit_test(fields_are_cut_out),
        cmocka_unit_test(unreadable_ones_are_counted),
        cmocka_unit_test(attrs_are_cut),
        cmocka_unit_test(short_attrs_grow_in_records),
        cmocka_unit_test(features_are_dropped),
        cmocka_unit_test(the_list_of_features_ends),
        cmocka_unit_test(every_version_knows_whose),
        cmocka_unit_test(ranges_of_cpus),
        cmocka_unit_test(usage),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
