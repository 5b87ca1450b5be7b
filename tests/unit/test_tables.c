/* Captures as tables: rows of every table against what the library says of the same records. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "exporting.h"
#include "tabled.h"

#define EVERY UINT32_MAX

/* Values of a row as text. */
#define assert_value(t, table, row, column, expected)                                              \
    assert_string_equal(tabled_value(t, table, row, column), expected)

static const char *decimal(uint64_t n)
{
    static char texts[4][24];
    static unsigned next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], "%" PRId64, (int64_t)n);
    return text;
}

static const char *decimal_or_null(uint64_t n, bool known)
{
    return known ? decimal(n) : "null";
}

/* A capture that is read. */
typedef struct capture {
    perfile_stream *stream;
    const perfile_model *model;
} capture;

static void open_source(perfile_source *source, capture *c)
{
    const perfile_open_options how = {.size = sizeof how,
                                      .on_damage = PERFILE_ON_DAMAGE_RESYNC,
                                      .deliver = PERFILE_DELIVER_DAMAGE};
    const perfile_filter_options all = {.size = sizeof all};
    perfile_open_filtered_options reading = {.size = sizeof reading, .how = &how, .model = true};
    perfile_error err;
    assert_int_equal(perfile_open_filtered(source, &all, &reading, &c->stream, &c->model, &err),
                     PERFILE_OK);
}

static void open_sample(const char *name, capture *c)
{
    char path[1024];
    const char *root = getenv("PERFILE_SOURCE");
    perfile_source *source;
    perfile_error err;
    snprintf(path, sizeof path, "%s/samples/captures/%s.data", root ? root : ".", name);
    assert_int_equal(perfile_source_path(path, NULL, &source, &err), PERFILE_OK);
    open_source(source, c);
}

static void open_built(const builder *b, capture *c)
{
    perfile_source *source;
    perfile_error err;
    assert_int_equal(perfile_source_memory(built(b), "made", &source, &err), PERFILE_OK);
    open_source(source, c);
}

/* Makes the tables of a capture, and closes it. */
static void make_tables(tabled *t, capture *c, uint32_t wanted, const char *const *labels)
{
    perfile_error err;
    perfile_emitter *e = tabled_open(t, c->stream, c->model, wanted, labels);
    tabled_feed(e, c->stream);
    assert_int_equal(perfile_emitter_finish(e, &err), PERFILE_OK);
    perfile_emitter_close(e);
    perfile_stream_close(c->stream);
}

static void tables_of_sample(tabled *t, const char *name)
{
    capture c;
    open_sample(name, &c);
    make_tables(t, &c, EVERY, NULL);
    for (size_t i = 0; i < t->n; i++)
        assert_true(t->at[i].ended);
}

/* Calls `check` for each record of a sample capture. */
static void walk(const char *name, void (*check)(void *user, const perfile_record *r), void *user)
{
    capture c;
    const perfile_record *r;
    perfile_error err;
    open_sample(name, &c);
    while (perfile_stream_next(c.stream, &r, &err) == PERFILE_OK)
        check(user, r);
    perfile_stream_close(c.stream);
}

static const char *const names[] = {
    "big-endian", "callgraph",        "cgroup",       "clock", "corrupt-zstd", "cpu-clock",
    "dwarf",      "fields",           "garbage",      "group", "killed",       "mixed",
    "namespaces", "pipe-tracepoints", "pipe-zstd",    "pipe",  "stat",         "switch",
    "threads",    "tracepoints",      "unknown-type", "zstd",  "overwrite",    "bad-size"};

enum { N_NAMES = sizeof names / sizeof names[0] };

/* Samples. */

typedef struct sample_check {
    const tabled *t;
    size_t samples, records, damages, tracepoints;
    uint64_t first, last;
} sample_check;

static void check_sample(sample_check *c, const perfile_record *r)
{
    const size_t row = c->samples++;
    const perfile_event *event = perfile_record_event(r);
    uint64_t ip = 0, period = 0;
    char address[24];
    uint32_t pid = 0, tid = 0, cpu = 0;
    const bool has_task = perfile_record_task(r, &pid, &tid);
    const bool has_ip = perfile_sample_field(r, PERFILE_SAMPLE_IP, &ip);
    assert_value(c->t, "samples", row, "record", decimal(r->sequence));
    assert_value(
        c->t, "samples", row, "time",
        decimal_or_null(perfile_record_time(r), perfile_record_time(r) != PERFILE_NO_TIME));
    assert_value(c->t, "samples", row, "event", event->name);
    assert_value(c->t, "samples", row, "event_index", decimal(event->index));
    assert_value(c->t, "samples", row, "pid", decimal_or_null((uint64_t)(int32_t)pid, has_task));
    assert_value(c->t, "samples", row, "tid", decimal_or_null((uint64_t)(int32_t)tid, has_task));
    const bool has_cpu = perfile_record_cpu(r, &cpu);
    assert_value(c->t, "samples", row, "cpu", decimal_or_null(cpu, has_cpu));
    snprintf(address, sizeof address, "%" PRIu64, ip);
    assert_value(c->t, "samples", row, "ip", has_ip ? address : "null");
    const bool has_period = perfile_sample_period(r, &period);
    assert_value(c->t, "samples", row, "period", decimal_or_null(period, has_period));
    c->tracepoints += event->attr->type == PERFILE_TYPE_TRACEPOINT;
}

