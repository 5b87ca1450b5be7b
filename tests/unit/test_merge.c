/* perfile_merge(): ids, clocks, processes, layouts, what is refused. */
#include "../testing.h"

#include <stdio.h>

#include "base/byte_order.h"
#include "perfile/perfile.h"
#include "core/command.h"
#include "sort/command.h"

enum { N = 20, MOST = 8 };

/* A capture: samples at `first`, `first + step` …, of the event in turn. */
typedef struct recording {
    const char *host, *event;
    uint64_t ids[2]; /* 0: none */
    uint64_t config, sample_type, read_format;
    uint64_t first, step;
    bool no_id_all, swapped, pipe;
    bool has_clock; /* use_clockid, CLOCK_DATA: */
    int32_t clockid;
    uint64_t wall, clock;
    uint64_t kernel; /* where it is mapped */
    uint32_t pid;
    bool aux, conv;
    uint32_t stat_thread; /* not 0: of perf stat, of this thread */
    uint32_t attr_size;
    uint64_t config3; /* needs an attr of 136 bytes */
    uint64_t renamed; /* not 0: an EVENT_UPDATE of this id, and ID_INDEX behind it */
} recording;

#define TYPE                                                                                       \
    (PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU |           \
     PERFILE_SAMPLE_IDENTIFIER)

static const recording usual = {.host = "a",
                                .event = "first",
                                .ids = {7, 8},
                                .sample_type = TYPE,
                                .first = 1000,
                                .step = 10,
                                .pid = 100};

static perfile_bytes text(const char *t)
{
    return (perfile_bytes){(const uint8_t *)t, strlen(t)};
}

static void ok(perfile_status st, const perfile_error *err)
{
    if (st != PERFILE_OK)
        print_error("%s: %s\n", err->where, err->message);
    assert_int_equal(st, PERFILE_OK);
}

static void put_facts(perfile_writer *w, const recording *c)
{
    perfile_error err;
    perfile_attr a = {.type = 1,
                      .config = c->config,
                      .config3 = c->config3,
                      .is_period = true,
                      .sample_period = 100,
                      .sample_type = c->sample_type,
                      .read_format = c->read_format};
    a.flags |= (uint64_t)!c->no_id_all << PERFILE_ATTR_BIT_SAMPLE_ID_ALL;
    a.flags |= (uint64_t)c->has_clock << PERFILE_ATTR_BIT_USE_CLOCKID;
    a.clockid = c->clockid;
    perfile_new_event e = {.size = sizeof e,
                           .attr = &a,
                           .ids = c->ids[0] ? c->ids : NULL,
                           .n_ids = c->ids[0] ? 2 : 0,
                           .name = c->event};
    ok(perfile_writer_add_event(w, &e, NULL, &err), &err);
    if (c->host)
        ok(perfile_writer_text(w, PERFILE_FEATURE_HOSTNAME, c->host, &err), &err);
    perfile_clock_data clock = {
        .version = 1, .clockid = c->clockid, .wall_clock_ns = c->wall, .clockid_time_ns = c->clock};
    if (c->has_clock && c->wall)
        ok(perfile_writer_set_clock_data(w, &clock, sizeof clock, &err), &err);
    perfile_stat_used stat = {0};
    if (c->stat_thread)
        ok(perfile_writer_set_stat_used(w, &stat, sizeof stat, &err), &err);
}

static void put_state(perfile_writer *w, const recording *c)
{
    perfile_error err;
    perfile_put_options how = {.size = sizeof how, .pid = c->pid, .tid = c->pid, .time = c->first};
    perfile_put_options kernel = {.size = sizeof kernel, .misc = 1, .synthesized = true};
    perfile_mmap map = {.pid = PERFILE_NO_PID,
                        .addr = c->kernel,
                        .len = 0x1000,
                        .filename = text("[kernel.kallsyms]_text")};
    perfile_comm comm = {.pid = c->pid, .tid = c->pid, .comm = text("work")};
    perfile_fork fork = {.pid = c->pid, .ppid = 1, .tid = c->pid, .ptid = 1, .time = c->first};
    perfile_lost lost = {.id = c->ids[1], .lost = 5};
    if (c->kernel)
        ok(perfile_writer_put_mmap(w, &map, sizeof map, &kernel, &err), &err);
    ok(perfile_writer_put_fork(w, &fork, sizeof fork, &how, &err), &err);
    ok(perfile_writer_put_comm(w, &comm, sizeof comm, &how, &err), &err);
    if (c->ids[1])
        ok(perfile_writer_put_lost(w, &lost, sizeof lost, &how, &err), &err);
    perfile_time_conv conv = {.time_shift = 1, .time_mult = 2, .time_zero = 50};
    if (c->conv)
        ok(perfile_writer_put_time_conv(w, &conv, sizeof conv, NULL, &err), &err);
    perfile_thread_map_entry thread = {.pid = c->stat_thread, .comm = text("t")};
    perfile_thread_map threads = {.entries =
                                      perfile_thread_map_entry_list(&thread, 1, sizeof thread)};
    perfile_stat stat = {.id = c->ids[0], .val = 9};
    if (c->stat_thread) {
        ok(perfile_writer_put_thread_map(w, &threads, sizeof threads, NULL, &err), &err);
        ok(perfile_writer_put_stat(w, &stat, sizeof stat, NULL, &err), &err);
    }
    perfile_event_update update = {
        .type = 2, .id = c->renamed, .has_name = true, .name = text("renamed")};
    perfile_id_index_entry entries[2] = {{.id = 472}, {.id = 473}};
    perfile_id_index index = {.nr = 2,
                              .entries = perfile_id_index_entry_list(entries, 2, sizeof *entries)};
    if (c->renamed) {
        ok(perfile_writer_put_event_update(w, &update, sizeof update, NULL, &err), &err);
        ok(perfile_writer_put_id_index(w, &index, sizeof index, NULL, &err), &err);
    }
    perfile_auxtrace_info info = {.type = 1};
    if (c->aux)
        ok(perfile_writer_put_auxtrace_info(w, &info, sizeof info, NULL, &err), &err);
}

