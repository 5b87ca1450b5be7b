/* What is const is not changed by asking: a model, its session and the container of a capture
 * answer four threads at once.  build.threads_tsan runs this under the thread sanitizer. */
#include "testing.h"

#include <pthread.h>
#include <string.h>

#include "captures.h"
#include "perfile/perfile.h"
#include "recorded.h"

enum { THREADS = 4, PLACES_MOST = 20000 };

/* What a mapping record or a sample says: where to look. */
typedef struct place {
    uint32_t pid, tid;
    uint64_t addr, time;
} place;

typedef struct asked {
    const perfile_model *model;
    const perfile_session *session;
    const perfile_container *container;
    const place *places;
    size_t n;
    uint64_t sum; /* of all that the answers say: the same in each thread */
} asked;

static place places[PLACES_MOST];
static size_t n_places, n_build_ids;

static uint64_t of_text(uint64_t sum, const char *text)
{
    for (; text && *text; text++)
        sum = sum * 31 + (uint8_t)*text;
    return sum;
}

static uint64_t of_bytes(uint64_t sum, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + bytes[i];
    return sum;
}

static uint64_t of_model(const asked *x)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < x->n; i++) {
        const place *p = &x->places[i];
        const perfile_mapping *m = perfile_model_mapping(x->model, p->pid, p->addr, p->time);
        sum = of_text(sum, perfile_model_comm(x->model, p->pid, p->tid, p->time));
        if (!m)
            continue;
        sum = of_text(sum, m->name) + m->addr + m->len;
        sum = of_bytes(sum, m->build_id, m->build_id_size);
    }
    return sum;
}

static uint64_t of_facts(const asked *x)
{
    const perfile_session *s = x->session;
    uint64_t sum = perfile_session_generation(s);
    perfile_clock clock;
    perfile_session_clock(s, &clock);
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        sum = of_text(sum, e->name) + e->attr->sample_type;
        for (uint32_t k = 0; k < e->ids.n; k++) {
            const perfile_event *by_id = perfile_session_event_by_id(s, perfile_word(&e->ids, k));
            sum += by_id ? by_id->index : 7;
        }
    }
    for (uint32_t i = 0; i < perfile_session_n_features(s); i++)
        sum = sum * 31 + perfile_session_feature_at(s, i)->number;
    for (uint32_t i = 0; i < perfile_session_n_build_ids(s); i++)
        sum += perfile_session_build_id(s, i)->id.len;
    for (unsigned i = 0; i < PERFILE_N_FACTS; i++)
        sum = of_text(sum, perfile_session_fact(s, i));
    for (uint32_t i = 0; i < x->container->n_extents; i++)
        sum += x->container->extents[i].offset;
    return sum + perfile_session_n_cpus(s) + (uint64_t)clock.clockid;
}

static void *ask(void *user)
{
    asked *x = user;
    x->sum = of_model(x) * 31 + of_facts(x);
    return NULL;
}

static void note_place(const perfile_record *r)
{
    perfile_mmap2 two;
    perfile_mmap one;
    if (n_places == PLACES_MOST || r->family != PERFILE_FAMILY_PERF)
        return;
    if (r->type == PERFILE_RECORD_MMAP2 &&
        perfile_mmap2_decode(r, &two, sizeof two, NULL) == PERFILE_OK)
        places[n_places++] = (place){two.pid, two.tid, two.addr, PERFILE_NO_TIME};
    else if (r->type == PERFILE_RECORD_MMAP &&
             perfile_mmap_decode(r, &one, sizeof one, NULL) == PERFILE_OK)
        places[n_places++] = (place){one.pid, one.tid, one.addr, PERFILE_NO_TIME};
}

/* Nothing has asked before the threads do. */
static void use(const char *path, perfile_stream *s)
{
    perfile_model *m;
    const perfile_record *r;
    pthread_t threads[THREADS];
    asked all[THREADS];
    (void)path;
    n_places = 0;
    assert_int_equal(perfile_model_open(perfile_stream_session(s), &m, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        note_place(r);
        if (perfile_model_feed(m, r, NULL) != PERFILE_OK)
            break;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        all[i] = (asked){.model = m,
                         .session = perfile_stream_session(s),
                         .container = perfile_stream_container(s),
                         .places = places,
                         .n = n_places};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &all[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 1; i < THREADS; i++)
        assert_int_equal(all[i].sum, all[0].sum);
    for (size_t i = 0; i < n_places; i++) {
        const perfile_mapping *x =
            perfile_model_mapping(m, places[i].pid, places[i].addr, PERFILE_NO_TIME);
        n_build_ids += x && x->build_id_size;
    }
    perfile_model_close(m);
}

static void threads_ask_what_is_const(void **state)
{
    (void)state;
    assert_true(recorded_each(use) > 20);
    assert_true(n_build_ids > 20); /* those that the capture lists by name are among them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_ask_what_is_const)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