static void check_record(void *user, const perfile_record *r)
{
    sample_check *c = user;
    const uint64_t time = perfile_record_time(r);
    if (r->family == PERFILE_FAMILY_DAMAGE) {
        assert_value(c->t, "damages", c->damages, "offset", decimal(r->offset));
        assert_value(c->t, "damages", c->damages, "bytes", decimal(r->body.len));
        assert_value(c->t, "damages", c->damages, "damage", perfile_damage_name(r->damage));
        c->damages++;
        return;
    }
    c->records++;
    if (time && time < c->first)
        c->first = time;
    if (time != PERFILE_NO_TIME && time > c->last)
        c->last = time;
    if (r->type == PERFILE_RECORD_SAMPLE)
        check_sample(c, r);
}

static void test_samples_and_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_NAMES; i++) {
        tabled t = {0};
        sample_check c = {.t = &t, .first = PERFILE_NO_TIME};
        tables_of_sample(&t, names[i]);
        walk(names[i], check_record, &c);
        size_t traced = 0;
        for (size_t k = 0; k < t.n; k++)
            traced += strncmp(t.at[k].name, "tracepoints/", 12) == 0 ? t.at[k].n : 0;
        assert_int_equal(tabled_rows(&t, "samples"), c.samples);
        assert_int_equal(traced, c.tracepoints);
        assert_int_equal(tabled_rows(&t, "captures"), 1);
        assert_value(&t, "captures", 0, "records", decimal(c.records));
        assert_value(&t, "captures", 0, "samples", decimal(c.samples));
        const bool timed = c.first <= c.last;
        assert_value(&t, "captures", 0, "first_time", decimal_or_null(c.first, timed));
        assert_value(&t, "captures", 0, "last_time", decimal_or_null(c.last, timed));
        tabled_free(&t);
    }
}

/* Facts. */

static void check_facts(const tabled *t, const capture *c)
{
    static const char *const columns[] = {
        [PERFILE_FACT_HOSTNAME] = "host",     [PERFILE_FACT_OSRELEASE] = "kernel",
        [PERFILE_FACT_TOOL] = "perf_version", [PERFILE_FACT_ARCH] = "arch",
        [PERFILE_FACT_CPUDESC] = "cpu_model", [PERFILE_FACT_CPUID] = "cpuid",
        [PERFILE_FACT_CMDLINE] = "command"};
    const perfile_session *s = perfile_stream_session(c->stream);
    const perfile_container *container = perfile_stream_container(c->stream);
    perfile_stream_summary sum;
    perfile_clock clock;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < PERFILE_N_FACTS; i++) {
        const char *fact = perfile_session_fact(s, i);
        assert_value(t, "captures", 0, columns[i], fact ? fact : "null");
    }
    const uint32_t cpus = perfile_session_n_cpus(s);
    assert_value(t, "captures", 0, "cpus", decimal_or_null(cpus, cpus));
    for (uint32_t i = 0; i < container->n_parts; i++)
        bytes += container->parts[i].size;
    assert_value(t, "captures", 0, "bytes", decimal(bytes));
    assert_value(t, "captures", 0, "form",
                 container->directory                   ? "directory"
                 : container->form == PERFILE_FORM_PIPE ? "pipe"
                                                        : "file");
    perfile_stream_get_summary(c->stream, &sum, sizeof sum);
    assert_value(t, "captures", 0, "damages", decimal(sum.damages));
    assert_value(t, "captures", 0, "damaged_bytes", decimal(sum.lost));
    perfile_session_clock(s, &clock);
    assert_value(t, "captures", 0, "wall_offset_ns",
                 decimal_or_null(clock.wall_ns - clock.clock_ns, clock.has_wall));
}

static void check_events(const tabled *t, const capture *c)
{
    const perfile_session *s = perfile_stream_session(c->stream);
    const uint32_t n = perfile_session_n_events(s);
    assert_int_equal(tabled_rows(t, "events"), n);
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *event = perfile_session_event(s, i);
        const perfile_attr *a = event->attr;
        char config[24];
        snprintf(config, sizeof config, "%" PRIu64, a->config);
        assert_value(t, "events", i, "event_index", decimal(i));
        assert_value(t, "events", i, "event", event->name);
        assert_value(t, "events", i, "type_number", decimal(a->type));
        assert_value(t, "events", i, "config", config);
        assert_value(t, "events", i, "sample_freq", decimal_or_null(a->sample_freq, a->is_freq));
        assert_value(t, "events", i, "sample_period",
                     decimal_or_null(a->sample_period, !a->is_freq));
        assert_value(t, "events", i, "group_leader", decimal(event->group_leader));
        assert_value(t, "events", i, "is_tracepoint",
                     a->type == PERFILE_TYPE_TRACEPOINT ? "true" : "false");
        const bool disabled = a->flags & 1;
        assert_int_equal(strncmp(tabled_value(t, "events", i, "flags"), "[disabled", 9) == 0,
                         disabled);
    }
}