static void put_samples(perfile_writer *w, const recording *c)
{
    perfile_error err;
    for (uint64_t i = 0; i < N; i++) {
        uint64_t id = c->ids[i % 2];
        perfile_put_options how = {.size = sizeof how, .id = id};
        perfile_sample s = {.ip = 0x1000 + i,
                            .pid = c->pid,
                            .tid = c->pid,
                            .time = c->first + i * c->step,
                            .id = id,
                            .identifier = id,
                            .stream_id = c->sample_type & PERFILE_SAMPLE_STREAM_ID ? id : 0,
                            .cpu = (uint32_t)(i % 2)};
        if (c->sample_type & PERFILE_SAMPLE_READ)
            s.values = (perfile_read_values){.has_value = true,
                                             .value = i,
                                             .id = id,
                                             .has_id = (c->read_format & PERFILE_FORMAT_ID) != 0};
        ok(perfile_writer_put_sample(w, &s, sizeof s, &how, &err), &err);
    }
}

/* Bytes of captures, which streams borrow. */
static void *kept[1100];
static size_t n_kept;

static perfile_stream *stored(const recording *c)
{
    perfile_error err;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_source *source;
    perfile_stream *s;
    void *bytes;
    size_t len;
    perfile_writer_options how = {.size = sizeof how,
                                  .form = c->pipe ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE,
                                  .byte_order = pf_byte_order_of(c->swapped),
                                  .attr_size = c->attr_size};
    ok(perfile_sink_memory("capture", &sink, &err), &err);
    ok(perfile_writer_open(sink, &how, &w, &err), &err);
    put_facts(w, c);
    put_state(w, c);
    put_samples(w, c);
    ok(perfile_writer_finish(w, &err), &err);
    perfile_writer_close(w);
    ok(sink_copy(sink, &bytes, &len), &err);
    perfile_sink_close(sink);
    assert_true(n_kept < sizeof kept / sizeof kept[0]);
    kept[n_kept++] = bytes;
    ok(perfile_source_memory((perfile_bytes){bytes, len}, "capture", &source, &err), &err);
    ok(perfile_open(source, NULL, &s, &err), &err);
    return s;
}

static perfile_stream *in_time(perfile_stream *s)
{
    perfile_error err;
    ok(perfile_sort(s, NULL, &s, &err), &err);
    return s;
}

/* What came of a merge. */
typedef struct merged {
    perfile_status status;
    perfile_error err;
    perfile_stream *stream;
    perfile_merge_summary sum;
    pf_merge_input_summary inputs[MOST];
    char notes[2048];
    uint64_t times[MOST * N]; /* of samples, in order … */
    uint64_t ips[MOST * N];
    uint32_t events[MOST * N];
    uint32_t pids[MOST * N];
    size_t n;
    uint64_t lost_ids[MOST];
    uint32_t lost_events[MOST];
    char comms[MOST][32];
    uint32_t comm_pids[MOST], fork_pids[MOST];
    size_t n_lost, n_comms, n_forks, n_convs, n_stats, n_updates;
    uint64_t zero;
    unsigned steps_back;
} merged;

static void on_note(void *user, const perfile_merge_note *note)
{
    merged *m = user;
    size_t at = strlen(m->notes);
    snprintf(m->notes + at, sizeof m->notes - at, "%s %llu: %s\n", pf_merge_note_name(note->kind),
             (unsigned long long)note->count, note->message);
}

