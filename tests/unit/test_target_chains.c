/* Call chains that come later, merged into their samples: records that wait, and how long. */
#include "testing.h"

#include "targeting.h"

static void chain_comm(builder *b)
{
    size_t start = build_begin(b, PERFILE_RECORD_COMM, 0);
    build_u32(b, 5);
    build_u32(b, 6);
    build_text(b, "work");
    chain_trailer(b, 6, 20);
    build_end(b, start);
}

static void same_chain(const perfile_sample *v, const uint64_t *words, size_t n)
{
    assert_int_equal(v->callchain.n, n);
    for (size_t i = 0; i < n; i++)
        assert_true(perfile_word(&v->callchain, i) == words[i]);
    assert_false(v->has_extra);
    assert_true(v->period == 1000 + v->time);
}

static void chains_are_merged(void **state)
{
    static const uint64_t whole[] = {(uint64_t)-128, 0x100, USER, 0x5000, 0x5001};
    build_attr_plan plan = chain_plan();
    result out;
    (void)state;
    FOR_BOTH_ORDERS(b)
    {
        BUILDER b = {.swap = b_swap};
        begin(&b, &plan);
        chain_sample(&b, 7, 1, 77);
        chain_sample(&b, 8, 2, 77); /* never comes */
        chain_comm(&b);
        chain_sample(&b, 7, 3, 77);
        chain_rest(&b, 7, 77, 2, false);
        chain_sample(&b, 7, 4, 0);
        chain_sample(&b, 7, 5, 78);
        chain_rest(&b, 7, 78, 2, true);
        chain_rest(&b, 7, 78, 2, true); /* nobody waits */
        build_end(&b, build_begin(&b, PERFILE_RECORD_FINISHED_ROUND, 0));
        run(&out, &b, "perf-6.1");
        const uint32_t types[] = {64, 9, 9, 3, 9, 9, 9, 68};
        assert_int_equal(out.n, 8);
        for (size_t i = 0; i < out.n; i++)
            assert_int_equal(out.records[i]->type, types[i]);
        for (size_t i = 0; i < 5; i++) {
            perfile_sample v = sample_at(&out, i);
            assert_int_equal(v.time, i + 1);
            same_chain(&v, whole, i == 1 || i == 3 ? 2 : 5);
        }
        assert_int_equal(perfile_record_time(nth(&out, 3, 0)), 20);
        assert_int_equal(out.sum.merged, 3);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_CHAIN_MISSING], 1);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_CHAIN_ALONE], 1);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_CHAIN_LIMIT], 0);
        assert_int_equal(out.lost[PERFILE_TARGET_LOSS_ATTR_BIT], 1);
        assert_non_null(strstr(out.names, "flags.defer_callchain"));
        assert_true(out.sum.losses == 3);
        done(&out);

        run(&out, &b, "perf-7.3"); /* it knows them: all stays */
        assert_int_equal(out.n, 11);
        assert_int_equal(out.sum.losses + out.sum.changed + out.sum.dropped, 0);
        done(&out);
    }
}

/* Few bytes may be held: samples go on without, and all is in order and counted. */
static void waiting_has_a_limit(void **state)
{
    build_attr_plan plan = chain_plan();
    result out;
    (void)state;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    for (unsigned i = 0; i < 30; i++)
        chain_sample(&b, 7, i + 1, 100 + i);
    for (unsigned i = 0; i < 30; i++)
        chain_rest(&b, 7, 100 + i, 2, false);
    run_with(&out, &b, "6.1", 3000);
    assert_int_equal(n_of(&out, PERFILE_RECORD_SAMPLE), 30);
    for (unsigned i = 0; i < 30; i++)
        assert_int_equal(sample_at(&out, i).time, i + 1);
    /* The whole is one run of the input: what is over the limit goes at once behind it. */
    assert_true(out.sum.merged + out.lost[PERFILE_TARGET_LOSS_CHAIN_LIMIT] == 30);
    assert_true(out.lost[PERFILE_TARGET_LOSS_CHAIN_ALONE] ==
                out.lost[PERFILE_TARGET_LOSS_CHAIN_LIMIT]);
    done(&out);

    run_with(&out, &b, "6.1", 0);
    assert_int_equal(out.sum.merged, 30);
    assert_int_equal(out.sum.losses, 1); /* the bit of the attr */
    done(&out);
}