/* Rows in the order of the lists of the model. */
static void check_model(const tabled *t, const capture *c)
{
    perfile_model *m = (perfile_model *)(uintptr_t)c->model;
    const perfile_thread *threads = NULL;
    const perfile_mapping *mappings = NULL;
    size_t n_threads, n_mappings, comms = 0, samples = 0;
    assert_int_equal(perfile_model_threads(m, &threads, &n_threads, NULL), PERFILE_OK);
    assert_int_equal(perfile_model_mappings(m, &mappings, &n_mappings, NULL), PERFILE_OK);
    assert_true(tabled_rows(t, "threads") >= n_threads);
    for (size_t i = 0; i < n_threads; i++) {
        const perfile_thread *one = &threads[i];
        assert_value(t, "threads", i, "pid", decimal((uint64_t)(int32_t)one->pid));
        assert_value(t, "threads", i, "tid", decimal((uint64_t)(int32_t)one->tid));
        assert_value(t, "threads", i, "comm", one->comm ? one->comm : "null");
        assert_value(t, "threads", i, "parent_pid",
                     decimal_or_null(one->ppid, one->ppid != PERFILE_NO_PID));
        assert_value(t, "threads", i, "exit_time",
                     decimal_or_null(one->end, one->end != PERFILE_NO_TIME));
        for (uint32_t k = 0; k < one->n_names; k++, comms++) {
            assert_value(t, "comms", comms, "tid", decimal((uint64_t)(int32_t)one->tid));
            assert_value(t, "comms", comms, "comm", one->names[k].name);
            assert_value(t, "comms", comms, "exec", one->names[k].exec ? "true" : "false");
            assert_value(t, "comms", comms, "time",
                         decimal_or_null(one->names[k].time, one->names[k].time));
        }
    }
    assert_int_equal(tabled_rows(t, "comms"), comms);
    for (size_t i = 0; i < tabled_rows(t, "threads"); i++)
        samples += strtoul(tabled_value(t, "threads", i, "samples"), NULL, 10);
    size_t known = 0;
    for (size_t i = 0; i < tabled_rows(t, "samples"); i++) {
        const char *tid = tabled_value(t, "samples", i, "tid");
        known += strcmp(tid, "-1") != 0 && strcmp(tid, "null") != 0;
    }
    assert_int_equal(samples, known);
    assert_int_equal(tabled_rows(t, "mappings"), n_mappings);
    for (size_t i = 0; i < n_mappings; i++) {
        const perfile_mapping *one = &mappings[i];
        const perfile_bytes path = perfile_mapping_dso(one);
        char start[24];
        snprintf(start, sizeof start, "%" PRIu64, one->addr);
        assert_value(t, "mappings", i, "pid", decimal((uint64_t)(int32_t)one->pid));
        assert_value(t, "mappings", i, "start", start);
        assert_value(t, "mappings", i, "from_time", decimal_or_null(one->start, one->start));
        assert_value(t, "mappings", i, "to_time",
                     decimal_or_null(one->end, one->end != PERFILE_NO_TIME));
        const char *said = tabled_value(t, "mappings", i, "path");
        assert_int_equal(strlen(said), path.len);
        assert_memory_equal(said, path.ptr, path.len);
    }
}

/* Every module of a frame is a row of modules, and every mapping of its path has its id. */
static void check_modules(const tabled *t)
{
    for (size_t i = 0; i < tabled_rows(t, "modules"); i++) {
        const char *path = tabled_value(t, "modules", i, "path");
        const char *id = tabled_value(t, "modules", i, "module_id");
        bool found = false;
        for (size_t k = 0; k < tabled_rows(t, "mappings"); k++)
            found |= strcmp(tabled_value(t, "mappings", k, "path"), path) == 0 &&
                     strcmp(tabled_value(t, "mappings", k, "module_id"), id) == 0;
        assert_true(found);
    }
}

static void test_facts(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_NAMES; i++) {
        tabled t = {0};
        capture c;
        const perfile_record *r;
        perfile_error err;
        tables_of_sample(&t, names[i]);
        open_sample(names[i], &c);
        while (perfile_stream_next(c.stream, &r, &err) == PERFILE_OK)
            ;
        check_facts(&t, &c);
        check_events(&t, &c);
        check_model(&t, &c);
        check_modules(&t);
        perfile_stream_close(c.stream);
        tabled_free(&t);
    }
}

static void test_captured_at(void **state)
{
    tabled t = {0};
    capture c;
    perfile_clock clock;
    (void)state;
    tables_of_sample(&t, "clock");
    open_sample("clock", &c);
    perfile_session_clock(perfile_stream_session(c.stream), &clock);
    assert_true(clock.has_wall);
    assert_value(&t, "captures", 0, "clock", "monotonic");
    assert_value(&t, "captures", 0, "captured_at", decimal(clock.wall_ns / 1000));
    perfile_stream_close(c.stream);
    tabled_free(&t);
}

static void test_labels(void **state)
{
    static const char *const labels[] = {"service=web", "empty=", "a=b=c", NULL};
    tabled t = {0};
    capture c;
    (void)state;
    open_sample("callgraph", &c);
    make_tables(&t, &c, 1U << PF_TABLE_captures, labels);
    assert_int_equal(t.n, 1);
    assert_value(&t, "captures", 0, "labels", "3");
    assert_value(&t, "captures", 0, "labels.key", "[service,empty,a]");
    assert_value(&t, "captures", 0, "labels.value", "[web,,b=c]");
    tabled_free(&t);
}

