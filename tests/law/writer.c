/* What the writer is given comes back, whatever the form; what goes wrong on the way is told, and
 * leaves nothing behind. */
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "decoded.h"
#include "instances.h"
#include "io/out.h"
#include "written.h"
#include "io/command.h"

enum { N = 210, ROUNDS = N / WRITTEN_ROUND };

static int n_names(void)
{
    DIR *dir = opendir(".");
    int n = -2; /* . and .. */
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void clear(void)
{
    assert_int_equal(system("rm -rf out"), 0);
    assert_int_equal(n_names(), 0);
}

static void check_sample(const perfile_record *r, uint32_t i)
{
    perfile_sample s;
    const perfile_event *e = perfile_record_event(r);
    assert_int_equal(perfile_sample_decode(r, &s, sizeof s, NULL), PERFILE_OK);
    assert_non_null(e);
    assert_int_equal(e->index, i % 3 == 2);
    assert_int_equal(s.identifier, 70 + e->index);
    assert_int_equal(s.ip, 0x400000 + i);
    assert_int_equal(s.tid, 100 + i % 2);
    assert_int_equal(s.time, 5000 + 10 * i);
    assert_int_equal(s.cpu, i % 2);
    assert_int_equal(s.period, 1 + i);
    assert_int_equal(s.callchain.n, i % 3 == 2 ? 2 : 0);
    if (s.callchain.n)
        assert_int_equal(perfile_word(&s.callchain, 0), 0x400000 + i);
    assert_int_equal(r->misc, 2);
}

static void check_session(const perfile_session *s, const perfile_writer_options *o)
{
    static const char *const names[2] = {"first", "second"};
    assert_int_equal(perfile_session_n_events(s), 2);
    for (unsigned i = 0; i < 2; i++) {
        const perfile_event *e = perfile_session_event(s, i);
        perfile_attr a = written_attr(i);
        assert_string_equal(e->name, names[i]);
        assert_int_equal(e->attr->sample_type, a.sample_type);
        assert_int_equal(e->attr->sample_period, a.sample_period);
        assert_int_equal(e->attr->config2, a.config2);
        assert_int_equal(e->attr->size, o->attr_size                        ? o->attr_size
                                        : i || o->form == PERFILE_FORM_FILE ? 72
                                                                            : 64);
        assert_int_equal(e->ids.n, 2);
        assert_int_equal(perfile_word(&e->ids, 1), 72 + i);
        assert_true(e->scale == (i ? 0.25 : 1));
        assert_string_equal(i ? e->unit : "joules", "joules");
    }
    assert_string_equal(perfile_session_fact(s, PERFILE_FACT_HOSTNAME), "host");
    assert_int_equal(perfile_session_n_cpus(s), 2);
    assert_int_equal(perfile_session_n_build_ids(s), 1);
    const perfile_build_id *id = perfile_session_build_id(s, 0);
    assert_int_equal(id->id.len, 20);
    assert_int_equal(id->pid, -1);
    assert_int_equal(perfile_session_swapped(s), pf_byte_order_swaps(o->byte_order));
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_CLOCK_DATA);
    perfile_clock_data clock;
    assert_non_null(f);
    assert_int_equal(perfile_clock_data_decode(f, &clock, sizeof clock, NULL), PERFILE_OK);
    assert_int_equal(clock.wall_clock_ns, 77);
}

static void check_container(const perfile_container *c, const perfile_writer_options *o)
{
    assert_int_equal(c->form, o->form);
    assert_int_equal(c->directory, o->directory);
    assert_int_equal(c->n_parts, o->directory ? 3 : 1);
    assert_int_equal(c->n_damages, 0);
    bool packed = c->features[0] >> PERFILE_FEATURE_COMPRESSED & 1;
    if (c->form == PERFILE_FORM_FILE) {
        assert_int_equal(packed, o->compress_level != 0);
        assert_int_equal(c->features[0] >> PERFILE_FEATURE_DIR_FORMAT & 1, o->directory);
    }
}

