/* Fields that the caller drops: they go out of samples and of the trailers of all other records,
 * with what speaks of them in attrs, features and records; in both byte orders. */
#include "testing.h"

#include "instances.h"
#include "schema/rows.h"
#include "targeting.h"
#include "core/command.h"

#define FLAG(name) (UINT64_C(1) << PERFILE_ATTR_BIT_##name)

enum {
    TYPE = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ID |
           PERFILE_SAMPLE_STREAM_ID | PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD |
           PERFILE_SAMPLE_IDENTIFIER
};

static perfile_stream *open_stage(const builder *b, uint64_t drop, const char *version)
{
    const perfile_target_options to = {.size = sizeof to, .drop = drop, .version = version};
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(built(b), "built", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    if (drop)
        assert_int_equal(perfile_target(s, &to, &s, NULL), PERFILE_OK);
    return s;
}

/* A pipe of one event with some records of every type that has a trailer. */
static void all_types(builder *b, const build_attr_plan *plan)
{
    dice d = {7};
    size_t n;
    const pf_row *rows = pf_record_rows(&n);
    perfile_session *s = roll_session(plan, b->swap, 0);
    begin(b, plan);
    for (size_t i = 0; i < n; i++)
        for (unsigned times = 0; rows[i].number < PERFILE_RECORD_USER && times < 5; times++) {
            BUILDER body = {.swap = b->swap};
            uint16_t misc;
            assert_true(roll_record(&d, &rows[i], s, &misc, &body));
            body.b.len -= body.b.len % 8;
            build_record(b, rows[i].number, misc, built(&body));
        }
    pf_session_free(s);
}

static bool parts_of(const perfile_record *r, perfile_bytes *body, perfile_bytes *trailer)
{
    return pf_record_split(r, pf_record_layout(r, NULL), false, body, trailer);
}

/* The words of the trailer but for those of the dropped fields, and nothing else. */
static void check_trailer(const perfile_record *old, perfile_bytes had, const perfile_record *new,
                          perfile_bytes has, uint64_t drop)
{
    const perfile_layout *from = pf_record_layout(old, NULL);
    const perfile_layout *to = pf_record_layout(new, NULL);
    unsigned words = 0;
    for (unsigned bit = 0; bit < sizeof to->trailer_slot; bit++) {
        if (from->trailer_slot[bit] < 1)
            continue;
        assert_int_equal(to->trailer_slot[bit] < 1, drop >> bit & 1);
        if (drop >> bit & 1)
            continue;
        words++;
        assert_memory_equal(had.ptr + had.len - 8 * from->trailer_slot[bit],
                            has.ptr + has.len - 8 * to->trailer_slot[bit], 8);
    }
    assert_int_equal(has.len, 8 * words);
}

/* Whether there was a trailer. */
static bool check_record(const perfile_record *old, const perfile_record *new, uint64_t drop)
{
    perfile_bytes body, trailer, new_body, new_trailer;
    assert_int_equal(new->type, old->type);
    assert_int_equal(new->misc, old->misc);
    assert_int_equal(pf_load_u16(new->header + 6, new->flags &PERFILE_REC_SWAPPED),
                     perfile_record_size(new));
    if (old->type == PERFILE_RECORD_SAMPLE || !parts_of(old, &body, &trailer)) {
        assert_true(perfile_record_size(new) <= perfile_record_size(old));
        return false;
    }
    if (!parts_of(new, &new_body, &new_trailer))
        return false; /* noise that ends as a string without trailer would */
    assert_int_equal(new_body.len, body.len);
    assert_memory_equal(new_body.ptr, body.ptr, body.len);
    check_trailer(old, trailer, new, new_trailer, drop);
    return true;
}

static void trailers_go_with_the_field(void **state)
{
    static const uint64_t drops[] = {PERFILE_SAMPLE_TID, PERFILE_SAMPLE_TIME, PERFILE_SAMPLE_CPU,
                                     PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU,
                                     PERFILE_SAMPLE_PERIOD};
    const build_attr_plan plan = {.type = 1,
                                  .size = 128,
                                  .sample_type = TYPE,
                                  .read_format = PERFILE_FORMAT_ID,
                                  .flags = FLAG(SAMPLE_ID_ALL)};
    (void)state;
    FOR_BOTH_ORDERS(b)
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++) {
        BUILDER b = {.swap = b_swap};
        const perfile_record *old, *new;
        unsigned n = 0, trailers = 0;
        all_types(&b, &plan);
        perfile_stream *in = open_stage(&b, 0, NULL), *out = open_stage(&b, drops[i], NULL);
        while (perfile_stream_next(in, &old, NULL) == PERFILE_OK) {
            assert_int_equal(perfile_stream_next(out, &new, NULL), PERFILE_OK);
            n++;
            if (old->type < PERFILE_RECORD_USER)
                trailers += check_record(old, new, drops[i]);
        }
        assert_int_equal(perfile_stream_next(out, &new, NULL), PERFILE_END);
        assert_true(n > 90 && trailers > 60);
        perfile_stream_close(in);
        perfile_stream_close(out);
    }
}

