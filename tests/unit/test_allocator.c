/* perfile_set_allocator(): the library allocates by the functions of the program and by no others.
 */
#include "testing.h"

#include "perfile/perfile.h"

#include "written.h"

typedef struct counts {
    size_t live, all;
    size_t fail_at; /* 0: never */
} counts;

/* Blocks have a mark before them, so that a block of another allocator is noticed. */
enum { MARK = 0x7e57, BEFORE = sizeof(max_align_t) };

static void *allocate(void *user, size_t bytes)
{
    counts *c = user;
    uint8_t *block = ++c->all == c->fail_at ? NULL : malloc(BEFORE + bytes);
    if (!block)
        return NULL;
    const uint32_t mark = MARK;
    memcpy(block, &mark, sizeof mark);
    memset(block + BEFORE, 0xa5, bytes); /* not zeroed */
    c->live++;
    return block + BEFORE;
}

static uint8_t *block_of(void *old)
{
    uint8_t *block = (uint8_t *)old - BEFORE;
    uint32_t mark;
    memcpy(&mark, block, sizeof mark);
    assert_int_equal(mark, MARK);
    return block;
}

static void *resize(void *user, void *old, size_t bytes)
{
    counts *c = user;
    uint8_t *block = ++c->all == c->fail_at ? NULL : realloc(block_of(old), BEFORE + bytes);
    return block ? block + BEFORE : NULL;
}

static void release(void *user, void *old)
{
    counts *c = user;
    uint8_t *block = block_of(old);
    memset(block, 0, BEFORE);
    free(block);
    c->live--;
}

/* Writes a capture into memory and counts its records as a stranger reads them. */
static perfile_status use(perfile_error *err)
{
    perfile_sink *sink = NULL;
    perfile_writer *w = NULL;
    perfile_source *source = NULL;
    perfile_stream *s = NULL;
    const perfile_record *r;
    unsigned n = 0;
    perfile_status st = perfile_sink_memory("capture", &sink, err);
    if (st == PERFILE_OK)
        st = perfile_writer_open(sink, NULL, &w, err);
    if (st == PERFILE_OK)
        st = written_events(w, err);
    for (unsigned i = 0; i < 100 && st == PERFILE_OK; i++)
        st = written_sample(w, i, 0, err);
    if (st == PERFILE_OK)
        st = perfile_writer_finish(w, err);
    perfile_writer_close(w);
    if (st == PERFILE_OK)
        st = perfile_source_memory(perfile_sink_bytes(sink), "capture", &source, err);
    if (st == PERFILE_OK)
        st = perfile_open(source, NULL, &s, err);
    if (!s)
        perfile_source_close(source);
    if (st == PERFILE_OK)
        st = perfile_sort(s, NULL, &s, err);
    while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, err)) == PERFILE_OK)
        n++;
    perfile_stream_close(s);
    perfile_sink_close(sink);
    if (st == PERFILE_END)
        assert_true(n >= 100);
    return st == PERFILE_END ? PERFILE_OK : st;
}

static void all_memory_is_that_of_the_program(void **state)
{
    (void)state;
    counts c = {0};
    perfile_error err;
    const perfile_allocator a = {sizeof a, &c, allocate, resize, release};
    assert_int_equal(perfile_set_allocator(&a, &err), PERFILE_OK);
    assert_int_equal(use(&err), PERFILE_OK);
    assert_true(c.all > 10);
    assert_int_equal(c.live, 0);

    const size_t all = c.all;
    for (size_t n = 1; n <= all; n++) {
        c = (counts){.fail_at = n};
        assert_int_equal(use(&err), PERFILE_E_NOMEM);
        assert_int_equal(c.live, 0);
    }

    assert_int_equal(perfile_set_allocator(NULL, &err), PERFILE_OK);
    c = (counts){0};
    assert_int_equal(use(&err), PERFILE_OK);
    assert_int_equal(c.all, 0);
}

static void incomplete_allocators_are_refused(void **state)
{
    (void)state;
    counts c = {0};
    perfile_error err;
    const perfile_allocator partial = {.size = sizeof partial, .user = &c, .allocate = allocate};
    const perfile_allocator unset = {0, &c, allocate, resize, release};
    assert_int_equal(perfile_set_allocator(&partial, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_set_allocator(&unset, &err), PERFILE_E_USAGE);
    assert_int_equal(use(&err), PERFILE_OK);
    assert_int_equal(c.all, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_memory_is_that_of_the_program),
        cmocka_unit_test(incomplete_allocators_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
