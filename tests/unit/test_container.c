/* What the driver says of headers and sections, good and bad: small files built here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "../builder.h"
#include "perfile/perfile.h"

/* One attr (IP|TID), one id, three records of 24 bytes, no features. */
typedef struct plan {
    uint64_t header_size;
    uint64_t attr_entry; /* bytes of an entry of the attrs section */
    uint64_t ids_offset;
    uint64_t data_offset;
    uint64_t data_size;
    uint64_t feature_bits;
} plan;

enum { IDS_AT = 104, ATTRS_AT = 112, DATA_AT = 112 + 80, RECORD = 24, N_RECORDS = 3 };

static const plan good = {104, 80, IDS_AT, DATA_AT, RECORD *N_RECORDS, 0};

static const char *const native_magic = PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2";

static perfile_bytes file_of(builder *b, const plan *p, const char *magic)
{
    build_clear(b);
    build_bytes(b, magic, 8);
    build_u64(b, p->header_size);
    build_u64(b, p->attr_entry);
    build_u64(b, ATTRS_AT);
    build_u64(b, 80);
    build_u64(b, p->data_offset);
    build_u64(b, p->data_size);
    build_u64(b, 0);
    build_u64(b, 0);
    build_u64(b, p->feature_bits);
    build_zeros(b, 24);
    build_u64(b, 77);
    build_attr(b, &(build_attr_plan){.type = 1, .size = 64, .period = 1, .sample_type = 3});
    build_u64(b, p->ids_offset);
    build_u64(b, 8);
    for (unsigned i = 0; i < N_RECORDS; i++) {
        size_t at = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
        build_u64(b, 0x1000 + i);
        build_u32(b, 1);
        build_u32(b, 2);
        build_end(b, at);
    }
    return built(b);
}

/* What a whole reading of `bytes` came to. */
typedef struct outcome {
    perfile_status status; /* of open */
    perfile_error err;
    perfile_stream_summary sum;
    perfile_container container;
    uint32_t first_damage; /* of the container, or else delivered */
    uint64_t damage_at;
} outcome;

static outcome read_all(perfile_bytes bytes, bool as_stored)
{
    outcome o = {0};
    perfile_source *source;
    perfile_stream *s;
    perfile_open_options options = {
        .size = sizeof options, .as_stored = as_stored, .deliver = PERFILE_DELIVER_DAMAGE};
    assert_int_equal(perfile_source_memory(bytes, "test", &source, NULL), PERFILE_OK);
    o.status = perfile_open(source, &options, &s, &o.err);
    if (o.status != PERFILE_OK) {
        perfile_source_close(source);
        return o;
    }
    const perfile_record *r;
    perfile_status st;
    o.container = *perfile_stream_container(s);
    if (o.container.n_damages) {
        o.first_damage = o.container.damages[0].damage;
        o.damage_at = o.container.damages[0].offset;
    }
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        if (r->family == PERFILE_FAMILY_DAMAGE && !o.first_damage) {
            o.first_damage = r->damage;
            o.damage_at = r->offset;
        }
    }
    assert_int_equal(st, PERFILE_END);
    perfile_stream_get_summary(s, &o.sum, sizeof o.sum);
    perfile_stream_close(s);
    return o;
}

static void reads_a_good_file(void **state)
{
    (void)state;
    builder b = {0};
    static const char *const magics[] = {"PERFILE2", "2ELIFREP", "PERFFILE", "PERFFILE"};
    for (unsigned i = 0; i < 4; i++) {
        b.swap = (i == 1 || i == 3) != (bool)PF_NATIVE_BIG;
        outcome o = read_all(file_of(&b, &good, magics[i]), false);
        assert_int_equal(o.status, PERFILE_OK);
        assert_int_equal(o.sum.records, N_RECORDS);
        assert_int_equal(o.sum.damages, 0);
        assert_int_equal(o.container.version, i < 2 ? 2 : 1);
        assert_int_equal(o.container.byte_order, pf_byte_order_of(b.swap));
        assert_int_equal(o.container.n_extents, 4);
    }
    build_clear(&b);
}

