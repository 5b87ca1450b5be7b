/* The loops of hand.c through the public functions. */
#include "bench.h"

#include "base/alloc.h"
#include "perfile/perfile.h"

static perfile_stream *open_memory(const capture *c)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_bytes bytes = {c->bytes, c->size};
    if (perfile_source_memory(bytes, c->path, &source, NULL) != PERFILE_OK)
        return NULL;
    if (perfile_open(source, NULL, &s, NULL) == PERFILE_OK)
        return s;
    perfile_source_close(source);
    return NULL;
}

uint64_t library_walk(const capture *c)
{
    uint64_t n = 0;
    const perfile_record *r;
    perfile_stream *s = open_memory(c);
    while (s && perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        n++;
    perfile_stream_close(s);
    return n;
}

static uint64_t count(perfile_stream *s)
{
    uint64_t sum = 0;
    const perfile_record *r;
    size_t n;
    while (s && perfile_stream_next_run(s, &r, &n, NULL) == PERFILE_OK)
        for (const perfile_record *end = r + n; r < end; r++) {
            __asm__ volatile("" ::"r"(r) : "memory"); /* each is there, not just their number */
            sum++;
        }
    perfile_stream_close(s);
    return sum;
}

uint64_t library_walk_runs(const capture *c)
{
    return count(open_memory(c));
}

uint64_t library_walk_file(const capture *c)
{
    const perfile_source_options how = {.size = sizeof how, .flags = PERFILE_SOURCE_SEQUENTIAL};
    perfile_source *source;
    perfile_stream *s;
    if (perfile_source_path(c->path, &how, &source, NULL) != PERFILE_OK)
        return 0;
    if (perfile_open(source, NULL, &s, NULL) == PERFILE_OK)
        return count(s);
    perfile_source_close(source);
    return 0;
}

static inline uint64_t sum_of(const perfile_sample *s)
{
    return s->ip + s->pid + s->tid + s->time + s->period + s->identifier + s->cpu + s->nr +
           s->raw_size + s->regs_user.abi + s->stack_user.size;
}

uint64_t library_decode(const capture *c)
{
    uint64_t sum = 0;
    const perfile_record *r;
    perfile_sample sample;
    perfile_stream *s = open_memory(c);
    while (s && perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        if (r->type == PERFILE_RECORD_SAMPLE &&
            perfile_sample_decode(r, &sample, sizeof sample, NULL) == PERFILE_OK)
            sum += sum_of(&sample);
    perfile_stream_close(s);
    return sum;
}

uint64_t library_decode_runs(const capture *c)
{
    uint64_t sum = 0;
    const perfile_record *r;
    const perfile_sample *sample;
    size_t n;
    perfile_stream *s = open_memory(c);
    while (s && perfile_stream_next_run(s, &r, &n, NULL) == PERFILE_OK)
        for (const perfile_record *end = r + n; r < end; r++)
            if (r->type == PERFILE_RECORD_SAMPLE &&
                perfile_stream_sample(s, r, &sample, NULL) == PERFILE_OK)
                sum += sum_of(sample);
    perfile_stream_close(s);
    return sum;
}

/* All rules; what they find is counted. */
uint64_t library_check(const capture *c)
{
    uint64_t n = 0;
    const perfile_record *r;
    size_t run;
    perfile_stream *s = open_memory(c);
    if (!s || perfile_check(s, NULL, &s, NULL) != PERFILE_OK) {
        perfile_stream_close(s);
        return 0;
    }
    while (perfile_stream_next_run(s, &r, &run, NULL) == PERFILE_OK)
        n += run;
    perfile_stream_close(s);
    return n;
}

uint64_t library_time(const capture *c)
{
    uint64_t sum = 0, time;
    const perfile_record *r;
    perfile_stream *s = open_memory(c);
    while (s && perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        if (r->type == PERFILE_RECORD_SAMPLE && perfile_sample_field(r, PERFILE_SAMPLE_TIME, &time))
            sum += time;
    perfile_stream_close(s);
    return sum;
}

uint64_t library_time_runs(const capture *c)
{
    uint64_t sum = 0, times[PERFILE_RUN_RECORDS];
    const perfile_record *r;
    size_t n;
    perfile_stream *s = open_memory(c);
    while (s && perfile_stream_next_run(s, &r, &n, NULL) == PERFILE_OK) {
        n = perfile_sample_fields(r, n, PERFILE_SAMPLE_TIME, times, NULL);
        for (size_t i = 0; i < n; i++)
            sum += times[i];
    }
    perfile_stream_close(s);
    return sum;
}

/* Three comparisons of fields at fixed places, of which each is looked at; how many records fit. */
uint64_t library_where(const capture *c)
{
    static const char text[] = "pid != 4000000000 && time > 1 && ip != 0";
    uint64_t sum = 0, yes;
    const perfile_record *r;
    size_t n;
    perfile_expr *e;
    perfile_stream *s = open_memory(c);
    if (perfile_expr_compile(text, NULL, &e, NULL) != PERFILE_OK)
        e = NULL;
    while (s && e && perfile_stream_next_run(s, &r, &n, NULL) == PERFILE_OK)
        if (perfile_expr_test_run(e, r, n, &yes, NULL) == PERFILE_OK)
            sum += (uint64_t)__builtin_popcountll(yes);
    perfile_expr_close(e);
    perfile_stream_close(s);
    return sum;
}

uint64_t library_allocations(const capture *c)
{
    uint64_t before = 0, after = 0, n = 0;
    const perfile_record *r;
    perfile_sample sample;
    perfile_stream *s = open_memory(c);
    while (s && perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->type == PERFILE_RECORD_SAMPLE &&
            perfile_sample_decode(r, &sample, sizeof sample, NULL) != PERFILE_OK)
            break;
        if (n++ == c->n_records / 2)
            before = pf_alloc_count;
        after = pf_alloc_count;
    }
    perfile_stream_close(s);
    return after - before;
}
