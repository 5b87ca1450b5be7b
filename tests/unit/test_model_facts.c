/* The model: what a capture says outside its records, in either byte order. */
#include "testing.h"

#include "instances.h"
#include "perfile/model.h"
#include "model/command.h"

enum { ID_BYTES = 20 };

static const uint8_t id_of_work[ID_BYTES] = {1, 2, 3};
static const uint8_t id_of_kernel[ID_BYTES] = {4, 5, 6};

/* Sample type TID|TIME, in a trailer behind every record of the kernel. */
static perfile_session *session_of(bool swap)
{
    build_attr_plan plan = {.type = 1,
                            .size = 64,
                            .sample_type = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME,
                            .flags = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
    return roll_session(&plan, swap, 0);
}

static void put_trailer(builder *b, uint32_t pid, uint64_t time)
{
    build_u32(b, pid);
    build_u32(b, pid);
    build_u64(b, time);
}

static void put_mmap(builder *b, uint32_t pid, const char *name, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_MMAP, 2);
    build_u32(b, pid);
    build_u32(b, pid);
    build_u64(b, 0x1000);
    build_u64(b, 0x1000);
    build_u64(b, 0);
    build_text(b, name);
    put_trailer(b, pid, time);
    build_end(b, start);
}

static void put_comm(builder *b, uint32_t pid, const char *name, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_COMM, 0);
    build_u32(b, pid);
    build_u32(b, pid);
    build_text(b, name);
    put_trailer(b, pid, time);
    build_end(b, start);
}

/* An entry of feature BUILD_ID, which is a HEADER_BUILD_ID record too. */
static void put_build_id(builder *b, uint32_t pid, const uint8_t *id, const char *name)
{
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_BUILD_ID, 1U << 15 | 2);
    build_u32(b, pid);
    build_bytes(b, id, ID_BYTES);
    build_u8(b, ID_BYTES);
    build_zeros(b, 3);
    build_text(b, name);
    build_end(b, start);
}

static void add_feature(perfile_session *s, uint32_t number, const builder *b)
{
    perfile_feature f = {.number = number,
                         .size = b->b.len,
                         .payload = built(b),
                         .flags = b->swap ? PERFILE_REC_SWAPPED : 0};
    assert_int_equal(pf_session_add_feature(s, &f, false, NULL), PERFILE_OK);
}

/* Feeds the only record of `b`, and empties it. */
static void feed(perfile_model *m, const perfile_session *s, builder *b)
{
    perfile_record r =
        record_of(s, pf_load_u32(b->b.ptr, b->swap), pf_load_u16(b->b.ptr + 4, b->swap),
                  (perfile_bytes){b->b.ptr + 8, b->b.len - 8});
    r.header = b->b.ptr;
    assert_int_equal(perfile_model_feed(m, &r, NULL), PERFILE_OK);
    b->b.len = 0;
}

static perfile_model *model_of(const perfile_session *s)
{
    perfile_model *m;
    assert_int_equal(perfile_model_open(s, &m, NULL), PERFILE_OK);
    return m;
}

static void assert_id(const perfile_model *m, uint32_t pid, const uint8_t *id)
{
    const perfile_mapping *x = perfile_model_mapping(m, pid, 0x1800, PERFILE_NO_TIME);
    assert_non_null(x);
    assert_int_equal(x->build_id_size, id ? ID_BYTES : 0);
    if (id)
        assert_memory_equal(x->build_id, id, ID_BYTES);
}

