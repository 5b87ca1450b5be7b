/* Small questions to the library: names, numbers and sizes, each with the answer that a program
 * expects. */
#include "captures.h"
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>

#include "perfile/perfile.h"
#include "base/command.h"
#include "emit/command.h"
#include "perfile/model.h"
#include "perfile/text.h"
#include "schema/command.h"
#include "sort/command.h"
#include "transform/command.h"

enum { SAMPLES = 30 };

static perfile_stream *opened(builder *b)
{
    perfile_source *in;
    perfile_stream *s;
    capture_make(b, 0, false, SAMPLES);
    assert_int_equal(perfile_source_memory(built(b), "capture", &in, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(in, NULL, &s, NULL), PERFILE_OK);
    return s;
}

static void names_and_numbers(void **state)
{
    (void)state;
    assert_int_equal(perfile_record_type_number("MMAP2"), PERFILE_RECORD_MMAP2);
    assert_int_equal(perfile_record_type_number("PERF_RECORD_mmap2"), PERFILE_RECORD_MMAP2);
    assert_int_equal(perfile_record_type_number("no such type"), 0);
    assert_string_equal(perfile_type_name(PERFILE_FAMILY_PERF, PERFILE_RECORD_COMM), "COMM");
    assert_null(perfile_type_name(PERFILE_FAMILY_DAMAGE, PERFILE_RECORD_COMM));
    assert_true(pf_record_type_in_contract(PERFILE_RECORD_SAMPLE));
    assert_false(pf_record_type_in_contract(60));
    assert_string_equal(perfile_status_text(PERFILE_E_TRUNCATED), "truncated input");
    assert_string_equal(perfile_rule_scope_name(PERFILE_RULE_SCOPE_SAMPLE), "sample");
    assert_string_equal(perfile_rule_scope_name(77), "");
    assert_string_equal(pf_merge_clock_name(PF_MERGE_CLOCK_BOOT), "same boot");
    assert_string_equal(pf_merge_clock_name(77), "");
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", PERFILE_VERSION_MAJOR, PERFILE_VERSION_MINOR,
             PERFILE_VERSION_PATCH);
    assert_string_equal(perfile_version(), version);
    uint32_t code;
    assert_int_equal(perfile_utf8_char((const uint8_t *)"\xc3\xa4", 2, &code), 2);
    assert_int_equal(code, 0xe4);
    assert_int_equal(perfile_utf8_char((const uint8_t *)"\xc3\xa4", 1, NULL), 0);
    assert_true(pf_is_printable('a'));
    assert_true(pf_is_printable(0xe4));
    assert_false(pf_is_printable(0x1b));
    assert_false(pf_is_printable(0x202e)); /* sets the direction of writing */
}

static void outputs_and_targets(void **state)
{
    (void)state;
    bool file = false, directory = false;
    const perfile_output *o;
    for (size_t i = 0; (o = perfile_output_at(i)); i++) {
        assert_non_null(o->doc);
        file |= strcmp(o->name, "perf.data") == 0 && o->form == PERFILE_FORM_FILE;
        directory |= o->directory;
    }
    assert_true(file && directory);
    assert_true(pf_target_has_feature("perf-6.1", PERFILE_FEATURE_CLOCK_DATA));
    assert_false(pf_target_has_feature("3.8", PERFILE_FEATURE_CLOCK_DATA));
    assert_false(pf_target_has_feature("no version", PERFILE_FEATURE_HOSTNAME));
    bool model = false;
    perfile_error err;
    assert_int_equal(pf_emit_fields_check("time,comm,ip", &model, &err), PERFILE_OK);
    assert_true(model);
    assert_int_equal(pf_emit_fields_check("time,ip", &model, &err), PERFILE_OK);
    assert_false(model);
    assert_int_equal(pf_emit_fields_check("time,mmap2.nosuch", &model, &err), PERFILE_E_USAGE);
    assert_non_null(strstr(err.message, "nosuch"));
    assert_int_equal(pf_emit_fields_check("time,prev_pid", &model, &err), PERFILE_OK);
}