/* Reads it all; samples of a directory stand in two files. */
static void check_written(const char *path, const perfile_writer_options *o, uint32_t n)
{
    perfile_stream *s;
    const perfile_record *r;
    uint32_t at[3] = {0, 0, 1}, step = o->directory ? 2 : 1;
    unsigned rounds = 0, comms = 0, samples = 0, envelopes = 0;
    perfile_error err;
    assert_int_equal(perfile_open_path(path, NULL, &s, &err), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        envelopes += (r->flags & PERFILE_REC_ENVELOPE) != 0;
        rounds += r->type == PERFILE_RECORD_FINISHED_ROUND;
        if (r->type == PERFILE_RECORD_COMM) {
            perfile_sample_id id;
            comms++;
            assert_int_equal(perfile_sample_id_decode(r, &id, sizeof id, NULL), PERFILE_OK);
            assert_int_equal(id.identifier, 70);
            assert_int_equal(id.time, 4000);
        }
        if (r->type != PERFILE_RECORD_SAMPLE)
            continue;
        assert_int_equal(!(r->flags & PERFILE_REC_INNER), o->compress_level == 0);
        assert_int_equal(r->part != 0, o->directory);
        check_sample(r, at[r->part]);
        at[r->part] += step;
        samples++;
    }
    check_session(perfile_stream_session(s), o);
    check_container(perfile_stream_container(s), o);
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_int_equal(sum.damages, 0);
    assert_int_equal(samples, n);
    assert_int_equal(rounds, n / WRITTEN_ROUND);
    assert_int_equal(comms, 1);
    assert_int_equal(envelopes != 0, o->compress_level != 0);
    perfile_stream_close(s);
}

static void every_way_gives_it_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WRITTEN_WAYS; i++) {
        perfile_writer_options o = written_way(i);
        perfile_sink *sink;
        perfile_error err = {0};
        assert_int_equal(written_sink(&o, "out", &sink, NULL), PERFILE_OK);
        if (written(sink, &o, N, &err) != PERFILE_OK)
            fail_msg("way %u: %s", i, err.message);
        perfile_sink_close(sink);
        assert_int_equal(n_names(), 1);
        check_written("out", &o, N);
        clear();
    }
}

/* Records of many chunks, and such as are longer than one. */
static void compressed_records_may_be_of_any_size(void **state)
{
    (void)state;
    for (unsigned two = 0; two < 2; two++) {
        enum { LEAST = 8, MOST = 65528, COUNT = 300 };
        perfile_writer_options o = {
            .size = sizeof o, .compress_level = two ? 22 : 1, .compressed2 = two};
        perfile_sink *sink;
        perfile_writer *w;
        perfile_source *source;
        perfile_stream *s;
        const perfile_record *got;
        static uint8_t bytes[MOST];
        dice d = {two};
        assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint16_t size =
                (uint16_t)(i % 3 ? LEAST + 8 * roll(&d, 100) : 60000 + 8 * roll(&d, 692));
            for (size_t k = 8; k + 8 <= size; k += 8)
                pf_store_u64(bytes + k, i % 7 ? roll_u64(&d) : i, false);
            pf_store_u32(bytes, 20, false);
            pf_store_u16(bytes + 4, (uint16_t)i, false);
            pf_store_u16(bytes + 6, size, false);
            perfile_record r = {.header = bytes,
                                .body = {bytes + 8, (size_t)size - 8},
                                .type = 20,
                                .misc = (uint16_t)i};
            assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_OK);
        }
        assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
        assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                         PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        d = (dice){two};
        for (uint32_t i = 0; i < COUNT;) {
            assert_int_equal(perfile_stream_next(s, &got, NULL), PERFILE_OK);
            if (got->flags & PERFILE_REC_ENVELOPE) {
                perfile_compressed2 c;
                assert_true(got->body.len <= UINT16_MAX - 8);
                if (two)
                    assert_int_equal(perfile_compressed2_decode(got, &c, sizeof c, NULL),
                                     PERFILE_OK);
                continue;
            }
            size_t size = i % 3 ? LEAST + 8 * roll(&d, 100) : 60000 + 8 * roll(&d, 692);
            assert_int_equal(perfile_record_size(got), size);
            assert_int_equal(got->misc, i);
            for (size_t k = 0; k + 8 <= got->body.len; k += 8)
                assert_int_equal(pf_load_u64(got->body.ptr + k, false), i % 7 ? roll_u64(&d) : i);
            i++;
        }
        perfile_stream_close(s);
        perfile_writer_close(w);
        perfile_sink_close(sink);
    }
}

