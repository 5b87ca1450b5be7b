/* The ring buffer: what a simulated kernel writes is what comes out, at every place; what no kernel
 * writes has a name. */
#include "testing.h"

#include "base/alloc.h"
#include "fake_ring.h"
#include "perfile/perfile.h"

static perfile_ring *opened(const fake_ring *f, uint32_t mode)
{
    perfile_ring_options o = fake_options(f, mode);
    perfile_ring *ring = NULL;
    perfile_error err = {0};
    assert_int_equal(perfile_ring_open(&o, &ring, &err), PERFILE_OK);
    return ring;
}

static perfile_ring_summary summary_of(const perfile_ring *ring)
{
    perfile_ring_summary sum;
    perfile_ring_get_summary(ring, &sum, sizeof sum);
    return sum;
}

static void expect_record(perfile_ring *ring, uint64_t n, uint16_t size)
{
    const perfile_record *r = NULL;
    perfile_error err = {0};
    assert_int_equal(perfile_ring_next(ring, &r, &err), PERFILE_OK);
    assert_true(fake_is(r, n, size));
}

static void expect_end(perfile_ring *ring)
{
    const perfile_record *r = NULL;
    perfile_bytes spans[2];
    assert_int_equal(perfile_ring_next(ring, &r, NULL), PERFILE_END);
    assert_int_equal(perfile_ring_take(ring, spans, NULL), PERFILE_END);
    assert_null(r);
}

/* The next call fails with `damage` at `offset`, the one after that finds nothing. */
static void expect_damage(perfile_ring *ring, unsigned damage, const char *where, uint64_t offset)
{
    const perfile_record *r = NULL;
    perfile_error err = {0};
    assert_int_equal(perfile_ring_next(ring, &r, &err), PERFILE_E_CORRUPT);
    assert_null(r);
    assert_int_equal(err.status, PERFILE_E_CORRUPT);
    assert_int_equal(err.damage, damage);
    assert_string_equal(err.where, where);
    assert_true(err.offset == offset);
    expect_end(ring);
}

/* Positions to begin at: 0, and where they pass 2^64. */
static const uint64_t bases[] = {0, UINT64_C(0) - 65536};

static size_t room_for(size_t size)
{
    size_t room = 8;
    while (room < size)
        room *= 2;
    return room;
}

static void one_at(fake_ring *f, perfile_ring *ring, uint64_t at, uint64_t n, uint16_t size)
{
    const perfile_record *r;
    bool wraps = at % f->size + size > f->size;
    uint64_t wrapped = summary_of(ring).wrapped;
    fake_put(f, n, size);
    assert_int_equal(perfile_ring_next(ring, &r, NULL), PERFILE_OK);
    assert_true(fake_is(r, n, size));
    assert_true(r->offset == at);
    assert_int_equal(r->flags, 0);
    /* In place unless it wraps. */
    assert_int_equal(r->header == f->data + at % f->size, !wraps);
    assert_int_equal(summary_of(ring).wrapped - wrapped, wraps);
    /* Not given back before it is released. */
    assert_true(fake_get(f, FAKE_TAIL) == at);
    expect_end(ring);
    assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);
    assert_true(fake_get(f, FAKE_TAIL) == at + size);
}

static void wraps_at_every_offset(void **state)
{
    static const uint16_t sizes[] = {8,  16, 24, 32,   40,   48,    56,    64,
                                     72, 80, 88, 1000, 4096, 32776, 65528, 0};
    (void)state;
    unsigned n = 0, n_wrapped = 0;
    for (const uint16_t *size = sizes; *size; size++) {
        for (size_t room = room_for(*size); room <= 4 * room_for(*size); room *= 2) {
            size_t step = *size < 4000 ? 8 : *size < 32000 ? 1016 : 8184;
            for (size_t from = 0; from < room; from += step) {
                for (size_t b = 0; b < 2; b++, n++) {
                    fake_ring f = fake_new(room);
                    fake_at(&f, bases[b] + from);
                    perfile_ring *ring = opened(&f, PERFILE_RING_FORWARD);
                    one_at(&f, ring, bases[b] + from, n, *size);
                    n_wrapped += (unsigned)summary_of(ring).wrapped;
                    perfile_ring_close(ring);
                    fake_free(&f);
                }
            }
        }
    }
    assert_true(n > 1000 && n_wrapped > 100);
}