static void build_ids_by_name(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        builder b = {.swap = swap};
        perfile_session *s = session_of(swap);
        put_build_id(&b, UINT32_MAX, id_of_work, "/bin/work");
        put_build_id(&b, UINT32_MAX, id_of_kernel, "[kernel.kallsyms]");
        add_feature(s, PERFILE_FEATURE_BUILD_ID, &b);
        b.b.len = 0;
        perfile_model *m = model_of(s);
        put_mmap(&b, 7, "/bin/work", 10);
        feed(m, s, &b);
        put_mmap(&b, UINT32_MAX, "[kernel.kallsyms]_text", 0);
        feed(m, s, &b);
        put_mmap(&b, 8, "/bin/other", 10);
        feed(m, s, &b);
        assert_id(m, 7, id_of_work);
        assert_id(m, UINT32_MAX, id_of_kernel);
        assert_id(m, 8, NULL);
        /* A stream says it at its end. */
        put_build_id(&b, UINT32_MAX, id_of_kernel, "/bin/other");
        feed(m, s, &b);
        assert_id(m, 8, id_of_kernel);
        perfile_model_close(m);
        pf_session_free(s);
        build_clear(&b);
    }
}

/* A feature that a record brings is learnt when the record is fed. */
static void build_ids_that_come_late(void **state)
{
    (void)state;
    builder b = {0};
    perfile_session *s = session_of(false);
    perfile_model *m = model_of(s);
    put_mmap(&b, 7, "/bin/work", 10);
    feed(m, s, &b);
    assert_id(m, 7, NULL);
    put_build_id(&b, UINT32_MAX, id_of_work, "/bin/work");
    add_feature(s, PERFILE_FEATURE_BUILD_ID, &b);
    b.b.len = 0;
    build_end(&b, build_begin(&b, PERFILE_RECORD_HEADER_FEATURE, 0));
    assert_true(pf_model_wants(PERFILE_RECORD_HEADER_FEATURE));
    feed(m, s, &b);
    assert_id(m, 7, id_of_work);
    perfile_model_close(m);
    pf_session_free(s);
    build_clear(&b);
}

/* simpleperf's records of what existed at the start, whole and cut anywhere. */
static void init_map(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        builder b = {.swap = swap};
        put_comm(&b, 7, "work", 0);
        size_t first = b.b.len;
        put_mmap(&b, 7, "/bin/work", 0);
        for (size_t cut = 0; cut <= b.b.len; cut++) {
            perfile_session *s = session_of(swap);
            builder some = {.swap = swap};
            build_bytes(&some, b.b.ptr, cut);
            add_feature(s, PERFILE_FEATURE_INIT_MAP, &some);
            perfile_model *m = model_of(s);
            const char *name = perfile_model_comm(m, 7, 7, 100);
            const perfile_mapping *x = perfile_model_mapping(m, 7, 0x1800, 100);
            assert_int_equal(name != NULL, cut >= first);
            assert_int_equal(x != NULL, cut == b.b.len);
            if (name)
                assert_string_equal(name, "work");
            if (x)
                assert_string_equal(x->name, "/bin/work");
            /* What is recorded later lies over it. */
            some.b.len = 0;
            put_mmap(&some, 7, "/bin/other", 50);
            feed(m, s, &some);
            assert_string_equal(perfile_model_mapping(m, 7, 0x1800, 100)->name, "/bin/other");
            perfile_model_close(m);
            pf_session_free(s);
            build_clear(&some);
        }
        build_clear(&b);
    }
}

/* A record among those of INIT_MAP that says there is a feature: INIT_MAP is not learnt from within
 * itself, and what follows is learnt. */
static void init_map_that_names_a_feature(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        builder b = {.swap = swap};
        perfile_session *s = session_of(swap);
        size_t start = build_begin(&b, PERFILE_RECORD_HEADER_FEATURE, 0);
        build_u64(&b, PERFILE_FEATURE_INIT_MAP);
        build_end(&b, start);
        put_mmap(&b, 7, "/bin/work", 0);
        add_feature(s, PERFILE_FEATURE_INIT_MAP, &b);
        perfile_model *m = model_of(s);
        assert_non_null(perfile_model_mapping(m, 7, 0x1800, 100));
        perfile_model_close(m);
        pf_session_free(s);
        build_clear(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_ids_by_name),
        cmocka_unit_test(build_ids_that_come_late),
        cmocka_unit_test(init_map),
        cmocka_unit_test(init_map_that_names_a_feature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
