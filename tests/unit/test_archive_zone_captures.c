/* Zones of whole captures against what perfile_stream_next(), the decoders of records and
 * expressions say of each record. */
#include "testing.h"

#include "archive/meta.h"
#include "base/alloc.h"
#include "captures.h"
#include "random.h"
#include "recorded.h"

/* Captures are cut into chunks of some records.  The first pass collects the zones, by runs; the
 * second counts everything by hand, record by record. */
enum { MOST_ZONES = 400, CHUNK = 17, MOST_VALUES = 512, CONDITIONS = 6 };

static pf_zone zones[MOST_ZONES];
static unsigned n_zones;
static uint64_t n_checked, n_known;

/* Encodes a zone and decodes it to the next of `zones`. */
static void keep_zone(pf_zone *z, pf_buffer *out)
{
    assert_true(n_zones < MOST_ZONES);
    pf_buffer_clear(out);
    zones[n_zones] = (pf_zone){0};
    assert_int_equal(pf_zone_encode(z, out, NULL), PERFILE_OK);
    assert_int_equal(pf_zone_decode((perfile_bytes){out->ptr, out->len}, &zones[n_zones], NULL),
                     PERFILE_OK);
    n_zones++;
    pf_zone_clear(z);
}

static void collect(perfile_stream *s)
{
    pf_zone z = {0};
    pf_buffer out = {0};
    const perfile_record *first;
    size_t n, in_chunk = 0;
    perfile_error err;
    n_zones = 0;
    pf_zone_clear(&z);
    for (bool end = false; !end && n_zones < MOST_ZONES;) {
        end = perfile_stream_next_run(s, &first, &n, &err) != PERFILE_OK;
        for (size_t i = 0, take; !end && i < n && n_zones < MOST_ZONES; i += take) {
            take = n - i < CHUNK - in_chunk ? n - i : CHUNK - in_chunk;
            assert_true(pf_zone_add(&z, first + i, take));
            if ((in_chunk += take) < CHUNK)
                continue;
            keep_zone(&z, &out);
            in_chunk = 0;
        }
    }
    if (in_chunk)
        keep_zone(&z, &out);
    pf_zone_free(&z);
    pf_buffer_free(&out);
}

typedef struct values {
    uint32_t at[MOST_VALUES];
    unsigned n;
    bool lacking; /* a data record has none */
} values;

static void note(values *v, uint32_t value)
{
    for (unsigned i = 0; i < v->n; i++)
        if (v->at[i] == value)
            return;
    assert_true(v->n < MOST_VALUES);
    v->at[v->n++] = value;
}

/* What one chunk has. */
typedef struct by_hand {
    uint64_t records, apart, untimed, lost, least, most, data_least, data_most;
    bool hides, data_untimed;
    values pids, tids, cpus;
    pf_zone_counts types, events;
} by_hand;

/* Damaged records may say any number: it stays at the greatest. */
static void add_lost(by_hand *h, uint64_t lost)
{
    h->lost = lost > UINT64_MAX - h->lost ? UINT64_MAX : h->lost + lost;
}

