/* The writer at its edges: what it refuses, in which words, and what is there afterwards. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captures.h"
#include "perfile/ring.h"
#include "written.h"

static perfile_error err;

static perfile_writer *open_writer(uint32_t form, perfile_sink **sink)
{
    perfile_writer_options o = {.size = sizeof o, .form = form};
    perfile_writer *w;
    assert_int_equal(perfile_sink_memory("m", sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(*sink, &o, &w, NULL), PERFILE_OK);
    return w;
}

static void close_writer(perfile_writer *w, perfile_sink *sink)
{
    perfile_writer_close(w);
    perfile_sink_close(sink);
}

static void says(perfile_status got, perfile_status wanted, const char *words)
{
    assert_int_equal(got, wanted);
    if (!strstr(err.message, words))
        fail_msg("'%s' is not in: %s", words, err.message);
}

static perfile_new_event new_event(const perfile_attr *a, const uint64_t *ids, size_t n)
{
    return (perfile_new_event){
        .size = sizeof(perfile_new_event), .attr = a, .ids = ids, .n_ids = n, .name = "e"};
}

static void options_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        perfile_writer_options o;
        const char *words;
    } bad[] = {
        {{.form = 7}, "form 7"},
        {{.attr_size = 63}, "63 bytes"},
        {{.attr_size = 70}, "a multiple of 8"},
        {{.attr_size = 5000}, "5000"},
        {{.compress_level = 23}, "level 23"},
        {{.compress_level = -3}, "level -3"},
    };
    perfile_sink *sink;
    perfile_writer *w;
    assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        perfile_writer_options o = bad[i].o;
        o.size = sizeof o;
        says(perfile_writer_open(sink, &o, &w, &err), PERFILE_E_USAGE, bad[i].words);
    }
    perfile_sink_close(sink);
    perfile_writer_options o = {.size = sizeof o, .directory = true, .progressive = true};
    says(perfile_writer_open_path("out", &o, &w, &err), PERFILE_E_USAGE, "directory");
    o.progressive = false;
    o.form = PERFILE_FORM_PIPE;
    says(perfile_writer_open_path("out", &o, &w, &err), PERFILE_E_USAGE, "pipes");
    o.form = PERFILE_FORM_FILE;
    says(perfile_writer_open_path("-", &o, &w, &err), PERFILE_E_USAGE, "not a name");
    says(perfile_writer_open_path("no/where", &o, &w, &err), PERFILE_E_IO, "No such file");
    assert_int_equal(access("out", F_OK), -1);
}

static void events_that_cannot_be_told_apart(void **state)
{
    (void)state;
    const uint64_t id[3] = {5, 6, 7}, all = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL;
    const uint64_t ip = PERFILE_SAMPLE_IP, with_id = PERFILE_SAMPLE_ID | ip;
    const uint64_t identifier = PERFILE_SAMPLE_IDENTIFIER | ip;
    const struct {
        uint64_t type[2], flags[2], read[2];
        const uint64_t *ids[2];
        const char *words;
    } pairs[] = {
        {{ip, ip}, {0}, {0}, {&id[0], &id[1]}, "IDENTIFIER or ID"},
        {{identifier, ip}, {0}, {0}, {&id[0], &id[1]}, "IDENTIFIER or ID"},
        {{identifier, identifier}, {0}, {0}, {NULL, &id[1]}, "need ids"},
        {{identifier, identifier}, {0}, {0}, {&id[0], NULL}, "need ids"},
        {{identifier, identifier}, {all, 0}, {0}, {&id[0], &id[1]}, "sample_id_all"},
        {{identifier, with_id}, {all, all}, {0}, {&id[0], &id[1]}, "place of samples"},
        {{with_id, with_id | PERFILE_SAMPLE_TID}, {0}, {0}, {&id[0], &id[1]}, "place of samples"},
        {{with_id, with_id | PERFILE_SAMPLE_CPU}, {all, all}, {0}, {&id[0], &id[1]}, "trailers"},
        {{identifier | PERFILE_SAMPLE_READ, identifier}, {0}, {0}, {&id[0], &id[1]}, "read_format"},
        {{identifier, identifier}, {0}, {0}, {&id[0], &id[0]}, "another event"},
        {{identifier, identifier | PERFILE_SAMPLE_TID}, {all, all}, {0}, {&id[0], &id[1]}, NULL},
        {{with_id, with_id | PERFILE_SAMPLE_CPU}, {0}, {0}, {&id[0], &id[1]}, NULL},
    };
    for (size_t i = 0; i < 2 * (sizeof pairs / sizeof pairs[0]); i++) {
        perfile_sink *sink;
        perfile_writer *w = open_writer(i % 2 ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE, &sink);
        perfile_status st = PERFILE_OK;
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(st, PERFILE_OK);
            perfile_attr a = {.type = 1,
                              .sample_type = pairs[i / 2].type[k],
                              .flags = pairs[i / 2].flags[k],
                              .read_format = pairs[i / 2].read[k]};
            perfile_new_event e = new_event(&a, pairs[i / 2].ids[k], pairs[i / 2].ids[k] != NULL);
            if (!e.n_ids)
                e.name = NULL;
            st = perfile_writer_add_event(w, &e, NULL, &err);
        }
        if (pairs[i / 2].words)
            says(st, PERFILE_E_USAGE, pairs[i / 2].words);
        else
            assert_int_equal(st, PERFILE_OK);
        assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK); /* without that event */
        close_writer(w, sink);
    }
}