/* A full buffer: nothing is lost, every record stays what it is until the release, also the one
 * that wraps; and the spans are the same bytes, in place. */
static void full_buffer(void **state)
{
    (void)state;
    enum { ROOM = 256, MOST = ROOM / 8 };
    for (uint64_t from = 0; from < ROOM; from += 8) {
        fake_ring f = fake_new(ROOM);
        fake_at(&f, from);
        perfile_ring *ring = opened(&f, PERFILE_RING_FORWARD);
        uint16_t sizes[MOST];
        unsigned n = 0;
        for (uint64_t left = ROOM; left; left -= sizes[n++]) {
            sizes[n] = (uint16_t)(8 + 8 * ((n * 5 + from / 8) % 7));
            if (sizes[n] > left)
                sizes[n] = (uint16_t)left;
            fake_put(&f, n, sizes[n]);
        }
        perfile_record kept[MOST];
        for (unsigned i = 0; i < n; i++) {
            const perfile_record *r;
            assert_int_equal(perfile_ring_next(ring, &r, NULL), PERFILE_OK);
            kept[i] = *r;
        }
        expect_end(ring);
        for (unsigned i = 0; i < n; i++)
            assert_true(fake_is(&kept[i], i, sizes[i]));
        assert_true(summary_of(ring).records == n && summary_of(ring).bytes == ROOM);
        perfile_ring_close(ring);

        ring = opened(&f, PERFILE_RING_FORWARD); /* nothing was released: all is there again */
        perfile_bytes spans[2];
        assert_int_equal(perfile_ring_take(ring, spans, NULL), PERFILE_OK);
        assert_ptr_equal(spans[0].ptr, f.data + from);
        assert_int_equal(spans[0].len, ROOM - from);
        assert_ptr_equal(spans[1].ptr, f.data);
        assert_int_equal(spans[1].len, from);
        expect_end(ring);
        assert_true(fake_get(&f, FAKE_TAIL) == from);
        assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);
        assert_true(fake_get(&f, FAKE_TAIL) == from + ROOM);
        perfile_ring_close(ring);
        fake_free(&f);
    }
}

/* Records first, then the rest as spans. */
static void next_then_take(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    fake_at(&f, 48);
    perfile_ring *ring = opened(&f, PERFILE_RING_FORWARD);
    perfile_bytes spans[2];
    fake_put(&f, 0, 24);
    fake_put(&f, 1, 16);
    expect_record(ring, 0, 24);
    assert_int_equal(perfile_ring_take(ring, spans, NULL), PERFILE_OK);
    assert_ptr_equal(spans[0].ptr, f.data + 8);
    assert_int_equal(spans[0].len, 16);
    assert_int_equal(spans[1].len, 0);
    assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);
    assert_true(fake_get(&f, FAKE_TAIL) == 88);
    perfile_ring_close(ring);
    fake_free(&f);
}

static void overrun_is_told_once(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    fake_at(&f, 40);
    perfile_ring *ring = opened(&f, PERFILE_RING_FORWARD);
    fake_put(&f, 0, 16);
    expect_record(ring, 0, 16);
    /* 64 bytes from the reader on, but 80 from the tail on: the record above is gone. */
    for (uint64_t n = 1; n <= 4; n++)
        fake_put(&f, n, 16);
    expect_damage(ring, PERFILE_DAMAGE_OVERRUN, "ring.data_head", 56);
    assert_true(summary_of(ring).overruns == 1 && summary_of(ring).lost_bytes == 64);
    assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);
    assert_true(fake_get(&f, FAKE_TAIL) == 120);
    fake_put(&f, 5, 24);
    expect_record(ring, 5, 24);
    assert_int_equal(summary_of(ring).damages, 0);
    perfile_ring_close(ring);
    fake_free(&f);
}

