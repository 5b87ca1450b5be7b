/* Every rule: an input that breaks it, made by changing a good capture at a named place, and the
 * good capture, which does not. */
#include "testing.h"

#include <stdio.h>

#include "base/alloc.h"
#include "check/check.h"
#include "check_cases.h"
#include "check/command.h"

typedef struct heard {
    uint64_t count[PERFILE_RULE_LIMIT];
    bool wrong;
    uint8_t worst[PERFILE_RULE_LIMIT]; /* severity */
} heard;

static void on_finding(void *user, const perfile_finding *f)
{
    heard *h = user;
    const perfile_rule *row = perfile_rule_of(f->rule);
    assert_non_null(row);
    h->count[f->rule]++;
    if (f->severity > h->worst[f->rule])
        h->worst[f->rule] = f->severity;
    /* What is told is what the row says. */
    if (!f->severity || (f->severity != row->severity && f->severity != row->lesser) ||
        !f->message[0])
        h->wrong = true;
}

static perfile_status check_stream(perfile_stream *s, const perfile_check_options *o, heard *h)
{
    const perfile_record *r;
    perfile_status st = perfile_check(s, o, &s, NULL);
    assert_int_equal(st, PERFILE_OK);
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        ;
    for (unsigned i = 0; i < PERFILE_RULE_LIMIT; i++) {
        const perfile_rule *row = perfile_rule_of(i);
        if (!row)
            continue;
        perfile_check_summary full, lesser;
        perfile_check_get_summary(s, i, row->severity, &full, sizeof full);
        perfile_check_get_summary(s, i, row->lesser, &lesser, sizeof lesser);
        assert_int_equal(full.count + lesser.count, h->count[i]);
    }
    perfile_stream_close(s);
    return st;
}

/* What the rules say of a capture. */
static void check(perfile_bytes bytes, heard *h)
{
    uint8_t *block = exact(bytes.ptr, bytes.len);
    perfile_source *source;
    perfile_stream *s;
    perfile_error err;
    perfile_open_options options = {.size = sizeof options, .deliver = PERFILE_DELIVER_DAMAGE};
    perfile_check_options o = {.size = sizeof o, .finding = on_finding, .user = h};
    *h = (heard){.wrong = false};
    assert_int_equal(
        perfile_source_memory((perfile_bytes){block, bytes.len}, "capture", &source, NULL),
        PERFILE_OK);
    if (perfile_open(source, &options, &s, &err) == PERFILE_OK) {
        assert_int_equal(check_stream(s, &o, h), PERFILE_END);
    } else {
        assert_true(pf_check_refused(&err, &o));
        perfile_source_close(source);
    }
    free(block);
    assert_false(h->wrong);
}

static void load(const char *name, builder *b)
{
    const char *source = getenv("PERFILE_SOURCE");
    char path[4096];
    uint8_t block[4096];
    snprintf(path, sizeof path, "%s/samples/captures/%s", source ? source : ".", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) != 0;)
        build_bytes(b, block, n);
    fclose(f);
}

/* The good capture of a case, and the one that breaks the rule. */
static void make(const rule_case *k, builder *good, builder *bad)
{
    /* Little-endian, like the samples and the words of the cases. */
    *good = *bad = (builder){{0}, PF_NATIVE_BIG};
    if (k->base) {
        load(k->base, good);
        build_bytes(bad, good->b.ptr, good->b.len);
        for (size_t i = 0; i < 2 && k->edits[i].kind; i++)
            edit_capture(bad, &k->edits[i]);
        return;
    }
    (k->whole_good ? k->whole_good : check_good)(good);
    if (k->whole) {
        k->whole(bad);
        return;
    }
    check_good(bad);
    k->piece(bad);
}