/* Each feature and each record from its struct, to what the encoder makes of it: nothing is added,
 * nothing is lost. */
static perfile_status set_again(perfile_writer *w, const perfile_feature *f, perfile_error *err)
{
    switch (f->number) {
#define SET_CASE(id, number)                                                                       \
    case number: {                                                                                 \
        perfile_##id v;                                                                            \
        return perfile_##id##_decode(f, &v, sizeof v, err) == PERFILE_OK                           \
                   ? perfile_writer_set_##id(w, &v, sizeof v, err)                                 \
                   : PERFILE_END;                                                                  \
    }
#define FEATURE(id, number, name, source, contract, doc) SET_CASE(id, number)
#include "perfile/format/features.def"
    default:
        return PERFILE_END;
    }
}

static uint64_t told(const perfile_feature *f)
{
    transcript t = {.no_zeros = true};
    decoded_settled = true;
    assert_int_equal(decoded_feature(&t, f, NULL), PERFILE_OK);
    decoded_settled = false;
    return t.hash;
}

static void every_feature_has_a_setter(void **state)
{
    (void)state;
    size_t n_rows;
    const pf_row *rows = pf_feature_rows(&n_rows);
    unsigned set = 0;
    for (size_t i = 0; i < 2 * n_rows; i++) {
        const pf_row *row = &rows[i / 2];
        bool swap = i % 2;
        dice d = {i};
        builder b = {.swap = swap};
        build_attr_plan plan = roll_plan(&d);
        perfile_session *s = roll_session(&plan, swap, 2);
        if (row->number == PERFILE_FEATURE_AUXTRACE)
            goto next; /* made by the writer */
        assert_true(roll_feature(&d, row, s, &b));
        perfile_feature f = feature_of_bytes(s, row->number, built(&b));
        perfile_writer_options o = {.size = sizeof o, .byte_order = pf_byte_order_of(swap)};
        perfile_nrcpus cpus = {.nr_cpus_avail = 2};
        perfile_sink *sink;
        perfile_writer *w;
        perfile_source *source;
        perfile_stream *in;
        perfile_error err = {0};
        assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_set_nrcpus(w, &cpus, sizeof cpus, NULL), PERFILE_OK);
        perfile_status st = set_again(w, &f, &err);
        if (st == PERFILE_OK) {
            assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
            assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                             PERFILE_OK);
            assert_int_equal(perfile_open(source, NULL, &in, NULL), PERFILE_OK);
            const perfile_feature *got =
                perfile_session_feature(perfile_stream_session(in), row->number);
            assert_non_null(got);
            assert_int_equal(told(got), told(&f));
            perfile_stream_close(in);
            set++;
        } else {
            assert_true(err.where && err.message[0]);
        }
        perfile_writer_close(w);
        perfile_sink_close(sink);
    next:
        pf_session_free(s);
        build_clear(&b);
    }
    if (set < n_rows) /* some instances cannot be made again: half of them at least can */
        fail_msg("only %u of %zu features were set", set, 2 * n_rows);
}

static perfile_status put_again(perfile_writer *w, const perfile_record *r,
                                const perfile_put_options *how, perfile_error *err)
{
    switch (r->type) {
#define PUT_CASE(id, number)                                                                       \
    case number: {                                                                                 \
        perfile_##id v;                                                                            \
        return perfile_##id##_decode(r, &v, sizeof v, err) == PERFILE_OK                           \
                   ? perfile_writer_put_##id(w, &v, sizeof v, how, err)                            \
                   : PERFILE_END;                                                                  \
    }
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PUT_CASE(id, number)
#include "perfile/format/sample.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PUT_CASE(id, number)
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    PUT_CASE(id, number)
#include "perfile/format/simpleperf.def"
    default:
        return PERFILE_END;
    }
}