static void hostile_heads(void **state)
{
    static const struct {
        uint64_t tail, head, lost;
        unsigned damage;
    } rows[] = {
        {0, 65, 65, PERFILE_DAMAGE_OVERRUN},
        {0, 72, 72, PERFILE_DAMAGE_OVERRUN},
        {0, UINT64_C(1) << 62, UINT64_C(1) << 62, PERFILE_DAMAGE_OVERRUN},
        {0, UINT64_MAX, 0, PERFILE_DAMAGE_BAD_SIZE},
        {64, 0, 0, PERFILE_DAMAGE_BAD_SIZE},
        {64, 56, 0, PERFILE_DAMAGE_BAD_SIZE},
        {0, 12, 12, PERFILE_DAMAGE_BAD_SIZE},
        {0, 1, 1, PERFILE_DAMAGE_BAD_SIZE},
        {63, 64, 1, PERFILE_DAMAGE_BAD_SIZE},
        {UINT64_MAX, 7, 8, PERFILE_DAMAGE_BAD_SIZE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fake_ring f = fake_new(64);
        perfile_bytes spans[2] = {{f.page, 1}, {f.page, 1}};
        memset(f.data, 8, f.size);
        fake_at(&f, rows[i].tail);
        perfile_ring *ring = opened(&f, PERFILE_RING_FORWARD);
        fake_set(&f, FAKE_HEAD, rows[i].head);
        expect_damage(ring, rows[i].damage, "ring.data_head", rows[i].tail);
        assert_true(summary_of(ring).lost_bytes == rows[i].lost);
        assert_true(summary_of(ring).overruns == (rows[i].damage == PERFILE_DAMAGE_OVERRUN));
        assert_true(summary_of(ring).damages == (rows[i].damage == PERFILE_DAMAGE_BAD_SIZE));
        perfile_ring_close(ring);

        fake_at(&f, rows[i].tail);
        ring = opened(&f, PERFILE_RING_FORWARD);
        fake_set(&f, FAKE_HEAD, rows[i].head);
        perfile_error err = {0};
        assert_int_equal(perfile_ring_take(ring, spans, &err), PERFILE_E_CORRUPT);
        assert_int_equal(err.damage, rows[i].damage);
        assert_int_equal(spans[0].len, 1); /* untouched */
        expect_end(ring);
        perfile_ring_close(ring);
        fake_free(&f);
    }
}

/* The head goes back in the middle of what was handed out and not released. */
static void head_goes_back(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    perfile_ring *ring = opened(&f, PERFILE_RING_FORWARD);
    fake_put(&f, 0, 32);
    expect_record(ring, 0, 32);
    fake_set(&f, FAKE_HEAD, 16);
    expect_damage(ring, PERFILE_DAMAGE_BAD_SIZE, "ring.data_head", 32);
    perfile_ring_close(ring);
    fake_free(&f);
}

static void hostile_sizes(void **state)
{
    static const uint16_t sizes[] = {0, 1, 7, 9, 12, 23, 40, 64, 65528, 65535};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (uint32_t mode = PERFILE_RING_FORWARD; mode <= PERFILE_RING_READ_ONLY; mode++) {
            fake_ring f = fake_new(64);
            perfile_ring *ring = opened(&f, mode);
            fake_put(&f, 0, 16);
            fake_put(&f, 1, 32);
            memcpy(f.data + 16 + 6, &sizes[i], 2);
            expect_record(ring, 0, 16);
            expect_damage(ring, PERFILE_DAMAGE_BAD_SIZE, "record.size", 16);
            assert_true(summary_of(ring).damages == 1 && summary_of(ring).lost_bytes == 32);
            fake_put(&f, 2, 16);
            expect_record(ring, 2, 16);
            perfile_ring_close(ring);
            fake_free(&f);
        }
    }
}