/* A record's own fields, by its decoder. */
static void own_by_hand(by_hand *h, const perfile_record *r, bool *pid, bool *tid, bool *cpu)
{
    union {
        perfile_fork fork;
        perfile_exit exit;
        perfile_comm comm;
        perfile_read read;
        perfile_mmap mmap;
        perfile_mmap2 mmap2;
        perfile_namespaces namespaces;
        perfile_itrace_start itrace;
        perfile_switch_cpu_wide wide;
        perfile_auxtrace aux;
        perfile_auxtrace_error error;
        perfile_stat stat;
        perfile_header_build_id build_id;
        perfile_lost lost;
        perfile_lost_samples lost_samples;
    } v;
#define OWN(TYPE, name, member, ...)                                                               \
    case PERFILE_RECORD_##TYPE:                                                                    \
        if (perfile_##name##_decode(r, &v.member, sizeof v.member, NULL) == PERFILE_OK) {          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        break;
#define TASK(p, t) *pid = *tid = true, note(&h->pids, p), note(&h->tids, t)
    switch (r->type) {
        OWN(READ, read, read, TASK(v.read.pid, v.read.tid);)
        OWN(SWITCH_CPU_WIDE, switch_cpu_wide, wide, note(&h->pids, v.wide.next_prev_pid);
            note(&h->tids, v.wide.next_prev_tid);)
        OWN(AUXTRACE, auxtrace, aux, note(&h->tids, v.aux.tid); note(&h->cpus, v.aux.cpu);
            *tid = v.aux.tid != UINT32_MAX; *cpu = v.aux.cpu != UINT32_MAX;)
        OWN(AUXTRACE_ERROR, auxtrace_error, error, TASK(v.error.pid, v.error.tid);
            note(&h->cpus, v.error.cpu); *tid = v.error.tid != UINT32_MAX;
            *cpu = v.error.cpu != UINT32_MAX;)
        OWN(STAT, stat, stat, note(&h->cpus, v.stat.cpu); *cpu = v.stat.cpu != UINT32_MAX;)
        OWN(LOST, lost, lost, add_lost(h, v.lost.lost);)
        OWN(LOST_SAMPLES, lost_samples, lost_samples, add_lost(h, v.lost_samples.lost);)
    default:
        break;
    }
#undef TASK
#undef OWN
}

/* Types that are not apart. */
static const uint32_t data_types[] = {PERFILE_RECORD_SAMPLE,
                                      PERFILE_RECORD_READ,
                                      PERFILE_RECORD_AUX,
                                      PERFILE_RECORD_SWITCH,
                                      PERFILE_RECORD_SWITCH_CPU_WIDE,
                                      PERFILE_RECORD_CALLCHAIN_DEFERRED,
                                      PERFILE_RECORD_AUXTRACE,
                                      PERFILE_RECORD_AUXTRACE_ERROR,
                                      PERFILE_RECORD_STAT,
                                      PERFILE_RECORD_SCHEDSTAT_CPU,
                                      PERFILE_RECORD_SCHEDSTAT_DOMAIN};
static const uint32_t hiding_types[] = {PERFILE_RECORD_COMPRESSED, PERFILE_RECORD_COMPRESSED2,
                                        PERFILE_RECORD_SIMPLEPERF_SPLIT,
                                        PERFILE_RECORD_SIMPLEPERF_SPLIT_END};

static bool is_one_of(uint32_t type, const uint32_t *types, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (types[i] == type)
            return true;
    return false;
}

static void count_by_hand(by_hand *h, const perfile_record *r)
{
    const bool perf = r->family == PERFILE_FAMILY_PERF;
    const bool hides = perf && is_one_of(r->type, hiding_types, 4);
    const bool apart = perf && perfile_record_type_name(r->type) && !hides &&
                       !is_one_of(r->type, data_types, sizeof data_types / sizeof data_types[0]);
    const uint64_t time = perfile_record_time(r);
    const perfile_event *e = perfile_record_event(r);
    uint32_t pid, tid, cpu;
    assert_int_equal(pf_zone_is_apart(r), apart);
    bool has_pid = perfile_record_task(r, &pid, &tid), has_tid = has_pid;
    bool has_cpu = perfile_record_cpu(r, &cpu);
    h->records++;
    h->apart += apart;
    h->hides |= hides;
    /* The sets are those of the data. */
    if (has_pid && !apart)
        note(&h->pids, pid), note(&h->tids, tid);
    if (has_cpu && !apart)
        note(&h->cpus, cpu);
    own_by_hand(h, r, &has_pid, &has_tid, &has_cpu);
    h->pids.lacking |= !apart && !has_pid;
    h->tids.lacking |= !apart && !has_tid;
    h->cpus.lacking |= !apart && !has_cpu;
    if (time == 0 || time == PERFILE_NO_TIME)
        h->untimed++;
    else
        h->least = time < h->least ? time : h->least, h->most = time > h->most ? time : h->most;
    if (!apart && time == PERFILE_NO_TIME)
        h->data_untimed = true;
    else if (!apart) {
        h->data_least = time < h->data_least ? time : h->data_least;
        h->data_most = time > h->data_most ? time : h->data_most;
    }
    assert_true(pf_zone_counts_add(&h->types, r->type, 1, perfile_record_size(r)));
    if (r->type == PERFILE_RECORD_SAMPLE && e)
        assert_true(pf_zone_counts_add(&h->events, e->index, 1, 0));
}

static void same_set(const pf_zone_set *s, const values *v)
{
    assert_int_equal(s->known, !v->lacking);
    if (!s->known)
        return;
    n_known++;
    assert_int_equal(s->n, v->n);
    for (unsigned i = 0; i < v->n; i++)
        assert_true(pf_zone_set_has(s, v->at[i]));
}

static void same_counts(const pf_zone_counts *a, const pf_zone_counts *b, bool bytes)
{
    assert_true(a->known);
    assert_int_equal(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        assert_int_equal(a->at[i].key, b->at[i].key);
        assert_int_equal(a->at[i].records, b->at[i].records);
        assert_true(!bytes || a->at[i].bytes == b->at[i].bytes);
    }
}

static void compare(const pf_zone *z, const by_hand *h)
{
    n_checked++;
    assert_int_equal(z->records, h->records);
    assert_true(z->has_apart);
    assert_int_equal(z->apart, h->apart);
    if (h->hides) {
        assert_true(!z->types.known && !z->events.known && !z->pids.known && !z->tids.known &&
                    !z->cpus.known && !z->has_times && !z->has_data_times && !z->has_lost);
        return;
    }
    assert_int_equal(z->has_times, h->least <= h->most);
    assert_true(!z->has_times || (z->first == h->least && z->last == h->most));
    assert_int_equal(z->has_data_times, h->data_least <= h->data_most && !h->data_untimed);
    assert_true(!z->has_data_times ||
                (z->data_first == h->data_least && z->data_last == h->data_most));
    assert_true(z->has_lost && z->has_untimed);
    assert_int_equal(z->lost, h->lost);
    assert_int_equal(z->untimed, h->untimed);
    same_counts(&z->types, &h->types, true);
    same_counts(&z->events, &h->events, false);
    same_set(&z->pids, &h->pids);
    same_set(&z->tids, &h->tids);
    same_set(&z->cpus, &h->cpus);
}

/* Conditions on one field each: of a record that passes, the value must be in the set. */
static struct {
    perfile_expr *is[CONDITIONS], *has;
    uint32_t value[CONDITIONS];
} conditions[3];

static const pf_zone_set *set_of(const pf_zone *z, unsigned field)
{
    return field == 0 ? &z->pids : field == 1 ? &z->tids : &z->cpus;
}

static void make_conditions(void)
{
    static const char *const names[3] = {"pid", "tid", "cpu"};
    char text[64];
    for (unsigned f = 0; f < 3; f++) {
        snprintf(text, sizeof text, "has(%s)", names[f]);
        assert_int_equal(perfile_expr_open(text, NULL, &conditions[f].has, NULL), PERFILE_OK);
        for (unsigned i = 0; i < CONDITIONS; i++) {
            /* 0, all ones, and values that some chunk has. */
            const pf_zone_set *s = set_of(&zones[random_below(n_zones)], f);
            uint32_t v = i == 0 ? 0 : UINT32_MAX;
            if (i > 1)
                v = s->n ? s->at[random_below(s->n)] : random_below(2000);
            snprintf(text, sizeof text, "%s == %u", names[f], v);
            conditions[f].value[i] = v;
            assert_int_equal(perfile_expr_open(text, NULL, &conditions[f].is[i], NULL), PERFILE_OK);
        }
    }
}

static void close_conditions(void)
{
    for (unsigned f = 0; f < 3; f++) {
        perfile_expr_close(conditions[f].has);
        for (unsigned i = 0; i < CONDITIONS; i++)
            perfile_expr_close(conditions[f].is[i]);
    }
}

/* If a set is known, every data record has the field; and the law of the conditions. */
static void conditions_hold(const pf_zone *z, const perfile_record *r)
{
    bool yes;
    for (unsigned f = 0; f < 3; f++) {
        const pf_zone_set *s = set_of(z, f);
        assert_int_equal(perfile_expr_test(conditions[f].has, r, &yes, NULL), PERFILE_OK);
        assert_true(yes || !s->known || pf_zone_is_apart(r));
        for (unsigned i = 0; i < CONDITIONS; i++) {
            assert_int_equal(perfile_expr_test(conditions[f].is[i], r, &yes, NULL), PERFILE_OK);
            assert_true(!yes || pf_zone_is_apart(r) || pf_zone_set_has(s, conditions[f].value[i]));
        }
    }
}

/* What the questions must not deny. */
static void answers_hold(const pf_zone *z, const perfile_record *r)
{
    const uint64_t time = perfile_record_time(r);
    const perfile_event *e = perfile_record_event(r);
    assert_true(pf_zone_has_type(z, r->type));
    if (pf_zone_is_apart(r))
        return;
    assert_true(time == PERFILE_NO_TIME || pf_zone_meets_times(z, time, time));
    assert_true(!e || pf_zone_has_event(z, e->index));
}

static void check_zones(perfile_stream *s)
{
    const perfile_record *r;
    perfile_error err;
    for (unsigned i = 0; i < n_zones; i++) {
        by_hand *h = calloc(1, sizeof *h);
        assert_non_null(h);
        h->least = h->data_least = UINT64_MAX;
        pf_zone_counts_clear(&h->types, true);
        pf_zone_counts_clear(&h->events, true);
        for (unsigned k = 0; k < CHUNK && perfile_stream_next(s, &r, &err) == PERFILE_OK; k++) {
            count_by_hand(h, r);
            conditions_hold(&zones[i], r);
            answers_hold(&zones[i], r);
        }
        compare(&zones[i], h);
        pf_zone_counts_free(&h->types);
        pf_zone_counts_free(&h->events);
        free(h);
    }
}

static perfile_stream *opened(perfile_bytes bytes)
{
    const perfile_open_options options = {.size = sizeof options};
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(bytes, "capture", &source, NULL), PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) == PERFILE_OK)
        return s;
    perfile_source_close(source);
    return NULL;
}

