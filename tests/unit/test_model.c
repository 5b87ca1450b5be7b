/* The model: answers for a time are right whatever the order in which records arrive. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "model/history.h"
#include "model/space.h"
#include "model/state.h"
#include "perfile/model.h"
#include "model/command.h"

enum { TRAILER = 16, SAMPLE_ID_ALL = 18, MAX_BODY = 160 };

/* A record that owns its body; pid, tid and time of the trailer are written by made(). */
typedef struct made_record {
    perfile_record r;
    uint8_t bytes[8 + MAX_BODY];
    size_t n;
} made_record;

typedef struct world {
    perfile_stream *stream;
    const perfile_session *session;
    perfile_model *model;
} world;

static void put(made_record *m, const void *p, size_t n)
{
    assert_true(m->n + n + TRAILER <= MAX_BODY);
    memcpy(m->bytes + 8 + m->n, p, n);
    m->n += n;
}

static void u32(made_record *m, uint32_t v)
{
    put(m, &v, sizeof v);
}

static void u64(made_record *m, uint64_t v)
{
    put(m, &v, sizeof v);
}

static void text(made_record *m, const char *s)
{
    put(m, s, strlen(s) + 1);
    while (m->n % 8)
        put(m, "", 1);
}

static void begin(made_record *m, const world *w, uint32_t type, uint16_t misc)
{
    memset(m, 0, sizeof *m);
    m->r.type = type;
    m->r.misc = misc;
    m->r.session = w->session;
}

/* Ends the record with its trailer. */
static void end(made_record *m, uint32_t pid, uint32_t tid, uint64_t time)
{
    memcpy(m->bytes + 8 + m->n, &pid, 4);
    memcpy(m->bytes + 12 + m->n, &tid, 4);
    memcpy(m->bytes + 16 + m->n, &time, 8);
    m->n += TRAILER;
    m->r.header = m->bytes;
    m->r.body = (perfile_bytes){m->bytes + 8, m->n};
}

static void comm(made_record *m, const world *w, uint32_t pid, uint32_t tid, const char *name,
                 bool exec, uint64_t time)
{
    begin(m, w, PERFILE_RECORD_COMM, exec ? PERFILE_MISC_COMM_EXEC : 0);
    u32(m, pid);
    u32(m, tid);
    text(m, name);
    end(m, pid, tid, time);
}

static void task(made_record *m, const world *w, uint32_t type, uint32_t pid, uint32_t ppid,
                 uint32_t tid, uint32_t ptid, uint64_t time)
{
    begin(m, w, type, 0);
    u32(m, pid);
    u32(m, ppid);
    u32(m, tid);
    u32(m, ptid);
    u64(m, time);
    end(m, pid, tid, time);
}

static void mmap_record(made_record *m, const world *w, uint32_t pid, uint64_t addr, uint64_t len,
                        const char *name, uint64_t time)
{
    begin(m, w, PERFILE_RECORD_MMAP, 2);
    u32(m, pid);
    u32(m, pid);
    u64(m, addr);
    u64(m, len);
    u64(m, 0);
    text(m, name);
    end(m, pid, pid, time);
}

static void ksymbol(made_record *m, const world *w, uint64_t addr, uint32_t len, const char *name,
                    bool gone, uint64_t time)
{
    uint16_t kind = 1, flags = gone;
    begin(m, w, PERFILE_RECORD_KSYMBOL, 0);
    u64(m, addr);
    u32(m, len);
    put(m, &kind, 2);
    put(m, &flags, 2);
    text(m, name);
    end(m, 0, 0, time);
}

static void feed(world *w, const made_record *m)
{
    assert_int_equal(perfile_model_feed(w->model, &m->r, NULL), PERFILE_OK);
}