static void test_cpus(void **state)
{
    tabled t = {0};
    (void)state;
    tables_of_sample(&t, "callgraph");
    const size_t n = strtoul(tabled_value(&t, "captures", 0, "cpus"), NULL, 10);
    assert_true(n > 0);
    assert_int_equal(tabled_rows(&t, "cpus"), n);
    for (size_t i = 0; i < n; i++) {
        assert_value(&t, "cpus", i, "cpu", decimal(i));
        assert_value(&t, "cpus", i, "node", "0");
        assert_value(&t, "cpus", i, "online", "true");
        assert_string_not_equal(tabled_value(&t, "cpus", i, "core"), "null");
        assert_string_not_equal(tabled_value(&t, "cpus", i, "socket"), "null");
    }
    tabled_free(&t);
}

/* Switches. */

typedef struct switch_check {
    const tabled *t;
    size_t switches, slices;
    struct {
        uint32_t tid;
        uint64_t since; /* 0: it is off */
    } threads[16];
} switch_check;

static uint64_t *since_of(switch_check *c, uint32_t tid)
{
    size_t i = 0;
    while (c->threads[i].tid && c->threads[i].tid != tid)
        assert_true(++i < 16);
    c->threads[i].tid = tid;
    return &c->threads[i].since;
}

static void check_switch(void *user, const perfile_record *r)
{
    switch_check *c = user;
    uint32_t pid, tid;
    if (r->type != PERFILE_RECORD_SWITCH)
        return;
    const uint64_t time = perfile_record_time(r);
    const bool out = r->misc & PERFILE_MISC_SWITCH_OUT;
    const bool preempted = r->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT;
    assert_true(perfile_record_task(r, &pid, &tid));
    const size_t row = c->switches++;
    assert_value(c->t, "switches", row, "time", decimal(time));
    assert_value(c->t, "switches", row, out ? "prev_tid" : "next_tid", decimal(tid));
    assert_value(c->t, "switches", row, out ? "prev_pid" : "next_pid", decimal(pid));
    assert_value(c->t, "switches", row, out ? "next_tid" : "prev_tid", "null");
    assert_value(c->t, "switches", row, "preempted", !out ? "null" : preempted ? "true" : "false");
    assert_value(c->t, "switches", row, "source", "switch");
    uint64_t *since = since_of(c, tid);
    if (out && *since) {
        assert_value(c->t, "slices", c->slices, "tid", decimal(tid));
        assert_value(c->t, "slices", c->slices, "start", decimal(*since));
        assert_value(c->t, "slices", c->slices, "duration", decimal(time - *since));
        assert_value(c->t, "slices", c->slices, "end_reason", preempted ? "preempted" : "wait");
        c->slices++;
    }
    *since = out ? 0 : time;
}

static void test_switches(void **state)
{
    tabled t = {0};
    switch_check c = {.t = &t};
    (void)state;
    tables_of_sample(&t, "switch");
    walk("switch", check_switch, &c);
    assert_true(c.switches > 4 && c.slices > 1);
    assert_int_equal(tabled_rows(&t, "switches"), c.switches);
    assert_int_equal(tabled_rows(&t, "slices"), c.slices);
    tabled_free(&t);
}

/* Counters of perf stat. */

typedef struct stat_check {
    const tabled *t;
    size_t values, timed;
} stat_check;

static void check_stat(void *user, const perfile_record *r)
{
    stat_check *c = user;
    perfile_stat v;
    perfile_stat_round round;
    if (r->type == PERFILE_RECORD_STAT_ROUND) {
        assert_int_equal(perfile_stat_round_decode(r, &round, sizeof round, NULL), PERFILE_OK);
        for (; c->timed < c->values; c->timed++)
            assert_value(c->t, "counters", c->timed, "time", decimal(round.time));
    }
    if (r->type != PERFILE_RECORD_STAT)
        return;
    const perfile_event *event = perfile_record_event(r);
    const size_t row = c->values++;
    assert_int_equal(perfile_stat_decode(r, &v, sizeof v, NULL), PERFILE_OK);
    assert_value(c->t, "counters", row, "record", decimal(r->sequence));
    assert_value(c->t, "counters", row, "event", event->name);
    assert_value(c->t, "counters", row, "cpu", decimal_or_null(v.cpu, v.cpu != UINT32_MAX));
    assert_value(c->t, "counters", row, "value", decimal(v.val));
    assert_value(c->t, "counters", row, "enabled", decimal(v.ena));
    assert_value(c->t, "counters", row, "running", decimal(v.run));
    assert_value(c->t, "counters", row, "source", "stat");
}

static void test_stat(void **state)
{
    tabled t = {0};
    stat_check c = {.t = &t};
    (void)state;
    tables_of_sample(&t, "stat");
    walk("stat", check_stat, &c);
    assert_true(c.values > 4);
    assert_int_equal(tabled_rows(&t, "counters"), c.values);
    for (size_t i = c.timed; i < c.values; i++) /* totals have no round */
        assert_value(&t, "counters", i, "time", "null");
    tabled_free(&t);
}

static void check_group(void *user, const perfile_record *r)
{
    stat_check *c = user;
    perfile_sample v;
    perfile_read_entry entry;
    if (r->type != PERFILE_RECORD_SAMPLE)
        return;
    assert_int_equal(perfile_sample_decode(r, &v, sizeof v, NULL), PERFILE_OK);
    assert_true(v.present & PERFILE_SAMPLE_READ);
    perfile_list list = v.values.cntr;
    while (perfile_read_entry_next(&list, &entry, sizeof entry) == PERFILE_OK) {
        const perfile_event *event = perfile_session_event_by_id(r->session, entry.id);
        const size_t row = c->values++;
        assert_value(c->t, "counters", row, "record", decimal(r->sequence));
        assert_value(c->t, "counters", row, "event", event->name);
        assert_value(c->t, "counters", row, "value", decimal(entry.value));
        assert_value(c->t, "counters", row, "time", decimal(perfile_record_time(r)));
        assert_value(c->t, "counters", row, "source", "sample");
    }
}

