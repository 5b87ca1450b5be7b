/* A writer in another thread: more than a million records through small rings, each the one that
 * was written, in the order they were written, none missing.  tests/build/threads_tsan.sh runs this
 * with the thread sanitizer. */
#include "testing.h"

#include <pthread.h>
#include <sched.h>

#include "fake_ring.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SNAPSHOTS = 1000, CHANGES = 80000 }; /* each takes many times as long there */
#else
enum { SNAPSHOTS = 5000, CHANGES = 400000 };
#endif

typedef struct writer {
    fake_ring ring;
    uint64_t n_records;
    uint16_t most; /* bytes of a record */
    int pause;     /* overwrite: 0 runs, 1 asked to pause, 2 pauses, 3 done */
    uint64_t written;
} writer;

static uint16_t size_of(uint64_t n, uint16_t most)
{
    return (uint16_t)(8 + 8 * (n * n / 3 % (most / 8)));
}

/* As the kernel does: waits for room, writes, then moves the head. */
static void *write_forward(void *user)
{
    writer *w = user;
    for (uint64_t n = 0; n < w->n_records; n++) {
        uint16_t size = size_of(n, w->most);
        while (w->ring.head + size - fake_get(&w->ring, FAKE_TAIL) > w->ring.size)
            sched_yield();
        fake_put(&w->ring, n, size);
    }
    return NULL;
}

/* Reads by records, and every seventh time by spans; releases after `batch` of them. */
static void read_all(writer *w, perfile_ring *ring, unsigned batch)
{
    uint64_t n = 0;
    unsigned unreleased = 0;
    static uint8_t flat[1 << 16], wanted[1 << 16];
    while (n < w->n_records) {
        const perfile_record *r;
        perfile_bytes spans[2];
        if (n % 7 == 6) {
            perfile_status st = perfile_ring_take(ring, spans, NULL);
            size_t got = 0, used = 0;
            assert_in_range(st, PERFILE_OK, PERFILE_END);
            for (unsigned i = 0; st == PERFILE_OK && i < 2; i++) {
                memcpy(flat + got, spans[i].ptr, spans[i].len);
                got += spans[i].len;
            }
            for (; used < got; n++) {
                uint16_t size = size_of(n, w->most);
                fake_record(wanted, n, size);
                assert_true(used + size <= got && memcmp(flat + used, wanted, size) == 0);
                used += size;
            }
        } else if (perfile_ring_next(ring, &r, NULL) == PERFILE_OK) {
            assert_true(fake_is(r, n, size_of(n, w->most)));
            n++;
            if (++unreleased < batch)
                continue;
        }
        unreleased = 0;
        assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);
        sched_yield();
    }
}

static void forward(size_t room, uint16_t most, unsigned batch, uint64_t n_records)
{
    writer w = {.ring = fake_new(room), .n_records = n_records, .most = most};
    fake_at(&w.ring, UINT64_C(0) - 4096); /* passes 2^64 on the way */
    perfile_ring_options o = fake_options(&w.ring, PERFILE_RING_FORWARD);
    perfile_ring *ring;
    pthread_t thread;
    assert_int_equal(perfile_ring_open(&o, &ring, NULL), PERFILE_OK);
    assert_int_equal(pthread_create(&thread, NULL, write_forward, &w), 0);
    read_all(&w, ring, batch);
    assert_int_equal(pthread_join(thread, NULL), 0);
    perfile_ring_summary sum;
    perfile_ring_get_summary(ring, &sum, sizeof sum);
    assert_true(sum.wrapped > 100 && sum.overruns == 0 && sum.damages == 0);
    perfile_ring_close(ring);
    fake_free(&w.ring);
}

static void forward_small(void **state)
{
    (void)state;
    forward(64, 64, 1, 100000);
}

static void forward_medium(void **state)
{
    (void)state;
    forward(1024, 128, 5, 300000);
}

static void forward_page(void **state)
{
    (void)state;
    forward(4096, 256, 64, 700000);
}

static int get_pause(writer *w)
{
    return __atomic_load_n(&w->pause, __ATOMIC_ACQUIRE);
}

static void set_pause(writer *w, int v)
{
    __atomic_store_n(&w->pause, v, __ATOMIC_RELEASE);
}

