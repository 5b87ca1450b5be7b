/* The catalogue: everything it shows is there, and what it decodes is what the decoders of the
 * types give. */
#include "captures.h"
#include "testing.h"

#include <inttypes.h>

#include "perfile/perfile.h"
#include "schema/rows.h"
#include "schema/command.h"

static void families(void **state)
{
    (void)state;
    perfile_family f;
    unsigned n = 0;
    while (perfile_family_at(n, &f, sizeof f)) {
        assert_int_equal(f.header_bytes, pf_family_header(f.number));
        n++;
    }
    assert_int_not_equal(n, 0);
    assert_true(perfile_family_at(0, &f, sizeof f));
    assert_string_equal(f.name, "perf");
    assert_int_equal(f.number, PERFILE_FAMILY_PERF);
    assert_false(perfile_family_at(SIZE_MAX, &f, sizeof f));
}

/* Every member lies inside its struct, and so does what says whether it is there. */
static unsigned check_struct(const perfile_struct *of)
{
    perfile_member m;
    unsigned n = 0;
    static const unsigned widths[] = {1,
                                      2,
                                      4,
                                      8,
                                      4,
                                      sizeof(perfile_bytes),
                                      sizeof(perfile_bytes),
                                      sizeof(perfile_words),
                                      sizeof(perfile_strings),
                                      0,
                                      sizeof(perfile_list)};
    while (perfile_struct_member(of, n, &m, sizeof m)) {
        assert_true(m.type < sizeof widths / sizeof widths[0]);
        assert_non_null(m.name);
        assert_non_null(m.doc);
        assert_non_null(perfile_kind_name(m.kind));
        bool nested = m.type == PERFILE_STORED_STRUCT || m.type == PERFILE_STORED_LIST;
        assert_int_equal(m.of != NULL, nested);
        size_t width = m.type == PERFILE_STORED_STRUCT ? m.of->bytes : widths[m.type];
        assert_true(m.offset + width <= of->bytes);
        assert_true(m.has == PERFILE_NO_MEMBER || m.has < of->bytes);
        n++;
    }
    return n;
}

static void types_and_features(void **state)
{
    (void)state;
    perfile_record_type t;
    perfile_feature_type f;
    size_t n, n_rows;
    unsigned members = 0;
    for (n = 0; perfile_record_type_at(PERFILE_FAMILY_PERF, n, &t, sizeof t); n++) {
        assert_string_equal(perfile_record_type_name(t.number), t.name);
        assert_non_null(t.decoded);
        assert_ptr_equal(perfile_struct_find(t.decoded->name) != NULL, true);
        members += check_struct(t.decoded);
    }
    (void)pf_record_rows(&n_rows);
    assert_int_equal(n, n_rows);
    for (n = 0; perfile_feature_type_at(n, &f, sizeof f); n++) {
        assert_string_equal(perfile_feature_name(f.number), f.name);
        members += check_struct(f.decoded);
    }
    (void)pf_feature_rows(&n_rows);
    assert_int_equal(n, n_rows);
    assert_true(members > 200);
    assert_false(perfile_record_type_at(77, 0, &t, sizeof t));
    assert_null(perfile_struct_find("no_such_struct"));
    assert_true(check_struct(perfile_struct_find("attr")) > 20);
}

static perfile_member member_of(const perfile_struct *of, const char *name)
{
    perfile_member m;
    for (size_t i = 0; perfile_struct_member(of, i, &m, sizeof m); i++)
        if (strcmp(m.name, name) == 0)
            return m;
    fail_msg("%s has no member %s", of->name, name);
    return m;
}

/* A struct of an older header, which ends earlier, is filled as far as it goes. */
static void older_headers(void **state)
{
    (void)state;
    perfile_record_type t;
    memset(&t, 0xff, sizeof t);
    assert_true(perfile_record_type_at(PERFILE_FAMILY_PERF, 0, &t, 2 * sizeof(uint32_t)));
    assert_string_equal(perfile_record_type_name(t.number), "SAMPLE");
    assert_int_equal((uintptr_t)t.name, UINTPTR_MAX);
}

static uint64_t number_of(const perfile_struct *of, const char *name, const void *decoded)
{
    perfile_member m = member_of(of, name);
    assert_true(perfile_member_is_there(&m, decoded));
    return perfile_member_number(&m, decoded);
}