static void read_only(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    fake_put(&f, 0, 24);
    fake_put(&f, 1, 24);
    perfile_ring *ring = opened(&f, PERFILE_RING_READ_ONLY);
    expect_record(ring, 0, 24);
    fake_put(&f, 2, 24); /* over record 0, which was copied */
    expect_record(ring, 1, 24);
    expect_record(ring, 2, 24);
    expect_end(ring);
    assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);
    assert_true(fake_get(&f, FAKE_TAIL) == 0); /* never written */
    for (uint64_t n = 3; n < 6; n++)
        fake_put(&f, n, 24);
    expect_damage(ring, PERFILE_DAMAGE_OVERRUN, "ring.data_head", 72);
    assert_true(summary_of(ring).lost_bytes == 72);

    perfile_bytes spans[2];
    perfile_error err = {0};
    fake_put(&f, 6, 40);
    assert_int_equal(perfile_ring_take(ring, spans, NULL), PERFILE_OK);
    assert_int_equal(perfile_ring_release(ring, &err), PERFILE_OK);
    fake_put(&f, 7, 40);
    assert_int_equal(perfile_ring_take(ring, spans, NULL), PERFILE_OK);
    fake_put(&f, 8, 32); /* over the spans while they are in use */
    assert_int_equal(perfile_ring_release(ring, &err), PERFILE_E_CORRUPT);
    assert_int_equal(err.damage, PERFILE_DAMAGE_OVERRUN);
    assert_true(err.offset == 184);
    assert_int_equal(perfile_ring_release(ring, &err), PERFILE_OK);
    perfile_ring_close(ring);

    /* A reader that comes late begins at the head. */
    ring = opened(&f, PERFILE_RING_READ_ONLY);
    expect_end(ring);
    fake_put(&f, 9, 64);
    expect_record(ring, 9, 64);
    perfile_ring_close(ring);
    fake_free(&f);
}

/* Backward: after every record that is written, a snapshot has the last ones that fit, whole. */
static void snapshots(void **state)
{
    (void)state;
    enum { ROOM = 256, N = 200 };
    fake_ring f = fake_new(ROOM);
    perfile_ring *ring = opened(&f, PERFILE_RING_OVERWRITE);
    expect_end(ring);
    uint16_t sizes[N];
    for (unsigned n = 0; n < N; n++) {
        sizes[n] = (uint16_t)(8 + 8 * (n * n % 9));
        fake_put_backward(&f, n, sizes[n]);
        assert_int_equal(perfile_ring_snapshot(ring, false, NULL), PERFILE_OK);
        size_t bytes = 0;
        for (unsigned i = n + 1; i-- && bytes + sizes[i] <= ROOM; bytes += sizes[i])
            expect_record(ring, i, sizes[i]);
        expect_end(ring);
        assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);

        perfile_bytes spans[2];
        assert_int_equal(perfile_ring_snapshot(ring, false, NULL), PERFILE_OK);
        assert_int_equal(perfile_ring_take(ring, spans, NULL), PERFILE_OK);
        assert_int_equal(spans[0].len + spans[1].len, bytes);
        assert_ptr_equal(spans[0].ptr, f.data + f.head % ROOM);
        assert_true(spans[1].len == 0 || spans[0].ptr + spans[0].len == f.data + ROOM);
        expect_end(ring);

        if (n % 3 == 2) { /* written since the last time */
            assert_int_equal(perfile_ring_snapshot(ring, true, NULL), PERFILE_OK);
            expect_end(ring);
        }
    }
    assert_true(fake_get(&f, FAKE_TAIL) == 0);
    assert_true(summary_of(ring).damages == 0 && summary_of(ring).overruns == 0);
    perfile_ring_close(ring);
    fake_free(&f);
}

static void snapshots_of_what_is_new(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    perfile_ring *ring = opened(&f, PERFILE_RING_OVERWRITE);
    fake_put_backward(&f, 0, 24);
    fake_put_backward(&f, 1, 16);
    assert_int_equal(perfile_ring_snapshot(ring, true, NULL), PERFILE_OK);
    expect_record(ring, 1, 16);
    expect_record(ring, 0, 24);
    expect_end(ring);
    fake_put_backward(&f, 2, 32);
    assert_int_equal(perfile_ring_snapshot(ring, true, NULL), PERFILE_OK);
    expect_record(ring, 2, 32);
    expect_end(ring);
    /* More than fits: the partly overwritten one is left out. */
    for (uint64_t n = 3; n < 6; n++)
        fake_put_backward(&f, n, 24);
    assert_int_equal(perfile_ring_snapshot(ring, true, NULL), PERFILE_OK);
    expect_record(ring, 5, 24);
    expect_record(ring, 4, 24);
    expect_end(ring);
    /* The buffer began anew: only what was written since it did. */
    f.head = 16;
    fake_put_backward(&f, 6, 16);
    f.head = 0;
    fake_put_backward(&f, 7, 16);
    assert_int_equal(perfile_ring_snapshot(ring, true, NULL), PERFILE_OK);
    expect_record(ring, 7, 16);
    expect_end(ring);
    perfile_ring_close(ring);
    fake_free(&f);
}