/* A record has an id of its event, and a sample what its event samples. */
static void records_of_no_event(void **state)
{
    (void)state;
    static const uint64_t ids[2] = {1, 2};
    static const uint64_t chain[1] = {0x400};
    perfile_sink *sink;
    perfile_writer *w = open_writer(PERFILE_FORM_FILE, &sink);
    for (int i = 0; i < 2; i++) {
        perfile_attr a = {.type = 1,
                          .sample_type = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP,
                          .flags = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
        const perfile_new_event e = new_event(&a, &ids[i], 1);
        assert_int_equal(perfile_writer_add_event(w, &e, NULL, NULL), PERFILE_OK);
    }
    perfile_attr a = {.type = 1, .sample_freq = 99};
    const perfile_new_event e = new_event(&a, &ids[1], 1);
    says(perfile_writer_add_event(w, &e, NULL, &err), PERFILE_E_USAGE, "is_freq");
    const perfile_comm comm = {.pid = 1, .tid = 1, .comm = {(const uint8_t *)"abc", 3}};
    perfile_put_options how = {.size = sizeof how, .id = 77};
    says(perfile_writer_put_comm(w, &comm, sizeof comm, &how, &err), PERFILE_E_USAGE,
         "the id 77 is none of event 0");
    how.id = 2;
    says(perfile_writer_put_comm(w, &comm, sizeof comm, &how, &err), PERFILE_E_USAGE,
         "the id 2 is none of event 0");
    how.event = 1;
    assert_int_equal(perfile_writer_put_comm(w, &comm, sizeof comm, &how, NULL), PERFILE_OK);
    perfile_sample sample = {.identifier = 1, .ip = 5};
    how.id = 0;
    says(perfile_writer_put_sample(w, &sample, sizeof sample, &how, &err), PERFILE_E_USAGE,
         "the id 1 is none of event 1");
    const perfile_branch_entry branch = {.from = 1};
    const perfile_bytes bytes = {(const uint8_t *)chain, sizeof chain};
    const struct {
        const char *name;
        perfile_sample sample;
    } lost[] = {
        {"sample.time", {.time = 1}},
        {"sample.addr", {.addr = 1}},
        {"sample.stream_id", {.stream_id = 1}},
        {"sample.cpu", {.cpu = 1}},
        {"sample.period", {.period = 1}},
        {"read_values.has_value", {.values = {.has_value = true, .value = 1}}},
        {"sample.callchain", {.callchain = perfile_words_u64(chain, 1)}},
        {"sample.raw", {.raw = bytes}},
        {"branch_stack.lbr",
         {.branch_stack.lbr = perfile_branch_entry_list(&branch, 1, sizeof branch)}},
        {"regs_user.abi", {.regs_user.abi = 2}},
        {"stack_user", {.stack_user = {.has_data = true, .size = 8, .data = bytes}}},
        {"sample.has_weight", {.has_weight = true, .weight = {.has_full = true, .full = 1}}},
        {"sample.data_src", {.data_src = 1}},
        {"sample.transaction", {.transaction = 1}},
        {"regs_intr.abi", {.regs_intr.abi = 2}},
        {"sample.phys_addr", {.phys_addr = 1}},
        {"sample.cgroup", {.cgroup = 1}},
        {"sample.data_page_size", {.data_page_size = 1}},
        {"sample.code_page_size", {.code_page_size = 1}},
        {"sample.aux", {.aux = bytes}},
    };
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        says(perfile_writer_put_sample(w, &lost[i].sample, sizeof lost[i].sample, &how, &err),
             PERFILE_E_USAGE, lost[i].name);
    sample.identifier = 2;
    sample.id = 2; /* names the event, as `identifier` does */
    assert_int_equal(perfile_writer_put_sample(w, &sample, sizeof sample, &how, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    close_writer(w, sink);
}

static void attrs_are_cut_only_where_they_are_zero(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_writer_options o = {.size = sizeof o, .attr_size = 80};
    perfile_attr a = {.type = 1, .size = 144, .config2 = 3};
    perfile_new_event e = new_event(&a, NULL, 0);
    assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_add_event(w, &e, NULL, NULL), PERFILE_OK);
    perfile_writer_close(w);
    assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
    a.sample_max_stack = 9;
    says(perfile_writer_add_event(w, &e, NULL, &err), PERFILE_E_USAGE,
         PF_NATIVE_BIG ? "byte 109 " : "byte 108 ");
    close_writer(w, sink);
}

/* A pipe has 16 bits for the size of what is a section of a file. */
static void pipes_are_narrow(void **state)
{
    (void)state;
    static uint8_t large[70000];
    static uint64_t ids[9000];
    perfile_sink *sink;
    perfile_writer *w = open_writer(PERFILE_FORM_PIPE, &sink);
    perfile_attr a = {.type = 1,
                      .sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                                     PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD};
    perfile_bytes b = {large, 65520};
    for (size_t i = 0; i < 9000; i++)
        ids[i] = i + 1;
    perfile_new_event e = new_event(&a, ids, 9000);
    says(perfile_writer_add_event(w, &e, NULL, &err), PERFILE_E_LIMIT, "9000 ids");
    e.n_ids = (65535 - 8 - 64) / 8;
    assert_int_equal(perfile_writer_add_event(w, &e, NULL, NULL), PERFILE_OK);
    says(perfile_writer_feature(w, PERFILE_FEATURE_CMDLINE, b, &err), PERFILE_E_LIMIT, "65519");
    b.len--;
    assert_int_equal(perfile_writer_feature(w, PERFILE_FEATURE_SAMPLE_TIME, b, NULL), PERFILE_OK);
    b.len = sizeof large;
    assert_int_equal(perfile_writer_feature(w, PERFILE_FEATURE_TRACING_DATA, b, NULL), PERFILE_OK);
    says(perfile_writer_feature(w, PERFILE_FEATURE_BUILD_ID, b, &err), PERFILE_E_USAGE, "0 bytes");
    says(perfile_writer_feature(w, PERFILE_FEATURE_DIR_FORMAT, b, &err), PERFILE_E_USAGE,
         "offsets in a file");
    b.len = 0;
    says(perfile_writer_feature(w, 33, b, &err), PERFILE_E_USAGE, "end the list");
    assert_int_equal(written_sample(w, 0, 0, NULL), PERFILE_OK);
    says(perfile_writer_text(w, PERFILE_FEATURE_ARCH, "x", &err), PERFILE_E_USAGE, "before");
    says(perfile_writer_add_event(w, &e, NULL, &err), PERFILE_E_USAGE, "before");
    says(perfile_writer_text(w, PERFILE_FEATURE_NRCPUS, "x", &err), PERFILE_E_USAGE, "text");
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        continue;
    const perfile_session *session = perfile_stream_session(s);
    assert_int_equal(perfile_session_event(session, 0)->ids.n, e.n_ids);
    assert_string_equal(perfile_session_event(session, 0)->name, "e");
    assert_int_equal(perfile_session_feature(session, PERFILE_FEATURE_SAMPLE_TIME)->payload.len,
                     65519);
    assert_int_equal(perfile_session_feature(session, PERFILE_FEATURE_TRACING_DATA)->payload.len,
                     70000);
    perfile_stream_close(s);
    close_writer(w, sink);
}

/* Where user records only have come, events and features of a pipe may still. */
static void pipes_may_go_on_with_facts(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_writer *w = open_writer(PERFILE_FORM_PIPE, &sink);
    perfile_finished_init init = {0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    assert_int_equal(perfile_writer_put_finished_init(w, &init, sizeof init, NULL, NULL),
                     PERFILE_OK);
    assert_int_equal(written_events(w, NULL), PERFILE_OK);
    assert_int_equal(written_features(w, NULL), PERFILE_OK);
    assert_int_equal(written_records(w, 10, false, NULL), PERFILE_OK);
    /* Not between a record and what it announces. */
    perfile_header_tracing_data tracing = {.size = 8};
    perfile_new_event none = {.size = sizeof none};
    perfile_attr attr = {.type = 1};
    none.attr = &attr;
    assert_int_equal(
        perfile_writer_put_header_tracing_data(w, &tracing, sizeof tracing, NULL, NULL),
        PERFILE_OK);
    says(perfile_writer_add_event(w, &none, NULL, &err), PERFILE_E_USAGE, "8 bytes after");
    says(perfile_writer_event_unit(w, 0, "s", &err), PERFILE_E_USAGE, "8 bytes after");
    says(perfile_writer_round(w, &err), PERFILE_E_USAGE, "8 bytes after");
    says(perfile_writer_finish(w, &err), PERFILE_E_USAGE, "8 bytes after");
    assert_int_equal(perfile_writer_extra(w, written_text("formats."), NULL), PERFILE_OK);
    perfile_header_build_id id = {.has_pid = true, .pid = -1, .filename = written_text("late")};
    perfile_build_id_entry entry = {.misc = 1, .id = id};
    perfile_build_ids ids = {.build_ids = perfile_build_id_entry_list(&entry, 1, sizeof entry)};
    entry.id.build_id = written_text("01234567890123456789");
    assert_int_equal(perfile_writer_set_build_ids(w, &ids, sizeof ids, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    unsigned samples = 0;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        samples += r->type == PERFILE_RECORD_SAMPLE;
    const perfile_session *session = perfile_stream_session(s);
    assert_int_equal(samples, 10);
    assert_string_equal(perfile_session_event(session, 1)->name, "second");
    assert_int_equal(perfile_session_n_build_ids(session), 2);
    assert_int_equal(perfile_session_build_id(session, 1)->misc, 1);
    perfile_stream_close(s);
    close_writer(w, sink);
}

static void records_that_are_none(void **state)
{
    (void)state;
    static uint8_t large[70000] = {1};
    perfile_sink *sink;
    perfile_writer *w = open_writer(PERFILE_FORM_FILE, &sink);
    perfile_record r = {.header = large, .body = {large + 8, 65528}, .type = 1};
    says(perfile_writer_put(w, &r, &err), PERFILE_E_LIMIT, "65536 bytes");
    perfile_comm c = {.pid = 1, .tid = 1, .comm = {large, 65530}};
    perfile_put_options how = {.size = sizeof how, .event = 3};
    says(perfile_writer_put_comm(w, &c, sizeof c, NULL, &err), PERFILE_E_USAGE, "add it first");
    assert_int_equal(written_events(w, NULL), PERFILE_OK);
    says(perfile_writer_put_comm(w, &c, sizeof c, &how, &err), PERFILE_E_USAGE, "event 3");
    memset(large, 'x', sizeof large);
    assert_int_equal(perfile_writer_put_comm(w, &c, sizeof c, NULL, &err), PERFILE_E_LIMIT);
    assert_string_equal(err.where, "comm.comm");
    says(perfile_writer_event_name(w, 2, "x", &err), PERFILE_E_USAGE, "event 2: there are 2");
    assert_int_equal(perfile_writer_bytes(w), 0);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    says(perfile_writer_round(w, &err), PERFILE_E_USAGE, "finished");
    close_writer(w, sink);

    perfile_writer_options o = {.size = sizeof o, .compress_level = 1};
    perfile_compressed packed = {.data = {large, 8}};
    assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
    says(perfile_writer_put_compressed(w, &packed, sizeof packed, NULL, &err), PERFILE_E_USAGE,
         "compressed again");
    close_writer(w, sink);
}

/* A header without the fields is handed on as it is, and is no place where AUX data are. */
static void short_auxtrace_is_not_indexed(void **state)
{
    (void)state;
    static const uint32_t words[2] = {PERFILE_RECORD_AUXTRACE, PF_NATIVE_BIG ? 8 : 8 << 16};
    const uint8_t *header = (const uint8_t *)words;
    perfile_record r = {.family = PERFILE_FAMILY_PERF,
                        .header = header,
                        .body = {header + 8, 0},
                        .type = PERFILE_RECORD_AUXTRACE};
    perfile_sink *sink;
    perfile_source *source;
    perfile_stream *s;
    perfile_writer *w = open_writer(PERFILE_FORM_FILE, &sink);
    assert_int_equal(written_events(w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_put(w, &r, &err), PERFILE_OK);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_null(perfile_session_feature(perfile_stream_session(s), PERFILE_FEATURE_AUXTRACE));
    perfile_stream_close(s);
    close_writer(w, sink);
}

static size_t count_records(const char *path, perfile_bytes bytes, uint32_t part)
{
    perfile_source *source;
    perfile_stream *s = NULL;
    const perfile_record *r;
    perfile_stream_summary sum;
    size_t n = 0;
    if (path)
        assert_int_equal(perfile_open_path(path, NULL, &s, NULL), PERFILE_OK);
    else if (perfile_source_memory(bytes, "m", &source, NULL) != PERFILE_OK ||
             perfile_open(source, NULL, &s, NULL) != PERFILE_OK)
        fail();
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        n += !(r->flags & PERFILE_REC_ENVELOPE) && r->part == part;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_int_equal(sum.damages, 0);
    perfile_stream_close(s);
    return n;
}

/* Both halves of a wrap, which goes through headers too, in pieces of any size. */
static void spans_of_a_ring(void **state)
{
    (void)state;
    builder b = {0};
    size_t n_records = 0;
    capture_stream(&b, 40);
    perfile_bytes all = {NULL, 0};
    /* Only what the kernel writes. */
    builder kernel = {0};
    for (size_t at = 0; at < b.b.len;) {
        uint16_t size = pf_load_u16(b.b.ptr + at + 6, false);
        if (pf_load_u32(b.b.ptr + at, false) < PERFILE_RECORD_USER) {
            build_bytes(&kernel, b.b.ptr + at, size);
            n_records++;
        }
        at += size;
    }
    all = built(&kernel);
    assert_true(all.len > 500);
    for (size_t cut = 0; cut <= all.len; cut += 1 + cut / 60) {
        perfile_sink *sink;
        perfile_writer *w = open_writer(PERFILE_FORM_FILE, &sink);
        uint8_t *first = exact(all.ptr, cut), *second = exact(all.ptr + cut, all.len - cut);
        const perfile_bytes spans[2] = {{first, cut}, {second, all.len - cut}};
        assert_int_equal(perfile_writer_put_spans(w, spans, 0, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_bytes(w), all.len);
        const perfile_bytes part[2] = {{first, cut}, {second, all.len - cut - 1}};
        says(perfile_writer_put_spans(w, part, 0, &err), PERFILE_E_CORRUPT, "not a whole record");
        assert_true(err.offset < all.len);
        assert_int_equal(perfile_writer_bytes(w), all.len);
        assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
        perfile_bytes got = perfile_sink_bytes(sink);
        assert_memory_equal(got.ptr + 104, all.ptr, all.len);
        free(first);
        free(second);
        close_writer(w, sink);
    }
    perfile_sink *sink;
    perfile_writer *w = open_writer(PERFILE_FORM_FILE, &sink);
    close_writer(w, sink);

    /* Compressed, and into a file of a directory. */
    const perfile_bytes halves[2] = {{all.ptr, 100}, {all.ptr + 100, all.len - 100}};
    for (unsigned i = 0; i < 2; i++) {
        perfile_writer_options o = {.size = sizeof o, .compress_level = 1, .directory = i};
        assert_int_equal(i ? perfile_sink_directory("out", NULL, &sink, NULL)
                           : perfile_sink_memory("m", &sink, NULL),
                         PERFILE_OK);
        assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
        for (unsigned k = 0; k < 500; k++)
            assert_int_equal(perfile_writer_put_spans(w, halves, 2 * i, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
        assert_true(perfile_writer_bytes(w) < 250 * all.len);
        assert_int_equal(count_records(i ? "out" : NULL, perfile_sink_bytes(sink), 2 * i),
                         500 * n_records);
        close_writer(w, sink);
    }
    assert_int_equal(system("rm -rf out"), 0);

    w = open_writer(PERFILE_FORM_FILE, &sink);
    build_end(&kernel, build_begin(&kernel, PERFILE_RECORD_FINISHED_ROUND, 0));
    const perfile_bytes user[2] = {built(&kernel), {NULL, 0}};
    says(perfile_writer_put_spans(w, user, 0, &err), PERFILE_E_CORRUPT, "type 68");
    close_writer(w, sink);
    perfile_writer_options o = {.size = sizeof o, .byte_order = pf_byte_order_of(true)};
    assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &o, &w, NULL), PERFILE_OK);
    says(perfile_writer_put_spans(w, user, 0, &err), PERFILE_E_USAGE, "byte order");
    close_writer(w, sink);
    build_clear(&kernel);
    build_clear(&b);
}

static void names_that_were_not_given(void **state)
{
    (void)state;
    const uint64_t ids[2] = {1, 2};
    perfile_sink *sink;
    perfile_writer *w = open_writer(PERFILE_FORM_FILE, &sink);
    perfile_attr a = {.type = 1, .config = 2, .sample_type = PERFILE_SAMPLE_IDENTIFIER};
    perfile_new_event e = new_event(&a, &ids[0], 1);
    assert_int_equal(perfile_writer_add_event(w, &e, NULL, NULL), PERFILE_OK);
    e.ids++;
    e.name = NULL;
    assert_int_equal(perfile_writer_add_event(w, &e, NULL, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    const perfile_session *session = perfile_stream_session(s);
    const perfile_feature *f = perfile_session_feature(session, PERFILE_FEATURE_EVENT_DESC);
    perfile_event_desc d;
    perfile_event_desc_entry entry[2];
    assert_non_null(f);
    assert_int_equal(perfile_event_desc_decode(f, &d, sizeof d, NULL), PERFILE_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(perfile_event_desc_entry_next(&d.events, &entry[i], sizeof entry[i]),
                         PERFILE_OK);
    assert_memory_equal(entry[0].name.ptr, "e", 2);
    assert_memory_equal(entry[1].name.ptr, "page-faults", 12);
    perfile_stream_close(s);
    close_writer(w, sink);
}

/* Before the end, the header says all but the size of the records; abort leaves nothing. */
static void progressive_files_appear_early(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 3; turn++) {
        perfile_writer_options o = {.size = sizeof o, .progressive = true};
        perfile_writer *w;
        assert_int_equal(perfile_writer_open_path("live", &o, &w, NULL), PERFILE_OK);
        assert_int_equal(written_events(w, NULL), PERFILE_OK);
        assert_int_equal(access("live", F_OK), -1);
        assert_int_equal(written_records(w, 100, false, NULL), PERFILE_OK);
        perfile_stream *s;
        const perfile_record *r;
        perfile_stream_summary sum;
        unsigned samples = 0;
        assert_int_equal(perfile_open_path("live", NULL, &s, NULL), PERFILE_OK);
        assert_true(perfile_stream_container(s)->unterminated);
        assert_int_equal(perfile_stream_container(s)->data.size, 0);
        assert_int_equal(perfile_stream_container(s)->features[0], 0);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            samples += r->type == PERFILE_RECORD_SAMPLE && perfile_record_event(r);
        assert_int_equal(samples, 100);
        assert_string_equal(perfile_session_event(perfile_stream_session(s), 1)->name, "second");
        perfile_stream_get_summary(s, &sum, sizeof sum);
        assert_int_equal(sum.damages, 1);
        assert_int_equal(sum.lost, 0);
        perfile_stream_close(s);
        if (turn == 0) {
            perfile_writer_abort(w);
            assert_int_equal(access("live", F_OK), -1);
            says(perfile_writer_round(w, &err), PERFILE_E_USAGE, "given up");
        } else if (turn == 1) {
            assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
            perfile_writer_abort(w); /* it is whole */
        } else {
            assert_int_equal(written_sample(w, 100, 0, NULL), PERFILE_OK);
        }
        perfile_writer_close(w);
        assert_int_equal(access("live", F_OK), turn ? 0 : -1);
        assert_int_equal(unlink("live"), turn ? 0 : -1);
    }
}

static void targets(void **state)
{
    (void)state;
    static const struct {
        perfile_writer_options o;
        const char *words; /* NULL: it goes */
        uint32_t attr_size, end;
    } cases[] = {
        {{.target = "perf-6.1"}, NULL, 128, 32},
        {{.target = "7.3"}, NULL, 144, 35},
        {{.target = "5.10"}, NULL, 120, 30},
        {{.target = "4.19"}, NULL, 112, 23},
        {{.target = "3.16"}, NULL, 96, 0}, /* has no features in pipes */
        {{.target = "6.1", .attr_size = 112}, NULL, 112, 32},
        {{.target = "6.1", .attr_size = 136}, "of 128 bytes", 0, 0},
        {{.target = "6.1", .compress_level = 1, .compressed2 = true}, "COMPRESSED2", 0, 0},
        {{.target = "4.19", .compress_level = 1}, "no COMPRESSED", 0, 0},
        {{.target = "perf"}, "is not known: there are", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        perfile_writer_options o = cases[i].o;
        perfile_sink *sink;
        perfile_writer *w;
        perfile_source *source;
        perfile_stream *s;
        const perfile_record *r;
        o.size = sizeof o;
        o.form = PERFILE_FORM_PIPE;
        assert_int_equal(perfile_sink_memory("m", &sink, NULL), PERFILE_OK);
        perfile_status st = perfile_writer_open(sink, &o, &w, &err);
        if (cases[i].words) {
            says(st, PERFILE_E_USAGE, cases[i].words);
            perfile_sink_close(sink);
            continue;
        }
        assert_int_equal(st, PERFILE_OK);
        assert_int_equal(written_events(w, NULL), PERFILE_OK);
        st = written_features(w, &err);
        if (cases[i].end == 0)
            says(st, PERFILE_E_USAGE, "no features in a pipe");
        else if (cases[i].end == 23)
            says(st, PERFILE_E_USAGE, "stops at 29");
        else
            assert_int_equal(st, PERFILE_OK);
        perfile_elf_machine m = {.e_machine = 62};
        st = perfile_writer_set_elf_machine(w, &m, sizeof m, &err);
        if (cases[i].end == 32)
            says(st, PERFILE_E_USAGE, "stops at 33");
        assert_int_equal(written_sample(w, 0, 0, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
        assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                         PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        uint64_t last = 0;
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            if (r->type == PERFILE_RECORD_HEADER_FEATURE)
                last = pf_load_u64(r->body.ptr, false);
        assert_int_equal(last, cases[i].end);
        assert_int_equal(perfile_session_event(perfile_stream_session(s), 1)->attr->size,
                         cases[i].attr_size);
        perfile_stream_close(s);
        close_writer(w, sink);
    }
}

/* What a struct has under a `has_…` that is false would not be stored: it is refused, not lost. */
static void nothing_is_lost_in_absent_members(void **state)
{
    (void)state;
    uint8_t out[512];
    size_t len;
    const perfile_encode_options how = {.size = sizeof how};
    perfile_mmap2 m = {.pid = 1, .has_inode = true, .filename = written_text("/usr/bin/written")};
    assert_int_equal(perfile_mmap2_encode(&m, sizeof m, &how, out, sizeof out, &len, &err),
                     PERFILE_OK);
    m.prot = 5;
    says(perfile_mmap2_encode(&m, sizeof m, &how, out, sizeof out, &len, &err), PERFILE_E_USAGE,
         "mmap2.prot");
    m.has_prot = true;
    assert_int_equal(perfile_mmap2_encode(&m, sizeof m, &how, out, sizeof out, &len, &err),
                     PERFILE_OK);
    m.build_id = written_text("12345678901234567890");
    says(perfile_mmap2_encode(&m, sizeof m, &how, out, sizeof out, &len, &err), PERFILE_E_USAGE,
         "mmap2.build_id");

    perfile_attr a = {.type = 1, .is_period = true, .sample_period = 3, .wakeup_watermark = 3};
    says(perfile_attr_encode(&a, sizeof a, &how, out, sizeof out, &len, &err), PERFILE_E_USAGE,
         "attr.wakeup_watermark");
    a.wakeup_watermark = 0;
    assert_int_equal(perfile_attr_encode(&a, sizeof a, &how, out, sizeof out, &len, &err),
                     PERFILE_OK);
    a.extra = written_text("tail");
    says(perfile_attr_encode(&a, sizeof a, &how, out, sizeof out, &len, &err), PERFILE_E_USAGE,
         "attr.extra");
}

/* The output of callbacks that can go back. */
typedef struct kept {
    uint8_t *bytes;
    size_t n;
    unsigned patches;
    bool fails;
} kept;

static int64_t keep(void *user, const void *bytes, size_t len)
{
    kept *k = user;
    k->bytes = realloc(k->bytes, k->n + len);
    assert_non_null(k->bytes);
    memcpy(k->bytes + k->n, bytes, len);
    k->n += len;
    return (int64_t)len;
}

static int64_t go_back(void *user, uint64_t offset, const void *bytes, size_t len)
{
    kept *k = user;
    k->patches++;
    if (k->fails)
        return -EIO;
    len = len > 3 ? 3 : len; /* a part of them, as write() may */
    assert_true(len > 0 && offset <= k->n && len <= k->n - offset);
    memcpy(k->bytes + offset, bytes, len);
    return (int64_t)len;
}

static perfile_status write_one(perfile_sink *sink)
{
    perfile_writer *w;
    perfile_status st = perfile_writer_open(sink, NULL, &w, &err);
    if (st != PERFILE_OK)
        return st;
    st = written_events(w, &err);
    for (unsigned i = 0; i < 20000 && st == PERFILE_OK; i++)
        st = written_sample(w, i, 0, &err);
    if (st == PERFILE_OK)
        st = perfile_writer_finish(w, &err);
    perfile_writer_close(w);
    return st;
}

static void callbacks_may_go_back(void **state)
{
    (void)state;
    perfile_sink *sink;
    kept k = {0};
    perfile_sink_callbacks c = {.size = sizeof c, .user = &k, .write = keep, .patch = go_back};
    assert_int_equal(perfile_sink_callback(&c, "kept", &sink, &err), PERFILE_OK);
    assert_int_equal(write_one(sink), PERFILE_OK);
    perfile_sink_close(sink);
    assert_true(k.patches > 0);

    assert_int_equal(perfile_sink_memory("memory", &sink, &err), PERFILE_OK);
    assert_int_equal(write_one(sink), PERFILE_OK);
    const perfile_bytes all = perfile_sink_bytes(sink);
    assert_int_equal(k.n, all.len);
    assert_memory_equal(k.bytes, all.ptr, k.n);
    perfile_sink_close(sink);

    k.fails = true;
    assert_int_equal(perfile_sink_callback(&c, "kept", &sink, &err), PERFILE_OK);
    assert_int_equal(write_one(sink), PERFILE_E_IO);
    assert_int_equal(err.sys, EIO);
    perfile_sink_close(sink);

    c.patch = NULL;
    assert_int_equal(perfile_sink_callback(&c, "kept", &sink, &err), PERFILE_OK);
    says(write_one(sink), PERFILE_E_USAGE, "whose header is written last");
    perfile_sink_close(sink);
    free(k.bytes);
}

/* Without a target the list of features ends as the perf that recorded the capture ends it. */
static void the_list_of_features_ends(void **state)
{
    static const struct {
        const char *version; /* NULL: none is set */
        uint32_t feature;    /* the last one, 0: VERSION */
        uint32_t end;
    } cases[] = {
        {"6.1.192", 0, 32},
        {"5.10.0-28-amd64", 0, 30},
        {"4.17", 0, 23},
        {"5.13.0", 0, 30},
        {"5.14.rc1", 0, 32},
        {"6.12.107", 0, 32},
        {"7.2.13", 0, 35},
        {"7.0.1", 0, 34},
        {"99.1", 0, 35},
        {"4.16.3", 0, 32},
        {"2.6.32", 0, 32},
        {"git", 0, 32},
        {"", 0, 32},
        {"6", 0, 32},
        {"5.10.", 30, 32},
        {"6.1", 33, 34},
        {NULL, 3, 32},
        {NULL, 34, 35},
        {"6.1.192", 131, 35},
        {"4.18.0-553.el8", 31, 32},
        {"123456789.1", 0, 32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        perfile_sink *sink;
        perfile_source *source;
        perfile_stream *s;
        const perfile_record *r;
        perfile_writer *w = open_writer(PERFILE_FORM_PIPE, &sink);
        uint64_t n = 0, last = 0, size = 0;
        assert_int_equal(written_events(w, NULL), PERFILE_OK);
        if (cases[i].version)
            assert_int_equal(
                perfile_writer_text(w, PERFILE_FEATURE_VERSION, cases[i].version, NULL),
                PERFILE_OK);
        if (cases[i].feature)
            assert_int_equal(
                perfile_writer_feature(w, cases[i].feature, written_text("12345678"), NULL),
                PERFILE_OK);
        assert_int_equal(written_sample(w, 0, 0, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
        assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "m", &source, NULL),
                         PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            if (r->type == PERFILE_RECORD_HEADER_FEATURE) {
                n++;
                last = pf_load_u64(r->body.ptr, false);
                size = perfile_record_size(r);
            }
        assert_int_equal(n, 1 + (cases[i].version != NULL) + (cases[i].feature != 0));
        assert_int_equal(last, cases[i].end);
        assert_int_equal(size, 16);
        perfile_stream_close(s);
        close_writer(w, sink);
    }
}

static void abort_leaves_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        perfile_writer_options o = {.size = sizeof o, .directory = i};
        perfile_writer *w;
        assert_int_equal(perfile_writer_open_path("out", &o, &w, NULL), PERFILE_OK);
        assert_int_equal(written_events(w, NULL), PERFILE_OK);
        assert_int_equal(written_records(w, 100, o.directory, NULL), PERFILE_OK);
        perfile_writer_abort(w);
        says(perfile_writer_finish(w, &err), PERFILE_E_USAGE, "given up");
        perfile_writer_close(w);
        assert_int_equal(system("test -z \"$(ls -A)\""), 0);
    }
}

/* Only captures are replaced by a directory, and only when that was asked for. */
static void directories_replace_captures(void **state)
{
    (void)state;
    const perfile_sink_options replace = {.size = sizeof replace, .flags = PERFILE_SINK_REPLACE};
    static const struct {
        const char *before;
        bool may;
    } there[] = {
        {"true", true},
        {"echo old >out", true},
        {"mkdir out && echo old >out/data && echo old >out/data.7", true},
        {"mkdir out", true},
        {"mkdir out && echo mine >out/letter", false},
        {"mkdir -p out/data.1", false},
    };
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        perfile_sink *sink;
        perfile_writer_options o = {.size = sizeof o, .directory = true};
        assert_int_equal(system(there[i].before), 0);
        if (i)
            assert_int_equal(perfile_sink_directory("out/", NULL, &sink, &err), PERFILE_E_IO);
        perfile_status st = perfile_sink_directory("out/", &replace, &sink, &err);
        if (there[i].may) {
            assert_int_equal(st, PERFILE_OK);
            assert_int_equal(written(sink, &o, 10, NULL), PERFILE_OK);
            perfile_sink_close(sink);
            assert_int_equal(system("test \"$(echo *)\" = out && "
                                    "test \"$(cd out && echo *)\" = 'data data.0 data.1'"),
                             0);
        } else {
            says(st, PERFILE_E_IO, "more than a capture");
            assert_int_equal(system("test -e out/letter || test -d out/data.1"), 0);
        }
        assert_int_equal(system("rm -rf out && test -z \"$(ls -A)\""), 0);
    }
}

/* Parts that were left out are empty files, as readers expect. */
static void directories_have_no_holes(void **state)
{
    (void)state;
    perfile_writer_options o = {.size = sizeof o, .directory = true};
    perfile_writer *w;
    perfile_stream *s;
    perfile_auxtrace aux = {.size = 8};
    perfile_put_options how = {.size = sizeof how, .part = 2};
    assert_int_equal(perfile_writer_open_path("out", &o, &w, NULL), PERFILE_OK);
    assert_int_equal(written_events(w, NULL), PERFILE_OK);
    assert_int_equal(written_sample(w, 0, 4, NULL), PERFILE_OK);
    says(written_sample(w, 0, 70000, &err), PERFILE_E_LIMIT, "data.69999");
    says(perfile_writer_put_auxtrace(w, &aux, sizeof aux, &how, &err), PERFILE_E_USAGE, "data.1");
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_writer_close(w);
    assert_int_equal(perfile_open_path("out", NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_container(s)->n_parts, 5);
    assert_int_equal(perfile_stream_container(s)->n_damages, 0);
    perfile_stream_close(s);
    assert_int_equal(system("rm -rf out"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_do_not_fit),
        cmocka_unit_test(events_that_cannot_be_told_apart),
        cmocka_unit_test(records_of_no_event),
        cmocka_unit_test(attrs_are_cut_only_where_they_are_zero),
        cmocka_unit_test(pipes_are_narrow),
        cmocka_unit_test(pipes_may_go_on_with_facts),
        cmocka_unit_test(records_that_are_none),
        cmocka_unit_test(short_auxtrace_is_not_indexed),
        cmocka_unit_test(spans_of_a_ring),
        cmocka_unit_test(names_that_were_not_given),
        cmocka_unit_test(progressive_files_appear_early),
        cmocka_unit_test(targets),
        cmocka_unit_test(the_list_of_features_ends),
        cmocka_unit_test(callbacks_may_go_back),
        cmocka_unit_test(nothing_is_lost_in_absent_members),
        cmocka_unit_test(abort_leaves_nothing),
        cmocka_unit_test(directories_replace_captures),
        cmocka_unit_test(directories_have_no_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