/* Columns one by one: a number, a step of it, a name, and what the record does not have. */
static void columns(void **state)
{
    (void)state;
    builder b;
    const perfile_record *r;
    pf_columns *c;
    perfile_bytes text;
    perfile_stream *s = opened(&b);
    unsigned n = 0;
    assert_int_equal(pf_columns_open(NULL, NULL, "pid,pid/10,event,comm", &c, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        char whole[32], step[32];
        perfile_sample sample;
        if (perfile_sample_decode(r, &sample, sizeof sample, NULL) != PERFILE_OK)
            continue;
        snprintf(whole, sizeof whole, "%" PRIu32, sample.pid);
        snprintf(step, sizeof step, "%" PRIu32, sample.pid / 10 * 10);
        assert_int_equal(pf_columns_text(c, r, 0, &text, NULL), PERFILE_OK);
        assert_true(text.len == strlen(whole) && memcmp(text.ptr, whole, text.len) == 0);
        assert_int_equal(pf_columns_text(c, r, 1, &text, NULL), PERFILE_OK);
        assert_true(text.len == strlen(step) && memcmp(text.ptr, step, text.len) == 0);
        assert_int_equal(pf_columns_text(c, r, 2, &text, NULL), PERFILE_OK);
        assert_true(text.len > 0);
        assert_int_equal(pf_columns_text(c, r, 3, &text, NULL), PERFILE_END);
        n++;
    }
    assert_int_equal(n, SAMPLES);
    pf_columns_close(c);
    pf_columns_close(NULL);
    assert_int_equal(pf_columns_open(NULL, NULL, "pid/x", &c, NULL), PERFILE_E_USAGE);
    perfile_stream_close(s);
    build_clear(&b);
}

/* These two are inline in C, and functions of the library for everyone else. */
static size_t (*const volatile size_of)(const perfile_record *) = perfile_record_size;
static uint32_t (*const volatile type_of)(const perfile_record *) = perfile_record_stored_type;

/* A record's size and type as stored; what its thread is called and what is mapped there. */
static void records(void **state)
{
    (void)state;
    builder b;
    const perfile_record *r;
    perfile_model *model;
    perfile_stream *s = opened(&b);
    unsigned named = 0, mapped = 0;
    assert_int_equal(perfile_model_open(perfile_stream_session(s), &model, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        assert_int_equal(size_of(r), pf_load_u16(r->header + 6, false));
        assert_int_equal(type_of(r), pf_load_u32(r->header, false));
        assert_int_equal(perfile_model_feed(model, r, NULL), PERFILE_OK);
        if (r->type != PERFILE_RECORD_SAMPLE)
            continue;
        const char *comm = perfile_model_record_comm(model, r);
        named += comm && strcmp(comm, "work") == 0;
        const perfile_mapping *m = perfile_model_record_mapping(model, r);
        if (m) {
            perfile_bytes dso = perfile_mapping_dso(m);
            assert_int_equal(dso.len, strlen("/usr/bin/work"));
            assert_memory_equal(dso.ptr, "/usr/bin/work", dso.len);
            mapped++;
        }
    }
    assert_int_equal(named, SAMPLES);
    assert_int_not_equal(mapped, 0);
    perfile_model_close(model);
    perfile_stream_close(s);
    build_clear(&b);
}

/* A merge says which number the ids of its inputs have in the output. */
static void merged_ids(void **state)
{
    (void)state;
    builder b[2];
    perfile_merge_input in[2] = {{.name = "one"}, {.name = "other", .has_offset = true}};
    perfile_stream *s;
    pf_merge_id_pair pair;
    for (unsigned i = 0; i < 2; i++) {
        in[i].stream = opened(&b[i]);
        assert_int_equal(perfile_sort(in[i].stream, NULL, &in[i].stream, NULL), PERFILE_OK);
    }
    assert_int_equal(perfile_merge(in, 2, NULL, &s, NULL), PERFILE_OK);
    for (size_t i = 0; i < 2; i++) {
        size_t n = 0;
        while (pf_merge_get_id(s, i, n, &pair, sizeof pair)) {
            assert_int_equal(pair.id, 70 + n); /* as capture_header() has them */
            assert_non_null(perfile_session_event_by_id(perfile_stream_session(s), pair.new_id));
            n++;
        }
        assert_int_equal(n, 2);
    }
    assert_false(pf_merge_get_id(s, 2, 0, &pair, sizeof pair));
    perfile_stream_close(s);
    build_clear(&b[0]);
    build_clear(&b[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers), cmocka_unit_test(outputs_and_targets),
        cmocka_unit_test(columns), cmocka_unit_test(records), cmocka_unit_test(merged_ids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