static uint64_t told_record(const perfile_record *r)
{
    transcript t = {.no_zeros = true};
    decoded_settled = true;
    assert_int_equal(decoded_record(&t, r, NULL), PERFILE_OK);
    decoded_settled = false;
    return t.hash;
}

static void every_record_can_be_put(void **state)
{
    (void)state;
    enum { TURNS = 40 };
    size_t n_rows;
    const pf_row *rows = pf_record_rows(&n_rows);
    static const uint8_t zeros[1 << 16];
    for (size_t i = 0; i < n_rows; i++) {
        unsigned put = 0;
        for (unsigned turn = 0; turn < TURNS; turn++) {
            dice d = {i * TURNS + turn};
            builder b = {.swap = turn % 2}, attr = {.swap = turn % 2};
            build_attr_plan plan = roll_plan(&d);
            perfile_session *s = roll_session(&plan, b.swap, 0);
            uint16_t misc;
            perfile_writer_options o = {.size = sizeof o, .byte_order = pf_byte_order_of(b.swap)};
            perfile_sink *sink;
            perfile_writer *w;
            perfile_error err = {0};
            assert_true(roll_record(&d, &rows[i], s, &misc, &b));
            perfile_record r = record_of(s, rows[i].number, misc, built(&b));
            assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
            assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
            build_attr(&attr, &plan);
            assert_int_equal(perfile_writer_event(w, built(&attr), NULL, NULL), PERFILE_OK);
            perfile_put_options how = {
                .size = sizeof how, .misc = misc, .pid = 3, .tid = 4, .time = 5, .cpu = 6, .id = 7};
            perfile_status st = put_again(w, &r, &how, &err);
            uint64_t size = perfile_writer_bytes(w);
            for (uint64_t left = st == PERFILE_OK ? 1 << 20 : 0; left && size;) {
                st = perfile_writer_finish(w, NULL); /* what is announced behind it has to come */
                if (st == PERFILE_OK || perfile_writer_extra(w, (perfile_bytes){zeros, 1}, NULL))
                    break;
                left--;
            }
            if (st == PERFILE_OK && size) {
                perfile_source *source;
                perfile_stream *in;
                const perfile_record *got;
                assert_int_equal(
                    perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                    PERFILE_OK);
                assert_int_equal(perfile_open(source, NULL, &in, NULL), PERFILE_OK);
                assert_int_equal(perfile_stream_next(in, &got, NULL), PERFILE_OK);
                assert_int_equal(got->type, r.type);
                assert_int_equal(told_record(got), told_record(&r));
                perfile_stream_close(in);
                put++;
            } else if (!size) {
                assert_true(err.where && err.message[0]);
            }
            perfile_writer_close(w);
            perfile_sink_close(sink);
            pf_session_free(s);
            build_clear(&b);
            build_clear(&attr);
        }
        if (put == 0)
            fail_msg("no %s was put", rows[i].name);
    }
}

/* Memory that is refused at any time: that is what is said, and nothing is left. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WRITTEN_WAYS; i++) {
        perfile_writer_options o = written_way(i);
        uint64_t n = 0;
        for (uint64_t k = 0; k <= n; k++) {
            uint64_t before = pf_alloc_count;
            perfile_sink *sink = NULL;
            pf_alloc_fail_at = k ? before + k : 0;
            perfile_status st = written_sink(&o, "out", &sink, NULL);
            if (st == PERFILE_OK)
                st = written(sink, &o, N, NULL);
            if (st != PERFILE_OK && sink && o.progressive)
                pf_sink_abort(sink);
            perfile_sink_close(sink);
            pf_alloc_fail_at = 0;
            if (k == 0) {
                n = pf_alloc_count - before;
                assert_int_equal(st, PERFILE_OK);
                assert_int_equal(n_names(), 1);
                assert_int_equal(system("rm -rf out"), 0);
            } else if (st != PERFILE_E_NOMEM) {
                fail_msg("way %u: allocation %u of %u refused: status %d", i, (unsigned)k,
                         (unsigned)n, st);
            }
        }
        clear();
    }
}

/* The disk is full after so many bytes, in whatever file they are. */
static void every_write_may_fail(void **state)
{
    (void)state;
    struct rlimit was, now;
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    for (unsigned i = 0; i < WRITTEN_WAYS; i++) {
        perfile_writer_options o = written_way(i);
        bool written_all = false;
        for (rlim_t most = 0; !written_all; most += most < 300 ? 13 : 997) {
            perfile_sink *sink = NULL;
            perfile_error err = {0};
            now = was;
            now.rlim_cur = most;
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
            assert_int_equal(written_sink(&o, "out", &sink, NULL), PERFILE_OK);
            perfile_status st = written(sink, &o, N, &err);
            if (st != PERFILE_OK && o.progressive)
                pf_sink_abort(sink);
            perfile_sink_close(sink);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
            written_all = st == PERFILE_OK;
            if (!written_all) {
                assert_int_equal(st, PERFILE_E_IO);
                assert_int_equal(err.sys, EFBIG);
                assert_int_equal(n_names(), 0);
            }
            assert_true(most < 1 << 20);
        }
        check_written("out", &o, N);
        clear();
    }
}