/* An MMAP2 record that loses its build id to a record of its own loses the field as well. */
static void mappings_of_old_versions(void **state)
{
    build_attr_plan plan = chain_plan();
    perfile_mmap2 v;
    (void)state;
    FOR_BOTH_ORDERS(b)
    {
        BUILDER b = {.swap = b_swap};
        const perfile_record *r;
        begin(&b, &plan);
        size_t start = build_begin(&b, PERFILE_RECORD_MMAP2, PERFILE_MISC_MMAP_BUILD_ID | 2);
        build_zeros(&b, 32);
        build_u8(&b, 20);
        build_zeros(&b, 3 + 20 + 8);
        build_text(&b, "/bin/a");
        chain_trailer(&b, 7, 3);
        build_end(&b, start);
        perfile_stream *s = open_stage(&b, PERFILE_SAMPLE_TIME, "5.10");
        for (int i = 0; i < 3; i++)
            assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
        assert_int_equal(perfile_mmap2_decode(r, &v, sizeof v, NULL), PERFILE_OK);
        assert_true(v.has_inode && v.filename.len == 6);
        assert_int_equal(perfile_record_size(r), 8 + 64 + 8 + 8);
        assert_int_equal(perfile_record_time(r), PERFILE_NO_TIME);
        perfile_stream_close(s);
    }
}

/* Members and flags of attrs that have no say without the field. */
static void attrs_say_no_more(void **state)
{
    const uint64_t chain_flags = FLAG(EXCLUDE_CALLCHAIN_KERNEL) | FLAG(EXCLUDE_CALLCHAIN_USER) |
                                 FLAG(DEFER_CALLCHAIN) | FLAG(DEFER_OUTPUT);
    const build_attr_plan plan = {.type = 1,
                                  .size = 144,
                                  .sample_type = (UINT64_C(1) << 25) - 1,
                                  .branch = 1,
                                  .regs_user = 3,
                                  .regs_intr = 5,
                                  .flags = FLAG(SAMPLE_ID_ALL) | chain_flags};
    const uint64_t all = PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_BRANCH_STACK |
                         PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_REGS_INTR;
    (void)state;
    FOR_BOTH_ORDERS(b)
    for (uint64_t bit = 1; bit; bit = bit << 1 & all ? bit << 1 : bit > all ? 0 : bit << 1) {
        BUILDER b = {.swap = b_swap};
        const perfile_record *r;
        if (!(bit & all))
            continue;
        begin(&b, &plan);
        perfile_stream *s = open_stage(&b, bit, NULL);
        assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
        const perfile_attr *a = perfile_session_event(perfile_stream_session(s), 0)->attr;
        assert_true(a->sample_type == (plan.sample_type & ~bit));
        assert_true(a->flags ==
                    (bit == PERFILE_SAMPLE_CALLCHAIN ? FLAG(SAMPLE_ID_ALL) : plan.flags));
        assert_int_equal(a->branch_sample_type, bit != PERFILE_SAMPLE_BRANCH_STACK);
        assert_int_equal(a->sample_regs_user, bit == PERFILE_SAMPLE_REGS_USER ? 0 : 3);
        assert_int_equal(a->sample_regs_intr, bit == PERFILE_SAMPLE_REGS_INTR ? 0 : 5);
        perfile_stream_close(s);
    }
}