static void a_rule_is_broken_by_a_changed_capture_only(void **state)
{
    (void)state;
    unsigned failures = 0;
    for (size_t i = 0; i < N_CASES; i++) {
        const char *id = perfile_rule_of(cases[i].rule)->id;
        builder good, bad;
        heard before, after;
        make(&cases[i], &good, &bad);
        check(built(&good), &before);
        check(built(&bad), &after);
        if (before.count[cases[i].rule]) {
            fprintf(stderr, "%s (case %zu): the good capture breaks it\n", id, i);
            failures++;
        }
        if (!after.count[cases[i].rule]) {
            fprintf(stderr, "%s (case %zu): the changed capture does not break it\n", id, i);
            failures++;
        }
        build_clear(&good);
        build_clear(&bad);
    }
    assert_int_equal(failures, 0);
}

/* The severity of rules whose two cases look alike. */
static void the_milder_case_is_told_apart(void **state)
{
    (void)state;
    static const struct {
        rule_case k;
        unsigned severity;
    } told[] = {
        /* Records lie where the header says that there are none; or none do. */
        {EDITED(V_007, PLAIN, HEADER(48, 8, 0)), PERFILE_SEVERITY_ERROR},
        {EDITED(V_007, PLAIN, HEADER(48, 8, 0), FIRST_RECORD_CUT), PERFILE_SEVERITY_WARNING},
        /* perf 3.8 wrote names without an end when they fill their place. */
        {PIECE(V_208, piece_full_event_type), PERFILE_SEVERITY_NOTE},
        {PIECE(V_208, piece_cut_event_type), PERFILE_SEVERITY_ERROR},
        {PIECE(V_208, piece_no_string_end), PERFILE_SEVERITY_ERROR},
        /* perf asks cpu-clock for precise_ip 3 where there are no cycles; 1 is nobody's wish. */
        {EDITED(V_118, PLAIN, {AT_ATTR, 0, 0, "flags", 1, OP_OR, 1, 0x80}),
         PERFILE_SEVERITY_WARNING},
        {EDITED(V_118, PLAIN, {AT_ATTR, 0, 0, "flags", 1, OP_OR, 1, 0x80},
                {AT_ATTR, 0, 0, "flags", 2, OP_OR, 1, 1}),
         PERFILE_SEVERITY_NOTE},
    };
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        builder good, bad;
        heard h;
        make(&told[i].k, &good, &bad);
        check(built(&bad), &h);
        assert_int_equal(h.worst[told[i].k.rule], told[i].severity);
        build_clear(&good);
        build_clear(&bad);
    }
}

/* A directory is no bytes in memory.  Rules about archives are for others than the stage
 * (test_archive_verify.c), and perfmon buffers are another format (test_perfmon.c). */
static bool is_elsewhere(const perfile_rule *rule)
{
    return rule->number == PERFILE_RULE_V_018 || rule->where == PERFILE_RULE_SCOPE_ARCHIVE ||
           (rule->number >= PERFILE_RULE_V_801 && rule->number <= PERFILE_RULE_V_812);
}

static void every_rule_has_a_case(void **state)
{
    (void)state;
    unsigned missing = 0;
    for (unsigned rule = 0; rule < PERFILE_RULE_LIMIT; rule++) {
        const perfile_rule *row = perfile_rule_of(rule);
        bool has = !row || is_elsewhere(row);
        for (size_t i = 0; i < N_CASES; i++)
            has |= cases[i].rule == rule;
        if (!has) {
            fprintf(stderr, "%s has no case\n", perfile_rule_of(rule)->id);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

static void the_good_stream_breaks_no_rule(void **state)
{
    (void)state;
    builder b = {0};
    heard h;
    check_good(&b);
    check(built(&b), &h);
    for (unsigned rule = 0; rule < PERFILE_RULE_LIMIT; rule++) {
        if (h.count[rule] && rule != PERFILE_RULE_V_407)
            fprintf(stderr, "%s\n", perfile_rule_of(rule)->id);
        assert_true(h.count[rule] == 0 || rule == PERFILE_RULE_V_407); /* nothing is mapped in it */
    }
    build_clear(&b);
}

static void save(const char *path, const builder *b)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->b.ptr, 1, b->b.len, f), b->b.len);
    assert_int_equal(fclose(f), 0);
}