static void snapshot_damage(void **state)
{
    static const uint16_t sizes[] = {0, 4, 12, 48, 65535};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fake_ring f = fake_new(64);
        perfile_ring *ring = opened(&f, PERFILE_RING_OVERWRITE);
        fake_put_backward(&f, 0, 24);
        fake_put_backward(&f, 1, 16);
        memcpy(f.data + 64 - 24 + 6, &sizes[i], 2);
        assert_int_equal(perfile_ring_snapshot(ring, false, NULL), PERFILE_OK);
        expect_record(ring, 1, 16);
        expect_damage(ring, PERFILE_DAMAGE_BAD_SIZE, "record.size", UINT64_C(0) - 24);
        assert_true(summary_of(ring).lost_bytes == 24);

        perfile_bytes spans[2];
        perfile_error err = {0};
        assert_int_equal(perfile_ring_snapshot(ring, false, NULL), PERFILE_OK);
        assert_int_equal(perfile_ring_take(ring, spans, NULL), PERFILE_OK);
        assert_int_equal(spans[0].len + spans[1].len, 16);
        assert_int_equal(perfile_ring_take(ring, spans, &err), PERFILE_E_CORRUPT);
        assert_int_equal(err.damage, PERFILE_DAMAGE_BAD_SIZE);
        expect_end(ring);
        /* What was handed out before the damage is still watched. */
        fake_put_backward(&f, 2, 32);
        assert_int_equal(perfile_ring_release(ring, &err), PERFILE_E_CORRUPT);
        assert_int_equal(err.damage, PERFILE_DAMAGE_OVERRUN);
        perfile_ring_close(ring);
        fake_free(&f);
    }
    /* Full to the last byte: no record is partly overwritten, so that the oldest is damaged. */
    fake_ring full = fake_new(64);
    perfile_ring *of_full = opened(&full, PERFILE_RING_OVERWRITE);
    for (uint64_t n = 0; n < 4; n++)
        fake_put_backward(&full, n, 16);
    memset(full.data + 48 + 6, 0, 2);
    assert_int_equal(perfile_ring_snapshot(of_full, false, NULL), PERFILE_OK);
    for (uint64_t n = 4; --n;)
        expect_record(of_full, n, 16);
    expect_damage(of_full, PERFILE_DAMAGE_BAD_SIZE, "record.size", UINT64_C(0) - 16);
    perfile_ring_close(of_full);
    fake_free(&full);
    /* A head that did not begin at 0: a size of 0 is the end of what was ever written. */
    fake_ring f = fake_new(64);
    f.head = 1 << 20;
    fake_put_backward(&f, 0, 24);
    perfile_ring *ring = opened(&f, PERFILE_RING_OVERWRITE);
    assert_int_equal(perfile_ring_snapshot(ring, false, NULL), PERFILE_OK);
    expect_record(ring, 0, 24);
    expect_end(ring);
    fake_set(&f, FAKE_HEAD, 20);
    perfile_error err = {0};
    assert_int_equal(perfile_ring_snapshot(ring, false, &err), PERFILE_E_CORRUPT);
    assert_int_equal(err.damage, PERFILE_DAMAGE_BAD_SIZE);
    expect_end(ring);
    perfile_ring_close(ring);
    ring = opened(&f, PERFILE_RING_FORWARD);
    assert_int_equal(perfile_ring_snapshot(ring, false, &err), PERFILE_E_USAGE);
    perfile_ring_close(ring);
    fake_free(&f);
}

/* The writer was not paused: what it went over is not given out, and what was is told. */
static void snapshot_not_paused(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    perfile_ring *ring = opened(&f, PERFILE_RING_OVERWRITE);
    for (uint64_t n = 0; n < 4; n++)
        fake_put_backward(&f, n, 16);
    assert_int_equal(perfile_ring_snapshot(ring, false, NULL), PERFILE_OK);
    expect_record(ring, 3, 16);
    expect_record(ring, 2, 16);
    fake_put_backward(&f, 4, 16);
    expect_damage(ring, PERFILE_DAMAGE_OVERRUN, "ring.data_head", UINT64_C(0) - 32);
    assert_true(summary_of(ring).lost_bytes == 32);

    perfile_bytes spans[2];
    perfile_error err = {0};
    assert_int_equal(perfile_ring_snapshot(ring, false, NULL), PERFILE_OK);
    assert_int_equal(perfile_ring_take(ring, spans, NULL), PERFILE_OK);
    fake_put_backward(&f, 5, 8);
    assert_int_equal(perfile_ring_release(ring, &err), PERFILE_E_CORRUPT);
    assert_int_equal(err.damage, PERFILE_DAMAGE_OVERRUN);
    perfile_ring_close(ring);
    fake_free(&f);
}