/* A waiting one in front of more than a run: what it must not do is wait for ever. */
static void the_limit_is_kept(void **state)
{
    enum { N = 5000, LIMIT = 20000 };
    build_attr_plan plan = chain_plan();
    const perfile_limits limits = {.size = sizeof limits, .held_bytes = LIMIT};
    const perfile_open_options options = {.size = sizeof options, .limits = &limits};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    uint64_t last = 0, n = 0;
    result out = {.n = 0};
    const perfile_target_options to = {
        .size = sizeof to, .version = "5.15", .loss = on_loss, .user = &out};
    (void)state;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    for (unsigned i = 0; i < N; i++)
        chain_sample(&b, 7, i + 1, i % 100 ? 0 : 9 + i);
    chain_rest(&b, 7, 9, 2, false);
    assert_int_equal(perfile_source_memory(built(&b), "built", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_target(s, &to, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->type != PERFILE_RECORD_SAMPLE)
            continue;
        assert_true(perfile_record_time(r) == ++last);
        n++;
    }
    assert_int_equal(n, N);
    perfile_target_get_summary(s, &out.sum, sizeof out.sum);
    assert_true(out.sum.held > LIMIT / 2 && out.sum.held < 3 * LIMIT);
    assert_int_equal(out.lost[PERFILE_TARGET_LOSS_CHAIN_LIMIT] +
                         out.lost[PERFILE_TARGET_LOSS_CHAIN_MISSING],
                     N / 100);
    perfile_stream_close(s);
}

/* A chain that would make the record too long; one with an impossible count. */
static void chains_that_do_not_fit(void **state)
{
    build_attr_plan plan = chain_plan();
    result out;
    (void)state;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    chain_sample(&b, 7, 1, 77);
    chain_rest(&b, 7, 77, 8186, false);
    run(&out, &b, "6.1");
    assert_int_equal(out.lost[PERFILE_TARGET_LOSS_CHAIN_LIMIT], 1);
    assert_int_equal(sample_at(&out, 0).callchain.n, 2);
    done(&out);

    size_t start = build_begin(&b, PERFILE_RECORD_CALLCHAIN_DEFERRED, 0);
    build_u64(&b, 77);
    build_u64(&b, UINT64_MAX / 4);
    build_end(&b, start);
    run(&out, &b, "6.1");
    assert_int_equal(out.lost[PERFILE_TARGET_LOSS_UNREADABLE], 1);
    done(&out);
}

/* Trace data that are read piece by piece cannot wait: who waits in front of them goes on. */
static void payloads_do_not_wait(void **state)
{
    enum { PAYLOAD = 3 << 20 };
    build_attr_plan plan = chain_plan();
    result out = {.n = 0};
    perfile_source *source;
    perfile_stream *s;
    (void)state;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    chain_sample(&b, 7, 1, 77);
    size_t start = build_begin(&b, PERFILE_RECORD_AUXTRACE, 0);
    build_u64(&b, PAYLOAD);
    build_zeros(&b, 32);
    build_end(&b, start);
    build_zeros(&b, PAYLOAD);
    chain_rest(&b, 7, 77, 2, false);
    dripping d = {.bytes = built(&b), .most = 1 << 16};
    assert_int_equal(dripping_open(&d, false, NULL, &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    take(&out, s, "6.1");
    assert_int_equal(out.extra, PAYLOAD);
    assert_int_equal(out.lost[PERFILE_TARGET_LOSS_CHAIN_LIMIT], 1);
    assert_int_equal(out.lost[PERFILE_TARGET_LOSS_CHAIN_ALONE], 1);
    done(&out);

    run(&out, &b, "6.1"); /* in memory they can */
    assert_int_equal(out.extra, PAYLOAD);
    assert_int_equal(out.sum.merged, 1);
    done(&out);
}

/* Records that are rewritten, held and merged: nothing is allocated for each of them. */
static void steady_state(void **state)
{
    enum { N = 20000, WARM = 2000 };
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    uint64_t n = 0, settled = 0;
    const perfile_target_options to = {.size = sizeof to, .version = "5.10"};
    (void)state;
    build_attr_plan plan = chain_plan();
    plan.sample_type |= PERFILE_SAMPLE_DATA_PAGE_SIZE;
    BUILDER b = {.swap = false};
    begin(&b, &plan);
    for (unsigned i = 0; i < N; i++) {
        size_t start = b.b.len;
        chain_sample(&b, 7, i + 1, i % 3 ? 0 : 100 + i);
        build_u64(&b, 4096);
        build_end(&b, start);
        if (i % 9 == 8)
            for (unsigned k = 9; k > 0; k -= 3)
                chain_rest(&b, 7, 101 + i - k, 2, false);
    }
    assert_int_equal(perfile_source_memory(built(&b), "built", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_target(s, &to, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        if (++n == WARM)
            settled = pf_alloc_count;
    perfile_target_summary sum;
    perfile_target_get_summary(s, &sum, sizeof sum);
    assert_int_equal(n, N + 1);
    assert_true(sum.merged > N / 3 - 5 && sum.changed >= N);
    assert_int_equal(pf_alloc_count, settled);
    perfile_stream_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_merged),    cmocka_unit_test(waiting_has_a_limit),
        cmocka_unit_test(the_limit_is_kept),    cmocka_unit_test(chains_that_do_not_fit),
        cmocka_unit_test(payloads_do_not_wait), cmocka_unit_test(steady_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