static uint64_t directory_findings(void)
{
    heard h = {.wrong = false};
    perfile_stream *s;
    perfile_open_options options = {.size = sizeof options, .deliver = PERFILE_DELIVER_DAMAGE};
    perfile_check_options o = {.size = sizeof o, .finding = on_finding, .user = &h};
    assert_int_equal(perfile_open_path("dir", &options, &s, NULL), PERFILE_OK);
    assert_int_equal(check_stream(s, &o, &h), PERFILE_END);
    return h.count[PERFILE_RULE_V_018];
}

static void a_directory_has_a_known_form(void **state)
{
    (void)state;
    builder data = {0}, part = {0};
    load("threads.data/data", &data);
    load("threads.data/data.0", &part);
    assert_int_equal(system("rm -rf dir && mkdir dir"), 0);
    save("dir/data", &data);
    save("dir/data.0", &part);
    assert_int_equal(directory_findings(), 0);
    static const edit version = FEATURE_SET(DIR_FORMAT, "version", 0, 8, 5);
    static const edit single = FEATURE_SET(DIR_FORMAT, "version", 0, 8, 0);
    edit_capture(&data, &version);
    save("dir/data", &data);
    assert_int_equal(directory_findings(), 1);
    edit_capture(&data, &single);
    save("dir/data", &data);
    assert_int_equal(directory_findings(), 1);
    build_clear(&data);
    build_clear(&part);
}

static void rows_are_whole_and_in_order(void **state)
{
    (void)state;
    const perfile_rule *r;
    size_t n = 0;
    for (; (r = perfile_rule_at(n)); n++) {
        assert_true(r->sentence[0] && r->why[0] && r->effect);
        assert_true(r->severity > r->lesser);
        assert_ptr_equal(pf_rule_find(r->id), r);
        assert_ptr_equal(perfile_rule_of(r->number), r);
        assert_int_equal(r->number, strtoul(r->id + 2, NULL, 10));
        assert_true(n == 0 || strcmp(perfile_rule_at(n - 1)->id, r->id) < 0);
    }
    assert_true(n > 100);
    assert_int_equal(PERFILE_RULE_V_302, 302);
    assert_ptr_equal(pf_rule_find("v-302"), perfile_rule_of(302));
    assert_null(pf_rule_find("V-3"));
    assert_null(perfile_rule_of(0));
    assert_null(perfile_rule_of(PERFILE_RULE_LIMIT));
}

static void all_damage_breaks_a_rule(void **state)
{
    (void)state;
    for (unsigned damage = 1; damage < PERFILE_N_DAMAGES; damage++)
        if (!perfile_rule_of(pf_rule_of_damage[damage]))
            fail_msg("damage %s has no rule", perfile_damage_name(damage));
}

/* Whether a sentence says what some version refuses or stops at. */
static bool judges(const char *sentence)
{
    static const char *const words[] = {"refuse", "stop", "every perf", "abort"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(sentence, words[i]))
            return true;
    const char *perf = strstr(sentence, "perf ");
    return perf && perf[5] >= '0' && perf[5] <= '9';
}

/* What versions of perf make of a rule stands in one table. */
static void verdicts_stand_in_one_place(void **state)
{
    (void)state;
    assert_true(judges("perf 7 skips it") && judges("every perf reads on"));
    assert_true(!judges("perf warns"));
    size_t n = 0, with_sentence = 0;
    const perfile_rule *r;
    for (size_t i = 0; (r = perfile_rule_at(i)); i++) {
        perfile_rule_verdict v;
        if (judges(r->effect))
            fail_msg("%s: its row in rules.def says what versions.def is for: %s", r->id,
                     r->effect);
        for (size_t k = 0; perfile_rule_verdict_at(r->number, k, &v, sizeof v); k++, n++) {
            size_t from = 0, to = 0;
            while (pf_check_version_at(from) && strcmp(pf_check_version_at(from), v.from))
                from++;
            while (pf_check_version_at(to) && strcmp(pf_check_version_at(to), v.to))
                to++;
            assert_true(from <= to && pf_check_version_at(to));
            assert_true(v.verdict <= PERFILE_VERDICT_REFUSES && v.form <= PERFILE_VERDICT_OF_PIPE);
            /* A milder case that nothing can be is a mistake in the table. */
            assert_true(!v.lesser || r->lesser);
            with_sentence += v.when != NULL;
        }
    }
    assert_true(n > 50 && with_sentence > 10);
}