static void feature_record(builder *b, uint64_t number, size_t zeros)
{
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_FEATURE, 0);
    build_u64(b, number);
    build_zeros(b, zeros);
    build_end(b, start);
}

/* Features and records that speak of nothing but the field. */
static void features_and_records_go(void **state)
{
    static const struct {
        uint64_t drop;
        uint32_t feature, type;
    } cases[] = {{PERFILE_SAMPLE_BRANCH_STACK, PERFILE_FEATURE_BRANCH_STACK, 0},
                 {PERFILE_SAMPLE_TIME, PERFILE_FEATURE_SAMPLE_TIME, 0},
                 {PERFILE_SAMPLE_CALLCHAIN, 0, PERFILE_RECORD_CALLCHAIN_DEFERRED},
                 {PERFILE_SAMPLE_PERIOD, 0, 0}};
    build_attr_plan plan = chain_plan();
    (void)state;
    FOR_BOTH_ORDERS(b)
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        BUILDER b = {.swap = b_swap};
        const perfile_record *r;
        uint64_t features = 0, chains = 0;
        begin(&b, &plan);
        feature_record(&b, PERFILE_FEATURE_BRANCH_STACK, 0);
        feature_record(&b, PERFILE_FEATURE_SAMPLE_TIME, 16);
        feature_record(&b, PERFILE_FEATURE_CLOCKID, 8);
        feature_record(&b, 35, 0); /* the end of them */
        chain_sample(&b, 7, 1, 77);
        chain_rest(&b, 7, 77, 2, false);
        perfile_stream *s = open_stage(&b, cases[i].drop, NULL);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
            if (r->type == PERFILE_RECORD_HEADER_FEATURE)
                features |= UINT64_C(1) << pf_load_u64(r->body.ptr, b.swap);
            chains += r->type == PERFILE_RECORD_CALLCHAIN_DEFERRED;
        }
        assert_true(features == ((UINT64_C(1) << PERFILE_FEATURE_BRANCH_STACK |
                                  UINT64_C(1) << PERFILE_FEATURE_SAMPLE_TIME |
                                  UINT64_C(1) << PERFILE_FEATURE_CLOCKID | UINT64_C(1) << 35) &
                                 ~(UINT64_C(1) << cases[i].feature)));
        assert_int_equal(chains, cases[i].type == 0);
        perfile_target_summary sum;
        perfile_target_get_summary(s, &sum, sizeof sum);
        assert_int_equal(sum.losses, 0); /* what is asked for is none */
        perfile_stream_close(s);
    }
}

/* Of two events only one has ADDR in front of the id: without TID they would differ. */
static void ids_stay_at_one_place(void **state)
{
    const build_attr_plan plans[] = {
        {.type = 1, .size = 64, .sample_type = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_ID},
        {.type = 1, .size = 64, .sample_type = PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_ID}};
    const uint64_t drops[] = {PERFILE_SAMPLE_TID, PERFILE_SAMPLE_ADDR,
                              PERFILE_SAMPLE_TID | PERFILE_SAMPLE_ADDR};
    (void)state;
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++) {
        BUILDER b = {.swap = PF_NATIVE_BIG};
        perfile_error err;
        const perfile_record *r;
        build_bytes(&b, "PERFILE2", 8);
        build_u64(&b, 16);
        for (unsigned e = 0; e < 2; e++) {
            size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
            build_attr(&b, &plans[e]);
            build_u64(&b, 70 + e);
            build_end(&b, start);
        }
        perfile_stream *s = open_stage(&b, drops[i], NULL);
        perfile_status st;
        while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK)
            continue;
        assert_int_equal(st, i == 2 ? PERFILE_END : PERFILE_E_UNSUPPORTED);
        if (i < 2)
            assert_non_null(strstr(err.message, "at different places"));
        perfile_stream_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trailers_go_with_the_field), cmocka_unit_test(mappings_of_old_versions),
        cmocka_unit_test(attrs_say_no_more),          cmocka_unit_test(features_and_records_go),
        cmocka_unit_test(ids_stay_at_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