static void look(merged *m, const perfile_record *r)
{
    perfile_error err;
    perfile_sample s;
    perfile_lost lost;
    perfile_comm comm;
    perfile_fork fork;
    perfile_time_conv conv;
    perfile_event_update update;
    const perfile_event *e = perfile_record_event(r);
    switch (r->type) {
    case PERFILE_RECORD_SAMPLE:
        ok(perfile_sample_decode(r, &s, sizeof s, &err), &err);
        assert_non_null(e);
        m->times[m->n] = s.time;
        m->ips[m->n] = s.ip;
        m->pids[m->n] = s.pid;
        m->events[m->n++] = e->index;
        if (s.values.has_id)
            assert_ptr_equal(perfile_session_event_by_id(r->session, s.values.id), e);
        break;
    case PERFILE_RECORD_LOST:
        ok(perfile_lost_decode(r, &lost, sizeof lost, &err), &err);
        m->lost_ids[m->n_lost] = lost.id;
        assert_non_null(e);
        m->lost_events[m->n_lost++] = e->index;
        break;
    case PERFILE_RECORD_COMM:
        ok(perfile_comm_decode(r, &comm, sizeof comm, &err), &err);
        snprintf(m->comms[m->n_comms], 32, "%.*s", (int)comm.comm.len, comm.comm.ptr);
        m->comm_pids[m->n_comms++] = comm.pid;
        break;
    case PERFILE_RECORD_FORK:
        ok(perfile_fork_decode(r, &fork, sizeof fork, &err), &err);
        assert_int_equal(perfile_record_time(r), fork.time);
        m->fork_pids[m->n_forks++] = fork.pid;
        break;
    case PERFILE_RECORD_TIME_CONV:
        ok(perfile_time_conv_decode(r, &conv, sizeof conv, &err), &err);
        m->zero = conv.time_zero;
        m->n_convs++;
        break;
    case PERFILE_RECORD_EVENT_UPDATE:
        ok(perfile_event_update_decode(r, &update, sizeof update, &err), &err);
        assert_non_null(perfile_session_event_by_id(r->session, update.id));
        m->n_updates++;
        break;
    default:
        m->n_stats += r->type == PERFILE_RECORD_STAT;
        break;
    }
}

static void read_all(merged *m)
{
    const perfile_record *r;
    uint64_t before = 0;
    while ((m->status = perfile_stream_next(m->stream, &r, &m->err)) == PERFILE_OK) {
        uint64_t time = perfile_record_time(r);
        if (time != PERFILE_NO_TIME) {
            m->steps_back += time < before;
            before = time;
        }
        look(m, r);
    }
    assert_int_equal(m->steps_back, 0);
}

/* The stages on an input; the last is sorted. */
static perfile_stream *(*stages)(perfile_stream *s) = in_time;

/* Merges; `m` is to be closed. */
static void merge(merged *m, const recording *all, size_t n, uint32_t flags, const int64_t *offset)
{
    static const char *const names[MOST] = {"A", "B", "C", "D", "E", "F", "G", "H"};
    perfile_merge_input in[MOST] = {{0}};
    perfile_merge_options how = {.size = sizeof how, .flags = flags, .note = on_note, .user = m};
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < n; i++) {
        in[i].stream = stages(stored(&all[i]));
        in[i].name = names[i];
        in[i].has_offset = offset && i;
        in[i].offset = in[i].has_offset ? *offset : 0;
    }
    m->status = perfile_merge(in, n, &how, &m->stream, &m->err);
    if (m->status != PERFILE_OK) {
        for (size_t i = 0; i < n; i++)
            perfile_stream_close(in[i].stream);
        m->stream = NULL;
        return;
    }
    read_all(m);
    perfile_merge_get_summary(m->stream, &m->sum, sizeof m->sum);
    for (size_t i = 0; i < n; i++)
        pf_merge_get_input_summary(m->stream, i, &m->inputs[i], sizeof m->inputs[i]);
}

static void close_merged(merged *m)
{
    perfile_stream_close(m->stream);
    while (n_kept)
        free(kept[--n_kept]);
}

static void ended(const merged *m)
{
    if (m->status != PERFILE_END)
        print_error("%s\n", m->err.message);
    assert_int_equal(m->status, PERFILE_END);
}

static uint64_t id_of(const merged *m, uint32_t event, size_t at)
{
    const perfile_event *e = perfile_session_event(perfile_stream_session(m->stream), event);
    assert_non_null(e);
    assert_true(at < e->ids.n);
    return perfile_word(&e->ids, at);
}