static void test_group(void **state)
{
    tabled t = {0};
    stat_check c = {.t = &t};
    (void)state;
    tables_of_sample(&t, "group");
    walk("group", check_group, &c);
    assert_true(c.values > 4);
    assert_int_equal(tabled_rows(&t, "counters"), c.values);
    tabled_free(&t);
}

/* Tracepoints. */

typedef struct trace_check {
    const tabled *t;
    perfile_tracepoints *all;
    struct {
        const char *name;
        size_t rows;
    } events[8];
} trace_check;

static size_t *rows_of(trace_check *c, const char *name)
{
    size_t i = 0;
    while (c->events[i].name && strcmp(c->events[i].name, name) != 0)
        assert_true(++i < 8);
    c->events[i].name = name;
    return &c->events[i].rows;
}

static void check_payload(trace_check *c, const perfile_record *r)
{
    const perfile_tracepoint *of;
    perfile_bytes payload;
    char table[160], expected[64];
    if (r->type != PERFILE_RECORD_SAMPLE)
        return;
    const perfile_event *event = perfile_record_event(r);
    if (event->attr->type != PERFILE_TYPE_TRACEPOINT)
        return;
    snprintf(table, sizeof table, "tracepoints/%s", event->name);
    const size_t row = (*rows_of(c, event->name))++;
    assert_value(c->t, table, row, "record", decimal(r->sequence));
    assert_value(c->t, table, row, "time", decimal(perfile_record_time(r)));
    assert_int_equal(perfile_tracepoint_of(c->all, r, &of, &payload, NULL), PERFILE_OK);
    for (uint32_t i = 0; i < of->n_fields; i++) {
        const perfile_field *f = &of->fields[i].field;
        perfile_value v;
        const char *said = tabled_value(c->t, table, row, f->name);
        if (strcmp(f->name, "common_type") == 0)
            continue;
        assert_int_equal(perfile_tracepoint_value(of, payload, i, &v), PERFILE_OK);
        if (f->type == PERFILE_STORED_TEXT) {
            assert_int_equal(strlen(said), v.u.bytes.len);
            assert_memory_equal(said, v.u.bytes.ptr, v.u.bytes.len);
        } else if (f->type <= PERFILE_STORED_S32 || f->type == PERFILE_STORED_S64) {
            snprintf(expected, sizeof expected, "%" PRId64, (int64_t)v.number);
            if (f->type == PERFILE_STORED_U64)
                snprintf(expected, sizeof expected, "%" PRIu64, v.number);
            /* A name that a column has already. */
            if (strcmp(f->name, "pid") == 0 || strcmp(f->name, "cpu") == 0)
                said =
                    tabled_value(c->t, table, row, f->name[0] == 'p' ? "field_pid" : "field_cpu");
            assert_string_equal(said, expected);
        }
    }
}

static void check_tracepoints(const char *name)
{
    tabled t = {0};
    trace_check c = {.t = &t};
    capture in;
    const perfile_record *r;
    perfile_error err;
    tables_of_sample(&t, name);
    open_sample(name, &in);
    assert_int_equal(perfile_tracepoints_open(perfile_stream_session(in.stream), &c.all, &err),
                     PERFILE_OK);
    while (perfile_stream_next(in.stream, &r, &err) == PERFILE_OK)
        check_payload(&c, r);
    assert_non_null(c.events[0].name);
    for (size_t i = 0; c.events[i].name; i++) {
        char table[160];
        snprintf(table, sizeof table, "tracepoints/%s", c.events[i].name);
        assert_int_equal(tabled_rows(&t, table), c.events[i].rows);
    }
    perfile_tracepoints_close(c.all);
    perfile_stream_close(in.stream);
    tabled_free(&t);
}

static void test_tracepoints(void **state)
{
    (void)state;
    check_tracepoints("tracepoints");
    check_tracepoints("pipe-tracepoints");
}

/* A tracepoint whose fields have names of columns, and all types of values. */
static const char description[] =
    "name: event\nID: 77\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:int pid;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:int PID;\toffset:20;\tsize:4;\tsigned:1;\n"
    "\tfield:u64 mask;\toffset:24;\tsize:8;\tsigned:0;\n"
    "\tfield:s16 small;\toffset:32;\tsize:2;\tsigned:1;\n"
    "\tfield:u16 pair[3];\toffset:34;\tsize:6;\tsigned:0;\n"
    "\tfield:u8 v4[4];\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc char[] text;\toffset:44;\tsize:4;\tsigned:0;\n"
    "\tfield:int gone;\toffset:200;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

