/* What is found in a capture that several threads look at is what one finds, in the same order, of
 * whole captures and of damaged ones. */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>

#include "ahead.h"
#include "base/buffer.h"
#include "captures.h"
#include "check/check.h"
#include "check/version.h"
#include "core/stream.h"
#include "perfile/perfile.h"
#include "random.h"
#include "recorded.h"

static uint64_t passed;

static void add(void *user, const perfile_finding *f)
{
    char line[1024];
    int n =
        snprintf(line, sizeof line, "%u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %u %s %s\n",
                 f->rule, f->severity, f->offset, f->sequence, f->stream_offset, f->part, f->event,
                 f->type, f->flags, f->field, f->message);
    assert_true(n > 0 && pf_buffer_append(user, line, (size_t)n));
}

/* All that the check says of a stream, which is closed: findings, then counts. */
static void look(perfile_stream *below, bool ahead, pf_buffer *said)
{
    perfile_stream *s;
    perfile_passed p;
    perfile_stream_summary sum;
    const perfile_record *r;
    size_t n;
    const perfile_check_options how = {.size = sizeof how, .finding = add, .user = said};
    assert_int_equal(perfile_check(below, &how, &s, NULL), PERFILE_OK);
    perfile_status st;
    do {
        while (ahead && (perfile_stream_pass(s, &p, sizeof p), p.samples + p.rounds))
            passed += p.samples + p.rounds;
        st = perfile_stream_next_run(s, &r, &n, NULL);
    } while (st == PERFILE_OK);
    perfile_stream_get_summary(s, &sum, sizeof sum);
    for (unsigned rule = 0; rule < PERFILE_RULE_LIMIT; rule++)
        for (unsigned severity = PERFILE_SEVERITY_NOTE; severity <= PERFILE_SEVERITY_ERROR;
             severity++) {
            perfile_check_summary t;
            perfile_check_get_summary(s, rule, severity, &t, sizeof t);
            if (t.count)
                assert_true(pf_buffer_append(said, &t, sizeof t));
        }
    const pf_check *c = pf_check_stage(s);
    const uint64_t numbers[] = {(uint64_t)st,     sum.records,          sum.bytes,
                                c->timed_records, c->unsorted,          c->rounds,
                                c->raw_samples,   c->first_id_offset,   c->after_round,
                                c->first_sample,  c->last_sample,       c->max_time,
                                c->n_seen,        c->unaligned_sizes,   c->last_type,
                                c->round_time,    c->after_round_offset};
    assert_true(pf_buffer_append(said, numbers, sizeof numbers));
    assert_true(pf_buffer_append(said, c->by_type, sizeof c->by_type));
    assert_true(pf_buffer_append(said, c->cpu_time, PF_CHECK_CPUS * sizeof *c->cpu_time));
    perfile_stream_close(s);
}

static bool open_stream(perfile_source *source, perfile_stream **s)
{
    const perfile_open_options options = {.size = sizeof options,
                                          .on_damage = PERFILE_ON_DAMAGE_RESYNC,
                                          .deliver = PERFILE_DELIVER_DAMAGE};
    if (perfile_open(source, &options, s, NULL) == PERFILE_OK)
        return true;
    perfile_source_close(source);
    return false;
}

static void compare(const char *name, perfile_bytes bytes, size_t block)
{
    perfile_source *memory, *ahead;
    perfile_stream *one, *many;
    pf_buffer said[2] = {{0}, {0}};
    assert_int_equal(perfile_source_memory(bytes, "memory", &memory, NULL), PERFILE_OK);
    open_ahead(bytes, 3, block, &ahead);
    bool opened = open_stream(memory, &one);
    assert_int_equal(open_stream(ahead, &many), opened);
    if (opened) {
        look(one, false, &said[0]);
        look(many, true, &said[1]);
        if (said[0].len != said[1].len || memcmp(said[0].ptr, said[1].ptr, said[0].len) != 0)
            fail_msg("%s: in blocks of %zu bytes something else is found:\n%.*s\nnot\n%.*s", name,
                     block, (int)said[1].len, (const char *)said[1].ptr, (int)said[0].len,
                     (const char *)said[0].ptr);
    }
    pf_buffer_free(&said[0]);
    pf_buffer_free(&said[1]);
}

/* Some copies with a few bytes changed. */
static void compare_damaged(const char *name, perfile_bytes bytes, size_t block, unsigned copies)
{
    for (unsigned i = 0; i < copies && bytes.len; i++) {
        uint8_t *copy = exact(bytes.ptr, bytes.len);
        for (unsigned k = 0; k <= i % 4; k++)
            copy[random_below((uint32_t)bytes.len)] ^= (uint8_t)(1 + random_below(255));
        compare(name, (perfile_bytes){copy, bytes.len}, block);
        free(copy);
    }
}