/* Equal ids of other events, in every pair of forms, byte orders and layouts. */
static void ids_never_collide(void **state)
{
    static const uint64_t types[] = {
        TYPE, (TYPE & ~(uint64_t)PERFILE_SAMPLE_IDENTIFIER) | PERFILE_SAMPLE_ID,
        TYPE & ~(uint64_t)PERFILE_SAMPLE_IDENTIFIER,
        TYPE | PERFILE_SAMPLE_STREAM_ID | PERFILE_SAMPLE_READ};
    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        recording two[2] = {usual, usual};
        merged m;
        two[0].sample_type = types[i % 4];
        two[1].sample_type = types[i / 4 % 4];
        two[0].pipe = i / 16 % 2;
        two[0].swapped = two[1].swapped = i / 32;
        two[1].event = "second";
        for (unsigned k = 0; k < 2; k++)
            if (two[k].sample_type & PERFILE_SAMPLE_READ)
                two[k].read_format = PERFILE_FORMAT_ID;
        two[1].first += 5;
        merge(&m, two, 2, 0, NULL);
        ended(&m);
        assert_int_equal(m.sum.events, 2);
        assert_int_equal(m.n, 2 * N);
        for (size_t k = 0; k < m.n; k++) {
            assert_int_equal(m.events[k], k % 2);
            assert_int_equal(m.times[k], 1000 + 5 * k);
            assert_int_equal(m.ips[k], 0x1000 + k / 2);
        }
        for (uint32_t k = 0; k < 4; k++)
            for (uint32_t j = 0; j < k; j++)
                assert_int_not_equal(id_of(&m, k / 2, k % 2), id_of(&m, j / 2, j % 2));
        assert_int_equal(m.n_lost, 2);
        for (uint32_t k = 0; k < 2; k++) {
            assert_int_equal(m.lost_ids[k], id_of(&m, k, 1));
            assert_int_equal(m.lost_events[k], k);
        }
        close_merged(&m);
    }
}

static void equal_events_are_joined_on_demand(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[1].ids[0] = 17;
    two[1].ids[1] = 8;
    merge(&m, two, 2, PERFILE_MERGE_JOIN_EVENTS, NULL);
    ended(&m);
    assert_int_equal(m.sum.events, 1);
    assert_int_equal(m.sum.new_ids, 1);
    assert_int_equal(perfile_session_event(perfile_stream_session(m.stream), 0)->ids.n, 4);
    close_merged(&m);
    two[1].event = "second";
    merge(&m, two, 2, PERFILE_MERGE_JOIN_EVENTS, NULL);
    ended(&m);
    assert_int_equal(m.sum.events, 2);
    close_merged(&m);
}

/* What a newer perf says of an event in more zeros is the same, and the older one can read it. */
static void attrs_are_as_short_as_the_oldest(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[0].attr_size = 136;
    two[1].attr_size = 112;
    merge(&m, two, 2, PERFILE_MERGE_JOIN_EVENTS, NULL);
    ended(&m);
    assert_int_equal(m.sum.events, 1);
    assert_int_equal(perfile_session_event(perfile_stream_session(m.stream), 0)->attr->size, 112);
    close_merged(&m);
    two[0].config3 = 7;
    merge(&m, two, 2, PERFILE_MERGE_JOIN_EVENTS, NULL);
    ended(&m);
    assert_int_equal(m.sum.events, 2);
    assert_int_equal(perfile_session_event(perfile_stream_session(m.stream), 0)->attr->config3, 7);
    assert_int_equal(perfile_session_event(perfile_stream_session(m.stream), 1)->attr->size, 112);
    close_merged(&m);
}

/* The same recording with other samples is a part; with the same it is a copy. */
static void parts_share_events_and_state(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[1].first = 5000;
    merge(&m, two, 2, 0, NULL);
    ended(&m);
    assert_int_equal(m.sum.events, 1);
    assert_int_equal(m.sum.new_ids, 0);
    assert_int_equal(m.inputs[1].clock, PF_MERGE_CLOCK_RECORDING);
    close_merged(&m);
    two[1] = two[0];
    merge(&m, two, 2, 0, NULL);
    ended(&m);
    assert_int_equal(m.sum.events, 2);
    assert_int_equal(m.sum.repeated, 0);
    assert_int_equal(m.n_comms, 2);
    close_merged(&m);
    two[0].kernel = two[1].kernel = 0x800000;
    two[1].step = 11;
    merge(&m, two, 2, 0, NULL);
    ended(&m);
    assert_int_equal(m.n_comms, 1);
    assert_int_equal(m.n_forks, 1);
    assert_int_equal(m.sum.repeated, 4); /* FORK, COMM, LOST, the mapping */
    close_merged(&m);
}

static recording with_wall(const char *host, uint64_t wall, uint64_t clock)
{
    recording c = usual;
    c.host = host;
    c.has_clock = true;
    c.clockid = 1;
    c.wall = wall;
    c.clock = clock;
    return c;
}

/* Of two hosts: B booted later, so that A's clock is that of the output. */
static void hosts_merge_by_wall_clock(void **state)
{
    const uint64_t second = 1000000000;
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        recording two[2];
        merged m;
        two[first] = with_wall("a", 100 * second, 10 * second);
        two[!first] = with_wall("b", 100 * second + 5, 5 * second);
        two[!first].ids[0] = 27;
        merge(&m, two, 2, 0, NULL);
        ended(&m);
        assert_int_equal(m.sum.hosts, 2);
        assert_int_equal(m.inputs[first].offset, 0);
        assert_int_equal(m.inputs[!first].offset, 5 * second + 5);
        assert_int_equal(m.inputs[!first].clock, PF_MERGE_CLOCK_WALL);
        for (size_t k = 0; k < N; k++)
            assert_int_equal(m.times[N + k], 5 * second + 5 + 1000 + 10 * k);
        close_merged(&m);
    }
}