static void put_description(builder *b)
{
    BUILDER data = {0};
    build_bytes(&data, "\x17\x08\x44tracing", 10);
    build_bytes(&data, "0.6", 4);
    build_u8(&data, PF_NATIVE_BIG);
    build_u8(&data, 8);
    build_u32(&data, 4096);
    build_bytes(&data, "header_page", 12);
    build_u64(&data, 0);
    build_bytes(&data, "header_event", 13);
    build_u64(&data, 0);
    build_u32(&data, 0);
    build_u32(&data, 1);
    build_bytes(&data, "made", 5);
    build_u32(&data, 1);
    build_u64(&data, sizeof description - 1);
    build_bytes(&data, description, sizeof description - 1);
    build_u32(&data, 0);
    build_u32(&data, 0);
    build_u64(&data, 0);
    const size_t size = data.b.len;
    build_zeros(&data, -size & 7);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_TRACING_DATA, 0);
    build_u32(b, (uint32_t)size);
    build_u32(b, 0);
    build_end(b, start);
    build_bytes(b, data.b.ptr, data.b.len);
}

static void put_payload(builder *b, bool whole, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, KERNEL);
    build_u64(b, KERNEL_TEXT);
    build_u32(b, 10);
    build_u32(b, 11);
    build_u64(b, time);
    build_u32(b, whole ? 52 : 20);
    build_u16(b, 77);
    build_zeros(b, 2);
    build_u32(b, (uint32_t)-1);
    build_bytes(b, "worker\0\0", 8);
    build_u32(b, 5);
    if (whole) {
        build_u32(b, 6);
        build_u64(b, (uint64_t)-5);
        build_u16(b, (uint16_t)-3);
        for (uint16_t i = 1; i <= 3; i++)
            build_u16(b, (uint16_t)(i * 256));
        build_bytes(b, "\xc0\0\x02\x01", 4);
        build_u32(b, 48 | 4U << 16);
        build_bytes(b, "abc", 4);
    }
    build_end(b, start);
}

static void test_payloads(void **state)
{
    static const char table[] = "tracepoints/made:event";
    static const char *const late[] = {
        "field_field_PID", "mask", "small", "pair", "v4", "text", "gone"};
    BUILDER b = {0};
    tabled t = {0};
    capture c;
    (void)state;
    build_u64(&b, 0x32454c4946524550);
    build_u64(&b, 16);
    size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(&b, &(build_attr_plan){.type = PERFILE_TYPE_TRACEPOINT,
                                      .size = 64,
                                      .config = 77,
                                      .period = 1,
                                      .sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID |
                                                     PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_RAW,
                                      .flags = SAMPLE_ID_ALL});
    build_u64(&b, 7);
    build_end(&b, start);
    put_description(&b);
    put_payload(&b, true, 100);
    put_payload(&b, false, 200);
    open_built(&b, &c);
    make_tables(&t, &c, EVERY, NULL);
    assert_int_equal(tabled_rows(&t, table), 2);
    assert_value(&t, table, 0, "time", "100");
    assert_value(&t, table, 0, "pid", "10");
    assert_value(&t, table, 0, "tid", "11");
    assert_value(&t, table, 0, "common_type", "(there is no such value)");
    assert_value(&t, table, 0, "common_pid", "-1");
    assert_value(&t, table, 0, "field_comm", "worker");
    assert_value(&t, table, 0, "field_pid", "5");
    assert_value(&t, table, 0, "field_field_PID", "6");
    assert_value(&t, table, 0, "mask", "18446744073709551611");
    assert_value(&t, table, 0, "small", "-3");
    assert_value(&t, table, 0, "pair", "[256,512,768]");
    assert_value(&t, table, 0, "v4", "c0000201");
    assert_value(&t, table, 0, "text", "abc");
    assert_value(&t, table, 0, "gone", "null");
    assert_value(&t, table, 1, "field_pid", "5");
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++)
        assert_value(&t, table, 1, late[i], "null");
    assert_string_equal(tabled_value(&t, table, 0, "stack_id"),
                        tabled_value(&t, "samples", 0, "stack_id"));
    tabled_free(&t);
}

/* Records that no sample capture has. */

static void put_lost(builder *b, uint64_t lost, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_LOST, 0);
    build_u64(b, 7);
    build_u64(b, lost);
    end(b, start, 10, 11, time);
    start = build_begin(b, PERFILE_RECORD_LOST_SAMPLES, 0);
    build_u64(b, lost + 1);
    end(b, start, 10, 11, time + 1);
}

static void put_aux(builder *b, uint64_t offset, uint64_t size, uint64_t flags, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_AUX, 0);
    build_u64(b, offset);
    build_u64(b, size);
    build_u64(b, flags);
    end(b, start, 10, 11, time);
}

static void test_lost_and_aux(void **state)
{
    BUILDER b = {0};
    tabled t = {0};
    capture c;
    (void)state;
    begin(&b, CHAIN_TYPE, 1, 0);
    put_lost(&b, 5, 100);
    put_lost(&b, 20, 200);
    put_aux(&b, UINT64_C(1) << 63, 4096, 0, 300);
    put_aux(&b, 4096, 100, 1 | 8, 400);
    open_built(&b, &c);
    make_tables(&t, &c, EVERY, NULL);
    assert_value(&t, "captures", 0, "lost_records", "25");
    assert_value(&t, "captures", 0, "lost_samples", "27");
    assert_int_equal(tabled_rows(&t, "lost"), 5);
    static const char *const kinds[] = {"records", "samples", "records", "samples", "aux"};
    static const char *const lost[] = {"5", "6", "20", "21", "null"};
    static const char *const times[] = {"100", "101", "200", "201", "400"};
    for (size_t i = 0; i < 5; i++) {
        assert_value(&t, "lost", i, "kind", kinds[i]);
        assert_value(&t, "lost", i, "lost", lost[i]);
        assert_value(&t, "lost", i, "time", times[i]);
        assert_value(&t, "lost", i, "pid", "10");
        assert_value(&t, "lost", i, "tid", "11");
    }
    assert_int_equal(tabled_rows(&t, "aux"), 2);
    assert_value(&t, "aux", 0, "offset", "9223372036854775808");
    assert_value(&t, "aux", 0, "bytes", "4096");
    assert_value(&t, "aux", 0, "flags", "[]");
    assert_value(&t, "aux", 1, "flags", "[truncated,collision]");
    tabled_free(&t);
}