static void refuses_what_is_no_capture(void **state)
{
    (void)state;
    builder b = {0};
    perfile_bytes whole = file_of(&b, &good, native_magic);
    for (size_t n = 0; n < 16; n++) {
        uint8_t *cut = malloc(n ? n : 1); /* own heap block: an overread is caught */
        memcpy(cut, whole.ptr, n);
        outcome o = read_all((perfile_bytes){cut, n}, false);
        free(cut);
        assert_int_equal(o.status, n < 8 ? PERFILE_E_CORRUPT : PERFILE_E_TRUNCATED);
        assert_int_equal(o.err.damage,
                         n < 8 ? PERFILE_DAMAGE_BAD_MAGIC : PERFILE_DAMAGE_TRUNCATED_HEADER);
    }
    b.b.ptr[3] = 'x';
    assert_int_equal(read_all(whole, false).err.damage, PERFILE_DAMAGE_BAD_MAGIC);
    build_clear(&b);
}

/* A plan with one thing wrong, and what is said of it. */
typedef struct wrong {
    plan p;
    uint32_t damage;
    uint64_t at;
    uint64_t records;
} wrong;

static void names_what_is_wrong(void **state)
{
    (void)state;
    static const wrong cases[] = {
        {{100, 80, IDS_AT, DATA_AT, 72, 0}, PERFILE_DAMAGE_BAD_HEADER_SIZE, 8, 3},
        {{104, 72, IDS_AT, DATA_AT, 72, 0}, PERFILE_DAMAGE_BAD_ATTRS, ATTRS_AT, 3},
        {{104, 84, IDS_AT, DATA_AT, 72, 0}, PERFILE_DAMAGE_BAD_ATTRS, ATTRS_AT, 3},
        {{104, 88, IDS_AT, DATA_AT, 72, 0}, PERFILE_DAMAGE_BAD_ATTRS, ATTRS_AT, 3}, /* cut */
        {{104, 80, IDS_AT, 5000, 72, 0}, PERFILE_DAMAGE_OUT_OF_BOUNDS, 5000, 0},
        {{104, 80, IDS_AT, DATA_AT, 0, 0}, PERFILE_DAMAGE_UNTERMINATED, DATA_AT, 3},
        {{104, 80, IDS_AT, DATA_AT, 0, 8}, PERFILE_DAMAGE_UNTERMINATED, DATA_AT, 3},
        {{104, 80, IDS_AT, DATA_AT, 96, 0}, PERFILE_DAMAGE_TRUNCATED_DATA, DATA_AT + 72, 3},
        {{104, 80, IDS_AT, DATA_AT, UINT64_MAX, 0}, PERFILE_DAMAGE_TRUNCATED_DATA, DATA_AT + 72, 3},
        {{104, 80, IDS_AT, DATA_AT, 70, 0}, PERFILE_DAMAGE_TRUNCATED_RECORD, DATA_AT + 48, 2},
        {{104, 80, IDS_AT, DATA_AT, 52, 0}, PERFILE_DAMAGE_TRUNCATED_HEADER, DATA_AT + 48, 2},
    };
    builder b = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned swap = 0; swap < 2; swap++) {
            b.swap = swap != (unsigned)PF_NATIVE_BIG;
            outcome o = read_all(file_of(&b, &cases[i].p, swap ? "2ELIFREP" : "PERFILE2"), true);
            assert_int_equal(o.status, PERFILE_OK);
            assert_int_equal(o.first_damage, cases[i].damage);
            assert_int_equal(o.damage_at, cases[i].at);
            assert_int_equal(o.sum.records, cases[i].records);
        }
    }
    build_clear(&b);
}

static void says_what_is_missing(void **state)
{
    (void)state;
    plan p = good;
    builder b = {0};
    perfile_bytes file = file_of(&b, &p, native_magic);
    file.len -= 30; /* the last record and a part of the second */
    outcome o = read_all(file, false);
    assert_int_equal(o.sum.records, N_RECORDS - 2);
    assert_int_equal(o.sum.lost, RECORD - 6);
    assert_int_equal(o.sum.missing, 30);
    build_clear(&b);
}

static void keeps_an_attr_with_bad_ids(void **state)
{
    (void)state;
    plan p = good;
    builder b = {0};
    p.ids_offset = UINT64_MAX - 7;
    outcome o = read_all(file_of(&b, &p, native_magic), true);
    assert_int_equal(o.sum.by_damage[PERFILE_DAMAGE_BAD_IDS], 1);
    assert_int_equal(o.sum.records, N_RECORDS);
    build_clear(&b);
}