/* Type, misc 0, size, then words. */
static size_t put_words(uint8_t *to, uint32_t type, uint64_t first, uint64_t second, size_t n)
{
    uint16_t size = (uint16_t)(8 + 8 * n);
    memcpy(to, &type, 4);
    memset(to + 4, 0, 2);
    memcpy(to + 6, &size, 2);
    memcpy(to + 8, &first, 8);
    if (n > 1)
        memcpy(to + 16, &second, 8);
    return size;
}

static void lost_is_counted(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    perfile_ring *ring = opened(&f, PERFILE_RING_FORWARD);
    size_t n = put_words(f.data, 2, 77, 1000, 2);
    n += put_words(f.data + n, 13, 30, 0, 1);
    fake_set(&f, FAKE_HEAD, n);
    const perfile_record *r;
    perfile_lost v;
    assert_int_equal(perfile_ring_next(ring, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_lost_decode(r, &v, sizeof v, NULL), PERFILE_OK);
    assert_true(v.id == 77 && v.lost == 1000);
    assert_int_equal(perfile_ring_next(ring, &r, NULL), PERFILE_OK);
    assert_true(summary_of(ring).lost_records == 1000 && summary_of(ring).lost_samples == 30);
    perfile_ring_close(ring);
    fake_free(&f);
}

static void find_data(void **state)
{
    enum { PAGE = 4096 };
    static const struct {
        uint64_t offset, size;
        size_t bytes;
        unsigned damage;
        size_t found_at, found;
    } rows[] = {
        {0, 0, 3 * PAGE, 0, PAGE, 2 * PAGE}, /* before 4.1 */
        {PAGE, 2 * PAGE, 3 * PAGE, 0, PAGE, 2 * PAGE},
        {PAGE, PAGE, 3 * PAGE, 0, PAGE, PAGE},
        {2 * PAGE, PAGE, 3 * PAGE, 0, 2 * PAGE, PAGE},
        {PAGE, 4 * PAGE, 3 * PAGE, PERFILE_DAMAGE_OUT_OF_BOUNDS, 0, 0},
        {2 * PAGE, 2 * PAGE, 3 * PAGE, PERFILE_DAMAGE_OUT_OF_BOUNDS, 0, 0},
        {UINT64_MAX - 7, 16, 3 * PAGE, PERFILE_DAMAGE_OUT_OF_BOUNDS, 0, 0},
        {8, PAGE, 3 * PAGE, PERFILE_DAMAGE_OUT_OF_BOUNDS, 0, 0},
        {PAGE, UINT64_MAX, 3 * PAGE, PERFILE_DAMAGE_OUT_OF_BOUNDS, 0, 0},
        {PAGE, 4104, 3 * PAGE, PERFILE_DAMAGE_BAD_SIZE, 0, 0},
        {PAGE, 4, 3 * PAGE, PERFILE_DAMAGE_BAD_SIZE, 0, 0},
        {PAGE + 4, PAGE, 3 * PAGE, PERFILE_DAMAGE_BAD_SIZE, 0, 0},
        {0, 0, 4 * PAGE, PERFILE_DAMAGE_BAD_SIZE, 0, 0},
        {0, 0, PAGE, PERFILE_DAMAGE_BAD_SIZE, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t *map = calloc(1, rows[i].bytes);
        assert_non_null(map);
        memcpy(map + 1040, &rows[i].offset, 8);
        memcpy(map + 1048, &rows[i].size, 8);
        perfile_bytes data = {NULL, 0};
        perfile_error err = {0};
        perfile_status st = perfile_ring_find(map, rows[i].bytes, PAGE, &data, &err);
        assert_int_equal(st, rows[i].damage ? PERFILE_E_CORRUPT : PERFILE_OK);
        assert_int_equal(err.damage, rows[i].damage);
        assert_int_equal(data.len, rows[i].found);
        if (st == PERFILE_OK)
            assert_ptr_equal(data.ptr, map + rows[i].found_at);
        assert_int_equal(perfile_ring_find(map, 1080, 1080, &data, NULL), PERFILE_E_USAGE);
        free(map);
    }
}

static void open_refuses(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    perfile_ring *ring = NULL;
    perfile_error err = {0};
    perfile_ring_options good = fake_options(&f, PERFILE_RING_FORWARD), bad[10];
    for (size_t i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].page = NULL;
    bad[1].page = f.page + 4;
    bad[2].page_bytes = PERFILE_RING_PAGE_BYTES - 1;
    bad[3].data.ptr = NULL;
    bad[4].data.ptr = f.data + 1;
    bad[5].data.len = 48;
    bad[6].data.len = 0;
    bad[7].mode = 3;
    bad[8].aux = (perfile_bytes){f.data, 24};
    bad[9].data.len = 4;
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(perfile_ring_open(&bad[i], &ring, &err), PERFILE_E_USAGE);
        assert_null(ring);
    }
    for (uint64_t n = 1; n <= 2; n++) {
        pf_alloc_fail_at = pf_alloc_count + n;
        assert_int_equal(perfile_ring_open(&good, &ring, &err), PERFILE_E_NOMEM);
        pf_alloc_fail_at = 0;
        assert_null(ring);
    }
    /* Nothing is allocated after that. */
    assert_int_equal(perfile_ring_open(&good, &ring, &err), PERFILE_OK);
    uint64_t before = pf_alloc_count;
    for (uint64_t n = 0; n < 100; n++) {
        fake_put(&f, n, 24);
        expect_record(ring, n, 24);
        assert_int_equal(perfile_ring_release(ring, NULL), PERFILE_OK);
    }
    assert_true(pf_alloc_count == before);
    perfile_ring_close(ring);
    perfile_ring_close(NULL);
    fake_free(&f);
}

static void expect_spans(const perfile_bytes spans[2], const uint8_t *area, size_t at, size_t first,
                         size_t second)
{
    assert_ptr_equal(spans[0].ptr, area + at);
    assert_int_equal(spans[0].len, first);
    assert_int_equal(spans[1].len, second);
    if (second)
        assert_ptr_equal(spans[1].ptr, area);
}

static void aux_area(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    uint8_t *aux = calloc(1, 128);
    assert_non_null(aux);
    perfile_ring_options o = fake_options(&f, PERFILE_RING_FORWARD);
    o.aux = (perfile_bytes){aux, 128};
    perfile_ring *ring;
    perfile_bytes spans[2];
    perfile_error err = {0};
    uint64_t offset;
    fake_set(&f, FAKE_AUX_HEAD, 1000);
    fake_set(&f, FAKE_AUX_TAIL, 1000);
    assert_int_equal(perfile_ring_open(&o, &ring, NULL), PERFILE_OK);
    assert_int_equal(perfile_ring_aux_take(ring, spans, &offset, NULL), PERFILE_END);
    fake_set(&f, FAKE_AUX_HEAD, 1033);
    assert_int_equal(perfile_ring_aux_take(ring, spans, &offset, NULL), PERFILE_OK);
    assert_true(offset == 1000);
    expect_spans(spans, aux, 1000 % 128, 24, 9);
    assert_true(fake_get(&f, FAKE_AUX_TAIL) == 1000);
    perfile_ring_aux_release(ring);
    assert_true(fake_get(&f, FAKE_AUX_TAIL) == 1033);

    /* Announced before aux_head moves, then there, then given back. */
    assert_int_equal(perfile_ring_aux_range(ring, 1033, 100, spans, NULL), PERFILE_END);
    fake_set(&f, FAKE_AUX_HEAD, 1133);
    assert_int_equal(perfile_ring_aux_range(ring, 1033, 100, spans, NULL), PERFILE_OK);
    expect_spans(spans, aux, 9, 100, 0);
    assert_int_equal(perfile_ring_aux_take(ring, spans, &offset, NULL), PERFILE_END);
    perfile_ring_aux_release(ring);
    assert_true(fake_get(&f, FAKE_AUX_TAIL) == 1133);
    static const uint64_t outside[][2] = {
        {1033, 8}, {1133, 129}, {1200, 100}, {0, UINT64_MAX}, {UINT64_MAX, 8}};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(perfile_ring_aux_range(ring, outside[i][0], outside[i][1], spans, &err),
                         PERFILE_E_CORRUPT);
        assert_int_equal(err.damage, PERFILE_DAMAGE_OUT_OF_BOUNDS);
    }
    /* The head goes back: behind what was given back, and behind what was handed out. */
    fake_set(&f, FAKE_AUX_HEAD, 1132);
    assert_int_equal(perfile_ring_aux_range(ring, 1133, 8, spans, &err), PERFILE_E_CORRUPT);
    fake_set(&f, FAKE_AUX_HEAD, 1165);
    assert_int_equal(perfile_ring_aux_take(ring, spans, &offset, &err), PERFILE_OK);
    fake_set(&f, FAKE_AUX_HEAD, 1149);
    assert_int_equal(perfile_ring_aux_take(ring, spans, &offset, &err), PERFILE_E_CORRUPT);
    fake_set(&f, FAKE_AUX_HEAD, 1149 + 129);
    assert_int_equal(perfile_ring_aux_take(ring, spans, &offset, &err), PERFILE_E_CORRUPT);
    assert_int_equal(err.damage, PERFILE_DAMAGE_OVERRUN);
    assert_int_equal(perfile_ring_aux_take(ring, spans, &offset, &err), PERFILE_END);
    assert_int_equal(perfile_ring_aux_snapshot(ring, spans, &err), PERFILE_E_USAGE);
    perfile_ring_close(ring);

    o.aux_overwrite = true;
    fake_set(&f, FAKE_AUX_HEAD, 40);
    fake_set(&f, FAKE_AUX_TAIL, 0);
    assert_int_equal(perfile_ring_open(&o, &ring, NULL), PERFILE_OK);
    assert_int_equal(perfile_ring_aux_snapshot(ring, spans, NULL), PERFILE_OK);
    expect_spans(spans, aux, 40, 88, 40);
    assert_int_equal(perfile_ring_aux_range(ring, 120, 16, spans, NULL), PERFILE_OK);
    expect_spans(spans, aux, 120, 8, 8);
    assert_int_equal(perfile_ring_aux_range(ring, 0, 129, spans, NULL), PERFILE_E_CORRUPT);
    assert_int_equal(perfile_ring_aux_take(ring, spans, NULL, NULL), PERFILE_E_USAGE);
    perfile_ring_aux_release(ring);
    assert_true(fake_get(&f, FAKE_AUX_TAIL) == 0);
    perfile_ring_close(ring);

    o.aux = (perfile_bytes){NULL, 0};
    assert_int_equal(perfile_ring_open(&o, &ring, NULL), PERFILE_OK);
    assert_int_equal(perfile_ring_aux_snapshot(ring, spans, NULL), PERFILE_E_USAGE);
    perfile_ring_close(ring);
    free(aux);
    fake_free(&f);
}

/* An older program knows less of the options. */
static void older_options(void **state)
{
    (void)state;
    fake_ring f = fake_new(64);
    perfile_ring_options o = fake_options(&f, 9);
    o.size = offsetof(perfile_ring_options, mode);
    perfile_ring *ring = NULL;
    assert_int_equal(perfile_ring_open(&o, &ring, NULL), PERFILE_OK);
    fake_put(&f, 0, 16);
    expect_record(ring, 0, 16);
    perfile_ring_close(ring);
    fake_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wraps_at_every_offset),
        cmocka_unit_test(full_buffer),
        cmocka_unit_test(next_then_take),
        cmocka_unit_test(overrun_is_told_once),
        cmocka_unit_test(hostile_heads),
        cmocka_unit_test(head_goes_back),
        cmocka_unit_test(hostile_sizes),
        cmocka_unit_test(read_only),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(snapshots_of_what_is_new),
        cmocka_unit_test(snapshot_damage),
        cmocka_unit_test(snapshot_not_paused),
        cmocka_unit_test(lost_is_counted),
        cmocka_unit_test(find_data),
        cmocka_unit_test(open_refuses),
        cmocka_unit_test(aux_area),
        cmocka_unit_test(older_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