static void put_wide(builder *b, uint16_t misc, uint32_t own, uint32_t other, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_SWITCH_CPU_WIDE, misc);
    build_u32(b, other);
    build_u32(b, other);
    build_u32(b, own);
    build_u32(b, own);
    build_u64(b, time);
    build_u32(b, 3);
    build_u32(b, 0);
    build_end(b, start);
}

/* Each of the two records of a switch says both sides; idle is a thread of its processor. */
static void test_wide_switches(void **state)
{
    enum { OUT = PERFILE_MISC_SWITCH_OUT, PREEMPT = PERFILE_MISC_SWITCH_OUT_PREEMPT };
    BUILDER b = {0};
    tabled t = {0};
    capture c;
    (void)state;
    begin(&b, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU, 1,
          0);
    put_wide(&b, OUT, 10, 0, 100);
    put_wide(&b, 0, 0, 10, 101);
    put_wide(&b, OUT, 0, 20, 200);
    put_wide(&b, 0, 20, 0, 201);
    put_wide(&b, OUT | PREEMPT, 20, 30, 300);
    put_wide(&b, 0, 30, 20, 301);
    /* Nothing says that 30 left. */
    put_wide(&b, 0, 40, 30, 400);
    put_wide(&b, OUT, 40, 30, 450);
    put_wide(&b, OUT, 30, 40, 500);
    open_built(&b, &c);
    make_tables(&t, &c, EVERY, NULL);
    assert_int_equal(tabled_rows(&t, "switches"), 9);
    assert_value(&t, "switches", 0, "prev_tid", "10");
    assert_value(&t, "switches", 0, "next_tid", "0");
    assert_value(&t, "switches", 0, "cpu", "3");
    assert_value(&t, "switches", 0, "preempted", "false");
    assert_value(&t, "switches", 1, "prev_tid", "10");
    assert_value(&t, "switches", 1, "next_tid", "0");
    assert_value(&t, "switches", 1, "preempted", "null");
    assert_value(&t, "switches", 4, "preempted", "true");
    assert_int_equal(tabled_rows(&t, "slices"), 3);
    static const char *const tids[] = {"0", "20", "40"};
    static const char *const starts[] = {"101", "201", "400"};
    static const char *const durations[] = {"99", "99", "50"};
    static const char *const reasons[] = {"wait", "preempted", "wait"};
    for (size_t i = 0; i < 3; i++) {
        assert_value(&t, "slices", i, "tid", tids[i]);
        assert_value(&t, "slices", i, "start", starts[i]);
        assert_value(&t, "slices", i, "duration", durations[i]);
        assert_value(&t, "slices", i, "end_reason", reasons[i]);
        assert_value(&t, "slices", i, "cpu", "3");
    }
    tabled_free(&t);
}

/* Records of one processor come before older ones of another; a round ends behind each. */
static void put_round(builder *b)
{
    build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
}

static void put_task_switch(builder *b, bool in, uint32_t tid, uint64_t time)
{
    size_t start = build_begin(b, PERFILE_RECORD_SWITCH, in ? 0 : PERFILE_MISC_SWITCH_OUT);
    end(b, start, tid, tid, time);
}

static void test_unsorted_switches(void **state)
{
    for (unsigned rounds = 0; rounds < 2; rounds++) {
        BUILDER b = {0};
        tabled t = {0};
        capture c;
        (void)state;
        begin(&b, CHAIN_TYPE, 1, 0);
        put_task_switch(&b, true, 10, 300);
        put_task_switch(&b, false, 10, 350);
        put_task_switch(&b, true, 10, 100);
        put_task_switch(&b, false, 10, 250);
        if (rounds)
            put_round(&b);
        put_task_switch(&b, true, 10, 500);
        put_task_switch(&b, true, 10, 400);
        put_task_switch(&b, false, 10, 450);
        if (rounds)
            put_round(&b);
        put_task_switch(&b, false, 10, 600);
        open_built(&b, &c);
        make_tables(&t, &c, EVERY, NULL);
        assert_int_equal(tabled_rows(&t, "switches"), 8);
        assert_int_equal(tabled_rows(&t, "slices"), 4);
        static const char *const starts[] = {"100", "300", "400", "500"};
        static const char *const durations[] = {"150", "50", "50", "100"};
        for (size_t i = 0; i < 4; i++) {
            assert_value(&t, "slices", i, "start", starts[i]);
            assert_value(&t, "slices", i, "duration", durations[i]);
        }
        tabled_free(&t);
    }
}