static void *write_backward(void *user)
{
    writer *w = user;
    while (get_pause(w) != 3) {
        int wanted = get_pause(w);
        if (wanted == 2) {
            sched_yield();
            continue;
        }
        /* Also when a pause is wanted: so there is something new in each snapshot, however seldom
         * this thread has its turn. */
        fake_put_backward(&w->ring, w->written, size_of(w->written, w->most));
        w->written++;
        if (wanted == 1)
            set_pause(w, 2);
    }
    return NULL;
}

/* The records in front of number `last`, newest first, as many as fit. */
static void read_snapshot(writer *w, perfile_ring *ring)
{
    uint64_t n = w->written, bytes = 0;
    const perfile_record *r;
    assert_int_equal(perfile_ring_snapshot(ring, false, NULL), PERFILE_OK);
    while (n-- && bytes + size_of(n, w->most) <= w->ring.size) {
        assert_int_equal(perfile_ring_next(ring, &r, NULL), PERFILE_OK);
        assert_true(fake_is(r, n, size_of(n, w->most)));
        bytes += size_of(n, w->most);
    }
    assert_int_equal(perfile_ring_next(ring, &r, NULL), PERFILE_END);
    assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);
}

static void overwrite(void **state)
{
    (void)state;
    writer w = {.ring = fake_new(1024), .most = 120};
    perfile_ring_options o = fake_options(&w.ring, PERFILE_RING_OVERWRITE);
    perfile_ring *ring;
    pthread_t thread;
    assert_int_equal(perfile_ring_open(&o, &ring, NULL), PERFILE_OK);
    assert_int_equal(pthread_create(&thread, NULL, write_backward, &w), 0);
    for (unsigned i = 0; i < SNAPSHOTS; i++) {
        set_pause(&w, 1);
        while (get_pause(&w) != 2)
            sched_yield();
        read_snapshot(&w, ring);
        set_pause(&w, 0);
        if (i % 16 == 0)
            sched_yield();
    }
    set_pause(&w, 3);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(w.written >= SNAPSHOTS);
    perfile_ring_close(ring);
    fake_free(&w.ring);
}

/* The kernel changes the numbers of the page under its sequence lock; all that is read is of one
 * moment: the fields are equal. */
static void *change_page(void *user)
{
    uint8_t *page = user;
    for (uint32_t i = 2; i < 2 * CHANGES; i += 2) {
        __atomic_store_n((uint32_t *)(void *)(page + FAKE_LOCK), i - 1, __ATOMIC_SEQ_CST);
        __atomic_store_n((uint64_t *)(void *)(page + 24), i, __ATOMIC_SEQ_CST);
        __atomic_store_n((uint64_t *)(void *)(page + 32), i, __ATOMIC_SEQ_CST);
        __atomic_store_n((uint64_t *)(void *)(page + 64), i, __ATOMIC_SEQ_CST);
        __atomic_store_n((uint32_t *)(void *)(page + FAKE_LOCK), i, __ATOMIC_SEQ_CST);
        if (i % 32 == 0)
            sched_yield();
    }
    return NULL;
}

static void page_of_one_moment(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    pthread_t thread;
    perfile_ring_page p = {0};
    uint64_t n_seen = 0, last = 0;
    assert_int_equal(pthread_create(&thread, NULL, change_page, f.page), 0);
    while (p.lock < 2 * CHANGES - 2) {
        perfile_status st =
            perfile_ring_page_read(f.page, PERFILE_RING_PAGE_BYTES, &p, sizeof p, NULL);
        if (st == PERFILE_E_CORRUPT) { /* unlike the kernel, the thread may sleep in a change */
            sched_yield();
            continue;
        }
        assert_int_equal(st, PERFILE_OK);
        assert_true(p.time_enabled == p.lock && p.time_running == p.lock && p.time_zero == p.lock);
        assert_true(p.lock >= last);
        n_seen += p.lock != last;
        last = p.lock;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(n_seen > 0);
    fake_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_small),      cmocka_unit_test(forward_medium),
        cmocka_unit_test(forward_page),       cmocka_unit_test(overwrite),
        cmocka_unit_test(page_of_one_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
