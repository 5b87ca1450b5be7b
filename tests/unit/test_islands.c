/* Records between two breaks come back when something ties them to the capture: a piece of another
 * one of the same layout does not. */
#include "../testing.h"

#include "../captures.h"
#include "perfile/perfile.h"

#define HOUR UINT64_C(3600000000000)
enum { N = 24, FEW = 8, TIME_AT = 32 };

static void junk(builder *b)
{
    for (unsigned i = 0; i < 40; i++)
        build_u8(b, 0xff);
}

static void sample(builder *b, uint32_t n, uint64_t time)
{
    size_t start = b->b.len;
    capture_sample(b, n);
    build_u64_at(b, start + TIME_AT, time);
}

/* Of what existed before the recording: without a time. */
static void comm(builder *b, uint32_t pid)
{
    size_t start = build_begin(b, PERFILE_RECORD_COMM, 0);
    build_u32(b, pid);
    build_u32(b, pid);
    build_text(b, "work");
    build_u32(b, pid);
    build_u32(b, pid);
    build_zeros(b, 24);
    build_end(b, start);
}

typedef struct island {
    uint32_t samples, comms, pid;
    uint64_t time; /* of its first sample */
    bool goes_on;  /* there are records behind it */
    bool comes_back;
} island;

typedef struct loss {
    uint64_t bytes;
    bool implausible;
} loss;

static void on_gap(void *user, const perfile_gap *gap, const char *part)
{
    loss *l = user;
    (void)part;
    l->bytes += gap->bytes;
    l->implausible |= gap->damage == PERFILE_DAMAGE_IMPLAUSIBLE;
}

static void try(const island *x, bool swap)
{
    builder b = {.swap = swap};
    capture_header(&b);
    size_t start = b.b.len;
    junk(&b);
    for (uint32_t i = 0; i < x->comms; i++)
        comm(&b, x->pid);
    for (uint32_t i = 0; i < x->samples; i++)
        sample(&b, i, x->time + 10 * i);
    size_t end = b.b.len;
    junk(&b);
    for (uint32_t i = 0; x->goes_on && i < N; i++)
        sample(&b, i, 2 * HOUR + 1000 * i);
    capture_data_end(&b);

    perfile_source *source;
    perfile_sink *sink;
    perfile_recover_summary sum;
    loss lost = {0, false};
    perfile_recover_options how = {.size = sizeof how, .gap = on_gap, .user = &lost};
    assert_int_equal(perfile_source_memory(built(&b), "damaged", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("rescued", &sink, NULL), PERFILE_OK);
    perfile_status st = closed_unless_ok(
        source, perfile_recover_capture(source, sink, &how, &sum, sizeof sum, NULL));
    uint32_t there = x->goes_on ? N : 0;
    if (x->comes_back)
        there += x->samples + x->comms;
    assert_int_equal(st, there ? PERFILE_OK : PERFILE_E_CORRUPT);
    assert_int_equal(sum.records, there);
    /* What does not come back is said. */
    assert_int_equal(lost.bytes, 80 + (x->comes_back ? 0 : end - start - 40));
    assert_int_equal(lost.implausible, !x->comes_back);
    perfile_sink_close(sink);
    build_clear(&b);
}

static void islands(void **state)
{
    (void)state;
    static const island all[] = {
        {.samples = FEW, .time = 2 * HOUR - 1000, .goes_on = true, .comes_back = true},
        {.samples = FEW, .time = HOUR, .goes_on = true, .comes_back = false},
        {.comms = FEW, .pid = 100, .goes_on = true, .comes_back = true},
        {.comms = FEW, .pid = 777, .goes_on = true, .comes_back = false},
        {.samples = FEW, .time = HOUR, .goes_on = false, .comes_back = false},
        /* All of it is of the capture when some of it is. */
        {.samples = 1,
         .time = 2 * HOUR - 10,
         .comms = FEW,
         .pid = 777,
         .goes_on = true,
         .comes_back = true},
        /* So much is no accident. */
        {.samples = 400, .time = HOUR, .goes_on = true, .comes_back = true},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (unsigned swap = 0; swap < 2; swap++)
            try(&all[i], swap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(islands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