/* A number that was used again is another thread. */
static void test_lives(void **state)
{
    const uint64_t ip = 0x401000;
    BUILDER b = {0};
    tabled t = {0};
    capture c;
    (void)state;
    begin(&b, CHAIN_TYPE, 1, 0);
    put_comm(&b, 50, "old", false, 10);
    put_sample(&b, USER, 50, 100, ip, NULL, 0);
    put_fork(&b, 50, 1, 200);
    put_comm(&b, 50, "new", true, 210);
    put_sample(&b, USER, 50, 250, ip, NULL, 0);
    put_sample(&b, USER, 50, 300, ip, NULL, 0);
    put_sample(&b, USER, 60, 400, ip, NULL, 0);
    open_built(&b, &c);
    make_tables(&t, &c, EVERY, NULL);
    size_t lives = 0;
    for (size_t i = 0; i < tabled_rows(&t, "threads"); i++) {
        const char *tid = tabled_value(&t, "threads", i, "tid");
        if (strcmp(tid, "50") != 0)
            continue;
        const bool again = lives++;
        assert_value(&t, "threads", i, "comm", again ? "new" : "old");
        assert_value(&t, "threads", i, "samples", again ? "2" : "1");
        assert_value(&t, "threads", i, "first_time", again ? "250" : "100");
        assert_value(&t, "threads", i, "last_time", again ? "300" : "100");
        assert_value(&t, "threads", i, "fork_time", again ? "200" : "null");
        assert_value(&t, "threads", i, "parent_pid", again ? "1" : "null");
    }
    assert_int_equal(lives, 2);
    const size_t last = tabled_rows(&t, "threads") - 1;
    assert_value(&t, "threads", last, "tid", "60");
    assert_value(&t, "threads", last, "samples", "1");
    tabled_free(&t);
}

/* A READ record: what the counter would have shown had it always counted. */
static void test_read(void **state)
{
    BUILDER b = {0};
    tabled t = {0};
    capture c;
    (void)state;
    build_u64(&b, 0x32454c4946524550);
    build_u64(&b, 16);
    size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(&b, &(build_attr_plan){.type = 1,
                                      .size = 64,
                                      .period = 1,
                                      .sample_type = CHAIN_TYPE,
                                      .read_format = PERFILE_FORMAT_TOTAL_TIME_ENABLED |
                                                     PERFILE_FORMAT_TOTAL_TIME_RUNNING |
                                                     PERFILE_FORMAT_ID,
                                      .flags = SAMPLE_ID_ALL});
    build_u64(&b, 7);
    build_end(&b, start);
    for (unsigned i = 0; i < 2; i++) {
        start = build_begin(&b, PERFILE_RECORD_READ, 0);
        build_u32(&b, 10);
        build_u32(&b, 11);
        build_u64(&b, 1000);
        build_u64(&b, 400);
        build_u64(&b, i ? 0 : 100); /* it never counted */
        build_u64(&b, 7);
        end(&b, start, 10, 12, 500);
    }
    open_built(&b, &c);
    make_tables(&t, &c, EVERY, NULL);
    assert_int_equal(tabled_rows(&t, "counters"), 2);
    assert_value(&t, "counters", 0, "value", "1000");
    assert_value(&t, "counters", 0, "enabled", "400");
    assert_value(&t, "counters", 0, "running", "100");
    assert_value(&t, "counters", 0, "scaled", "4000");
    assert_value(&t, "counters", 0, "pid", "10");
    assert_value(&t, "counters", 0, "tid", "11");
    assert_value(&t, "counters", 0, "time", "500");
    assert_value(&t, "counters", 0, "source", "read");
    assert_value(&t, "counters", 1, "scaled", "null");
    tabled_free(&t);
}

/* Missing memory. */

static perfile_status forget_rows(void *user, pf_table *table, perfile_error *err)
{
    (void)user;
    (void)err;
    pf_table_batch_clear(table->batch);
    return PERFILE_OK;
}

/* Makes all tables of a capture.  Allocation number `fail` fails (0: none); *n is how many there
 * were. */
static perfile_status try_tables(const char *name, uint64_t fail, uint64_t *n)
{
    static const pf_tables_consumer consumer = {.put = forget_rows};
    capture c;
    const perfile_record *r;
    perfile_status st;
    open_sample(name, &c);
    pf_alloc_count = 0;
    pf_alloc_fail_at = fail;
    perfile_emitter *e = tabled_try(&consumer, NULL, c.stream, c.model, EVERY, NULL, &st);
    while (st == PERFILE_OK && (st = perfile_stream_next(c.stream, &r, NULL)) == PERFILE_OK)
        st = perfile_emitter_put(e, r, NULL);
    if (st == PERFILE_END)
        st = perfile_emitter_finish(e, NULL);
    *n = pf_alloc_count;
    pf_alloc_fail_at = 0;
    perfile_emitter_close(e);
    perfile_stream_close(c.stream);
    return st;
}

static void test_no_memory(void **state)
{
    static const char *const captures[] = {"tracepoints", "switch", "stat", "group"};
    (void)state;
    for (size_t i = 0; i < sizeof captures / sizeof captures[0]; i++) {
        uint64_t all, n;
        assert_int_equal(try_tables(captures[i], 0, &all), PERFILE_OK);
        assert_true(all > 100);
        for (uint64_t fail = 1; fail <= all; fail++)
            assert_int_equal(try_tables(captures[i], fail, &n), PERFILE_E_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_and_counts),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_captured_at),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_stat),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_tracepoints),
        cmocka_unit_test(test_payloads),
        cmocka_unit_test(test_lost_and_aux),
        cmocka_unit_test(test_wide_switches),
        cmocka_unit_test(test_unsorted_switches),
        cmocka_unit_test(test_lives),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