/* A stream of one HEADER_ATTR: sample_type TID|TIME, sample_id_all. */
static void start(world *w)
{
    static uint8_t bytes[16 + 8 + 64];
    uint64_t words[] = {0x32454c4946524550, 16, 0};
    const uint32_t header_type = PERFILE_RECORD_HEADER_ATTR, type_size[] = {1, 64};
    const uint16_t misc_size[] = {0, 72};
    uint64_t sample_type = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME;
    uint64_t flags = (uint64_t)1 << (PF_NATIVE_BIG ? 63 - SAMPLE_ID_ALL : SAMPLE_ID_ALL);
    perfile_source *source;
    const perfile_record *r;
    memcpy(bytes, words, sizeof words);
    memcpy(bytes + 16, &header_type, 4);
    memcpy(bytes + 20, misc_size, 4);
    memcpy(bytes + 24, type_size, 8);
    memcpy(bytes + 24 + 24, &sample_type, 8);
    memcpy(bytes + 24 + 40, &flags, 8);
    assert_int_equal(
        perfile_source_memory((perfile_bytes){bytes, sizeof bytes}, "made", &source, NULL),
        PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &w->stream, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_next(w->stream, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_stream_next(w->stream, &r, NULL), PERFILE_END);
    w->session = perfile_stream_session(w->stream);
    assert_int_equal(perfile_session_n_events(w->session), 1);
    assert_int_equal(perfile_model_open(w->session, &w->model, NULL), PERFILE_OK);
}

static void stop(world *w)
{
    perfile_model_close(w->model);
    perfile_stream_close(w->stream);
}

static void assert_comm(const world *w, uint32_t pid, uint32_t tid, uint64_t time, const char *name)
{
    const char *got = perfile_model_comm(w->model, pid, tid, time);
    uint64_t first, last;
    assert_ptr_equal(pf_model_comm_during(w->model, pid, tid, time, &first, &last), got);
    assert_in_range(time, first, last);
    assert_ptr_equal(perfile_model_comm(w->model, pid, tid, first), got);
    assert_ptr_equal(perfile_model_comm(w->model, pid, tid, last), got);
    if (name)
        assert_non_null(got);
    if (name)
        assert_string_equal(got, name);
    else
        assert_null(got);
}

static void assert_mapped(const world *w, uint32_t pid, uint64_t addr, uint64_t time,
                          const char *name)
{
    const perfile_mapping *got = perfile_model_mapping(w->model, pid, addr, time);
    if (name) {
        assert_non_null(got);
        assert_string_equal(got->name, name);
    } else {
        assert_null(got);
    }
}

/* The life of a shell that starts a program, in each order of its records. */
enum { N_LIFE = 7 };

static void life(made_record m[N_LIFE], const world *w)
{
    comm(&m[0], w, 10, 10, "sh", false, 0);
    mmap_record(&m[1], w, 10, 0x1000, 0x1000, "/bin/sh", 0);
    task(&m[2], w, PERFILE_RECORD_FORK, 11, 10, 11, 10, 100);
    comm(&m[3], w, 11, 11, "ls", true, 200);
    mmap_record(&m[4], w, 11, 0x1000, 0x1000, "/bin/ls", 210);
    task(&m[5], w, PERFILE_RECORD_FORK, 11, 11, 12, 11, 300);
    task(&m[6], w, PERFILE_RECORD_EXIT, 11, 10, 11, 10, 400);
}

static void check_life(const world *w)
{
    assert_comm(w, 10, 10, 50, "sh");
    assert_comm(w, 11, 11, 150, "sh");
    assert_comm(w, 11, 11, 250, "ls");
    assert_comm(w, 11, 12, 350, "ls");
    assert_comm(w, 11, 11, PERFILE_NO_TIME, "ls");
    assert_comm(w, 11, PERFILE_NO_PID, 350, NULL);
    assert_comm(w, 99, 99, 350, NULL);
    assert_comm(w, 0, 0, 350, "swapper");
    assert_mapped(w, 10, 0x1800, 350, "/bin/sh");
    assert_mapped(w, 11, 0x1800, 150, "/bin/sh");
    assert_mapped(w, 11, 0x1800, 205, "/bin/sh"); /* nothing is mapped there since the exec */
    assert_mapped(w, 11, 0x1fff, 210, "/bin/ls");
    assert_mapped(w, 11, 0x2000, 250, NULL);
    assert_mapped(w, 11, 0x0fff, 250, NULL);

    const perfile_thread *t = NULL;
    const perfile_process *p = NULL;
    const perfile_mapping *x = NULL;
    size_t n;
    assert_int_equal(perfile_model_threads(w->model, &t, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 3);
    assert_int_equal(t[1].tid, 11);
    assert_int_equal(t[1].ppid, 10);
    assert_int_equal(t[1].start, 100);
    assert_int_equal(t[1].end, 400);
    assert_int_equal(t[1].n_names, 1);
    assert_true(t[1].names[0].exec);
    assert_int_equal(t[2].tid, 12);
    assert_string_equal(t[2].comm, "ls");
    assert_int_equal(t[0].start, PERFILE_NO_TIME);
    assert_int_equal(perfile_model_processes(w->model, &p, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 2);
    assert_int_equal(p[0].pid, 10);
    assert_int_equal(p[1].n_threads, 2);
    assert_int_equal(perfile_model_mappings(w->model, &x, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 2);
    assert_int_equal(x[0].end, PERFILE_NO_TIME);
    assert_int_equal(x[1].end, 400);
}

static void any_order_gives_the_same_answers(void **state)
{
    (void)state;
    unsigned order[N_LIFE] = {0, 1, 2, 3, 4, 5, 6};
    made_record m[N_LIFE];
    unsigned count[N_LIFE] = {0};
    unsigned n_orders = 1;
    world w;
    start(&w);
    life(m, &w);
    for (unsigned i = 0; i < N_LIFE; i++)
        feed(&w, &m[order[i]]);
    check_life(&w);
    /* Heap's algorithm. */
    for (unsigned i = 1; i < N_LIFE;) {
        if (count[i] == i) {
            count[i++] = 0;
            continue;
        }
        unsigned other = i % 2 ? count[i] : 0;
        unsigned held = order[i];
        order[i] = order[other];
        order[other] = held;
        count[i]++;
        i = 1;
        perfile_model_close(w.model);
        assert_int_equal(perfile_model_open(w.session, &w.model, NULL), PERFILE_OK);
        for (unsigned k = 0; k < N_LIFE; k++)
            feed(&w, &m[order[k]]);
        check_life(&w);
        n_orders++;
    }
    assert_int_equal(n_orders, 5040);
    stop(&w);
}

static void a_number_used_again_is_another_process(void **state)
{
    (void)state;
    world w;
    made_record m;
    const perfile_process *p = NULL;
    size_t n;
    start(&w);
    comm(&m, &w, 7, 7, "old", false, 0);
    feed(&w, &m);
    mmap_record(&m, &w, 7, 0x1000, 0x1000, "/old", 0);
    feed(&w, &m);
    task(&m, &w, PERFILE_RECORD_EXIT, 7, 1, 7, 1, 50);
    feed(&w, &m);
    task(&m, &w, PERFILE_RECORD_FORK, 7, 1, 7, 1, 100);
    feed(&w, &m);
    assert_comm(&w, 7, 7, 60, "old");
    assert_comm(&w, 7, 7, 110, NULL);
    assert_mapped(&w, 7, 0x1000, 60, "/old");
    assert_mapped(&w, 7, 0x1000, 110, NULL);
    comm(&m, &w, 7, 7, "new", false, 120);
    feed(&w, &m);
    assert_int_equal(perfile_model_processes(w.model, &p, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 2);
    assert_string_equal(p[0].comm, "old");
    assert_int_equal(p[0].end, 50);
    assert_string_equal(p[1].comm, "new");
    assert_int_equal(p[1].start, 100);
    assert_int_equal(p[1].end, PERFILE_NO_TIME);
    stop(&w);
}

static void kernel_symbols_come_and_go(void **state)
{
    (void)state;
    world w;
    made_record m;
    const perfile_mapping *x = NULL;
    size_t n;
    uint64_t base = 0xffffffff81000000;
    start(&w);
    mmap_record(&m, &w, PERFILE_NO_PID, base, 0x1000000, "[kernel.kallsyms]_text", 0);
    feed(&w, &m);
    ksymbol(&m, &w, base + 0x100, 0x40, "bpf_prog_1", false, 100);
    feed(&w, &m);
    ksymbol(&m, &w, base + 0x100, 0x40, "bpf_prog_1", true, 200);
    feed(&w, &m);
    assert_mapped(&w, PERFILE_NO_PID, base + 0x120, 50, "[kernel.kallsyms]_text");
    assert_mapped(&w, PERFILE_NO_PID, base + 0x120, 150, "bpf_prog_1");
    assert_mapped(&w, PERFILE_NO_PID, base + 0x140, 150, "[kernel.kallsyms]_text");
    assert_mapped(&w, PERFILE_NO_PID, base + 0x120, 250, "[kernel.kallsyms]_text");
    assert_int_equal(perfile_model_mappings(w.model, &x, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 2);
    assert_int_equal(x[1].kind, PERFILE_MAPPING_SYMBOL);
    assert_int_equal(x[1].end, 200);
    stop(&w);
}

static uint64_t random_state = 1;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(random_state >> 33) % below;
}

/* Against the plain way of doing it: look at everything. */
static void history_is_like_a_list(void **state)
{
    (void)state;
    enum { N = 5000 };
    pf_change *all = calloc(N, sizeof *all);
    pf_history h = {0};
    for (uint64_t i = 0; i < N; i++) {
        pf_change c = {draw(7), draw(4) ? i : draw(N), i, i, 0, 0};
        if (i && draw(4) == 0) {
            c = all[draw(draw(2) ? 3 : (uint32_t)i)];
            c.sequence = i;
        }
        all[i] = c;
        assert_true(pf_history_add(&h, &c));
        if (draw(100) == 0)
            assert_true(pf_history_sort(&h)); /* one run */
        for (int k = 0; k < 3; k++) {
            uint64_t key = draw(8);
            uint64_t time = draw(N);
            const pf_change *want = NULL, *later = NULL, *next;
            for (uint64_t j = 0; j <= i; j++) {
                if (all[j].key == key && all[j].time <= time &&
                    (!want || all[j].time >= want->time))
                    want = &all[j];
                if (all[j].key == key && all[j].time > time &&
                    (!later || all[j].time < later->time))
                    later = &all[j];
            }
            const pf_change *got = pf_history_floor(&h, key, time, &next);
            assert_int_equal(got ? got->sequence + 1 : 0, want ? want->sequence + 1 : 0);
            assert_int_equal(next ? next->time : 0, later ? later->time : 0);
        }
    }
    assert_true(pf_history_sort(&h));
    assert_in_range(h.n, N / 2, N * 3 / 4 + N / 10);
    for (size_t i = 1; i < h.n; i++) {
        const pf_change *a = &h.all[i - 1], *b = &h.all[i];
        assert_true(a->key < b->key || (a->key == b->key && a->time <= b->time));
        assert_false(a->key == b->key && a->time == b->time && a->value == b->value);
    }
    pf_history_free(&h);
    free(all);
}

static void space_is_like_a_list(void **state)
{
    (void)state;
    enum { N = 3000, ADDRESSES = 400 };
    pf_mapping_span *all = calloc(N, sizeof *all);
    pf_space s = {0};
    for (uint32_t i = 0; i < N; i++) {
        uint64_t from = draw(ADDRESSES);
        pf_mapping_span x = {from, from + 1 + draw(draw(4) ? 10 : ADDRESSES), draw(3) ? i : draw(N),
                             i, i};
        bool again = i > N / 2 && draw(3) == 0;
        if (draw(100) == 0)
            x.end = UINT64_MAX;
        if (again) {
            x = all[draw(i)];
            x.sequence = i;
        }
        all[i] = x;
        assert_true(pf_space_add(&s, &x, again));
        for (int k = 0; k < 3; k++) {
            uint64_t addr = draw(2 * ADDRESSES);
            uint64_t time = draw(N);
            const pf_mapping_span *want = NULL;
            for (uint32_t j = 0; j <= i; j++)
                if (all[j].begin <= addr && addr < all[j].end && all[j].time <= time &&
                    (!want || all[j].time >= want->time))
                    want = &all[j];
            const pf_mapping_span *got = pf_space_find(&s, addr, time);
            assert_int_equal(got ? got->mapping + 1 : 0, want ? want->mapping + 1 : 0);
        }
    }
    pf_space_free(&s);
    free(all);
}

/* What would take hours if any of it were quadratic: names and mappings of one thread, backwards,
 * every one over all others, and a question after each. */
static void hostile_order_is_no_trouble(void **state)
{
    (void)state;
    enum { N = 200000 };
    world w;
    made_record m;
    char name[32];
    start(&w);
    for (uint64_t i = 0; i < N; i++) {
        snprintf(name, sizeof name, "n%u", (unsigned)i);
        comm(&m, &w, 1, 1, name, false, N - i);
        feed(&w, &m);
        assert_comm(&w, 1, 1, N - i, name);
        mmap_record(&m, &w, 1, 0x100000 - 1 - i % 4096, 2 * (i % 4096) + 2, name, N - i);
        feed(&w, &m);
        assert_mapped(&w, 1, 0x100000, N - i, name);
        task(&m, &w, PERFILE_RECORD_FORK, (uint32_t)i + 2, (uint32_t)i + 1, (uint32_t)i + 2,
             (uint32_t)i + 1, i);
        feed(&w, &m);
    }
    const perfile_thread *t = NULL;
    size_t n;
    assert_int_equal(perfile_model_threads(w.model, &t, &n, NULL), PERFILE_OK);
    assert_int_equal(n, N + 1);
    assert_int_equal(t[0].n_names, N);
    assert_comm(&w, N, N, PERFILE_NO_TIME, NULL);
    stop(&w);
}

/* Records that say what others said before, in turns and with others over them, cost nothing; the
 * later one wins nevertheless. */
static void repetition_costs_nothing(void **state)
{
    (void)state;
    enum { TURNS = 20000 };
    world w;
    made_record m[6];
    uint64_t once = 0;
    start(&w);
    mmap_record(&m[0], &w, 1, 0x1000, 0x3000, "/lib/a", 5);
    mmap_record(&m[1], &w, 1, 0x2000, 0x3000, "/lib/b", 5);
    comm(&m[2], &w, 1, 1, "one", true, 5);
    task(&m[3], &w, PERFILE_RECORD_FORK, 2, 1, 2, 1, 5);
    task(&m[4], &w, PERFILE_RECORD_FORK, 3, 1, 3, 1, 5);
    ksymbol(&m[5], &w, 0x9000, 16, "gone", true, 5);
    for (int i = 0; i < TURNS; i++) {
        for (size_t k = 0; k < sizeof m / sizeof m[0]; k++)
            feed(&w, &m[k]);
        if (i == TURNS / 100)
            once = w.model->budget.used;
    }
    assert_mapped(&w, 1, 0x2000, 9, "/lib/b");
    feed(&w, &m[0]);
    assert_mapped(&w, 1, 0x2000, 9, "/lib/a");
    assert_mapped(&w, 1, 0x4000, 9, "/lib/b");
    assert_int_equal(w.model->budget.used, once);
    const perfile_mapping *x = NULL;
    const perfile_thread *t = NULL;
    size_t n;
    assert_int_equal(perfile_model_mappings(w.model, &x, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 2);
    assert_int_equal(perfile_model_threads(w.model, &t, &n, NULL), PERFILE_OK);
    assert_int_equal(n, 3);
    assert_int_equal(t[0].n_names, 1);
    stop(&w);
}

/* A number that thousands of processes used: each has its own names. */
static void names_are_those_of_the_process(void **state)
{
    (void)state;
    enum { N = 30000 };
    world w;
    made_record m;
    const perfile_thread *t = NULL;
    size_t n;
    start(&w);
    for (uint32_t i = 0; i < N; i++) {
        comm(&m, &w, 10 + i, 7, i % 2 ? "odd" : "even", false, 5);
        feed(&w, &m);
        task(&m, &w, PERFILE_RECORD_FORK, 10 + i, 1, 7, 1, 4);
        feed(&w, &m);
        task(&m, &w, PERFILE_RECORD_EXIT, 10 + i, 1, 7, 1, 6 + i);
        feed(&w, &m);
    }
    assert_int_equal(perfile_model_threads(w.model, &t, &n, NULL), PERFILE_OK);
    assert_int_equal(n, N);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(t[i].n_names, 1);
        assert_string_equal(t[i].names[0].name, i % 2 ? "odd" : "even");
        assert_int_equal(t[i].start, 4);
        assert_int_equal(t[i].end, 6 + i);
    }
    stop(&w);
}

/* What does not fit the limit is refused, and what does goes on being known. */
static void a_limit_is_kept(void **state)
{
    (void)state;
    enum { LIMIT = 1 << 20 };
    world w;
    made_record m;
    char name[32];
    perfile_error err = {0};
    perfile_status st = PERFILE_OK;
    start(&w);
    w.model->budget.limit = LIMIT;
    comm(&m, &w, 1, 1, "first", false, 1);
    feed(&w, &m);
    uint32_t i = 0;
    for (; st == PERFILE_OK && i < LIMIT; i++) {
        snprintf(name, sizeof name, "/lib/%u", (unsigned)i);
        mmap_record(&m, &w, 1, i * UINT64_C(0x1000), 0x1000, name, 2);
        st = perfile_model_feed(w.model, &m.r, &err);
    }
    assert_int_equal(st, PERFILE_E_LIMIT);
    assert_string_equal(err.where, "model_bytes");
    assert_in_range(i, 1000, 20000);
    assert_true(w.model->budget.used <= LIMIT);
    assert_comm(&w, 1, 1, 9, "first");
    assert_mapped(&w, 1, 0x5000, 9, "/lib/5");
    const perfile_mapping *x = NULL;
    size_t n;
    assert_int_equal(perfile_model_mappings(w.model, &x, &n, NULL), PERFILE_OK);
    assert_true(n >= i - 1);
    stop(&w);
}

static void broken_records_are_passed_over(void **state)
{
    (void)state;
    world w;
    made_record m[N_LIFE];
    start(&w);
    life(m, &w);
    for (unsigned i = 0; i < N_LIFE; i++)
        for (size_t n = 0; n < m[i].n; n++) {
            made_record cut = m[i];
            uint8_t *exact = malloc(n ? n : 1);
            if (n)
                memcpy(exact, cut.bytes + 8, n);
            cut.r.body = (perfile_bytes){exact, n};
            feed(&w, &cut);
            free(exact);
        }
    stop(&w);
}

/* With the n-th allocation failing: PERFILE_E_NOMEM, nothing leaks, and the model can go on. */
static void no_memory_is_survived(void **state)
{
    (void)state;
    world w;
    made_record m[N_LIFE];
    bool failed = true;
    start(&w);
    life(m, &w);
    for (uint64_t n = 1; failed; n++) {
        perfile_model *model = NULL;
        const perfile_thread *t;
        const perfile_mapping *x;
        size_t count;
        pf_alloc_count = 0;
        pf_alloc_fail_at = n;
        failed = perfile_model_open(w.session, &model, NULL) != PERFILE_OK;
        for (unsigned i = 0; !failed && i < 100 * N_LIFE; i++)
            failed = perfile_model_feed(model, &m[i % N_LIFE].r, NULL) != PERFILE_OK;
        failed = failed || perfile_model_threads(model, &t, &count, NULL) != PERFILE_OK ||
                 perfile_model_mappings(model, &x, &count, NULL) != PERFILE_OK;
        pf_alloc_fail_at = 0;
        if (pf_alloc_count >= n) {
            assert_true(failed);
            if (model) {
                for (unsigned i = 0; i < N_LIFE; i++)
                    assert_int_equal(perfile_model_feed(model, &m[i].r, NULL), PERFILE_OK);
                assert_int_equal(perfile_model_threads(model, &t, &count, NULL), PERFILE_OK);
            }
        } else {
            assert_false(failed);
            assert_true(n > 10);
        }
        perfile_model_close(model);
    }
    stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_gives_the_same_answers),
        cmocka_unit_test(a_number_used_again_is_another_process),
        cmocka_unit_test(kernel_symbols_come_and_go),
        cmocka_unit_test(history_is_like_a_list),
        cmocka_unit_test(space_is_like_a_list),
        cmocka_unit_test(hostile_order_is_no_trouble),
        cmocka_unit_test(repetition_costs_nothing),
        cmocka_unit_test(names_are_those_of_the_process),
        cmocka_unit_test(a_limit_is_kept),
        cmocka_unit_test(broken_records_are_passed_over),
        cmocka_unit_test(no_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