static void made(void **state)
{
    (void)state;
    for (unsigned form = 0; form < CAPTURE_FORMS; form++)
        for (unsigned swap = 0; swap < 2; swap++) {
            BUILDER b = {0};
            capture_make(&b, form, swap, 300);
            for (size_t block = 1000; block < 6000; block += 777)
                compare(capture_names[form], built(&b), block);
            compare_damaged(capture_names[form], built(&b), 2048, 20);
        }
}

static void add_sample(builder *b, uint32_t cpu, uint32_t pid, uint64_t ip, uint64_t time,
                       uint64_t period)
{
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, PERFILE_MISC_CPUMODE_USER);
    build_u64(b, 70);
    build_u64(b, ip);
    build_u32(b, pid);
    build_u32(b, pid + 1);
    build_u64(b, time);
    build_u32(b, cpu);
    build_u32(b, 0);
    build_u64(b, period);
    build_end(b, start);
}

/* Processors one after the other in rounds, each of which begins where it was before: the times of
 * blocks go on from those of the blocks before, or (`odd`) do not always. */
static void make_rounds(builder *b, unsigned odd)
{
    enum { ROUNDS = 12, CPUS = 2, EACH = 50 };
    uint64_t time[CPUS] = {1000, 1000};
    capture_header(b);
    for (unsigned i = 0; i < ROUNDS * CPUS * EACH; i++) {
        const unsigned cpu = i / EACH % CPUS;
        time[cpu] += random_below(20);
        const bool back = odd && random_below(30 * odd) == 0;
        const bool never = odd && random_below(60 * odd) == 0;
        add_sample(b, odd % 8 == 7 ? random_below(9) : cpu, 100 + random_below(3),
                   (uint64_t)random_below(64) << 12,
                   back ? random_below((uint32_t)time[cpu]) : time[cpu], never ? 0 : 1000);
        if (odd % 4 != 3 && i % (CPUS * EACH) == CPUS * EACH - 1)
            build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
    }
    capture_data_end(b);
}

static void rounds(void **state)
{
    enum { TRIES = 40 };
    (void)state;
    passed = 0;
    for (unsigned odd = 0; odd < TRIES; odd++)
        for (unsigned swap = 0; swap < 2; swap++) {
            BUILDER b = {.swap = swap};
            make_rounds(&b, odd);
            for (size_t block = 900; block < 9000; block += 1111)
                compare("rounds", built(&b), block);
        }
    assert_true(passed > TRIES * 1000);
}

/* What one block leaves is bounded: more processors, rounds and places than that. */
static void many(void **state)
{
    enum { RECORDS = 12000, BLOCK = 60000 };
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        BUILDER b = {0};
        passed = 0;
        capture_header(&b);
        for (unsigned i = 0; i < RECORDS; i++) {
            add_sample(&b, kind == 0 ? i % PF_CHECK_CPUS : 1, kind == 1 ? i + 1 : 100,
                       (uint64_t)(kind == 1 ? i : 7) << 12, 1000 + i, 1000);
            if (kind == 2)
                build_end(&b, build_begin(&b, PERFILE_RECORD_FINISHED_ROUND, 0));
        }
        capture_data_end(&b);
        compare("many", built(&b), BLOCK);
        assert_true(passed > RECORDS / 10 && passed < RECORDS);
    }
}

static void one_capture(const char *path, perfile_stream *s)
{
    enum { LARGE = 2 << 20 };
    static unsigned n;
    const char *every = getenv("PERFILE_EVERY");
    unsigned step = every ? (unsigned)strtoul(every, NULL, 10) : 1;
    (void)s;
    if (step > 1 && n++ % step)
        return;
    perfile_bytes bytes = recorded_file(path);
    if (bytes.len && bytes.len <= LARGE) {
        compare(path, bytes, 4096);
        compare_damaged(path, bytes, 4096, 1);
    }
    free((void *)(uintptr_t)bytes.ptr);
}

static void recorded(void **state)
{
    (void)state;
    passed = 0;
    assert_true(recorded_each(one_capture) >= 20);
    assert_true(!recorded_corpus() || getenv("PERFILE_EVERY") || passed > 1000);
    if (!recorded_corpus())
        print_message("\nnot tried: captures of others: there is no corpus\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made),
        cmocka_unit_test(rounds),
        cmocka_unit_test(many),
        cmocka_unit_test(recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