/* The n-th call of a program's own write fails, or takes less than it could. */
typedef struct taker {
    unsigned calls, fails_at;
    int sys;
    pf_buffer got;
} taker;

static int64_t take(void *user, const void *bytes, size_t len)
{
    taker *t = user;
    t->calls++;
    if (t->calls == t->fails_at)
        return -t->sys;
    size_t n = t->calls % 3 ? len : (len + 1) / 2;
    assert_true(pf_buffer_append(&t->got, bytes, n));
    return (int64_t)n;
}

static void every_call_of_a_callback_may_fail(void **state)
{
    (void)state;
    static const int reasons[] = {ENOSPC, EPIPE, EIO};
    perfile_writer_options o = {.size = sizeof o, .form = PERFILE_FORM_PIPE, .progressive = true};
    bool through = false;
    for (unsigned k = 1; !through; k++) {
        taker t = {.fails_at = k, .sys = reasons[k % 3]};
        perfile_sink_callbacks c = {.size = sizeof c, .user = &t, .write = take};
        perfile_sink *sink;
        perfile_error err = {0};
        assert_int_equal(perfile_sink_callback(&c, "taker", &sink, NULL), PERFILE_OK);
        perfile_status st = written(sink, &o, N, &err);
        through = st == PERFILE_OK;
        if (!through) {
            assert_int_equal(st, PERFILE_E_IO);
            assert_int_equal(err.sys, reasons[k % 3]);
            assert_non_null(strstr(err.message, "'taker'"));
        } else {
            FILE *f = fopen("out", "wb");
            assert_non_null(f);
            assert_int_equal(fwrite(t.got.ptr, 1, t.got.len, f), t.got.len);
            assert_int_equal(fclose(f), 0);
            check_written("out", &o, N);
            clear();
            assert_true(k > ROUNDS);
        }
        perfile_sink_close(sink);
        pf_buffer_free(&t.got);
    }
}

static void records_need_no_memory(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WRITTEN_WAYS; i++) {
        perfile_writer_options o = written_way(i);
        perfile_sink *sink;
        perfile_writer *w;
        assert_int_equal(written_sink(&o, "out", &sink, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
        assert_int_equal(written_events(w, NULL), PERFILE_OK);
        assert_int_equal(written_records(w, 5000, o.directory, NULL), PERFILE_OK);
        uint64_t before = pf_alloc_count;
        for (uint32_t k = 0; k < 20000; k++)
            assert_int_equal(written_sample(w, k, o.directory ? 1 + k % 2 : 0, NULL), PERFILE_OK);
        assert_int_equal(pf_alloc_count, before);
        perfile_writer_close(w);
        perfile_sink_close(sink);
        assert_int_equal(system("rm -rf out"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_gives_it_back),
        cmocka_unit_test(compressed_records_may_be_of_any_size),
        cmocka_unit_test(every_feature_has_a_setter),
        cmocka_unit_test(every_record_can_be_put),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_write_may_fail),
        cmocka_unit_test(every_call_of_a_callback_may_fail),
        cmocka_unit_test(records_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