static void check_capture(perfile_bytes bytes)
{
    perfile_stream *s = opened(bytes);
    if (!s)
        return;
    collect(s);
    perfile_stream_close(s);
    if (n_zones) {
        s = opened(bytes);
        make_conditions();
        check_zones(s);
        close_conditions();
        perfile_stream_close(s);
    }
    for (unsigned i = 0; i < n_zones; i++)
        pf_zone_free(&zones[i]);
}

/* Every form of capture in both byte orders, made in memory. */
static void test_made(void **state)
{
    (void)state;
    n_checked = n_known = 0;
    for (unsigned form = 0; form < CAPTURE_FORMS; form++)
        for (unsigned swap = 0; swap < 2; swap++) {
            builder b;
            capture_make(&b, form, swap, 200);
            check_capture(built(&b));
            build_clear(&b);
        }
    assert_true(n_checked > 40 && n_known > 40);
}

static void check_file(const char *path, perfile_stream *s)
{
    (void)s;
    const perfile_bytes bytes = recorded_file(path);
    check_capture(bytes);
    free((void *)(uintptr_t)bytes.ptr);
}

/* The captures of samples/. */
static void test_recorded(void **state)
{
    (void)state;
    n_checked = n_known = 0;
    assert_true(recorded_each(check_file) > 20);
    assert_true(n_checked > 100 && n_known > 100);
}

/* Memory that is refused while records are added. */
static void test_no_memory(void **state)
{
    (void)state;
    builder b;
    capture_make(&b, CAPTURE_FILE, false, 60);
    for (uint64_t fail = 0, n = 1; fail <= n; fail++) {
        const perfile_record *first;
        size_t n_run;
        pf_zone z = {0};
        perfile_stream *s = opened(built(&b));
        uint64_t n_allocations = 0; /* of pf_zone_add() */
        bool ok = true;
        pf_zone_clear(&z);
        while (ok && perfile_stream_next_run(s, &first, &n_run, NULL) == PERFILE_OK) {
            pf_alloc_count = n_allocations;
            pf_alloc_fail_at = fail;
            ok = pf_zone_add(&z, first, n_run);
            pf_alloc_fail_at = 0;
            n_allocations = pf_alloc_count;
        }
        assert_int_equal(ok, fail == 0);
        if (fail == 0)
            n = n_allocations;
        pf_zone_free(&z);
        perfile_stream_close(s);
    }
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