static heard check_with(const char *only, const char *ignore, uint32_t severity, uint32_t most)
{
    heard h = {.wrong = false};
    builder b = {0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_open_options options = {.size = sizeof options, .deliver = PERFILE_DELIVER_DAMAGE};
    perfile_check_options o = {.size = sizeof o,
                               .finding = on_finding,
                               .user = &h,
                               .only = only,
                               .ignore = ignore,
                               .severity = severity,
                               .most = most};
    check_good(&b);
    piece_lost(&b);        /* a note V-215 */
    piece_extra_words(&b); /* a warning V-207 */
    piece_long_sample(&b); /* an error V-302 */
    piece_long_sample(&b); /* and another */
    assert_int_equal(perfile_source_memory(built(&b), "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_check(s, &o, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        ;
    perfile_stream_close(s);
    build_clear(&b);
    return h;
}

static void findings_are_chosen(void **state)
{
    (void)state;
    heard h = check_with(NULL, NULL, 0, 0);
    assert_int_equal(h.count[PERFILE_RULE_V_215], 1);
    assert_int_equal(h.count[PERFILE_RULE_V_207], 1);
    assert_int_equal(h.count[PERFILE_RULE_V_302], 2);
    h = check_with("V-3,v-207", NULL, 0, 0);
    assert_int_equal(h.count[PERFILE_RULE_V_215], 0);
    assert_int_equal(h.count[PERFILE_RULE_V_207], 1);
    assert_int_equal(h.count[PERFILE_RULE_V_302], 2);
    h = check_with(NULL, "V-302", PERFILE_SEVERITY_WARNING, 0);
    assert_int_equal(h.count[PERFILE_RULE_V_215], 0);
    assert_int_equal(h.count[PERFILE_RULE_V_207], 1);
    assert_int_equal(h.count[PERFILE_RULE_V_302], 0);
    h = check_with(NULL, NULL, 0, 1);
    assert_int_equal(h.count[PERFILE_RULE_V_302], 1);
}

/* Records are those of the stream below, at their places in memory; damage is looked at without
 * being asked for, and is not handed on then. */
static void records_pass_as_they_are(void **state)
{
    (void)state;
    builder b = {0};
    heard h = {.wrong = false};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    uint64_t offset = 16, n = 0;
    perfile_check_options o = {.size = sizeof o, .finding = on_finding, .user = &h};
    check_good(&b);
    build_zeros(&b, 16); /* a size of 0 */
    assert_int_equal(perfile_source_memory(built(&b), "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_check(s, &o, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        assert_int_equal(r->family, PERFILE_FAMILY_PERF);
        assert_int_equal(r->offset, offset);
        assert_int_equal(r->sequence, n++);
        assert_ptr_equal(r->header, b.b.ptr + offset);
        offset += perfile_record_size(r);
    }
    assert_int_equal(n, 4);
    assert_int_equal(h.count[PERFILE_RULE_V_201], 1);
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_int_equal(sum.records, n);
    assert_int_equal(sum.damages, 1);
    perfile_stream_close(s);
    build_clear(&b);
}

static void a_rule_that_is_none_is_refused(void **state)
{
    (void)state;
    builder b = {0};
    perfile_source *source;
    perfile_stream *s, *stage = NULL;
    perfile_error err;
    perfile_check_options o = {.size = sizeof o, .only = "V-302,V-999"};
    check_good(&b);
    assert_int_equal(perfile_source_memory(built(&b), "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_check(s, &o, &stage, &err), PERFILE_E_USAGE);
    assert_null(stage);
    assert_non_null(strstr(err.message, "V-999"));
    perfile_stream_close(s);
    build_clear(&b);
}

/* Every way to run out of memory: nothing leaks, and it is said. */
static perfile_status check_bytes(perfile_bytes bytes)
{
    perfile_source *source = NULL;
    perfile_stream *s = NULL, *stage = NULL;
    const perfile_record *r;
    perfile_status st = perfile_source_memory(bytes, "capture", &source, NULL);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, NULL, &s, NULL);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    st = perfile_check(s, NULL, &stage, NULL);
    while (st == PERFILE_OK)
        st = perfile_stream_next(stage, &r, NULL);
    perfile_stream_close(stage ? stage : s);
    return st;
}

static void a_failed_allocation_is_told(void **state)
{
    (void)state;
    builder b = {0};
    capture_make(&b, CAPTURE_FILE, false, 20);
    for (uint64_t n = 1;; n++) {
        pf_alloc_count = 0;
        pf_alloc_fail_at = n;
        perfile_status st = check_bytes(built(&b));
        bool refused = pf_alloc_count >= n;
        pf_alloc_fail_at = 0;
        if (!refused) {
            assert_int_equal(st, PERFILE_END);
            assert_true(n > 10);
            break;
        }
        assert_int_equal(st, PERFILE_E_NOMEM);
    }
    build_clear(&b);
}

/* Samples of ever new processes, pages, processors and cookies, and buffers that are ever new. */
static void everything_is_new(builder *b, uint32_t n)
{
    build_attr_plan plan = check_plan();
    plan.sample_type |= PERFILE_SAMPLE_CALLCHAIN;
    check_begin(b, &plan);
    for (uint32_t i = 1; i <= n; i++) {
        size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
        build_u64(b, 70);
        build_u64(b, 0x1000 * (uint64_t)i);
        build_u32(b, i);
        build_u32(b, i);
        build_u64(b, 5000 + (uint64_t)i);
        build_u32(b, i);
        build_u32(b, 0);
        build_u64(b, 1);
        build_u64(b, 3);
        build_u64(b, (uint64_t)-512);
        build_u64(b, (uint64_t)-640);
        build_u64(b, i);
        build_end(b, start);
        start = build_begin(b, PERFILE_RECORD_AUX, 0);
        build_u64(b, i);
        build_zeros(b, 16);
        capture_trailer(b, 0);
        memcpy(b->b.ptr + b->b.len - 16, &i, sizeof i); /* its processor */
        build_end(b, start);
        check_comm(b);
    }
}

static void what_is_remembered_is_bounded(void **state)
{
    (void)state;
    uint64_t allocations[2];
    for (uint32_t round = 0; round < 2; round++) {
        builder b = {0};
        everything_is_new(&b, round ? 100000 : 50000);
        pf_alloc_count = 0;
        assert_int_equal(check_bytes(built(&b)), PERFILE_END);
        allocations[round] = pf_alloc_count;
        build_clear(&b);
    }
    /* Twice as much takes no more, but for a step of what grows by doubling. */
    assert_true(allocations[1] <= allocations[0] + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_broken_by_a_changed_capture_only),
        cmocka_unit_test(the_milder_case_is_told_apart),
        cmocka_unit_test(every_rule_has_a_case),
        cmocka_unit_test(the_good_stream_breaks_no_rule),
        cmocka_unit_test(a_directory_has_a_known_form),
        cmocka_unit_test(rows_are_whole_and_in_order),
        cmocka_unit_test(all_damage_breaks_a_rule),
        cmocka_unit_test(verdicts_stand_in_one_place),
        cmocka_unit_test(findings_are_chosen),
        cmocka_unit_test(records_pass_as_they_are),
        cmocka_unit_test(a_rule_that_is_none_is_refused),
        cmocka_unit_test(a_failed_allocation_is_told),
        cmocka_unit_test(what_is_remembered_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