/* Records of a capture by the catalogue alone, beside the decoders of their types. */
static void decoding(void **state)
{
    (void)state;
    static union {
        uint64_t aligned;
        uint8_t bytes[1 << 16];
    } room;
    builder b;
    perfile_source *in;
    perfile_stream *s;
    const perfile_record *r;
    perfile_mmap2 mmap2;
    perfile_sample sample;
    unsigned samples = 0, mappings = 0, others = 0;
    capture_make(&b, 0, false, 50);
    assert_int_equal(perfile_source_memory(built(&b), "capture", &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(in, NULL, &s, NULL), PERFILE_OK);
    const perfile_struct *of_sample = perfile_struct_find("sample");
    const perfile_struct *of_mmap2 = perfile_struct_find("mmap2");
    assert_int_equal(of_sample->bytes, sizeof sample);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        perfile_status st = perfile_decode(r, r->type, &room, sizeof room, NULL);
        assert_int_equal(st, PERFILE_OK);
        if (r->type == PERFILE_RECORD_SAMPLE) {
            assert_int_equal(perfile_sample_decode(r, &sample, sizeof sample, NULL), PERFILE_OK);
            assert_memory_equal(&room, &sample, sizeof sample);
            assert_int_equal(number_of(of_sample, "ip", &room), sample.ip);
            perfile_member absent = member_of(of_sample, "transaction");
            assert_int_equal(perfile_member_is_there(&absent, &room),
                             (sample.present & PERFILE_SAMPLE_TRANSACTION) != 0);
            samples++;
        } else if (r->type == PERFILE_RECORD_MMAP2) {
            assert_int_equal(perfile_mmap2_decode(r, &mmap2, sizeof mmap2, NULL), PERFILE_OK);
            assert_int_equal(number_of(of_mmap2, "addr", &room), mmap2.addr);
            perfile_member inode = member_of(of_mmap2, "ino");
            assert_int_equal(perfile_member_is_there(&inode, &room), mmap2.has_inode);
            mappings++;
        } else {
            others++;
        }
    }
    const perfile_session *session = perfile_stream_session(s);
    for (uint32_t i = 0; i < perfile_session_n_features(session); i++) {
        const perfile_feature *f = perfile_session_feature_at(session, i);
        perfile_status st = perfile_decode_feature(f, f->number, &room, sizeof room, NULL);
        assert_true(st == PERFILE_OK || !perfile_feature_name(f->number));
    }
    perfile_stream_close(s);
    build_clear(&b);
    assert_true(samples && samples + mappings + others > 50);
}

/* Lists of structs, stepped through without naming their type. */
static void lists(void **state)
{
    (void)state;
    const perfile_branch_entry given[] = {{.from = 1, .to = 2}, {.from = 3, .to = 4}};
    perfile_list list = perfile_branch_entry_list(given, 2, sizeof given[0]);
    const perfile_struct *of = perfile_struct_find("branch_entry");
    perfile_branch_entry entry;
    const perfile_member member = member_of(perfile_struct_find("branch_stack"), "lbr");
    assert_int_equal(member.list, PERFILE_LIST_branch_entry);
    assert_int_equal(perfile_next(&list, member.list, &entry, sizeof entry), PERFILE_OK);
    assert_int_equal(number_of(of, "to", &entry), 2);
    assert_int_equal(perfile_next(&list, member.list, &entry, sizeof entry), PERFILE_OK);
    assert_int_equal(number_of(of, "from", &entry), 3);
    assert_int_equal(perfile_next(&list, member.list, &entry, sizeof entry), PERFILE_END);
    assert_int_equal(perfile_next(&list, 1, &entry, sizeof entry), PERFILE_E_USAGE);
}

static void what_has_no_row(void **state)
{
    (void)state;
    const perfile_record unknown = {.type = 60, .family = PERFILE_FAMILY_PERF};
    const perfile_feature feature = {.number = 250};
    uint64_t room[64];
    size_t len;
    assert_int_equal(perfile_decode(&unknown, 60, room, sizeof room, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_decode(&unknown, PERFILE_RECORD_COMM, room, sizeof room, NULL),
                     PERFILE_E_USAGE);
    assert_int_equal(perfile_decode_feature(&feature, 250, room, sizeof room, NULL),
                     PERFILE_E_USAGE);
    assert_int_equal(
        perfile_decode_feature(&feature, PERFILE_FEATURE_HOSTNAME, room, sizeof room, NULL),
        PERFILE_E_USAGE);
    assert_int_equal(perfile_encode(60, room, sizeof room, NULL, NULL, 0, &len, NULL),
                     PERFILE_E_USAGE);
    assert_int_equal(
        perfile_encode(PERFILE_TYPE_FEATURE + 250, room, sizeof room, NULL, NULL, 0, &len, NULL),
        PERFILE_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families),      cmocka_unit_test(types_and_features),
        cmocka_unit_test(older_headers), cmocka_unit_test(decoding),
        cmocka_unit_test(lists),         cmocka_unit_test(what_has_no_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