/* perf inject 6.1 writes ids and attrs over the first records. */
static void passes_over_records_that_were_overwritten(void **state)
{
    (void)state;
    plan p = good;
    builder b = {0};
    p.data_offset = 104;
    p.data_size = DATA_AT + 72 - 104;
    perfile_bytes file = file_of(&b, &p, native_magic);
    outcome o = read_all(file, false);
    assert_int_equal(o.first_damage, PERFILE_DAMAGE_OVERLAP);
    assert_int_equal(o.sum.records, N_RECORDS);
    assert_int_equal(o.sum.lost, DATA_AT - 104);
    assert_int_equal(read_all(file, true).sum.by_damage[PERFILE_DAMAGE_OVERLAP], 0);
    build_clear(&b);
}

static void tells_when_streams_were_put_together(void **state)
{
    (void)state;
    builder b = {0};
    for (unsigned i = 0; i < 2; i++) {
        build_bytes(&b, native_magic, 8);
        build_u64(&b, 16);
        build_end(&b, build_begin(&b, PERFILE_RECORD_FINISHED_ROUND, 0));
    }
    outcome o = read_all(built(&b), false);
    assert_int_equal(o.sum.records, 2);
    assert_int_equal(o.first_damage, PERFILE_DAMAGE_CONCATENATED);
    assert_int_equal(o.damage_at, 24);
    assert_int_equal(o.sum.lost, 16);
    build_clear(&b);
}

/* The session has what stands behind the record, whatever the source holds of the file. */
static void has_tracing_data(perfile_source *source, perfile_bytes data)
{
    const perfile_open_options options = {.size = sizeof options};
    perfile_stream *s;
    const perfile_record *r;
    unsigned n = 0;
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    for (; perfile_stream_next(s, &r, NULL) == PERFILE_OK; n++)
        if (r->type == PERFILE_RECORD_HEADER_TRACING_DATA)
            assert_int_equal(r->extra.len, data.len);
    assert_int_equal(n, 3);
    const perfile_feature *f =
        perfile_session_feature(perfile_stream_session(s), PERFILE_FEATURE_TRACING_DATA);
    assert_non_null(f);
    assert_int_equal(f->payload.len, data.len);
    assert_memory_equal(f->payload.ptr, data.ptr, data.len);
    perfile_stream_close(s);
}

static void keeps_tracing_data_longer_than_a_window(void **state)
{
    (void)state;
    enum { DATA = 3 << 20 };
    builder b = {0}, data = {0};
    for (unsigned i = 0; i < DATA / 8; i++)
        build_u64(&data, i);
    build_bytes(&b, native_magic, 8);
    build_u64(&b, 16);
    build_end(&b, build_begin(&b, PERFILE_RECORD_FINISHED_ROUND, 0));
    size_t start = build_begin(&b, PERFILE_RECORD_HEADER_TRACING_DATA, 0);
    build_u32(&b, DATA);
    build_u32(&b, 0);
    build_end(&b, start);
    build_bytes(&b, data.b.ptr, DATA);
    build_end(&b, build_begin(&b, PERFILE_RECORD_FINISHED_ROUND, 0));

    perfile_source *source;
    const uint32_t flags[] = {0, PERFILE_SOURCE_SEQUENTIAL, PERFILE_SOURCE_NO_MAP};
    FILE *file = fopen("capture.data", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b.b.ptr, 1, b.b.len, file), b.b.len);
    assert_int_equal(fclose(file), 0);
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const perfile_source_options how = {.size = sizeof how, .flags = flags[i]};
        assert_int_equal(perfile_source_path("capture.data", &how, &source, NULL), PERFILE_OK);
        has_tracing_data(source, built(&data));
    }
    build_clear(&b);
    build_clear(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_good_file),
        cmocka_unit_test(refuses_what_is_no_capture),
        cmocka_unit_test(names_what_is_wrong),
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(keeps_an_attr_with_bad_ids),
        cmocka_unit_test(passes_over_records_that_were_overwritten),
        cmocka_unit_test(tells_when_streams_were_put_together),
        cmocka_unit_test(keeps_tracing_data_longer_than_a_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