/* Of one host, one after the other: nothing says whether it was booted in between. */
static void one_host_is_one_host(void **state)
{
    const int64_t none = 0, some = 5;
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[1].first = 1000000;
    two[1].ids[0] = 27;
    two[1].event = "second";
    merge(&m, two, 2, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
    assert_string_equal(m.err.where, "merge.inputs");
    assert_non_null(strstr(m.err.message, "input 2 needs an offset, which is 0 if"));
    assert_non_null(strstr(m.err.message, "of one host"));
    close_merged(&m);

    merge(&m, two, 2, 0, &none);
    ended(&m);
    assert_int_equal(m.sum.hosts, 1);
    assert_int_equal(m.sum.boots, 1);
    assert_int_equal(m.sum.boots_unproven, 0);
    close_merged(&m);

    for (unsigned aligned = 0; aligned < 2; aligned++) {
        merge(&m, two, 2, aligned ? PERFILE_MERGE_ALIGN_START : 0, aligned ? NULL : &some);
        ended(&m);
        assert_int_equal(m.sum.hosts, 1);
        assert_int_equal(m.sum.boots, 2);
        assert_int_equal(m.sum.boots_unproven, 1);
        assert_int_equal(m.inputs[1].host, 0);
        assert_int_equal(m.inputs[1].boot, 1);
        close_merged(&m);
    }

    two[1].host = "b";
    merge(&m, two, 2, 0, &none);
    ended(&m);
    assert_int_equal(m.sum.hosts, 2);
    assert_int_equal(m.sum.boots, 2);
    assert_int_equal(m.sum.boots_unproven, 0);
    close_merged(&m);
}

/* The attr of B says the clock of the output, although its own had no room for one. */
static void converted_events_say_the_clock_of_the_output(void **state)
{
    recording two[2] = {with_wall("a", 1000000, 10), with_wall("b", 5000000, 10)};
    merged m;
    (void)state;
    two[1].clockid = 7;
    merge(&m, two, 2, 0, NULL);
    ended(&m);
    for (uint32_t i = 0; i < 2; i++) {
        const perfile_event *e = perfile_session_event(perfile_stream_session(m.stream), i);
        assert_int_equal(e->attr->clockid, 1);
    }
    close_merged(&m);
    two[1] = usual;
    two[1].host = "b";
    const int64_t offset = 1000;
    merge(&m, two, 2, 0, &offset);
    ended(&m);
    const perfile_event *e = perfile_session_event(perfile_stream_session(m.stream), 1);
    assert_true(e->attr->flags >> PERFILE_ATTR_BIT_USE_CLOCKID & 1);
    assert_int_equal(e->attr->clockid, 1);
    assert_int_equal(m.inputs[1].clock, PF_MERGE_CLOCK_GIVEN);
    assert_int_equal(m.inputs[1].offset, 1000);
    close_merged(&m);
}

static void clocks_are_never_guessed(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[1].host = "b";
    merge(&m, two, 2, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
    assert_string_equal(m.err.where, "merge.inputs");
    assert_non_null(strstr(m.err.message, "input 2 needs an offset"));
    assert_non_null(strstr(m.err.message, "starts are aligned"));
    /* One wall clock is not enough. */
    two[0] = with_wall("a", 1000, 10);
    merge(&m, two, 2, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
    /* Two clocks of one host without wall clocks, and times long after each other. */
    two[0] = two[1] = usual;
    two[1].event = "second";
    two[1].first = 100000;
    merge(&m, two, 2, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
    /* The kernel lies where chance put it, in both. */
    two[0].kernel = two[1].kernel = UINT64_C(0xffffffffa3200000);
    merge(&m, two, 2, 0, NULL);
    ended(&m);
    assert_int_equal(m.inputs[1].clock, PF_MERGE_CLOCK_BOOT);
    close_merged(&m);
    two[1].kernel = UINT64_C(0xffffffff9b000000);
    two[1].first = 1005;
    merge(&m, two, 2, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
    /* One id, two counters: not of one kernel as it runs. */
    two[1].kernel = two[0].kernel;
    two[1].config = 1;
    merge(&m, two, 2, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
}

static void starts_are_aligned(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[1].host = "b";
    two[1].event = "second";
    two[1].first = 77000;
    merge(&m, two, 2, PERFILE_MERGE_ALIGN_START, NULL);
    ended(&m);
    assert_int_equal(m.inputs[1].offset, 1000 - 77000);
    for (size_t k = 0; k < m.n; k++)
        assert_int_equal(m.times[k], 1000 + 10 * (k / 2));
    close_merged(&m);
}

static void times_stay_in_the_clock(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    const int64_t back = -1005;
    (void)state;
    two[1].host = "b";
    merge(&m, two, 2, 0, &back);
    assert_int_equal(m.status, PERFILE_E_USAGE);
    assert_string_equal(m.err.where, "merge.offset");
    close_merged(&m);
}

static void processes_are_kept_apart(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    uint32_t pid, new_pid;
    const int64_t offset = 0;
    (void)state;
    two[0].host = "a";
    two[1].host = "bee";
    for (unsigned i = 0; i < 4; i++) {
        two[0].sample_type = two[1].sample_type =
            i % 2 ? TYPE : TYPE & ~(uint64_t)PERFILE_SAMPLE_IDENTIFIER;
        two[0].swapped = two[1].swapped = i / 2;
        merge(&m, two, 2, PERFILE_MERGE_MAP_PIDS | PERFILE_MERGE_HOST_COMM, &offset);
        ended(&m);
        for (size_t k = 0; k < m.n; k++)
            assert_int_equal(m.pids[k], m.events[k] ? 100 + PERFILE_MERGE_PIDS : 100);
        assert_string_equal(m.comms[0], "a:work");
        assert_string_equal(m.comms[1], "bee:work");
        assert_int_equal(m.comm_pids[0], 100);
        assert_int_equal(m.comm_pids[1], 100 + PERFILE_MERGE_PIDS);
        assert_int_equal(m.fork_pids[1], 100 + PERFILE_MERGE_PIDS);
        assert_false(pf_merge_get_pid(m.stream, 0, UINT32_MAX, &pid, &new_pid));
        assert_true(pf_merge_get_pid(m.stream, 1, UINT32_MAX, &pid, &new_pid));
        assert_int_equal(pid, 1); /* the parent */
        assert_true(pf_merge_get_pid(m.stream, 1, pid, &pid, &new_pid));
        assert_int_equal(pid, 100);
        assert_int_equal(new_pid, 100 + PERFILE_MERGE_PIDS);
        assert_false(pf_merge_get_pid(m.stream, 1, pid, &pid, &new_pid));
        close_merged(&m);
    }
}

/* Pids and cgroup ids have room for so many boots: more are refused, not mixed up. */
static void too_many_boots(void **state)
{
    enum { MOST_BOOTS = 1024 };
    static perfile_merge_input in[MOST_BOOTS + 1];
    static const struct {
        uint64_t sample_type;
        uint32_t n, flags;
        perfile_status status;
    } tries[] = {
        {TYPE, MOST_BOOTS + 1, PERFILE_MERGE_MAP_PIDS, PERFILE_E_LIMIT},
        {TYPE, 300, PERFILE_MERGE_MAP_PIDS, PERFILE_OK},
        {TYPE | PERFILE_SAMPLE_CGROUP, 257, 0, PERFILE_E_LIMIT},
        {TYPE | PERFILE_SAMPLE_CGROUP, 256, 0, PERFILE_OK},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof tries / sizeof *tries; i++) {
        merged m = {.stream = NULL};
        recording one = usual;
        char host[16];
        one.host = host;
        one.sample_type = tries[i].sample_type;
        for (uint32_t k = 0; k < tries[i].n; k++) {
            snprintf(host, sizeof host, "h%u", (unsigned)k);
            in[k] = (perfile_merge_input){
                .stream = in_time(stored(&one)), .name = "one", .has_offset = k > 0};
        }
        perfile_merge_options how = {.size = sizeof how, .flags = tries[i].flags};
        m.status = perfile_merge(in, tries[i].n, &how, &m.stream, &m.err);
        assert_int_equal(m.status, tries[i].status);
        if (m.status != PERFILE_OK) {
            assert_string_equal(m.err.where, "merge.hosts");
            for (uint32_t k = 0; k < tries[i].n; k++)
                perfile_stream_close(in[k].stream);
            m.stream = NULL;
        }
        close_merged(&m);
    }
}

/* Where one has trailers, all get them: with the time of the record in front. */
static void trailers_are_made(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[1].no_id_all = true;
    two[1].event = "second";
    merge(&m, two, 2, 0, NULL);
    ended(&m);
    assert_int_equal(m.sum.trailers, 3); /* FORK, COMM, LOST */
    assert_non_null(strstr(m.notes, "changed 3"));
    assert_int_equal(m.n, 2 * N);
    close_merged(&m);
}

static void conflicts_are_refused_or_dropped(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[1].event = "second";
    two[0].aux = two[1].aux = true;
    merge(&m, two, 2, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
    assert_non_null(strstr(m.err.message, "AUX"));
    close_merged(&m);
    merge(&m, two, 2, PERFILE_MERGE_DROP_CONFLICTING, NULL);
    ended(&m);
    assert_int_equal(m.sum.conflicting, 1);
    assert_non_null(strstr(m.notes, "conflict 1"));
    close_merged(&m);

    two[0].aux = two[1].aux = false;
    two[0].stat_thread = two[1].stat_thread = 5;
    merge(&m, two, 2, 0, NULL);
    ended(&m);
    assert_int_equal(m.n_stats, 2);
    close_merged(&m);
    two[1].stat_thread = 6;
    merge(&m, two, 2, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
    assert_non_null(strstr(m.err.message, "THREAD_MAP"));
    close_merged(&m);
    merge(&m, two, 2, PERFILE_MERGE_DROP_CONFLICTING, NULL);
    ended(&m);
    assert_int_equal(m.n_stats, 1);
    assert_int_equal(m.sum.conflicting, 2);
    close_merged(&m);
}

/* TIME_CONV is of the clock of the output, and of no other machine. */
static void counters_move_with_the_clock(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    const int64_t offset = 300;
    (void)state;
    two[1].conv = true;
    two[1].event = "second";
    merge(&m, two, 2, 0, &offset);
    ended(&m);
    assert_int_equal(m.n_convs, 1);
    assert_int_equal(m.zero, 350);
    close_merged(&m);
    two[1].host = "b";
    merge(&m, two, 2, 0, &offset);
    ended(&m);
    assert_int_equal(m.n_convs, 0);
    assert_non_null(strstr(m.notes, "TIME_CONV"));
    close_merged(&m);
}

/* An event without ids, which ID_INDEX tells later: until then any id is taken for its own. */
static void updates_are_of_events(void **state)
{
    const int64_t later = 6000;
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[0].sample_type = two[1].sample_type = TYPE & ~(uint64_t)PERFILE_SAMPLE_IDENTIFIER;
    two[0].ids[0] = two[0].ids[1] = two[1].ids[0] = two[1].ids[1] = 0;
    two[0].renamed = two[1].renamed = 71;
    merge(&m, two, 2, PERFILE_MERGE_JOIN_EVENTS, &later);
    ended(&m);
    assert_int_equal(m.n_updates, 1); /* both say the same */
    assert_int_equal(m.n, 2 * N);
    close_merged(&m);
    merge(&m, two, 1, 0, NULL);
    ended(&m);
    assert_int_equal(m.n_updates, 1);
    close_merged(&m);
}

/* Stages on a sorted stream: it stays sorted, and merges as it does without them. */

static perfile_filter_state *filters[MOST];
static size_t n_filters;

static perfile_stream *filtered(perfile_stream *s)
{
    perfile_error err;
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_CPU, .text = "0,1"};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
    perfile_filter_state **filter = &filters[n_filters++];
    ok(perfile_filter_open(&how, filter, &err), &err);
    ok(perfile_filter(in_time(s), *filter, &s, &err), &err);
    return s;
}

static perfile_stream *sorted_again(perfile_stream *s)
{
    return in_time(filtered(s));
}

static perfile_stream *read_whole(perfile_stream *s)
{
    perfile_error err;
    const perfile_sort_options how = {
        .size = sizeof how, .flags = PERFILE_SORT_WHOLE, .max_memory = PERFILE_SORT_LEAST_MEMORY};
    ok(perfile_sort(in_time(s), &how, &s, &err), &err);
    return s;
}

static perfile_stream *checked(perfile_stream *s)
{
    perfile_error err;
    ok(perfile_check(in_time(s), NULL, &s, &err), &err);
    return s;
}

static perfile_stream *turned_twice(perfile_stream *s)
{
    perfile_error err;
    bool big = perfile_session_byte_order(perfile_stream_session(s)) == PERFILE_BYTE_ORDER_BIG;
    s = in_time(s);
    ok(perfile_byteswap(s, big ? PERFILE_BYTE_ORDER_LITTLE : PERFILE_BYTE_ORDER_BIG, NULL, &s,
                        &err),
       &err);
    ok(perfile_byteswap(s, big ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE, NULL, &s,
                        &err),
       &err);
    return s;
}

static perfile_stream *targeted(perfile_stream *s)
{
    perfile_error err;
    const perfile_target_options how = {.size = sizeof how, .version = "perf-6.1"};
    ok(perfile_target(in_time(s), &how, &s, &err), &err);
    return s;
}

static perfile_stream *merged_alone(perfile_stream *s)
{
    perfile_error err;
    const perfile_merge_input in = {.stream = in_time(s), .name = "one"};
    ok(perfile_merge(&in, 1, NULL, &s, &err), &err);
    assert_int_equal(pf_stream_sorted_by(s), PF_SORTED_BY_TIME);
    return s;
}

static perfile_stream *merged_and_sorted(perfile_stream *s)
{
    return in_time(merged_alone(s));
}

static void close_filters(void)
{
    while (n_filters)
        perfile_filter_close(filters[--n_filters]);
}

static void stages_stay_sorted(void **state)
{
    perfile_stream *(*const all[])(perfile_stream *) = {filtered,     sorted_again,     read_whole,
                                                        checked,      turned_twice,     targeted,
                                                        merged_alone, merged_and_sorted};
    (void)state;
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        recording two[2] = {usual, usual};
        merged plain, m;
        two[1].first = 1005;
        two[0].swapped = two[1].swapped = swapped;
        merge(&plain, two, 2, 0, NULL);
        ended(&plain);
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            stages = all[i];
            merge(&m, two, 2, 0, NULL);
            stages = in_time;
            ended(&m);
            assert_int_equal(m.n, plain.n);
            assert_memory_equal(m.times, plain.times, sizeof m.times);
            assert_memory_equal(m.ips, plain.ips, sizeof m.ips);
            assert_memory_equal(m.events, plain.events, sizeof m.events);
            assert_int_equal(m.sum.records, plain.sum.records);
            perfile_stream_close(m.stream);
            close_filters();
        }
        close_merged(&plain);
    }
}

/* What is in order is handed on: nothing is read ahead of what is handed out, or goes to files. */
static void what_is_in_order_is_not_sorted(void **state)
{
    perfile_sort_summary sum;
    const perfile_record *r;
    perfile_error err;
    uint64_t n = 0, sequence = 0;
    (void)state;
    perfile_stream *s = merged_and_sorted(stored(&usual));
    assert_int_equal(pf_stream_sorted_by(s), PF_SORTED_BY_TIME);
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK) {
        assert_int_equal(r->sequence, sequence++);
        n += r->type == PERFILE_RECORD_SAMPLE;
    }
    assert_int_equal(st, PERFILE_END);
    perfile_sort_get_summary(s, &sum, sizeof sum);
    assert_int_equal(n, N);
    assert_int_equal(sum.samples, N);
    assert_int_equal(sum.timed_samples, N);
    assert_int_equal(sum.first_sample, usual.first);
    assert_int_equal(sum.last_sample, usual.first + (N - 1) * usual.step);
    assert_int_equal(sum.temporary, 0);
    assert_int_equal(sum.out_of_order, 0);
    assert_int_equal(sum.rounds, 1);
    assert_int_equal(sum.rounds_dropped, 1);
    perfile_stream_close(s);
    while (n_kept)
        free(kept[--n_kept]);
}

static perfile_stream *as_stored(perfile_stream *s)
{
    return s;
}

/* Samples that have lost their times are in no order. */
static perfile_stream *without_times(perfile_stream *s)
{
    perfile_error err;
    const perfile_target_options how = {.size = sizeof how, .drop = PERFILE_SAMPLE_TIME};
    ok(perfile_target(in_time(s), &how, &s, &err), &err);
    return s;
}

static void what_is_not_sorted_is_refused(void **state)
{
    perfile_stream *(*const all[])(perfile_stream *) = {as_stored, without_times};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        recording one = usual;
        merged m;
        stages = all[i];
        merge(&m, &one, 1, 0, NULL);
        stages = in_time;
        assert_int_equal(m.status, PERFILE_E_USAGE);
        assert_string_equal(m.err.message, "A is not sorted: see perfile_sort()");
        close_merged(&m);
    }
}

/* Inputs stay the caller's when they cannot be merged, whatever was put on them. */
static void refused_inputs_are_given_back(void **state)
{
    recording two[2] = {usual, usual};
    merged m;
    (void)state;
    two[0].has_clock = two[1].has_clock = true;
    two[1].clockid = 1;
    two[1].host = "b";
    stages = filtered;
    merge(&m, two, 2, 0, NULL);
    stages = in_time;
    assert_int_equal(m.status, PERFILE_E_USAGE);
    close_filters();
    close_merged(&m);
}

static void one_input_is_fine(void **state)
{
    recording one = usual;
    merged m;
    (void)state;
    merge(&m, &one, 1, 0, NULL);
    ended(&m);
    assert_int_equal(m.n, N);
    assert_int_equal(m.sum.new_ids, 0);
    close_merged(&m);
    merge(&m, &one, 0, 0, NULL);
    assert_int_equal(m.status, PERFILE_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_never_collide),
        cmocka_unit_test(equal_events_are_joined_on_demand),
        cmocka_unit_test(attrs_are_as_short_as_the_oldest),
        cmocka_unit_test(parts_share_events_and_state),
        cmocka_unit_test(hosts_merge_by_wall_clock),
        cmocka_unit_test(one_host_is_one_host),
        cmocka_unit_test(converted_events_say_the_clock_of_the_output),
        cmocka_unit_test(clocks_are_never_guessed),
        cmocka_unit_test(starts_are_aligned),
        cmocka_unit_test(times_stay_in_the_clock),
        cmocka_unit_test(processes_are_kept_apart),
        cmocka_unit_test(too_many_boots),
        cmocka_unit_test(trailers_are_made),
        cmocka_unit_test(conflicts_are_refused_or_dropped),
        cmocka_unit_test(counters_move_with_the_clock),
        cmocka_unit_test(updates_are_of_events),
        cmocka_unit_test(stages_stay_sorted),
        cmocka_unit_test(what_is_in_order_is_not_sorted),
        cmocka_unit_test(what_is_not_sorted_is_refused),
        cmocka_unit_test(refused_inputs_are_given_back),
        cmocka_unit_test(one_input_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
